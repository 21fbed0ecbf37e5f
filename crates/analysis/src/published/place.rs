//! Where a run has one figure's counterpart, and what it has there.

use super::{Beside, Missing, Quantity, Side, counted, printed};
use crate::Finding;
use crate::attribution::Attribution;
use crate::ceiling::{Workload, as_used, ceiling, touched};
use crate::row::ResultRow;
use crate::validity::is_simulated;
use model::cluster::{Role, fixed};
use model::published::{CounterpartSpec, FigureSpec};
use model::spec::Auto;
use model::{Bytes, Cluster, Op, Record};
use std::collections::BTreeMap;

/// A figure and where to look for it.
pub(super) struct Place<'a> {
    pub(super) figure: &'a FigureSpec,
    pub(super) counterpart: &'a CounterpartSpec,
    pub(super) quantity: Quantity,
    pub(super) record: &'a Record,
    pub(super) rows: &'a [ResultRow],
    pub(super) curves: &'a [Finding],
    pub(super) counters: &'a [Attribution],
}

impl Place<'_> {
    /// The published `value` and what the run has in its place.
    pub(super) fn beside(&self, value: f64, theirs: Option<&Cluster>, ours: Option<&Cluster>) -> Beside {
        let mine = self.at(&self.counterpart.run_sweep.value);
        let first = mine.first().copied();
        let mine_touched = || first.map_or(Bytes(0), |row| touched(self.record, row));
        let footprint = match self.counterpart.footprint.value {
            Auto::Fixed(bytes) => bytes,
            Auto::Auto => mine_touched(),
        };
        let run = self.measured(&mine).map(|(value, hosts)| {
            // A simulated run may have used its testbed in a way of its own.
            let used = ours.zip(first).map(|(cluster, row)| as_used(cluster, self.record, row));
            let side = self.side(value, used.as_deref().or(ours), first, mine_touched());
            // Counters say themselves how many hosts stand behind a sum.
            Side { nodes: side.nodes.or(hosts.filter(|_| self.adds_up())), ..side }
        });
        Beside {
            workload: self.figure.workload.value.clone(),
            scenario: self.figure.scenario.value.clone(),
            name: self.figure.quantity.value.clone(),
            quantity: Some(self.quantity),
            printed: printed(self.figure),
            published: self.side(value, theirs, first, footprint),
            run,
            caveat: self.figure.caveat.value.clone(),
        }
    }

    /// The complete rows of the run's workload, at this value of the sweep (empty: any) and of the figure's operation.
    fn at(&self, wanted: &str) -> Vec<&ResultRow> {
        let is_there = |row: &ResultRow| {
            wanted.is_empty() || row.sweep.iter().any(|(axis, value)| wanted == format!("{axis}={value}"))
        };
        let operation = self.counterpart.run_operation.value.as_str();
        let is_asked = |op: Op| match self.figure.quantity.value.as_str() {
            _ if !operation.is_empty() => op.name() == operation,
            "read rate" => op == Op::Read,
            "write rate" => op == Op::Write,
            _ => matches!(op, Op::Read | Op::Write),
        };
        let name = self.counterpart.run_workload.value.as_str();
        let rows = self.rows.iter().filter(|row| row.complete && row.ios > 0);
        rows.filter(|row| row.workload == name && is_asked(row.op) && is_there(row)).collect()
    }

    /// What the run has in the figure's place, and how many hosts counted it where counters did.
    fn measured(&self, mine: &[&ResultRow]) -> Result<(f64, Option<u64>), Missing> {
        if mine.is_empty() {
            return Err(Missing::NotMeasured);
        }
        match self.quantity {
            Quantity::PortBits | Quantity::CpuShare => self.of_counters(mine),
            Quantity::IopsDifference => self.difference(mine, Quantity::Iops),
            Quantity::LatencyDifference => self.difference(mine, Quantity::MeanLatency),
            _ if !self.counterpart.run_axis.value.is_empty() => self.of_curve(mine).map(|value| (value, None)),
            quantity => {
                let hosts = self.record.plan.hosts.len().max(1) as f64;
                // The machine of the reports is a host of the run.
                let part = if self.figure.quantity.value == "rate of one virtual machine" { hosts } else { 1.0 };
                of_points(mine, quantity).map(|value| (value / part, None)).ok_or(Missing::NotMeasured)
            }
        }
    }

    /// Against the counterpart's base.
    fn difference(&self, mine: &[&ResultRow], quantity: Quantity) -> Result<(f64, Option<u64>), Missing> {
        let base = of_points(&self.at(&self.counterpart.run_base.value), quantity).filter(|base| *base > 0.0);
        let (base, value) = base.zip(of_points(mine, quantity)).ok_or(Missing::NotMeasured)?;
        Ok((value / base - 1.0, None))
    }

    /// The median over repetitions of what the kernels counted.
    fn of_counters(&self, mine: &[&ResultRow]) -> Result<(f64, Option<u64>), Missing> {
        if is_simulated(self.record) {
            return Err(Missing::Simulated);
        }
        let is_mine = |counted: &&Attribution| mine.iter().any(|row| row.point == counted.point);
        let scenario = self.figure.scenario.value.as_str();
        let counted: Vec<(f64, u64)> = self
            .counters
            .iter()
            .filter(is_mine)
            .filter_map(|counters| counted::over_hosts(counters, self.quantity, scenario))
            .collect();
        let hosts = counted.iter().map(|(_, hosts)| *hosts).max();
        let value = median(counted.iter().map(|(value, _)| *value).collect());
        value.map(|value| (value, hosts)).ok_or(Missing::NotCounted)
    }

    /// The peak or the plateau along the counterpart's axis. A peak needs no curve: of few points it is the highest one.
    fn of_curve(&self, mine: &[&ResultRow]) -> Result<f64, Missing> {
        let first = mine.first().ok_or(Missing::NotMeasured)?;
        let axis = self.counterpart.run_axis.value.as_str();
        let is_it = |found: &&Finding| found.workload == first.workload && found.op == first.op && found.axis == axis;
        let found = self.curves.iter().find(is_it);
        let iops = match (self.figure.scenario.value.as_str(), found) {
            ("peak", Some(found)) => found.values.get(found.curve.peak).copied(),
            ("peak", None) => highest(mine),
            ("sustained", Some(found)) => Some(found.curve.sustained),
            ("sustained", None) => return Err(Missing::FewPoints),
            _ => None,
        };
        let iops = iops.ok_or(Missing::NotMeasured)?;
        match self.quantity {
            Quantity::Iops => Ok(iops),
            Quantity::BytesPerSecond if first.ios > 0 => Ok(iops * first.bytes as f64 / first.ios as f64),
            _ => Err(Missing::NotMeasured),
        }
    }

    /// Whether the figure is that of the whole cluster: what one machine or one direction did is no share of what the cluster can do.
    fn adds_up(&self) -> bool {
        match self.figure.quantity.value.as_str() {
            "rate" | "throughput" => true,
            "port traffic" => self.figure.scenario.value == "all hosts",
            _ => false,
        }
    }

    fn side(&self, value: f64, cluster: Option<&Cluster>, row: Option<&ResultRow>, footprint: Bytes) -> Side {
        let is_of_blocks = self.counterpart.run_operation.value.is_empty() && self.quantity != Quantity::PortBits;
        let cluster = cluster.filter(|_| self.adds_up());
        let drives = |cluster: &Cluster| {
            let all = [Role::Capacity, Role::Cache].into_iter().flat_map(|role| cluster.drives(role));
            all.map(|(count, _)| count).fold(0, u64::saturating_add)
        };
        let share = cluster.and_then(|cluster| match self.quantity {
            Quantity::PortBits => ports_bits(cluster).map(|most| value / most),
            // What a testbed says of names bounds nothing in general.
            _ if !is_of_blocks => None,
            _ => row.and_then(|row| {
                let workload = Workload::of_work(&row.work, footprint);
                let of_bytes = self.quantity == Quantity::BytesPerSecond;
                ceiling(cluster, &workload).share(if of_bytes { value / workload.bytes() } else { value })
            }),
        });
        Side {
            value,
            nodes: cluster.map(Cluster::node_count).filter(|count| *count > 0),
            drives: cluster.filter(|_| is_of_blocks).map(drives).filter(|count| *count > 0),
            share,
        }
    }
}

