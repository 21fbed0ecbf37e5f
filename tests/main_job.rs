//! The main job from the outside: one command, and a report that holds.

use crate::common::terminal::Pane;
use crate::common::{Folder, Json, Words, command, has, names, plimsoll, scratch, shown};
use serde_json::Value;
use std::fs;
use std::path::Path;

const OUT: &str = "--out run.plimsoll";

/// A run of the built-in smoke suite with `extra` arguments; returns its folder and its JSON.
fn smoke(extra: impl Words) -> (Folder, Value) {
    let folder = scratch();
    let json = plimsoll(&folder, ("run smoke --json", OUT, extra)).with_code(0).json();
    (folder, json)
}

#[test]
fn one_command_leaves_a_run_file_and_a_page_and_no_data() {
    let (here, json) = smoke("--set backend=\"auto\"");
    assert_eq!(names(&here), ["run.html", "run.plimsoll"], "one file to mail, one page to look at");
    prepared_and_measured(&json);
    each_workload_names_its_backend(&json);
    it_says_the_same_at_any_time(&here, &json);
    the_page_needs_nothing_from_anywhere(&here);
    a_terminal_shows_colour_and_no_escape_as_text(&here);
}

fn prepared_and_measured(json: &Value) {
    let prepared = |op: &str| {
        let mut issued = json["issued"].list().iter();
        issued.find(|total| total["stage"] == "prepare" && total["op"] == op).expect("issued")
    };
    assert_eq!(prepared("write")["bytes"], 64 << 20, "every byte of two files of 32 MiB");
    assert_eq!(prepared("fsync")["ios"], 2);
    let expected = [
        ("4k-random-read", "read", 4096),
        ("8k-random-70-30", "read", 8192),
        ("8k-random-70-30", "write", 8192),
        ("8k-random-70-30", "all", 8192),
        ("1m-sequential-write", "write", 1 << 20),
    ];
    let rows = json["results"].list();
    assert_eq!(rows.len(), expected.len());
    for (row, (workload, op, size)) in rows.iter().zip(expected) {
        assert_eq!((row["workload"].text(), row["op"].text()), (workload, op));
        let ios = row["ios"].count();
        assert_eq!(row["bytes"], ios * size);
        assert!(ios > 0 && row["iops"].number() > 0.0);
        let latency = &row["latency_ns"];
        let rising =
            ["p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"].map(|key| latency[key].count());
        assert!(rising.is_sorted() && rising[0] > 0, "{latency}");
    }
}

fn each_workload_names_its_backend(json: &Value) {
    let chosen = json["notes"].list().iter().filter(|note| note["code"] == "backend-chosen");
    let chosen: Vec<&str> = chosen.map(|note| note["message"].text()).collect();
    for workload in ["4k-random-read", "8k-random-70-30", "1m-sequential-write"] {
        let begin = format!("{workload} (measure): auto took ");
        let told = chosen.iter().filter(|message| message.starts_with(&begin));
        assert_eq!(told.count(), 1, "{workload}: {chosen:?}");
    }
}

fn it_says_the_same_at_any_time(here: &Path, json: &Value) {
    assert_eq!(shown(here), *json);
    plimsoll(here, "report run.plimsoll --out again.html").with_code(0);
    let [page, again] =
        ["run.html", "again.html"].map(|page| fs::read(here.join(page)).expect("a page"));
    assert_eq!(again, page, "a report is a pure function of the run file");
    let table = plimsoll(here, "show run.plimsoll").with_code(0).out;
    for word in ["workload", "IOPS", "MiB/s", "p99.9", "errors", "CPU", "8k-random-70-30"] {
        assert!(table.contains(word), "{word} is missing in\n{table}");
    }
}

fn the_page_needs_nothing_from_anywhere(here: &Path) {
    let page = fs::read_to_string(here.join("run.html")).expect("a page").to_lowercase();
    for outside in [
        "src=\"http", "href=\"http", "url(http", "@import", "<link", "<iframe", "src=\"//",
        "fetch(", "xmlhttprequest",
    ] {
        assert!(!page.contains(outside), "the page asks for something outside: {outside}");
    }
    assert!(page.contains("<svg") && page.contains("8k-random-70-30"));
}

