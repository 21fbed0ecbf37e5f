//! Machines that are not there yet, as a planner sees hosts: what their disks cannot hold is
//! refused before anything is made.

use super::Wanted;
use crate::failure::Failure;
use model::machines::MachinesWanted;
use model::scale::Scale;
use model::testbed::{HostFacts, TargetFacts, TargetKind};
use suite::Spec;
use suite::planner::{self, GivenUp, RefusalKind, Request};

impl Wanted {
    /// Refuses a suite whose layouts these machines cannot hold.
    pub(crate) fn hold(&self, spec: &Spec, scale: Scale) -> Result<(), Failure> {
        let hosts = imagined(&self.machines);
        let disks = self.machines.bus.devices(self.machines.disks);
        let given_up: Vec<GivenUp> = self
            .machines
            .names()
            .iter()
            .flat_map(|name| disks.iter().map(|disk| (name.clone(), disk.clone())))
            .map(|(name, device)| GivenUp { host: Some(name), device })
            .collect();
        let request = Request {
            run_id: "machines",
            spec,
            scale,
            existing: false,
            destroy_data: &given_up,
            hosts: &hosts,
        };
        let Err(mut refusals) = planner::plan(&request) else { return Ok(()) };
        // What hosts are like beside their disks is known when they are up.
        refusals.retain(|refusal| matches!(refusal.kind, RefusalKind::Target | RefusalKind::Space));
        if refusals.is_empty() {
            return Ok(());
        }
        for refusal in &mut refusals {
            refusal.remedy.push_str("; or a larger vms.disk_size");
        }
        Err(Failure::refused(&refusals))
    }
}

/// Hosts with disks of the size that is asked for, and nothing else that is known.
fn imagined(wanted: &MachinesWanted) -> Vec<HostFacts> {
    let disk = |path: String| TargetFacts {
        path,
        kind: TargetKind::Device { size: wanted.disk_size, in_use: None },
        writable: true,
        free: wanted.disk_size,
        reserved: model::Bytes(0),
        total: wanted.disk_size,
        ..TargetFacts::default()
    };
    let host = |name: String| HostFacts {
        logical_cpus: wanted.vcpus,
        memory: wanted.memory,
        memory_available: wanted.memory,
        targets: wanted.bus.devices(wanted.disks).into_iter().map(disk).collect(),
        ..HostFacts::unknown(&name)
    };
    wanted.names().into_iter().map(host).collect()
}
