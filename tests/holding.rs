//! Connections that break and are taken up again, coordinators that stand still, and one that takes
//! over where another died. Each host is a process whose streams go through two others, which can
//! be killed without it, as a network would.

use crate::common::cluster::SshCluster;
use crate::common::{
    Ended, RESTS, command, end, has, plimsoll, run, scratch, signal, text, wait_until,
};
use model::note::AboutHosts;
use model::{Fact, NoteKind, Record, RunEnd, StageEnd};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;
use tempfile::TempDir;

/// Two hosts, each behind a line of its own.
struct Hosts {
    folder: TempDir,
}

impl Hosts {
    /// `None` where the machine cannot have them, which is said.
    fn new(test: &str) -> Option<Hosts> {
        if !has(test, &["ip"]) {
            return None;
        }
        let folder = scratch();
        let here = text(folder.path());
        fs::create_dir(folder.path().join("lines")).expect("a folder");
        // What carries the streams has a name of its own; the agent is in a session of its own, so
        // that nobody ends it with its line.
        let script = format!(
            "#!/bin/sh\nname=$1; shift\nexec 3<&0\n(exec cat <&3) | setsid unshare --uts sh -c \
             'hostname \
             $0; exec \"$@\"' $name \"$@\" | (exec cat) &\necho $$ >> {here}/lines/$name\nwait\n"
        );
        fs::write(folder.path().join("launcher"), script).expect("a script");
        run("chmod", &["755", text(&folder.path().join("launcher"))]);
        Some(Hosts { folder })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the hosts are, for `run` and `take`.
    fn way(&self) -> Vec<String> {
        let launcher = format!("{} {{host}}", text(&self.path().join("launcher")));
        ["--hosts", "h[1-2]", "--launcher", &launcher].map(str::to_owned).to_vec()
    }

    fn line(&self, runtime: &str, more: &[&str]) -> Vec<String> {
        let mut line = vec!["run".to_owned()];
        line.extend(self.way());
        for host in ["h1", "h2"] {
            let target = format!("{host}:{}/data-{host}", text(self.path()));
            line.extend(["--target".to_owned(), target]);
        }
        let rest = [
            "--rw",
            "randread",
            "--size",
            "4M",
            "--numjobs",
            "1",
            "--iodepth",
            "2",
            "--runtime",
            runtime,
            "--set",
            "interval=100ms",
            "--set",
            "fleet.lost_after=2s",
            "--set",
            "fleet.on_lost_host=continue",
            "--out",
            "run.plimsoll",
        ];
        line.extend(rest.iter().chain(&RESTS).chain(more).map(|word| (*word).to_owned()));
        line
    }

    fn start(&self, runtime: &str, more: &[&str]) -> Child {
        let line = self.line(runtime, more);
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        let quiet = std::process::Stdio::piped;
        command(self.path(), &words).stdout(quiet()).stderr(quiet()).spawn().expect("a program")
    }

    /// Breaks the line of a host in both directions; its agent lives on.
    fn cut(&self, host: &str) {
        let lines = fs::read_to_string(self.path().join("lines").join(host)).expect("lines");
        for line in lines.lines() {
            // One that is over has no children.
            let _ =
                std::process::Command::new("pkill").args(["-9", "-P", line, "-x", "cat"]).status();
        }
    }

    fn record(&self, file: &str) -> Record {
        store::read(&self.path().join(file)).expect("a run file")
    }

    /// Waits for so many intervals of each host in the stage that is measured.
    fn wait_for(&self, intervals: usize) {
        wait_until("samples of both hosts", || {
            store::read(&self.path().join("run.plimsoll")).is_ok_and(|record| {
                let told = intervals_of(&record);
                told.len() == 2 && told.values().all(|told| told.len() >= intervals)
            })
        });
    }
}

/// The intervals of each host in the last stage that began, in the order of the record.
fn intervals_of(record: &Record) -> BTreeMap<u32, Vec<u32>> {
    let mut told: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let measured = |stage: u32| {
        record.plan.stages.get(stage as usize).is_some_and(|stage| stage.point.is_some())
    };
    let last = record.stages.iter().rfind(|stage| measured(stage.stage));
    for sample in last.into_iter().flat_map(model::record::StageRecord::samples) {
        told.entry(sample.host).or_default().push(sample.interval);
    }
    told
}

/// Each host told every interval once, and the total is their sum.
fn assert_whole(record: &Record, seconds: usize) {
    let told = intervals_of(record);
    assert_eq!(told.len(), 2, "both hosts");
    for (host, mut intervals) in told {
        intervals.sort_unstable();
        let all: Vec<u32> = (0..intervals.len() as u32).collect();
        assert_eq!(intervals, all, "host {host}: each interval once");
        assert!(all.len() >= seconds * 10, "host {host}: {} intervals", all.len());
    }
    let stage = record.stages.last().expect("measured");
    assert_eq!(stage.end, Some(StageEnd::Complete));
    let lost = record.notes.iter().filter(|note| note.kind() == NoteKind::HostLost).count();
    assert_eq!(lost, 0, "{:?}", record.notes);
    assert_eq!(record.end.as_ref().map(|(_, end)| end), Some(&RunEnd::Complete));
    let load = stage.samples().iter().filter(|sample| sample.phase == model::Phase::Load);
    let sum: u64 = load.flat_map(|sample| &sample.ops).map(|op| op.ios).sum();
    let results = analysis::results(record);
    assert_eq!(results[0].ios, sum, "the sum over the hosts is the total");
}

const HOLD: [&str; 2] = ["--set", "fleet.hold=10min"];

#[test]
fn a_connection_that_breaks_within_a_stage_is_taken_up_again_and_nothing_is_lost() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let child = hosts.start("6s", &HOLD);
    hosts.wait_for(5);
    hosts.cut("h1");
    hosts.wait_for(25);
    // Again, and the new line too.
    hosts.cut("h1");
    hosts.cut("h2");
    end(child).with_code(0);
    assert_whole(&hosts.record("run.plimsoll"), 6);
}

