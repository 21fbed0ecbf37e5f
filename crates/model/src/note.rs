//! What a reader of the results has to know, as facts: what happened, and with which names, numbers
//! and errors. Sentences are made of them where they are shown, and nothing is read out of one.

use crate::choices::{Backend, Poll};
use crate::ledger::LedgerSum;
use crate::machines::{BelowGuests, MachinesMade};
use crate::plan::StageKind;
use crate::priority::Priority;
use crate::replayed::Replayed;
use crate::scale::Fraction;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

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
    /// What a run file of an older format says in words.
    InWords(InWords),
}

impl Fact {
    /// What it is about.
    pub fn kind(&self) -> NoteKind {
        match self {
            Fact::DirectRefused { .. } => NoteKind::DirectRefused,
            Fact::BackendFallback(_) => NoteKind::BackendFallback,
            Fact::BackendChosen(_) => NoteKind::BackendChosen,
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
            Fact::InWords(old) => old.kind,
        }
    }

    /// Whether it is kept for later alone: each stage of each host has one, and all are shown
    /// together at the end.
    pub fn is_bookkeeping(&self) -> bool {
        matches!(self, Fact::Ledger(_))
    }

    /// The backend that was taken, where it says so.
    pub fn backend(&self) -> Option<Backend> {
        match self {
            Fact::BackendFallback(fallback) => Some(fallback.taken),
            Fact::BackendChosen(choice) => Some(choice.taken),
            Fact::InWords(old) => old.taken,
            _ => None,
        }
    }

    /// The backend that was asked for and refused, where it says so.
    pub fn refused_backend(&self) -> Option<Backend> {
        match self {
            Fact::BackendFallback(fallback) => fallback.refused.first().map(|one| one.backend),
            Fact::InWords(old) => old.refused,
            _ => None,
        }
    }

    /// The bytes that devices read, where it says so.
    pub fn device_read(&self) -> Option<u64> {
        match self {
            Fact::DeviceRead { bytes, .. } => Some(*bytes),
            Fact::InWords(old) => old.device_read,
            _ => None,
        }
    }
}

/// Another run that loads a host, as it says itself there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRun {
    /// The end of its name.
    pub run: String,
    /// The user who started its agent there.
    pub user: String,
    /// The address that its ssh connection came from.
    pub from: Option<String>,
    /// The process there.
    pub pid: u32,
    /// When it began there, in s since 1970.
    pub since_unix_s: u64,
    /// Whether it loads a disk or file system that this run loads there.
    pub same_place: bool,
}

/// A job of another tool as a suite, with what was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The tool's word: `fio`.
    pub dialect: String,
    /// How many options mean the same.
    pub same: u64,
    /// How many change nothing that is measured.
    pub harmless: u64,
    /// Those that differ or are missing, the gravest first, at most [`Imported::MOST`].
    pub lost: Vec<Lost>,
    /// How many more of them there are.
    pub more: u64,
}

impl Imported {
    /// No record names more options that differ.
    pub const MOST: usize = 200;
}

/// An option of another tool's job that the suite does not say as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Its name there.
    pub name: String,
    /// Its value there.
    pub value: String,
    /// File and line.
    pub place: String,
    /// Whether the suite does without it, or else comes near to it.
    pub refused: bool,
    /// What differs, or what would be needed.
    pub why: String,
}

/// An error as the system tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemError {
    /// Its number; `None` where the system gave none.
    pub errno: Option<i32>,
    /// The system's own words, for people.
    pub words: String,
}

impl From<std::io::Error> for SystemError {
    fn from(error: std::io::Error) -> SystemError {
        SystemError { errno: error.raw_os_error(), words: error.to_string() }
    }
}

/// Which backend took the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// Those that were not to be had, the one that was asked for first.
    pub refused: Vec<RefusedBackend>,
    /// The one that was taken.
    pub taken: Backend,
    /// Whether it does one request after the other, because it is libaio without direct I/O.
    pub one_after_the_other: bool,
}

/// A backend that was not to be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedBackend {
    /// Which.
    pub backend: Backend,
    /// Why.
    pub why: WhyRefused,
}

/// Why a backend was not to be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyRefused {
    /// It has no request for a trim, and the load trims.
    NoTrim,
    /// The kernel refused it.
    System(SystemError),
}

