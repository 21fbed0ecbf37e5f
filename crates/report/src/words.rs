//! Every word and number format that people read, in one place: tables, pages and live views say the same thing the same way.

use analysis::{Done, Interval, Progress, ResultRow, RunState, Warning};
use jiff::Timestamp;
use model::load::{Pace, Rate};
use model::metadata::MetadataWork;
use model::plan::Work;
use model::priority::Priority;
use model::sample::{VERIFY_CORRUPT, VERIFY_MISDIRECTED, VERIFY_STALE, VERIFY_TORN};
use model::spec::{Access, CloseTime, FileFsync};
use model::{Nanos, NoteKind, Percent, Scale};

/// `950`, `18,200` or `1.23 M` requests per second, without the unit.
pub fn iops(value: f64) -> String {
    match value {
        v if v >= 999_500.0 => format!("{:.2} M", v / 1e6),
        v if v >= 99.95 => count(v.round() as u64),
        v if v >= 9.995 => format!("{v:.1}"),
        0.0 => "0".to_owned(),
        v => format!("{v:.2}"),
    }
}

/// `1,234 MiB/s`, from bytes per second.
pub fn bandwidth(bytes_per_s: f64) -> String {
    format!("{} MiB/s", mib_per_s(bytes_per_s))
}

/// `1,234` from bytes per second: for columns whose head says MiB/s.
pub fn mib_per_s(bytes_per_s: f64) -> String {
    let value = bytes_per_s / 1_048_576.0;
    match value {
        v if v >= 99.95 => count(v.round() as u64),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// `1.29 GB/s` (powers of 1000), from bytes per second.
pub fn gb_per_s(bytes_per_s: f64) -> String {
    match bytes_per_s {
        v if v >= 9.995e8 => format!("{:.2} GB/s", v / 1e9),
        v => format!("{:.1} MB/s", v / 1e6),
    }
}

/// `1.25 ms`, or a dash where nothing was counted.
pub fn latency(ns: Option<u64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| Nanos(ns).to_string())
}

/// `10,000 IOPS` or `100 MiB/s`.
pub fn rate(rate: Rate) -> String {
    match rate {
        Rate::Iops { milli } if milli.is_multiple_of(1_000) => format!("{} IOPS", count(milli / 1_000)),
        rate => rate.to_string(),
    }
}

/// `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12.5 %`, from a share of 0 to 1.
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// How far the 95 % interval of a figure reaches from it, on its wider side: `±1.2 %`, or a dash where there is none.
pub fn sureness(value: Option<f64>, interval: Option<Interval>) -> String {
    match value.zip(interval) {
        Some((value, interval)) if value > 0.0 => {
            let reach = (interval.high - value).max(value - interval.low).max(0.0) / value;
            if reach < 0.001 { "±<0.1 %".to_owned() } else { format!("±{}", share(reach)) }
        }
        _ => "–".to_owned(),
    }
}

/// What the column of [`sureness`] is, and why some have none.
pub fn sureness_legend(rows: &[ResultRow]) -> String {
    let mut text = "±: how far the 95 % interval of the figure before it reaches.".to_owned();
    let none: Vec<usize> = rows.iter().filter(|row| row.sure.iops.is_none()).map(|row| row.sure.intervals).collect();
    if let (Some(least), Some(most)) = (none.iter().min(), none.iter().max()) {
        let many =
            if least == most { counted(*most as u64, "interval") } else { format!("{least} to {most} intervals") };
        text.push_str(&format!(" –: none; {many} of time, or such that depend on each other, are too few to know it."));
    }
    text
}

/// `2026-01-02 03:04:05 UTC`. In UTC, because reports travel.
pub fn utc(unix_ns: u64) -> String {
    match Timestamp::from_nanosecond(i128::from(unix_ns)) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

/// That sizes, times or both were shrunk, and by how much; `verb` is that of the sentence. Empty where nothing was.
pub fn shrunk(scale: Scale, verb: &str) -> String {
    let (size, time) = (scale.size, scale.time());
    match (size.is_one(), time.is_one()) {
        (true, true) => String::new(),
        _ if size == time => format!("Sizes and times {verb} shrunk to {size}"),
        (true, false) => format!("Times {verb} shrunk to {time}"),
        (false, true) => format!("Sizes {verb} shrunk to {size}"),
        (false, false) => format!("Sizes {verb} shrunk to {size}, times to {time}"),
    }
}

/// `depth=32, block_size=4KiB, repetition 2`; empty without axes, and without a repetition where nothing is repeated.
pub fn sweep(axes: &[(String, String)], repetition: Option<u32>) -> String {
    let axes = axes.iter().map(|(axis, value)| format!("{axis}={value}"));
    let parts: Vec<String> = axes.chain(repetition.map(|number| format!("repetition {number}"))).collect();
    parts.join(", ")
}

/// `4 KiB random read, depth 32 × 4 workers`, and what else there is to it.
pub fn work(work: &Work, workers: u32) -> String {
    if let Some(metadata) = work.metadata {
        return files_work(&metadata, workers);
    }
    let mut text = format!("{} {}, {}", blocks(work), pattern(work), outstanding(work.depth, workers));
    if work.trims() {
        text.push_str(&format!(", {} of the requests trims", work.trim));
    }
    match work.pace {
        Pace::Open { rate, poisson } => {
            text.push_str(&format!(
                ", {} offered in total, {} arrivals",
                self::rate(rate),
                if poisson { "Poisson" } else { "even" }
            ));
        }
        Pace::Closed { think: Nanos(0), .. } => {}
        Pace::Closed { think, burst } => {
            text.push_str(&format!(", {think} of rest after every {}", counted(u64::from(burst), "request")));
        }
    }
    if work.fsync_every > 0 {
        text.push_str(&format!(", an fsync after every {}", counted(work.fsync_every, "write")));
    }
    if work.dsync {
        text.push_str(", every write durable (O_DSYNC)");
    }
    if work.priority != Priority::Inherited {
        text.push_str(&format!(", I/O priority {}", work.priority));
    }
    text
}

/// `create, files of 4 KiB in the order of their numbers, 4 workers`, and what counts in its time.
fn files_work(work: &MetadataWork, workers: u32) -> String {
    let order = if work.random { "in an order without pattern" } else { "in the order of their numbers" };
    let mut text =
        format!("{}, files of {} {order}, {}", work.name(), work.size, counted(u64::from(workers), "worker"));
    match work.fsync {
        FileFsync::Never => {}
        FileFsync::Timed => text.push_str(", an fsync of each after it was written"),
        FileFsync::Untimed => text.push_str(", an fsync of each after it was written, which no latency counts"),
    }
    if work.close == CloseTime::Untimed {
        text.push_str(", closing not counted in latencies");
    }
    text
}

/// What a column of rates is called: the usual word where all rows are of blocks, one that fits both where some are not.
pub fn rate_head(rows: &[ResultRow]) -> &'static str {
    if rows.iter().any(|row| row.work.metadata.is_some()) { "op/s" } else { "IOPS" }
}

/// [`mib_per_s`], or a dash where no bytes move.
pub fn mib_per_s_of(row: &ResultRow) -> String {
    if row.moves_bytes() { mib_per_s(row.bytes_per_s()) } else { "–".to_owned() }
}

/// `4 KiB`, a mix with its weights, or the sizes of both directions.
pub fn blocks(work: &Work) -> String {
    if let Some(metadata) = work.metadata {
        return format!("files of {}", metadata.size);
    }
    match (work.reads(), work.changes()) {
        (true, true) if work.block_size != work.write_block_size => {
            format!("{} / {}", work.block_size, work.write_block_size)
        }
        (false, true) => work.write_block_size.to_string(),
        _ => work.block_size.to_string(),
    }
}

/// `random read`, `50% random 70% read`, `zipf 1.2 write`.
pub fn pattern(work: &Work) -> String {
    if let Some(metadata) = work.metadata {
        return format!("{} {}", if metadata.random { "random" } else { "sequential" }, metadata.name());
    }
    let pattern = &work.pattern;
    let mut text = match pattern.access {
        Access::Zipf | Access::Pareto => format!("{} {}", pattern.access, pattern.skew),
        access => access.to_string(),
    };
    if pattern.random > Percent::ZERO && pattern.random < Percent::ALL {
        text = format!("{} {text}, the rest sequential,", pattern.random);
    }
    if pattern.streams > 1 && pattern.random < Percent::ALL {
        text.push_str(&format!(" in {} streams", pattern.streams));
    }
    if pattern.stride.0 > 0 && pattern.random < Percent::ALL {
        text.push_str(&format!(" every {}", pattern.stride));
    }
    format!("{text} {}", mix(work.read))
}

/// `read`, `write` or `70% read`.
pub fn mix(read: Percent) -> String {
    match read {
        Percent::ALL => "read".to_owned(),
        Percent::ZERO => "write".to_owned(),
        share => format!("{share} read"),
    }
}

/// `depth 32 × 4 workers`.
pub fn outstanding(depth: u32, workers: u32) -> String {
    format!("depth {depth} × {}", counted(u64::from(workers), "worker"))
}

/// `1 worker`, `4 workers`.
pub fn counted(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(number))
}

