//! What the counters of every layer say is what really happened there.

use crate::common::{
    Counters, Json, Loop, Mounted, assert_says, has, plimsoll, recorded, run, scratch, text,
};
use model::counters::{Layer, Metric};
use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[test]
fn the_run_file_has_every_request_that_the_device_saw() {
    let true = has("the layers of a run on a loop device", "losetup loop") else { return };
    let device = Loop::new(64);
    let folder = scratch();
    std::fs::write(folder.join("layers.toml"), crate::common::random_suite("layers"))
        .expect("a suite");
    let before = device.counters();
    let args = ("run layers.toml --quiet --out run.plimsoll --destroy-data", [&device.device]);
    plimsoll(&folder, args).with_code(0);
    let seen = device.counters().since(before);

    let record = recorded(&folder);
    let name = device.device.file_name().expect("a name").to_string_lossy().into_owned();
    let samples = || record.counters();
    let sum = |metric| {
        samples().filter_map(|sample| sample.get(Layer::Block, &name, metric)).sum::<u64>()
    };
    let counted = Counters {
        reads: sum(Metric::Reads) + sum(Metric::ReadsMerged),
        read_sectors: sum(Metric::ReadBytes) / 512,
        writes: sum(Metric::Writes) + sum(Metric::WritesMerged),
        write_sectors: sum(Metric::WriteBytes) / 512,
        flushes: sum(Metric::Flushes),
    };
    assert_eq!(counted, seen);
    assert!(seen.reads > 100 && seen.writes > 400, "{seen:?}");

    for stage in &record.stages {
        assert!(!stage.counters().is_empty(), "stage {}", stage.stage);
        let adjoin = |pair: &[model::CounterSample]| {
            pair[0].start_ns + pair[0].length_ns == pair[1].start_ns
        };
        assert!(stage.counters().windows(2).all(adjoin), "no time is left out or counted twice");
        assert!(
            stage
                .counters()
                .iter()
                .enumerate()
                .all(|(index, sample)| sample.number as usize == index)
        );
    }
    let measured = record.stages.last().expect("a stage");
    assert!(
        measured.counters().len() >= 3,
        "700 ms at 100 ms, on a host that may be busy: {}",
        measured.counters().len()
    );
}

#[test]
fn the_inventory_follows_a_target_down_to_the_file_below_its_loop_device() {
    let folder = scratch();
    let nowhere = plimsoll(&folder, "inventory no/such/place").with_code(0).out;
    assert_says(&nowhere, &["no/such/place: nothing stands there, nor above it"]);
    let true = has("the layers below a file system", "losetup loop mkfs.ext4 mount") else {
        return;
    };
    let mounted = Mounted::new("mkfs.ext4", 64);
    let place = text(mounted.path());
    let json = plimsoll(&folder, ["inventory", "--json", place]).with_code(0).json();
    let chain = json[0]["targets"][0]["chain"].list();
    assert_eq!((&chain[0]["kind"], &chain[0]["name"]), (&"FileSystem".into(), &"ext4".into()));
    assert_eq!(
        (&chain[1]["kind"], &chain[1]["device"]["media"]),
        (&"Loop".into(), &"Virtual".into())
    );
    assert!(
        chain[1]["detail"].as_str().is_some_and(|detail| detail.starts_with("over /")),
        "{chain:?}"
    );
    let size = chain[1]["device"]["size"].as_u64();
    assert_eq!(size, Some(64 << 20));
    let inventory = &json[0]["inventory"];
    assert!(inventory["threads"].as_u64() >= Some(1));
    let mounts = inventory["mounts"].list();
    assert!(mounts.iter().any(|mount| mount["mount_point"] == place && mount["network"] == false));

    let words = plimsoll(&folder, ["inventory", place]).with_code(0).out;
    assert!(words.contains(&format!("target   {place}: a directory")), "{words}");
    assert!(words.contains("loop device loop"), "{words}");
}

#[test]
fn simulated_time_has_no_counters() {
    let folder = scratch();
    let args = "run layers.toml --quiet --out run.plimsoll --target sim:ssd";
    std::fs::write(folder.join("layers.toml"), crate::common::random_suite("layers"))
        .expect("a suite");
    plimsoll(&folder, args).with_code(0);
    let record = recorded(&folder);
    assert!(record.stages.iter().any(|stage| !stage.samples().is_empty()));
    assert!(record.stages.iter().all(|stage| stage.counters().is_empty()));
}

/// A device in memory that can be pulled out. The kernel gives the number of one that is gone to
/// the next that is made, which then looks as if nothing had been pulled out: so there is one at a
/// time, and it is taken away once.
struct Zram {
    number: String,
    is_there: Cell<bool>,
    _turn: MutexGuard<'static, ()>,
}

impl Zram {
    fn new() -> Zram {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add")
            .expect("a device")
            .trim()
            .to_owned();
        let zram = Zram { number, is_there: Cell::new(true), _turn: turn };
        std::fs::write(format!("/sys/block/{}/disksize", zram.name()), "16M").expect("a size");
        zram
    }

