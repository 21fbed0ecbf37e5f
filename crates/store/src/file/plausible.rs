//! Whether what a run file says can be true. A run file may come from anybody: what passes here can
//! be added up without overflow and indexed without a miss.

use model::digest::Spans;
use model::plan::{HostPlan, HostStage, Plan, Stage, Steady, Work};
use model::sample::{IntervalSample, OpSample};
use model::testbed::MOST_OTHERS;
use model::{Phase, Record};
use std::ops::ControlFlow;

/// Why a plan contradicts itself.
pub fn plan(plan: &Plan, hosts: usize) -> Result<(), &'static str> {
    if !(plan.hosts.len()..=plan.hosts.len().saturating_add(MOST_OTHERS)).contains(&hosts) {
        return Err("its plan is for other hosts than its testbed has");
    }
    if !plan.scale.size.is_sound() || !plan.scale.time().is_sound() {
        return Err("its scale is not a fraction");
    }
    let points = plan.points.len() as u32;
    if plan.stages.iter().any(|stage| stage.point.is_some_and(|point| point >= points)) {
        return Err("a stage belongs to a point that is not there");
    }
    if plan.stages.iter().any(|stage| stage.works.is_empty() || stage.works.len() > 65_536) {
        return Err("a stage has nothing to do");
    }
    let rounds = plan
        .stages
        .iter()
        .flat_map(|stage| &stage.works)
        .chain(shares(plan))
        .filter_map(|work| work.stop.steady());
    if rounds
        .into_iter()
        .any(|steady| steady != Steady::new(steady.least, steady.most, plan.interval))
    {
        return Err("a stage ends when it is steady, by rounds that are none");
    }
    plan.check()?;
    for (number, host) in (0..).zip(&plan.hosts) {
        share(plan, number, host)?;
    }
    let times = plan.stages.iter().map(|stage| stage.stop().time().map_or(0, |time| time.0));
    let files = plan.hosts.iter().flat_map(HostPlan::files).map(|file| file.size.0);
    let shares = plan.hosts.iter().flat_map(|host| &host.stages).flat_map(|stage| &stage.workers);
    let extents = shares.flat_map(|worker| &worker.extents).map(|extent| extent.length);
    match adds_up(times) && adds_up(files) && adds_up(extents) {
        true => Ok(()),
        false => Err("its plan adds up to more than there can be"),
    }
}

/// Why a host's share cannot be one of the plan.
fn share(plan: &Plan, number: u32, host: &HostPlan) -> Result<(), &'static str> {
    if host.host != number || host.interval != plan.interval {
        return Err("a host has another number or interval than the plan");
    }
    let fits = |(number, (of_all, own)): (u32, (&Stage, &HostStage))| {
        own.stage == number && own.kind == of_all.kind
    };
    if host.stages.len() != plan.stages.len()
        || !(0..).zip(plan.stages.iter().zip(&host.stages)).all(fits)
    {
        return Err("a host has other stages than the plan");
    }
    host.check()
}

/// What the workers of all hosts do.
fn shares(plan: &Plan) -> impl Iterator<Item = &Work> {
    plan.hosts.iter().flat_map(|host| &host.stages).flat_map(|stage| &stage.works)
}

/// What samples came to so far that are looked at one by one.
#[derive(Debug, Default)]
pub struct Adding([u64; 6]);

impl Adding {
    /// Why this sample cannot be, beside those before it.
    pub fn take(&mut self, plan: &Plan, sample: &IntervalSample) -> Result<(), &'static str> {
        if sample.host as usize >= plan.hosts.len() {
            return Err("a sample comes from a host that is not there");
        }
        let works = plan.stages.get(sample.stage as usize).map_or(0, |stage| stage.works.len());
        if sample.ops.iter().any(|op| op.work as usize >= works) {
            return Err("a sample belongs to a work that is not there");
        }
        if sample.ops.iter().any(|op| op.latency.decode().map_or(true, |own| own.count() != op.ios))
        {
            return Err("a histogram does not fit its count");
        }
        let errors = |op: &OpSample| op.errors.iter().map(|(_, count)| *count).collect::<Vec<_>>();
        let of_ops = sample.ops.iter();
        let of_workers = sample.workers.iter();
        let mut fits = sample.start_ns <= MOST && self.add(3, [sample.length_ns]);
        fits &= self.add(0, of_ops.clone().map(|op| op.ios));
        fits &= self.add(1, of_ops.clone().map(|op| op.bytes));
        fits &= self.add(2, of_ops.flat_map(errors));
        fits &= self.add(4, of_workers.clone().map(|worker| worker.cpu_user_ns));
        fits &= self.add(5, of_workers.map(|worker| worker.cpu_system_ns));
        if fits { Ok(()) } else { Err("its counters add up to more than there can be") }
    }

    /// Adds numbers to the sum at this place; whether it can still be.
    fn add(&mut self, place: usize, values: impl IntoIterator<Item = u64>) -> bool {
        let sum = &mut self.0[place];
        *sum = values.into_iter().fold(*sum, u64::saturating_add);
        *sum <= MOST
    }
}

