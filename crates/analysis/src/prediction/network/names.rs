//! What servers of names and of tokens do for a request, and what clients do themselves.

use super::{Network, Owner, Part, Station, Visit};
use crate::prediction::load::Load;
use crate::prediction::parameter::{Parameter, Values};
use catalogue::Cluster;
use catalogue::cluster::{TOKEN_BLOCK, fixed};
use model::{Bytes, Object, Op};

/// What each copy of a journal writes for a change: a block, as in a simulation.
pub(super) const JOURNAL_BYTES: f64 = 4096.0;
/// What a client takes for a `stat` that it answers itself: a system call and a look into a table
/// of its own. Assumed.
const KEPT_S: f64 = 5e-6;

/// What is done for each request of a load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names {
    /// Looks at a directory or an inode.
    pub(super) lookups: f64,
    /// Changes of one.
    pub(super) changes: f64,
    /// Whether clients may know the answer.
    pub(super) is_stat: bool,
    /// Tokens of a shared file that are asked for.
    tokens: f64,
    /// Whether the operation is on whole files, whose path is that of its look-up or change.
    is_named: bool,
    /// Cores of each server.
    lanes: f64,
}

impl Names {
    pub(super) fn of(cluster: &Cluster, load: &Load) -> Names {
        let lanes = f64::from(cluster.name_lanes());
        let workload = &load.workload;
        match load.object {
            Object::Blocks => Names { lanes, ..Names::default() },
            Object::SharedFile => {
                // In sequence each block of the file comes once, and its token with it. At random
                // blocks come again, and each host has its tokens.
                let block = fixed::<Bytes>(cluster.access.token_block.value).unwrap_or(TOKEN_BLOCK);
                let each = workload.bytes() / block.0.max(1) as f64;
                Names { tokens: (1.0 - workload.random) * each, lanes, ..Names::default() }
            }
            Object::Files(op) => {
                let changes = if op.changes_names() { 1.0 } else { 0.0 };
                let (lookups, is_stat) = (1.0 - changes, op == Op::Stat);
                Names { lookups, changes, is_stat, tokens: 0.0, is_named: true, lanes }
            }
        }
    }

    /// Looks of all kinds.
    pub(super) fn asks(&self) -> f64 {
        self.lookups + self.tokens
    }

    /// Paths of a read that a request waits for, where `reads` of it read data; and those of a
    /// write.
    fn paths(&self, reads: f64, writes: f64, kept: f64) -> (f64, f64) {
        if self.is_named {
            (self.lookups * (1.0 - kept), self.changes)
        } else {
            (reads + self.tokens, writes)
        }
    }
}

impl Network {
    /// The share of this load's look-ups that clients answer themselves.
    fn kept(&self, values: &Values) -> f64 {
        if self.names.is_stat { values.get(Parameter::AttributesKept) } else { 0.0 }
    }

    /// Waits for the paths of data, names and tokens.
    pub(super) fn paths(&self, values: &Values) -> [Part; 3] {
        let kept = self.kept(values);
        let (reads, writes) = self.names.paths(self.reads, self.writes, kept);
        let part = |parameter: Parameter, seconds: f64| Part {
            owner: Owner::Parameter(parameter),
            seconds,
        };
        [
            part(Parameter::ReadPath, reads * values.get(Parameter::ReadPath)),
            part(Parameter::WritePath, writes * values.get(Parameter::WritePath)),
            part(Parameter::AttributesKept, kept * self.names.lookups * KEPT_S),
        ]
    }

    /// The cores of servers that know directories, and of the one that has a file's tokens.
    pub(super) fn servers(&self, values: &Values) -> Vec<Station> {
        let names = &self.names;
        let visit = |times: f64, parameter: Parameter| {
            Visit::new(times, Owner::Parameter(parameter), values.get(parameter))
        };
        let mut stations = Vec::new();
        if names.is_named {
            let lookups = names.lookups * (1.0 - self.kept(values));
            let visits =
                vec![visit(lookups, Parameter::Lookup), visit(names.changes, Parameter::Change)];
            stations.push(Station { servers: names.lanes, ..Station::of(self.nodes, visits) });
        }
        if names.tokens > 0.0 {
            let visits = vec![visit(names.tokens, Parameter::Lookup)];
            stations.push(Station { servers: names.lanes, ..Station::of(1.0, visits) });
        }
        stations
    }
}
