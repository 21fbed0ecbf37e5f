//! What copies or parity make of each write: on drives and over the network.

use super::Workload;
use catalogue::Cluster;
use catalogue::cluster::{Placement, fixed};

/// What one write of a client becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amplification {
    /// Writes on drives.
    pub drive_writes: f64,
    /// Reads on drives, which a small write under parity needs first.
    pub drive_reads: f64,
    /// Blocks that have to reach a node, the one that takes the write included.
    pub blocks: f64,
    /// Blocks, or parts of one, that a node has at most of a write.
    pub own: f64,
    /// Bytes that each byte of data takes on drives.
    pub space: f64,
}

/// Whether the testbed says nothing about protection.
pub(super) fn is_unsaid(cluster: &Cluster) -> bool {
    let protection = &cluster.protection;
    fixed(protection.copies.value).is_none() && fixed(protection.parity.value).is_none()
}

/// What protection makes of each write of `workload`.
///
/// Copies: each is a write. Parity over `d` data and `p` parity blocks: a full stripe writes (d +
/// p) ÷ d; a small write reads the old block and the old parities and writes the new ones, 1 + p of
/// each (Patterson, Gibson and Katz, "A Case for Redundant Arrays of Inexpensive Disks", SIGMOD
/// 1988), and sends the block and p differences.
pub fn amplification(cluster: &Cluster, workload: &Workload) -> Amplification {
    let protection = &cluster.protection;
    match (fixed(protection.data.value), fixed(protection.parity.value)) {
        (Some(data), Some(parity)) => {
            let (data, parity) = (f64::from(data.0), f64::from(parity.0));
            let stripe = (data + parity) / data;
            let (small, full) = (workload.random, 1.0 - workload.random);
            Amplification {
                drive_writes: small * (1.0 + parity) + full * stripe,
                drive_reads: small * (1.0 + parity),
                blocks: small * (1.0 + parity) + full * stripe,
                own: small + full / data,
                space: stripe,
            }
        }
        _ => {
            let copies = fixed(protection.copies.value).map_or(1.0, |copies| f64::from(copies.0));
            Amplification {
                drive_writes: copies,
                drive_reads: 0.0,
                blocks: copies,
                own: 1.0,
                space: copies,
            }
        }
    }
}

/// Blocks that leave the node which takes a write, where `local` is the share that may stay there.
pub(super) fn sent_on(cluster: &Cluster, amplification: &Amplification, local: f64) -> f64 {
    match cluster.protection.placement.value {
        // All copies are on one node, which may be another than the one that was asked.
        Placement::Drive => 1.0 - local,
        Placement::Node | Placement::Site => {
            (amplification.blocks - local * amplification.own).max(0.0)
        }
    }
}
