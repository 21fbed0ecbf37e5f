//! What whole-program tests share: the program itself, scratch places on a real disk, and the
//! kernel's own devices.
#![allow(dead_code, clippy::print_stdout)]

pub mod cluster;
pub mod devtools;
pub mod faulty_fs;
pub mod http;
pub mod json;
pub mod terminal;
mod words;

pub use json::Json;
pub use words::Words;

use model::{NoteKind, Record, RunEnd};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{TryRecvError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program under test.
pub const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");

/// How a run of the program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; −1 for a signal.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ended {
    /// Standard output as one JSON object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The same, if the code is `code`; a panic that shows everything otherwise.
    pub fn with_code(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A folder that is removed at the end.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl std::ops::Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl AsRef<std::ffi::OsStr> for Folder {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.as_os_str()
    }
}

/// A scratch folder. Not in /tmp, which may be memory: these tests are about disks. Its name says
/// whose it is (`of-PID-`), so that `cargo xtask test` can take away what a killed test left in it,
/// its mounts and loop devices too.
pub fn scratch() -> Folder {
    scratch_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("a scratch folder")
}

/// The same in another place.
pub fn scratch_in(place: &Path) -> std::io::Result<Folder> {
    let prefix = format!("of-{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(place).map(Folder)
}

/// The program with `args`, run in `folder`.
pub fn command(folder: &Path, args: impl Words) -> Command {
    let mut command = Command::new(PLIMSOLL);
    command.current_dir(folder).args(args.words()).stdin(Stdio::null()).env("NO_COLOR", "1");
    // Tests run side by side: else each run would say of the others that they load this machine.
    command.env("PLIMSOLL_ALONE", "1");
    command
}

/// Runs the program to its end.
pub fn plimsoll(folder: &Path, args: impl Words) -> Ended {
    ended(&mut command(folder, args))
}

/// Each `fixtures/FOLDER/NAME.toml`, of which there are at least so many, has its `NAME.expected`:
/// what a user sees who gives it to a command. `UPDATE_EXPECTED=1` writes the second half.
pub fn assert_explained(fixtures: &str, least: usize, command: &str) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixtures);
    let files: Vec<String> =
        names(&fixtures).into_iter().filter(|name| name.ends_with(".toml")).collect();
    assert!(files.len() >= least, "{files:?}");
    let folder = scratch();
    for file in files {
        fs::copy(fixtures.join(&file), folder.join(&file)).expect("a copy");
        let ended = plimsoll(&folder, [command, &file]).with_code(2);
        assert!(ended.out.is_empty());
        let expected = fixtures.join(file.replace(".toml", ".expected"));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&expected, &ended.err).expect("a file");
        }
        let wanted = fs::read_to_string(&expected)
            .unwrap_or_else(|error| panic!("{}: {error}", expected.display()));
        assert_eq!(ended.err, wanted, "{file}");
    }
}

/// Runs a suite of this text.
pub fn run_suite(folder: &Path, suite: &str, more: impl Words) -> Ended {
    fs::write(folder.join("suite.toml"), suite).expect("a suite");
    plimsoll(folder, ("run suite.toml --json --quiet", more))
}

/// Runs a program to its end.
pub fn ended(command: &mut Command) -> Ended {
    command.output().expect("the program starts").into()
}

/// Asserts that a text has all of these in it.
#[track_caller]
pub fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

/// What `show` says of `run.plimsoll`.
#[track_caller]
pub fn shown(folder: &Path) -> Value {
    plimsoll(folder, "show run.plimsoll --json").with_code(0).json()
}

/// What `run.plimsoll` has on record.
#[track_caller]
pub fn recorded(folder: &Path) -> Record {
    store::read(&folder.join("run.plimsoll")).expect("a run file")
}

/// Asserts that the run went to its end.
#[track_caller]
pub fn assert_complete(record: &Record) {
    assert_eq!(record.end.as_ref().map(|(_, end)| end), Some(&RunEnd::Complete));
}

/// The hosts that a run lost, each as often as it was lost.
pub fn lost(record: &Record) -> Vec<u32> {
    let lost = record.notes.iter().filter(|note| note.kind() == NoteKind::HostLost);
    lost.map(|note| note.host).collect()
}

/// Makes a file in `folder` that can be run.
pub fn script(folder: &Path, name: &str, lines: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, lines).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("may be run");
    path
}

/// Arguments by which a worker rests after each few requests. A load of which a test asks only that
/// it goes on, however fast, leaves the processors to the tests beside it.
pub const RESTS: &str = "--set think=2ms --set burst=8";

/// A suite of small mixed requests at random places, of every kind of stage, in less than a second.
pub fn random_suite(name: &str) -> String {
    format!(
        "name = \"{name}\"\n[layout]\nsize = \"24MiB\"\n[stages]\nprepare_block = \
         \"64KiB\"\nprecondition = \"200ms\"\nmeasure = \"700ms\"\ninterval = \
         \"100ms\"\n[[workload]]\nname = \"random\"\nblock_size = \"4KiB\"\nread = \"70%\"\ndepth \
         = 16\nworkers = 3\n"
    )
}

