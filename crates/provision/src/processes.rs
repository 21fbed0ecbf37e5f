//! Processes of machines: found by what their command line says, and ended without ever reaching
//! another one.

use crate::{Outcome, Problem};
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a process may take to end when it is asked to, and when it is killed.
const GRACE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// A command line is not longer.
const LONGEST: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) pid: i32,
    /// Whether it runs as the user that asks.
    pub(crate) is_own: bool,
    words: Vec<String>,
}

impl Found {
    /// Whether one of its words has this part between commas.
    pub(crate) fn says(&self, part: &str) -> bool {
        self.words.iter().any(|word| word.split(',').any(|one| one == part))
    }

    /// The word behind an option.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + 1).map(String::as_str)
    }
}

/// All processes whose command begins with a program of this name.
pub(crate) fn all(program: &str) -> Vec<Found> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| look(pid, program)).collect()
}

fn look(pid: i32, program: &str) -> Option<Found> {
    let folder = format!("/proc/{pid}");
    let line = fs::read(format!("{folder}/cmdline")).ok().filter(|line| line.len() <= LONGEST)?;
    let words: Vec<String> =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into()).collect();
    let first = words.first()?;
    let is_it = first.rsplit('/').next() == Some(program);
    let owner = fs::metadata(folder).ok()?.uid();
    is_it.then_some(Found { pid, is_own: owner == geteuid().as_raw(), words })
}

/// Ends the process that `is_it` holds for, if there is one. Between looking and ending, its number
/// may become another's: what is ended is held first, and looked at again.
pub(crate) fn end(program: &str, machine: &str, is_it: &dyn Fn(&Found) -> bool) -> Outcome {
    for signal in [Signal::TERM, Signal::KILL] {
        let deadline = Instant::now() + GRACE;
        let mut told = None;
        while let Some(found) = all(program).into_iter().find(|found| is_it(found)) {
            if told != Some(found.pid) {
                send(&found, program, is_it, signal);
                told = Some(found.pid);
            }
            if Instant::now() > deadline {
                break;
            }
            sleep(PAUSE);
        }
    }
    match all(program).into_iter().find(|found| is_it(found)) {
        Some(found) => Err(Problem::Undying { machine: machine.to_owned(), pid: found.pid }),
        None => Ok(()),
    }
}

/// Sends a signal to a process, if it still is the one that `is_it` holds for.
pub(crate) fn send(found: &Found, program: &str, is_it: &dyn Fn(&Found) -> bool, signal: Signal) {
    let Some(pid) = Pid::from_raw(found.pid) else { return };
    // Where it ended meanwhile, there is nothing left to do.
    let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if look(found.pid, program).is_some_and(|again| is_it(&again)) {
        let _ = pidfd_send_signal(held, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_the_process_with_the_token_is_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        // A program of a name that no other process has.
        let program = format!("guest-{}", std::process::id());
        let path = folder.path().join(&program);
        fs::copy("/bin/sleep", &path).expect("copied");
        let sleeping = |seconds: &str| Command::new(&path).arg(seconds).spawn().expect("started");
        let (mut one, mut other) = (sleeping("600"), sleeping("601"));
        let is_one = |found: &Found| found.is_own && found.words.get(1).is_some_and(|w| w == "600");
        // Until it is waited for, its entry stays, but without a command line.
        end(&program, "one", &is_one).expect("it ends");
        assert!(one.try_wait().expect("ours").is_some());
        assert!(other.try_wait().expect("ours").is_none());
        assert_eq!(all(&program).len(), 1);
        other.kill().and_then(|()| other.wait()).expect("ours");
    }
}
