//! Runs the commands of a suite, each in a shell of its own beside the run.

use crate::coordinator::Input;
use model::occurrence::MOST_DETAIL_BYTES;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The variable with the token of the live page: whoever reads it may see the run and mark it. No
/// process that we start has it.
pub(crate) const TOKEN: &str = "PLIMSOLL_TOKEN";

/// How far a command is, so that no signal goes to a process that is another's by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    NotBegun,
    /// The number of its process group is its shell's, and stays so until the shell is waited for.
    Running(Pid),
    /// It is over, or must not begin any more.
    Over,
}

type Shared = Arc<Mutex<State>>;

#[derive(Debug, Default)]
pub(crate) struct Commands {
    begun: BTreeMap<u32, Shared>,
}

impl Commands {
    /// Has `sh -c` do `command`; when it ended, `inputs` hears how, for which a thread of its own
    /// waits. `PLIMSOLL_EVENT` in its environment is `name`, and `PLIMSOLL` leads to this program.
    /// Comes back with its end where it cannot begin.
    pub(crate) fn begin(
        &mut self,
        number: u32,
        name: &str,
        command: &str,
        inputs: SyncSender<Input>,
    ) -> Option<Input> {
        let state = Shared::default();
        self.begun.retain(|_, state| *locked(state) != State::Over);
        self.begun.insert(number, Arc::clone(&state));
        begin(number, name, command, state, inputs)
    }

    /// Kills a command with all its children, if it is not over.
    pub(crate) fn end(&mut self, number: u32) {
        let Some(state) = self.begun.get(&number) else { return };
        let mut state = locked(state);
        match *state {
            State::NotBegun => *state = State::Over,
            // It fails only where the group has nobody any more.
            State::Running(group) => drop(rustix::process::kill_process_group(group, Signal::KILL)),
            State::Over => {}
        }
    }
}

/// What a thread left that panicked is still a state.
fn locked(state: &Shared) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// It is a process group of its own, so that Ctrl-C ends the run and not a migration that is half
/// done.
fn begin(
    number: u32,
    name: &str,
    command: &str,
    state: Shared,
    inputs: SyncSender<Input>,
) -> Option<Input> {
    let (name, command) = (name.to_owned(), command.to_owned());
    let run = move || {
        let (status, output) = run(&name, &command, &state);
        // A run that is over does not care any more.
        let _ = inputs.send(Input::CommandEnded { number, status, output });
    };
    let error = thread::Builder::new().name("command".to_owned()).spawn(run).err()?;
    let output = format!("it was not started: no thread for it ({error})");
    Some(Input::CommandEnded { number, status: None, output })
}

/// Exit status and last lines; without a status, also why.
fn run(name: &str, command: &str, state: &Shared) -> (Option<i32>, String) {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .env("PLIMSOLL_EVENT", name)
        // A link to what runs, even where another program has taken its place meanwhile.
        .env("PLIMSOLL", format!("/proc/{}/exe", std::process::id()))
        .env_remove(TOKEN)
        .stdin(Stdio::null())
        .process_group(0);
    // A pipe would end the command with us, if it outlives us; and a file is there when it is
    // needed.
    let output = scratch().ok();
    let shared = || {
        output.as_ref().and_then(|file| file.try_clone().ok()).map_or_else(Stdio::null, Stdio::from)
    };
    shell.stdout(shared()).stderr(shared());
    let mut child = match spawn(&mut shell, state) {
        Ok(child) => child,
        Err(why) => return (None, format!("it was not started: {why}")),
    };
    // Until it is waited for, its number is nobody else's.
    let shell = || WaitId::Pid(Pid::from_child(&child));
    let ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let _ = rustix::io::retry_on_intr(|| rustix::process::waitid(shell(), ends));
    *locked(state) = State::Over;
    let ended = child.wait();
    let lines = output.map_or_else(|| "what it wrote could not be kept".to_owned(), tail);
    match ended {
        Ok(status) if status.code().is_some() => (status.code(), lines),
        Ok(status) => (None, format!("{lines}\nended by {status}")),
        Err(error) => (None, format!("{lines}\nits end is not known: {error}")),
    }
}

