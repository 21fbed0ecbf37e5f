//! Which hosts load what: labels, targets of their own, and what each had of the result.

use crate::common::{
    Ended, Json, Words, ended, names, plimsoll, recorded, scratch, script, shown, text,
};
use serde_json::Value;
use std::path::Path;

/// Three hosts, of which two have a label.
fn suite(folder: &Path, more: &str) {
    let suite = format!(
        "name = \"placed\"\n[layout]\nsize = \"4MiB\"\n[stages]\nmeasure = \"500ms\"\ninterval = \
         \"100ms\"\n[labels]\nnear = \"local-[1-2]\"\nfar = \"local-3\"\n[[workload]]\nname = \
         \"w\"\nworkers = 1\ndepth = 4\n{more}"
    );
    std::fs::write(folder.join("placed.toml"), suite).expect("a suite");
}

fn run(folder: &Path, more: impl Words) -> Ended {
    let line = "run placed.toml --hosts local:3 --out run.plimsoll --quiet";
    plimsoll(folder, (&line, more))
}

/// The field of every part of the first result.
fn parts<T>(json: &Value, key: &str, of: impl Fn(&Value) -> T) -> Vec<T> {
    json["results"][0][key].list().iter().map(of).collect()
}

fn text_of(key: &'static str) -> impl Fn(&Value) -> String {
    move |part| part[key].text().to_owned()
}

fn ios(part: &Value) -> u64 {
    part["ios"].count()
}

#[test]
fn hosts_load_their_own_targets_and_results_split_by_host_label_and_owner() {
    let folder = scratch();
    let targets = format!(
        "[targets]\nnear = {{ path = \"{0}/a\", owner = \"near\" }}\nlocal-3 = {{ path = \
         [\"{0}/a\", \"{0}/b\"], owner = \"near\" }}\n",
        folder.display()
    );
    suite(&folder, &targets);
    run(&folder, "").with_code(0);
    let record = recorded(&folder);
    let counts: Vec<usize> = record.plan.hosts.iter().map(|host| host.targets.len()).collect();
    assert_eq!(counts, [1, 1, 2]);
    let json = shown(&folder);
    assert_eq!(parts(&json, "hosts", text_of("host")), ["local-1", "local-2", "local-3"]);
    let of_hosts = parts(&json, "hosts", ios);
    assert_eq!(
        of_hosts.iter().sum::<u64>(),
        ios(&json["results"][0]),
        "the sum over the hosts is the total"
    );
    assert!(of_hosts.iter().all(|count| *count > 0));
    assert_eq!(parts(&json, "labels", text_of("label")), ["near", "far"]);
    assert_eq!(parts(&json, "labels", ios), [of_hosts[0] + of_hosts[1], of_hosts[2]]);
    assert_eq!(parts(&json, "localities", text_of("locality")), ["local", "remote"]);
    for (by, words) in [("host", "local-2"), ("label", "far"), ("locality", "remote")] {
        let ended = plimsoll(&folder, ["show", "run.plimsoll", "--by", by]).with_code(0);
        assert!(ended.out.contains(words), "{ended:#?}");
    }
    let page = std::fs::read_to_string(folder.join("run.html")).expect("a page");
    assert!(["By host", "By label", "By locality"].iter().all(|title| page.contains(title)));
    assert_eq!(
        names(&folder),
        ["placed.toml", "run.html", "run.plimsoll"],
        "every host removed its own folders"
    );
}

#[test]
fn only_the_hosts_of_a_workload_load_and_arguments_take_the_place_of_the_table() {
    let folder = scratch();
    suite(&folder, "hosts = \"far,local-1\"\n[targets]\nall = \"/nonexistent/x\"\n");
    let (a, b) = (folder.join("a"), folder.join("b"));
    let of_far = format!("far:{}", text(&b));
    let of_near = format!("near:{}", text(&a));
    run(&folder, ["--target", &of_near, "--target", &of_far]).with_code(0);
    let json = shown(&folder);
    assert_eq!(parts(&json, "hosts", text_of("host")), ["local-1", "local-3"]);
    let record = recorded(&folder);
    let paths: Vec<&str> =
        record.plan.hosts.iter().map(|host| host.targets[0].path.as_str()).collect();
    assert_eq!(paths, [text(&a), text(&a), text(&b)]);
}

