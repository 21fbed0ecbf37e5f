//! What is asked of a cluster: a workload, by so many hosts, with so many requests outstanding.

mod counterpart;
mod derived;
mod made_of;
mod of_report;

pub use derived::{Derived, Of};
#[cfg(any(test, feature = "testing"))]
pub(super) use made_of::on_files;
pub use of_report::{Choosable, Reported, published};

use crate::ceiling::{Workload, reached, touched_in};
use crate::rows::row::ResultRow;
use catalogue::cluster::FittedRow;
use catalogue::{Auto, Cluster, Count};
use model::load::{Pace, Rate};
use model::plan::{HostStage, Pattern, Stage, Work};
use model::testbed::SIMULATED_CLUSTER;
use model::{Bytes, Object, Op, Percent, Plan, Record, Route, Setting, StageKind};
use std::borrow::Cow;

/// The axis of operations on whole files.
const OPERATION: &str = "operation";

/// A load in a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Sizes, mix and footprint.
    pub workload: Workload,
    /// Hosts that load; at least 1.
    pub hosts: u32,
    /// Requests outstanding of all hosts together; at least 1.
    pub outstanding: u64,
    /// Requests outstanding of one worker, which follow one another where it goes in order; at
    /// least 1.
    pub depth: u64,
    /// The share of data that is mastered in the other site.
    pub remote: Percent,
    /// What its requests are made of.
    pub object: Object,
    /// How its hosts reach the data.
    pub route: Route,
}

impl Load {
    /// The mean size of a request in bytes; 0 where it moves none.
    pub fn bytes(&self) -> f64 {
        if self.object.moves_data() { self.workload.bytes() } else { 0.0 }
    }

    /// The cluster as this load uses it: with hosts where they are, and data where it is.
    pub(crate) fn used<'a>(&self, cluster: &'a Cluster) -> Cow<'a, Cluster> {
        let remote = (self.remote.ppm > 0).then_some(self.remote);
        let mut used = reached(cluster, self.route, remote);
        if matches!(self.route, Route::SmbDirect | Route::Smb) && !cluster.has_clients() {
            used.to_mut().clients.count.value = Auto::Fixed(Count(self.hosts));
        }
        used
    }

    /// Whether two loads are one: sizes within 5 %, all else equal.
    pub fn is_like(&self, other: &Load) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 0.05 * a.max(b);
        let bytes = |load: &Load| load.workload.footprint.map_or(0.0, |bytes| bytes.0 as f64);
        let (one, two) = (&self.workload, &other.workload);
        near(one.read_bytes, two.read_bytes)
            && near(one.write_bytes, two.write_bytes)
            && one.read == two.read
            && (one.random - two.random).abs() < 1e-6
            && near(bytes(self), bytes(other))
            && match (&one.popularity, &two.popularity) {
                (Some(one), Some(two)) => one.is_like(two),
                (one, two) => one == two,
            }
            && (self.hosts, self.outstanding, self.depth)
                == (other.hosts, other.outstanding, other.depth)
            && (self.remote, self.object, self.route) == (other.remote, other.object, other.route)
    }
}

/// A load with the rate that was measured of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its number among the rows of its source, from 1.
    pub number: usize,
    /// What it is called.
    pub name: String,
    /// What was asked.
    pub load: Load,
    /// Requests per second; above 0 and finite.
    pub rate: f64,
}

/// Why a row is no load that is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Operations on whole files, mixed.
    Metadata,
    /// Its rate was given.
    FixedRate,
    /// Workers rest between requests.
    Thinks,
    /// Several workloads ran at the same time.
    SeveralAtOnce,
    /// Some of its requests are trims.
    Trims,
    /// Nothing was measured of it, or not to its end.
    NotMeasured,
    /// The figure is a difference, a share or a time, and no rate.
    NoRate,
    /// The figure's load is not told: sizes, mix, or requests outstanding.
    LoadUntold,
    /// A simulated migration, which the prediction does not know.
    OtherWay,
    /// Inodes are looked up that another host made: nobody knows which of them a client keeps.
    OthersFiles,
    /// Hosts write one file in turn, piece by piece: their tokens go to and fro.
    SharedFile,
    /// Several streams of a worker, strides, backward, or places one after the other from a list.
    Order,
    /// The figure is the peak or the plateau of a curve, and no one load's.
    OfACurve,
    /// The figure is of an event, or an event's own requests are in it.
    OfAnEvent,
}

/// Rows to be predicted or fitted, and those that are neither.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<T> {
    /// In the order of the plan or of the report.
    pub rows: Vec<T>,
    /// Their names, each with the reason.
    pub left_out: Vec<(String, LeftOut)>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { rows: Vec::new(), left_out: Vec::new() }
    }
}

/// A load of a plan with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The workload with its axes, as in `4k-random-read (size=10GB)`.
    pub name: String,
    /// What is asked.
    pub load: Load,
}

/// A load that asks for a rate, with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Paced {
    /// The workload with its axes.
    pub name: String,
    /// What is asked, with as many requests outstanding as there may be.
    pub load: Load,
    /// Requests per second of all hosts; above 0.
    pub rate: f64,
}

