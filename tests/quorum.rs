//! Fleets of which some hosts are not there: at the start, behind a busy way, below a dead relay,
//! and when a run is resumed. Hosts are namespaces of this machine, reached by a launcher that can
//! be told who is dead.

use crate::common::{
    Ended, Folder, Json, Words, agents, assert_complete, assert_says, command, end, has, kill,
    kill_pid, plimsoll, said, scratch, script, signal, start, text, wait_until,
};
use model::note::{AboutHosts, TakesPart};
use model::plan::PlanNote;
use model::{Fact, NoteKind, Record, RunEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// Hosts of this machine, each with a name of its own.
struct Hosts {
    folder: Folder,
}

impl Hosts {
    /// `None` where there can be none.
    fn new(test: &str) -> Option<Hosts> {
        if !has(test, "ip") {
            return None;
        }
        let folder = scratch();
        let here = text(&folder).to_owned();
        for name in ["dead", "busy", "locked", "tries"] {
            fs::create_dir(folder.join(name)).expect("a folder");
        }
        // Each try is a line; a busy host refuses the first ones as sshd does past MaxStartups.
        let launcher = format!(
            "#!/bin/sh\nexport H=$1 QUORUM_OF={here}; shift\necho >> \
             {here}/tries/$H\nif [ -e {here}/dead/$H ]; then echo 'no route to host' >&2; exit \
             255; fi\nif [ -e {here}/locked/$H ]; then echo 'root@h: \
             Permission denied (publickey).' >&2; exit 255; fi\nif [ -e {here}/busy/$H ] && [ $(wc \
             -l < {here}/tries/$H) -le $(cat {here}/busy/$H) ]; then echo \
             'kex_exchange_identification: Connection closed by remote host' >&2; exit 255; \
             fi\nexec unshare --uts sh -c 'hostname $H; exec \"$@\"' x \"$@\"\n"
        );
        script(&folder, "launcher", &launcher);
        Some(Hosts { folder })
    }

    fn path(&self) -> &Path {
        &self.folder
    }

    fn kill(&self, host: &str) {
        fs::write(self.path().join("dead").join(host), "").expect("a file");
    }

    fn revive(&self, host: &str) {
        fs::remove_file(self.path().join("dead").join(host)).expect("there");
    }

    /// The launcher refuses a host so often.
    fn make_busy(&self, host: &str, times: u32) {
        fs::write(self.path().join("busy").join(host), times.to_string()).expect("a file");
    }

    /// How often each host was tried; from here on anew.
    fn tries(&self) -> BTreeMap<String, usize> {
        let folder = self.path().join("tries");
        let entries = fs::read_dir(&folder).expect("a folder").flatten();
        let count = |path: PathBuf| {
            let lines = fs::read_to_string(&path).expect("text").lines().count();
            fs::remove_file(&path).expect("there");
            lines
        };
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        entries.map(|entry| (name(&entry.path()), count(entry.path()))).collect()
    }

    /// A run of a quick form on these hosts, each with a folder of its own.
    fn run(&self, hosts: &str, more: impl Words) -> Ended {
        plimsoll(self.path(), (self.quick(hosts), more))
    }

    fn quick(&self, hosts: &str) -> impl Words {
        let load = "--rw randread --size 4M --runtime 1 --numjobs 1 --set interval=100ms --quiet";
        ("run", self.at(hosts), load, "--out run.plimsoll")
    }

    /// The way to these hosts.
    fn way(&self, hosts: &str) -> Vec<String> {
        let launcher = format!("{} {{host}}", text(&self.path().join("launcher")));
        ["--hosts", hosts, "--launcher", &launcher].map(str::to_owned).to_vec()
    }

    /// The same, with a folder for each.
    fn at(&self, hosts: &str) -> impl Words {
        let names = model::hostlist::expand(hosts).expect("a list");
        let here = text(self.path());
        let target = |name: &String| ["--target".to_owned(), format!("{name}:{here}/data-{name}")];
        (self.way(hosts), names.iter().flat_map(target).collect::<Vec<_>>())
    }

    fn record(&self, file: &str) -> Record {
        store::read(&self.path().join(file)).expect("a run file")
    }
}

const CONTINUE: &str = "--set fleet.on_lost_host=continue";
const AT_ONCE: &str = "--set fleet.start_within=0s";

fn host_names(record: &Record) -> Vec<&str> {
    record.plan.hosts.iter().map(|host| host.hostname.as_str()).collect()
}

/// A suite of several points, which goes on without who is dead.
fn gated(measure: &str, depths: &str) -> String {
    format!(
        "name = \"gated\"\n[layout]\nsize = \"4MiB\"\nfiles = 1\n[fleet]\non_lost_host = \
         \"continue\"\nquorum = \"20%\"\nstart_within = \"0s\"\n[stages]\nmeasure = \
         \"{measure}\"\ninterval = \"100ms\"\n[sweep]\ndepth = [{depths}]\n[[workload]]\nname = \
         \"w\"\nworkers = 1\n"
    )
}

/// The hosts that loaded in a stage.
fn loaded(record: &Record, stage: u32) -> BTreeSet<u32> {
    let stage = record.stages.iter().find(|one| one.stage == stage).expect("it ran");
    stage.samples().iter().map(|sample| sample.host).collect()
}

fn left_out(record: &Record) -> Option<(Vec<String>, u64)> {
    record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::LeftOut { hosts, of }) => {
            Some((hosts.iter().map(|(name, _)| name.clone()).collect(), *of))
        }
        _ => None,
    })
}

