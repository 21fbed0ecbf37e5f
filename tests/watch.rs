//! `plimsoll watch` and `run --watch`: in a real terminal, and where there is none.

use crate::common::terminal::Pane;
use crate::common::{
    Folder, Json, Words, command, end, has, plimsoll, run, scratch, start, text, wait_until,
};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

/// Records a run of two seconds on a file.
fn record(here: &Path) {
    let load = "--rw randread --bs 4k --size 16M --runtime 2";
    let run = "run --quiet --out r.plimsoll --set interval=1s";
    plimsoll(here, (&run, &load, "data")).with_code(0);
}

#[test]
fn without_a_terminal_there_is_a_line_for_each_host_and_interval() {
    let folder = scratch();
    let args = "watch --hosts local:2 --interval 200ms --count 3";
    let told = plimsoll(&folder, (&args, "--json")).with_code(0);
    let told = objects(&told.out);
    for host in ["local-1", "local-2"] {
        let of_host: Vec<&Value> = told.iter().filter(|object| object["host"] == host).collect();
        assert_eq!(of_host.len(), 3, "{told:?}");
        for object in of_host {
            // How long it was is up to the machine: after one that was late comes a short one.
            assert!(object["interval_ns"].as_u64().is_some_and(|ns| ns > 0), "{object}");
            assert!(
                object["cpu"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)),
                "{object}"
            );
        }
    }
    let lines = plimsoll(&folder, args).with_code(0).out;
    assert_eq!(
        lines.lines().filter(|line| line.contains("local-2") && line.contains("IOPS")).count(),
        3,
        "{lines}"
    );
    plimsoll(&folder, "watch --interval 1ms").with_code(2);
    plimsoll(&folder, "watch --speed 0 x.plimsoll").with_code(2);
    plimsoll(&folder, "watch x.plimsoll").with_code(5);
}

#[test]
fn a_host_that_dies_is_lost_and_the_others_go_on() {
    let folder = scratch();
    let mut child = command(&folder, "watch --hosts local:2 --interval 100ms --json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || -> Value {
        serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("an object")
    };
    next();
    let id = child.id();
    let agents = run("cat", [&format!("/proc/{id}/task/{id}/children")]);
    run("kill", ["-KILL", agents.split_whitespace().next().expect("an agent")]);
    let lost =
        (0..1_000).map(|_| next()).find(|object| object.get("lost").is_some()).expect("a loss");
    // Nothing is heard of it until it is there again; the other goes on.
    let mut others = 0;
    loop {
        let object = next();
        if object["host"] != lost["host"] {
            others += 1;
        } else if object.get("returned").is_some() {
            break;
        } else {
            panic!("{object} before it returned");
        }
    }
    assert!(others > 0, "the other was silent");
    (0..1_000)
        .map(|_| next())
        .find(|object| object["host"] == lost["host"] && object.get("cpu").is_some())
        .expect("its counters");
    run("kill", ["-TERM", &id.to_string()]);
    drop(lines);
    wait_until("the end", || child.try_wait().expect("a child").is_some());
}

/// Reads objects until one was found on a host.
fn found(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Value {
    let objects =
        lines.map(|line| serde_json::from_str::<Value>(&line.expect("text")).expect("an object"));
    objects.take(10_000).find(|object| object.get("found").is_some()).expect("a finding")
}

#[test]
fn a_fault_in_the_kernel_log_is_told_once_to_who_watches() {
    let log = std::fs::OpenOptions::new().write(true).open("/dev/kmsg");
    let Some(mut log) = log.ok().filter(|_| std::fs::File::open("/dev/kmsg").is_ok()) else {
        println!(
            "SKIPPED: a fault in the kernel log, because /dev/kmsg cannot be written and read here"
        );
        return;
    };
    let folder = scratch();
    let mut child = start(&folder, "watch --hosts local:2 --interval 100ms --json");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    // The log is open on both hosts once both have told of an interval.
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 2 {
        let object: Value =
            serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("an object");
        seen.insert(object["host"].text().to_owned());
    }
    // A flood of other faults may leave ours out of a reading: then there is another.
    let label = |number: usize| {
        format!("plimsoll-test{}-{number}: I/O error, dev none", std::process::id())
    };
    let is_of = |object: &Value, number: usize| {
        object["label"].as_str().is_some_and(|words| words.starts_with(&label(number)))
    };
    let mut number = 0;
    'told: loop {
        number += 1;
        assert!(number < 100, "none of them was found");
        log.write_all(format!("<3>{}\n", label(number)).as_bytes()).expect("a line in the log");
        for _ in 0..20 {
            let object: Value = serde_json::from_str(&lines.next().expect("a line").expect("text"))
                .expect("an object");
            if is_of(&object, number) {
                break 'told;
            }
        }
    }
    // Both hosts have read it when both have told of two further intervals.
    let mut left = [("local-1", 2), ("local-2", 2)];
    while left.iter().any(|(_, left)| *left > 0) {
        let object: Value =
            serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("an object");
        assert!(!is_of(&object, number), "both agents are on one kernel: {object}");
        if object.get("interval_ns").is_some()
            && let Some((_, left)) = left.iter_mut().find(|(name, _)| object["host"] == *name)
        {
            *left -= 1i32;
        }
    }
    crate::common::signal(&child, "TERM");
    // All of it is read: a reader that goes away ends it in another way.
    lines.for_each(drop);
    end(child).with_code(130);
}

