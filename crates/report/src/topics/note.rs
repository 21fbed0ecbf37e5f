//! What a note says, as a sentence: the only place where one is made.

use crate::ground::sentence::few;
use crate::ground::words::{counted, utc};
use model::choices::Backend;
use model::note::{
    AboutHosts, Adjusted, Carried, Choice, Damage, Degraded, Eviction, Fallback, FoundBlock,
    HostStart, Mismatch, NotChecked, NotEmptied, OtherRun, PageCache, Purged, PurgedBy, ScaledTime,
    StorageState, TakesPart, Trait, WhyNoPoll, WhyRefused,
};
use model::{Bytes, Fact};

/// What libaio costs without direct I/O.
const ONE_AFTER_THE_OTHER: &str = "sends one request at a time through the page cache";

/// What it is about, and the sentence: `space not reserved: …`.
pub fn line(fact: &Fact) -> String {
    format!("{}: {}", crate::ground::words::note(fact.kind()), sentence(fact))
}

const NO_CHECKSUMS: &str = "The run file has no checksums: a figure that somebody changed in it \
                            goes unnoticed. Compare it with a copy that you trust.";

/// A fact as a sentence.
pub fn sentence(fact: &Fact) -> String {
    match fact {
        Fact::DirectRefused { path } => format!("{path}: the file system refuses O_DIRECT"),
        Fact::BackendFallback(fallback) => other_backend(fallback),
        Fact::BackendChosen(choice) => chosen(choice),
        Fact::Carried(Carried { kernel, all }) => {
            format!("{kernel} of {all} of CPU time were of the kernel's threads behind rings")
        }
        Fact::NoFallocate { path } => format!("{path}: the file system reserves no space ahead"),
        Fact::EngineDegraded(degraded) => without(degraded),
        Fact::Resumed { run, left, of, is_there } => {
            let layout = if *is_there { "on the existing layout" } else { "on a new layout" };
            format!("resumes {run}: {left} of {of} points left, {layout}")
        }
        Fact::HostLost { name, why } => format!("{name}: {why}"),
        Fact::HostReturned { name, from } => returned(name, from),
        Fact::Hosts(about) => of_hosts(about),
        Fact::Stuck { requests, targets, waited } => format!(
            "stuck: {requests} {} outstanding at {} for {waited} after the load. Check whether the \
             target answers, or raise engine.patience.",
            if *requests == 1 { "request" } else { "requests" },
            few(targets, ", ", "target")
        ),
        Fact::WorkloadsLeftOut { names } => format!(
            "--existing writes nothing, so these were left out: {}",
            few(names, ", ", "workload")
        ),
        Fact::PointsSkipped { skipped, of, rule } => {
            format!("{skipped} of {of} points, by the rule `{rule}`")
        }
        Fact::ClientsImagined { hosts, memory } => format!(
            "{hosts} {} with {memory} of memory each, from [clients]. Whether their targets have \
             the space is not checked.",
            if *hosts == 1 { "host" } else { "hosts" }
        ),
        Fact::Adjusted(adjusted) => otherwise(adjusted),
        Fact::Mismatch(mismatch) => damaged(mismatch),
        Fact::PageCache(about) => page_cache(about),
        Fact::DeviceRead { bytes, stage, workloads } => {
            format!("{bytes} bytes were read from devices in {stage} of {}", workloads.join(" + "))
        }
        Fact::Settled { to, rounds, round, after } => format!(
            "steady after {to}, by the last {rounds} rounds of {round}; ended after {after}"
        ),
        Fact::OtherRun(other) => format!(
            "another run loaded this host{}: {}",
            if other.same_place { " at the same disk" } else { "" },
            who(other)
        ),
        Fact::Unsettled { after } => format!("not steady after {after}"),
        Fact::NotChecked(what) => not_checked(*what),
        Fact::CachesNotEmptied(how) => not_emptied(how),
        Fact::RunFileOnTarget { disk, target } => format!(
            "disk {disk} holds the run file and target {target}. Intervals can reach the file \
             late, and a killed run can lose several. Name another disk with --out."
        ),
        Fact::Replayed(replayed) => super::fidelity::of_host(replayed),
        Fact::Ledger(ledger) => super::population::of_host(ledger),
        Fact::Machines(made) => super::machines::sentence(made),
        Fact::BelowGuests(below) => super::below_guests::sentence(below),
        Fact::EventIo(io) => super::event_io::sentence(io),
        Fact::StorageState(state) => storage_state(state),
        Fact::SimulatedSites(ways) => super::simulated_layers::of_sites(ways),
        Fact::SimulatedLayers { busy_ppm } => super::simulated_layers::sentence(busy_ppm),
        Fact::Purged(purged) => purge(purged),
        Fact::NoChecksums => NO_CHECKSUMS.to_owned(),
        Fact::Told(told) => super::told::sentence(told),
        Fact::CountersFrom(from) => super::others::sentence(from),
        Fact::Imported(imported) => super::imported::sentence(imported),
    }
}

