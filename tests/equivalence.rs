//! fio and the suite that is made of its job send the same requests. Both run on a loop device, one
//! after the other, and the kernel's block tracepoints say what each sent: how many requests, of
//! which operation and size, where, how often one behind the other, how many at a time, and when.
//!
//! A few jobs run with the tests. `PLIMSOLL_EQUIVALENCE=FILE` has all of them run, and writes the
//! table of what was found into that file (`cargo xtask equivalence`).

mod chance;
mod compare;
mod jobs;
pub mod kernel;

use crate::common::{Folder as Scratch, Loop, has, plimsoll, run, scratch, text};
use compare::{Found, compare};
use jobs::{JOBS, Job, Places, drawn};
use kernel::{Kernel, Sent};
use model::Op;
use std::fs;
use std::path::Path;

#[test]
fn the_kernel_sees_the_same_of_fio_and_of_the_suite_that_its_job_becomes() {
    let true = has("equivalence with fio", "losetup loop mount tracefs fio") else { return };
    let table = std::env::var_os("PLIMSOLL_EQUIVALENCE");
    let all = JOBS.iter().filter(|job| job.sample || table.is_some());
    let folder = scratch();
    let (mut wrong, mut rows) = (Vec::new(), Vec::new());
    for job in all {
        let (found, counts) = held_against_fio(job, &folder);
        rows.push(row(job, &found, counts));
        eprintln!("{}", rows.last().expect("one"));
        let name = |what: &String| {
            format!("{}: {what} ({} and {} requests)", job.name, counts.theirs, counts.ours)
        };
        // What is known and said is shown in the table.
        wrong.extend(found.wrong.iter().filter(|_| job.but.is_empty()).map(name));
    }
    if let Some(path) = table {
        fs::write(path, rows.concat()).expect("the table");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requests of a job, by fio and by us.
#[derive(Clone, Copy)]
struct Counts {
    theirs: usize,
    ours: usize,
}

/// A line of the table.
fn row(job: &Job, found: &Found, counts: Counts) -> String {
    let Counts { theirs, ours } = counts;
    let verdict = match (found.wrong.is_empty(), job.but) {
        (true, _) => "agrees".to_owned(),
        (false, "") => found.wrong.join("; "),
        (false, but) => format!("{}: {but}", found.wrong.join("; ")),
    };
    let compared = found.compared.join(", ");
    format!("| {} | {theirs} | {ours} | {compared} | {verdict} |\n", job.name)
}

/// Runs a job by both, and compares what the kernel saw.
fn held_against_fio(job: &Job, folder: &Path) -> (Found, Counts) {
    let device = Loop::new(64);
    // Of requests that are sent together, the kernel merges those that adjoin.
    let merges = format!("/sys/block/{}/queue/nomerges", device.name());
    fs::write(merges, "2").expect("a device of ours");
    let name = text(&device.device);
    let time = match (job.places, job.pace) {
        (Places::Counted, _) => "",
        (_, false) => "time_based\nruntime=1\n",
        (_, true) => "time_based\nruntime=6\n",
    };
    let lines = format!("[global]\ndirect=1\nfilename={name}\n{time}[job]\n{}", job.lines);
    fs::write(folder.join("job.fio"), lines).expect("a job");
    let theirs = seen(&device, || {
        run("fio", ["--minimal", text(&folder.join("job.fio"))]);
    });
    let ours = seen(&device, || {
        plimsoll(folder, ["run", "job.fio", "--destroy-data", name, "-q"]).with_code(0);
    });
    (compare(job, &theirs, &ours), Counts { theirs: theirs.len(), ours: ours.len() })
}

/// What a device is sent while `load` goes on.
fn seen(device: &Loop, load: impl FnOnce()) -> Vec<Sent> {
    let kernel = Kernel::listen(device);
    load();
    kernel.heard()
}

fn request(number: u64, offset: u64) -> Sent {
    let (at_us, length, in_flight) = (number * 100, 4_096, (number / 5 % 4) as u32);
    let (op, source, file, direct) = (Op::Read, 0, 0, true);
    Sent { at_us, op, offset, length, source, in_flight, file, direct }
}

#[test]
fn what_is_not_the_same_is_found() {
    let random = |seed: u64, blocks: u64| -> Vec<Sent> {
        let mut rng = model::rng::Rng::new(seed);
        (0..20_000).map(|number| request(number, rng.below(blocks) * 8_192)).collect()
    };
    let wrong = |job: &Job, one: &[Sent], other: &[Sent]| compare(job, one, other).wrong;
    let job = drawn("places", "");
    assert_eq!(wrong(&job, &random(1, 1 << 12), &random(2, 1 << 12)), [""; 0]);
    assert_eq!(wrong(&job, &random(1, 1 << 12), &random(2, 4_700)).len(), 1, "longer");
    let mut written = random(2, 1 << 12);
    written.iter_mut().take(2_000).for_each(|one| one.op = Op::Write);
    assert_eq!(wrong(&job, &random(1, 1 << 12), &written).len(), 2, "read and write");
    let in_order: Vec<Sent> = (0..4_096).map(|number| request(number, number * 4_096)).collect();
    let mut other_way = in_order.clone();
    other_way.reverse();
    let counted = Job { places: Places::Counted, ..job };
    assert_eq!(wrong(&counted, &in_order, &in_order), [""; 0]);
    assert_eq!(wrong(&counted, &in_order, &other_way).len(), 1, "order");
    assert!(wrong(&counted, &in_order, &in_order[1..]).len() >= 2, "one less");
    // One hot block more is another skew, wherever it lies.
    let ranked = Job { places: Places::Ranked, ..job };
    let mut hot = random(2, 1 << 12);
    hot.iter_mut().step_by(7).for_each(|one| one.offset = 0);
    assert_eq!(wrong(&ranked, &random(1, 1 << 12), &random(3, 1 << 12)), [""; 0]);
    assert!(!wrong(&ranked, &random(1, 1 << 12), &hot).is_empty(), "skew");
    // As many at most, but seldom.
    let flight = Job { flight: true, ..job };
    let (one, mut other) = (random(1, 1 << 12), random(2, 1 << 12));
    assert_eq!(wrong(&flight, &one, &other), [""; 0]);
    other.iter_mut().skip(40).for_each(|one| one.in_flight = 0);
    assert_eq!(wrong(&flight, &one, &other).len(), 1, "flight");
    // As many in the same time, but in bursts of 32.
    let pace = Job { pace: true, ..job };
    let mut other = random(2, 1 << 12);
    assert_eq!(wrong(&pace, &one, &other), [""; 0]);
    other.iter_mut().for_each(|one| one.at_us = one.at_us / 3_200 * 3_200);
    assert_eq!(wrong(&pace, &one, &other).len(), 1, "pace");
}
