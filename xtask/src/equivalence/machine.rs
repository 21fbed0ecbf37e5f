//! Devices and directories on which fio and the program load the same, and what the kernel saw.

use super::draw::Job;
use super::judge::{Facts, Load};
use super::kernel::{Kernel, Sent, requests, unix_us};
use crate::shell;
use model::Op;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// MiB of a device, and of the file system.
const DEVICE: u64 = 32;
const DISK: u64 = 384;
/// What says which numbers fio draws.
const SEEDS: [&str; 2] = ["randrepeat", "randseed"];
/// What has jobs lay out their files themselves, among their load.
const LAYS_OUT: &str = "create_serialize";
/// No job takes longer.
const PATIENCE: Duration = Duration::from_secs(40);

/// A loop device; it is detached when it is dropped.
pub struct Loop {
    device: PathBuf,
    _file: TempDir,
}

impl Loop {
    fn new(mib: u64) -> Loop {
        let folder = scratch();
        let file = folder.path().join("disk.img");
        fs::File::create(&file)
            .and_then(|file| file.set_len(mib << 20))
            .expect("room for a device");
        let device = PathBuf::from(run("losetup", ["--find", "--show", text(&file)]));
        let made = Loop { device, _file: folder };
        let queue = format!("/sys/block/{}/queue", made.name());
        // Of requests that are sent together, the kernel merges those that adjoin.
        for (name, value) in [("nomerges", "2"), ("write_cache", "write back")] {
            fs::write(format!("{queue}/{name}"), value).expect("a device of ours");
        }
        made
    }

    /// `loop3`.
    pub fn name(&self) -> String {
        self.device.file_name().expect("a name").to_string_lossy().into_owned()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// A scratch folder in memory, where there is such a place: syncs would wait for a disk.
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let prefix = format!("of-{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(place).expect("a scratch folder")
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ours")
}

/// Runs a program of the system, and returns what it said.
pub fn run<'a>(program: &str, args: impl AsRef<[&'a str]>) -> String {
    let told = shell::capture(Command::new(program).args(args.as_ref()));
    told.unwrap_or_else(|problem| panic!("{problem}")).trim().to_owned()
}

/// What became of our run.
pub enum Ours {
    /// It was refused, in these words.
    Refused(String),
    /// It went wrong.
    Failed(String),
    /// The kernel could not tell all of it.
    Lost(String),
    /// It ran, and so many syncs came behind the last request to a file: there we make durable
    /// what was written, whether it counts or not.
    Ran(Load),
}

/// A file system on a loop device.
pub(super) struct Disk {
    device: Loop,
    mount: TempDir,
}

impl Disk {
    /// Makes it.
    pub(super) fn new() -> Disk {
        let (device, mount) = (Loop::new(DISK), scratch());
        // A journal would have every sync wait for the kernel's timer.
        let options = "lazy_itable_init=0";
        let name = text(&device.device);
        run("mkfs.ext4", ["-q", "-b", "4096", "-O", "^has_journal", "-E", options, name]);
        run("mount", [name, text(mount.path())]);
        Disk { device, mount }
    }

    /// Where it is mounted.
    pub(super) fn path(&self) -> &Path {
        self.mount.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.mount.path()).status();
    }
}

/// Two devices, and a file system with two directories.
pub struct Bench {
    devices: [Loop; 2],
    disk: Disk,
    work: TempDir,
    program: PathBuf,
}

/// How a program ended, and what it said.
pub(super) struct Ended {
    pub code: Option<i32>,
    pub pid: u32,
    pub out: String,
    pub err: String,
}

impl Bench {
    /// Makes them.
    pub fn new(program: &Path) -> Bench {
        let devices = [Loop::new(DEVICE), Loop::new(DEVICE)];
        let (disk, work) = (Disk::new(), scratch());
        let bench = Bench { devices, disk, work, program: program.to_owned() };
        bench.clear();
        bench
    }

    /// The job on these devices.
    fn text(&self, job: &Job) -> String {
        let mut all = job.to_string();
        for number in 0..2 {
            let directory = self.disk.path().join(["a", "b"][number]);
            all = all.replace(&format!("DEV{number}"), text(&self.devices[number].device));
            all = all.replace(&format!("DIR{number}"), text(&directory));
        }
        all
    }

    fn clear(&self) {
        for name in ["a", "b"] {
            let directory = self.disk.path().join(name);
            let _ = fs::remove_dir_all(&directory);
            fs::create_dir(directory).expect("a directory of ours");
        }
    }

