//! From a described cluster to resources: nodes with drives, ports and cores, clients, links.

use super::Layer;
use super::resource::Resource;
use super::software::{Software, share};
use super::spec::ClusterSpec;
use catalogue::Cluster;
use catalogue::cluster::{Drives, NodeGroup, Role, fixed};
use catalogue::devices::{Media, catalogue};
use model::{Nanos, Route};

/// More nodes, or drives of a node, than any testbed that can be simulated in reasonable time.
const MOST_NODES: u64 = 4_096;
const MOST_RESOURCES: usize = 1 << 18;
/// Datasheets state random requests of 4 KiB.
const RANDOM_BYTES: f64 = 4096.0;

/// A resource, by its number.
pub(super) type Place = u32;

/// Both directions of a path, and what a byte costs on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Duplex {
    pub(super) sent: Place,
    pub(super) received: Place,
    pub(super) ns_per_byte: f64,
}

/// A drive, and what it does with its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    pub(super) place: Place,
    pub(super) read: Cost,
    pub(super) write: Cost,
    pub(super) is_disk: bool,
}

/// What requests in one direction cost a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    request_ns: f64,
    byte_ns: f64,
    /// Of a continuation.
    stream_byte_ns: f64,
    /// Bytes that the time of a request has in it; `None` where the time is that of a datasheet,
    /// which has all of them in it up to the drive's bandwidth.
    covered_bytes: Option<f64>,
    /// What a request takes besides, without keeping the drive from others.
    pub(super) median_latency_ns: u64,
}

impl Cost {
    /// A continuation costs its bytes, any other request 1 ÷ IOPS or its bytes, whichever is more:
    /// as in the ceilings. What was measured of a request adds to its further bytes: as in the
    /// predictions.
    pub(super) fn ns(&self, bytes: f64, is_sequential: bool) -> f64 {
        match self.covered_bytes {
            _ if is_sequential => bytes * self.stream_byte_ns,
            None => (bytes * self.byte_ns).max(self.request_ns),
            Some(covered) => self.request_ns + (bytes - covered).max(0.0) * self.byte_ns,
        }
    }

    /// Whether the time of a request is that of `[software]` or `[fitted]`.
    pub(super) fn is_measured(&self) -> bool {
        self.covered_bytes.is_some()
    }

    /// The same where a request was measured to take `time`, with so many bytes in it.
    fn measured(mut self, time: Option<Nanos>, covered: f64) -> Cost {
        if let Some(time) = time {
            self.request_ns = time.0 as f64;
            self.covered_bytes = Some(covered);
        }
        self
    }
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) site: u32,
    pub(super) ports: Option<Duplex>,
    /// The link between its sockets; bytes on it are already those that cross.
    pub(super) socket: Option<Duplex>,
    pub(super) cores: Option<Place>,
    /// The lanes of the software, where its times are known.
    pub(super) software: Option<Place>,
    pub(super) cache: Vec<Drive>,
    pub(super) capacity: Vec<Drive>,
}

impl Node {
    /// What works on names and tokens: its cores, or the lanes of its software where nobody says
    /// how many cores it has.
    pub(super) fn serves(&self) -> Option<Place> {
        self.cores.or(self.software)
    }
}

/// Everything that requests can meet.
#[derive(Clone, Debug, Default)]
pub(super) struct Topology {
    pub(super) resources: Vec<Resource>,
    pub(super) nodes: Vec<Node>,
    /// Nodes that hold data, by site; one entry where nobody needs sites.
    pub(super) holders: Vec<Vec<u32>>,
    /// Of hosts outside; empty where hosts run on nodes.
    pub(super) clients: Vec<Option<Duplex>>,
    pub(super) fabric: Option<Duplex>,
    pub(super) site_link: Option<Duplex>,
}

