//! Closed loops on what hosts share: one file for all of them, and names in directories.

use super::*;
use model::rng::Rng;

fn cluster(parameters: &str, what_if: &str) -> Cluster {
    tests::cluster(tests::E, parameters, what_if, 1)
}

/// Each of `threads` sends its next request as soon as the last one is over: requests per second of
/// `requests`, and the cluster after it. `next` says what the request number `n` of a thread is.
fn rate(
    mut cluster: Cluster,
    volumes: &[u32],
    threads: u64,
    requests: u64,
    mut next: impl FnMut(u64, u64) -> Request,
) -> (f64, Cluster) {
    let mut counts = vec![0u64; threads as usize];
    let mut send = |cluster: &mut Cluster, now_ns: u64, thread: u64| {
        let request = next(thread, counts[thread as usize]);
        counts[thread as usize] += 1;
        cluster.submit(now_ns, volumes[thread as usize % volumes.len()], request, thread);
    };
    (0..threads).for_each(|thread| send(&mut cluster, 0, thread));
    let mut last_ns = 0;
    for _ in 0..requests {
        let done = cluster.advance(u64::MAX).expect("something is under way");
        assert!(done.at_ns >= last_ns, "time runs backwards");
        last_ns = done.at_ns;
        send(&mut cluster, last_ns, done.ticket);
    }
    (requests as f64 * 1e9 / last_ns as f64, cluster)
}

/// Sixteen hosts, each with a file, or all with the same one, in which each thread has a segment of
/// whole blocks.
fn segments(file: &str, threads: u64, op: Op, block: u64) -> f64 {
    let mut cluster = cluster(&format!("file={file}"), "");
    let volumes: Vec<u32> =
        (0..16.min(threads as u32)).map(|host| cluster.add_volume(host, 0)).collect();
    let part = ((1 << 40) / threads) >> 23 << 23;
    let next = |thread: u64, number: u64| Request {
        op,
        offset: thread * part + number * block,
        length: block as u32,
    };
    rate(cluster, &volumes, threads, 2_000, next).0
}

#[test]
fn a_shared_file_rises_with_threads_levels_off_and_is_never_faster_than_files_of_their_own() {
    for op in [Op::Read, Op::Write] {
        let at = |file, threads| segments(file, threads, op, 8 << 20);
        let [one, few, many, most] = [1, 16, 256, 512].map(|threads| at("shared", threads));
        assert!(
            few > 8.0 * one && many > 1.5 * few && most < 1.15 * many,
            "{op}: {one}, {few}, {many}, {most}"
        );
        assert!(one < at("own", 1), "{op}: each block needs a token first");
        // Of many, the places of their blocks are others, and so is chance.
        assert!(few < 1.05 * at("own", 16), "{op}");
        assert!(most < 1.05 * at("own", 512), "{op}");
    }
}

/// Transfers of 47,008 bytes one after the other from all clients: some 178 to a block of 8 MiB,
/// each of which has to take its token from another.
#[test]
fn unaligned_transfers_in_turn_pass_the_token_of_a_block_from_client_to_client() {
    let in_turn = |file: &str, op: Op| {
        let mut cluster = cluster(&format!("file={file}"), "");
        let volumes: Vec<u32> = (0..16).map(|host| cluster.add_volume(host, 0)).collect();
        let next = |thread: u64, number: u64| Request {
            op,
            offset: (number * 16 + thread) * 47_008,
            length: 47_008,
        };
        rate(cluster, &volumes, 16, 4_000, next).0
    };
    let (shared, own) = (in_turn("shared", Op::Write), in_turn("own", Op::Write));
    assert!(shared < own / 2.0, "{shared} to {own}");
    let (shared, own) = (in_turn("shared", Op::Read), in_turn("own", Op::Read));
    assert!(shared > own / 2.0, "readers share a token: {shared} to {own}");
}

