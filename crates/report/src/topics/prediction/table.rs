//! A calibration as tables for the terminal.

use super::{Calibrated, interval, left_open, left_out_lines, owners, parameter, value};
use crate::ground::words;
use crate::pens::terminal::{self as columns, Column};
use crate::topics::published::figure;
use analysis::prediction::calibration::{Calibration, Found, Judged};
use analysis::prediction::follow::Followed;
use analysis::prediction::load::Load;
use model::{Object, Percent};

/// Rows stray for a reason, and not by chance, where their repetitions have this share of the
/// variance in common.
const MOSTLY: f64 = 0.5;
/// A spread below this is as good as any model.
const NOTABLE: f64 = 0.05;

/// Held-out rows, fitted rows, parameters and remarks.
pub fn calibration(calibrated: &Calibrated<'_>) -> String {
    let calibration = calibrated.calibration;
    let mut text = format!(
        "{}, fitted to {} of {}\n",
        calibrated.testbed,
        words::counted(calibration.fitted.len() as u64, "row"),
        calibrated.source
    );
    if !calibration.held_out.is_empty() {
        text.push_str(&format!("\nHeld out\n{}", columns::render(&rows(&calibration.held_out))));
    }
    text.push_str(&format!("\nFitted\n{}", columns::render(&rows(&calibration.fitted))));
    if !calibrated.followed.is_empty() {
        let table = columns::render(&followed(calibrated.followed));
        text.push_str(&format!("\nWhat follows\n{table}"));
    }
    text.push_str(&format!("\nParameters\n{}\n", columns::render(&parameters(calibration))));
    for line in remarks(calibrated) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn rows(judged: &[Judged]) -> Vec<Column> {
    let mut table = vec![Column::figures("#"), Column::names("row")];
    table.extend(["measured", "predicted", "90 % interval", "error"].map(Column::figures));
    table.push(Column::names("binds"));
    for one in judged {
        let mark = match (one.is_extrapolated(), one.outlies) {
            (false, true) => " (outlies)",
            (is_extrapolated, _) => super::mark(is_extrapolated, one.is_wide()),
        };
        let cells = [
            one.row.number.to_string(),
            one.row.name.clone(),
            words::iops(one.row.rate),
            words::iops(one.predicted.value),
            interval(one.predicted),
            format!("{:+.1} %", one.error() * 100.0),
            format!("{}{mark}", owners(&one.binding)),
        ];
        columns::row(&mut table, cells);
    }
    table
}

/// Published figures that follow from predicted rates.
fn followed(all: &[Followed]) -> Vec<Column> {
    let mut table = vec![Column::names("figure")];
    table.extend(["published", "predicted", "90 % interval", "error"].map(Column::figures));
    table.push(Column::names(""));
    for one in all {
        let of = |value: f64| figure(one.figure.quantity, value);
        let published = match one.figure.up_to {
            Some(to) => format!("{} to {}", of(one.figure.published), of(to)),
            None => of(one.figure.published),
        };
        let error = 100.0 * one.error();
        let unit = if one.figure.quantity.is_share() { "points" } else { "%" };
        let mark = if one.is_fitted {
            "fitted"
        } else {
            super::mark(one.is_extrapolated, one.is_wide).trim_start()
        };
        let cells = [
            one.figure.name.clone(),
            published,
            of(one.predicted.value),
            format!("{} to {}", of(one.predicted.low), of(one.predicted.high)),
            format!("{error:+.1} {unit}"),
            mark.to_owned(),
        ];
        columns::row(&mut table, cells);
    }
    table
}

fn parameters(calibration: &Calibration) -> Vec<Column> {
    let mut table = vec![Column::names("parameter")];
    table.extend(["value", "90 % interval", "class estimate"].map(Column::figures));
    table.push(Column::names("identified by"));
    for found in &calibration.parameters {
        let of = |amount: f64| value(found.parameter, amount);
        let range = format!("{} to {}", of(found.range.low), of(found.range.high));
        let (range, before) = if found.is_known {
            ("–".to_owned(), "–".to_owned())
        } else {
            (range, of(found.before))
        };
        let cells = [
            parameter(found.parameter).to_owned(),
            of(found.range.value),
            range,
            before,
            identified(calibration, found),
        ];
        columns::row(&mut table, cells);
    }
    table
}

fn identified(calibration: &Calibration, found: &Found) -> String {
    if found.is_known {
        return "given by the testbed".to_owned();
    }
    if found.identified_by.is_empty() {
        return "no row".to_owned();
    }
    let number = |index: &usize| calibration.fitted.get(*index).map(|one| one.row.number);
    let numbers: Vec<String> =
        found.identified_by.iter().filter_map(number).map(|one| one.to_string()).collect();
    format!("row {}", numbers.join(", "))
}

fn remarks(calibrated: &Calibrated<'_>) -> Vec<String> {
    let calibration = calibrated.calibration;
    let mut remarks = Vec::new();
    let held = &calibration.held_out;
    if !held.is_empty() {
        let near = held.iter().filter(|one| one.error().abs() <= 0.2).count();
        let covered = held.iter().filter(|one| one.is_covered()).count();
        let worst = held.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
        remarks.push(format!(
            "Held out: {near} of {} rows within 20 %, {covered} within their interval{}.",
            held.len(),
            worst.map_or_else(String::new, |one| format!(
                "; the worst error is {:+.1} %",
                one.error() * 100.0
            ))
        ));
    }
    let extrapolated = held.iter().filter(|one| one.is_extrapolated());
    remarks.extend(
        extrapolated.map(|one| {
            format!("Extrapolated: row {}; {}.", one.row.number, left_open(&one.unseen))
        }),
    );
    let wide = held.iter().filter(|one| one.is_wide()).count();
    remarks.extend(super::wide(wide, held.len()));
    let outlying = calibration.fitted.iter().filter(|one| one.outlies);
    remarks.extend(
        outlying.map(|one| {
            format!("Row {} outlies: the other rows and it do not agree.", one.row.number)
        }),
    );
    let is_open = |found: &&Found| !found.is_known && found.identified_by.is_empty();
    let open: Vec<&str> = calibration
        .parameters
        .iter()
        .filter(is_open)
        .map(|found| parameter(found.parameter))
        .collect();
    if !open.is_empty() {
        remarks.push(format!(
            "No row identified {}: the value is close to the class estimate.",
            open.join(", ")
        ));
    }
    if !calibration.proposed.is_empty() {
        remarks
            .push("Most informative runs, on all hosts (-t DIRECTORY, --hosts NAMES):".to_owned());
        // One run of whole files has all of their operations.
        let mut commands: Vec<String> = Vec::new();
        for command in calibration.proposed.iter().map(command) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        remarks.extend(commands.iter().map(|command| format!("  {command}")));
    }
    remarks.push(format!(
        "Rows stray by {} from the model, with {:.1} degrees of freedom.",
        words::share(calibration.fit.spread),
        calibration.fit.freedom
    ));
    if calibration.fit.alike > MOSTLY && calibration.fit.spread > NOTABLE {
        remarks.push(
            "Repetitions agree far better, so this is not chance: check what the testbed says of \
             cores, lanes and drives."
                .to_owned(),
        );
    }
    remarks.extend(left_out_lines(calibrated.left_out));
    remarks
}

/// What somebody types to measure a load, but for the target and the hosts.
pub(super) fn command(load: &Load) -> String {
    let workload = &load.workload;
    let workers = load.outstanding.div_ceil(u64::from(load.hosts.max(1)));
    match load.object {
        Object::Blocks => {}
        Object::SharedFile => {
            return format!(
                "plimsoll run ior-n-to-1 --set block_size={:.0} --set sweep.workers={workers}",
                workload.bytes()
            );
        }
        Object::Files(_) => {
            return format!(
                "plimsoll run mdtest-4k --set tree.size={:.0} --set sweep.workers={workers}",
                workload.bytes()
            );
        }
    }
    let way = match (workload.random >= 0.5, workload.read) {
        (true, Percent::ALL) => "randread",
        (true, Percent::ZERO) => "randwrite",
        (true, _) => "randrw",
        (false, Percent::ALL) => "read",
        (false, Percent::ZERO) => "write",
        (false, _) => "rw",
    };
    let hosts = u64::from(load.hosts.max(1));
    let size = match workload.footprint {
        Some(bytes) => format!(" --size {}MiB", ((bytes.0 / hosts) >> 20).max(1)),
        None => String::new(),
    };
    format!(
        "plimsoll run --rw {way} --bs {}k --iodepth {}{size}",
        (workload.bytes() / 1024.0).round().max(1.0),
        workers
    )
}