impl Topology {
    pub(super) fn new(
        cluster: &Cluster,
        spec: &ClusterSpec,
        by_site: bool,
    ) -> Result<Topology, String> {
        if cluster.node_count() > MOST_NODES {
            return Err(format!(
                "{} nodes are too many to simulate; up to {MOST_NODES}",
                cluster.node_count()
            ));
        }
        let mut topology = Topology::default();
        let lanes = Software::is_known(cluster).then(|| cluster.lanes());
        for group in &cluster.nodes {
            for _ in 0..group.count() {
                let mut node = topology.node(cluster, group)?;
                node.software =
                    lanes.map(|lanes| topology.add(Resource::servers(Layer::Software, lanes)));
                topology.nodes.push(node);
            }
        }
        topology.hold(by_site)?;
        let speed = |value| fixed(value).map(catalogue::cluster::Bandwidth::bytes_per_s);
        topology.fabric =
            speed(cluster.fabric.bandwidth.value).map(|rate| topology.one_way(Layer::Fabric, rate));
        topology.site_link = speed(cluster.fabric.site_link.value)
            .map(|rate| topology.duplex(Layer::SiteLink, rate));
        topology.outside(cluster, spec);
        Ok(topology)
    }

    pub(super) fn add(&mut self, resource: Resource) -> Place {
        self.resources.push(resource);
        (self.resources.len() - 1) as Place
    }

    fn duplex(&mut self, layer: Layer, bytes_per_s: f64) -> Duplex {
        let sent = self.add(Resource::line(layer));
        let received = self.add(Resource::line(layer).received());
        Duplex { sent, received, ns_per_byte: 1e9 / bytes_per_s.max(1.0) }
    }

    /// What everything goes through once, whatever its direction.
    fn one_way(&mut self, layer: Layer, bytes_per_s: f64) -> Duplex {
        let both = self.add(Resource::line(layer));
        Duplex { sent: both, received: both, ns_per_byte: 1e9 / bytes_per_s.max(1.0) }
    }

    fn node(&mut self, cluster: &Cluster, group: &NodeGroup) -> Result<Node, String> {
        let nodes = &group.spec;
        let count = fixed(nodes.ports.value).map(|count| f64::from(count.0));
        let ports = count
            .zip(nodes.port_bytes_per_s())
            .map(|(count, port)| self.duplex(Layer::Ports, count * port * port_share(cluster)));
        let far = nodes.far_ports.value as f64 / count.unwrap_or(1.0).max(1.0);
        let socket = fixed(nodes.socket_link.value)
            .filter(|_| far > 0.0)
            .map(|link| self.duplex(Layer::SocketLink, link.bytes_per_s() / far));
        let cores =
            fixed(nodes.cores.value).map(|cores| self.add(Resource::servers(Layer::Cpu, cores.0)));
        let mut node = Node {
            site: nodes.site.value.0,
            ports,
            socket,
            cores,
            software: None,
            cache: Vec::new(),
            capacity: Vec::new(),
        };
        for drives in &group.drives {
            let (layer, list) = match drives.spec.role.value {
                Role::Cache => (Layer::Cache, &mut node.cache),
                Role::Capacity => (Layer::Drives, &mut node.capacity),
                Role::Boot | Role::Journal => continue,
            };
            for _ in 0..drives.spec.count.value.0 {
                if self.resources.len() >= MOST_RESOURCES {
                    return Err(format!(
                        "more than {MOST_RESOURCES} drives and ports are too many to simulate"
                    ));
                }
                let place = self.resources.len() as Place;
                let drive = drive(drives, place)?;
                list.push(match drives.spec.role.value {
                    Role::Capacity => measured(cluster, drive),
                    _ => without_path(cluster, drive),
                });
                self.resources.push(Resource::drive(layer).full());
            }
        }
        Ok(node)
    }

    /// Finds out which nodes hold data.
    fn hold(&mut self, by_site: bool) -> Result<(), String> {
        let mut sites: Vec<u32> =
            self.nodes.iter().map(|node| if by_site { node.site } else { 0 }).collect();
        sites.sort_unstable();
        sites.dedup();
        for site in sites {
            let nodes = self.nodes.iter().zip(0u32..);
            let here = nodes.filter(|(node, _)| !by_site || node.site == site);
            let holders: Vec<u32> = here
                .filter(|(node, _)| !node.capacity.is_empty())
                .map(|(_, number)| number)
                .collect();
            if holders.is_empty() {
                return Err(
                    "no node has a capacity drive to keep data on; add [[nodes.drives]]".to_owned()
                );
            }
            self.holders.push(holders);
        }
        Ok(())
    }

