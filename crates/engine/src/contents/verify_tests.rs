use super::*;
use crate::contents::fill::{Filler, Pool};
use crate::contents::fill_checked;
use model::note::{self, FoundBlock, Mismatch};
use model::plan::{Contents, TargetFile};
use model::units::Bytes;

const BLOCK: u32 = 8192;

/// A file in memory, with a worker that writes and reads it.
struct Bench {
    verifier: Verifier,
    filler: Filler,
    file: Vec<u8>,
}

impl Bench {
    fn new(filled: bool) -> Bench {
        let contents = Contents { grain: Bytes(4096), verify: true, ..Contents::RANDOM };
        let files = [TargetFile { path: "a".into(), size: Bytes(1 << 20) }];
        let generations = Arc::new(Generations::new(&contents, files.iter()));
        Bench {
            verifier: Verifier::new(
                Identity { run: 77, host: 1, hosts: 1, filled },
                generations,
                8,
                true,
            ),
            filler: Filler::new(&contents, Pool::new(1), 1),
            file: vec![0; 1 << 20],
        }
    }

    fn begin(&mut self, op: Op, slot: u32, offset: u64) -> (Io, Vec<u8>) {
        let io = Io { slot, op, file: 0, offset, length: BLOCK };
        let mut bytes = vec![0; BLOCK as usize];
        match op {
            Op::Write => {
                fill_checked(&mut self.filler, self.verifier.write_begins(&io), &mut bytes);
            }
            Op::Trim => self.verifier.trim_begins(&io),
            _ => self.verifier.read_begins(&io),
        }
        (io, bytes)
    }

    fn at(&mut self, offset: u64) -> &mut [u8] {
        &mut self.file[offset as usize..(offset + u64::from(BLOCK)) as usize]
    }

    fn write(&mut self, offset: u64) {
        let (io, bytes) = self.begin(Op::Write, 0, offset);
        self.at(offset).copy_from_slice(&bytes);
        assert_eq!(self.verifier.ends(io.slot, BLOCK as i32, &[]), Verdict::Good);
    }

    fn read(&mut self, offset: u64) -> Verdict {
        let (io, _) = self.begin(Op::Read, 1, offset);
        let bytes = self.at(offset).to_vec();
        self.verifier.ends(io.slot, BLOCK as i32, &bytes)
    }

    /// Takes out the last damage, so that the same place can be told again.
    fn last(&mut self) -> Mismatch {
        self.verifier.damages.pop().expect("some damage").told("a")
    }
}

fn told(damage: note::Damage, offset: u64, expected: u32, found: FoundBlock) -> Mismatch {
    Mismatch { damage, path: "a".to_owned(), offset, expected, found }
}

fn block(generation: u32, is_whole: bool) -> FoundBlock {
    FoundBlock::Block { generation, other_run: false, is_whole }
}

fn written() -> Bench {
    let mut bench = Bench::new(true);
    (0..128).for_each(|block| bench.write(block * 8192));
    bench
}

#[test]
fn what_was_written_is_good_at_any_cut() {
    let mut bench = written();
    for offset in [0, 512, 8192 * 5 + 4096, 8192 * 126] {
        assert_eq!(bench.read(offset), Verdict::Good);
    }
    assert!(bench.verifier.damages().is_empty());
}

