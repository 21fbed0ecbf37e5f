//! Machines on several nodes: what the coordinator asks of each, and what it answers. On each node
//! this same program makes, finds and removes the machines there; only the way to it is somebody
//! else's.

mod group;

pub use group::{Reach, down, list, needs, on_machines, up};

use crate::deployment::{self, Done, Order};
use crate::provider::State;
use crate::{Outcome, Places, Problem, providers};
use model::Bytes;
use model::machines::{BootTime, HostCpu, MachineAct, MachinesWanted, NodeCounts, ProviderKind};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What a node is asked; one a line, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// What machines would take.
    Needs(NodeOrder),
    /// Makes them.
    Up(NodeOrder),
    /// What they do.
    List {
        /// Their name.
        name: String,
        /// What tells them from all others.
        token: String,
    },
    /// Does something to some of them.
    Act {
        /// Their name.
        name: String,
        /// What tells them from all others.
        token: String,
        /// Which; none is all.
        machines: Vec<String>,
        /// What.
        act: MachineAct,
        /// The pool to which disks move, or the node to which machines migrate.
        to: Option<String>,
    },
    /// Removes them, if they are there.
    Down {
        /// Their name.
        name: String,
        /// What tells them from all others.
        token: String,
    },
}

/// Machines that one node is to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOrder {
    /// The machines.
    pub wanted: MachinesWanted,
    /// Who makes them there.
    pub provider: ProviderKind,
    /// The libvirt there.
    pub connect: String,
    /// The pool there.
    pub pool: Option<String>,
    /// The kernel for guests there.
    pub kernel: Option<PathBuf>,
    /// The cloud image there that they boot instead.
    pub image: Option<PathBuf>,
    /// What tells the machines from all others.
    pub token: String,
    /// The hash of the program that is to be in the guests.
    pub program: String,
    /// Whether KVM works there is to be found out.
    #[serde(default)]
    pub asks_for_kvm: bool,
}

/// What a node answers; one a line, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// What machines would take there.
    Needs(NodeNeeds),
    /// They are up.
    Up {
        /// How long each took.
        boots: Vec<BootTime>,
    },
    /// What they do.
    Listed {
        /// Each machine.
        machines: Vec<Listed>,
        /// What the node's kernel counted until now.
        #[serde(default)]
        counts: NodeCounts,
    },
    /// It was done.
    Acted {
        /// To whom.
        done: Vec<Done>,
    },
    /// None of them is there any more.
    Gone,
    /// It cannot be done.
    Refused {
        /// Why, with a remedy.
        said: String,
    },
}

/// What machines would take of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeNeeds {
    /// Memory of all machines there.
    pub memory: Bytes,
    /// What programs could still take.
    pub memory_available: Bytes,
    /// Bytes of all disks there.
    pub disks: Bytes,
    /// What the pool has free.
    pub disks_free: Bytes,
    /// Where the disks would be.
    pub place: PathBuf,
    /// The kernel, or the image that they boot.
    pub kernel: PathBuf,
    /// Whether guests would run on the processor's own virtualisation.
    #[serde(default)]
    pub has_kvm: Option<bool>,
}

/// A machine and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub machine: String,
    /// What it does.
    pub state: State,
    /// The CPU time that its hypervisor spent on it.
    pub cpu: Option<HostCpu>,
}

/// The machines of a node, and what its kernel counted until now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfNode {
    /// Each machine.
    pub machines: Vec<Listed>,
    /// The node's own counts.
    pub counts: NodeCounts,
}

/// What the kernel of this machine counted until now.
pub fn counts_here() -> NodeCounts {
    crate::node_counts::here()
}

/// Does what a coordinator asks of this node. `stop` ends the making of machines, and nothing of
/// them is left then.
pub fn answer(places: &Places, request: &Request, stop: &AtomicBool) -> Answer {
    let answered = match request {
        Request::Needs(order) => needs_here(places, order),
        Request::Up(order) => up_here(places, order, stop),
        Request::List { name, token } => list_here(places, name, token),
        Request::Act { name, token, machines, act, to } => is_theirs(places, name, token)
            .and_then(|()| deployment::act(places, name, machines, *act, to.as_deref()))
            .map(|done| Answer::Acted { done }),
        Request::Down { name, token } => down_here(places, name, token),
    };
    answered.unwrap_or_else(|problem| Answer::Refused { said: problem.to_string() })
}

