//! The main job from the outside: one command, and a report that holds.

use crate::common::terminal::Pane;
use crate::common::{command, has, names, plimsoll, scratch, text};
use serde_json::Value;
use std::fs;

/// A run of the built-in smoke suite with `extra` arguments; returns its folder and its JSON.
fn smoke(extra: &[&str]) -> (tempfile::TempDir, Value) {
    let folder = scratch();
    let mut args = vec!["run", "smoke", "--json", "--out", "run.plimsoll"];
    args.extend(extra);
    let ended = plimsoll(folder.path(), &args).with_code(0);
    let json = ended.json();
    (folder, json)
}

#[test]
fn one_command_leaves_a_run_file_and_a_page_and_no_data() {
    let (folder, json) = smoke(&[]);
    assert_eq!(
        names(folder.path()),
        ["run.html", "run.plimsoll"],
        "one file to mail, one page to look at"
    );
    let prepared: Vec<&Value> = json["issued"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|t| t["stage"] == "prepare")
        .collect();
    let written = prepared.iter().find(|total| total["op"] == "write").expect("prepare writes");
    assert_eq!(written["bytes"], 64 << 20, "every byte of two files of 32 MiB");
    assert_eq!(prepared.iter().find(|total| total["op"] == "fsync").expect("and syncs")["ios"], 2);
    let rows: Vec<(&str, &str)> = json["results"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            (row["workload"].as_str().expect("a name"), row["op"].as_str().expect("an operation"))
        })
        .collect();
    let expected = [
        ("4k-random-read", "read"),
        ("8k-random-70-30", "read"),
        ("8k-random-70-30", "write"),
        ("8k-random-70-30", "all"),
        ("1m-sequential-write", "write"),
    ];
    assert_eq!(rows, expected);
    for row in json["results"].as_array().expect("a list") {
        let ios = row["ios"].as_u64().expect("a number");
        let size = [("4k", 4096), ("8k", 8192), ("1m", 1 << 20)];
        let size = size
            .iter()
            .find(|(name, _)| row["workload"].as_str().expect("a name").starts_with(name))
            .expect("known")
            .1;
        assert_eq!(row["bytes"], ios * size);
        assert!(ios > 0 && row["iops"].as_f64().expect("a rate") > 0.0);
        let latency = &row["latency_ns"];
        let rising = ["p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"]
            .map(|key| latency[key].as_u64().expect("a latency"));
        assert!(rising.is_sorted() && rising[0] > 0, "{latency}");
    }
}

#[test]
fn a_backend_that_is_left_open_is_named_for_each_workload() {
    let (_folder, json) = smoke(&["--set", "backend=\"auto\""]);
    let notes = json["notes"].as_array().expect("a list");
    let chosen: Vec<&str> = notes
        .iter()
        .filter(|note| note["code"] == "backend-chosen")
        .map(|note| note["message"].as_str().expect("words"))
        .collect();
    for workload in ["4k-random-read", "8k-random-70-30", "1m-sequential-write"] {
        let told = chosen
            .iter()
            .filter(|message| message.starts_with(&format!("{workload} (measure): auto took ")));
        assert_eq!(told.count(), 1, "{workload}: {chosen:?}");
    }
}

#[test]
fn a_recorded_run_says_the_same_at_any_time() {
    let (folder, json) = smoke(&[]);
    let here = folder.path();
    let page = fs::read(here.join("run.html")).expect("a page");
    assert_eq!(plimsoll(here, &["show", "run.plimsoll", "--json"]).with_code(0).json(), json);
    plimsoll(here, &["report", "run.plimsoll", "--out", "again.html"]).with_code(0);
    assert_eq!(
        fs::read(here.join("again.html")).expect("a page"),
        page,
        "a report is a pure function of the run file"
    );
    let table = plimsoll(here, &["show", "run.plimsoll"]).with_code(0).out;
    for word in ["workload", "IOPS", "MiB/s", "p99.9", "errors", "CPU", "8k-random-70-30"] {
        assert!(table.contains(word), "{word} is missing in\n{table}");
    }
}

#[test]
fn the_page_needs_nothing_from_anywhere() {
    let (folder, _) = smoke(&[]);
    let page = fs::read_to_string(folder.path().join("run.html")).expect("a page");
    let lower = page.to_lowercase();
    for outside in [
        "src=\"http",
        "href=\"http",
        "url(http",
        "@import",
        "<link",
        "<iframe",
        "src=\"//",
        "fetch(",
        "xmlhttprequest",
    ] {
        assert!(!lower.contains(outside), "the page asks for something outside: {outside}");
    }
    assert!(lower.contains("<svg") && lower.contains("8k-random-70-30"));
}

