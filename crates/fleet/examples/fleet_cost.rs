//! What hosts send in a second, and what a thousand of them cost the coordinator: frames are read,
//! decided on and written to a run file.
//!
//! `cargo run --release -p fleet --example fleet_cost`

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

#[path = "../../probe/src/tests/fixture.rs"]
#[allow(dead_code, reason = "this example needs less of it than the tests do")]
mod fixture;

use analysis::testing::Recorded;
use fixture::Size;
use fleet::{Action, Coordinator, Frame, FromAgent, Input, Now, Packer, Reach, ToAgent, Unpacker};
use model::counters::{CounterSample, Layer, Metric};
use model::rng::Rng;
use model::sample::{IntervalSample, OpSample, Phase, WorkerOp, WorkerSample};
use model::{Event, Histogram, Op, StageKind};
use probe::{Counters, Tree};
use rustix::time::{ClockId, clock_gettime};
use store::Writer;

const SECOND: u64 = 1_000_000_000;
/// Seconds that are sent, and of which the mean is taken.
const SECONDS: u32 = 60;
const HOSTS: usize = 1_000;
/// Seconds that the thousand hosts run.
const TOGETHER: u32 = 10;
const SUITE: &str = "[layout]\nsize = \"8MiB\"\n[[workload]]\nname = \"mix\"\nread = \"50%\"\n";
/// A server as many fleets have them.
const SERVER: Size = Size { cpus: 16, disks: 8, nics: 2, interrupts: 60 };

fn main() {
    println!("bytes a second of one host, in frames of their own");
    for (what, size) in [("64 CPUs, 100 disks", &fixture::LARGE), ("16 CPUs, 8 disks", &SERVER)] {
        let template = template(size);
        for (load, busy) in [("idle", 0), ("one disk in eight busy", 8), ("all busy", 1)] {
            sizes(&format!("{what}, {load}"), &template, busy);
        }
    }
    let mut rng = Rng::new(1);
    for latencies in [1_000, 100_000] {
        let sample = interval(&mut rng, 0, 0, latencies);
        println!(
            "an interval of 16 workers, reads and writes, {latencies} latencies each: {} bytes",
            length(&FromAgent::Sample(Box::new(sample)))
        );
    }
    for (what, template) in [("no counters", None), ("16 CPUs, 8 disks", Some(template(&SERVER)))] {
        together(what, template.as_ref());
    }
}

/// What a host of this size counts, by its own files.
fn template(size: &Size) -> CounterSample {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fixture::write(folder.path(), size, 1);
    let mut counters = Counters::open(&Tree::at(folder.path()));
    fixture::write(folder.path(), size, 2);
    counters.read()
}

fn length(message: &FromAgent) -> usize {
    // And its length in front of it.
    Frame::of(message).expect("short").length() + 4
}

fn sizes(what: &str, template: &CounterSample, busy: usize) {
    let (mut rng, mut packer, mut unpacker) = (Rng::new(7), Packer::new(0), Unpacker::default());
    let (mut plain, mut small, mut first) = (0, 0, 0);
    for number in 0..SECONDS {
        let sample = second(template, &mut rng, number, busy);
        let frame = packer.pack(&sample).expect("a host's");
        assert!(unpacker.unpack(&frame) == Ok(Some(sample.clone())), "it does not come back");
        let bytes = length(&FromAgent::Counted(frame));
        if number == 0 {
            first = bytes;
        } else {
            small += bytes;
            plain += length(&FromAgent::Counters(Box::new(sample)));
        }
    }
    let values: usize = template.entries.iter().map(|entry| entry.values.len()).sum();
    let each = SECONDS as usize - 1;
    println!(
        "{what}: {values} values, {} bytes (the first time {first}), plain {}",
        small / each,
        plain / each
    );
}

