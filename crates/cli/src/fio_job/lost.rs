//! What a job of fio does not say as its suite does.

use super::FioJob;
use model::choices::Backend;
use model::load::Part;
use suite::{LayoutKind, Scenario, Sharing, Spec, Spread, Until, Verify};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Harmless,
    Approximated,
    /// The job does without it.
    Refused,
}

impl Severity {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Severity::Harmless => "harmless",
            Severity::Approximated => "approximated",
            Severity::Refused => "refused",
        }
    }
}

/// A field that means something else in fio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) severity: Severity,
    pub(crate) field: &'static str,
    pub(crate) why: &'static str,
}

pub(crate) fn of_suite(spec: &Spec, job: &mut FioJob) {
    let mut lose = |is_there: bool, severity, field, why| {
        if is_there {
            job.lose(severity, field, why);
        }
    };
    let refused = Severity::Refused;
    lose(!spec.events.is_empty(), refused, "event", "fio has no events in a measurement");
    lose(!spec.labels.is_empty(), refused, "labels", "fio has no labels of hosts");
    lose(!spec.targets.is_empty(), refused, "targets", "name them with `directory` or `filename`");
    let why = "the job loads the folder in which fio starts; add `directory`";
    lose(spec.targets.is_empty(), Severity::Harmless, "targets", why);
}

pub(crate) fn of_scenario(scenario: &Scenario, job: &mut FioJob) {
    let (stages, engine, contents) = (&scenario.stages, &scenario.engine, &scenario.contents);
    let works = || scenario.points.iter().flat_map(|point| &point.workloads);
    let mut lose = |is_there: bool, severity, field, why| {
        if is_there {
            job.lose(severity, field, why);
        }
    };
    let (refused, near) = (Severity::Refused, Severity::Approximated);
    lose(
        stages.until.value == Until::Steady,
        near,
        "stages.until",
        "fio stops after `measure`, settled or not; its `steadystate` has another rule",
    );
    lose(stages.precondition.value.0 > 0, near, "stages.precondition", "fio's `ramp_time`");
    lose(stages.stonewall.value, refused, "stages.stonewall", "fio's jobs end one by one");
    lose(scenario.simulate.is_some(), refused, "simulate", "fio simulates nothing");
    lose(engine.drop_caches.value, refused, "engine.drop_caches", "use `exec_prerun`");
    lose(
        engine.backend.value == Backend::Auto,
        near,
        "engine.backend",
        "fio chooses none: ioengine=io_uring",
    );
    lose(engine.backend.value == Backend::Nop, refused, "engine.backend", "fio has no such engine");
    lose(
        contents.verify.value != Verify::No,
        refused,
        "contents.verify",
        "fio's `verify` has other headers and other rules",
    );
    let is_tree = scenario.points.iter().any(|point| point.layout.kind.value == LayoutKind::Tree);
    lose(is_tree, refused, "layout.kind", "fio has no trees of files");
    let segments = works().any(|work| {
        work.segments.value.0 > 1 || work.streams.value.0 > 1 || work.range.value != Part::WHOLE
    });
    lose(segments, refused, "segments", "segments, streams and ranges have no word in fio");
    let strides = works().any(|work| matches!(work.stride.value, form::Auto::Fixed(_)));
    lose(strides, refused, "stride", "fio's `rw=read:N` skips bytes, and is not written");
    let shares = works().any(|work| work.sharing.value == Sharing::Interleaved);
    lose(shares, refused, "sharing", "fio's jobs do not take blocks in turn");
    let places = works().any(|work| work.rotate.value > 0 || work.spread.value != Spread::EachHost);
    lose(places, refused, "rotate", "fio's jobs do not know of each other's hosts");
    let some = works().any(|work| !work.targets.value.is_all());
    lose(some, refused, "targets", "fio's jobs name paths, and these are given with `--target`");
    let computed = works().any(|work| {
        work.depth.formula.is_some()
            || work.workers.formula.is_some()
            || work.rate.formula.is_some()
    });
    lose(computed, refused, "arithmetic", "it is computed on a machine; write numbers");
}
