use super::table::{Area, Step, Table, Wanted, Zone};
use model::Op;
use model::plan::ZoneRules;
use model::rng::Rng;
use model::units::{Bytes, Percent};

const SIZE: u64 = 64 << 10;
const BLOCK: u64 = 4 << 10;

const PLAIN: ZoneRules = ZoneRules {
    size: Bytes(SIZE),
    open: 0,
    worker_open: 0,
    reset_threshold: Percent::ZERO,
    reset_frequency: Percent::ZERO,
    unwritten_reads: false,
};

/// Of `count` zones, all loaded.
fn area(count: u64) -> Area {
    Area { file: 0, start: 0, length: count * SIZE, zones: (0, count as usize) }
}

fn table(count: u64, most_open: usize, pointers: &[u64]) -> Table {
    let zone = |number: u64| {
        let pointer = pointers.get(number as usize).copied().unwrap_or(0);
        Zone::new(number * SIZE, SIZE, number * SIZE + pointer)
    };
    Table::new((0..count).map(zone).collect(), SIZE, most_open, &[area(count)])
}

fn wanted(op: Op, offset: u64, is_random: bool, count: u64) -> Wanted {
    Wanted {
        op,
        area: area(count),
        offset,
        length: BLOCK,
        least: BLOCK,
        is_random,
        worker: 0,
        is_counted: false,
        rules: PLAIN,
    }
}

