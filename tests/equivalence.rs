//! fio and the suite that is made of its job send the same requests. Both run on a loop device, one
//! after the other, and the kernel's block tracepoints say what each sent: how many requests, of
//! which operation and size, where, and how often one behind the other.
//!
//! Shares are compared by chi-square with one degree of freedom, places by the test of Kolmogorov
//! and Smirnov. Each job has at most [`MOST_TESTS`] of them, and all jobs together are to fail by
//! chance once in [`ODDS`] times.

use crate::common::{Loop, end, has, plimsoll, run, said, scratch, signal, start, text};
use model::Op;
use model::trace::{Reader, Request};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

/// Once in so many times the tests fail though nothing is wrong.
const ODDS: f64 = 10_000.0;
/// No job needs more of them: classes of requests, places, order.
const MOST_TESTS: f64 = 12.0;

/// A job of fio without its device.
struct Job {
    name: &'static str,
    lines: &'static str,
    /// Whether an amount ends it: then both send the same number of requests and bytes.
    counted: bool,
    /// Whether its places are drawn one by one: then their distributions are compared. Where each
    /// comes once, or in a fixed order, the places themselves are.
    drawn: bool,
    /// How many places are drawn for a thousand requests: the others follow the one before.
    drawn_permille: u32,
}

const fn counted(name: &'static str, lines: &'static str) -> Job {
    Job { name, lines, counted: true, drawn: false, drawn_permille: 1_000 }
}

const fn drawn(name: &'static str, lines: &'static str) -> Job {
    Job { name, lines, counted: false, drawn: true, drawn_permille: 1_000 }
}

const JOBS: [Job; 20] = [
    counted("random reads", "rw=randread\nbs=4k\nsize=8m\n"),
    counted("random writes", "rw=randwrite\nbs=8k\nsize=8m\n"),
    counted("random trims", "rw=randtrim\nbs=64k\nsize=16m\n"),
    counted("sequential reads", "rw=read\nbs=64k\nsize=16m\n"),
    counted("sequential writes", "rw=write\nbs=128k\nsize=16m\n"),
    counted("depth of libaio", "rw=randread\nioengine=libaio\niodepth=16\nbs=4k\nsize=8m\n"),
    counted("depth of io_uring", "rw=randwrite\nioengine=io_uring\niodepth=8\nbs=4k\nsize=8m\n"),
    counted("part of a device", "rw=randread\nbs=4k\noffset=16m\nsize=8m\n"),
    counted("number of requests", "rw=read\nbs=4k\nsize=16m\nnumber_ios=500\n"),
    counted("io_size", "rw=write\nbs=4k\nsize=16m\nio_size=2m\n"),
    counted("segments", "rw=write\nbs=16k\nsize=8m\noffset_increment=8m\nnumjobs=4\n"),
    drawn("mix", "rw=randrw\nrwmixread=70\nbs=4k\nsize=32m\nnorandommap\n"),
    drawn("bssplit", "rw=randread\nbssplit=4k/60:16k/30:64k/10\nsize=32m\nnorandommap\n"),
    drawn("two bssplits", "rw=randrw\nbssplit=4k/50:8k/50,16k/90:32k/10\nsize=32m\nnorandommap\n"),
    drawn("two sizes", "rw=randrw\nbs=4k,16k\nsize=32m\nnorandommap\n"),
    drawn(
        "zones",
        "rw=randread\nbs=4k\nsize=64m\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\n",
    ),
    drawn("several workers", "rw=randread\nbs=4k\nsize=32m\nnorandommap\nnumjobs=3\n"),
    drawn("places on a grid", "rw=randread\nbs=4k\nblockalign=64k\nsize=32m\nnorandommap\n"),
    drawn("partly random", "rw=randread\npercentage_random=30\nbs=4k\nsize=32m\nnorandommap\n"),
    drawn("part of a device, drawn", "rw=randread\nbs=4k\noffset=32m\nsize=16m\nnorandommap\n"),
];