/// `/dev/sdb: 960 GB given back by discards (BLKDISCARD). …`
fn purge(purged: &Purged) -> String {
    let how = match purged.by {
        PurgedBy::Discard => {
            "by discards (BLKDISCARD). When its flash is erased, the device decides"
        }
        PurgedBy::Holes => {
            "by holes in files, and reserved anew. Of the drive below, nothing follows"
        }
        PurgedBy::Simulated => "by the simulation. Simulated flash is as from the factory",
    };
    format!("{}: {} given back {how}", purged.path, purged.bytes)
}

fn returned(name: &str, from: &TakesPart) -> String {
    match from {
        TakesPart::NextStage => format!("{name}: back; it loads from the next stage on"),
        TakesPart::Resumed => format!("{name}: back; it loads in the resumed run"),
        TakesPart::Point(point) => {
            format!("{name}: back; it loads from point {} on", point.saturating_add(1))
        }
        TakesPart::Joins { point, hosts, of } => {
            let all = if hosts == of { "all " } else { "" };
            let of = if hosts == of { String::new() } else { format!(" of {of}") };
            let point = point.saturating_add(1);
            format!("{name}: joined; {all}{hosts}{of} hosts load from point {point} on")
        }
    }
}

fn storage_state(state: &StorageState) -> String {
    let StorageState { storage, is_after, parts } = state;
    let when = if *is_after { "after" } else { "before" };
    match parts {
        None => format!("{storage}: not known"),
        Some(parts) => format!(
            "{storage} {when} the stage: {} of {} bricks connected, {} to heal",
            u64::from(parts.of).saturating_sub(parts.down.len() as u64),
            parts.of,
            counted(parts.to_heal, "object")
        ),
    }
}

/// Something about hosts, in a sentence.
pub fn of_hosts(about: &AboutHosts) -> String {
    match about {
        AboutHosts::Unequal { most, odd, more } => unequal(most, odd, *more),
        AboutHosts::StaysOut { name, why } => {
            format!("{name} stays out until the run ends: {why}")
        }
        AboutHosts::LeftOut { hosts, of } => left_out(hosts, *of),
        AboutHosts::Awaited { hosts, of } => awaited(hosts, *of),
        AboutHosts::Started(starts) => started(starts),
        AboutHosts::HoldOut { within, .. } => format!(
            "agents go on for {within} without their coordinator; `plimsoll take` takes them over"
        ),
        AboutHosts::OneMachine { nodes, sites, replicas } => format!(
            "a lab of GlusterFS: one machine plays its {nodes} nodes ({sites} {}, {replicas} {}): \
             behaviour, not what storage carries",
            if *sites == 1 { "site" } else { "sites" },
            if *replicas == 1 { "copy" } else { "copies" }
        ),
        AboutHosts::TakenOver { hosts, of, intervals } => format!(
            "taken over by another coordinator: {hosts} of {of} agents held out, and reported \
             {intervals} intervals that were not recorded yet"
        ),
    }
}

