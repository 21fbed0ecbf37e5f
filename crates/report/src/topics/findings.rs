//! What the sweeps of a run show: in words for tables and pages, and as objects for machines.

mod bars;
pub(crate) mod charts;

use crate::ground::words;
use crate::pens::json::{Value, each, object};
use analysis::{Finding, Measure, Odd, ResultRow};

/// Requests from this size on, in bytes, are told in bandwidth: it is what people ask for.
const LARGE_BYTES: f64 = 131_072.0;

/// The mean size of the finding's requests in bytes, where they are so large that bandwidth is what
/// people ask for.
pub fn large_bytes(rows: &[ResultRow], finding: &Finding) -> Option<f64> {
    Some(request_bytes(rows, finding)).filter(|bytes| *bytes >= LARGE_BYTES)
}

/// The mean size of the finding's requests in bytes; 0 where there are none.
pub fn request_bytes(rows: &[ResultRow], finding: &Finding) -> f64 {
    let mine = || rows.iter().filter(|row| finding.has(row));
    let (bytes, ios) = mine().fold((0u64, 0u64), |(bytes, ios), row| {
        (bytes.saturating_add(row.bytes), ios.saturating_add(row.ios))
    });
    bytes as f64 / ios.max(1) as f64
}

/// One curve of `rows` in a few sentences, each with the figures that it rests on.
pub fn sentence(finding: &Finding, rows: &[ResultRow]) -> String {
    let large = large_bytes(rows, finding);
    let figure = |finding: &Finding, value: f64| figure(finding, value, large);
    let curve = &finding.curve;
    let at = |point: usize| finding.label(point).unwrap_or("?");
    let value = |point: usize| finding.values.get(point).copied().unwrap_or(0.0);
    let share =
        |point: usize| words::share(value(point) / value(curve.peak).max(f64::MIN_POSITIVE));
    let mut text = format!(
        "{}: peak {} at {}",
        title(finding),
        figure(finding, value(curve.peak)),
        at(curve.peak)
    );
    if curve.is_rising {
        text.push_str(", its last value: the end of the climb was not reached.");
    } else if curve.knee == curve.plateau_end {
        text.push_str(", and no neighbour within 5 % of it.");
    } else {
        text.push_str(&format!(
            "; level (within 5 % of it) from {} to {}, in the middle {}.",
            at(curve.knee),
            at(curve.plateau_end),
            curve.sustained.map_or_else(|| "–".to_owned(), |level| figure(finding, level))
        ));
    }
    if curve.knee > 0 {
        text.push_str(&format!(
            " Before that, {} has {} of the peak.",
            at(curve.knee - 1),
            share(curve.knee - 1)
        ));
    }
    let last = finding.values.len().saturating_sub(1);
    if curve.plateau_end < last {
        text.push_str(&format!(
            " It declines after {}: {} has {} of the peak.",
            at(curve.plateau_end),
            at(last),
            share(last)
        ));
    }
    if finding.is_instant() {
        text.push_str(&format!(
            " The peak lasted {}: that of an instant, and no rate to count on; take more files or \
             a longer amount.",
            model::Nanos((finding.peak_s * 1e9).round().max(0.0) as u64)
        ));
    }
    for odd in &curve.odd {
        text.push_str(&out_of_line(finding, odd, large));
        if value(odd.point) > value(curve.peak) {
            text.push_str(" It is above the peak, which is that of the others.");
        }
    }
    if finding.repetitions > 1 {
        text.push_str(&format!(" Values are medians of up to {} runs.", finding.repetitions));
    }
    text
}

fn out_of_line(finding: &Finding, odd: &Odd, large: Option<f64>) -> String {
    let value = finding.values.get(odd.point).copied().unwrap_or(0.0);
    let label = finding.label(odd.point).unwrap_or("?");
    format!(
        " Out of line: {label} with {}, where its neighbours lead to {} ({:+.0} %; told beyond \
         {:.0} %).",
        figure(finding, value, large),
        figure(finding, odd.expected, large),
        (value / odd.expected.max(f64::MIN_POSITIVE) - 1.0) * 100.0,
        odd.limit * 100.0
    )
}