/// Which backend was taken for a stage that was tried both ways.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The stage's workloads.
    pub workloads: Vec<String>,
    /// What kind of stage.
    pub stage: StageKind,
    /// The one that was taken.
    pub taken: Backend,
    /// The one that keeps the workload's depth outstanding.
    pub deep: Backend,
    /// What that did, in requests per second.
    pub deep_iops: u64,
    /// What one request at a time did.
    pub sync_iops: u64,
    /// How many trials each had.
    pub rounds: u64,
    /// How long each was.
    pub length: Nanos,
    /// The requests of all trials; they are in no figure.
    pub ios: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

/// What the engine did without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degraded {
    /// libaio does one request after the other where the page cache is in between.
    OneAfterTheOther,
    /// The backend cannot be polled.
    NoPoll {
        /// What was asked for.
        poll: Poll,
        /// The backend.
        backend: Backend,
    },
    /// This load or this target cannot be polled.
    CannotPoll {
        /// What was asked for.
        poll: Poll,
        /// Why.
        why: WhyNoPoll,
    },
    /// The kernel refused to poll.
    PollRefused {
        /// What was asked for.
        poll: Poll,
        /// The kernel's error.
        error: SystemError,
    },
    /// The kernel did not take the list of files.
    RegisteredFiles(SystemError),
    /// The kernel did not take the buffers.
    RegisteredBuffers(SystemError),
    /// The kernel refused a priority.
    Priority {
        /// Which.
        priority: Priority,
        /// The kernel's error.
        error: SystemError,
    },
}

/// Why a ring cannot be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNoPoll {
    /// There are requests besides reads and writes.
    OtherRequests,
    /// Requests go through the page cache.
    PageCache,
    /// A device under the target has no queues for it.
    NoQueues,
}

/// From when on a host takes part again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakesPart {
    /// From the next stage on, which is of no point.
    NextStage,
    /// From this point on, counted from 0.
    Point(u32),
    /// In what is left of a run that is resumed.
    Resumed,
    /// For the first time, from this point on, counted from 0: it was not there at the start.
    Joins {
        /// The point.
        point: u32,
        /// How many hosts load from there on.
        hosts: u64,
        /// Of how many.
        of: u64,
    },
}

/// Something about hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AboutHosts {
    /// They are unequal in one trait.
    Unequal {
        /// What most of them have.
        most: Trait,
        /// Some of those that differ: their names, and what they have.
        odd: Vec<(String, Trait)>,
        /// How many more differ.
        more: u64,
    },
    /// A host that was lost is not tried any more.
    StaysOut {
        /// Its name.
        name: String,
        /// The cause, as its launcher or its agent told it; for people.
        why: String,
    },
    /// Hosts that were asked for and could not be reached at the start: the plan is one for the
    /// others.
    LeftOut {
        /// Their names, each with the cause as its launcher told it, for people.
        hosts: Vec<(String, String)>,
        /// How many hosts were asked for.
        of: u64,
    },
    /// Hosts that could not be reached at the start and may join between two points: the plan has a
    /// share for each, as if it were like another host.
    Awaited {
        /// Their names, each with the cause as its launcher told it, for people.
        hosts: Vec<(String, String)>,
        /// How many hosts were asked for.
        of: u64,
    },
    /// How the start of each host's agent went, where not all went at once.
    Started(Vec<HostStart>),
    /// The agents hold out where their coordinator is gone, and can be taken over.
    HoldOut {
        /// For so long.
        within: Nanos,
        /// What their names begin with on their hosts.
        name: String,
    },
    /// Another coordinator took the run over, with what the agents had kept.
    TakenOver {
        /// How many agents still held out.
        hosts: u64,
        /// Of how many.
        of: u64,
        /// Intervals that were not on record yet.
        intervals: u64,
    },
}

/// How the start of one host's agent went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStart {
    /// Its name.
    pub name: String,
    /// The host that started it; `None` is the coordinator's.
    pub by: Option<String>,
    /// How often it was tried.
    pub tries: u32,
    /// From the first try to the end of the last.
    pub took: Nanos,
    /// Why it has no agent, as its launcher told it, for people; `None` where it has one.
    pub missing: Option<String>,
}

/// What hosts can differ in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trait {
    /// The model of the processors.
    CpuModel(String),
    /// How many processors.
    Cpus(u32),
    /// The kernel's release.
    Kernel(String),
    /// Memory, in whole GiB.
    MemoryGib(u64),
}

