//! The five field reports, simulated as `plimsoll run SUITE --simulate` does it, beside what was
//! published. `PLIMSOLL_RENEW_DOCS=1` writes what was fitted to them (`reference/fitted`) and the
//! table of the guide.

use crate::common::{Json, plimsoll, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const REPORTS: [(&str, &str); 5] = [
    ("A", "azure-stack-hci"),
    ("B", "s2d-disaggregated"),
    ("C", "vsan-four-corners"),
    ("D", "hyperflex-stretched"),
    ("E", "pixstor-nvme"),
];
/// Of E, one row of each kind of load, the later one where rates fall along threads.
const FITTED: [(&str, &str); 3] = [
    ("vsan-four-corners", ""),
    ("hyperflex-stretched", ""),
    ("pixstor-nvme", "--fit 3,6,7,9,12,13,15,18,20,22"),
];
const BEGIN: &str = "<!-- written by `PLIMSOLL_RENEW_DOCS=1 whole field_reports`: begin -->\n";
const END: &str = "<!-- end -->";
/// A figure within so much of the published one counts as met.
const NEAR: f64 = 0.2;

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Holds a file to `text`, or writes it.
fn hold(path: &str, text: &str) {
    if std::env::var_os("PLIMSOLL_RENEW_DOCS").is_some() {
        fs::write(at(path), text).expect("the file can be written");
    }
    let there = fs::read_to_string(at(path)).expect("a file");
    assert!(there == text, "{path} is not what is computed; renew it:\n{text}");
}

#[test]
fn what_is_shipped_as_fitted_is_what_calibrate_finds() {
    for (name, rows) in FITTED {
        let folder = scratch();
        let fit = (["calibrate", name, "--against", name], "--json -o fitted.toml", rows);
        plimsoll(&folder, fit).with_code(0);
        let whole = fs::read_to_string(folder.path().join("fitted.toml")).expect("written");
        let described = fs::read_to_string(at(&format!("reference/testbeds/{name}.toml")));
        let described = described.expect("a testbed");
        let fitted = whole.strip_prefix(described.trim_end()).expect("behind the testbed");
        hold(&format!("reference/fitted/{name}.toml"), fitted.trim_start());
    }
}

/// The figures that `show --against --json` has of a simulated run.
fn beside(name: &str) -> Vec<Value> {
    let folder = scratch();
    let run = ("run", [name], "--simulate --out r.plimsoll --quiet");
    plimsoll(&folder, run).with_code(0);
    let shown = plimsoll(&folder, ("show r.plimsoll --json --against", [name])).with_code(0).json();
    shown["against"]["figures"].list().clone()
}

/// Whether a figure is a rate, and not what a rate beside it says in bytes.
fn is_rate(figure: &Value, all: &[Value]) -> bool {
    let is_it = |one: &Value, quantity: &str| one["quantity"] == quantity;
    let same = |one: &&Value| {
        one["workload"] == figure["workload"] && one["scenario"] == figure["scenario"]
    };
    let is_told = all.iter().filter(same).any(|one| is_it(one, "iops"));
    is_it(figure, "iops")
        || is_it(figure, "iops_per_tb")
        || is_it(figure, "bytes_per_s") && !is_told
}

/// `84.5 GB/s`, `227,242` or `5.06 M`: three digits say enough of a rate.
fn rate(figure: &Value, side: &str) -> String {
    let Some(value) = figure[side].as_f64() else { return "–".to_owned() };
    match (figure["quantity"].text(), value) {
        ("bytes_per_s", value) => format!("{:.1} GB/s", value / 1e9),
        (_, value) if value >= 1e6 => format!("{:.2} M", value / 1e6),
        (_, value) if value >= 1e4 => format!("{:.1} K", value / 1e3),
        (_, value) => format!("{value:.0}"),
    }
}

#[test]
fn every_published_rate_has_its_simulated_one_in_the_method() {
    let mut table =
        "| report | figure | published | simulated | ratio | mark |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let (mut near, mut rates) = (0, 0);
    for (letter, name) in REPORTS {
        let all = beside(name);
        let of_report: Vec<&Value> = all.iter().filter(|one| is_rate(one, &all)).collect();
        let is_near =
            |one: &&&Value| one["error"].as_f64().is_some_and(|error| error.abs() <= NEAR);
        let met = of_report.iter().filter(is_near).count();
        assert!(letter != "C" || (met >= 12 && of_report.len() == 15), "{of_report:?}");
        (near, rates) = (near + met, rates + of_report.len());
        for one in of_report {
            assert!(one["run"].is_null() || one["mark"].is_string(), "{one}");
            table += &format!(
                "| {letter} | {}, {}: {} | {} | {} | {} | {} |\n",
                one["workload"].text(),
                one["scenario"].text(),
                one["figure"].text(),
                rate(one, "published"),
                rate(one, "run"),
                one["ratio"].as_f64().map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
                one["mark"].as_str().unwrap_or("–"),
            );
        }
    }
    table += &format!("\n{near} of {rates} rates are within 20 %.\n");
    let page = "docs/method/published.md";
    let there = fs::read_to_string(at(page)).expect("the page");
    let (before, rest) = there.split_once(BEGIN).expect("the table's place");
    let (_, after) = rest.split_once(END).expect("its end");
    hold(page, &format!("{before}{BEGIN}\n{table}\n{END}{after}"));
}
