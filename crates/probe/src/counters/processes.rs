//! CPU time of programs, by what they are to storage: servers, file systems of clients in user
//! space, threads of the kernel. (man 5 proc_pid_stat; `PF_KTHREAD` in `include/linux/sched.h`.)
//!
//! A program that begins and ends between two readings is not seen; what it took is in the sums of
//! the CPUs alone.

use super::file::Opener;
use super::parse::{number, words};
use super::{NS_PER_S, Source};
use model::CounterSample;
use model::counters::{CLIENTS, Entry, KERNEL_THREADS, Layer, Metric, SERVERS};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

/// `PF_KTHREAD`: a thread that the kernel made for itself.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Reading all programs takes a hundredth of the time at most: longer lists are left out.
const LEAST_TIMES: u32 = 100;
/// Of more processes than this, none is read: a part of them would not be the whole.
const MOST: usize = 8_192;
/// A line of `/proc/PID/stat` is shorter, in bytes.
const LONGEST: usize = 1_024;

/// Servers of storage, as the kernel names their processes: the first 15 bytes.
const SERVER_NAMES: &str = "beegfs-meta beegfs-mgmtd beegfs-storage ceph-mds ceph-mgr ceph-mon \
    ceph-osd crimson-osd ganesha.nfsd glusterd glusterfsd lvmlockd mfschunkserver mfsmaster minio \
    mmfsd nbd-server nvmf_tgt pvfs2-server qemu-nbd qemu-storage-da radosgw smbd spdk_tgt tgtd \
    vsftpd weed wekanode";

/// File systems of clients in user space.
const CLIENT_NAMES: &str = "ceph-fuse glusterfs goofys juicefs lizardfs mfsmount mount-s3 rclone \
    s3fs sshfs";

/// What a process is to storage; `None` for all others.
fn class(command: &[u8], flags: u64) -> Option<usize> {
    if flags & KERNEL_THREAD != 0 {
        return Some(2);
    }
    let is_in = |names: &str| names.split(' ').any(|name| name.as_bytes() == command);
    match (is_in(SERVER_NAMES), is_in(CLIENT_NAMES)) {
        (true, _) => Some(0),
        (_, true) => Some(1),
        _ => None,
    }
}

/// Names of the entries, in the order of the classes.
const CLASSES: [&str; 3] = [SERVERS, CLIENTS, KERNEL_THREADS];

/// A process as its line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    class: Option<usize>,
    /// CPU time of all its threads, in ticks.
    ticks: u64,
    /// When it began, in ticks since the boot: a number that is given again is another process.
    began: u64,
}

/// `4711 (a name) S 1 …`, whatever the name has in it.
fn told(line: &[u8]) -> Option<Told> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let command = line.get(open + 1..close)?;
    let mut fields = words(line.get(close + 1..)?);
    // The state is field 3, flags 9, user and system time 14 and 15, the start 22.
    let flags = number(fields.nth(6)?)?;
    let user = number(fields.nth(4)?)?;
    let system = number(fields.next()?)?;
    let began = number(fields.nth(6)?)?;
    Some(Told { class: class(command, flags), ticks: user.checked_add(system)?, began })
}

/// Every process of `/proc`.
pub struct Processes {
    ns_per_tick: u64,
    known: HashMap<u32, Told>,
    /// How long the last reading took, and when it began; `None` before the first.
    last: Option<(Duration, Instant)>,
    /// [`MOST`].
    most: usize,
    buffer: Vec<u8>,
}

impl Processes {
    pub fn new() -> Processes {
        let ns_per_tick = NS_PER_S / procfs::ticks_per_second().max(1);
        let (known, buffer) = (HashMap::new(), vec![0; LONGEST]);
        Processes { ns_per_tick, known, last: None, most: MOST, buffer }
    }

    /// Reads them all, and comes back with the time that each class took since the last reading;
    /// `None` if there are too many.
    fn pass(&mut self, proc: &Path) -> Option<[u64; 3]> {
        let mut ticks = [0u64; 3];
        let mut now = HashMap::with_capacity(self.known.len());
        let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
        for entry in entries {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            if now.len() >= self.most {
                self.known.clear();
                return None;
            }
            let Some(found) = self.one(&entry.path()) else { continue };
            if let Some(class) = found.class {
                // One that is new began since the last reading.
                let before = self.known.get(&pid).filter(|before| before.began == found.began);
                let spent = found.ticks.saturating_sub(before.map_or(0, |before| before.ticks));
                ticks[class] = ticks[class].saturating_add(spent);
            }
            now.insert(pid, found);
        }
        self.known = now;
        Some(ticks.map(|ticks| ticks.saturating_mul(self.ns_per_tick)))
    }

    fn one(&mut self, folder: &Path) -> Option<Told> {
        let mut file = File::open(folder.join("stat")).ok()?;
        let length = file.read(&mut self.buffer).ok()?;
        told(&self.buffer[..length])
    }
}

/// The CPU time of this thread until now.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

