//! The cores of the storage nodes.

use super::Workload;
use catalogue::Cluster;
use catalogue::cluster::fixed;

/// What the cores allow: cores ÷ core time of a request, as it was measured. A cost that is not
/// known leaves the layer out.
pub(super) fn cpu(cluster: &Cluster, workload: &Workload) -> Option<f64> {
    let cores: Option<f64> = cluster
        .nodes
        .iter()
        .map(|group| Some(group.count() as f64 * f64::from(fixed(group.spec.cores.value)?.0)))
        .sum();
    let (read, write) = (workload.read_share(), workload.write_share());
    let part = |share: f64, cost: catalogue::Auto<model::Nanos>| match fixed(cost) {
        Some(cost) => Some(share * cost.as_seconds()),
        None if share > 0.0 => None,
        None => Some(0.0),
    };
    let seconds = part(read, cluster.cpu.per_read.value)?
        + part(write, cluster.cpu.per_write.value)?
        + workload.bytes() / 1_048_576.0 * cluster.cpu.per_mib.value.as_seconds();
    Some(cores? / seconds)
}
