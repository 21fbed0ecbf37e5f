//! Starts agents: on whatever can run a command on a host and hold its standard streams.

mod binary;
mod discover;
mod process;
mod script;
mod via;

pub use binary::Binary;
pub use discover::{SlurmJob, pods};
pub use process::{LastWords, Process};
pub use script::greeting;
pub use via::Via;

use crate::link::{Link, over};
use process::Started;
use script::Answer;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a host may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// How long it may take to receive the binary.
const COPY: Duration = Duration::from_secs(300);
/// Hosts that are reached at the same time: more would trip the limits of ssh servers and of our own process table.
const AT_ONCE: usize = 64;

/// Which agents are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The way to the hosts.
    pub via: Via,
    /// Their names.
    pub hosts: Vec<String>,
    /// The paths that each agent may touch, in the order of the hosts; none where there is no entry.
    pub allow: Vec<Vec<String>>,
    /// Where the program is on the hosts; where it is not said, it is copied to those that lack it.
    pub agent: Option<PathBuf>,
    /// Our version, which theirs has to be.
    pub version: String,
}

/// An agent that listens.
#[derive(Debug)]
pub struct Launched {
    /// Its host's name.
    pub name: String,
    pub(crate) link: Link,
    pub(crate) process: Process,
}

/// A host without an agent, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    /// The host.
    pub host: String,
    /// What, in words with a remedy.
    pub what: String,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {}: {}", self.host, self.what)
    }
}

impl std::error::Error for LaunchError {}

/// Starts an agent on every host, many at a time.
///
/// # Errors
/// Every host that has none, with the reason; the others' agents have ended then.
pub fn launch(wanted: &Wanted) -> Result<Vec<Launched>, Vec<LaunchError>> {
    let all = |what: String| vec![LaunchError { host: wanted.hosts.join(","), what }];
    if let Some(twice) = twice(&wanted.hosts).filter(|_| wanted.via != Via::Local) {
        let what = "is named twice; name each host once".to_owned();
        return Err(vec![LaunchError { host: twice.to_owned(), what }]);
    }
    let binary = Binary::own().map_err(|error| all(format!("our own program cannot be read: {error}; start again")))?;
    on_each(&wanted.hosts, |number, host| {
        let allow = wanted.allow.get(number).map_or(&[][..], Vec::as_slice);
        launch_one(wanted, &binary, host, &arguments(allow))
    })
}

/// Removes the copies of the program from every host.
///
/// # Errors
/// Every host where they may still be, with the reason.
pub fn forget(via: &Via, hosts: &[String]) -> Result<(), Vec<LaunchError>> {
    let one = |_, host: &str| {
        let started = Started::new(via.command(host, &script::forget())).map_err(|error| cannot_start(via, &error))?;
        let (mut started, ()) = started
            .expect(ANSWER, |line| (line == script::STORED).then_some(()))
            .map_err(|why| format!("{why}; {}", via.remedy(host)))?;
        drop(started.input.take());
        started.process.finish(ANSWER);
        Ok(())
    };
    on_each(hosts, one).map(|_| ())
}

/// Does something for each host, so many at a time, in their order.
fn on_each<T: Send>(
    hosts: &[String],
    one: impl Fn(usize, &str) -> Result<T, String> + Sync,
) -> Result<Vec<T>, Vec<LaunchError>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<T, String>>>> = Mutex::new(hosts.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..hosts.len().min(AT_ONCE) {
            scope.spawn(|| {
                while let Some((number, host)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    hosts.get(number).map(|host| (number, host))
                } {
                    let result = one(number, host);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(result);
                }
            });
        }
    });
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (host, result) in hosts.iter().zip(results.into_iter().flatten()) {
        match result {
            Ok(value) => good.push(value),
            Err(what) => bad.push(LaunchError { host: host.clone(), what }),
        }
    }
    if bad.is_empty() { Ok(good) } else { Err(bad) }
}