#[test]
fn who_is_dead_at_the_start_is_left_out_by_name_and_a_quorum_decides() {
    let Some(hosts) = Hosts::new("dead hosts at the start") else { return };
    hosts.kill("h2");
    let refused = hosts.run("h[1-4]", AT_ONCE).with_code(3);
    assert_says(&refused.err, &["host h2", "3 of 4 hosts can be reached"]);
    assert!(!hosts.path().join("run.plimsoll").exists());
    let line = (CONTINUE, AT_ONCE, "--json");
    let row = hosts.run("h[1-4]", line).with_code(0).json()["results"][0].clone();
    let words = row.doubt("hosts-left-out");
    assert!(words.contains("3 of 4 hosts took part") && words.contains("h2"), "{words}");
    let record = hosts.record("run.plimsoll");
    assert_eq!(host_names(&record), ["h1", "h3", "h4"]);
    assert_eq!(left_out(&record), Some((vec!["h2".to_owned()], 4)));
    // Half of four: two are enough to go on, if one of the three is lost.
    assert_eq!(
        (record.plan.fleet.quorum, record.end.map(|(_, end)| end)),
        (2, Some(RunEnd::Complete))
    );
    ["h3", "h4"].iter().for_each(|host| hosts.kill(host));
    let refused = hosts.run("h[1-4]", (CONTINUE, AT_ONCE)).with_code(3);
    assert!(refused.err.contains("fleet.quorum asks for 2"), "{refused:#?}");
    assert!(refused.err.contains("3 hosts (h[2-4])"), "each is named: {refused:#?}");
}

#[test]
fn a_host_that_starts_late_is_waited_for_and_a_busy_way_is_tried_again() {
    let Some(hosts) = Hosts::new("busy ways") else { return };
    hosts.make_busy("h1", 3);
    hosts.make_busy("h2", 1);
    // Nobody has to ask for that: the next moment there is room.
    hosts.run("h[1-3]", AT_ONCE).with_code(0);
    let tries = hosts.tries();
    assert!(tries["h1"] >= 4 && tries["h2"] >= 2, "{tries:?}");
    let record = hosts.record("run.plimsoll");
    let starts = record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::Started(starts)) => Some(starts.clone()),
        _ => None,
    });
    let told: Vec<(String, u32)> =
        starts.expect("a table").into_iter().map(|start| (start.name, start.tries)).collect();
    assert_eq!(told, [("h1".to_owned(), 4), ("h2".to_owned(), 2), ("h3".to_owned(), 1)]);
    // One that is down comes up while it is waited for.
    fs::remove_file(hosts.path().join("run.plimsoll")).expect("there");
    hosts.kill("h2");
    let patient = "--set fleet.start_within=5min";
    let mut child = start(hosts.path(), (hosts.quick("h[1-2]"), patient));
    let words = said(&mut child, "it is tried again");
    assert!(words.contains("host h2"), "{words}");
    hosts.revive("h2");
    end(child).with_code(0);
    assert_eq!(host_names(&hosts.record("run.plimsoll")), ["h1", "h2"]);
}

#[test]
fn who_refuses_a_key_is_asked_once_however_long_others_are_waited_for() {
    let Some(hosts) = Hosts::new("refused keys") else { return };
    fs::write(hosts.path().join("locked/h2"), "").expect("a file");
    let patient = "--set fleet.start_within=1h";
    let refused = hosts.run("h[1-2]", patient).with_code(3);
    assert!(refused.err.contains("Permission denied"), "{refused:#?}");
    assert_eq!(hosts.tries()["h2"], 1);
    hosts.run("h[1-2]", (CONTINUE, &patient)).with_code(0);
    assert_eq!(host_names(&hosts.record("run.plimsoll")), ["h1"]);
    assert_eq!(hosts.tries()["h2"], 1);
}

