//! Predictions as a table for the terminal.

use super::{
    Forecasts, Simulation, interval, left_open, left_out_lines, owners, parameter, seconds,
};
use crate::ground::words;
use crate::pens::terminal::{self as columns, Column};
use analysis::prediction::basis::Basis;
use analysis::prediction::forecast::Forecast;
use analysis::prediction::given_rate::AtRate;
use analysis::prediction::load_line::LoadLine;
use analysis::prediction::network::Owner;

/// A row for each point, and the remarks.
pub fn table(forecasts: &Forecasts<'_>) -> String {
    let mut text = format!("{} on {}, predicted\n", forecasts.suite, forecasts.testbed);
    if !forecasts.forecasts.is_empty() {
        text.push_str(&format!("\n{}", columns::render(&rows(forecasts))));
    }
    if !forecasts.at_rates.is_empty() {
        text.push_str(&format!("\nAt a given rate\n{}", super::at_rate::table(forecasts.at_rates)));
    }
    if !forecasts.what_ifs.is_empty() {
        text.push_str(&format!("\nWhat if\n{}", columns::render(&what_ifs(forecasts))));
    }
    if let Some(lines) = forecasts.lines {
        let objective = forecasts.objective.as_deref().unwrap_or_default();
        text.push_str(&format!(
            "\nLoad line: {objective}\n{}",
            columns::render(&load_lines(forecasts.forecasts, lines))
        ));
    }
    if let Some(simulated) = forecasts.simulated {
        text.push_str(&format!(
            "\nAnalysis and simulation\n{}",
            columns::render(&simulations(forecasts.forecasts, simulated))
        ));
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
        let bytes = one.load.bytes();
        let latency = one.latency_s();
        let mark = super::mark(one.is_extrapolated(), one.is_wide());
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
            let mark = super::mark(other.is_extrapolated(), other.is_wide());
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

fn load_lines(forecasts: &[Forecast], lines: &[LoadLine]) -> Vec<Column> {
    let mut table = vec![Column::names("workload")];
    table.extend(["IOPS", "90 % interval", "outstanding"].map(Column::figures));
    table.push(Column::names("one request alone"));
    for (one, line) in forecasts.iter().zip(lines) {
        let cells = match line {
            LoadLine::At { rate, outstanding } => [
                one.name.clone(),
                words::iops(rate.value),
                interval(*rate),
                format!("{outstanding:.0}"),
                "keeps it".to_owned(),
            ],
            LoadLine::Nowhere { alone_s } => [
                one.name.clone(),
                "no rate".to_owned(),
                "–".to_owned(),
                "–".to_owned(),
                format!("takes {}", seconds(*alone_s)),
            ],
        };
        columns::row(&mut table, cells);
    }
    table
}

/// Simulated ÷ predicted − 1, where both are there.
pub(super) fn difference(predicted: f64, simulated: f64) -> f64 {
    simulated / predicted.max(1e-12) - 1.0
}

fn simulations(forecasts: &[Forecast], simulated: &[Result<Simulation, String>]) -> Vec<Column> {
    let mut table = vec![Column::names("workload")];
    table.extend(["analysis", "simulation", "difference"].map(Column::figures));
    for (one, found) in forecasts.iter().zip(simulated) {
        let none = || "–".to_owned();
        let share = |found: &Simulation| {
            format!("{:+.1} %", 100.0 * difference(one.rate.value, found.rate))
        };
        let cells = [
            one.name.clone(),
            words::iops(one.rate.value),
            found.as_ref().map_or_else(|_| none(), |found| words::iops(found.rate)),
            found.as_ref().map_or_else(|_| none(), share),
        ];
        columns::row(&mut table, cells);
    }
    table
}

/// The greatest difference between analysis and simulation, and why some row has none.
fn of_simulations(forecasts: &[Forecast], simulated: &[Result<Simulation, String>]) -> Vec<String> {
    let mut lines = Vec::new();
    let differences = forecasts.iter().zip(simulated).filter_map(|(one, found)| {
        Some((difference(one.rate.value, found.as_ref().ok()?.rate), &one.name))
    });
    let most = differences.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    if let Some((most, name)) = most {
        lines.push(format!(
            "Analysis and simulation differ by {:+.1} % at most: {name}.",
            100.0 * most
        ));
    }
    if let Some(why) = simulated.iter().find_map(|found| found.as_ref().err()) {
        lines.push(format!("Not simulated: {why}."));
    }
    lines
}

/// Which rows are marked, those of another cluster among them, and for want of what.
fn not_sure(forecasts: &[Forecast], at_rates: &[AtRate]) -> Vec<String> {
    let mut rows: Vec<(&[Owner], bool)> =
        at_rates.iter().map(|one| (&one.most.unseen[..], one.most.is_wide())).collect();
    for one in forecasts {
        rows.push((&one.unseen, one.is_wide()));
        rows.extend(one.what_ifs.iter().map(|other| (&other.unseen[..], other.is_wide())));
    }
    let mut remarks = Vec::new();
    let unseen: Vec<&[Owner]> =
        rows.iter().map(|(unseen, _)| *unseen).filter(|unseen| !unseen.is_empty()).collect();
    if !unseen.is_empty() {
        let mut open: Vec<Owner> = Vec::new();
        for owner in unseen.iter().copied().flatten() {
            if !open.contains(owner) {
                open.push(*owner);
            }
        }
        remarks.push(format!(
            "Extrapolated: {} of {} rows; {}.",
            unseen.len(),
            rows.len(),
            left_open(&open)
        ));
    }
    let wide = rows.iter().filter(|(_, is_wide)| *is_wide).count();
    remarks.extend(super::wide(wide, rows.len()));
    remarks
}

/// What figures rest on where no row was fitted.
fn unfitted(basis: &Basis) -> String {
    let Basis { given, fitted, estimated } = basis;
    let names = || estimated.iter().map(|one| parameter(*one)).collect::<Vec<_>>().join(", ");
    if !fitted.is_empty() {
        let mut text =
            "The testbed has [fitted], but no row that it was fitted to: figures rest on \
                        its values, and intervals on class estimates."
                .to_owned();
        if !estimated.is_empty() {
            text.push_str(&format!(" Class estimates stand for {}.", names()));
        }
        return text;
    }
    match (given.is_empty(), estimated.is_empty()) {
        (true, _) => "The testbed is not fitted: every figure rests on class estimates.".to_owned(),
        (false, true) => "The testbed is not fitted: every figure rests on [software]. How far a \
                          measurement strays from it is assumed."
            .to_owned(),
        (false, false) => format!(
            "The testbed is not fitted: class estimates stand for {}; [software] gives the rest.",
            names()
        ),
    }
}

fn remarks(forecasts: &Forecasts<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    match forecasts.fitted_rows {
        0 => remarks.push(format!(
            "{} Fit it: `{}`.",
            unfitted(&forecasts.basis),
            forecasts.calibrate
        )),
        rows => remarks.push(format!(
            "Fitted to {}; one further measurement lies in its interval with 90 %.",
            words::counted(rows as u64, "row")
        )),
    }
    if forecasts.fitted_rows > 0 {
        remarks.extend(not_sure(forecasts.forecasts, forecasts.at_rates));
    }
    if let Some(simulated) = forecasts.simulated {
        remarks.extend(of_simulations(forecasts.forecasts, simulated));
    }
    remarks.extend(left_out_lines(forecasts.left_out));
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::prediction::parameter::Parameter;

    #[test]
    fn what_rows_say_too_little_of_is_told_from_what_they_cannot_say() {
        use analysis::prediction::network::Beyond;
        let (open, beyond) = (Owner::Parameter(Parameter::Read), Owner::Beyond(Beyond::Sizes));
        assert_eq!(left_open(&[open]), "fitted rows leave software per read open");
        assert_eq!(left_open(&[beyond]), "not predicted: sizes that differ");
        assert_eq!(
            left_open(&[beyond, open]),
            "fitted rows leave software per read open; not predicted: sizes that differ"
        );
    }

    #[test]
    fn an_unfitted_testbed_is_said_to_rest_on_what_it_rests_on() {
        let of = |given: &[Parameter], fitted: &[Parameter], estimated: &[Parameter]| {
            unfitted(&Basis {
                given: given.to_vec(),
                fitted: fitted.to_vec(),
                estimated: estimated.to_vec(),
            })
        };
        let (read, write) = ([Parameter::Read], [Parameter::Write]);
        assert!(of(&[], &[], &read).contains("every figure rests on class estimates"));
        let given = of(&read, &[], &[]);
        assert!(given.contains("rests on [software]") && !given.contains("class"), "{given}");
        let some = of(&read, &[], &write);
        assert!(some.contains("class estimates stand for software per write;"), "{some}");
        let fitted = of(&[], &read, &[]);
        assert!(fitted.contains("figures rest on its values"), "{fitted}");
        assert!(!fitted.contains("every figure") && !fitted.contains("stand for"), "{fitted}");
        let both = of(&[], &read, &write);
        assert!(both.ends_with("Class estimates stand for software per write."), "{both}");
    }
}
