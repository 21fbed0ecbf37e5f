//! Shares of what a real compressor and a real count of distinct blocks find.

use super::spares::{WINDOW, room};
use super::*;
use crate::worker::buffers::{Buffers, stride};
use model::choices::DuplicateScope;
use model::units::Bytes;
use model::{Op, Percent};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

const SHARES: [u32; 4] = [0, 30, 60, 90];
const DEPTH: u32 = 4;

fn worker(contents: &Contents, seed: u64) -> WorkerContents {
    let filler = Filler::new(contents, Pool::new(contents.seed), seed);
    let identity = Identity { run: 1, host: 0, hosts: 1, filled: true };
    let generations = Arc::new(Generations::new(contents, std::iter::empty()));
    let verifier =
        contents.verify.then(|| Box::new(Verifier::new(identity, generations, 1, false)));
    WorkerContents { filler, verifier, known: None }
}

/// `total` bytes as a worker writes them one after the other, in requests of `block` bytes that
/// share one buffer.
fn written(contents: &Contents, seed: u64, block: usize, total: usize) -> Vec<u8> {
    let order = std::iter::repeat((0, block));
    written_in(worker(contents, seed), block..=block, order, room(1, block, usize::MAX), total)
}

/// At least `total` bytes of writes, each with the slot and of the length that `order` says,
/// which is one of `lengths`, and spares in `room` bytes.
fn written_in(
    mut worker: WorkerContents,
    lengths: RangeInclusive<usize>,
    order: impl Iterator<Item = (u32, usize)>,
    room: usize,
    total: usize,
) -> Vec<u8> {
    let (smallest, largest) = lengths.into_inner();
    let spares = worker.spares(smallest, stride(largest), room);
    let mut buffers = Buffers::new(DEPTH as usize, spares, largest, 9, worker).expect("memory");
    let mut all = Vec::with_capacity(total + largest);
    for (slot, length) in order {
        let io =
            Io { slot, op: Op::Write, file: 0, offset: all.len() as u64, length: length as u32 };
        buffers.begin(slot as usize, &io);
        // SAFETY: a whole buffer, with which nothing is under way in a test.
        all.extend_from_slice(unsafe {
            std::slice::from_raw_parts(buffers.pointer(slot as usize), length)
        });
        if all.len() >= total {
            break;
        }
    }
    all
}

/// The least distance of two equal eight bytes, each at a multiple of 64, where writes begin, too;
/// the length where none are equal.
fn least_distance(bytes: &[u8]) -> usize {
    let mut seen = HashMap::new();
    let words = bytes.chunks_exact(64).enumerate();
    let distances =
        words.filter_map(|(at, line)| seen.insert(&line[..8], at).map(|before| (at - before) * 64));
    distances.min().unwrap_or(bytes.len())
}

fn percent_saved(bytes: &[u8], record: usize, compressed: impl Fn(&[u8]) -> usize) -> f64 {
    let left: usize = bytes.chunks(record).map(|record| compressed(record).min(record.len())).sum();
    100.0 * (1.0 - left as f64 / bytes.len() as f64)
}

fn percent_of_copies(bytes: &[u8]) -> f64 {
    let distinct: HashSet<&[u8]> = bytes.chunks(UNIT).collect();
    100.0 * (1.0 - distinct.len() as f64 / (bytes.len() / UNIT) as f64)
}

#[test]
fn blocks_compress_by_the_share_that_was_asked_for() {
    for verify in [false, true] {
        for share in SHARES {
            let contents =
                Contents { compressible: Percent::of(share), verify, ..Contents::RANDOM };
            for block in [4096, 1 << 20] {
                let bytes = written(&contents, 3, block, 1 << 20);
                for record in [4096, 128 << 10, 1 << 20] {
                    let saved = percent_saved(&bytes, record, |bytes| {
                        lz4_flex::block::compress(bytes).len()
                    });
                    let case = format!(
                        "{share} % in blocks of {block}, records of {record}, verify {verify}"
                    );
                    assert!(
                        (saved - f64::from(share)).abs() < 1.0,
                        "{case}: lz4 saves {saved:.2} %"
                    );
                }
            }
        }
    }
}

#[test]
fn blocks_repeat_by_the_share_that_was_asked_for() {
    for share in SHARES {
        let contents =
            Contents { duplicate: Percent::of(share), grain: Bytes(4096), ..Contents::RANDOM };
        for block in [4096, 1 << 20] {
            let copies = percent_of_copies(&written(&contents, 3, block, 50 << 20));
            assert!(
                (copies - f64::from(share)).abs() < 1.0,
                "{share} % in blocks of {block}: {copies:.2} % are copies"
            );
        }
    }
}

