//! Several hosts at once: agents as processes of this machine, over real ssh, and in a real Slurm
//! job.

use crate::common::cluster::{SlurmCluster, SshCluster};
use crate::common::{
    Ended, Folder, Json, Mounted, RESTS, Words, agents, agents_of, assert_complete, assert_says,
    command, end, ended, has, kill, kill_pid, lost, names, plimsoll, recorded, run, scratch,
    script, shown, signal, started, text, wait_for_samples, wait_until,
};
use model::{IntervalSample, NoteKind, Record, RunEnd};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A workload that takes so long on every host, and rests after each few requests: what these tests
/// look for happens to any load, and a full one would take the processors from the tests beside it.
fn arguments(hosts: impl Words, runtime: &str, more: impl Words) -> Vec<OsString> {
    let load = "--rw randread --iodepth 4 --numjobs 1 --size 4M --runtime";
    let rest = "--set interval=100ms --out run.plimsoll";
    ("run", hosts, (load, [runtime]), (rest, RESTS), more).words()
}

/// Where a run is started, and what it loads there.
fn place() -> (Folder, PathBuf) {
    let folder = scratch();
    let data = folder.join("data");
    (folder, data)
}

/// The hosts whose samples of the last stage were recorded, and whether each told when it began.
fn heard_of(record: &Record) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let stage = record.stages.last().expect("measured");
    let samples = stage
        .samples()
        .iter()
        .filter(|sample| !sample.ops.is_empty())
        .map(|sample| sample.host)
        .collect();
    (samples, stage.starts.iter().map(|start| start.host).collect())
}

/// So many hosts, and each of them loaded and told when it began.
fn assert_all_loaded(record: &Record, hosts: u32) {
    assert_eq!(record.plan.hosts.len(), hosts as usize);
    let all: BTreeSet<u32> = (0..hosts).collect();
    assert_eq!(heard_of(record), (all.clone(), all));
}

/// What the hosts of the run call themselves.
fn host_names(record: &Record) -> Vec<&str> {
    record.testbed.iter().map(|host| host.hostname.as_str()).collect()
}

/// Requests in the run file, and in the results as JSON: they have to agree to the last one.
fn assert_totals(folder: &Path, record: &Record) {
    let stage = record.stages.last().expect("measured");
    let load = stage.samples().iter().filter(|sample| sample.phase == model::Phase::Load);
    let sum: u64 = load.flat_map(|sample| &sample.ops).map(|op| op.ios).sum();
    let total = shown(folder)["results"][0]["ios"].count();
    assert!(sum > 0 && total == sum, "the sum over the hosts is the total: {sum}, {total}");
}

/// The four hosts of a cluster loaded, and add up.
fn assert_four_loaded(folder: &Path) {
    let record = recorded(folder);
    assert_eq!(host_names(&record), ["n1", "n2", "n3", "n4"]);
    assert_all_loaded(&record, 4);
    assert_totals(folder, &record);
}

#[test]
fn agents_of_this_machine_load_together_and_clean_up() {
    let folder = scratch();
    plimsoll(&folder, arguments("--hosts local:3", "1s", "data")).with_code(0);
    let record = recorded(&folder);
    assert_all_loaded(&record, 3);
    assert_totals(&folder, &record);
    assert_eq!(names(&folder), ["run.html", "run.plimsoll"], "each host removed its own folder");
}

