//! Ports, links, cores and the cache's drives: what a description of hardware says of them.

use super::{CacheTimes, Network, Owner, Station, Visit};
use crate::ceiling::{Layer, Traffic, ceiling, ports_bytes_per_s, random_s, traffic};
use crate::prediction::load::Load;
use crate::prediction::parameter::Parameter;
use catalogue::Cluster;
use catalogue::cluster::{JOURNAL_BLOCK, Role, fixed};
use model::Percent;

impl Network {
    /// Ports, fabric, links and cores: the ceilings' demands.
    pub(super) fn layers(&mut self, cluster: &Cluster, load: &Load) {
        let cluster = &self.placed(cluster);
        self.node_ports(cluster, load);
        self.client_ports(cluster, load);
        for limit in ceiling(cluster, &load.workload).limits {
            let all_s = 1.0 / limit.iops;
            match limit.layer {
                Layer::Drives
                | Layer::Cache
                | Layer::Ports
                | Layer::ClientPorts
                | Layer::Software
                | Layer::Mover => {}
                Layer::Cpu => {
                    let cores: f64 = cluster
                        .nodes
                        .iter()
                        .map(|group| {
                            group.count() as f64
                                * fixed(group.spec.cores.value).map_or(1.0, |n| f64::from(n.0))
                        })
                        .sum();
                    // The ceiling's demand is that of all cores; one core works as many times
                    // longer as there are cores.
                    let visit = Visit::new(1.0, Owner::Layer(limit.layer), all_s * cores)
                        .at_home(self.at_home.map(|_| 1.0));
                    let servers = (cores / self.nodes).max(1.0);
                    let cpu = Station { servers, ..Station::of(self.nodes, vec![visit]) };
                    self.fixed.push(cpu.on(self.apart()));
                }
                Layer::Fabric => self.add_fixed(limit.layer, 1.0, all_s),
                Layer::SiteLink => self.add_fixed(limit.layer, 2.0, all_s),
                Layer::SocketLink => self.add_fixed(limit.layer, 2.0 * self.nodes, all_s),
            }
        }
    }

    /// The cluster, where nobody says that a copy stays on the node that writes: the place of a
    /// block decides.
    fn placed(&self, cluster: &Cluster) -> Cluster {
        let mut placed = cluster.clone();
        let all = self.amplification.blocks / self.amplification.own;
        let copies = if self.blocks.one_by_one { 1.0 } else { all };
        if !cluster.has_clients() && fixed(cluster.access.local_writes.value).is_none() {
            let share = (copies / self.nodes).min(1.0);
            placed.access.local_writes.value =
                catalogue::Auto::Fixed(Percent { ppm: (share * 1e6).round() as u32 });
        }
        placed
    }

    /// Queues of which each takes so much of each request on average.
    fn add_fixed(&mut self, layer: Layer, count: f64, demand_s: f64) {
        let visit = Visit::new(1.0, Owner::Layer(layer), demand_s * count);
        self.fixed.push(Station::of(count, vec![visit]));
    }

    /// Both directions of the nodes' ports, all ports of a node as one. What a node sends of a
    /// write leaves it one after the other; the copies arrive side by side.
    fn node_ports(&mut self, cluster: &Cluster, load: &Load) {
        let Some(bytes_per_s) = ports_bytes_per_s(cluster).filter(|speed| *speed > 0.0) else {
            return;
        };
        let node_per_s = bytes_per_s / self.nodes;
        let of = |read: Percent| {
            let workload = crate::ceiling::Workload { read, ..load.workload.clone() };
            traffic(cluster, &workload, &self.amplification, &mut Vec::new())
        };
        let (read, write): (Traffic, Traffic) = (of(Percent::ALL), of(Percent::ZERO));
        let owner = Owner::Parameter(Parameter::PortShare);
        let visit = |times: f64, bytes: f64| Visit::new(times, owner, bytes / node_per_s);
        let messages = |bytes: f64, each: f64| bytes / each.max(1.0);
        let (read_bytes, write_bytes) = (self.read_bytes, self.write_bytes);
        let sent = messages(write.sent, write_bytes);
        let taken = messages(write.received, write_bytes);
        // What a node's own hosts send and take goes through its own ports.
        let (own, other) = (self.at_home.map(|_| 1.0), self.at_home.map(|_| 0.0));
        let sends = vec![
            visit(self.reads * messages(read.sent, read_bytes), read_bytes).at_home(other),
            visit(self.writes * sent.min(1.0), write_bytes * sent.max(1.0)).at_home(own),
        ];
        // From clients, one block arrives before the node sends the others on.
        let first = if cluster.has_clients() { taken.min(1.0) } else { 0.0 };
        let takes = vec![
            visit(self.reads * messages(read.received, read_bytes), read_bytes).at_home(own),
            visit(self.writes * first, write_bytes),
            visit(self.writes * (taken - first), write_bytes)
                .side_by_side(taken - first)
                .at_home(other),
        ];
        for visits in [sends, takes] {
            self.ports.push(Station::of(self.nodes, visits).on(self.apart()).by_place());
        }
    }

