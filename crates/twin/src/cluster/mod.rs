//! A simulated cluster: a described testbed as queues, through which each request finds its way in
//! virtual time.
//!
//! [`spec`] says which testbed and how it is used; [`topology`] makes resources of it; [`route`]
//! lays the way of a request; this module lets requests meet each other, in the exact order of
//! their events. What the model leaves out stands in `docs/method`.

mod closed;
mod counts;
mod flow;
mod migration;
mod names;
mod resource;
mod route;
mod settings;
mod software;
mod spec;
mod streams;
mod tokens;
mod topology;

pub use closed::{ClosedLoop, Simulated, closed_loop};
pub use counts::{Crossed, Worked, busy};
pub use migration::{Migration, Moved};
pub use model::layer::Layer;
pub use spec::{CLUSTER, ClusterSpec};

use crate::device::{MAX_RW_COUNT, Request};
use catalogue::Cluster as Testbed;
use flow::{At, Flow, Lane};
use migration::{DRIVE_SHARE, Mover, Window, taken};
use model::errno::ENOSPC;
use model::popularity::Popularity;
use model::{Bytes, Op, Percent};
use names::Named;
use resource::Resource;
use route::{Asked, Router};
use settings::Settings;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use streams::Streams;
use tokens::{Ask, Claim, Tokens, Waiter};
use topology::{Place, Topology};

const PPM: f64 = 1e6;

/// A request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// When, in ns of virtual time.
    pub at_ns: u64,
    /// What was given with it.
    pub ticket: u64,
    /// The bytes moved, or a negative errno.
    pub result: i32,
}

/// A part of a request goes on. Of several at one instant, the one that was planned first comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    at_ns: u64,
    order: u64,
    flow: u32,
    lane: Lane,
    hop: u32,
}

/// Whose a file is that all hosts share.
const NOBODY: u32 = u32::MAX;
/// Tokens that one request asks for at most: what is longer than so many blocks has that of its
/// first ones alone.
const MOST_TOKENS: u64 = 1_024;

/// A host's place for data.
#[derive(Clone, Debug)]
struct Volume {
    machine: Machine,
    file: u32,
    kind: Kind,
    streams: Streams,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Own,
    /// The same file for all hosts.
    Shared,
    /// A tree with so many files in a directory.
    Tree {
        per_directory: u64,
    },
}

/// A host: where it runs, and what stands before its volumes while they migrate.
#[derive(Clone, Copy, Debug)]
struct Machine {
    host: u32,
    node: u32,
    mover: Place,
    /// How many were on the node before it.
    rank: u64,
}

/// A load that asks for some blocks more often than for others.
#[derive(Clone, Copy, Debug)]
pub struct Preferring<'a> {
    /// Which, and how often.
    pub popularity: &'a Popularity,
    /// The share of reads.
    pub read: Percent,
    /// The share of requests whose place is no continuation, 0 to 1.
    pub random: f64,
}

/// A simulated cluster at an instant of virtual time, and all requests that are under way in it.
#[derive(Clone, Debug)]
pub struct Cluster {
    topology: Topology,
    router: Router,
    machines: Vec<Machine>,
    /// The node of each host in turn.
    nodes: Vec<u32>,
    migration: Option<Migration>,
    /// Of the measurement that runs, or ran last.
    mover: Option<Mover>,
    footprint: Bytes,
    is_shared: bool,
    volumes: Vec<Volume>,
    volume_bytes: u64,
    tokens: Tokens,
    /// Kept to be used again.
    woken: Vec<Waiter>,
    flows: Vec<Flow>,
    free: Vec<u32>,
    steps: BinaryHeap<Reverse<Step>>,
    order: u64,
}