#[test]
fn two_hosts_that_are_led_to_one_directory_are_both_named_and_nothing_is_loaded() {
    let folder = scratch();
    let (one, other) = (folder.join("data-h0000"), folder.join("data-h0001"));
    fs::create_dir(&one).expect("a folder");
    // A link leads a host to a place that its agent was not given.
    std::os::unix::fs::symlink("data-h0000", &other).expect("a link");
    let ended = plimsoll(&folder, arguments("--hosts local:2", "1s", "data")).with_code(3);
    assert!(ended.err.contains("is not among the paths that --allow allows"), "{ended:#?}");
    assert_eq!(names(&one), [""; 0], "nothing was begun");
    let true = has("two hosts that see one directory by a mount", "mount") else { return };
    fs::remove_file(&other).expect("a link");
    fs::create_dir(&other).expect("a folder");
    run("mount", ["--bind", text(&one), text(&other)]);
    let ended = plimsoll(&folder, arguments("--hosts local:2", "1s", "data"));
    run("umount", [text(&other)]);
    assert_eq!(ended.code, 3, "{ended:#?}");
    // Which of them comes second is up to the machine.
    let told = |one: &str, other: &str| {
        ended.err.contains(&format!("hosts {one} and {other} see one directory here"))
    };
    assert!(told("local-1", "local-2") || told("local-2", "local-1"), "{ended:#?}");
    assert!(ended.err.contains("give each host a directory of its own"), "{ended:#?}");
    assert_eq!(
        names(&folder),
        ["data-h0000", "data-h0001"],
        "no run was recorded, so none had begun"
    );
}

#[test]
fn a_killed_agent_ends_the_run_names_its_host_and_keeps_what_was_recorded() {
    let (folder, data) = place();
    let child = start(&folder, arguments("--hosts local:3", "60s", [text(&data)]), &[]);
    wait_for_samples(&folder, 3);
    kill_pid(&agents(&data)[1]);
    let ended = end(child).with_code(4);
    assert!(ended.err.contains("was lost") && ended.err.contains("plimsoll resume"), "{ended:#?}");
    let record = recorded(&folder);
    assert!(matches!(record.end, Some((_, RunEnd::Failed(_)))));
    assert_eq!(heard_of(&record).0.len(), 3, "also what the lost host had told");
    assert!(record.notes.iter().any(|note| note.kind() == NoteKind::HostLost));
    let on_axis = |one: &model::Occurrence| {
        one.kind == model::OccurrenceKind::HostLost && one.stage.is_some()
    };
    assert!(record.occurrences.iter().any(on_axis), "{:?}", record.occurrences);
    wait_until("the other agents to end", || agents(&data).is_empty());
    // The layout stays for `resume`; `clean` finds every host's folder.
    assert!(names(&folder).contains(&"data-h0000".to_owned()));
    plimsoll(&folder, ["clean", text(&data)]).with_code(0);
    assert_eq!(names(&folder), ["run.html", "run.plimsoll"]);
}

#[test]
fn a_run_that_was_cut_short_is_resumed_on_its_layout_and_then_whole() {
    let (folder, data) = place();
    let suite = "name = \"two\"\n[layout]\nsize = \"4MiB\"\n[stages]\nmeasure = \"6s\"\ninterval \
                 = \"100ms\"\n[[workload]]\nname = \"w\"\nworkers = 1\nthink = \
                 \"2ms\"\n[sweep]\ndepth = [1, 2]\n";
    fs::write(folder.join("two.toml"), suite).expect("a suite");
    let line = ("run two.toml --hosts local:2 --target", [&data], "--out run.plimsoll");
    let child = start(&folder, line, &[]);
    wait_until("the second point", || {
        store::read_head(&folder.join("run.plimsoll")).is_ok_and(|record| record.stages.len() == 3)
    });
    kill(child);
    wait_until("the agents to end", || agents(&data).is_empty());
    let broken = recorded(&folder);
    let ended = plimsoll(&folder, "resume run.plimsoll").with_code(0);
    assert!(ended.err.contains("1 of 2 points left, on the existing layout"), "{ended:#?}");
    let whole = store::read(&folder.join("run-resumed.plimsoll")).expect("a run file");
    assert_eq!(whole.plan, broken.plan);
    assert_complete(&whole);
    // Hosts come in any order within an interval.
    let in_order = |stages: &[model::record::StageRecord]| {
        let mut stages = stages.to_vec();
        stages.iter_mut().for_each(|stage| {
            if let model::record::StageData::Samples { counters, .. } = &mut stage.data {
                counters.sort_by_key(|sample| (sample.number, sample.host));
            }
        });
        stages
    };
    assert_eq!(
        in_order(&whole.stages[..2]),
        in_order(&broken.stages[..2]),
        "what was complete stays as it was recorded"
    );
    assert_eq!(heard_of(&whole).0.len(), 2);
    assert!(whole.notes.iter().any(|note| note.kind() == NoteKind::Resumed));
    assert_eq!(
        names(&folder),
        ["run-resumed.html", "run-resumed.plimsoll", "run.plimsoll", "two.toml"]
    );
    // Once more there is nothing to do; without the layout it is written anew.
    let again = plimsoll(&folder, "resume run-resumed.plimsoll").with_code(0);
    assert!(again.err.contains("nothing is left"), "{again:#?}");
    let unasked = plimsoll(&folder, "resume run.plimsoll").with_code(3);
    assert_says(&unasked.err, &["nothing of this run is left", "--target"]);
    let anew = plimsoll(&folder, ["resume", "run.plimsoll", "--target", text(&data)]).with_code(0);
    assert!(anew.err.contains("on a new layout"), "{anew:#?}");
    assert!(folder.join("run-resumed-2.plimsoll").exists());
}

