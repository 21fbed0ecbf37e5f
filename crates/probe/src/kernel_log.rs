//! Errors and resets of devices in the kernel's log (the kernel's
//! `Documentation/ABI/testing/dev-kmsg`): read only, never waited for, and only what is logged from
//! now on.

use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// A record has at most so many bytes; a smaller buffer is refused.
const RECORD_BYTES: usize = 8192;
/// Records that are looked at in one reading. A log that grows faster is read on the next time.
const MOST_RECORDS: usize = 2_000;
/// Lines of one reading that are told, and of an hour. What is more is counted.
const MOST_OF_READING: usize = 8;
const MOST_OF_HOUR: usize = 200;
const HOUR: Duration = Duration::from_secs(3600);
/// A line has so many bytes.
const MOST_LINE_BYTES: usize = 200;
/// `KERN_WARNING`: what is less urgent tells of a fault only in words that leave no doubt.
const WARNING: u8 = 4;

/// Words of device faults, in small letters.
const FAULTS: [&str; 18] = [
    "i/o error", "medium error", "target error", "hardware error", "uncorrectable", "timeout",
    "timed out", "aborting", "reset", "offline", "not ready", "failed command",
    "blocked for more than", "read-only", "controller is down", "device removed", "link down",
    "ecc error",
];
/// Words that tell of one however urgent the line is.
const CERTAIN: [&str; 5] =
    ["not responding", "link is down", "resetting controller", "reset controller", "i/o error"];

/// A line that tells of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How long ago it was logged, in ns; at most the time since the last reading.
    pub ago_ns: u64,
    /// What it says, in at most 200 bytes.
    pub text: String,
}

/// The kernel's log from now on.
#[derive(Debug)]
pub struct KernelLog {
    file: Option<OwnedFd>,
    read: Instant,
    /// Lines that were told since the hour began: a watch may go on for weeks, and is to tell of
    /// its last day, too.
    told: usize,
    hour: Instant,
}

impl KernelLog {
    /// Opens the log behind its last line. Where it cannot be read (`dmesg_restrict`, a container),
    /// nothing will ever be found.
    pub fn open() -> KernelLog {
        KernelLog::open_at(Path::new("/dev/kmsg"))
    }

    fn open_at(path: &Path) -> KernelLog {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = rustix::fs::open(path, flags, Mode::empty()).ok();
        // What was logged before is of another time; where one cannot go to the end, all of it
        // would be taken for new.
        let file = file.filter(|file| rustix::fs::seek(file, SeekFrom::End(0)).is_ok());
        KernelLog { file, read: Instant::now(), told: 0, hour: Instant::now() }
    }

    /// The faults that were logged since the last reading, the oldest first; at the end, how many
    /// were left out.
    pub fn read(&mut self) -> Vec<LogLine> {
        let since = std::mem::replace(&mut self.read, Instant::now()).elapsed();
        let since_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let now = clock_gettime(ClockId::Monotonic);
        let now_us = (now.tv_sec.unsigned_abs())
            .saturating_mul(1_000_000)
            .saturating_add(now.tv_nsec.unsigned_abs() / 1_000);
        let found = self.faults().into_iter().map(|(logged_us, text)| {
            // The log's clock is not corrected, and may be seconds off after months: the readings
            // are the limits.
            let ago_ns = now_us.saturating_sub(logged_us).saturating_mul(1_000).min(since_ns);
            LogLine { ago_ns, text }
        });
        if self.hour.elapsed() >= HOUR {
            (self.told, self.hour) = (0, Instant::now());
        }
        let room = MOST_OF_HOUR.saturating_sub(self.told);
        let lines = limited(found.collect(), room);
        self.told = self.told.saturating_add(lines.len());
        lines
    }

    /// The time and the words of each fault that is new.
    fn faults(&mut self) -> Vec<(u64, String)> {
        let mut faults = Vec::new();
        let mut buffer = [0; RECORD_BYTES];
        for _ in 0..MOST_RECORDS {
            let Some(file) = &self.file else { break };
            match rustix::io::read(file, &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => break,
                Ok(length) => {
                    faults.extend(
                        record(&buffer[..length])
                            .filter(is_fault)
                            .map(|it| (it.logged_us, it.text)),
                    );
                }
                // Records were overwritten before they were read: those that are left follow.
                Err(Errno::PIPE | Errno::INTR) => {}
                Err(_) => self.file = None,
            }
        }
        faults
    }
}

/// As many as are told: of the rest, how many there were.
fn limited(mut lines: Vec<LogLine>, room: usize) -> Vec<LogLine> {
    let kept = MOST_OF_READING.min(room);
    let left_out = lines.len().saturating_sub(kept);
    lines.truncate(kept);
    if let (Some(last), 1..) = (lines.last_mut(), left_out) {
        let words = format!(" (and {left_out} more like it)");
        last.text = format!(
            "{}{words}",
            model::occurrence::one_line(&last.text, MOST_LINE_BYTES - words.len())
        );
    }
    lines
}

#[derive(Debug, PartialEq, Eq)]
struct Record {
    level: u8,
    logged_us: u64,
    text: String,
}