fn twice(hosts: &[String]) -> Option<&str> {
    let mut sorted: Vec<&str> = hosts.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn cannot_start(via: &Via, error: &std::io::Error) -> String {
    format!("{} cannot be started: {error}; install it here", via.name())
}

/// What an agent is told in its start command.
fn arguments(allow: &[String]) -> Vec<String> {
    let mut arguments = vec!["agent".to_owned()];
    for path in allow {
        arguments.extend(["--allow".to_owned(), path.clone()]);
    }
    arguments
}

fn launch_one(wanted: &Wanted, binary: &Binary, host: &str, arguments: &[String]) -> Result<Launched, String> {
    for attempt in 0..2 {
        match ask(wanted, binary, host, arguments)? {
            (started, Answer::Agent { protocol, version, hash }) => {
                if wanted.agent.is_none() && hash != binary.hash && attempt == 0 {
                    // Somebody changed the copy; it gets one more chance.
                    drop(started);
                    copy(wanted, binary, host)?;
                    continue;
                }
                check(wanted, binary, protocol, &version, &hash)?;
                let Started { process, input, output } = started;
                let Some(input) = input else { return Err("its agent does not listen; start again".to_owned()) };
                let (link, _) = over(output, input);
                return Ok(Launched { name: host.to_owned(), link, process });
            }
            (_, Answer::Missing { system }) if !script::runs_here(&system) => {
                return Err(format!(
                    "runs {system}, and this program is for Linux on {}; put a program for it there and name it with --agent PATH",
                    std::env::consts::ARCH
                ));
            }
            (started, Answer::Missing { .. }) => {
                drop(started);
                copy(wanted, binary, host)?;
            }
        }
    }
    Err("lacks the program although it was copied there; put it there yourself and name it with --agent PATH"
        .to_owned())
}

fn ask(wanted: &Wanted, binary: &Binary, host: &str, arguments: &[String]) -> Result<(Started, Answer), String> {
    let command = match (&wanted.agent, wanted.via.direct(arguments)) {
        (Some(path), _) => wanted.via.command(host, &script::start_at(path, arguments)),
        (None, Some(direct)) => direct,
        (None, None) => wanted.via.command(host, &script::start(&binary.hash, arguments)),
    };
    let started = Started::new(command).map_err(|error| cannot_start(&wanted.via, &error))?;
    let answer = started.expect(ANSWER, Answer::of);
    answer.map_err(|why| format!("no agent could be started: {why}; {}", wanted.via.remedy(host)))
}

/// Whether an agent is one of ours.
fn check(wanted: &Wanted, binary: &Binary, protocol: u32, version: &str, hash: &str) -> Result<(), String> {
    if !Answer::speaks(protocol) || version != wanted.version {
        let ours = &wanted.version;
        return Err(format!("its agent is version {version}, and this is {ours}; put the same version there"));
    }
    if wanted.agent.is_none() && hash != binary.hash {
        let what = "its copy of the program is not what was sent there";
        return Err(format!("{what}; remove it with `plimsoll clean --hosts`, and look who else writes there"));
    }
    Ok(())
}

/// Brings the program to a host. It is there whole or not at all.
fn copy(wanted: &Wanted, binary: &Binary, host: &str) -> Result<(), String> {
    let via = &wanted.via;
    let failed = |why: String| {
        format!(
            "the program cannot be copied there: {why}; check its space and permissions, or name a copy with --agent PATH"
        )
    };
    let mut started =
        Started::new(via.command(host, &script::store(&binary.hash))).map_err(|error| cannot_start(via, &error))?;
    let mut file = File::open(&binary.path).map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = started.input.take() {
        // If it breaks off, the host says why. The end of its input tells it that this is all.
        let _ = std::io::copy(&mut file, &mut input);
    }
    let stored = started.expect(COPY, |line| (line == script::STORED).then_some(()));
    let (mut started, ()) = stored.map_err(failed)?;
    started.process.finish(ANSWER);
    Ok(())
}

#[cfg(test)]
mod tests;