#[test]
fn without_a_hold_a_host_whose_connection_breaks_is_lost() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let child = hosts.start("4s", &[]);
    hosts.wait_for(5);
    hosts.cut("h1");
    end(child).with_code(0);
    let record = hosts.record("run.plimsoll");
    let lost: Vec<u32> = record
        .notes
        .iter()
        .filter(|note| note.kind() == NoteKind::HostLost)
        .map(|note| note.host)
        .collect();
    assert_eq!(lost, [0]);
}

#[test]
fn a_coordinator_that_sleeps_for_longer_than_its_agents_miss_it_loses_nothing() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let child = hosts.start("8s", &HOLD);
    hosts.wait_for(5);
    signal(&child, "STOP");
    // Twice as long as lost_after: what is to be seen is that this ends nothing.
    std::thread::sleep(std::time::Duration::from_secs(4));
    signal(&child, "CONT");
    end(child).with_code(0);
    assert_whole(&hosts.record("run.plimsoll"), 8);
}

#[test]
fn another_coordinator_takes_over_what_the_agents_of_a_dead_one_kept() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let mut child = hosts.start("8s", &HOLD);
    hosts.wait_for(10);
    child.kill().expect("a process to kill");
    child.wait().expect("dead");
    let before: usize = intervals_of(&hosts.record("run.plimsoll")).values().map(Vec::len).sum();
    let way = hosts.way();
    let words: Vec<&str> =
        ["take", "run.plimsoll"].into_iter().chain(way.iter().map(String::as_str)).collect();
    let taken: Ended = plimsoll(hosts.path(), &words).with_code(0);
    assert!(taken.err.contains("2 of 2 agents held out"), "{taken:#?}");
    let record = hosts.record("run-resumed.plimsoll");
    assert_whole(&record, 8);
    let told = record.notes.iter().find_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::TakenOver { hosts, of, intervals }) => {
            Some((*hosts, *of, *intervals))
        }
        _ => None,
    });
    let after: usize = intervals_of(&record).values().map(Vec::len).sum();
    assert_eq!(told, Some((2, 2, (after - before) as u64)));
    let again = plimsoll(hosts.path(), &words).with_code(0);
    assert!(again.err.contains("0 of 2 agents held out"), "{again:#?}");
}