fn a_terminal_shows_colour_and_no_escape_as_text(here: &Path) {
    let true = has("results in a terminal", "tmux") else { return };
    let pane = Pane::start(here, 140, 40, "show run.plimsoll");
    let shown = pane.wait_for("its end", |shown| shown.contains("code 0"));
    assert!(!shown.contains("[1m") && !shown.contains('\u{fffd}'), "{shown}");
    let head = |line: &&str| line.contains("workload") && line.contains("IOPS");
    let coloured = pane.shown_with_colours();
    let head = coloured.lines().find(head).expect("a head");
    assert!(head.contains("\u{1b}[1m"), "{head:?}");
}

#[test]
fn a_run_file_that_is_there_is_refused_before_a_plan_is_shown() {
    let folder = scratch();
    fs::write(folder.join("run.plimsoll"), "mine").expect("writes");
    let search = ["--workload", "4k-random-read", "--objective", "errors = 0"];
    for command in [&"run smoke" as &dyn Words, &("loadline smoke", search)] {
        let refused = plimsoll(&folder, (command, OUT)).with_code(2);
        assert!(refused.err.contains("never overwritten; name another with --out"), "{refused:?}");
        assert!(!refused.err.contains("workload "), "no plan is shown: {refused:?}");
    }
    assert_eq!(names(&folder), ["run.plimsoll"]);
}

#[test]
fn a_plan_touches_nothing() {
    let folder = scratch();
    let target = folder.join("data");
    fs::create_dir(&target).expect("a folder");
    fs::write(target.join("theirs"), "1").expect("a file");
    let before = fs::metadata(&target).expect("there").modified().expect("a time");
    for more in ["", "--json"] {
        plimsoll(&folder, ("plan four-corners -t data", more)).with_code(0);
        assert_eq!(names(&target), ["theirs"]);
        assert_eq!(names(&folder), ["data"], "neither a run file nor anything else");
        let after = fs::metadata(&target).expect("there").modified().expect("a time");
        assert_eq!(before, after, "nothing was made and removed again");
    }
    let json = plimsoll(&folder, "plan --json").with_code(0).json();
    let plan: model::Plan = serde_json::from_value(json).expect("a plan");
    assert_eq!((plan.suite.as_str(), plan.points.len()), ("four-corners", 7));
    let less_than_two_minutes = model::Nanos::seconds(12 * 7);
    assert_eq!(plan.fixed_time(), less_than_two_minutes, "2 s before each point, and 10 s of it");
    assert_eq!(plan.stages[0].kind, model::StageKind::Prepare, "every byte is written first");
}

#[test]
fn the_quick_form_is_what_a_fio_user_types() {
    let folder = scratch();
    let line = "run --rw randrw --rwmixread 70 --bs 8k --iodepth 4 --numjobs 2 --size 8M \
                --runtime 1 data --json --quiet --keep-data";
    let json = plimsoll(&folder, line).with_code(0).json();
    let rows = &json["results"];
    assert_eq!(rows.texts("op"), ["read", "write", "all"]);
    assert_eq!(rows[2]["ios"].count(), rows[0]["ios"].count() + rows[1]["ios"].count());
    let kept = names(&folder.join("data"));
    assert_eq!(kept, [".plimsoll", "data-00000.bin", "data-00001.bin"], "--keep-data keeps them");
    for file in &kept[1..] {
        assert_eq!(fs::metadata(folder.join("data").join(file)).expect("a file").len(), 8 << 20);
    }
    plimsoll(&folder, "clean data").with_code(0);
    assert!(!folder.join("data").exists(), "clean leaves nothing of ours");
}

#[test]
fn a_scaled_run_says_that_it_is_one() {
    let (_folder, json) = smoke("--scale 1/10");
    assert_eq!(json["scale"], "1/10");
    for row in json["results"].list() {
        assert!(row.codes().contains(&"scaled"), "{row}");
    }
}

#[test]
fn buffered_in_memory_is_marked() {
    let (_folder, json) = smoke("--buffered --set layout.size=1MiB");
    assert!(json["results"][0].codes().contains(&"fits-in-memory"), "{json}");
}

