//! Virtual machines that carry a run: made before it, and removed after it whatever ends it.

use crate::args::{HostArgs, MachineArgs, ProviderArg, WorkArgs};
use crate::failure::Failure;
use crate::making::while_making;
use fleet::launch::{Binary, Via};
use model::machines::MachinesWanted;
use provision::deployment::{self, Held, Needs, Order};
use provision::provider::Provider;
use provision::qemu::Qemu;
use provision::{Deployment, Places, Problem};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use suite::Spec;

/// What `--hosts` begins with where it names machines of ours.
pub const HOSTS: &str = "vms:";

/// The machines that are removed when this process ends.
static MADE: Mutex<Option<Held>> = Mutex::new(None);

/// Removes the machines of a run when it is dropped.
pub struct Guard(());

impl Drop for Guard {
    fn drop(&mut self) {
        call_off();
    }
}

/// Removes the machines that are to go with this process. Nobody else's removal is overtaken: who
/// comes second waits.
pub fn call_off() {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = made.take() {
        let name = held.deployment.name.clone();
        if let Err(problem) = held.remove(&Qemu) {
            eprintln!("error: the machines {name} are still there: {problem}");
        }
    }
}

/// A failure in words.
pub fn failure(problem: &Problem) -> Failure {
    let text = format!("error: {problem}");
    match problem {
        Problem::Stopped => Failure::Interrupted(problem.to_string()),
        Problem::Unknown { .. } | Problem::Homeless => Failure::Usage(text),
        _ => Failure::Target(text),
    }
}

/// The provider of that name.
pub fn provider(of: ProviderArg) -> &'static dyn Provider {
    match of {
        ProviderArg::Qemu => &Qemu,
    }
}

/// The machines of a suite, and what they are made with.
pub struct Wanted {
    machines: MachinesWanted,
    pool: Option<PathBuf>,
    kernel: Option<PathBuf>,
    program: String,
    places: Places,
}

impl Wanted {
    /// What a suite asks for.
    pub fn of(spec: &Spec, kernel: Option<&Path>) -> Result<Wanted, Failure> {
        let vms = &spec.vms;
        let program = Binary::own().map_err(|error| {
            Failure::Run(format!("error: our own program cannot be read: {error}; start again"))
        })?;
        Ok(Wanted {
            machines: MachinesWanted {
                name: vms.name.value.clone(),
                count: vms.count.value.0,
                vcpus: vms.vcpus.value.0,
                accelerator: vms.accelerator.value,
                memory: vms.memory.value,
                disks: vms.disks.value.0,
                disk_size: vms.disk_size.value,
                bus: vms.bus.value,
                cache: vms.cache.value,
                content: vms.content.value,
                boot: vms.boot.value,
            },
            pool: Some(PathBuf::from(&vms.pool.value)).filter(|pool| pool.is_absolute()),
            kernel: kernel.map(Path::to_owned),
            program: program.hash,
            places: Places::of_user().map_err(|problem| failure(&problem))?,
        })
    }

    fn order(&self) -> Order<'_> {
        Order {
            wanted: &self.machines,
            pool: self.pool.as_deref(),
            program: &self.program,
            kernel: self.kernel.as_deref(),
            places: &self.places,
        }
    }

    /// What they would take; nothing is made.
    pub fn needs(&self, of: ProviderArg) -> Result<Needs, Failure> {
        deployment::needs(provider(of), &self.order()).map_err(|problem| failure(&problem))
    }

    /// The machines themselves.
    pub fn machines(&self) -> &MachinesWanted {
        &self.machines
    }

    /// Makes them, and says so on standard error unless `quiet`. A signal stops that, and nothing
    /// is left.
    pub fn make(&self, of: ProviderArg, quiet: bool) -> Result<Held, Failure> {
        // What is refused was not begun.
        self.needs(of)?;
        let making = while_making();
        if !quiet {
            let (wanted, disks) = (&self.machines, self.machines.disk_bytes().unwrap_or_default());
            let machines = if wanted.count == 1 { "machine" } else { "machines" };
            eprintln!("making    {} {machines} with {disks} of disks", wanted.count);
        }
        let mut told = |name: &str| {
            if !quiet {
                eprintln!("machine   {name} is up");
            }
        };
        let made = deployment::up(provider(of), &self.order(), &making.stop, &mut told);
        made.map_err(|problem| failure(&problem))
    }
}

/// Makes the machines of a run where they were asked for, and has its hosts be these. They are
/// removed with the guard, unless they are to be kept.
pub fn for_run(
    work: &mut WorkArgs,
    spec: &Spec,
    quiet: bool,
    keep: bool,
) -> Result<Option<Guard>, Failure> {
    let MachineArgs { provider: Some(of), guest_kernel } = &work.machines else {
        return Ok(None);
    };
    let wanted = Wanted::of(spec, guest_kernel.as_deref())?;
    let held = wanted.make(*of, quiet)?;
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
pub fn named(hosts: &HostArgs) -> Result<Option<Deployment>, Failure> {
    let Some(name) = hosts.hosts.as_deref().and_then(|list| list.strip_prefix(HOSTS)) else {
        return Ok(None);
    };
    let found = Places::of_user().and_then(|places| deployment::find(&places, name));
    let unknown = || Problem::Unknown { name: name.to_owned() };
    let found = found.and_then(|found| found.ok_or_else(unknown));
    found.map(Some).map_err(|problem| failure(&problem))
}

/// The way to machines, and their names.
pub fn way(machines: &Deployment) -> Result<Via, Failure> {
    let is_ours = Binary::own().is_ok_and(|own| own.hash == machines.program);
    if !is_ours {
        return Err(Failure::Target(format!(
            "error: another build of plimsoll made the machines {0}, and theirs is in them; make \
             them again: `plimsoll vms down {0}`, then `plimsoll vms up`",
            machines.name
        )));
    }
    Ok(Via::Sockets(machines.folder.clone()))
}
