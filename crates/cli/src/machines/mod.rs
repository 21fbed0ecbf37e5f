//! Virtual machines that carry a run: made before it, and removed after it whatever ends it.

mod below;
mod imagined;
mod reach;

pub(crate) use below::Below;
pub(crate) use reach::Nodes;

use crate::args::{HostArgs, MachineArgs, VmsUpArgs, WorkArgs};
use crate::failure::Failure;
use crate::making::while_making;
use fleet::launch::{Binary, Via};
use form::Auto;
use model::machines::placement::{PlacedOn, placed};
use model::machines::{Accelerator, BootTime, MachinesMade, MachinesWanted, OnNode, ProviderKind};
use model::plan::PlanNote;
use model::scale::Scale;
use model::{Fact, Fraction, ScaleArg};
use provision::deployment::{self, Held, Needs, Order};
use provision::nodes::{self, NodeNeeds, NodeOrder};
use provision::{Deployment, Ground, OnNodes, Places, Problem, providers};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use suite::Spec;

/// What `--hosts` begins with where it names machines of ours.
pub(crate) const HOSTS: &str = "vms:";

/// The machines that are removed when this process ends.
static MADE: Mutex<Option<Held>> = Mutex::new(None);

pub(crate) struct Guard(());

impl Drop for Guard {
    fn drop(&mut self) {
        call_off();
    }
}

/// Removes the machines that are to go with this process. Nobody else's removal is overtaken: who
/// comes second waits.
pub(crate) fn call_off() {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = made.take() {
        let name = held.deployment.name.clone();
        if let Err(problem) = remove(held) {
            eprintln!(
                "error: the machines {name} are still there: {problem}\nremove them with \
                 `plimsoll vms down {name}`"
            );
        }
    }
}

pub(crate) fn remove(held: Held) -> Result<(), Problem> {
    match (providers::of(&held.deployment), &held.deployment.ground) {
        (Some(provider), _) => held.remove(&*provider),
        (None, Ground::Nodes(on)) => nodes::down(&Nodes::of(on), held),
        (None, _) => Ok(()),
    }
}

pub(crate) fn down(places: &Places, name: &str) -> Result<(), Problem> {
    match deployment::hold(places, name)? {
        Some(held) => remove(held),
        None => deployment::down(places, name),
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        let text = format!("error: {problem}");
        match problem {
            Problem::Stopped => Failure::Interrupted(problem.to_string()),
            Problem::Unknown { .. } | Problem::NoMachine { .. } | Problem::Homeless => {
                Failure::Usage(text)
            }
            _ => Failure::Target(text),
        }
    }
}

/// What machines boot: the guest of our own with a kernel that is found, unless something is named.
#[derive(Clone, Copy)]
pub(crate) struct BootArgs<'a> {
    pub(crate) kernel: Option<&'a Path>,
    /// A cloud image instead.
    pub(crate) image: Option<&'a Path>,
}

pub(crate) struct Wanted {
    machines: MachinesWanted,
    /// What runs the guests is what all nodes have: nobody said it.
    is_auto: bool,
    provider: ProviderKind,
    connect: String,
    template: String,
    pool: Option<String>,
    kernel: Option<PathBuf>,
    image: Option<PathBuf>,
    program: String,
    places: Places,
    /// By how much their disks and memory are smaller than the suite's.
    scale: Fraction,
    /// The nodes that make them; none is this machine.
    nodes: Vec<PlacedOn>,
    launcher: Vec<String>,
}

/// What making machines takes, here or of each node.
pub(crate) enum Taken {
    Here(Box<Needs>),
    Nodes(Vec<NodeNeeds>),
}

impl Wanted {
    /// What a suite asks for, with smaller disks and memory.
    pub(crate) fn of(
        spec: &Spec,
        provider: ProviderKind,
        boots: BootArgs<'_>,
        scale: Fraction,
    ) -> Result<Wanted, Failure> {
        let vms = &spec.vms;
        let program = Binary::own().map_err(|error| {
            Failure::run(format!("our own program cannot be read: {error}; start again"))
        })?;
        let count = vms.count.value.0;
        let usage = |error: model::units::UnitError| Failure::usage(error);
        let names = match vms.nodes.value.trim() {
            "" => Vec::new(),
            list => model::hostlist::expand(list).map_err(usage)?,
        };
        let has_nodes = !names.is_empty() || !vms.place.value.0.is_empty();
        if has_nodes && !matches!(provider, ProviderKind::Qemu | ProviderKind::Libvirt) {
            return Err(Failure::usage(
                "this provider places machines itself; leave out vms.nodes and \
                        vms.place",
            ));
        }
        // Where nobody wrote one, a provider that has its own runs guests with it.
        let (accelerator, is_auto) =
            match (&vms.accelerator.value, provider.copies(&vms.template.value)) {
                (Auto::Fixed(accelerator), _) => (*accelerator, false),
                (Auto::Auto, true) => (Accelerator::Native, false),
                // Until the nodes are asked.
                (Auto::Auto, false) => (Accelerator::Tcg, true),
            };
        Ok(Wanted {
            machines: MachinesWanted {
                name: vms.name.value.clone(),
                numbers: (1..=count).collect(),
                vcpus: vms.vcpus.value.0,
                accelerator,
                memory: vms.memory.value,
                disks: vms.disks.value.0,
                disk_size: vms.disk_size.value,
                bus: vms.bus.value,
                cache: vms.cache.value,
                content: vms.content.value,
                allocation: vms.allocation.value,
                boot: vms.boot.value,
            }
            .scaled(scale),
            is_auto,
            provider,
            connect: vms.connect.value.clone(),
            template: vms.template.value.clone(),
            pool: Some(vms.pool.value.clone()).filter(|pool| !pool.is_empty()),
            kernel: boots.kernel.map(Path::to_owned),
            image: boots.image.map(Path::to_owned),
            program: program.hash,
            scale,
            places: Places::of_user()?,
            nodes: placed(count, &names, &vms.place.value.0).map_err(usage)?,
            launcher: vms.launcher.value.split_whitespace().map(str::to_owned).collect(),
        })
    }