impl Cluster {
    /// An idle cluster. What it does follows from the testbed, `spec`, `seed` and the requests.
    ///
    /// # Errors
    /// When the testbed does not say enough of its drives, or is too large; in words, with the
    /// remedy.
    pub fn new(testbed: &Testbed, spec: &ClusterSpec, seed: u64) -> Result<Cluster, String> {
        let settings = Settings::new(testbed, spec);
        let topology = Topology::new(testbed, spec, settings.by_site)?;
        let count = topology.nodes.len() as u32;
        if let Some(wrong) = spec.nodes.iter().find(|&&node| node > count) {
            return Err(format!(
                "`nodes` puts a host on node {wrong}, and the testbed has {count} nodes; take a \
                 testbed with as many, or another suite or scenario"
            ));
        }
        let nodes = if spec.nodes.is_empty() {
            (0..count).collect()
        } else {
            spec.nodes.iter().map(|node| node - 1).collect()
        };
        Ok(Cluster {
            volume_bytes: volume(testbed, spec).0,
            router: Router::new(settings, seed),
            topology,
            machines: Vec::new(),
            nodes,
            migration: spec.migration,
            mover: None,
            footprint: Bytes(0),
            volumes: Vec::new(),
            tokens: Tokens::default(),
            woken: Vec::new(),
            is_shared: spec.is_shared,
            flows: Vec::new(),
            free: Vec::new(),
            steps: BinaryHeap::new(),
            order: 0,
        })
    }

    /// Gives a file of host number `host` its place, and comes back with the number of its volume.
    /// Hosts sit on the nodes as the spec says, or in turn, or are clients.
    pub fn add_volume(&mut self, host: u32, file: u32) -> u32 {
        self.add(host, file, if self.is_shared { Kind::Shared } else { Kind::Own })
    }

    /// The same for a tree of a host, with so many files in a directory: what is
    /// [submitted](Self::submit) there is done to whole files, whose number takes the place of the
    /// offset (of `readdir`: that of the directory), and whose size that of the length.
    pub fn add_tree(&mut self, host: u32, tree: u32, per_directory: u64) -> u32 {
        self.add(host, tree, Kind::Tree { per_directory: per_directory.max(1) })
    }

    fn add(&mut self, host: u32, file: u32, kind: Kind) -> u32 {
        let machine = self.machine(host);
        self.volumes.push(Volume { machine, file, kind, streams: Streams::default() });
        (self.volumes.len() - 1) as u32
    }

    fn machine(&mut self, host: u32) -> Machine {
        if let Some(known) = self.machines.iter().rev().find(|machine| machine.host == host) {
            return *known;
        }
        let node = self.nodes[host as usize % self.nodes.len()];
        let rank = self.machines.iter().filter(|machine| machine.node == node).count() as u64;
        let mover = self.topology.add(Resource::drive(Layer::Mover));
        let machine = Machine { host, node, mover, rank };
        self.machines.push(machine);
        machine
    }

    /// A measurement begins, which ends after `time_ns` if time ends it: a migration of the spec
    /// falls into it.
    pub fn begin_measurement(&mut self, now_ns: u64, time_ns: Option<u64>) {
        let span = self.migration.and_then(|migration| migration.span(now_ns, time_ns));
        self.router.settings.begin(now_ns, span);
        self.mover = span.map(|span| Mover::new(span, self.copied_per_ns()));
        let Some(span) = span else { return };
        let nodes = &self.topology.nodes;
        let drives: Vec<Place> = nodes
            .iter()
            .flat_map(|node| node.cache.iter().chain(&node.capacity))
            .map(|drive| drive.place)
            .collect();
        for place in drives {
            self.topology.resources[place as usize].set_window(Window::new(span, DRIVE_SHARE));
        }
        for machine in &self.machines {
            self.topology.resources[machine.mover as usize]
                .set_window(Window::new(span, taken(machine.rank)));
        }
    }

    /// Tells how many bytes the load touches from now on, and which blocks it prefers, if any: what
    /// of them the cache tier answers follows from that.
    pub fn set_load(&mut self, footprint: Bytes, preferring: Option<Preferring<'_>>) {
        self.footprint = footprint;
        self.router.settings.set_load(footprint, preferring);
    }

