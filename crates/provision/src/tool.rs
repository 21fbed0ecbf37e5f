//! Programs of others that make machines: started with bounds in time and in bytes.

use crate::{Outcome, Problem};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(5);
/// How long what a program leaves behind may hold its streams.
const STREAMS: Duration = Duration::from_secs(5);
/// What is kept of what a program writes.
const MOST_OUTPUT: usize = 4 << 20;
/// What is read at a time, in bytes.
const CHUNK: usize = 64 << 10;

/// The variable by which a program is found again that outlives whoever started it: a hypervisor
/// may do what it was asked for after that.
const FOR: &str = "PLIMSOLL_VMS_FOLDER";

/// The folder of the record of the machines that this process makes or changes.
static FOLDER: Mutex<Option<String>> = Mutex::new(None);

/// From now on, programs that this process starts are for these machines.
pub(crate) fn work_for(folder: &Path) {
    let folder = folder.to_string_lossy().into_owned();
    *FOLDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
}

/// This program, and what it starts in turn, is for the machines of a record.
pub(crate) fn mark(command: &mut Command, folder: &Path) {
    command.env(FOR, folder);
}

/// Waits until no program does anything any more for the machines of a record. Gives one that still
/// does after `patience`.
pub(crate) fn settle(folder: &Path, patience: Duration) -> Option<i32> {
    wait_for(folder, patience, &|_| {})
}

/// Kills every program that was started for a record, and what these started. Gives one that is
/// still there after `patience`.
pub(crate) fn end_all(folder: &Path, patience: Duration) -> Option<i32> {
    wait_for(folder, patience, &|pid| {
        // Between looking and ending, its number may become another's: it is held first.
        let held = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        if let Some(held) = held.filter(|_| is_for(pid, folder)) {
            let _ = pidfd_send_signal(held, Signal::KILL);
        }
    })
}

/// Waits until no program is there for a record, and does something with each meanwhile.
fn wait_for(folder: &Path, patience: Duration, with: &dyn Fn(i32)) -> Option<i32> {
    let deadline = Instant::now() + patience;
    loop {
        let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let busy: Vec<i32> = pids.filter(|pid| is_for(*pid, folder)).collect();
        busy.iter().copied().for_each(with);
        let first = *busy.first()?;
        if Instant::now() >= deadline {
            return Some(first);
        }
        sleep(PAUSE);
    }
}

/// Whether a process was started for the machines of a record. Of other users' processes nothing
/// is known; nor were they started by us.
pub(crate) fn is_for(pid: i32, folder: &Path) -> bool {
    let wanted = format!("{FOR}={}", folder.to_string_lossy());
    let of_process = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    of_process.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
}

pub(crate) struct Call<'a> {
    /// The program.
    pub program: &'a str,
    /// The package of Debian that has it.
    pub package: &'static str,
    /// Its arguments.
    pub arguments: &'a [&'a OsStr],
    /// How long it may take.
    pub within: Duration,
    /// It changes something: where it takes too long, it is left to its end, which nobody could
    /// call off at the hypervisor. It is waited for before anything is removed.
    pub is_change: bool,
    /// How it is known meanwhile that the hypervisor is there, where the program may take long.
    pub alive: Option<Alive<'a>>,
}

/// A question that a hypervisor answers beside everything else that it does.
#[derive(Clone, Copy)]
pub(crate) struct Alive<'a> {
    /// How often it is asked.
    pub every: Duration,
    /// An error is why nothing more is waited for.
    pub ask: &'a (dyn Fn() -> Outcome + Sync),
}

