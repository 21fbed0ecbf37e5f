//! Sequences as a whole.

use super::*;
use crate::common::{self, work};
use model::choices::Access;
use model::plan::Once;
use model::units::{Bytes, Percent};

fn worker(seed: u64) -> Worker {
    let extents = vec![
        Extent { file: 0, offset: 8192, length: 40 * 4096 },
        Extent { file: 2, offset: 0, length: 59 * 4096 + 100 },
    ];
    common::worker(seed, extents)
}

fn generator(access: Access, read: Percent, stop: Stop, seed: u64) -> Generator {
    Generator::new(&work(read, access, 1, stop), &worker(seed))
}

fn timed() -> Stop {
    common::after_ms(1_000)
}

/// One that time ends.
fn timed_work(read: Percent, access: Access) -> Work {
    work(read, access, 1, timed())
}

/// The first `count` requests of a work that time ends.
fn drawn(generator: &mut Generator, count: usize) -> Vec<Request> {
    (0..count).map(|_| generator.next_request().expect("time decides")).collect()
}

#[test]
fn sequential_is_sequential_over_all_ranges_and_starts_again() {
    let mut generator = generator(Access::Sequential, Percent::ALL, timed(), 1);
    for (request, block) in drawn(&mut generator, 3 * 99).into_iter().zip((0..99).cycle()) {
        let (file, offset) =
            if block < 40 { (0, 8192 + block * 4096) } else { (2, (block - 40) * 4096) };
        assert_eq!((request.file, request.offset, request.length), (file, offset, 4096));
    }
}

#[test]
fn an_amount_touches_every_byte_once_and_the_last_request_is_short() {
    let mut generator = generator(Access::Sequential, Percent::ZERO, Stop::Amount, 1);
    let requests: Vec<Request> = std::iter::from_fn(|| generator.next_request()).collect();
    assert_eq!(requests.len(), 100);
    assert_eq!(requests.iter().map(|r| u64::from(r.length)).sum::<u64>(), 99 * 4096 + 100);
    assert_eq!(requests.last().map(|r| r.length), Some(100));
    assert!(requests.iter().all(|r| r.op == Op::Write) && generator.is_exhausted());
}

#[test]
fn random_covers_every_block_without_bias() {
    let mut generator = generator(Access::Random, Percent::ALL, timed(), 5);
    let mut counts = [0u32; 99];
    for request in drawn(&mut generator, 99_000) {
        assert_eq!((request.offset % 4096, request.length), (0, 4096));
        let block =
            if request.file == 0 { request.offset / 4096 - 2 } else { request.offset / 4096 + 40 };
        counts[block as usize] += 1;
    }
    let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
    // 98 degrees of freedom: 99.98 % of true samples lie between 55 and 155.
    assert!((55.0..155.0).contains(&chi), "chi-square {chi}");
}

#[test]
fn a_mix_of_70_to_30_is_one_within_its_binomial_bounds() {
    let mut generator = generator(Access::Random, Percent::of(70), timed(), 9);
    let n = 100_000;
    let requests = drawn(&mut generator, n as usize);
    let reads = requests.iter().filter(|request| request.op == Op::Read).count();
    // Four standard deviations of a binomial with p = 0.7.
    let bound = 4.0 * (f64::from(n) * 0.7 * 0.3).sqrt();
    assert!((reads as f64 - f64::from(n) * 0.7).abs() < bound, "{reads} reads of {n}");
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    let draw = |seed| drawn(&mut generator(Access::Random, Percent::of(50), timed(), seed), 1_000);
    assert_eq!(draw(3), draw(3));
    assert_ne!(draw(3), draw(4));
}

#[test]
fn a_mix_of_sizes_has_its_weights_and_every_request_fits() {
    let mut work = timed_work(Percent::of(50), Access::Random);
    work.block_size = "4KiB:70, 8KiB:20, 12KiB:10".parse().expect("a mix");
    work.write_block_size = "16KiB".parse().expect("a size");
    work.pattern.align = Bytes(512);
    let mut generator = Generator::new(&work, &worker(3));
    let mut counts = std::collections::BTreeMap::new();
    for request in drawn(&mut generator, 100_000) {
        let (start, end) =
            if request.file == 0 { (8192, 8192 + 40 * 4096) } else { (0, 59 * 4096 + 100) };
        assert!(
            request.offset >= start
                && request.offset + u64::from(request.length) <= end
                && request.offset.is_multiple_of(512)
        );
        *counts.entry((request.op, request.length)).or_insert(0u32) += 1;
    }
    for (op, length, expected) in [
        (Op::Read, 4096, 35_000.0),
        (Op::Read, 8192, 10_000.0),
        (Op::Read, 12_288, 5_000.0),
        (Op::Write, 16_384, 50_000.0f64),
    ] {
        let seen = f64::from(counts[&(op, length)]);
        assert!((seen - expected).abs() < 5.0 * expected.sqrt(), "{op} {length}: {seen}");
    }
    assert_eq!(counts.len(), 4);
}

