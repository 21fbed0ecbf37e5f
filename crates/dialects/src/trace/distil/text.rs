//! The text of a distilled suite.

use super::{Distances, Distiller, Model};
use std::fmt::Write;

/// More outstanding requests than most traces have; at a rate, the most that a worker has.
const DEPTH: u32 = 128;
const MIB: u64 = 1 << 20;

pub(super) fn suite(
    trace: &Distiller,
    model: &Model,
    distances: &Distances,
    name: &str,
    what: &str,
) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for line in what.lines().map(printable) {
        let _ = writeln!(text, "# {line}");
    }
    comments(&mut text, trace, model, distances);
    let length_ns = trace.last_ns.unwrap_or(0);
    let measure = match model.levels.is_empty() {
        true => format!("{}s", length_ns.div_ceil(1_000_000_000).clamp(1, 3_600)),
        // All of the curve.
        false => format!("{}ms", model.curve_ns().div_ceil(1_000_000)),
    };
    let largest = model.reads.iter().chain(&model.writes).map(|(size, _)| u64::from(*size)).max();
    let size = trace.end.max(largest.unwrap_or(0)).next_multiple_of(MIB);
    let name = serde_json::Value::from(name).to_string();
    let _ = write!(
        text,
        "name = {name}\n\n[layout]\nfiles = 1\nsize = {size}\n\n[stages]\nmeasure = \
         \"{measure}\"\n\n[[workload]]\nname = \"distilled\"\nworkers = 1\ndepth = {DEPTH}\n"
    );
    workload(&mut text, trace, model);
    text
}

fn comments(text: &mut String, trace: &Distiller, model: &Model, distances: &Distances) {
    let Distances { sizes, offsets, popularity, inter_arrivals, rate } = distances;
    let _ = write!(
        text,
        "# Distances from the trace, 0 (the same) to 1 (nothing in common):\n\
         #   size and direction, total variation         {sizes:.3}\n\
         #   offsets, Kolmogorov-Smirnov                 {offsets:.3}\n\
         #   load of the most loaded parts, likewise     {popularity:.3}\n\
         #   times between requests, likewise            {inter_arrivals:.3}\n\
         #   rate over time, likewise                    {rate:.3}\n"
    );
    if !model.spots.is_empty() {
        text.push_str(
            "# Hot spots stand at the start of the space, wherever the trace had them.\n",
        );
    }
    if !model.levels.is_empty() {
        let _ = writeln!(
            text,
            "# The rate changes as it did in the trace, in {} stretches of one rate each.",
            model.levels.len()
        );
    } else if model.rate.is_some() && *rate > 0.0 {
        let length_ns = trace.last_ns.unwrap_or(0);
        let cells = trace.times.up_to(length_ns, super::RATE_CELLS);
        let cell_s = length_ns as f64 / 1e9 / cells.len().max(1) as f64;
        let busiest = cells.iter().max().copied().unwrap_or(0) as f64 / cell_s.max(1e-9);
        let _ = writeln!(
            text,
            "# The rate is the mean of the trace; its busiest {} had {busiest:.0} IOPS.",
            if cell_s < 1.0 { format!("{:.0} ms", cell_s * 1e3) } else { format!("{cell_s:.0} s") }
        );
    }
}

fn workload(text: &mut String, trace: &Distiller, model: &Model) {
    let (reads, changes) = (trace.reads, trace.writes + trace.trims);
    let first = if model.reads.is_empty() { &model.writes } else { &model.reads };
    let _ = writeln!(text, "block_size = \"{}\"", mix(first));
    if reads > 0 && changes > 0 && model.writes != model.reads {
        let _ = writeln!(text, "write_block_size = \"{}\"", mix(&model.writes));
    }
    let _ = writeln!(text, "read = \"{}\"", share(reads, reads + trace.writes));
    if trace.trims > 0 {
        let _ = writeln!(text, "trim = \"{}\"", share(trace.trims, trace.requests()));
    }
    if model.spots.is_empty() {
        text.push_str("access = \"random\"\n");
    } else {
        let percent = |part: f64| part * 100.0;
        // Down, so that all of them are never more than all.
        let down = |part: f64| (percent(part) * 1e3).floor() / 1e3;
        let spots: Vec<String> = model
            .spots
            .iter()
            .map(|spot| format!("{}%:{}%", down(spot.requests), down(spot.space).max(0.001)))
            .collect();
        let _ = writeln!(text, "access = \"hot-spot\"\nhot_spots = \"{}\"", spots.join(", "));
    }
    let random = trace.requests() - trace.sequential;
    let _ = writeln!(text, "random = \"{}\"", share(random, trace.requests()));
    let _ = writeln!(text, "align = {}", trace.align);
    if let Some(rate) = model.rate {
        match model.levels.is_empty() {
            true => drop(writeln!(text, "rate = \"{:.3} IOPS\"", rate.max(0.001))),
            false => curve(text, model),
        }
        let arrivals = if model.is_poisson { "poisson" } else { "uniform" };
        let _ = writeln!(text, "arrivals = \"{arrivals}\"");
    }
    if trace.flushes > 0 && trace.writes > 0 {
        let _ = writeln!(text, "fsync_every = {}", (trace.writes / trace.flushes).max(1));
    }
}

/// The stretches as steps of a curve, and nothing behind them.
fn curve(text: &mut String, model: &Model) {
    text.push_str("rate = [\n");
    for level in &model.levels {
        let length_ns = level.cells.saturating_mul(model.cell_ns);
        let rate = level.rate() * 1e9 / model.cell_ns.max(1) as f64;
        let rate = if level.requests > 0 { rate.max(0.001) } else { 0.0 };
        let _ = writeln!(text, "  {{to = \"{rate:.3} IOPS\"}}, {{hold = \"{length_ns}ns\"}},");
    }
    text.push_str("  {to = 0},\n]\n");
}

/// `4096:70, 65536:30`, in weights that a suite takes.
fn mix(parts: &[(u32, u64)]) -> String {
    let total: u128 = parts.iter().map(|(_, count)| u128::from(*count)).sum();
    let weight = |count: u64| (u128::from(count) * 1_000_000 / total.max(1)).max(1);
    let part = |(size, count): &(u32, u64)| format!("{size}:{}", weight(*count));
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// As a percentage; never all or none where it is neither.
fn share(some: u64, of: u64) -> String {
    let ppm = (u128::from(some) * 1_000_000 / u128::from(of.max(1))) as u32;
    let ppm = match (some, of) {
        (0, _) => 0,
        (some, of) if some == of => 1_000_000,
        _ => ppm.clamp(1, 999_999),
    };
    format!("{}%", f64::from(ppm) / 1e4)
}

/// A comment of one line that nothing ends.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { '?' } else { c }).take(200).collect()
}
