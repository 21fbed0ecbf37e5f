//! `plimsoll agent`: the far end of a run.

use crate::args::AgentArgs;
use crate::failure::Failure;
use fleet::launch::{Binary, greeting, not_held};
use fleet::{ALLOW_FILE, AttachError, Guard, HeldAs};
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// Serves the coordinator that started this, until it is gone.
pub(crate) fn agent(args: &AgentArgs) -> Result<ExitCode, Failure> {
    let failed = |what: String| Failure::Run(format!("error: {what}"));
    if let Some(name) = &args.attach {
        return attach(name);
    }
    let guard = Guard::of_host(&args.allow, Path::new(ALLOW_FILE))
        .map_err(|error| failed(error.to_string()))?;
    let version = env!("CARGO_PKG_VERSION");
    greet()?;
    let held = args.hold.zip(args.held_as.clone()).map(|(within, name)| HeldAs { within, name });
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    fleet::serve_streams(stdin, stdout, guard, version, args.relay, held.as_ref());
    // A request that hangs in the kernel, or a stream that never ends, holds a thread; nothing is
    // left to wait for.
    std::process::exit(0)
}

/// The greeting tells the coordinator where the noise of a login shell ends.
fn greet() -> Result<(), Failure> {
    let failed = |what: String| Failure::Run(format!("error: {what}"));
    let binary = Binary::own().map_err(|error| {
        failed(format!("the program's own file cannot be read: {error}; start again"))
    })?;
    say(&greeting(env!("CARGO_PKG_VERSION"), &binary.hash)).map_err(|error| {
        failed(format!("nobody listens: {error}; a coordinator starts its agents itself"))
    })
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

fn attach(name: &str) -> Result<ExitCode, Failure> {
    let failed = |what: String| Failure::Run(format!("error: {what}"));
    let stream = match fleet::attach(name) {
        Ok(stream) => stream,
        Err(AttachError::NotHeld) => {
            say(&not_held()).map_err(|error| failed(error.to_string()))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    greet()?;
    let down = stream.try_clone().map_err(|error| failed(error.to_string()))?;
    std::thread::spawn(move || {
        pass(std::io::stdin(), &down);
        // The agent hears that nobody is there any more, and what it says goes nowhere.
        std::process::exit(0)
    });
    pass(&stream, std::io::stdout());
    std::process::exit(0)
}

/// Passes on all that is read until either side ends.
fn pass(mut from: impl Read, mut to: impl Write) {
    let mut chunk = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        if to.write_all(&chunk[..read]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
