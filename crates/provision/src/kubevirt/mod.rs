//! Machines of a Kubernetes with KubeVirt and CDI, through `kubectl`. They are copies of a claim or
//! of an image of a registry; ssh reaches their agents, through `virtctl port-forward` where the
//! user's ssh configuration says so.
//!
//! Sources: the [user guide of KubeVirt](https://kubevirt.io/user-guide/) and its
//! [interface](https://kubevirt.io/api-reference/); [CDI's data
//! volumes](https://github.com/kubevirt/containerized-data-importer/blob/main/doc/datavolumes.md).
//! Never tried on a real cluster.

mod kubectl;
mod manifest;
#[cfg(test)]
mod tests;

use crate::Problem;
use crate::guest::Guest;
use crate::provider::{Acted, Boot, Line, Machine, Node, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground, Remote};
use crate::remote::{self, Guests, Program, Runs, text};
use kubectl::{CLAIMS, Kubectl, MACHINES, is_name};
use manifest::{Site, TOKEN};
use model::Bytes;
use model::machines::{DiskAllocation, DiskBus, HostCpu, MachineAct, MachinesWanted, ProviderKind};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Words of KubeVirt for a machine that does not come up by itself.
const BROKEN: [&str; 6] = [
    "CrashLoopBackOff",
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrorPvcNotFound",
    "DataVolumeError",
    "Terminating",
];

/// How long a removal is waited for: a claim that a pod still uses never goes.
const GIVES_UP: &str = "--timeout=300s";

/// A Kubernetes with KubeVirt.
pub struct Kubevirt {
    kubectl: Kubectl,
    template: String,
    guests: Guests,
}

impl Kubevirt {
    /// The cluster of `kube://CONTEXT/NAMESPACE`, or the user's current one.
    pub fn new(connect: &str, template: &str) -> Kubevirt {
        let program = Program::new("kubectl", "kubernetes-client");
        Kubevirt::with(Box::new(program), connect, template)
    }

    fn with(program: Box<dyn Runs>, connect: &str, template: &str) -> Kubevirt {
        let kubectl = Kubectl { program, connect: connect.to_owned() };
        Kubevirt { kubectl, template: template.to_owned(), guests: Guests::new() }
    }

    /// A machine of ours: one of its name with our label.
    fn found(&self, deployment: &Deployment, machine: &Machine) -> Result<Option<Value>, Problem> {
        let found = self.kubectl.object(MACHINES, &machine.name)?;
        Ok(found.filter(|found| label(found) == Some(deployment.token.as_str())))
    }

    fn one(&self, deployment: &Deployment, machine: &Machine) -> Result<Value, Problem> {
        let none = || Problem::NotDone {
            machine: machine.name.clone(),
            said: "no machine of KubeVirt of this name has its label".to_owned(),
        };
        self.found(deployment, machine)?.ok_or_else(none)
    }

    fn address(&self, machine: &Machine) -> Result<String, Problem> {
        Ok(format!("vmi/{}.{}", machine.name, self.kubectl.context()?.namespace))
    }

    fn make(&self, manifest: &Value) -> Result<(), Problem> {
        // `create` refuses a name that is taken; `apply` would change somebody else's object.
        self.kubectl.run(&["create", "-f", "-"], &manifest.to_string()).map(|_| ())
    }

