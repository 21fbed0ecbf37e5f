//! Which tables there are, and their rows.

use super::axis::Axis;
use super::{Cell, Column, Kind};
use crate::ground::gather::each_once;
use analysis::verdict::Verdict;
use analysis::{QUANTILES, ResultRow, Warning};
use model::digest::{Span, Spans};
use model::histogram::BadHistogram;
use model::plan::Stage;
use model::rows::{CounterRow, SampleRow};
use model::{Histogram, Occurrence, Op, Record, Setting};

use Kind::{Integer, Real, Text};

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
        let names = each_once(swept().map(Setting::axis));
        let axis = |name: &&str| {
            let values: Vec<&Setting> = swept().filter(|known| known.axis() == *name).collect();
            Axis::new(name, &values)
        };
        let axes = names.iter().map(axis).collect();
        Tables { record, rows, axes }
    }

    /// The columns of a table.
    pub fn columns(&self, table: Table) -> Vec<Column> {
        let axes: Vec<Column> = self.axes.iter().map(Axis::column).collect();
        let point = [named(&POINT), axes].concat();
        match table {
            Table::Results => {
                [named(&RUN), point, named(&AMOUNTS), latency_columns(), named(&JUDGED)].concat()
            }
            Table::Quantiles => [point, named(&QUANTILE)].concat(),
            Table::Series => [named(&SAMPLE), latency_columns()].concat(),
            Table::Counters => named(&COUNTER),
            Table::Events => named(&EVENT),
        }
    }

    /// The rows of a table that come from the record; none of those whose rows come one by one.
    pub fn rows(&self, table: Table) -> Vec<Vec<Cell>> {
        match table {
            Table::Results => self.rows.iter().map(|row| self.result(row)).collect(),
            Table::Quantiles => self.rows.iter().flat_map(|row| self.quantiles(row)).collect(),
            Table::Events => {
                self.record.occurrences.iter().map(|one| self.cells(&EVENT, one)).collect()
            }
            Table::Series | Table::Counters => Vec::new(),
        }
    }

    fn cells<R>(&self, fields: &[Field<R>], row: &R) -> Vec<Cell> {
        fields.iter().map(|Field(_, _, cell)| cell(self, row)).collect()
    }

    fn point(&self, row: &ResultRow) -> Vec<Cell> {
        let value = |axis: &Axis| row.sweep.iter().find(|known| known.axis() == axis.name);
        let of = |axis: &Axis| value(axis).map_or(Cell::Nothing, |value| axis.cell(value));
        [self.cells(&POINT, row), self.axes.iter().map(of).collect()].concat()
    }

    fn result(&self, row: &ResultRow) -> Vec<Cell> {
        [
            self.cells(&RUN, row),
            self.point(row),
            self.cells(&AMOUNTS, row),
            latencies(&row.latency),
            self.cells(&JUDGED, row),
        ]
        .concat()
    }

    fn quantiles(&self, row: &ResultRow) -> Vec<Vec<Cell>> {
        let (latency, count) = (&row.latency, row.latency.count());
        let one = |share: f64| {
            let quantile = (share, latency.quantile_ns(share), beyond(count, share));
            [self.point(row), self.cells(&QUANTILE, &quantile)].concat()
        };
        shares(count).into_iter().map(one).collect()
    }

    fn hostname(&self, host: u32) -> &str {
        self.record.testbed.get(host as usize).map_or("", |facts| facts.hostname.as_str())
    }

    fn stage(&self, stage: u32) -> Option<&Stage> {
        self.record.plan.stages.get(stage as usize)
    }

    /// A row of [`Table::Series`].
    ///
    /// # Errors
    /// Its histogram is damaged.
    pub fn series(&self, row: &SampleRow) -> Result<Vec<Cell>, BadHistogram> {
        Ok([self.cells(&SAMPLE, row), latencies(&row.latency.decode()?)].concat())
    }

    /// Hands out, one by one, the intervals that count and in which nothing came back of an
    /// operation: the run file has no row of them, and a mean without them would be too high.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn each_silent<E>(
        &self,
        mut take: impl FnMut(SampleRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let latency = Histogram::new().encode();
        for stage in &self.record.stages {
            let digest = stage.digest(self.record);
            // A flush behind a load is no operation of its intervals.
            let parts = digest.sums.parts.iter().filter(|((_, op), _)| *op != Op::Fsync);
            let hosts = parts.flat_map(|(what, part)| part.hosts.iter().map(move |of| (what, of)));
            for (&(work, op), (&host, of_host)) in hosts {
                let spans = digest.frame.spans.get(&host).into_iter().flat_map(Spans::iter);
                let silent = spans.enumerate().filter(|(at, _)| !of_host.has(*at));
                for (_, span) in silent.filter(|(_, span)| span.phase.counts()) {
                    let Span { start_ns, length_ns, interval, phase } = span;
                    let (stage, latency) = (stage.stage, latency.clone());
                    let (ios, bytes, errors) = (0, 0, 0);
                    take(SampleRow {
                        stage,
                        host,
                        interval,
                        phase,
                        start_ns,
                        length_ns,
                        work,
                        op,
                        ios,
                        bytes,
                        errors,
                        latency,
                    })?;
                }
            }
        }
        Ok(())
    }

    /// A row of [`Table::Counters`].
    pub fn counter(&self, row: &CounterRow) -> Vec<Cell> {
        self.cells(&COUNTER, row)
    }
}

