//! The programs of providers, each call with bounds in time and in bytes.

use crate::Outcome;
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
pub(crate) type Feed<'a> = &'a mut dyn FnMut(&mut dyn Write) -> Outcome;

/// The program of a provider.
pub(crate) trait Runs {
    /// What it writes, once it has ended well.
    fn run(&self, words: &[&str], takes: Takes, feed: Feed<'_>) -> Outcome<String>;
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
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
    fn run(&self, words: &[&str], takes: Takes, feed: Feed<'_>) -> Outcome<String> {
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
pub(crate) fn ask(program: &dyn Runs, words: &[&str]) -> Outcome<String> {
    program.run(words, Takes::Short, &mut |_| Ok(()))
}