/// Does what the table asks for until the request is sent; where to, and which zones were reset.
fn send(table: &mut Table, mut wanted: Wanted) -> (u64, Vec<usize>) {
    let mut resets = Vec::new();
    for _ in 0..100 {
        match table.place(&mut wanted) {
            Step::Send { offset, length } => {
                table.came_back(wanted.op, offset, length, true);
                return (offset, resets);
            }
            Step::Reset { zone } => {
                table.was_reset(zone);
                resets.push(zone);
            }
            Step::Finish { zone, next } => {
                table.was_finished(zone);
                wanted.offset = next.expect("at random, there is always a next one");
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("it finds no place");
}

#[test]
fn a_write_goes_to_the_write_pointer_of_its_zone_and_a_full_zone_is_reset_first() {
    let mut table = table(4, 0, &[]);
    for number in 0..16 {
        let expected = (2 * SIZE + number * BLOCK, Vec::new());
        assert_eq!(send(&mut table, wanted(Op::Write, 2 * SIZE + 8192, true, 4)), expected);
    }
    assert_eq!(send(&mut table, wanted(Op::Write, 2 * SIZE, true, 4)), (2 * SIZE, vec![2]));
}

#[test]
fn one_write_at_a_time_is_under_way_in_a_zone_and_no_reset_beside_a_read() {
    let mut table = table(2, 0, &[SIZE]);
    let mut read = wanted(Op::Read, 0, true, 2);
    assert!(matches!(table.place(&mut read), Step::Send { .. }));
    let mut write = wanted(Op::Write, 0, true, 2);
    assert_eq!(table.place(&mut write), Step::Wait, "its zone is full, and somebody reads it");
    table.came_back(Op::Read, 0, BLOCK, true);
    assert_eq!(table.place(&mut write), Step::Reset { zone: 0 });
    assert_eq!(table.place(&mut wanted(Op::Write, 0, true, 2)), Step::Wait, "under way");
    table.was_reset(0);
    assert_eq!(table.place(&mut write), Step::Send { offset: 0, length: BLOCK });
    assert_eq!(table.place(&mut wanted(Op::Write, 0, true, 2)), Step::Wait);
    table.came_back(Op::Write, 0, BLOCK, true);
    let next = Step::Send { offset: BLOCK, length: BLOCK };
    assert_eq!(table.place(&mut wanted(Op::Write, 0, true, 2)), next);
}

#[test]
fn no_more_zones_are_open_than_the_limit_allows() {
    let mut table = table(64, 3, &[]);
    let mut rng = Rng::new(11);
    let mut partly = 0;
    for _ in 0..4_000 {
        let offset = rng.below(64 * SIZE / BLOCK) * BLOCK;
        send(&mut table, wanted(Op::Write, offset, true, 64));
        let is_partly = |zone: &&Zone| zone.pointer > zone.start && zone.pointer < zone.end;
        partly = partly.max(table.zones().iter().filter(is_partly).count());
    }
    assert_eq!(partly, 3);
    let touched = table.zones().iter().filter(|zone| zone.pointer > zone.start).count();
    assert_eq!(touched, 64, "full zones make place for others, everywhere");
}

#[test]
fn a_worker_has_no_more_open_zones_than_its_own_limit() {
    let mut table = table(16, 8, &[]);
    for number in 0..16 {
        let mut one = wanted(Op::Write, number * SIZE, true, 16);
        one.rules.worker_open = 2;
        send(&mut table, one);
    }
    let begun = table.zones().iter().filter(|zone| zone.pointer > zone.start).count();
    assert_eq!(begun, 2);
}

#[test]
fn zones_with_room_are_reset_past_the_threshold_as_often_as_asked() {
    let mut table = table(8, 0, &[]);
    let mut rng = Rng::new(5);
    let (mut writes, mut resets, mut first) = (0_u64, 0_u64, None);
    for _ in 0..2_000 {
        let mut one = wanted(Op::Write, rng.below(8 * SIZE / BLOCK) * BLOCK, true, 8);
        one.rules.reset_threshold = Percent::of(70);
        one.rules.reset_frequency = "12.5%".parse().expect("a share");
        let valid: u64 = table.zones().iter().map(|zone| zone.pointer - zone.start).sum();
        let had_room = !table.zones()[table.at(one.offset)].pointer.is_multiple_of(SIZE);
        let (_, zones) = send(&mut table, one);
        writes += u64::from(valid * 10 >= 8 * SIZE * 7);
        if had_room && !zones.is_empty() {
            resets += 1;
            first.get_or_insert(valid);
        }
    }
    let first = first.expect("some");
    assert!(first * 10 >= 8 * SIZE * 7, "{first}: not before the threshold");
    // One of eight; some of them meet a zone that is full anyway.
    assert!(resets <= writes / 8 && resets * 10 >= writes / 8 * 5, "{resets} of {writes}");
}

#[test]
fn a_read_stays_below_write_pointers_and_goes_to_the_nearest_zone_with_data() {
    let mut one = table(8, 0, &[0, 0, 0, 3 * BLOCK, 0, 0, 0, SIZE]);
    let mut rng = Rng::new(3);
    for _ in 0..1_000 {
        let offset = rng.below(8 * SIZE / BLOCK) * BLOCK;
        let (at, _) = send(&mut one, wanted(Op::Read, offset, true, 8));
        let zone = one.zones()[one.at(at)];
        assert!(at >= zone.start && at + BLOCK <= zone.written, "{at}");
    }
    // In order: what is empty is passed over.
    assert_eq!(send(&mut one, wanted(Op::Read, 0, false, 8)).0, 3 * SIZE);
    assert_eq!(send(&mut one, wanted(Op::Read, 3 * SIZE + 3 * BLOCK, false, 8)).0, 7 * SIZE);
    let mut empty = table(8, 0, &[]);
    assert_eq!(empty.place(&mut wanted(Op::Read, 0, false, 8)), Step::AtEnd);
    let mut beyond = wanted(Op::Read, 5 * BLOCK, true, 8);
    beyond.rules.unwritten_reads = true;
    let sent = Step::Send { offset: 5 * BLOCK, length: BLOCK };
    assert_eq!(empty.place(&mut beyond), sent);
}

#[test]
fn a_read_does_not_meet_a_write_that_is_not_over() {
    let mut table = table(1, 0, &[]);
    assert!(matches!(table.place(&mut wanted(Op::Write, 0, true, 1)), Step::Send { .. }));
    assert_eq!(table.place(&mut wanted(Op::Read, 0, true, 1)), Step::AtEnd);
    table.came_back(Op::Write, 0, BLOCK, true);
    assert!(matches!(table.place(&mut wanted(Op::Read, 0, true, 1)), Step::Send { .. }));
}

#[test]
fn a_trim_resets_a_whole_zone_that_has_data() {
    let mut table = table(4, 0, &[0, 0, BLOCK]);
    let mut trim = wanted(Op::Trim, 0, true, 4);
    trim.length = SIZE;
    assert_eq!(send(&mut table, trim).0, 2 * SIZE);
    assert_eq!(table.zones()[2].pointer, 2 * SIZE);
    assert_eq!(table.place(&mut trim), Step::Wait, "none has data any more");
}

#[test]
fn after_a_failed_write_the_device_is_asked_where_its_pointer_is() {
    let mut table = table(1, 0, &[]);
    let mut write = wanted(Op::Write, 0, true, 1);
    assert!(matches!(table.place(&mut write), Step::Send { .. }));
    table.came_back(Op::Write, 0, BLOCK, false);
    assert_eq!(table.place(&mut write), Step::Look { zone: 0 });
    table.was_looked_at(0, 0);
    assert_eq!(table.place(&mut write), Step::Send { offset: 0, length: BLOCK });
}

#[test]
fn a_rest_that_is_smaller_than_any_write_is_finished() {
    let mut table = table(3, 0, &[SIZE - 2048]);
    let mut write = wanted(Op::Write, 0, true, 3);
    assert_eq!(table.place(&mut write), Step::Finish { zone: 0, next: Some(SIZE) });
    table.was_finished(0);
    write.offset = SIZE;
    assert_eq!(table.place(&mut write), Step::Send { offset: SIZE, length: BLOCK });
    assert_eq!(table.zones()[0].pointer, SIZE);
}

#[test]
fn writes_to_conventional_zones_go_where_they_fall_and_end_before_others() {
    let mut zones: Vec<Zone> =
        (0..2).map(|number| Zone::new(number * SIZE, SIZE, number * SIZE)).collect();
    zones[0].is_sequential = false;
    let mut table = Table::new(zones.into(), SIZE, 0, &[area(2)]);
    let at = |table: &mut Table, offset| match table.place(&mut wanted(Op::Write, offset, true, 2))
    {
        Step::Send { offset, length } => (offset, length),
        other => panic!("{other:?}"),
    };
    assert_eq!(at(&mut table, 3 * BLOCK), (3 * BLOCK, BLOCK));
    assert_eq!(at(&mut table, SIZE - 2048), (SIZE - BLOCK, BLOCK));
}