/// The speed of all ports of the cluster's nodes in bits per second; `None` where the testbed does not have it of each group.
fn ports_bits(cluster: &Cluster) -> Option<f64> {
    let of_group = |group: &model::cluster::NodeGroup| {
        let (ports, speed) = fixed(group.spec.ports.value).zip(fixed(group.spec.port_speed.value))?;
        Some(group.count() as f64 * f64::from(ports.0) * speed.bytes_per_s() * 8.0)
    };
    let all: Option<f64> = cluster.nodes.iter().map(of_group).sum();
    all.filter(|bits| *bits > 0.0)
}

/// The figure of each point's rows together, by point.
fn by_point(rows: &[&ResultRow], quantity: Quantity) -> Vec<f64> {
    let mut points: BTreeMap<u32, Vec<&ResultRow>> = BTreeMap::new();
    rows.iter().for_each(|row| points.entry(row.point).or_default().push(row));
    points.values().map(|rows| together(rows, quantity)).collect()
}

/// The median over the points.
fn of_points(rows: &[&ResultRow], quantity: Quantity) -> Option<f64> {
    median(by_point(rows, quantity))
}

/// Of the rates at each value of the sweep (of repetitions the median), the highest.
fn highest(rows: &[&ResultRow]) -> Option<f64> {
    let mut values: BTreeMap<&[(String, String)], Vec<&ResultRow>> = BTreeMap::new();
    rows.iter().for_each(|row| values.entry(row.sweep.as_slice()).or_default().push(row));
    values.values().filter_map(|rows| of_points(rows, Quantity::Iops)).max_by(f64::total_cmp)
}

/// Reads and writes of one point together.
fn together(rows: &[&ResultRow], quantity: Quantity) -> f64 {
    match quantity {
        Quantity::BytesPerSecond => rows.iter().map(|row| row.bytes_per_s()).sum(),
        Quantity::MeanLatency => {
            let sum: f64 = rows.iter().filter_map(|row| Some(row.latency.mean_ns()? * row.ios as f64)).sum();
            sum / (rows.iter().map(|row| row.ios).fold(0, u64::saturating_add).max(1) as f64)
        }
        _ => rows.iter().map(|row| row.iops()).sum(),
    }
}

/// The middle of `values`, or the mean of the middle two.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(*values.get(last / 2)?, *values.get(last.div_ceil(2))?))
}