/// How a run ended, as a sentence without its full stop.
pub fn run_state(state: &RunState) -> String {
    match state {
        RunState::Complete => "complete".to_owned(),
        RunState::Interrupted => "interrupted: somebody stopped the run".to_owned(),
        RunState::Failed(why) => format!("failed: {why}"),
        RunState::Unfinished => "unfinished: the run was killed, or is still going on".to_owned(),
    }
}

/// `EIO`, or what a check found: `lost write`.
pub fn errno(errno: i32) -> String {
    // The numbers are those of Linux on every architecture that Rust's standard library knows as tier 1.
    let name = match errno {
        0 => return "short transfer".to_owned(),
        5 => "EIO",
        11 => "EAGAIN",
        12 => "ENOMEM",
        16 => "EBUSY",
        19 => "ENODEV",
        22 => "EINVAL",
        27 => "EFBIG",
        28 => "ENOSPC",
        30 => "EROFS",
        61 => "ENODATA",
        95 => "EOPNOTSUPP",
        110 => "ETIMEDOUT",
        116 => "ESTALE",
        121 => "EREMOTEIO",
        122 => "EDQUOT",
        125 => "ECANCELED",
        VERIFY_CORRUPT => "corrupt block",
        VERIFY_MISDIRECTED => "block of another place",
        VERIFY_TORN => "torn write",
        VERIFY_STALE => "lost write",
        number => return std::io::Error::from_raw_os_error(number).to_string(),
    };
    name.to_owned()
}

