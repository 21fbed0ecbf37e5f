//! `plimsoll agent`: the far end of a run.

use crate::args::AgentArgs;
use crate::failure::Failure;
use fleet::launch::{Binary, greeting};
use fleet::{ALLOW_FILE, Guard};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Serves the coordinator that started this, until it is gone.
pub fn agent(args: &AgentArgs) -> Result<ExitCode, Failure> {
    let failed = |what: String| Failure::Run(format!("error: {what}"));
    let guard = Guard::of_host(&args.allow, Path::new(ALLOW_FILE))
        .map_err(|error| failed(error.to_string()))?;
    let version = env!("CARGO_PKG_VERSION");
    let binary = Binary::own().map_err(|error| {
        failed(format!("the program's own file cannot be read: {error}; start again"))
    })?;
    // The greeting tells the coordinator where the noise of a login shell ends.
    let mut out = std::io::stdout();
    let greeted = writeln!(out, "{}", greeting(version, &binary.hash)).and_then(|()| out.flush());
    greeted.map_err(|error| {
        failed(format!("nobody listens: {error}; a coordinator starts its agents itself"))
    })?;
    fleet::serve_streams(std::io::stdin(), out, guard, version, args.relay);
    // A request that hangs in the kernel, or a stream that never ends, holds a thread; nothing is
    // left to wait for.
    std::process::exit(0)
}
