//! What the network takes for granted and a load or a cluster is not.

use super::Beyond;
use crate::ceiling::group_ports;
use crate::prediction::load::Load;
use catalogue::Cluster;
use catalogue::cluster::{NodeGroup, Role, fixed};

/// Squared coefficients of variation of sizes above this make waits vary by more than a few
/// percent: in simulations, rates with up to 1 were right, and with 4 and more 11 to 56 % lower.
const SIZES_VARY: f64 = 2.0;
/// What is touched lies in pieces of this size, each on one drive.
const PIECE_BYTES: f64 = 1_048_576.0;
/// Pieces of each drive from which on drives have as many within some tens of percent.
const LEAST_PIECES: f64 = 8.0;
/// Nodes are alike where none has this many times the figures of another.
const UNEQUAL: f64 = 1.5;

/// What it does not know of them.
pub(super) fn of(cluster: &Cluster, load: &Load) -> Vec<Beyond> {
    let moves_data = load.object.moves_data();
    [
        (Beyond::Sizes, moves_data && load.workload.sizes_vary > SIZES_VARY),
        (Beyond::FewPlaces, moves_data && has_few_places(cluster, load)),
        (Beyond::UnequalNodes, has_unequal_nodes(cluster)),
    ]
    .into_iter()
    .filter_map(|(what, is_so)| is_so.then_some(what))
    .collect()
}

/// Whether what is touched lies on few of the drives.
fn has_few_places(cluster: &Cluster, load: &Load) -> bool {
    let drives: u64 = cluster.drives(Role::Capacity).map(|(count, _)| count).sum();
    load.workload
        .footprint
        .is_some_and(|bytes| (bytes.0 as f64) < LEAST_PIECES * PIECE_BYTES * drives as f64)
}

/// Whether some nodes are faster or slower than others.
fn has_unequal_nodes(cluster: &Cluster) -> bool {
    let Some((first, others)) = cluster.nodes.split_first() else { return false };
    let like = figures(first);
    others.iter().any(|group| {
        figures(group).iter().zip(like).any(|(one, other)| {
            let (Some(one), Some(other)) = (one, other) else { return false };
            one / other > UNEQUAL || other / one > UNEQUAL
        })
    })
}

/// What a node of a group can do; `None` where nobody says.
fn figures(group: &NodeGroup) -> [Option<f64>; 6] {
    let all = |figure: &dyn Fn(&catalogue::cluster::Figures) -> Option<f64>| {
        let of = |drives: &catalogue::cluster::Drives| {
            Some(f64::from(drives.spec.count.value.0) * figure(&drives.figures)?)
        };
        let capacity =
            group.drives.iter().filter(|drives| drives.spec.role.value == Role::Capacity);
        capacity.map(of).sum::<Option<f64>>().filter(|sum| *sum > 0.0)
    };
    let cores = fixed(group.spec.cores.value).map(|cores| f64::from(cores.0));
    [
        all(&|figures| figures.read_bytes_per_s),
        all(&|figures| figures.write_bytes_per_s),
        all(&|figures| figures.read_iops),
        all(&|figures| figures.write_iops),
        group_ports(group).map(|all| all / group.count().max(1) as f64),
        cores,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Workload;
    use crate::prediction::load::Load;
    use model::load::SizeMix;
    use model::{Bytes, Object, Percent, Route};

    const NODES: &str = "name = \"t\"\n[[nodes]]\nname = \"a\"\ncount = 2\nports = \
                         1\nport_speed = \"25Gbit/s\"\n[[nodes.drives]]\ncount = 4\nmodel = \
                         \"p4610-3.2tb\"\n";

    fn cluster(more: &str) -> Cluster {
        Cluster::parse("t", &format!("{NODES}{more}"), &[]).expect("a testbed")
    }

    fn load(sizes: &str, footprint: Bytes) -> Load {
        let mix: SizeMix = sizes.parse().expect("sizes");
        let workload = Workload::of_mixes("w", &mix, &mix, Percent::ALL, Percent::ALL);
        let workload = Workload { footprint: Some(footprint), ..workload };
        let (remote, object, route) = (Percent::ZERO, Object::Blocks, Route::Testbed);
        Load { workload, hosts: 2, outstanding: 8, depth: 1, remote, object, route }
    }

    #[test]
    fn sizes_that_differ_much_and_few_places_are_beyond_it() {
        let of = |sizes: &str, footprint| of(&cluster(""), &load(sizes, footprint));
        assert_eq!(of("4KiB", Bytes::mib(64)), []);
        assert_eq!(of("4KiB:50, 64KiB:50", Bytes::mib(64)), []);
        assert_eq!(of("4KiB:99, 4MiB:1", Bytes::mib(64)), [Beyond::Sizes]);
        // Eight drives, and eight pieces of each.
        assert_eq!(of("4KiB", Bytes::mib(63)), [Beyond::FewPlaces]);
    }

    #[test]
    fn nodes_of_which_some_are_faster_are_beyond_it() {
        let of = |more: &str| of(&cluster(more), &load("4KiB", Bytes::mib(1024)));
        let second = NODES.split_once('\n').expect("lines").1.replace("\"a\"", "\"b\"");
        assert_eq!(of(&second), [], "another name alone");
        assert_eq!(of(&second.replace("25Gbit/s", "100Gbit/s")), [Beyond::UnequalNodes]);
        assert_eq!(of(&second.replace("count = 4", "count = 8")), [Beyond::UnequalNodes]);
    }
}
