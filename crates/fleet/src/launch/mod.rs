//! Starts agents: on whatever can run a command on a host and hold its standard streams.

mod binary;
mod discover;
mod process;
mod script;
mod slurm;
mod via;
pub(crate) mod wanted;

pub use binary::Binary;
pub use discover::pods;
pub use process::{LastWords, Process};
pub use script::greeting;
pub use slurm::{SlurmJob, SlurmRequest};
pub use via::Via;
pub use wanted::Wanted;

use crate::link::{Link, LinkError, over};
use crate::tree::{self, Tree};
use crate::wire::{FromAgent, ToAgent};
use model::{Bytes, hostlist};
use process::Started;
use script::{Answer, Refusal};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, thread};

/// How long a host may take to answer.
const ANSWER: Duration = Duration::from_secs(60);
/// How long it may take to receive the binary and to check it.
const COPY: Duration = Duration::from_secs(300);
/// What is written to it at a time, in bytes: what a pipe takes.
const CHUNK: usize = 64 << 10;
/// Hosts that are reached at the same time: more would trip the limits of ssh servers and of our
/// own process table.
const AT_ONCE: usize = 64;

/// What helps where hosts cannot reach one another.
const ALL_FROM_HERE: &str = "a --fanout of as many as there are hosts starts all agents from here";

/// Agents that listen.
#[derive(Debug)]
pub struct Agents {
    /// Their hosts' names, in the order in which they were asked for.
    pub names: Vec<String>,
    pub(crate) tree: Tree,
    /// One for each branch of the tree.
    pub(crate) links: Vec<(Link, Process)>,
    /// How they were launched.
    pub(crate) wanted: Wanted,
}

/// Hosts without an agent, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    /// The hosts; several where one cause keeps all of them.
    pub hosts: Vec<String>,
    /// What is wrong, in words.
    pub what: String,
    /// What to do, where it is another thing for each host.
    pub remedy: Option<String>,
}

impl LaunchError {
    fn new(hosts: Vec<String>, what: impl Into<Cause>) -> LaunchError {
        let Cause { what, remedy } = what.into();
        LaunchError { hosts, what, remedy }
    }

    /// What is wrong, and what to do.
    pub(crate) fn words(self) -> String {
        match self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.what),
            None => self.what,
        }
    }

    /// The same with several hosts in one error where one cause keeps all of them. The remedy is
    /// that of the first.
    pub fn by_cause(errors: &[LaunchError]) -> Vec<LaunchError> {
        let mut causes: Vec<LaunchError> = Vec::new();
        for error in errors {
            match causes.iter_mut().find(|cause| cause.what == error.what) {
                Some(cause) => cause.hosts.extend_from_slice(&error.hosts),
                None => causes.push(error.clone()),
            }
        }
        causes
    }
}

/// Why a host has no agent.
struct Cause {
    what: String,
    remedy: Option<String>,
}

impl From<String> for Cause {
    fn from(what: String) -> Cause {
        Cause { what, remedy: None }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = hostlist::compress(&self.hosts);
        match self.hosts.len() {
            0 | 1 => write!(f, "host {named}: {}", self.what)?,
            several => write!(f, "{several} hosts ({named}): {}", self.what)?,
        }
        self.remedy.iter().try_for_each(|remedy| write!(f, "; {remedy}"))
    }
}

impl std::error::Error for LaunchError {}

