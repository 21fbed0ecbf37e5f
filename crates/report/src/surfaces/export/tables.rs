//! Which tables there are, and their rows.

use super::axis::Axis;
use super::{Cell, Column, Kind};
use analysis::verdict::Verdict;
use analysis::{QUANTILES, ResultRow, Warning};
use model::histogram::BadHistogram;
use model::rows::{CounterRow, SampleRow};
use model::{Histogram, Record, Setting};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The figures of each workload of each point, by operation.
    Results,
    /// Their latencies at many shares of the requests.
    Quantiles,
    /// What each host did in each interval, by workload and operation.
    Series,
    /// What each host's kernel counted in each interval.
    Counters,
    /// What happened at an instant.
    Events,
}

impl Table {
    /// All of them, in the order in which they are written.
    pub const ALL: [Table; 5] =
        [Table::Results, Table::Quantiles, Table::Series, Table::Counters, Table::Events];

    /// Its name, which is that of its file, too.
    pub fn name(self) -> &'static str {
        match self {
            Table::Results => "results",
            Table::Quantiles => "quantiles",
            Table::Series => "series",
            Table::Counters => "counters",
            Table::Events => "events",
        }
    }
}

/// Quantiles are told so many times in each tenfold step towards 1.
const STEPS: u32 = 10;
/// A quantile is told while at least so many requests lie beyond it (see `docs/method`).
const LEAST_BEYOND: f64 = 10.0;

/// The tables of a run. What has to be held is: results and their histograms, as [`Record`]s from
/// digests have them.
pub struct Tables<'a> {
    record: &'a Record,
    rows: Vec<ResultRow>,
    axes: Vec<Axis>,
}