#[test]
fn with_a_quorum_the_run_goes_on_and_what_is_degraded_is_marked() {
    let (folder, data) = place();
    let more = ["--set", "fleet.on_lost_host=continue", text(&data)];
    let child = start(&folder, arguments("--hosts local:3", "10s", more), &[]);
    wait_for_samples(&folder, 3);
    kill_pid(&agents(&data)[0]);
    let ended = end(child).with_code(0);
    let record = recorded(&folder);
    assert_complete(&record);
    assert_eq!(heard_of(&record).1.len(), 2);
    assert!(ended.out.contains("lost"), "{ended:#?}");

    // What the lost host leaves is named, with the command that removes it.
    let stays: Vec<String> =
        names(&folder).into_iter().filter(|name| name.starts_with("data-")).collect();
    let [stays] = stays.as_slice() else { panic!("{stays:?}") };
    let json = shown(&folder);
    let left = &json["left_behind"][0];
    let stays = folder.join(stays);
    assert_eq!(left["folders"], serde_json::json!([text(&stays)]), "{json}");
    let said = left["command"].text();
    assert_says(&ended.out, &["Left behind", "was lost for good"]);
    let words: Vec<&str> = said.split(' ').collect();
    assert_eq!(words[0], "plimsoll");
    plimsoll(&folder, &words[1..]).with_code(0);
    assert!(!stays.exists());
}

#[test]
fn no_load_goes_on_without_its_coordinator() {
    let (folder, data) = place();
    let child = start(&folder, arguments("--hosts local:2", "60s", [text(&data)]), &[]);
    wait_for_samples(&folder, 2);
    kill(child);
    wait_until("the agents to end", || agents(&data).is_empty());
    let record = recorded(&folder);
    assert_eq!(record.end, None);
    assert_eq!(heard_of(&record).0.len(), 2, "nothing recorded is lost");
}

#[test]
fn ctrl_c_reaches_every_host() {
    let (folder, data) = place();
    let child = start(&folder, arguments("--hosts local:3", "60s", [text(&data)]), &[]);
    wait_for_samples(&folder, 3);
    signal(&child, "INT");
    end(child).with_code(130);
    assert!(agents(&data).is_empty());
    assert_eq!(heard_of(&recorded(&folder)).1.len(), 3, "each ended its stage in good order");
    assert_eq!(names(&folder), ["run.html", "run.plimsoll"]);
}

/// What was measured, in an order that does not say in which it came.
fn measured(record: &Record) -> Vec<IntervalSample> {
    let mut samples: Vec<_> =
        record.stages.iter().flat_map(|stage| stage.samples().to_vec()).collect();
    samples.sort_by_key(|sample| (sample.stage, sample.host, sample.interval));
    samples
}

