//! What a device is sent, by the kernel's block tracepoints: an instance of tracefs of our
//! own, with the requests that are issued to one device and those that come back.

use crate::common::{Loop, run, scratch, text};
use model::Op;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Memory for each processor's events, in KiB: a second of them, and a wide margin.
const BUFFER_KIB: &str = "65536";

/// A request as the driver of the device got it.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When, in µs of the kernel's monotonic clock.
    pub at_us: u64,
    /// Read, write or trim.
    pub op: Op,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// The thread that sent it.
    pub source: u32,
    /// How many others had been sent before and had not come back.
    pub in_flight: u32,
}

impl Sent {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// An instance that records one device; it is removed when it is dropped.
pub struct Kernel {
    /// Where tracefs is mounted.
    root: TempDir,
    instance: PathBuf,
}

impl Kernel {
    /// Begins to record what this device is sent.
    pub fn listen(device: &Loop) -> Kernel {
        let root = scratch();
        run("mount", &["-t", "tracefs", "none", text(root.path())]);
        // Tests of this program listen at the same time.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-test-{}-{number}", std::process::id());
        let instance = root.path().join("instances").join(name);
        let kernel = Kernel { root, instance };
        fs::create_dir(&kernel.instance).expect("an instance of our own");
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()));
        let number = number.expect("the number of the device");
        let (major, minor) = number.trim().split_once(':').expect("two numbers");
        let number = |text: &str| text.parse::<u32>().expect("a number");
        kernel.set("buffer_size_kb", BUFFER_KIB);
        kernel.set("trace_clock", "mono");
        for event in ["block_rq_issue", "block_rq_complete"] {
            let filter = format!("dev == {}", (number(major) << 20) | number(minor));
            kernel.set(&format!("events/block/{event}/filter"), &filter);
            kernel.set(&format!("events/block/{event}/enable"), "1");
        }
        kernel
    }

    fn set(&self, name: &str, value: &str) {
        fs::write(self.instance.join(name), value)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// All that the device was sent, flushes apart.
    pub fn heard(self) -> Vec<Sent> {
        self.set("tracing_on", "0");
        for cpu in fs::read_dir(self.instance.join("per_cpu")).expect("processors").flatten() {
            let stats = fs::read_to_string(cpu.path().join("stats")).expect("counters");
            let lost = stats.lines().filter(|line| {
                line.split_once(": ").is_some_and(|(name, count)| {
                    ["overrun", "dropped events"].contains(&name) && count != "0"
                })
            });
            assert_eq!(lost.count(), 0, "the kernel had no room for some: {stats}");
        }
        requests(&fs::read_to_string(self.instance.join("trace")).expect("the events"))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        for event in ["block_rq_issue", "block_rq_complete"] {
            let _ = fs::write(self.instance.join(format!("events/block/{event}/enable")), "0");
        }
        let _ = fs::remove_dir(&self.instance);
        let _ = std::process::Command::new("umount").arg(self.root.path()).status();
    }
}

/// The requests of a text of tracefs, each with how many others were in flight.
pub fn requests(trace: &str) -> Vec<Sent> {
    let mut out: BTreeMap<(u64, u64), u32> = BTreeMap::new();
    let (mut all, mut in_flight) = (Vec::new(), 0_u32);
    for line in trace.lines() {
        let Some(event) = event(line) else { continue };
        let key = (event.request.offset, event.request.length);
        if event.is_issue {
            all.push(Sent { in_flight, ..event.request });
            *out.entry(key).or_default() += 1;
            in_flight += 1;
        } else if let Some(count) = out.get_mut(&key).filter(|count| **count > 0) {
            *count -= 1;
            in_flight -= 1;
        }
    }
    all
}

struct Event {
    is_issue: bool,
    request: Sent,
}

/// `fio-12  [000] ..... 5.000001: block_rq_issue: 7,0 R 4096 () 8 + 8 none,0,0 [fio]`, and without
/// the bytes for `block_rq_complete`.
fn event(line: &str) -> Option<Event> {
    let (head, rest) = line.split_once(": block_rq_")?;
    let (what, rest) = rest.split_once(": ")?;
    let (task, behind) = head.split_once(" [")?;
    let source = task.trim_end().rsplit('-').next()?.parse().ok()?;
    let seconds = behind.rsplit(' ').next()?;
    let (whole, part) = seconds.split_once('.')?;
    let at_us = whole.parse::<u64>().ok()? * 1_000_000 + part.parse::<u64>().ok()?;
    let kind = rest.split(' ').nth(1)?;
    let op = match kind.trim_start_matches('F').chars().next()? {
        'R' => Op::Read,
        'W' => Op::Write,
        // A discard, or write zeroes that may unmap: what a hole is to a device.
        'D' | 'N' => Op::Trim,
        _ => return None,
    };
    let (_, place) = rest.split_once(") ")?;
    let mut words = place.split(' ');
    let sector: u64 = words.next()?.parse().ok()?;
    let sectors: u64 = words.nth(1)?.parse().ok()?;
    let request =
        Sent { at_us, op, offset: sector * 512, length: sectors * 512, source, in_flight: 0 };
    Some(Event { is_issue: what == "issue", request }).filter(|_| sectors > 0)
}