fn with<T>(places: &Places, order: &NodeOrder, act: impl FnOnce(&Order<'_>) -> T) -> T {
    act(&Order {
        wanted: &order.wanted,
        pool: order.pool.as_deref(),
        program: &order.program,
        kernel: order.kernel.as_deref(),
        image: order.image.as_deref(),
        places,
        token: Some(&order.token),
        asks_for_kvm: order.asks_for_kvm,
    })
}

fn needs_here(places: &Places, order: &NodeOrder) -> Outcome<Answer> {
    let provider = providers::named(order.provider, &order.connect, "");
    let needs = with(places, order, |order| deployment::needs(&*provider, order))?;
    Ok(Answer::Needs(NodeNeeds {
        memory: needs.memory,
        memory_available: needs.memory_available,
        disks: needs.disks,
        disks_free: needs.room.free,
        place: needs.room.place,
        kernel: needs.guest.file().to_owned(),
        has_kvm: needs.has_kvm,
    }))
}

fn up_here(places: &Places, order: &NodeOrder, stop: &AtomicBool) -> Outcome<Answer> {
    if !crate::record::is_token(&order.token) || !crate::record::is_plain(&order.wanted.name) {
        return Err(Problem::Unknown { name: order.wanted.name.clone() });
    }
    let provider = providers::named(order.provider, &order.connect, "");
    let held = with(places, order, |order| deployment::up(&*provider, order, stop, &mut |_| ()))?;
    Ok(Answer::Up { boots: held.deployment.boots.clone() })
}

/// Refuses machines of the same name that another coordinator had made here.
fn is_theirs(places: &Places, name: &str, token: &str) -> Outcome {
    match deployment::find(places, name)? {
        Some(found) if found.token != token => {
            let why = "has machines that another coordinator had made";
            Err(Problem::NotOurs { path: found.folder, why })
        }
        _ => Ok(()),
    }
}

fn list_here(places: &Places, name: &str, token: &str) -> Outcome<Answer> {
    is_theirs(places, name, token)?;
    let found = deployment::find(places, name)?;
    let machines = found.iter().flat_map(|found| {
        let provider = providers::of(found);
        found.machines.iter().map(move |machine| Listed {
            machine: machine.name.clone(),
            state: provider.as_ref().map_or(State::Absent, |by| by.state(found, machine)),
            cpu: provider.as_ref().and_then(|by| by.cpu(found, machine)),
        })
    });
    Ok(Answer::Listed { machines: machines.collect(), counts: counts_here() })
}

fn down_here(places: &Places, name: &str, token: &str) -> Outcome<Answer> {
    match is_theirs(places, name, token).and_then(|()| deployment::down(places, name)) {
        // Nothing was made here, or it is gone already.
        Ok(()) | Err(Problem::Unknown { .. }) => Ok(Answer::Gone),
        Err(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployment::tests::wanted;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn places(root: &tempfile::TempDir) -> Places {
        let at = |path: &str| root.path().join(path);
        Places { state: at("state"), kernels: at("kernels") }
    }

    #[test]
    fn a_node_removes_only_what_this_coordinator_had_made() {
        let root = tempfile::tempdir().expect("a folder");
        let places = places(&root);
        let stop = AtomicBool::new(false);
        let wanted = wanted("a");
        let nodes = crate::OnNodes {
            launcher: Vec::new(),
            provider: ProviderKind::Qemu,
            parts: Vec::new(),
        };
        let order = Order {
            wanted: &wanted,
            pool: None,
            program: "p",
            kernel: None,
            image: None,
            places: &places,
            token: Some(TOKEN),
            asks_for_kvm: false,
        };
        let ask = |request: &Request| answer(&places, request, &stop);
        let down = |token: &str| Request::Down { name: "a".into(), token: token.into() };
        assert_eq!(ask(&down(TOKEN)), Answer::Gone, "nothing was made");
        drop(deployment::begin_on_nodes(&order, nodes).expect("begun"));
        let other = TOKEN.replace('0', "f");
        assert!(matches!(ask(&down(&other)), Answer::Refused { said } if said.contains("another")));
        let list = Request::List { name: "a".into(), token: TOKEN.into() };
        assert!(matches!(ask(&list), Answer::Listed { machines, .. } if machines.len() == 2));
        assert_eq!(ask(&down(TOKEN)), Answer::Gone);
        assert!(!places.state.join("a").exists());
    }

    #[test]
    fn a_node_makes_nothing_without_a_whole_token() {
        let root = tempfile::tempdir().expect("a folder");
        let order = NodeOrder {
            wanted: wanted("a"),
            provider: ProviderKind::Qemu,
            connect: String::new(),
            pool: None,
            kernel: None,
            image: None,
            token: "short".into(),
            program: "p".into(),
            asks_for_kvm: false,
        };
        let stop = AtomicBool::new(false);
        let told = answer(&places(&root), &Request::Up(order), &stop);
        assert!(matches!(told, Answer::Refused { .. }));
        assert!(!root.path().join("state").exists());
    }
}
