//! `plimsoll export` and reports in Markdown: what other programs and wikis get is what the run
//! file says.

use crate::common::{Json, names, plimsoll, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

const SUITE: &str = "name = \"tables\"\n[layout]\nsize = \"8MiB\"\n[stages]\nprecondition = \
                     \"1s\"\nmeasure = \"2s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\nrate \
                     = 500\n[sweep]\ndepth = [1, 2]\n";

/// A run on a folder of a real disk, so that the kernel counts something.
fn run(folder: &Path) {
    std::fs::write(folder.join("s.toml"), SUITE).expect("a suite");
    std::fs::create_dir(folder.join("data")).expect("a folder");
    plimsoll(folder, "run s.toml --target data --out r.plimsoll --quiet").with_code(0);
}

/// The record of such a run as `r.plimsoll`. One run does for all tests: none of them changes it.
fn record(folder: &Path) {
    static RECORD: OnceLock<Vec<u8>> = OnceLock::new();
    let record = RECORD.get_or_init(|| {
        let folder = scratch();
        run(&folder);
        std::fs::read(folder.join("r.plimsoll")).expect("a record")
    });
    std::fs::write(folder.join("r.plimsoll"), record).expect("room");
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}")).to_owned()
}

/// Lines of a simple CSV: no name of this run needs quotes.
fn lines(file: &Path) -> Vec<Vec<String>> {
    let text =
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_tables_of_a_run_agree_with_its_results_and_with_each_other() {
    let folder = &scratch();
    record(folder);
    let shown = plimsoll(folder, "show r.plimsoll --json").with_code(0).json();
    plimsoll(folder, "export r.plimsoll -o all.json").with_code(0);
    let all: Value =
        serde_json::from_slice(&std::fs::read(folder.join("all.json")).expect("a file"))
            .expect("JSON");
    let rows = |table: &str| all[table].as_array().unwrap_or_else(|| panic!("{table}")).clone();
    let results = rows("results");
    assert_eq!(results.len(), shown["results"].list().len());
    for (row, result) in results.iter().zip(shown["results"].list()) {
        assert_eq!((&row["requests"], &row["bytes"]), (&result["ios"], &result["bytes"]));
        assert_eq!(row["latency_p99_ns"], result["latency_ns"]["p99"]);
        assert_eq!(row["sweep_depth"].to_string(), text(&result["sweep"], "depth"), "a number");
    }
    // The intervals add up to the results, and belong to the right points.
    let mut sums: BTreeMap<(u64, String), u64> = BTreeMap::new();
    for row in rows("series")
        .iter()
        .filter(|row| row["stage_kind"] == "measure" && row["phase"] != "drain")
    {
        let key = (row["stage"].count(), text(row, "op"));
        *sums.entry(key).or_default() += row["requests"].count();
    }
    let parts = results.iter().filter(|row| row["op"] != "all");
    assert_eq!(parts.clone().count() * 3, results.len() * 2, "reads, writes and both together");
    let expected =
        parts.map(|row| ((row["stage"].count(), text(row, "op")), row["requests"].count()));
    assert_eq!(sums, expected.collect());
    let host =
        |row: &&Value| row["layer"] == "cpu" && row["metric"] == "user_ns" && row["is"] == "sum";
    assert!(rows("counters").iter().filter(host).count() > 2, "the kernel's counters are there");
    assert!(rows("quantiles").iter().any(|row| row["share"] == 0.9));

    plimsoll(folder, "export r.plimsoll -o t").with_code(0);
    for table in ["results", "quantiles", "series", "counters"] {
        let csv = lines(&folder.join(format!("t/{table}.csv")));
        assert_eq!(csv.len(), rows(table).len() + 1, "{table}");
        let mut names = csv[0].clone();
        names.sort();
        let known: Vec<String> =
            rows(table)[0].as_object().expect("a row").keys().cloned().collect();
        assert_eq!(names, known, "{table}");
    }
    let one = plimsoll(folder, "export r.plimsoll --table results -o -").with_code(0);
    assert_eq!(one.out, std::fs::read_to_string(folder.join("t/results.csv")).expect("a file"));
}

#[test]
fn what_is_there_stays_unless_forced() {
    let folder = &scratch();
    record(folder);
    std::fs::create_dir(folder.join("t")).expect("a folder");
    std::fs::write(folder.join("t/events.csv"), "mine").expect("room");
    let refused = plimsoll(folder, "export r.plimsoll -o t").with_code(2);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert!(!folder.join("t/results.csv").exists(), "half an export helps nobody");
    plimsoll(folder, "export r.plimsoll -o t --force").with_code(0);
    assert_ne!(std::fs::read_to_string(folder.join("t/events.csv")).expect("a file"), "mine");

    std::fs::write(folder.join("page.html"), "mine").expect("room");
    let ceiling = "ceiling hyperflex-stretched -o page.html";
    let refused = plimsoll(folder, ceiling).with_code(2);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    plimsoll(folder, (&ceiling, "--force")).with_code(0);
    plimsoll(folder, ceiling).with_code(0);
    std::fs::write(folder.join("page.html"), "mine").expect("room");
    plimsoll(folder, "report r.plimsoll -o page.html").with_code(2);
    std::fs::write(folder.join("s.toml"), SUITE).expect("a suite");
    plimsoll(folder, "run s.toml --target sim:ssd --out other.plimsoll --quiet").with_code(0);
    let refused = plimsoll(folder, "compare r.plimsoll other.plimsoll -o page.html").with_code(2);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    plimsoll(folder, "report r.plimsoll -o page.html --force").with_code(0);
    plimsoll(folder, "report r.plimsoll -o page.html").with_code(0);
}

#[test]
fn a_run_leaves_a_page_of_somebody_else_and_says_where_its_figures_are() {
    let folder = &scratch();
    std::fs::write(folder.join("r.html"), "mine").expect("room");
    run(folder);
    assert_eq!(std::fs::read_to_string(folder.join("r.html")).expect("a file"), "mine");
    plimsoll(folder, "show r.plimsoll").with_code(0);
}

#[test]
fn a_report_in_markdown_shows_charts_that_are_there() {
    let folder = &scratch();
    record(folder);
    for _ in 0..2 {
        plimsoll(folder, "report r.plimsoll -o report.md").with_code(0);
    }
    let text = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    let links: Vec<&str> = text
        .split("](<")
        .skip(1)
        .filter_map(|rest| rest.split_once(">)"))
        .map(|(link, _)| link)
        .collect();
    assert!(links.len() >= 7, "{links:?}");
    for link in &links {
        let svg = std::fs::read_to_string(folder.join(link))
            .unwrap_or_else(|error| panic!("{link}: {error}"));
        assert!(svg.contains("<svg xmlns=") && !svg.contains("var("), "{link}");
    }
    let there = std::fs::read_dir(folder.join("report-charts")).expect("a folder").count();
    assert_eq!(there, links.len());
    for word in [
        "# tables",
        "## Results",
        "## Testbed",
        "## Plan",
        "| mix | depth=1 | read |",
        "plimsoll run --target=",
    ] {
        assert!(text.contains(word), "{word} is missing");
    }
}

#[test]
fn what_is_not_written_is_refused_with_what_makes_it() {
    let folder = &scratch();
    record(folder);
    for (line, remedy) in [
        ("export r.plimsoll --format parquet", "DuckDB"),
        ("export r.plimsoll -o results.parquet", "--format csv"),
        ("report r.plimsoll -o report.md --png", "a browser prints"),
        ("report r.plimsoll -o report.png", "a browser prints"),
    ] {
        let refused = plimsoll(folder, line).with_code(2);
        assert!(refused.err.contains(remedy), "{line:?}: {}", refused.err);
    }
    assert_eq!(names(folder), ["r.plimsoll"]);
}
