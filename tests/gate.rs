//! `plimsoll gate` on commands and simulated devices whose difference is known.

use crate::common::{Ended, Json, PLIMSOLL, Words, command, plimsoll, scratch, signal, wait_until};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

fn gate(folder: &Path, base: &str, head: &str, more: impl Words) -> Ended {
    plimsoll(folder, (["gate", "--base", base, "--head", head, "--seed", "1"], more))
}

/// A command that measures a simulated device for a second of virtual time. Each run has a seed of
/// its own: a device that answers alike to the last digit would have no noise.
fn run_on(folder: &Path, device: &str) -> String {
    let suite = "name = \"gated\"\n[layout]\nsize = \"1GiB\"\n[stages]\nprepare = \
                 false\nprecondition = \"0s\"\nmeasure = \"4s\"\n[[workload]]\nname = \
                 \"w\"\ndepth = 4\n";
    std::fs::write(folder.join("gated.toml"), suite).expect("a suite");
    format!(
        "{PLIMSOLL} run gated.toml --target sim:{device} --set seed=$(od -An -N3 -tu4 \
         /dev/urandom | tr -d ' ') --quiet --out {{out}}"
    )
}

#[test]
fn a_command_that_takes_far_longer_is_a_regression_and_the_other_way_round_an_improvement() {
    let folder = scratch();
    let (fast, slow) = ("sleep 0.01", "sleep 0.1");
    let more = "--detect 50% --budget 2m --junit gate.xml";
    let worse = gate(&folder, fast, slow, more).with_code(6);
    assert!(worse.out.starts_with("regression: command time +"), "{}", worse.out);
    let xml = std::fs::read_to_string(folder.join("gate.xml")).expect("a result");
    assert!(xml.contains("failures=\"1\" errors=\"0\"") && xml.contains("<failure"), "{xml}");
    let better = gate(&folder, slow, fast, more).with_code(0);
    assert!(better.out.starts_with("improvement: "), "{}", better.out);
}

#[test]
fn run_files_are_judged_by_their_rates_and_left_nowhere() {
    let folder = scratch();
    let base = run_on(&folder, "exponential,mean=1ms");
    let head = run_on(&folder, "exponential,mean=1300us");
    let more = "--detect 10% --json";
    let told = gate(&folder, &base, &head, more).with_code(6).json();
    let figure = &told["figures"][0];
    assert_eq!((&told["answer"], &figure["figure"]), (&"regression".into(), &"iops".into()));
    let percent = figure["percent"].number();
    assert!((-30.0..-15.0).contains(&percent), "{told}");
    let same = gate(&folder, &base, &base, more).with_code(0).json();
    assert_eq!(same["answer"], "no-change", "{same}");
    let ends: Vec<f64> = same["figures"][0]["ci"].list().iter().filter_map(Value::as_f64).collect();
    assert!(ends.len() == 2 && -10.0 < ends[0] && ends[1] < 10.0, "{same}");
    let left = std::fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(left, 1, "only the suite is left");
}

#[test]
fn recorded_runs_are_judged_and_a_folder_of_them_is_a_baseline() {
    let folder = scratch();
    std::fs::create_dir(folder.join("base")).expect("a folder");
    let record = |device: &str, out: &str| {
        let line = run_on(&folder, device).replace("{out}", out);
        let ran = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(&folder)
            .output()
            .expect("a shell");
        assert!(ran.status.success(), "{ran:?}");
    };
    for number in 0..6 {
        record("exponential,mean=1ms", &format!("base/{number}.plimsoll"));
    }
    std::fs::write(folder.join("base/other.plimsoll"), "none of ours").expect("room");
    record("exponential,mean=2ms", "slow.plimsoll");
    // One run does not tell how far runs stray: the error within it does, as in `compare`.
    let one = gate(&folder, "base/0.plimsoll", "slow.plimsoll", "--detect 10%");
    assert!([6, 9].contains(&one.code), "{one:?}");
    let head = run_on(&folder, "exponential,mean=2ms");
    let told = gate(&folder, "base", &head, "--detect 20%").with_code(6);
    assert!(told.out.starts_with("regression: w read IOPS −"), "{}", told.out);
    assert!(told.out.contains("6 runs of the base"), "{}", told.out);
    assert!(told.err.contains("left out"), "{}", told.err);
    let twice = gate(&folder, "slow.plimsoll", "slow.plimsoll", "--detect 10%");
    assert!(twice.with_code(2).err.contains("on both sides"));
}

