//! Machines of one name: made all or none, listed, acted on, and removed whole.

mod making;
#[cfg(test)]
pub(crate) mod tests;

pub use making::{Needs, Order, begin_on_nodes, needs, up};

use crate::places::{self, Places};
use crate::provider::{Acted, Machine, Provider};
use crate::record::{self, Deployment, Ground};
use crate::{Outcome, Problem, providers, tool};
use model::machines::MachineAct;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

/// How long a program of a hypervisor may go on before machines are removed.
const SETTLED: Duration = Duration::from_secs(120);

/// Machines that are held: nobody else makes or removes them until this is dropped.
#[derive(Debug)]
pub struct Held {
    /// What they are.
    pub deployment: Deployment,
    pub(crate) lock: Lock,
}

impl Held {
    /// Stops and removes the machines, and all that was made for them.
    ///
    /// # Errors
    /// What could not be removed; [`down`] can be tried again.
    pub fn remove(self, provider: &dyn Provider) -> Outcome {
        let removed = take_down(provider, &self.deployment);
        drop(self.lock);
        removed
    }

    /// Forgets machines of nodes, once each node has removed its own.
    pub(crate) fn forget(self) -> Outcome {
        let removed = remove_folder(&self.deployment.folder);
        drop(self.lock);
        removed
    }
}

/// Something that was done to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The machine.
    pub machine: String,
    /// What it came to.
    pub acted: Acted,
}

/// Stops and removes the machines of a name on this machine's record, and all that was made for
/// them.
///
/// # Errors
/// There are none of the name, somebody holds them, or what could not be removed.
pub fn down(places: &Places, name: &str) -> Outcome {
    match hold(places, name)? {
        Some(held) => match providers::of(&held.deployment) {
            Some(provider) => held.remove(&*provider),
            None => held.forget(),
        },
        None => remove_folder(&places.state.join(name)),
    }
}

/// Does something to machines while they run, one after the other, and waits for its end. None are
/// named: all of them.
///
/// # Errors
/// There are none of the name, one of them is not there, or what the hypervisor said.
pub fn act(
    places: &Places,
    name: &str,
    machines: &[String],
    act: MachineAct,
    to: Option<&str>,
) -> Outcome<Vec<Done>> {
    let unknown = || Problem::Unknown { name: name.to_owned() };
    let mut found = find(places, name)?.ok_or_else(unknown)?;
    let provider = providers::of(&found).ok_or_else(unknown)?;
    let chosen = chosen(&found, machines)?;
    tool::work_for(&found.folder);
    match act {
        MachineAct::Move => remember_pool(&*provider, &mut found, to)?,
        MachineAct::Migrate => remember_node(&mut found, to)?,
        _ => {}
    }
    let done = chosen.iter().map(|machine| {
        let acted = provider.act(&found, machine, act, to)?;
        Ok(Done { machine: machine.name.clone(), acted })
    });
    done.collect()
}

fn chosen(found: &Deployment, names: &[String]) -> Outcome<Vec<Machine>> {
    if names.is_empty() {
        return Ok(found.machines.clone());
    }
    let one = |name: &String| {
        let none = || Problem::NoMachine { machine: name.clone(), name: found.name.clone() };
        found.machine(name).cloned().ok_or_else(none)
    };
    names.iter().map(one).collect()
}

/// Puts the pool to which disks move on record before any of them does.
fn remember_pool(provider: &dyn Provider, found: &mut Deployment, to: Option<&str>) -> Outcome {
    let room = provider.room(to, &found.folder)?;
    change_record(found, |found| match (&mut found.ground, room.ground) {
        (Ground::Folders(known), Ground::Folders(new)) => add_new(known, new),
        (Ground::Pools { pools, .. }, Ground::Pools { pools: new, .. }) => add_new(pools, new),
        (Ground::Remote(known), Ground::Remote(new)) => add_new(&mut known.pools, new.pools),
        _ => {}
    })
}

/// Puts the node to which machines migrate on record before any of them does.
fn remember_node(found: &mut Deployment, to: Option<&str>) -> Outcome {
    let to = to.unwrap_or_default();
    if !matches!(found.ground, Ground::Pools { .. }) {
        return Err(Problem::unfit(
            "only machines of libvirt move to another node while they run",
            "make them with --provider libvirt",
        ));
    }
    if !to.contains("://") || to.starts_with('-') {
        return Err(Problem::unfit(
            format!("`{}` is no address of a libvirt", to.escape_debug()),
            "write one such as qemu+ssh://host/system",
        ));
    }
    change_record(found, |found| {
        if let Ground::Pools { connect, others, .. } = &mut found.ground
            && connect != to
        {
            add_new(others, vec![to.to_owned()]);
        }
    })
}

