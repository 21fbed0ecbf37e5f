//! A process at the other end of our pipes: how it is started, greeted, listened to and ended.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a process may print before it says what we wait for: a login shell's greetings.
const MOST_NOISE: u64 = 256 << 10;
/// What is read of a program's output: the names of all hosts of a site are less.
const MOST_OUTPUT: u64 = 16 << 20;
/// What is kept of its standard error.
const KEPT_WORDS: usize = 2048;
/// How long an ended process may take to say its last words, and one whose input is closed to end.
const GRACE: Duration = Duration::from_millis(700);

/// How often it is looked whether somebody is still waited for.
const LOOK: Duration = Duration::from_millis(200);

/// A process that carries an agent. It is ended when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    words: LastWords,
}

/// What a process wrote to its standard error.
#[derive(Clone, Debug, Default)]
pub struct LastWords(Arc<Said>);

#[derive(Debug, Default)]
struct Said {
    text: Mutex<(Vec<u8>, bool)>,
    whole: Condvar,
}

pub(super) struct Started {
    pub(super) process: Process,
    /// Closed where it was taken.
    pub(super) input: Option<ChildStdin>,
    pub(super) output: BufReader<ChildStdout>,
}

impl Started {
    /// Starts `command` in a process group of its own: a Ctrl-C at our terminal is for us, and we
    /// tell the agents.
    pub(super) fn new(mut command: Command) -> std::io::Result<Started> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command.env_remove(crate::command::TOKEN);
        let mut child = command.spawn()?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        let words = LastWords::default();
        words.listen(errors);
        Ok(Started {
            process: Process { child, words },
            input: Some(input),
            output: BufReader::new(output),
        })
    }

    /// Reads lines until `wanted` makes something of one; what comes behind it stays unread.
    pub(super) fn expect<T: Send + 'static>(
        self,
        within: Duration,
        wanted: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> Result<(Started, T), String> {
        self.expect_unless(within, &|| false, wanted)
    }

    /// The same, as long as it is not given up.
    pub(super) fn expect_unless<T: Send + 'static>(
        self,
        within: Duration,
        is_given_up: &dyn Fn() -> bool,
        wanted: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> Result<(Started, T), String> {
        let Started { process, input, mut output } = self;
        let (found, result) = sync_channel(1);
        // Reading blocks, so another thread does it; if it is too late, the process is ended, and
        // the thread with it.
        thread::spawn(move || {
            let line = line_of(&mut output, wanted);
            let _ = found.send((output, line));
        });
        let began = Instant::now();
        loop {
            let left = within.saturating_sub(began.elapsed());
            match result.recv_timeout(left.min(LOOK)) {
                Ok((output, Some(value))) => {
                    return Ok((Started { process, input, output }, value));
                }
                Ok((_, None)) => {
                    let words = process.words.wait();
                    let is_silent = words.is_empty();
                    let silent = || "it ended without a word".to_owned();
                    return Err(if is_silent { silent() } else { words });
                }
                Err(RecvTimeoutError::Timeout) if began.elapsed() < within && !is_given_up() => {}
                Err(_) => return Err(format!("no answer within {} s", began.elapsed().as_secs())),
            }
        }
    }
}

/// What a program writes to its standard output until its end.
///
/// # Errors
/// In words: it cannot be started, it fails, in the words that it leaves, or it takes longer than
/// `within` and is ended.
pub(super) fn output(command: Command, within: Duration) -> Result<String, Failed> {
    let Started { mut process, input, output } =
        Started::new(command).map_err(Failed::NotStarted)?;
    drop(input);
    let (found, result) = sync_channel(1);
    let began = Instant::now();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(MOST_OUTPUT).read_to_end(&mut bytes);
        let _ = found.send(read.map(|_| bytes));
    });
    let Ok(read) = result.recv_timeout(within) else { return Err(Failed::Silent) };
    let ended_well = process.finish(within.saturating_sub(began.elapsed()));
    match read {
        Ok(bytes) if ended_well => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Err(Failed::Said(process.words().text())),
    }
}