/// The loads of all points of a plan, each of them once; and those whose rate is given.
pub fn planned(plan: &Plan) -> (Rows<Planned>, Vec<Paced>) {
    let (mut found, mut at_rates) = (Rows::default(), Vec::new());
    for (number, stage) in (0..).zip(&plan.stages) {
        if stage.kind != StageKind::Measure {
            continue;
        }
        for (index, work) in (0..).zip(&stage.works) {
            let sweep = stage.point.and_then(|point| plan.points.get(point as usize));
            let sweep = sweep.map(|point| point.sweep.as_slice());
            let (name, of) =
                (named(work, sweep.unwrap_or_default()), StageOf { number, stage, index });
            let load = match given(work).filter(|_| stage.works.len() == 1) {
                None => of_work(plan, of, work),
                Some(rate) => match asked(plan, of, work) {
                    Ok(load) => {
                        let rate = per_second(rate, &load);
                        add_new(&mut at_rates, Paced { name, load, rate });
                        continue;
                    }
                    Err(why) => Err(why),
                },
            };
            // A repetition is predicted as its first one is.
            match load {
                Ok(load) => add_new(&mut found.rows, Planned { name, load }),
                Err(why) => add_new(&mut found.left_out, (name, why)),
            }
        }
    }
    (found, at_rates)
}

fn add_new<T: PartialEq>(known: &mut Vec<T>, new: T) {
    if !known.contains(&new) {
        known.push(new);
    }
}

/// The rate that a work alone in its stage is given; `None` where it goes as fast as its target, or
/// the rate changes.
fn given(work: &Work) -> Option<Rate> {
    match work.pace {
        Pace::Open { rate, .. } => Some(rate),
        Pace::Closed { .. } | Pace::Changing { .. } => None,
    }
}

fn per_second(rate: Rate, load: &Load) -> f64 {
    match rate {
        Rate::Iops { milli } => milli as f64 / 1e3,
        Rate::Bytes { per_second } => per_second as f64 / load.bytes().max(1.0),
    }
}

/// The rows of a run. Repetitions are rows of their own.
pub fn measured(record: &Record, rows: &[ResultRow]) -> Rows<Measured> {
    let mut found = Rows::default();
    for row in rows.iter().filter(|row| row.is_of_workload()) {
        let mut name = row.work().map_or_else(
            || with_axes(row.workload.clone(), &row.sweep),
            |work| named(work, &row.sweep),
        );
        if let Some(repetition) = row.repetition {
            name.push_str(&format!(" #{repetition}"));
        }
        let (Some(index), Some(stage)) = (row.index, record.plan.stages.get(row.stage as usize))
        else {
            continue;
        };
        let load = match row.work() {
            _ if !row.complete || row.ios == 0 => Err(LeftOut::NotMeasured),
            None => Err(LeftOut::SeveralAtOnce),
            Some(work) => of_work(&record.plan, StageOf { number: row.stage, stage, index }, work),
        };
        match load {
            Ok(load) => {
                let number = found.rows.len() + 1;
                found.rows.push(Measured { number, name, load, rate: row.iops() });
            }
            Err(why) => found.left_out.push((name, why)),
        }
    }
    found
}

/// The workload, of whole files with its operation, and its axes.
fn named(work: &Work, sweep: &[Setting]) -> String {
    let workload = &work.workload;
    // A sweep over operations says which it is.
    let is_told = sweep.iter().any(|setting| setting.axis() == OPERATION);
    let name = match work.metadata.filter(|_| !is_told) {
        Some(metadata) => format!("{workload} {}", metadata.name()),
        None => workload.clone(),
    };
    with_axes(name, sweep)
}

fn with_axes(workload: String, sweep: &[Setting]) -> String {
    if sweep.is_empty() {
        return workload;
    }
    let axes: Vec<String> = sweep.iter().map(Setting::to_string).collect();
    format!("{workload} ({})", axes.join(", "))
}

/// A work of a stage, and where it stands.
#[derive(Clone, Copy)]
struct StageOf<'a> {
    number: u32,
    stage: &'a Stage,
    index: u32,
}

fn of_work(plan: &Plan, of: StageOf<'_>, work: &Work) -> Result<Load, LeftOut> {
    match &work.pace {
        _ if of.stage.works.len() > 1 => Err(LeftOut::SeveralAtOnce),
        Pace::Open { .. } | Pace::Changing { .. } => Err(LeftOut::FixedRate),
        Pace::Closed { think, .. } if think.0 > 0 => Err(LeftOut::Thinks),
        Pace::Closed { .. } => asked(plan, of, work),
    }
}