    fn order(&self) -> Order<'_> {
        Order {
            wanted: &self.machines,
            pool: self.pool.as_deref(),
            program: &self.program,
            kernel: self.kernel.as_deref(),
            image: self.image.as_deref(),
            places: &self.places,
            token: None,
            asks_for_kvm: self.is_auto,
        }
    }

    /// The nodes with their machines; `None` is this machine.
    fn on_nodes(&self) -> Option<OnNodes> {
        let name = |number: &u32| format!("{}-{number}", self.machines.name);
        let part = |placed: &PlacedOn| OnNode {
            node: placed.node.clone(),
            machines: placed.numbers.iter().map(name).collect(),
        };
        let parts: Vec<OnNode> = self.nodes.iter().map(part).collect();
        let launcher = self.launcher.clone();
        (!parts.is_empty()).then_some(OnNodes { launcher, provider: self.provider, parts })
    }

    fn of_node(&self, node: &str, token: &str) -> NodeOrder {
        let numbers = self.nodes.iter().find(|placed| placed.node == node);
        let numbers = numbers.map(|placed| placed.numbers.clone()).unwrap_or_default();
        NodeOrder {
            wanted: MachinesWanted { numbers, ..self.machines.clone() },
            provider: self.provider,
            connect: self.connect.clone(),
            pool: self.pool.clone(),
            kernel: self.kernel.clone(),
            image: self.image.clone(),
            token: token.to_owned(),
            program: self.program.clone(),
            asks_for_kvm: self.is_auto,
        }
    }

    /// What they would take; nothing is made. Where nobody said what runs the guests, they have the
    /// processor's own virtualisation if all nodes do.
    pub(crate) fn needs(&mut self) -> Result<Taken, Failure> {
        let taken = self.taken()?;
        if self.is_auto {
            let has_kvm = match &taken {
                Taken::Here(needs) => needs.has_kvm == Some(true),
                Taken::Nodes(all) => all.iter().all(|needs| needs.has_kvm == Some(true)),
            };
            self.machines.accelerator = if has_kvm { Accelerator::Kvm } else { Accelerator::Tcg };
            // It is known now.
            self.is_auto = false;
        }
        Ok(taken)
    }

    fn taken(&self) -> Result<Taken, Problem> {
        let Some(on) = self.on_nodes() else {
            let provider = providers::named(self.provider, &self.connect, &self.template);
            let needs = deployment::needs(&*provider, &self.order())?;
            return Ok(Taken::Here(Box::new(needs)));
        };
        let needs = nodes::needs(&Nodes::of(&on), &on, &|node| self.of_node(node, ""));
        needs.map(Taken::Nodes)
    }

    pub(crate) fn machines(&self) -> &MachinesWanted {
        &self.machines
    }

    pub(crate) fn has_image(&self) -> bool {
        self.image.is_some()
    }

    /// By how much their disks and memory are smaller than the suite's.
    pub(crate) fn scale(&self) -> Fraction {
        self.scale
    }

    pub(crate) fn provider(&self) -> ProviderKind {
        self.provider
    }

    pub(crate) fn template(&self) -> Option<&str> {
        self.provider.copies(&self.template).then_some(&self.template)
    }

    /// The machines of each node; none is this machine.
    pub(crate) fn nodes(&self) -> Vec<OnNode> {
        self.on_nodes().map(|on| on.parts).unwrap_or_default()
    }

    /// Makes them, and says so on standard error unless `quiet`. A signal stops that, and nothing
    /// is left.
    pub(crate) fn make(&mut self, quiet: bool) -> Result<Held, Failure> {
        // What is refused was not begun.
        self.needs()?;
        let making = while_making("the machines are removed", "plimsoll vms list");
        if !quiet {
            let (wanted, disks) = (&self.machines, self.machines.disk_bytes().unwrap_or_default());
            let machines = if wanted.count() == 1 { "machine" } else { "machines" };
            eprintln!("making    {} {machines} with {disks} of disks", wanted.count());
        }
        let mut told = |boot: &BootTime| {
            if !quiet {
                eprintln!("machine   {} is up after {}", boot.machine, boot.agent);
            }
        };
        let made = self.made(&making.stop, &mut told);
        made.map_err(Failure::from)
    }

    fn made(&self, stop: &AtomicBool, told: &mut dyn FnMut(&BootTime)) -> Result<Held, Problem> {
        let Some(on) = self.on_nodes() else {
            let provider = providers::named(self.provider, &self.connect, &self.template);
            return deployment::up(&*provider, &self.order(), stop, told);
        };
        let order_of = |node: &str, token: &str| self.of_node(node, token);
        let held = nodes::up(&Nodes::of(&on), &self.order(), on, &order_of, stop)?;
        held.deployment.boots.iter().for_each(told);
        Ok(held)
    }
}

