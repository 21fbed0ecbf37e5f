//! What is done to whole files: a server that knows the directory, its journal, and the file's
//! bytes. Pure, but for the chances that it draws.

use super::flow::{At, Flow, Hop};
use super::route::{Asked, Asker, Router, serve};
use super::topology::Topology;
use catalogue::cluster::{JOURNAL_BLOCK, KEPT_STAT};
use model::Op;
use model::rng::derive;

/// Sets the places of directories apart from those of files.
const DIRECTORIES: u64 = 0x00d1_2ec7;
/// Files of trees are volumes of their own; those of other layouts have smaller numbers.
const TREES: u32 = 1 << 31;

/// An operation on a file, or on a directory, of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) host: u32,
    pub(super) node: u32,
    pub(super) tree: u32,
    pub(super) op: Op,
    pub(super) directory: u64,
    pub(super) number: u64,
    /// Bytes that move; none where `op` moves none.
    pub(super) bytes: u64,
    pub(super) now_ns: u64,
}

impl Router {
    /// Lays the way of an operation by name: to the server of its directory and back, and then to
    /// the drives if bytes move.
    pub(super) fn lay_named(&mut self, topology: &Topology, named: &Named, flow: &mut Flow) {
        if named.op == Op::Stat && self.chance(self.settings.attributes_kept) {
            flow.head.push(Hop { at: At::Nowhere, delay_ns: KEPT_STAT.0 });
            return;
        }
        let is_change = named.op.changes_names();
        let ahead_ns = self.settings.ahead_ns(is_change).saturating_add(self.settings.share_ns);
        flow.head.push(Hop { at: At::Nowhere, delay_ns: ahead_ns });
        let key =
            derive(u64::from(named.host), &[DIRECTORIES, u64::from(named.tree), named.directory]);
        let asker = Asker::of(topology, named.host, named.node);
        let mut copies = std::mem::take(&mut self.copies);
        self.holders(topology, key, &mut copies);
        let server = &topology.nodes[copies[0] as usize];
        let way_ns = match asker {
            Asker::Node(own) if own == copies[0] => 0,
            Asker::Node(own) => {
                self.settings.way_ns(topology.nodes[own as usize].site != server.site)
            }
            Asker::Client(_) => self.settings.way_ns(false),
        };
        let busy_ns = match is_change {
            true if named.op == Op::Create => self.settings.create_cpu_ns,
            true => self.settings.change_cpu_ns,
            false => self.settings.lookup_cpu_ns,
        };
        flow.head.push(Hop { at: At::Nowhere, delay_ns: way_ns });
        serve(server, busy_ns, flow);
        self.take_message(server, flow);
        if is_change {
            self.keep_journal(topology, key, &copies, named.now_ns, flow);
        }
        flow.head.push(Hop { at: At::Nowhere, delay_ns: way_ns });
        self.copies = copies;
        if named.bytes == 0 {
            return;
        }
        let asked = Asked {
            host: named.host,
            owner: named.host,
            node: named.node,
            mover: None,
            file: TREES | named.tree,
            // A place of its own for each file.
            offset: named.number << super::route::SLAB_BITS,
            bytes: named.bytes,
            longer: 1.0,
            is_write: named.op != Op::ReadFile,
            is_sequential: false,
            now_ns: named.now_ns,
        };
        self.lay_bytes(topology, &asked, flow);
    }

    /// A change is safe when every copy of the journal has it, one after the other.
    fn keep_journal(
        &mut self,
        topology: &Topology,
        key: u64,
        copies: &[u32],
        now_ns: u64,
        flow: &mut Flow,
    ) {
        let asked = Asked {
            host: 0,
            owner: 0,
            node: 0,
            mover: None,
            file: 0,
            offset: 0,
            bytes: JOURNAL_BLOCK.0,
            longer: 1.0,
            is_write: true,
            is_sequential: false,
            now_ns,
        };
        for &copy in copies {
            let (from, to) = (&topology.nodes[copies[0] as usize], &topology.nodes[copy as usize]);
            if copy != copies[0] {
                self.send(topology, from, to, JOURNAL_BLOCK.0 as f64, &mut flow.head);
            }
            self.store(to, &asked, JOURNAL_BLOCK.0 as f64, key, true, &mut flow.head);
            if copy != copies[0] {
                let back_ns = self.settings.way_ns(from.site != to.site);
                flow.head.push(Hop { at: At::Nowhere, delay_ns: back_ns });
            }
        }
    }
}