/// Changes what is on record. What another process put there meanwhile stays: who makes or loads
/// machines holds them, and disks are moved beside that.
pub(crate) fn change_record(
    known: &mut Deployment,
    change: impl FnOnce(&mut Deployment),
) -> Outcome {
    let state = known.folder.parent().unwrap_or(&known.folder);
    let cannot = |error: std::io::Error| Problem::file("lock", state, &error);
    let file = File::open(state).map_err(cannot)?;
    // Held for a moment, so that it is waited for; closing the file ends it.
    let locked = rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive));
    locked.map_err(|error| cannot(error.into()))?;
    if let Some(recorded) = Deployment::read(&known.folder)? {
        *known = recorded;
    }
    change(known);
    known.write()
}

fn add_new<T: PartialEq>(known: &mut Vec<T>, new: Vec<T>) {
    for one in new {
        if !known.contains(&one) {
            known.push(one);
        }
    }
}

/// Holds the machines of a name; `None` where their making had only begun.
///
/// # Errors
/// There are none of the name, or somebody holds them.
pub fn hold(places: &Places, name: &str) -> Outcome<Option<Held>> {
    let folder = places.state.join(name);
    if !record::is_plain(name) || folder.symlink_metadata().is_err() {
        return Err(Problem::Unknown { name: name.to_owned() });
    }
    places::is_ours(&folder)?;
    let lock = lock(&folder, name)?;
    let deployment = Deployment::read(&folder)?;
    Ok(deployment.map(|deployment| Held { deployment, lock }))
}

/// What is on record of a name, whoever holds it; `None` where making had only begun.
///
/// # Errors
/// There is nothing of the name, or it is not ours.
pub fn find(places: &Places, name: &str) -> Outcome<Option<Deployment>> {
    let folder = places.state.join(name);
    if !record::is_plain(name) || folder.symlink_metadata().is_err() {
        return Err(Problem::Unknown { name: name.to_owned() });
    }
    Deployment::read(&folder)
}

/// What is on record in a folder; `None` where making had only begun.
///
/// # Errors
/// There is no record of ours.
pub fn of_folder(folder: &Path) -> Outcome<Option<Deployment>> {
    Deployment::read(folder)
}

/// The names of all machines that are on record, in order.
///
/// # Errors
/// The state folder cannot be read, or is not ours.
pub fn names(places: &Places) -> Outcome<Vec<String>> {
    let state = &places.state;
    if state.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    places::is_ours(state)?;
    let entries = fs::read_dir(state).map_err(|error| Problem::file("read", state, &error))?;
    let names =
        entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| record::is_plain(name)).collect();
    names.sort();
    Ok(names)
}

/// Everything in the reverse order of its making; the record goes last.
pub(crate) fn take_down(provider: &dyn Provider, deployment: &Deployment) -> Outcome {
    // What a hypervisor was asked for and did not do yet would come behind the removal.
    if let Some(pid) = tool::settle(&deployment.folder, SETTLED) {
        return Err(Problem::StillWorking { name: deployment.name.clone(), pid });
    }
    // Disks and machines that moved since are where the record alone says.
    let recorded = Deployment::read(&deployment.folder)?;
    let found = recorded.as_ref().unwrap_or(deployment);
    found.machines.iter().try_for_each(|machine| provider.remove(found, machine))?;
    provider.clear(found)?;
    remove_file(&deployment.folder.join(record::IMAGE))?;
    remove_folder(&deployment.folder)
}

/// Removes the folder of a record, with the record.
fn remove_folder(folder: &Path) -> Outcome {
    remove_file(&folder.join(record::PART))?;
    remove_file(&folder.join(record::FILE))?;
    fs::remove_dir(folder).map_err(|error| Problem::file("remove", folder, &error))
}

fn remove_file(path: &Path) -> Outcome {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::file("remove", path, &error))
        }
        _ => Ok(()),
    }
}

/// A folder that is held until this is dropped, or the process ends.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that another thread starts at this moment has
        // the file, too, until it runs.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Holds a folder, if nobody else does.
pub(crate) fn lock(folder: &Path, name: &str) -> Outcome<Lock> {
    let file = File::open(folder).map_err(|error| Problem::file("read", folder, &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Problem::Busy { name: name.to_owned() }),
        Err(error) => Err(Problem::file("lock", folder, &error.into())),
    }
}
