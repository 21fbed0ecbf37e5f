//! Commands: started, timed, and ended when time is over or somebody stops the gate.

use crate::failure::Failure;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a command may take to end when it was told to.
const GRACE: Duration = Duration::from_secs(10);
/// So much of what a command said last is shown.
const TAIL_BYTES: u64 = 2_000;

#[derive(Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn watch() -> Stop {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // A second one changes nothing: the command has ten seconds to end, and then it does.
            let _ = signal_hook::flag::register(signal, flag.clone());
        }
        Stop(flag)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) enum Ended {
    After(Duration),
    /// It was ended, because somebody stopped the gate.
    Stopped,
    /// It was ended, because it took longer than it might.
    Late,
}

/// Runs `command` by the shell to its end, for at most `limit`; `log` takes what it says.
pub(crate) fn run(
    command: &str,
    log: &Path,
    limit: Duration,
    stop: &Stop,
) -> Result<Ended, Failure> {
    let failed = |what: String| Failure::run(format!("`{command}` {what}"));
    let said = File::create(log).map_err(|error| failed(format!("cannot be logged: {error}")))?;
    let both = said.try_clone().map_err(|error| failed(format!("cannot be logged: {error}")))?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(said).stderr(both);
    // A group of its own: what the shell starts ends with it. The heir is in it before.
    let heir = Heir::start();
    let leader = heir.as_ref().and_then(|heir| i32::try_from(heir.0.id()).ok());
    shell.process_group(leader.unwrap_or(0));
    let began = Instant::now();
    let mut child =
        shell.spawn().map_err(|error| failed(format!("cannot be started: /bin/sh: {error}")))?;
    let group = leader.or_else(|| i32::try_from(child.id()).ok()).and_then(Pid::from_raw);
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let status = child.wait();
        // Nobody listens any more where the gate has gone on without it.
        let _ = sender.send((status, Instant::now()));
    });
    loop {
        match ended.recv_timeout(LOOK) {
            Ok((Ok(status), at)) if status.success() => {
                return Ok(Ended::After(at.duration_since(began)));
            }
            Ok(_) | Err(RecvTimeoutError::Disconnected) if stop.is_set() => {
                return Ok(Ended::Stopped);
            }
            Ok((Ok(status), _)) => {
                return Err(failed(format!("ended with {status}{}", tail(log))));
            }
            Ok((Err(error), _)) => return Err(failed(format!("cannot be waited for: {error}"))),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(failed("cannot be waited for".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let is_late = began.elapsed() > limit;
        if !is_late && !stop.is_set() {
            continue;
        }
        end(group, &ended);
        return Ok(if stop.is_set() { Ended::Stopped } else { Ended::Late });
    }
}

/// Leads a group of processes, and ends it once this one is gone, however it ends: it reads until
/// its input is closed. Dropped before that, it ends nothing.
struct Heir(Child);

impl Heir {
    /// `None` where it cannot be started: then only a killed gate leaves its command.
    fn start() -> Option<Heir> {
        let waits = "trap '' TERM; read -r _; kill -TERM -$$; sleep 1; kill -KILL -$$";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", waits]);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        shell.spawn().ok().map(Heir)
    }
}

impl Drop for Heir {
    fn drop(&mut self) {
        // Its input is open until it is dead.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ends a group of processes: first politely.
fn end<T>(group: Option<Pid>, ended: &mpsc::Receiver<T>) {
    let Some(group) = group else { return };
    let _ = kill_process_group(group, Signal::TERM);
    if ended.recv_timeout(GRACE).is_err() {
        let _ = kill_process_group(group, Signal::KILL);
        let _ = ended.recv_timeout(GRACE);
    }
}

/// The end of what a command said, as lines of their own; empty where it said nothing.
fn tail(log: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(8)..];
    last.iter().map(|line| format!("\n  {line}")).collect()
}
