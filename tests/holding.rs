//! Connections that break and are taken up again, coordinators that stand still, and one that takes
//! over where another died. Each host is a process whose streams go through two others, which can
//! be killed without it, as a network would.

use crate::common::cluster::SshCluster;
use crate::common::{
    Ended, Folder, RESTS, Words, agents, assert_complete, command, end, has, kill, kill_pid, lost,
    plimsoll, recorded, run, scratch, script, signal, start, started, text, wait_until,
};
use model::note::AboutHosts;
use model::{Fact, Record, StageEnd};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;

/// Two hosts, each behind a line of its own.
struct Hosts {
    folder: Folder,
}

impl Hosts {
    /// `None` where the machine cannot have them, which is said.
    fn new(test: &str) -> Option<Hosts> {
        if !has(test, "ip") {
            return None;
        }
        let folder = scratch();
        let here = text(&folder);
        fs::create_dir(folder.join("lines")).expect("a folder");
        // What carries the streams has a name of its own; the agent is in a session of its own, so
        // that nobody ends it with its line.
        let launcher = format!(
            "#!/bin/sh\nname=$1; shift\nexec 3<&0\n(exec cat <&3) | setsid unshare --uts sh -c \
             'hostname $0; exec \"$@\"' $name \"$@\" | (exec cat) &\necho $$ >> \
             {here}/lines/$name\nwait\n"
        );
        script(&folder, "launcher", &launcher);
        Some(Hosts { folder })
    }

    fn path(&self) -> &Path {
        &self.folder
    }

    /// Where the hosts are, for `run` and `take`.
    fn way(&self) -> Vec<String> {
        let launcher = format!("{} {{host}}", text(&self.path().join("launcher")));
        ["--hosts", "h[1-2]", "--launcher", &launcher].map(str::to_owned).to_vec()
    }

    fn start(&self, runtime: &str, more: impl Words) -> Child {
        let targets = ["h1", "h2"].map(|host| {
            ["--target".to_owned(), format!("{host}:{}/data-{host}", text(self.path()))]
        });
        let load = "--rw randread --size 4M --numjobs 1 --iodepth 2 --out run.plimsoll --runtime";
        let rest = "--set interval=100ms --set fleet.lost_after=2s --set \
                    fleet.on_lost_host=continue";
        let words = (("run", self.way()), targets.concat(), (load, [runtime]), (rest, RESTS), more);
        start(self.path(), words)
    }

    /// Has another coordinator take over.
    fn take(&self) -> Ended {
        plimsoll(self.path(), ("take run.plimsoll", self.way()))
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

fn assert_each_once(host: u32, intervals: &[u32]) {
    let mut intervals = intervals.to_vec();
    intervals.sort_unstable();
    let all: Vec<u32> = (0..intervals.len() as u32).collect();
    assert_eq!(intervals, all, "host {host}: each interval once");
}

/// Each host told every interval once, and the total is their sum.
fn assert_whole(record: &Record, seconds: usize) {
    let told = intervals_of(record);
    assert_eq!(told.len(), 2, "both hosts");
    for (host, intervals) in &told {
        assert_each_once(*host, intervals);
        assert!(intervals.len() >= seconds * 10, "host {host}: {} intervals", intervals.len());
    }
    let stage = record.stages.last().expect("measured");
    assert_eq!(stage.end, Some(StageEnd::Complete));
    assert!(lost(record).is_empty(), "{:?}", record.notes);
    assert_complete(record);
    let load = stage.samples().iter().filter(|sample| sample.phase == model::Phase::Load);
    let sum: u64 = load.flat_map(|sample| &sample.ops).map(|op| op.ios).sum();
    let results = analysis::results(record);
    assert_eq!(results[0].ios, sum, "the sum over the hosts is the total");
}

const HOLD: &str = "--set fleet.hold=10min";

#[test]
fn a_connection_that_breaks_within_a_stage_is_taken_up_again_and_nothing_is_lost() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let child = hosts.start("6s", HOLD);
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
    let child = hosts.start("4s", "");
    hosts.wait_for(5);
    hosts.cut("h1");
    end(child).with_code(0);
    let record = hosts.record("run.plimsoll");
    assert_eq!(lost(&record), [0]);
}

#[test]
fn a_coordinator_that_sleeps_for_longer_than_its_agents_miss_it_loses_nothing() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let child = hosts.start("8s", HOLD);
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
    let child = hosts.start("8s", HOLD);
    hosts.wait_for(10);
    kill(child);
    let before: usize = intervals_of(&hosts.record("run.plimsoll")).values().map(Vec::len).sum();
    let taken: Ended = hosts.take().with_code(0);
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
    let again = hosts.take().with_code(0);
    assert!(again.err.contains("0 of 2 agents held out"), "{again:#?}");
}

#[test]
fn who_holds_nothing_out_is_not_taken_over() {
    let Some(hosts) = Hosts::new("hosts behind lines that break") else { return };
    let child = hosts.start("60s", "");
    hosts.wait_for(3);
    kill(child);
    let refused = hosts.take().with_code(2);
    assert!(refused.err.contains("plimsoll resume"), "{refused:#?}");
}

/// The agent of a host: its own folder stands in its command. What carries it has that, too.
fn agent_at(folder: &Path) -> String {
    let is_agent = |pid: &String| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.starts_with("plimsoll")
    };
    agents(folder).into_iter().find(is_agent).expect("an agent")
}

/// All that befalls a fleet in a bad night, in one run: a host that is down at the start, one that
/// dies, a link that is cut, a host and a coordinator that stand still, servers that refuse what
/// comes at once.
#[test]
fn a_bad_night_over_ssh_costs_nobody_but_the_dead() {
    let true = has("a bad night over ssh", "sshd ip sqlite3") else { return };
    let cluster = SshCluster::with_startups("2:100:2");
    let folder = scratch();
    let data = |host: u32| folder.join(format!("data-{host}"));
    cluster.cut(4);
    let targets: Vec<String> =
        (1..=4).map(|host| format!("n{host}:{}", text(&data(host)))).collect();
    let targets: Vec<&str> = targets.iter().flat_map(|target| ["--target", target]).collect();
    let load = "--rw randread --size 4M --numjobs 1 --iodepth 2 --runtime 20s --out run.plimsoll";
    let sets = "--set interval=200ms --set fleet.lost_after=2s --set fleet.on_lost_host=continue \
                --set fleet.quorum=25% --set fleet.start_within=0s --set fleet.hold=10min";
    let mut command = command(&folder, ("run --hosts n[1-4]", targets, load, sets));
    let child = started(command.env("PATH", cluster.search_path()));
    crate::common::wait_for_samples(&folder, 3);
    cluster.cut(2);
    let [first, third] = [1, 3].map(|host| agent_at(&data(host)));
    kill_pid(&third);
    run("kill", ["-STOP", &first]);
    signal(&child, "STOP");
    std::thread::sleep(std::time::Duration::from_secs(4));
    run("kill", ["-CONT", &first]);
    signal(&child, "CONT");
    cluster.mend(2);
    end(child).with_code(0);
    let record = recorded(&folder);
    assert_complete(&record);
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
    assert_eq!(lost(&record), [2], "{:?}", record.notes);
    let told = intervals_of(&record);
    for host in [0, 1] {
        assert_each_once(host, &told[&host]);
    }
    assert!(told[&1].len() >= 100, "behind the cut link, nothing was lost: {}", told[&1].len());
    let results = analysis::results(&record);
    assert!(results[0].ios > 0);
}
