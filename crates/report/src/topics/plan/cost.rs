//! What a run writes, and how long it takes.

use crate::ground::words;
use analysis::loadline::map::budget;
use analysis::loadline::search::MOST_POINTS;
use model::plan::{HostStage, PlannedTarget, Stage, StageKind, Target, Work};
use model::search::SearchAxis;
use model::{Bytes, Nanos, Op, Plan};

/// What `prepare` is taken to write in a second, for the estimate of its time. A disk of today does
/// at least this.
const ASSUMED_BYTES_PER_S: u64 = 200_000_000;

/// Seconds that the run is expected to take, in words; of a search, those of its points too.
pub fn time(plan: &Plan) -> String {
    let first = time_of_stages(plan);
    let Some(search) = &plan.search else { return first };
    let most =
        if search.along == SearchAxis::Map { budget(search.grid.len()) } else { MOST_POINTS };
    let more = most.saturating_sub(plan.points.len()) as u64;
    let each = search.measure;
    let all = whole_seconds(Nanos(each.0.saturating_mul(more)));
    format!("{first}; then at most {} of {each} each, {all}", words::counted(more, "more point"))
}

fn time_of_stages(plan: &Plan) -> String {
    // In 128 bits: a plan for a cluster has more bytes than nanoseconds of a run fit beside.
    let assumed = |bytes: Bytes| {
        let ns = u128::from(bytes.0) * 1_000_000_000 / u128::from(ASSUMED_BYTES_PER_S);
        Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    };
    if plan.hosts.iter().any(|host| host.engine.virtual_time) {
        return virtual_time(plan);
    }
    let (prepare, verify) = (assumed(plan.prepare_bytes()), assumed(plan.verify_bytes()));
    let amounts = assumed(amounts(plan));
    let (fixed, room, fixed_words) = (fixed_time(plan), plan.steady_room(), fixed_words(plan));
    if prepare == Nanos(0) && plan.hosts.iter().any(|host| !host.trees.is_empty()) {
        let mut all = "as long as the operations on all files take".to_owned();
        if fixed > Nanos(0) {
            all += &format!(", and {fixed_words} of mixes of them");
        }
        if amounts > Nanos(0) {
            let time = whole_seconds(amounts);
            all += &format!(", and {time} for the amounts (at an assumed 200 MB/s)");
        }
        return all;
    }
    let all =
        [prepare, amounts, fixed, verify].iter().fold(0u64, |sum, time| sum.saturating_add(time.0));
    let all = Nanos(all);
    if all == fixed {
        return fixed_words;
    }
    let before = match prepare {
        Nanos(0) => String::new(),
        prepare => format!("{} to prepare (at an assumed 200 MB/s), then ", whole_seconds(prepare)),
    };
    let after = match verify {
        Nanos(0) => String::new(),
        verify => format!(", and {} to verify (at an assumed 200 MB/s)", whole_seconds(verify)),
    };
    let measured = match (amounts, fixed) {
        (Nanos(0), _) => fixed_words,
        (amounts, Nanos(0)) => {
            format!("{} for the amounts (at an assumed 200 MB/s)", whole_seconds(amounts))
        }
        (amounts, _) => format!(
            "{fixed_words}, and {} for the amounts (at an assumed 200 MB/s)",
            whole_seconds(amounts)
        ),
    };
    let bound = if room == Nanos(0) { "about" } else { "at most about" };
    format!("{bound} {}: {before}{measured}{after}", whole_seconds(all))
}

/// The time of all stages that end after a time, those included that follow at shares of a rate.
fn fixed_time(plan: &Plan) -> Nanos {
    let later = later_stages(plan).filter_map(|stage| stage.stop().time());
    Nanos(later.fold(plan.fixed_time().0, |sum, time| sum.saturating_add(time.0)))
}

/// For each point at a share of a rate, the stage that it will be like.
fn later_stages(plan: &Plan) -> impl Iterator<Item = &Stage> {
    let shares = plan.rate_shares.shares.iter();
    shares.filter_map(|share| plan.stages.get(plan.measure_stage(share.of)? as usize))
}

/// The time of stages that end with a time; from the least, where they end once they are steady.
fn fixed_words(plan: &Plan) -> String {
    let (fixed, room) = (fixed_time(plan), plan.steady_room());
    match room {
        Nanos(0) => fixed.to_string(),
        room => format!("{} to {fixed}", Nanos(fixed.0.saturating_sub(room.0))),
    }
}

/// The same of a simulation: nobody can say beforehand how fast what is simulated carries bytes,
/// and real time does not come into it.
fn virtual_time(plan: &Plan) -> String {
    let (prepare, amounts, verify) = (plan.prepare_bytes(), amounts(plan), plan.verify_bytes());
    let fixed = fixed_time(plan);
    let mut steps: Vec<String> =
        (fixed > Nanos(0)).then(|| fixed_words(plan)).into_iter().collect();
    let has_trees = plan.hosts.iter().any(|host| !host.trees.is_empty());
    let open: Vec<String> =
        [(prepare, "to prepare"), (amounts, "of amounts"), (verify, "to verify")]
            .into_iter()
            .filter(|(bytes, _)| *bytes > Bytes(0))
            .map(|(bytes, what)| format!("{bytes} {what}"))
            .chain(has_trees.then(|| "the operations on all files".to_owned()))
            .collect();
    if open.is_empty() {
        return steps.pop().unwrap_or_else(|| fixed.to_string());
    }
    steps.push(format!("what {} take at the speed of what is simulated", open.join(", ")));
    format!("{}, in virtual time", steps.join(", and "))
}