    /// What nodes send each other of a change: a block of the journal for each further copy.
    pub(super) fn journal_ports(&mut self, cluster: &Cluster) {
        let Some(bytes_per_s) = ports_bytes_per_s(cluster).filter(|speed| *speed > 0.0) else {
            return;
        };
        let further = if self.blocks.one_by_one { 0.0 } else { self.blocks.in_order - 1.0 };
        let owner = Owner::Parameter(Parameter::PortShare);
        let seconds = JOURNAL_BLOCK.0 as f64 * self.nodes / bytes_per_s;
        for _ in ["sent", "taken"] {
            let visit = Visit::new(self.names.changes * further, owner, seconds);
            self.ports.push(Station::of(self.nodes, vec![visit]));
        }
    }

    /// Both directions of the ports of the clients that are at work.
    fn client_ports(&mut self, cluster: &Cluster, load: &Load) {
        let clients = &cluster.clients;
        let (Some(count), Some(port)) = (fixed(clients.count.value), clients.port_bytes_per_s())
        else {
            return;
        };
        let ports = f64::from(fixed(clients.ports.value).map_or(1, |ports| ports.0));
        let per_s = port * ports;
        if per_s <= 0.0 {
            return;
        }
        let at_work = f64::from(load.hosts.clamp(1, count.0.max(1)));
        let owner = Owner::Layer(Layer::ClientPorts);
        for (times, bytes) in [(self.writes, self.write_bytes), (self.reads, self.read_bytes)] {
            let visits = vec![Visit::new(times, owner, bytes / per_s)];
            self.ports.push(Station::of(at_work, visits));
        }
    }
}

/// What accesses take of a drive of the cache: the mean of all that are known.
pub(super) fn cache_times(cluster: &Cluster, workload: &crate::ceiling::Workload) -> CacheTimes {
    let (mut count, mut rates) = (0.0, [0.0; 6]);
    for (drives, figures) in cluster.drives(Role::Cache) {
        let in_order = |bandwidth: Option<f64>, bytes: f64| bandwidth.map(|speed| bytes / speed);
        let (read, write) = (workload.read_bytes, workload.write_bytes);
        let times = [
            random_s(figures.read_iops, figures.read_bytes_per_s, read),
            in_order(figures.read_bytes_per_s, read),
            random_s(figures.write_iops, figures.write_bytes_per_s, write),
            in_order(figures.write_bytes_per_s, write),
            in_order(figures.write_bytes_per_s, read),
            random_s(figures.write_iops, figures.write_bytes_per_s, JOURNAL_BLOCK.0 as f64),
        ];
        count += drives as f64;
        for (rate, time) in rates.iter_mut().zip(times) {
            *rate += time.filter(|time| *time > 0.0).map_or(0.0, |time| drives as f64 / time);
        }
    }
    let mean = |rate: f64| if rate > 0.0 { count / rate } else { 0.0 };
    let [random_read_s, read_s, random_write_s, write_s, fill_s, journal_s] = rates.map(mean);
    CacheTimes { random_read_s, read_s, random_write_s, write_s, fill_s, journal_s }
}
