//! The best verdict that a plan can have on its targets, before anything is touched, and what would
//! raise it: a pure function of the plan and of what its hosts are.

use crate::doubts::servers::one_machine;
use crate::layers::targets::{self, Bound, OfTargets};
use crate::verdict::raise::{Raise, Step, can_grow, least_steady, may_be_asked, timed};
use catalogue::targets::Known;
use model::choices::{CountersKept, FileFsync};
use model::machines::Accelerator;
use model::plan::{Stage, Work};
use model::testbed::HostFacts;
use model::{Fact, Level, Op, Plan, StageKind};

/// The best verdict of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The best that it can have.
    pub best: Level,
    /// The layer below a target that bounds it; `None` where all can be seen.
    pub bound: Option<Bound>,
    /// What would raise it, the step that sets the level first; empty where it can be quotable.
    pub steps: Vec<Raise>,
    /// Whether `--quotable` may take them.
    pub may_be_asked: bool,
}

/// The best verdict of `plan` on `hosts`.
pub fn outlook(plan: &Plan, hosts: &[HostFacts]) -> Outlook {
    let known = known(plan, hosts);
    let mut steps = of_plan(plan, &known);
    let stages = plan.stages.iter().enumerate();
    for (number, stage) in stages.filter(|(_, stage)| stage.kind == StageKind::Measure) {
        steps.extend(of_stage(plan, hosts, number as u32, stage, &known));
    }
    steps.sort_by_key(|(level, _)| *level);
    let least = steps.first().map_or(Level::Quotable, |(level, _)| *level);
    let mut raise: Vec<Raise> = Vec::new();
    for (_, step) in steps {
        if !raise.iter().any(|known| known.step == step) && can_work(plan, step) {
            raise.push(timed(plan, step));
        }
    }
    let may_be_asked = may_be_asked(plan);
    Outlook { best: least.min(known.best), bound: known.bound, steps: raise, may_be_asked }
}

/// Whether a step can change anything in any stage that measures.
fn can_work(plan: &Plan, step: Step) -> bool {
    let mut measured =
        (0..).zip(&plan.stages).filter(|(_, stage)| stage.kind == StageKind::Measure);
    step != Step::LargerFootprint || measured.any(|(number, _)| can_grow(plan, number))
}

fn known(plan: &Plan, hosts: &[HostFacts]) -> OfTargets {
    if plan.is_simulated() {
        return OfTargets::NONE;
    }
    let made = machines(plan).is_some();
    let stages = 0..plan.stages.len() as u32;
    let measured = stages.filter(|stage| {
        plan.stages.get(*stage as usize).is_some_and(|stage| stage.kind == StageKind::Measure)
    });
    let known = measured.filter_map(|stage| targets::of_stage(&plan.hosts, hosts, stage, made));
    known.reduce(OfTargets::and).unwrap_or(OfTargets::UNKNOWN)
}

/// What ran the guests' instructions, where machines of ours carry the run.
fn machines(plan: &Plan) -> Option<Accelerator> {
    plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Machines(made) => Some(made.accelerator),
        _ => None,
    })
}

/// What is missing whatever a stage does, each with the level that it leaves.
fn of_plan(plan: &Plan, known: &OfTargets) -> Vec<(Level, Step)> {
    let is_none = plan.backend.sends_nothing()
        || plan.is_simulated()
        || one_machine(plan).is_some()
        || known.best == Level::NotAMeasurement;
    let reads = |stage: &Stage| stage.works.iter().any(Work::reads);
    let measured = || plan.stages.iter().filter(|stage| stage.kind == StageKind::Measure);
    let is_written = plan.existing
        || plan.is_simulated()
        || plan.stages.iter().any(|stage| stage.kind == StageKind::Prepare)
        || measured().any(|stage| stage.stop().once().is_some());
    let (nothing, some) = (Level::NotAMeasurement, Level::Indicative);
    let all = [
        (is_none, nothing, Step::RealTarget),
        (machines(plan) == Some(Accelerator::Tcg), nothing, Step::Kvm),
        (!plan.scale.is_full(), nothing, Step::FullScale),
        (!is_written && measured().any(reads), nothing, Step::Prepare),
        (!is_none && known.caches == Known::Never, some, Step::SeenTarget),
        (plan.keep.counters == CountersKept::None && !plan.is_simulated(), some, Step::Counters),
    ];
    all.into_iter().filter(|(is, ..)| *is).map(|(_, level, step)| (level, step)).collect()
}

