//! Traces: what was recorded is sent again, and recorded the same; what cannot be sent is refused
//! before anything is touched.

use crate::common::{
    Ended, Json, Loop, end, has, plimsoll, run, said, scratch, signal, start, text,
};
use model::Op;
use model::rng::Rng;
use model::trace::{Ending, Header, Reader, Request, TraceClock, Writer};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

/// The requests of a trace, and how it ended.
fn read(path: &Path) -> (Vec<Request>, Ending) {
    let file = BufReader::new(File::open(path).expect("a file"));
    let mut reader = Reader::new(file).expect("a trace");
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while reader.next_block(&mut block).expect("a good block") {
        all.extend(block.iter().copied());
    }
    (all, reader.ending().expect("the end"))
}

/// A log of fio with so many requests, no two of which adjoin: the kernel would merge them.
fn iolog(count: u64, space_blocks: u64, only_reads: bool) -> String {
    let mut rng = Rng::new(count);
    let mut log = "fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open\n".to_owned();
    let mut last = u64::MAX;
    for number in 0..count {
        let block = loop {
            let block = rng.below(space_blocks / 4) * 4;
            if block != last {
                break block;
            }
        };
        last = block;
        let (action, length) = match rng.below(10) {
            0 if !only_reads => ("trim", 4096),
            1..=3 if !only_reads => ("write", 8192),
            _ => ("read", 4096),
        };
        let at_us = 1_000 + number * 400;
        writeln!(log, "{at_us} /dev/sdx {action} {} {length}", block * 4096).expect("a text");
    }
    log
}

/// What `plimsoll record` writes while `load` goes on.
fn recorded(folder: &Path, device: &Loop, name: &str, load: impl FnOnce()) -> Ended {
    // It ends by itself even where this test does not come to its end.
    let line = ["record", text(&device.device), "--for", "10m", "-o", name, "--json"];
    let mut child = start(folder, line);
    said(&mut child, "recording");
    load();
    signal(&child, "INT");
    end(child).with_code(130)
}

#[test]
fn a_killed_recording_leaves_a_trace_that_begins_and_nothing_in_the_kernel_for_long() {
    let true = has("a killed recording", "losetup loop tracefs") else { return };
    let (folder, device) = (scratch(), Loop::new(16));
    let line = ["record", text(&device.device), "--for", "10m", "-o", "x.trace"];
    let mut child = start(&folder, line);
    said(&mut child, "recording");
    signal(&child, "KILL");
    child.wait().expect("it is gone");
    let file = BufReader::new(File::open(folder.join("x.trace")).expect("a file"));
    assert!(Reader::new(file).is_ok(), "its header is there from the beginning");
    let instance = format!("/sys/kernel/tracing/instances/plimsoll-{}-0", child.id());
    assert!(Path::new(&instance).exists());
    plimsoll(&folder, "clean .");
    assert!(!Path::new(&instance).exists(), "the kernel traces every disk for nobody");
}

