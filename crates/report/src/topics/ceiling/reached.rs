//! A run's results as shares of the testbed's ceiling: a section of the report.

use super::{figure, layer};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::words;
use analysis::ceiling::Reached;

/// The section; nothing where nothing was measured.
pub fn section(name: &str, reached: &[Reached]) -> Markup {
    if reached.is_empty() {
        return Markup::new();
    }
    let head = ["Workload", "Reached", "Ceiling", "Share", "What binds", "What would be next"];
    let head: Markup = head.iter().map(|word| element("th", &[("scope", "col")], *word)).collect();
    let rows: Markup = reached.iter().map(row).collect();
    let caption = plain(
        "caption",
        "Reads and writes of a workload together. Workloads that ran at the same time are each \
         judged as if alone.",
    );
    let table =
        element("table", &[], [caption, plain("thead", plain("tr", head)), plain("tbody", rows)]);
    plain(
        "section",
        [plain("h2", format!("Share of the ceiling of {name}")), classed("div", "scroll", table)],
    )
}

/// What was reached of each ceiling, the layer that binds and the one that would be next, a line
/// for each workload of a terminal.
pub fn lines(reached: &[Reached]) -> Vec<String> {
    reached.iter().map(line).collect()
}

fn line(reached: &Reached) -> String {
    let (workload, name) = (&reached.ceiling.workload, name(reached));
    let (Some(binding), Some(share)) = (reached.ceiling.binding(), reached.share()) else {
        return format!(
            "{name}: no layer of the testbed has a figure for it; give nodes.drives.model (or \
             read, write, read_iops, write_iops) or nodes.ports."
        );
    };
    let next = reached.ceiling.next().map_or_else(
        || "no other layer is known.".to_owned(),
        |next| format!("next would be {} at {}.", layer(next.layer), figure(workload, next.iops)),
    );
    let above = if reached.is_above() {
        " (above it: not all came from where the testbed says)"
    } else {
        ""
    };
    format!(
        "{name}: {}, {} of the ceiling {}{above}. What binds: {}; {next}",
        figure(workload, reached.iops),
        words::share(share),
        figure(workload, binding.iops),
        layer(binding.layer),
    )
}

fn name(reached: &Reached) -> String {
    let workload = &reached.ceiling.workload;
    match words::sweep(&reached.sweep, reached.repetition).as_str() {
        "" => workload.name.clone(),
        axes => format!("{} ({axes})", workload.name),
    }
}

fn row(reached: &Reached) -> Markup {
    let workload = &reached.ceiling.workload;
    let name = name(reached);
    let dash = || "–".to_owned();
    let limit = |limit: Option<analysis::ceiling::Limit>| {
        limit.map_or_else(dash, |limit| figure(workload, limit.iops))
    };
    let named = |limit: Option<analysis::ceiling::Limit>| {
        limit.map_or_else(dash, |limit| layer(limit.layer).to_owned())
    };
    let next = reached.ceiling.next().map_or_else(dash, |next| {
        format!("{} at {}", layer(next.layer), figure(workload, next.iops))
    });
    let cells = [
        element("th", &[("scope", "row")], name),
        plain("td", figure(workload, reached.iops)),
        plain("td", limit(reached.ceiling.binding())),
        plain("td", reached.share().map_or_else(dash, words::share)),
        plain("td", named(reached.ceiling.binding())),
        plain("td", next),
    ];
    plain("tr", cells)
}
