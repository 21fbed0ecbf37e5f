use super::*;
use model::load::{SizeMix, Skew};

const BLOCK: u64 = 4096;

fn popularity(law: Law, blocks: u64) -> Popularity {
    let size = SizeMix::single(Bytes(BLOCK));
    Popularity {
        law,
        part: Bytes(blocks * BLOCK),
        sharers: 1,
        reads: size.clone(),
        writes: size,
        align: Bytes(0),
    }
}

fn zipf(milli: u32, blocks: u64) -> Popularity {
    popularity(Law::Zipf(Skew { milli }), blocks)
}

fn hot(text: &str) -> Popularity {
    popularity(Law::HotSpot(text.parse().expect("hot spots")), 1 << 20)
}

fn reads(popularity: &Popularity) -> Requests<'_> {
    Requests {
        popularity: Some(popularity),
        read: 1.0,
        random: 1.0,
        line: None,
        keeps_reads: true,
        keeps_writes: true,
    }
}

fn evenly(of: &Requests<'_>, fits: f64) -> f64 {
    Misses::new(of).missing_evenly(false, fits).random
}

#[track_caller]
fn assert_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found}, not {expected}");
}

#[test]
fn without_a_law_it_is_the_share_that_does_not_fit_to_the_bit() {
    let of = Requests { popularity: None, ..reads(&zipf(1_200, 9)) };
    let misses = Misses::new(&of);
    for fits in [0.0, 1e-9, 0.1, 0.25, 0.5, 0.9, 1.0, 1.05, 2.0, 7.0, f64::NAN] {
        let found = misses.missing(true, fits);
        assert_eq!((found.random, found.in_order), (missing(fits), missing(fits)));
    }
    assert_eq!(misses.missing_evenly(false, 0.25).random, 0.75);
    let scans = zipf(1_200, 1 << 20);
    let none = Misses::new(&Requests { random: 0.0, ..reads(&scans) });
    assert_eq!(none.missing(false, 0.4).random, missing(0.4), "no request is placed by it");
}

#[test]
fn a_law_that_hardly_prefers_any_block_comes_to_the_same() {
    for law in [zipf(1, 1 << 24), hot("30%:30%, 20%:20%")] {
        let misses = Misses::new(&reads(&law));
        for fits in [0.01, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0, 1.05, 1.2, 2.0, 3.0] {
            assert_near(misses.missing(false, fits).random, missing(fits), 2e-3);
            let even = (1.0_f64 - fits).max(0.0);
            assert_near(misses.missing_evenly(false, fits).random, even, 4e-3);
        }
    }
}

/// Che's equations for ranks one by one, by bisection.
fn che(rates: &[f64], lines: f64) -> f64 {
    let all: f64 = rates.iter().sum();
    let there = |time: f64| rates.iter().map(|rate| -(-rate / all * time).exp_m1()).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let time = f64::midpoint(low, high);
        if there(time) < lines { low = time } else { high = time }
    }
    rates.iter().map(|rate| rate / all * (-rate / all * low).exp()).sum()
}

#[test]
fn ranks_one_by_one_come_to_the_same_as_in_groups() {
    for (milli, blocks) in
        [(500u32, 20_000u32), (800, 1_000), (1_000, 100_000), (1_200, 50_000), (2_000, 5_000)]
    {
        let exponent = f64::from(milli) / 1e3;
        let rates: Vec<f64> = (1..=blocks).map(|k| f64::from(k).powf(-exponent)).collect();
        let of = zipf(milli, u64::from(blocks));
        for fits in [0.001, 0.01, 0.1, 0.3, 0.7, 0.95] {
            let exact = che(&rates, fits * f64::from(blocks));
            assert_near(evenly(&reads(&of), fits), exact, 3e-3);
        }
    }
}

#[test]
fn hot_spots_have_known_answers() {
    let all_in_half = hot("100%:50%");
    assert_near(evenly(&reads(&all_in_half), 0.2), 0.6, 1e-3);
    assert_near(evenly(&reads(&all_in_half), 0.5), 0.0, 1e-2);
    assert_near(evenly(&reads(&all_in_half), 0.8), 0.0, 1e-6);
    let spots = hot("90%:10%");
    let mut rates = vec![9.0; 1_000];
    rates.extend([1.0 / 9.0; 9_000]);
    for fits in [0.02, 0.08, 0.12, 0.5, 0.9] {
        assert_near(evenly(&reads(&spots), fits), che(&rates, fits * 10_000.0), 3e-3);
        let lines = Requests { line: Some(Bytes(1 << 20)), ..reads(&spots) };
        assert_eq!(evenly(&lines, fits), evenly(&reads(&spots), fits), "neighbours are alike");
    }
}

