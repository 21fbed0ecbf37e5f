//! Results of other tools: their figures beside each other and beside our own, and what they do
//! not hold. Nothing is estimated: a figure without samples has no interval of confidence.

mod beside;
mod own;
mod testbed;

pub use beside::{Beside, BesideFigure, BesideRow, beside};
pub use own::{DURABLE, VERDICT, own_rows};
pub use testbed::faster_than;

use model::foreign::{ForeignRun, GivenRow, Measured, Quantity, Span, Statistic};

/// A figure that rows have or have not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Requests in a second.
    Rate,
    /// Bytes in a second.
    Bandwidth,
    /// A statistic of latencies, in ns.
    Latency(Span, Statistic),
}

impl Figure {
    /// The figures that are shown, latencies of one span in their order.
    pub fn of_span(span: Span) -> [Figure; 6] {
        [
            Statistic::Mean,
            Statistic::Quantile(500_000_000),
            Statistic::Quantile(990_000_000),
            Statistic::Quantile(999_000_000),
            Statistic::Quantile(999_900_000),
            Statistic::Most,
        ]
        .map(|statistic| Figure::Latency(span, statistic))
    }

    /// Its value in a row: as it was given, or a quantile of the row's own histogram.
    pub fn value(self, row: &GivenRow) -> Option<f64> {
        match self {
            Figure::Rate => row.overall(Measured::Rate),
            Figure::Bandwidth => row.overall(Measured::Bandwidth),
            Figure::Latency(span, statistic) => latency_ns(row, span, statistic),
        }
    }
}

/// A statistic of latencies of one span, as it was given, or a quantile of the histogram that the
/// row has of this span.
fn latency_ns(row: &GivenRow, span: Span, statistic: Statistic) -> Option<f64> {
    let of_histogram = || {
        let share = f64::from(statistic.share()?) / 1e9;
        let latencies = row.latencies.as_ref().filter(|latencies| latencies.span == span)?;
        latencies.latency.quantile_ns(share).map(|ns| ns as f64)
    };
    row.get(Quantity::latency(span, statistic)).or_else(of_histogram)
}

model::plain_words! {
    /// Something that results do not hold, in the order in which it is told.
    pub enum Missing {
        /// No latency at all.
        Latencies = "latencies",
        /// No quantile of latencies.
        Quantiles = "quantiles",
        /// Quantiles of the time behind the submission alone: those of whole requests are longer.
        TotalQuantiles = "total-quantiles",
        /// No histogram of latencies: their quantiles can be neither merged nor averaged.
        Histogram = "histogram",
        /// No spread of the rate over time or repetitions.
        Spread = "spread",
        /// No count of requests.
        Requests = "requests",
        /// No time for which it was measured.
        Time = "time",
    }
}

impl Missing {
    fn is_missing(self, row: &GivenRow) -> bool {
        let has = |wanted: &dyn Fn(Quantity) -> bool| {
            row.measures.iter().any(|measure| wanted(measure.quantity))
        };
        let has_latencies = has(&|of| of.measured == Measured::Latency);
        let has_quantiles = row.latencies.is_some() || has(&|of| of.statistic.share().is_some());
        let whole = |measured| row.get(Quantity::whole(measured)).is_some();
        match self {
            Missing::Histogram => has_quantiles && row.latencies.is_none(),
            Missing::Latencies => !has_latencies,
            Missing::Quantiles => has_latencies && !has_quantiles,
            Missing::TotalQuantiles => {
                let of = |span: Span| {
                    has(&|of| of.span == Some(span) && of.statistic.share().is_some())
                        || row.latencies.as_ref().is_some_and(|all| all.span == span)
                };
                of(Span::Completion) && !of(Span::Total)
            }
            Missing::Spread => {
                whole(Measured::Rate)
                    && row.get(Quantity::of(Measured::Rate, Statistic::StdDev)).is_none()
            }
            Missing::Requests => !whole(Measured::Requests),
            Missing::Time => row.overall(Measured::Time).is_none(),
        }
    }
}

/// Something that some rows do not hold, with how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What.
    pub missing: Missing,
    /// In how many rows.
    pub rows: usize,
}

