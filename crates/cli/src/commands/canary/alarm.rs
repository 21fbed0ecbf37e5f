//! Whom a canary tells: lines, a command, a file for Prometheus.

use crate::args::CanaryOutput;
use crate::commands::{print, print_json_line};
use crate::failure::Failure;
use crate::files::plain_file;
use report::topics::canary as words;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A command that takes longer is ended.
const LONGEST: Duration = Duration::from_secs(60);
/// So many commands run at the same time.
const MOST_COMMANDS: u32 = 4;
/// How often the end of a command is looked for.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) struct Alarm<'a> {
    output: &'a CanaryOutput,
    running: Arc<AtomicU32>,
    /// Commands that did not end well, or did not begin.
    failed: Arc<AtomicU32>,
}

pub(crate) struct News<'a> {
    /// `fast`, `medium`, `slow`, `level` or `harm`.
    pub(crate) alert: &'a str,
    /// Whether it begins.
    pub(crate) is_on: bool,
    pub(crate) text: &'a str,
    pub(crate) line: &'a serde_json::Value,
}

impl<'a> Alarm<'a> {
    /// An alarm that was never heard yet.
    pub(crate) fn new(output: &'a CanaryOutput) -> Alarm<'a> {
        Alarm { output, running: Arc::default(), failed: Arc::default() }
    }

    pub(crate) fn line(&self, text: &str, line: &serde_json::Value) -> Result<(), Failure> {
        if self.output.json { print_json_line(line) } else { print(&format!("{text}\n")) }
    }

    pub(crate) fn tell(&self, news: &News<'_>) -> Result<(), Failure> {
        eprintln!("{}", news.text);
        if self.output.json {
            print_json_line(news.line)?;
        }
        let Some(command) = &self.output.on_alert else { return Ok(()) };
        if self.running.load(Ordering::SeqCst) >= MOST_COMMANDS {
            eprintln!("warning: --on-alert: {MOST_COMMANDS} commands still run; this one is left");
            return Ok(());
        }
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", command])
            .env("PLIMSOLL_ALERT", news.alert)
            .env("PLIMSOLL_STATE", if news.is_on { "on" } else { "off" })
            .env("PLIMSOLL_TEXT", news.text)
            .env_remove("PLIMSOLL_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0);
        match shell.spawn() {
            Ok(child) => wait(child, self.running.clone(), self.failed.clone()),
            Err(error) => {
                self.failed.fetch_add(1, Ordering::SeqCst);
                eprintln!("warning: --on-alert: the command was not started: {error}");
            }
        }
        Ok(())
    }

    /// Sends one alert to everybody who gets them, and says who they are.
    pub(crate) fn test(&self) -> Result<(), Failure> {
        let unix_ns = fleet::unix_ns();
        let (text, line) = (words::test_alert(unix_ns), words::test_line(unix_ns));
        self.tell(&News { alert: "test", is_on: true, text: &text, line: &line })?;
        self.finish();
        if self.failed.load(Ordering::SeqCst) > 0 || self.running.load(Ordering::SeqCst) > 0 {
            return Err(Failure::run(
                "--test-alert: the command of --on-alert did not take the alert; run it by \
                 hand",
            ));
        }
        let mut ways = vec!["standard error"];
        ways.extend(self.output.json.then_some("standard output"));
        ways.extend(self.output.on_alert.as_ref().map(|_| "the command of --on-alert"));
        eprintln!("note: it went to {}", ways.join(", "));
        if let Some(path) = &self.output.textfile {
            let test = words::test_metrics(unix_ns);
            replace(path, &words::metrics_text(&test))
                .map_err(|error| Failure::run(format!("--textfile {}: {error}", path.display())))?;
            eprintln!(
                "note: {} has plimsoll_canary_alert{{alert=\"test\"}} until the canary writes it",
                path.display()
            );
        }
        Ok(())
    }

    /// Writes the metrics, if they are wanted: a reader sees the old file or the new one.
    pub(crate) fn metrics(&self, text: &str) {
        let Some(path) = &self.output.textfile else { return };
        if let Err(error) = replace(path, text) {
            eprintln!("warning: --textfile {}: {error}; the load goes on", path.display());
        }
    }

    pub(crate) fn finish(&self) {
        let began = Instant::now();
        while self.running.load(Ordering::SeqCst) > 0 && began.elapsed() < LONGEST {
            std::thread::sleep(LOOK);
        }
    }
}

/// Waits in a thread of its own: the load does not wait for a command.
fn wait(mut child: std::process::Child, running: Arc<AtomicU32>, failed: Arc<AtomicU32>) {
    running.fetch_add(1, Ordering::SeqCst);
    std::thread::spawn(move || {
        let began = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) if !status.success() => {
                    failed.fetch_add(1, Ordering::SeqCst);
                    eprintln!("warning: --on-alert: the command ended with {status}");
                    break;
                }
                Ok(Some(_)) | Err(_) => break,
                Ok(None) if began.elapsed() > LONGEST => {
                    failed.fetch_add(1, Ordering::SeqCst);
                    eprintln!("warning: --on-alert: the command was ended after 60 s");
                    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
                        let kill = rustix::process::Signal::KILL;
                        let _ = rustix::process::kill_process_group(group, kill);
                    }
                    let _ = child.wait();
                    break;
                }
                Ok(None) => std::thread::sleep(LOOK),
            }
        }
        running.fetch_sub(1, Ordering::SeqCst);
    });
}

/// What our metrics begin with: nothing else is overwritten.
const MARK: &str = "# HELP plimsoll_canary_";

/// Refuses a file for metrics that is not ours, before anything is touched.
pub(crate) fn check_textfile(path: &Path) -> Result<(), Failure> {
    use std::io::Read;
    let wrong = |what: String| {
        Failure::usage(format!("--textfile {}: {what}; name another file", path.display()))
    };
    let mut file = match plain_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let mut head = vec![0; MARK.len()];
    let is_ours = file.read_exact(&mut head).is_ok() && head == MARK.as_bytes();
    if is_ours { Ok(()) } else { Err(wrong("exists and is not known to be ours".to_owned())) }
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // The collector reads what ends in .prom; a half written file does not.
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    plain_file::open_own(&mut options, Path::new(&new))?.write_all(text.as_bytes())?;
    std::fs::rename(&new, path)
}
