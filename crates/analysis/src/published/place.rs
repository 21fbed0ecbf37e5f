//! Where a run has one figure's counterpart, and what it has there.

use super::load::{Load, LoadDifference, Matched, Unmatched, whole};
use super::{Beside, Meaning, Missing, Part, Quantity, Side, counted, printed};
use crate::Finding;
use crate::ceiling::{Layer, Workload, as_used, ceiling, touched, touched_by};
use crate::layers::attribution::Attribution;
use crate::over_time::effects::Effect;
use crate::over_time::event_io::{EventTraffic, event_traffic};
use crate::rows::row::{Ops, ResultRow};
use catalogue::cluster::{Role, fixed};
use catalogue::published::{CounterpartSpec, During, FigureSpec, Published};
use catalogue::{Auto, Cluster, Count};
use model::note::CountedBy;
use model::popularity::Touched;
use model::{Bytes, Op, Record, Setting};
use std::collections::BTreeMap;

/// A figure and where to look for it.
pub(super) struct Place<'a> {
    pub(super) published: &'a Published,
    pub(super) figure: &'a FigureSpec,
    pub(super) counterpart: &'a CounterpartSpec,
    pub(super) meaning: Meaning,
    pub(super) record: &'a Record,
    pub(super) rows: &'a [ResultRow],
    pub(super) curves: &'a [Finding],
    pub(super) counters: &'a [Attribution],
    pub(super) effects: &'a [Effect],
}