#[test]
fn a_run_file_that_is_there_is_refused_before_a_plan_is_shown() {
    let folder = scratch();
    fs::write(folder.path().join("run.plimsoll"), "mine").expect("writes");
    for command in [
        &["run", "smoke"][..],
        &["loadline", "smoke", "--workload", "4k-random-read", "--objective", "errors = 0"],
    ] {
        let refused =
            plimsoll(folder.path(), &[command, &["--out", "run.plimsoll"]].concat()).with_code(2);
        assert!(refused.err.contains("never overwritten; name another with --out"), "{refused:?}");
        assert!(!refused.err.contains("workload "), "no plan is shown: {refused:?}");
    }
    assert_eq!(names(folder.path()), ["run.plimsoll"]);
}

#[test]
fn a_plan_touches_nothing() {
    let folder = scratch();
    let target = folder.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    std::fs::write(target.join("theirs"), "1").expect("a file");
    let before = std::fs::metadata(&target).expect("there").modified().expect("a time");
    for more in [&[][..], &["--json"]] {
        plimsoll(folder.path(), &[&["plan", "four-corners", "-t", "data"], more].concat())
            .with_code(0);
        assert_eq!(names(&target), ["theirs"]);
        assert_eq!(names(folder.path()), ["data"], "neither a run file nor anything else");
        let after = std::fs::metadata(&target).expect("there").modified().expect("a time");
        assert_eq!(before, after, "nothing was made and removed again");
    }
    let json = plimsoll(folder.path(), &["plan", "--json"]).with_code(0).json();
    let plan: model::Plan = serde_json::from_value(json).expect("a plan");
    assert_eq!((plan.name.as_str(), plan.points.len()), ("four-corners", 7));
}

#[test]
fn the_default_suite_takes_less_than_two_minutes_of_load() {
    let folder = scratch();
    let json = plimsoll(folder.path(), &["plan", "--json"]).with_code(0).json();
    let plan: model::Plan = serde_json::from_value(json).expect("a plan");
    let (points, fixed) = (plan.points.len() as u64, plan.fixed_time());
    assert!(points >= 7 && fixed < model::Nanos::seconds(120), "{points} points take {fixed}");
    assert_eq!(fixed, model::Nanos::seconds(12 * points), "2 s before each point, and 10 s of it");
    assert_eq!(plan.stages[0].kind, model::StageKind::Prepare, "every byte is written first");
}

#[test]
fn the_quick_form_is_what_a_fio_user_types() {
    let folder = scratch();
    let line = "run --rw randrw --rwmixread 70 --bs 8k --iodepth 4 --numjobs 2 --size 8M \
                --runtime 1 data --json --quiet --keep-data";
    let args: Vec<&str> = line.split(' ').collect();
    let json = plimsoll(folder.path(), &args).with_code(0).json();
    let rows = json["results"].as_array().expect("rows");
    assert_eq!(
        rows.iter().map(|row| row["op"].as_str().expect("op")).collect::<Vec<_>>(),
        ["read", "write", "all"]
    );
    assert_eq!(
        rows[2]["ios"].as_u64(),
        Some(rows[0]["ios"].as_u64().unwrap_or(0) + rows[1]["ios"].as_u64().unwrap_or(0))
    );
    let kept = names(&folder.path().join("data"));
    assert_eq!(kept, [".plimsoll", "data-00000.bin", "data-00001.bin"], "--keep-data keeps them");
    for file in &kept[1..] {
        assert_eq!(
            fs::metadata(folder.path().join("data").join(file)).expect("a file").len(),
            8 << 20
        );
    }
    plimsoll(folder.path(), &["clean", "data"]).with_code(0);
    assert!(!folder.path().join("data").exists(), "clean leaves nothing of ours");
}

#[test]
fn a_terminal_shows_results_in_colour_and_no_escape_as_text() {
    if !has("results in a terminal", &["tmux"]) {
        return;
    }
    let (folder, _) = smoke(&[]);
    let pane = Pane::start(folder.path(), 140, 40, &["show", "run.plimsoll"]);
    let shown = pane.wait_for("its end", |shown| shown.contains("code 0"));
    assert!(!shown.contains("[1m") && !shown.contains('\u{fffd}'), "{shown}");
    let head = |line: &&str| line.contains("workload") && line.contains("IOPS");
    let coloured = pane.shown_with_colours();
    let head = coloured.lines().find(head).expect("a head");
    assert!(head.contains("\u{1b}[1m"), "{head:?}");
}

