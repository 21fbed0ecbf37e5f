//! The charts of a running run, all hosts together or one of them, drawn like those of the report.

use super::board::Board;
use super::bounded_series::Slot;
use super::load::{HostLoad, LatencySummary, Load, OpLoad, System};
use model::Op;
use report::ground::chart::{Axis, Bands, Cell, Heat, Line, Lines, Point, Scale, ends};
use report::ground::markup::{Markup, classed};
use report::ground::moment::latency_words;
use report::ground::words;
use report::topics::workload::{LATENCIES, line_at};

pub fn total(board: &Board) -> Markup {
    let slots = board.whole_slots();
    let end_s = board.now_s();
    let ops: Vec<Op> = Op::EACH
        .into_iter()
        .filter(|op| slots.iter().any(|slot| slot.part.ops.contains_key(op)))
        .collect();
    let mut charts = Markup::new();
    let lines = |value: &dyn Fn(&Slot<Load>, &OpLoad) -> Option<f64>| {
        let line = |(place, op): (usize, &Op)| Line {
            name: op.name().to_owned(),
            style: line_at(*op, place),
            points: points(slots, |_, slot| {
                slot.part.ops.get(op).map_or(Some(0.0), |load| value(slot, load))
            }),
        };
        let mut lines: Vec<Line> = ops.iter().enumerate().map(line).collect();
        // Beside parts stands the whole; an fsync is no I/O of it.
        let io: Vec<Op> = ops.iter().copied().filter(|op| *op != Op::Fsync).collect();
        if io.len() > 1 {
            let all = |slot: &Slot<Load>| {
                let here = io.iter().filter_map(|op| slot.part.ops.get(op));
                Some(here.filter_map(|load| value(slot, load)).sum())
            };
            lines.push(Line {
                name: "all".to_owned(),
                style: "line sixth",
                points: points(slots, |_, slot| all(slot)),
            });
        }
        lines
    };
    let (iops, bytes) = (
        lines(&|slot, load| rate(slot, load.ios)),
        lines(&|slot, load| mebi_rate(slot, load.bytes)),
    );
    let is_files = ops.iter().any(|op| op.is_metadata());
    let title = if is_files { "Operations per second" } else { "IOPS" };
    let instants: Vec<(f64, String)> = board.instants.iter().cloned().collect();
    charts.push(over_time(title, words::iops, end_s, iops).render_with(&instants));
    charts.push(over_time("Bandwidth, MiB/s", mebi_words, end_s, bytes).render_with(&instants));
    for op in latest(&ops, slots) {
        charts.push(latencies(op, slots, end_s, ops.len() > 1, &instants));
    }
    charts.push(system(board.kernel.slots(), |system| *system, end_s, &instants));
    classed("div", "charts", charts)
}

/// Latencies of so many operations are drawn at most: a suite of operations on files has a dozen,
/// one after the other.
const MOST_LATENCIES: usize = 4;

/// The operations that were seen last, in the order of `ops`.
fn latest(ops: &[Op], slots: &[Slot<Load>]) -> Vec<Op> {
    let last = |op: &Op| slots.iter().rposition(|slot| slot.part.ops.contains_key(op));
    let mut latest = ops.to_vec();
    latest.sort_by_key(|op| std::cmp::Reverse(last(op)));
    latest.truncate(MOST_LATENCIES);
    ops.iter().copied().filter(|op| latest.contains(op)).collect()
}

/// The charts of one host. Its latencies are told by their mean and maximum: these add up over any
/// time, and thousands of hosts can keep them.
pub fn host(board: &Board, number: u32) -> Markup {
    let Some(host) = board.hosts.get(number as usize) else {
        return Markup::from("There is no such host.");
    };
    let (slots, end_s) = (host.load.slots(), board.now_s());
    let line = |name: &str, style, points| Line { name: name.to_owned(), style, points };
    let iops = points(slots, |_, slot| rate(slot, slot.part.ios));
    let bytes = points(slots, |_, slot| mebi_rate(slot, slot.part.bytes));
    let instants: Vec<(f64, String)> = board.instants.iter().cloned().collect();
    let (iops, bytes) = (
        vec![line("all requests", "line read", iops)],
        vec![line("all requests", "line read", bytes)],
    );
    let mut charts = over_time("IOPS", words::iops, end_s, iops).render_with(&instants);
    charts.push(over_time("Bandwidth, MiB/s", mebi_words, end_s, bytes).render_with(&instants));
    let has = |slot: &Slot<HostLoad>| slot.part.ios > 0;
    let mean = points(slots, |_, slot| {
        has(slot).then(|| slot.part.latency_sum_ns as f64 / slot.part.ios as f64)
    });
    let max = points(slots, |_, slot| has(slot).then_some(slot.part.latency_max_ns as f64));
    let lines = vec![line("mean", "line q50", mean), line("max", "line max", max)];
    charts.push(Lines::latencies("Latency", end_s, lines).render_with(&instants));
    charts.push(system(host.kernel.slots(), |system| *system, end_s, &instants));
    classed("div", "charts", charts)
}

pub(super) fn rate<P>(slot: &Slot<P>, sum: u64) -> Option<f64> {
    (slot.length_s > 0.0).then(|| sum as f64 / slot.length_s)
}

