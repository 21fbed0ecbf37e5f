//! What servers of names and of tokens do for a request, and what clients do themselves.

use super::{Network, Owner, Part, Station, Visit};
use crate::prediction::load::Load;
use crate::prediction::parameter::{Parameter, Values};
use catalogue::Cluster;
use catalogue::cluster::{KEPT_STAT, TOKEN_BLOCK, fixed};
use model::{Bytes, Object, Op, Route};

/// How often a block's token is asked for where requests take `each` of it one after the other: to
/// read it, and once more to write it where a read came first.
fn asked(reads: f64, each: f64) -> f64 {
    let further = (1.0 / each.max(1e-9) - 1.0).max(0.0);
    1.0 + reads * (1.0 - reads.powf(further))
}

/// What is done for each request of a load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names {
    /// Looks at a directory or an inode.
    pub(super) lookups: f64,
    /// Changes of one.
    pub(super) changes: f64,
    /// Whether that makes a file.
    pub(super) is_create: bool,
    /// Whether it is a `stat`, and clients may know the answer.
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
                let tokens = (1.0 - workload.random) * each * asked(workload.read_share(), each);
                Names { tokens, lanes, ..Names::default() }
            }
            Object::Files(op) => {
                let changes = if op.changes_names() { 1.0 } else { 0.0 };
                let is_stat = op == Op::Stat && cluster.clients.keep_attributes.value;
                let lookups = 1.0 - changes;
                let is_create = op == Op::Create;
                Names { lookups, changes, is_create, is_stat, tokens: 0.0, is_named: true, lanes }
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

    /// What a share adds to each request: to its path, and on a core of a node.
    fn share(&self) -> Option<(Parameter, Parameter)> {
        match self.route {
            Route::Testbed | Route::Local => None,
            Route::SmbDirect => Some((Parameter::RdmaPath, Parameter::RdmaMessage)),
            Route::Smb => Some((Parameter::TcpPath, Parameter::TcpMessage)),
        }
    }

    /// Waits for the paths of data, names and tokens, and of a share.
    pub(super) fn paths(&self, values: &Values) -> Vec<Part> {
        let kept = self.kept(values);
        let (reads, writes) = self.names.paths(self.reads, self.writes, kept);
        let part = |parameter: Parameter, seconds: f64| Part {
            owner: Owner::Parameter(parameter),
            seconds,
        };
        let mut paths = vec![
            part(Parameter::ReadPath, reads * values.get(Parameter::ReadPath)),
            part(Parameter::WritePath, writes * values.get(Parameter::WritePath)),
            part(Parameter::AttributesKept, kept * self.names.lookups * KEPT_STAT.as_seconds()),
        ];
        paths.extend(self.share().map(|(path, _)| part(path, values.get(path))));
        paths
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
            let change = if names.is_create { Parameter::Create } else { Parameter::Change };
            let visits = vec![visit(lookups, Parameter::Lookup), visit(names.changes, change)];
            stations.push(Station { servers: names.lanes, ..Station::of(self.nodes, visits) });
        }
        if let Some((_, message)) = self.share() {
            // Names, and the data behind them.
            let further = if names.is_named { self.reads + self.writes } else { 0.0 };
            let visits = vec![visit(1.0 + further, message)];
            stations.push(Station { servers: names.lanes, ..Station::of(self.nodes, visits) });
        }
        if names.tokens > 0.0 {
            let visits = vec![visit(names.tokens, Parameter::Lookup)];
            stations.push(Station { servers: names.lanes, ..Station::of(1.0, visits) });
        }
        stations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVERS: &str = r#"
        name = "t"
        [[nodes]]
        count = 2
        cores = 4
        [[nodes.drives]]
        model = "p4610-3.2tb"
        [protection]
        copies = 2
        [clients]
        count = 4
        keep_attributes = true
        [software]
        read_path = "100us"
        write_path = "200us"
        lookup = "50us"
        change = "300us"
        drive_write = "20us"
        attributes_kept = "50%"
    "#;

    fn rate(op: Op, outstanding: u64) -> f64 {
        let cluster = Cluster::parse("t", SERVERS, &[]).expect("a testbed");
        let workload = crate::prediction::load::on_files("w", op, Bytes::kib(4), 1 << 20);
        let (remote, object, route) = (model::Percent::ZERO, Object::Files(op), Route::Testbed);
        let load = Load { workload, hosts: 4, outstanding, depth: 1, remote, object, route };
        Network::new(&cluster, &load).carries(&Values::of(&cluster)).rate
    }

    #[test]
    fn one_thread_takes_its_path_a_core_and_the_journal_of_each_copy() {
        let is = |op: Op, microseconds: f64| {
            let found = 1e6 / rate(op, 1);
            assert!((found - microseconds).abs() < 1e-6, "{op}: {found} for {microseconds}");
        };
        is(Op::Open, 100.0 + 50.0);
        is(Op::Remove, 200.0 + 300.0 + 2.0 * 20.0);
        // Half of them cost a client 5 µs alone.
        is(Op::Stat, 0.5 * (100.0 + 50.0) + 0.5 * 5.0);
    }

    #[test]
    fn many_threads_keep_all_cores_of_the_servers_busy() {
        let most = rate(Op::Open, 4096);
        assert!((most * 50e-6 / 8.0 - 1.0).abs() < 0.01, "eight cores: {most}");
        assert!((rate(Op::Stat, 4096) / (2.0 * most) - 1.0).abs() < 0.01, "half of them ask");
    }

    #[test]
    fn a_block_is_asked_for_once_and_again_where_a_write_follows_a_read() {
        let is = |reads: f64, each: f64, times: f64| (asked(reads, each) - times).abs() < 1e-12;
        assert!(is(1.0, 0.125, 1.0) && is(0.0, 0.125, 1.0) && is(0.5, 1.0, 1.0));
        assert!(is(0.5, 0.5, 1.25), "a read, and then a write: a quarter of the pairs");
    }
}
