//! `plimsoll canary` over simulated devices and a directory: segments, retention, kills, alerts.

use crate::common::{
    Ended, Json, Words, end, names, plimsoll, run, scratch, signal, start, text,
    wait_for_samples_in, wait_until,
};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const LOAD: [&str; 8] =
    ["--objective", "p99.9 < 5ms", "--rw", "randread", "--size", "64MiB", "--rate", "20"];

fn canary(folder: &Path, more: impl Words) -> Ended {
    plimsoll(folder, ("canary --dir canary", LOAD, more))
}

fn status(folder: &Path) -> Value {
    plimsoll(folder, "canary status canary --json").with_code(0).json()
}

#[test]
fn totals_stay_exact_when_run_files_go_and_nothing_of_others_goes() {
    let folder = scratch();
    let sim = "--target sim:ssd --segment 1h --segments";
    let first = canary(&folder, (&sim, "1 --json")).with_code(0);
    let line: Value = serde_json::from_str(first.out.trim()).expect("one line");
    assert_eq!((&line["kind"], &line["segment"]["requests"]), (&"segment".into(), &72_000.into()));
    let dir = folder.join("canary");
    let (theirs, notes) = (dir.join("segment-0000077.plimsoll"), dir.join("notes.txt"));
    std::fs::copy(dir.join("segment-0000001.plimsoll"), &theirs).expect("room");
    std::fs::write(&notes, "mine").expect("room");
    canary(&folder, (&sim, "3 --keep-bytes 0")).with_code(0);
    let told = status(&folder);
    assert_eq!(
        (&told["segments"], &told["files"], &told["totals"]["requests"]),
        (&4.into(), &0.into(), &288_000.into())
    );
    let counted: u64 = told["totals"]["latency_buckets_ns"]
        .list()
        .iter()
        .filter_map(|bucket| bucket[2].as_u64())
        .sum();
    assert_eq!(counted, 288_000, "the histogram has every request");
    assert_eq!(
        names(&dir),
        ["canary.ledger", "canary.lock", "notes.txt", "segment-0000077.plimsoll"]
    );
}

#[test]
fn a_killed_canary_goes_on_with_its_layout_and_loses_no_interval_that_was_recorded() {
    let folder = scratch();
    let data = folder.join("data");
    let args = ["--target", text(&data), "--set", "interval=100ms", "--segment"];
    let all = ("canary --dir canary", LOAD, &args, "10m");
    let child = start(&folder, all);
    wait_for_samples_in(&folder.join("canary/segment-0000001.plimsoll"), 1);
    let before = data.join("data-00000.bin").metadata().expect("a layout");
    signal(&child, "KILL");
    end(child);
    assert_eq!(status(&folder)["running"], 1, "nobody has read it yet");
    let again = canary(&folder, (&args, "2s --segments 1"));
    let again = again.with_code(0);
    assert!(again.err.contains("segment 1 was cut off"), "{}", again.err);
    assert!(again.out.contains("cut short") && again.out.contains("segment 2"), "{}", again.out);
    let after = data.join("data-00000.bin").metadata().expect("the layout is kept");
    assert_eq!(before.ino(), after.ino(), "the file is the same one");
    let shown = plimsoll(&folder, "show canary/segment-0000002.plimsoll --json");
    let issued = shown.with_code(0).json()["issued"].clone();
    let stages: Vec<&Value> = issued.list().iter().map(|i| &i["stage"]).collect();
    assert_eq!(stages, ["measure"], "nothing was written again");
    let told = status(&folder);
    let cut = &told["recent"][0];
    assert_eq!(
        (&told["segments"], &told["cut"], &cut["cut"]),
        (&2.into(), &1.into(), &true.into())
    );
    assert!(cut["requests"].as_u64().is_some_and(|requests| requests > 0), "{told}");
    // Another load in the same folder would mix two budgets.
    let other = plimsoll(
        &folder,
        (
            "canary --dir canary --objective",
            ["p99 < 9ms"],
            "--rw randread --size 64MiB --rate 20 --target",
            [&data],
        ),
    );
    assert!(other.with_code(2).err.contains("that of another canary: its objective is p99.9"));
    run(crate::common::PLIMSOLL, ["clean", text(&data)]);
}

#[test]
fn a_target_that_stands_still_is_left_alone_and_told_of() {
    let folder = scratch();
    let stall = "--target sim:ssd,stall=7200s+1200s --segment 3h --segments 2";
    let more = ["--on-harm", "stop", "--on-alert", "echo $PLIMSOLL_ALERT-$PLIMSOLL_STATE >> told"];
    let metrics = "--textfile canary.prom";
    let ended = canary(&folder, (&stall, &more, &metrics)).with_code(6);
    assert!(ended.err.contains("others may suffer: no request came back"), "{}", ended.err);
    let told = std::fs::read_to_string(folder.join("told")).expect("commands ran");
    assert!(told.contains("fast-on") && told.contains("harm-on"), "{told}");
    let metrics = std::fs::read_to_string(folder.join("canary.prom")).expect("metrics");
    assert!(metrics.contains("plimsoll_canary_requests_total{result=\"bad\"} 24"), "{metrics}");
    assert!(status(&folder)["budget_left"].as_f64().is_some_and(|left| left < 0.6));
}