    fn name(&self) -> String {
        format!("zram{}", self.number)
    }

    fn write(&self, bytes: usize) {
        let file = std::fs::OpenOptions::new().write(true).open(format!("/dev/{}", self.name()));
        let mut file = file.expect("a device");
        std::io::Write::write_all(&mut file, &vec![7; bytes]).expect("room");
        file.sync_all().expect("a device");
    }

    /// The system may look at a new device for a moment, and then it is busy.
    fn pull_out(&self) -> bool {
        let is_out = std::fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok();
        self.is_there.set(!is_out);
        is_out
    }
}

/// How often a text tells that a block device is gone. Others may go in the same interval, and are
/// told with it.
fn losses(text: &str, name: &str) -> usize {
    let notes = text.split("block ").filter_map(|rest| Some(rest.split_once(": gone")?.0));
    notes.filter(|names| names.split(", ").any(|one| one == name)).count()
}

impl Drop for Zram {
    fn drop(&mut self) {
        if self.is_there.get() {
            self.pull_out();
        }
    }
}

#[test]
fn a_device_that_is_pulled_out_is_counted_until_then_and_missed_once() {
    let true = has("counters of a device that is pulled out", "zram") else { return };
    let zram = Zram::new();
    let name = zram.name();
    let mut counters = probe::Counters::open(&probe::Tree::real());
    zram.write(65_536);
    assert_eq!(counters.read().get(Layer::Block, &name, Metric::WriteBytes), Some(65_536));
    crate::common::wait_until("nobody to look at the device", || zram.pull_out());
    let without = counters.read();
    assert_eq!(without.entry(Layer::Block, &name), None);
    let gone = |sample: &model::CounterSample| {
        sample.notes.iter().map(|note| losses(note, &name)).sum::<usize>()
    };
    assert_eq!((gone(&without), gone(&counters.read())), (1, 0), "{:?}", without.notes);
}

#[test]
fn who_watches_is_told_of_a_device_that_is_pulled_out_and_the_watch_goes_on() {
    let true = has("a watch while a device is pulled out", "zram") else { return };
    let zram = Zram::new();
    let name = zram.name();
    zram.write(65_536);
    let folder = scratch();
    let mut child = crate::common::start(&folder, "watch --interval 100ms --json");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    lines.next().expect("a first line").expect("text");
    crate::common::wait_until("nobody to look at the device", || zram.pull_out());
    // The interval that is on, and two after it: the watch went on.
    (0..3).for_each(|_| drop(lines.next().expect("a line").expect("text")));
    crate::common::signal(&child, "TERM");
    drop(lines);
    let said = crate::common::end(child).with_code(130).err;
    assert_eq!(losses(&said, &name), 1, "{said}");
}

#[test]
fn a_device_that_is_pulled_out_of_a_run_is_missed_and_nothing_is_counted_over_the_gap() {
    let true = has("a run while a device is pulled out", "zram losetup loop") else { return };
    let zram = Zram::new();
    let name = zram.name();
    zram.write(1 << 20);
    let lost = Loop::new(16);
    let here = &scratch();
    let load = "--rw randread --bs 4k --size 16M --runtime 600";
    let often = "--set stages.interval=100ms data";
    let run = "run --quiet --out run.plimsoll --events lines";
    let mut child = crate::common::start(here, (&run, &load, &often));
    crate::common::wait_for_samples(here, 1);
    // What the events say that was counted of it and told of it.
    let mut told = |what: &str, is_told: &dyn Fn(&str) -> bool| {
        crate::common::wait_until(what, || {
            assert_eq!(child.try_wait().expect("a child"), None, "the run goes on");
            is_told(&std::fs::read_to_string(here.join("lines")).unwrap_or_default())
        });
    };
    let is_counted = |lines: &str| {
        lines.lines().any(|line| line.contains("\"counters\"") && line.contains(&name))
    };
    told("an interval with the device", &is_counted);
    let readings = |lines: &str| lines.lines().filter(|line| line.contains("\"counters\"")).count();
    let so_far = || readings(&std::fs::read_to_string(here.join("lines")).unwrap_or_default());
    zram.write(65_536);
    // How many readings are under way to the file when it is written, nobody knows: what they say
    // of the device is certain.
    let bytes_of = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let entries = event["entries"].as_array().cloned().unwrap_or_default();
        let of_device = entries
            .iter()
            .filter(|entry| entry["layer"] == "block" && entry["name"] == name.as_str());
        of_device.filter_map(|entry| entry["values"]["write_bytes"].as_u64()).sum::<u64>()
    };
    told("a reading of what was written", &|lines| {
        lines.lines().map(bytes_of).sum::<u64>() >= 65_536
    });
    drop(lost);
    crate::common::wait_until("nobody to look at the device", || zram.pull_out());
    told("its loss", &|lines| losses(lines, &name) > 0);
    let before = so_far();
    told("the run that goes on", &|lines| readings(lines) >= before + 3);
    crate::common::signal(&child, "INT");
    crate::common::end(child).with_code(130);

    let record = recorded(here);
    let samples: Vec<&model::CounterSample> = record.counters().collect();
    let written = samples
        .iter()
        .filter_map(|sample| sample.get(Layer::Block, &name, Metric::WriteBytes))
        .sum::<u64>();
    assert_eq!(written, 65_536, "to the byte what was written while it was there");
    let gone = samples
        .iter()
        .position(|sample| sample.notes.iter().any(|note| losses(note, &name) > 0))
        .expect("a note");
    assert!(samples[gone..].iter().all(|sample| sample.entry(Layer::Block, &name).is_none()));
    assert!(samples.len() > gone + 2, "and others are counted after it");
    let page = std::fs::read_to_string(here.join("run.html")).expect("a page");
    assert!(losses(&page, &name) > 0, "the report says so");
}