#[test]
fn agents_that_start_one_another_bring_the_same_to_the_bit() {
    let folder = scratch();
    let target = "sim:constant,service=2ms,servers=4,capacity=64MiB";
    let run = |fanout: &str| {
        let hosts = ("--hosts local:7", fanout);
        plimsoll(&folder, arguments(hosts, "20s", [target])).with_code(0);
        let record = recorded(&folder);
        assert_totals(&folder, &record);
        fs::remove_file(folder.join("run.plimsoll")).expect("there");
        record
    };
    let flat = run("");
    assert_eq!(heard_of(&flat).0.len(), 7);
    for fanout in ["2", "3"] {
        let tree = run(&format!("--fanout {fanout}"));
        assert_eq!(measured(&tree), measured(&flat));
        assert_eq!(heard_of(&tree), heard_of(&flat));
    }
}

#[test]
fn past_64_hosts_agents_start_one_another_and_all_are_heard_of() {
    let _alone = crate::common::alone();
    let (folder, data) = place();
    // On few processors that others use too, 70 agents take their time to be heard.
    // All of them load until the last is heard of: seldom, or they keep it from being heard.
    let patient = ["--set", "fleet.lost_after=5m", "--set", "think=50ms", text(&data)];
    let child = start(&folder, arguments("--hosts local:70", "120s", patient), &[]);
    wait_for_samples(&folder, 70);
    // Nine started here, and the other 61 by these.
    assert_eq!(agents_of(child.id()).len(), 9);
    assert_eq!(agents(&data).len(), 70);
    signal(&child, "INT");
    end(child).with_code(130);
    assert!(agents(&data).is_empty());
    let record = recorded(&folder);
    assert_all_loaded(&record, 70);
    assert_totals(&folder, &record);
    assert_eq!(names(&folder), ["run.html", "run.plimsoll"]);
}

#[test]
fn a_killed_relay_loses_the_hosts_below_it_by_name_and_their_load_ends() {
    let (folder, data) = place();
    let more = ["--set", "fleet.on_lost_host=continue", text(&data)];
    // local-1 starts local-2 and local-3, local-4 the others.
    let child = start(&folder, arguments("--hosts local:6 --fanout 2", "15s", more), &[]);
    wait_for_samples(&folder, 6);
    let relays = agents_of(child.id());
    assert_eq!(relays.len(), 2);
    kill_pid(&relays[0]);
    wait_until("the agents below it to end", || agents(&data).len() == 3);
    end(child).with_code(0);
    let record = recorded(&folder);
    assert_complete(&record);
    let lost: BTreeSet<u32> = lost(&record).into_iter().collect();
    assert_eq!(lost.len(), 3);
    assert_eq!(heard_of(&record).1, (0..6).filter(|host| !lost.contains(host)).collect());
    let of_relay = |note: &&model::Note| match &note.fact {
        model::Fact::HostLost { why, .. } => why.contains("its relay local-"),
        _ => false,
    };
    assert_eq!(record.notes.iter().filter(of_relay).count(), 2, "{:?}", record.notes);
}

#[test]
fn hosts_that_cannot_be_are_refused_before_anything_is_touched() {
    let folder = scratch();
    for (list, word) in [
        ("n[1-", "without"),
        ("local:x", "local:1"),
        ("a,a", "named twice"),
        ("@nowhere", "check the path"),
    ] {
        let ended = plimsoll(&folder, arguments(["--hosts", list], "1s", "data"));
        assert!([2, 3].contains(&ended.code) && ended.err.contains(word), "{list}: {ended:#?}");
    }
    let launcher = ["--hosts", "x", "--launcher", "docker exec"];
    assert!(
        plimsoll(&folder, arguments(launcher, "1s", "data")).with_code(2).err.contains("{host}")
    );
    assert!(names(&folder).is_empty());
}