#[test]
fn what_is_sequential_follows_the_request_before_it_random_or_not() {
    let mut work = timed_work(Percent::ALL, Access::Random);
    work.pattern.random = Percent::of(30);
    let mut generator = Generator::new(&work, &worker(3));
    let mut expected = (u32::MAX, 0);
    let mut hits = 0;
    for request in drawn(&mut generator, 10_000) {
        hits += u32::from((request.file, request.offset) == expected);
        expected = (request.file, request.offset + 4096);
    }
    // At an extent's end it goes to the next one; by chance, a random request follows as well.
    assert!((6_600..7_300).contains(&hits), "{hits} of 10,000 follow the one before");
}

#[test]
fn streams_of_older_plans_go_on_where_they_had_left_off() {
    let mut work = timed_work(Percent::ALL, Access::Random);
    work.pattern.random = Percent::of(50);
    work.pattern.follows_random = false;
    let mut generator = Generator::new(&work, &worker(3));
    let mut sequential = Streams::new(&worker(3).extents, 1, 0, 4096);
    let mut expected = sequential.next(4096, false);
    let mut hits = 0;
    for request in drawn(&mut generator, 10_000) {
        if (request.file, request.offset) == (expected.0, expected.1) {
            hits += 1;
            expected = sequential.next(4096, false);
        }
    }
    // A random request hits the stream's next block by chance once in 99 times; that only shifts a
    // few.
    assert!((4_700..5_300).contains(&hits), "{hits} of 10,000 go on where the last one ended");
}

#[test]
fn an_fsync_follows_every_so_many_writes() {
    let mut work = timed_work(Percent::ZERO, Access::Sequential);
    work.fsync_every = 3;
    let mut generator = Generator::new(&work, &worker(3));
    let ops: Vec<Op> = drawn(&mut generator, 8).iter().map(|request| request.op).collect();
    use Op::{Fsync, Write};
    assert_eq!(ops, [Write, Write, Write, Fsync, Write, Write, Write, Fsync]);
}

#[test]
fn trims_take_their_share_before_reads_and_writes_take_theirs() {
    let mut work = timed_work(Percent::of(75), Access::Random);
    let sequence = |work: &Work| drawn(&mut Generator::new(work, &worker(3)), 100_000);
    (work.trim, work.write_block_size) = (Percent::of(20), SizeMix::single(Bytes(8192)));
    let requests = sequence(&work);
    let of = |op: Op| requests.iter().filter(|request| request.op == op).count() as f64 / 1e5;
    // Four standard deviations of a share of a fifth of 100,000 are half a point.
    for (op, share) in [(Op::Trim, 0.2), (Op::Read, 0.6), (Op::Write, 0.2)] {
        assert!((of(op) - share).abs() < 0.007, "{op}: {}", of(op));
    }
    assert!(requests.iter().all(|request| (request.length == 4096) == (request.op == Op::Read)));
    work.trim = Percent::ALL;
    assert!(sequence(&work).iter().all(|request| request.op == Op::Trim));
}

#[test]
fn the_most_common_workload_has_the_sequence_of_any() {
    let shares = [Percent::ALL, Percent::ZERO, Percent::of(70), Percent { ppm: 1 }];
    for (read, mixed) in shares.map(|read| (read, false)).into_iter().chain([(shares[2], true)]) {
        let mut work = timed_work(read, Access::Random);
        if mixed {
            work.write_block_size = SizeMix::single(Bytes(8192));
        }
        let extents = vec![Extent { file: 3, offset: 8192, length: 1_000_000 }];
        let worker = common::worker(7, extents);
        let mut plain = Generator::new(&work, &worker);
        let is_short = plain.plain.is_some() || plain.mixed.is_some();
        assert_eq!(is_short, !mixed, "writes of another size have other places");
        let mut any = Generator { plain: None, mixed: None, ..plain.clone() };
        for _ in 0..10_000 {
            assert_eq!(plain.next_request(), any.next_request());
        }
    }
}