/// How a measured amount ended: `The first worker was done after 1.2 s, at 512 MiB/s; the last after 1.4 s, at 480 MiB/s in all`.
pub fn done(row: &ResultRow, done: &Done) -> String {
    let unit = rate_head(std::slice::from_ref(row));
    let at = |progress: &Progress| {
        let time = Nanos((progress.seconds * 1e9).round() as u64);
        let rate = format!("{} {unit}", iops(progress.iops()));
        let moved = row.moves_bytes().then(|| format!("{} and ", bandwidth(progress.bytes_per_s())));
        format!("after {time}, at {}{rate}", moved.unwrap_or_default())
    };
    format!("the first worker was done {}; the last {}, over all of it", at(&done.first), at(&done.last))
}

/// A doubt as a sentence: what, how much, and what would lift it.
pub fn warning(warning: &Warning) -> String {
    match warning {
        Warning::Cached { footprint, memory } => format!(
            "Requests went through the page cache, and the layout ({footprint}) is less than twice the memory ({memory}): this may be the speed of memory. Use direct I/O, or a layout of twice the memory."
        ),
        Warning::ReadFromMemory { share: from_memory } => format!(
            "Read from memory: {} of the bytes read were answered by the page cache, and no device saw them. Use direct I/O, or a layout of twice the memory that is read once.",
            share(*from_memory)
        ),
        Warning::DirectRefused { detail } => {
            format!("Direct I/O was refused, so the page cache was in between: {detail}.")
        }
        Warning::BackendFallback { detail } => format!("Another backend took the place of the planned one: {detail}."),
        Warning::HostLost { hosts, wholly: false } => {
            format!(
                "Lost in mid-run: {}. The figures end where it was lost; what was measured without it is left out.",
                hosts.join(", ")
            )
        }
        Warning::HostLost { hosts, wholly: true } => {
            format!("Measured without {}, which was lost: these are the figures of the other hosts.", hosts.join(", "))
        }
        Warning::StartSkew { host, late } => {
            format!("{host} began {late} after the agreed instant: the first interval holds too little.")
        }
        Warning::ClockError { host, error } => format!(
            "The clock of {host} was known to {error} only when the stage was to begin: it may have begun that much before or after the others, and the intervals of the hosts may be shifted against each other by so much."
        ),
        Warning::Unsettled { detail } => format!(
            "Measuring was to end when the rate was steady, and it never was ({detail}): the figures are those of a target that still changes. Allow a larger measure_max, or precondition longer."
        ),
        Warning::CachesNotEmptied { detail } => format!(
            "Caches were not emptied as asked ({detail}): some of what was read may have come from one. Try the command by hand, then measure again."
        ),
        Warning::FewSamples { samples } => format!(
            "Only {} completed: too few for quantiles beyond the median. Measure longer.",
            counted(*samples, "request")
        ),
        Warning::ThinTail { quantile, beyond } => format!(
            "{quantile} and above rest on {} or fewer: chance moves them from run to run. Measure longer.",
            counted(*beyond, "request")
        ),
        Warning::WorkerBusy { share: busy } => format!(
            "A worker kept its core {} busy: the load generator, not the target, may be the limit. Use more workers.",
            share(*busy)
        ),
        Warning::RateMissed { asked, done } => format!(
            "Only {} of the rate of {} was kept: requests queued up longer and longer, and the latencies are those of a queue without end. Offer less.",
            share(*done),
            rate(*asked)
        ),
        Warning::Stalled { longest, intervals } => format!(
            "The target stood still (a request took {longest}; {} with less than half of the usual): in a closed loop, the requests that would have been due meanwhile were never sent and are in no quantile. Load at a fixed rate to see them.",
            counted(u64::from(*intervals), "interval")
        ),
        Warning::WarmUp { length, share: level } => format!(
            "There was a warm-up of {length} inside the measured time: until then, the level was {} of the level after it. Precondition longer.",
            share(*level)
        ),
        Warning::Changed { host, times, at, share: level } => format!(
            "The level changed {} in the measured time{}; the largest change was at {at}, to {} of the level before. One figure does not describe both.",
            if *times == 1 { "once".to_owned() } else { format!("{} times", count(u64::from(*times))) },
            host.map_or_else(String::new, |host| format!(" on host {}", count(u64::from(host)))),
            share(*level)
        ),
        Warning::NotSteady { range, slope } => format!(
            "Not steady by the rule of the SNIA: over five rounds, the range was {} of the mean (at most 20 %), and the trend {}{} (at most 10 %). Measure or precondition longer.",
            share(*range),
            if *slope < 0.0 { "−" } else { "+" },
            share(slope.abs())
        ),
        Warning::UnfairWorkers { short, of, least } => format!(
            "{} of {} of a host did less than 80 % of the median worker there, the slowest {}: the total hides that some were starved.",
            count(u64::from(*short)),
            counted(u64::from(*of), "worker"),
            share(*least)
        ),
        Warning::UnequalHosts { short, of, least } => format!(
            "{} of {} did less than 80 % of the median host for each worker, the slowest {}: the total hides that.",
            count(u64::from(*short)),
            counted(u64::from(*of), "host"),
            share(*least)
        ),
        Warning::LittleBroken { found, most } => format!(
            "Rate × mean latency makes {found:.1} requests outstanding, and there were never more than {most:.0} (Little's law): one of the two figures is wrong."
        ),
        Warning::LittleSpace { target, free } => format!(
            "{target} had {} of its space left: file systems and flash slow down when they are nearly full.",
            share(*free)
        ),
        Warning::NotPreconditioned => {
            "There was no preconditioning: caches, allocation and flash were not in a steady state at the start."
                .to_owned()
        }
        Warning::NotPrepared => {
            "Nothing was written before: a read of a block that was never written costs next to nothing.".to_owned()
        }
        Warning::Errors { by_errno } => {
            let kinds: Vec<String> =
                by_errno.iter().map(|(number, n)| format!("{} × {}", count(*n), errno(*number))).collect();
            format!("Requests failed ({}); they count in no rate and no quantile.", kinds.join(", "))
        }
        Warning::Reducible { compressible, duplicate } => format!(
            "Of what was written, {compressible} compresses away and {duplicate} are copies: storage that compresses or finds duplicates had less to store, and is faster than with other data."
        ),
        Warning::Incomplete { how, measured } => {
            format!("Only a part was measured ({measured}): {}.", run_state(how))
        }
        Warning::Scaled { scale } => {
            format!("{}: this shows that the suite runs, not what the target carries.", shrunk(*scale, "were"))
        }
        Warning::Simulated => {
            "The target is simulated: this shows how Plimsoll measures, not what storage carries.".to_owned()
        }
        Warning::AboveCeiling { share, layer } => format!(
            "This is {} of what the testbed's {} can do: some of it did not come from there, a cache perhaps, or a fact of the testbed is wrong.",
            self::share(*share),
            crate::ceiling::layer(*layer)
        ),
        Warning::NothingCompleted => "No request completed.".to_owned(),
    }
}

