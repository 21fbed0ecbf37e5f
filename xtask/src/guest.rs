//! The guest of virtual machines as a file: what `plimsoll vms` makes in memory for each group of
//! them.

use crate::shell::{self, Outcome};
use std::path::PathBuf;
use std::process::Command;

/// A guest is not larger.
const MOST_BYTES: u64 = 40_000_000;

/// What it is made of.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// A kernel, or its package.
    #[arg(long)]
    kernel: Option<PathBuf>,
    /// Instead of one that is built.
    program: Option<PathBuf>,
}

/// Writes `target/guest/guest.cpio` with the program that is given, or with one that is built.
pub fn run(options: &Options) -> Outcome<()> {
    let program = options.program.clone().map_or_else(shell::build_plimsoll, Ok)?;
    let image = shell::folder(shell::target_dir()?.join("guest"))?.join("guest.cpio");
    match std::fs::remove_file(&image) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{}: {error}", image.display()));
        }
        _ => {}
    }
    let mut command = Command::new(program);
    command.args(["vms", "image"]).arg(&image);
    if let Some(kernel) = &options.kernel {
        command.arg("--guest-kernel").arg(kernel);
    }
    print!("{}", shell::capture(&mut command)?);
    let bytes = std::fs::metadata(&image).map_err(|error| error.to_string())?.len();
    if bytes > MOST_BYTES {
        return Err(format!("the guest has {bytes} bytes, and at most {MOST_BYTES} are allowed"));
    }
    Ok(())
}
