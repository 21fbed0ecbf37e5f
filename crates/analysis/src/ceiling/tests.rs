use super::network::ports_bytes_per_s;
use super::*;
use catalogue::cluster::{Change, WhatIf};
use model::{Bytes, Percent};
use proptest::prelude::*;

const A: &str = include_str!("../../../../reference/testbeds/azure-stack-hci.toml");
const B: &str = include_str!("../../../../reference/testbeds/s2d-disaggregated.toml");
const C: &str = include_str!("../../../../reference/testbeds/vsan-four-corners.toml");
const D: &str = include_str!("../../../../reference/testbeds/hyperflex-stretched.toml");
const E: &str = include_str!("../../../../reference/testbeds/pixstor-nvme.toml");

fn cluster(text: &str, what_if: &str) -> Cluster {
    let changes: Vec<Change> = if what_if.is_empty() {
        Vec::new()
    } else {
        what_if.parse::<WhatIf>().expect("a what-if").changes
    };
    Cluster::parse("testbed", text, &changes)
        .unwrap_or_else(|errors| panic!("{:?}", errors.problems))
}

fn work(kib: u64, read: u32, is_random: bool, footprint_tb: f64) -> Workload {
    let footprint = (footprint_tb > 0.0).then_some(Bytes((footprint_tb * 1e12) as u64));
    Workload::new("w", Bytes::kib(kib), Percent::of(read), is_random, footprint)
}

fn judge(text: &str, what_if: &str, workload: &Workload) -> Ceiling {
    ceiling(&cluster(text, what_if), workload)
}

fn bytes_per_s(ceiling: &Ceiling, layer: Layer) -> f64 {
    ceiling.limit(layer).expect("the layer is known").iops * ceiling.workload.bytes()
}

/// Whether two figures agree within a share of the second.
fn near(figure: f64, wanted: f64, within: f64) -> bool {
    (figure - wanted).abs() <= within * wanted.abs()
}

#[test]
fn a_footprint_that_the_drives_cannot_hold_is_said() {
    let fits = |text: &str, footprint_tb: f64| {
        let found = judge(text, "", &work(4, 100, true, footprint_tb)).assumptions;
        found
            .into_iter()
            .find_map(|one| if let Assumption::Fits(bytes) = one { Some(bytes) } else { None })
    };
    assert_eq!(
        [(A, 10.0), (C, 1.6), (C, 8.0), (C, 16.0), (E, 0.0)].map(|(text, tb)| fits(text, tb)),
        [None; 5]
    );
    let raw: f64 = cluster(E, "")
        .drives(catalogue::cluster::Role::Capacity)
        .map(|(count, figures)| count as f64 * figures.capacity_bytes.expect("known"))
        .sum();
    assert!(near(fits(E, 1e4).expect("said"), raw / 2.0, 1e-9), "two copies");
}

#[test]
fn report_a_the_cpu_binds_at_4k_and_the_drives_at_128k() {
    let footprint = 36.0 * 1.073_741_824e-3;
    let small = judge(A, "", &work(4, 100, true, footprint));
    assert_eq!(small.binding().map(|limit| limit.layer), Some(Layer::Cpu), "{:?}", small.limits);
    assert_eq!(small.next().map(|limit| limit.layer), Some(Layer::Cache));
    // All of it came from the cache.
    assert_eq!(small.hits, Some((1.0, 1.0)));
    let large = judge(A, "", &work(128, 100, false, footprint));
    assert_eq!(large.binding().map(|limit| limit.layer), Some(Layer::Cache), "{:?}", large.limits);
    assert!(near(bytes_per_s(&large, Layer::Cache), 12.0 * 3.2e9, 1e-9));
    // What a read costs is assumed, in a range that the testbed states: what binds has to be the
    // same over all of it.
    for per_read in ["40us", "60us", "97us"] {
        let what_if = format!("cpu.per_read={per_read}");
        let small = judge(A, &what_if, &work(4, 100, true, footprint));
        assert_eq!(
            small.binding().map(|limit| limit.layer),
            Some(Layer::Cpu),
            "{per_read}: {:?}",
            small.limits
        );
        let large = judge(A, &what_if, &work(128, 100, false, footprint));
        let cpu = large.limit(Layer::Cpu).expect("a cost");
        assert!(
            large.binding().expect("known").iops < 0.3 * cpu.iops,
            "{per_read}: {:?}",
            large.limits
        );
    }
    // Past the cache, the capacity drives bind.
    let spilled = judge(A, "", &work(128, 100, false, 1_000.0));
    assert_eq!(
        spilled.binding().map(|limit| limit.layer),
        Some(Layer::Drives),
        "{:?}",
        spilled.limits
    );
}

