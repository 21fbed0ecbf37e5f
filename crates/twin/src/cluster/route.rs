//! Where a request goes: which nodes and drives hold its block, and what lies between. Pure, but
//! for the chances that it draws.

use super::flow::{At, Flow, Hop};
use super::migration::REQUEST_NS;
use super::topology::{Drive, Duplex, Node, Place, Topology};
use super::{PPM, Settings};
use crate::sampler::Sampler;
use crate::spec::Service;
use catalogue::cluster::CopiesUsed;
use model::rng::{Rng, derive};

/// Blocks that are kept together: what lies within has the same nodes and drives.
pub(super) const SLAB_BITS: u32 = 20;
/// How much the times of media vary: the standard deviation of their logarithm.
const SIGMA: f64 = 0.3;
/// What is drawn is divided by it.
const UNIT: u64 = 1_000_000;

/// What a request is, once its volume knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) host: u32,
    /// The host whose file it is: its own, or the same for all that share one.
    pub(super) owner: u32,
    /// Where its host is; of a host outside, of no meaning.
    pub(super) node: u32,
    /// What its requests meet while volumes migrate, if they do.
    pub(super) mover: Option<Place>,
    pub(super) file: u32,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// How many times longer its bytes take than those of a file that nobody shares; 1 or more.
    pub(super) longer: f64,
    pub(super) is_write: bool,
    pub(super) is_sequential: bool,
    pub(super) now_ns: u64,
}

impl Asked {
    /// As many bytes as software, ports and drives work on.
    fn weight(&self) -> f64 {
        self.bytes as f64 * self.longer
    }
}

/// Lays the ways of requests.
#[derive(Clone, Debug)]
pub(super) struct Router {
    pub(super) settings: Settings,
    rng: Rng,
    spread: Sampler,
    /// The nodes of the block at hand; kept to be used again.
    pub(super) copies: Vec<u32>,
    /// Bytes of reads, and of writes, and how many of them another site answered or ordered.
    pub(super) crossed: [(u64, u64); 2],
}

/// Who asks, and over what.
#[derive(Clone, Copy)]
pub(super) enum Asker {
    Node(u32),
    Client(Option<Duplex>),
}

impl Asker {
    pub(super) fn of(topology: &Topology, host: u32, node: u32) -> Asker {
        match topology.clients.len() {
            0 => Asker::Node(node),
            clients => Asker::Client(topology.clients[host as usize % clients]),
        }
    }
}

impl Router {
    pub(super) fn new(settings: Settings, seed: u64) -> Router {
        // The mean of the lognormal distribution is 1: what varies shall not change how much a
        // drive carries.
        let median_ns = (UNIT as f64 / (SIGMA * SIGMA / 2.0).exp()) as u64;
        let spread = Sampler::new(&Service::Lognormal { median_ns, sigma: SIGMA });
        Router { settings, rng: Rng::new(seed), spread, copies: Vec::new(), crossed: [(0, 0); 2] }
    }

    pub(super) fn chance(&mut self, share: f64) -> bool {
        share >= 1.0 || (share > 0.0 && (self.rng.below(UNIT) as f64) < share * UNIT as f64)
    }

    /// Counts a request of `asker` that `node` answered or ordered.
    fn count_site(&mut self, topology: &Topology, asked: &Asked, node: u32, is_remote: bool) {
        let own = Asker::of(topology, asked.host, asked.node);
        let is_far = match own {
            Asker::Node(own) => {
                topology.nodes[own as usize].site != topology.nodes[node as usize].site
            }
            Asker::Client(_) => is_remote,
        };
        let (all, far) = &mut self.crossed[usize::from(asked.is_write)];
        *all = all.saturating_add(asked.bytes);
        *far = far.saturating_add(if is_far { asked.bytes } else { 0 });
    }

    fn varied(&mut self, ns: f64) -> u64 {
        round_up(ns * self.spread.draw_ns(&mut self.rng) as f64 / UNIT as f64)
    }