    /// Takes a request at `now_ns` of virtual time, which never runs backwards.
    /// [`advance`](Self::advance) tells when it is over, with its `ticket`.
    ///
    /// # Panics
    /// When there is no such volume.
    pub fn submit(&mut self, now_ns: u64, volume: u32, request: Request, ticket: u64) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.flows.push(Flow::default());
            (self.flows.len() - 1) as u32
        });
        let flow = &mut self.flows[number as usize];
        flow.clear();
        flow.ticket = ticket;
        let volume = &mut self.volumes[volume as usize];
        flow.result = match volume.kind {
            Kind::Own | Kind::Shared => result_of(request, self.volume_bytes),
            Kind::Tree { .. } if request.op.moves_file() => request.length.min(MAX_RW_COUNT) as i32,
            Kind::Tree { .. } => 0,
        };
        if let (Kind::Tree { per_directory }, true) = (volume.kind, request.op.is_metadata()) {
            let is_listed = request.op == Op::Readdir;
            let named = Named {
                host: volume.machine.host,
                node: volume.machine.node,
                tree: volume.file,
                op: request.op,
                directory: if is_listed { request.offset } else { request.offset / per_directory },
                number: request.offset,
                bytes: flow.result as u64,
                now_ns,
            };
            self.router.lay_named(&self.topology, &named, flow);
        } else if flow.result > 0 {
            let bytes = flow.result as u64;
            if volume.kind == Kind::Shared {
                let block = self.router.settings.token_bytes.max(1);
                let last = request.offset.saturating_add(bytes - 1) / block;
                let blocks = (request.offset / block..=last).take(MOST_TOKENS as usize);
                let (file, client, is_exclusive) =
                    (volume.file, volume.machine.host, request.op == Op::Write);
                flow.asks.extend(blocks.map(|block| Ask { file, block, client, is_exclusive }));
            }
            let asked = Asked {
                host: volume.machine.host,
                owner: if volume.kind == Kind::Shared { NOBODY } else { volume.machine.host },
                node: volume.machine.node,
                mover: Some(volume.machine.mover).filter(|_| self.migration.is_some()),
                file: volume.file,
                offset: request.offset,
                bytes,
                longer: if volume.kind == Kind::Shared {
                    1.0 / self.router.settings.shared_file
                } else {
                    1.0
                },
                is_write: request.op == Op::Write,
                is_sequential: volume.streams.goes_on(request.offset, bytes),
                now_ns,
            };
            self.router.lay(&self.topology, &asked, flow);
        } else {
            // What moves nothing meets the software alone.
            let delay_ns = self.router.settings.stack_ns.max(1);
            flow.head.push(flow::Hop { at: At::Nowhere, delay_ns });
        }
        let (hop, delay_ns) = self.flows[number as usize].pass(Lane::Head, 0);
        self.plan(now_ns.saturating_add(delay_ns), number, Lane::Head, hop);
    }

    /// When something happens next within the cluster, in ns; `None` when nothing is under way.
    pub fn next_ns(&self) -> Option<u64> {
        self.steps.peek().map(|step| step.0.at_ns)
    }

    /// Lets time pass up to and with `until_ns`, but no further than to the first request that is
    /// over.
    pub fn advance(&mut self, until_ns: u64) -> Option<Done> {
        while let Some(Reverse(step)) = self.steps.peek().copied() {
            if step.at_ns > until_ns {
                return None;
            }
            self.steps.pop();
            if let Some(done) = self.take(step) {
                return Some(done);
            }
        }
        None
    }

    fn plan(&mut self, at_ns: u64, flow: u32, lane: Lane, hop: u32) {
        self.order += 1;
        self.steps.push(Reverse(Step { at_ns, order: self.order, flow, lane, hop }));
    }

    fn begin_lane(&mut self, at_ns: u64, flow: u32, lane: Lane) -> Option<Done> {
        self.take(Step { at_ns, order: 0, flow, lane, hop: 0 })
    }

    fn take(&mut self, step: Step) -> Option<Done> {
        let Step { at_ns, flow: number, lane, .. } = step;
        let mut hop_number = step.hop;
        // What needs no waiting is done at once.
        while let Some(hop) = self.flows[number as usize].hop(lane, hop_number) {
            let ready_ns = match hop.at {
                At::Nowhere => at_ns,
                At::Queue(place, ns) => self.topology.resources[place as usize].take(at_ns, ns),
                At::Defer(place, ns) => self.topology.resources[place as usize].defer(at_ns, ns),
                At::Token(ask) => self.claim(at_ns, number, ask, hop_number)?,
            };
            // What only takes time behind it is waited for at once.
            let (next_hop, delay_ns) = self.flows[number as usize].pass(lane, hop_number + 1);
            let next_ns = ready_ns.saturating_add(hop.delay_ns).saturating_add(delay_ns);
            hop_number = next_hop;
            if next_ns > at_ns {
                self.plan(next_ns, number, lane, hop_number);
                return None;
            }
        }
        self.leave_lane(at_ns, number, lane)
    }

    /// A lane of a request is over: the next begins at the same instant, or the request is over.
    fn leave_lane(&mut self, at_ns: u64, number: u32, lane: Lane) -> Option<Done> {
        let flow = &mut self.flows[number as usize];
        match lane {
            Lane::Head => {
                let width = flow.width();
                flow.left = u32::from(width);
                if width == 0 {
                    return self.begin_lane(at_ns, number, Lane::Tail);
                }
                // Only the last of them that is over can end the request.
                (0..width).fold(None, |done, branch| {
                    self.begin_lane(at_ns, number, Lane::Branch(branch)).or(done)
                })
            }
            Lane::Branch(_) => {
                flow.left = flow.left.saturating_sub(1);
                if flow.left > 0 { None } else { self.begin_lane(at_ns, number, Lane::Tail) }
            }
            Lane::Tail => {
                let done = Done { at_ns, ticket: flow.ticket, result: flow.result };
                if !flow.asks.is_empty() {
                    self.release(at_ns, number);
                }
                self.free.push(number);
                Some(done)
            }
        }
    }

    /// A request wants a token: comes back with when its host has it; `None` where it waits for
    /// others, whose [`release`](Self::release) lets it go on.
    fn claim(&mut self, at_ns: u64, flow: u32, ask: u32, hop: u32) -> Option<u64> {
        let ask = self.flows[flow as usize].asks[ask as usize];
        match self.tokens.claim(ask, Waiter { flow, hop: hop + 1 }) {
            Claim::Held => Some(at_ns),
            Claim::Granted => Some(self.exchanged(at_ns, ask.file, 1)),
            Claim::Revoked => Some(self.exchanged(at_ns, ask.file, 2)),
            Claim::Waits => None,
        }
    }

    /// When a token of a file is there: a round trip to the server of its tokens, and one more to
    /// whoever has it.
    fn exchanged(&mut self, at_ns: u64, file: u32, trips: u64) -> u64 {
        let settings = &self.router.settings;
        let trips_ns = settings.trips_ns(trips);
        let busy_ns = settings.lookup_cpu_ns as u64;
        let holders = &self.topology.holders[0];
        let server = holders[file as usize % holders.len()];
        let place = self.topology.nodes[server as usize].serves();
        let answered_ns = place
            .map_or(at_ns, |place| self.topology.resources[place as usize].take(at_ns, busy_ns));
        answered_ns.saturating_add(trips_ns)
    }

    /// A request is over, and gives up its tokens for the time being: who waited for one has it
    /// after its exchange.
    fn release(&mut self, at_ns: u64, number: u32) {
        let mut woken = std::mem::take(&mut self.woken);
        for index in 0..self.flows[number as usize].asks.len() {
            let ask = self.flows[number as usize].asks[index];
            woken.clear();
            self.tokens.release(ask.file, ask.block, &mut woken);
            for waiter in &woken {
                let ready_ns = self.exchanged(at_ns, ask.file, 2);
                self.plan(ready_ns, waiter.flow, Lane::Head, waiter.hop);
            }
        }
        self.woken = woken;
    }
}