    fn with_site<T>(
        &self,
        deployment: &Deployment,
        act: impl FnOnce(&Site<'_>) -> T,
    ) -> Result<T, Problem> {
        let context = self.kubectl.context()?;
        let class = remote::first_pool(deployment);
        Ok(act(&Site { namespace: &context.namespace, class, template: &self.template }))
    }

    /// A change of what runs, which is no object of its own.
    fn subresource(&self, machine: &Machine, word: &str) -> Result<Acted, Problem> {
        let namespace = self.kubectl.context()?.namespace;
        let path = format!(
            "/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances/{}/\
             {word}",
            machine.name
        );
        self.kubectl.run(&["replace", "--raw", &path, "-f", "-"], "{}")?;
        Ok(Acted::default())
    }
}

fn label(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("labels")?.get(TOKEN)?.as_str()
}

impl Provider for Kubevirt {
    fn node(&self) -> Result<Node, Problem> {
        let nodes = self.kubectl.nodes()?;
        let free = nodes.iter().fold(0u64, |sum, node| sum.saturating_add(node.free.0));
        let name = match nodes.as_slice() {
            [one] => one.name.clone(),
            many => format!("{} nodes of KubeVirt", many.len()),
        };
        Ok(Node { name, memory_available: Bytes(free) })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Result<Room, Problem> {
        let classes = self.kubectl.classes()?;
        let is_it = |class: &&kubectl::Class| match pool {
            Some(pool) => class.name == pool,
            None => class.is_default,
        };
        let Some(class) = classes.iter().find(is_it) else {
            let remedy = "name a storage class of `kubectl get storageclasses` with vms.pool";
            return Err(Problem::NoPool { pool: pool.unwrap_or_default().to_owned(), remedy });
        };
        let context = self.kubectl.context()?;
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::Kubevirt,
            // What is current may be another one when the machines are removed.
            connect: format!("kube://{}/{}", context.name, context.namespace),
            site: self.kubectl.site()?,
            pools: vec![class.name.clone()],
            template: self.template.clone(),
        });
        // A storage class has no size; where its claims stay unbound, the machines do not start.
        Ok(Room { ground, place: PathBuf::from(&class.name), free: Bytes(u64::MAX) })
    }

    fn refuse_taken(&self, name: &str) -> Result<(), Problem> {
        match self.kubectl.object(MACHINES, name)? {
            Some(_) => Err(Problem::NameOfOthers {
                name: name.to_owned(),
                what: format!("an object of {MACHINES}"),
            }),
            None => Ok(()),
        }
    }

    fn prepare(&self, _: &Deployment, _: &Guest) -> Result<(), Problem> {
        Ok(())
    }

    fn make_volume(
        &self,
        deployment: &Deployment,
        volume: &Volume,
        _: &AtomicBool,
    ) -> Result<(), Problem> {
        let claim = self.with_site(deployment, |site| manifest::claim(deployment, volume, site))?;
        self.make(&claim)
    }

    fn start(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        boot: &Boot<'_>,
    ) -> Result<(), Problem> {
        let made =
            self.with_site(deployment, |site| manifest::machine(deployment, machine, boot, site))?;
        self.make(&made).map_err(|problem| match problem {
            Problem::Tool { said, .. } => {
                Problem::NotStarted { machine: machine.name.clone(), said }
            }
            other => other,
        })
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let found = match self.found(deployment, machine) {
            Ok(Some(found)) => found,
            Ok(None) => return State::Absent,
            Err(_) => return State::Unknown,
        };
        match text(&found, "status.printableStatus").unwrap_or_default() {
            "Running" => self.guests.state(self.address(machine).ok().as_deref()),
            "Paused" => State::Paused,
            word if BROKEN.contains(&word) => State::Absent,
            "Stopped" if text(&found, "spec.runStrategy") == Some("Halted") => State::Absent,
            // It waits for its disks, for a node, or for its image.
            _ => State::Starting,
        }
    }

    fn cpu(&self, _: &Deployment, _: &Machine) -> Option<HostCpu> {
        None
    }

