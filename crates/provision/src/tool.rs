//! Programs of others that make machines: started with bounds in time and in bytes.

use crate::Problem;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(5);
/// What is kept of what a program writes.
const MOST_OUTPUT: u64 = 4 << 20;

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

/// Waits until no program does anything any more for the machines of a record. Gives one that still
/// does after `patience`.
pub(crate) fn settle(folder: &Path, patience: Duration) -> Option<i32> {
    let deadline = Instant::now() + patience;
    loop {
        let busy = working_for(folder)?;
        if Instant::now() >= deadline {
            return Some(busy);
        }
        sleep(PAUSE);
    }
}

/// A process that was started for the machines of a record. Of other users' processes nothing is
/// known; nor were they started by us.
fn working_for(folder: &Path) -> Option<i32> {
    let wanted = format!("{FOR}={}", folder.to_string_lossy());
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.find(|pid| {
        let of_process = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        of_process.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
    })
}

/// A call of a program.
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
}

impl Call<'_> {
    /// What it writes, once it has ended well. `feed` writes to its standard input.
    ///
    /// # Errors
    /// It is not here, does not end in time, or fails, in its own words; those of `feed`.
    pub(crate) fn fed(
        &self,
        feed: &mut dyn FnMut(&mut dyn Write) -> Result<(), Problem>,
    ) -> Result<String, Problem> {
        let mut child = self.start()?;
        let out = child.stdout.take().map(kept);
        let errors = child.stderr.take().map(kept);
        // Where it ends before it took all, it says why.
        let fed = child.stdin.take().map_or(Ok(()), |mut input| feed(&mut input));
        if matches!(fed, Err(Problem::Stopped)) {
            ended(&mut child);
            return Err(Problem::Stopped);
        }
        let deadline = Instant::now() + self.within;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => sleep(PAUSE),
                _ => {
                    if !self.is_change {
                        ended(&mut child);
                    }
                    return Err(self.hangs());
                }
            }
        };
        let (out, errors) = (text(out), text(errors));
        match status.success() {
            true => fed.map(|()| out),
            false => Err(Problem::Tool { call: self.words(), said: last_words(&errors) }),
        }
    }

    fn start(&self) -> Result<Child, Problem> {
        let mut command = Command::new(self.program);
        // What it says is compared with nothing but numbers and names; in one language all the
        // same.
        command.args(self.arguments).env("LC_ALL", "C");
        if let Some(folder) = &*FOLDER.lock().unwrap_or_else(PoisonError::into_inner) {
            command.env(FOR, folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Problem::NoProgram { program: self.program.to_owned(), package: self.package }
            }
            _ => Problem::Tool { call: self.words(), said: error.to_string() },
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

fn ended(child: &mut Child) {
    // It may have ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads on to the end, so that nobody waits for us, and keeps the beginning.
fn kept(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        bytes
    })
}

fn text(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of what went wrong, on one line.
fn last_words(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("error: ")).collect();
    let all = lines[lines.len().saturating_sub(4)..].join("; ");
    if all.is_empty() { "it gave no reason".to_owned() } else { all.chars().take(800).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(script: &str, within: Duration) -> Result<String, Problem> {
        let arguments = [OsStr::new("-c"), OsStr::new(script)];
        let is_change = false;
        let call =
            Call { program: "sh", package: "dash", arguments: &arguments, within, is_change };
        call.fed(&mut |_| Ok(()))
    }

    #[test]
    fn a_program_answers_fails_or_hangs() {
        let long = Duration::from_secs(30);
        assert_eq!(call("echo a; echo b >&2", long), Ok("a\n".to_owned()));
        let failed = call("echo 'error: no domain' >&2; exit 3", long).expect_err("it fails");
        assert!(matches!(failed, Problem::Tool { said, .. } if said == "no domain"));
        let hangs = call("exec sleep 600", Duration::from_millis(50)).expect_err("too long");
        assert!(matches!(hangs, Problem::Hangs { .. }));
        let (arguments, is_change) = (&[], false);
        let program = "no-such-program";
        let none = Call { program, package: "x", arguments, within: long, is_change };
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
        let call = Call { program, package, arguments: &arguments, within, is_change };
        assert!(matches!(call.fed(&mut |_| Ok(())), Err(Problem::Hangs { .. })));
        assert!(settle(folder.path(), Duration::ZERO).is_some(), "it still runs");
        fs::write(go_on, "").expect("written");
        assert_eq!(settle(folder.path(), Duration::from_secs(60)), None);
        assert_eq!(settle(Path::new("/no/such"), Duration::ZERO), None);
    }

    #[test]
    fn what_a_program_says_is_kept_within_bounds() {
        let all = call("yes | head -c 9000000", Duration::from_secs(60)).expect("good");
        assert_eq!(all.len() as u64, MOST_OUTPUT);
        let fed = {
            let arguments = [OsStr::new("-c"), OsStr::new("wc -c")];
            let within = Duration::from_secs(30);
            let (program, package, is_change) = ("sh", "dash", false);
            let call = Call { program, package, arguments: &arguments, within, is_change };
            call.fed(&mut |input| input.write_all(&[7; 100_000]).map_err(|_| Problem::Stopped))
        };
        assert_eq!(fed.as_deref().map(str::trim), Ok("100000"));
    }
}
