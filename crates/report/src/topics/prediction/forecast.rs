//! Predictions as a table for the terminal.

use super::{
    Forecasts, Simulation, interval, left_open, left_out_lines, owners, parameter, seconds,
};
use crate::ground::gather::each_once;
use crate::ground::words;
use crate::pens::Table;
use analysis::prediction::basis::Basis;
use analysis::prediction::fit::Range;
use analysis::prediction::forecast::{Forecast, Otherwise};
use analysis::prediction::given_rate::AtRate;
use analysis::prediction::load_line::LoadLine;
use analysis::prediction::network::Owner;

/// A row for each point, and the remarks.
pub fn table(forecasts: &Forecasts<'_>) -> String {
    let mut text = format!("{} on {}, predicted\n", forecasts.suite, forecasts.testbed);
    if !forecasts.forecasts.is_empty() {
        text.push_str(&format!("\n{}", rows(forecasts).text()));
    }
    if !forecasts.at_rates.is_empty() {
        text.push_str(&format!("\nAt a given rate\n{}", super::at_rate::table(forecasts.at_rates)));
    }
    if !forecasts.what_ifs.is_empty() {
        text.push_str(&format!("\nWhat if\n{}", what_ifs(forecasts).text()));
    }
    if let Some(lines) = forecasts.lines {
        let objective = forecasts.objective.as_deref().unwrap_or_default();
        text.push_str(&format!(
            "\nLoad line: {objective}\n{}",
            load_lines(forecasts.forecasts, lines).text()
        ));
    }
    if let Some(simulated) = forecasts.simulated {
        text.push_str(&format!(
            "\nAnalysis and simulation\n{}",
            simulations(forecasts.forecasts, simulated).text()
        ));
    }
    text.push('\n');
    for line in remarks(forecasts) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn rows<'a>(forecasts: &Forecasts<'a>) -> Table<&'a Forecast> {
    let latency = |one: &Forecast| {
        let Range { value, low, high } = one.latency_s();
        format!("{} ({} to {})", seconds(value), seconds(low), seconds(high))
    };
    let binds = |one: &Forecast| {
        format!("{}{}", owners(&one.binding), super::mark(one.is_extrapolated(), one.is_wide()))
    };
    Table::of(forecasts.forecasts)
        .words("workload", |one| &one.name)
        .figure("IOPS", |one| words::iops(one.rate.value))
        .figure("90 % interval", |one| interval(one.rate))
        .figure("MiB/s", |one| words::mib_per_s(one.rate.value * one.load.bytes()))
        .figure("mean latency", latency)
        .words("binds", binds)
}

fn what_ifs<'a>(forecasts: &'a Forecasts<'_>) -> Table<(&'a Forecast, &'a String, &'a Otherwise)> {
    let all = forecasts.forecasts.iter().flat_map(|one| {
        forecasts.what_ifs.iter().zip(&one.what_ifs).map(move |(name, other)| (one, name, other))
    });
    let change = |one: &Forecast, other: &Otherwise| {
        format!("{:+.0} %", (other.rate.value / one.rate.value.max(1e-12) - 1.0) * 100.0)
    };
    let mark = |other: &Otherwise| super::mark(other.is_extrapolated(), other.is_wide());
    Table::of(all)
        .words("workload", |(one, ..)| &one.name)
        .words("what if", |(_, name, _)| name)
        .figure("IOPS", |(.., other)| words::iops(other.rate.value))
        .figure("90 % interval", |(.., other)| interval(other.rate))
        .figure("change", |(one, _, other)| change(one, other))
        .words("binds", |(.., other)| format!("{}{}", owners(&other.binding), mark(other)))
}

fn load_lines<'a>(
    forecasts: &'a [Forecast],
    lines: &'a [LoadLine],
) -> Table<(&'a Forecast, &'a LoadLine)> {
    let at = |line: &LoadLine| match line {
        LoadLine::At { rate, outstanding } => Some((*rate, *outstanding)),
        LoadLine::Nowhere { .. } => None,
    };
    let rate = |line| at(line).map_or("no rate".to_owned(), |(rate, _)| words::iops(rate.value));
    let alone = |line: &LoadLine| match line {
        LoadLine::At { .. } => "keeps it".to_owned(),
        LoadLine::Nowhere { alone_s } => format!("takes {}", seconds(*alone_s)),
    };
    Table::of(forecasts.iter().zip(lines))
        .words("workload", |(one, _)| &one.name)
        .figure("IOPS", |(_, line)| rate(line))
        .figure("90 % interval", |(_, line)| at(line).map(|(rate, _)| interval(rate)))
        .figure("outstanding", |(_, line)| at(line).map(|(_, many)| format!("{many:.0}")))
        .words("one request alone", |(_, line)| alone(line))
}

/// Simulated ÷ predicted − 1, where both are there.
pub(super) fn difference(predicted: f64, simulated: f64) -> f64 {
    simulated / predicted.max(1e-12) - 1.0
}

type Simulated<'a> = (&'a Forecast, Option<&'a Simulation>);

fn simulations<'a>(
    forecasts: &'a [Forecast],
    simulated: &'a [Result<Simulation, String>],
) -> Table<Simulated<'a>> {
    let percent = |(one, found): Simulated<'_>| {
        Some(format!("{:+.1} %", 100.0 * difference(one.rate.value, found?.rate)))
    };
    Table::of(forecasts.iter().zip(simulated.iter().map(|found| found.as_ref().ok())))
        .words("workload", |(one, _)| &one.name)
        .figure("analysis", |(one, _)| words::iops(one.rate.value))
        .figure("simulation", |(_, found)| found.map(|found| words::iops(found.rate)))
        .figure("difference", percent)
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
        let open = each_once(unseen.iter().copied().flatten().copied());
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
