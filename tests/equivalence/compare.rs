//! What differs between the requests of two loads more than chance lets it.
//!
//! Shares are compared by chi-square with one degree of freedom, distributions by the test of
//! Kolmogorov and Smirnov. Each job has at most [`MOST_TESTS`] of them, and all jobs together are
//! to fail by chance once in [`ODDS`] times (Bonferroni).

use super::chance::{Share, distance, following, in_windows, level_of_distance, other_places};
use super::chance::{places, ranks, unequal};
use super::jobs::{JOBS, Job, Places};
use super::kernel::Sent;
use std::collections::BTreeSet;

/// Once in so many times the tests fail though nothing is wrong.
const ODDS: f64 = 10_000.0;
/// No job needs more of them: classes of requests, places, order, flight, pace.
const MOST_TESTS: f64 = 36.0;

/// What was found of a job.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What differs.
    pub wrong: Vec<String>,
    /// What was compared, each with how far both were apart and how far chance lets them be.
    pub compared: Vec<String>,
}

/// How many independent values each of two distributions has.
#[derive(Clone, Copy)]
struct Independent {
    one: f64,
    other: f64,
}

impl Found {
    /// Two distributions, `n` independent values of each.
    fn distance(&mut self, what: &str, one: &mut [u64], other: &mut [u64], n: Independent) {
        let (distance, most) = (distance(one, other), level_of_distance(n.one, n.other, level()));
        self.compared.push(format!("{what} {distance:.3} of {most:.3}"));
        if distance > most {
            self.wrong.push(format!("{what} differ by {distance:.4}, {most:.4} is chance"));
        }
    }

    /// Two shares.
    fn shares(&mut self, what: &str, one: Share, other: Share) {
        if let Some(shares) = unequal(one, other, level()) {
            self.wrong.push(format!("{what}: {shares}"));
        }
    }
}

/// Compares what two loads of one job sent.
pub fn compare(job: &Job, theirs: &[Sent], ours: &[Sent]) -> Found {
    let mut found = Found::default();
    if theirs.len() < 100 || ours.len() < 100 {
        found.wrong.push("too few requests to say".to_owned());
        return found;
    }
    let sum = |all: &[Sent]| all.iter().map(|one| one.length).sum::<u64>();
    let is_counted = job.places == Places::Counted;
    if is_counted {
        found.compared.push("requests and bytes, to the request".to_owned());
        if (theirs.len(), sum(theirs)) != (ours.len(), sum(ours)) {
            found.wrong.push(format!("{} and {} bytes", sum(theirs), sum(ours)));
        }
    }
    classes(theirs, ours, &mut found);
    // Requests that follow another one say nothing new of where requests are.
    let count = |all: &[Sent]| all.len() as f64 * f64::from(job.drawn_permille) / 1e3;
    let n = Independent { one: count(theirs), other: count(ours) };
    match job.places {
        Places::Counted => {
            found.compared.push("every place".to_owned());
            let other = other_places(&places(theirs), &places(ours));
            if other > job.spare {
                found.wrong.push(format!("{other} other places"));
            } else if other > 0 {
                found.compared.push(format!("but for {other}"));
            }
        }
        Places::Drawn => {
            let of = |all: &[Sent]| all.iter().map(|one| one.offset).collect::<Vec<_>>();
            found.distance("places", &mut of(theirs), &mut of(ours), n);
        }
        Places::Ranked => {
            // Of fewer requests, the most wanted places have other shares: as many of each.
            let least = theirs.len().min(ours.len());
            let (mut one, mut other) = (ranks(&theirs[..least]), ranks(&ours[..least]));
            let n = Independent { one: least as f64, other: least as f64 };
            found.distance("ranks", &mut one, &mut other, n);
        }
    }
    let followed = |all: &[Sent]| Share { of: all.len() as f64, count: following(all) };
    found.shares("behind the request before", followed(theirs), followed(ours));
    found.compared.push("sequence".to_owned());
    if job.flight {
        flight(theirs, ours, &mut found);
    }
    if job.pace {
        pace(theirs, ours, &mut found);
    }
    found
}

/// Operations with their sizes: each a share of all.
fn classes(theirs: &[Sent], ours: &[Sent], found: &mut Found) {
    let classes: BTreeSet<(&str, u64)> =
        theirs.iter().chain(ours).map(|one| (one.op.name(), one.length)).collect();
    for (op, length) in &classes {
        let of = |one: &Sent| (one.op.name(), one.length) == (*op, *length);
        let what = format!("{op} of {length} bytes");
        found.shares(&what, share(theirs, &of), share(ours, &of));
    }
    let s = if classes.len() == 1 { "" } else { "s" };
    found.compared.push(format!("{} size{s} and operation{s}", classes.len()));
}

/// Requests in flight when one is sent. Neighbours are alike: of as many as there are at most, and
/// twice as many behind them, one counts.
fn flight(theirs: &[Sent], ours: &[Sent], found: &mut Found) {
    let deepest = |all: &[Sent]| all.iter().map(|one| one.in_flight).max().unwrap_or(0) + 1;
    let (one, other) = (deepest(theirs), deepest(ours));
    if one != other {
        found.wrong.push(format!("at most {one} and {other} in flight"));
    }
    let apart = 3 * one.max(other) as usize;
    let of = |all: &[Sent]| -> Vec<u64> {
        all.iter().step_by(apart).map(|one| u64::from(one.in_flight)).collect()
    };
    let (mut one, mut other) = (of(theirs), of(ours));
    let n = Independent { one: one.len() as f64, other: other.len() as f64 };
    found.distance("in flight", &mut one, &mut other, n);
}

/// Requests in windows of sixteen mean gaps: what is finer is the machine's doing, which wakes who
/// waits some ms late.
fn pace(theirs: &[Sent], ours: &[Sent], found: &mut Found) {
    let mean = |all: &[Sent]| {
        let time = all.last().map_or(0, |last| last.at_us) - all.first().map_or(0, |one| one.at_us);
        time as f64 / (all.len() - 1) as f64
    };
    let (a, b) = (mean(theirs), mean(ours));
    found.compared.push(format!("mean gap {a:.0} and {b:.0} µs"));
    if (a / b - 1.0).abs() > 0.1 {
        found.wrong.push(format!("a request each {a:.0} and {b:.0} µs"));
    }
    let window = (a.max(b) * 16.0).max(1.0) as u64;
    let (mut one, mut other) = (in_windows(theirs, window), in_windows(ours, window));
    let n = Independent { one: one.len() as f64, other: other.len() as f64 };
    found.distance("requests in a window", &mut one, &mut other, n);
}

fn share(all: &[Sent], of: &dyn Fn(&Sent) -> bool) -> Share {
    let count = all.iter().filter(|one| of(one)).count() as f64;
    Share { of: all.len() as f64, count }
}

/// The chance that one of these tests may fail by itself.
fn level() -> f64 {
    1.0 / (ODDS * MOST_TESTS * JOBS.len() as f64)
}