impl<'a> Tables<'a> {
    /// Those of this run.
    pub fn new(record: &'a Record) -> Tables<'a> {
        // With the doubts that the page has: a column of doubts that lacks some would say too much.
        let rows = crate::topics::results::judged::judged(record, None).0;
        let swept = || rows.iter().flat_map(|row| &row.sweep);
        let mut names: Vec<&str> = Vec::new();
        for axis in swept().map(Setting::axis) {
            if !names.contains(&axis) {
                names.push(axis);
            }
        }
        let axis = |name: &&str| {
            let values: Vec<&Setting> = swept().filter(|known| known.axis() == *name).collect();
            Axis::new(name, &values)
        };
        let axes = names.iter().map(axis).collect();
        Tables { record, rows, axes }
    }

    /// The columns of a table.
    pub fn columns(&self, table: Table) -> Vec<Column> {
        use Kind::{Integer, Real, Text};
        let point = || {
            let mut columns =
                vec![("stage", Integer), ("scenario", Text), ("workload", Text), ("op", Text)];
            columns.push(("covers", Text));
            columns.push(("repetition", Integer));
            let mut columns = named(&columns);
            columns.extend(self.axes.iter().map(Axis::column));
            columns
        };
        match table {
            Table::Results => {
                let mut columns = named(&[("run_id", Text), ("suite", Text)]);
                columns.extend(point());
                columns.extend(named(&[
                    ("state", Text),
                    ("workers", Integer),
                    ("requests", Integer),
                    ("bytes", Integer),
                ]));
                columns.extend(named(&[
                    ("errors", Integer),
                    ("duration_s", Real),
                    ("rate_per_s", Real),
                ]));
                columns.extend(named(&[("rate_low_per_s", Real), ("rate_high_per_s", Real)]));
                columns.extend(named(&[("throughput_bytes_per_s", Real)]));
                columns.extend(latency_columns());
                columns
                    .extend(named(&[("latency_p99_low_ns", Real), ("latency_p99_high_ns", Real)]));
                columns.extend(named(&[
                    ("cpu_user_s", Real),
                    ("cpu_system_s", Real),
                    ("doubts", Text),
                ]));
                columns.extend(named(&[("verdict", Text), ("durable_bytes_per_s", Real)]));
                columns
            }
            Table::Quantiles => {
                let mut columns = point();
                columns.extend(named(&[
                    ("share", Real),
                    ("latency_ns", Integer),
                    ("requests_beyond", Integer),
                ]));
                columns
            }
            Table::Series => {
                let mut columns = named(&[
                    ("stage", Integer),
                    ("stage_kind", Text),
                    ("phase", Text),
                    ("host", Integer),
                ]);
                columns.extend(named(&[
                    ("hostname", Text),
                    ("interval", Integer),
                    ("start_ns", Integer),
                ]));
                columns.extend(named(&[
                    ("length_ns", Integer),
                    ("workload", Text),
                    ("op", Text),
                    ("requests", Integer),
                ]));
                columns.extend(named(&[
                    ("bytes", Integer),
                    ("errors", Integer),
                    ("rate_per_s", Real),
                ]));
                columns.extend(named(&[("throughput_bytes_per_s", Real)]));
                columns.extend(latency_columns());
                columns
            }
            Table::Counters => named(&[
                ("stage", Integer),
                ("stage_kind", Text),
                ("host", Integer),
                ("hostname", Text),
                ("sample", Integer),
                ("start_ns", Integer),
                ("length_ns", Integer),
                ("layer", Text),
                ("name", Text),
                ("metric", Text),
                ("is", Text),
                ("value", Integer),
            ]),
            Table::Events => named(&[
                ("kind", Text),
                ("stage", Integer),
                ("at_ns", Integer),
                ("unix_ns", Integer),
                ("host", Integer),
                ("hostname", Text),
                ("label", Text),
                ("status", Integer),
                ("duration_ns", Integer),
                ("detail", Text),
            ]),
        }
    }

    /// The rows of a table that come from the record; none of those whose rows come one by one.
    pub fn rows(&self, table: Table) -> Vec<Vec<Cell>> {
        match table {
            Table::Results => self.rows.iter().map(|row| self.result(row)).collect(),
            Table::Quantiles => self.rows.iter().flat_map(|row| self.quantiles(row)).collect(),
            Table::Events => {
                self.record.occurrences.iter().map(|occurrence| self.event(occurrence)).collect()
            }
            Table::Series | Table::Counters => Vec::new(),
        }
    }

    fn point(&self, row: &ResultRow) -> Vec<Cell> {
        let mut cells: Vec<Cell> =
            vec![row.stage.into(), row.scenario.as_str().into(), row.workload.as_str().into()];
        cells.extend([row.ops.name().into(), row.covers.word().into()]);
        cells.push(row.repetition.unwrap_or(1).into());
        let value = |axis: &Axis| row.sweep.iter().find(|known| known.axis() == axis.name);
        cells.extend(
            self.axes
                .iter()
                .map(|axis| value(axis).map_or(Cell::Nothing, |value| axis.cell(value))),
        );
        cells
    }

    fn result(&self, row: &ResultRow) -> Vec<Cell> {
        let plan = &self.record.plan;
        let mut cells: Vec<Cell> = vec![plan.run_id.as_str().into(), plan.suite.as_str().into()];
        cells.extend(self.point(row));
        let state = if row.complete { "complete" } else { "cut short" };
        cells.extend([
            state.into(),
            row.workers.into(),
            row.ios.into(),
            row.bytes.into(),
            row.error_count().into(),
        ]);
        let rate = row.confidence.iops.map(|iops| iops.interval());
        cells.extend([row.seconds.into(), row.iops().into()]);
        cells.extend([
            rate.map(|rate| rate.low).into(),
            rate.map(|rate| rate.high).into(),
            row.bytes_per_s().into(),
        ]);
        cells.extend(latencies(&row.latency));
        let p99 = row.confidence.p99_ns();
        cells.extend([p99.map(|p99| p99.low).into(), p99.map(|p99| p99.high).into()]);
        cells
            .extend([row.cpu.user_ns as f64 / 1e9, row.cpu.system_ns as f64 / 1e9].map(Cell::from));
        let doubts: Vec<&str> = row.warnings.iter().map(Warning::code).collect();
        cells.push(doubts.join(" ").into());
        cells.push(Verdict::of(self.record, row).level.word().into());
        cells.push(analysis::durable(self.record, row).map(|durable| durable.bytes_per_s()).into());
        cells
    }

    fn quantiles(&self, row: &ResultRow) -> Vec<Vec<Cell>> {
        let one = |share: f64| {
            let mut cells = self.point(row);
            cells.extend([
                share.into(),
                row.latency.quantile_ns(share).into(),
                beyond(row.latency.count(), share).into(),
            ]);
            cells
        };
        shares(row.latency.count()).into_iter().map(one).collect()
    }

    fn event(&self, occurrence: &model::occurrence::Occurrence) -> Vec<Cell> {
        let host = occurrence.host.map(|host| self.hostname(host));
        vec![
            occurrence.kind.word().into(),
            occurrence.stage.into(),
            occurrence.at_ns.into(),
            occurrence.unix_ns.into(),
            occurrence.host.into(),
            host.into(),
            occurrence.label.as_str().into(),
            // No command ends with a status below 0: those are signals, which have none.
            occurrence.status.and_then(|status| u32::try_from(status).ok()).into(),
            occurrence.duration_ns.into(),
            occurrence.detail.as_str().into(),
        ]
    }

    fn hostname(&self, host: u32) -> &str {
        self.record.testbed.get(host as usize).map_or("", |facts| facts.hostname.as_str())
    }

    fn stage_kind(&self, stage: u32) -> Cell {
        self.record.plan.stages.get(stage as usize).map(|stage| stage.kind.word()).into()
    }

    /// A row of [`Table::Series`].
    ///
    /// # Errors
    /// Its histogram is damaged.
    pub fn series(&self, row: &SampleRow) -> Result<Vec<Cell>, BadHistogram> {
        let stage = self.record.plan.stages.get(row.stage as usize);
        let workload = stage
            .and_then(|stage| stage.works.get(row.work as usize))
            .map(|work| work.workload.as_str());
        let per_s = |amount: u64| amount as f64 * 1e9 / row.length_ns as f64;
        let mut cells: Vec<Cell> = vec![
            row.stage.into(),
            self.stage_kind(row.stage),
            row.phase.name().into(),
            row.host.into(),
            self.hostname(row.host).into(),
            row.interval.into(),
            row.start_ns.into(),
            row.length_ns.into(),
            workload.into(),
            row.op.name().into(),
            row.ios.into(),
            row.bytes.into(),
            row.errors.into(),
            per_s(row.ios).into(),
            per_s(row.bytes).into(),
        ];
        cells.extend(latencies(&row.latency.decode()?));
        Ok(cells)
    }

    /// A row of [`Table::Counters`].
    pub fn counter(&self, row: &CounterRow) -> Vec<Cell> {
        vec![
            row.stage.into(),
            self.stage_kind(row.stage),
            row.host.into(),
            self.hostname(row.host).into(),
            row.number.into(),
            row.start_ns.into(),
            row.length_ns.into(),
            row.layer.word().into(),
            row.name.as_str().into(),
            row.metric.word().into(),
            if row.metric.is_gauge() { "state" } else { "sum" }.into(),
            row.value.into(),
        ]
    }
}

fn named(columns: &[(&str, Kind)]) -> Vec<Column> {
    columns.iter().map(|(name, kind)| Column { name: (*name).to_owned(), kind: *kind }).collect()
}

fn latency_columns() -> Vec<Column> {
    let mut columns = named(&[("latency_mean_ns", Kind::Real)]);
    let of = |key: &str| Column { name: format!("latency_{key}_ns"), kind: Kind::Integer };
    columns.extend(QUANTILES.iter().map(|quantile| of(quantile.key)));
    columns.push(of("max"));
    columns
}

fn latencies(latency: &Histogram) -> Vec<Cell> {
    let mut cells = vec![Cell::from(latency.mean_ns())];
    cells.extend(QUANTILES.iter().map(|quantile| Cell::from(latency.quantile_ns(quantile.share))));
    cells.push(latency.max_ns().into());
    cells
}

/// How many of so many requests lie beyond a share; the shares are not exact in binary.
fn beyond(requests: u64, share: f64) -> u64 {
    (requests as f64 * (1.0 - share) + 1e-6) as u64
}

/// From 0 towards 1 in equal steps of nines with those that results state between them, as far as
/// requests support them, and 1 itself.
fn shares(requests: u64) -> Vec<f64> {
    if requests == 0 {
        return Vec::new();
    }
    let steps = (0..).map(|step| 1.0 - 10f64.powf(-f64::from(step) / f64::from(STEPS)));
    // 64 bits hold less than twenty nines.
    let steps = steps.take(20 * STEPS as usize);
    let stated = QUANTILES.iter().map(|quantile| quantile.share);
    let mut shares: Vec<f64> = steps.chain(stated).collect();
    shares.retain(|share| *share == 0.0 || requests as f64 * (1.0 - share) + 1e-6 >= LEAST_BEYOND);
    shares.push(1.0);
    shares.sort_by(f64::total_cmp);
    shares.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_told_as_far_as_requests_support_them() {
        assert!(shares(0).is_empty());
        assert_eq!(shares(5), [0.0, 1.0]);
        let many = shares(1_000_000);
        assert!(
            many.windows(2).all(|pair| pair[0] < pair[1])
                && many.contains(&0.5)
                && many.contains(&0.9999)
        );
        assert!(!many.iter().any(|share| *share > 0.999_991 && *share < 1.0), "{many:?}");
        assert_eq!((beyond(1_000, 0.99), beyond(10_000, 0.999), beyond(5, 1.0)), (10, 10, 0));
    }
}
