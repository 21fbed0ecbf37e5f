//! Searches along targets whose load line theory knows.

use super::*;
use crate::estimate::simulated::Normal;
use crate::estimate::student::halved;
use model::rng::Rng;

/// Runs a search to its end. `target` is asked for the figures at a rate, or in a closed loop.
fn search(mut target: impl FnMut(Option<f64>) -> Tried) -> Vec<Tried> {
    let mut tried = Vec::new();
    loop {
        match next(&tried) {
            Next::Done => return tried,
            Next::Closed => tried.push(target(None)),
            Next::Open(rate) => tried.push(target(Some(rate))),
        }
        assert!(tried.len() <= MOST_POINTS);
    }
}

/// A target that carries up to `capacity` and responds as `response` says, in units of the limit,
/// with this relative noise.
fn target(
    seed: u64,
    noise: f64,
    capacity: f64,
    response: impl Fn(f64) -> f64,
) -> impl FnMut(Option<f64>) -> Tried {
    let mut normal = Normal::new(seed);
    move |rate| {
        let carried = rate.unwrap_or(capacity).min(capacity) * (1.0 + 0.002 * normal.draw());
        let behind =
            rate.map_or(0.0, |rate| if rate > 1.01 * capacity { rate / capacity } else { 0.0 });
        let load = rate.unwrap_or(f64::INFINITY) / capacity;
        let figure = if load < 1.0 { response(load) * (noise * normal.draw()).exp() } else { 1e3 };
        Tried { rate, carried, excess: figure.max(behind), error: Some(noise), ..Tried::default() }
    }
}

/// The load at which a rising response reaches 1.
fn truth(response: impl Fn(f64) -> f64) -> f64 {
    halved(0.0, 1.0, 60, |middle| response(middle) <= 1.0).0
}

/// Erlang C: the probability that a request waits, by the recursion of Erlang B.
fn erlang_c(servers: u32, load: f64) -> f64 {
    let offered = f64::from(servers) * load;
    let b = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    b / (1.0 - load * (1.0 - b))
}

/// The mean response of M/D/1 in services (Pollaczek and Khinchine).
fn md1(load: f64) -> f64 {
    1.0 + load / (2.0 * (1.0 - load))
}

/// The mean response of M/M/c in services.
fn mmc(servers: u32, load: f64) -> f64 {
    1.0 + erlang_c(servers, load) / (f64::from(servers) * (1.0 - load))
}

/// How many of `seeds` searches do not find the load within 2 %, unconfirmed ones included.
fn misses(seeds: u64, noise: f64, response: impl Fn(f64) -> f64 + Copy) -> usize {
    let right = truth(response);
    let miss = |seed: &u64| {
        let found = answer(&search(target(*seed, noise, 1.0, response)));
        let rate = found.rate.unwrap_or(0.0);
        (rate / right - 1.0).abs() > 0.02 || !found.confirmed
    };
    (0..seeds).filter(miss).count()
}

#[test]
fn the_load_line_of_known_queues_is_found_within_two_percent() {
    // Limits that are reached at loads from a half to nearly all of the capacity; the noise is that
    // of the figure.
    for (limit, noise) in
        [(1.5, 0.003), (2.0, 0.005), (3.0, 0.02), (5.0, 0.03), (10.0, 0.05), (30.0, 0.05)]
    {
        let wrong = misses(500, noise, |load| md1(load) / limit);
        assert!(wrong <= 10, "M/D/1 at {limit} services: {wrong} of 500");
        for servers in [1, 4, 16] {
            let wrong = misses(500, noise, |load| mmc(servers, load) / limit);
            assert!(wrong <= 10, "M/M/{servers} at {limit} services: {wrong} of 500");
        }
    }
}

/// A queue of `servers` that is simulated request by request (Kiefer and Wolfowitz 1955: each goes
/// to the server that is free first).
struct Simulated {
    servers: usize,
    exponential: bool,
    requests: u32,
    rng: Rng,
}

impl Simulated {
    /// The mean response in services at a load, with its error by ten batches.
    fn mean(&mut self, load: f64) -> (f64, f64) {
        let draw = |rng: &mut Rng| -f64::ln(1.0 - rng.unit());
        let mut free = vec![0.0f64; self.servers];
        let mut now = 0.0;
        let mut batches = [0.0; 10];
        for number in 0..self.requests {
            now += draw(&mut self.rng) / (load * self.servers as f64);
            let service = if self.exponential { draw(&mut self.rng) } else { 1.0 };
            let Some(first) = free.iter_mut().min_by(|a, b| a.total_cmp(b)) else { break };
            *first = first.max(now) + service;
            batches[(number * 10 / self.requests) as usize] +=
                (*first - now) * 10.0 / f64::from(self.requests);
        }
        let mean = batches.iter().sum::<f64>() / 10.0;
        let variance = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / 90.0;
        (mean, variance.sqrt())
    }