/// The places of `count` requests of a worker that goes on where it stopped before.
fn places(
    work: &Work,
    seed: u64,
    count: usize,
    from: Option<Bookmark>,
) -> (Vec<(u32, u64)>, Bookmark) {
    let mut generator = Generator::new(work, &worker(seed));
    generator.go_on(from);
    let drawn = std::iter::from_fn(|| generator.next_request()).take(count);
    let places = drawn.map(|request| (request.file, request.offset)).collect();
    (places, generator.into_bookmark())
}

#[test]
fn what_is_in_order_goes_on_in_the_next_stage_where_it_stopped() {
    let given = |advances| {
        let mut work = timed_work(Percent::ALL, Access::Random);
        work.pattern.sequence = Some("5, 1, 3, 9".parse().expect("places"));
        work.pattern.sequence_advances = advances;
        work
    };
    let mut streams = timed_work(Percent::ALL, Access::Sequential);
    streams.pattern.streams = 3;
    let mut backward = streams.clone();
    (backward.pattern.streams, backward.pattern.backward) = (1, true);
    for work in [streams, backward, given(false), given(true)] {
        let (whole, _) = places(&work, 3, 250, None);
        let (first, stopped) = places(&work, 3, 101, None);
        // Another stage has another seed.
        let (second, _) = places(&work, 4, 149, Some(stopped));
        assert_eq!([first, second].concat(), whole);
    }
}

#[test]
fn an_order_of_other_bytes_or_other_blocks_begins_at_its_start() {
    let work = timed_work(Percent::ALL, Access::Sequential);
    let (_, stopped) = places(&work, 3, 101, None);
    let mut larger = Work::simple(Bytes(8192), Percent::ALL, Access::Sequential, 1, timed());
    larger.pattern.streams = 2;
    let (anew, _) = places(&larger, 3, 50, None);
    assert_eq!(places(&larger, 3, 50, Some(stopped)).0, anew);
}

#[test]
fn an_amount_ends_any_order_and_narrows_none() {
    let extents: Vec<Extent> =
        (0..4).map(|file| Extent { file, offset: 0, length: 256 * 4096 }).collect();
    let worker = common::worker(7, extents);
    let stop = Stop::Once(Once { stonewall: false, fsync: false, close: false });
    for access in [Access::Random, Access::Permutation, Access::Zipf, Access::Sequential] {
        let mut work = work(Percent::ALL, access, 1, stop);
        work.most = std::num::NonZeroU64::new(256);
        let mut generator = Generator::new(&work, &worker);
        let files: Vec<u32> =
            std::iter::from_fn(|| generator.next_request()).map(|request| request.file).collect();
        assert_eq!((files.len(), generator.is_exhausted()), (256, true), "{access}");
        let of_last = files.iter().filter(|file| **file == 3).count();
        let expected = if access == Access::Sequential { 0..1 } else { 20..180 };
        assert!(expected.contains(&of_last), "{access}: {of_last} in the last file");
    }
}

#[test]
fn an_amount_of_several_sizes_ends_with_its_bytes_and_in_order_touches_each_once() {
    let worker = common::worker(7, vec![Extent { file: 0, offset: 4096, length: 100 * 4096 }]);
    let stop = Stop::Once(Once { stonewall: false, fsync: false, close: false });
    let all = |access: Access, most: u64| -> Vec<Request> {
        let mut work = work(Percent::of(50), access, 1, stop);
        work.block_size = "4KiB:3, 64KiB:1".parse().expect("a mix");
        work.most = std::num::NonZeroU64::new(most);
        let mut generator = Generator::new(&work, &worker);
        std::iter::from_fn(|| generator.next_request()).collect()
    };
    let bytes = |all: &[Request]| all.iter().map(|one| u64::from(one.length)).sum::<u64>();
    let whole = all(Access::Sequential, 0);
    assert_eq!(bytes(&whole), 100 * 4096);
    let adjoin = |pair: &[Request]| pair[0].offset + u64::from(pair[0].length) == pair[1].offset;
    assert!(whole.windows(2).all(adjoin) && whole[0].offset == 4096);
    for access in [Access::Random, Access::Sequential, Access::Zipf] {
        let some = all(access, 200 << 10);
        assert!((200 << 10..264 << 10).contains(&bytes(&some)), "{access}: {}", bytes(&some));
        assert!(bytes(&some[..some.len() - 1]) < 200 << 10);
    }
}