    fn console(&self, deployment: &Deployment, machine: &Machine) -> String {
        let status = self.found(deployment, machine).ok().flatten();
        let word = status.as_ref().and_then(|it| text(it, "status.printableStatus"));
        let word = word.map(|word| format!("KubeVirt says {}\n", remote::own_line(word)));
        word.unwrap_or_default() + &remote::no_console("KubeVirt")
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Result<Line, Problem> {
        self.one(deployment, machine)?;
        Guests::line(deployment, machine, Some(self.address(machine)?))
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        _: Option<&str>,
    ) -> Result<Acted, Problem> {
        self.one(deployment, machine)?;
        match act {
            MachineAct::Pause => self.subresource(machine, "pause"),
            MachineAct::Resume => self.subresource(machine, "unpause"),
            MachineAct::Off => {
                // Without a second for a shutdown, as its description says.
                let halted = r#"{"spec":{"runStrategy":"Halted"}}"#;
                let words = ["patch", MACHINES, &machine.name, "--type", "merge", "-p", halted];
                self.kubectl.run(&words, "").map(|_| Acted::default())
            }
            MachineAct::Snapshot | MachineAct::Move | MachineAct::Migrate => {
                Err(Problem::NotDone {
                    machine: machine.name.clone(),
                    said: format!("`{act}` is not done with machines of KubeVirt"),
                })
            }
        }
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Result<(), Problem> {
        remote::same_site(deployment, &self.kubectl.site()?)?;
        if self.found(deployment, machine)?.is_none() {
            return Ok(());
        }
        // What its template made goes with it.
        let words = ["delete", MACHINES, &machine.name, "--wait=true", GIVES_UP];
        self.kubectl.wait(&words).map(|_| ())
    }

    fn clear(&self, deployment: &Deployment) -> Result<(), Problem> {
        remote::same_site(deployment, &self.kubectl.site()?)?;
        let label = format!("{TOKEN}={}", deployment.token);
        let mark = deployment.mark();
        let claims = self.kubectl.labelled(CLAIMS, &label)?;
        for claim in claims.iter().filter(|name| name.starts_with(&mark)) {
            let words = ["delete", CLAIMS, claim, "--wait=true", "--ignore-not-found", GIVES_UP];
            self.kubectl.wait(&words)?;
        }
        Ok(())
    }

    fn fits(&self, wanted: &MachinesWanted) -> Result<Bytes, Problem> {
        remote::fits_a_template("KubeVirt", &self.template, wanted)?;
        let unfit = |what: &str, remedy: &str| {
            Err(Problem::Unfit { what: what.into(), remedy: remedy.into() })
        };
        if wanted.bus == DiskBus::Nvme {
            let remedy = "write vms.bus = \"virtio-blk\" or \"virtio-scsi\"";
            return unfit("KubeVirt has no NVMe disks for its machines", remedy);
        }
        if wanted.allocation == DiskAllocation::Thick {
            let remedy = "leave vms.allocation out, and choose a class with vms.pool";
            return unfit("the storage class decides what a disk takes at first", remedy);
        }
        let is_image = self.template.starts_with("docker://");
        if !is_image {
            let (namespace, claim) = match self.template.split_once('/') {
                Some((namespace, claim)) => (Some(namespace), claim),
                None => (None, self.template.as_str()),
            };
            let names = namespace.into_iter().chain([claim]);
            if !names.clone().all(is_name) {
                let remedy = "write vms.template = \"CLAIM\", \"NAMESPACE/CLAIM\" or \
                              \"docker://IMAGE\"";
                return unfit("the template is no claim and no image", remedy);
            }
            let more = namespace.map_or(Vec::new(), |it| vec!["--namespace", it]);
            self.kubectl.json(&[&["get", CLAIMS, claim], &more[..]].concat())?;
        }
        let largest = self.kubectl.nodes()?.iter().map(|node| node.free).max();
        let largest = largest.unwrap_or(Bytes(0));
        if wanted.memory > largest {
            // Machines are not divided among nodes.
            return Err(Problem::Memory { needed: wanted.memory, available: largest });
        }
        Ok(Bytes(0))
    }

    fn boots_our_guest(&self) -> bool {
        false
    }

    fn devices(&self, deployment: &Deployment, machine: &Machine) -> Result<Vec<String>, Problem> {
        let found = self.one(deployment, machine)?;
        let path = "spec.template.spec.domain.devices.disks";
        let disks = remote::array("kubectl get", &found, path)?;
        let ours = disks.iter().filter(|disk| disk.get("serial").is_some());
        let device = |(number, disk): (usize, &Value)| {
            let bus = match text(disk, "disk.bus") {
                Some("scsi") => DiskBus::VirtioScsi,
                _ => DiskBus::VirtioBlk,
            };
            manifest::device(bus, number)
        };
        Ok(ours.enumerate().map(device).collect())
    }
}