#[test]
fn names_that_nobody_has_are_refused_with_the_near_one_before_anything_is_touched() {
    let folder = scratch();
    let data = folder.join("data");
    let of = |hosts: &str| format!("{hosts}:{}", text(&data));
    for (more, target, words) in [
        ("hosts = \"fra\"\n", text(&data).to_owned(), "did you mean `far`?"),
        ("", of("local-4"), "no host of this run and no label is called `local-4`"),
        ("", of("near"), "host local-3: no target is named for it"),
        (
            "[targets]\nfar = { path = \"/x\", owner = \"nera\" }\n",
            text(&data).to_owned(),
            "did you mean \"near\"?",
        ),
    ] {
        suite(&folder, more);
        let ended = run(&folder, ["--target", &target]).with_code(2);
        // Long lines are broken where people read them.
        let told = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{ended:#?}");
        assert_eq!(names(&folder), ["placed.toml"]);
    }
}

#[test]
fn clean_removes_what_runs_left_on_every_host() {
    let folder = scratch();
    let data = folder.join("data");
    suite(&folder, "");
    run(&folder, ["--target", text(&data), "--keep-data"]).with_code(0);
    assert!(names(&folder).contains(&"data-h0002".to_owned()));
    std::fs::write(folder.join("theirs"), "x").expect("a file");
    let ended = plimsoll(&folder, ["clean", "--hosts", "local:3", text(&data)]).with_code(0);
    // They clean side by side, and all of them see all three: who is first at which, nobody knows.
    for number in 0..3 {
        let removed = format!("data-h000{number}: removed 4 MiB");
        let told: Vec<&str> = ended.out.lines().filter(|line| line.contains(&removed)).collect();
        assert!(
            matches!(told[..], [line] if line.starts_with("host local-")),
            "once, and by whom: {ended:#?}"
        );
    }
    assert_eq!(names(&folder), ["placed.toml", "run.html", "run.plimsoll", "theirs"]);
    let again = plimsoll(&folder, ["clean", "--hosts", "local:3", text(&data)]).with_code(0);
    assert!(again.out.contains("nothing of ours is there"), "what is gone is clean: {again:#?}");
}

#[test]
fn a_rotated_workload_reads_the_files_that_another_host_wrote() {
    let folder = scratch();
    let data = folder.join("data");
    suite(&folder, "rotate = 1\n");
    run(&folder, ["--target", text(&data)]).with_code(0);
    let record = recorded(&folder);
    for host in &record.plan.hosts {
        let files: Vec<&str> = host.files().map(|file| file.path.as_str()).collect();
        let measured = host.stages.last().expect("measured");
        let other = format!("{}-h{:04}/", data.display(), (host.host + 1) % 3);
        let mut extents = measured.workers.iter().flat_map(|worker| &worker.extents).peekable();
        assert!(
            extents.peek().is_some()
                && extents.all(|extent| files[extent.file as usize].starts_with(&other))
        );
    }
    assert!(parts(&shown(&folder), "hosts", ios).iter().all(|count| *count > 0));
    assert_eq!(names(&folder), ["placed.toml", "run.html", "run.plimsoll"]);
}

/// A stand-in for `kubectl` that writes down its arguments and runs what it is told here: it shows
/// that ours are what `kubectl` takes, and nothing about a cluster.
const KUBECTL: &str = "#!/bin/sh\necho \"$*\" >> \"$KUBECTL_LOG\"\nwhile [ \"$1\" != get ] && [ \
                       \"$1\" != exec ]; do shift; done\nif [ \"$1\" = get ]; then echo \
                       pod/plimsoll-x7f2q; exit; fi\nwhile [ \"$1\" != -- ]; do shift; \
                       done\nshift\nexec \"$@\"\n";

#[test]
fn pods_are_reached_with_the_arguments_that_kubectl_takes() {
    let folder = scratch();
    script(&folder, "bin/kubectl", KUBECTL);
    let log = folder.join("bin/log");
    let search =
        format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").expect("set"));
    let plimsoll = |args: &dyn Words| -> Ended {
        let mut command = crate::common::command(&folder, args);
        command.envs([
            ("PATH", &*search),
            ("KUBECTL_LOG", text(&log)),
            ("XDG_CACHE_HOME", text(&folder)),
        ]);
        ended(&mut command)
    };
    suite(&folder, "");
    let suite = std::fs::read_to_string(folder.join("placed.toml")).expect("there");
    let suite = suite
        .replace("near = \"local-[1-2]\"", "near = \"plimsoll-x7f2q\"")
        .replace("far = \"local-3\"\n", "");
    std::fs::write(folder.join("placed.toml"), suite).expect("a suite");
    let data = folder.join("data");
    let pods = ["--kubernetes", "app=plimsoll", "--kubectl", "--namespace x"];
    let line = ("run placed.toml --out run.plimsoll --quiet --keep-data --target", [&data]);
    plimsoll(&(line, pods)).with_code(0);
    let asked = std::fs::read_to_string(&log).expect("asked");
    let lines: Vec<&str> = asked.lines().collect();
    assert_eq!(
        lines[0],
        "--namespace x get pods --field-selector=status.phase=Running --output=name --selector \
         app=plimsoll"
    );
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.starts_with("--namespace x exec -i plimsoll-x7f2q -- sh -c ")),
        "{asked}"
    );
    assert_eq!(parts(&shown(&folder), "hosts", text_of("host")), ["plimsoll-x7f2q"]);
    assert!(folder.join("plimsoll").is_dir() && data.is_dir());
    let cleaned = plimsoll(&(["clean", text(&data)], pods)).with_code(0);
    assert!(cleaned.out.contains("removed 4 MiB"), "{cleaned:#?}");
    assert!(!folder.join("plimsoll").exists() && !data.exists());
}

#[test]
fn the_manifest_has_the_labels_that_its_own_help_asks_for() {
    let manifest = include_str!("../deploy/kubernetes.yaml");
    let labels = manifest.lines().filter(|line| line.trim() == "app: plimsoll").count();
    assert_eq!(labels, 3, "of the set, of its selector and of its pods");
    assert!(manifest.contains("--kubernetes app=plimsoll") && !manifest.contains('\t'));
}
