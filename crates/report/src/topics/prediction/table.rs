//! A calibration as tables for the terminal.

use super::{
    Calibrated, interval, left_open, left_out_lines, owner_code, owners, parameter, value,
};
use crate::ground::gather::each_once;
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use crate::topics::published::figure;
use analysis::prediction::calibration::{Calibration, Found, Judged};
use analysis::prediction::follow::Followed;
use analysis::prediction::load::Load;
use analysis::prediction::network::Owner;
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
        text.push_str(&format!("\nHeld out\n{}", rows(&calibration.held_out).text()));
    }
    text.push_str(&format!("\nFitted\n{}", rows(&calibration.fitted).text()));
    if !calibrated.followed.is_empty() {
        let table = followed(calibrated.followed).text();
        text.push_str(&format!("\nWhat follows\n{table}"));
    }
    text.push_str(&format!("\nParameters\n{}\n", parameters(calibration).text()));
    for line in remarks(calibrated) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

pub(super) fn rows(judged: &[Judged]) -> Table<&Judged> {
    let mark = |one: &Judged| match (one.is_extrapolated(), one.outlies) {
        (false, true) => " (outlies)",
        (is_extrapolated, _) => super::mark(is_extrapolated, one.is_wide()),
    };
    let codes = |all: &[Owner]| each(all, |owner| owner_code(*owner));
    Table::of(judged)
        .known("number", "#", |one| one.row.number, |number| number.to_string())
        .words("row", |one| &one.row.name)
        .key("row")
        .known("published", "measured", |one| one.row.rate, words::iops)
        .known("predicted", "predicted", |one| one.predicted.value, words::iops)
        .figure("90 % interval", |one| interval(one.predicted))
        .field("low", |one| one.predicted.low)
        .field("high", |one| one.predicted.high)
        .known("error", "error", Judged::error, |error| format!("{:+.1} %", error * 100.0))
        .words("binds", |one| format!("{}{}", owners(&one.binding), mark(one)))
        .field("binding", |one| codes(&one.binding))
        .field("unseen", |one| codes(&one.unseen))
        .field("extrapolated", Judged::is_extrapolated)
        .field("wide", Judged::is_wide)
        .field("far_off", |one| one.far_off)
        .field("left_open", |one| one.left_open)
        .field("outlies", |one| one.outlies)
        .field("load", |one| load(&one.row.load))
}

pub(super) fn load(load: &Load) -> Value {
    object! {
        workload: load.workload.name, read_share: load.workload.read_share(),
        random_share: load.workload.random, mean_bytes: load.bytes(),
        footprint_bytes: load.workload.footprint.map(|bytes| bytes.0),
        remote_share: f64::from(load.remote.ppm) / 1e6, object: load.object.to_string(),
        route: load.route.word(), ..load { hosts, outstanding, depth },
    }
}

pub(super) fn followed(all: &[Followed]) -> Table<&Followed> {
    let of = |one: &Followed, value: f64| figure(one.figure.quantity, value);
    let published = |one: &Followed| match one.figure.up_to {
        Some(to) => format!("{} to {}", of(one, one.figure.published), of(one, to)),
        None => of(one, one.figure.published),
    };
    let range = |one: &Followed| {
        format!("{} to {}", of(one, one.predicted.low), of(one, one.predicted.high))
    };
    let error = |one: &Followed| {
        let unit = if one.figure.quantity.is_share() { "points" } else { "%" };
        format!("{:+.1} {unit}", 100.0 * one.error())
    };
    let mark = |one: &Followed| match one.is_fitted {
        true => "fitted",
        false => super::mark(one.is_extrapolated, one.is_wide).trim_start(),
    };
    Table::of(all)
        .words("figure", |one| &one.figure.name)
        .key("figure")
        .field("quantity", |one| one.figure.quantity.word())
        .figure("published", published)
        .field("published", |one| one.figure.published)
        .field("up_to", |one| one.figure.up_to)
        .figure("predicted", |one| of(one, one.predicted.value))
        .field("predicted", |one| one.predicted.value)
        .figure("90 % interval", range)
        .field("low", |one| one.predicted.low)
        .field("high", |one| one.predicted.high)
        .figure("error", error)
        .field("error", Followed::error)
        .words("", mark)
        .field("fitted", |one| one.is_fitted)
        .field("extrapolated", |one| one.is_extrapolated)
        .field("wide", |one| one.is_wide)
}

pub(super) fn parameters(calibration: &Calibration) -> Table<&Found> {
    let of = |found: &Found, amount: f64| value(found.parameter, amount);
    let range = |found: &Found| {
        format!("{} to {}", of(found, found.range.low), of(found, found.range.high))
    };
    let fitted = |index: &usize| Some(calibration.fitted.get(*index)?.row.name.as_str());
    Table::of(&calibration.parameters)
        .words("parameter", |found| parameter(found.parameter))
        .field("name", |found| found.parameter.key())
        .field("unit", |found| if found.parameter.is_share() { "share" } else { "s" })
        .figure("value", |found| of(found, found.range.value))
        .field("value", |found| found.range.value)
        .figure("90 % interval", |found| (!found.is_known).then(|| range(found)))
        .field("low", |found| found.range.low)
        .field("high", |found| found.range.high)
        .figure("class estimate", |found| (!found.is_known).then(|| of(found, found.before)))
        .field("class_estimate", |found| (!found.is_known).then_some(found.before))
        .field("known", |found| found.is_known)
        .words("identified by", |found| identified(calibration, found))
        .field("identified_by", |found| {
            found.identified_by.iter().filter_map(fitted).collect::<Vec<_>>()
        })
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
        let commands = each_once(calibration.proposed.iter().map(command));
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
