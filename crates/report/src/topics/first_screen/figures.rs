//! Three or four large figures with their intervals: what the run carried at most, how long its
//! requests took there, and what was at its limit.

use crate::ground::markup::{Markup, classed, plain};
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

struct Large {
    title: String,
    value: String,
    /// What stands behind it, such as its interval; empty where nothing is known.
    qualifier: String,
    /// Where it was measured.
    of: String,
}

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
    let mut all: Vec<Large> = line.and_then(load_line).into_iter().collect();
    all.push(rate(peak));
    let widest = points().max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    all.extend(widest.filter(|row| row.bytes > 0).map(bandwidth));
    // A search also tries rates beyond the load line: nobody wants the latencies of those.
    let answer = line.and_then(LoadLine::answer_point);
    match answer.and_then(|point| points().find(|row| row.point == point)) {
        Some(row) => {
            all.push(latency(row, "load line"));
            all.push(limit(row, "at the load line", rows, reached, limits));
        }
        None => {
            let unit = words::rate_unit(peak.is_metadata());
            let (at, place) = match peak.is_changing() {
                true => ("all rates".to_owned(), "over the load"),
                false => (format!("peak {unit}"), "at peak"),
            };
            all.push(latency(peak, &at));
            all.push(limit(peak, place, rows, reached, limits));
        }
    }
    all.extend(beside.and_then(against));
    let tiles = all.into_iter().map(tile).collect::<Markup>();
    classed("dl", "headline", tiles)
}

fn tile(large: Large) -> Markup {
    let mut value = classed("span", "large", large.value);
    value.push(format!(" {} ", large.qualifier));
    value.push(classed("span", "of", large.of));
    plain("div", [plain("dt", large.title), plain("dd", value)])
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
    match words::uncertainty(value, interval) {
        none if none == "–" => "no interval".to_owned(),
        some => some,
    }
}

fn rate(row: &ResultRow) -> Large {
    let unit = words::rate_unit(row.is_metadata());
    // What changes over time by the suite's own word has a mean, and no peak is known of it.
    let what = if row.is_changing() { "Mean" } else { "Peak" };
    Large {
        title: format!("{what} {unit}"),
        value: words::iops(row.iops()),
        qualifier: interval_words(
            Some(row.iops()),
            row.confidence.iops.map(|iops| iops.interval()),
        ),
        of: place(row),
    }
}

fn bandwidth(row: &ResultRow) -> Large {
    let interval = row.confidence.bytes_per_s.map(|bytes| bytes.interval());
    Large {
        title: if row.is_changing() { "Mean bandwidth" } else { "Peak bandwidth" }.to_owned(),
        value: words::bandwidth(row.bytes_per_s()),
        qualifier: interval_words(Some(row.bytes_per_s()), interval),
        of: place(row),
    }
}

fn latency(row: &ResultRow, at: &str) -> Large {
    let p99 = row.latency.quantile_ns(0.99);
    Large {
        title: format!("p99 at {at}"),
        value: words::latency(p99),
        qualifier: interval_words(p99.map(|ns| ns as f64), row.confidence.p99_ns()),
        of: format!("p50 {}", words::latency(row.latency.quantile_ns(0.5))),
    }
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
    let large = |value: String, qualifier: String, of: &str| Large {
        title: "At its limit".to_owned(),
        value,
        qualifier,
        of: of.to_owned(),
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
        let near = large(layer, words::share(share), &of);
        // What is used by half is no limit.
        let is_limit = share >= NEAR;
        let title = if is_limit { near.title } else { "Nearest to its limit".to_owned() };
        return Large { title, ..near };
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
    Some(Large {
        title: "Load line".to_owned(),
        value: format!("{} IOPS", words::iops(known)),
        qualifier,
        of,
    })
}

fn against(beside: &Beside<'_>) -> Option<Large> {
    let (figure, run, quantity) = beside.held.figures.iter().find_map(|figure| {
        let run = figure.run.as_ref().ok()?;
        Some((figure, run, figure.quantity?))
    })?;
    Some(Large {
        title: format!("Beside {}", beside.name),
        value: published::figure(quantity, run.value),
        qualifier: format!("published {}", published::figure(quantity, figure.published.value)),
        of: [&*figure.workload, &*figure.scenario, &*figure.name]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn the_largest_figures_stand_with_their_points_and_nothing_has_none() {
        let suite = "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n";
        let mut recorded = Recorded::new(suite);
        let first = recorded.stage(StageKind::Measure);
        recorded.interval(first, 0, &[(Op::Read, &[1_000; 10])]);
        recorded.interval(first + 1, 0, &[(Op::Read, &[2_000_000; 90])]);
        recorded.end();
        let rows = analysis::results(&recorded.record());
        let shown = section(&rows, &[], &[], None, None).into_string();
        has(&shown, &["Peak IOPS", "90.0", "w (depth=8), read", "p99 at peak IOPS", "2 ms"]);
        has(&shown, &["At its limit", "no interval"]);
        assert_eq!(section(&[], &[], &[], None, None), Markup::new());
    }
}