    fn tried(&mut self, rate: Option<f64>, limit: f64) -> Tried {
        let Some(rate) = rate else {
            return Tried { rate, carried: 1.0, excess: 1e3, ..Tried::default() };
        };
        let (mean, error) = self.mean(rate);
        let behind = if rate > 1.01 { rate } else { 0.0 };
        Tried {
            rate: Some(rate),
            carried: rate.min(1.0),
            excess: (mean / limit).max(behind),
            error: Some(error / mean),
            ..Tried::default()
        }
    }
}

#[test]
#[ignore = "a proof"]
fn the_load_line_of_simulated_queues_is_found_within_two_percent() {
    for (servers, exponential, limit) in [(1, false, 3.0), (1, true, 5.0), (4, true, 2.0)] {
        let right = match exponential {
            true => truth(|load| mmc(servers, load) / limit),
            false => truth(|load| md1(load) / limit),
        };
        let mut wrong = 0;
        for seed in 0..200 {
            let rng = Rng::new(seed);
            let mut queue =
                Simulated { servers: servers as usize, exponential, requests: 100_000, rng };
            let found = answer(&search(|rate| queue.tried(rate, limit))).rate.unwrap_or(0.0);
            wrong += u32::from((found / right - 1.0).abs() > 0.02);
        }
        assert!(wrong <= 4, "{servers} servers at {limit} services: {wrong} of 200");
    }
}

#[test]
fn a_limit_of_nothing_is_found_by_halving() {
    // Requests fail above a rate, with nothing that announces it.
    for edge in [0.05, 0.31, 0.6, 0.77, 0.99] {
        let tried = search(|rate| Tried {
            rate,
            carried: rate.unwrap_or(1.0).min(1.0),
            excess: if rate.unwrap_or(9.0) <= edge { 0.0 } else { f64::INFINITY },
            ..Tried::default()
        });
        let found = answer(&tried);
        let rate = found.rate.expect("it holds somewhere");
        assert!(
            (0.98..=1.0).contains(&(rate / edge)),
            "{edge}: {found:?} of {} points",
            tried.len()
        );
        assert!(
            found.fails_at.is_some_and(|fails| fails > edge && fails < 1.03 * edge),
            "{edge}: {found:?}"
        );
    }
}

#[test]
fn a_figure_that_leaps_at_the_capacity_is_followed_up_to_it() {
    // All requests take as long as they take, until more are due than are carried: nothing
    // announces the end.
    for excess in [0.3, 0.5, 0.75, 0.95] {
        for carried in [0.97, 0.995, 1.0] {
            let tried = search(|rate| Tried {
                rate,
                carried: rate.unwrap_or(carried).min(1.0),
                excess: if rate.is_some_and(|rate| rate <= 1.0) { excess } else { 2.2 },
                error: Some(0.01),
                ..Tried::default()
            });
            let found = answer(&tried);
            assert!(
                found.rate.is_some_and(|rate| (0.98..=1.0).contains(&rate)),
                "{excess} {carried}: {found:?} {tried:?}"
            );
            assert!(found.confirmed, "{excess} {carried}: {tried:?}");
        }
    }
}

#[test]
fn what_the_target_carries_is_the_end_where_nothing_else_is() {
    // A closed loop that was held up by its depth: the target carries three times as much.
    let tried = search(|rate| {
        let behind = rate.map_or(0.0, |rate| if rate > 3.03 { rate / 3.0 } else { 0.0 });
        Tried {
            rate,
            carried: rate.map_or(1.0, |rate| rate.min(3.0)),
            excess: behind,
            ..Tried::default()
        }
    });
    let found = answer(&tried);
    assert!(found.rate.is_some_and(|rate| (2.94..=3.06).contains(&rate)), "{found:?}");
    assert!(found.confirmed, "{tried:?}");
}

#[test]
fn an_objective_that_never_holds_has_no_answer_and_few_points() {
    let tried = search(|rate| Tried {
        rate,
        carried: 1.0,
        excess: 7.0,
        error: Some(0.1),
        ..Tried::default()
    });
    assert_eq!(tried.len(), 2 + DOWN.len());
    assert_eq!(answer(&tried).rate, None);
    assert!(answer(&tried).fails_at.is_some_and(|rate| rate < 0.01));
    let nothing = search(|rate| Tried { rate, carried: 0.0, ..Tried::default() });
    assert_eq!(nothing.len(), 1, "a target that carries nothing is not asked again");
}

#[test]
fn one_point_out_of_line_does_not_decide() {
    // A stall doubles the figure of one point of each search, whichever it is.
    let right = truth(|load| md1(load) / 3.0);
    let mut wrong = 0;
    for seed in 0..200 {
        let mut quiet = target(seed, 0.01, 1.0, |load| md1(load) / 3.0);
        let mut number = 0;
        let tried = search(|rate| {
            number += 1;
            let mut point = quiet(rate);
            point.excess *= if number == 2 + (seed % 7) { 2.0 } else { 1.0 };
            point
        });
        let rate = answer(&tried).rate.unwrap_or(0.0);
        assert!(rate < 1.02 * right, "never more than it carries: {rate}");
        wrong += u32::from(rate < 0.95 * right);
    }
    assert!(wrong <= 60, "{wrong} of 200");
}