impl Place<'_> {
    /// The published side and what the run has in its place.
    pub(super) fn beside(&self, theirs: Option<&Cluster>, ours: Option<&Cluster>) -> Beside {
        let matched = self.at(self.counterpart.run_sweep.value.0.as_ref());
        let mine: &[&ResultRow] = matched.as_ref().map_or(&[], |matched| &matched.rows);
        let first = mine.first().copied();
        let mine_touched = || first.map_or(Bytes(0), |row| touched(self.record, row));
        let footprint = match self.counterpart.footprint.value {
            Auto::Fixed(bytes) => bytes,
            Auto::Auto => mine_touched(),
        };
        let run =
            matched.as_ref().map_err(Clone::clone).and_then(|matched| self.measured(&matched.rows));
        // A simulated run may have used its testbed in a way of its own.
        let used = ours.zip(first).map(|(cluster, row)| as_used(cluster, self.record, row));
        let used = used.as_deref().or(ours);
        let computed = match (&run, used) {
            (Err(Missing::Simulated), Some(cluster)) => self.by_utilisation(mine, cluster),
            _ => None,
        };
        let run = computed.map_or(run, |value| Ok((value, None)));
        let traffic = self.figure.with_event.value.then(|| self.with_event(mine)).flatten();
        let (run, events) = match (&traffic, run) {
            (Some((sum, apart)), Ok(_)) => (Ok((*sum, None)), Some(apart.clone())),
            (_, run) => {
                let is_alone = self.figure.with_event.value;
                (run, is_alone.then_some(LoadDifference::EventsRequests))
            }
        };
        let run = run.map(|(value, hosts)| {
            let side = self.side(value, used, first, mine_touched());
            // Counters say themselves how many hosts stand behind a sum.
            Side { nodes: side.nodes.or(hosts.filter(|_| self.adds_up())), ..side }
        });
        let apart = matched.as_ref().map_or_else(|_| Vec::new(), |matched| matched.apart.clone());
        Beside {
            workload: self.figure.workload.value.clone(),
            scenario: self.figure.scenario.value.clone(),
            name: self.figure.quantity.value.clone(),
            quantity: Some(self.meaning.quantity),
            printed: printed(self.figure),
            published: self.side(self.meaning.value, theirs, first, footprint),
            up_to: self.meaning.up_to,
            apart: if run.is_ok() { events.into_iter().chain(apart).collect() } else { Vec::new() },
            run,
            is_computed: computed.is_some(),
            caveat: self.figure.caveat.value.clone(),
            mark: None,
        }
    }

    /// The rows of the run's points that are nearest to the figure's load, of the figure's
    /// operation, at this setting.
    fn at(&self, setting: Option<&Setting>) -> Result<Matched<'_>, Missing> {
        let operation = self.counterpart.run_operation.value.as_str();
        let is = |row: &ResultRow, op: Op| row.ops == Ops::One(op);
        let is_asked = |row: &ResultRow| match self.meaning.op {
            _ if !operation.is_empty() => Op::from_name(operation).is_some_and(|op| is(row, op)),
            Some(wanted) => is(row, wanted),
            // What is not said to be a part is the whole.
            None => row.is_of_workload() && !row.is_metadata(),
        };
        let (published, counterpart, record) = (self.published, self.counterpart, self.record);
        let load = Load { published, counterpart, record, is_asked: &is_asked };
        load.matched(self.rows, setting).map_err(|why| match why {
            Unmatched::OtherLoad => Missing::NotMeasured,
            Unmatched::OtherFootprint(run) => Missing::OtherFootprint { run },
        })
    }

    /// What the run has in the figure's place, and how many hosts counted it where counters did.
    fn measured(&self, mine: &[&ResultRow]) -> Result<(f64, Option<u64>), Missing> {
        let alone = |value: Result<f64, Missing>| value.map(|value| (value, None));
        match self.meaning.quantity {
            Quantity::PortBits | Quantity::CpuShare => self.of_counters(mine),
            Quantity::IopsDifference => alone(self.difference(mine, Quantity::Iops)),
            Quantity::LatencyDifference => alone(self.difference(mine, Quantity::MeanLatency)),
            _ if !self.counterpart.run_axis.value.is_empty() => alone(self.of_curve(mine)),
            _ if self.figure.during.value == During::Event => alone(self.in_dip(mine)),
            quantity => {
                let value = of_points(mine, quantity).ok_or(Missing::NotMeasured)?;
                alone(self.part_of(value, mine))
            }
        }
    }

    /// The part of all that the figure is of.
    fn part_of(&self, value: f64, mine: &[&ResultRow]) -> Result<f64, Missing> {
        match self.meaning.part {
            Part::Whole => Ok(value),
            // The machine of the reports is a host of the run.
            Part::Machine => Ok(value / self.hosts()),
            Part::Terabyte => {
                let row = mine.first().ok_or(Missing::NotMeasured)?;
                // As if it had not been shrunk: a device carries what it carries at any size.
                let terabytes = whole(self.record, touched(self.record, row)).0 as f64 / 1e12;
                if terabytes > 0.0 { Ok(value / terabytes) } else { Err(Missing::NotMeasured) }
            }
            Part::TwoSlowest => Err(Missing::NotMeasured),
        }
    }

    fn hosts(&self) -> f64 {
        self.record.plan.hosts.len().max(1) as f64
    }

    /// What an event left of the rate while it showed: the mean of the dip, or the lowest intervals
    /// of the two hosts that fell lowest.
    fn in_dip(&self, mine: &[&ResultRow]) -> Result<f64, Missing> {
        let is_mine = |effect: &&Effect| {
            mine.iter().any(|row| row.point == effect.point && row.has_work(effect.work))
        };
        let effects = || self.effects.iter().filter(is_mine);
        let values: Vec<f64> = match self.meaning.part {
            Part::TwoSlowest => effects().filter_map(two_lowest).collect(),
            _ => effects().filter_map(|effect| effect.total?.in_dip).collect(),
        };
        let value = median(values).ok_or(Missing::NoDip)?;
        if self.meaning.part == Part::TwoSlowest { Ok(value) } else { self.part_of(value, mine) }
    }

    /// The rate of the hosts and of the event together, in the event's time, and both apart; `None`
    /// where nobody counted the event's.
    fn with_event(&self, mine: &[&ResultRow]) -> Option<(f64, LoadDifference)> {
        if self.meaning.quantity != Quantity::Iops || self.meaning.part != Part::Whole {
            return None;
        }
        let is_mine = |one: &&EventTraffic<'_>| mine.iter().any(|row| row.stage == one.stage);
        let found = event_traffic(self.record);
        let one = found.iter().find(is_mine)?;
        let apart = LoadDifference::EventCounted {
            hosts: one.hosts_per_s?,
            event: one.own_per_s?,
            is_simulated: one.io.by == CountedBy::Simulation,
        };
        Some((one.sum_per_s()?, apart))
    }

    /// Against the counterpart's base.
    fn difference(&self, mine: &[&ResultRow], quantity: Quantity) -> Result<f64, Missing> {
        let base = self.at(self.counterpart.run_base.value.0.as_ref())?;
        let base = of_points(&base.rows, quantity).filter(|base| *base > 0.0);
        let (base, value) = base.zip(of_points(mine, quantity)).ok_or(Missing::NotMeasured)?;
        Ok(value / base - 1.0)
    }

    /// What a simulated layer was used by, by the utilisation law: rate × demand of a request. All
    /// nodes are alike and evenly loaded. `None` where the testbed lacks a figure.
    fn by_utilisation(&self, mine: &[&ResultRow], cluster: &Cluster) -> Option<f64> {
        let row = mine.first()?;
        let workload = Workload::of_work(row.work()?, touched_by(self.record, row));
        let ceiling = ceiling(cluster, &workload);
        let rate = of_points(mine, Quantity::Iops)?;
        let used = |layer| ceiling.limit(layer).map(|limit| rate / limit.iops);
        match self.meaning.quantity {
            Quantity::CpuShare => used(Layer::Cpu).map(|share| share.min(1.0)),
            Quantity::PortBits => {
                let all = used(Layer::Ports)? * ports_bits(cluster)?;
                let nodes = cluster.node_count().max(1) as f64;
                Some(if self.figure.scenario.value == "per server" { all / nodes } else { all })
            }
            _ => None,
        }
    }

    /// The median over repetitions of what the kernels counted.
    fn of_counters(&self, mine: &[&ResultRow]) -> Result<(f64, Option<u64>), Missing> {
        if self.record.plan.is_simulated() {
            return Err(Missing::Simulated);
        }
        let is_mine = |counted: &&Attribution| mine.iter().any(|row| row.point == counted.point);
        let scenario = self.figure.scenario.value.as_str();
        let counted: Vec<(f64, u64)> = self
            .counters
            .iter()
            .filter(is_mine)
            .filter_map(|counters| counted::over_hosts(counters, self.meaning.quantity, scenario))
            .collect();
        let hosts = counted.iter().map(|(_, hosts)| *hosts).max();
        let value = median(counted.iter().map(|(value, _)| *value).collect());
        value.map(|value| (value, hosts)).ok_or(Missing::NotCounted)
    }

    /// The peak or the plateau along the counterpart's axis, where they are, or one value of it. A
    /// peak needs no curve: of few points it is the highest one.
    fn of_curve(&self, mine: &[&ResultRow]) -> Result<f64, Missing> {
        let first = mine.first().ok_or(Missing::NotMeasured)?;
        let axis = self.counterpart.run_axis.value.as_str();
        let found = self.curves.iter().find(|found| found.axis == axis && found.has(first));
        let peak = || {
            found.map_or_else(|| highest(mine), |found| found.values.get(found.curve.peak).copied())
        };
        let along = |point: usize| found.and_then(|found| found.along.get(point).copied());
        let rate_at = |at: Count| {
            let here = Setting::new(axis, at.0.to_string());
            let rows: Vec<&ResultRow> =
                mine.iter().copied().filter(|row| row.sweep.contains(&here)).collect();
            of_points(&rows, Quantity::Iops).ok_or(Missing::NotMeasured)
        };
        if let Auto::Fixed(at) = self.figure.at.value {
            let rate = rate_at(at)?;
            return match self.meaning.quantity {
                Quantity::FromPeak => {
                    peak().map(|peak| rate / peak - 1.0).ok_or(Missing::NotMeasured)
                }
                _ => self.of_rate(rate, first),
            };
        }
        let curve = || found.map(|found| &found.curve).ok_or(Missing::FewPoints);
        let level = || {
            curve().and_then(|curve| {
                curve.sustained.map(|level| (level, curve)).ok_or(Missing::StillRising)
            })
        };
        match (self.figure.scenario.value.as_str(), self.meaning.quantity) {
            ("peak", Quantity::Threads) => along(curve()?.peak).ok_or(Missing::NotMeasured),
            ("knee", Quantity::Threads) => along(level()?.1.knee).ok_or(Missing::NotMeasured),
            ("peak", _) => self.of_rate(peak().ok_or(Missing::NotMeasured)?, first),
            ("sustained", _) => {
                // Of a curve that still rises, at as many threads as the figure is of.
                let rate = match (level(), self.figure.threads.value) {
                    (Err(Missing::StillRising), Auto::Fixed(threads)) => rate_at(threads)?,
                    (level, _) => level?.0,
                };
                self.of_rate(rate, first)
            }
            _ => Err(Missing::NotMeasured),
        }
    }

    /// A rate of requests in the figure's quantity.
    fn of_rate(&self, iops: f64, row: &ResultRow) -> Result<f64, Missing> {
        match self.meaning.quantity {
            Quantity::Iops => Ok(iops),
            Quantity::BytesPerSecond if row.ios > 0 => Ok(iops * row.bytes as f64 / row.ios as f64),
            _ => Err(Missing::NotMeasured),
        }
    }

    /// Whether the figure is that of the whole cluster: what one machine or one direction did is no
    /// share of what the cluster can do.
    fn adds_up(&self) -> bool {
        match self.figure.quantity.value.as_str() {
            "rate" | "throughput" => self.figure.during.value == During::Stage,
            "port traffic" => self.figure.scenario.value == "all hosts",
            _ => false,
        }
    }

    fn side(
        &self,
        value: f64,
        cluster: Option<&Cluster>,
        row: Option<&ResultRow>,
        footprint: Bytes,
    ) -> Side {
        let is_of_blocks = self.counterpart.run_operation.value.is_empty()
            && self.meaning.quantity != Quantity::PortBits;
        let cluster = cluster.filter(|_| self.adds_up());
        let drives = |cluster: &Cluster| {
            let all =
                [Role::Capacity, Role::Cache].into_iter().flat_map(|role| cluster.drives(role));
            all.map(|(count, _)| count).fold(0, u64::saturating_add)
        };
        let share = cluster.and_then(|cluster| match self.meaning.quantity {
            Quantity::PortBits => ports_bits(cluster).map(|most| value / most),
            // What a testbed says of names bounds nothing in general.
            _ if !is_of_blocks => None,
            _ => row.and_then(|row| Some((row, row.work()?))).and_then(|(row, work)| {
                let workload = Workload::of_work(
                    work,
                    Touched { bytes: footprint, ..touched_by(self.record, row) },
                );
                let of_bytes = self.meaning.quantity == Quantity::BytesPerSecond;
                ceiling(cluster, &workload).share(if of_bytes {
                    value / workload.bytes()
                } else {
                    value
                })
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

/// The mean of the lowest rates of the two hosts that an event took lowest; `None` where it took
/// fewer.
fn two_lowest(effect: &Effect) -> Option<f64> {
    let fell = effect.hosts.iter().filter(|(_, after)| after.began_after_s.is_some());
    let mut lowest: Vec<f64> = fell.map(|(_, after)| after.lowest).collect();
    lowest.sort_by(f64::total_cmp);
    match lowest.as_slice() {
        [one, two, ..] => Some(f64::midpoint(*one, *two)),
        _ => None,
    }
}

/// The speed of all ports of the cluster's nodes in bits per second; `None` where the testbed does
/// not have it of each group.
fn ports_bits(cluster: &Cluster) -> Option<f64> {
    let of_group = |group: &catalogue::cluster::NodeGroup| {
        let (ports, speed) =
            fixed(group.spec.ports.value).zip(fixed(group.spec.port_speed.value))?;
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
    let mut values: BTreeMap<&[Setting], Vec<&ResultRow>> = BTreeMap::new();
    rows.iter().for_each(|row| values.entry(row.sweep.as_slice()).or_default().push(row));
    values.values().filter_map(|rows| of_points(rows, Quantity::Iops)).max_by(f64::total_cmp)
}

/// Reads and writes of one point together.
fn together(rows: &[&ResultRow], quantity: Quantity) -> f64 {
    match quantity {
        Quantity::BytesPerSecond => rows.iter().map(|row| row.bytes_per_s()).sum(),
        Quantity::MeanLatency => {
            let sum: f64 =
                rows.iter().filter_map(|row| Some(row.latency.mean_ns()? * row.ios as f64)).sum();
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