#[test]
fn lines_of_many_blocks_and_workers_over_the_same_bytes_even_the_load_out() {
    let one = zipf(1_200, 1 << 20);
    let shared = Popularity { sharers: 16, ..one.clone() };
    let line = Some(Bytes(16 * BLOCK));
    let found = [
        evenly(&reads(&one), 0.1),
        evenly(&Requests { line, ..reads(&one) }, 0.1),
        evenly(&reads(&shared), 0.1),
        evenly(&Requests { line: Some(Bytes(1 << 30)), ..reads(&one) }, 0.1),
    ];
    assert!(found[0] < found[1] && found[1] < 0.9, "{found:?}");
    assert!(found[0] < found[2] && found[2] < 0.9, "{found:?}");
    assert!(found[3] > found[1], "{found:?}");
}

#[test]
fn reads_and_writes_compete_where_both_are_kept() {
    let law = zipf(1_100, 1 << 20);
    let mixed = Requests { read: 0.7, ..reads(&law) };
    let both = Misses::new(&mixed);
    let alone = Misses::new(&Requests { keeps_writes: false, ..mixed });
    let (read, write) =
        (both.missing_evenly(false, 0.1).random, both.missing_evenly(true, 0.1).random);
    assert!(read < write, "what is asked for more often is there: {read}, {write}");
    let only_reads = alone.missing_evenly(false, 0.1).random;
    assert!(only_reads < read, "writes have taken no place: {only_reads}, {read}");
    let scans = Misses::new(&Requests { random: 0.5, ..reads(&law) });
    let found = scans.missing_evenly(false, 0.1);
    assert_eq!(found.in_order, 0.9);
    assert!(found.random > evenly(&reads(&law), 0.1), "scans take places of hot blocks");
}

#[test]
fn more_space_never_finds_less_and_no_step_shows() {
    let laws = [
        zipf(500, 1 << 31),
        zipf(1_200, 1 << 31),
        zipf(10_000, 1 << 31),
        zipf(1_200, 1),
        zipf(1_200, 3),
        popularity(Law::Pareto(Skew { milli: 200 }), 1 << 28),
        popularity(Law::Pareto(Skew { milli: 499 }), 1 << 12),
        hot("95%:5%, 4%:10%"),
        hot("100%:100%"),
        hot("99.9999%:0.0001%"),
        popularity(Law::Zipf(Skew { milli: 100_000 }), 1 << 30),
    ];
    for law in &laws {
        for line in [None, Some(Bytes(1 << 20))] {
            let misses = Misses::new(&Requests { read: 0.5, line, ..reads(law) });
            let (mut before, mut slope_before) = (f64::INFINITY, None);
            for step in 0..2_000 {
                let fits = (-40.0 + 0.021 * f64::from(step)).exp();
                let found = misses.missing(step % 2 == 0, fits).random;
                assert!((0.0..=1.0).contains(&found), "{law:?}, {fits}: {found}");
                let all = misses.missing(false, fits).random;
                assert!(all <= before + 1e-12, "{law:?}: {before}, then {all} at {fits}");
                let by = |by: f64| misses.missing(false, fits * by.exp()).random;
                let slope = (by(1e-5) - by(-1e-5)) / 2e-5;
                let jump = slope_before.map_or(0.0, |last: f64| (slope - last).abs());
                assert!(jump < 0.5, "{law:?}: a slope jumps by {jump} at {fits}");
                (before, slope_before) = (all, Some(slope));
            }
        }
    }
}

#[test]
fn a_scan_beside_random_requests_of_a_known_share() {
    // Half of the requests go to a tenth, the others by everywhere.
    let spots = hot("100%:10%");
    let of = Requests { random: 0.5, ..reads(&spots) };
    let mut rates = vec![0.5 / 0.1 + 0.5; 1_000];
    rates.extend([0.5; 9_000]);
    let all: f64 = che(&rates, 3_000.0);
    let found = Misses::new(&of).missing_evenly(false, 0.3);
    assert_near(0.5 * found.random + 0.5 * found.in_order, all, 3e-3);
}