#[test]
fn four_hosts_over_ssh_do_what_one_does() {
    let true = has("four hosts over ssh", "sshd ip sqlite3") else { return };
    let cluster = SshCluster::new();
    let (folder, data) = place();
    let hosts = "--hosts n[1-4]";
    over_ssh(&cluster, &folder, arguments(hosts, "1s", [text(&data)])).with_code(0);
    assert_four_loaded(&folder);
    assert_eq!(names(&folder), ["run.html", "run.plimsoll"]);
    let copies = names(&cluster.cache());
    assert_eq!(copies.len(), 1, "one copy, for all four share their files: {copies:?}");

    // Two names of one machine, a key that is not taken, a host that is not there: refused with its
    // name, and nothing is written.
    fs::remove_file(folder.join("run.plimsoll")).expect("there");
    for (list, word) in [
        ("n1,alias1", "one machine"),
        ("n1,root@10.255.255.1", "10.255.255.1"),
        ("n1,nowhere.invalid", "nowhere.invalid"),
    ] {
        let ended = over_ssh(&cluster, &folder, arguments(["--hosts", list], "1s", [text(&data)]))
            .with_code(3);
        assert!(ended.err.contains(word), "{list}: {ended:#?}");
        assert_eq!(names(&folder), ["run.html"]);
    }

    // An operator's own list on the hosts, and a binary that is already there.
    let agent = ["--hosts", "n[1-2]", "--agent", crate::common::PLIMSOLL];
    over_ssh(&cluster, &folder, arguments(agent, "200ms", [text(&data)])).with_code(0);

    // Who is not there is named, and keeps nobody from cleaning the others. One other: hosts that
    // see the same files take them from each other, and who comes late has nothing to say.
    fs::remove_file(folder.join("run.plimsoll")).expect("there");
    over_ssh(&cluster, &folder, arguments(agent, "200ms", ["--keep-data", text(&data)]))
        .with_code(0);
    let list = "nowhere.invalid,n2";
    let ended = over_ssh(&cluster, &folder, ["clean", "--hosts", list, text(&data)]).with_code(3);
    assert!(
        ended.err.contains("host nowhere.invalid") && !ended.err.contains("host n2"),
        "{ended:#?}"
    );
    let left: Vec<String> =
        names(&folder).into_iter().filter(|name| name.starts_with("data")).collect();
    assert!(ended.out.contains("host n2") && left.is_empty(), "{left:?} {ended:#?}");

    are_watched(&cluster);
    over_ssh(&cluster, &folder, "clean --hosts n[1-4]").with_code(0);
    assert!(!cluster.cache().exists());
}

#[test]
fn hosts_that_start_one_another_over_ssh_load_and_fall_off_the_network_together() {
    let true = has("four hosts over ssh", "sshd ip sqlite3") else { return };
    let cluster = SshCluster::new();
    let (folder, data) = place();
    let hosts = "--hosts n[1-4] --fanout 2";
    over_ssh(&cluster, &folder, arguments(hosts, "1s", [text(&data)])).with_code(0);
    assert_four_loaded(&folder);
    // What a relay cannot reach is named, and how to do without it.
    let lists = "--hosts n1,nowhere.invalid --fanout 2";
    over_ssh(&cluster, &folder, arguments(lists, "1s", [text(&data)])).with_code(3);
    let lists = "--hosts n1,nowhere.invalid,n2 --fanout 2";
    let ended = over_ssh(&cluster, &folder, arguments(lists, "1s", [text(&data)])).with_code(3);
    assert!(
        ended.err.contains("host nowhere.invalid") && !ended.err.contains("host n2"),
        "{ended:#?}"
    );

    fs::remove_file(folder.join("run.plimsoll")).expect("there");
    let more = ("--set fleet.lost_after=2s --set fleet.on_lost_host=continue", [&data]);
    let path = cluster.search_path();
    let child = start(&folder, arguments(hosts, "8s", more), &[("PATH", &path)]);
    wait_for_samples(&folder, 4);
    cluster.cut(1);
    end(child).with_code(0);
    let record = recorded(&folder);
    assert_eq!(
        lost(&record).into_iter().collect::<BTreeSet<_>>(),
        BTreeSet::from([0, 1]),
        "n2 is reached over n1"
    );
    wait_until("the agents behind the cut link to end", || agents(&data).is_empty());
}

