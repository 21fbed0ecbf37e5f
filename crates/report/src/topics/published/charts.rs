//! Published figures and the run's in one picture, a chart for each kind of figure.

use super::figure;
use crate::ground::chart::{Group, Groups, Step};
use crate::ground::markup::{Markup, classed};
use crate::ground::words::three_digits;
use analysis::published::{Beside, Comparison, Quantity};

/// Figures further apart than this stand on an axis of factors.
const MOST_ON_A_LINE: f64 = 30.0;
/// More bars than this are no picture.
const MOST_BARS: usize = 80;

struct Kind(Quantity, &'static str, fn(f64) -> String);

const KINDS: [Kind; 5] = [
    Kind(Quantity::Iops, "Rates", |v| figure(Quantity::Iops, v)),
    Kind(Quantity::BytesPerSecond, "Throughput", |v| figure(Quantity::BytesPerSecond, v)),
    Kind(Quantity::MeanLatency, "Mean latencies", |v| figure(Quantity::MeanLatency, v)),
    Kind(Quantity::PortBits, "Port traffic", |v| figure(Quantity::PortBits, v)),
    Kind(Quantity::Threads, "Threads at the peak and at the knee", |v| {
        figure(Quantity::Threads, v)
    }),
];

/// The charts; none of a kind of which the run has nothing.
pub(super) fn charts(comparison: &Comparison) -> Markup {
    let charts: Markup = KINDS.iter().filter_map(|kind| chart(comparison, kind)).collect();
    if charts == Markup::new() { charts } else { classed("div", "charts", charts) }
}

fn chart(comparison: &Comparison, Kind(quantity, title, words): &Kind) -> Option<Markup> {
    let drawn: Vec<&Beside> = comparison
        .figures
        .iter()
        .filter(|beside| beside.quantity == Some(*quantity) && !is_told(comparison, beside))
        .collect();
    if !drawn.iter().any(|beside| beside.run.is_ok()) || drawn.len() * 2 > MOST_BARS {
        return None;
    }
    let groups: Vec<Group> = drawn.iter().map(|beside| group(beside, *words)).collect();
    let figures = || {
        let bars = groups.iter().flat_map(|group| &group.bars);
        bars.filter_map(|bar| bar.figure).filter(|figure| *figure > 0.0)
    };
    let (least, most) = (figures().fold(f64::INFINITY, f64::min), figures().fold(0.0, f64::max));
    let is_wide = most > MOST_ON_A_LINE * least;
    let scale = if is_wide { " (log10)" } else { "" };
    let title = format!("{title}: published, and of the run{scale}");
    let chart = Groups { title, words: *words, groups };
    Some(if is_wide { chart.render_by_factors() } else { chart.render() })
}

/// Whether a throughput only says in bytes what a rate of the same load says in requests.
fn is_told(comparison: &Comparison, beside: &Beside) -> bool {
    let is_rate = |other: &Beside| {
        other.quantity == Some(Quantity::Iops)
            && (&other.workload, &other.scenario) == (&beside.workload, &beside.scenario)
    };
    beside.quantity == Some(Quantity::BytesPerSecond) && comparison.figures.iter().any(is_rate)
}

fn group(beside: &Beside, words: fn(f64) -> String) -> Group {
    let upper = beside.up_to.map_or_else(String::new, |to| format!(" to {}", words(to)));
    let run = beside.run.as_ref().ok().map(|run| run.value);
    let ratio = beside.ratio().map(|ratio| format!(" · × {}", three_digits(ratio)));
    let mark = beside.mark.map(|mark| format!(" · {}", super::mark(mark)));
    let ratio = [ratio, mark].into_iter().flatten().collect::<String>();
    Group {
        name: format!("{}, {}: {}", beside.workload, beside.scenario, beside.name),
        bars: vec![
            Step::new("published", beside.published.value, upper),
            Step::new("run", run, ratio),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use analysis::published::{Mark, Missing, Side};

    fn beside(quantity: Quantity, published: f64, run: Result<f64, Missing>) -> Beside {
        let side = |value| Side { value, ..Side::default() };
        let one = super::super::tests::beside(quantity, side(published), run.map(side));
        Beside { mark: Some(Mark::HeldOut), ..one }
    }

    #[test]
    fn each_kind_has_its_chart_and_a_throughput_that_a_rate_tells_has_none() {
        let (rate, bytes) = (Quantity::Iops, Quantity::BytesPerSecond);
        let figures = vec![beside(rate, 200.0, Ok(100.0)), beside(bytes, 8e9, Ok(4e9))];
        let mut held = Comparison { figures, unfitted: None };
        let drawn = charts(&held).into_string();
        assert_eq!(drawn.matches("<figure").count(), 1, "{drawn}");
        has(&drawn, &["Rates: published, and of the run<", "100 · × 0.50 · held out"]);
        has(&drawn, &["w &lt;b&gt;"]);
        held.figures.push(beside(rate, 9_000.0, Err(Missing::NotMeasured)));
        let drawn = charts(&held).into_string();
        assert!(drawn.contains("(log10)") && drawn.contains(">–<"), "{drawn}");
        held.figures.retain(|beside| beside.run.is_err());
        assert_eq!(charts(&held), Markup::new(), "published figures alone are in the table");
    }
}