/// Why there is no output.
#[derive(Debug)]
pub(super) enum Failed {
    NotStarted(std::io::Error),
    /// It did not end in time.
    Silent,
    /// It failed, and left these words.
    Said(String),
}

fn line_of<T>(
    output: &mut BufReader<ChildStdout>,
    wanted: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let mut noise = 0;
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(MOST_NOISE).read_until(b'\n', &mut line).ok()?;
        noise += read as u64;
        if read == 0 || noise > MOST_NOISE {
            return None;
        }
        if let Some(value) = wanted(String::from_utf8_lossy(&line).trim()) {
            return Some(value);
        }
    }
}

impl Process {
    /// What it wrote to its standard error, as it goes on.
    pub fn words(&self) -> LastWords {
        self.words.clone()
    }

    /// Waits for its end after its input was closed; ends it if it takes too long. Whether it ended
    /// well.
    pub(super) fn finish(&mut self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => {
                    // The launcher may have children that hold our pipes. None of this can fail in
                    // a way that leaves something to do; until it is waited for, its number is
                    // nobody else's.
                    let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
                    let _ = self.child.wait();
                    return false;
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.finish(GRACE);
    }
}

impl LastWords {
    fn listen(&self, mut errors: impl Read + Send + 'static) {
        let said = self.0.clone();
        thread::spawn(move || {
            let mut chunk = [0; 1024];
            while let Ok(read @ 1..) = errors.read(&mut chunk) {
                let mut text = said.text.lock().unwrap_or_else(PoisonError::into_inner);
                text.0.extend_from_slice(&chunk[..read]);
                let excess = text.0.len().saturating_sub(KEPT_WORDS);
                text.0.drain(..excess);
            }
            said.text.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
            said.whole.notify_all();
        });
    }

    /// The last lines, once the process has closed its standard error or a moment has passed.
    pub fn wait(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }

    /// The end of all that it wrote, as it stands, under the same condition.
    pub(super) fn text(&self) -> String {
        let text = self.0.text.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.whole.wait_timeout_while(text, GRACE, |(_, whole)| !*whole);
        let (text, _) = waited.unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text.0).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Started {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Started::new(command).expect("a shell")
    }

    fn number(line: &str) -> Option<u32> {
        line.strip_prefix("number ")?.parse().ok()
    }

    #[test]
    fn what_a_login_shell_prints_is_skipped_and_what_follows_stays() {
        let started = shell("echo Welcome; echo number x; echo number 7; echo rest");
        let (mut started, value) =
            started.expect(Duration::from_secs(20), number).expect("it comes");
        let mut rest = String::new();
        started.output.read_to_string(&mut rest).expect("UTF-8");
        assert_eq!((value, rest.as_str()), (7, "rest\n"));
    }

    #[test]
    fn the_reason_of_a_failure_is_what_the_process_said() {
        let error = shell("echo 'Permission denied (publickey).' >&2; exit 255")
            .expect(Duration::from_secs(20), number);
        assert_eq!(error.err().expect("it failed"), "Permission denied (publickey).");
        let error = shell("exit 0").expect(Duration::from_secs(20), number);
        assert_eq!(error.err().expect("it failed"), "it ended without a word");
    }

    #[test]
    fn a_program_is_waited_for_no_longer_than_it_may_take() {
        let of = |script: &str, within| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            output(command, within)
        };
        let patient = Duration::from_secs(60);
        assert_eq!(of("echo a; echo b", patient).expect("both lines"), "a\nb\n");
        assert!(
            matches!(of("echo no >&2; exit 3", patient), Err(Failed::Said(said)) if said == "no\n")
        );
        // Its child holds the pipe, too: it ends with it.
        assert!(matches!(of("sleep 600; true", Duration::from_millis(50)), Err(Failed::Silent)));
        assert!(matches!(
            output(Command::new("/no/such/program"), patient),
            Err(Failed::NotStarted(_))
        ));
    }

    #[test]
    fn a_process_that_says_nothing_is_not_waited_for() {
        let error = shell("sleep 60").expect(Duration::from_millis(50), number);
        assert!(error.err().expect("too late").starts_with("no answer"));
    }
}