#[test]
fn what_exists_is_read_and_stays_as_it_was() {
    let folder = scratch();
    let file = folder.join("theirs.bin");
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
    let line =
        "run smoke --existing --target theirs.bin --set layout.size=4MiB --json --out x.plimsoll";
    let json = plimsoll(&folder, line).with_code(0).json();
    assert_eq!(times(), before);
    assert_eq!(fs::read(&file).expect("still there"), content);
    assert!(json["issued"].list().iter().all(|total| total["op"] == "read"));
    let workloads: Vec<&str> = json["results"].texts("workload");
    assert_eq!(workloads, ["4k-random-read"], "workloads that write are left out");
}

#[test]
fn a_reader_of_standard_error_who_has_left_ends_nothing() {
    let folder = scratch();
    for args in ["man --directory man", "run smoke --out run.plimsoll"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let status = command(&folder, args).stderr(writer).status().expect("starts");
        assert_eq!(status.code(), Some(0), "{args:?}");
    }
    assert_eq!(names(&folder), ["man", "run.html", "run.plimsoll"]);
}

#[test]
fn completions_manual_suites_and_reference_are_there() {
    let folder = scratch();
    let told = |args: &str| plimsoll(&folder, args).with_code(0).out;
    for shell in ["bash", "zsh", "fish"] {
        assert!(told(&format!("completions {shell}")).contains("destroy-data"), "{shell}");
    }
    assert!(told("man").contains(".TH plimsoll"));
    assert!(told("suites").contains("four-corners"));
    assert!(told("suites smoke").contains("[[workload]]"));
    assert!(told("suites --reference").contains("`block_size`"));
    assert!(told("run --help").contains("--destroy-data"));
}

#[test]
fn bash_completes_testbeds_topics_and_commands() {
    let folder = scratch();
    let script = plimsoll(&folder, "completions bash").with_code(0).out;
    fs::write(folder.join("completions"), script).expect("written");
    fs::write(folder.join("vast.toml"), "").expect("written");
    let bash = r#"plimsoll() { "$PROGRAM" "$@"; }
        source ./completions
        COMP_WORDS=(plimsoll $LINE) COMP_CWORD=${#COMP_WORDS[@]}
        COMP_WORDS+=("$BEGUN")
        _plimsoll_words plimsoll "$BEGUN" "${COMP_WORDS[COMP_CWORD-1]}"
        printf "%s\n" "${COMPREPLY[@]}""#;
    let completed = |line: &str, begun: &str| {
        let mut bash_of = std::process::Command::new("bash");
        bash_of.args(["-c", bash]).current_dir(&folder).env("LINE", line).env("BEGUN", begun);
        bash_of.env("PROGRAM", command(&folder, "suites").get_program());
        String::from_utf8(bash_of.output().expect("starts").stdout).expect("text")
    };
    for line in ["ceiling", "calibrate", "run quick --simulate", "show run.plimsoll --testbed"] {
        assert_eq!(completed(line, "v"), "vsan-four-corners\nvast.toml\n", "{line}");
    }
    assert_eq!(completed("help", "l"), "loadline\nlab\nlong-runs\n");
    assert_eq!(completed("run", "q"), "quick\n");
}

#[test]
fn the_command_of_a_page_runs_the_same_again() {
    let folder = scratch();
    let suite = crate::common::random_suite("mine");
    fs::write(folder.join("my suite.toml"), &suite).expect("written");
    let line = (["run", "my suite.toml", "--target", "my data"], "--set measure=200ms -q", OUT);
    plimsoll(&folder, line).with_code(0);
    assert_eq!(plimsoll(&folder, "show run.plimsoll --suite").with_code(0).out, suite);

    let page = fs::read_to_string(folder.join("run.html")).expect("a page");
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
    let ended = std::process::Command::new("sh").args(["-c", &again]).current_dir(&folder).output();
    let json = crate::common::Ended::from(ended.expect("a shell")).with_code(0).json();
    assert_eq!((&json["suite"], &json["state"]), (&"mine".into(), &"complete".into()));
}