#[test]
fn figures_that_are_none_end_the_search_in_time() {
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0, f64::MAX] {
        for carried in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1.0, f64::MAX] {
            let tried = search(|rate| Tried {
                rate,
                carried,
                excess: bad,
                error: Some(bad),
                ..Tried::default()
            });
            let rates: Vec<f64> = tried.iter().filter_map(|point| point.rate).collect();
            assert!(!tried.is_empty(), "the first one has no rate");
            assert!(
                rates.into_iter().all(|rate| rate > 0.0 && rate.is_finite()),
                "{bad} {carried}: {tried:?}"
            );
        }
    }
}

/// A closed loop of 2,700 requests that holds with a fifth to spare, and a queue behind it.
fn deep(mut open: impl FnMut(f64) -> f64) -> impl FnMut(Option<f64>) -> Tried {
    move |rate| Tried {
        rate,
        carried: rate.unwrap_or(1.0).min(1.0),
        excess: rate.map_or(0.8, &mut open),
        error: Some(0.02),
        outstanding: if rate.is_none() { 2_700.0 } else { 0.0 },
        is_too_low: false,
    }
}

#[test]
fn bursts_of_others_on_the_load_hosts_do_not_lower_the_answer() {
    // For a run of points, whichever they are, others take the processors: the figure is twenty
    // times its limit.
    let right = truth(|load| md1(load) / 3.0);
    for begin in 2..8 {
        for length in 1..3 {
            let mut number = 1;
            let tried = search(deep(|load| {
                number += 1;
                let quiet = if load < 1.0 { md1(load) / 3.0 } else { 1e3 };
                if (begin..begin + length).contains(&number) { 20.0 } else { quiet }
            }));
            let found = answer(&tried);
            let refused = found.contradiction.is_some() && found.rate.is_none();
            let rate = found.rate.unwrap_or(0.0);
            assert!(
                refused || (0.7 * right..1.02 * right).contains(&rate),
                "{begin} {length}: {found:?} {tried:?}"
            );
            assert!(length > 1 || !refused, "one burst is not enough: {begin} {tried:?}");
        }
    }
}

#[test]
fn points_that_contradict_each_other_for_good_are_no_answer() {
    // What the closed loop carried within the limit fails at every fixed rate but the lowest ones.
    let tried = search(deep(|load| if load < 0.01 { 0.5 } else { 30.0 }));
    let found = answer(&tried);
    let contradiction = found.contradiction.expect("it is said");
    assert_eq!((found.rate, found.confirmed, contradiction.in_closed_loop), (None, false, true));
    assert!(
        tried.iter().filter(|point| point.rate == Some(contradiction.fails_at)).count() >= RETESTS,
        "{tried:?}"
    );
    // A target that holds at the higher rate only, each time that it is asked.
    let mut known: Vec<Tried> = Vec::new();
    let point =
        |rate: f64, excess| Tried { rate: Some(rate), carried: rate, excess, ..Tried::default() };
    known.push(Tried { carried: 1.0, excess: 9.0, ..Tried::default() });
    known.extend([point(0.6, 0.5), point(0.3, 5.0)]);
    while let Next::Open(rate) = next(&known) {
        known.push(point(rate, if rate > 0.4 { 0.5 } else { 5.0 }));
        if answer(&known).contradiction.is_some() && known.len() > 5 {
            break;
        }
    }
    let found = answer(&known).contradiction.expect("it is said");
    assert_eq!((found.fails_at, found.in_closed_loop), (0.3, false));
    assert_eq!(answer(&known).rate, None);
}

#[test]
fn a_shallow_closed_loop_and_strangers_contradict_nothing() {
    let failing = |outstanding| {
        let closed = Tried { carried: 1.0, excess: 0.8, outstanding, ..Tried::default() };
        [closed, Tried { rate: Some(0.6), carried: 0.6, excess: 3.0, ..Tried::default() }]
    };
    assert!(
        answer(&failing(4.0)).contradiction.is_none()
            && answer(&failing(0.0)).contradiction.is_none()
    );
    assert_eq!(next(&failing(64.0)), Next::Open(0.6), "measured again");
    assert_eq!(next(&failing(4.0)), Next::Open(0.3), "lower");
}

#[test]
fn a_rate_that_the_objective_wants_and_that_was_not_asked_for_ends_nothing() {
    let with = |least: f64| {
        let mut quiet = target(3, 0.01, 1.0, |load| md1(load) / 3.0);
        search(move |rate| Tried {
            is_too_low: rate.is_some_and(|rate| rate < least),
            ..quiet(rate)
        })
    };
    let (found, plain) = (answer(&with(0.3)), answer(&with(0.0)));
    assert_eq!(
        (found, with(0.3).len()),
        (plain, with(0.0).len()),
        "it holds at the load line anyway"
    );
    let never = answer(&with(0.95));
    assert_eq!((never.rate, never.contradiction), (None, None));
    assert!(never.fails_at.is_some());
}