/// Starts an agent on every host, many at a time; those of large fleets by agents that were started
/// before.
///
/// # Errors
/// Every host that has none, with the reason; the others' agents have ended then.
pub fn launch(wanted: &Wanted) -> Result<Agents, Vec<LaunchError>> {
    let all = |what: String| vec![LaunchError::new(wanted.hosts.clone(), what)];
    if let Some(twice) = twice(&wanted.hosts).filter(|_| wanted.via != Via::Local) {
        let what = "is named twice; name each host once".to_owned();
        return Err(vec![LaunchError::new(vec![twice.to_owned()], what)]);
    }
    let binary = Binary::own()
        .map_err(|error| all(format!("our own program cannot be read: {error}; start again")))?;
    let count = wanted.hosts.len();
    match (wanted.fanout, &wanted.via) {
        (Some(fanout), _) => launch_tree(wanted, &binary, fanout as usize),
        // A pod has no right to reach another, and a machine no network.
        (None, Via::Kubernetes { .. } | Via::Sockets(_)) => launch_tree(wanted, &binary, count),
        (None, _) => {
            let fanout = tree::automatic(count);
            let agents = launch_tree(wanted, &binary, fanout);
            // Hosts that we reach need not reach one another: nobody asked for that, so it is no
            // mistake of theirs.
            if fanout < count {
                agents.or_else(|_| launch_tree(wanted, &binary, count))
            } else {
                agents
            }
        }
    }
}

/// Starts the first agent of each branch, and has it start the others.
fn launch_tree(
    wanted: &Wanted,
    binary: &Binary,
    fanout: usize,
) -> Result<Agents, Vec<LaunchError>> {
    let tree = Tree::new(wanted.hosts.len(), fanout);
    let branches: Vec<_> = tree.branches().collect();
    let heads: Vec<String> =
        branches.iter().map(|hosts| wanted.hosts[hosts.start].clone()).collect();
    let launched = on_each(&heads, |branch, host| {
        let hosts = branches[branch].clone();
        let allow = wanted.allow.get(hosts.start).map_or(&[][..], Vec::as_slice);
        let one = launch_one(wanted, binary, host, &arguments(allow, hosts.len() > 1));
        let (link, process) = one.map_err(|cause| match &wanted.by {
            Some(relay) => {
                let words = LaunchError::new(Vec::new(), cause).words();
                let from = format!("from {relay}, which was to start its agent");
                format!("{words} {from}; {ALL_FROM_HERE}").into()
            }
            None => cause,
        })?;
        let below = hosts.start + 1..hosts.end;
        let share = (!below.is_empty()).then(|| Wanted {
            hosts: wanted.hosts[below.clone()].to_vec(),
            allow: wanted
                .allow
                .get(below.start..below.end.min(wanted.allow.len()))
                .unwrap_or_default()
                .to_vec(),
            fanout: Some(u32::try_from(fanout).unwrap_or(u32::MAX)),
            by: Some(host.to_owned()),
            ..wanted.clone()
        });
        Ok((link, process, share))
    })?;
    if launched.iter().all(|(_, _, share)| share.is_none()) {
        let links = launched.into_iter().map(|(link, process, _)| (link, process)).collect();
        return Ok(Agents { names: wanted.hosts.clone(), tree, links, wanted: wanted.clone() });
    }
    // Each tells of many hosts at once; so the errors are of the lists, not of the heads.
    let results = in_parallel(launched, |(link, process, share)| match share {
        None => Ok((link, process)),
        Some(share) => adopt(link, share).map(|link| (link, process)),
    });
    let (mut links, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(end) => links.push(end),
            Err(these) => errors.extend(these),
        }
    }
    if errors.is_empty() {
        Ok(Agents { names: wanted.hosts.clone(), tree, links, wanted: wanted.clone() })
    } else {
        Err(errors)
    }
}