/// A column of rows `R`: its name, what stands in it, and its cell of a row.
struct Field<R>(&'static str, Kind, fn(&Tables<'_>, &R) -> Cell);

const RUN: [Field<ResultRow>; 2] = [
    Field("run_id", Text, |all, _| all.record.plan.run_id.as_str().into()),
    Field("suite", Text, |all, _| all.record.plan.suite.as_str().into()),
];

const POINT: [Field<ResultRow>; 6] = [
    Field("stage", Integer, |_, row| row.stage.into()),
    Field("scenario", Text, |_, row| row.scenario.as_str().into()),
    Field("workload", Text, |_, row| row.workload.as_str().into()),
    Field("op", Text, |_, row| row.ops.name().into()),
    Field("covers", Text, |_, row| row.covers.word().into()),
    Field("repetition", Integer, |_, row| row.repetition.unwrap_or(1).into()),
];

const AMOUNTS: [Field<ResultRow>; 10] = [
    Field("state", Text, |_, row| if row.complete { "complete" } else { "cut short" }.into()),
    Field("workers", Integer, |_, row| row.workers.into()),
    Field("requests", Integer, |_, row| row.ios.into()),
    Field("bytes", Integer, |_, row| row.bytes.into()),
    Field("errors", Integer, |_, row| row.error_count().into()),
    Field("duration_s", Real, |_, row| row.seconds.into()),
    Field("rate_per_s", Real, |_, row| row.iops().into()),
    Field("rate_low_per_s", Real, |_, row| row.confidence.iops.map(|of| of.interval().low).into()),
    Field("rate_high_per_s", Real, |_, row| {
        row.confidence.iops.map(|of| of.interval().high).into()
    }),
    Field("throughput_bytes_per_s", Real, |_, row| row.bytes_per_s().into()),
];

const JUDGED: [Field<ResultRow>; 7] = [
    Field("latency_p99_low_ns", Real, |_, row| row.confidence.p99_ns().map(|of| of.low).into()),
    Field("latency_p99_high_ns", Real, |_, row| row.confidence.p99_ns().map(|of| of.high).into()),
    Field("cpu_user_s", Real, |_, row| (row.cpu.user_ns as f64 / 1e9).into()),
    Field("cpu_system_s", Real, |_, row| (row.cpu.system_ns as f64 / 1e9).into()),
    Field("doubts", Text, |_, row| {
        row.warnings.iter().map(Warning::code).collect::<Vec<_>>().join(" ").into()
    }),
    Field("verdict", Text, |all, row| Verdict::of(all.record, row).level.word().into()),
    Field("durable_bytes_per_s", Real, |all, row| {
        analysis::durable(all.record, row).map(|durable| durable.bytes_per_s()).into()
    }),
];

