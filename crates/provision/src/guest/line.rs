//! The line of a guest: what its host asks for, and an agent that outlives it.

use crate::inside::{Ask, LONGEST_ASK};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Between two looks at whether somebody is at the other end.
const PAUSE: Duration = Duration::from_millis(50);
/// What is carried at a time, in bytes.
const CHUNK: usize = 64 << 10;
/// How long nothing may happen before the agent is looked at.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Agents that may go on without their line.
#[derive(Default)]
pub(super) struct Held(Vec<Child>);

impl Held {
    /// Forgets those that ended.
    fn forget_ended(&mut self) {
        self.0.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

/// Serves one stream of a coordinator: hears what it asks for, and starts that.
pub(super) fn serve_one(
    port: &Path,
    disks: &[String],
    console: &str,
    held: &mut Held,
) -> io::Result<()> {
    held.forget_ended();
    // A second opening of the port would be refused: both directions are one.
    let mut input = OpenOptions::new().read(true).write(true).open(port)?;
    let ask = heard(&mut input)?;
    let mut command = Command::new("/proc/self/exe");
    command.arg("agent");
    if let Ask::Attach { name } = &ask {
        command.args(["--attach", name]);
    } else {
        disks.iter().for_each(|disk| {
            command.arg("--allow").arg(disk);
        });
    }
    command.stderr(File::options().write(true).open(console)?);
    command.env("HOME", "/root");
    if let Ask::Held { within, name } = &ask {
        command.args(["--hold", within, "--held-as", name]);
        let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let carried = carry(&input, &mut agent);
        held.0.push(agent);
        return carried;
    }
    let output = input.try_clone()?;
    let mut agent = command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).spawn()?;
    // What we hold of the port would keep it open: what a coordinator that left did not read is
    // thrown away only when all have closed it.
    drop(command);
    agent.wait().map(|_| ())
}

/// What the host asks for in its first line. Until somebody is there, reading finds an end.
fn heard(input: &mut File) -> io::Result<Ask> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match input.read(&mut byte) {
            Ok(0) if line.is_empty() => sleep(PAUSE),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) if line.len() < LONGEST_ASK => line.push(byte[0]),
            Ok(_) => return Err(io::Error::other("it was asked for too much")),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let ask = std::str::from_utf8(&line).ok().and_then(Ask::of_line);
    ask.ok_or_else(|| io::Error::other("it was asked for nothing that it knows"))
}

/// Carries bytes between the line and an agent until the line breaks or the agent ends. Nothing of
/// the line is held then, nor of the agent's streams: it knows so that its line is broken.
fn carry(port: &File, agent: &mut Child) -> io::Result<()> {
    let (Some(mut orders), Some(mut answers)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Ok(());
    };
    // Writing to a line that broke would wait until somebody is there again.
    fcntl_setfl(port, fcntl_getfl(port)? | OFlags::NONBLOCK)?;
    let mut chunk = vec![0; CHUNK];
    // What the agent said, and the line has not taken.
    let mut waiting: Vec<u8> = Vec::new();
    loop {
        let (at_line, at_agent) = ready(port, &answers, !waiting.is_empty())?;
        if at_line.contains(PollFlags::HUP) {
            return Ok(());
        }
        if at_line.contains(PollFlags::IN) {
            match (&mut &*port).read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(read) => orders.write_all(&chunk[..read])?,
                Err(error) if is_not_now(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if waiting.is_empty() && at_agent.intersects(PollFlags::IN | PollFlags::HUP) {
            match answers.read(&mut chunk)? {
                0 => return Ok(()),
                read => waiting.extend_from_slice(&chunk[..read]),
            }
        }
        if !waiting.is_empty() {
            match (&mut &*port).write(&waiting) {
                Ok(written) => drop(waiting.drain(..written)),
                Err(error) if is_not_now(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// What can be done at both ends.
fn ready(
    port: &File,
    answers: &std::process::ChildStdout,
    is_waiting: bool,
) -> io::Result<(PollFlags, PollFlags)> {
    let at_line = if is_waiting { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    // While the line takes nothing, nothing more is heard of the agent.
    let at_agent = if is_waiting { PollFlags::empty() } else { PollFlags::IN };
    let mut ends = [PollFd::new(port, at_line), PollFd::new(answers, at_agent)];
    rustix::io::retry_on_intr(|| poll(&mut ends, Some(&LOOK)))?;
    Ok((ends[0].revents(), ends[1].revents()))
}

fn is_not_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