#[test]
fn a_stall_is_told_minute_by_minute_while_it_lasts() {
    let folder = scratch();
    // 20 minutes from the third on, in closed ranks and on two hosts alike.
    for (dir, hosts) in [("one", vec![]), ("two", vec!["--hosts", "local:2"])] {
        let stall = "--target sim:ssd,stall=180s+1200s --segment 1h --segments 1";
        let told = ["--json", "--over", "1h", "--dir", dir];
        let all = ("canary", LOAD, &stall, &told, &hosts);
        let out = plimsoll(&folder, all).with_code(0).out;
        let lines: Vec<Value> =
            out.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
        let segment = lines.iter().find(|line| line["kind"] == "segment").expect("a segment");
        let seconds = |value: &Value| value.number();
        let began_s = seconds(&segment["segment"]["began_unix_s"]);
        let fast = lines.iter().find(|line| line["alert"]["alert"] == "fast").expect("an alert");
        let after_s = seconds(&fast["alert"]["unix_s"]) - began_s;
        // A minute later where hosts in simulated time are not in step.
        assert!((180.0..=360.0).contains(&after_s), "{dir}: {after_s} s");
        // 24,000 were due in it, and it is no longer than that.
        let bad = segment["segment"]["counts"]["bad"].count();
        assert!((23_990..=24_050).contains(&bad), "{dir}: {bad}");
    }
}

#[test]
fn an_alert_of_a_segment_that_ends_within_a_minute_names_no_instant_ahead() {
    let folder = scratch();
    let stall = "--target sim:ssd,stall=2s+15s --segment 20s --segments 1 --json --window 1h";
    let out = plimsoll(&folder, ("canary --dir canary", LOAD, stall)).with_code(0).out;
    let lines: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    let of = |kind: &str| lines.iter().find(|line| line["kind"] == kind).expect("told");
    let (alert, segment) = (&of("alert")["alert"], &of("segment")["segment"]);
    let (at, ended) = (alert["unix_s"].number(), segment["ended_unix_s"].number());
    assert!(at <= ended, "{at} is ahead of {ended}");
    let [bad, all] = [&segment["counts"]["bad"], &segment["counts"]["good"]].map(Json::count);
    assert!(bad > 250 && bad + all <= 401, "all that was due is counted: {segment}");
}

#[test]
fn a_target_that_hangs_is_seen_while_it_does() {
    use crate::common::faulty_fs::{Behaviour, FaultyFs};
    use crate::common::http::{address_of, get};
    let true = crate::common::has("a target that answers nothing", "fuse mount") else { return };
    for backend in ["backend=sync", "backend=io_uring"] {
        let (folder, fs) = (scratch(), FaultyFs::new());
        let target = fs.path().join("data");
        let args = ("--size 2M --target", [&target], "--segment 10m --set", [backend]);
        let load = ["--objective", "p99.9 < 100ms", "--rw", "randread", "--rate", "50"];
        let rest = "--serve=127.0.0.1:0 --set interval=1s";
        let all = ("canary --dir canary", &load, &args, &rest);
        let mut child = start(&folder, all);
        let address = address_of(&mut child);
        wait_until("the load", || fs.requests() > 60);
        fs.set(Behaviour { hang: true, ..Behaviour::default() });
        let oldest = || {
            let metrics = get(&address, "/metrics", &[]).body;
            let name = "plimsoll_oldest_unanswered_seconds{";
            let line = metrics.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0)
        };
        wait_until("the oldest request is told with its age", || oldest() > 2.5);
        let page = get(&address, "/", &[]).body;
        assert!(
            page.contains("requests have had no answer for 1 s or more, the oldest for"),
            "{page}"
        );
        fs.release();
        wait_until("nothing waits any more", || oldest() == 0.0);
        signal(&child, "INT");
        end(child);
        run(crate::common::PLIMSOLL, ["clean", text(&target)]);
    }
}

#[test]
fn an_alert_is_tried_without_any_load() {
    let folder = scratch();
    let line = |command: &str| {
        let more = ("canary --test-alert --json --textfile t.prom --on-alert", [command]);
        plimsoll(&folder, more)
    };
    let ended = line("echo $PLIMSOLL_ALERT-$PLIMSOLL_STATE > told").with_code(0);
    assert!(ended.err.contains("the command of --on-alert"), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(folder.join("told")).expect("told"), "test-on\n");
    let json: Value = serde_json::from_str(ended.out.trim()).expect("a line");
    assert_eq!(json["alert"]["alert"], "test");
    let metrics = std::fs::read_to_string(folder.join("t.prom")).expect("metrics");
    assert!(metrics.contains("plimsoll_canary_alert{alert=\"test\"} 1"), "{metrics}");
    let failed = line("exit 3").with_code(4);
    assert!(failed.err.contains("did not take the alert"), "{}", failed.err);
    assert_eq!(names(&folder), ["t.prom", "told"], "no ledger, no layout");
}