#[test]
fn a_recording_that_is_replayed_is_recorded_the_same() {
    let true = has("the circle of record and replay", "losetup loop tracefs") else { return };
    let folder = &scratch();
    fs::write(folder.join("a.iolog"), iolog(1_500, 64 << 8, false)).expect("a log");
    let device = Loop::new(64);
    let replay = |trace: &str| -> Value {
        // One after the other: requests that are outstanding together have no order at a device.
        let give_up = ["--destroy-data", text(&device.device), "--set", "stages.prepare=false"];
        let line = (["replay", trace, "--depth", "1", "--json", "-q"], &give_up);
        plimsoll(folder, line).with_code(0).json()
    };
    let check = |json: &Value| {
        let fidelity = &json["fidelity"];
        let counts = ["requests", "of", "offsets_exact"].map(|field| fidelity[field].as_u64());
        assert_eq!(counts, [Some(1_500); 3], "{fidelity}");
        assert_eq!(fidelity["in_sequence"], true, "{fidelity}");
        assert!(fidelity["lateness_ns"]["p99"].is_u64(), "{fidelity}");
        assert!(fidelity["inter_arrival_error_ns"]["p99"].is_u64(), "{fidelity}");
    };
    let told = recorded(folder, &device, "one.trace", || check(&replay("a.iolog"))).json();
    let again = recorded(folder, &device, "two.trace", || check(&replay("one.trace"))).json();
    for field in ["requests", "bytes", "reads", "writes", "trims", "flushes", "lost", "left_out"] {
        assert_eq!(told[field], again[field], "{field}: {told} {again}");
    }
    assert_eq!((&told["requests"], &told["lost"]), (&Value::from(1_500), &Value::from(0)));
    let sequence = |name: &str| {
        let (requests, ending) = read(&folder.join(name));
        assert!(matches!(ending, Ending::Whole(_)), "{ending:?}");
        requests.iter().map(|one| (one.op, one.offset, one.length)).collect::<Vec<_>>()
    };
    assert!(sequence("one.trace") == sequence("two.trace"), "another sequence");
    // What was asked for, by the log itself.
    let log = fs::read_to_string(folder.join("a.iolog")).expect("a log");
    let asked = log.lines().skip(3).map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let op = match words[2] {
            "read" => Op::Read,
            "write" => Op::Write,
            _ => Op::Trim,
        };
        let number = |word: &str| word.parse::<u64>().expect("a number");
        (op, number(words[3]), number(words[4]) as u32)
    });
    assert!(sequence("one.trace") == asked.collect::<Vec<_>>(), "not what the log asked for");
    // Nothing of the program stays in tracefs, if that is still there for others. What tests make
    // there themselves has another name, and may be of a test that was killed.
    let instances = Path::new("/sys/kernel/tracing/instances");
    let left = fs::read_dir(instances).into_iter().flatten().flatten();
    let is_of_dead = |name: &str| {
        let process = name.strip_prefix("plimsoll-").and_then(|id| id.parse::<u32>().ok());
        process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists())
    };
    let left: Vec<_> = left.filter(|one| is_of_dead(&one.file_name().to_string_lossy())).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn fio_and_plimsoll_replay_one_log_the_same_by_the_kernels_tracepoints() {
    let true = has("one log, two replays", "losetup loop tracefs fio") else { return };
    let folder = &scratch();
    // fio takes no trims out of a log that it replays by plain calls.
    let log = iolog(800, 64 << 8, false).replace("trim", "read");
    fs::write(folder.join("a.iolog"), log).expect("a log");
    let device = Loop::new(64);
    let redirect = format!("--replay_redirect={}", text(&device.device));
    recorded(folder, &device, "fio.trace", || {
        let log = format!("--read_iolog={}", text(&folder.join("a.iolog")));
        let how = "--name=r --direct=1 --ioengine=psync --iodepth=1";
        run("fio", (&how, [&log, &redirect]));
    });
    recorded(folder, &device, "ours.trace", || {
        let give_up = ["--destroy-data", text(&device.device), "--set", "stages.prepare=false"];
        let line = ("replay a.iolog --depth 1 -q", &give_up);
        plimsoll(folder, line).with_code(0);
    });
    let sequence = |name: &str| {
        let (requests, ending) = read(&folder.join(name));
        assert!(matches!(ending, Ending::Whole(_)), "{ending:?}");
        requests.iter().map(|one| (one.op, one.offset, one.length)).collect::<Vec<_>>()
    };
    let (fio, ours) = (sequence("fio.trace"), sequence("ours.trace"));
    let first = fio.iter().zip(&ours).position(|(fio, ours)| fio != ours);
    assert!(fio == ours, "{} and {} requests, {first:?} differs first", fio.len(), ours.len());
    assert_eq!(ours.len(), 800);
}

#[test]
fn several_hosts_replay_a_trace_each_or_one_among_them() {
    let folder = &scratch();
    fs::write(folder.join("a.iolog"), iolog(900, 64 << 4, true)).expect("a log");
    fs::write(folder.join("b.iolog"), iolog(700, 64 << 4, true)).expect("a log");
    let line = |rest: &str| {
        let common = "--hosts local:2 -t data --size 4MiB --json -q";
        plimsoll(folder, ("replay", rest, &common))
    };
    let check = |json: &Value, of: [u64; 2]| {
        let fidelity = &json["fidelity"];
        let counts = ["requests", "of", "offsets_exact"].map(|field| fidelity[field].as_u64());
        assert_eq!(counts, [Some(of[0] + of[1]); 3], "{fidelity}");
        assert_eq!(fidelity["in_sequence"], true, "{fidelity}");
        let hosts = fidelity["hosts"].list();
        let each: Vec<_> = hosts.iter().map(|host| host["requests"].as_u64()).collect();
        assert_eq!(each, of.map(Some), "{fidelity}");
        assert!(fidelity["in_flight"]["max"].as_u64().is_some_and(|most| most >= 1), "{fidelity}");
        assert!(fidelity["in_flight_of_trace"].is_null(), "fio's log does not say: {fidelity}");
    };
    check(&line("a.iolog b.iolog").with_code(0).json(), [900, 700]);
    check(&line("a.iolog --split turn").with_code(0).json(), [450, 450]);
    // Two volumes of one trace, in which each request says how long it took.
    let mut msr = String::new();
    for number in 0..300u64 {
        let (disk, at) = (u64::from(number % 3 == 0), 128_166_372_003_061_629 + number * 20_000);
        writeln!(msr, "{at},hm,{disk},Read,{},4096,30000", number * 4096).expect("a text");
    }
    fs::write(folder.join("m.csv"), msr).expect("a trace");
    let json = line("m.csv --split source").with_code(0).json();
    let hosts = json["fidelity"]["hosts"].list().clone();
    assert_eq!(
        (&hosts[0]["requests"], &hosts[1]["requests"]),
        (&100.into(), &200.into()),
        "{json}"
    );
    // Of the whole trace on one host: requests every 2 ms that took 3 ms.
    let one = "replay m.csv -t data --json -q";
    let json = plimsoll(folder, one).with_code(0).json();
    let original = &json["fidelity"]["in_flight_of_trace"];
    let mean = original["mean"].number();
    assert!(original["max"] == 2 && (mean - 599.0 / 300.0).abs() < 1e-9, "{json}");

    for (rest, wanted) in [
        ("a.iolog", "--split source"),
        ("a.iolog b.iolog m.csv", "a trace for each host"),
        ("a.iolog --split source", "1 source, fewer than the 2 hosts"),
        ("a.iolog b.iolog --split turn", "name one trace"),
    ] {
        let told = line(rest).with_code(2).err;
        assert!(told.contains(wanted), "{told}");
    }
    let told = plimsoll(folder, "replay a.iolog b.iolog -t data").with_code(2).err;
    assert!(told.contains("one host replays one trace"), "{told}");
    let far = "replay a.iolog b.iolog --hosts node[01-02] -t /data";
    let told = plimsoll(folder, far).with_code(2).err;
    assert!(told.contains("other machines cannot read the copy"), "{told}");
}

