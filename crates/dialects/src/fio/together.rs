//! What binds jobs that run together: delays between their beginnings, and ratios of their
//! requests (`flow`).

use super::job::Job;
use crate::draft::{Fields, Group, time};
use crate::loss::{Losses, Verdict};
use crate::words::values::Extent;

/// The shares of a group add up to no more.
const MOST_SHARES: u64 = 10_000;

/// Jobs with rates that begin one after the other, each with a curve of its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// When the last one has ended, in ns.
    pub whole_ns: u64,
}

/// Delays that differ, of jobs whose rates and times are known; `None` for all others.
pub fn delayed(jobs: &[Job]) -> Option<Delayed> {
    let first = delay_ns(jobs.first()?);
    if jobs.iter().all(|job| delay_ns(job) == first) {
        return None;
    }
    let end = |job: &Job| delay_ns(job).checked_add(own_time_ns(job)?);
    let ends: Option<Vec<u64>> = jobs.iter().map(end).collect();
    let whole_ns = ends?.into_iter().max().filter(|whole| *whole <= 1 << 60)?;
    Some(Delayed { whole_ns })
}

fn delay_ns(job: &Job) -> u64 {
    job.number("delay").unwrap_or(0)
}

fn ramp_ns(job: &Job) -> u64 {
    job.number("ramp").unwrap_or(0).min(1 << 60)
}

/// How long a job with a rate takes: its time with its ramp, or its bytes by its rate.
fn own_time_ns(job: &Job) -> Option<u64> {
    let rate = job.each_second(job.iops.or(job.rate))?;
    let amount = || {
        let Extent::Bytes(bytes) = job.io_size.or(job.size)? else { return None };
        let per_second = match job.iops {
            Some(_) => u128::from(rate) * u128::from(job.one_size()?),
            None => u128::from(rate),
        };
        u64::try_from(u128::from(bytes) * 1_000_000_000 / per_second.max(1)).ok()
    };
    let runtime = job.number("runtime").filter(|ns| *ns > 0);
    let is_timed = job.is("time_based");
    let ramp = ramp_ns(job);
    match (runtime, amount()) {
        (Some(runtime), Some(amount)) if !is_timed => {
            Some(ramp.saturating_add(runtime).min(amount))
        }
        (Some(runtime), _) => Some(ramp.saturating_add(runtime)),
        (None, amount) => amount.filter(|ns| *ns > 0),
    }
}

/// Makes a job's rate a curve: nothing until it begins, nothing after its end.
pub fn curve(job: &Job, delayed: Delayed, losses: &Losses, fields: &mut Fields) {
    let (Some(rate), Some(own)) = (fields.get("rate").map(str::to_owned), own_time_ns(job)) else {
        return;
    };
    let mut steps = Vec::new();
    let delay = delay_ns(job);
    if delay > 0 {
        steps.push(format!("{{hold = {}}}", time(delay)));
    }
    steps.push(format!("{{to = {rate}}}"));
    if delay.saturating_add(own) < delayed.whole_ns {
        steps.push(format!("{{hold = {}}}", time(own)));
        steps.push("{to = 0}".to_owned());
    }
    fields.set("rate", format!("[{}]", steps.join(", ")), job.source("delay", losses));
}

