//! `plimsoll agent`: the far end of a run.

use super::carry;
use crate::args::AgentArgs;
use crate::failure::Failure;
use fleet::launch::{Binary, greeting, not_held};
use fleet::{ALLOW_FILE, AttachError, Guard, HeldAs};
use std::io::Write;
use std::path::Path;

/// Serves the coordinator that started this, until it is gone.
pub(crate) fn agent(args: &AgentArgs) -> Result<(), Failure> {
    if let Some(name) = &args.attach {
        return attach(name);
    }
    let guard = Guard::of_host(&args.allow, Path::new(ALLOW_FILE))
        .map_err(|error| Failure::run(error.to_string()))?;
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
    let binary = Binary::own().map_err(|error| {
        Failure::run(format!("the program's own file cannot be read: {error}; start again"))
    })?;
    say(&greeting(env!("CARGO_PKG_VERSION"), &binary.hash)).map_err(|error| {
        Failure::run(format!("nobody listens: {error}; a coordinator starts its agents itself"))
    })
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

fn attach(name: &str) -> Result<(), Failure> {
    let stream = match fleet::attach(name) {
        Ok(stream) => stream,
        Err(AttachError::NotHeld) => {
            say(&not_held()).map_err(|error| Failure::run(error.to_string()))?;
            return Ok(());
        }
        Err(error) => return Err(Failure::run(error.to_string())),
    };
    greet()?;
    let down = stream.try_clone().map_err(|error| Failure::run(error.to_string()))?;
    std::thread::spawn(move || {
        let _ = carry(std::io::stdin(), &down);
        // The agent hears that nobody is there any more, and what it says goes nowhere.
        std::process::exit(0)
    });
    let _ = carry(&stream, std::io::stdout());
    std::process::exit(0)
}