/// The size of each host's volume: what the spec says, or what all capacity drives hold once,
/// shared among the nodes, in whole MiB.
pub fn volume(testbed: &Testbed, spec: &ClusterSpec) -> Bytes {
    let settings = Settings::new(testbed, spec);
    let raw: f64 = testbed
        .drives(catalogue::cluster::Role::Capacity)
        .map(|(count, figures)| count as f64 * figures.capacity_bytes.unwrap_or(0.0))
        .sum();
    let share = raw / settings.space / testbed.node_count().max(1) as f64;
    let whole = (share as u64).min(crate::check::MOST_BYTES) >> 20 << 20;
    spec.volume.unwrap_or(Bytes(whole.max(1 << 20)))
}

/// What comes back: what a Linux block device of this size moves.
fn result_of(request: Request, volume_bytes: u64) -> i32 {
    let left = volume_bytes.saturating_sub(request.offset);
    let length = request.length.min(MAX_RW_COUNT);
    let moved = length.min(u32::try_from(left).unwrap_or(u32::MAX)) as i32;
    match request.op {
        Op::Read => moved,
        Op::Write if moved == 0 && length > 0 => -ENOSPC,
        Op::Write => moved,
        // A volume has no files: what is done to them moves nothing.
        _ => 0,
    }
}

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