#[test]
fn where_time_is_too_short_it_says_what_it_could_find_and_tells_the_pipeline() {
    let folder = scratch();
    let mut gate =
        command(&folder, ["gate", "--base", "sleep 0.3", "--head", "sleep 0.3", "--detect", "1%"]);
    gate.args(["--budget", "2s", "--junit", "gate.xml"]);
    gate.env("GITHUB_STEP_SUMMARY", folder.join("summary.md")).env("GITHUB_ACTIONS", "true");
    let ended = Ended::from(gate.output().expect("it starts")).with_code(9);
    assert!(ended.out.starts_with("cannot tell: "), "{}", ended.out);
    assert!(ended.err.contains("::warning title=plimsoll gate::cannot tell"), "{}", ended.err);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    assert!(read("summary.md").contains("**cannot tell: "), "{}", read("summary.md"));
    assert!(read("gate.xml").contains("errors=\"1\""), "{}", read("gate.xml"));
}

#[test]
fn a_run_that_does_not_fit_the_rest_of_the_budget_leaves_the_pairs_before_it() {
    let folder = scratch();
    let head = "if test -e once; then sleep 60; fi; touch once";
    let told = gate(&folder, "true", head, "--detect 3% --budget 2s");
    let told = told.with_code(9);
    assert!(told.out.starts_with("cannot tell: ") && told.out.contains("1 pair"), "{}", told.out);
}

#[test]
fn what_cannot_be_judged_is_refused_in_words() {
    let folder = scratch();
    std::fs::write(folder.join("notes.txt"), "words").expect("room");
    std::fs::write(folder.join("mine.xml"), "<mine/>").expect("room");
    std::fs::create_dir(folder.join("empty")).expect("a folder");
    for (base, head, more, code, words) in [
        ("true", "false", vec![], 4, "`false` ended with exit status: 1"),
        ("echo why >&2; exit 3", "true", vec![], 4, "\n  why"),
        ("true {out}", "true", vec![], 2, "write {out} in both or in none"),
        ("true {out}", "true {out}", vec![], 4, "wrote no run file"),
        ("true", "true", vec!["--metric", "p99"], 2, "timed as a whole"),
        ("none.plimsoll", "none.plimsoll", vec![], 5, "none.plimsoll"),
        ("notes.txt", "true", vec![], 2, "neither a run file nor a program"),
        ("empty", "true {out}", vec![], 2, "has 0 run files"),
        ("true", "none.plimsoll", vec![], 2, "give --head as a command"),
        ("none.plimsoll", "true", vec![], 2, "put {out} into it"),
        ("", "true", vec![], 2, "--base is empty"),
        ("true", "true", vec!["--junit", "mine.xml"], 2, "--force"),
        ("true", "true", vec!["--budget", "10ms"], 2, "--budget 10 ms is out of range"),
        ("true", "true", vec!["--detect", "0%"], 2, "write 0.1% to 500%"),
        ("sleep 60", "sleep 60", vec!["--budget", "1s"], 4, "took longer than"),
    ] {
        let detect = if more.contains(&"--detect") { "" } else { "--detect 3%" };
        let more = (detect, &more);
        let ended = gate(&folder, base, head, more).with_code(code);
        assert!(ended.err.contains(words), "{base} | {head}: {}", ended.err);
    }
    let mine = std::fs::read_to_string(folder.join("mine.xml")).expect("a file");
    assert_eq!(mine, "<mine/>", "what is not ours stays");
}

