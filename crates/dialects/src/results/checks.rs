//! What in results does not go together, whatever tool they are from.

use super::{Results, doubt};
use model::foreign::{DoubtKind, GivenRow, Measured, Quantity, Span, Statistic};
use std::collections::BTreeMap;

/// Rates and means are rounded, and taken over times that differ a little.
const SLACK: f64 = 0.02;
/// A system call alone takes longer, in ns.
const CALL_NS: f64 = 100.0;
/// What was measured for a shorter time is no steady state of anything, in ns.
const SHORT_NS: f64 = 1e9;

/// Looks at all rows, and adds the doubts.
pub fn all(results: &mut Results) {
    let mut found = Vec::new();
    results.rows.iter().for_each(|row| check(row, &mut found));
    littles_law(&results.rows, &mut found);
    for one in found {
        doubt(results, one.kind, &one.name, one.numbers);
    }
}

/// A doubt before its name is cut to what is kept.
struct Found {
    kind: DoubtKind,
    name: String,
    numbers: Option<(f64, f64)>,
}

fn name_of(row: &GivenRow) -> String {
    row.op.map_or_else(|| row.workload.clone(), |op| format!("{} {}", row.workload, op.name()))
}

fn check(row: &GivenRow, found: &mut Vec<Found>) {
    let mut say = |kind, numbers| found.push(Found { kind, name: name_of(row), numbers });
    let whole = |measured| row.get(Quantity::whole(measured));
    let time_ns = whole(Measured::Time);
    // A time of ms says nothing of rates to a few percent.
    let is_long = time_ns.is_none_or(|time| time >= SHORT_NS);
    let size = match (whole(Measured::Bytes), whole(Measured::Requests)) {
        (Some(bytes), Some(requests)) if requests > 0.0 => Some(bytes / requests),
        _ => whole(Measured::RequestSize),
    };
    if let (Some(rate), Some(bandwidth), Some(size)) =
        (whole(Measured::Rate), whole(Measured::Bandwidth), size)
    {
        let computed = rate * size;
        // Tools print two decimals of MiB/s.
        let rounding = 0.01 * f64::from(1 << 20);
        if is_long && (computed - bandwidth).abs() > SLACK * bandwidth.max(computed) + rounding {
            say(DoubtKind::RateTimesSize, Some((bandwidth, computed)));
        }
    }
    if let (Some(rate), Some(requests), Some(time)) =
        (whole(Measured::Rate), whole(Measured::Requests), time_ns.filter(|_| is_long))
    {
        let computed = requests / (time / 1e9);
        if (computed - rate).abs() > SLACK * rate.max(computed) + 1.0 {
            say(DoubtKind::AmountOverTime, Some((rate, computed)));
        }
    }
    if let Some(time) = time_ns.filter(|time| *time > 0.0 && *time < SHORT_NS) {
        say(DoubtKind::TooShort, Some((time, SHORT_NS)));
    }
    let mean = row.latency_ns(Statistic::Mean).map(|mean| mean.value_ns);
    if let Some(mean) = mean.filter(|mean| *mean > 0.0 && *mean < CALL_NS) {
        say(DoubtKind::FasterThanACall, Some((mean, CALL_NS)));
    }
    for span in Span::ALL {
        quantiles(row, *span, &mut say);
    }
    if let Some(counted) = &row.latencies
        && let Some(requests) = whole(Measured::Requests)
    {
        let counted = counted.latency.count() as f64;
        if (counted - requests).abs() > SLACK * requests {
            say(DoubtKind::BinsDoNotAddUp, Some((requests, counted)));
        }
    }
}

fn quantiles(row: &GivenRow, span: Span, say: &mut impl FnMut(DoubtKind, Option<(f64, f64)>)) {
    let all = row.quantiles(span);
    let falls = all.windows(2).find(|pair| pair[1].value_ns < pair[0].value_ns);
    if let Some(pair) = falls {
        let numbers = (pair[1].value_ns, pair[0].value_ns);
        say(DoubtKind::QuantilesOutOfOrder, Some(numbers));
    }
    // A quantile may be the middle or the end of a bin, which is 1/64 wide in fio.
    let most = row.get(Quantity::latency(span, Statistic::Most));
    if let (Some(most), Some(last)) = (most, all.last())
        && most > 0.0
        && last.value_ns > most * 1.05 + 1e3
    {
        say(DoubtKind::QuantilesOutOfOrder, Some((last.value_ns, most)));
    }
}

/// No more requests can be in flight, by rate and mean latency, than the options of a job allow
/// (Little 1961). Rows of one job add up.
fn littles_law(rows: &[GivenRow], found: &mut Vec<Found>) {
    let mut jobs: BTreeMap<(u32, u32), (String, f64, f64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.op.is_some()) {
        let (Some(rate), Some(mean), Some(allowed)) = (
            row.get(Quantity::whole(Measured::Rate)),
            row.latency_ns(Statistic::Mean),
            row.get(Quantity::whole(Measured::Allowed)),
        ) else {
            continue;
        };
        let key = (row.source, row.group);
        let job = jobs.entry(key).or_insert_with(|| (row.workload.clone(), 0.0, allowed));
        job.1 += rate * mean.value_ns / 1e9;
    }
    for (name, in_flight, allowed) in jobs.into_values() {
        if in_flight > allowed * (1.0 + SLACK) + 0.1 {
            let numbers = Some((allowed, in_flight));
            found.push(Found { kind: DoubtKind::LittlesLaw, name, numbers });
        }
    }
}