impl Call<'_> {
    /// What it writes, once it has ended well. `feed` writes to its standard input.
    pub(crate) fn fed(&self, feed: &mut dyn FnMut(&mut dyn Write) -> Outcome) -> Outcome<String> {
        let mut child = self.start()?;
        let out = child.stdout.take().map(kept);
        let errors = child.stderr.take().map(kept);
        // Where it ends before it took all, it says why.
        let fed = match self.feed(&mut child, feed) {
            Err(Unfed::Given(problem)) if problem != Problem::Stopped => Err(problem),
            Err(Unfed::Given(problem) | Unfed::Dead(problem)) => {
                ended(&mut child);
                return Err(problem);
            }
            Ok(()) => Ok(()),
        };
        let status = self.wait(&mut child).inspect_err(|_| {
            if !self.is_change {
                ended(&mut child);
            }
        })?;
        let (out, errors) = (text(out), text(errors));
        match status.success() {
            true => fed.map(|()| out),
            false => Err(Problem::tool(self.words(), last_words(&errors))),
        }
    }

    /// Gives a program what it reads. Where the hypervisor is not there any more, the program would
    /// not take the rest: it is ended then.
    fn feed(
        &self,
        child: &mut Child,
        feed: &mut dyn FnMut(&mut dyn Write) -> Outcome,
    ) -> Result<(), Unfed> {
        let held = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok();
        let Some(mut input) = child.stdin.take() else { return Ok(()) };
        let (Some(alive), Some(held)) = (self.alive, held) else {
            return feed(&mut input).map_err(Unfed::Given);
        };
        thread::scope(|scope| {
            let (over, until_over) = mpsc::channel::<()>();
            let watcher = scope.spawn(move || {
                while until_over.recv_timeout(alive.every) == Err(RecvTimeoutError::Timeout) {
                    if let Err(problem) = (alive.ask)() {
                        let _ = pidfd_send_signal(&held, Signal::KILL);
                        return Some(problem);
                    }
                }
                None
            });
            let fed = feed(&mut input).map_err(Unfed::Given);
            drop((input, over));
            match watcher.join() {
                Ok(Some(problem)) => Err(Unfed::Dead(problem)),
                _ => fed,
            }
        })
    }

    /// Waits for its end, as long as it may take and its hypervisor is there.
    fn wait(&self, child: &mut Child) -> Outcome<ExitStatus> {
        let deadline = Instant::now() + self.within;
        let mut asked = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if Instant::now() < deadline => sleep(PAUSE),
                _ => return Err(self.hangs()),
            }
            if let Some(alive) = self.alive.filter(|alive| asked.elapsed() >= alive.every) {
                (alive.ask)()?;
                asked = Instant::now();
            }
        }
    }

    fn start(&self) -> Outcome<Child> {
        let mut command = Command::new(self.program);
        // What it says is compared with nothing but numbers and names; in one language all the
        // same.
        command.args(self.arguments).env("LC_ALL", "C");
        if let Some(folder) = &*FOLDER.lock().unwrap_or_else(PoisonError::into_inner) {
            command.env(FOR, folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                Problem::NoProgram { program: self.program.to_owned(), package: self.package }
            }
            _ => Problem::tool(self.words(), error.to_string()),
        })
    }

    fn hangs(&self) -> Problem {
        Problem::Hangs { call: self.words(), within: model::Nanos(self.within.as_nanos() as u64) }
    }

    fn words(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy());
        let all: Vec<_> = std::iter::once(self.program.into()).chain(words).collect();
        all.join(" ")
    }
}

/// Why a program was not given all that it reads.
enum Unfed {
    /// Whoever gives it could not, or it took no more.
    Given(Problem),
    Dead(Problem),
}

fn ended(child: &mut Child) {
    // It may have ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}

/// The beginning of a stream, and what says that it is over.
struct Kept(Arc<Mutex<Vec<u8>>>, mpsc::Receiver<()>);

/// Reads on to the end, so that nobody waits for us, and keeps the beginning.
fn kept(mut from: impl Read + Send + 'static) -> Kept {
    let (bytes, (over, until_over)) = (Arc::default(), mpsc::channel());
    let all = Kept(Arc::clone(&bytes), until_over);
    thread::spawn(move || {
        let (_over, mut chunk) = (over, vec![0; CHUNK]);
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_OUTPUT - bytes.len();
            bytes.extend_from_slice(&chunk[..read.min(room)]);
        }
    });
    all
}

