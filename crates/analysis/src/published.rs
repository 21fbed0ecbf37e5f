//! A run beside the figures that others published: as measured, per node, per drive, and as a share of each one's own ceiling, because the
//! hardware differs.

use crate::ceiling::{Workload, ceiling, touched};
use crate::row::ResultRow;
use crate::{Finding, findings};
use model::cluster::Role;
use model::published::{CounterpartSpec, FigureSpec, Published};
use model::spec::Auto;
use model::{Bytes, Cluster, Op, Record};
use std::collections::BTreeMap;

/// What a figure counts, in the unit that it is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// The mean latency in ns.
    MeanLatency,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// The figure, in the quantity's unit; 0 and up.
    pub value: f64,
    /// How many nodes carried it; `None` where no testbed says.
    pub nodes: Option<u64>,
    /// How many drives carried it, cache drives included; `None` as above.
    pub drives: Option<u64>,
    /// Its share of the testbed's ceiling, 0 and up; `None` as above, and for latencies.
    pub share: Option<f64>,
}

/// A published figure and what the run has in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The figures' workload.
    pub workload: String,
    /// The figures' scenario.
    pub scenario: String,
    /// The figures' name for what was counted.
    pub name: String,
    /// What was counted.
    pub quantity: Quantity,
    /// The published side.
    pub published: Side,
    /// The run's side; `None` where the run has not measured it.
    pub run: Option<Side>,
    /// What the reference says of its own figure.
    pub caveat: String,
}

/// What came of holding a run against published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Every figure that a run of the suite has a counterpart of, in the order of the reference; at least one has been measured.
    pub figures: Vec<Beside>,
    /// Figures that no single run answers: traffic of ports, differences between deployments.
    pub left_out: usize,
}

/// Why a reference does not fit a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// None of the reference's figures is one that a run could be held against.
    NoCounterparts,
    /// The run is of another suite.
    OtherSuite,
    /// The run is of the suite, but has measured none of what the figures are of.
    NothingMeasured,
}

/// Holds `rows`, which are those of `record`, against `published`, whose own testbed is `theirs`; `ours` is that of the run.
///
/// # Errors
/// Why the reference does not fit the run.
pub fn against(
    published: &Published,
    theirs: Option<&Cluster>,
    record: &Record,
    rows: &[ResultRow],
    ours: Option<&Cluster>,
) -> Result<Comparison, Unfit> {
    if published.counterparts.is_empty() {
        return Err(Unfit::NoCounterparts);
    }
    let name = published.report.name.value.as_str();
    // A suite that somebody made from that of the report fits, too: `pixstor-nvme-small`.
    let is_part = record.plan.suite.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    if !is_part {
        return Err(Unfit::OtherSuite);
    }
    let curves = findings(rows);
    let mut figures = Vec::new();
    let mut left_out = 0;
    for figure in &published.figures {
        let Some((counterpart, (quantity, value))) = published.counterpart(figure).zip(in_units(figure)) else {
            left_out += 1;
            continue;
        };
        let place = Place { figure, counterpart, quantity, record, rows, curves: &curves };
        figures.push(place.beside(value, theirs, ours));
    }
    if figures.iter().all(|figure| figure.run.is_none()) {
        return Err(Unfit::NothingMeasured);
    }
    Ok(Comparison { figures, left_out })
}

/// The reference's words for what every run has; what else is printed (CPU, traffic, the slowest two of ten) stays with its report.
const QUANTITIES: [&str; 6] =
    ["rate", "read rate", "write rate", "rate of one virtual machine", "throughput", "mean latency"];

/// The figure's quantity and its value in that quantity's unit; `None` of a unit that a run has no figure in.
fn in_units(figure: &FigureSpec) -> Option<(Quantity, f64)> {
    let value = figure.value.value.0;
    if !QUANTITIES.contains(&figure.quantity.value.as_str()) {
        return None;
    }
    match figure.unit.value.as_str() {
        "IOPS" => Some((Quantity::Iops, value)),
        "M IOPS" => Some((Quantity::Iops, value * 1e6)),
        "MiB/s" => Some((Quantity::BytesPerSecond, value * 1_048_576.0)),
        "GB/s" => Some((Quantity::BytesPerSecond, value * 1e9)),
        "ms" => Some((Quantity::MeanLatency, value * 1e6)),
        _ => None,
    }
}

/// A figure and where to look for it.
struct Place<'a> {
    figure: &'a FigureSpec,
    counterpart: &'a CounterpartSpec,
    quantity: Quantity,
    record: &'a Record,
    rows: &'a [ResultRow],
    curves: &'a [Finding],
}