/// Says what became of the delays, and how long the group takes with them.
pub fn delays(jobs: &[Job], losses: &mut Losses, group: &mut Group) {
    let first = jobs.first().map_or(0, delay_ns);
    let all_same = jobs.iter().all(|job| delay_ns(job) == first);
    let found = delayed(jobs);
    for job in jobs {
        let verdict = match (all_same, found, delay_ns(job)) {
            (true, ..) => Verdict::harmless("all that run together begin together"),
            (false, _, 0) => Verdict::same("it begins with its group"),
            (false, Some(_), _) => Verdict::same("a curve of `rate`: nothing until then"),
            (false, None, _) => Verdict::refused(
                "a delay of one workload among several that run together; one with a rate and a \
                 time can have one",
            ),
        };
        losses.replace(job.id("delay"), verdict);
    }
    if let Some(delayed) = found {
        let last = jobs.iter().max_by_key(|job| delay_ns(job));
        let source = losses.source(last.and_then(|job| job.id("delay")));
        // A job that begins later has its ramp later.
        let left_out = ["amount", "stonewall", "precondition"];
        group.stages.0.retain(|line| !left_out.contains(&line.key));
        for job in jobs.iter().filter(|job| ramp_ns(job) > 0) {
            let why = "each job begins with its ramp at its own time, and all of it is measured";
            losses.replace(job.id("ramp"), Verdict::near(why));
        }
        group.stages.set("measure", time(delayed.whole_ns.max(100_000_000)), source);
    }
}

/// Jobs with `flow` keep a ratio of their requests: shares. `of` has the jobs of each workload of
/// the group, and their workers.
pub fn flows(of: &[Flow<'_>], losses: &mut Losses, group: &mut Group) {
    let bound: Vec<usize> = (0..of.len()).filter(|number| of[*number].weight().is_some()).collect();
    let ids =
        |flow: &Flow<'_>| -> Vec<_> { flow.jobs.iter().filter_map(|job| job.id("flow")).collect() };
    let all: Vec<_> = bound.iter().flat_map(|number| ids(&of[*number])).collect();
    let mut refuse = |why: &str| {
        all.iter().for_each(|id| losses.worsen(*id, Verdict::refused(why)));
    };
    match bound.len() {
        0 => return,
        1 => {
            // Its workers are alike: none is ahead of another for long.
            let why = "no other job of its group has a `flow`";
            all.iter().for_each(|id| losses.replace(*id, Verdict::harmless(why)));
            return;
        }
        _ => {}
    }
    let number = |job: &Job| job.number("flow_id").unwrap_or(0);
    let groups: Vec<u64> = bound.iter().map(|at| number(of[*at].jobs[0])).collect();
    if groups.iter().any(|group| *group != groups[0]) {
        return refuse("several groups of shares that run together");
    }
    let equal = bound.windows(2).all(|pair| of[pair[0]].weight() == of[pair[1]].weight());
    if group.stages.get("amount").is_some() && equal {
        let why = "they do as much as each other; none waits for the other on the way";
        return all.iter().for_each(|id| losses.worsen(*id, Verdict::near(why)));
    }
    if group.stages.get("amount").is_some() {
        return refuse("shares of jobs that end after an amount; give `runtime` and `time_based`");
    }
    if bound.iter().any(|at| group.works.get(*at).is_none_or(|w| w.fields.get("rate").is_some())) {
        return refuse("shares of jobs that have a rate");
    }
    let weights: Vec<u64> = bound.iter().map(|at| of[*at].weight().unwrap_or(1)).collect();
    let common = weights.iter().fold(0, |all, weight| divisor(all, *weight)).max(1);
    let sum = weights.iter().fold(0_u64, |all, weight| all.saturating_add(weight / common));
    if sum > MOST_SHARES {
        return refuse("shares that add up to more than 10,000");
    }
    for (at, weight) in bound.into_iter().zip(weights) {
        let source = of[at].jobs[0].source("flow", losses);
        let share = (weight / common).to_string();
        group.works[at].fields.set("share", share, source);
    }
}

/// The jobs of a workload.
pub struct Flow<'a> {
    /// The jobs, which are alike.
    pub jobs: &'a [&'a Job],
    /// The workers of all of them.
    pub workers: u64,
}

impl Flow<'_> {
    /// The weight of all its workers; `None` where it is not bound.
    fn weight(&self) -> Option<u64> {
        let own = self.jobs.first()?.number("flow")?;
        (own > 0).then(|| own.saturating_mul(self.workers.max(1)))
    }
}

/// The greatest common divisor.
pub fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}
