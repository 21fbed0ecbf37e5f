//! Ports, switches, the path between sites and the link between sockets. All of them carry both
//! directions at the same time.

use super::protection::sent_on;
use super::{Amplification, Assumption, Workload};
use catalogue::Cluster;
use catalogue::cluster::{CopiesUsed, NodeGroup, Placement, fixed};
use model::Percent;

/// Bytes through all nodes' ports for each request of the client, in each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// What nodes send.
    pub sent: f64,
    /// What nodes receive.
    pub received: f64,
}

fn share(percent: Percent) -> f64 {
    f64::from(percent.ppm) / 1e6
}

/// What goes through the nodes' ports.
///
/// With clients of their own, every read leaves a node once and every write enters one, which sends
/// the other copies on. With the load on the nodes, the local shares stay off the network, and what
/// one node sends another receives.
pub(crate) fn traffic(
    cluster: &Cluster,
    workload: &Workload,
    amplification: &Amplification,
    assumptions: &mut Vec<Assumption>,
) -> Traffic {
    let reads = workload.read_share() * workload.read_bytes;
    let writes = workload.write_share() * workload.write_bytes;
    if cluster.has_clients() {
        let sent_on = sent_on(cluster, amplification, 1.0);
        return Traffic { sent: reads + writes * sent_on, received: writes * (1.0 + sent_on) };
    }
    let nodes = cluster.node_count().max(1) as f64;
    let used = fixed(cluster.access.copies_used.value);
    let copies = copies_on_nodes(cluster);
    let written = match cluster.protection.placement.value {
        Placement::Drive => 1.0,
        Placement::Node | Placement::Site => amplification.blocks / amplification.own,
    };
    let local_reads = fixed(cluster.access.local_reads.value).map(share).unwrap_or_else(|| {
        let local =
            if used == Some(CopiesUsed::Any) { 1.0 / nodes } else { (copies / nodes).min(1.0) };
        if used.is_none() && reads > 0.0 && local < 1.0 {
            assumptions.push(Assumption::LocalReads(local));
        }
        local
    });
    let local_writes = fixed(cluster.access.local_writes.value).map(share).unwrap_or_else(|| {
        if used.is_none() && writes > 0.0 && nodes > 1.0 {
            assumptions.push(Assumption::LocalWrites);
        }
        if used == Some(CopiesUsed::Any) { (written / nodes).min(1.0) } else { 1.0 }
    });
    let across =
        reads * (1.0 - local_reads) + writes * sent_on(cluster, amplification, local_writes);
    Traffic { sent: across, received: across }
}

/// On how many nodes a block has a copy.
fn copies_on_nodes(cluster: &Cluster) -> f64 {
    match cluster.protection.placement.value {
        Placement::Drive => 1.0,
        Placement::Node | Placement::Site => {
            fixed(cluster.protection.copies.value).map_or(1.0, |copies| f64::from(copies.0))
        }
    }
}

/// What all ports of a group carry in one direction, in bytes per second.
pub(crate) fn group_ports(group: &NodeGroup) -> Option<f64> {
    let spec = &group.spec;
    Some(group.count() as f64 * f64::from(fixed(spec.ports.value)?.0) * spec.port_bytes_per_s()?)
}

/// What all ports of a group carry in both directions together, in bytes per second: as measured,
/// else twice as much as in one.
fn group_ports_both(group: &NodeGroup) -> Option<f64> {
    let (spec, one_way) = (&group.spec, group_ports(group)?);
    let both = spec.port_both_bytes_per_s().map(|both| {
        group.count() as f64
            * fixed(spec.ports.value).map_or(0.0, |ports| f64::from(ports.0))
            * both
    });
    Some(both.unwrap_or(2.0 * one_way))
}

/// What all nodes' ports carry in one direction, in bytes per second; `None` where a group does not
/// say.
pub(crate) fn ports_bytes_per_s(cluster: &Cluster) -> Option<f64> {
    cluster.nodes.iter().map(group_ports).sum()
}

/// What the nodes' ports allow: the fuller direction binds.
pub(super) fn ports(cluster: &Cluster, _: &Workload, traffic: &Traffic) -> Option<f64> {
    let one_way = ports_bytes_per_s(cluster)? / traffic.sent.max(traffic.received);
    let both: f64 = cluster.nodes.iter().map(group_ports_both).sum::<Option<f64>>()?;
    Some(one_way.min(both / (traffic.sent + traffic.received)))
}

/// What the clients' ports allow.
pub(super) fn client_ports(cluster: &Cluster, workload: &Workload) -> Option<f64> {
    let clients = &cluster.clients;
    let port = clients.port_bytes_per_s()?;
    let both = clients.port_both_bytes_per_s().unwrap_or(2.0 * port);
    let ports = f64::from(fixed(clients.ports.value).map_or(1, |ports| ports.0));
    let reads = workload.read_share() * workload.read_bytes;
    let writes = workload.write_share() * workload.write_bytes;
    let all = f64::from(fixed(clients.count.value)?.0) * ports;
    Some((all * port / reads.max(writes)).min(all * both / (reads + writes)))
}

/// What the switches allow. What nodes send, and what clients send, goes through them once.
pub(super) fn fabric(cluster: &Cluster, workload: &Workload, traffic: &Traffic) -> Option<f64> {
    let bandwidth = fixed(cluster.fabric.bandwidth.value)?.bytes_per_s();
    let from_clients =
        if cluster.has_clients() { workload.write_share() * workload.write_bytes } else { 0.0 };
    Some(bandwidth / (traffic.sent + from_clients))
}

/// What the path between two sites allows, if both directions are used evenly: half of the traffic
/// goes each way. Each write crosses at least once to reach the copies of the other site.
pub(super) fn site_link(cluster: &Cluster, workload: &Workload) -> Option<f64> {
    let link = fixed(cluster.fabric.site_link.value)?.bytes_per_s();
    let copies = if cluster.protection.placement.value == Placement::Site { 1.0 } else { 0.0 };
    let reads =
        workload.read_share() * workload.read_bytes * share(cluster.access.remote_site_reads.value);
    let writes = workload.write_share() * workload.write_bytes;
    let crossing = reads + writes * (copies + share(cluster.access.remote_site_writes.value));
    Some(2.0 * link / crossing)
}

/// What the links between sockets allow: the share of ports that hang off another socket than the
/// drives carries the same share of the traffic, and all of that crosses.
pub(super) fn socket_link(cluster: &Cluster, _: &Workload, traffic: &Traffic) -> Option<f64> {
    let bytes = traffic.sent.max(traffic.received);
    let mut limit = f64::INFINITY;
    let nodes = cluster.node_count().max(1) as f64;
    for group in &cluster.nodes {
        let far = group.spec.far_ports.value as f64;
        if far == 0.0 {
            continue;
        }
        let link = fixed(group.spec.socket_link.value)?.bytes_per_s();
        let crossing = bytes * far / f64::from(fixed(group.spec.ports.value)?.0);
        // Traffic is spread evenly over all nodes: the weakest link holds up the cluster.
        limit = limit.min(link * nodes / crossing);
    }
    limit.is_finite().then_some(limit)
}