    fn listen(&self, job: &Job) -> Kernel {
        if job.lines().any(|(_, value)| value.starts_with("DIR")) {
            return Kernel::listen_to(&[&self.disk.device], true);
        }
        Kernel::listen_to(&[&self.devices[0], &self.devices[1]], false)
    }

    /// Writes back what the page cache has.
    fn sync(&self, job: &Job) {
        if !Facts::of(job).buffered {
            return;
        }
        for device in self.devices.iter().map(|one| &one.device) {
            fs::File::options()
                .write(true)
                .open(device)
                .and_then(|file| file.sync_all())
                .expect("a sync");
        }
        run("sync", ["-f", text(self.disk.path())]);
    }

    /// What fio sends, as the job is or with other draws. `randseed` alone draws no others.
    ///
    /// # Errors
    /// fio does not take the job, or does not come to an end.
    pub fn fio(&self, job: &Job, is_other: bool) -> Result<Vec<Sent>, String> {
        let mut job = job.without(&[LAYS_OUT]);
        if is_other {
            job = job.without(&SEEDS);
            job.global.push((SEEDS[0], "0".to_owned()));
        }
        self.write(&job);
        let kernel = self.listen(&job);
        let ended = self.end("fio".as_ref(), &["--minimal", "job.fio"]);
        self.sync(&job);
        let trace = kernel.trace();
        self.clear();
        let trace = trace?;
        if ended.code != Some(0) {
            return Err(format!("fio: {:?} {}", ended.code, ended.err.trim()));
        }
        // The first process lays files out; jobs are its children.
        let is_load = |one: &Sent| one.source != ended.pid;
        Ok(requests(&trace).into_iter().filter(is_load).collect())
    }

    /// Whether fio takes the text.
    pub(super) fn parses(&self, job: &Job) -> bool {
        self.write(job);
        self.end("fio".as_ref(), &["--parse-only", "job.fio"]).code == Some(0)
    }

    /// The options that the import does not keep as they are, each with its reason.
    ///
    /// # Errors
    /// The import refuses the job in words.
    pub(super) fn lost(&self, job: &Job) -> Result<Vec<(String, String)>, String> {
        self.write(job);
        let told = self.end(&self.program, &["import", "job.fio", "--json"]);
        let Ok(report) = serde_json::from_str::<Value>(&told.out) else { return Err(told.err) };
        Ok(losses(&report, &["approximated", "refused"]))
    }

    /// What the imported suite sends.
    pub fn ours(&self, job: &Job, more: &[&'static str]) -> Ours {
        self.write(job);
        let mut args = vec!["run", "job.fio", "-q", "--events", "events", "--out", "run.plimsoll"];
        args.extend(more);
        let devices = self.devices.iter().map(|one| text(&one.device));
        for (name, device) in ["DEV0", "DEV1"].iter().zip(devices) {
            if job.lines().any(|(_, value)| value.contains(name)) {
                args.extend(["--destroy-data", device]);
            }
        }
        for left in ["events", "run.plimsoll", "run.html"] {
            let _ = fs::remove_file(self.work.path().join(left));
        }
        let kernel = self.listen(job);
        let ended = self.end(&self.program, &args);
        self.sync(job);
        let trace = kernel.trace();
        self.clear();
        let trace = match trace {
            Ok(trace) => trace,
            Err(lost) => return Ours::Lost(lost),
        };
        match ended.code {
            Some(0) => {}
            Some(2 | 3 | 8) => return Ours::Refused(ended.err),
            code => return Ours::Failed(format!("exit {code:?}: {}{}", ended.out, ended.err)),
        }
        let events = fs::read_to_string(self.work.path().join("events")).unwrap_or_default();
        let clock = unix_us(&trace).unwrap_or(0);
        Ours::Ran(of_load(&requests(&trace), &load_spans(&events, clock), ended.pid))
    }

    fn write(&self, job: &Job) {
        fs::write(self.work.path().join("job.fio"), self.text(job)).expect("room for a job");
    }

    fn end(&self, program: &Path, args: &[&str]) -> Ended {
        let mut command = Command::new(program);
        command.args(args);
        end(command, self.work.path())
    }
}

/// Runs a program in this folder to its end, or ends it.
pub(super) fn end(mut command: Command, folder: &Path) -> Ended {
    let file = |name: &str| fs::File::create(folder.join(name)).expect("room");
    command.current_dir(folder).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("PLIMSOLL_ALONE", "1");
    command.stdout(file("out")).stderr(file("err"));
    let mut child = command.spawn().expect("the program starts");
    let begin = Instant::now();
    let code = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break status.code(),
            None if begin.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let said = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
    Ended { code, pid: child.id(), out: said("out"), err: said("err") }
}

/// Options of a report of an import that have one of these classes, each with its reason.
pub(super) fn losses(report: &Value, classes: &[&str]) -> Vec<(String, String)> {
    let word = |option: &Value, key: &str| option[key].as_str().unwrap_or_default().to_owned();
    let options = report["options"].as_array().into_iter().flatten();
    let lost = options.filter(|one| classes.iter().any(|class| one["class"] == *class));
    lost.map(|one| (word(one, "name"), word(one, "why"))).collect()
}

/// From when to when the stages last that are no preparation, in µs of a clock that is `clock`
/// behind 1970.
pub(super) fn load_spans(events: &str, clock: u64) -> Vec<Range<u64>> {
    let lines = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut kinds, mut starts): (Vec<String>, Vec<(u64, bool)>) = (Vec::new(), Vec::new());
    for line in lines {
        if let Some(stages) = line["stages"].as_array().filter(|_| line["event"] == "run") {
            let kind = |stage: &Value| stage["kind"].as_str().unwrap_or_default().to_owned();
            kinds = stages.iter().map(kind).collect();
        }
        let at = (line["unix_ns"].as_u64().unwrap_or(0) / 1_000).saturating_sub(clock);
        if line["event"] == "stage_started" {
            let kind = line["stage"].as_u64().and_then(|number| kinds.get(number as usize));
            starts.push((at, kind.is_none_or(|kind| kind != "prepare")));
        }
        if line["event"] == "run_ended" {
            starts.push((at, false));
        }
    }
    let spans = starts.windows(2).filter(|pair| pair[0].1);
    spans.map(|pair| pair[0].0..pair[1].0).collect()
}