/// Has an agent start others.
fn adopt(link: Link, share: Wanted) -> Result<Link, Vec<LaunchError>> {
    let levels = tree::levels(share.hosts.len(), share.fanout.unwrap_or(1) as usize);
    // Each level may have to copy the program, a few times one after the other where it is wide.
    let rounds = share.hosts.len().div_ceil(AT_ONCE).max(levels);
    let within = (ANSWER * 2 + COPY).saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX));
    let (hosts, relay) = (share.hosts.clone(), share.by.clone().unwrap_or_default());
    let all = |what: &str| {
        let what = format!("{relay}, which was to start its agent, {what}; {ALL_FROM_HERE}");
        vec![LaunchError::new(hosts.clone(), what)]
    };
    let (outlet, mut inlet) = link.split();
    outlet.send(&ToAgent::Adopt(Box::new(share))).map_err(|_| all("does not listen"))?;
    let (found, result) = sync_channel(1);
    // Reading blocks, so another thread does it; if it is too late, the process is ended, and the
    // thread with it.
    thread::spawn(move || {
        let answer = inlet.receive::<FromAgent>();
        let _ = found.send((inlet, answer));
    });
    match result.recv_timeout(within) {
        Ok((inlet, Ok(FromAgent::Adopted(errors)))) if errors.is_empty() => {
            Ok(Link::of(outlet, inlet))
        }
        Ok((_, Ok(FromAgent::Adopted(errors)))) => {
            let error = |(number, what): (u32, String)| {
                let host = hosts.get(number as usize).cloned().unwrap_or_default();
                LaunchError::new(vec![host], what)
            };
            Err(errors.into_iter().map(error).collect())
        }
        Ok((_, Err(LinkError::Closed))) => Err(all("ended")),
        Ok(_) => Err(all("does not answer as it should")),
        Err(_) => Err(all("does not answer")),
    }
}