fn title(finding: &Finding) -> String {
    let others = words::sweep(&finding.others, None);
    let others = if others.is_empty() { others } else { format!(" ({others})") };
    format!("{} {} over {}{others}", finding.workload, finding.ops.name(), finding.axis)
}

/// A value of the finding in words; of `large` requests as bandwidth.
pub fn figure(finding: &Finding, value: f64, large: Option<f64>) -> String {
    match (finding.measure, large) {
        (Measure::Iops, Some(bytes)) => words::bandwidth(value * bytes),
        (Measure::Iops, None) => {
            format!("{} {}", words::iops(value), words::rate_unit(finding.is_metadata))
        }
        (Measure::BytesPerSecond, _) => words::bandwidth(value),
    }
}

pub fn object(finding: &Finding) -> Value {
    let curve = &finding.curve;
    let point = |n: usize| object! { value: finding.label(n), figure: finding.values.get(n) };
    let others = words::axes(&finding.others);
    let odd = |odd: &Odd| {
        object! {
            value: finding.label(odd.point), figure: finding.values.get(odd.point),
            ..odd { expected, limit },
        }
    };
    object! {
        op: finding.ops.name(), covers: finding.covers.word(), sweep: others,
        figure: finding.measure.key(),
        points: each(0..finding.values.len(), point), peak: point(curve.peak),
        knee: point(curve.knee),
        plateau: object! {
            from: finding.label(curve.knee), to: finding.label(curve.plateau_end),
            median: curve.sustained,
        },
        rising: curve.is_rising, odd: each(&curve.odd, odd),
        ..finding { scenario, workload, axis, repetitions },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, swept};

    fn told(counts: &[usize], sweep: &str) -> Vec<String> {
        let suite = format!("{W}[sweep]\n{sweep}\n");
        let rows =
            analysis::results(&swept(&suite, counts.iter().map(|count| vec![1_000; *count])));
        analysis::findings(&rows).iter().map(|finding| sentence(finding, &rows)).collect()
    }

    #[test]
    fn a_point_out_of_line_above_the_peak_does_not_contradict_it() {
        let above = told(&[100, 100, 200, 100, 100, 100], "depth = \"1..32 x2\"");
        let words = "Out of line: 4 with 200 IOPS, where its neighbours lead to 100 IOPS (+100 %; \
                     told beyond 10 %). It is above the peak, which is that of the others.";
        assert!(above[0].contains("peak 100 IOPS") && above[0].ends_with(words), "{above:?}");
        let below = told(&[100, 100, 50, 100, 100, 100], "depth = \"1..32 x2\"");
        assert!(
            below[0].contains("Out of line: 4") && !below[0].contains("above the peak"),
            "{below:?}"
        );
    }

    #[test]
    fn a_curve_is_told_with_its_evidence() {
        assert_eq!(
            told(&[100, 200, 400, 250, 990, 1000, 980, 900], "depth = \"1..128 x2\""),
            ["w read over depth: peak 1,000 IOPS at 32; level (within 5 % of it) from 16 to 64, \
              in the middle 990 IOPS. Before that, 8 has 25 % of the peak. It declines after 64: \
              128 has 90 % of the peak. Out of line: 8 with 250 IOPS, where its neighbours lead \
              to 629 IOPS (-60 %; told beyond 10 %)."]
        );
        assert_eq!(
            told(&[100, 200, 400, 800], "depth = [1, 2, 4, 8]"),
            ["w read over depth: peak 800 IOPS at 8, its last value: the end of the climb was \
              not reached. Before that, 4 has 50 % of the peak."]
        );
        assert_eq!(
            told(
                &[100, 100, 300, 310, 400, 400, 390, 400],
                "depth = [1, 2, 4, 8]\nrepetitions = 2\nalign = [512]"
            ),
            ["w read over depth (align=512): peak 400 IOPS at 4; level (within 5 % of it) from 4 \
              to 8, in the middle 398 IOPS. Before that, 2 has 76 % of the peak. Values are \
              medians of up to 2 runs."]
        );
    }
}
