//! Closed loops against the testbeds of the field reports: the shapes that their authors saw.

use super::*;
use model::rng::Rng;
use std::collections::HashMap;

const A: &str = include_str!("../../../../reference/testbeds/azure-stack-hci.toml");
const B: &str = include_str!("../../../../reference/testbeds/s2d-disaggregated.toml");
const C: &str = include_str!("../../../../reference/testbeds/vsan-four-corners.toml");
const D: &str = include_str!("../../../../reference/testbeds/hyperflex-stretched.toml");
pub(super) const E: &str = include_str!("../../../../reference/testbeds/pixstor-nvme.toml");

/// What is asked of a cluster.
#[derive(Clone, Copy)]
struct Load {
    hosts: u32,
    /// Streams of each host, each with `depth` requests outstanding.
    streams: u32,
    depth: u32,
    block: u64,
    /// In percent.
    read: u64,
    /// In percent.
    random: u64,
    footprint_tb: f64,
    requests: u64,
}

const LOAD: Load = Load {
    hosts: 16,
    streams: 10,
    depth: 2,
    block: 4096,
    read: 100,
    random: 100,
    footprint_tb: 1.0,
    requests: 60_000,
};

const OF_REPORT_D: Load =
    Load { hosts: 10, streams: 5, depth: 1, block: 8192, read: 67, random: 50, ..LOAD };

struct Seen {
    cluster: Cluster,
    iops: f64,
    mean_ns: f64,
    outstanding: f64,
    bytes_per_s: f64,
    elapsed_ns: u64,
    /// Requests of each host, and of each in each tenth of a second.
    by_host: Vec<u64>,
    over_time: HashMap<(u32, u64), u64>,
}

impl Seen {
    fn busy(&self, layer: Layer) -> f64 {
        self.cluster.utilisation(layer, self.elapsed_ns).unwrap_or(0.0)
    }
}

pub(super) fn cluster(testbed: &str, parameters: &str, what_if: &str, seed: u64) -> Cluster {
    let spec =
        ClusterSpec::parse(&format!("cluster=x,volume=1TiB,{parameters}")).expect(parameters);
    let changes = match what_if {
        "" => Vec::new(),
        what_if => what_if.parse::<catalogue::cluster::WhatIf>().expect("a what-if").changes,
    };
    let testbed = Testbed::parse("x", testbed, &changes)
        .unwrap_or_else(|errors| panic!("{:?}", errors.problems));
    Cluster::new(&testbed, &spec, seed).expect("a cluster")
}

/// A closed loop: as soon as a request is over, its stream sends the next.
fn run(mut cluster: Cluster, load: Load, seed: u64) -> Seen {
    let mut rng = Rng::new(seed);
    let volumes: Vec<u32> = (0..load.hosts).map(|host| cluster.add_volume(host, 0)).collect();
    cluster.set_load(Bytes((load.footprint_tb * 1e12) as u64), None);
    cluster.begin_measurement(0, Some(10_000_000_000));
    let per_host = 1u64 << 40;
    let part = per_host / u64::from(load.streams);
    let mut places: Vec<u64> =
        (0..load.hosts * load.streams).map(|_| rng.below(part / load.block / 2)).collect();
    let mut began: Vec<u64> = vec![0; (load.hosts * load.streams * load.depth) as usize];
    let mut send = |cluster: &mut Cluster, began: &mut Vec<u64>, now_ns: u64, ticket: u64| {
        let stream = ticket / u64::from(load.depth);
        if rng.below(100) < load.random {
            places[stream as usize] = rng.below(part / load.block);
        }
        let number = stream % u64::from(load.streams);
        let offset = number * part / load.block * load.block + places[stream as usize] * load.block;
        places[stream as usize] = (places[stream as usize] + 1) % (part / load.block);
        let op = if rng.below(100) < load.read { Op::Read } else { Op::Write };
        began[ticket as usize] = now_ns;
        let host = stream / u64::from(load.streams);
        let request = Request { op, offset, length: load.block as u32 };
        cluster.submit(now_ns, volumes[host as usize], request, ticket);
    };
    (0..began.len() as u64).for_each(|ticket| send(&mut cluster, &mut began, 0, ticket));
    let (mut count, mut time_ns, mut bytes, mut last_ns) = (0, 0u64, 0, 0);
    let mut by_host = vec![0; load.hosts as usize];
    let mut over_time = HashMap::new();
    while count < load.requests {
        let done = cluster.advance(u64::MAX).expect("something is under way");
        assert!(done.at_ns >= last_ns, "time runs backwards");
        assert_eq!(done.result, load.block as i32);
        last_ns = done.at_ns;
        count += 1;
        bytes += done.result as u64;
        time_ns += done.at_ns - began[done.ticket as usize];
        let host = (done.ticket / u64::from(load.depth * load.streams)) as u32;
        by_host[host as usize] += 1;
        *over_time.entry((host, done.at_ns / 100_000_000)).or_insert(0) += 1;
        send(&mut cluster, &mut began, done.at_ns, done.ticket);
    }
    let seconds = last_ns as f64 / 1e9;
    Seen {
        iops: count as f64 / seconds,
        mean_ns: time_ns as f64 / count as f64,
        outstanding: began.len() as f64,
        bytes_per_s: bytes as f64 / seconds,
        elapsed_ns: last_ns,
        by_host,
        over_time,
        cluster,
    }
}

