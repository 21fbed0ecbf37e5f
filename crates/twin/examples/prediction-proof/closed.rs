//! A load of predictions as the simulation takes it.

use analysis::prediction::load::Load;
use twin::cluster::ClosedLoop;

pub fn closed(load: &Load) -> ClosedLoop {
    let workload = &load.workload;
    ClosedLoop {
        read_bytes: workload.read_bytes as u32,
        write_bytes: workload.write_bytes as u32,
        read: workload.read,
        random: workload.random,
        footprint: workload.footprint,
        popularity: workload.popularity.clone(),
        hosts: load.hosts,
        outstanding: load.outstanding,
        depth: load.depth,
        remote: load.remote,
        object: load.object,
        route: load.route,
    }
}
