//! Three or four large figures with their intervals: what the run carried at most, how long its
//! requests took there, and what was at its limit.

use crate::ground::markup::{Markup, tiles};
use crate::ground::words;
use crate::topics::results::row::name;
use crate::topics::{attribution, ceiling, loadline, published};
use analysis::attribution::Attribution;
use analysis::ceiling::Reached;
use analysis::loadline::LoadLine;
use analysis::published::Comparison;
use analysis::{Ops, ResultRow};

/// Published figures and what the run has in their place.
pub struct Beside<'a> {
    /// Whose figures they are.
    pub name: &'a str,
    /// Each of them beside the run's.
    pub held: &'a Comparison,
}

/// Its title, its value, what stands behind that such as an interval, and where it was measured.
type Large = [String; 4];

/// The large figures; nothing of a run that carried nothing.
pub fn section(
    rows: &[ResultRow],
    reached: &[Reached],
    limits: &[Attribution],
    beside: Option<&Beside<'_>>,
    line: Option<&LoadLine>,
) -> Markup {
    let points = || rows.iter().filter(|row| row.is_of_point() && row.ios > 0);
    let Some(peak) = points().max_by(|a, b| a.iops().total_cmp(&b.iops())) else {
        return Markup::new();
    };
    // The rate of a single point is a mean, and no peak among others.
    let what = match (peak.is_changing(), points().count()) {
        (true, _) => "Mean ",
        (false, 1) => "",
        (false, _) => "Peak ",
    };
    let mut all: Vec<Large> = line.and_then(load_line).into_iter().collect();
    all.push(rate(peak, what));
    let widest = points().max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    all.extend(widest.filter(|row| row.bytes > 0).map(|row| bandwidth(row, what)));
    // A search also tries rates beyond the load line: nobody wants the latencies of those.
    let answer = line.and_then(LoadLine::answer_point);
    match answer.and_then(|point| points().find(|row| row.point == point)) {
        Some(row) => {
            all.push(latency(row, " at load line"));
            all.push(limit(row, "at the load line", rows, reached, limits));
        }
        None => {
            let unit = words::rate_unit(peak.is_metadata());
            let (at, place) = match what {
                "Mean " => (" at all rates".to_owned(), "over the load"),
                "" => (String::new(), "over the load"),
                _ => (format!(" at peak {unit}"), "at peak"),
            };
            all.push(latency(peak, &at));
            all.push(limit(peak, place, rows, reached, limits));
        }
    }
    all.extend(beside.and_then(against));
    tiles(all)
}

/// `4k-random-read (depth=32), read`; of what mixes operations, its name says it.
fn place(row: &ResultRow) -> String {
    match row.ops {
        Ops::One(op) if !row.workload.contains(op.name()) => {
            format!("{}, {}", name(row), op.name())
        }
        _ => name(row),
    }
}

fn interval_words(value: Option<f64>, interval: Option<analysis::Interval>) -> String {
    let said = words::uncertainty(value, interval);
    if said == "–" { "no interval".to_owned() } else { said }
}

fn rate(row: &ResultRow, what: &str) -> Large {
    let interval = row.confidence.iops.map(|iops| iops.interval());
    let title = format!("{what}{}", words::rate_unit(row.is_metadata()));
    let (value, interval) = (words::iops(row.iops()), interval_words(Some(row.iops()), interval));
    [title, value, interval, place(row)]
}

fn bandwidth(row: &ResultRow, what: &str) -> Large {
    let interval = row.confidence.bytes_per_s.map(|bytes| bytes.interval());
    let title = if what.is_empty() { "Bandwidth".to_owned() } else { format!("{what}bandwidth") };
    let rate = row.bytes_per_s();
    [title, words::bandwidth(rate), interval_words(Some(rate), interval), place(row)]
}

fn latency(row: &ResultRow, at: &str) -> Large {
    let p99 = row.latency.quantile_ns(0.99);
    let interval = interval_words(p99.map(|ns| ns as f64), row.confidence.p99_ns());
    let p50 = format!("p50 {}", words::latency(row.latency.quantile_ns(0.5)));
    [format!("p99{at}"), words::latency(p99), interval, p50]
}

/// From this share of a ceiling on, it is what limits.
const NEAR: f64 = 0.9;

