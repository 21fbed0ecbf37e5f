//! The bytes of each worker of a host, and what speaks against them.

use super::shares::{extents, interleaved, parts, segmented, shares, whole};
use super::sizes::workers;
use super::{Refusal, ScenarioRequest};
use crate::{LayoutKind, Sharing, WorkloadSpec};
use model::load::Part;
use model::plan::{Extent, Stage, Stop, Work, Worker};
use model::population::LEDGER_BYTES;
use model::testbed::HostFacts;
use model::units::Bytes;

/// Workers of a stage that goes through the layout as a whole, at most.
const PREPARE_WORKERS: u32 = 16;
/// Pieces of one workload on one host: a plan lists each of them, at some 60 bytes of the run file.
const MOST_EXTENTS: u64 = 1_000_000;

pub(super) struct Share<'a> {
    pub(super) request: &'a ScenarioRequest<'a>,
    pub(super) work: &'a Work,
    /// `None` for `prepare` and `verify`.
    pub(super) workload: Option<&'a WorkloadSpec>,
    /// Of all files of the host: how much of each this stage loads.
    pub(super) sizes: &'a [Bytes],
    /// The size of each file that the suite asks for, of which `sizes` are the whole sectors.
    pub(super) asked: Option<Bytes>,
    /// The host's number, and what it is.
    pub(super) number: u32,
    pub(super) facts: &'a HostFacts,
}

impl Share<'_> {
    fn is_shared(&self) -> bool {
        self.request.scenario.layout.kind.value == LayoutKind::SharedFile
    }

    /// How many workers of `facts`' host do this work.
    fn count(&self, facts: &HostFacts) -> u32 {
        let cpus = facts.logical_cpus.clamp(1, PREPARE_WORKERS);
        match self.workload {
            Some(workload) => workers(workload, facts),
            None if self.is_shared() => cpus,
            None => (self.sizes.len() as u32).min(cpus),
        }
    }

    /// The bytes of each worker.
    pub(super) fn extents(&self) -> Result<Vec<Vec<Extent>>, Refusal> {
        let part = self.workload.map_or(Part::WHOLE, |workload| workload.range.value);
        let count = self.count(self.facts);
        // In a shared file, the workers of all hosts share; in files of its own, those of the host.
        let (before, total) = match self.is_shared() {
            true => {
                let counts = || self.request.hosts.iter().map(|facts| self.count(facts));
                (counts().take(self.number as usize).sum(), counts().sum())
            }
            false => (0, count),
        };
        let segments = self.workload.map_or(1, |workload| workload.segments.value.0);
        if u64::from(total) * u64::from(segments) > MOST_EXTENTS {
            return Err(self.too_many_pieces());
        }
        let block = self.work.largest_block();
        // No zone is in two parts.
        let zone = self.work.zones.as_ref().map_or(Bytes(0), |zones| zones.size);
        let piece = block.max(zone);
        let loaded = extents(&parts(self.sizes, part, piece));
        let all = match self.workload {
            None => shares(&loaded, total, block, self.work.stop == Stop::Amount),
            Some(workload) => match workload.sharing.value {
                Sharing::Segment => segmented(&loaded, total, segments, piece),
                Sharing::Interleaved => interleaved(&loaded, total, piece),
                Sharing::Whole => whole(&loaded, total, piece),
            },
        };
        if let Some(odd) = all.iter().find(|share| self.lacks_places(share)) {
            let bytes = odd.iter().map(|extent| extent.length).sum();
            return Err(self.too_few_places(Bytes(bytes)));
        }
        if self.workload.is_some() && all.iter().any(Vec::is_empty) {
            return Err(too_small(self.work, total, self.sizes, self.asked));
        }
        let mine: Vec<Vec<Extent>> =
            all.into_iter().skip(before as usize).take(count as usize).collect();
        let pieces: u64 = mine.iter().map(|share| share.len() as u64).sum();
        if pieces > MOST_EXTENTS { Err(self.too_many_pieces()) } else { Ok(mine) }
    }

    /// Whether a worker's bytes do not have all places of its sequence.
    fn lacks_places(&self, share: &[Extent]) -> bool {
        let block = self.work.largest_block().0.max(1);
        share.iter().map(|extent| extent.length / block).sum::<u64>() < self.work.least_places()
    }

    fn too_few_places(&self, bytes: Bytes) -> Refusal {
        let what = format!(
            "workload `{}`: a worker has {bytes}, and its sequence has {} blocks of {}",
            self.work.workload,
            self.work.least_places(),
            self.work.largest_block()
        );
        Refusal::usage(what, "give a larger layout.size, or other places")
    }

    fn too_many_pieces(&self) -> Refusal {
        let what = format!(
            "workload `{}`: its workers' parts are in more than {MOST_EXTENTS} pieces",
            self.work.workload
        );
        Refusal::usage(what, "give fewer segments, files or workers")
    }
}

/// Why the buffers of a stage are too many for a host.
pub(super) fn too_much_memory(
    stage: &Stage,
    workers: &[Worker],
    host: &HostFacts,
) -> Option<Refusal> {
    let need = model::plan::buffers(&stage.works, workers);
    let work = stage.works.iter().max_by_key(|work| work.buffers())?;
    let ledgers = workers.iter().map(|worker| model::plan::ledger(work, worker).0).sum::<u64>();
    if ledgers > host.usable_memory().0 / 4 {
        return Some(Refusal::usage(
            format!(
                "host {}: what is known of the files of workload `{}` needs {} ({LEDGER_BYTES} \
                 bytes a name), more than a quarter of its {} of memory",
                host.hostname,
                work.workload,
                Bytes(ledgers),
                host.usable_memory()
            ),
            "give fewer tree.files, or spread them over more hosts",
        ));
    }
    (need.0 > host.usable_memory().0 / 2).then(|| {
        Refusal::usage(
            format!(
                "host {}: {} workers with {} outstanding of {} need {need} of buffers, more than \
                 half of its {} of memory",
                host.hostname,
                workers.len(),
                work.depth,
                work.largest_block(),
                host.usable_memory()
            ),
            "give a smaller block_size or depth, or fewer workers",
        )
    })
}

fn too_small(work: &Work, workers: u32, sizes: &[Bytes], asked: Option<Bytes>) -> Refusal {
    let total = Bytes(sizes.iter().map(|size| size.0).sum());
    let sharing =
        if workers == 1 { "1 worker has".to_owned() } else { format!("{workers} workers share") };
    let block = work.largest_block();
    let told = match (total, asked) {
        (Bytes(0), Some(asked)) => {
            format!(
                "files of {asked}, which hold no whole sector and so not one block of {block} each"
            )
        }
        (Bytes(0), None) => {
            format!("files that hold no whole sector and so not one block of {block} each")
        }
        _ => format!("{total}, which is less than one block of {block} each"),
    };
    Refusal::usage(
        format!("workload `{}`: {sharing} {told}", work.workload),
        "give a larger layout.size, a smaller block_size or fewer workers",
    )
}
