//! What `plimsoll plan` says of machines that are not there yet.

use crate::failure::Failure;
use crate::machines::{self, BootArgs, Taken, Wanted};
use model::machines::{Accelerator, ProviderKind};
use model::{Bytes, ScaleArg};
use provision::nodes::NodeNeeds;
use report::object;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use suite::Spec;

/// What `--provider` would make, for `plimsoll plan`.
pub(crate) fn planned(
    spec: &Spec,
    of: ProviderKind,
    boots: BootArgs<'_>,
    scale: Option<ScaleArg>,
) -> Result<Planned, Failure> {
    let mut wanted = Wanted::of(spec, of, boots, machines::size_of(scale))?;
    wanted.hold(spec, machines::scale_of(scale))?;
    let taken = wanted.needs()?;
    let nodes = wanted.nodes();
    let nodes = match taken {
        Taken::Here(needs) => vec![OnOne {
            node: needs.node,
            names: wanted.machines().names(),
            needs: NodeNeeds {
                memory: needs.memory,
                memory_available: needs.memory_available,
                disks: needs.disks,
                disks_free: needs.room.free,
                place: needs.room.place,
                kernel: needs.guest.file().to_owned(),
                has_kvm: needs.has_kvm,
            },
        }],
        Taken::Nodes(all) => nodes
            .into_iter()
            .zip(all)
            .map(|(on, needs)| OnOne { node: on.node, names: on.machines, needs })
            .collect(),
    };
    Ok(Planned { wanted, nodes })
}

pub(crate) struct Planned {
    wanted: Wanted,
    nodes: Vec<OnOne>,
}

struct OnOne {
    node: String,
    names: Vec<String>,
    needs: NodeNeeds,
}

fn known(free: Bytes) -> Option<Bytes> {
    (free.0 != u64::MAX).then_some(free)
}

/// Why guests have no processor of their own, with a device for that or without.
fn why_emulated(has_device: bool) -> &'static str {
    match has_device {
        true => "/dev/kvm is there, and the guests' kernel does not begin under it",
        false => "KVM does not run the guests' kernel there",
    }
}

impl Planned {
    fn adapter(&self) -> &'static str {
        match self.wanted.provider() {
            ProviderKind::Vsphere => "paravirtual SCSI",
            _ => self.wanted.machines().bus.word(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let wanted = self.wanted.machines();
        let mut text = String::new();
        // Writing into a String cannot fail.
        for on in &self.nodes {
            let (count, names) = (on.names.len(), model::hostlist::compress(&on.names));
            let _ = writeln!(text, "machines  {count} on {}: {names}", on.node);
        }
        let _ = writeln!(
            text,
            "each      {} vCPU, {} of memory, {} × {} {} of {} bytes, cache {}, {}",
            wanted.vcpus,
            wanted.memory,
            wanted.disks,
            wanted.disk_size,
            self.adapter(),
            wanted.content,
            wanted.cache,
            wanted.accelerator
        );
        if wanted.accelerator == Accelerator::Tcg {
            let without = self.nodes.iter().filter(|on| on.needs.has_kvm == Some(false));
            for node in without.map(|on| &on.node) {
                let device = Path::new("/dev/kvm").exists() && self.wanted.nodes().is_empty();
                let _ = writeln!(text, "tcg       {node}: {}", why_emulated(device));
            }
        }
        let scale = self.wanted.scale();
        if !scale.is_one() {
            let _ = writeln!(text, "scale     {scale} of the suite's disks and memory");
        }
        for on in &self.nodes {
            let needs = &on.needs;
            let at = if self.nodes.len() > 1 { format!(" on {}", on.node) } else { String::new() };
            let _ = writeln!(text, "memory    {} of {}{at}", needs.memory, needs.memory_available);
            let free = match known(needs.disks_free) {
                Some(free) => format!("of {free} free in {}", needs.place.display()),
                None => format!("in {}, which does not say what is free", needs.place.display()),
            };
            let _ = writeln!(text, "disks     {} {free}{at}", needs.disks);
            let what = if self.wanted.has_image() { "image " } else { "kernel" };
            let _ = match self.wanted.template() {
                Some(template) => writeln!(text, "guest     copies of {template}, over ssh"),
                None => writeln!(text, "{what}    {}{at}", needs.kernel.display()),
            };
        }
        if let Some(what) = self.wanted.provider().untried() {
            let _ = writeln!(text, "untried   {}: {what}", self.wanted.provider());
        }
        let is_known = self.nodes.iter().all(|on| known(on.needs.disks_free).is_some());
        let fits = if is_known { "yes" } else { "memory does" };
        let _ = writeln!(text, "fits      {fits}; nothing was made");
        let _ = writeln!(
            text,
            "stages    `plimsoll run` plans and shows them when the machines are up"
        );
        text
    }

    pub(crate) fn json(&self) -> Value {
        let wanted = self.wanted.machines();
        let nodes = self.nodes.iter().map(|on| {
            json!({
                "node": on.node,
                "machines": on.names,
                "needs": { "memory": on.needs.memory.0, "disks": on.needs.disks.0 },
                "available": {
                    "memory": on.needs.memory_available.0,
                    "disks": known(on.needs.disks_free).map(|free| free.0),
                },
                "pool": on.needs.place,
                "kernel": self.wanted.template().is_none().then_some(&on.needs.kernel),
            })
        });
        object! {
            machines: wanted.names(), provider: self.wanted.provider().word(),
            untried: self.wanted.provider().untried(), template: self.wanted.template(),
            nodes: nodes.collect::<Vec<_>>(), scale: self.wanted.scale().to_string(),
            vcpus: wanted.vcpus, accelerator: wanted.accelerator.word(), memory: wanted.memory.0,
            disks: wanted.disks, disk_size: wanted.disk_size.0, bus: self.adapter(),
            cache: wanted.cache.word(), content: wanted.content.word(),
        }
    }
}