    /// Lays the way of a request that moves bytes.
    pub(super) fn lay(&mut self, topology: &Topology, asked: &Asked, flow: &mut Flow) {
        let ahead_ns = self.settings.ahead_ns(asked.is_write);
        let extra_ns = ahead_ns.saturating_add(self.settings.share_ns);
        flow.head.push(Hop { at: At::Nowhere, delay_ns: extra_ns });
        flow.head
            .extend((0..flow.asks.len() as u32).map(|ask| Hop { at: At::Token(ask), delay_ns: 0 }));
        if let Some(mover) = asked.mover.filter(|_| self.settings.moves_at(asked.now_ns)) {
            flow.head.push(queue(mover, REQUEST_NS as f64));
        }
        self.lay_bytes(topology, asked, flow);
    }

    /// Lays the way of bytes from or to the drives, behind what is laid already.
    pub(super) fn lay_bytes(&mut self, topology: &Topology, asked: &Asked, flow: &mut Flow) {
        let key = self.place(topology, asked);
        let asker = Asker::of(topology, asked.host, asked.node);
        let shares = &self.settings;
        let is_remote = unit(derive(key, &[1]))
            < if asked.is_write { shares.remote_writes } else { shares.remote_reads };
        let copies = std::mem::take(&mut self.copies);
        if asked.is_write {
            self.write(topology, asked, key, &copies, asker, is_remote, flow);
        } else {
            self.read(topology, asked, key, &copies, asker, is_remote, flow);
        }
        self.copies = copies;
    }

    /// Finds the nodes of a block, the first of which is its master, and comes back with a number
    /// that is the block's own.
    fn place(&mut self, topology: &Topology, asked: &Asked) -> u64 {
        let epoch = self.settings.moves_until(asked.now_ns);
        let key = derive(
            u64::from(asked.owner),
            &[u64::from(asked.file), asked.offset >> SLAB_BITS, epoch],
        );
        let mut copies = std::mem::take(&mut self.copies);
        self.holders(topology, key, &mut copies);
        self.copies = copies;
        key
    }

    /// The nodes of what has this key, the first of which is its master.
    pub(super) fn holders(&self, topology: &Topology, key: u64, copies: &mut Vec<u32>) {
        copies.clear();
        let sites = topology.holders.len();
        let wanted = if self.settings.on_one_node { 1 } else { self.settings.blocks as usize };
        for (index, holders) in topology.holders.iter().enumerate() {
            // Odd ones out go to the first sites.
            let here = (wanted / sites + usize::from(index < wanted % sites)).min(holders.len());
            let first = (key % holders.len() as u64) as usize;
            copies.extend((0..here).map(|step| holders[(first + step) % holders.len()]));
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the facts of one request, all of them needed at once"
    )]
    fn read(
        &mut self,
        topology: &Topology,
        asked: &Asked,
        key: u64,
        copies: &[u32],
        asker: Asker,
        is_remote: bool,
        flow: &mut Flow,
    ) {
        let source = self.source(topology, key, copies, asker, is_remote);
        self.count_site(topology, asked, source, is_remote);
        let bytes = asked.weight();
        let node = &topology.nodes[source as usize];
        let entry = match asker {
            Asker::Node(own) => &topology.nodes[own as usize],
            Asker::Client(_) => node,
        };
        let busy_ns = self.settings.read_cpu_ns + self.settings.byte_cpu_ns * bytes;
        cpu(entry, busy_ns, flow);
        self.take_message(entry, flow);
        let far_ns = match asker {
            Asker::Node(own) if own == source => 0,
            Asker::Node(own) => {
                self.settings.way_ns(topology.nodes[own as usize].site != node.site)
            }
            Asker::Client(_) => self.settings.way_ns(is_remote),
        };
        flow.head.push(Hop { at: At::Nowhere, delay_ns: far_ns });
        self.work(node, asked, flow);
        self.fetch(node, asked, key, flow);
        match asker {
            Asker::Node(own) if own == source => {}
            Asker::Node(own) => {
                self.send(topology, node, &topology.nodes[own as usize], bytes, &mut flow.head);
            }
            Asker::Client(port) => {
                leave(node, bytes, &mut flow.head);
                cross(topology.fabric, bytes, &mut flow.head);
                if let Some(port) = port {
                    flow.head.push(queue(port.received, bytes * port.ns_per_byte));
                }
                flow.head.push(Hop { at: At::Nowhere, delay_ns: far_ns });
            }
        }
    }