/// A machine whose first CPU counts how often heat slowed it down, to programs that are started
/// with [`Hot::start`].
struct Hot {
    folder: Folder,
}

impl Hot {
    fn new() -> Hot {
        let hot = Hot { folder: scratch() };
        std::fs::create_dir_all(hot.count_file().parent().expect("a folder")).expect("folders");
        hot.slow_down(17);
        hot
    }

    fn count_file(&self) -> std::path::PathBuf {
        self.folder.join("cpu0/thermal_throttle/core_throttle_count")
    }

    /// What the kernel counted since it started.
    fn slow_down(&self, count: u32) {
        // Never empty and never longer than before: it is read at any moment.
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.count_file());
        file.and_then(|mut file| file.write_all(format!("{count:03}\n").as_bytes()))
            .expect("a count");
    }

    /// Starts the program where `/sys/devices/system/cpu` is that of this machine.
    fn start(&self, here: &Path, args: impl Words) -> std::process::Child {
        let program = command(here, "").get_program().to_owned();
        std::process::Command::new("unshare")
            .args([
                "--mount",
                "sh",
                "-c",
                "mount --bind \"$0\" /sys/devices/system/cpu && exec \"$@\"",
            ])
            .arg(&self.folder)
            .arg(program)
            .args(args.words())
            .current_dir(here)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("unshare")
    }
}

#[test]
fn processors_that_slow_down_because_of_heat_are_found_by_a_watch_and_by_a_run() {
    let true = has("throttling on a machine that is made up", "mount") else { return };
    let here = &scratch();
    let hot = Hot::new();
    let mut child = hot.start(here, "watch --interval 100ms --json");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    lines.next().expect("a first line").expect("text");
    hot.slow_down(21);
    let told = found(&mut lines);
    assert_eq!(told["found"], "throttled", "{told}");
    assert_eq!(told["label"], "CPUs slowed down because of heat, 4 times in an interval", "{told}");
    crate::common::signal(&child, "TERM");
    drop(lines);
    end(child).with_code(130);

    let load = "--rw randread --bs 4k --size 16M --runtime 600";
    let run = "run --quiet --out run.plimsoll --events lines";
    let mut child = hot.start(here, (&run, &load, "data"));
    crate::common::wait_for_samples(here, 1);
    hot.slow_down(30);
    let events = || std::fs::read_to_string(here.join("lines")).unwrap_or_default();
    wait_until("the finding", || {
        assert_eq!(child.try_wait().expect("a child"), None);
        events().contains("\"kind\":\"throttled\"")
    });
    crate::common::signal(&child, "INT");
    end(child).with_code(130);
    let shown = plimsoll(here, "show run.plimsoll").with_code(0).out;
    assert!(
        shown.contains("throttled: CPUs slowed down because of heat, 9 times in an interval"),
        "{shown}"
    );
}

#[test]
fn a_signal_ends_a_watch_and_so_does_a_reader_that_goes() {
    let folder = scratch();
    let child = start(&folder, "watch --hosts local:1 --interval 100ms");
    let id = child.id();
    // Its agent may be there and not yet have answered: at any time, the end is the same.
    wait_until("an agent", || {
        !run("cat", [&format!("/proc/{id}/task/{id}/children")]).trim().is_empty()
    });
    crate::common::signal(&child, "TERM");
    let said = end(child).with_code(130).err;
    assert!(said.contains("stopped") && !said.contains("measured"), "there is no run: {said}");
    // A host that never answers: the launcher is there, and the agent never is.
    std::fs::write(folder.join("launcher"), "#!/bin/sh\necho > began\nexec cat > /dev/null\n")
        .expect("a file");
    run("chmod", ["755", text(&folder.join("launcher"))]);
    for command in ["watch", "run smoke --target data --out run.plimsoll"] {
        let child = start(&folder, (command, ["--hosts", "x", "--launcher", "./launcher {host}"]));
        wait_until("the launcher", || folder.join("began").exists());
        crate::common::signal(&child, "TERM");
        let said = end(child).with_code(130).err;
        assert!(said.contains("stopped before anything was loaded"), "{said}");
        std::fs::remove_file(folder.join("began")).expect("there");
        assert_eq!(crate::common::names(&folder), ["launcher"], "nothing was touched");
    }
    let mut child = command(&folder, "watch --interval 100ms")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut String::new()).expect("a line");
    drop(out);
    wait_until("the end", || child.try_wait().expect("a child").is_some());
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

