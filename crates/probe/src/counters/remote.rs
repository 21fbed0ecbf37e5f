//! Clients of network file systems: NFS (`/proc/self/mountstats`, the kernel's `net/sunrpc/stats.c`
//! and `fs/nfs/super.c`) and SMB (`/proc/fs/cifs/Stats`, the kernel's
//! `Documentation/admin-guide/cifs/usage.rst`).

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{after, number, numbers, split_once, words};
use super::table::{Column, Table};
use model::CounterSample;
use model::counters::{Layer, Metric};

const NS_PER_MS: u64 = 1_000_000;

/// A file that tells of several things, one after the other, each on several lines: the row that is
/// being gathered from them.
struct Rows<const N: usize> {
    table: Table,
    /// The thing whose lines are being read; empty between them.
    name: Vec<u8>,
    now: [Option<u64>; N],
}

impl<const N: usize> Rows<N> {
    fn new(table: Table) -> Rows<N> {
        Rows { table, name: Vec::new(), now: [None; N] }
    }

    /// Puts the row into the table, if there is one, and begins the next.
    fn finish(&mut self, sample: &mut CounterSample) {
        if !self.name.is_empty() {
            self.table.put(&self.name, &self.now, sample);
        }
        self.name.clear();
        self.now = [None; N];
    }

    /// Reads all of `file`; `line` says what a line does to the rows.
    fn read(
        &mut self,
        file: &mut KernelFile,
        opener: &mut Opener,
        sample: &mut CounterSample,
        line: fn(&mut Rows<N>, &[u8], &mut CounterSample),
    ) {
        file.lines(opener, |text| line(self, text, sample));
        self.finish(sample);
        self.table.end(sample);
    }
}

/// Every NFS mount, by its mount point as the kernel writes it (a blank is `\040`).
pub struct Nfs {
    file: KernelFile,
    rows: Rows<12>,
}

impl Nfs {
    pub fn new(opener: &mut Opener) -> Nfs {
        use Metric::{
            AskedReadBytes, Calls, ReadBytes, ReadNs, ReadRttNs, Reads, Retransmissions, Timeouts,
            WriteBytes, WriteNs, WriteRttNs, Writes,
        };
        let plain = |metrics: &[Metric]| {
            metrics.iter().map(|metric| Column::plain(*metric)).collect::<Vec<_>>()
        };
        let times = [ReadRttNs, ReadNs, WriteRttNs, WriteNs]
            .map(|metric| Column::scaled(metric, NS_PER_MS));
        let counts =
            plain(&[Calls, Retransmissions, Timeouts, ReadBytes, WriteBytes, Reads, Writes]);
        let table =
            Table::new(Layer::Nfs, [counts, times.to_vec(), plain(&[AskedReadBytes])].concat());
        Nfs { file: opener.file("proc/self/mountstats"), rows: Rows::new(table) }
    }
}

impl Rows<12> {
    /// A line of an NFS mount.
    fn nfs(&mut self, line: &[u8], sample: &mut CounterSample) {
        if let Some(device) = after(line, "device ") {
            self.finish(sample);
            let mut words = words(device).skip_while(|word| *word != b"on").skip(1);
            let mount = words.next().unwrap_or_default();
            if words
                .skip_while(|word| *word != b"fstype")
                .nth(1)
                .is_some_and(|kind| kind.starts_with(b"nfs"))
            {
                self.name.extend_from_slice(mount);
            }
            return;
        }
        let Some((key, rest)) =
            split_once(line.trim_ascii(), b':').filter(|_| !self.name.is_empty())
        else {
            return;
        };
        if key == b"bytes" {
            // What programs read and wrote, directly and through the cache; then what went to and
            // came from the server.
            let bytes = numbers::<6>(words(rest));
            (self.now[3], self.now[4]) = (bytes[4], bytes[5]);
            self.now[11] =
                bytes[0].zip(bytes[2]).and_then(|(cached, direct)| cached.checked_add(direct));
            return;
        }
        // Only the operations have capital names: calls, transmissions, timeouts, bytes out, bytes
        // in, and ms of queue, of round trip and of all.
        if !key.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') {
            return;
        }
        let [Some(calls), Some(sent), Some(timeouts), .., rtt, whole] = numbers::<8>(words(rest))
        else {
            return;
        };
        let add = |slot: &mut Option<u64>, more: u64| {
            *slot = Some(slot.unwrap_or(0).saturating_add(more));
        };
        add(&mut self.now[0], calls);
        add(&mut self.now[1], sent.saturating_sub(calls));
        add(&mut self.now[2], timeouts);
        match key {
            b"READ" => (self.now[5], self.now[7], self.now[8]) = (Some(calls), rtt, whole),
            b"WRITE" => (self.now[6], self.now[9], self.now[10]) = (Some(calls), rtt, whole),
            _ => {}
        }
    }
}

impl Source for Nfs {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        self.rows.read(&mut self.file, opener, sample, Rows::nfs);
        None
    }
}

/// Every SMB share, by its name on the server.
pub struct Smb {
    file: KernelFile,
    rows: Rows<5>,
}

impl Smb {
    pub fn new(opener: &mut Opener) -> Smb {
        let metrics =
            [Metric::Calls, Metric::ReadBytes, Metric::WriteBytes, Metric::Reads, Metric::Writes];
        let table = Table::new(Layer::Smb, metrics.map(Column::plain).to_vec());
        Smb { file: opener.file("proc/fs/cifs/Stats"), rows: Rows::new(table) }
    }
}

impl Rows<5> {
    /// A line of an SMB share.
    fn smb(&mut self, line: &[u8], sample: &mut CounterSample) {
        // `1) \\server\share`
        if let Some((head, rest)) = split_once(line, b')')
            && number(head).is_some()
        {
            self.finish(sample);
            self.name.extend_from_slice(words(rest).next().unwrap_or_default());
            return;
        }
        let Some((key, rest)) = split_once(line, b':') else { return };
        let first = || words(rest).next().and_then(number);
        match key.trim_ascii() {
            b"SMBs" => self.now[0] = first(),
            // `Bytes read: 1  Bytes written: 2`
            b"Bytes read" => {
                self.now[1] = first();
                self.now[2] = split_once(rest, b':')
                    .and_then(|(_, rest)| words(rest).next())
                    .and_then(number);
            }
            b"Reads" => self.now[3] = first(),
            b"Writes" => self.now[4] = first(),
            _ => {}
        }
    }
}

impl Source for Smb {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        self.rows.read(&mut self.file, opener, sample, Rows::smb);
        None
    }
}
