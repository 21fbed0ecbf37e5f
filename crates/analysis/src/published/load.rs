//! What load a figure is of, in quantities, and in what a point of a run differs from it.

use crate::ceiling::touched;
use crate::rows::row::ResultRow;
use catalogue::published::{CounterpartSpec, Published};
use catalogue::{Auto, Count};
use model::choices::Access;
use model::load::SizeMix;
use model::plan::names::SCENARIO_AXIS;
use model::plan::{HostStage, PlannedTarget, Target, TargetFile};
use model::{Bytes, HostPlan, Percent, Record, Setting};
use std::collections::BTreeSet;

/// Sizes are rounded to whole blocks, and shrunk ones to few of them: footprints within this share
/// are one.
const ONE_FOOTPRINT: f64 = 0.05;

/// In what a point of the run differs from the load of a published figure.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadDifference {
    /// Another footprint.
    Footprint {
        /// That of the figure.
        published: Bytes,
        /// That of the point.
        run: Bytes,
    },
    /// A size of files.
    FileSize {
        /// That of the figure.
        published: Bytes,
        /// That of the point.
        run: Bytes,
    },
    /// A number of something.
    Count {
        /// Of what.
        what: Counted,
        /// That of the figure.
        published: u64,
        /// That of the point.
        run: u64,
    },
    /// The run's places are not equally likely.
    Access(Access),
    /// The run's rate was given.
    FixedRate,
    /// An event's own requests are in the figure, and no host of the run counts any of these.
    EventsRequests,
    /// The same, where somebody counted them: the run's figure is of the event's time, and has
    /// both.
    EventCounted {
        /// Requests per second of the hosts.
        hosts: f64,
        /// Requests per second of the event itself.
        event: f64,
        /// Whether a simulation counted.
        is_simulated: bool,
    },
}

/// What of a load is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Machines that load.
    Hosts,
    /// Threads of all machines.
    Threads,
    /// Requests outstanding of a thread.
    Depth,
    /// Requests outstanding in all.
    Outstanding,
    /// Files that operations go over.
    Files,
}

impl LoadDifference {
    /// How far apart two numbers are, as the logarithm of their ratio; 0 where there are no
    /// numbers.
    fn distance(&self) -> f64 {
        let ratio = |a: u64, b: u64| (a.max(1) as f64 / b.max(1) as f64).ln().abs();
        match self {
            LoadDifference::Footprint { published, run }
            | LoadDifference::FileSize { published, run } => ratio(published.0, run.0),
            LoadDifference::Count { published, run, .. } => ratio(*published, *run),
            LoadDifference::Access(_)
            | LoadDifference::FixedRate
            | LoadDifference::EventsRequests
            | LoadDifference::EventCounted { .. } => 0.0,
        }
    }
}

/// The points of a run that stand for a figure.
pub(super) struct Matched<'a> {
    /// Rows of one workload at one value of all axes but the counterpart's: reads and writes,
    /// repetitions, and along that axis.
    pub(super) rows: Vec<&'a ResultRow>,
    /// In what they differ from the figure's load.
    pub(super) apart: Vec<LoadDifference>,
}

/// Why nothing of the run stands there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unmatched {
    /// No point has the sizes, the mix, the order and the operation.
    OtherLoad,
    /// Points have, at these footprints alone.
    OtherFootprint(Vec<Bytes>),
}

/// The load of a counterpart, and where to look for it.
pub(super) struct Load<'a> {
    pub(super) published: &'a Published,
    pub(super) counterpart: &'a CounterpartSpec,
    pub(super) record: &'a Record,
    /// Whether the figure is of the requests that a row counts.
    pub(super) is_asked: &'a dyn Fn(&ResultRow) -> bool,
}

