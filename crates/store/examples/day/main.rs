//! Writes the run file of a long run on many hosts, the same for the same numbers:
//! `cargo run --release -p store --example day -- FILE MINUTES HOSTS WORKERS SERIES [WRITTEN]`.
//!
//! Each host has some 2,000 random reads a second, whose latencies are log-normal about 300 µs with
//! a tail of one in a thousand that is ten times as long. That makes some 300 bytes of histogram a
//! second, as a host has it whose reads come over a network. With SERIES, the kernel of each host
//! counts 317 or 2579 things every second, nearly all of which change. What it counts is one of
//! some seconds that were made before, by chance: to make it takes as long as to record it.
//!
//! With WRITTEN, so many minutes are written as a run writes them. All later ones repeat their
//! blocks (`repeat.rs`).
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

#[allow(dead_code, reason = "a writer of the same files")]
#[path = "../../src/file/checksums.rs"]
mod checksums;
mod repeat;
#[allow(dead_code, reason = "a part of the checksums")]
#[path = "../../src/file/values.rs"]
mod values;

use analysis::testing::Recorded;
use analysis::testing::busy_host::BusyHost;
use model::event::{Event, RunEnd, StageEnd};
use model::histogram::Histogram;
use model::rng::Rng;
use model::sample::{IntervalSample, OpSample, Phase, WorkerOp, WorkerSample};
use model::{Op, StageKind};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::Writer;

/// How many different seconds there are. More would only take longer to make.
const SECONDS: u64 = 1_024;
/// And of so many what a host's kernel counts is taken.
const COUNTED: u32 = 24;
const SECOND_NS: u64 = 1_000_000_000;
const BLOCK: u64 = 4_096;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, usual: u32| {
        words.get(place).and_then(|word| word.parse().ok()).unwrap_or(usual)
    };
    let path = PathBuf::from(words.first().expect("the file to write"));
    let (minutes, hosts, workers) = (number(1, 60), number(2, 128), number(3, 1));
    let written = number(5, minutes).min(minutes);
    let busy = match number(4, 0) {
        0 => None,
        317 => Some(BusyHost::SMALL),
        2_579 => Some(BusyHost::LARGE),
        other => panic!("{other} series: 317 or 2579"),
    };
    let suite = format!(
        "[layout]\nsize = \"8GiB\"\n[stages]\nprecondition = \"1s\"\nmeasure = \
         \"{minutes}m\"\n[[workload]]\nname = \"day\"\nworkers = {workers}\n"
    );
    let recorded = Recorded::with_hosts(&suite, hosts as usize);
    let stage = recorded.stage(StageKind::Measure);
    let record = recorded.record();
    let mut rng = Rng::new(7);
    let kinds: Vec<OpSample> = (0..SECONDS).map(|_| second(&mut rng)).collect();
    let bytes: usize = kinds.iter().map(|kind| kind.latency.0.len()).sum();
    println!("{} bytes a histogram", bytes / kinds.len());

    let begun = Instant::now();
    let mut writer =
        Writer::create(&path, &record.plan, &record.testbed, "example", 0).expect("a new file");
    writer.append(&Event::StageStarted { stage, unix_ns: 0 }).expect("room");
    let load = Load { stage, hosts, workers, busy, kinds };
    let mut appended = load.append(&mut writer, written.saturating_mul(60), &mut rng);
    let ended = on_processor();
    writer.append(&Event::StageEnded { stage, end: StageEnd::Complete }).expect("room");
    writer
        .append(&Event::RunEnded {
            unix_ns: u64::from(minutes) * 60 * SECOND_NS,
            end: RunEnd::Complete,
        })
        .expect("room");
    writer.finish().expect("room");
    appended.sort_unstable();
    let nth = |behind: usize| appended[appended.len().saturating_sub(behind + 1)];
    println!(
        "a second of all hosts takes {:.1?} of a processor, the longest {:.1?}, {:.1?} and {:.1?}, \
         all {:.1?}, the end {:.1?}",
        nth(appended.len() / 2),
        nth(0),
        nth(1),
        nth(10),
        appended.iter().sum::<Duration>(),
        on_processor().saturating_sub(ended)
    );
    let mut seconds = written * 60;
    if written < minutes {
        seconds = repeat::repeat(&path, seconds, minutes * 60).expect("room");
        println!("{seconds} seconds, of which all but {} are repetitions", written * 60);
    }
    let bytes = std::fs::metadata(&path).expect("a file").len();
    let samples = u64::from(seconds) * u64::from(hosts);
    println!(
        "{samples} samples in {bytes} bytes, {} a sample, written in {:.1?}",
        bytes / samples.max(1),
        begun.elapsed()
    );
}