/// What a note is about, as the head of a line.
pub fn note(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::DirectRefused => "direct I/O refused",
        NoteKind::BackendFallback => "other backend",
        NoteKind::BackendChosen => "backend",
        NoteKind::NoFallocate => "space not reserved",
        NoteKind::EngineDegraded => "engine without a part of its set-up",
        NoteKind::Stuck => "target does not answer",
        NoteKind::Resumed => "resumed",
        NoteKind::HostLost => "a host was lost",
        NoteKind::HostReturned => "a host came back",
        NoteKind::Hosts => "about the hosts",
        NoteKind::WorkloadsLeftOut => "workloads left out",
        NoteKind::PointsSkipped => "points left out",
        NoteKind::ClientsImagined => "hosts that are not at hand",
        NoteKind::Adjusted => "adjusted",
        NoteKind::PageCache => "page cache",
        NoteKind::DeviceRead => "what devices read",
        NoteKind::Mismatch => "not what was written",
        NoteKind::NotChecked => "not checked",
        NoteKind::Settled => "settled",
        NoteKind::Unsettled => "not settled",
        NoteKind::CachesNotEmptied => "caches not emptied",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Quantile;
    use model::{Bytes, Fraction};
    use std::collections::BTreeMap;

    #[test]
    fn numbers_have_three_figures_or_all_of_them() {
        let told: Vec<String> = [0.0, 9.99, 42.123, 950.4, 18_200.0, 999_400.0, 1_234_567.0].map(iops).into();
        assert_eq!(told, ["0", "9.99", "42.1", "950", "18,200", "999,400", "1.23 M"]);
        assert_eq!(bandwidth(1234.0 * 1_048_576.0), "1,234 MiB/s");
        assert_eq!(gb_per_s(1.294e9), "1.29 GB/s");
        assert_eq!(gb_per_s(81_920_000.0), "81.9 MB/s");
        assert_eq!(
            (count(0), count(999), count(1_000), count(1_234_567)),
            ("0".into(), "999".into(), "1,000".into(), "1,234,567".into())
        );
        assert_eq!((share(0.95), share(0.041)), ("95 %".to_owned(), "4.1 %".to_owned()));
        assert_eq!(latency(None), "–");
        assert_eq!(utc(1_767_323_045_000_000_000), "2026-01-02 03:04:05 UTC");
    }

    #[test]
    fn every_doubt_is_a_sentence_with_its_figure() {
        let all = [
            Warning::Cached { footprint: Bytes::gib(1), memory: Bytes::gib(64) },
            Warning::ReadFromMemory { share: 0.97 },
            Warning::DirectRefused { detail: "/mnt/x refuses O_DIRECT".to_owned() },
            Warning::BackendFallback { detail: "io_uring is forbidden; sync took its place".to_owned() },
            Warning::HostLost { hosts: vec!["node3".into()], wholly: false },
            Warning::HostLost { hosts: vec!["node3".into(), "node7".into()], wholly: true },
            Warning::StartSkew { host: "node3".into(), late: Nanos::millis(250) },
            Warning::ClockError { host: "node3".into(), error: Nanos::millis(120) },
            Warning::Unsettled { detail: "not steady after 2h".to_owned() },
            Warning::CachesNotEmptied { detail: "stages.prerun ended with exit status 1".to_owned() },
            Warning::FewSamples { samples: 1 },
            Warning::ThinTail { quantile: Quantile { name: "p99.9", key: "p99_9", share: 0.999 }.name, beyond: 3 },
            Warning::WorkerBusy { share: 0.97 },
            Warning::RateMissed { asked: Rate::Iops { milli: 10_000_000 }, done: 0.955 },
            Warning::Stalled { longest: Nanos::millis(2_010), intervals: 2 },
            Warning::WarmUp { length: Nanos::seconds(15), share: 1.4 },
            Warning::Changed { host: Some(3), times: 2, at: Nanos::seconds(120), share: 0.7 },
            Warning::Changed { host: None, times: 1, at: Nanos::seconds(120), share: 0.7 },
            Warning::NotSteady { range: 0.31, slope: -0.12 },
            Warning::UnfairWorkers { short: 1, of: 16, least: 0.15 },
            Warning::UnequalHosts { short: 2, of: 6, least: 0.7 },
            Warning::LittleBroken { found: 400.0, most: 320.0 },
            Warning::LittleSpace { target: "/mnt/x".to_owned(), free: 0.04 },
            Warning::NotPreconditioned,
            Warning::NotPrepared,
            Warning::Errors { by_errno: BTreeMap::from([(0, 1), (5, 12_000)]) },
            Warning::Reducible { compressible: Percent::of(60), duplicate: Percent::of(30) },
            Warning::Incomplete { how: RunState::Unfinished, measured: Nanos::seconds(3) },
            Warning::Scaled { scale: Scale::both(Fraction::one_in(100)) },
            Warning::Simulated,
            Warning::NothingCompleted,
        ];
        let text: Vec<String> = all.iter().map(|doubt| format!("{:20} {}", doubt.code(), warning(doubt))).collect();
        insta::assert_snapshot!(text.join("\n"));
    }
}
