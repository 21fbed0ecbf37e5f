//! The command's processes: started, asked to end, killed, and none left behind.

use super::output::{Kept, keep};
use crate::command::TOKEN;
use model::note::Told;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open};
use rustix::process::{kill_process, kill_process_group};
use std::collections::BTreeSet;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// In the environment of all of its processes, by which they are found wherever they went.
const MARK: &str = "PLIMSOLL_BESIDE";
/// There before the command is, whose group it reads. Waits until we are gone, and then kills that
/// group and who left it. A kernel has no such order that outlives `setsid`, which fio's jobs call.
const GUARD: &str = "read g; read _; [ -z \"$g\" ] || kill -s KILL -- \"-$g\"; for p in \
                     /proc/[0-9]*; do grep -qzx \"$0\" $p/environ 2>/dev/null && kill -s KILL \
                     ${p#/proc/}; done";
/// What it writes to standard error is kept from its end: a message, or the report of a tool that
/// has its results there.
const MOST_ERRORS: usize = 64 << 10;
/// So often it is looked whether processes that were killed are gone, with a rest in between.
const LOOKS: u32 = 100;
const REST: Duration = Duration::from_millis(10);

/// A command that runs.
pub(super) struct Child {
    child: std::process::Child,
    /// Readable when it has ended; none on a kernel without them.
    held: Option<OwnedFd>,
    /// Kills all of it when we are gone, however that happens.
    guard: Option<std::process::Child>,
    mark: String,
    output: Kept,
    errors: Kept,
}

/// How it ended.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// What is kept of its output, and how many bytes that was in all.
    pub(super) output: (String, u64),
    pub(super) errors: String,
    pub(super) left: u32,
}

impl Child {
    /// Starts it in a process group of its own, with nothing to read.
    pub(super) fn start(words: &[String]) -> Result<Child, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (program, arguments) = words.split_first().ok_or("there is no program")?;
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, &format!("{MARK}={mark}")])
            .env_remove(TOKEN)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .ok();
        let mut child = Command::new(program)
            .args(arguments)
            .env_remove(TOKEN)
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                dismiss(guard.take());
                format!("{program}: {error}")
            })?;
        if let Some(input) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
            // A guard that is gone reads nothing.
            let _ = writeln!(input, "{}", child.id());
        }
        let output = keep(child.stdout.take(), Told::MOST_HEARD / 2, Told::MOST_HEARD / 2);
        let errors = keep(child.stderr.take(), 0, MOST_ERRORS);
        let held = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
        Ok(Child { child, held, guard, mark, output, errors })
    }

    /// Its number stays its own until it is waited for, and so does its group's.
    pub(super) fn has_ended(&mut self) -> bool {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let pid = Pid::from_child(&self.child);
        !matches!(rustix::process::waitid(WaitId::Pid(pid), how), Ok(None))
    }

    /// Rests until it ends, or for so long: whoever looked each few ms would take the processors
    /// from it.
    pub(super) fn rest(&self, time: Duration) {
        let Some(held) = &self.held else { return thread::sleep(time) };
        let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        // A signal ends the rest sooner, and whoever rests looks again.
        let _ = poll(&mut [PollFd::new(held, PollFlags::IN)], Some(&time));
    }

    pub(super) fn ask(&self) {
        // It fails only where the group has nobody any more.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::TERM);
    }

    pub(super) fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// Ends what is left of it, wherever it went, and says how it ended itself.
    pub(super) fn finish(mut self) -> Ended {
        let leader = self.child.id();
        let others = || {
            let mut others = marked(&self.mark);
            others.remove(&leader);
            others
        };
        let left = others().len() as u32;
        self.kill();
        for _ in 0..LOOKS {
            let others = others();
            if others.is_empty() {
                break;
            }
            for pid in others.iter().filter_map(|pid| Pid::from_raw(*pid as i32)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            thread::sleep(REST);
        }
        // Before the group's number may be another's.
        dismiss(self.guard.take());
        let status = self.child.wait();
        let (code, signal) = status.map_or((None, None), |end| (end.code(), end.signal()));
        let (output, errors) = (self.output.ended().text(), self.errors.ended().text().0);
        Ended { code, signal, output, errors, left }
    }
}

fn dismiss(guard: Option<std::process::Child>) {
    if let Some(mut guard) = guard {
        let _ = guard.kill();
        let _ = guard.wait();
    }
}

/// The processes that have this mark, as far as we may look at them.
fn marked(mark: &str) -> BTreeSet<u32> {
    let entry = format!("{MARK}={mark}");
    let has_it = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|one| one.file_name().to_str()?.parse().ok());
    numbers.filter(has_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(script: &str) -> Child {
        Child::start(&["sh", "-c", script].map(str::to_owned)).expect("a shell")
    }

    fn ended(mut child: Child) -> Ended {
        while !child.has_ended() {
            thread::sleep(REST);
        }
        child.finish()
    }

    #[test]
    fn a_command_tells_its_code_and_reads_nothing() {
        let end = ended(started("read line && echo got; echo said; echo no >&2; exit 3"));
        assert_eq!((end.code, end.signal, end.left), (Some(3), None, 0));
        assert_eq!((end.output.0.as_str(), end.errors.as_str()), ("said\n", "no\n"));
    }

    #[test]
    fn who_forks_and_leaves_its_group_is_found_and_ended() {
        let child = started("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2");
        let mark = child.mark.clone();
        let end = ended(child);
        assert_eq!((end.code, end.left), (Some(0), 1), "{}", end.output.0);
        assert!(marked(&mark).is_empty());
    }

    #[test]
    fn when_we_are_gone_all_of_it_goes() {
        let mut child = started("setsid sleep 1000 & sleep 1000");
        let (mark, guard) = (child.mark.clone(), child.guard.as_mut().expect("a shell"));
        // The kernel closes it, however we end.
        drop(guard.stdin.take());
        assert!(guard.wait().is_ok());
        while !marked(&mark).is_empty() {
            thread::sleep(REST);
        }
        assert_eq!(ended(child).signal, Some(9));
    }

    #[test]
    fn who_does_not_listen_is_killed() {
        let mut child = started("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        while child.output.text().1 == 0 {
            thread::sleep(REST);
        }
        child.ask();
        thread::sleep(REST);
        assert!(!child.has_ended());
        child.kill();
        assert_eq!(ended(child).signal, Some(9));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let said = Child::start(&["/nowhere/fio".to_owned()]).err();
        assert!(said.is_some_and(|said| said.contains("/nowhere/fio: No such file")));
    }
}
