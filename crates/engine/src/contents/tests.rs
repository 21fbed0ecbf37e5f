//! Shares of what a real compressor and a real count of distinct blocks find.

use super::*;
use model::Op;
use model::Percent;
use model::spec::DuplicateScope;
use std::collections::HashSet;

const SHARES: [u32; 4] = [0, 30, 60, 90];

fn worker(contents: &Contents, seed: u64) -> WorkerContents {
    let filler = Filler::new(contents, Pool::new(contents.seed), seed);
    let identity = Identity { run: 1, host: 0, filled: true };
    let generations = Arc::new(Generations::new(contents, std::iter::empty()));
    let verifier = contents.verify.then(|| Box::new(Verifier::new(identity, generations, 1, false)));
    WorkerContents { filler, verifier }
}

/// `total` bytes as a worker writes them one after the other, in requests of `block` bytes that share one buffer.
fn written(contents: &Contents, seed: u64, block: usize, total: usize) -> Vec<u8> {
    let mut worker = worker(contents, seed);
    let mut buffer = Vec::new();
    let mut rng = model::rng::Rng::new(9);
    buffer.resize_with(block, || rng.next_u64() as u8);
    let mut all = Vec::with_capacity(total);
    while all.len() < total {
        let io = Io { slot: 0, op: Op::Write, file: 0, offset: all.len() as u64, length: block as u32 };
        worker.write_begins(&io, &mut buffer);
        all.extend_from_slice(&buffer);
    }
    all
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
            let contents = Contents { compressible: Percent::of(share), verify, ..Contents::RANDOM };
            for block in [4096, 1 << 20] {
                let bytes = written(&contents, 3, block, 1 << 20);
                // Plain contents are only stamped: requests from the same buffer are alike for a compressor that sees several of them.
                let is_stamped = share == 0 && !verify;
                for record in [4096, 128 << 10, 1 << 20].into_iter().filter(|record| !is_stamped || *record <= block) {
                    let saved = percent_saved(&bytes, record, |bytes| lz4_flex::block::compress(bytes).len());
                    let case = format!("{share} % in blocks of {block}, records of {record}, verify {verify}");
                    assert!((saved - f64::from(share)).abs() < 1.0, "{case}: lz4 saves {saved:.2} %");
                }
            }
        }
    }
}

#[test]
fn blocks_repeat_by_the_share_that_was_asked_for() {
    for share in SHARES {
        let contents = Contents { duplicate: Percent::of(share), ..Contents::RANDOM };
        for block in [4096, 1 << 20] {
            let copies = percent_of_copies(&written(&contents, 3, block, 50 << 20));
            assert!(
                (copies - f64::from(share)).abs() < 1.0,
                "{share} % in blocks of {block}: {copies:.2} % are copies"
            );
        }
    }
}

#[test]
fn workers_have_copies_in_common_only_where_the_scope_is_all_hosts() {
    for (duplicate_scope, expected) in [(DuplicateScope::Worker, 0.0), (DuplicateScope::Hosts, 60.0)] {
        let contents = Contents { duplicate: Percent::of(60), duplicate_scope, ..Contents::RANDOM };
        let (one, other) = (written(&contents, 3, 4096, 40 << 20), written(&contents, 4, 4096, 40 << 20));
        let known: HashSet<&[u8]> = one.chunks(UNIT).collect();
        let shared = other.chunks(UNIT).filter(|block| known.contains(block)).count();
        let percent = 100.0 * shared as f64 / (other.len() / UNIT) as f64;
        assert!((percent - expected).abs() < 1.0, "{duplicate_scope}: {percent:.2} % in common");
    }
}

#[test]
fn both_shares_hold_at_once() {
    let contents = Contents { compressible: Percent::of(60), duplicate: Percent::of(30), ..Contents::RANDOM };
    let bytes = written(&contents, 3, 64 << 10, 40 << 20);
    let copies = percent_of_copies(&bytes);
    let saved = percent_saved(&bytes, UNIT, |bytes| lz4_flex::block::compress(bytes).len());
    assert!((copies - 30.0).abs() < 1.0 && (saved - 60.0).abs() < 1.0, "{copies:.2} %, {saved:.2} %");
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