    fn outside(&mut self, cluster: &Cluster, spec: &ClusterSpec) {
        let is_outside = match spec.route {
            Route::Testbed => cluster.has_clients(),
            Route::Local => false,
            Route::SmbDirect | Route::Smb => true,
        };
        if !is_outside {
            return;
        }
        let clients = &cluster.clients;
        let count =
            fixed(clients.count.value).map_or(1, |count| u64::from(count.0)).min(MOST_NODES);
        let ports = f64::from(fixed(clients.ports.value).map_or(1, |ports| ports.0));
        for _ in 0..count {
            let speed = clients.port_bytes_per_s().map(|port| port * ports * port_share(cluster));
            let port = speed.map(|speed| self.duplex(Layer::ClientPorts, speed));
            self.clients.push(port);
        }
    }
}

/// The share of the ports' bandwidth that payload can have; all where nobody said.
fn port_share(cluster: &Cluster) -> f64 {
    cluster.found(|software| software.port_share.value).map_or(1.0, share)
}

/// A drive whose requests keep nobody waiting besides: a path has that time in it.
fn without_path(cluster: &Cluster, mut drive: Drive) -> Drive {
    let is_given = cluster.found(|software| software.read_path.value).is_some()
        || cluster.found(|software| software.write_path.value).is_some();
    if is_given {
        drive.read.median_latency_ns = 0;
        drive.write.median_latency_ns = 0;
    }
    drive
}

/// A capacity drive with what was measured of its work.
fn measured(cluster: &Cluster, drive: Drive) -> Drive {
    let mut drive = without_path(cluster, drive);
    let line = fixed(cluster.cache.line.value).map_or(0.0, |line| line.0 as f64);
    let read = cluster.found(|software| software.drive_read.value);
    let write = cluster.found(|software| software.drive_write.value);
    drive.read = drive.read.measured(read, line.max(RANDOM_BYTES));
    drive.write = drive.write.measured(write, RANDOM_BYTES);
    if let Some(left) = cluster.found(|software| software.stream_share.value) {
        let left = share(left).max(1e-6);
        drive.read.stream_byte_ns /= left;
        drive.write.stream_byte_ns /= left;
    }
    drive
}

fn drive(drives: &Drives, place: Place) -> Result<Drive, String> {
    let figures = &drives.figures;
    let known = (
        figures.read_bytes_per_s,
        figures.write_bytes_per_s,
        figures.read_iops,
        figures.write_iops,
    );
    let (Some(read), Some(write), Some(read_iops), Some(write_iops)) = known else {
        let role = drives.spec.role.value;
        return Err(format!(
            "of a {role} drive (`{}`) too little is known to simulate it; give model, or read, \
             write, read_iops and write_iops",
            drives.spec.model.value
        ));
    };
    let listed = catalogue().iter().find(|device| device.id == drives.spec.model.value);
    let is_disk =
        listed.map_or(read_iops < 1_000.0, |device| device.spec.media.value == Media::Hdd);
    // Class estimates of one request alone; a disk's time is all in its rate.
    let (read_latency_ns, write_latency_ns) = match listed.map(|device| device.spec.media.value) {
        _ if is_disk => (0, 0),
        None | Some(Media::Nvme | Media::Hdd) => (85_000, 15_000),
        Some(Media::SasSsd) => (120_000, 40_000),
        Some(Media::SataSsd) => (150_000, 50_000),
    };
    let cost = |iops: f64, rate: f64, median_latency_ns| Cost {
        request_ns: 1e9 / iops.max(1e-3),
        byte_ns: 1e9 / rate.max(1.0),
        stream_byte_ns: 1e9 / rate.max(1.0),
        covered_bytes: None,
        median_latency_ns,
    };
    Ok(Drive {
        place,
        read: cost(read_iops, read, read_latency_ns),
        write: cost(write_iops, write, write_latency_ns),
        is_disk,
    })
}