impl MachineArgs {
    pub(crate) fn boots(&self) -> BootArgs<'_> {
        BootArgs { kernel: self.guest_kernel.as_deref(), image: self.guest.as_deref() }
    }
}

impl VmsUpArgs {
    pub(crate) fn boots(&self) -> BootArgs<'_> {
        BootArgs { kernel: self.guest_kernel.as_deref(), image: self.guest.as_deref() }
    }
}

pub(crate) fn are_to_go() -> bool {
    MADE.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

pub(crate) fn scale_of(scale: Option<ScaleArg>) -> Scale {
    scale.unwrap_or_default().or(Fraction::ONE)
}

pub(crate) fn size_of(scale: Option<ScaleArg>) -> Fraction {
    scale.and_then(|scale| scale.size).unwrap_or(Fraction::ONE)
}

/// Makes the machines of a run where they were asked for, and has its hosts be these. They are
/// removed with the guard, unless they are to be kept.
pub(crate) fn for_run(
    work: &mut WorkArgs,
    spec: &Spec,
    quiet: bool,
    keep: bool,
) -> Result<Option<Guard>, Failure> {
    let Some(of) = work.machines.provider else { return Ok(None) };
    let mut wanted = Wanted::of(spec, of, work.machines.boots(), size_of(work.scale))?;
    wanted.hold(spec, scale_of(work.scale))?;
    let held = wanted.make(quiet)?;
    work.hosts.hosts = Some(format!("{HOSTS}{}", held.deployment.name));
    if keep {
        // What is not held can be removed by anybody who is asked to.
        drop(held);
        return Ok(None);
    }
    *MADE.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    Ok(Some(Guard(())))
}

/// The machines that `--hosts` names, if it names such.
pub(crate) fn named(hosts: &HostArgs) -> Result<Option<Deployment>, Failure> {
    let Some(name) = hosts.hosts.as_deref().and_then(|list| list.strip_prefix(HOSTS)) else {
        return Ok(None);
    };
    let found = Places::of_user().and_then(|places| deployment::find(&places, name));
    let unknown = || Problem::Unknown { name: name.to_owned() };
    let found = found.and_then(|found| found.ok_or_else(unknown));
    found.map(Some).map_err(Failure::from)
}

/// What the record of a run says of the machines that carry it, if machines of ours do.
pub(crate) fn note(hosts: &HostArgs) -> Option<PlanNote> {
    let found = named(hosts).ok().flatten()?;
    let (provider, nodes) = match &found.ground {
        Ground::Folders(_) => (ProviderKind::Qemu, None),
        Ground::Pools { .. } => (ProviderKind::Libvirt, None),
        Ground::Nodes(on) => (on.provider, Some(on.parts.clone())),
        Ground::Remote(at) => (at.provider, None),
    };
    let here = || {
        let machines = found.machines.iter().map(|machine| machine.name.clone()).collect();
        let node = match &found.ground {
            Ground::Pools { connect, .. } => connect.clone(),
            Ground::Remote(at) => at.site.clone(),
            _ => "this machine".to_owned(),
        };
        vec![OnNode { node, machines }]
    };
    let nodes = nodes.unwrap_or_else(here);
    Some(PlanNote {
        fact: Fact::Machines(MachinesMade {
            name: found.name.clone(),
            provider,
            nodes,
            accelerator: found.accelerator,
            cache: found.cache,
            boots: found.boots,
            go_with_run: are_to_go(),
        }),
    })
}

pub(crate) fn way(machines: &Deployment) -> Result<Via, Failure> {
    let is_ours = Binary::own().is_ok_and(|own| own.hash == machines.program);
    if !is_ours {
        return Err(Failure::target(format!(
            "another build of plimsoll made the machines {0}, and theirs is in them; make \
             them again: `plimsoll vms down {0}`, then `plimsoll vms up`",
            machines.name
        )));
    }
    let is_whole = |machine| !machines.devices_of(machine).is_empty();
    if !machines.machines.iter().all(is_whole) {
        return Err(Failure::target(format!(
            "the machines {0} were not made to their end, and their disks are not known; \
             remove them: `plimsoll vms down {0}`",
            machines.name
        )));
    }
    Ok(Via::Sockets(machines.folder.clone()))
}