impl<'a> Load<'a> {
    /// The points that are nearest to the figure's load, at the setting `at`.
    pub(super) fn matched<'r>(
        &self,
        rows: &'r [ResultRow],
        at: Option<&Setting>,
    ) -> Result<Matched<'r>, Unmatched> {
        let mut groups: Vec<Vec<&'r ResultRow>> = Vec::new();
        for row in rows.iter().filter(|row| row.complete && row.ios > 0 && self.is_of_kind(row, at))
        {
            match groups
                .iter_mut()
                .find(|group| group.first().is_some_and(|first| self.is_one_group(first, row)))
            {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        groups.retain(|group| self.shares_files_alike(group));
        if groups.is_empty() {
            return Err(Unmatched::OtherLoad);
        }
        if self.published.is_told_apart_by_footprint(self.counterpart) {
            let found: Vec<Bytes> = groups.iter().map(|group| self.footprint(group)).collect();
            groups.retain(|group| self.has_footprint(group));
            if groups.is_empty() {
                let mut found = found;
                found.sort_unstable();
                found.dedup();
                return Err(Unmatched::OtherFootprint(found));
            }
        }
        let judged = groups.into_iter().map(|rows| Matched { apart: self.apart(&rows), rows });
        let rank = |one: &Matched<'_>| {
            let is_named = one
                .rows
                .first()
                .is_some_and(|row| row.workload == self.counterpart.run_workload.value);
            (
                one.apart.len(),
                !is_named,
                one.apart.iter().map(LoadDifference::distance).sum::<f64>(),
            )
        };
        // The first one of several that are equally near.
        let nearest = judged
            .min_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
        nearest.ok_or(Unmatched::OtherLoad)
    }

    /// Whether a row did what the figure is of, at `at`.
    fn is_of_kind(&self, row: &ResultRow, at: Option<&Setting>) -> bool {
        let is_at = |at: &Setting| {
            // A run of one scenario alone has no axis of them.
            let label = Setting::new(SCENARIO_AXIS, row.scenario.as_str());
            row.sweep.contains(at) || *at == label
        };
        (self.is_asked)(row)
            && at.is_none_or(is_at)
            && (row.is_metadata() || self.is_of_blocks(row))
    }

    /// Whether blocks of the size, the mix and the order of the figure's were loaded.
    fn is_of_blocks(&self, row: &ResultRow) -> bool {
        let (Some(work), wanted) = (row.work(), self.counterpart) else { return false };
        let has_size = |size: Bytes| work.mixes().all(|mix| *mix == SizeMix::single(size));
        fixed(wanted.block_size.value).is_none_or(has_size)
            && fixed(wanted.read.value).is_none_or(|read: Percent| work.read == read)
            && fixed(wanted.random.value)
                .is_none_or(|random: Percent| work.pattern.random == random)
            && !work.trims()
    }

    fn is_one_group(&self, one: &ResultRow, other: &ResultRow) -> bool {
        let axis = self.counterpart.run_axis.value.as_str();
        let others = |row: &'_ ResultRow| -> Vec<Setting> {
            row.sweep.iter().filter(|setting| setting.axis() != axis).cloned().collect()
        };
        (&one.scenario, &one.workload, one.index) == (&other.scenario, &other.workload, other.index)
            && others(one) == others(other)
    }

    /// Whether all threads had one file, or each its own, as those of the figure. One thread alone
    /// tells nothing.
    fn shares_files_alike(&self, rows: &[&ResultRow]) -> bool {
        let Some(one_file) = fixed(self.counterpart.one_file.value) else { return true };
        let Some(busiest) = rows.iter().max_by_key(|row| row.workers).filter(|row| row.workers > 1)
        else {
            return true;
        };
        one_file == (files_touched(self.record, busiest) == 1)
    }

    /// Where the run was shrunk, the footprint that its suite asks for.
    fn footprint(&self, rows: &[&ResultRow]) -> Bytes {
        let most = rows.iter().map(|row| touched(self.record, row)).max().unwrap_or(Bytes(0));
        whole(self.record, most)
    }

    fn has_footprint(&self, rows: &[&ResultRow]) -> bool {
        let mine = self.footprint(rows).0 as f64;
        fixed(self.counterpart.footprint.value).is_none_or(|Bytes(wanted)| {
            (mine - wanted as f64).abs() <= ONE_FOOTPRINT * wanted as f64
        })
    }

    /// In what a group differs.
    fn apart(&self, rows: &[&ResultRow]) -> Vec<LoadDifference> {
        let (wanted, mut apart) = (self.counterpart, Vec::new());
        let Some(busiest) = rows.iter().max_by_key(|row| row.workers) else { return apart };
        let Some(work) = busiest.work() else { return apart };
        let is_metadata = work.metadata.is_some();
        if let Some(published) =
            fixed(wanted.footprint.value).filter(|_| !is_metadata && !self.has_footprint(rows))
        {
            apart.push(LoadDifference::Footprint { published, run: self.footprint(rows) });
        }
        let file_size = work.metadata.map(|metadata| metadata.mean_size.unwrap_or(metadata.size));
        if let Some((published, run)) =
            fixed(wanted.block_size.value).zip(file_size).filter(|(a, b)| a != b)
        {
            apart.push(LoadDifference::FileSize { published, run });
        }
        let (workers, depth) = (u64::from(busiest.workers), u64::from(work.depth));
        let count = |wanted: Auto<Count>| fixed(wanted).map(|count| u64::from(count.0));
        let files = fixed(wanted.files.value).map(|files| files.0).filter(|_| is_metadata);
        for (what, published, run) in [
            (Counted::Hosts, count(wanted.hosts.value), self.record.plan.hosts.len() as u64),
            (Counted::Threads, count(wanted.threads.value), workers),
            (Counted::Depth, count(wanted.depth.value), depth),
            (Counted::Outstanding, count(wanted.outstanding.value), workers * depth),
            (Counted::Files, files, files_of(self.record, busiest)),
        ] {
            if let Some(published) = published.filter(|published| *published != run) {
                apart.push(LoadDifference::Count { what, published, run });
            }
        }
        let access = work.pattern.access;
        if !is_metadata
            && !matches!(access, Access::Sequential | Access::Random | Access::Permutation)
        {
            apart.push(LoadDifference::Access(access));
        }
        if work.pace.is_open() {
            apart.push(LoadDifference::FixedRate);
        }
        apart
    }
}

