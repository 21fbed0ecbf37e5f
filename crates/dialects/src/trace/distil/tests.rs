use super::*;
use model::rng::Rng;
use suite::Spec;

fn distilled(requests: impl Iterator<Item = Request>) -> Distilled {
    let mut distiller = Distiller::new();
    requests.for_each(|request| distiller.add(&request));
    let distilled = distiller.finish("distilled x", "of x.trace").expect("requests");
    Spec::parse("x.toml", &distilled.suite, &[])
        .unwrap_or_else(|errors| panic!("{errors:?}\n{}", distilled.suite));
    distilled
}

/// Requests of a known load, as its own suite would send them.
fn of_load(count: u64, mut place: impl FnMut(&mut Rng) -> u64) -> impl Iterator<Item = Request> {
    let mut rng = Rng::new(7);
    let mut at_ns = 0.0;
    (0..count).map(move |_| {
        at_ns -= 1e6 * (1.0 - rng.unit()).ln();
        let is_read = rng.chance(700_000);
        let length = if rng.chance(250_000) { 65_536 } else { 4_096 };
        let op = if is_read { Op::Read } else { Op::Write };
        let offset = place(&mut rng) * 4_096;
        Request { at_ns: at_ns as u64, op, offset, length, source: 0 }
    })
}

#[test]
fn what_a_suite_can_say_is_found_again() {
    let found = distilled(of_load(200_000, |rng| rng.below(1 << 18)));
    let Distances { sizes, offsets, popularity, inter_arrivals, rate } = found.distances;
    for (what, distance) in [
        ("sizes", sizes),
        ("offsets", offsets),
        ("popularity", popularity),
        ("inter-arrivals", inter_arrivals),
        ("rate", rate),
    ] {
        assert!(distance < 0.06, "{what} {distance}\n{}", found.suite);
    }
    for line in ["access = \"random\"", "arrivals = \"poisson\"", "align = 4096", "files = 1"] {
        assert!(found.suite.contains(line), "{line}\n{}", found.suite);
    }
    let read =
        found.suite.lines().find_map(|line| line.strip_prefix("read = \"")).expect("a share");
    let read: f64 = read.trim_end_matches(['%', '"']).parse().expect("a number");
    assert!((read - 70.0).abs() < 0.5, "{read}");
}

#[test]
fn hot_spots_are_found_wherever_they_are() {
    // Nine of ten requests go to a tenth of the space, in its middle.
    let hot = |rng: &mut Rng| match rng.chance(900_000) {
        true => 100_000 + rng.below(20_000),
        false => rng.below(200_000),
    };
    let found = distilled(of_load(200_000, hot));
    assert!(found.suite.contains("access = \"hot-spot\""), "{}", found.suite);
    assert!(found.distances.popularity < 0.1, "{:?}", found.distances);
    assert!(found.distances.offsets > 0.3, "they stand elsewhere: {:?}", found.distances);
}

#[test]
fn sequences_bursts_and_flushes_are_told() {
    let burst = (0..40_000u64).map(|number| {
        let at_ns = number / 10_000 * 10_000_000_000 + number % 10_000 * 10_000;
        let op = if number % 100 == 99 { Op::Fsync } else { Op::Write };
        let length = if op == Op::Fsync { 0 } else { 8_192 };
        let offset = if op == Op::Fsync { 0 } else { (number - number / 100) * 8_192 };
        Request { at_ns, op, offset, length, source: 0 }
    });
    let found = distilled(burst);
    assert!(found.suite.contains("fsync_every = 99"), "{}", found.suite);
    assert!(found.suite.contains("read = \"0%\""), "{}", found.suite);
    assert!(found.suite.contains("random = \"0.0025%\""), "{}", found.suite);
    // Four bursts of 100,000 a second for 100 ms, and three times nothing between them.
    assert!(found.distances.rate < 0.02, "{:?}", found.distances);
    // Of one rate for all the time it would be 0.98. Every hundredth gap has a flush in it.
    assert!(found.distances.inter_arrivals < 0.6, "{:?}", found.distances);
    let steps = found.suite.matches("{to = ").count();
    assert!((8..=16).contains(&steps), "{}", found.suite);
    assert!(found.suite.contains("{to = \"0.000 IOPS\"}"), "{}", found.suite);
}

