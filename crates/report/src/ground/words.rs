//! Every word and number format that people read, in one place: tables, pages and live views say
//! the same thing the same way.

use analysis::{Done, Interval, Progress, ResultRow, RunState};
use jiff::Timestamp;
use model::choices::{Access, CloseTime, FileFsync, TrimAs};
use model::load::{Pace, Rate};
use model::metadata::MetadataWork;
use model::objective::Limit;
use model::plan::{Work, ZoneRules};
use model::priority::Priority;
use model::sample::{VERIFY_CORRUPT, VERIFY_MISDIRECTED, VERIFY_STALE, VERIFY_TORN};
use model::{Bytes, Histogram, Nanos, NoteKind, Percent, Record, Scale, Setting};

/// `950`, `18,200` or `1,234,567` requests per second, without the unit: written alike in all rows
/// of a column.
pub fn iops(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { three_digits(value) }
}

/// `950.0`, `18,200` or `0.52`: three digits, or all that stand before the point.
pub fn three_digits(value: f64) -> String {
    match value {
        v if v >= 99.95 => count(v.round() as u64),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// `1,234 MiB/s`, from bytes per second.
pub fn bandwidth(bytes_per_s: f64) -> String {
    format!("{} MiB/s", mib_per_s(bytes_per_s))
}

/// `1,234` from bytes per second: for columns whose head says MiB/s.
pub fn mib_per_s(bytes_per_s: f64) -> String {
    three_digits(bytes_per_s / MEBI)
}

/// A figure without a unit: `12,345`, `1.25`, `0.0042`.
pub fn plain_number(value: f64) -> String {
    match value.abs() {
        size if size >= 1_000.0 => iops(value),
        size if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// Bytes of one MiB.
pub const MEBI: f64 = 1_048_576.0;

/// `1,234 MiB/s`, `0`: a tick of an axis that goes up in MiB/s.
pub fn mebi_per_s(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { bandwidth(value * MEBI) }
}

/// `1.29 GB/s` (powers of 1000), from bytes per second: one unit for all, so that rows of a column
/// compare at a glance.
pub fn gb_per_s(bytes_per_s: f64) -> String {
    match bytes_per_s / 1e9 {
        v if v >= 0.0995 => format!("{v:.2} GB/s"),
        v if v >= 0.000_995 => format!("{v:.4} GB/s"),
        v => format!("{v:.6} GB/s"),
    }
}

/// `1.25 ms`, or a dash where nothing was counted.
pub fn latency(ns: Option<u64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| Nanos(ns).to_string())
}

/// The mean of latencies.
pub fn mean(latency: &Histogram) -> String {
    self::latency(latency.mean_ns().map(|mean| mean.round() as u64))
}

/// What a share of latencies does not exceed.
pub fn quantile(latency: &Histogram, share: f64) -> String {
    self::latency(latency.quantile_ns(share))
}

/// The longest latency of a row: `1.25 ms`, or `≥ 12.1 s` of a request that never came back.
pub fn longest(row: &ResultRow) -> String {
    let at_least = if row.longest_is_age() { "≥ " } else { "" };
    format!("{at_least}{}", latency(row.latency.max_ns()))
}

/// `10,000 IOPS` or `100 MiB/s`.
pub fn rate(rate: Rate) -> String {
    match rate {
        Rate::Iops { milli } if milli.is_multiple_of(1_000) => {
            format!("{} IOPS", count(milli / 1_000))
        }
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

/// `1.6 TB`: a footprint as reports print them, in powers of 1000.
pub fn decimal(bytes: Bytes) -> String {
    let units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let power = units.len().min(bytes.0.checked_ilog(1000).unwrap_or(0) as usize);
    let value = format!("{:.2}", bytes.0 as f64 / 1000f64.powi(power as i32));
    format!(
        "{} {}",
        value.trim_end_matches('0').trim_end_matches('.'),
        units[power.min(units.len() - 1)]
    )
}

/// `234.0 Gbit/s`, `1.6 Mbit/s` or `0.3 kbit/s`, from bits per second.
pub fn gbit_per_s(bits_per_s: f64) -> String {
    match bits_per_s {
        v if v >= 9.995e8 => format!("{:.1} Gbit/s", v / 1e9),
        v if v >= 9.995e5 => format!("{:.1} Mbit/s", v / 1e6),
        v => format!("{:.1} kbit/s", v / 1e3),
    }
}

/// `12.5 %`, from a share of 0 to 1.
pub fn share(value: f64) -> String {
    match value * 100.0 {
        percent if percent >= 999.5 => format!("{} %", count(percent.min(1e15).round() as u64)),
        percent if percent >= 9.95 => format!("{percent:.0} %"),
        percent => format!("{percent:.1} %"),
    }
}

/// How far a figure is from its limit, by its excess (`docs/method`): `104 % of its limit`. The
/// excess of a rate is the limit divided by it, so what it reached is the reciprocal.
pub fn of_limit(limit: Limit, excess: f64) -> String {
    if limit.is_at_least() {
        return format!("{} of what it has to be", share(1.0 / excess.max(f64::MIN_POSITIVE)));
    }
    of_most(excess)
}

/// The same of a figure that has to be as small as its limit, or smaller.
pub fn of_most(excess: f64) -> String {
    format!("{} of its limit", share(excess))
}

/// How far the 95 % interval of a figure reaches from it, on its wider side: `±1.2 %`, or a dash
/// where there is none.
pub fn uncertainty(value: Option<f64>, interval: Option<Interval>) -> String {
    match value.zip(interval) {
        Some((value, interval)) if value > 0.0 => {
            let reach = (interval.high - value).max(value - interval.low).max(0.0) / value;
            if reach < 0.001 { "±<0.1 %".to_owned() } else { format!("±{}", share(reach)) }
        }
        _ => "–".to_owned(),
    }
}

/// What ± means, and why some figures have none.
pub fn sureness_legend(rows: &[ResultRow]) -> String {
    let mut text =
        "±: how far the 95 % interval of the figure before it reaches at most.".to_owned();
    text.extend(no_interval(rows).map(|why| format!(" –: no interval; {why}.")));
    text
}

/// Why a rate has no interval: `5 samples are too few or too dependent`; `None` where every one
/// has.
pub fn no_interval(rows: &[ResultRow]) -> Option<String> {
    let unsure = || rows.iter().filter(|row| row.confidence.iops.is_none());
    let none = unsure().filter(|row| !row.is_changing()).map(|row| row.confidence.intervals);
    let (Some(least), Some(most)) = (none.clone().min(), none.max()) else {
        unsure().next()?;
        return Some("the rate changes over time".to_owned());
    };
    let many = match (least, most) {
        (1, 1) => "1 sample is".to_owned(),
        (least, most) if least == most => format!("{most} samples are"),
        (least, most) => format!("{least} to {most} samples are"),
    };
    Some(format!("{many} too few or too dependent"))
}

/// What a row of `all` is.
pub const WHOLE: &str = "every I/O of workloads that ran together; fsyncs are in no total";

/// The same as a sentence; empty where there is no such row.
pub fn wholes_legend(rows: &[ResultRow]) -> String {
    match rows.iter().any(|row| row.ops.one().is_none()) {
        true => format!("all: {WHOLE}."),
        false => String::new(),
    }
}

/// `2026-01-02 03:04:05 UTC`. In UTC, because reports travel.
pub fn utc(unix_ns: u64) -> String {
    match Timestamp::from_nanosecond(i128::from(unix_ns)) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

/// That sizes, times or both were shrunk, and by how much; `verb` is that of the sentence. Empty
/// where nothing was.
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

/// `depth=32, block_size=4KiB, repetition 2`; empty without axes, and without a repetition where
/// nothing is repeated.
pub fn sweep(axes: &[Setting], repetition: Option<u32>) -> String {
    let axes = axes.iter().map(Setting::to_string);
    let parts: Vec<String> =
        axes.chain(repetition.map(|number| format!("repetition {number}"))).collect();
    parts.join(", ")
}

/// `w (depth=32, repetition 2)`: a name with the values of its sweep.
pub fn with_sweep(name: &str, axes: &[Setting], repetition: Option<u32>) -> String {
    match sweep(axes, repetition).as_str() {
        "" => name.to_owned(),
        axes => format!("{name} ({axes})"),
    }
}

/// `a, b and 3 more`: at most so many names, and how many others there are.
pub fn first_of(names: &[String], most: usize, between: &str) -> String {
    let shown = names[..names.len().min(most)].join(between);
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// At most so many of them, and in the words of `more` how many others there are.
pub(crate) fn at_most(
    mut all: Vec<String>,
    most: usize,
    more: impl Fn(u64) -> String,
) -> Vec<String> {
    let left = all.len().saturating_sub(most) as u64;
    all.truncate(most);
    all.extend((left > 0).then(|| more(left)));
    all
}

/// Lines of a list, as a terminal has them.
pub fn items(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    lines.into_iter().map(|line| format!("- {}\n", line.as_ref())).collect()
}

/// The same under a title, behind an empty line; nothing without lines.
pub(crate) fn titled(title: &str, lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let lines = items(lines);
    if lines.is_empty() { lines } else { format!("\n{title}\n{lines}") }
}

/// Axis and value of each, as written, for JSON.
pub fn axes(axes: &[Setting]) -> serde_json::Map<String, serde_json::Value> {
    axes.iter().map(|setting| (setting.axis().to_owned(), setting.label().into())).collect()
}

fn of_zones(zones: &ZoneRules) -> String {
    let mut text = match zones.size.0 {
        0 => ", by the device's zones".to_owned(),
        _ => format!(", by zones of {}", zones.size),
    };
    if zones.open > 0 {
        text.push_str(&format!(", {} open at most", counted(u64::from(zones.open), "zone")));
    }
    if zones.worker_open > 0 {
        text.push_str(&format!(", {} of each worker", zones.worker_open));
    }
    if zones.reset_frequency > Percent::ZERO {
        text.push_str(&format!(
            ", reset before {} of the writes past {} of data",
            zones.reset_frequency, zones.reset_threshold
        ));
    }
    if zones.unwritten_reads {
        text.push_str(", reads behind write pointers, too");
    }
    text
}

/// So many characters of a command stand in a line.
const MOST_OF_COMMAND: usize = 70;

/// `4 KiB random read, depth 32 × 4 workers`, and what else there is to it.
pub fn work(work: &Work, workers: u32) -> String {
    if let Some(command) = &work.command {
        let line = command.words.join(" ");
        let shown: String = line.chars().take(MOST_OF_COMMAND).collect();
        let more = if shown.len() < line.len() { " …" } else { "" };
        return format!("the command {shown}{more}");
    }
    if let Some(metadata) = work.metadata {
        let mut text = files_work(&metadata, workers);
        if let Pace::Open { rate, .. } = work.pace {
            text.push_str(&format!(", {} offered in total", self::rate(rate)));
        }
        return text;
    }
    let mut text =
        format!("{} {}, {}", blocks(work), pattern(work), outstanding(work.depth, workers));
    if work.trims() {
        let what = match work.trim_as {
            _ if work.zones.is_some() => "resets of zones",
            TrimAs::Hole => "trims",
            TrimAs::Zeroes => "trims that write zeroes",
            TrimAs::Allocate => "trims that allocate",
        };
        text.push_str(&format!(", {} of the requests {what}", work.trim));
    }
    if let Some(sequence) = &work.pattern.sequence {
        let advance =
            if work.pattern.sequence_advances { ", each round behind the last" } else { "" };
        text.push_str(&format!(
            ", at {} given places again and again{advance}",
            count(sequence.places.len() as u64)
        ));
    }
    if let Some(zones) = &work.zones {
        text.push_str(&of_zones(zones));
    }
    text.push_str(&paced(work));
    if work.share > 0 {
        text.push_str(&format!(", bound to its group by share {}", work.share));
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

/// When its requests are sent, behind a comma; empty where each follows its answer at once.
fn paced(work: &Work) -> String {
    if let Some(trace) = &work.trace {
        let requests = counted(trace.requests, "request");
        return format!(", {requests} of a trace at their own instants, {}", trace.length);
    }
    let arrivals = |poisson: bool| if poisson { "Poisson" } else { "even" };
    match &work.pace {
        Pace::Open { rate, poisson } => {
            format!(", {} offered in total, {} arrivals", self::rate(*rate), arrivals(*poisson))
        }
        Pace::Changing { curve, poisson } => {
            format!(", offered in total {curve}; {} arrivals", arrivals(*poisson))
        }
        Pace::Closed { think: Nanos(0), .. } => String::new(),
        Pace::Closed { think, burst } => {
            format!(", {think} of rest after every {}", counted(u64::from(*burst), "request"))
        }
    }
}

/// `create, files of 4 KiB in the order of their numbers, 4 workers`, and what counts in its time.
fn files_work(work: &MetadataWork, workers: u32) -> String {
    let order =
        if work.random { "in an order without pattern" } else { "in the order of their numbers" };
    let mut text = format!(
        "{}, files of {} {order}, {}",
        work.name(),
        work.size,
        counted(u64::from(workers), "worker")
    );
    if let Some(population) = work.living() {
        text.push_str(&format!(", {} of the names have a file", population.fill));
    }
    match work.fsync {
        FileFsync::Never => {}
        FileFsync::Timed => text.push_str(", an fsync of each after it was written"),
        FileFsync::Untimed => {
            text.push_str(", an fsync of each after it was written, which no latency counts");
        }
    }
    if work.close == CloseTime::Untimed {
        text.push_str(", closing not counted in latencies");
    }
    text
}

/// What a column of rates is called: the usual word where all rows are of blocks, one that fits
/// both where some are not.
pub fn rate_head<'a>(rows: impl IntoIterator<Item = &'a ResultRow>) -> &'static str {
    rate_unit(rows.into_iter().any(ResultRow::is_metadata))
}

/// What a rate is called: of operations on whole files, or of blocks alone.
pub fn rate_unit(is_metadata: bool) -> &'static str {
    if is_metadata { "op/s" } else { "IOPS" }
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
    if work.trace.is_some() {
        return format!("replayed {}", mix(work.read));
    }
    if let Some(metadata) = work.metadata {
        return format!(
            "{} {}",
            if metadata.random { "random" } else { "sequential" },
            metadata.name()
        );
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
    if pattern.backward && pattern.random < Percent::ALL {
        text.push_str(" backward");
    }
    if pattern.run.0 > 0 && pattern.random < Percent::ALL {
        text.push_str(&format!(" in runs of {}", pattern.run));
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

/// `14,000 requests have had no answer for 1 s or more, the oldest for 4m 40s`
pub fn unanswered(requests: u64, oldest_ns: u64) -> String {
    let what = match requests {
        1 => "1 request has had no answer".to_owned(),
        more => {
            format!("{} requests have had no answer for 1 s or more, the oldest", count(more))
        }
    };
    format!("{what} for {}", Nanos(oldest_ns / 1_000_000_000 * 1_000_000_000))
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
    match errno {
        0 => "short transfer".to_owned(),
        VERIFY_CORRUPT => "corrupt block".to_owned(),
        VERIFY_MISDIRECTED => "block of another place".to_owned(),
        VERIFY_TORN => "torn write".to_owned(),
        VERIFY_STALE => "lost write".to_owned(),
        number => model::errno::known(number)
            .map_or_else(|| std::io::Error::from_raw_os_error(number).to_string(), str::to_owned),
    }
}

/// How a measured amount ended: `The first worker was done after 1.2 s, at 512 MiB/s; the last
/// after 1.4 s, at 480 MiB/s in all`. A single worker is first and last.
pub fn done(row: &ResultRow, done: &Done) -> String {
    let unit = rate_unit(row.is_metadata());
    let at = |progress: &Progress| {
        let time = Nanos((progress.seconds * 1e9).round() as u64);
        let rate = format!("{} {unit}", iops(progress.iops()));
        let moved =
            row.moves_bytes().then(|| format!("{} and ", bandwidth(progress.bytes_per_s())));
        format!("after {time}, at {}{rate}", moved.unwrap_or_default())
    };
    if row.workers == 1 {
        return format!("done {}", at(&done.last));
    }
    format!(
        "the first worker was done {}; the last {}, over all of it",
        at(&done.first),
        at(&done.last)
    )
}

/// What a note is about, as the head of a line.
pub fn note(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::DirectRefused => "direct I/O refused",
        NoteKind::BackendFallback => "other backend",
        NoteKind::BackendChosen => "backend",
        NoteKind::Carried => "kernel's threads",
        NoteKind::NoFallocate => "space not reserved",
        NoteKind::EngineDegraded => "the engine does without",
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
        NoteKind::OtherRun => "another run",
        NoteKind::Unsettled => "not settled",
        NoteKind::CachesNotEmptied => "caches not emptied",
        NoteKind::RunFileOnTarget => "run file on the target's disk",
        NoteKind::Replayed => "fidelity",
        NoteKind::Ledger => "files",
        NoteKind::Machines => "virtual machines",
        NoteKind::BelowGuests => "below the guests",
        NoteKind::EventIo => "I/O of an event",
        NoteKind::StorageState => "state of the servers",
        NoteKind::SimulatedLayers => "simulated layers",
        NoteKind::SimulatedSites => "simulated sites",
        NoteKind::Imported => "imported",
        NoteKind::Purged => "purged",
        NoteKind::NoChecksums => "no checksums",
        NoteKind::Told => "told by the tool",
        NoteKind::CountersFrom => "counters from a file",
    }
}

/// `node1`, or `node1 and 5 more hosts`.
pub fn hosts(record: &Record) -> String {
    let first = record.loaders().first().map_or("no host", |host| host.hostname.as_str());
    match record.loaders().len() {
        0 | 1 => first.to_owned(),
        many => format!("{first} and {}", counted(many as u64 - 1, "more host")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_many_times_has_separators() {
        assert_eq!(
            [0.0123, 0.5, 9.99, 1_000.0].map(share),
            ["1.2 %", "50 %", "999 %", "100,000 %"]
        );
        assert_eq!(
            [1.04, 9.99, 15.0, 1_000.0].map(|excess| of_limit(Limit::Mean(Nanos(1)), excess)),
            ["104 %", "999 %", "1,500 %", "100,000 %"].map(|share| format!("{share} of its limit"))
        );
        assert_eq!(of_limit(Limit::Iops { milli: 1 }, 2.0), "50 % of what it has to be");
        assert!(of_limit(Limit::Errors(1), f64::MAX).ends_with("000 % of its limit"));
    }

    #[test]
    fn numbers_have_three_figures_or_all_of_them() {
        let told: Vec<String> =
            [0.0, 9.99, 42.123, 950.4, 18_200.0, 999_400.0, 1_234_567.0].map(iops).into();
        assert_eq!(told, ["0", "9.99", "42.1", "950", "18,200", "999,400", "1,234,567"]);
        assert_eq!(bandwidth(1234.0 * 1_048_576.0), "1,234 MiB/s");
        assert_eq!([0.0, 0.5, 2_000.0].map(mebi_per_s), ["0", "0.50 MiB/s", "2,000 MiB/s"]);
        assert_eq!(gb_per_s(1.294e9), "1.29 GB/s");
        assert_eq!([81_920_000.0, 40_960.0].map(gb_per_s), ["0.0819 GB/s", "0.000041 GB/s"]);
        assert_eq!(
            (count(0), count(999), count(1_000), count(1_234_567)),
            ("0".into(), "999".into(), "1,000".into(), "1,234,567".into())
        );
        assert_eq!((share(0.95), share(0.041)), ("95 %".to_owned(), "4.1 %".to_owned()));
        assert_eq!(latency(None), "–");
        assert_eq!(utc(1_767_323_045_000_000_000), "2026-01-02 03:04:05 UTC");
    }
}
