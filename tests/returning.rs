//! Hosts that are lost in mid-run and come back: real agents, killed between points and within
//! them.

use crate::common::cluster::SshCluster;
use crate::common::{
    Folder, Json, Words, agents, agents_of, assert_complete, command, end, has, kill_pid, recorded,
    scratch, shown, started, wait_until,
};
use model::{NoteKind, OccurrenceKind, Record};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Child;

/// A run of several points, each of which waits for us before it begins: so it is certain what
/// happens first.
struct Gated {
    folder: Folder,
    child: Child,
}

impl Gated {
    fn start(points: u32, hosts: impl Words, path: Option<String>) -> Gated {
        let folder = scratch();
        let depths: Vec<String> = (1..=points).map(|depth| depth.to_string()).collect();
        let suite = format!(
            "name = \"gated\"\n[layout]\nsize = \"4MiB\"\nfiles = 1\n[fleet]\non_lost_host = \
             \"continue\"\nquorum = \"20%\"\n[stages]\nmeasure = \"1s\"\ninterval = \
             \"100ms\"\nprerun = '''echo >> asked; while ! test -e go-$(wc -l < asked); do sleep \
             0.02; done'''\n[sweep]\ndepth = [{}]\n[[workload]]\nname = \"w\"\nworkers = 1\n",
            depths.join(", ")
        );
        fs::write(folder.join("gated.toml"), suite).expect("a suite");
        let data = folder.join("data");
        let line = ("run gated.toml --target", [&data], "--out run.plimsoll --quiet");
        let child = started(command(&folder, (&line, hosts)).envs(path.map(|path| ("PATH", path))));
        Gated { folder, child }
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Waits until this point, from 1, is about to begin.
    fn reaches(&self, point: usize) {
        let asked = self.folder.join("asked");
        wait_until("the next point", || {
            fs::read_to_string(&asked).is_ok_and(|asked| asked.lines().count() >= point)
        });
    }

    fn let_go(&self, points: impl IntoIterator<Item = u32>) {
        for point in points {
            fs::write(self.folder.join(format!("go-{point}")), "").expect("a file");
        }
    }

    /// Waits until so many hosts were lost, or came back, in all.
    fn has_said(&self, kind: NoteKind, times: usize) {
        let path = self.folder.join("run.plimsoll");
        wait_until(kind.word(), || {
            store::read(&path).is_ok_and(|record| of_kind(&record, kind).len() >= times)
        });
    }

    /// The whole record, and for each result whether it is in doubt because of a lost host.
    fn end(self) -> (Record, Vec<bool>) {
        end(self.child).with_code(0);
        let folder = &self.folder;
        let json = shown(folder);
        let in_doubt = |row: &serde_json::Value| row.codes().contains(&"host-lost");
        let rows = json["results"].list().iter().map(in_doubt).collect();
        let events = json["events"].list();
        assert!(events.iter().any(|event| event["kind"] == "host-returned"), "{json:#}");
        (recorded(folder), rows)
    }
}

fn of_kind(record: &Record, kind: NoteKind) -> Vec<u32> {
    record.notes.iter().filter(|note| note.kind() == kind).map(|note| note.host).collect()
}

/// The hosts that loaded in this point, from 1.
fn loaded(record: &Record, point: u32) -> BTreeSet<u32> {
    let is_of = |stage: u32| record.plan.stages[stage as usize].point == Some(point - 1);
    let stages = record.stages.iter().filter(|stage| is_of(stage.stage));
    stages
        .flat_map(model::record::StageRecord::samples)
        .filter(|sample| !sample.ops.is_empty())
        .map(|sample| sample.host)
        .collect()
}

#[test]
fn a_killed_agent_is_started_again_and_takes_part_from_the_next_point_on() {
    let run = Gated::start(6, "--hosts local:3", None);
    run.reaches(1);
    let first: BTreeSet<String> = agents(&run.data()).into_iter().collect();
    assert_eq!(first.len(), 3);
    run.let_go([1]);
    // Between points.
    run.reaches(2);
    kill_pid(first.iter().next().expect("an agent"));
    run.has_said(NoteKind::HostLost, 1);
    run.let_go([2]);
    run.reaches(3);
    run.has_said(NoteKind::HostReturned, 1);
    let second: Vec<String> =
        agents(&run.data()).into_iter().filter(|agent| !first.contains(agent)).collect();
    assert_eq!(second.len(), 1, "one in the place of the one that was killed");
    // In the midst of a point, unless this machine is slow; then behind it.
    run.let_go([3]);
    kill_pid(&second[0]);
    run.has_said(NoteKind::HostLost, 2);
    run.let_go(4..=6);
    let (record, in_doubt) = run.end();
    assert_complete(&record);
    let (lost, back) =
        (of_kind(&record, NoteKind::HostLost), of_kind(&record, NoteKind::HostReturned));
    assert_eq!((lost.len(), back.len()), (2, 2), "{:?}", record.notes);
    assert!(
        lost.iter().chain(&back).all(|host| *host == lost[0]),
        "always the same host: {:?}",
        record.notes
    );
    let all: BTreeSet<u32> = (0..3).collect();
    let others = (0..3).filter(|host| *host != lost[0]).collect();
    assert_eq!([1, 2, 6].map(|point| loaded(&record, point)), [all.clone(), others, all]);
    assert_eq!((in_doubt[0], in_doubt[1], in_doubt[5]), (false, true, false), "{in_doubt:?}");
    let happened =
        record.occurrences.iter().filter(|one| one.kind == OccurrenceKind::HostReturned).count();
    assert_eq!(happened, 2);
    assert!(record.notes.iter().any(|note| matches!(
        note.fact,
        model::Fact::HostReturned { from: model::note::TakesPart::Point(2), .. }
    )));
}

#[test]
fn hosts_behind_a_relay_that_is_killed_come_back_without_it() {
    let run = Gated::start(3, "--hosts local:4 --fanout 2", None);
    run.reaches(1);
    let relays = agents_of(run.child.id());
    assert_eq!(relays.len(), 2);
    kill_pid(&relays[0]);
    run.has_said(NoteKind::HostLost, 2);
    wait_until("the agent below it to end", || agents(&run.data()).len() == 2);
    run.let_go(1..=3);
    let (record, in_doubt) = run.end();
    let lost: BTreeSet<u32> = of_kind(&record, NoteKind::HostLost).into_iter().collect();
    let back: BTreeSet<u32> = of_kind(&record, NoteKind::HostReturned).into_iter().collect();
    assert_eq!((lost.len(), &back), (2, &lost), "{:?}", record.notes);
    let all: BTreeSet<u32> = (0..4).collect();
    let others = all.difference(&lost).copied().collect();
    assert_eq!([1, 2, 3].map(|point| loaded(&record, point)), [others, all.clone(), all]);
    assert_eq!(in_doubt, [true, false, false]);
}

#[test]
fn a_host_whose_link_was_cut_comes_back_once_it_is_mended() {
    let true = has("a host whose link is mended", "sshd ip sqlite3") else { return };
    let cluster = SshCluster::new();
    let run = Gated::start(3, "--hosts n[1-4]", Some(cluster.search_path()));
    run.reaches(1);
    // With what carries each of them.
    let before = agents(&run.data()).len();
    cluster.cut(3);
    run.has_said(NoteKind::HostLost, 1);
    // It ends because it hears nothing; until then it holds its targets.
    wait_until("the agent behind the cut link to end", || {
        agents(&run.data()).len() * 4 == before * 3
    });
    cluster.mend(3);
    run.let_go(1..=3);
    let (record, in_doubt) = run.end();
    assert_eq!(
        (of_kind(&record, NoteKind::HostLost), of_kind(&record, NoteKind::HostReturned)),
        (vec![2], vec![2])
    );
    let all: BTreeSet<u32> = (0..4).collect();
    assert_eq!([1, 2, 3].map(|point| loaded(&record, point)), [[0, 1, 3].into(), all.clone(), all]);
    assert_eq!(in_doubt, [true, false, false]);
}