#[test]
fn who_holds_nothing_out_is_not_taken_over() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let mut child = hosts.start("60s", &[]);
    hosts.wait_for(3);
    child.kill().expect("a process to kill");
    child.wait().expect("dead");
    let way = hosts.way();
    let words: Vec<&str> =
        ["take", "run.plimsoll"].into_iter().chain(way.iter().map(String::as_str)).collect();
    let refused = plimsoll(hosts.path(), &words).with_code(2);
    assert!(refused.err.contains("plimsoll resume"), "{refused:#?}");
}

/// The agents that were told to touch this folder.
fn agents_at(folder: &Path) -> Vec<String> {
    let wanted = format!("agent --allow {}", folder.display());
    let out = std::process::Command::new("pgrep").args(["-f", &wanted]).output().expect("pgrep");
    String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
}

/// The agent of a host: its own folder stands in its command. What carries it has that, too.
fn agent_at(folder: &Path) -> String {
    let is_agent = |pid: &String| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.starts_with("plimsoll")
    };
    agents_at(folder).into_iter().find(is_agent).expect("an agent")
}

/// All that befalls a fleet in a bad night, in one run: a host that is down at the start, one that
/// dies, a link that is cut, a host and a coordinator that stand still, servers that refuse what
/// comes at once.
#[test]
fn a_bad_night_over_ssh_costs_nobody_but_the_dead() {
    if !has("a bad night over ssh", &["sshd", "ip", "sqlite3"]) {
        return;
    }
    let cluster = SshCluster::with_startups("2:100:2");
    let folder = scratch();
    let data = |host: u32| folder.path().join(format!("data-{host}"));
    cluster.cut(4);
    let targets: Vec<String> =
        (1..=4).map(|host| format!("n{host}:{}", text(&data(host)))).collect();
    let mut line = vec!["run", "--hosts", "n[1-4]"];
    targets.iter().for_each(|target| line.extend(["--target", target]));
    line.extend(["--rw", "randread", "--size", "4M", "--numjobs", "1", "--iodepth", "2"]);
    line.extend(["--runtime", "20s", "--set", "interval=200ms", "--set", "fleet.lost_after=2s"]);
    line.extend(["--set", "fleet.on_lost_host=continue", "--set", "fleet.quorum=25%"]);
    line.extend(["--set", "fleet.start_within=0s", "--set", "fleet.hold=10min"]);
    line.extend(["--out", "run.plimsoll"]);
    let mut command = command(folder.path(), &line);
    command.env("PATH", cluster.search_path());
    let quiet = std::process::Stdio::piped;
    let child = command.stdout(quiet()).stderr(quiet()).spawn().expect("a program");
    crate::common::wait_for_samples(folder.path(), 3);
    cluster.cut(2);
    let [first, third] = [1, 3].map(|host| agent_at(&data(host)));
    run("kill", &["-9", &third]);
    run("kill", &["-STOP", &first]);
    signal(&child, "STOP");
    std::thread::sleep(std::time::Duration::from_secs(4));
    run("kill", &["-CONT", &first]);
    signal(&child, "CONT");
    cluster.mend(2);
    end(child).with_code(0);
    let record = store::read(&folder.path().join("run.plimsoll")).expect("a run file");
    assert_eq!(record.end.as_ref().map(|(_, end)| end), Some(&RunEnd::Complete));
    // Each is named once: who was not there, and who died.
    let left_out: Vec<&str> = record
        .plan
        .notes
        .iter()
        .filter_map(|note| match &note.fact {
            Fact::Hosts(AboutHosts::LeftOut { hosts, .. }) => Some(hosts),
            _ => None,
        })
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(left_out, ["n4"]);
    let lost: Vec<u32> = record
        .notes
        .iter()
        .filter(|note| note.kind() == NoteKind::HostLost)
        .map(|note| note.host)
        .collect();
    assert_eq!(lost, [2], "{:?}", record.notes);
    let told = intervals_of(&record);
    for host in [0, 1] {
        let mut intervals = told[&host].clone();
        intervals.sort_unstable();
        let all: Vec<u32> = (0..intervals.len() as u32).collect();
        assert_eq!(intervals, all, "host {host}: each interval once");
    }
    assert!(told[&1].len() >= 100, "behind the cut link, nothing was lost: {}", told[&1].len());
    let results = analysis::results(&record);
    assert!(results[0].ios > 0);
}