/// Starts the program and leaves it running.
pub fn start(folder: &Path, args: impl Words) -> Child {
    started(&mut command(folder, args))
}

/// Starts a program, and keeps what it says.
pub fn started(command: &mut Command) -> Child {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    child.expect("the program starts")
}

/// Waits for a program that was [`start`]ed.
pub fn end(child: Child) -> Ended {
    child.wait_with_output().expect("the program ends").into()
}

/// Ends a program as no handler can.
pub fn kill(mut child: Child) {
    child.kill().expect("a process to kill");
    child.wait().expect("dead");
}

/// The same by its number.
pub fn kill_pid(pid: &str) {
    run("kill", ["-9", pid]);
}

/// The processes that serve as agents and were told to touch `path`, or what is below it.
pub fn agents(path: &Path) -> Vec<String> {
    pgrep(["-f", &format!("agent --allow {}", path.display())])
}

/// The agents that a process started itself.
pub fn agents_of(process: u32) -> Vec<String> {
    pgrep(["-P", &process.to_string(), "-f", "agent --allow"])
}

fn pgrep<const N: usize>(args: [&str; N]) -> Vec<String> {
    let out = Command::new("pgrep").args(args).output().expect("pgrep");
    String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
}

/// Sends a signal by its name.
pub fn signal(child: &Child, name: &str) {
    run("kill", ["-s", name, &child.id().to_string()]);
}