#[test]
fn a_container_that_hides_parts_of_proc_is_watched_with_what_is_left() {
    let true = has("a partial /proc", "mount") else { return };
    let folder = scratch();
    // As container runtimes do it: an empty folder over a folder, nothing over a file.
    let hide = "mount -t tmpfs none /proc/pressure && mount -t tmpfs none /proc/fs && mount \
                --bind /dev/null /proc/interrupts && exec \"$@\"";
    let program = crate::common::command(&folder, "").get_program().to_owned();
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", hide, "sh"])
        .arg(program)
        .args(["watch", "--interval", "200ms", "--count", "2", "--json"])
        .current_dir(&folder)
        .output()
        .expect("unshare");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert!(told.len() == 2 && told.iter().all(|object| object["cpu"].is_number()), "{told:?}");
    let missing = said
        .lines()
        .filter(|line| line.contains("/proc/pressure") && line.contains("left out"))
        .count();
    assert_eq!(missing, 1, "once, and not with each interval: {said}");
}

/// Two ends of a virtual cable, of which nothing else in the system knows.
struct Veth {
    ends: [String; 2],
}

impl Veth {
    fn new() -> Veth {
        let ends = ["a", "b"].map(|end| format!("plim{}{end}", std::process::id()));
        let [a, b] = &ends;
        run("ip", ["link", "add", a, "type", "veth", "peer", "name", b]);
        let veth = Veth { ends };
        for end in &veth.ends {
            // Without, the kernel looks for neighbours of its own accord.
            let path = format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6");
            let _ = std::fs::write(path, "1");
            run("ip", ["link", "set", end, "arp", "off", "up"]);
        }
        run("ip", ["address", "add", "198.18.77.1/32", "dev", &veth.ends[0]]);
        // To a group that nobody joined: no neighbour to ask for, and nobody who answers.
        run("ip", ["route", "add", "239.198.18.77/32", "dev", &veth.ends[0]]);
        veth
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        let _ = std::process::Command::new("ip").args(["link", "delete", &self.ends[0]]).status();
    }
}

#[test]
fn a_network_interface_is_counted_to_the_byte() {
    let true = has("the counters of a network interface", "ip net") else { return };
    let veth = Veth::new();
    let mut counters = probe::Counters::open(&probe::Tree::real());
    let socket = UdpSocket::bind("198.18.77.1:0").expect("an address");
    let sizes: Vec<usize> = (0..500).map(|packet| 1 + packet * 37 % 1_400).collect();
    for size in &sizes {
        socket.send_to(&vec![0x5a; *size], "239.198.18.77:9").expect("a cable");
    }
    // A frame's head is 14 bytes, that of IPv4 is 20, that of UDP 8.
    let bytes: u64 = sizes.iter().map(|size| *size as u64 + 14 + 20 + 8).sum();
    let [a, b] = &veth.ends;
    let mut total: Option<model::CounterSample> = None;
    // The far end receives in its own time.
    crate::common::wait_until("the packets to arrive", || {
        let sample = counters.read();
        match &mut total {
            None => total = Some(sample),
            Some(total) => total.merge(&sample),
        }
        total.as_ref().and_then(|total| total.get(Layer::Nic, b, Metric::ReceivedPackets))
            >= Some(500)
    });
    let total = total.expect("a sample");
    let get = |end: &str, metric| total.get(Layer::Nic, end, metric);
    assert_eq!((get(a, Metric::SentPackets), get(a, Metric::SentBytes)), (Some(500), Some(bytes)));
    assert_eq!(
        (get(b, Metric::ReceivedPackets), get(b, Metric::ReceivedBytes)),
        (Some(500), Some(bytes))
    );
    assert_eq!((get(a, Metric::ReceivedBytes), get(b, Metric::SentBytes)), (Some(0), Some(0)));
    assert_eq!((get(a, Metric::SendErrors), get(a, Metric::SendDrops)), (Some(0), Some(0)));
}