/// What an author said; `None` where he left it open.
fn fixed<T>(value: Auto<T>) -> Option<T> {
    match value {
        Auto::Fixed(value) => Some(value),
        Auto::Auto => None,
    }
}

/// How many files the workers of a row loaded; one that all hosts share counts once.
fn files_touched(record: &Record, row: &ResultRow) -> usize {
    let targets = |host: &'_ HostPlan| {
        host.targets.get(host.targets_of(row.stage)).unwrap_or_default().to_vec()
    };
    let is_joined = |target: &Target| {
        target.kind == PlannedTarget::Joined
            || target.files.iter().any(TargetFile::is_shared_in_simulation)
    };
    let is_shared = record.plan.hosts.iter().any(|host| targets(host).iter().any(is_joined));
    let mut files = BTreeSet::new();
    for host in &record.plan.hosts {
        let Some(stage) = host.stages.get(row.stage as usize) else { continue };
        let workers = stage.workers.iter().filter(|worker| row.has_work(worker.work));
        let owner = if is_shared { 0 } else { host.host };
        files.extend(workers.flat_map(|worker| &worker.extents).map(|extent| (owner, extent.file)));
    }
    files.len()
}

/// Files that the operations of a row went over, on all hosts.
fn files_of(record: &Record, row: &ResultRow) -> u64 {
    let stages = record.plan.hosts.iter().filter_map(|host| host.stages.get(row.stage as usize));
    stages.map(HostStage::operations).fold(0, u64::saturating_add)
}

/// The bytes that the suite asks for, of which a run that was shrunk has these.
pub(super) fn whole(record: &Record, bytes: Bytes) -> Bytes {
    let scale = record.plan.scale.size;
    let whole =
        u128::from(bytes.0) * u128::from(scale.denominator) / u128::from(scale.numerator.max(1));
    Bytes(u64::try_from(whole).unwrap_or(u64::MAX))
}