/// What every second of the run has.
struct Load {
    stage: u32,
    hosts: u32,
    workers: u32,
    busy: Option<BusyHost>,
    kinds: Vec<OpSample>,
}

impl Load {
    /// Appends so many seconds; how long each took of a processor.
    fn append(&self, writer: &mut Writer, seconds: u32, rng: &mut Rng) -> Vec<Duration> {
        let Load { stage, hosts, workers, .. } = *self;
        let mut rng_of = Rng::new(9);
        let mut pool: Vec<Vec<Event>> = match self.busy {
            Some(_) => (0..COUNTED).map(|number| self.counted(rng, number)).collect(),
            None => Vec::new(),
        };
        // Samples of all hosts, and behind them their counters.
        let mut events: Vec<Event> = (0..hosts)
            .map(|_| Event::StageStarted { stage, unix_ns: 0 })
            .chain(self.counted(&mut Rng::new(8), 0))
            .collect();
        let mut appended = Vec::new();
        for interval in 0..seconds {
            let mut sample = |host: u32| {
                let op = self.kinds[(rng.below(SECONDS)) as usize].clone();
                Event::Sample(sample(stage, host, interval, workers, op))
            };
            let (samples, counters) = events.split_at_mut(hosts as usize);
            samples.iter_mut().zip(0..hosts).for_each(|(place, host)| *place = sample(host));
            for (host, place) in counters.iter_mut().enumerate() {
                std::mem::swap(place, &mut pool[rng_of.below(COUNTED.into()) as usize][host]);
                if let Event::Counters(second) = place {
                    let jitter_ns = second.start_ns % SECOND_NS;
                    second.number = interval;
                    second.start_ns = u64::from(interval) * SECOND_NS + jitter_ns;
                }
            }
            let before = on_processor();
            writer.append_all(&events).expect("room");
            appended.push(on_processor().saturating_sub(before));
        }
        appended
    }

    /// What the kernels of all hosts count in a second.
    fn counted(&self, rng: &mut Rng, number: u32) -> Vec<Event> {
        let Some(busy) = self.busy else { return Vec::new() };
        let of = |host| Event::Counters(Box::new(busy.second(rng, self.stage, host, number)));
        (0..self.hosts).map(of).collect()
    }
}

/// For how long this thread had a processor so far: on a machine with other work, that says more
/// than a clock.
fn on_processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("procfs");
    let ns = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(ns.expect("a number"))
}

/// What a host's reads in one second were.
fn second(rng: &mut Rng) -> OpSample {
    let mut latency = Histogram::new();
    for _ in 0..2_000 + rng.below(100) {
        // Twelve even numbers have a variance of 1: the bell is near enough.
        let bell =
            (0..12).map(|_| rng.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
        let tail = if rng.below(1_000) == 0 { 10.0 } else { 1.0 };
        latency.record((300_000.0 * (0.2 * bell).exp() * tail) as u64);
    }
    let ios = latency.count();
    OpSample { ios, bytes: ios * BLOCK, latency: latency.encode(), ..OpSample::of(Op::Read) }
}

fn sample(stage: u32, host: u32, interval: u32, workers: u32, op: OpSample) -> IntervalSample {
    let worker = |worker: u32| {
        let ios = op.ios / u64::from(workers)
            + u64::from(u64::from(worker) < op.ios % u64::from(workers));
        WorkerSample {
            worker,
            cpu_user_ns: ios * 700,
            cpu_system_ns: ios * 3_000,
            ops: vec![WorkerOp { op: op.op, ios, bytes: ios * BLOCK, errors: 0 }],
            mark: None,
        }
    };
    IntervalSample {
        stage,
        host,
        interval,
        start_ns: u64::from(interval) * SECOND_NS,
        length_ns: SECOND_NS,
        phase: Phase::Load,
        workers: (0..workers).map(worker).collect(),
        ops: vec![op],
    }
}
