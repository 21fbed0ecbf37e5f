//! What devices are sent, by the kernel's block tracepoints: an instance of tracefs of our own,
//! with the requests that are issued and those that come back. Of files, what their file system is
//! asked.

use super::{Loop, Scratch, run, scratch, text};
use model::Op;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Memory for each processor's events, in KiB: a second of them, and a wide margin.
const BUFFER_KIB: &str = "65536";

/// Tracepoints of a device, and those of an ext4 on one: a direct request and that it writes, a
/// write to the page cache and a read of it, page by page, and a sync. Older kernels lack some.
const BLOCKS: &[&str] = &["block/block_rq_issue", "block/block_rq_complete"];
const FILES: &[&str] = &[
    "iomap/iomap_dio_rw_begin",
    "iomap/iomap_iter",
    "ext4/ext4_da_write_begin",
    "ext4/ext4_write_begin",
    "ext4/ext4_sync_file_enter",
    "filemap/mm_filemap_get_pages",
];

/// A request as the driver of the device got it, or the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, in µs of the kernel's monotonic clock.
    pub at_us: u64,
    /// Read, write, trim, or a flush.
    pub op: Op,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// The thread that sent it.
    pub source: u32,
    /// How many others had been sent before and had not come back; of files, 0.
    pub in_flight: u32,
    /// The number of the file, or of the device.
    pub file: u64,
    /// Whether it went past the page cache.
    pub direct: bool,
}

impl Sent {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// An instance that records some devices; it is removed when it is dropped.
pub struct Kernel {
    /// Where tracefs is mounted.
    root: Scratch,
    instance: PathBuf,
    events: &'static [&'static str],
}

impl Kernel {
    /// Begins to record what this device is sent.
    #[allow(dead_code, reason = "one of the two programs that have this module listens to several")]
    pub fn listen(device: &Loop) -> Kernel {
        Kernel::listen_to(&[device], false)
    }

    /// Begins to record what these devices are sent, or what the files on them are asked.
    pub fn listen_to(devices: &[&Loop], files: bool) -> Kernel {
        let root = scratch();
        run("mount", ["-t", "tracefs", "none", text(root.path())]);
        // Tests of this program listen at the same time.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-test-{}-{number}", std::process::id());
        let instance = root.path().join("instances").join(name);
        let kernel = Kernel { root, instance, events: if files { FILES } else { BLOCKS } };
        fs::create_dir(&kernel.instance).expect("an instance of our own");
        kernel.set("buffer_size_kb", BUFFER_KIB);
        kernel.set("trace_clock", "mono");
        for event in kernel.events {
            let folder = kernel.instance.join("events").join(event);
            let Ok(format) = fs::read_to_string(folder.join("format")) else { continue };
            let field = if format.contains(" s_dev;") { "s_dev" } else { "dev" };
            let these: Vec<String> =
                devices.iter().map(|one| format!("{field} == {}", number_of(one))).collect();
            let writes = if event.ends_with("iomap_iter") { " && flags & 1" } else { "" };
            let filter = format!("({}){writes}", these.join(" || "));
            kernel.set(&format!("events/{event}/filter"), &filter);
            kernel.set(&format!("events/{event}/enable"), "1");
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        kernel.set("trace_marker", &format!("unix {}", now.as_micros()));
        kernel
    }

    fn set(&self, name: &str, value: &str) {
        fs::write(self.instance.join(name), value)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// All that the device was sent, flushes apart.
    #[allow(dead_code, reason = "one of the two programs that have this module wants the flushes")]
    pub fn heard(self) -> Vec<Sent> {
        let trace = self.trace().unwrap_or_else(|lost| panic!("{lost}"));
        requests(&trace).into_iter().filter(|one| one.op != Op::Fsync).collect()
    }

    /// All that was recorded, for [`requests`] and [`unix_us`].
    ///
    /// # Errors
    /// There was more than the kernel had room for.
    pub fn trace(self) -> Result<String, String> {
        self.set("tracing_on", "0");
        for cpu in fs::read_dir(self.instance.join("per_cpu")).expect("processors").flatten() {
            let stats = fs::read_to_string(cpu.path().join("stats")).expect("counters");
            let lost = stats.lines().filter(|line| {
                line.split_once(": ").is_some_and(|(name, count)| {
                    ["overrun", "dropped events"].contains(&name) && count != "0"
                })
            });
            if lost.count() > 0 {
                return Err(format!("the kernel had no room for some events: {stats}"));
            }
        }
        Ok(fs::read_to_string(self.instance.join("trace")).expect("the events"))
    }
}

/// The device as filters of events name it.
fn number_of(device: &Loop) -> u32 {
    let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()));
    let number = number.expect("the number of the device");
    let (major, minor) = number.trim().split_once(':').expect("two numbers");
    let number = |text: &str| text.parse::<u32>().expect("a number");
    (number(major) << 20) | number(minor)
}