/// What is missing in a measured stage.
fn of_stage(
    plan: &Plan,
    hosts: &[HostFacts],
    number: u32,
    stage: &Stage,
    known: &OfTargets,
) -> Vec<(Level, Step)> {
    let engine = plan.engine_of(number);
    let is_durable = |work: &Work| match work.metadata {
        Some(metadata) => {
            metadata.fsync != FileFsync::Never || !metadata.ops().any(Op::writes_file)
        }
        None => work.dsync || !work.writes(),
    };
    let flushes = engine.as_ref().is_some_and(|engine| engine.flush)
        || stage.stop().once().is_some_and(|once| once.fsync);
    let is_owed = |is_metadata: bool| {
        stage.works.iter().any(|work| work.metadata.is_some() == is_metadata && !is_durable(work))
    };
    let writes = stage.works.iter().any(|work| work.writes() || work.metadata.is_some());
    let memory = hosts.iter().map(|facts| facts.memory.0).max().unwrap_or(0);
    let is_large = plan.footprint_of(number).0 >= memory.saturating_mul(2);
    let is_hidden = known.caches == Known::Size || engine.is_none_or(|engine| !engine.direct);
    let is_changing = stage.works.iter().any(|work| work.pace.curve().is_some());
    let is_short =
        !is_changing && stage.stop().time().is_some_and(|time| time < least_steady(plan));
    let all = [
        (writes && known.durability == Known::Never, Step::SeenTarget),
        (is_owed(false) && !flushes, Step::FlushEnd),
        (is_owed(true), Step::SyncFiles),
        (is_hidden && !is_large && !plan.is_simulated(), Step::LargerFootprint),
        (is_short, Step::LongerUntilSteady),
        (is_changing, Step::OneRate),
    ];
    let missing = all.into_iter().filter(|(is, _)| *is).map(|(_, step)| (Level::Indicative, step));
    // Storage that is none is not worth a second word.
    let is_none = known.best == Level::NotAMeasurement;
    missing.filter(|(_, step)| !is_none || *step != Step::SeenTarget).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::inventory::{Link, LinkKind};

    /// The best verdict of a suite with these fields on the layers of `recorded`.
    fn of(fields: &str, change: impl Fn(&mut Recorded)) -> (Level, Vec<Step>) {
        let suite = format!("[stages]\nflush = \"end\"\n{fields}");
        let mut recorded = Recorded::new(&suite);
        recorded.seen_at_disks(u32::MAX, "write back");
        change(&mut recorded);
        let record = recorded.record();
        let found = outlook(&record.plan, &record.testbed);
        (found.best, found.steps.into_iter().map(|raise| raise.step).collect())
    }

    const WRITES: &str = "[[workload]]\nname = \"w\"\nread = \"0%\"\n";

    fn on(kind: LinkKind, name: &'static str) -> impl Fn(&mut Recorded) {
        move |recorded| {
            let name = name.to_owned();
            let link = Link { kind, name, ..Link::default() };
            recorded.record_mut().testbed[0].targets[0].chain = vec![link];
        }
    }

    #[test]
    fn the_best_verdict_is_that_of_the_target_and_of_the_plan() {
        let nothing = |_: &mut Recorded| {};
        assert_eq!(of(WRITES, nothing), (Level::Quotable, vec![]));
        let memory = on(LinkKind::FileSystem, "tmpfs");
        assert_eq!(of(WRITES, memory), (Level::NotAMeasurement, vec![Step::RealTarget]));
        let fuse = on(LinkKind::FileSystem, "fuse.x");
        assert_eq!(of(WRITES, fuse), (Level::Indicative, vec![Step::SeenTarget]));
        let server = on(LinkKind::Network, "nfs4");
        assert_eq!(of(WRITES, server), (Level::Indicative, vec![Step::LargerFootprint]));
        let no_counters = format!("[keep]\ncounters = \"none\"\n{WRITES}");
        assert_eq!(of(&no_counters, nothing), (Level::Indicative, vec![Step::Counters]));
        let unprepared = "prepare = false\n[[workload]]\nname = \"w\"\n";
        assert_eq!(of(unprepared, nothing), (Level::NotAMeasurement, vec![Step::Prepare]));
        let short = format!("measure = \"5s\"\n{WRITES}");
        assert_eq!(of(&short, nothing), (Level::Indicative, vec![Step::LongerUntilSteady]));
        let in_steps =
            format!("measure = \"5s\"\n{WRITES}rate = [{{hold = \"2s\"}}, {{to = 500}}]\n");
        assert_eq!(of(&in_steps, nothing), (Level::Indicative, vec![Step::OneRate]));
        let empty = "[engine]\ndirect = false\n[layout]\nkind = \"tree\"\n[tree]\nfiles = \
                     64\nsize = 0\n[[workload]]\nname = \"m\"\nkind = \"metadata\"\n\
                     operations = [\"create\"]\nfsync = \"timed\"\n";
        assert_eq!(of(empty, nothing), (Level::Indicative, vec![]));
        let no_flush = |recorded: &mut Recorded| {
            recorded.record_mut().plan.hosts[0].engine.flush = false;
        };
        assert_eq!(of(WRITES, no_flush), (Level::Indicative, vec![Step::FlushEnd]));
    }
}