/// The same to a program that may have ended by itself.
pub fn signal_if_there(child: &Child, name: &str) {
    let _ = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// How long a test waits for what has to come. Nothing is claimed about how fast it comes, and CI
/// may have two CPUs, which others use, and a slow disk; so it is long, and there only because a
/// test must not hang.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until `done`, and fails loudly after [`PATIENCE`].
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    loop {
        let look = Instant::now();
        if done() {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for: {what}");
        std::thread::sleep(pause_after(look.elapsed()));
    }
}

/// The pause after a look that took so long. A look may read a whole run file or start a program:
/// one behind the other, looks would take a processor from what they wait for.
fn pause_after(look: Duration) -> Duration {
    (look * 4).clamp(Duration::from_millis(5), Duration::from_millis(100))
}

/// What a program has said once it said `word`, although it has not ended.
pub fn said(child: &mut Child, word: &str) -> String {
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let (tell, told) = channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
    let mut all = String::new();
    wait_until(word, || {
        loop {
            match told.try_recv() {
                Ok(line) => all.push_str(&line),
                Err(TryRecvError::Empty) => return all.contains(word),
                Err(TryRecvError::Disconnected) if all.contains(word) => return true,
                Err(TryRecvError::Disconnected) => panic!("it ended without {word}: {all}"),
            }
        }
    });
    all
}

/// Held by whoever forbids `io_uring` to all users but root, and shared by whoever runs the program
/// as one and wants it: the kernel has one rule for all.
pub static IO_URING_RULE: std::sync::RwLock<()> = std::sync::RwLock::new(());

/// The program in a folder that is open to all, which every user may run. A file that was written
/// cannot be run while a child of another test has it open, so that it is a link where there can be
/// one.
pub fn program_for_all(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("open to all");
    let program = folder.join("plimsoll");
    if fs::hard_link(PLIMSOLL, &program).is_err() {
        fs::copy(PLIMSOLL, &program).expect("a copy that everybody may run");
    }
    program
}

/// Waits until so many hosts have told of requests in a measured stage of `run.plimsoll`, in its
/// third interval at least.
pub fn wait_for_samples(folder: &Path, hosts: usize) {
    wait_for_samples_in(&folder.join("run.plimsoll"), hosts);
}

/// The same of any run file.
pub fn wait_for_samples_in(path: &Path, hosts: usize) {
    wait_until("samples of every host", || {
        let Ok(record) = store::read(path) else { return false };
        let is_measured = |number: u32| {
            record
                .plan
                .stages
                .get(number as usize)
                .is_some_and(|stage| stage.kind == model::StageKind::Measure)
        };
        let stages = record.stages.iter().filter(|stage| is_measured(stage.stage));
        let samples = stages
            .flat_map(model::record::StageRecord::samples)
            .filter(|sample| sample.interval > 1 && !sample.ops.is_empty());
        samples.map(|sample| sample.host).collect::<std::collections::BTreeSet<u32>>().len()
            >= hosts
    });
}

/// Runs another program, which has to succeed, and returns what it wrote.
pub fn run(program: &str, args: impl Words) -> String {
    let output = Command::new(program).args(args.words()).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program} {:?}: {}",
        args.words(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Whether all of these real parts are here; says aloud that a test is left out if not. `cargo
/// xtask test` sees to them, and fails in CI over one that could have been installed.
pub fn has(test: &str, parts: impl Words) -> bool {
    let here = std::env::var("PLIMSOLL_TEST_PARTS").unwrap_or_default();
    let here: Vec<&str> = here.split(',').collect();
    let parts = parts.words();
    let parts = parts.iter().map(|part| part.to_str().expect("a name"));
    let missing: Vec<&str> = parts.filter(|part| !here.contains(part)).collect();
    if !missing.is_empty() {
        println!(
            "SKIPPED: {test}, because these parts are not here: {} (run `cargo xtask test` as \
             root)",
            missing.join(", ")
        );
    }
    missing.is_empty()
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A loop device over a file, set free at the end.
pub struct Loop {
    /// `/dev/loop3`.
    pub device: PathBuf,
    folder: Folder,
}

impl Loop {
    /// A device of `mib` MiB.
    pub fn new(mib: u64) -> Loop {
        let folder = scratch();
        let file = folder.join("disk.img");
        fs::File::create(&file).and_then(|f| f.set_len(mib << 20)).expect("a file for the device");
        let device = PathBuf::from(run("losetup", ["--find", "--show", text(&file)]));
        let made = Loop { device, folder };
        // The kernel keeps with the device's number that somebody turned its cache off, and then
        // it drops every flush.
        let cache = format!("/sys/block/{}/queue/write_cache", made.name());
        fs::write(cache, "write back").expect("a device of ours");
        made
    }

    /// Cuts its file off under it: from now on, every request fails.
    pub fn cut_off(&self) {
        let file = fs::OpenOptions::new().write(true).open(self.folder.join("disk.img"));
        file.and_then(|file| file.set_len(0)).expect("a file that can be cut off");
    }

    /// `loop3`.
    pub fn name(&self) -> String {
        self.device.file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// Its counters: see the kernel's `Documentation/block/stat.rst`.
    pub fn counters(&self) -> Counters {
        let line = fs::read_to_string(format!("/sys/block/{}/stat", self.name()));
        let line = line.expect("counters");
        let field: Vec<u64> =
            line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        Counters {
            reads: field[0] + field[1],
            read_sectors: field[2],
            writes: field[4] + field[5],
            write_sectors: field[6],
            flushes: field[15],
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// What a block device did. Requests that the kernel merged count as the several that they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Read requests.
    pub reads: u64,
    /// Sectors of 512 bytes.
    pub read_sectors: u64,
    /// Write requests.
    pub writes: u64,
    /// Sectors of 512 bytes.
    pub write_sectors: u64,
    /// Cache flushes.
    pub flushes: u64,
}

impl Counters {
    /// What happened since `before`.
    pub fn since(self, before: Counters) -> Counters {
        Counters {
            reads: self.reads - before.reads,
            read_sectors: self.read_sectors - before.read_sectors,
            writes: self.writes - before.writes,
            write_sectors: self.write_sectors - before.write_sectors,
            flushes: self.flushes - before.flushes,
        }
    }
}

/// A file system on a loop device, unmounted at the end.
pub struct Mounted {
    folder: Folder,
    device: Loop,
}

impl Mounted {
    /// A fresh file system of `mib` MiB made by `mkfs` (`mkfs.ext4`).
    pub fn new(mkfs: &str, mib: u64) -> Mounted {
        let device = Loop::new(mib);
        run(mkfs, ["-q", "-m", "0", text(&device.device)]);
        let folder = scratch();
        run("mount", [text(&device.device), text(&folder)]);
        Mounted { folder, device }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// What its device did so far, with what was still to be written to it.
    pub fn counters(&self) -> Counters {
        run("sync", ["--file-system", text(self.path())]);
        self.device.counters()
    }

    /// Mounts it again, read-only.
    pub fn make_read_only(&self) {
        run("mount", ["-o", "remount,ro", text(self.path())]);
    }

    /// Keeps whoever would write to it waiting, until [`Mounted::thaw`].
    pub fn freeze(&self) {
        run("fsfreeze", ["--freeze", text(self.path())]);
    }

    /// Lets them go on.
    pub fn thaw(&self) {
        run("fsfreeze", ["--unfreeze", text(self.path())]);
    }

    /// Fills it but for so many bytes, and is never fuller than that.
    pub fn fill_but(&self, bytes: u64) {
        use std::io::Write;
        let free = run("stat", ["--file-system", "--format=%a %S", text(self.path())]);
        let free: Vec<u64> =
            free.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        let mut left = (free[0] * free[1]).checked_sub(bytes).expect("enough space");
        let mut file = fs::File::create(self.path().join("filler")).expect("a file");
        let block = vec![0xAA; 1 << 16];
        while left > 0 {
            let part = left.min(block.len() as u64);
            file.write_all(&block[..part as usize]).expect("space");
            left -= part;
        }
        file.sync_all().expect("written");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // If a test fails in between, whoever waits for it could not even be killed.
        let _ = Command::new("fsfreeze")
            .arg("--unfreeze")
            .arg(self.path())
            .stderr(Stdio::null())
            .status();
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

/// Held by tests that take every processor, or that depend on an answer within seconds: of these,
/// one at a time, over all programs of tests. What is given holds it until it is dropped.
pub fn alone() -> fs::File {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone");
    let file = fs::File::create(&place).expect("a file in the target folder");
    file.lock().expect("a lock of the file system");
    file
}