#[test]
fn a_dead_relay_costs_its_branch_another_one_and_nobody_else() {
    let Some(hosts) = Hosts::new("dead relays") else { return };
    // Two branches of five: h1 and h6 are their relays. h1 is dead, and so is h8, a leaf.
    ["h1", "h8"].iter().for_each(|host| hosts.kill(host));
    let more = (CONTINUE, AT_ONCE, "--fanout 2");
    hosts.run("h[1-10]", more).with_code(0);
    let record = hosts.record("run.plimsoll");
    assert_eq!(host_names(&record), ["h2", "h3", "h4", "h5", "h6", "h7", "h9", "h10"]);
    assert_eq!(left_out(&record), Some((vec!["h1".to_owned(), "h8".to_owned()], 10)));
    let stage = record.stages.last().expect("measured");
    let loaded: BTreeSet<u32> = stage.samples().iter().map(|sample| sample.host).collect();
    assert_eq!(loaded.len(), 8, "all of them load");
    // The program is copied where it lacks, which asks a second time; nobody is started over.
    let tries = hosts.tries();
    assert_eq!(tries["h1"], 1, "{tries:?}");
    assert!(tries["h8"] <= 2, "by its relay, and from here: {tries:?}");
}

#[test]
fn a_workload_all_of_whose_hosts_are_dead_is_refused_and_one_with_some_is_not() {
    let Some(hosts) = Hosts::new("placement without hosts") else { return };
    let suite = |of: &str| {
        format!(
            "name = \"placed\"\n[layout]\nsize = \"4MiB\"\n[labels]\nwest = \"h[1-2]\"\neast = \
             \"h[3-4]\"\n[fleet]\non_lost_host = \"continue\"\nstart_within = \
             \"0s\"\n[stages]\nmeasure = \"1s\"\ninterval = \"100ms\"\n[[workload]]\nname = \
             \"a\"\nhosts = \"west\"\n[[workload]]\nname = \"b\"\nhosts = \"{of}\"\n"
        )
    };
    let run = |of: &str, out: &str| {
        fs::write(hosts.path().join("placed.toml"), suite(of)).expect("a suite");
        plimsoll(hosts.path(), ("run placed.toml --quiet", hosts.at("h[1-4]"), ["--out", out]))
    };
    hosts.kill("h3");
    run("east", "some.plimsoll").with_code(0);
    // Two workloads are two points: h3 keeps its share, and may join before the second.
    let record = hosts.record("some.plimsoll");
    assert_eq!(host_names(&record), ["h1", "h2", "h3", "h4"]);
    let loaded: BTreeSet<u32> = record.samples().map(|sample| sample.host).collect();
    assert_eq!(loaded, BTreeSet::from([0, 1, 3]));
    let refused = run("h3", "none.plimsoll").with_code(3);
    assert!(refused.err.contains("workload `b`: none of its hosts (h3)"), "{refused:#?}");
    assert!(!hosts.path().join("none.plimsoll").exists());
}

#[test]
fn a_run_is_resumed_without_a_dead_host_which_comes_in_between_points() {
    let Some(hosts) = Hosts::new("resuming without a host") else { return };
    let suite = gated("30s", "1, 2, 3");
    fs::write(hosts.path().join("gated.toml"), suite).expect("a suite");
    let line = ("run gated.toml --out run.plimsoll --quiet", hosts.at("h[1-3]"));
    let child = start(hosts.path(), (line, "--set measure=2s"));
    wait_until("the second point", || {
        store::read_head(&hosts.path().join("run.plimsoll"))
            .is_ok_and(|record| record.stages.len() == 3)
    });
    kill(child);
    wait_until("the agents to end", || agents(hosts.path()).is_empty());
    hosts.kill("h2");
    let line = ("resume run.plimsoll --quiet", hosts.way("h[1-3]"));
    let mut child: Child = command(hosts.path(), &line)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut words = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let told = words.find(|line| line.as_ref().is_ok_and(|line| line.contains("may come in")));
    assert!(told.is_some_and(|line| line.is_ok_and(|line| line.contains("host h2"))));
    wait_until("the second point", || {
        store::read(&hosts.path().join("run-resumed.plimsoll"))
            .is_ok_and(|record| record.stages.iter().any(|stage| stage.stage == 2))
    });
    hosts.revive("h2");
    words.for_each(drop);
    assert!(child.wait().expect("an end").success());
    let record = hosts.record("run-resumed.plimsoll");
    let lost: Vec<(Option<u32>, u32)> = record
        .notes
        .iter()
        .filter(|note| note.kind() == NoteKind::HostLost)
        .map(|note| (note.stage, note.host))
        .collect();
    assert_eq!(lost, [(Some(2), 1)], "from the second point on, and not before");
    let loaded = |stage| loaded(&record, stage);
    assert_eq!(loaded(1), BTreeSet::from([0, 1, 2]));
    assert_eq!(loaded(2), BTreeSet::from([0, 2]), "the point that it missed");
    assert_eq!(loaded(3), BTreeSet::from([0, 1, 2]), "the point from which on it is back");
    assert_complete(&record);
}