impl Place<'_> {
    fn beside(&self, value: f64, theirs: Option<&Cluster>, ours: Option<&Cluster>) -> Beside {
        let mine = self.mine();
        let first = mine.first().copied();
        let footprint = match self.counterpart.footprint.value {
            Auto::Fixed(bytes) => bytes,
            Auto::Auto => first.map_or(Bytes(0), |row| touched(self.record, row)),
        };
        let published = self.side(value, theirs, first, footprint);
        let run = self.measured(&mine).map(|value| {
            let footprint = first.map_or(Bytes(0), |row| touched(self.record, row));
            self.side(value, ours, first, footprint)
        });
        Beside {
            workload: self.figure.workload.value.clone(),
            scenario: self.figure.scenario.value.clone(),
            name: self.figure.quantity.value.clone(),
            quantity: self.quantity,
            published,
            run,
            caveat: self.figure.caveat.value.clone(),
        }
    }

    /// The complete rows of the run's workload, at the counterpart's values and of the figure's operation.
    fn mine(&self) -> Vec<&ResultRow> {
        let wanted = self.counterpart.run_sweep.value.as_str();
        let is_there = |row: &ResultRow| {
            wanted.is_empty() || row.sweep.iter().any(|(axis, value)| wanted == format!("{axis}={value}"))
        };
        let is_asked = |op: Op| match self.figure.quantity.value.as_str() {
            "read rate" => op == Op::Read,
            "write rate" => op == Op::Write,
            _ => matches!(op, Op::Read | Op::Write),
        };
        let name = self.counterpart.run_workload.value.as_str();
        let rows = self.rows.iter().filter(|row| row.complete && row.ios > 0);
        rows.filter(|row| row.workload == name && is_asked(row.op) && is_there(row)).collect()
    }

    /// What the run has in the figure's place: the median over repetitions, or that of the curve.
    fn measured(&self, mine: &[&ResultRow]) -> Option<f64> {
        if !self.counterpart.run_axis.value.is_empty() {
            return self.of_curve(mine);
        }
        let mut points: BTreeMap<u32, Vec<&ResultRow>> = BTreeMap::new();
        mine.iter().for_each(|row| points.entry(row.point).or_default().push(row));
        let mut values: Vec<f64> = points.values().map(|rows| self.value(rows)).collect();
        values.sort_by(f64::total_cmp);
        let hosts = self.record.plan.hosts.len().max(1) as f64;
        // The machine of the reports is a host of the run.
        let part = if self.figure.quantity.value == "rate of one virtual machine" { hosts } else { 1.0 };
        median(&values).map(|value| value / part)
    }

    /// Reads and writes of one point together.
    fn value(&self, rows: &[&ResultRow]) -> f64 {
        match self.quantity {
            Quantity::Iops => rows.iter().map(|row| row.iops()).sum(),
            Quantity::BytesPerSecond => rows.iter().map(|row| row.bytes_per_s()).sum(),
            Quantity::MeanLatency => {
                let sum: f64 = rows.iter().filter_map(|row| Some(row.latency.mean_ns()? * row.ios as f64)).sum();
                sum / (rows.iter().map(|row| row.ios).sum::<u64>().max(1) as f64)
            }
        }
    }

    fn of_curve(&self, mine: &[&ResultRow]) -> Option<f64> {
        let first = mine.first()?;
        let axis = self.counterpart.run_axis.value.as_str();
        let is_it = |found: &&Finding| found.workload == first.workload && found.op == first.op && found.axis == axis;
        let found = self.curves.iter().find(is_it)?;
        let iops = match self.figure.scenario.value.as_str() {
            "peak" => found.values.get(found.curve.peak).copied()?,
            "sustained" => found.curve.sustained,
            _ => return None,
        };
        match self.quantity {
            Quantity::Iops => Some(iops),
            Quantity::BytesPerSecond => Some(iops * first.bytes as f64 / first.ios as f64),
            Quantity::MeanLatency => None,
        }
    }

    fn side(&self, value: f64, cluster: Option<&Cluster>, row: Option<&ResultRow>, footprint: Bytes) -> Side {
        let drives = |cluster: &Cluster| {
            let all = [Role::Capacity, Role::Cache].into_iter().flat_map(|role| cluster.drives(role));
            all.map(|(count, _)| count).fold(0, u64::saturating_add)
        };
        // What one machine or one direction did is no share of what the cluster can do of the mix.
        let is_whole = matches!(self.figure.quantity.value.as_str(), "rate" | "throughput");
        let share = cluster.zip(row).filter(|_| is_whole).and_then(|(cluster, row)| {
            let workload = Workload::of_work(&row.work, footprint);
            let iops = match self.quantity {
                Quantity::Iops => value,
                Quantity::BytesPerSecond => value / workload.bytes(),
                Quantity::MeanLatency => return None,
            };
            ceiling(cluster, &workload).share(iops)
        });
        let spread = self.quantity != Quantity::MeanLatency && is_whole;
        Side {
            value,
            nodes: cluster.filter(|_| spread).map(Cluster::node_count).filter(|count| *count > 0),
            drives: cluster.filter(|_| spread).map(drives).filter(|count| *count > 0),
            share,
        }
    }
}

