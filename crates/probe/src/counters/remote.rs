//! Clients of network file systems: NFS (`/proc/self/mountstats`, the kernel's `net/sunrpc/stats.c` and `fs/nfs/super.c`) and SMB
//! (`/proc/fs/cifs/Stats`, the kernel's `Documentation/admin-guide/cifs/usage.rst`).

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{after, number, numbers, split_once, words};
use super::table::{Column, Table};
use model::CounterSample;
use model::counters::{Layer, Metric};

const NS_PER_MS: u64 = 1_000_000;

/// Every NFS mount, by its mount point as the kernel writes it (a blank is `\040`).
pub struct Nfs {
    file: KernelFile,
    table: Table,
    /// The mount point whose lines are being read; empty between them.
    mount: Vec<u8>,
    now: [Option<u64>; 11],
}

impl Nfs {
    pub fn new(opener: &mut Opener) -> Nfs {
        use Metric::{Calls, ReadBytes, ReadNs, ReadRttNs, Reads, Retransmissions, Timeouts};
        use Metric::{WriteBytes, WriteNs, WriteRttNs, Writes};
        let plain = |metrics: &[Metric]| metrics.iter().map(|metric| Column::plain(*metric)).collect::<Vec<_>>();
        let times = [ReadRttNs, ReadNs, WriteRttNs, WriteNs].map(|metric| Column::scaled(metric, NS_PER_MS));
        let counts = plain(&[Calls, Retransmissions, Timeouts, ReadBytes, WriteBytes, Reads, Writes]);
        let table = Table::new(Layer::Nfs, [counts, times.to_vec()].concat());
        Nfs { file: opener.file("proc/self/mountstats"), table, mount: Vec::new(), now: [None; 11] }
    }

    fn line(&mut self, line: &[u8], sample: &mut CounterSample) {
        if let Some(device) = after(line, "device ") {
            self.finish(sample);
            let mut words = words(device).skip_while(|word| *word != b"on").skip(1);
            let mount = words.next().unwrap_or_default();
            if words.skip_while(|word| *word != b"fstype").nth(1).is_some_and(|kind| kind.starts_with(b"nfs")) {
                self.mount.extend_from_slice(mount);
            }
            return;
        }
        let Some((key, rest)) = split_once(line.trim_ascii(), b':').filter(|_| !self.mount.is_empty()) else { return };
        if key == b"bytes" {
            // What programs read and wrote, directly and through the cache; then what went to and came from the server.
            let bytes = numbers::<6>(words(rest));
            (self.now[3], self.now[4]) = (bytes[4], bytes[5]);
            return;
        }
        // Only the operations have capital names: calls, transmissions, timeouts, bytes out, bytes in, and ms of queue, of round
        // trip and of all.
        if !key.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') {
            return;
        }
        let [Some(calls), Some(sent), Some(timeouts), .., rtt, whole] = numbers::<8>(words(rest)) else { return };
        let add = |slot: &mut Option<u64>, more: u64| *slot = Some(slot.unwrap_or(0).saturating_add(more));
        add(&mut self.now[0], calls);
        add(&mut self.now[1], sent.saturating_sub(calls));
        add(&mut self.now[2], timeouts);
        match key {
            b"READ" => (self.now[5], self.now[7], self.now[8]) = (Some(calls), rtt, whole),
            b"WRITE" => (self.now[6], self.now[9], self.now[10]) = (Some(calls), rtt, whole),
            _ => {}
        }
    }

    fn finish(&mut self, sample: &mut CounterSample) {
        if !self.mount.is_empty() {
            self.table.put(&self.mount, &self.now, sample);
        }
        self.mount.clear();
        self.now = [None; 11];
    }
}

impl Source for Nfs {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        self.table.begin();
        let mut file = std::mem::take(&mut self.file);
        file.lines(opener, |line| self.line(line, sample));
        self.file = file;
        self.finish(sample);
        self.table.end(sample);
        None
    }
}

/// Every SMB share, by its name on the server.
pub struct Smb {
    file: KernelFile,
    table: Table,
    share: Vec<u8>,
    now: [Option<u64>; 5],
}

impl Smb {
    pub fn new(opener: &mut Opener) -> Smb {
        let metrics = [Metric::Calls, Metric::ReadBytes, Metric::WriteBytes, Metric::Reads, Metric::Writes];
        let table = Table::new(Layer::Smb, metrics.map(Column::plain).to_vec());
        Smb { file: opener.file("proc/fs/cifs/Stats"), table, share: Vec::new(), now: [None; 5] }
    }

    fn line(&mut self, line: &[u8], sample: &mut CounterSample) {
        // `1) \\server\share`
        if let Some((head, rest)) = split_once(line, b')')
            && number(head).is_some()
        {
            self.finish(sample);
            self.share.extend_from_slice(words(rest).next().unwrap_or_default());
            return;
        }
        let Some((key, rest)) = split_once(line, b':') else { return };
        let first = || words(rest).next().and_then(number);
        match key.trim_ascii() {
            b"SMBs" => self.now[0] = first(),
            // `Bytes read: 1  Bytes written: 2`
            b"Bytes read" => {
                self.now[1] = first();
                self.now[2] = split_once(rest, b':').and_then(|(_, rest)| words(rest).next()).and_then(number);
            }
            b"Reads" => self.now[3] = first(),
            b"Writes" => self.now[4] = first(),
            _ => {}
        }
    }

    fn finish(&mut self, sample: &mut CounterSample) {
        if !self.share.is_empty() {
            self.table.put(&self.share, &self.now, sample);
        }
        self.share.clear();
        self.now = [None; 5];
    }
}

impl Source for Smb {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        self.table.begin();
        let mut file = std::mem::take(&mut self.file);
        file.lines(opener, |line| self.line(line, sample));
        self.file = file;
        self.finish(sample);
        self.table.end(sample);
        None
    }
}