/// What is done otherwise than the suite says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjusted {
    /// Copies of blocks spread over all hosts, because writes do not cover whole units.
    CopiesSpread,
    /// The sync backend has one request outstanding for each worker.
    OneOutstanding,
    /// A file has another size.
    FileSize {
        /// What it has.
        size: Bytes,
        /// What was wanted.
        wanted: Bytes,
    },
    /// A time was not shrunk as far as asked for.
    LeastTime {
        /// Which.
        what: ScaledTime,
        /// The suite's.
        time: Nanos,
        /// The factor.
        scale: Fraction,
        /// What is taken instead.
        least: Nanos,
    },
    /// It takes longer to see whether a stage is steady.
    SteadyTakesLonger {
        /// The least time for it.
        least: Nanos,
        /// What was wanted.
        measure: Nanos,
    },
    /// The times of a simulation were shrunk.
    SimulatedTimes {
        /// The times are divided by this.
        divisor: u64,
        /// How long all of it would take.
        all: Nanos,
    },
    /// A scenario is not simulated, because it has too many requests.
    ScenarioLeftOut {
        /// Its name.
        name: String,
    },
    /// What a simulated migration does is assumed.
    MigrationAssumed,
}

/// A time that a scale shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaledTime {
    /// How long is measured.
    Measure,
    /// The length of an interval.
    Interval,
}

/// One damaged place: the first of a read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// What is wrong with it.
    pub damage: Damage,
    /// The file.
    pub path: String,
    /// Where in it.
    pub offset: u64,
    /// The oldest generation that could stand there; 0 if this run wrote nothing there.
    pub expected: u32,
    /// What stood there.
    pub found: FoundBlock,
}

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// Its bytes are not those that were written.
    Corrupt,
    /// It is the block of another place.
    Misdirected,
    /// Only a part of a write is there.
    Torn,
    /// A write is not there.
    Stale,
}

/// What stood in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBlock {
    /// A whole block of another place.
    Elsewhere {
        /// Its generation.
        generation: u32,
        /// Whether another run wrote it.
        other_run: bool,
        /// The host that wrote it.
        host: u32,
        /// The number of its file.
        file: u32,
        /// Its place there.
        offset: u64,
    },
    /// A block of this place.
    Block {
        /// Its generation.
        generation: u32,
        /// Whether another run wrote it.
        other_run: bool,
        /// Whether its checksum is right.
        is_whole: bool,
    },
    /// Nothing but zeros.
    Zeros,
    /// Something that no run wrote.
    Foreign,
}

/// What becomes of the page cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageCache {
    /// What is done before each stage that reads.
    Before(Eviction),
    /// A file could not be evicted.
    NotEvicted(SystemError),
    /// What the host has cached could not be dropped.
    NotDropped(SystemError),
}

/// What is evicted from the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    /// All that the host has cached.
    Everything,
    /// The files of the layout.
    Files,
    /// Nothing.
    Nothing,
}

/// What was not compared with what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotChecked {
    /// The backend reads nothing.
    NothingIsRead,
    /// Files of a tree.
    Tree,
    /// Reads of files of a population: these are looked at after the run.
    Population,
    /// Simulated targets keep no bytes.
    Simulated,
    /// No workload reads.
    NoReads,
    /// What an earlier run wrote last is not known.
    EarlierRun,
    /// Blocks that no workload wrote.
    NotPrepared,
    /// Reads that met a write to the same place.
    Raced {
        /// How many.
        reads: u64,
    },
}

/// What became of the command that empties caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotEmptied {
    /// It was not run.
    LeftOut {
        /// Why, for people.
        why: String,
    },
    /// It was ended.
    Failed {
        /// Why, for people.
        why: String,
    },
    /// It ended by itself.
    Ended {
        /// Its exit status; `None` where it had none.
        status: Option<i32>,
        /// The last line that it wrote.
        last: String,
    },
}

/// What a run file of an older format says in words, with the facts that the store read from them.
/// Nothing else makes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InWords {
    /// What it is about.
    pub kind: NoteKind,
    /// The words, for people.
    pub words: String,
    /// The backend that was asked for and refused.
    pub refused: Option<Backend>,
    /// The backend that was taken.
    pub taken: Option<Backend>,
    /// The bytes that devices read.
    pub device_read: Option<u64>,
}

impl InWords {
    /// Words from which nothing was read.
    pub fn new(kind: NoteKind, words: impl Into<String>) -> InWords {
        let words = words.into();
        InWords { kind, words, refused: None, taken: None, device_read: None }
    }
}