/// What the rows of a run do not hold.
pub fn lacks(run: &ForeignRun) -> Vec<Lack> {
    let count = |missing: Missing| {
        let rows = run.rows.iter().filter(|row| missing.is_missing(row)).count();
        (rows > 0).then_some(Lack { missing, rows })
    };
    Missing::ALL.iter().copied().filter_map(count).collect()
}

/// The figures that any of these rows has, in the order in which they are shown: means and maxima
/// of whole requests where there are some, and quantiles of what has quantiles.
pub fn shown_figures(rows: &[&GivenRow]) -> Vec<Figure> {
    const SPANS: [Span; 3] = [Span::Total, Span::Completion, Span::Entry];
    let has = |figure: &Figure| rows.iter().any(|row| figure.value(row).is_some());
    let is_of = |span: &Span| rows.iter().any(|row| shown_span(row) == Some(*span));
    let mut all = vec![Figure::Rate, Figure::Bandwidth];
    let latencies = SPANS.into_iter().filter(is_of).flat_map(Figure::of_span);
    for found in latencies.filter(has) {
        let Figure::Latency(span, statistic) = found else { continue };
        let total = Figure::Latency(Span::Total, statistic);
        // Whole requests say more than a part of their time, where every row has both.
        let is_told = |row: &&GivenRow| found.value(row).is_none() || total.value(row).is_some();
        let has_total = span == Span::Completion && rows.iter().all(is_told);
        let shown = if has_total { total } else { found };
        if !all.contains(&shown) {
            all.push(shown);
        }
    }
    all.retain(has);
    all
}

/// The span of a row whose latencies are shown: that with quantiles before that without.
fn shown_span(row: &GivenRow) -> Option<Span> {
    let spans = [Span::Total, Span::Completion, Span::Entry];
    let has_quantiles = |span: &Span| {
        !row.quantiles(*span).is_empty()
            || row.latencies.as_ref().is_some_and(|all| all.span == *span)
    };
    let has_mean = |span: &Span| row.get(Quantity::latency(*span, Statistic::Mean)).is_some();
    let with = spans.iter().copied().find(has_quantiles);
    with.or_else(|| spans.iter().copied().find(has_mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::foreign::GivenLatencies;
    use model::{Histogram, Op};

    fn row() -> GivenRow {
        GivenRow::new("a", Some(Op::Read), "1".to_owned())
    }

    #[test]
    fn quantiles_follow_from_a_histogram_of_the_same_span_alone() {
        let mut row = row();
        let mut latency = Histogram::new();
        latency.record_many(100, 99);
        latency.record_many(200, 1);
        row.latencies = Some(GivenLatencies { span: Span::Completion, latency, error_permille: 0 });
        let p99 = Statistic::Quantile(990_000_000);
        assert_eq!(Figure::Latency(Span::Completion, p99).value(&row), Some(100.0));
        assert_eq!(Figure::Latency(Span::Total, p99).value(&row), None);
        assert_eq!(Figure::Latency(Span::Completion, Statistic::Mean).value(&row), None);
        row.add(Quantity::latency(Span::Completion, p99), Some(107.0));
        let given = Figure::Latency(Span::Completion, p99).value(&row);
        assert_eq!(given, Some(107.0), "what was given comes first");
        assert_eq!(shown_span(&row), Some(Span::Completion));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let mut row = row();
        row.add(Quantity::whole(Measured::Rate), Some(5.0));
        let missing = |row: &GivenRow| {
            let all = Missing::ALL.iter().copied().filter(|missing| missing.is_missing(row));
            all.collect::<Vec<_>>()
        };
        assert_eq!(
            missing(&row),
            [Missing::Latencies, Missing::Spread, Missing::Requests, Missing::Time]
        );
        row.add(Quantity::of(Measured::Rate, Statistic::StdDev), Some(1.0));
        row.add(Quantity::whole(Measured::Requests), Some(5.0));
        row.add(Quantity::whole(Measured::Time), Some(1e9));
        let p50 = Statistic::Quantile(500_000_000);
        row.add(Quantity::latency(Span::Completion, p50), Some(1.0));
        assert_eq!(missing(&row), [Missing::TotalQuantiles, Missing::Histogram]);
    }
}