#[test]
fn a_signal_ends_the_command_and_says_what_is_known() {
    let folder = scratch();
    let line = "echo $$ >> pids; exec sleep 300";
    let mut gate = command(&folder, ["gate", "--base", line, "--head", line]);
    let child = gate
        .args(["--detect", "3%"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pids = || std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    wait_until("the command runs", || pids().ends_with('\n'));
    signal(&child, "INT");
    let ended = Ended::from(child.wait_with_output().expect("it ends")).with_code(130);
    assert!(ended.err.contains("stopped"), "{}", ended.err);
    for pid in pids().lines() {
        assert!(!Path::new("/proc").join(pid).join("exe").exists(), "{pid} still runs");
    }
}

#[test]
fn a_suite_says_what_its_runs_keep_to_and_each_condition_is_made_to_fail() {
    let folder = scratch();
    let suite = "name = \"kept\"\n[objective]\nkeep = \"p99 < 5ms, errors = 0\"\n[layout]\n\
                 size = \"64MiB\"\n[stages]\nmeasure = \"10s\"\n[[workload]]\nname = \"reads\"\n\
                 rate = 500\n";
    std::fs::write(folder.join("kept.toml"), suite).expect("room");
    let run = |more: &[&str]| {
        let words = "run kept.toml --target sim:ssd --quiet --prove";
        plimsoll(&folder, (&words, more))
    };
    let kept = run(&[]).with_code(0);
    assert!(kept.err.contains("objective p99 < 5ms, point 1: kept"), "{}", kept.err);
    assert!(kept.err.contains("proof     p99 < 5ms: fails where the figures are"), "{}", kept.err);
    assert!(kept.err.contains("proof     errors = 0: fails where"), "{}", kept.err);
    let broken = run(&["--set", "objective.keep=\"p99 < 1us\""]).with_code(6);
    assert!(broken.err.contains("point 1: broken"), "{}", broken.err);
    assert!(broken.err.contains("fails with the run as it is"), "{}", broken.err);
    let never = run(&["--set", "objective.keep=\"p50 < 10h\""]).with_code(2);
    assert!(never.err.contains("`p50 < 36000s` never fails"), "{}", never.err);
    let wrong = run(&["--set", "objective.keep=\"p99 is small\""]).with_code(2);
    assert!(wrong.err.contains("there is no <, > or = in it"), "{}", wrong.err);
    let none = plimsoll(&folder, "run smoke --prove --target sim:ssd");
    assert!(none.with_code(2).err.contains("the suite has no [objective]"));
}

#[test]
fn a_suite_says_what_a_gate_is_to_find_and_options_come_first() {
    let folder = scratch();
    let suite = "name = \"s\"\n[objective]\ndetect = \"50%\"\nbudget = \"30s\"\n\
                 [[workload]]\nname = \"w\"\n";
    std::fs::write(folder.join("s.toml"), suite).expect("room");
    let more = "--suite s.toml --json";
    let told = gate(&folder, "sleep 0.01", "sleep 0.04", more).with_code(6).json();
    assert_eq!(told["detect_percent"], 50.0, "{told}");
    let suite = "name = \"s\"\n[objective]\npower = \"10%\"\n[[workload]]\nname = \"w\"\n";
    std::fs::write(folder.join("s.toml"), suite).expect("room");
    let wrong = gate(&folder, "true", "true", more).with_code(2);
    assert!(wrong.err.contains("[objective] power is 10%; write 0.5 to 0.999"), "{}", wrong.err);
    let suite = "name = \"s\"\n[[workload]]\nname = \"w\"\n";
    std::fs::write(folder.join("s.toml"), suite).expect("room");
    let none = gate(&folder, "true", "true", more).with_code(2);
    assert!(none.err.contains("the suite has no [objective] detect"), "{}", none.err);
}