/// `priority,sequence,microseconds,flags[,…];text`, then a line feed and lines for machines.
fn record(bytes: &[u8]) -> Option<Record> {
    let text = String::from_utf8_lossy(bytes);
    let (head, rest) = text.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let logged_us: u64 = fields.nth(1)?.parse().ok()?;
    let line =
        model::occurrence::one_line(rest.split('\n').next().unwrap_or_default(), MOST_LINE_BYTES);
    // The three lowest bits are the level, the others say who wrote it.
    Some(Record { level: (priority & 7) as u8, logged_us, text: line })
}

fn is_fault(record: &Record) -> bool {
    let text = record.text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&CERTAIN) || (record.level <= WARNING && has(&FAULTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_from_chatter() {
        let told = |bytes: &[u8]| {
            record(bytes).filter(is_fault).map(|record| (record.logged_us, record.text))
        };
        let error = b"3,4711,123456,-;blk_update_request: I/O error, dev sda, sector 5\n \
SUBSYSTEM=block\n DEVICE=b8:0\n";
        let wanted = (123_456, "blk_update_request: I/O error, dev sda, sector 5".to_owned());
        assert_eq!(told(error), Some(wanted));
        for fault in [
            &b"4,1,1,-;nvme nvme0: I/O 5 QID 3 timeout, aborting"[..],
            b"5,1,1,-,caller=T1;nfs: server filer not responding, still trying",
            b"6,1,1,-;igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down",
            b"12,1,1,-;nvme1: resetting controller",
        ] {
            assert!(told(fault).is_some(), "{}", String::from_utf8_lossy(fault));
        }
        for chatter in [
            &b"6,1,1,-;usb 1-1: reset high-speed USB device"[..],
            b"4,1,1,-;process 12 did something odd",
            b"nonsense",
            b"x,1,1,-;I/O error",
            b"3,1;I/O error",
            b"",
            b"\xff\xfe;",
        ] {
            assert_eq!(told(chatter), None, "{}", String::from_utf8_lossy(chatter));
        }
        let long = [b"3,1,1,-;\x1bI/O error ".as_slice(), &[b'x'; 5_000]].concat();
        let (_, text) = told(&long).expect("a fault");
        assert!(text.len() <= MOST_LINE_BYTES && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_flood_is_counted_not_told() {
        let lines = |count: usize| vec![LogLine { ago_ns: 1, text: "y".repeat(200) }; count];
        assert_eq!(limited(lines(3), 200).len(), 3);
        let told = limited(lines(1_000), 200);
        assert_eq!(told.len(), MOST_OF_READING);
        assert!(
            told[7].text.ends_with("(and 992 more like it)")
                && told[7].text.len() <= MOST_LINE_BYTES
        );
        assert_eq!((limited(lines(5), 2).len(), limited(lines(5), 0).len()), (2, 0));
    }

    fn texts(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn old_lines_are_not_new() {
        use std::io::Write;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        std::fs::write(&path, "3,1,1,-;sda: I/O error of yesterday\n").expect("room");
        let mut log = KernelLog::open_at(&path);
        assert_eq!(log.read(), []);
        let mut end = std::fs::OpenOptions::new().append(true).open(&path).expect("a file");
        end.write_all(b"3,2,1,-;sdb: I/O error\n").expect("room");
        assert_eq!(texts(&log.read()), ["sdb: I/O error"]);
        assert_eq!(log.read(), [], "each line is told once");
        assert_eq!(KernelLog::open_at(&path).read(), [], "who opens it later sees none of it");
        assert_eq!(KernelLog::open_at(&folder.path().join("none")).read(), []);
    }

    #[test]
    fn reading_takes_what_is_there_and_waits_for_nothing() {
        use std::os::unix::net::UnixDatagram;
        // As the kernel's log: each reading brings one record, or says that there is none yet.
        let (kernel, ours) = UnixDatagram::pair().expect("a pair");
        ours.set_nonblocking(true).expect("a socket");
        let now = Instant::now();
        let mut log = KernelLog { file: Some(ours.into()), read: now, told: 0, hour: now };
        assert_eq!(log.read(), [], "nothing was logged, and nobody waits");
        for line in [
            &b"3,1,1,-;sda: I/O error"[..],
            b"6,2,1,-;usb 1-1: new device",
            b"4,3,1,-;sdb: timeout",
        ] {
            kernel.send(line).expect("room");
        }
        let lines = log.read();
        assert_eq!(texts(&lines), ["sda: I/O error", "sdb: timeout"]);
        let most_ns = u64::try_from(now.elapsed().as_nanos()).expect("short");
        assert!(
            lines.iter().all(|line| line.ago_ns <= most_ns),
            "no line is older than the reading before: {lines:?}"
        );
        assert_eq!(log.read(), []);
        let (kernel, ours) = UnixDatagram::pair().expect("a pair");
        ours.set_nonblocking(true).expect("a socket");
        let mut full =
            KernelLog { file: Some(ours.into()), read: now, told: MOST_OF_HOUR - 1, hour: now };
        (0..3).for_each(|_| _ = kernel.send(b"3,1,1,-;sda: I/O error").expect("room"));
        assert_eq!(
            texts(&full.read()),
            ["sda: I/O error (and 2 more like it)"],
            "an hour has so many lines"
        );
        kernel.send(b"3,1,1,-;sda: I/O error").expect("room");
        assert_eq!(full.read(), []);
    }
}