#[test]
fn a_scaled_run_says_that_it_is_one() {
    let (_folder, json) = smoke(&["--scale", "1/10"]);
    assert_eq!(json["scale"], "1/10");
    for row in json["results"].as_array().expect("rows") {
        let codes: Vec<&str> = row["warnings"]
            .as_array()
            .expect("warnings")
            .iter()
            .filter_map(|w| w["code"].as_str())
            .collect();
        assert!(codes.contains(&"scaled"), "{codes:?}");
    }
}

#[test]
fn buffered_in_memory_is_marked() {
    let (_folder, json) = smoke(&["--buffered", "--set", "layout.size=1MiB"]);
    let warnings = json["results"][0]["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|warning| warning["code"] == "fits-in-memory"), "{warnings:?}");
}

#[test]
fn what_exists_is_read_and_stays_as_it_was() {
    let folder = scratch();
    let file = folder.path().join("theirs.bin");
    let content: Vec<u8> = (0..(4 << 20)).map(|n: u32| (n % 251) as u8).collect();
    fs::write(&file, &content).expect("a file");
    // Older than the content, so that even a file system with `relatime` would renew it.
    let long_ago =
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::open(&file)
        .and_then(|file| file.set_times(fs::FileTimes::new().set_accessed(long_ago)))
        .expect("a time");
    let times = || {
        fs::metadata(&file)
            .and_then(|meta| Ok((meta.modified()?, meta.accessed()?)))
            .expect("times")
    };
    let before = times();
    let out = folder.path().join("x.plimsoll");
    let args = [
        "run",
        "smoke",
        "--existing",
        "--target",
        text(&file),
        "--set",
        "layout.size=4MiB",
        "--json",
        "--out",
        text(&out),
    ];
    let json = plimsoll(folder.path(), &args).with_code(0).json();
    assert_eq!(times(), before);
    assert_eq!(fs::read(&file).expect("still there"), content);
    assert!(json["issued"].as_array().expect("a list").iter().all(|total| total["op"] == "read"));
    let workloads: Vec<&str> = json["results"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|r| r["workload"].as_str())
        .collect();
    assert_eq!(workloads, ["4k-random-read"], "workloads that write are left out");
}

#[test]
fn a_reader_of_standard_error_who_has_left_ends_nothing() {
    let folder = scratch();
    for args in [&["man", "--directory", "man"][..], &["run", "smoke", "--out", "run.plimsoll"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let status = command(folder.path(), args).stderr(writer).status().expect("starts");
        assert_eq!(status.code(), Some(0), "{args:?}");
    }
    assert_eq!(names(folder.path()), ["man", "run.html", "run.plimsoll"]);
}

#[test]
fn completions_manual_suites_and_reference_are_there() {
    let folder = scratch();
    let told = |args: &[&str]| plimsoll(folder.path(), args).with_code(0).out;
    for shell in ["bash", "zsh", "fish"] {
        assert!(told(&["completions", shell]).contains("destroy-data"), "{shell}");
    }
    assert!(told(&["man"]).contains(".TH plimsoll"));
    assert!(told(&["suites"]).contains("four-corners"));
    assert!(told(&["suites", "smoke"]).contains("[[workload]]"));
    assert!(told(&["suites", "--reference"]).contains("`block_size`"));
    assert!(told(&["run", "--help"]).contains("--destroy-data"));
}

#[test]
fn the_command_of_a_page_runs_the_same_again() {
    let folder = scratch();
    let suite = crate::common::random_suite("mine");
    fs::write(folder.path().join("my suite.toml"), &suite).expect("written");
    let line = [
        "run",
        "my suite.toml",
        "--target",
        "my data",
        "--set",
        "measure=200ms",
        "--out",
        "run.plimsoll",
        "-q",
    ];
    plimsoll(folder.path(), &line).with_code(0);
    assert_eq!(
        plimsoll(folder.path(), &["show", "run.plimsoll", "--suite"]).with_code(0).out,
        suite
    );

    let page = fs::read_to_string(folder.path().join("run.html")).expect("a page");
    let start = page.find("plimsoll run ").expect("a command");
    let told: String = page[start..].chars().take_while(|c| *c != '<').collect();
    let told = told.replace("&#39;", "'").replace("&quot;", "\"");
    assert_eq!(
        told.trim_end(),
        "plimsoll run '--target=my data' --set=measure=200ms 'my suite.toml'"
    );
    let again = format!(
        "{} --out again.plimsoll --json --quiet",
        told.trim_end().replacen("plimsoll", crate::common::PLIMSOLL, 1)
    );
    let ended =
        std::process::Command::new("sh").args(["-c", &again]).current_dir(folder.path()).output();
    let json = crate::common::Ended::from(ended.expect("a shell")).with_code(0).json();
    assert_eq!((&json["suite"], &json["state"]), (&"mine".into(), &"complete".into()));
}