#[test]
fn a_run_that_is_to_be_watched_without_a_terminal_says_so_and_goes_on() {
    let folder = scratch();
    let load = "--rw randread --bs 4k --size 16M --runtime 1";
    let told = plimsoll(&folder, ("run --watch", &load, "data")).with_code(0);
    let said = told.err.lines().filter(|line| line.contains("--watch needs a terminal")).count();
    assert_eq!(said, 1, "{}", told.err);
}

#[test]
fn an_address_in_the_wrong_place_and_one_that_is_none_are_told_with_a_remedy() {
    let folder = scratch();
    let told = |arguments: &str| plimsoll(&folder, ("watch", arguments)).with_code(2).err;
    assert!(told("--serve=9464").contains("such as 127.0.0.1:9464"), "{}", told("--serve=9464"));
    assert!(told("--serve 127.0.0.1:9464").contains("--serve=127.0.0.1:9464"));
    assert!(told("--serve none.plimsoll").contains("behind `=`"));
    for suite in ["smoke", ""] {
        let run = plimsoll(&folder, ("run", suite, "--serve 127.0.0.1:9464")).with_code(2);
        assert!(run.err.contains("--serve=127.0.0.1:9464"), "{}", run.err);
    }
    std::fs::write(folder.join("r.plimsoll"), "").expect("a file");
    assert!(told("--serve r.plimsoll").contains("plimsoll serve r.plimsoll"));
}

#[test]
fn a_run_file_is_watched_again() {
    let folder = scratch();
    record(&folder);
    let told = objects(&plimsoll(&folder, "watch r.plimsoll --json").with_code(0).out);
    assert!(told.len() >= 2, "{told:?}");
    assert!(
        told.iter().all(|object| object["devices"].is_array() && object.get("cores").is_none()),
        "{told:?}"
    );
    let with_cores =
        objects(&plimsoll(&folder, "watch r.plimsoll --json --cores").with_code(0).out);
    assert!(
        with_cores.iter().all(|object| object["cores"].is_array() && object["ports"].is_array()),
        "{with_cores:?}"
    );
    plimsoll(&folder, "watch r.plimsoll --cores").with_code(2);
    let first = "watch r.plimsoll --json --count 1";
    assert_eq!(objects(&plimsoll(&folder, first).with_code(0).out), told[..1]);
    let times: Vec<u64> = told.iter().map(|object| object["unix_ns"].count()).collect();
    assert!(times.is_sorted());
    // In the few milliseconds of a short stage the kernel may count no CPU time at all.
    let long: Vec<&Value> = told
        .iter()
        .filter(|o| o["interval_ns"].as_u64().is_some_and(|ns| ns > 500_000_000))
        .collect();
    assert!(!long.is_empty(), "{told:?}");
    for object in long {
        assert!(
            object["cpu"].as_f64().is_some_and(|share| share > 0.0 && share <= 1.0),
            "{object}"
        );
        assert!(
            object["read"]["iops"].is_number() && object["network"]["sent_bytes_per_s"].is_number(),
            "{object}"
        );
    }
}

#[test]
fn hosts_are_watched_in_a_real_terminal() {
    let true = has("watch in a terminal", "tmux") else { return };
    let folder = scratch();
    let pane = Pane::start(&folder, 80, 24, "watch --hosts local:3 --interval 200ms");
    let first = pane.wait_for("all hosts tell", |shown| {
        shown.lines().filter(|line| line.contains('%')).count() == 4
    });
    assert!(first.contains("plimsoll watch · 3 nodes") && first.contains("1–3 of 3"), "{first}");
    pane.press("/ 2 Enter");
    pane.wait_for("the filter", |shown| shown.contains("1–1 of 1") && shown.contains("local-2"));
    pane.press("Enter");
    pane.wait_for("devices", |shown| shown.contains("· local-2") && shown.contains("device"));
    pane.press("Tab Tab");
    pane.wait_for("cores", |shown| shown.contains("core") && shown.contains("stolen"));
    pane.press("Escape");
    // Not "3 nodes" alone: a message on every table begins so. And a key before the table is back
    // would make another key of both.
    pane.wait_for("nodes", |shown| shown.contains("plimsoll watch · 3 nodes"));
    pane.press("Space");
    pane.wait_for("a pause", |shown| shown.contains("PAUSED"));
    pane.press("?");
    pane.wait_for("help", |shown| shown.contains("sort by the name"));
    pane.press("x");
    pane.resize(20, 24);
    pane.wait_for("a remark", |shown| shown.contains("needs") && shown.contains("40 columns"));
    pane.resize(200, 60);
    pane.wait_for("a table", |shown| shown.contains("1–3 of 3"));
    pane.press("q");
    pane.ends_with(0);
}