impl Drop for Kernel {
    fn drop(&mut self) {
        for event in self.events {
            let _ = fs::write(self.instance.join(format!("events/{event}/enable")), "0");
        }
        // A process that another thread is about to start holds our files for a moment, and the
        // instance with them. What stays goes on to record.
        for _ in 0..100 {
            match fs::remove_dir(&self.instance) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {}
                _ => break,
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let _ = std::process::Command::new("umount").arg("-l").arg(self.root.path()).status();
    }
}

/// The requests of a text of tracefs, each with how many others were in flight, and flushes.
pub fn requests(trace: &str) -> Vec<Sent> {
    let mut out: BTreeMap<(u64, u64, u64), u32> = BTreeMap::new();
    let (mut all, mut in_flight) = (Vec::<Sent>::new(), 0_u32);
    // The last request of each thread.
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for line in trace.lines() {
        let Some(Event { kind, request }) = event(line) else { continue };
        let key = (request.file, request.offset, request.length);
        let count = out.entry(key).or_default();
        match kind {
            Kind::Flush => all.push(request),
            Kind::Writes => {
                let one = last.get(&request.source).and_then(|number| all.get_mut(*number));
                one.into_iter().for_each(|one| one.op = Op::Write);
            }
            Kind::Asked => {
                last.insert(request.source, all.len());
                all.push(request);
            }
            // A ring that was told to wait for nothing, and hands it on to one that may wait.
            Kind::Tried => {
                *count = 1;
                last.insert(request.source, all.len());
                all.push(request);
            }
            Kind::HandedOn if *count > 0 => {
                *count = 0;
                last.remove(&request.source);
            }
            Kind::HandedOn => {
                last.insert(request.source, all.len());
                all.push(request);
            }
            Kind::Issued => {
                all.push(Sent { in_flight, ..request });
                *count += 1;
                in_flight += 1;
            }
            Kind::Completed if *count > 0 => {
                *count -= 1;
                in_flight -= 1;
            }
            Kind::Completed => {}
        }
    }
    all
}

/// What is to be added to a time of this trace for µs since 1970.
#[allow(dead_code, reason = "one of the two programs that have this module has other clocks")]
pub fn unix_us(trace: &str) -> Option<u64> {
    let line = trace.lines().find(|line| line.contains(": unix "))?;
    let (head, unix) = line.split_once(": tracing_mark_write: unix ")?;
    unix.trim().parse::<u64>().ok()?.checked_sub(time(head)?)
}

enum Kind {
    Issued,
    Completed,
    Flush,
    Asked,
    Writes,
    Tried,
    HandedOn,
}

struct Event {
    kind: Kind,
    request: Sent,
}

/// `5.000001` at the end, in µs.
fn time(head: &str) -> Option<u64> {
    let (whole, part) = head.rsplit(' ').next()?.split_once('.')?;
    Some(whole.parse::<u64>().ok()? * 1_000_000 + part.parse::<u64>().ok()?)
}

/// `fio-12  [000] ..... 5.000001: block_rq_issue: 7,0 R 4096 () 8 + 8 none,0,0 [fio]`, and without
/// the bytes for `block_rq_complete`.
fn event(line: &str) -> Option<Event> {
    let (head, rest) = line.split_once(": ")?;
    let (what, rest) = rest.split_once(": ")?;
    let (task, behind) = head.split_once(" [")?;
    let (name, source) = task.trim().rsplit_once('-')?;
    // A thread of a ring stands for the one whose ring it is.
    let source = name.strip_prefix("iou-wrk-").unwrap_or(source);
    let (source, at_us) = (source.parse().ok()?, time(behind)?);
    let (in_flight, file, direct) = (0, 0, true);
    let none = Sent { at_us, op: Op::Fsync, offset: 0, length: 0, source, in_flight, file, direct };
    if let Some(what) = what.strip_prefix("block_rq_") {
        return block(what == "issue", rest, none);
    }
    let file = number(rest, "ino")?;
    let of = |op: Op, offset: u64, length: u64| Sent { op, offset, length, file, ..none };
    let (kind, request) = match what {
        "ext4_sync_file_enter" => (Kind::Flush, of(Op::Fsync, 0, 0)),
        "iomap_iter" => (Kind::Writes, none),
        "ext4_da_write_begin" | "ext4_write_begin" => {
            let write = of(Op::Write, number(rest, "pos")?, number(rest, "len")?);
            (Kind::Asked, Sent { direct: false, ..write })
        }
        "mm_filemap_get_pages" => {
            let (from, to) = rest.split_once("ofs=")?.1.trim().split_once('-')?;
            let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
            (Kind::Asked, Sent { direct: false, ..of(Op::Read, from, to + 1 - from) })
        }
        "iomap_dio_rw_begin" => {
            let flags = rest.split_once(" flags ")?.1.split(' ').next()?;
            let kind = match (flags.contains("NOWAIT"), name.starts_with("iou-wrk")) {
                (true, _) => Kind::Tried,
                (_, true) => Kind::HandedOn,
                _ => Kind::Asked,
            };
            (kind, of(Op::Read, number(rest, "offset")?, number(rest, "length")?))
        }
        _ => return None,
    };
    Some(Event { kind, request })
}

/// The number behind a word, as in `ino 12`, `ino=c` and `ino 0xc`: `=` is hexadecimal, too.
fn number(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    let value = rest[1..].split(' ').next()?;
    match value.strip_prefix("0x").or(rest.strip_prefix('=').map(|_| value)) {
        Some(value) => u64::from_str_radix(value, 16).ok(),
        None => value.parse().ok(),
    }
}

fn block(is_issue: bool, rest: &str, none: Sent) -> Option<Event> {
    let mut head = rest.split(' ');
    let file = head.next()?.split_once(',')?.1.parse().ok()?;
    let kind = head.next()?;
    let none = Sent { file, ..none };
    let op = match kind.trim_start_matches('F').chars().next() {
        Some('R') => Op::Read,
        Some('W') => Op::Write,
        // A discard, or write zeroes that may unmap: what a hole is to a device.
        Some('D' | 'N') => Op::Trim,
        None | Some('S') if is_issue => return Some(Event { kind: Kind::Flush, request: none }),
        _ => return None,
    };
    let (_, place) = rest.split_once(") ")?;
    let mut words = place.split(' ');
    let sector: u64 = words.next()?.parse().ok()?;
    let sectors: u64 = words.nth(1)?.parse().ok()?;
    let request = Sent { op, offset: sector * 512, length: sectors * 512, ..none };
    let kind = if is_issue { Kind::Issued } else { Kind::Completed };
    Some(Event { kind, request }).filter(|_| sectors > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_read() {
        let trace = "# tracer: nop\n\
            \x20 cargo-9 [000] ..... 4.5: tracing_mark_write: unix 1700000004500000\n\
            \x20 fio -a-12   [000] ..... 5.000001: block_rq_issue: 7,0 R 4096 () 8 + 8 none,0,0 \
            [fio]\n\
            \x20 fio-13 [001] d..2. 5.000003: block_rq_issue: 7,0 FWS 8192 () 16 + 16 none,0,0 \
            [fio]\n\
            \x20 fio-13 [001] d..2. 5.000004: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [fio]\n\
            \x20 <idle>-0 [001] d..2. 5.000010: block_rq_complete: 7,0 R () 8 + 8 none,0,0 [0]\n\
            \x20 fio-13 [001] d..2. 6.000003: block_rq_issue: 7,0 DS 512 () 1 + 1 none,0,0 [fio]\n";
        let all = requests(trace);
        let told =
            |one: &Sent| (one.at_us, one.op, one.offset, one.length, one.source, one.in_flight);
        assert_eq!(
            all.iter().map(told).collect::<Vec<_>>(),
            [
                (5_000_001, Op::Read, 4_096, 4_096, 12, 0),
                (5_000_003, Op::Write, 8_192, 8_192, 13, 1),
                (5_000_004, Op::Fsync, 0, 0, 13, 0),
                (6_000_003, Op::Trim, 512, 512, 13, 1),
            ]
        );
    }

    #[test]
    fn what_files_are_asked_is_read_and_a_ring_that_hands_a_request_on_asks_once() {
        let trace = "\
            a-1 [0] . 5.000001: mm_filemap_get_pages: dev=7:0 ino=1f ofs=4096-8191\n\
            a-1 [0] . 5.000002: ext4_da_write_begin: dev 7,0 ino 31 pos 4096 len 512\n\
            a-1 [0] . 5.000003: ext4_sync_file_enter: dev 7,0 ino 31 parent 2 datasync 1 \n\
            a-1 [0] . 5.000004: iomap_dio_rw_begin: dev 7:0 ino 0x1f size 0x1 offset 0x1000 length \
            0x200 done_before 0x0 flags NOWAIT|DIRECT dio_flags  aio 1\n\
            a-1 [0] . 5.000004: iomap_iter: dev 7:0 ino 0x1f pos 0x1000 length 0x0 status 0 flags \
            WRITE|DIRECT (0x11) ops 0x1 caller x\n\
            iou-wrk-1-7 [0] . 5.000005: iomap_dio_rw_begin: dev 7:0 ino 0x1f size 0x1 \
            offset 0x1000 length 0x200 done_before 0x0 flags DIRECT dio_flags  aio 1\n";
        let told = |one: &Sent| (one.op, one.file, one.offset, one.length, one.direct);
        assert_eq!(
            requests(trace).iter().map(told).collect::<Vec<_>>(),
            [
                (Op::Read, 31, 4_096, 4_096, false),
                (Op::Write, 31, 4_096, 512, false),
                (Op::Fsync, 31, 0, 0, true),
                (Op::Write, 31, 4_096, 512, true),
            ]
        );
    }
}