/// Several writes make up a unit, or a part of one: what counts is what the file holds in the end.
#[test]
fn units_that_several_writes_make_up_repeat_by_the_share_too() {
    for (block, grain) in
        [(512, 512), (1000, 512), (1024, 1024), (2048, 2048), (6144, 2048), (47_008, 512)]
    {
        for scope in [DuplicateScope::Worker, DuplicateScope::Hosts, DuplicateScope::Both] {
            let contents = Contents {
                duplicate: Percent::of(50),
                duplicate_scope: scope,
                compressible: Percent::of(30),
                grain: Bytes(grain),
                ..Contents::RANDOM
            };
            let mut file = vec![0; 8 << 20];
            let mut write = |worker: &mut WorkerContents, offset: usize, length: usize| {
                let end = (offset + length).min(file.len());
                let io = Io {
                    slot: 0,
                    op: Op::Write,
                    file: 2,
                    offset: offset as u64,
                    length: (end - offset) as u32,
                };
                worker.write_begins(&io, &mut file[offset..end]);
            };
            // A layout is prepared, in turns by two workers; then a third writes blocks anywhere in
            // it.
            let mut workers = [worker(&contents, 3), worker(&contents, 4), worker(&contents, 5)];
            for (number, offset) in (0..8 << 20).step_by(block).enumerate() {
                write(&mut workers[number % 2], offset, block);
            }
            for number in 0..1000 {
                write(&mut workers[2], number * 7919 % ((8 << 20) / block) * block, block);
            }
            let copies = percent_of_copies(&file);
            // The 64 originals are none.
            assert!(
                (copies - 50.0 + 100.0 * 64.0 / 2048.0).abs() < 1.0,
                "blocks of {block}, {scope}: {copies:.2} %"
            );
        }
    }
}

#[test]
fn workers_have_copies_in_common_only_where_the_scope_is_all_hosts() {
    for (duplicate_scope, expected) in
        [(DuplicateScope::Worker, 0.0), (DuplicateScope::Hosts, 60.0), (DuplicateScope::Both, 30.0)]
    {
        let contents = Contents {
            duplicate: Percent::of(60),
            duplicate_scope,
            grain: Bytes(4096),
            ..Contents::RANDOM
        };
        let (one, other) =
            (written(&contents, 3, 4096, 40 << 20), written(&contents, 4, 4096, 40 << 20));
        let known: HashSet<&[u8]> = one.chunks(UNIT).collect();
        let shared = other.chunks(UNIT).filter(|block| known.contains(block)).count();
        let percent = 100.0 * shared as f64 / (other.len() / UNIT) as f64;
        assert!((percent - expected).abs() < 1.0, "{duplicate_scope}: {percent:.2} % in common");
    }
}

#[test]
fn both_shares_hold_at_once() {
    let contents = Contents {
        compressible: Percent::of(60),
        duplicate: Percent::of(30),
        grain: Bytes(4096),
        ..Contents::RANDOM
    };
    let bytes = written(&contents, 3, 64 << 10, 40 << 20);
    let copies = percent_of_copies(&bytes);
    let saved = percent_saved(&bytes, UNIT, |bytes| lz4_flex::block::compress(bytes).len());
    assert!(
        (copies - 30.0).abs() < 1.0 && (saved - 60.0).abs() < 1.0,
        "{copies:.2} %, {saved:.2} %"
    );
}

#[test]
fn no_512_bytes_of_random_contents_come_twice() {
    for block in [512, 1000, 4096, 256 << 10] {
        let bytes = written(&Contents::RANDOM, 3, block, 8 << 20);
        let mut seen = HashSet::new();
        let is_new = |sector: &[u8]| seen.insert(sector.to_vec());
        let mut sectors = bytes.chunks(block).flat_map(|request| request.chunks_exact(512));
        assert!(sectors.all(is_new), "blocks of {block}");
    }
}

/// No compressor with a window of 1 MiB can find anything: LZ4, which the other tests use, looks
/// back 64 KiB.
#[test]
fn within_a_mebibyte_of_random_contents_nothing_repeats() {
    let turns = |block: usize| (0..DEPTH).cycle().map(move |slot| (slot, block));
    let one = |block: usize| std::iter::repeat((DEPTH - 1, block));
    let random = || worker(&Contents::RANDOM, 3);
    for block in [512, 4096, 9024, 128 << 10, 1 << 20] {
        let room = room(1, block, usize::MAX);
        for bytes in [
            written_in(random(), block..=block, turns(block), room, 3 << 20),
            written_in(random(), block..=block, one(block), room, 3 << 20),
            written_in(random(), block..=block, one(block), 0, 3 << 20),
        ] {
            assert!(
                least_distance(&bytes) >= WINDOW,
                "blocks of {block}: {}",
                least_distance(&bytes)
            );
        }
    }
}

#[test]
fn of_mixed_sizes_nothing_repeats_within_a_mebibyte_either() {
    for (small, large) in [(4096, 1 << 20), (256 << 10, 512 << 10)] {
        let order = [small, small, large, small].into_iter().cycle().map(|length| (0, length));
        let bytes = written_in(
            worker(&Contents::RANDOM, 3),
            small..=large,
            order,
            room(1, large, usize::MAX),
            6 << 20,
        );
        assert!(
            least_distance(&bytes) >= WINDOW,
            "{small} and {large}: {}",
            least_distance(&bytes)
        );
    }
}

/// What the spares are there for: the test above could not fail if a stamp alone were enough.
#[test]
fn writes_of_one_buffer_are_alike_but_for_their_stamps() {
    let mut worker = worker(&Contents::RANDOM, 3);
    let mut buffer: Vec<u8> =
        (0..4096).map(|number: u32| (number >> 3) as u8 ^ number as u8).collect();
    let before = buffer.clone();
    worker.write_begins(
        &Io { slot: 0, op: Op::Write, file: 0, offset: 0, length: 4096 },
        &mut buffer,
    );
    let changed = buffer.iter().zip(&before).filter(|(now, before)| now != before).count();
    assert!((1..=8 * 8).contains(&changed), "{changed} bytes");
}
