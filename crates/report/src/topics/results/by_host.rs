//! What each host carried, beside the others: where there are several hosts and few enough points
//! for a picture.

use super::row::{name, style_of};
use crate::ground::chart::{Bar, Bars};
use crate::ground::markup::{Markup, classed, plain};
use crate::ground::words;
use analysis::ResultRow;
use model::Record;

/// More hosts or workloads than this are no picture any more; the run file has them.
const MOST_HOSTS: usize = 32;
/// As [`MOST_HOSTS`].
const MOST_CHARTS: usize = 8;

/// A chart of each workload, one bar for each host.
pub fn charts(record: &Record, rows: &[ResultRow]) -> Markup {
    let of_one = |rows: &&[ResultRow]| rows.first().is_some_and(|row| row.index.is_some());
    let points = || rows.chunk_by(|a, b| (a.point, a.index) == (b.point, b.index)).filter(of_one);
    let hosts = record.plan.hosts.len();
    if !(2..=MOST_HOSTS).contains(&hosts) || points().count() > MOST_CHARTS {
        return Markup::new();
    }
    let charts: Markup = points().map(|rows| chart(record, rows)).collect();
    [plain("h3", "Hosts"), classed("div", "charts", charts)].into()
}

fn chart(record: &Record, rows: &[ResultRow]) -> Markup {
    let hosts = (0..).zip(record.loaders());
    let mut bars: Vec<Bar> = hosts
        .map(|(number, host): (u32, _)| Bar {
            name: format!("{number}: {}", host.hostname),
            parts: Vec::new(),
            ceiling: None,
        })
        .collect();
    let counted = || rows.iter().filter(|row| row.is_addend());
    for row in counted() {
        for (host, rate) in analysis::host_rates(record, row) {
            if let Some(bar) = bars.get_mut(host as usize) {
                bar.parts.push((style_of(row), rate));
            }
        }
    }
    let legend = counted().map(|row| (style_of(row), row.ops.name().to_owned())).collect();
    let title =
        format!("{}: requests per second of each host", rows.first().map(name).unwrap_or_default());
    Bars { title, words: words::iops, legend, bars }.render()
}