impl Source for Processes {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let began = Instant::now();
        if let Some((took, last)) = self.last
            && took.saturating_mul(LEAST_TIMES) > began - last
        {
            // What is not read now has no beginning the next time either.
            self.known.clear();
            return None;
        }
        let is_first = self.known.is_empty();
        let proc = opener.tree().path("proc");
        // What it costs is its own CPU time: on a busy machine it may wait for long.
        let before = cpu_time();
        let spent = self.pass(&proc);
        self.last = Some((cpu_time().saturating_sub(before), began));
        if let Some(spent) = spent.filter(|_| !is_first) {
            let entries = CLASSES.iter().zip(spent).map(|(name, ns)| Entry {
                layer: Layer::Process,
                name: (*name).to_owned(),
                values: vec![(Metric::RunNs, ns)],
            });
            sample.entries.extend(entries);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;
    use crate::tests::fixture::put;

    const NO_FLAGS: u64 = 0x0040_0000;

    fn line(pid: u32, name: &str, flags: u64, user: u64, system: u64, began: u64) -> String {
        format!(
            "{pid} ({name}) S 2 0 0 0 -1 {flags} 0 0 0 0 {user} {system} 7 8 20 0 1 0 {began} 0 0"
        )
    }

    #[test]
    fn a_line_tells_what_a_process_is_whatever_its_name_has_in_it() {
        let told = |name: &str, flags| told(line(7, name, flags, 3, 4, 99).as_bytes());
        let of = |class| Some(Told { class, ticks: 7, began: 99 });
        assert_eq!(told("ceph-osd", NO_FLAGS), of(Some(0)));
        assert_eq!(told("glusterfs", NO_FLAGS), of(Some(1)));
        assert_eq!(told("kworker/1:1H-kb", NO_FLAGS | KERNEL_THREAD), of(Some(2)));
        assert_eq!(told("a) S 1 (b", NO_FLAGS), of(None));
        for odd in ["", "7", "7 (", "7 )(", "7 (a) S", "7 (a) S 2 0 0 0 -1 x 0 0 0 0 1 1"] {
            assert_eq!(super::told(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn each_class_has_the_time_that_its_processes_took_since_the_last_reading() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let process = |pid: u32, name: &str, flags, ticks, began| {
            put(root, &format!("proc/{pid}/stat"), &line(pid, name, flags, ticks, 1, began));
        };
        let mut opener = Opener::new(&Tree::at(root));
        let mut processes = Processes::new();
        let mut read = || {
            let mut sample = CounterSample::default();
            // However long a reading takes here.
            processes.last = None;
            assert_eq!(processes.read(&mut opener, &mut sample), None);
            let get = |name| sample.get(Layer::Process, name, Metric::RunNs);
            CLASSES.map(get)
        };
        process(10, "smbd", NO_FLAGS, 100, 5);
        process(11, "nfsd", NO_FLAGS | KERNEL_THREAD, 50, 5);
        process(12, "bash", NO_FLAGS, 1, 5);
        assert_eq!(read(), [None; 3], "nothing was before");
        let tick = NS_PER_S / procfs::ticks_per_second();
        process(10, "smbd", NO_FLAGS, 107, 5);
        process(11, "nfsd", NO_FLAGS | KERNEL_THREAD, 52, 5);
        process(12, "bash", NO_FLAGS, 99, 5);
        process(13, "sshfs", NO_FLAGS, 3, 60);
        assert_eq!(read(), [Some(7 * tick), Some(4 * tick), Some(2 * tick)]);
        // The number of one that ended is another's.
        process(11, "kworker/0:0", NO_FLAGS | KERNEL_THREAD, 2, 70);
        assert_eq!(read(), [Some(0), Some(0), Some(3 * tick)]);
    }

    #[test]
    fn of_too_many_processes_none_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let process = |pid: u32, ticks| {
            let line = line(pid, "smbd", NO_FLAGS, ticks, 1, 5);
            put(folder.path(), &format!("proc/{pid}/stat"), &line);
        };
        process(10, 100);
        let mut opener = Opener::new(&Tree::at(folder.path()));
        let mut processes = Processes { most: 2, ..Processes::new() };
        let mut read = || {
            let mut sample = CounterSample::default();
            processes.last = None;
            assert_eq!(processes.read(&mut opener, &mut sample), None);
            sample.get(Layer::Process, SERVERS, Metric::RunNs)
        };
        assert_eq!(read(), None, "nothing was before");
        process(11, 50);
        process(12, 50);
        assert_eq!(read(), None, "three are too many");
        for pid in [11, 12] {
            std::fs::remove_dir_all(folder.path().join(format!("proc/{pid}"))).expect("a folder");
        }
        assert_eq!(read(), None, "what came before was not read");
        process(10, 107);
        assert_eq!(read(), Some(7 * NS_PER_S / procfs::ticks_per_second()));
    }

    #[test]
    fn readings_that_would_take_more_than_a_hundredth_of_the_time_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        put(folder.path(), "proc/7/stat", &line(7, "smbd", NO_FLAGS, 1, 1, 1));
        let mut opener = Opener::new(&Tree::at(folder.path()));
        let mut processes = Processes::new();
        let mut read = |last| {
            let mut sample = CounterSample::default();
            processes.last = last;
            processes.read(&mut opener, &mut sample);
            sample.entries.len()
        };
        assert_eq!(read(None), 0);
        assert_eq!(read(None), 3);
        assert_eq!(read(Some((Duration::from_secs(3_600), Instant::now()))), 0);
        assert_eq!(read(None), 0, "nothing is known of before");
    }

    #[test]
    fn this_kernel_tells_of_its_threads() {
        let mut opener = Opener::new(&Tree::real());
        let mut processes = Processes::new();
        for _ in 0..2 {
            processes.last = None;
            processes.read(&mut opener, &mut CounterSample::default());
        }
        assert!(processes.known.contains_key(&std::process::id()));
    }
}