/// The shell, unless nobody wants it any more.
fn spawn(shell: &mut Command, state: &Shared) -> Result<Child, String> {
    let mut state = locked(state);
    if *state == State::Over {
        return Err("it was ended before".to_owned());
    }
    let child = shell.spawn().map_err(|error| format!("sh: {error}"));
    *state = child.as_ref().map_or(State::Over, |child| State::Running(Pid::from_child(child)));
    child
}

/// A file without a name, for this user alone.
fn scratch() -> std::io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name =
        format!("plimsoll-event-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    // Fails where something stands already, so nobody else can have prepared it. Both streams
    // append: neither overwrites the other.
    let file =
        OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// The end of what was written, of more bytes than are shown: the reader cuts it at a line.
fn tail(mut file: File) -> String {
    let most = 2 * MOST_DETAIL_BYTES as u64;
    let length = file.metadata().map_or(0, |meta| meta.len());
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(length.saturating_sub(most)))
        .and_then(|_| file.take(most).read_to_end(&mut bytes));
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
        assert_eq!(
            run("move", "echo $PLIMSOLL_EVENT; echo no >&2; exit 7", &Shared::default()),
            (Some(7), "move\nno\n".to_owned())
        );
        let (status, lines) = run("e", "seq 1 100000", &Shared::default());
        assert_eq!(status, Some(0));
        assert!(
            lines.ends_with("99999\n100000\n") && lines.len() <= 2 * MOST_DETAIL_BYTES,
            "{}",
            lines.len()
        );
    }

    #[test]
    fn a_signal_is_no_status_and_what_stays_behind_is_not_waited_for() {
        let (status, lines) = run("e", "kill -9 $$", &Shared::default());
        assert_eq!(status, None);
        assert!(lines.contains("signal: 9"), "{lines}");
        let (sender, inputs) = std::sync::mpsc::sync_channel(1);
        Commands::default().begin(4, "e", "sleep 1000 & echo $!", sender);
        let Ok(Input::CommandEnded { number: 4, status: Some(0), output }) = inputs.recv() else {
            panic!("the command did not end")
        };
        let left = output.trim().to_owned();
        assert!(
            Command::new("kill").arg(&left).status().expect("kill").success(),
            "it still ran: {left}"
        );
    }

    #[test]
    fn the_end_of_a_command_waits_for_room() {
        let (sender, inputs) = std::sync::mpsc::sync_channel(1);
        sender.send(Input::Tick).expect("room");
        let mut commands = Commands::default();
        commands.begin(3, "e", "true", sender);
        let state = Arc::clone(&commands.begun[&3]);
        while *locked(&state) != State::Over {
            thread::yield_now();
        }
        // It is over, and nobody read: what is said of it comes behind what was there.
        assert_eq!(inputs.recv(), Ok(Input::Tick));
        let end = inputs.recv();
        assert!(
            matches!(end, Ok(Input::CommandEnded { number: 3, status: Some(0), .. })),
            "{end:?}"
        );
    }

    #[test]
    fn a_command_that_is_ended_takes_its_children_with_it() {
        let (sender, inputs) = std::sync::mpsc::sync_channel(1);
        let mut commands = Commands::default();
        commands.begin(1, "prerun", "sleep 1000 & echo $!; wait", sender.clone());
        let state = Arc::clone(&commands.begun[&1]);
        while *locked(&state) == State::NotBegun {
            thread::yield_now();
        }
        commands.end(1);
        commands.end(2);
        let Ok(Input::CommandEnded { number: 1, status: None, output }) = inputs.recv() else {
            panic!("the command did not end")
        };
        assert!(output.contains("signal: 9"), "{output}");
        // It may have been killed before it wrote anything; what it wrote is the child's number.
        if let Some(child) = output.lines().next().and_then(|line| line.parse::<u32>().ok()) {
            let is_there = || {
                std::fs::read_to_string(format!("/proc/{child}/stat"))
                    .is_ok_and(|stat| !stat.contains(") Z"))
            };
            while is_there() {
                thread::yield_now();
            }
        }
        commands.end(1);
        let over = Arc::new(Mutex::new(State::Over));
        assert_eq!(
            run("e", "true", &over),
            (None, "it was not started: it was ended before".to_owned())
        );
    }
}