    /// Which of the copies answers.
    fn source(
        &self,
        topology: &Topology,
        key: u64,
        copies: &[u32],
        asker: Asker,
        is_remote: bool,
    ) -> u32 {
        let master = copies[0];
        let Asker::Node(own) = asker else {
            return copies[(derive(key, &[2]) % copies.len() as u64) as usize];
        };
        let site = topology.nodes[own as usize].site;
        let in_site = |wanted: bool| {
            copies
                .iter()
                .copied()
                .find(|&copy| (topology.nodes[copy as usize].site == site) == wanted)
        };
        if is_remote {
            return in_site(false).unwrap_or(master);
        }
        if let Some(share) = self.settings.local_reads {
            let holds = !topology.nodes[own as usize].capacity.is_empty();
            return if holds && unit(derive(key, &[3])) < share {
                own
            } else {
                in_site(true).unwrap_or(master)
            };
        }
        match self.settings.copies_used {
            CopiesUsed::Any => master,
            CopiesUsed::Near if copies.contains(&own) => own,
            CopiesUsed::Near => in_site(true).unwrap_or(master),
        }
    }

    /// The time of a node's software, which each of its lanes does one after the other.
    fn work(&mut self, node: &Node, asked: &Asked, flow: &mut Flow) {
        let Some(software) = node.software else { return };
        let bytes = asked.weight();
        let busy_ns = self.settings.software.draw_ns(asked.is_write, bytes, &mut self.rng);
        flow.head.push(queue(software, busy_ns));
    }

    /// A node takes in a message of a share.
    pub(super) fn take_message(&self, node: &Node, flow: &mut Flow) {
        if self.settings.message_cpu_ns > 0.0 {
            serve(node, self.settings.message_cpu_ns, flow);
        }
    }

    /// The time of a read at its drive; a block that the cache has not got takes the place of
    /// another there.
    fn fetch(&mut self, node: &Node, asked: &Asked, key: u64, flow: &mut Flow) {
        let bytes = asked.weight();
        let is_hit =
            !node.cache.is_empty() && self.chance(self.settings.hits(false, asked.is_sequential));
        let drive = pick(if is_hit { &node.cache } else { &node.capacity }, key);
        let (ns, latency_ns) = self.drive_ns(drive, false, bytes, asked.is_sequential);
        flow.head.push(Hop { at: At::Queue(drive.place, ns), delay_ns: latency_ns });
        if !is_hit && self.settings.caches_reads && !node.cache.is_empty() {
            let cache = pick(&node.cache, key);
            let fill_ns = round_up(cache.write.ns(bytes, true));
            flow.head.push(Hop { at: At::Defer(cache.place, fill_ns), delay_ns: 0 });
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the facts of one request, all of them needed at once"
    )]
    fn write(
        &mut self,
        topology: &Topology,
        asked: &Asked,
        key: u64,
        copies: &[u32],
        asker: Asker,
        is_remote: bool,
        flow: &mut Flow,
    ) {
        let bytes = asked.weight();
        let busy_ns = self.settings.write_cpu_ns + self.settings.byte_cpu_ns * bytes;
        let mut back_ns = 0;
        let source = match asker {
            Asker::Client(port) => {
                let master = &topology.nodes[copies[0] as usize];
                if let Some(port) = port {
                    flow.head.push(queue(port.sent, bytes * port.ns_per_byte));
                }
                cross(topology.fabric, bytes, &mut flow.head);
                arrive(master, bytes, &mut flow.head);
                back_ns = self.settings.way_ns(is_remote);
                flow.head.push(Hop { at: At::Nowhere, delay_ns: back_ns });
                cpu(master, busy_ns, flow);
                self.take_message(master, flow);
                copies[0]
            }
            Asker::Node(own) => {
                let node = &topology.nodes[own as usize];
                cpu(node, busy_ns, flow);
                let away = copies
                    .iter()
                    .copied()
                    .find(|&copy| topology.nodes[copy as usize].site != node.site);
                match away.filter(|_| is_remote) {
                    // The other site orders it first.
                    Some(master) => {
                        self.send(
                            topology,
                            node,
                            &topology.nodes[master as usize],
                            bytes,
                            &mut flow.head,
                        );
                        back_ns = self.settings.way_ns(true);
                        master
                    }
                    None => own,
                }
            }
        };
        self.count_site(topology, asked, source, is_remote);
        // Whoever orders the copies works on the write, wherever it was asked for.
        self.work(&topology.nodes[copies[0] as usize], asked, flow);
        self.spread_out(topology, asked, key, copies, source, flow);
        flow.tail.push(Hop { at: At::Nowhere, delay_ns: back_ns });
    }

