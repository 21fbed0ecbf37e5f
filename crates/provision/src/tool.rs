//! Programs of others that make machines: started with bounds in time and in bytes.

use crate::Problem;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(5);
/// What is kept of what a program writes.
const MOST_OUTPUT: u64 = 4 << 20;

/// A call of a program.
pub(crate) struct Call<'a> {
    /// The program.
    pub program: &'a str,
    /// The package of Debian that has it.
    pub package: &'static str,
    /// Its arguments.
    pub arguments: &'a [&'a OsStr],
    /// How long it may take.
    pub within: Duration,
}

impl Call<'_> {
    /// What it writes, once it has ended well. `feed` writes to its standard input.
    ///
    /// # Errors
    /// It is not here, does not end in time, or fails, in its own words; those of `feed`.
    pub(crate) fn fed(
        &self,
        feed: &mut dyn FnMut(&mut dyn Write) -> Result<(), Problem>,
    ) -> Result<String, Problem> {
        let mut child = self.start()?;
        let out = child.stdout.take().map(kept);
        let errors = child.stderr.take().map(kept);
        // Where it ends before it took all, it says why.
        let fed = child.stdin.take().map_or(Ok(()), |mut input| feed(&mut input));
        if matches!(fed, Err(Problem::Stopped)) {
            ended(&mut child);
            return Err(Problem::Stopped);
        }
        let deadline = Instant::now() + self.within;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => sleep(PAUSE),
                _ => {
                    ended(&mut child);
                    return Err(self.hangs());
                }
            }
        };
        let (out, errors) = (text(out), text(errors));
        match status.success() {
            true => fed.map(|()| out),
            false => Err(Problem::Tool { call: self.words(), said: last_words(&errors) }),
        }
    }

    fn start(&self) -> Result<Child, Problem> {
        let mut command = Command::new(self.program);
        // What it says is compared with nothing but numbers and names; in one language all the
        // same.
        command.args(self.arguments).env("LC_ALL", "C");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Problem::NoProgram { program: self.program.to_owned(), package: self.package }
            }
            _ => Problem::Tool { call: self.words(), said: error.to_string() },
        })
    }

    fn hangs(&self) -> Problem {
        Problem::Hangs { call: self.words(), within: model::Nanos(self.within.as_nanos() as u64) }
    }

    fn words(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy());
        let all: Vec<_> = std::iter::once(self.program.into()).chain(words).collect();
        all.join(" ")
    }
}

fn ended(child: &mut Child) {
    // It may have ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads on to the end, so that nobody waits for us, and keeps the beginning.
fn kept(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        bytes
    })
}

fn text(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of what went wrong, on one line.
fn last_words(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("error: ")).collect();
    let all = lines[lines.len().saturating_sub(4)..].join("; ");
    if all.is_empty() { "it gave no reason".to_owned() } else { all.chars().take(800).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(script: &str, within: Duration) -> Result<String, Problem> {
        let arguments = [OsStr::new("-c"), OsStr::new(script)];
        Call { program: "sh", package: "dash", arguments: &arguments, within }.fed(&mut |_| Ok(()))
    }

    #[test]
    fn a_program_answers_fails_or_hangs() {
        let long = Duration::from_secs(30);
        assert_eq!(call("echo a; echo b >&2", long), Ok("a\n".to_owned()));
        let failed = call("echo 'error: no domain' >&2; exit 3", long).expect_err("it fails");
        assert!(matches!(failed, Problem::Tool { said, .. } if said == "no domain"));
        let hangs = call("exec sleep 600", Duration::from_millis(50)).expect_err("too long");
        assert!(matches!(hangs, Problem::Hangs { .. }));
        let none = Call { program: "no-such-program", package: "x", arguments: &[], within: long };
        assert!(matches!(none.fed(&mut |_| Ok(())), Err(Problem::NoProgram { .. })));
    }

    #[test]
    fn what_a_program_says_is_kept_within_bounds() {
        let all = call("yes | head -c 9000000", Duration::from_secs(60)).expect("good");
        assert_eq!(all.len() as u64, MOST_OUTPUT);
        let fed = {
            let arguments = [OsStr::new("-c"), OsStr::new("wc -c")];
            let within = Duration::from_secs(30);
            let call = Call { program: "sh", package: "dash", arguments: &arguments, within };
            call.fed(&mut |input| input.write_all(&[7; 100_000]).map_err(|_| Problem::Stopped))
        };
        assert_eq!(fed.as_deref().map(str::trim), Ok("100000"));
    }
}