/// What was at its limit at the point of `row`: as the kernels counted it, or else as the testbed
/// has it.
fn limit(
    row: &ResultRow,
    at: &str,
    rows: &[ResultRow],
    reached: &[Reached],
    limits: &[Attribution],
) -> Large {
    let large = |value: String, qualifier: String, of: &str| {
        ["At its limit".to_owned(), value, qualifier, of.to_owned()]
    };
    let counted = limits.iter().find(|one| one.point == row.point);
    if let Some(full) = counted.and_then(|one| one.limits().first().copied()) {
        let used = full.used.share().map_or_else(String::new, words::share);
        return large(attribution::name(full), used, &format!("by the kernel's counters, {at}"));
    }
    let nearest = reached.iter().filter_map(|one| {
        // At equal distance, the point that is looked at.
        let order = (one.share()?, one.point == row.point);
        Some((order, one.point, one.ceiling.binding()?))
    });
    let order = |a: &(f64, bool), b: &(f64, bool)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if let Some(((share, is_here), point, binding)) = nearest.max_by(|a, b| order(&a.0, &b.0)) {
        let layer = ceiling::layer(binding.layer).to_owned();
        let there = rows.iter().find(|row| row.is_of_point() && row.point == point && !is_here);
        let there = there.map_or_else(|| at.to_owned(), |row| format!("at {}", place(row)));
        let of = format!("of the testbed's ceiling, {there}");
        // What is used by half is no limit.
        let title = if share >= NEAR { "At its limit" } else { "Nearest to its limit" };
        return [title.to_owned(), layer, words::share(share), of];
    }
    match counted {
        Some(_) => large("nothing watched".to_owned(), String::new(), "more depth may carry more"),
        None => large("not known".to_owned(), String::new(), "no counters, and no testbed"),
    }
}

fn load_line(line: &LoadLine) -> Option<Large> {
    let known = loadline::known(line.answer.rate?, line.answer.fails_at);
    let qualifier = match line.answer.fails_at {
        Some(fails) => format!("below {}", words::iops(fails)),
        None => "no rate failed".to_owned(),
    };
    let of = format!("{} held", line.objective);
    Some(["Load line".to_owned(), format!("{} IOPS", words::iops(known)), qualifier, of])
}

fn against(beside: &Beside<'_>) -> Option<Large> {
    let (figure, run, quantity) = beside.held.figures.iter().find_map(|figure| {
        let run = figure.run.as_ref().ok()?;
        Some((figure, run, figure.quantity?))
    })?;
    let parts = [&*figure.workload, &*figure.scenario, &*figure.name];
    let of: Vec<&str> = parts.into_iter().filter(|word| !word.is_empty()).collect();
    let theirs = published::figure(quantity, figure.published.value);
    Some([
        format!("Beside {}", beside.name),
        published::figure(quantity, run.value),
        format!("published {theirs}"),
        of.join(", "),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has, lacks, swept};
    use analysis::ceiling::against;
    use catalogue::cluster::Cluster;
    use model::{Op, StageKind};

    #[test]
    fn the_point_that_is_nearest_to_its_ceiling_is_named_and_not_the_fastest() {
        let sweep = format!("{W}[sweep]\nblock_size = [\"4KiB\", \"1MiB\"]\n");
        let record = swept(&sweep, [vec![1_000; 90], vec![1_000; 10]]);
        let drive = "[[nodes]]\n[[nodes.drives]]\nread_iops = 1000\nread = \"20971520B/s\"\n";
        let cluster = Cluster::parse("t", &format!("name = \"t\"\n{drive}"), &[]);
        let rows = analysis::results(&record);
        let reached = against(&cluster.expect("a good testbed"), &record, &rows);
        let shown = section(&rows, &reached, &[], None, None).into_string();
        has(&shown, &["Nearest to its limit", "50 %", "ceiling, at w (block_size=1MiB)"]);
        lacks(&shown, &["At its limit"]);
    }

    #[test]
    fn the_largest_figures_stand_with_their_points_and_nothing_has_none() {
        let suite = "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n";
        let mut recorded = Recorded::new(suite);
        let first = recorded.stage(StageKind::Measure);
        recorded.interval(first, 0, &[(Op::Read, &[1_000; 10])]);
        recorded.interval(first + 1, 0, &[(Op::Read, &[2_000_000; 90])]);
        let rows = analysis::results(&recorded.end());
        let shown = section(&rows, &[], &[], None, None).into_string();
        has(&shown, &["Peak IOPS", "90.0", "w (depth=8), read", "p99 at peak IOPS", "2 ms"]);
        has(&shown, &["At its limit", "no interval"]);
        assert_eq!(section(&[], &[], &[], None, None), Markup::new());
    }
}