    /// One branch for each block that has to be stored.
    fn spread_out(
        &mut self,
        topology: &Topology,
        asked: &Asked,
        key: u64,
        copies: &[u32],
        source: u32,
        flow: &mut Flow,
    ) {
        // Of a small write under parity, as many blocks as there are parities change besides its
        // own; a full stripe has a part on each node.
        let small = 1 + self.settings.parity as usize;
        let (width, bytes) = match self.settings.data {
            0 => (copies.len(), asked.weight()),
            _ if !asked.is_sequential => (small.min(copies.len()), asked.weight()),
            data => (copies.len(), asked.weight() / f64::from(data)),
        };
        let is_absorbed = self.settings.caches_writes
            && self.chance(self.settings.hits(true, asked.is_sequential));
        let drives = if self.settings.on_one_node { self.settings.blocks } else { 1 };
        for &copy in copies.iter().take(width) {
            let (from, to) = (&topology.nodes[source as usize], &topology.nodes[copy as usize]);
            let hops = &mut flow.branches;
            let mut back_ns = 0;
            if copy != source {
                self.send(topology, from, to, bytes, hops);
                back_ns = self.settings.way_ns(from.site != to.site);
            }
            for drive in 0..drives {
                let key = key.wrapping_add(u64::from(drive));
                self.store(to, asked, bytes, key, is_absorbed, hops);
            }
            hops.push(Hop { at: At::Nowhere, delay_ns: back_ns });
            flow.end_branch();
        }
    }

    /// The time of a block at the drives of a node.
    pub(super) fn store(
        &mut self,
        node: &Node,
        asked: &Asked,
        bytes: f64,
        key: u64,
        is_absorbed: bool,
        hops: &mut Vec<Hop>,
    ) {
        let capacity = pick(&node.capacity, key);
        let is_small_parity = self.settings.data > 0 && !asked.is_sequential;
        if !self.settings.caches_writes || node.cache.is_empty() {
            if is_small_parity {
                let (ns, latency_ns) = self.drive_ns(capacity, false, bytes, false);
                hops.push(Hop { at: At::Queue(capacity.place, ns), delay_ns: latency_ns });
            }
            let (ns, latency_ns) = self.drive_ns(capacity, true, bytes, asked.is_sequential);
            hops.push(Hop { at: At::Queue(capacity.place, ns), delay_ns: latency_ns });
            return;
        }
        let cache = pick(&node.cache, key);
        let (ns, latency_ns) = self.drive_ns(cache, true, bytes, asked.is_sequential);
        hops.push(Hop { at: At::Queue(cache.place, ns), delay_ns: latency_ns });
        if !is_absorbed {
            // A time that somebody measured has the order of destaging in it.
            let is_gathered = self.settings.destages_in_order && !capacity.write.is_measured();
            let in_order = asked.is_sequential || is_gathered;
            let old_ns =
                if is_small_parity && !in_order { capacity.read.ns(bytes, false) } else { 0.0 };
            let work_ns = round_up(capacity.write.ns(bytes, in_order) + old_ns);
            hops.push(Hop { at: At::Defer(capacity.place, work_ns), delay_ns: 0 });
        }
    }

