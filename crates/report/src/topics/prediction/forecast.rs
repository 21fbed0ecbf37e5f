//! Predictions as a table for the terminal.

use super::{Forecasts, interval, left_out_lines, owners, seconds};
use crate::ground::columns::{self, Column};
use crate::ground::words;
use analysis::prediction::forecast::Forecast;

/// A row for each point, and the remarks.
pub fn table(forecasts: &Forecasts<'_>) -> String {
    let mut text = format!("{} on {}, predicted\n\n", forecasts.suite, forecasts.testbed);
    text.push_str(&columns::render(&rows(forecasts)));
    if !forecasts.what_ifs.is_empty() {
        text.push_str(&format!("\nWhat if\n{}", columns::render(&what_ifs(forecasts))));
    }
    text.push('\n');
    for line in remarks(forecasts) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn rows(forecasts: &Forecasts<'_>) -> Vec<Column> {
    let mut table = vec![Column::names("workload")];
    table.extend(["IOPS", "90 % interval", "MiB/s", "mean latency"].map(Column::figures));
    table.push(Column::names("binds"));
    for one in forecasts.forecasts {
        let bytes = one.load.workload.bytes();
        let latency = one.latency_s();
        let mark = if one.is_extrapolated() { " (extrapolated)" } else { "" };
        let cells = [
            one.name.clone(),
            words::iops(one.rate.value),
            interval(one.rate),
            words::mib_per_s(one.rate.value * bytes),
            format!(
                "{} ({} to {})",
                seconds(latency.value),
                seconds(latency.low),
                seconds(latency.high)
            ),
            format!("{}{mark}", owners(&one.binding)),
        ];
        columns::row(&mut table, cells);
    }
    table
}

fn what_ifs(forecasts: &Forecasts<'_>) -> Vec<Column> {
    let mut table = vec![Column::names("workload"), Column::names("what if")];
    table.extend(["IOPS", "90 % interval", "change"].map(Column::figures));
    table.push(Column::names("binds"));
    for one in forecasts.forecasts {
        for (name, other) in forecasts.what_ifs.iter().zip(&one.what_ifs) {
            let change = (other.rate.value / one.rate.value.max(1e-12) - 1.0) * 100.0;
            let mark = if other.unseen.is_empty() { "" } else { " (extrapolated)" };
            let cells = [
                one.name.clone(),
                name.clone(),
                words::iops(other.rate.value),
                interval(other.rate),
                format!("{change:+.0} %"),
                format!("{}{mark}", owners(&other.binding)),
            ];
            columns::row(&mut table, cells);
        }
    }
    table
}

fn remarks(forecasts: &Forecasts<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    match forecasts.fitted_rows {
        0 => remarks.push(
            "The testbed is not fitted: every figure rests on class estimates. `plimsoll \
             calibrate` fits it."
                .to_owned(),
        ),
        rows => remarks.push(format!(
            "Fitted to {}; one further measurement lies in its interval with 90 %.",
            words::counted(rows as u64, "row")
        )),
    }
    let unseen: Vec<&Forecast> =
        forecasts.forecasts.iter().filter(|one| one.is_extrapolated()).collect();
    if forecasts.fitted_rows > 0 && !unseen.is_empty() {
        let mut owners = Vec::new();
        for owner in unseen.iter().flat_map(|one| &one.unseen) {
            if !owners.contains(owner) {
                owners.push(*owner);
            }
        }
        remarks.push(format!(
            "Extrapolated: {} of {} rows; no fitted row is bound by {}.",
            unseen.len(),
            forecasts.forecasts.len(),
            super::owners(&owners)
        ));
    }
    remarks.extend(left_out_lines(forecasts.left_out));
    remarks
}