/// What is counted in a second of which every `busy`-th disk, and as large a part of the CPUs, has
/// a load that varies by a tenth; 0 is none.
fn second(template: &CounterSample, rng: &mut Rng, number: u32, busy: usize) -> CounterSample {
    let mut sample = template.clone();
    let length_ns = SECOND + rng.below(200_000);
    (sample.number, sample.start_ns, sample.length_ns) =
        (number, u64::from(number) * SECOND, length_ns);
    for (place, entry) in sample.entries.iter_mut().enumerate() {
        let is_busy = busy > 0 && place % busy == 0;
        let (mut reads, mut writes, mut times) = (0, 0, 0);
        for (metric, value) in entry.values.iter_mut().filter(|(_, value)| *value > 0) {
            let varied = rng.below(1_000);
            let about = |most: u64| if is_busy { most - most * varied / 10_000 } else { 0 };
            *value = match (entry.layer, *metric) {
                (Layer::Cpu, Metric::IdleNs) if !is_busy => (99 + rng.below(3)) * 10_000_000,
                (Layer::Cpu, _) => about(50) * 10_000_000,
                (Layer::Clock, Metric::FrequencyHz) => (2_000 + rng.below(1_000)) * 1_000_000,
                (Layer::Interrupt, _) => 100 + rng.below(20) + about(20_000),
                (Layer::Host | Layer::Memory | Layer::Pressure, _) => {
                    *value + rng.below(1_000) * 1_024
                }
                (Layer::Block, Metric::Reads) => {
                    reads = about(40_000);
                    reads
                }
                (Layer::Block, Metric::Writes) => {
                    writes = about(20_000);
                    writes
                }
                // Of two sizes, so that nothing follows from the number of requests.
                (Layer::Block, Metric::ReadBytes) => reads * 4_096 + about(1_000) * 65_536,
                (Layer::Block, Metric::WriteBytes) => writes * 4_096 + about(1_000) * 65_536,
                (Layer::Block, Metric::BusyNs) => {
                    if is_busy {
                        SECOND
                    } else {
                        0
                    }
                }
                (Layer::Block, Metric::InFlight) => about(40),
                // The kernel's own sum of the others (in this file's order, all but that of
                // flushes).
                (Layer::Block, Metric::QueueNs) => times + rng.below(4) * 1_000_000,
                (Layer::Block, _) => {
                    let spent = about(4_000) * 1_000_000;
                    times += spent;
                    spent
                }
                (Layer::Nic, _) => about(1_000_000),
                _ => about(1_000),
            };
        }
    }
    sample
}

/// What a host's workers did in an interval.
fn interval(rng: &mut Rng, host: u32, interval: u32, latencies: u64) -> IntervalSample {
    let mut op = |op| {
        let mut latency = Histogram::new();
        // As a busy disk has them: a body, and a tail that is ten times as long.
        (0..latencies).for_each(|_| {
            let order = rng.below(21);
            latency.record(60_000 + rng.below(1 << order));
        });
        let (ios, bytes) = (latency.count(), latency.count() * 4096);
        OpSample { ios, bytes, latency: latency.encode(), ..OpSample::of(op) }
    };
    let ops = vec![op(Op::Read), op(Op::Write)];
    let share =
        |op: &OpSample| WorkerOp { op: op.op, ios: op.ios / 16, bytes: op.bytes / 16, errors: 0 };
    let worker = |worker| WorkerSample {
        worker,
        cpu_user_ns: 100_000_000,
        cpu_system_ns: 300_000_000,
        ops: ops.iter().map(share).collect(),
        mark: None,
    };
    let workers = (0..16).map(worker).collect();
    let start_ns = u64::from(interval) * SECOND;
    IntervalSample {
        stage: 0,
        host,
        interval,
        start_ns,
        length_ns: SECOND,
        phase: Phase::Load,
        ops,
        workers,
    }
}

fn message_of(frame: &Frame, unpacker: &mut Unpacker) -> FromAgent {
    match frame.read::<FromAgent>().expect("a message of ours") {
        FromAgent::Counted(frame) => {
            let sample = unpacker.unpack(&frame).expect("a frame of ours");
            FromAgent::Counters(Box::new(sample.expect("of this stream")))
        }
        message => message,
    }
}