#[test]
fn a_trace_goes_into_a_file_of_ours_and_is_faster_where_that_is_asked_for() {
    let folder = &scratch();
    fs::write(folder.join("a.iolog"), iolog(400, 4 << 8, false).replace("trim", "read"))
        .expect("a log");
    let line =
        ["replay", "a.iolog", "-t", "data", "--speed", "4x", "--workers", "2", "--json", "-q"];
    let json = plimsoll(folder, line).with_code(0).json();
    let fidelity = &json["fidelity"];
    assert_eq!((&fidelity["requests"], &fidelity["in_sequence"]), (&400.into(), &true.into()));
    let all = json["results"].list();
    let errors: u64 = all.iter().filter_map(|row| row["errors"].as_u64()).sum();
    assert_eq!((errors, folder.join("data").exists()), (0, false), "and nothing stays");
}

#[test]
fn a_trace_is_folded_or_stretched_onto_a_smaller_target() {
    let folder = &scratch();
    fs::write(folder.join("a.iolog"), iolog(200, 16 << 8, true)).expect("a log");
    fs::write(folder.join("small"), vec![1; 1 << 20]).expect("a file");
    for how in ["fold", "stretch"] {
        let line = ("replay a.iolog --existing -t small --scale-space", [how], "--json -q");
        let json = plimsoll(folder, line).with_code(0).json();
        let fidelity = &json["fidelity"];
        assert_eq!((&fidelity["requests"], &fidelity["in_sequence"]), (&200.into(), &true.into()));
        assert!(fidelity["offsets_exact"].as_u64() < Some(100), "{how}: {fidelity}");
        assert_eq!(json["results"][0]["errors"], 0, "{how}");
    }
}

/// A trace of ours with reads of one block each.
fn own(path: &Path, offsets: &[u64]) {
    let header = Header {
        device: "test".to_owned(),
        size_bytes: 0,
        sector_bytes: 512,
        clock: TraceClock::Foreign,
        taken_from: "test".to_owned(),
        began_unix_ns: 0,
    };
    let mut writer = Writer::new(File::create(path).expect("a file"), &header).expect("written");
    for (number, offset) in (0..).zip(offsets) {
        let request = Request {
            at_ns: number * 1_000,
            op: Op::Read,
            offset: *offset,
            length: 4096,
            source: 0,
        };
        writer.add(&request).expect("written");
        writer.flush().expect("written");
    }
    writer.finish(3, 0).expect("written");
}

#[test]
fn a_trace_that_is_cut_off_is_replayed_to_its_last_whole_block_and_said_so() {
    let folder = &scratch();
    own(&folder.join("x.trace"), &[0, 8192, 4096, 12_288]);
    fs::write(folder.join("target"), vec![1; 65_536]).expect("a file");
    let line = "replay x.trace --existing -t target --json -q";
    let whole = plimsoll(folder, line).with_code(0);
    assert!(whole.err.contains("its recorder lost 3 requests"), "{}", whole.err);
    let bytes = fs::read(folder.join("x.trace")).expect("a trace");
    // Within the last block of requests, which the one at the end follows.
    fs::write(folder.join("x.trace"), &bytes[..bytes.len() - 20]).expect("a trace");
    let cut = plimsoll(folder, line).with_code(0);
    assert!(cut.err.contains("x.trace is cut off in the middle"), "{}", cut.err);
    assert_eq!(cut.json()["fidelity"]["requests"], 3);
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    fs::write(folder.join("x.trace"), damaged).expect("a trace");
    let refused = plimsoll(folder, line).with_code(2);
    assert!(refused.err.contains("is damaged"), "{}", refused.err);
}

