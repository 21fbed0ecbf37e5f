//! What the network takes for granted and a load or a cluster is not.

use super::Beyond;
use crate::ceiling::group_ports;
use crate::prediction::load::Load;
use catalogue::Cluster;
use catalogue::cluster::{NodeGroup, Placement, Role, fixed};
use model::Percent;

/// Squared coefficients of variation of sizes above this make waits vary by more than a few
/// percent: in simulations, rates with up to 2 were right, and with 4 and more 10 to 41 % lower.
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
        (Beyond::HotPlaces, moves_data && load.workload.popularity.is_some()),
        (Beyond::FewStreams, moves_data && has_few_streams(cluster, load)),
        (Beyond::Stripes, moves_data && writes_stripes(cluster, load)),
        (Beyond::Sites, moves_data && copies_cross_untold(cluster)),
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

/// Whether workers in order have several requests outstanding each, and either they or their hosts
/// are fewer than nodes: windows of requests then meet few drives. In simulations, rates were up to
/// 29 % lower.
fn has_few_streams(cluster: &Cluster, load: &Load) -> bool {
    let nodes = cluster.node_count();
    let hosted = if cluster.has_clients() { nodes } else { u64::from(load.hosts) };
    let streams = load.outstanding / load.depth.max(1);
    load.depth > 1 && load.workload.random < 1.0 && (streams < nodes || hosted < nodes)
}

/// Whether writes in order become stripes with parity, or any write one behind a cache: rates were
/// up to 28 % lower in simulations.
fn writes_stripes(cluster: &Cluster, load: &Load) -> bool {
    let has_parity =
        fixed(cluster.protection.parity.value).is_some_and(|parity: catalogue::Count| parity.0 > 0);
    let has_cache = cluster.drives(Role::Cache).next().is_some();
    let writes = load.workload.read < Percent::ALL;
    has_parity && writes && (load.workload.random < 1.0 || has_cache)
}

/// Whether nodes are of two sites and copies keep to no rule: how many cross is not known.
fn copies_cross_untold(cluster: &Cluster) -> bool {
    let site = |group: &NodeGroup| group.spec.site.value;
    let first = cluster.nodes.first().map(site);
    let has_two = cluster.nodes.iter().any(|group| Some(site(group)) != first);
    has_two && cluster.protection.placement.value != Placement::Site
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
    fn what_keeps_to_few_drives_or_waits_for_its_parts_is_beyond_it() {
        let even = load("64KiB", Bytes::mib(1024));
        let of_one = |read: Percent, random: f64, hosts: u32, outstanding: u64, depth: u64| {
            let workload = Workload { read, random, ..even.workload.clone() };
            Load { workload, hosts, outstanding, depth, ..even.clone() }
        };
        let streams =
            |hosts, outstanding, depth| of_one(Percent::ALL, 0.0, hosts, outstanding, depth);
        let plain = cluster("");
        assert_eq!(of(&plain, &streams(2, 16, 8)), []);
        assert_eq!(of(&plain, &streams(1, 16, 8)), [Beyond::FewStreams]);
        assert_eq!(of(&plain, &streams(2, 8, 8)), [Beyond::FewStreams], "one worker");
        assert_eq!(of(&plain, &streams(1, 16, 1)), []);
        let more = "[[nodes]]\nname = \"b\"\ncount = 2\nports = 1\nport_speed = \
                    \"25Gbit/s\"\n[[nodes.drives]]\ncount = 4\nmodel = \"p4610-3.2tb\"\n";
        let striped = cluster(&format!("{more}[protection]\ndata = 3\nparity = 1\n"));
        assert_eq!(of(&striped, &of_one(Percent::ZERO, 0.0, 4, 8, 1)), [Beyond::Stripes]);
        assert_eq!(of(&striped, &of_one(Percent::ZERO, 1.0, 4, 8, 1)), []);
        assert_eq!(of(&striped, &of_one(Percent::ALL, 0.0, 4, 8, 1)), []);
        let two_sites = more.replace("count = 2\n", "count = 2\nsite = 2\n");
        let near = cluster(&format!("{two_sites}[protection]\ncopies = 2\n"));
        assert_eq!(of(&near, &even), [Beyond::Sites]);
        let apart = format!("{two_sites}[protection]\ncopies = 2\nplacement = \"site\"\n");
        assert_eq!(of(&cluster(&apart), &even), []);
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