fn page_cache(about: &PageCache) -> String {
    match about {
        PageCache::Before(eviction) => {
            let what = match eviction {
                Eviction::Everything => "all that the host has cached is dropped (drop_caches)",
                Eviction::Files => "its files are evicted from the page cache (posix_fadvise)",
                Eviction::Nothing => "nothing is evicted from the page cache",
            };
            format!("before each stage that reads, {what}")
        }
        PageCache::NotEvicted(error) => {
            format!("a file could not be evicted from the page cache: {}", error.words)
        }
        PageCache::Left { bytes, of } => {
            let share = crate::ground::words::share(bytes.0 as f64 / of.0.max(1) as f64);
            format!("{share} of the files ({bytes} of {of}) stayed in the page cache")
        }
        PageCache::NotDropped(error) => format!(
            "the caches of the host could not be dropped: {}; run as root, or leave out \
             engine.drop_caches",
            error.words
        ),
    }
}

/// `io_uring: Operation not permitted (os error 1); libaio takes its place`
fn other_backend(fallback: &Fallback) -> String {
    let mut text = String::new();
    for refused in &fallback.refused {
        let why = match &refused.why {
            WhyRefused::NoTrim => "it has no request for a trim",
            WhyRefused::System(error) => &error.words,
        };
        text.push_str(&format!("{}: {why}; ", refused.backend));
    }
    text.push_str(&format!("{} takes its place", fallback.taken));
    if fallback.taken == Backend::Sync {
        text.push_str(", with one request outstanding per worker");
    } else if fallback.one_after_the_other {
        text.push_str(&format!(", which {ONE_AFTER_THE_OTHER}"));
    }
    text
}

fn chosen(choice: &Choice) -> String {
    let Choice { stage, taken, deep, deep_iops, sync_iops, rounds, length, ios, bytes, .. } =
        choice;
    let (by_deep, by_sync) = choice.cpu.map_or_else(Default::default, |cpu| {
        let of = |cpu| format!(" with {cpu} of CPU time each");
        (of(cpu.deep), of(cpu.sync))
    });
    format!(
        "{} ({stage}): auto took {taken}. {deep} did {deep_iops} IOPS{by_deep} at the workload's \
         depth, sync {sync_iops}{by_sync} at depth 1. No figure counts the {ios} requests \
         ({bytes}) of the {rounds} trials of {length}.",
        choice.workloads.join(" + ")
    )
}

/// Whose another run is, where from and since when.
pub fn who(other: &OtherRun) -> String {
    let OtherRun { run, user, from, pid, since_unix_s, .. } = other;
    let from = from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
    let since = utc(since_unix_s.saturating_mul(1_000_000_000));
    format!("{run}, started by {user}{from} at {since}, process {pid}")
}

fn left_out(hosts: &[(String, String)], of: u64) -> String {
    let there = of.saturating_sub(hosts.len() as u64);
    format!("{there} of {of} take part; left out at the start: {}", absent(hosts))
}

fn awaited(hosts: &[(String, String)], of: u64) -> String {
    let there = of.saturating_sub(hosts.len() as u64);
    format!(
        "{there} of {of} begin; these may join between points, if they are like the others: {}",
        absent(hosts)
    )
}

/// Hosts that were not there, each with the cause.
fn absent(hosts: &[(String, String)]) -> String {
    let named: Vec<String> = hosts.iter().map(|(name, why)| format!("{name} ({why})")).collect();
    few(&named, ", ", "host")
}

fn started(starts: &[HostStart]) -> String {
    let there = starts.iter().filter(|start| start.missing.is_none());
    let again: Vec<String> = there
        .clone()
        .filter(|start| start.tries > 1)
        .map(|start| format!("{} ({} tries, {})", start.name, start.tries, start.took))
        .collect();
    let slowest = there.clone().max_by_key(|start| start.took);
    let slowest = slowest.map_or_else(String::new, |slowest| {
        format!("; the last took {} ({})", slowest.took, slowest.name)
    });
    let again = match again.is_empty() {
        true => String::new(),
        false => format!("; {}", few(&again, ", ", "host")),
    };
    format!("{} of {} agents started{slowest}{again}", there.count(), starts.len())
}