#[test]
fn each_kind_of_damage_is_named_with_its_place() {
    let mut bench = written();
    bench.file[8192 + 5000] ^= 4;
    assert_eq!(bench.read(8192), Verdict::Damaged(Kind::Corrupt));
    assert_eq!(bench.last(), told(note::Damage::Corrupt, 12_800, 2, block(2, false)));

    let (a, b) = (bench.at(16_384).to_vec(), bench.at(40_960).to_vec());
    bench.at(40_960).copy_from_slice(&a);
    assert_eq!(bench.read(40_960), Verdict::Damaged(Kind::Misdirected));
    let found =
        FoundBlock::Elsewhere { generation: 3, other_run: false, host: 1, file: 0, offset: 16_384 };
    assert_eq!(bench.last(), told(note::Damage::Misdirected, 40_960, 6, found));
    bench.at(40_960).copy_from_slice(&b);

    bench.write(40_960);
    let new = bench.at(40_960).to_vec();
    bench.at(40_960).copy_from_slice(&b);
    assert_eq!(bench.read(40_960), Verdict::Damaged(Kind::Stale));
    assert_eq!(bench.last(), told(note::Damage::Stale, 40_960, 129, block(6, true)));
    bench.at(40_960)[..1024].copy_from_slice(&new[..1024]);
    assert_eq!(bench.read(40_960), Verdict::Damaged(Kind::Torn));
    assert_eq!(bench.last(), told(note::Damage::Torn, 41_984, 129, block(6, true)));
    // Of 4 KiB each, two workers' writes of one generation: that of the second is missing.
    let Found::Whole(header) = header::read(new[..].first_chunk().expect("a sector")) else {
        panic!("a header")
    };
    for (number, sector) in bench.at(40_960)[..4096].chunks_exact_mut(SECTOR).enumerate() {
        let offset = header.offset + (number * SECTOR) as u64;
        let one = Header { sectors: 8, offset, ..header };
        one.write(sector.try_into().expect("a sector"), 1);
    }
    assert_eq!(bench.read(40_960), Verdict::Damaged(Kind::Stale));
    bench.at(40_960).fill(0);
    assert_eq!(bench.read(40_960), Verdict::Damaged(Kind::Stale));
    assert_eq!(bench.last().found, FoundBlock::Zeros);
    bench.at(40_960).fill(0xa5);
    assert_eq!(bench.read(40_960), Verdict::Damaged(Kind::Corrupt));
    assert_eq!(bench.last().found, FoundBlock::Foreign);
}

#[test]
fn in_a_shared_file_the_blocks_of_other_hosts_are_in_their_place_and_nobody_elses_are() {
    let mut other = Bench::new(true);
    other.verifier.identity.host = 2;
    other.write(0);
    let theirs = other.at(0).to_vec();
    let mut bench = written();
    bench.at(8192 * 3).copy_from_slice(&theirs);
    for (hosts, verdict) in [
        (1, Verdict::Damaged(Kind::Misdirected)),
        (2, Verdict::Damaged(Kind::Misdirected)),
        (3, Verdict::Good),
    ] {
        bench.verifier.identity.hosts = hosts;
        bench.at(0).copy_from_slice(&theirs);
        assert_eq!(bench.read(0), verdict, "host 2 of {hosts}");
        assert_eq!(bench.read(8192 * 3), Verdict::Damaged(Kind::Misdirected), "in another place");
    }
    other.verifier.identity.run = 78;
    other.write(0);
    let foreign = other.at(0).to_vec();
    bench.at(0).copy_from_slice(&foreign);
    assert_eq!(bench.read(0), Verdict::Damaged(Kind::Stale), "what another run wrote");
    let old = written().at(0).to_vec();
    bench.write(0);
    bench.at(0).copy_from_slice(&old);
    assert_eq!(
        bench.read(0),
        Verdict::Damaged(Kind::Stale),
        "a host still misses writes of its own"
    );
}

#[test]
fn places_that_nobody_wrote_are_damage_only_in_a_layout_that_is_full() {
    for (filled, expected) in [(false, Verdict::Good), (true, Verdict::Damaged(Kind::Corrupt))] {
        assert_eq!(Bench::new(filled).read(0), expected);
    }
    let mut bench = Bench::new(false);
    let (_, bytes) = written().begin(Op::Write, 0, 0);
    bench.verifier.identity.run = 78;
    bench.at(0).copy_from_slice(&bytes);
    assert_eq!(bench.read(0), Verdict::Good, "what an earlier run wrote is whole");
    bench.file[100] ^= 1;
    assert_eq!(bench.read(0), Verdict::Damaged(Kind::Corrupt));
    bench.write(0);
    bench.at(0).copy_from_slice(&bytes);
    assert_eq!(bench.read(0), Verdict::Damaged(Kind::Stale));
    let found = FoundBlock::Block { generation: 129, other_run: true, is_whole: true };
    assert_eq!(bench.last().found, found);
}