#[test]
fn the_terminal_is_given_back_on_signals_and_ctrl_c() {
    let true = has("watch in a terminal", "tmux") else { return };
    let folder = scratch();
    for (signal, code) in [("TERM", 130), ("HUP", 130), ("", 0)] {
        let pane = Pane::start(&folder, 80, 24, "watch --interval 200ms");
        pane.wait_for("a table", |shown| shown.contains("1–1 of 1"));
        match signal {
            "" => pane.press("C-c"),
            name => drop(run("kill", [&format!("-{name}"), &pane.program()])),
        }
        pane.ends_with(code);
    }
    // Where the terminal itself goes, nobody is left to look at it.
    for hosts in ["", "--hosts local:2"] {
        let pane = Pane::start(&folder, 80, 24, ("watch --interval 200ms", hosts));
        pane.wait_for("a table", |shown| {
            shown.contains("plimsoll watch") && shown.contains("IOPS")
        });
        let stat = format!("/proc/{}/stat", pane.program());
        drop(pane);
        wait_until("the end", || {
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))
        });
    }
}

#[test]
fn a_run_is_watched_and_its_results_follow() {
    let true = has("watch in a terminal", "tmux") else { return };
    let folder = scratch();
    // The second point waits until it was seen that there is a view.
    let suite = "name = \"s\"\n[layout]\nsize = \"16MiB\"\n[stages]\nmeasure = \"1s\"\nprerun = \
                 '''echo >> asked; [ $(wc -l < asked) = 1 ] || while ! test -e go; do sleep 0.05; \
                 done'''\n[sweep]\ndepth = [1, 2]\n[[workload]]\nname = \"w\"\nworkers = 1\n";
    std::fs::write(folder.join("s.toml"), suite).expect("a suite");
    let gated = "run --watch s.toml --target data";
    let let_go = || std::fs::write(folder.join("go"), "").expect("a file");
    let begin = || {
        ["asked", "go"].iter().for_each(|name| drop(std::fs::remove_file(folder.join(name))));
    };
    let pane = Pane::start(&folder, 100, 30, gated);
    pane.wait_for("the run", |shown| {
        shown.contains("p50") && shown.contains("p99") && shown.contains("1–1 of 1")
    });
    let_go();
    let end = pane.ends_with(0);
    assert!(end.contains("run file"), "{end}");
    drop(pane);
    // Ctrl-C stops the run and keeps what was measured.
    let load = "--rw randread --bs 4k --size 16M --runtime 600";
    let endless = ("run --watch", &load, "data");
    let pane = Pane::start(&folder, 100, 30, endless);
    pane.wait_for("the run", |shown| shown.contains("p50"));
    pane.press("C-c");
    let end = pane.ends_with(130);
    assert!(end.contains("a part of the run"), "{end}");
    drop(pane);
    // The view is left, and the run goes on.
    begin();
    let pane = Pane::start(&folder, 100, 30, gated);
    pane.wait_for("the run", |shown| shown.contains("p50"));
    pane.press("q");
    pane.wait_for("the first screen", |shown| !shown.contains("1–1 of 1"));
    let_go();
    let end = pane.ends_with(0);
    assert!(end.contains("run file"), "{end}");
}

#[test]
fn a_recorded_run_is_played_in_a_real_terminal() {
    let true = has("watch in a terminal", "tmux") else { return };
    let folder = scratch();
    record(&folder);
    let pane = Pane::start(&folder, 90, 24, "watch r.plimsoll --speed 4");
    pane.wait_for("the end", |shown| shown.contains("PAUSED") && shown.contains("p50"));
    pane.press("Left");
    pane.wait_for("the beginning", |shown| {
        shown.contains("0:00 /") && shown.contains("waiting for the first stage")
    });
    pane.press("-");
    pane.wait_for("half the speed", |shown| shown.contains("· 2×"));
    pane.press("Space");
    pane.wait_for("the end", |shown| shown.contains("PAUSED") && shown.contains("p50"));
    pane.press("Escape");
    pane.ends_with(0);
}