#[test]
fn what_is_no_canary_is_refused_before_anything_is_touched() {
    let folder = scratch();
    std::fs::create_dir(folder.join("photos")).expect("room");
    std::fs::write(folder.join("photos/one.jpg"), "x").expect("room");
    std::fs::write(folder.join("mine.prom"), "mine 1\n").expect("room");
    let line = |text: &str| {
        let mut words: Vec<&str> = vec!["canary"];
        words.extend(text.split('|'));
        plimsoll(&folder, &words)
    };
    let good = "--dir|c|--objective|p99 < 5ms|--target|t|--rw|randread";
    for (args, words) in [
        ("--rw|randread|--rate|9".to_owned(), "there is no --dir"),
        ("--dir|c|--rw|randread|--rate|9".to_owned(), "there is no --objective"),
        (good.to_owned(), "write --rate 50"),
        (format!("{good}|--rate|1MiB/s"), "requests per second"),
        (format!("{good}|--rate|9|--runtime|5"), "write --segment"),
        (format!("{good}|--rate|9|--window|59min"), "--window"),
        (format!("{good}|--rate|9|--textfile|mine.prom"), "not known to be ours"),
        (format!("{good}|--rate|9|--verify"), "reuses it"),
        ("--dir|c|--objective|mean < 5ms|--rw|randread|--rate|9".to_owned(), "single requests"),
        ("--dir|c|--objective|p99 < 5ms|--target|t".to_owned(), "points, one after the other"),
        ("--dir|c|--objective|p99 < 5ms|--rw|randread|--rate|9".to_owned(), "there is no --target"),
        (
            "--dir|photos|--objective|p99 < 5ms|--rw|randread|--rate|9|--target|sim:ssd".to_owned(),
            "has files and no canary",
        ),
        ("status|photos".to_owned(), "has no canary"),
    ] {
        let ended = line(&args).with_code(2);
        assert!(ended.err.contains(words), "{args}: {}", ended.err);
    }
    assert_eq!(names(&folder), ["mine.prom", "photos"]);
    assert_eq!(names(&folder.join("photos")), ["one.jpg"]);
}

#[test]
fn the_rules_and_manifests_use_metrics_and_options_that_there_are() {
    let folder = scratch();
    let sim = "--target sim:ssd --segment 1m --segments 1";
    canary(&folder, (&sim, "--textfile canary.prom")).with_code(0);
    let metrics = std::fs::read_to_string(folder.join("canary.prom")).expect("metrics");
    let rules = include_str!("../deploy/prometheus-canary-rules.yml");
    let (mut used, mut alerts) = (0, 0);
    for expr in rules.lines().filter_map(|line| line.trim().strip_prefix("expr: ")) {
        for word in expr.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if word.starts_with("plimsoll_") {
                assert!(metrics.contains(&format!("# TYPE {word} ")), "{word}");
                used += 1;
            }
        }
        for alert in expr.split("alert=\"").skip(1) {
            let alert = alert.split('"').next().unwrap_or_default();
            let sample = format!("plimsoll_canary_alert{{alert=\"{alert}\"}}");
            assert!(metrics.contains(&sample), "{alert}");
            alerts += 1;
        }
    }
    assert_eq!((used, alerts), (6, 3), "each alert, and three others");
    let help = plimsoll(&folder, "canary --help").with_code(0).out;
    let unit = include_str!("../deploy/plimsoll-canary.service");
    let manifest = include_str!("../deploy/kubernetes-canary.yaml");
    let from = unit.find("ExecStart=").expect("a command");
    let till = unit.find("# The first signal").expect("its end");
    let options = unit[from..till].split_whitespace().chain(manifest.split_whitespace());
    let mut options = options.filter(|word| word.starts_with("--") && word.len() > 2).peekable();
    assert!(options.peek().is_some());
    for option in options {
        let name = option.split('=').next().unwrap_or_default();
        // The comment has one of kubectl.
        assert!(help.contains(&format!("{name} ")) || name == "--namespace", "{name}");
    }
}

#[test]
fn a_page_and_metrics_show_the_canary_while_it_loads() {
    use crate::common::http::{address_of, get};
    let folder = scratch();
    let data = folder.join("data");
    let args = ["--target", text(&data), "--segment", "10m", "--serve=127.0.0.1:0"];
    let all = ("canary --dir canary", LOAD, &args);
    let mut child = start(&folder, all);
    let address = address_of(&mut child);
    wait_until("requests are counted", || {
        get(&address, "/metrics", &[]).body.contains("plimsoll_requests_total{")
    });
    let page = get(&address, "/", &[]).body;
    assert!(page.contains("id=\"canary\"") && page.contains("99.9% of requests keep"), "{page}");
    let metrics = get(&address, "/metrics", &[]).body;
    assert!(metrics.contains("plimsoll_canary_budget_left_ratio{run="), "{metrics}");
    signal(&child, "INT");
    end(child);
    run(crate::common::PLIMSOLL, ["clean", text(&data)]);
}
