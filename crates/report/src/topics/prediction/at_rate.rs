//! Loads whose rate is given, as a table and as objects.

use super::{interval, mark, owners, seconds};
use crate::ground::columns::{self, Column};
use crate::ground::words;
use analysis::prediction::given_rate::{AtRate, Wait};

/// Whether each is carried, and how long its requests take.
pub(super) fn table(all: &[AtRate]) -> String {
    let mut table = vec![Column::names("workload")];
    table.extend(
        ["asked", "at most", "90 % interval", "carried with", "mean latency"].map(Column::figures),
    );
    table.push(Column::names("binds"));
    for one in all {
        let cells = [
            one.paced.name.clone(),
            words::iops(one.paced.rate),
            words::iops(one.most.value),
            interval(one.most),
            format!("{:.0} %", 100.0 * one.carried),
            wait(one.latency_s),
            format!("{}{}", owners(&one.binding), mark(one.is_extrapolated(), one.is_wide())),
        ];
        columns::row(&mut table, cells);
    }
    columns::render(&table)
}

/// `1.2 ms (900 µs to 2 ms)`.
fn wait(wait: Wait) -> String {
    let or = |time_s: Option<f64>, never: &str| time_s.map_or_else(|| never.to_owned(), seconds);
    let value = or(wait.value, "falls behind");
    match wait.low {
        Some(_) => {
            format!("{value} ({} to {})", or(wait.low, "no end"), or(wait.high, "no end"))
        }
        None => value,
    }
}