const QUANTILE: [Field<(f64, Option<u64>, u64)>; 3] = [
    Field("share", Real, |_, row| row.0.into()),
    Field("latency_ns", Integer, |_, row| row.1.into()),
    Field("requests_beyond", Integer, |_, row| row.2.into()),
];

const SAMPLE: [Field<SampleRow>; 15] = [
    Field("stage", Integer, |_, row| row.stage.into()),
    Field("stage_kind", Text, |all, row| all.stage(row.stage).map(|of| of.kind.word()).into()),
    Field("phase", Text, |_, row| row.phase.name().into()),
    Field("host", Integer, |_, row| row.host.into()),
    Field("hostname", Text, |all, row| all.hostname(row.host).into()),
    Field("interval", Integer, |_, row| row.interval.into()),
    Field("start_ns", Integer, |_, row| row.start_ns.into()),
    Field("length_ns", Integer, |_, row| row.length_ns.into()),
    Field("workload", Text, |all, row| {
        let work = all.stage(row.stage).and_then(|stage| stage.works.get(row.work as usize));
        work.map(|work| work.workload.as_str()).into()
    }),
    Field("op", Text, |_, row| row.op.name().into()),
    Field("requests", Integer, |_, row| row.ios.into()),
    Field("bytes", Integer, |_, row| row.bytes.into()),
    Field("errors", Integer, |_, row| row.errors.into()),
    Field("rate_per_s", Real, |_, row| (row.ios as f64 * 1e9 / row.length_ns as f64).into()),
    Field("throughput_bytes_per_s", Real, |_, row| {
        (row.bytes as f64 * 1e9 / row.length_ns as f64).into()
    }),
];

const COUNTER: [Field<CounterRow>; 12] = [
    Field("stage", Integer, |_, row| row.stage.into()),
    Field("stage_kind", Text, |all, row| all.stage(row.stage).map(|of| of.kind.word()).into()),
    Field("host", Integer, |_, row| row.host.into()),
    Field("hostname", Text, |all, row| all.hostname(row.host).into()),
    Field("sample", Integer, |_, row| row.number.into()),
    Field("start_ns", Integer, |_, row| row.start_ns.into()),
    Field("length_ns", Integer, |_, row| row.length_ns.into()),
    Field("layer", Text, |_, row| row.layer.word().into()),
    Field("name", Text, |_, row| row.name.as_str().into()),
    Field("metric", Text, |_, row| row.metric.word().into()),
    Field("is", Text, |_, row| if row.metric.is_gauge() { "state" } else { "sum" }.into()),
    Field("value", Integer, |_, row| row.value.into()),
];

const EVENT: [Field<Occurrence>; 10] = [
    Field("kind", Text, |_, one| one.kind.word().into()),
    Field("stage", Integer, |_, one| one.stage.into()),
    Field("at_ns", Integer, |_, one| one.at_ns.into()),
    Field("unix_ns", Integer, |_, one| one.unix_ns.into()),
    Field("host", Integer, |_, one| one.host.into()),
    Field("hostname", Text, |all, one| one.host.map(|host| all.hostname(host)).into()),
    Field("label", Text, |_, one| one.label.as_str().into()),
    // No command ends with a status below 0: those are signals, which have none.
    Field("status", Integer, |_, one| {
        one.status.and_then(|status| u32::try_from(status).ok()).into()
    }),
    Field("duration_ns", Integer, |_, one| one.duration_ns.into()),
    Field("detail", Text, |_, one| one.detail.as_str().into()),
];

fn named<R>(fields: &[Field<R>]) -> Vec<Column> {
    fields
        .iter()
        .map(|Field(name, kind, _)| Column { name: (*name).to_owned(), kind: *kind })
        .collect()
}

fn latency_columns() -> Vec<Column> {
    let mut columns = vec![Column { name: "latency_mean_ns".to_owned(), kind: Real }];
    let of = |key: &str| Column { name: format!("latency_{key}_ns"), kind: Integer };
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
