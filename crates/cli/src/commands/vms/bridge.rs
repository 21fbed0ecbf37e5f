//! Lines between a coordinator and the agents in machines, and between it and other nodes.

use crate::commands::carry;
use crate::failure::Failure;
use crate::machines::Nodes;
use fleet::launch::{Binary, Program, Via, greeting};
use model::printable;
use provision::nodes::{self as asked, Answer, Request};
use provision::provider::Line;
use provision::{Ask, Deployment, Ground, Places, Problem, deployment, providers};
use std::io::{self, BufRead, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Carries bytes between our streams and a machine's agent until one side ends. What is at the
/// machine's end starts that agent, or finds it again.
pub(crate) fn bridge(socket: &Path, is_to_greet: bool, agent: &[String]) -> Result<(), Failure> {
    let ask = Ask::of_arguments(agent)
        .ok_or_else(|| Failure::usage("no such agent can be asked for; a run does it"))?;
    if is_to_greet {
        greet(&mut io::stdout())?;
    }
    let places = Places::of_user()?;
    // A whole path stays what it is.
    let socket = places.state.join(socket);
    match line_of(&socket, &ask)? {
        Way::Line(Line::Socket(path)) => over_socket(&path, &ask),
        Way::Line(Line::Ssh { host, socket }) => over_ssh(&host, &socket, &ask),
        Way::Node(program) => over_program(program),
        Way::Line(Line::Command(words)) => over_command(&words, &ask),
        Way::Line(Line::Guest { address, disks }) => over_guest(&address, &disks, &ask),
    }
}

enum Way {
    Line(Line),
    /// The same bridge, on the machine's node.
    Node(Program),
}

/// What the record beside a socket's place says of the way to its machine.
fn line_of(socket: &Path, ask: &Ask) -> Result<Way, Problem> {
    let unknown = || Problem::Unknown { name: socket.display().to_string() };
    let folder = socket.parent().ok_or_else(unknown)?;
    let name = socket.file_stem().and_then(|name| name.to_str()).ok_or_else(unknown)?;
    let found: Deployment = deployment::of_folder(folder)?.ok_or_else(unknown)?;
    let machine = found.machine(name).ok_or_else(unknown)?;
    if let Ground::Nodes(on) = &found.ground {
        let node = on.node_of(name).ok_or_else(unknown)?;
        let there = format!("{}/{name}.agent", found.name);
        let words = ["vms", "bridge", "--greet", &there, "--"].map(str::to_owned);
        let words: Vec<String> = words.into_iter().chain(arguments(ask)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        return Nodes::of(on).program(node, &words).map(Way::Node);
    }
    let provider = providers::of(&found).ok_or_else(unknown)?;
    provider.line(&found, machine).map(Way::Line)
}

fn arguments(ask: &Ask) -> Vec<String> {
    let agent = "agent".to_owned();
    match ask {
        Ask::Agent => vec![agent],
        Ask::Held { within, name } => {
            vec![agent, "--hold".into(), within.clone(), "--held-as".into(), name.clone()]
        }
        Ask::Attach { name } => vec![agent, "--attach".into(), name.clone()],
    }
}

fn over_socket(socket: &Path, ask: &Ask) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::target(format!(
            "{}: {error}; see with `plimsoll vms list` whether the machine runs",
            socket.display()
        ))
    };
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    writeln!(stream, "{}", ask.line()).map_err(failed)?;
    let (to, from) = (stream.try_clone().map_err(failed)?, stream);
    thread::spawn(move || {
        let _ = carry(io::stdin().lock(), &to);
        // The coordinator is gone: the agent ends its load when its line closes.
        let _ = to.shutdown(Shutdown::Both);
    });
    // A coordinator that no longer listens, or a machine that ended: either way this is the end.
    let _ = carry(&from, io::stdout().lock());
    Ok(())
}

