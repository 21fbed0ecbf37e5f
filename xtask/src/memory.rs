//! `cargo xtask memory`: the engine's `unsafe` under those who see what the compiler cannot. The
//! address sanitizer watches whole tests on real files, where the kernel writes into our memory;
//! Miri, which knows no io_uring, interprets those that stay inside of the process.

use crate::shell::{self, Outcome};
use std::process::Command;

/// Sanitizers need the standard library for one named target.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Tests of the engine that call neither rings nor files, and write little: Miri is slower by some
/// thousand times.
const INTERPRETED: [&str; 2] = ["worker::buffers::", "contents::crc::"];
/// A test that fills megabytes, which takes Miri minutes.
const TOO_LARGE: &str = "a_large_buffer_has_a_huge_page";
/// How to have what is missing.
const MISSING: &str = "`rustup toolchain install nightly --component miri,rust-src` brings it";

/// Runs both, one after the other.
///
/// # Errors
/// No nightly toolchain or no Miri, or one of them found something.
pub fn run() -> Outcome<()> {
    shell::capture(&mut nightly(&["--version"]))
        .map_err(|why| format!("no nightly toolchain ({why}); {MISSING}"))?;
    shell::capture(&mut nightly(&["miri", "--version"]))
        .map_err(|why| format!("no Miri ({why}); {MISSING}"))?;
    println!("== Miri");
    shell::show(&mut interpreted())
        .map_err(|_| "Miri found something; it stands above".to_owned())?;
    println!("== address sanitizer");
    shell::show(&mut sanitized()?)
        .map_err(|_| "a test failed or the sanitizer found something; see above".to_owned())
}

/// `cargo +nightly`; not the cargo that started this program, which is of one toolchain.
fn nightly(args: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(shell::root()).arg("+nightly").args(args);
    // Set by rustup for the programs that it starts, and it would choose the toolchain.
    cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    cargo
}

fn interpreted() -> Command {
    let mut cargo = nightly(&["miri", "test", "--locked", "--package", "engine", "--lib", "--"]);
    cargo.args(INTERPRETED).args(["--skip", TOO_LARGE]);
    // Pages for large buffers are asked of the real kernel.
    cargo.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    cargo
}

fn sanitized() -> Outcome<Command> {
    let mut cargo =
        nightly(&["test", "--locked", "--package", "engine", "--target", TARGET, "--no-fail-fast"]);
    // Apart, because other flags would have the usual build made anew.
    cargo.env("CARGO_TARGET_DIR", shell::target_dir()?.join("sanitized"));
    cargo.env("RUSTFLAGS", "-Zsanitizer=address");
    Ok(cargo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_go_to_the_nightly_toolchain_and_the_engine() {
        for command in [interpreted(), sanitized().expect("a target directory")] {
            let line = shell::line(&command);
            assert!(
                line.starts_with("cargo +nightly ") && line.contains("--package engine"),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_interpreted_is_still_there() {
        for module in INTERPRETED {
            let file = format!(
                "crates/engine/src/{}.rs",
                module.trim_end_matches("::").replace("::", "/")
            );
            let text = std::fs::read_to_string(shell::root().join(&file)).unwrap_or_default();
            assert!(
                text.contains("#[test]"),
                "{file} has no tests, so that Miri would look at nothing"
            );
        }
        let buffers =
            std::fs::read_to_string(shell::root().join("crates/engine/src/worker/buffers.rs"))
                .unwrap_or_default();
        assert!(buffers.contains(TOO_LARGE), "there is no such test any more");
    }
}