#[test]
fn report_a_a_server_moved_39_of_its_100_gbit_and_writes_are_three() {
    let cluster = cluster(A, "");
    let all = ports_bytes_per_s(&cluster).expect("ports are known") * 8.0;
    let servers = cluster.node_count() as f64;
    assert!(near(all / servers, 100e9, 1e-9));
    assert!(near(234e9 / servers, 39e9, 1e-9) && near(234e9 / all, 0.39, 1e-9));
    let write = judge(A, "", &work(4, 0, true, 0.0));
    assert_eq!(write.amplification.drive_writes, 3.0);
}

#[test]
fn report_b_the_compute_node_s_port_binds_reads() {
    let read = judge(B, "", &work(64, 100, false, 0.06));
    assert_eq!(
        read.binding().map(|limit| limit.layer),
        Some(Layer::ClientPorts),
        "{:?}",
        read.limits
    );
    assert!(near(bytes_per_s(&read, Layer::ClientPorts), 1.25e9, 1e-9));
    // Its 100,000 requests per second fit through the port up to 12.5 kB each.
    let small = judge(B, "", &work(8, 100, true, 0.06));
    assert!(small.share(100_000.0).is_some_and(|share| share < 1.0));
}

#[test]
fn report_c_the_cache_serves_the_first_footprints_and_disks_bind_at_the_last() {
    let read = |footprint| judge(C, "", &work(4, 100, true, footprint));
    let (in_cache, partly, spilled) = (read(1.6), read(8.0), read(16.0));
    for served in [&in_cache, &partly] {
        assert_eq!(
            served.limit(Layer::Drives),
            None,
            "no read reaches a disk: {:?}",
            served.limits
        );
    }
    assert_eq!(
        spilled.binding().map(|limit| limit.layer),
        Some(Layer::Drives),
        "{:?}",
        spilled.limits
    );
    // 80 disks of 200 per second get the reads that 8.96 of 16 TB do not answer.
    assert!(near(spilled.binding().expect("known").iops, 80.0 * 200.0 / 0.44, 1e-9));
    // At 8 TB the part of the cache that takes up writes is smaller than the footprint, at 1.6 TB
    // it is not.
    let write = |footprint| judge(C, "", &work(4, 0, true, footprint)).hits.expect("a cache").1;
    assert_eq!(write(1.6), 1.0);
    assert!(near(write(8.0), 0.24, 1e-9) && near(write(16.0), 0.12, 1e-9));
    let mix = judge(C, "", &work(8, 70, true, 16.0));
    assert_eq!(mix.binding().map(|limit| limit.layer), Some(Layer::Drives), "{:?}", mix.limits);
}

#[test]
fn report_c_no_published_figure_is_above_its_ceiling() {
    let rows = [
        (4, 100, true, [227_241.6, 150_829.0, 6_747.3]),
        (4, 0, true, [63_867.8, 64_204.3, 14_403.6]),
        (8, 70, true, [121_329.2, 88_853.7, 8_584.2]),
        (32, 100, false, [86_379.1, 72_904.1, 79_702.8]),
        (32, 0, false, [38_184.4, 30_645.7, 34_610.9]),
    ];
    for (kib, read, is_random, figures) in rows {
        for (footprint, iops) in [1.6, 8.0, 16.0].into_iter().zip(figures) {
            let ceiling = judge(C, "", &work(kib, read, is_random, footprint));
            let share = ceiling.share(iops).expect("known");
            assert!(
                share < 1.0,
                "{kib}K {read} % at {footprint} TB: {share:.2} of {:?}",
                ceiling.limits
            );
        }
    }
}