/// What was sent in these spans, but for syncs before a load begins, which make clean what is to
/// leave the page cache; and what that cache wrote after the program. Then, how many syncs came
/// behind the last request of their thread to their file in a span.
fn of_load(all: &[Sent], spans: &[Range<u64>], pid: u32) -> Load {
    let end = spans.last().map_or(u64::MAX, |span| span.end);
    let mut load = Load::default();
    for span in spans {
        // The mark in a directory says whose it is, and is no block.
        let is_block = |one: &&Sent| span.contains(&one.at_us) && one.length.is_multiple_of(512);
        let these = all.iter().filter(is_block);
        let these: Vec<Sent> = these.skip_while(|one| one.op == Op::Fsync).copied().collect();
        let mut later = BTreeSet::new();
        for one in these.iter().rev() {
            match one.op {
                Op::Fsync => load.behind += u64::from(!later.contains(&(one.source, one.file))),
                _ => _ = later.insert((one.source, one.file)),
            }
        }
        load.sent.extend(these);
    }
    let is_late =
        |one: &&Sent| one.at_us >= end && one.op == Op::Write && one.direct && one.source != pid;
    load.sent.extend(all.iter().filter(is_late));
    load
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_sent_in_stages_of_load_counts() {
        let events = r#"{"event":"run","stages":[{"kind":"prepare"},{"kind":"measure"}]}
            {"event":"stage_started","stage":0,"unix_ns":1010000}
            {"event":"stage_started","stage":1,"unix_ns":1020000}
            {"event":"run_ended","unix_ns":1030000}"#;
        let spans = load_spans(events, 1_000);
        assert_eq!((spans.len(), spans[0].clone()), (1, 20..30));
        let of = |at_us: u64, op: Op| {
            let (offset, length, source, in_flight, file, direct) = (0, 512, 7, 0, 0, true);
            Sent { at_us, op, offset, length, source, in_flight, file, direct }
        };
        let (read, write, sync) = (Op::Read, Op::Write, Op::Fsync);
        let all = [(12, write), (21, sync), (22, read), (23, sync), (31, read), (32, write)];
        let all: Vec<Sent> = all.into_iter().map(|(at_us, op)| of(at_us, op)).collect();
        let times = |pid: u32| {
            let load = of_load(&all, &spans, pid);
            (load.sent.iter().map(|one| one.at_us).collect::<Vec<_>>(), load.behind)
        };
        assert_eq!(times(7), (vec![22, 23], 1));
        assert_eq!(times(1), (vec![22, 23, 32], 1));
    }
}