/// Why a record's samples cannot be.
pub fn samples(record: &Record) -> Result<(), &'static str> {
    let hosts = record.testbed.len() as u32;
    let mut adding = Adding::default();
    record.samples().try_for_each(|sample| adding.take(&record.plan, sample))?;
    occurrences(record)?;
    let counters = || record.counters();
    if counters().any(|sample| sample.host >= hosts) {
        return Err("counters come from a host that is not there");
    }
    // Their values are added up with saturation, as nothing depends on them.
    let sums = adds_up(counters().map(|sample| sample.length_ns))
        && counters().all(|sample| sample.start_ns <= MOST);
    if sums { Ok(()) } else { Err("its counters add up to more than there can be") }
}

/// Why what happened cannot have.
fn occurrences(record: &Record) -> Result<(), &'static str> {
    let (hosts, planned) = (record.plan.hosts.len() as u32, record.plan.stages.len() as u32);
    let is_nowhere = |occurrence: &model::Occurrence| {
        occurrence.host.is_some_and(|host| host >= hosts)
            || occurrence.stage.is_some_and(|stage| stage >= planned)
    };
    if record.occurrences.iter().any(is_nowhere) {
        return Err("something happened on a host or in a stage that is not there");
    }
    Ok(())
}

/// Why the digests of a record's stages cannot be. Their sums saturate, so that one that is too
/// large is still seen to be.
pub fn digests(record: &Record) -> Result<(), &'static str> {
    occurrences(record)?;
    let works =
        |stage: u32| record.plan.stages.get(stage as usize).map_or(0, |stage| stage.works.len());
    let all = || {
        record.stages.iter().filter_map(|stage| stage.summed().map(|digest| (stage.stage, digest)))
    };
    if all().any(|(stage, digest)| {
        digest.sums.parts.keys().any(|(work, _)| *work as usize >= works(stage))
    }) {
        return Err("a sample belongs to a work that is not there");
    }
    let parts = || all().flat_map(|(_, digest)| digest.sums.parts.values());
    // A start that cannot be is a length that cannot be.
    let length = |spans: &Spans| {
        let of = |phase| spans.length_ns(phase);
        let lengths = [of(Phase::Load), of(Phase::Tail), of(Phase::Drain)];
        let is_late = spans.latest_ns() > MOST;
        if is_late { u64::MAX } else { lengths.into_iter().fold(0, u64::saturating_add) }
    };
    let lengths = all().flat_map(|(_, digest)| digest.frame.spans.values()).map(length);
    let sums = adds_up(parts().map(|part| part.all.ios))
        && adds_up(parts().map(|part| part.all.bytes))
        && adds_up(parts().flat_map(|part| &part.errors).map(|(_, count)| *count))
        && adds_up(lengths)
        && adds_up(all().map(|(_, digest)| digest.sums.all_cpu_ns.0))
        && adds_up(all().map(|(_, digest)| digest.sums.all_cpu_ns.1));
    if sums { Ok(()) } else { Err("its counters add up to more than there can be") }
}

/// Far below the 64 bits, so that sums of two such sums are safe, too. A start is only ever added
/// to a length: those of all samples of a day on a hundred hosts would come to more.
const MOST: u64 = 1 << 62;

fn adds_up(mut values: impl Iterator<Item = u64>) -> bool {
    let sum = values.try_fold(0u64, |sum, value| match sum.checked_add(value) {
        Some(sum) if sum <= MOST => ControlFlow::Continue(sum),
        _ => ControlFlow::Break(()),
    });
    sum.is_continue()
}

#[cfg(test)]
mod tests {
    use super::adds_up;
    use model::{Fraction, Scale};

    #[test]
    fn sums_stop_before_they_overflow() {
        assert!(adds_up([1, 2, 3].into_iter()));
        assert!(!adds_up([u64::MAX, 1].into_iter()));
        assert!(!adds_up([1 << 62, 1].into_iter()));
    }

    #[test]
    fn a_file_of_a_version_that_knew_one_factor_is_read_and_one_factor_is_written_as_then() {
        let old = r#"{"numerator":1,"denominator":50}"#;
        let scale: Scale = serde_json::from_str(old).expect("a scale");
        assert_eq!(scale, Scale::both(Fraction::one_in(50)));
        assert_eq!(serde_json::to_string(&scale).expect("json"), old);
        let apart = Scale::new(Fraction::ONE, Fraction::one_in(50));
        let text = serde_json::to_string(&apart).expect("json");
        assert_eq!(serde_json::from_str::<Scale>(&text).expect("a scale"), apart);
    }
}
