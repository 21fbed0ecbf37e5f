//! Results of other tools: what they hold, what in them does not go together, and what they do not
//! hold. They are told apart from ours in every form.

pub mod beside;
pub mod json;
pub mod page;
pub mod table;

mod sentences;

pub use sentences::{NOT_QUOTABLE, doubt, lack};

use crate::ground::folding::hung;
use crate::ground::gather::each_once;
use crate::ground::moment::latency_words;
use crate::ground::words;
use analysis::foreign::Figure;
use model::foreign::{ForeignRun, GivenRow, Source, Span, Statistic};

/// A line with what it is about in front, folded for a terminal of so many columns.
fn headed(head: &str, words: &str, room: Option<usize>) -> String {
    const WIDE: usize = 100;
    hung(&format!("{head:<10}"), words, 10, room.unwrap_or(WIDE)) + "\n"
}

/// `fio-3.33 and vdbench`: the tools of a run, with their versions.
pub fn tools(run: &ForeignRun) -> String {
    each_once(run.sources.iter().map(tool)).join(" and ")
}

/// `fio-3.33`, `DiskSpd 2.1.0`.
pub fn tool(source: &Source) -> String {
    let name = source.form.tool();
    match source.tool_version.as_str() {
        "" => name.to_owned(),
        version if version.to_lowercase().starts_with(&name.to_lowercase()) => version.to_owned(),
        version => format!("{name} {version}"),
    }
}

/// `p99.9`, `mean`, `max`.
fn statistic(statistic: Statistic) -> String {
    match statistic {
        Statistic::Quantile(share) => format!("p{}", f64::from(share) / 1e7),
        other => other.kind().word().to_owned(),
    }
}

fn figure(figure: Figure) -> String {
    match figure {
        Figure::Rate => "per s".to_owned(),
        Figure::Bandwidth => "MiB/s".to_owned(),
        Figure::Latency(Span::Total, of) => statistic(of),
        Figure::Latency(span, of) => format!("{} ({})", statistic(of), span.word()),
    }
}

fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Rate => words::iops(value),
        Figure::Bandwidth => words::mib_per_s(value),
        Figure::Latency(..) => latency(value),
    }
}

/// A latency in words; what is no time of this world is a number.
fn latency(ns: f64) -> String {
    if (0.0..1e18).contains(&ns) { latency_words(ns) } else { format!("{ns:e} ns") }
}

fn row_name(row: &GivenRow) -> String {
    format!("{} {}", row.workload, row.op_name())
}