fn without(degraded: &Degraded) -> String {
    match degraded {
        Degraded::OneAfterTheOther => format!("libaio {ONE_AFTER_THE_OTHER}"),
        Degraded::NoPoll { poll, backend } => format!("poll {poll}: there is none with {backend}"),
        Degraded::CannotPoll { poll, why } => {
            let why = match why {
                WhyNoPoll::OtherRequests => "a polled ring takes reads and writes only",
                WhyNoPoll::PageCache => "not with requests through the page cache",
                WhyNoPoll::NoQueues => "a device under the target has no poll queues",
            };
            format!("poll {poll}: {why}")
        }
        Degraded::PollRefused { poll, error } => format!("poll {poll}: {}", error.words),
        Degraded::CpusShared { workers, cpus } => {
            format!("a CPU for each worker: {workers} workers share {cpus}")
        }
        Degraded::OneForSeveral(error) => format!(
            "several workers use one open file: {}. Raise the limit of open files (ulimit -n).",
            error.words
        ),
        Degraded::RegisteredFiles(error) => format!("registered files: {}", error.words),
        Degraded::RegisteredBuffers(error) => format!("registered buffers: {}", error.words),
        Degraded::Priority { priority, error } => format!("priority {priority}: {}", error.words),
    }
}

fn unequal(most: &Trait, odd: &[(String, Trait)], more: u64) -> String {
    let odd: Vec<String> =
        odd.iter().map(|(name, what)| format!("{name} has {}", of_host(what))).collect();
    let more = if more == 0 { String::new() } else { format!(", and {more} more differ") };
    format!("unequal hosts: most have {}; {}{more}", of_host(most), odd.join(", "))
}

fn of_host(one: &Trait) -> String {
    match one {
        Trait::CpuModel(model) => model.clone(),
        Trait::Cpus(count) => format!("{count} CPUs"),
        Trait::Kernel(release) => release.clone(),
        Trait::MemoryGib(size) => format!("{size} GiB of memory"),
    }
}

fn otherwise(adjusted: &Adjusted) -> String {
    match adjusted {
        Adjusted::CopiesSpread => {
            "contents.duplicate: some writes do not cover whole blocks of 4 KiB. The share holds, \
             and copies spread over all hosts. For contents.duplicate_scope, give block_size \
             multiples of 4 KiB."
                .to_owned()
        }
        Adjusted::BackendTried { file_system } => format!(
            "backend: on {file_system}, the kernel's own threads may carry a ring's requests. \
             Where they would, io_uring and sync read for 2 × 25 ms each before a stage, and the \
             better one by rate and CPU time is taken. --set backend=io_uring keeps the ring."
        ),
        Adjusted::OneOutstanding => "the sync backend has one request outstanding per worker, \
                                     whatever the depth"
            .to_owned(),
        Adjusted::FileSize { size, wanted } => {
            format!(
                "file size: {}, for whole blocks in every worker's share",
                instead(*size, *wanted)
            )
        }
        Adjusted::LeastTime { what, time, scale, least } => {
            let what = match what {
                ScaledTime::Precondition => "precondition",
                ScaledTime::Measure => "measure",
                ScaledTime::Interval => "interval",
            };
            format!("{what}: {least}, the minimum, instead of {time} × {scale}")
        }
        Adjusted::SteadyTakesLonger { least, measure } => format!(
            "measure: {least} instead of {measure}; steady state needs five rounds of whole \
             intervals"
        ),
        Adjusted::SimulatedTimes { divisor, all } => format!(
            "times ÷ {divisor}: a simulated cluster does not change over hours. --scale time=1 \
             simulates all {all}."
        ),
        Adjusted::ScenarioLeftOut { name } => format!(
            "the scenario `{name}` is left out: it has too many requests. --scenario {name} runs \
             it alone."
        ),
        Adjusted::SoftwareNotGiven { testbed } => format!(
            "{testbed} gives no times of its software: simulated, it costs next to nothing, and \
             figures are upper bounds. `plimsoll calibrate {testbed} RUN.plimsoll` finds them; \
             `plimsoll predict` has estimates."
        ),
        Adjusted::MigrationAssumed => "assumed, and from no report: the time of drives and nodes \
                                       that a simulated migration takes. It starves the second \
                                       machine of each node."
            .to_owned(),
        Adjusted::TargetsJoined => "targets: a simulated cluster is one target, so that workloads \
                                    with targets of their own load all of it."
            .to_owned(),
    }
}