/// The socket of a host that libvirt reaches over ssh, too. `nc -U` is what libvirt itself uses
/// there.
fn over_ssh(host: &str, socket: &Path, ask: &Ask) -> Result<(), Failure> {
    let path = socket.to_string_lossy().replace('\'', r"'\''");
    // What is asked for is made of plain words.
    // Without it, `cat` alone would hold the line, and nobody would answer.
    let script = format!(
        "command -v nc >/dev/null || {{ echo 'nc is not there; install netcat-openbsd' >&2; exit \
         127; }}; {{ echo '{}'; exec cat; }} | exec nc -U '{path}'",
        ask.line()
    );
    let mut command = Command::new("ssh");
    command.args(["-T", "-oBatchMode=yes", "-oConnectTimeout=15", "-oServerAliveInterval=5"]);
    // It takes our place, streams and all.
    let error = command.args(["--", host, &script]).exec();
    Err(Failure::target(format!("ssh cannot be started: {error}; install it here")))
}

/// A program whose streams reach the agent. It ends with the coordinator, whatever it waits for.
fn over_command(words: &[String], ask: &Ask) -> Result<(), Failure> {
    let failed = |why: &str| {
        let command = words.join(" ");
        Failure::target(format!(
            "the provider's command `{}` {why}; correct `command` in its answer",
            printable::line(&command)
        ))
    };
    let (first, rest) = words.split_first().ok_or_else(|| failed("is empty"))?;
    let mut command = Command::new(first);
    command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&format!("does not start: {error}")))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(failed("has no streams"));
    };
    writeln!(input, "{}", ask.line()).map_err(|error| failed(&error.to_string()))?;
    thread::spawn(move || {
        let _ = carry(io::stdin().lock(), input);
        let _ = child.kill().and_then(|()| child.wait().map(|_| ()));
    });
    let _ = carry(output, io::stdout().lock());
    Ok(())
}

/// An agent in a guest of the user's image: started there over ssh, with the user's own
/// configuration. It is this very program, or it does not start.
fn over_guest(address: &str, disks: &[String], ask: &Ask) -> Result<(), Failure> {
    let mut words = arguments(ask);
    if !matches!(ask, Ask::Attach { .. }) {
        words.extend(disks.iter().flat_map(|disk| ["--allow".to_owned(), disk.clone()]));
    }
    let program = Program::start(&Via::Ssh, address, &words);
    let program =
        program.map_err(|said| Failure::target(format!("the guest {address}: {said}")))?;
    // Its own greeting was read to see what it is; a coordinator expects one.
    greet(&mut io::stdout())?;
    over_program(program)
}

/// The same bridge on the machine's node; what it carries begins behind its greeting.
fn over_program(program: Program) -> Result<(), Failure> {
    let Program { input, output, process } = program;
    thread::spawn(move || {
        // The input closes with this thread's end, and with it the line to the agent.
        let _ = carry(io::stdin().lock(), input);
    });
    let _ = carry(output, io::stdout().lock());
    drop(process);
    Ok(())
}

/// The first line of what this program says to one that started it elsewhere.
fn greet(out: &mut impl Write) -> Result<(), Failure> {
    let binary = Binary::own().map_err(|error| {
        Failure::run(format!("the program's own file cannot be read: {error}; start again"))
    })?;
    let greeted = writeln!(out, "{}", greeting(env!("CARGO_PKG_VERSION"), &binary.hash))
        .and_then(|()| out.flush());
    greeted.map_err(|error| Failure::run(format!("nobody listens: {error}")))
}

const LONGEST_REQUEST: u64 = 1 << 20;

/// Answers one request of a coordinator. Where it goes away meanwhile, what was being made is taken
/// down.
pub(crate) fn node() -> Result<(), Failure> {
    let places = Places::of_user()?;
    let mut out = io::stdout();
    greet(&mut out)?;
    let mut line = String::new();
    let mut input = io::BufReader::new(io::stdin());
    let read = input.by_ref().take(LONGEST_REQUEST).read_line(&mut line);
    let answer = match read.map(|_| serde_json::from_str::<Request>(&line)) {
        Ok(Ok(request)) => {
            let stop = Arc::new(AtomicBool::new(false));
            let theirs = stop.clone();
            thread::spawn(move || {
                // Nothing more is said: whatever ends this, the coordinator is gone.
                let _ = io::copy(&mut input, &mut io::sink());
                theirs.store(true, Ordering::SeqCst);
            });
            asked::answer(&places, &request, &stop)
        }
        _ => Answer::Refused { said: "it was asked for nothing that it knows".to_owned() },
    };
    let text = serde_json::to_string(&answer).unwrap_or_default();
    // A coordinator that is gone asks again.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    // The thread that reads holds nobody up.
    std::process::exit(0)
}