#[test]
fn report_c_more_nodes_bring_more_cache() {
    let read = work(4, 100, true, 16.0);
    let hits = |what_if| judge(C, what_if, &read).hits.expect("a cache").0;
    assert!(near(hits(""), 0.56, 1e-9) && near(hits("nodes+2"), 0.84, 1e-9));
    let (four, six) = (judge(C, "", &read), judge(C, "nodes+2", &read));
    // Half as many disks again, and 16 instead of 44 % of the reads for them.
    assert!(near(
        six.limit(Layer::Drives).expect("known").iops,
        four.limit(Layer::Drives).expect("known").iops * 1.5 * 0.44 / 0.16,
        1e-9
    ));
    // A copy for each of two nodes: of two blocks written, on average one half is local on four
    // nodes, a third on six.
    let sent = |what_if| bytes_per_s(&judge(C, what_if, &work(4, 0, true, 1.0)), Layer::Ports);
    assert!(
        near(sent(""), 4.0 * 1.25e9 / 1.5, 1e-9)
            && near(sent("nodes+2"), 6.0 * 1.25e9 / (2.0 - 1.0 / 3.0), 1e-9)
    );
}

#[test]
fn report_d_a_remote_master_makes_every_read_cross_and_writes_go_to_four_drives() {
    let mix = work(8, 67, true, 1.0);
    let local = judge(D, "", &mix);
    let remote = judge(D, "access.remote_site_reads=100,access.remote_site_writes=100", &mix);
    let across = |ceiling: &Ceiling| ceiling.limit(Layer::SiteLink).expect("a path").iops;
    // Local: a third of the requests, the writes, cross once. Remote: reads cross, and writes
    // twice.
    assert!(near(across(&local) / across(&remote), (0.67 + 2.0 * 0.33) / 0.33, 1e-6));
    assert_eq!(local.amplification.drive_writes, 4.0);
    assert!(local.share(20_000.0).is_some_and(|share| share < 1.0));
}

#[test]
fn report_e_drives_102_ports_96_the_socket_link_and_half_for_one_pair() {
    let read = work(8192, 100, false, 0.0);
    let whole = judge(E, "", &read);
    assert!(near(bytes_per_s(&whole, Layer::Drives), 102.4e9, 1e-9));
    assert!(near(bytes_per_s(&whole, Layer::Ports), 96e9, 1e-9));
    assert_eq!(whole.binding().map(|limit| limit.layer), Some(Layer::Ports));
    assert_eq!(whole.next().map(|limit| limit.layer), Some(Layer::Drives));
    // Half of what the ports carry crosses the socket link: 4 links of 41.6 GB/s carry twice that
    // in all.
    assert!(near(bytes_per_s(&whole, Layer::SocketLink), 2.0 * 4.0 * 41.6e9, 1e-9));
    // 84.5 GB/s were read: 88 % of what the ports allow.
    assert!(near(whole.share(84.5e9 / read.bytes()).expect("known"), 0.88, 0.01));
    let pair = judge(E, "nodes-2", &read);
    assert!(near(
        pair.binding().expect("known").iops * 2.0,
        whole.binding().expect("known").iops,
        1e-9
    ));
    // A mirror takes two writes on drives, and two of what the ports receive: 48 GB/s each way.
    let write = judge(E, "", &work(8192, 0, false, 0.0));
    assert!(
        near(bytes_per_s(&write, Layer::Ports), 48e9, 1e-9)
            && near(bytes_per_s(&write, Layer::Drives), 48e9, 1e-9)
    );
    assert!(write.share(40.9e9 / read.bytes()).is_some_and(|share| share < 1.0));
    // The smaller drives could not have done it: the figure would be above their ceiling.
    let small = judge(E, "nodes.drives.model=\"p4610-1.6tb\"", &work(8192, 0, false, 0.0));
    assert!(small.share(40.9e9 / read.bytes()).is_some_and(|share| share > 1.2));
}

#[test]
fn lifting_the_binding_layer_leaves_the_next() {
    let read = work(8192, 100, false, 0.0);
    let whole = judge(E, "", &read);
    let more = judge(E, "ports+1", &read);
    assert_eq!(more.binding(), whole.next());
}

