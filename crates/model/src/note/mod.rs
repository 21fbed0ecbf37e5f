//! What a reader of the results has to know, as facts: what happened, and with which names, numbers
//! and errors. Sentences are made of them where they are shown, and nothing is read out of one.

use crate::choices::Backend;
use crate::layer::Layer;
use crate::ledger::LedgerSum;
use crate::machines::{BelowGuests, MachinesMade};
use crate::plan::StageKind;
use crate::replayed::Replayed;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

mod adjusted;
mod backends;
mod caches;
mod checked;
mod crossing;
mod event_io;
mod from_file;
mod hosts;
mod jobs;
mod purged;
mod storage_state;
mod told;

pub use adjusted::{Adjusted, ScaledTime};
pub use backends::{
    Carried, Choice, CpuOfEach, Degraded, Fallback, RefusedBackend, SystemError, WhyNoPoll,
    WhyRefused,
};
pub use caches::{Eviction, NotEmptied, PageCache};
pub use checked::{Damage, FoundBlock, Mismatch, NotChecked};
pub use crossing::Crossing;
pub use event_io::{CountedBy, EventIo};
pub use from_file::{CounterForm, CountersFrom};
pub use hosts::{AboutHosts, HostStart, OtherRun, TakesPart, Trait};
pub use jobs::{Imported, Lost};
pub use purged::{Purged, PurgedBy};
pub use storage_state::{PartsState, StorageState};
pub use told::{EndedBy, Told, ToldFigure, Traced};

/// Something that a reader of the results has to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The stage in which it came up; `None` for the whole run.
    pub stage: Option<u32>,
    /// The host that said it.
    pub host: u32,
    /// What there is to know.
    pub fact: Fact,
}

impl Note {
    /// What it is about.
    pub fn kind(&self) -> NoteKind {
        self.fact.kind()
    }
}

crate::words! {
    /// What a note is about: stable words, which stand in run files and JSON.
    pub enum NoteKind {
        /// The target refused `O_DIRECT`: requests went through the page cache.
        DirectRefused = "direct-refused",
        /// The kernel refused the backend that the plan asks for: another took its place.
        BackendFallback = "backend-fallback",
        /// The plan leaves the backend open: this one was taken, for these figures.
        BackendChosen = "backend-chosen",
        /// The kernel's own threads carried requests of rings, and took CPU time for it.
        Carried = "carried",
        /// The file system cannot reserve space: files may be fragmented, and space can run out in
        /// mid-run.
        NoFallocate = "no-fallocate",
        /// A part of the engine's set-up was refused (registered buffers, a ring's flag): it went
        /// on without, at some cost.
        EngineDegraded = "engine-degraded",
        /// The run went on with one that had been cut short.
        Resumed = "resumed",
        /// A host died, or was not heard of any more.
        HostLost = "host-lost",
        /// A host that was lost is there again, and takes part from this stage on.
        HostReturned = "host-returned",
        /// Something about the hosts together that a reader has to know: two that are one, or a
        /// wall clock that is off.
        Hosts = "hosts",
        /// The target never answered some requests: they were given up, and with them the run.
        Stuck = "stuck",
        /// Workloads were left out because they write and the target may not be written to.
        WorkloadsLeftOut = "workloads-left-out",
        /// Points of a sweep were left out by its rule.
        PointsSkipped = "points-skipped",
        /// The plan is for hosts that are not at hand.
        ClientsImagined = "clients-imagined",
        /// A size or a time was rounded or raised to the least that makes sense.
        Adjusted = "adjusted",
        /// A read brought something else than what was written.
        Mismatch = "mismatch",
        /// What is done about the page cache before a stage reads through it, and what of it could
        /// not be done.
        PageCache = "page-cache",
        /// How many bytes a stage's reads took from devices. Said of reads through the page cache
        /// only.
        DeviceRead = "device-read",
        /// A stage that was to end when it was steady did.
        Settled = "settled",
        /// A stage that was to end when it was steady never was, and ended at its greatest time.
        Unsettled = "unsettled",
        /// A part of what was read could not be compared with what was written.
        NotChecked = "not-checked",
        /// What was to be done before a point, so that caches are empty, was not done or failed.
        CachesNotEmptied = "caches-not-emptied",
        /// The run file lies on a disk that the run loads: what is recorded reaches it late.
        RunFileOnTarget = "run-file-on-target",
        /// How true the load was to the trace that it was taken from.
        Replayed = "replayed",
        /// What a host's ledgers of its populations say at the end of a stage.
        Ledger = "ledger",
        /// The virtual machines that carried the load: who made them, where, and how long each took
        /// to come up.
        Machines = "machines",
        /// What nodes did below the guests of a run: CPU time, disks, and whether the machines are
        /// where they were made.
        BelowGuests = "below-guests",
        /// The suite was made of another tool's job: what became of its options.
        Imported = "imported",
        /// Another run of this program loaded the same host meanwhile.
        OtherRun = "other-run",
        /// What the storage says of its own servers, before or after a stage.
        StorageState = "storage-state",
        /// What an event itself read and wrote, such as a migration's copies.
        EventIo = "event-io",
        /// How busy the layers of a simulated cluster were in a stage.
        SimulatedLayers = "simulated-layers",
        /// Which bytes of a simulated cluster went to another site than their host's.
        SimulatedSites = "simulated-sites",
        /// A target was purged before anything was written to it: how, and how much of it.
        Purged = "purged",
        /// The run file has no checksums: nobody can tell whether what it holds was changed.
        NoChecksums = "no-checksums",
        /// How a command that made the load ended, and what it told.
        Told = "told",
        /// Counters of a host that sent no load came from a file.
        CountersFrom = "counters-from",
    }
}

