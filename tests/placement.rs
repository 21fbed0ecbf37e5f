//! Which hosts load what: labels, targets of their own, and what each had of the result.

mod common;

use common::{Ended, names, plimsoll, scratch, text};
use serde_json::Value;
use std::path::Path;

/// Three hosts, of which two have a label.
fn suite(folder: &Path, more: &str) {
    let suite = format!(
        "name = \"placed\"\n[layout]\nsize = \"4MiB\"\n[stages]\nmeasure = \"500ms\"\ninterval = \"100ms\"\n\
         [labels]\nnear = \"local-[1-2]\"\nfar = \"local-3\"\n[[workload]]\nname = \"w\"\nworkers = 1\ndepth = 4\n{more}"
    );
    std::fs::write(folder.join("placed.toml"), suite).expect("a suite");
}

fn run(folder: &Path, more: &[&str]) -> Ended {
    let line = ["run", "placed.toml", "--hosts", "local:3", "--out", "run.plimsoll", "--quiet"];
    plimsoll(folder, &[&line, more].concat())
}

fn shown(folder: &Path) -> Value {
    plimsoll(folder, &["show", "run.plimsoll", "--json"]).with_code(0).json()
}

/// The field of every part of the first result.
fn parts<T>(json: &Value, key: &str, of: impl Fn(&Value) -> T) -> Vec<T> {
    json["results"][0][key].as_array().expect("a list").iter().map(of).collect()
}

fn text_of(key: &'static str) -> impl Fn(&Value) -> String {
    move |part| part[key].as_str().expect("a text").to_owned()
}

fn ios(part: &Value) -> u64 {
    part["ios"].as_u64().expect("a count")
}

#[test]
fn hosts_load_their_own_targets_and_results_split_by_host_label_and_owner() {
    let folder = scratch();
    let targets = format!(
        "[targets]\nnear = {{ path = \"{0}/a\", owner = \"near\" }}\nlocal-3 = {{ path = [\"{0}/a\", \"{0}/b\"], owner = \"near\" }}\n",
        folder.path().display()
    );
    suite(folder.path(), &targets);
    run(folder.path(), &[]).with_code(0);
    let record = store::read(&folder.path().join("run.plimsoll")).expect("a run file");
    let counts: Vec<usize> = record.plan.hosts.iter().map(|host| host.targets.len()).collect();
    assert_eq!(counts, [1, 1, 2]);
    let json = shown(folder.path());
    assert_eq!(parts(&json, "hosts", text_of("host")), ["local-1", "local-2", "local-3"]);
    let of_hosts = parts(&json, "hosts", ios);
    assert_eq!(of_hosts.iter().sum::<u64>(), ios(&json["results"][0]), "the sum over the hosts is the total");
    assert!(of_hosts.iter().all(|count| *count > 0));
    assert_eq!(parts(&json, "labels", text_of("label")), ["near", "far"]);
    assert_eq!(parts(&json, "labels", ios), [of_hosts[0] + of_hosts[1], of_hosts[2]]);
    assert_eq!(parts(&json, "localities", text_of("locality")), ["local", "remote"]);
    for (by, words) in [("host", "local-2"), ("label", "far"), ("locality", "remote")] {
        let ended = plimsoll(folder.path(), &["show", "run.plimsoll", "--by", by]).with_code(0);
        assert!(ended.out.contains(words), "{ended:#?}");
    }
    let page = std::fs::read_to_string(folder.path().join("run.html")).expect("a page");
    assert!(["By host", "By label", "By locality"].iter().all(|title| page.contains(title)));
    assert_eq!(names(folder.path()), ["placed.toml", "run.html", "run.plimsoll"], "every host removed its own folders");
}

#[test]
fn only_the_hosts_of_a_workload_load_and_arguments_take_the_place_of_the_table() {
    let folder = scratch();
    suite(folder.path(), "hosts = \"far,local-1\"\n[targets]\nall = \"/nonexistent/x\"\n");
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let of_far = format!("far:{}", text(&b));
    let of_near = format!("near:{}", text(&a));
    run(folder.path(), &["--target", &of_near, "--target", &of_far]).with_code(0);
    let json = shown(folder.path());
    assert_eq!(parts(&json, "hosts", text_of("host")), ["local-1", "local-3"]);
    let record = store::read(&folder.path().join("run.plimsoll")).expect("a run file");
    let paths: Vec<&str> = record.plan.hosts.iter().map(|host| host.targets[0].path.as_str()).collect();
    assert_eq!(paths, [text(&a), text(&a), text(&b)]);
}

#[test]
fn names_that_nobody_has_are_refused_with_the_near_one_before_anything_is_touched() {
    let folder = scratch();
    let data = folder.path().join("data");
    let of = |hosts: &str| format!("{hosts}:{}", text(&data));
    for (more, target, words) in [
        ("hosts = \"fra\"\n", text(&data).to_owned(), "did you mean `far`?"),
        ("", of("local-4"), "no host of this run and no label is called `local-4`"),
        ("", of("near"), "host local-3: no target is named for it"),
        ("[targets]\nfar = { path = \"/x\", owner = \"nera\" }\n", text(&data).to_owned(), "did you mean \"near\"?"),
    ] {
        suite(folder.path(), more);
        let ended = run(folder.path(), &["--target", &target]).with_code(2);
        // Long lines are broken where people read them.
        let told = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{ended:#?}");
        assert_eq!(names(folder.path()), ["placed.toml"]);
    }
}

#[test]
fn clean_removes_what_runs_left_on_every_host() {
    let folder = scratch();
    let data = folder.path().join("data");
    suite(folder.path(), "");
    run(folder.path(), &["--target", text(&data), "--keep-data"]).with_code(0);
    assert!(names(folder.path()).contains(&"data-h0002".to_owned()));
    std::fs::write(folder.path().join("theirs"), "x").expect("a file");
    let ended = plimsoll(folder.path(), &["clean", "--hosts", "local:3", text(&data)]).with_code(0);
    assert!(ended.out.contains("host local-1") && ended.out.contains("data-h0002: removed 4 MiB"), "{ended:#?}");
    assert_eq!(names(folder.path()), ["placed.toml", "run.html", "run.plimsoll", "theirs"]);
    let again = plimsoll(folder.path(), &["clean", "--hosts", "local:3", text(&data)]).with_code(3);
    assert!(again.err.contains("host local-1") && again.err.contains("nothing in it is ours"), "{again:#?}");
}