#[test]
fn the_kernel_sees_the_same_of_fio_and_of_the_suite_that_its_job_becomes() {
    if !has("equivalence with fio", &["losetup", "loop", "tracefs", "fio"]) {
        return;
    }
    let folder = scratch();
    let folder = folder.path();
    let mut wrong = Vec::new();
    for job in &JOBS {
        let device = Loop::new(64);
        // Of requests that are sent together, the kernel merges those that adjoin.
        let merges = format!("/sys/block/{}/queue/nomerges", device.name());
        fs::write(merges, "2").expect("a device of ours");
        let time = if job.counted { "" } else { "time_based\nruntime=1\n" };
        let name = text(&device.device);
        let lines = format!("[job]\ndirect=1\nfilename={name}\n{time}{}", job.lines);
        fs::write(folder.join("job.fio"), lines).expect("a job");
        let theirs = seen(folder, &device, || {
            run("fio", &["--minimal", text(&folder.join("job.fio"))]);
        });
        let ours = seen(folder, &device, || {
            plimsoll(folder, &["run", "job.fio", "--destroy-data", name, "-q"]).with_code(0);
        });
        wrong.extend(differences(job, &theirs, &ours).into_iter().map(|what| {
            format!("{}: {what} ({} and {} requests)", job.name, theirs.len(), ours.len())
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The requests that a device is sent while `load` goes on, flushes apart.
fn seen(folder: &Path, device: &Loop, load: impl FnOnce()) -> Vec<Request> {
    let path = folder.join("seen.trace");
    let _ = fs::remove_file(&path);
    let line = ["record", text(&device.device), "--for", "10m", "-o", "seen.trace", "--json"];
    let mut child = start(folder, &line);
    said(&mut child, "recording");
    load();
    signal(&child, "INT");
    let told = end(child).with_code(130).json();
    assert_eq!(told["lost"], 0, "{told}");
    let mut reader =
        Reader::new(BufReader::new(File::open(&path).expect("a file"))).expect("a trace");
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while reader.next_block(&mut block).expect("a good block") {
        all.extend(block.iter().copied().filter(|request| request.op != Op::Fsync));
    }
    all
}

/// What differs more than chance lets it.
fn differences(job: &Job, theirs: &[Request], ours: &[Request]) -> Vec<String> {
    let mut wrong = Vec::new();
    if theirs.len() < 100 || ours.len() < 100 {
        wrong.push("too few requests to say".to_owned());
    }
    let sum = |all: &[Request]| all.iter().map(|one| u64::from(one.length)).sum::<u64>();
    if job.counted && (theirs.len(), sum(theirs)) != (ours.len(), sum(ours)) {
        wrong.push(format!("{} and {} bytes", sum(theirs), sum(ours)));
    }
    let classes: BTreeSet<(&str, u32)> =
        theirs.iter().chain(ours).map(|one| (one.op.name(), one.length)).collect();
    for (op, length) in classes {
        let of = |one: &Request| (one.op.name(), one.length) == (op, length);
        if let Some(shares) = unequal(share(theirs, &of), share(ours, &of)) {
            wrong.push(format!("{op} of {length} bytes: {shares}"));
        }
    }
    if job.drawn {
        let distance = distance(theirs, ours);
        // Requests that follow another one say nothing new of where requests are.
        let count = |all: &[Request]| all.len() as f64 * f64::from(job.drawn_permille) / 1e3;
        let most = level_of_distance(count(theirs), count(ours));
        if distance > most {
            wrong.push(format!("places differ by {distance:.4}, {most:.4} is chance"));
        }
    } else if places(theirs) != places(ours) {
        wrong.push("other places".to_owned());
    }
    let followed = |all: &[Request]| Share { of: all.len() as f64, count: following(all) };
    if let Some(shares) = unequal(followed(theirs), followed(ours)) {
        wrong.push(format!("behind the request before: {shares}"));
    }
    wrong
}

/// How often each place comes.
fn places(all: &[Request]) -> BTreeMap<(u64, u32), u64> {
    let mut places = BTreeMap::new();
    for one in all {
        *places.entry((one.offset, one.length)).or_default() += 1;
    }
    places
}

/// How many requests of a source begin where its last one ended.
fn following(all: &[Request]) -> f64 {
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    let mut count = 0.0;
    for one in all {
        if ends.insert(one.source, one.end()) == Some(one.offset) {
            count += 1.0;
        }
    }
    count
}

#[derive(Clone, Copy)]
struct Share {
    of: f64,
    count: f64,
}

fn share(all: &[Request], of: &dyn Fn(&Request) -> bool) -> Share {
    let count = all.iter().filter(|one| of(one)).count() as f64;
    Share { of: all.len() as f64, count }
}

/// The chance that one of these tests may fail by itself.
fn level() -> f64 {
    1.0 / (ODDS * MOST_TESTS * JOBS.len() as f64)
}

/// Two shares that differ more than chance lets them: chi-square with one degree of freedom, which
/// exceeds x² about as often as a normal value exceeds x (Fisher 1922).
fn unequal(one: Share, other: Share) -> Option<String> {
    let all = (one.count + other.count) / (one.of + other.of);
    let variance = all * (1.0 - all) * (1.0 / one.of + 1.0 / other.of);
    let (a, b) = (one.count / one.of, other.count / other.of);
    let chi_square = if variance > 0.0 { (a - b).powi(2) / variance } else { 0.0 };
    // P(χ² > x) < exp(-x/2) for x > 1.
    let most = -2.0 * level().ln();
    (chi_square > most).then(|| format!("{:.2} % and {:.2} %", a * 100.0, b * 100.0))
}

/// The greatest distance of the two distributions of places.
fn distance(one: &[Request], other: &[Request]) -> f64 {
    let sorted = |all: &[Request]| {
        let mut places: Vec<u64> = all.iter().map(|one| one.offset).collect();
        places.sort_unstable();
        places
    };
    let (one, other) = (sorted(one), sorted(other));
    let below = |all: &[u64], place: u64| {
        all.partition_point(|known| *known <= place) as f64 / all.len().max(1) as f64
    };
    let all = one.iter().chain(&other);
    all.map(|place| (below(&one, *place) - below(&other, *place)).abs()).fold(0.0, f64::max)
}

/// The distance that chance exceeds this rarely (Smirnov 1939).
fn level_of_distance(one: f64, other: f64) -> f64 {
    (-0.5 * (level() / 2.0).ln()).sqrt() * ((one + other) / (one * other)).sqrt()
}

#[test]
fn what_is_not_the_same_is_found() {
    let request = |number: u64, offset: u64| Request {
        at_ns: number,
        op: Op::Read,
        offset,
        length: 4_096,
        source: 0,
    };
    let random = |seed: u64, blocks: u64| -> Vec<Request> {
        let mut rng = model::rng::Rng::new(seed);
        (0..20_000).map(|number| request(number, rng.below(blocks) * 8_192)).collect()
    };
    let job = drawn("places", "");
    assert_eq!(differences(&job, &random(1, 1 << 12), &random(2, 1 << 12)), [""; 0]);
    assert_eq!(differences(&job, &random(1, 1 << 12), &random(2, 4_500)).len(), 1, "longer");
    let mut written = random(2, 1 << 12);
    written.iter_mut().take(2_000).for_each(|one| one.op = Op::Write);
    assert_eq!(differences(&job, &random(1, 1 << 12), &written).len(), 2, "read and write");
    let in_order: Vec<Request> = (0..4_096).map(|number| request(number, number * 4_096)).collect();
    let mut other_way = in_order.clone();
    other_way.reverse();
    let counted = counted("order", "");
    assert_eq!(differences(&counted, &in_order, &in_order), [""; 0]);
    assert_eq!(differences(&counted, &in_order, &other_way).len(), 1, "order");
    assert!(differences(&counted, &in_order, &in_order[1..]).len() >= 2, "one less");
}