#[test]
fn a_rate_that_changes_becomes_a_curve_and_the_distances_are_those_of_the_curve() {
    // 500 a second for 40 s, 4,000 for 10 s, 100 for 50 s: each like strangers.
    let mut rng = Rng::new(11);
    let mut at_s = 0.0;
    let mut next = move || {
        let rate = match at_s {
            at if at < 40.0 => 500.0,
            at if at < 50.0 => 4_000.0,
            _ => 100.0,
        };
        at_s -= (1.0 - rng.unit()).ln() / rate;
        let offset = rng.below(1 << 16) * 4_096;
        let (at_ns, length) = ((at_s * 1e9) as u64, 4_096);
        (at_s < 100.0).then_some(Request { at_ns, op: Op::Read, offset, length, source: 0 })
    };
    let requests: Vec<Request> = std::iter::from_fn(&mut next).collect();
    let found = distilled(requests.iter().copied());
    assert!(found.distances.rate < 0.01, "{:?}\n{}", found.distances, found.suite);
    assert!(found.distances.inter_arrivals < 0.02, "{:?}", found.distances);
    assert!(found.suite.contains("arrivals = \"poisson\""), "{}", found.suite);
    // The cells in which it changes are stretches of their own.
    let steps = found.suite.matches("{hold = ").count();
    assert!((3..=6).contains(&steps), "{}", found.suite);
    // As many are due by the curve as the trace had.
    let spec = Spec::parse("x.toml", &found.suite, &[]).expect("a suite");
    let form::Auto::Fixed(model::offered::Offered::Changing(curve)) =
        &spec.first_scenario().points[0].workloads[0].rate.value
    else {
        panic!("a curve: {}", found.suite)
    };
    let parts: u128 = curve
        .lines
        .iter()
        .map(|line| u128::from(line.from + line.to) * u128::from(line.length.0))
        .sum();
    let due = parts as f64 / curve.unit.parts() as f64;
    assert!((due - requests.len() as f64).abs() < 1.0, "{due} and {}", requests.len());
}

#[test]
fn even_arrivals_are_the_suites_own() {
    let even = (0..1_000u64).map(|number| Request {
        at_ns: number * 400_000,
        op: Op::Read,
        offset: number * 7 % 1_000 * 8_192,
        length: 4_096,
        source: 0,
    });
    let found = distilled(even);
    assert!(found.suite.contains("rate = \"2500.000 IOPS\""), "{}", found.suite);
    assert!(found.suite.contains("arrivals = \"uniform\""), "{}", found.suite);
    assert!(found.distances.inter_arrivals < 0.01, "{:?}", found.distances);
}

#[test]
fn one_request_alone_and_none() {
    assert_eq!(Distiller::new().finish("x", "y"), None);
    let one = Request { at_ns: 0, op: Op::Read, offset: 512, length: 512, source: 0 };
    let found = distilled(std::iter::once(one));
    assert!(!found.suite.contains("rate ="), "{}", found.suite);
}

#[test]
fn whatever_the_requests_are_the_suite_is_one() {
    let mut rng = Rng::new(21);
    for round in 0..60u64 {
        let count = 1 + rng.below(3_000);
        let space = 1 + rng.below(1 << (20 + round % 20));
        let mut at_ns = 0;
        let requests: Vec<Request> = (0..count)
            .map(|_| {
                at_ns += rng.below(1 << (round % 40));
                let op = [Op::Read, Op::Write, Op::Trim][rng.below(3) as usize];
                let length = 512 * (1 + rng.below(300) as u32);
                Request { at_ns, op, offset: rng.below(space) * 512, length, source: 0 }
            })
            .collect();
        distilled(requests.into_iter());
    }
}