/// The same hosts under `watch`, without a load.
fn are_watched(cluster: &SshCluster) {
    let folder = scratch();
    let args = "watch --hosts n[1-4] --interval 200ms --count 2 --json";
    let told = over_ssh(cluster, &folder, args).with_code(0).out;
    for host in ["n1", "n2", "n3", "n4"] {
        let named = format!("\"host\":\"{host}\"");
        assert_eq!(told.lines().filter(|line| line.contains(&named)).count(), 2, "{told}");
    }
    assert!(names(&folder).is_empty(), "nothing is left behind");
}

#[test]
fn a_host_that_falls_off_the_network_is_lost_and_ends_its_own_load() {
    let true = has("a host that falls off the network", "sshd ip sqlite3") else { return };
    let cluster = SshCluster::new();
    let (folder, data) = place();
    let more = ["--set", "fleet.lost_after=2s", text(&data)];
    let path = cluster.search_path();
    let child = start(&folder, arguments("--hosts n[1-4]", "60s", more), &[("PATH", &path)]);
    wait_for_samples(&folder, 4);
    cluster.cut(3);
    let ended = end(child).with_code(4);
    assert!(ended.err.contains("host n3 was lost"), "{ended:#?}");
    // Nobody can tell it to stop: it does so because it hears nothing.
    wait_until("the agent behind the cut link to end", || agents(&data).is_empty());
}

#[test]
fn a_slurm_job_of_four_nodes_is_made_used_and_given_back() {
    let true = has("a Slurm job", "slurmctld munged losetup loop mkfs.ext4 mount") else { return };
    let cluster = SlurmCluster::new();
    let (folder, data) = place();
    let configuration = cluster.configuration();
    let environment = [("SLURM_CONF", text(&configuration)), ("XDG_CACHE_HOME", text(&folder))];
    let child = start(&folder, arguments("--slurm -N4", "1s", [text(&data)]), &environment);
    end(child).with_code(0);
    assert_four_loaded(&folder);
    let wait_for_none = || {
        wait_until("the job to be given back", || {
            let queue = cluster.command("squeue").args(["-h", "-t", "running"]).output();
            queue.expect("squeue").stdout.is_empty()
        });
    };
    wait_for_none();
    // A command of the user's, each with a device of its own.
    let disks = [Mounted::new("mkfs.ext4", 32), Mounted::new("mkfs.ext4", 32)];
    let dd = |host: &str, disks: [&Mounted; 2]| {
        let targets: Vec<String> = (1..)
            .zip(disks)
            .map(|(at, disk)| format!("-t{host}{at}:{}", text(disk.path())))
            .collect();
        let load = "-q --json -- dd if=/dev/zero of={target}/x bs=64k count=64 oflag=direct";
        ("beside", targets, load).words()
    };
    let [one, two] = &disks;
    let args = ("beside --slurm -N2", dd("n", [one, two])[1..].to_vec()).words();
    let child = started(command(&folder, args).envs(environment));
    let json = end(child).with_code(0).json();
    both_wrote(&json, ["n1", "n2"]);
    wait_for_none();
    let args = ("beside --hosts local:2", dd("local-", [one, two])[1..].to_vec()).words();
    both_wrote(&plimsoll(&folder, args).with_code(0).json(), ["local-1", "local-2"]);
}

/// Commands of two hosts ended well, and the devices took what both wrote.
fn both_wrote(json: &Value, hosts: [&str; 2]) {
    let commands = json["commands"].as_array().expect("commands");
    let of: Vec<_> =
        commands.iter().map(|one| (one["host"].as_str(), one["code"].as_u64())).collect();
    assert_eq!(of, hosts.map(|host| (Some(host), Some(0))), "{json}");
    let rows = json["results"].as_array().expect("rows");
    let wrote = rows.iter().find(|row| row["op"] == "write").and_then(|row| row["bytes"].as_u64());
    assert!(wrote >= Some(8 << 20) && wrote < Some(9 << 20), "{json}");
}