    /// What a drive is busy for, and what a request takes besides.
    fn drive_ns(
        &mut self,
        drive: &Drive,
        is_write: bool,
        bytes: f64,
        is_sequential: bool,
    ) -> (u64, u64) {
        let cost = if is_write { drive.write } else { drive.read };
        let ns = cost.ns(bytes, is_sequential);
        let work_ns = if drive.is_disk && !is_sequential { self.varied(ns) } else { round_up(ns) };
        (work_ns, self.varied(cost.median_latency_ns as f64))
    }

    /// From a node to another.
    pub(super) fn send(
        &self,
        topology: &Topology,
        from: &Node,
        to: &Node,
        bytes: f64,
        hops: &mut Vec<Hop>,
    ) {
        leave(from, bytes, hops);
        cross(topology.fabric, bytes, hops);
        let is_far = from.site != to.site;
        if let Some(link) = topology.site_link.filter(|_| is_far) {
            let way = if from.site < to.site { link.sent } else { link.received };
            hops.push(queue(way, bytes * link.ns_per_byte));
        }
        arrive(to, bytes, hops);
        hops.push(Hop { at: At::Nowhere, delay_ns: self.settings.way_ns(is_far) });
    }
}

fn leave(node: &Node, bytes: f64, hops: &mut Vec<Hop>) {
    let ways = [node.socket, node.ports].into_iter().flatten();
    hops.extend(ways.map(|way| queue(way.sent, bytes * way.ns_per_byte)));
}

fn arrive(node: &Node, bytes: f64, hops: &mut Vec<Hop>) {
    let ways = [node.ports, node.socket].into_iter().flatten();
    hops.extend(ways.map(|way| queue(way.received, bytes * way.ns_per_byte)));
}

fn cross(fabric: Option<Duplex>, bytes: f64, hops: &mut Vec<Hop>) {
    hops.extend(fabric.map(|fabric| queue(fabric.sent, bytes * fabric.ns_per_byte)));
}

pub(super) fn cpu(node: &Node, busy_ns: f64, flow: &mut Flow) {
    if let Some(cores) = node.cores.filter(|_| busy_ns > 0.0) {
        flow.head.push(queue(cores, busy_ns));
    }
}

/// The time of a server of names or tokens: of its cores or, where nobody says how many, of the
/// lanes of its software.
pub(super) fn serve(node: &Node, busy_ns: f64, flow: &mut Flow) {
    if let Some(place) = node.serves() {
        flow.head.push(queue(place, busy_ns));
    }
}

fn queue(place: u32, ns: f64) -> Hop {
    Hop { at: At::Queue(place, round_up(ns)), delay_ns: 0 }
}

/// Up to whole ns: what is simulated is never faster than what it is made of.
fn round_up(ns: f64) -> u64 {
    ns.ceil() as u64
}

/// From 0 up to 1, from bits that are as good as random.
fn unit(bits: u64) -> f64 {
    (bits % UNIT) as f64 / PPM
}

/// Each node chooses for itself: copies of one block do not meet drives of one number.
fn pick(drives: &[Drive], key: u64) -> &Drive {
    let node = drives.first().map_or(0, |drive| u64::from(drive.place));
    &drives[(derive(key, &[4, node]) % drives.len() as u64) as usize]
}
