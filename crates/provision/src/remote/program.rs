//! The programs of providers, each call with bounds in time and in bytes.

use crate::Problem;
use crate::tool::Call;
use std::ffi::OsStr;
use std::io::Write;
use std::time::Duration;

/// A question, or a change of state.
const SHORT: Duration = Duration::from_secs(120);
/// What copies bytes.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A question, or a change of state.
    Short,
    /// What copies bytes.
    Long,
}

/// What a call reads.
pub(crate) type Feed<'a> = &'a mut dyn FnMut(&mut dyn Write) -> Result<(), Problem>;

/// The program of a provider.
pub(crate) trait Runs {
    /// What it writes, once it has ended well.
    ///
    /// # Errors
    /// It is not here, does not end in time, or fails, in its own words.
    fn run(&self, words: &[&str], takes: Takes, feed: Feed<'_>) -> Result<String, Problem>;
}

/// A program of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its name.
    pub(crate) name: String,
    /// What has it.
    pub(crate) package: &'static str,
    /// How long a question may take.
    pub(crate) short: Duration,
}

impl Program {
    pub(crate) fn new(name: &str, package: &'static str) -> Program {
        Program { name: name.to_owned(), package, short: SHORT }
    }
}

impl Runs for Program {
    fn run(&self, words: &[&str], takes: Takes, feed: Feed<'_>) -> Result<String, Problem> {
        let arguments: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        let within = match takes {
            Takes::Short => self.short,
            Takes::Long => LONG,
        };
        let (program, package, is_change) = (&*self.name, self.package, false);
        let alive = None;
        Call { program, package, arguments: &arguments, within, is_change, alive }.fed(feed)
    }
}

/// Calls a program that reads nothing.
pub(crate) fn ask(program: &dyn Runs, words: &[&str]) -> Result<String, Problem> {
    program.run(words, Takes::Short, &mut |_| Ok(()))
}