pub(super) fn mebi_rate<P>(slot: &Slot<P>, bytes: u64) -> Option<f64> {
    rate(slot, bytes).map(|bytes_per_s| bytes_per_s / MEBI)
}

const MEBI: f64 = 1_048_576.0;

/// MiB/s without the unit, which stands in the chart's title: ticks are to be round.
pub(super) fn mebi_words(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { words::mib_per_s(value * MEBI) }
}

/// A place for each stretch, at its end, when its figures were known; and a gap where nothing ran.
pub(super) fn points<P>(
    slots: &[Slot<P>],
    value: impl Fn(usize, &Slot<P>) -> Option<f64>,
) -> Vec<Point> {
    let mut points = Vec::with_capacity(slots.len());
    let mut before_s = f64::INFINITY;
    for (number, slot) in slots.iter().enumerate() {
        let pause_s = slot.start_s - before_s;
        if pause_s > (slot.end_s - slot.start_s).max(1.0) {
            points.push(Point {
                x: f64::midpoint(before_s, slot.start_s),
                y: None,
                also: String::new(),
            });
        }
        points.push(Point { x: slot.end_s, y: value(number, slot), also: String::new() });
        before_s = slot.end_s;
    }
    points
}

pub(super) fn over_time(
    title: &str,
    y_words: fn(f64) -> String,
    end_s: f64,
    lines: Vec<Line>,
) -> Lines {
    let y = Axis::new(Scale::linear_to(ends(&lines).1), y_words);
    Lines::over_time(title, end_s, y, lines)
}

/// The quantiles of an operation over time, and the map of all its latencies.
fn latencies(
    op: Op,
    slots: &[Slot<Load>],
    end_s: f64,
    is_mix: bool,
    instants: &[(f64, String)],
) -> Markup {
    let told: Vec<LatencySummary> = slots
        .iter()
        .map(|slot| slot.part.ops.get(&op).map(|load| load.latency.summary()).unwrap_or_default())
        .collect();
    let lines = LATENCIES.iter().enumerate().map(|(index, (name, style, _))| {
        let value = |told: &LatencySummary| {
            told.quantiles_ns.map(|quantiles| (quantiles[index] as f64).max(1.0))
        };
        let points = points(slots, |number, _| told.get(number).and_then(value));
        Line { name: (*name).to_owned(), style, points }
    });
    let title = |what: &str| if is_mix { format!("{what}, {op}") } else { what.to_owned() };
    let quantiles = Lines::latencies(title("Latency"), end_s, lines.collect());
    let map = heat(title("Latency, how often"), slots, &told, end_s);
    [quantiles.render_with(instants), map.render_with(instants)].into()
}

fn heat(title: String, slots: &[Slot<Load>], told: &[LatencySummary], end_s: f64) -> Heat {
    let mut cells = Vec::new();
    for (slot, told) in slots.iter().zip(told) {
        let all: u64 = told.bands.iter().map(|(_, count)| count).sum();
        for (band, count) in &told.bands {
            let (low, high) = Bands::COARSE.bounds(*band);
            let y = ((low as f64).max(1.0), high as f64);
            cells.push(Cell {
                x: (slot.start_s, slot.end_s),
                y,
                share: *count as f64 / all.max(1) as f64,
            });
        }
    }
    let least = cells.iter().map(|cell| cell.y.0).fold(f64::INFINITY, f64::min);
    let most = cells.iter().map(|cell| cell.y.1).fold(0.0, f64::max);
    Heat {
        description: format!(
            "Latencies from {} to {} over time",
            latency_words(least.min(most)),
            latency_words(most)
        ),
        title,
        x: Axis::time(end_s),
        y: Axis::latency(least, most),
        cells,
    }
}

pub(super) fn system<P>(
    slots: &[Slot<P>],
    of: fn(&P) -> System,
    end_s: f64,
    instants: &[(f64, String)],
) -> Markup {
    if slots.is_empty() {
        return Markup::new();
    }
    let line = |name: &str, style, value: &dyn Fn(&Slot<P>) -> Option<f64>| Line {
        name: name.to_owned(),
        style,
        points: points(slots, |_, slot| value(slot)),
    };
    let cpu = vec![
        line("busy", "line cpu", &|slot| of(&slot.part).busy()),
        line("in the kernel", "line q99", &|slot| of(&slot.part).kernel()),
        line("soft interrupts", "line q999", &|slot| of(&slot.part).softirq()),
    ];
    let network = vec![
        line("received", "line read", &|slot| mebi_rate(slot, of(&slot.part).received_bytes)),
        line("sent", "line write", &|slot| mebi_rate(slot, of(&slot.part).sent_bytes)),
    ];
    let mut cpu = over_time("CPU, share of all cores", words::share, end_s, cpu);
    cpu.y.scale = Scale::Linear { max: 1.0 };
    let most = ends(&network).1;
    let mut network = over_time("Network, MiB/s", mebi_words, end_s, network);
    // A few packets now and then are no curve.
    network.y.scale = Scale::linear_to(most.max(1.0));
    [cpu.render_with(instants), network.render_with(instants)].into()
}