#[test]
fn a_trace_that_is_far_out_of_order_is_sorted_with_files_and_leaves_none() {
    let folder = &scratch();
    let line = |time: u32| format!("0,{time},512,r,{time}.0\n");
    fs::write(folder.join("near.spc"), (0..70_000).map(line).collect::<String>()).expect("a trace");
    let far: String = (1..70_000).chain([0]).map(line).collect();
    fs::write(folder.join("far.spc"), far).expect("a trace");
    let distil = |name: &str| {
        let out = format!("{name}.toml");
        let ended = plimsoll(folder, ["distil", name, "-o", &out]).with_code(0);
        let suite = fs::read_to_string(folder.join(out)).expect("a suite");
        (suite.replace(&name.replace(".spc", ""), "x"), ended.err)
    };
    let (near, quiet) = distil("near.spc");
    let (far, told) = distil("far.spc");
    assert_eq!(near, far);
    assert!(!quiet.contains("sorting") && told.contains("far out of order; sorting"), "{told}");
    let names = crate::common::names(folder);
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_place_and_nothing_is_touched() {
    let folder = &scratch();
    fs::write(folder.join("target"), vec![7; 65_536]).expect("a file");
    let log = |lines: &str| format!("fio version 3 iolog\n{lines}");
    for (name, trace, options, words) in [
        (
            "past.iolog",
            log("0 f read 0 4096\n9 f read 65536 4096\n"),
            "",
            &["line 3", "ends at byte 69632", "past the 65536 bytes", "--scale-space"][..],
        ),
        ("bad.iolog", log("0 f read 0 4096\n9 f read -1 4096\n"), "", &["line 3", "`-1` is no"]),
        ("empty.iolog", log("0 f add\n0 f open\n"), "", &["holds no requests", "record it again"]),
        ("writes.iolog", log("0 f write 0 4096\n"), "", &["--existing writes nothing", "--only"]),
        ("none.iolog", log("0 f write 0 4096\n"), "--only reads", &["leave out --only"]),
        ("source.iolog", log("0 f read 0 512\n"), "--source g", &["of source `g`", "are f"]),
        ("what.txt", "hello\n".to_owned(), "", &["tells no form", "--from"]),
        ("odd.iolog", log("0 f read 7 4096\n"), "", &["direct I/O", "--buffered"]),
    ] {
        fs::write(folder.join(name), trace).expect("a trace");
        let line = (["replay", name, "--existing", "-t", "target"], options);
        let ended = plimsoll(folder, line);
        assert!([2, 3].contains(&ended.code), "{name}: {ended:#?}");
        for word in words {
            assert!(ended.err.contains(word), "{name}: {word}: {}", ended.err);
        }
    }
    for (line, code, word) in [
        ("replay gone.trace -t x", 2, "check the path"),
        ("replay past.iolog", 2, "no target is named"),
        ("replay . -t x", 2, "is a directory"),
        ("replay source.iolog -t target", 3, "--existing"),
        ("record /dev/null -o x.trace", 3, "is no block device"),
        ("record gone -o x.trace", 3, "check the path"),
        ("record target -o past.iolog", 2, "no file is overwritten"),
    ] {
        let ended = plimsoll(folder, line).with_code(code);
        assert!(ended.err.contains(word), "{line:?}: {}", ended.err);
    }
    assert!(fs::read(folder.join("target")).expect("a file").iter().all(|byte| *byte == 7));
    let left: Vec<String> = crate::common::names(folder);
    assert!(!left.iter().any(|name| name.contains("plimsoll") || name == "x"), "{left:?}");
}

#[test]
fn a_trace_is_distilled_into_a_suite_that_runs() {
    let folder = &scratch();
    fs::write(folder.join("a.iolog"), iolog(2_000, 16 << 8, false).replace("trim", "read"))
        .expect("a log");
    let line = "distil a.iolog -o suite.toml --json";
    let json = plimsoll(folder, line).with_code(0).json();
    assert_eq!(json["requests"], 2_000);
    for field in ["sizes", "offsets", "popularity", "inter_arrivals", "rate"] {
        let distance = json["distances"][field].number();
        assert!((0.0..=0.3).contains(&distance), "{field}: {distance}");
    }
    let suite = fs::read_to_string(folder.join("suite.toml")).expect("a suite");
    assert!(suite.contains("# Distances from the trace"), "{suite}");
    plimsoll(folder, "plan suite.toml -t data").with_code(0);
    let again = plimsoll(folder, line).with_code(2);
    assert!(again.err.contains("no file is overwritten"), "{}", again.err);
}
