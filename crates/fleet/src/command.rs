//! Runs the command of a suite's event: a shell of its own beside the run, which the run neither waits for nor ends.

use crate::coordinator::Input;
use model::occurrence::MOST_DETAIL_BYTES;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

/// Has `sh -c` do `command`; when it ended, `inputs` hears how. It is a process group of its own, so that Ctrl-C ends the run and not a migration
/// that is half done. `PLIMSOLL_EVENT` in its environment is the event's name.
pub(crate) fn begin(number: u32, name: &str, command: &str, inputs: Sender<Input>) {
    let (name, command) = (name.to_owned(), command.to_owned());
    let at_once = inputs.clone();
    let run = move || {
        let (status, output) = run(&name, &command);
        // A run that is over does not care any more.
        let _ = inputs.send(Input::CommandEnded { number, status, output });
    };
    if let Err(error) = thread::Builder::new().name("event".to_owned()).spawn(run) {
        let output = format!("it was not started: no thread for it ({error})");
        let _ = at_once.send(Input::CommandEnded { number, status: None, output });
    }
}

/// Exit status and last lines; without a status, also why.
fn run(name: &str, command: &str) -> (Option<i32>, String) {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).env("PLIMSOLL_EVENT", name).stdin(Stdio::null()).process_group(0);
    // A pipe would end the command with us, if it outlives us; and a file is there when it is needed.
    let output = scratch().ok();
    let shared = || output.as_ref().and_then(|file| file.try_clone().ok()).map_or_else(Stdio::null, Stdio::from);
    shell.stdout(shared()).stderr(shared());
    let mut child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return (None, format!("it was not started: sh: {error}")),
    };
    let ended = child.wait();
    let lines = output.map_or_else(|| "what it wrote could not be kept".to_owned(), tail);
    match ended {
        Ok(status) if status.code().is_some() => (status.code(), lines),
        Ok(status) => (None, format!("{lines}\nended by {status}")),
        Err(error) => (None, format!("{lines}\nits end is not known: {error}")),
    }
}

/// A file without a name, for this user alone.
fn scratch() -> std::io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("plimsoll-event-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    // Fails where something stands already, so nobody else can have prepared it. Both streams append: neither overwrites the other.
    let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// The end of what was written, of more bytes than are shown: the reader cuts it at a line.
fn tail(mut file: File) -> String {
    let most = 2 * MOST_DETAIL_BYTES as u64;
    let length = file.metadata().map_or(0, |meta| meta.len());
    let mut bytes = Vec::new();
    let read =
        file.seek(SeekFrom::Start(length.saturating_sub(most))).and_then(|_| file.take(most).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("what it wrote cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_tells_its_status_and_its_last_lines() {
        assert_eq!(run("move", "echo $PLIMSOLL_EVENT; echo no >&2; exit 7"), (Some(7), "move\nno\n".to_owned()));
        let (status, lines) = run("e", "seq 1 100000");
        assert_eq!(status, Some(0));
        assert!(lines.ends_with("99999\n100000\n") && lines.len() <= 2 * MOST_DETAIL_BYTES, "{}", lines.len());
    }

    #[test]
    fn a_signal_is_no_status_and_what_stays_behind_is_not_waited_for() {
        let (status, lines) = run("e", "kill -9 $$");
        assert_eq!(status, None);
        assert!(lines.contains("signal: 9"), "{lines}");
        let (sender, inputs) = std::sync::mpsc::channel();
        begin(4, "e", "sleep 1000 & echo $!", sender);
        let Ok(Input::CommandEnded { number: 4, status: Some(0), output }) = inputs.recv() else {
            panic!("the command did not end")
        };
        let left = output.trim().to_owned();
        assert!(Command::new("kill").arg(&left).status().expect("kill").success(), "it still ran: {left}");
    }
}
