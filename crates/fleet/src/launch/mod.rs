//! Starts agents: on whatever can run a command on a host and hold its standard streams.

mod binary;
mod copies;
mod discover;
mod one;
mod outcome;
mod process;
mod program;
mod script;
mod silence;
mod slurm;
mod spread;
mod trouble;
mod via;
pub(crate) mod wanted;

pub use binary::Binary;
pub use copies::{Copying, copying};
pub use discover::pods;
pub use outcome::{LaunchError, Missing, Start};
pub use process::{LastWords, Process};
pub use program::Program;
pub use script::{greeting, not_held};
pub use slurm::{SlurmJob, SlurmRequest};
pub use spread::Told;
pub use via::Via;
pub use wanted::{Hold, Wanted};

use crate::link::{Inlet, Link, Outlet};
use crate::tree::{self, Tree};
use one::{cannot_start, refused};
use process::Started;
use script::Answer;
use spread::{Spread, Task, spread};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a host may take to answer.
const ANSWER: Duration = Duration::from_secs(60);
/// How long it may take to receive the binary and to check it.
const COPY: Duration = Duration::from_secs(300);
/// Hosts that are reached at the same time where nobody says it: more would trip the limits of ssh
/// servers and of our own process table.
const AT_ONCE: usize = 64;

/// What helps where hosts cannot reach one another.
const ALL_FROM_HERE: &str = "a --fanout of as many as there are hosts starts all agents from here";

/// Agents that listen.
#[derive(Debug)]
pub struct Agents {
    /// The names of the hosts, in the order in which they were asked for.
    pub names: Vec<String>,
    /// Over these; who is in none of its branches has no agent.
    pub(crate) tree: Tree,
    /// One for each branch of the tree.
    pub(crate) links: Vec<(Link, Process)>,
    /// How they were launched.
    pub(crate) wanted: Wanted,
}

impl Agents {
    /// Whether the host of this number has an agent.
    pub fn has(&self, host: usize) -> bool {
        self.tree.way(host).is_some()
    }

    /// The same without the hosts that have no agent; the others close up, in their order.
    pub fn closed_up(self) -> Agents {
        let Agents { names, tree, links, wanted } = self;
        let is_there: Vec<bool> = (0..names.len()).map(|host| tree.way(host).is_some()).collect();
        let allow = wanted.allow.len();
        let wanted = Wanted {
            hosts: kept(wanted.hosts, &is_there),
            allow: kept(wanted.allow, &is_there[..allow.min(is_there.len())]),
            ..wanted
        };
        Agents { names: kept(names, &is_there), tree: tree.closed_up(), links, wanted }
    }
}

fn kept<T>(list: Vec<T>, is_kept: &[bool]) -> Vec<T> {
    list.into_iter().zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(one, _)| one).collect()
}

/// What came of starting agents.
#[derive(Debug)]
pub struct Launched {
    /// Those that were started.
    pub agents: Agents,
    /// How the start of each host's agent went, in the order in which they were asked for.
    pub starts: Vec<Start>,
}

impl Launched {
    /// The same without the hosts that have no agent; the others close up, in their order.
    pub fn closed_up(self) -> Launched {
        let Launched { agents, starts } = self;
        let is_there: Vec<bool> = (0..starts.len()).map(|host| agents.has(host)).collect();
        Launched { starts: kept(starts, &is_there), agents: agents.closed_up() }
    }

    /// Every host that has no agent, with the reason.
    pub fn errors(&self) -> Vec<LaunchError> {
        self.starts.iter().filter_map(Start::error).collect()
    }
}

/// Starts an agent on every host, many at a time; those of large fleets by agents that were started
/// before.
///
/// # Errors
/// Every host that has none, with the reason; the others' agents have ended then.
pub fn launch(wanted: &Wanted) -> Result<Agents, Vec<LaunchError>> {
    let launched = launch_some(wanted, &|_, _| {})?;
    match launched.errors() {
        errors if errors.is_empty() => Ok(launched.agents),
        errors => Err(errors),
    }
}

