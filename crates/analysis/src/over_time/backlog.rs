//! Whether a target kept up with a fixed rate, by what piled up and not by what was merely under
//! way.
//!
//! `docs/method/load-line.md`, "The load line", says why.

use crate::rows::little;

/// A rate is missed where more than this share of what was due piled up.
const BEHIND: f64 = 0.01;
/// So many standard deviations of a Poisson count are chance.
const SIGMAS: f64 = 3.0;
/// What is under way at this share of the time is compared with what is at its end.
const EARLY: f64 = 0.25;

/// What was asked of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Units per second: requests, or bytes. Of a rate that changes, that of the end: over the last
    /// requests' time to come back.
    pub per_second: f64,
    /// Units of a request: 1, or its mean length in bytes.
    pub unit: f64,
    /// Whether requests arrive as strangers do, so that their number is one of chance.
    pub poisson: bool,
}

/// What came back in an interval, failed requests included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// When the interval began, in seconds after the stage's start.
    pub start_s: f64,
    /// How long it was, in seconds.
    pub length_s: f64,
    /// Units that were due in it: requests, or bytes.
    pub due: f64,
    /// Units that came back.
    pub units: f64,
}

/// How a target kept up with its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// Units that were due.
    pub due: f64,
    /// Units that came back.
    pub answered: f64,
    /// Units that were due and piled up: not back, and more than the latency keeps under way. 0
    /// and up.
    pub piled_up: f64,
    /// The most of that which says nothing.
    allowed: f64,
}

impl Backlog {
    /// Of intervals in the order of time, and the mean latency of what came back in them, in
    /// seconds. `None` where they are no time.
    pub fn of(asked: Asked, intervals: &[Answered], mean_latency_s: f64) -> Option<Backlog> {
        let (first, last) = (intervals.first()?, intervals.last()?);
        let (start_s, end_s) = (first.start_s, last.start_s + last.length_s);
        let due: f64 = intervals.iter().map(|one| one.due).sum();
        let is_rate = asked.per_second.is_finite() && asked.unit > 0.0;
        if !(due > 0.0 && due.is_finite() && is_rate) {
            return None;
        }
        let since = |from_s: f64| -> f64 {
            let later = intervals.iter().filter(|one| one.start_s >= from_s - 1e-9);
            later.map(|one| one.due - one.units).sum()
        };
        // A queue without end grows all the time, so that of what is not back, the mean latency
        // explains half.
        let not_back = since(start_s);
        let unexplained = not_back - little::outstanding(asked.per_second, mean_latency_s.max(0.0));
        let early_s = EARLY * (end_s - start_s);
        let later_s =
            intervals.iter().map(|one| one.start_s).find(|at_s| *at_s >= start_s + early_s - 1e-9);
        let grown =
            later_s.map_or(not_back, |at_s| since(at_s) * (end_s - start_s) / (end_s - at_s));
        // Where figures rest on the end of a stage, as much was under way when they began.
        let is_whole = start_s <= 0.0;
        let piled_up = if is_whole { grown.min(2.0 * unexplained).min(not_back) } else { not_back };
        let chance = if asked.poisson { SIGMAS * (due / asked.unit).max(1.0).sqrt() } else { 1.0 };
        Some(Backlog {
            due,
            answered: due - not_back,
            piled_up: piled_up.max(0.0),
            allowed: due * BEHIND + chance * asked.unit,
        })
    }

    /// Whether the rate was missed.
    pub fn is_missed(&self) -> bool {
        self.piled_up > self.allowed
    }