/// The middle of `sorted`, or the mean of the middle two.
fn median(sorted: &[f64]) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(*sorted.get(last / 2)?, *sorted.get(last.div_ceil(2))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::StageKind;

    const FIGURES: &str = "\
name = \"t\"
source = \"s\"
[[figure]]
workload = \"Theirs\"
scenario = \"small\"
quantity = \"rate\"
value = 100
unit = \"IOPS\"
[[figure]]
workload = \"Theirs\"
scenario = \"small\"
quantity = \"CPU\"
value = 80
unit = \"%\"
[[figure]]
workload = \"Theirs\"
scenario = \"small\"
quantity = \"mean latency\"
value = 2
unit = \"ms\"
";
    const COUNTERPART: &str = "[[counterpart]]\nworkload = \"Theirs\"\nrun_workload = \"mix\"\nfootprint = \"1GiB\"\n";

    fn cluster(nodes: u32, iops: u32) -> Cluster {
        let text = format!(
            "name = \"c\"\n[[nodes]]\ncount = {nodes}\n[[nodes.drives]]\ncount = 4\nread_iops = {iops}\nwrite_iops = {iops}\nread = \"10GB/s\"\nwrite = \"10GB/s\"\n"
        );
        Cluster::parse("c", &text, &[]).expect("a good testbed")
    }

    fn record(workload: &str) -> Record {
        let mut recorded = Recorded::new(&format!("[[workload]]\nname = \"{workload}\"\nread = \"50%\"\n"));
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[1_000; 50]), (Op::Write, &[3_000; 50])]);
        recorded.end();
        recorded.record()
    }

    fn held(figures: &str, workload: &str, suite: &str, ours: Option<&Cluster>) -> Result<Comparison, Unfit> {
        let published = Published::parse("t", figures).expect("good figures");
        let mut record = record(workload);
        record.plan.suite = suite.to_owned();
        let rows = crate::results(&record);
        against(&published, Some(&cluster(4, 100)), &record, &rows, ours)
    }

    #[test]
    fn both_sides_stand_beside_each_other_with_their_own_nodes_drives_and_ceilings() {
        let ours = cluster(2, 50);
        let held = held(&format!("{FIGURES}{COUNTERPART}"), "mix", "t-part", Some(&ours)).expect("fits");
        assert_eq!((held.figures.len(), held.left_out), (2, 1));
        let rate = &held.figures[0];
        let run = rate.run.expect("measured");
        assert!((run.value - 100.0).abs() < 1e-9, "reads and writes together: {run:?}");
        assert_eq!((rate.published.nodes, rate.published.drives), (Some(4), Some(16)));
        assert_eq!((run.nodes, run.drives), (Some(2), Some(8)));
        let (theirs, mine) = (rate.published.share.expect("known"), run.share.expect("known"));
        // Half the nodes with drives half as fast carry a quarter.
        assert!((mine / theirs - 4.0).abs() < 1e-9, "{theirs} {mine}");
        let latency = &held.figures[1];
        let mean = latency.run.expect("measured").value;
        assert!((mean - 2_000.0).abs() < 100.0, "weighted by requests: {mean}");
        assert_eq!((latency.published.value, latency.published.nodes, latency.published.share), (2e6, None, None));
    }

    #[test]
    fn what_does_not_fit_is_refused_for_its_reason() {
        let with = format!("{FIGURES}{COUNTERPART}");
        assert_eq!(held(FIGURES, "mix", "t", None), Err(Unfit::NoCounterparts));
        assert_eq!(held(&with, "mix", "tea", None), Err(Unfit::OtherSuite));
        assert_eq!(held(&with, "other", "t", None), Err(Unfit::NothingMeasured));
        let narrower = with.replace("footprint", "run_sweep = \"size=10GB\"\nfootprint");
        assert_eq!(held(&narrower, "mix", "t", None), Err(Unfit::NothingMeasured));
    }

    #[test]
    fn the_middle_of_repetitions_counts() {
        assert_eq!((median(&[]), median(&[1.0, 2.0, 9.0]), median(&[1.0, 2.0])), (None, Some(2.0), Some(1.5)));
    }
}