#[test]
fn writes_that_overlap_in_time_may_land_in_any_order() {
    let mut bench = written();
    let (five, old) = bench.begin(Op::Write, 2, 8192);
    let (six, new) = bench.begin(Op::Write, 3, 8192);
    for (io, bytes) in [(six, new), (five, old)] {
        bench.at(8192).copy_from_slice(&bytes);
        bench.verifier.ends(io.slot, BLOCK as i32, &[]);
    }
    assert_eq!(bench.read(8192), Verdict::Good, "the first to be sent was the last to land");
    let before = bench.at(8192).to_vec();
    bench.write(8192);
    bench.at(8192).copy_from_slice(&before);
    assert_eq!(bench.read(8192), Verdict::Damaged(Kind::Stale), "the next write is alone again");
}

#[test]
fn reads_that_meet_a_write_are_counted_and_not_checked() {
    for write_first in [true, false] {
        let mut bench = written();
        let mut slots = [(Op::Write, 4), (Op::Read, 5)];
        if !write_first {
            slots.reverse();
        }
        slots.iter().for_each(|(op, slot)| drop(bench.begin(*op, *slot, 4096)));
        assert_eq!(bench.verifier.ends(5, BLOCK as i32, &[0xa5; BLOCK as usize]), Verdict::Good);
        assert_eq!((bench.verifier.raced(), bench.verifier.damages().len()), (1, 0));
    }
}

#[test]
fn a_write_that_failed_may_be_there_or_not() {
    let mut bench = written();
    let before = bench.at(0).to_vec();
    let (io, bytes) = bench.begin(Op::Write, 0, 0);
    bench.verifier.ends(io.slot, -5, &[]);
    assert_eq!(bench.read(0), Verdict::Good);
    bench.at(0)[..512].copy_from_slice(&bytes[..512]);
    assert_eq!(bench.read(0), Verdict::Good, "a part of it");
    bench.at(0).copy_from_slice(&before);
    assert_eq!(
        bench.verifier.ends(0, BLOCK as i32, &[]),
        Verdict::Good,
        "nothing is under way in this slot"
    );
}

#[test]
fn only_the_first_damages_are_kept_but_every_read_is_condemned() {
    let mut bench = Bench::new(true);
    assert!((0..100).all(|block| bench.read(block * 8192) == Verdict::Damaged(Kind::Corrupt)));
    assert_eq!(bench.verifier.damages().len(), KEPT);
    let mut bench = Bench::new(true);
    assert!((0..100).all(|_| bench.read(0) == Verdict::Damaged(Kind::Corrupt)));
    assert_eq!(bench.verifier.damages().len(), 1, "the same place");
}

#[test]
fn a_trimmed_place_holds_zeros_or_what_it_held_until_it_is_written_again() {
    let mut bench = written();
    let (io, _) = bench.begin(Op::Trim, 0, 0);
    bench.verifier.ends(io.slot, 0, &[]);
    assert_eq!(bench.read(0), Verdict::Good, "what it held");
    bench.at(0).fill(0);
    assert_eq!(bench.read(0), Verdict::Good, "zeros");
    bench.at(0)[700] = 1;
    assert_eq!(bench.read(0), Verdict::Damaged(Kind::Corrupt), "but nothing else");
    bench.write(0);
    assert_eq!(bench.read(0), Verdict::Good);
    bench.at(0).fill(0);
    assert_eq!(bench.read(0), Verdict::Damaged(Kind::Stale), "a write after the trim counts again");
}

#[test]
fn a_trim_and_a_write_under_way_together_may_land_in_any_order() {
    for write_first in [true, false] {
        let mut bench = written();
        let (first, second) =
            if write_first { (Op::Write, Op::Trim) } else { (Op::Trim, Op::Write) };
        let (one, _) = bench.begin(first, 0, 0);
        let (other, _) = bench.begin(second, 1, 0);
        let reading = bench.begin(Op::Read, 2, 0).0;
        assert_eq!(
            bench.verifier.ends(reading.slot, BLOCK as i32, &[]),
            Verdict::Good,
            "it met both"
        );
        for io in [other, one] {
            bench.verifier.ends(io.slot, if io.op == Op::Trim { 0 } else { BLOCK as i32 }, &[]);
        }
        assert_eq!(bench.read(0), Verdict::Good, "the old block");
        bench.at(0).fill(0);
        assert_eq!(bench.read(0), Verdict::Good, "zeros");
        assert_eq!(bench.verifier.raced(), 1);
    }
}