    /// What came back of what was due, as a share of it.
    pub fn share(&self) -> f64 {
        self.answered / self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    /// A target of so many servers, each of which takes `service_s` for a request, first come,
    /// first served, loaded for `time_s`.
    struct Device {
        servers: usize,
        service_s: f64,
        time_s: f64,
    }

    impl Device {
        /// What comes back of requests that are due at these instants, and how long it took on
        /// average.
        fn run(&self, rate: f64, due_s: impl IntoIterator<Item = f64>) -> (Vec<Answered>, f64) {
            let mut free = vec![0.0f64; self.servers];
            let interval = |second| Answered {
                start_s: f64::from(second),
                length_s: 1.0,
                due: rate,
                units: 0.0,
            };
            let mut intervals: Vec<Answered> = (0..self.time_s as u32).map(interval).collect();
            let (mut sum, mut count) = (0.0, 0.0);
            for (number, due) in due_s.into_iter().enumerate() {
                // With equal services, the server that is free first is the one that had the
                // earliest of the last requests.
                let server = &mut free[number % self.servers];
                *server = server.max(due) + self.service_s;
                if *server < self.time_s {
                    intervals[*server as usize].units += 1.0;
                    (sum, count) = (sum + *server - due, count + 1.0);
                }
            }
            (intervals, if count > 0.0 { sum / count } else { 0.0 })
        }

        fn evenly(&self, rate: f64) -> Backlog {
            let due = (0..(rate * self.time_s) as u32).map(|number| f64::from(number) / rate);
            let (intervals, mean) = self.run(rate, due);
            Backlog::of(Asked { per_second: rate, unit: 1.0, poisson: false }, &intervals, mean)
                .expect("a time")
        }

        fn by_chance(&self, rate: f64, seed: u64) -> Backlog {
            let mut rng = Rng::new(seed);
            let mut now = 0.0;
            let due = std::iter::from_fn(|| {
                now += -f64::ln(1.0 - rng.unit()) / rate;
                (now < self.time_s).then_some(now)
            });
            let (intervals, mean) = self.run(rate, due);
            Backlog::of(Asked { per_second: rate, unit: 1.0, poisson: true }, &intervals, mean)
                .expect("a time")
        }
    }

    #[test]
    fn what_is_under_way_at_the_end_is_not_missed_up_to_the_capacity_and_a_queue_above_it_is() {
        for (servers, service_s, time_s) in [
            (100, 0.15, 10.0),
            (1_000, 0.15, 10.0),
            (1, 0.0001, 10.0),
            (100, 3.0, 10.0),
            (500, 2.5, 60.0),
        ] {
            let device = Device { servers, service_s, time_s };
            let capacity = servers as f64 / service_s;
            for share in [0.01, 0.1, 0.5, 0.9, 0.99, 1.0] {
                let found = device.evenly(share * capacity);
                assert!(
                    !found.is_missed(),
                    "{servers} × {service_s} s for {time_s} s at {share}: {found:?}"
                );
            }
            for share in [1.1, 1.5, 5.0] {
                let found = device.evenly(share * capacity);
                assert!(
                    found.is_missed(),
                    "{servers} × {service_s} s for {time_s} s at {share}: {found:?}"
                );
            }
        }
        // A hundredth and a half above what it carries is seen, where the latency is short against
        // the time.
        let found = Device { servers: 10, service_s: 0.001, time_s: 10.0 }.evenly(10_150.0);
        assert!(found.is_missed() && (found.piled_up / 1_500.0 - 1.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn chance_alone_misses_no_rate() {
        let device = Device { servers: 1, service_s: 0.0001, time_s: 10.0 };
        let missed =
            |rate: f64| (0..1_000).filter(|seed| device.by_chance(rate, *seed).is_missed()).count();
        for rate in [3.0, 100.0, 5_000.0] {
            assert!(missed(rate) <= 2, "{} of 1,000 at {rate}", missed(rate));
        }
        assert_eq!(
            (0..50).filter(|seed| device.by_chance(11_000.0, *seed).is_missed()).count(),
            50
        );
    }

    #[test]
    fn a_standstill_at_the_end_is_missed_and_one_that_was_made_up_for_is_not() {
        let with = |units: [f64; 10]| {
            let interval = |(second, units)| Answered {
                start_s: f64::from(second),
                length_s: 1.0,
                due: 100.0,
                units,
            };
            let intervals: Vec<Answered> = (0..).zip(units).map(interval).collect();
            Backlog::of(Asked { per_second: 100.0, unit: 1.0, poisson: false }, &intervals, 0.01)
                .expect("a time")
        };
        let mut units = [100.0; 10];
        (units[3], units[4]) = (0.0, 200.0);
        assert!(!with(units).is_missed());
        (units[8], units[9]) = (0.0, 0.0);
        let found = with(units);
        assert!(found.is_missed() && found.piled_up == 200.0 && found.share() == 0.8, "{found:?}");
        assert!(with([0.0; 10]).is_missed(), "nothing came back");
    }

    #[test]
    fn figures_that_rest_on_the_end_of_a_stage_say_nothing_of_its_beginning() {
        let interval = |second: u32, units| Answered {
            start_s: f64::from(second),
            length_s: 1.0,
            due: 100.0,
            units,
        };
        let asked = Asked { per_second: 100.0, unit: 1.0, poisson: false };
        let late = |units| (5..15).map(|second| interval(second, units)).collect::<Vec<_>>();
        let of = |units| Backlog::of(asked, &late(units), 3.0).expect("a time");
        assert!(!of(100.0).is_missed() && of(97.0).is_missed());
        assert_eq!(Backlog::of(asked, &[], 0.0), None);
        assert_eq!(Backlog::of(Asked { per_second: f64::NAN, ..asked }, &late(1.0), 0.0), None);
    }

    /// A device of 100 servers that take 150 ms, under a rate that rises from nothing to `top` in
    /// 10 s, or falls from it to nothing.
    fn ramp(top: f64, is_rising: bool) -> Backlog {
        // The integral of the rising one is top·t²/20, of the falling one top·(t − t²/20).
        let before = |t: f64| match is_rising {
            true => top * t * t / 20.0,
            false => top * (t - t * t / 20.0),
        };
        let due = (0..before(10.0) as u32).map(|number| {
            let k = f64::from(number) / top;
            if is_rising { (20.0 * k).sqrt() } else { 10.0 - (100.0 - 20.0 * k).sqrt() }
        });
        let device = Device { servers: 100, service_s: 0.15, time_s: 10.0 };
        let (mut intervals, mean) = device.run(0.0, due);
        for one in &mut intervals {
            one.due = before(one.start_s + 1.0) - before(one.start_s);
        }
        let per_second = (before(10.0) - before(10.0 - mean.min(10.0))) / mean.min(10.0);
        Backlog::of(Asked { per_second, unit: 1.0, poisson: false }, &intervals, mean)
            .expect("a time")
    }

    #[test]
    fn a_rate_that_changes_is_missed_where_the_device_was_too_slow_and_not_because_it_changes() {
        // The device carries 667 a second.
        for top in [1.0, 100.0, 600.0, 660.0] {
            assert!(!ramp(top, true).is_missed(), "{top}: {:?}", ramp(top, true));
            assert!(!ramp(top, false).is_missed(), "{top}: {:?}", ramp(top, false));
        }
        for top in [1_000.0, 3_000.0] {
            assert!(ramp(top, true).is_missed(), "{top}: {:?}", ramp(top, true));
        }
        assert!(!ramp(1_000.0, false).is_missed(), "what it was behind, it made up for");
        assert!(ramp(5_000.0, false).is_missed());
    }
}