/// Clients that write at random to few blocks of one file, in transfers that touch two of them:
/// nobody waits for ever.
#[test]
fn requests_that_need_two_tokens_each_all_come_to_an_end() {
    let mut cluster = cluster("file=shared", "");
    let volumes: Vec<u32> = (0..16).map(|host| cluster.add_volume(host, 0)).collect();
    let mut rng = Rng::new(5);
    let next = |_, _| {
        let op = if rng.below(2) == 0 { Op::Read } else { Op::Write };
        Request { op, offset: ((rng.below(4) + 1) << 23) - 4096, length: 8192 }
    };
    let (rate, mut cluster) = rate(cluster, &volumes, 64, 5_000, next);
    assert!(rate > 0.0);
    let mut left = 0;
    while cluster.advance(u64::MAX).is_some() {
        left += 1;
    }
    assert_eq!(left, 64, "what is under way ends too");
}

/// Operations per second on files of 4 KiB, each thread in directories of its own.
fn named(threads: u64, op: Op, what_if: &str) -> (f64, Cluster) {
    let mut cluster = cluster("", what_if);
    let hosts = threads.min(16);
    let volumes: Vec<u32> = (0..threads)
        .map(|thread| cluster.add_tree((thread % hosts) as u32, thread as u32, 1024))
        .collect();
    let length = if matches!(op, Op::Create | Op::ReadFile) { 4096 } else { 0 };
    rate(cluster, &volumes, threads, 500 * threads.min(64), |_, number| Request {
        op,
        offset: number,
        length,
    })
}

#[test]
fn names_rise_with_threads_and_level_off_where_the_servers_cores_are_busy() {
    // Eight cores for each server, so that the knee is among as many threads as a test has time
    // for.
    let rates: Vec<(Op, [f64; 4])> = [Op::Stat, Op::ReadFile, Op::Remove, Op::Create]
        .into_iter()
        .map(|op| (op, [1, 16, 512, 1024].map(|threads| named(threads, op, "nodes.cores=8").0)))
        .collect();
    for (op, [one, few, many, most]) in &rates {
        assert!(
            *few > 12.0 * one && *many > 3.0 * few && *most < 1.15 * many,
            "{op}: {one}, {few}, {many}, {most}"
        );
    }
    let most =
        |wanted: Op| rates.iter().find(|(op, _)| *op == wanted).map_or(0.0, |(_, rates)| rates[3]);
    assert!(
        most(Op::Stat) > 2.0 * most(Op::Create) && most(Op::Remove) >= most(Op::Create),
        "{rates:?}"
    );
    // The utilisation law: four servers of eight cores, 50 us and 200 us each.
    assert!(
        most(Op::Stat) < 1.01 * 32.0 / 50e-6 && most(Op::Remove) < 1.01 * 32.0 / 200e-6,
        "{rates:?}"
    );
    let (_, cluster) = named(1024, Op::Stat, "nodes.cores=8");
    let last_ns = (500.0 * 64.0 / most(Op::Stat) * 1e9) as u64;
    assert!(cluster.utilisation(Layer::Cpu, last_ns).expect("cores") > 0.8, "the cores bind");
}

#[test]
fn a_create_pays_for_its_journal_its_bytes_and_their_copies() {
    let alone = |op, what_if| named(1, op, what_if).0;
    let (create, remove, stat) =
        (alone(Op::Create, ""), alone(Op::Remove, ""), alone(Op::Stat, ""));
    assert!(stat > remove && remove > create, "{stat}, {remove}, {create}");
    assert!(
        alone(Op::Remove, "copies=1") > remove,
        "a second copy of the journal comes after the first"
    );
}

#[test]
fn directories_and_strange_requests_of_a_tree_do_no_harm() {
    let mut cluster = cluster("", "");
    let tree = cluster.add_tree(u32::MAX, u32::MAX, 0);
    let requests = [
        (Op::Readdir, u64::MAX, 0, 0),
        (Op::Create, u64::MAX, u32::MAX, MAX_RW_COUNT as i32),
        (Op::Fsync, 0, 0, 0),
        (Op::Mkdir, 5, 0, 0),
        (Op::Stat, 5, 77, 0),
    ];
    for (ticket, (op, offset, length, _)) in requests.into_iter().enumerate() {
        cluster.submit(5, tree, Request { op, offset, length }, ticket as u64);
    }
    let mut results = [None; 5];
    while let Some(done) = cluster.advance(u64::MAX) {
        results[done.ticket as usize] = Some(done.result);
    }
    assert_eq!(results, requests.map(|request| Some(request.3)));
}