/// What a note says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// The file system refuses `O_DIRECT`.
    DirectRefused {
        /// The file.
        path: String,
    },
    /// Another backend took the place of the one that was asked for.
    BackendFallback(Fallback),
    /// The plan left the backend open, and both ways were tried.
    BackendChosen(Choice),
    /// The kernel's own threads carried requests.
    Carried(Carried),
    /// The file system reserves no space ahead.
    NoFallocate {
        /// The file.
        path: String,
    },
    /// The engine did without a part of its set-up.
    EngineDegraded(Degraded),
    /// The run goes on with one that was cut short.
    Resumed {
        /// The file of that run.
        run: String,
        /// How many points are left.
        left: u64,
        /// Of how many.
        of: u64,
        /// Whether the layout was still there.
        is_there: bool,
    },
    /// A host was lost.
    HostLost {
        /// Its name.
        name: String,
        /// The cause, as its launcher or its agent told it; for people.
        why: String,
    },
    /// A host that was lost takes part again.
    HostReturned {
        /// Its name.
        name: String,
        /// From when on.
        from: TakesPart,
    },
    /// Something about hosts.
    Hosts(AboutHosts),
    /// Requests that a target never answered.
    Stuck {
        /// How many.
        requests: u32,
        /// The targets that they may be with.
        targets: Vec<String>,
        /// How long after the end of the load.
        waited: Nanos,
    },
    /// Workloads that write, where nothing may be written.
    WorkloadsLeftOut {
        /// Their names.
        names: Vec<String>,
    },
    /// Points that a rule left out.
    PointsSkipped {
        /// How many.
        skipped: u64,
        /// Of how many.
        of: u64,
        /// The rule, as the suite has it.
        rule: String,
    },
    /// The plan is for hosts that are not at hand.
    ClientsImagined {
        /// How many.
        hosts: u64,
        /// The memory of each.
        memory: Bytes,
    },
    /// Something is done otherwise than the suite says.
    Adjusted(Adjusted),
    /// A read brought something else than what was written.
    Mismatch(Mismatch),
    /// What becomes of the page cache.
    PageCache(PageCache),
    /// Bytes that a stage's reads took from devices.
    DeviceRead {
        /// How many.
        bytes: u64,
        /// What kind of stage.
        stage: StageKind,
        /// Its workloads.
        workloads: Vec<String>,
    },
    /// A stage ended because it was steady.
    Settled {
        /// When it was.
        to: Nanos,
        /// By how many rounds.
        rounds: u64,
        /// How long each was.
        round: Nanos,
        /// How long was measured.
        after: Nanos,
    },
    /// A stage never was steady.
    Unsettled {
        /// For how long it was measured.
        after: Nanos,
    },
    /// A part of what was read was not compared.
    NotChecked(NotChecked),
    /// The command before a point did not do what it should.
    CachesNotEmptied(NotEmptied),
    /// The run file lies on a disk that the run loads.
    RunFileOnTarget {
        /// The disk.
        disk: String,
        /// The target that lies on it, too.
        target: String,
    },
    /// How true the load was to its trace.
    Replayed(Replayed),
    /// Which files the ledgers of a host have at the end of a stage.
    Ledger(LedgerSum),
    /// The virtual machines that carried the load.
    Machines(MachinesMade),
    /// What nodes did below the guests.
    BelowGuests(BelowGuests),
    /// The suite was made of another tool's job.
    Imported(Imported),
    /// Another run loaded this host meanwhile.
    OtherRun(OtherRun),
    /// What an event itself read and wrote.
    EventIo(EventIo),
    /// What the storage says of its own servers.
    StorageState(StorageState),
    /// What was purged.
    Purged(Purged),
    /// How busy the layers of a simulated cluster were.
    SimulatedLayers {
        /// Each layer that there is, with its share of the time in millionths.
        busy_ppm: Vec<(Layer, u32)>,
    },
    /// Which bytes went to another site than their host's, and which were to.
    SimulatedSites(Vec<Crossing>),
    /// The run file has no checksums. Said by whoever reads it.
    NoChecksums,
    /// How a command that made the load ended, and what it told.
    Told(Box<Told>),
    /// Where the counters of a host came from.
    CountersFrom(Box<CountersFrom>),
}