#[test]
fn a_slurm_job_is_given_back_when_a_signal_comes_before_its_agents() {
    let true = has("a Slurm job that is called off", "slurmctld munged") else { return };
    let (cluster, folder) = (SlurmCluster::new(), scratch());
    let jobs = |states: &str| {
        let queue = cluster
            .command("squeue")
            .args(["-h", "-t", states, "-o", "%i"])
            .output()
            .expect("squeue");
        String::from_utf8_lossy(&queue.stdout).lines().count()
    };
    let configuration = cluster.configuration();
    // The job is granted, and whoever asks for its nodes waits until the test says so: the signal
    // comes in between.
    let (bin, asked) = (folder.join("bin"), folder.join("asked"));
    let waits =
        format!("#!/bin/sh\ntouch {0}\nwhile [ -e {0} ]; do sleep 0.05; done\n", text(&asked));
    script(&bin, "squeue", &waits);
    let path = format!("{}:{}", text(&bin), std::env::var("PATH").unwrap_or_default());
    let data = folder.join("data");
    let args = arguments("--slurm -N4", "1s", [text(&data)]);
    let child = start(&folder, &args, &[("SLURM_CONF", text(&configuration)), ("PATH", &path)]);
    wait_until("the job and the question for its nodes", || asked.exists());
    assert_eq!(jobs("running"), 1);
    signal(&child, "TERM");
    let ended = end(child).with_code(130);
    assert!(ended.err.contains("stopped before anything was loaded"), "{ended:#?}");
    wait_until("the job to be given back", || jobs("pending,running,completing") == 0);
    fs::remove_file(&asked).expect("a file");

    // It is not granted: somebody else has all the nodes.
    let other = cluster
        .command("salloc")
        .args(["--no-shell", "-N4", "--exclusive"])
        .output()
        .expect("salloc");
    assert!(other.status.success(), "{other:?}");
    let child = start(&folder, &args, &[("SLURM_CONF", text(&configuration))]);
    wait_until("a job that waits", || jobs("pending") == 1);
    signal(&child, "INT");
    let ended = end(child).with_code(130);
    assert!(!ended.err.contains("error"), "{ended:#?}");
    wait_until("the wish to be taken back", || jobs("pending") == 0);
    assert_eq!(jobs("running"), 1, "the other's job stays");
}

fn start(folder: &Path, args: impl Words, environment: &[(&str, &str)]) -> Child {
    started(command(folder, args).envs(environment.iter().copied()))
}

fn over_ssh(cluster: &SshCluster, folder: &Path, args: impl Words) -> Ended {
    ended(command(folder, args).env("PATH", cluster.search_path()))
}

#[test]
fn two_runs_on_one_machine_say_so_of_each_other() {
    let (first, second) = (scratch(), scratch());
    // The other tests run alone; these two do not.
    let begin = |folder: &Path, hosts: &str| {
        let mut run = command(folder, arguments(hosts, "600", ""));
        let run = run.env_remove("PLIMSOLL_ALONE").env("USER", "bench");
        let child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a run");
        wait_until("samples", || {
            store::read(&folder.join("run.plimsoll"))
                .is_ok_and(|record| record.stages.iter().any(|stage| stage.samples().len() > 1))
        });
        child
    };
    let a = begin(&first, "--hosts local:2");
    let b = begin(&second, "");
    // The first sees the second when its stage ends, and the second has seen the first.
    for child in [a, b] {
        signal(&child, "INT");
        end(child);
    }
    let ids = [&first, &second].map(|folder| recorded(folder).plan.run_id);
    for (folder, other) in [(&first, &ids[1]), (&second, &ids[0])] {
        let record = recorded(folder);
        let named = record.notes.iter().find_map(|note| match &note.fact {
            model::Fact::OtherRun(one) => {
                // A run of another test, beside these, may have a name that needs no cut.
                let cut = one.run.split_once('~');
                cut.filter(|(begin, end)| other.starts_with(begin) && other.ends_with(end))
                    .map(|_| one.clone())
            }
            _ => None,
        });
        let named = named.unwrap_or_else(|| panic!("{other}: {:?}", record.notes));
        assert!(named.same_place && named.user == "bench" && named.pid > 1, "{named:?}");
        let json = shown(folder);
        let words = json["results"][0].doubt("other-run");
        assert!(words.contains("by bench") && words.contains("same disk"), "{words}");
    }
}