/// All bytes of the stages that end with an amount, reads and writes together. A trace has its own
/// time.
fn amounts(plan: &Plan) -> Bytes {
    let stages = (0..)
        .zip(&plan.stages)
        .filter(|(_, stage)| stage.stop().once().is_some_and(|_| stage.point.is_some()))
        .filter(|(_, stage)| stage.works.iter().all(|work| work.trace.is_none()));
    Bytes(stages.map(|(number, _)| plan.amount(number).0).fold(0, u64::saturating_add))
}

/// An estimate needs no fractions of a second.
fn whole_seconds(time: Nanos) -> Nanos {
    if time < Nanos::seconds(10) { time } else { Nanos(time.0 / 1_000_000_000 * 1_000_000_000) }
}

/// What is given back before anything is written, in words; `None` for nothing.
pub(super) fn purges(plan: &Plan) -> Option<String> {
    let purges = (0..).zip(&plan.stages).filter(|(_, stage)| stage.purges());
    let bytes = purges.map(|(number, _)| plan.stage_bytes(number).0).fold(0, u64::saturating_add);
    let targets = || plan.hosts.iter().flat_map(|host| &host.targets);
    let how = |target: &Target| match target.kind {
        PlannedTarget::Device => "discards on devices",
        PlannedTarget::Simulated => "trims of simulated devices",
        _ => "holes in files",
    };
    let mut ways: Vec<&str> = targets().map(how).collect();
    ways.sort_unstable();
    ways.dedup();
    (bytes > 0).then(|| {
        format!("{} given back before anything is written, by {}", Bytes(bytes), ways.join(" and "))
    })
}

pub(super) fn writes(plan: &Plan) -> String {
    if plan.backend.sends_nothing() {
        return format!("nothing: the {} backend sends nothing anywhere", plan.backend);
    }
    let prepare = plan.prepare_bytes();
    let stages = plan.stages.iter().chain(later_stages(plan));
    let writing = stages.filter(|stage| stage.works.iter().any(Work::writes));
    let times = writing.filter_map(|stage| stage.stop().time());
    let time = times.fold(0, |sum, time| time.0.saturating_add(sum));
    let amounts = (0..).zip(&plan.stages).filter(|(_, stage)| stage.stop().once().is_some());
    let writing = amounts.filter(|(_, stage)| stage.works.iter().any(Work::writes));
    let amount = writing.map(|(number, _)| plan.amount(number).0).fold(0, u64::saturating_add);
    let mut steps = Vec::new();
    if amount > 0 {
        let amount = Bytes(amount);
        steps.push(format!("{amount} in workloads that write (reads of mixes counted with them)"));
    }
    let is_prepared = |stage: &&HostStage| {
        plan.stages.get(stage.stage as usize).is_some_and(|one| one.kind == StageKind::Prepare)
    };
    let stages = plan.hosts.iter().flat_map(|host| &host.stages);
    let stages = stages.filter(|stage| !is_prepared(stage));
    let files = Bytes(stages.map(|one| one.written_to_files().0).fold(0, u64::saturating_add));
    let has_trees = plan.hosts.iter().any(|host| !host.trees.is_empty());
    if has_trees && (files > Bytes(0) || prepare == Bytes(0)) {
        steps.push(format!("{files} in files of the operations, and the directories above them"));
    }
    let living = [(time_of_living(plan), "mixes"), (time, "workloads")];
    for (time, what) in living.into_iter().filter(|(time, _)| *time > 0) {
        let time = Nanos(time);
        steps.push(format!("what the target takes in {time} of {what} that write"));
    }
    let then = steps.join(", and ");
    match (prepare, then.is_empty()) {
        (Bytes(0), true) => "nothing".to_owned(),
        (Bytes(0), false) => then,
        (prepare, true) => format!("{prepare} to prepare"),
        (prepare, false) => format!("{prepare} to prepare, then {then}"),
    }
}

/// How long populations live whose mix writes, in ns.
fn time_of_living(plan: &Plan) -> u64 {
    let writes = |work: &Work| {
        let mixed = work.metadata.filter(|metadata| metadata.living().is_some());
        mixed.is_some_and(|metadata| metadata.ops().any(Op::writes_file))
    };
    let stages = plan.stages.iter().filter(|stage| stage.works.iter().any(writes));
    stages.filter_map(|stage| stage.stop().time()).map(|time| time.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;

    #[test]
    fn a_simulation_promises_no_speed_of_its_own() {
        let mut plan =
            Recorded::with_hosts(include_str!("../../../../../suites/four-corners.toml"), 2)
                .record()
                .plan;
        assert!(time(&plan).contains("at an assumed 200 MB/s"));
        plan.hosts.iter_mut().for_each(|host| host.engine.virtual_time = true);
        let (bytes, fixed) = (plan.prepare_bytes(), plan.fixed_time());
        let wanted = format!(
            "{fixed}, and what {bytes} to prepare take at the speed of what is simulated, in \
             virtual time"
        );
        assert_eq!(time(&plan), wanted);
        plan.stages.retain(|stage| stage.kind != StageKind::Prepare);
        plan.hosts
            .iter_mut()
            .for_each(|host| host.stages.retain(|stage| stage.kind != StageKind::Prepare));
        assert_eq!(time(&plan), fixed.to_string());
    }
}