impl Fact {
    /// What it is about.
    pub fn kind(&self) -> NoteKind {
        match self {
            Fact::DirectRefused { .. } => NoteKind::DirectRefused,
            Fact::BackendFallback(_) => NoteKind::BackendFallback,
            Fact::BackendChosen(_) => NoteKind::BackendChosen,
            Fact::Carried(_) => NoteKind::Carried,
            Fact::NoFallocate { .. } => NoteKind::NoFallocate,
            Fact::EngineDegraded(_) => NoteKind::EngineDegraded,
            Fact::Resumed { .. } => NoteKind::Resumed,
            Fact::HostLost { .. } => NoteKind::HostLost,
            Fact::HostReturned { .. } => NoteKind::HostReturned,
            Fact::Hosts(_) => NoteKind::Hosts,
            Fact::Stuck { .. } => NoteKind::Stuck,
            Fact::WorkloadsLeftOut { .. } => NoteKind::WorkloadsLeftOut,
            Fact::PointsSkipped { .. } => NoteKind::PointsSkipped,
            Fact::ClientsImagined { .. } => NoteKind::ClientsImagined,
            Fact::Adjusted(_) => NoteKind::Adjusted,
            Fact::Mismatch(_) => NoteKind::Mismatch,
            Fact::PageCache(_) => NoteKind::PageCache,
            Fact::DeviceRead { .. } => NoteKind::DeviceRead,
            Fact::Settled { .. } => NoteKind::Settled,
            Fact::Unsettled { .. } => NoteKind::Unsettled,
            Fact::NotChecked(_) => NoteKind::NotChecked,
            Fact::CachesNotEmptied(_) => NoteKind::CachesNotEmptied,
            Fact::RunFileOnTarget { .. } => NoteKind::RunFileOnTarget,
            Fact::Replayed(_) => NoteKind::Replayed,
            Fact::Ledger(_) => NoteKind::Ledger,
            Fact::Machines(_) => NoteKind::Machines,
            Fact::BelowGuests(_) => NoteKind::BelowGuests,
            Fact::Imported(_) => NoteKind::Imported,
            Fact::OtherRun(_) => NoteKind::OtherRun,
            Fact::EventIo(_) => NoteKind::EventIo,
            Fact::StorageState(_) => NoteKind::StorageState,
            Fact::SimulatedLayers { .. } => NoteKind::SimulatedLayers,
            Fact::SimulatedSites(_) => NoteKind::SimulatedSites,
            Fact::Purged(_) => NoteKind::Purged,
            Fact::NoChecksums => NoteKind::NoChecksums,
            Fact::Told(_) => NoteKind::Told,
            Fact::CountersFrom(_) => NoteKind::CountersFrom,
        }
    }

    /// Whether it is kept for later alone: each stage of each host has one, and all are shown
    /// together at the end.
    pub fn is_bookkeeping(&self) -> bool {
        matches!(
            self,
            Fact::Carried(_)
                | Fact::Ledger(_)
                | Fact::SimulatedLayers { .. }
                | Fact::SimulatedSites(_)
        ) || matches!(self, Fact::StorageState(state) if state.is_whole())
    }

    /// The backend that was taken, where it says so.
    pub fn backend(&self) -> Option<Backend> {
        match self {
            Fact::BackendFallback(fallback) => Some(fallback.taken),
            Fact::BackendChosen(choice) => Some(choice.taken),
            _ => None,
        }
    }

    /// The backend that was asked for and refused, where it says so.
    pub fn refused_backend(&self) -> Option<Backend> {
        match self {
            Fact::BackendFallback(fallback) => fallback.refused.first().map(|one| one.backend),
            _ => None,
        }
    }

    /// The bytes that devices read, where it says so.
    pub fn device_read(&self) -> Option<u64> {
        match self {
            Fact::DeviceRead { bytes, .. } => Some(*bytes),
            _ => None,
        }
    }
}
