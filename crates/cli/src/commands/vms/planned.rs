//! What `plimsoll plan` says of machines that are not there yet.

use crate::args::ProviderArg;
use crate::failure::Failure;
use crate::machines::{Taken, Wanted};
use provision::nodes::NodeNeeds;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use suite::Spec;

/// What `--provider` would make, for `plimsoll plan`.
pub fn planned(spec: &Spec, of: ProviderArg, kernel: Option<&Path>) -> Result<Planned, Failure> {
    let wanted = Wanted::of(spec, of, kernel)?;
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
                kernel: needs.kernel.image,
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

/// Machines that could be made.
pub struct Planned {
    wanted: Wanted,
    nodes: Vec<OnOne>,
}

/// What one node would make.
struct OnOne {
    node: String,
    names: Vec<String>,
    needs: NodeNeeds,
}

impl Planned {
    /// For people.
    pub fn text(&self) -> String {
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
            wanted.bus,
            wanted.content,
            wanted.cache,
            wanted.accelerator
        );
        for on in &self.nodes {
            let needs = &on.needs;
            let at = if self.nodes.len() > 1 { format!(" on {}", on.node) } else { String::new() };
            let _ = writeln!(text, "memory    {} of {}{at}", needs.memory, needs.memory_available);
            let _ = writeln!(
                text,
                "disks     {} of {} free in {}{at}",
                needs.disks,
                needs.disks_free,
                needs.place.display()
            );
            let _ = writeln!(text, "kernel    {}{at}", needs.kernel.display());
        }
        let _ = writeln!(text, "fits      yes; nothing was made");
        let _ = writeln!(
            text,
            "stages    `plimsoll run` plans and shows them when the machines are up"
        );
        text
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let wanted = self.wanted.machines();
        let nodes = self.nodes.iter().map(|on| {
            json!({
                "node": on.node,
                "machines": on.names,
                "needs": { "memory": on.needs.memory.0, "disks": on.needs.disks.0 },
                "available": {
                    "memory": on.needs.memory_available.0,
                    "disks": on.needs.disks_free.0,
                },
                "pool": on.needs.place,
                "kernel": on.needs.kernel,
            })
        });
        json!({
            "machines": wanted.names(),
            "nodes": nodes.collect::<Vec<_>>(),
            "vcpus": wanted.vcpus,
            "accelerator": wanted.accelerator.word(),
            "memory": wanted.memory.0,
            "disks": wanted.disks,
            "disk_size": wanted.disk_size.0,
            "bus": wanted.bus.word(),
            "cache": wanted.cache.word(),
            "content": wanted.content.word(),
        })
    }
}