#[test]
fn parity_costs_a_small_write_old_and_new_and_a_stripe_its_share() {
    let nodes = "name = \"p\"\n[[nodes]]\ncount = 6\n[[nodes.drives]]\nread_iops = \
                 1000\nwrite_iops = 1000\nread = \"1GB/s\"\nwrite = \"1GB/s\"\n";
    let text = format!("{nodes}[protection]\ndata = 4\nparity = 2\n");
    // RAID 6: six drive requests for each small write (Patterson et al. count four with one
    // parity).
    let small = judge(&text, "", &work(4, 0, true, 0.0));
    assert_eq!(small.limit(Layer::Drives).map(|limit| limit.iops), Some(1_000.0));
    let full = judge(&text, "", &work(1024, 0, false, 0.0));
    assert!(near(bytes_per_s(&full, Layer::Drives), 4e9, 1e-9));
    // A node keeps one of six parts of a stripe, a quarter of its data, and sends the others.
    let wired = text.replace("count = 6", "count = 6\nports = 1\nport_speed = \"10Gbit/s\"");
    for more in ["", "[access]\ncopies_used = \"any\"\n"] {
        let full = judge(&format!("{wired}{more}"), "", &work(1024, 0, false, 0.0));
        assert!(near(bytes_per_s(&full, Layer::Ports), 6e9, 1e-9));
    }
}

#[test]
fn what_is_not_known_is_left_out_and_what_is_taken_for_granted_is_said() {
    let bare = judge("name = \"x\"\n[[nodes]]\n", "", &work(4, 0, true, 0.0));
    assert_eq!((bare.binding(), bare.share(1.0)), (None, None));
    assert_eq!(bare.assumptions, [Assumption::OneCopy]);
    let text = "name = \"x\"\n[protection]\ncopies = 2\n[[nodes]]\ncount = 4\nports = \
                1\nport_speed = \"10Gbit/s\"\n[[nodes.drives]]\nrole = \"cache\"\nmodel = \
                \"nvme-gen3\"\n";
    let read = judge(text, "", &work(4, 100, true, 1.0));
    assert_eq!(
        read.assumptions,
        [Assumption::CacheSize(4.0 * 1.92e12 / 2.0), Assumption::LocalReads(0.5)]
    );
    let mix = judge(text, "", &work(4, 50, true, 0.0));
    assert!(
        mix.assumptions.contains(&Assumption::InCache)
            && mix.assumptions.contains(&Assumption::LocalWrites)
    );
    // One drive whose random rate is unknown leaves its layer out rather than counting as nothing.
    let unknown = format!("{text}[[nodes.drives]]\nrole = \"cache\"\nread = \"1GB/s\"\n");
    assert_eq!(judge(&unknown, "", &work(4, 100, true, 0.0)).limit(Layer::Cache), None);
}

proptest! {
    #[test]
    fn more_of_anything_never_lowers_a_ceiling_and_more_copies_never_raise_it(
        testbed in 0usize..5, kib in 1u64..1024, read in 0u32..=100, is_random: bool,
            footprint in 0.01f64..40.0,
    ) {
        let text = [A, B, C, D, E][testbed];
        let workload = work(kib, read, is_random, footprint);
        let base = judge(text, "", &workload).binding().expect("known").iops;
        for more in ["nodes.ports+1", "nodes.drives.count+1"] {
            let raised = judge(text, more, &workload).binding().expect("known").iops;
            prop_assert!(raised >= base * (1.0 - 1e-9), "{more}: {base} to {raised}");
        }
        // Where the nearest copy is used, more of them mean more local reads.
        if testbed == 3 {
            return Ok(());
        }
        // With a footprint, more copies leave less room in the cache: where its drives bind, they
        // then have less to answer.
        let fits = Workload { footprint: None, ..workload };
        let base = judge(text, "", &fits).binding().expect("known").iops;
        let safer = judge(text, "copies+1", &fits).binding().expect("known").iops;
        prop_assert!(safer <= base * (1.0 + 1e-9), "{base} to {safer}");
    }

    #[test]
    fn every_limit_is_a_positive_number_and_they_rise(
        testbed in 0usize..5, kib in 1u64..100_000, read in 0u32..=100, is_random: bool,
            footprint in 0.0f64..1e5,
    ) {
        let ceiling = judge([A, B, C, D, E][testbed], "", &work(kib, read, is_random, footprint));
        assert!(!ceiling.limits.is_empty());
        prop_assert!(ceiling.limits.iter().all(|limit| limit.iops.is_finite() && limit.iops > 0.0));
        prop_assert!(ceiling.limits.is_sorted_by(|a, b| a.iops <= b.iops));
    }
}