#[test]
fn a_host_that_was_dead_at_the_start_joins_between_two_points() {
    let Some(hosts) = Hosts::new("hosts that join late") else { return };
    let suite = gated("2s", "1, 2");
    fs::write(hosts.path().join("late.toml"), suite).expect("a suite");
    hosts.kill("h2");
    let line = ("run late.toml --out run.plimsoll --quiet --json", hosts.at("h[1-3]"));
    let child = start(hosts.path(), line);
    wait_until("the first point", || {
        store::read(&hosts.path().join("run.plimsoll"))
            .is_ok_and(|record| record.stages.iter().any(|stage| stage.stage == 1))
    });
    hosts.revive("h2");
    let results = end(child).with_code(0).json()["results"].clone();
    let is_without = |row: usize| results[row].codes().contains(&"host-lost");
    assert!(is_without(0) && !is_without(1), "{results}");
    let record = hosts.record("run.plimsoll");
    assert_eq!(host_names(&record), ["h1", "h2", "h3"]);
    assert_eq!(record.plan.fleet.quorum, 1, "of those that were asked for");
    let loaded = |stage| loaded(&record, stage);
    assert_eq!((loaded(1), loaded(2)), (BTreeSet::from([0, 2]), BTreeSet::from([0, 1, 2])));
    let from = TakesPart::Joins { point: 1, hosts: 3, of: 3 };
    let joined = Fact::HostReturned { name: "h2".to_owned(), from };
    assert!(record.notes.iter().any(|note| note.fact == joined), "{:?}", record.notes);
    let awaited = |note: &PlanNote| match &note.fact {
        Fact::Hosts(AboutHosts::Awaited { hosts, of }) => Some((hosts.len(), *of)),
        _ => None,
    };
    assert_eq!(record.plan.notes.iter().find_map(awaited), Some((1, 3)));
    assert_complete(&record);
}

#[test]
fn who_is_watched_is_taken_back_and_who_was_not_there_comes_in() {
    let Some(hosts) = Hosts::new("watching hosts that return") else { return };
    hosts.kill("h2");
    let line = ("watch --interval 100ms --json", hosts.way("h[1-2]"));
    let mut child = command(hosts.path(), line)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a program");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut find = |host: &str, key: &str| {
        let object = lines.by_ref().map(|line| {
            serde_json::from_str::<serde_json::Value>(&line.expect("text")).expect("an object")
        });
        let is_it = |one: &serde_json::Value| one["host"] == host && one.get(key).is_some();
        object.take(100_000).find(is_it).expect(key)
    };
    find("h2", "lost");
    find("h1", "cpu");
    hosts.revive("h2");
    find("h2", "returned");
    find("h2", "cpu");
    // One that dies and stays away for a while.
    hosts.kill("h1");
    kill_pid(&command_of(hosts.path(), "h1"));
    find("h1", "lost");
    hosts.revive("h1");
    find("h1", "returned");
    find("h1", "cpu");
    signal(&child, "TERM");
    drop(lines);
    wait_until("the end", || child.try_wait().expect("a child").is_some());
}

/// The agent of a host of this folder: both stand in its environment.
fn command_of(folder: &Path, host: &str) -> String {
    let wanted = [format!("H={host}"), format!("QUORUM_OF={}", folder.display())];
    let is_agent = |process: &Path| {
        let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
        let has = |bytes: &[u8], word: &str| {
            bytes.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
        };
        let environment = read("environ");
        has(&read("cmdline"), "agent") && wanted.iter().all(|word| has(&environment, word))
    };
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let found = entries.map(|entry| entry.path()).find(|path| is_agent(path)).expect("an agent");
    found.file_name().expect("a number").to_string_lossy().into_owned()
}