/// `4 MiB instead of 3.9 MiB`, in bytes where the two would read alike.
fn instead(size: Bytes, wanted: Bytes) -> String {
    match (size.to_string(), wanted.to_string()) {
        (a, b) if a == b => format!("{} B instead of {} B", size.0, wanted.0),
        (a, b) => format!("{a} instead of {b}"),
    }
}

/// `corrupt: /mnt/x/data-00000.bin at offset 4096: expected …, found …`
fn damaged(mismatch: &Mismatch) -> String {
    let Mismatch { damage, path, offset, expected, found } = mismatch;
    let kind = match damage {
        Damage::Corrupt => "corrupt",
        Damage::Misdirected => "misdirected",
        Damage::Torn => "torn write",
        Damage::Stale => "lost write",
    };
    let expected = match expected {
        0 => "a whole block of this place".to_owned(),
        generation => format!("generation {generation} or newer"),
    };
    let whose = |other_run: bool| if other_run { " of another run" } else { "" };
    let found = match found {
        FoundBlock::Elsewhere { generation, other_run, host, file, offset } => format!(
            "generation {generation}{} of host {host}, file {file}, offset {offset}",
            whose(*other_run)
        ),
        FoundBlock::Block { generation, other_run, is_whole } => {
            let damage = if *is_whole { "" } else { " with a wrong checksum" };
            format!("generation {generation}{}{damage}", whose(*other_run))
        }
        FoundBlock::Zeros => "zeros".to_owned(),
        FoundBlock::Foreign => "bytes without a header".to_owned(),
    };
    format!("{kind}: {path} at offset {offset}: expected {expected}, found {found}")
}

fn not_checked(what: NotChecked) -> String {
    let why = match what {
        NotChecked::NothingIsRead => "this backend reads nothing, so nothing is checked",
        NotChecked::Tree => "files of a tree are not checked",
        NotChecked::Population => {
            "reads of a population are not compared while it runs; plimsoll verify looks at its \
             files afterwards"
        }
        NotChecked::Simulated => "simulated targets keep no bytes, so nothing is checked there",
        NotChecked::NoReads => "no workload reads, so nothing is checked",
        NotChecked::EarlierRun => {
            "the last writes of an earlier run are unknown; damage and wrong places are found, \
             lost writes are not"
        }
        NotChecked::NotPrepared => {
            "without prepare, blocks that no workload of this run wrote are not checked"
        }
        NotChecked::Raced { reads } => {
            return format!(
                "verify: {reads} reads met a write to the same place and were not checked"
            );
        }
    };
    format!("verify: {why}")
}

fn not_emptied(how: &NotEmptied) -> String {
    let (status, last) = match how {
        NotEmptied::LeftOut { why } => {
            return format!("the command of stages.prerun was left out: {why}");
        }
        NotEmptied::Failed { why } => {
            return format!("the command of stages.prerun failed: {why}");
        }
        NotEmptied::Ended { status, last } => (status, last),
    };
    let how = status
        .map_or_else(|| "no exit status".to_owned(), |status| format!("exit status {status}"));
    let said = if last.is_empty() { String::new() } else { format!(": {last}") };
    format!("the command of stages.prerun ended with {how}{said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sizes_that_read_alike_are_told_in_bytes() {
        assert_eq!(instead(Bytes(8 << 20), Bytes(4 << 20)), "8 MiB instead of 4 MiB");
        assert_eq!(instead(Bytes(4_005_888), Bytes(4_000_001)), "3.82 MiB instead of 3.81 MiB");
        assert_eq!(instead(Bytes(4_000_256), Bytes(4_000_001)), "4000256 B instead of 4000001 B");
    }

    #[test]
    fn each_way_of_a_purge_says_what_it_is_worth() {
        let said =
            |by: PurgedBy| purge(&Purged { path: "/dev/sdb".to_owned(), by, bytes: Bytes::gib(2) });
        for (by, words) in PurgedBy::ALL.iter().zip(["BLKDISCARD", "drive below", "the factory"]) {
            let said = said(*by);
            assert!(said.contains(words) && said.contains("/dev/sdb: 2 GiB given back"), "{said}");
        }
    }
}