/// Has so many hosts run a stage, and says what each step of the way costs.
fn together(what: &str, template: Option<&CounterSample>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recorded = Recorded::with_hosts(SUITE, HOSTS);
    let record = recorded.record();
    let stage = recorded.stage(StageKind::Measure);
    let path = folder.path().join("run.plimsoll");
    let mut writer =
        Writer::create(&path, &record.plan, &record.testbed, "example", 0).expect("a new file");
    let mut coordinator = Coordinator::new(&record.plan, &[stage], Reach::Remote, true);
    let mut now_ns = begin(&mut coordinator, &mut writer);

    let mut rng = Rng::new(3);
    let mut packers: Vec<Packer> = (0..HOSTS).map(|_| Packer::new(0)).collect();
    let mut unpackers: Vec<Unpacker> = (0..HOSTS).map(|_| Unpacker::default()).collect();
    let (mut spent, mut bytes, mut kept) = ([0; 3], 0, 0);
    for number in 0..TOGETHER {
        now_ns += SECOND;
        let mut frames = Vec::new();
        for (host, packer) in packers.iter_mut().enumerate() {
            let sample = IntervalSample { stage, ..interval(&mut rng, host as u32, number, 200) };
            let message = FromAgent::Sample(Box::new(sample));
            frames.push((host, Frame::of(&message).expect("short")));
            if let Some(template) = template {
                let sample = CounterSample { stage, ..second(template, &mut rng, number, 1) };
                let packed = packer.pack(&sample).expect("a host's");
                frames.push((host, Frame::of(&FromAgent::Counted(packed)).expect("short")));
            }
        }
        bytes += frames.iter().map(|(_, frame)| frame.length() + 4).sum::<usize>();

        let began = cpu_ns();
        let heard = |(host, frame): (usize, Frame)| {
            let message = message_of(&frame, &mut unpackers[host]);
            Input::Heard { host, message, at_ns: now_ns }
        };
        let inputs: Vec<Input> = frames.into_iter().map(heard).collect();
        let read = cpu_ns();
        let now = Now { steady_ns: now_ns, unix_ns: now_ns };
        let mut actions: Vec<Action> =
            inputs.into_iter().flat_map(|input| coordinator.step(input, now)).collect();
        (0..10).for_each(|_| actions.extend(coordinator.step(Input::Tick, now)));
        let decided = cpu_ns();
        let events = actions
            .into_iter()
            .filter_map(|action| if let Action::Emit(event) = action { Some(event) } else { None });
        let events: Vec<Event> = events.collect();
        kept += events
            .iter()
            .filter(|event| matches!(event, Event::Sample(_) | Event::Counters(_)))
            .count();
        // As they wait when many come at once.
        events.chunks(256).for_each(|together| writer.append_all(together).expect("room"));
        let written = cpu_ns();
        for (spent, step) in spent.iter_mut().zip([read - began, decided - read, written - decided])
        {
            *spent += step;
        }
    }
    let per_host = if template.is_some() { 2 } else { 1 };
    assert_eq!(kept, HOSTS * TOGETHER as usize * per_host, "every sample is kept");
    let of_a_core = |ns: u64| ns as f64 / (u64::from(TOGETHER) * SECOND) as f64 * 100.0;
    let [read, decided, written] = spent.map(of_a_core);
    println!(
        "{HOSTS} hosts, {what}: {:.1} % of a core (reading {read:.1}, deciding {decided:.1}, \
         writing {written:.1}), {} bytes a host and second",
        read + decided + written,
        bytes / HOSTS / TOGETHER as usize
    );
}

/// Brings the hosts to the start of the stage, which they answer at once. Comes back with the time.
fn begin(coordinator: &mut Coordinator, writer: &mut Writer) -> u64 {
    let (mut now_ns, mut gone) = (SECOND, 0);
    let mut inputs = vec![Input::Begin];
    while gone < HOSTS {
        let now = Now { steady_ns: now_ns, unix_ns: now_ns };
        let actions: Vec<Action> =
            inputs.drain(..).flat_map(|input| coordinator.step(input, now)).collect();
        for action in actions {
            let (host, message) = match action {
                Action::Ping { host } => {
                    (host, FromAgent::Pong { sent_ns: now_ns, agent_ns: now_ns })
                }
                Action::Send { host, message: ToAgent::Assign(_) } => {
                    (host, FromAgent::Ready { notes: Vec::new() })
                }
                Action::Send { host, message: ToAgent::Arm { stage } } => {
                    (host, FromAgent::Armed { stage })
                }
                Action::Send { message: ToAgent::Go { .. }, .. } => {
                    gone += 1;
                    continue;
                }
                Action::Emit(event) => {
                    writer.append(&event).expect("room");
                    continue;
                }
                _ => continue,
            };
            inputs.push(Input::Heard { host, message, at_ns: now_ns });
        }
        now_ns += 1_000_000;
        inputs.push(Input::Tick);
    }
    now_ns
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
