//! Slurm jobs: the one that this process runs in, or one that is made for a run and given back
//! after it, whatever ends the run.

use super::discover::{nodes, time_left_s};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a request that is called off may take to be gone: Slurm answers in less, and whoever
/// wants to leave waits no longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether it is gone.
const LOOK: Duration = Duration::from_millis(20);

/// A Slurm job, and whether it is ours to end.
#[derive(Debug)]
pub struct SlurmJob {
    /// Its number.
    pub job: String,
    /// Its nodes.
    pub nodes: Vec<String>,
    /// How long it still had when its nodes were asked for, in seconds; `None` where it has no
    /// limit, or Slurm does not say.
    pub left_s: Option<u64>,
    /// Where it is known as ours; `None` for one that was there before.
    request: Option<SlurmRequest>,
}

impl Drop for SlurmJob {
    fn drop(&mut self) {
        if let Some(job) = self.request.as_ref().and_then(|request| request.lock().job.take()) {
            cancel(&job);
        }
    }
}

impl SlurmJob {
    /// The job that this process runs in.
    ///
    /// # Errors
    /// It runs in none, or Slurm does not answer; in words, with a remedy.
    pub fn current() -> Result<SlurmJob, String> {
        let job = std::env::var("SLURM_JOB_ID").map_err(|_| {
            "this is no Slurm job; start it in one (salloc, sbatch), or have one made with --slurm \
             \"-N4\""
                .to_owned()
        })?;
        nodes(&job).map(|nodes| SlurmJob { left_s: time_left_s(&job), job, nodes, request: None })
    }
}

/// A wish for a Slurm job that another thread can call off at any time: while it waits for nodes,
/// when it has them, and while it is used. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SlurmRequest(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// `salloc`, which is ended by us alone, and only while this is held: so its number is nobody
    /// else's.
    salloc: Option<Child>,
    /// What it said so far.
    said: String,
    /// The job that was granted and that nobody gave back yet.
    job: Option<String>,
    is_called_off: bool,
}

impl SlurmRequest {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is whole, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new job with these options for `salloc`. Waits until Slurm grants it.
    ///
    /// # Errors
    /// Slurm refuses, in its own words, or the wish was called off.
    pub fn allocate(&self, options: &str) -> Result<SlurmJob, String> {
        let mut lines = BufReader::new(self.begin(options)?);
        let mut line = Vec::new();
        // What it says is kept as it comes: the number of the job may be among it before it ends.
        while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            self.lock().said.push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
        let job = self.ended()?;
        let mut made = SlurmJob {
            job: job.clone(),
            nodes: Vec::new(),
            left_s: None,
            request: Some(self.clone()),
        };
        made.nodes = nodes(&job)?;
        made.left_s = time_left_s(&job);
        Ok(made)
    }

    fn begin(&self, options: &str) -> Result<std::process::ChildStderr, String> {
        let mut state = self.lock();
        if state.is_called_off {
            return Err("stopped before Slurm was asked for a job".to_owned());
        }
        let salloc = Command::new("salloc")
            .arg("--no-shell")
            .args(options.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal is for us: we tell it what becomes of its job.
            .process_group(0)
            .spawn();
        let mut salloc = salloc.map_err(|error| {
            format!("salloc cannot be started ({error}); is this a host of the cluster?")
        })?;
        let said = salloc.stderr.take();
        (state.salloc, state.said) = (Some(salloc), String::new());
        said.ok_or_else(|| "what salloc says cannot be read; start again".to_owned())
    }

    /// `salloc` has closed what it says, so it ends now.
    fn ended(&self) -> Result<String, String> {
        let mut state = self.lock();
        if let Some(mut salloc) = state.salloc.take() {
            // If it cannot be waited for, it is gone.
            let _ = salloc.wait();
        }
        state.job = granted(&state.said);
        state.job.clone().ok_or_else(|| {
            let said = state.said.trim().replace('\n', "; ");
            format!(
                "Slurm grants no job: {said}; check the options with `salloc --no-shell OPTIONS`"
            )
        })
    }

    /// Gives the job back, or the wish for one, before this process ends without anybody else who
    /// would. Takes a few seconds at most.
    pub fn call_off(&self) {
        let mut state = self.lock();
        state.is_called_off = true;
        if let Some(salloc) = &state.salloc {
            // It takes back what it asked for; if it has ended, there is nobody to be told.
            let _ = kill_process(Pid::from_child(salloc), Signal::TERM);
        }
        drop(state);
        let began = Instant::now();
        while self.lock().salloc.is_some() && began.elapsed() < PATIENCE {
            thread::sleep(LOOK);
        }
        let mut state = self.lock();
        let told = granted(&state.said);
        let Some(job) =
            state.job.take().or_else(|| state.salloc.is_some().then_some(told).flatten())
        else {
            return;
        };
        drop(state);
        cancel(&job);
    }
}

/// Gives a job back. If that fails, the job ends with its time limit; nothing of ours runs in it. A
/// cluster that does not answer just now holds nobody: the wish goes on without us.
fn cancel(job: &str) {
    let mut command = Command::new("scancel");
    command.arg(job).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut cancelling) = command.spawn() {
        let began = Instant::now();
        while matches!(cancelling.try_wait(), Ok(None)) && began.elapsed() < PATIENCE {
            thread::sleep(LOOK);
        }
    }
}

/// The number in `salloc: Granted job allocation 123`.
fn granted(said: &str) -> Option<String> {
    let number = said.split("Granted job allocation ").nth(1)?.split_whitespace().next()?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_granted_job_is_read() {
        assert_eq!(
            granted("salloc: Pending\nsalloc: Granted job allocation 42\nsalloc: Nodes n1"),
            Some("42".to_owned())
        );
        assert_eq!(granted("salloc: error: Unable to allocate"), None);
        assert_eq!(granted("Granted job allocation x"), None);
    }

    #[test]
    fn a_wish_that_was_called_off_asks_for_nothing() {
        let request = SlurmRequest::default();
        request.call_off();
        assert!(request.allocate("-N1").expect_err("called off").contains("stopped before"));
    }
}