/// Starts an agent on every host where that is possible. `told` hears of each try in vain.
///
/// # Errors
/// What keeps all of them: a host that is named twice, or that this program cannot be read.
pub fn launch_some(wanted: &Wanted, told: &Told<'_>) -> Result<Launched, Vec<LaunchError>> {
    launch_but(wanted, &[], told)
}

/// The same without these hosts, of which it is known already that they have none.
///
/// # Errors
/// As of [`launch_some`].
pub fn launch_but(
    wanted: &Wanted,
    gone: &[Start],
    told: &Told<'_>,
) -> Result<Launched, Vec<LaunchError>> {
    let error = |hosts: Vec<String>, what: String| vec![LaunchError { hosts, what, remedy: None }];
    if let Some(twice) = twice(&wanted.hosts).filter(|_| wanted.via != Via::Local) {
        let what = "is named twice; name each host once".to_owned();
        return Err(error(vec![twice.to_owned()], what));
    }
    let binary = Binary::own().map_err(|why| {
        let what = format!("our own program cannot be read: {why}; start again");
        error(wanted.hosts.clone(), what)
    })?;
    let count = wanted.hosts.len();
    let fanout = match (wanted.fanout, &wanted.via) {
        (Some(fanout), _) => fanout as usize,
        // A pod has no right to reach another, and a machine no network.
        (None, Via::Kubernetes { .. } | Via::Sockets(_)) => count,
        (None, _) => tree::automatic(count),
    };
    let Spread { branches, starts } = spread(&Task { wanted, binary: &binary, fanout, told }, gone);
    let (mut lists, mut links) = (Vec::new(), Vec::new());
    for branch in branches {
        lists.push(branch.hosts);
        links.push((branch.link, branch.process));
    }
    let tree = Tree::of(count, lists);
    let agents = Agents { names: wanted.hosts.clone(), tree, links, wanted: wanted.clone() };
    Ok(Launched { agents, starts })
}

/// Takes over the agent of a host, which another coordinator started and which holds out. It tells
/// again what it kept.
pub(crate) fn take_over(wanted: &Wanted, host: &str) -> Result<(Outlet, Inlet), LaunchError> {
    let error = |what: String, remedy| LaunchError { hosts: vec![host.to_owned()], what, remedy };
    let binary = Binary::own()
        .map_err(|why| error(format!("our own program cannot be read: {why}"), None))?;
    let link = one::take_over(wanted, &binary, host);
    link.map(Link::split).map_err(|missing| error(missing.what, missing.remedy))
}

/// Removes the copies of the program from every host.
///
/// # Errors
/// Every host where they may still be, with the reason.
pub fn forget(via: &Via, hosts: &[String]) -> Result<(), Vec<LaunchError>> {
    let one = |host: &str| -> Result<(), Missing> {
        let (mut started, answer) = Started::new(via.command(host, &script::forget()))
            .map_err(|error| cannot_start(via, &error))?
            .expect(ANSWER, Answer::of)
            .map_err(|what| Missing::on_the_way(what, Some(via.remedy(host)), ""))?;
        if let Answer::Refused(refusal) = answer {
            return Err(refused(&refusal, started).into());
        }
        drop(started.input.take());
        started.process.finish(ANSWER);
        Ok(())
    };
    on_each(hosts, one)
}

/// Does something for each host, so many at a time.
fn on_each(
    hosts: &[String],
    one: impl Fn(&str) -> Result<(), Missing> + Sync,
) -> Result<(), Vec<LaunchError>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Missing>>> = Mutex::new(vec![None; hosts.len()]);
    thread::scope(|scope| {
        for _ in 0..hosts.len().min(AT_ONCE) {
            scope.spawn(|| {
                while let Some((number, host)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    hosts.get(number).map(|host| (number, host))
                } {
                    let missing = one(host).err();
                    results.lock().unwrap_or_else(PoisonError::into_inner)[number] = missing;
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let errors: Vec<LaunchError> = hosts
        .iter()
        .zip(results)
        .filter_map(|(host, missing)| {
            let Missing { what, remedy, .. } = missing?;
            Some(LaunchError { hosts: vec![host.clone()], what, remedy })
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn twice(hosts: &[String]) -> Option<&str> {
    let mut sorted: Vec<&str> = hosts.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[cfg(test)]
mod tests;