/// Does something with each, all at the same time, in their order.
fn in_parallel<T: Send, R: Send>(items: Vec<T>, one: impl Fn(T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let threads: Vec<_> = items.into_iter().map(|item| scope.spawn(|| one(item))).collect();
        // A panic of ours goes on as one.
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Removes the copies of the program from every host.
///
/// # Errors
/// Every host where they may still be, with the reason.
pub fn forget(via: &Via, hosts: &[String]) -> Result<(), Vec<LaunchError>> {
    let one = |_, host: &str| {
        let (mut started, answer) = Started::new(via.command(host, &script::forget()))
            .map_err(|error| cannot_start(via, &error))?
            .expect(ANSWER, Answer::of)
            .map_err(|what| Cause { what, remedy: Some(via.remedy(host)) })?;
        if let Answer::Refused(refusal) = answer {
            return Err(refused(&refusal, started).into());
        }
        drop(started.input.take());
        started.process.finish(ANSWER);
        Ok(())
    };
    on_each(hosts, one).map(|_| ())
}

/// Does something for each host, so many at a time, in their order.
fn on_each<T: Send>(
    hosts: &[String],
    one: impl Fn(usize, &str) -> Result<T, Cause> + Sync,
) -> Result<Vec<T>, Vec<LaunchError>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<T, Cause>>>> =
        Mutex::new(hosts.iter().map(|_| None).collect());
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
            Err(what) => bad.push(LaunchError::new(vec![host.clone()], what)),
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
fn arguments(allow: &[String], is_relay: bool) -> Vec<String> {
    let mut arguments = vec!["agent".to_owned()];
    for path in allow {
        arguments.extend(["--allow".to_owned(), path.clone()]);
    }
    arguments.extend(is_relay.then(|| "--relay".to_owned()));
    arguments
}

fn launch_one(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
) -> Result<(Link, Process), Cause> {
    for attempt in 0..2 {
        match ask(wanted, binary, host, arguments)? {
            (started, Answer::Agent { protocol, version, hash }) => {
                let is_copied = wanted.agent.is_none() && !wanted.via.has_program();
                if is_copied && hash != binary.hash && attempt == 0 {
                    // Somebody changed the copy; it gets one more chance.
                    drop(started);
                    copy(wanted, binary, host)?;
                    continue;
                }
                check(wanted, binary, protocol, &version, &hash)?;
                let Started { process, input, output } = started;
                let Some(input) = input else {
                    return Err("its agent does not listen; start again".to_owned().into());
                };
                let (link, _) = over(output, input);
                return Ok((link, process));
            }
            (_, Answer::Missing { system }) if !script::runs_here(&system) => {
                return Err(format!(
                    "runs {system}, and this program is for Linux on {}; put a program for it \
                     there and name it with --agent PATH",
                    std::env::consts::ARCH
                )
                .into());
            }
            (started, Answer::Refused(refusal)) => {
                return Err(refused(&refusal, started).into());
            }
            (started, Answer::Missing { .. } | Answer::Stored) => {
                drop(started);
                copy(wanted, binary, host)?;
            }
        }
    }
    Err("lacks the program although it was copied there; put it there yourself and name it with \
         --agent PATH"
        .to_owned()
        .into())
}

fn ask(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
) -> Result<(Started, Answer), Cause> {
    let command = match (&wanted.agent, wanted.via.direct(arguments)) {
        (Some(path), _) => wanted.via.command(host, &script::start_at(path, arguments)),
        (None, Some(direct)) => direct,
        (None, None) => wanted.via.command(host, &script::start(&binary.hash, arguments)),
    };
    let started = Started::new(command).map_err(|error| cannot_start(&wanted.via, &error))?;
    let answer = started.expect(ANSWER, Answer::of);
    answer.map_err(|why| {
        let remedy = match &wanted.agent {
            Some(path) => {
                format!(
                    "check that {} is plimsoll there (--agent), and that the host is reached",
                    path.display()
                )
            }
            None => wanted.via.remedy(host),
        };
        Cause { what: format!("no agent could be started: {why}"), remedy: Some(remedy) }
    })
}

/// Whether an agent is one of ours.
fn check(
    wanted: &Wanted,
    binary: &Binary,
    protocol: u32,
    version: &str,
    hash: &str,
) -> Result<(), String> {
    if !Answer::speaks(protocol) || version != wanted.version {
        let ours = &wanted.version;
        return Err(format!(
            "its agent is version {version}, and this is {ours}; put the same version there"
        ));
    }
    let is_copied = wanted.agent.is_none() && !wanted.via.has_program();
    if is_copied && hash != binary.hash {
        let what = "its copy of the program is not what was sent there";
        return Err(format!(
            "{what}; remove it with `plimsoll clean --hosts`, and look who else writes there"
        ));
    }
    Ok(())
}

/// Why a host starts nothing, with what it wrote to its standard error.
fn refused(refusal: &Refusal, started: Started) -> String {
    let Started { mut process, input, .. } = started;
    drop(input);
    process.finish(ANSWER);
    refusal.words(&process.words().wait())
}

/// Brings the program to a host. It is there whole or not at all.
fn copy(wanted: &Wanted, binary: &Binary, host: &str) -> Result<(), String> {
    let script = script::store(&binary.hash, &script::part_name(host, by_chance()));
    send(&wanted.via, wanted.via.command(host, &script), binary, COPY)
}

/// Bits that no other copy of a program has, here or elsewhere.
fn by_chance() -> u128 {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    half() << 64 | half()
}

/// Has `store` take the program from its standard input. It has so long for all of it: a host that
/// stands still holds nobody.
fn send(via: &Via, store: Command, binary: &Binary, within: Duration) -> Result<(), String> {
    let failed = |why: String| {
        format!(
            "the program cannot be copied there: {why}; check its space and permissions, or name \
             a copy with --agent PATH"
        )
    };
    let mut started = Started::new(store).map_err(|error| cannot_start(via, &error))?;
    let mut file = File::open(&binary.path).map_err(|error| failed(error.to_string()))?;
    let taken = Arc::new(AtomicU64::new(0));
    if let Some(mut input) = started.input.take() {
        let taken = taken.clone();
        // Writing blocks, so another thread does it; if it is too late, the process is ended, and
        // the thread with it. If it breaks off, the host says why. The end of its input tells it
        // that this is all.
        thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            while let Ok(read @ 1..) = file.read(&mut chunk) {
                if input.write_all(&chunk[..read]).is_err() {
                    return;
                }
                taken.fetch_add(read as u64, Ordering::Relaxed);
            }
        });
    }
    let stored = started.expect(within, Answer::of).map_err(|why| {
        let taken = Bytes(taken.load(Ordering::Relaxed));
        failed(format!("{why}; it took {taken} of {}", Bytes(binary.length)))
    });
    match stored? {
        (started, Answer::Refused(refusal)) => Err(refused(&refusal, started)),
        (mut started, _) => {
            started.process.finish(ANSWER);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