/// What was read of a stream whose program has ended. What it left behind may still hold that.
fn text(kept: Option<Kept>) -> String {
    let Some(Kept(bytes, until_over)) = kept else { return String::new() };
    let _ = until_over.recv_timeout(STREAMS);
    String::from_utf8_lossy(&bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// The lines of what went wrong, on one line.
pub(crate) fn last_words(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("error: ")).collect();
    let all = lines[lines.len().saturating_sub(4)..].join("; ");
    if all.is_empty() { "it gave no reason".to_owned() } else { all.chars().take(800).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn call(script: &str, within: Duration) -> Outcome<String> {
        let arguments = [OsStr::new("-c"), OsStr::new(script)];
        let is_change = false;
        let (program, package, alive) = ("sh", "dash", None);
        let call = Call { program, package, arguments: &arguments, within, is_change, alive };
        call.fed(&mut |_| Ok(()))
    }

    #[test]
    fn a_program_answers_fails_or_hangs() {
        let long = Duration::from_secs(30);
        assert_eq!(call("echo a; echo b >&2", long), Ok("a\n".to_owned()));
        // A hypervisor that goes on behind it holds its streams, and nobody up.
        assert_eq!(call("echo a; sleep 9 &", long), Ok("a\n".to_owned()));
        let failed = call("echo 'error: no domain' >&2; exit 3", long).expect_err("it fails");
        assert!(matches!(failed, Problem::Tool { said, .. } if said == "no domain"));
        let hangs = call("exec sleep 600", Duration::from_millis(50)).expect_err("too long");
        assert!(matches!(hangs, Problem::Hangs { .. }));
        let (arguments, is_change) = (&[], false);
        let program = "no-such-program";
        let (within, alive) = (long, None);
        let none = Call { program, package: "x", arguments, within, is_change, alive };
        assert!(matches!(none.fed(&mut |_| Ok(())), Err(Problem::NoProgram { .. })));
    }

    #[test]
    fn a_change_that_takes_too_long_is_left_to_its_end_and_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        work_for(folder.path());
        let go_on = folder.path().join("go-on");
        let script = format!("until [ -e {} ]; do sleep 0.05; done", go_on.display());
        let arguments = [OsStr::new("-c"), OsStr::new(&script)];
        let within = Duration::from_millis(50);
        let (program, package, is_change) = ("sh", "dash", true);
        let alive = None;
        let call = Call { program, package, arguments: &arguments, within, is_change, alive };
        assert!(matches!(call.fed(&mut |_| Ok(())), Err(Problem::Hangs { .. })));
        assert!(settle(folder.path(), Duration::ZERO).is_some(), "it still runs");
        fs::write(go_on, "").expect("written");
        assert_eq!(settle(folder.path(), Duration::from_secs(60)), None);
        assert_eq!(settle(Path::new("/no/such"), Duration::ZERO), None);
    }

    /// What comes of a program that may take an hour where its hypervisor answers so many times,
    /// and how often it was asked. The program gets more than anybody takes who does not read.
    fn abandoned(script: &str, answers: usize) -> (Outcome<String>, usize) {
        let asked = AtomicUsize::new(0);
        let gone = || Problem::tool("version", "no answer");
        let ask = || match asked.fetch_add(1, Ordering::SeqCst) {
            before if before < answers => Ok(()),
            _ => Err(gone()),
        };
        let alive = Some(Alive { every: Duration::from_millis(20), ask: &ask });
        let arguments = [OsStr::new("-c"), OsStr::new(script)];
        let (program, package, is_change) = ("sh", "dash", false);
        let within = Duration::from_secs(3600);
        let call = Call { program, package, arguments: &arguments, within, is_change, alive };
        let told = call.fed(&mut |input| {
            let cannot = |error| Problem::file("write", Path::new("sh"), &error);
            (0..100).try_for_each(|_| input.write_all(&[7; 1 << 16]).map_err(cannot))
        });
        (told, asked.load(Ordering::SeqCst))
    }

    #[test]
    fn a_hypervisor_that_is_gone_is_not_waited_for() {
        let no_answer = |problem: &Problem| problem.to_string().contains("failed: no answer;");
        let is_gone = |told: &Outcome<String>| told.as_ref().is_err_and(no_answer);
        // It takes nothing; it takes all, and never ends.
        for script in ["exec sleep 600", "cat >/dev/null; exec sleep 600"] {
            let (told, asked) = abandoned(script, 2);
            assert!(is_gone(&told) && asked >= 3, "{script}: {asked} {told:?}");
        }
        // However slow the machine is, what ends while its hypervisor answers is good.
        let (told, _) = abandoned("wc -c", usize::MAX);
        assert_eq!(told.as_deref().map(str::trim), Ok("6553600"));
    }

    #[test]
    fn what_a_program_says_is_kept_within_bounds() {
        let all = call("yes | head -c 9000000", Duration::from_secs(60)).expect("good");
        assert_eq!(all.len(), MOST_OUTPUT);
        let fed = {
            let arguments = [OsStr::new("-c"), OsStr::new("wc -c")];
            let within = Duration::from_secs(30);
            let (program, package, is_change) = ("sh", "dash", false);
            let alive = None;
            let call = Call { program, package, arguments: &arguments, within, is_change, alive };
            call.fed(&mut |input| input.write_all(&[7; 100_000]).map_err(|_| Problem::Stopped))
        };
        assert_eq!(fed.as_deref().map(str::trim), Ok("100000"));
    }
}
