//! What a thousand hosts of 64 CPUs and 100 disks each cost whoever watches them: the live page,
//! `/metrics` and the terminal view.
//!
//! `cargo run --release -p live --example page-cost`

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use live::watch::{Canvas, State, Subject, draw};
use live::web::metrics::{Detail, Form};
use live::web::watched::Watching;
use live::web::{Dashboard, View};
use model::counters::Metric::{
    CoreThrottles, DirtyBytes, FlushNs, FreeBytes, FrequencyHz, GuestNiceNs, Interrupts,
    PackageThrottles, Reads, ReceivedBytes, SendDrops, SomeNs, UserNs,
};
use model::counters::{Entry, Layer, Metric};
use model::testbed::HostFacts;
use model::{CounterSample, Nanos};
use std::time::Instant;

const HOSTS: u32 = 1_000;
const SECONDS: u32 = 20;
const SECOND: u64 = 1_000_000_000;

fn main() {
    let facts: Vec<HostFacts> = (0..HOSTS).map(facts).collect();
    let values: usize = second(0, 0).entries.iter().map(|entry| entry.values.len()).sum();
    println!("{HOSTS} hosts with {values} values each, {SECONDS} s of them");

    // Both are kept to the end: what one gave back, the other would take.
    let before = resident_mib();
    let mut state = State::new(Subject::Hosts, &facts, None);
    let each_ns = told(|sample| state.counters(Box::new(sample)));
    println!("terminal: {each_ns} ns for a sample, {} MiB", resident_mib().saturating_sub(before));
    let began = Instant::now();
    draw::draw(&mut Canvas::new(200, 60), &mut state, "", "");
    println!("terminal of all hosts: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);

    let before = resident_mib();
    let mut watching = Watching::new(facts.clone(), "1", 0, Nanos(SECOND));
    let each_ns = told(|sample| watching.counters(&sample));
    println!("page: {each_ns} ns for a sample, {} MiB", resident_mib().saturating_sub(before));
    for (what, host) in [("all hosts", None), ("one host", Some(7))] {
        let view = View { host, ..View::default() };
        let began = Instant::now();
        let bytes: usize = watching.fragments(&view).iter().map(|(_, text)| text.len()).sum();
        println!(
            "page of {what}: {} KiB in {:.1} ms",
            bytes >> 10,
            began.elapsed().as_secs_f64() * 1e3
        );
    }
    for (what, detail) in [("", Detail::Auto), ("?detail=1", Detail::Whole)] {
        let began = Instant::now();
        let scrape = watching.metrics(detail);
        let taken_ms = began.elapsed().as_secs_f64() * 1e3;
        let bytes = scrape.render(Form::Text).len();
        let ms = began.elapsed().as_secs_f64() * 1e3;
        println!("/metrics{what}: taken in {taken_ms:.1} ms, {} KiB in {ms:.0} ms", bytes >> 10);
    }
    drop(state);
}

/// Tells of every second of every host; the mean time that `take` took for one, in ns.
fn told(mut take: impl FnMut(CounterSample)) -> u128 {
    let mut all = 0;
    for number in 0..SECONDS {
        for host in 0..HOSTS {
            let sample = second(host, number);
            let began = Instant::now();
            take(sample);
            all += began.elapsed().as_nanos();
        }
    }
    all / u128::from(HOSTS * SECONDS)
}

fn facts(number: u32) -> HostFacts {
    let mut facts = analysis::testing::host(0);
    (facts.hostname, facts.identity) = (format!("node{number:04}"), format!("kernel-{number}"));
    facts.inventory = model::inventory::Inventory::default();
    facts
}

/// What the kernel counts of a CPU, a disk or an interface.
fn between(first: Metric, last: Metric) -> &'static [Metric] {
    let place = |wanted| Metric::ALL.iter().position(|metric| *metric == wanted);
    &Metric::ALL[place(first).unwrap_or(0)..=place(last).unwrap_or(0)]
}

/// A second of a host with 64 CPUs, 100 disks and 8 interfaces, with what the kernel of such a one
/// counts.
fn second(host: u32, number: u32) -> CounterSample {
    let load = u64::from(host % 7 + number % 5 + 1);
    let entry = |layer, name: String, metrics: &[Metric]| Entry {
        layer,
        name,
        values: metrics
            .iter()
            .zip(1..)
            .map(|(metric, place)| (*metric, load * place * 1_000_000))
            .collect(),
    };
    let cores = (0..64u32).flat_map(|cpu| {
        let name = cpu.to_string();
        [
            entry(Layer::Cpu, name.clone(), between(UserNs, GuestNiceNs)),
            entry(Layer::Interrupt, name.clone(), &[Interrupts]),
            entry(Layer::Clock, name, &[FrequencyHz, CoreThrottles, PackageThrottles]),
        ]
    });
    let disk = between(Reads, FlushNs);
    let disks = (0..100).map(|number| entry(Layer::Block, format!("nvme{number}n1"), disk));
    let nic = between(ReceivedBytes, SendDrops);
    let nics = (0..8).map(|port| entry(Layer::Nic, format!("eth{port}"), nic));
    let memory = [
        entry(Layer::Memory, String::new(), &[FreeBytes, DirtyBytes]),
        entry(Layer::Pressure, "io".to_owned(), &[SomeNs]),
    ];
    CounterSample {
        host,
        number,
        start_ns: u64::from(number) * SECOND,
        length_ns: SECOND,
        entries: cores.chain(disks).chain(nics).chain(memory).collect(),
        ..CounterSample::default()
    }
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) >> 10
}