fn seen(testbed: &str, parameters: &str, load: Load) -> Seen {
    run(cluster(testbed, parameters, "", 1), load, 7)
}

#[test]
fn littles_law_holds_on_every_testbed_and_nothing_is_lost() {
    for (name, testbed) in [("A", A), ("B", B), ("C", C), ("D", D), ("E", E)] {
        for (read, random) in [(100, 100), (0, 100), (70, 50), (0, 0)] {
            let seen = seen(testbed, "", Load { read, random, ..LOAD });
            let outstanding = seen.iops * seen.mean_ns / 1e9;
            assert!(
                (outstanding / seen.outstanding - 1.0).abs() < 0.02,
                "{name}: {outstanding} at {read} % reads"
            );
            assert_eq!(seen.by_host.iter().sum::<u64>(), LOAD.requests);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_answers_and_another_gives_others() {
    let once = |seed| {
        run(cluster(C, "", "", seed), Load { requests: 5_000, read: 70, ..LOAD }, 3).elapsed_ns
    };
    assert_eq!(once(1), once(1));
    assert_ne!(once(1), once(2));
}

#[test]
fn report_a_the_cpu_binds_at_4k_and_the_drives_at_128k() {
    // The report's depth: 32 outstanding for each of 48 threads a node, here for fewer threads, all
    // together as deep.
    let small =
        Load { hosts: 6, streams: 48, depth: 16, requests: 300_000, footprint_tb: 0.04, ..LOAD };
    // Over all of the range in which the testbed assumes the cost of a read.
    for per_read in ["40us", "48us", "97us"] {
        let seen = run(cluster(A, "", &format!("cpu.per_read={per_read}"), 1), small, 7);
        let [cpu, cache, ports] =
            [Layer::Cpu, Layer::Cache, Layer::Ports].map(|layer| seen.busy(layer));
        assert!(cpu > 0.85 && cpu > cache && cpu > ports, "{per_read}: {cpu}, {cache}, {ports}");
    }
    let large = Load { depth: 8, block: 128 << 10, random: 0, requests: 60_000, ..small };
    let large = seen(A, "", large);
    let (cache, cpu) = (large.busy(Layer::Cache), large.busy(Layer::Cpu));
    assert!(cache > 0.75, "{cache}");
    assert!((0.15..0.25).contains(&cpu), "the report: about 20 %, here {cpu}");
}

#[test]
fn report_b_hyper_converged_beats_smb_direct_and_that_beats_smb() {
    for seed in 1..6 {
        let mix = Load { block: 8192, read: 70, requests: 20_000, ..LOAD };
        let load = Load { hosts: 1, streams: 8, depth: 4, ..mix };
        let path = |parameters: &str| run(cluster(B, parameters, "", seed), load, seed).iops;
        let (local, direct, tcp) = (path("path=local"), path("path=smb-direct"), path("path=smb"));
        assert!(local > direct * 1.05 && direct > tcp * 1.05, "{local:.0}, {direct:.0}, {tcp:.0}");
    }
}

#[test]
fn report_c_random_reads_fall_past_the_cache_and_sequential_rows_are_flat() {
    for seed in 1..4 {
        let at = |load: Load, footprint_tb| {
            run(cluster(C, "", "", seed), Load { footprint_tb, ..load }, seed)
        };
        let random = Load { requests: 40_000, ..LOAD };
        let (inside, partly, spilled) = (at(random, 1.6), at(random, 8.0), at(random, 16.0));
        assert!(spilled.iops <= inside.iops / 10.0, "{} to {}", inside.iops, spilled.iops);
        assert!(partly.iops <= inside.iops * 1.05);
        let busy = spilled.busy(Layer::Drives);
        assert!(busy > 0.5, "the disks are at work: {busy}");
        for read in [100, 0] {
            let row = Load { block: 32 << 10, random: 0, read, ..random };
            let (inside, spilled) = (at(row, 1.6), at(row, 16.0));
            let ratio = spilled.iops / inside.iops;
            assert!((0.6..1.2).contains(&ratio), "{read} % reads: {ratio}");
        }
    }
}

#[test]
fn report_d_a_remote_master_halves_what_is_done() {
    for seed in 1..4 {
        let load = Load { requests: 20_000, ..OF_REPORT_D };
        let total = |parameters: &str| run(cluster(D, parameters, "", seed), load, seed).iops;
        let ratio = total("remote=100%") / total("");
        assert!((0.35..0.65).contains(&ratio), "{ratio}");
    }
}

/// The report's map of machines: the ninth is on the node of the first, the tenth on that of the
/// fifth.
#[test]
fn report_d_two_machines_starve_while_all_migrate_and_recover_whenever_that_is() {
    let load = Load { requests: 150_000, ..OF_REPORT_D };
    for (at, begin) in [("10%+10%", 10), ("800ms+1s", 8)] {
        let seen = seen(D, &format!("nodes=1-8+1+5,migrate={at}"), load);
        // Requests per second of a host, between two tenths of a second.
        let rate = |host: u32, from: u64, to: u64| -> f64 {
            let of = |tenth| seen.over_time.get(&(host, tenth)).copied().unwrap_or(0);
            (from..to).map(of).sum::<u64>() as f64 * 10.0 / (to - from) as f64
        };
        assert!(seen.elapsed_ns > (begin + 14) * 100_000_000, "{}", seen.elapsed_ns);
        for host in 0..10 {
            let spans = [(1, begin), (begin + 1, begin + 10), (begin + 11, begin + 14)];
            let [before, meanwhile, after] = spans.map(|(from, to)| rate(host, from, to));
            let fits = match host {
                8 | 9 => (200.0..700.0).contains(&meanwhile),
                _ => meanwhile > 0.4 * before,
            };
            assert!(fits, "{host}: some hundred, or most of {before}, not {meanwhile}");
            assert!(after > 0.8 * before, "{host} recovers: {before} to {after}");
        }
    }
}

#[test]
fn each_measurement_has_its_migration_and_one_that_ends_by_itself_has_none_at_a_share() {
    let mut cluster = cluster(D, "migrate=50%+10%", "", 1);
    let volume = cluster.add_volume(0, 0);
    for (measurement, begin_ns) in [(1.0, 0), (2.0, 10_000_000_000)] {
        cluster.begin_measurement(begin_ns, Some(10_000_000_000));
        // The copy's work is reckoned with each request.
        for after_ns in [4_000_000_000, 5_500_000_000] {
            let read = Request { op: Op::Read, offset: 0, length: 4096 };
            cluster.submit(begin_ns + after_ns, volume, read, 0);
            while cluster.advance(u64::MAX).is_some() {}
        }
        let moved_s = cluster.utilisation(Layer::Mover, 1_000_000_000).expect("a mover");
        // 48 % of half a second, and the request itself.
        let off = (moved_s / (0.24 * measurement) - 1.0).abs();
        assert!(off < 0.01, "{moved_s} after {measurement}");
    }
    assert_eq!(cluster.router.settings.moves_until(u64::MAX), 2);
    cluster.begin_measurement(30_000_000_000, None);
    assert_eq!(cluster.router.settings.moves_until(u64::MAX), 2);
}

#[test]
fn report_e_reads_and_writes_level_off_and_one_pair_gives_half() {
    let at = |threads: u32, read: u64, what_if: &str| {
        let streams = (threads / 16).max(1);
        let large = Load { block: 8 << 20, read, random: 0, requests: 4_000, ..LOAD };
        let load = Load { hosts: threads.min(16), streams, depth: 1, ..large };
        run(cluster(E, "", what_if, 1), load, 3).bytes_per_s
    };
    for read in [100, 0] {
        let (one, few, many, most) =
            (at(1, read, ""), at(16, read, ""), at(512, read, ""), at(1024, read, ""));
        assert!(few > 8.0 * one, "below the knee more threads bring more: {one} to {few}");
        assert!(
            many < 16.0 * few && most < 1.15 * many,
            "above it they do not: {few}, {many}, {most}"
        );
        let half = at(512, read, "nodes.count=2") / many;
        assert!((0.42..0.58).contains(&half), "one pair: {half}");
    }
    assert!(at(512, 0, "") < 0.6 * at(512, 100, ""), "each write is two");
}

#[test]
fn the_end_of_a_volume_is_that_of_a_block_device_and_hostile_requests_do_no_harm() {
    for testbed in [A, B, C, D, E] {
        let mut cluster = cluster(testbed, "migrate=0s+1s,remote=50%", "", 1);
        let volume = cluster.add_volume(u32::MAX, 0);
        cluster.set_load(Bytes(u64::MAX), None);
        let end = 1u64 << 40;
        let requests = [
            (Op::Read, end, 4096, 0),
            (Op::Write, end, 4096, -ENOSPC),
            (Op::Write, end - 512, 4096, 512),
            (Op::Read, u64::MAX, u32::MAX, 0),
            (Op::Read, 0, u32::MAX, MAX_RW_COUNT as i32),
            (Op::Fsync, 0, 0, 0),
            (Op::Trim, 0, 4096, 0),
        ];
        for (ticket, (op, offset, length, _)) in requests.into_iter().enumerate() {
            cluster.submit(5, volume, Request { op, offset, length }, ticket as u64);
        }
        let mut results = [None; 7];
        while let Some(done) = cluster.advance(u64::MAX) {
            assert!(done.at_ns > 5);
            results[done.ticket as usize] = Some(done.result);
        }
        assert_eq!(results, requests.map(|request| Some(request.3)));
        assert_eq!(cluster.next_ns(), None);
    }
}

#[test]
fn a_testbed_that_says_too_little_is_refused() {
    let said = |text: &str| {
        let testbed = Testbed::parse("x", text, &[]).expect("a testbed");
        Cluster::new(&testbed, &ClusterSpec::new("x"), 1).expect_err("too little")
    };
    assert!(said("name = \"x\"\n[[nodes]]\n").contains("no node has a capacity drive"));
    assert!(
        said("name = \"x\"\n[[nodes]]\n[[nodes.drives]]\nread = \"1GB/s\"\n")
            .contains("too little is known")
    );
    assert!(said("name = \"x\"\n[[nodes]]\ncount = 5000\n").contains("too many"));
    let testbed = Testbed::parse("x", D, &[]).expect("a testbed");
    let far = ClusterSpec { nodes: vec![1, 9], ..ClusterSpec::new("x") };
    assert!(Cluster::new(&testbed, &far, 1).expect_err("eight nodes").contains("a host on node 9"));
}

#[test]
fn parity_reads_what_was_there_and_a_stripe_costs_its_share() {
    let drives = "[[nodes.drives]]\nread_iops = 1000\nwrite_iops = 1000\nread = \"1GB/s\"\nwrite \
                  = \"1GB/s\"\n";
    let text =
        format!("name = \"p\"\n[[nodes]]\ncount = 6\n{drives}[protection]\ndata = 4\nparity = 2\n");
    let small = seen(&text, "", Load { read: 0, requests: 10_000, ..LOAD });
    // Six drives of 1,000 requests, of which a small write takes three times two.
    assert!((800.0..1_020.0).contains(&small.iops), "{}", small.iops);
    let full =
        seen(&text, "", Load { read: 0, random: 0, block: 1 << 20, requests: 20_000, ..LOAD });
    assert!((3.0e9..4.1e9).contains(&full.bytes_per_s), "{}", full.bytes_per_s);
}

/// Two rooms that reckon from the same facts, one by formulas and one request by request.
#[test]
fn nothing_is_ever_faster_than_the_ceiling_of_its_testbed() {
    let mut close = 0;
    for (name, testbed) in [("A", A), ("B", B), ("C", C), ("D", D), ("E", E)] {
        let described = Testbed::parse("x", testbed, &[]).expect("a testbed");
        for footprint_tb in [1.6, 16.0] {
            for (kib, read, random) in [
                (4, 100, 100),
                (4, 0, 100),
                (8, 70, 100),
                (32, 100, 0),
                (128, 100, 0),
                (128, 0, 0),
                (8, 67, 50),
            ] {
                let footprint = Some(Bytes((footprint_tb * 1e12) as u64));
                let percent = Percent::of(read as u32);
                let mut workload = analysis::ceiling::Workload::new(
                    "w",
                    Bytes::kib(kib),
                    percent,
                    true,
                    footprint,
                );
                workload.random = random as f64 / 100.0;
                let ceiling = analysis::ceiling::ceiling(&described, &workload);
                // Enough of the pieces in which data are placed, so that as many are local as
                // should be.
                let requests = if random == 0 { 20_000.max(4_000_000 / kib) } else { 20_000 };
                let load = Load { block: kib << 10, read, random, footprint_tb, requests, ..LOAD };
                let seen = seen(testbed, "stack=0ns", load);
                let share = ceiling.share(seen.iops).expect("a ceiling");
                let what = format!(
                    "{name}: {kib} KiB, {read} % reads, {random} % random, {footprint_tb} TB"
                );
                assert!(share < 1.02, "{what}: {share:.3} of {:?}", ceiling.binding());
                close += u32::from(share > 0.5);
            }
        }
    }
    assert!(close >= 30, "deep queues come near to most of the 70 ceilings, here to {close}");
}