/// What a work asks for, however fast.
fn asked(plan: &Plan, of: StageOf<'_>, work: &Work) -> Result<Load, LeftOut> {
    if of.stage.works.len() > 1 {
        return Err(LeftOut::SeveralAtOnce);
    }
    if work.trims() {
        return Err(LeftOut::Trims);
    }
    let workers = |stage: &'_ HostStage| {
        stage.workers.iter().filter(|worker| worker.work == of.index).count() as u64
    };
    let stages: Vec<&HostStage> =
        plan.hosts.iter().filter_map(|host| host.stages.get(of.number as usize)).collect();
    let hosts = stages.iter().filter(|stage| workers(stage) > 0).count() as u32;
    let threads: u64 = stages.iter().map(|stage| workers(stage)).sum();
    let (remote, route) = ways(plan, of.number)?;
    if let Some(metadata) = work.metadata {
        let files = made_of::files(&stages, of.index);
        let (workload, op) = made_of::of_files(&work.workload, &metadata, files)?;
        let object = Object::Files(op);
        if op == Op::Stat && made_of::are_others(plan, of.number, of.index) {
            return Err(LeftOut::OthersFiles);
        }
        let is_told = hosts > 0 && files > 0;
        let outstanding = threads.max(1);
        let load = Load { workload, hosts, outstanding, depth: 1, remote, object, route };
        return if is_told { Ok(load) } else { Err(LeftOut::LoadUntold) };
    }
    if is_of_another_order(&work.pattern) {
        return Err(LeftOut::Order);
    }
    let touched = touched_in(stages.iter().copied(), |work| work == of.index);
    if hosts == 0 || touched.bytes.0 == 0 {
        return Err(LeftOut::LoadUntold);
    }
    let is_shared = hosts > 1 && made_of::shares_files(plan, of.number);
    if is_shared && work.read < Percent::ALL && !made_of::are_apart(&stages, of.index) {
        return Err(LeftOut::SharedFile);
    }
    Ok(Load {
        workload: Workload::of_work(work, touched),
        hosts,
        outstanding: threads.saturating_mul(u64::from(work.depth)).max(1),
        depth: u64::from(work.depth).max(1),
        remote,
        object: if is_shared { Object::SharedFile } else { Object::Blocks },
        route,
    })
}

/// Whether requests go where neither chance nor the end of another one leads.
fn is_of_another_order(pattern: &Pattern) -> bool {
    pattern.streams > 1 || pattern.backward || pattern.stride.0 > 0 || pattern.sequence.is_some()
}

/// The share of data in the other site, and how hosts reach it, as the simulated targets of a stage
/// say it.
fn ways(plan: &Plan, stage: u32) -> Result<(Percent, Route), LeftOut> {
    let (mut remote, mut route) = (Percent::ZERO, Route::Testbed);
    for host in &plan.hosts {
        for target in host.targets.get(host.targets_of(stage)).unwrap_or_default() {
            let Some(text) = target.path.strip_prefix(SIMULATED_CLUSTER) else { continue };
            for parameter in text.split(',').skip(1) {
                match parameter.trim().split_once('=') {
                    Some(("remote", share)) => remote = share.parse().unwrap_or(Percent::ZERO),
                    Some(("path", word)) => {
                        let known = Route::ALL.iter().copied().find(|one| one.word() == word);
                        route = known.ok_or(LeftOut::OtherWay)?;
                    }
                    Some(("migrate", _)) => return Err(LeftOut::OtherWay),
                    _ => {}
                }
            }
        }
    }
    Ok((remote, route))
}

/// The rows that a testbed was fitted to.
pub fn fitted(cluster: &Cluster) -> Vec<Measured> {
    let rows = (1..).zip(&cluster.fitted_rows);
    rows.map(|(number, row)| Measured { number, ..Measured::from(row) }).collect()
}

impl From<&FittedRow> for Measured {
    fn from(row: &FittedRow) -> Measured {
        let workload = Workload {
            name: row.name.clone(),
            read_bytes: row.read_bytes.0 as f64,
            write_bytes: row.write_bytes.0 as f64,
            // A row of a testbed has one size.
            sizes_vary: 0.0,
            read: row.read,
            random: f64::from(row.random.ppm) / 1e6,
            footprint: row.footprint,
            popularity: row.popularity.clone(),
        };
        let FittedRow { hosts, outstanding, depth, remote, object, route, .. } = *row;
        let load = Load { workload, hosts, outstanding, depth, remote, object, route };
        Measured { number: 0, name: row.name.clone(), load, rate: row.rate }
    }
}

impl From<&Measured> for FittedRow {
    fn from(row: &Measured) -> FittedRow {
        let workload = &row.load.workload;
        FittedRow {
            name: row.name.clone(),
            read_bytes: Bytes(workload.read_bytes.round().max(1.0) as u64),
            write_bytes: Bytes(workload.write_bytes.round().max(1.0) as u64),
            read: workload.read,
            random: Percent { ppm: (workload.random * 1e6).round() as u32 },
            footprint: workload.footprint.filter(|footprint| footprint.0 > 0),
            popularity: workload.popularity.clone(),
            // A host without a request outstanding loads nothing.
            hosts: u64::from(row.load.hosts).min(row.load.outstanding) as u32,
            outstanding: row.load.outstanding,
            depth: row.load.depth,
            remote: row.load.remote,
            object: row.load.object,
            route: row.load.route,
            rate: row.rate,
        }
    }
}
