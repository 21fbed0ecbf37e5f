//! For which processor a release is, and what it takes to build and run it here.

use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What there is to know of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As Rust names it.
    pub triple: String,
    /// Its processor, as in the triple.
    pub processor: &'static str,
    /// The emulator that runs its programs here; `None` where none is needed. It is static, so
    /// that it runs in an empty root, too.
    pub emulator: Option<PathBuf>,
}

/// The processors that releases are for, and what Debian calls them.
const PROCESSORS: [(&str, &str); 2] = [("x86_64", "amd64"), ("aarch64", "arm64")];

impl Target {
    /// The one that `asked` names, or this machine's own.
    ///
    /// # Errors
    /// It is none that releases are for, or this machine cannot run its programs.
    pub fn new(asked: Option<&str>) -> Outcome<Target> {
        let host = shell::host_triple()?;
        let triple = asked.unwrap_or(&host).to_owned();
        let processor = processor(&triple)?;
        let emulator = (triple != host).then(|| emulator(processor)).transpose()?;
        Ok(Target { triple, processor, emulator })
    }

    /// What Debian calls its processor.
    pub fn of_debian(&self) -> &'static str {
        let own = PROCESSORS.iter().find(|(processor, _)| *processor == self.processor);
        own.map_or(self.processor, |(_, of_debian)| of_debian)
    }

    /// The compiler of C that makes and links programs of this target; `None` for the usual one.
    pub fn compiler(&self) -> Option<String> {
        self.emulator.is_some().then(|| format!("{}-linux-gnu-gcc", self.processor))
    }

    /// A command that runs `program`, which is of this target.
    pub fn command(&self, program: &Path) -> Command {
        match &self.emulator {
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(program);
                command
            }
            None => Command::new(program),
        }
    }

    /// A command that runs `program`, a path in `root`, with `root` as its root. The emulator,
    /// where there is one, is put there first.
    ///
    /// # Errors
    /// The emulator cannot be copied.
    pub fn command_inside(&self, root: &Path, program: &str) -> Outcome<Command> {
        let mut command = Command::new("chroot");
        command.arg(root);
        if let Some(emulator) = &self.emulator {
            std::fs::copy(emulator, root.join(EMULATOR))
                .map_err(|error| format!("{} cannot be copied: {error}", emulator.display()))?;
            command.arg(format!("/{EMULATOR}"));
        }
        command.arg(program);
        Ok(command)
    }
}

/// The name of the emulator in a root that we made.
const EMULATOR: &str = "emulator";

fn processor(triple: &str) -> Outcome<&'static str> {
    let known = PROCESSORS.map(|(processor, _)| processor).into_iter().find(|processor| {
        triple.strip_prefix(processor).is_some_and(|rest| rest == "-unknown-linux-gnu")
    });
    known.ok_or_else(|| {
        format!(
            "no release is for {triple}; name {}",
            PROCESSORS.map(|(processor, _)| format!("{processor}-unknown-linux-gnu")).join(" or ")
        )
    })
}

fn emulator(processor: &str) -> Outcome<PathBuf> {
    let name = format!("qemu-{processor}-static");
    shell::which(&name).ok_or_else(|| {
        format!("{name} is missing, which runs programs for {processor}; install qemu-user-static")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_for_processors_that_packages_have_names_for() {
        for (processor, _) in PROCESSORS {
            assert_eq!(super::processor(&format!("{processor}-unknown-linux-gnu")), Ok(processor));
        }
        for other in ["riscv64gc-unknown-linux-gnu", "x86_64-pc-windows-msvc", "aarch64", ""] {
            assert!(processor(other).is_err(), "{other}");
        }
    }

    #[test]
    fn programs_of_another_processor_run_in_the_emulator() {
        let other = Target {
            triple: "aarch64-unknown-linux-gnu".to_owned(),
            processor: "aarch64",
            emulator: Some(PathBuf::from("/usr/bin/qemu-aarch64-static")),
        };
        let command = other.command(Path::new("/p"));
        assert_eq!(shell::line(&command), "/usr/bin/qemu-aarch64-static /p");
        assert_eq!(other.of_debian(), "arm64");
        assert_eq!(other.compiler().as_deref(), Some("aarch64-linux-gnu-gcc"));
        let own = Target { emulator: None, ..other };
        assert_eq!(
            (shell::line(&own.command(Path::new("/p"))), own.compiler()),
            ("/p".to_owned(), None)
        );
    }
}
