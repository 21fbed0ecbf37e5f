//! How the requests of a result were sent and timed: which backend served it, why that one, and how
//! often the clock was read.

use crate::rows::row::ResultRow;
use model::choices::Backend;
use model::plan::{HostPlan, PlannedTarget};
use model::{Fact, Note, NoteKind, Record};

/// What took the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A backend of the engine.
    Backend(Backend),
    /// A simulated target: no request left the program.
    Simulated,
    /// Plain system calls, one after the other: operations on whole files go to no backend.
    Calls,
}

/// Why it was that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// The plan says so.
    Planned,
    /// The kernel refused the planned one; as the host's note says.
    Refused(Fact),
    /// The plan leaves it open, and it did best when both were tried; as the host's note says.
    Tried(Fact),
}

/// How often the clock was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// `CLOCK_MONOTONIC`, once for all requests that are handed over together, and once for all
    /// that are seen to have completed together.
    PerBatch,
    /// `CLOCK_MONOTONIC`, at both ends of each request.
    PerRequest,
    /// Virtual time: exact to the ns.
    Virtual,
}

/// What some hosts did alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Means {
    /// What took the requests.
    pub way: Way,
    /// Why.
    pub because: Because,
    /// How they were timed.
    pub timing: Timing,
    /// How many hosts did so.
    pub hosts: usize,
}

/// How the hosts of `row` sent and timed its requests, in the order in which the plan has them;
/// hosts that did so alike, and for the same reason, are told once. Empty where no host of the plan
/// had a worker for it.
pub fn means(record: &Record, row: &ResultRow) -> Vec<Means> {
    let mut all: Vec<Means> = Vec::new();
    for host in record
        .plan
        .hosts
        .iter()
        // How a command does it nobody knows.
        .filter(|host| has_worker(host, row) && !row.is_commanded())
    {
        let (way, because, timing) = of_host(record, host, row);
        match all
            .iter_mut()
            .find(|same| (same.way, &same.because, same.timing) == (way, &because, timing))
        {
            Some(same) => same.hosts += 1,
            None => all.push(Means { way, because, timing, hosts: 1 }),
        }
    }
    all
}

pub(crate) fn has_worker(host: &HostPlan, row: &ResultRow) -> bool {
    // A stage's place in the list is its number.
    host.stages
        .get(row.stage as usize)
        .is_some_and(|stage| stage.workers.iter().any(|worker| row.has_work(worker.work)))
}

fn of_host(record: &Record, host: &HostPlan, row: &ResultRow) -> (Way, Because, Timing) {
    let engine = host.engine_of(row.stage);
    let targets = host.targets.get(host.targets_of(row.stage)).unwrap_or(&[]);
    if targets.iter().any(|target| target.kind == PlannedTarget::Simulated)
        && !engine.backend.sends_nothing()
    {
        let timing = if engine.virtual_time { Timing::Virtual } else { Timing::PerBatch };
        return (Way::Simulated, Because::Planned, timing);
    }
    if row.is_metadata() {
        return (Way::Calls, Because::Planned, Timing::PerRequest);
    }
    let (backend, because) = backend(record, host.host, row.stage, engine.backend);
    let timing = if backend == Backend::Sync { Timing::PerRequest } else { Timing::PerBatch };
    (Way::Backend(backend), because, timing)
}

/// What served a stage of a host, by the notes that the host left.
fn backend(record: &Record, host: u32, stage: u32, planned: Backend) -> (Backend, Because) {
    let taken = |kind: NoteKind, is_of: &dyn Fn(&Note) -> bool| {
        let of_kind = record
            .notes
            .iter()
            .filter(|note| note.kind() == kind && note.host == host && is_of(note));
        of_kind.filter_map(|note| Some((note.fact.backend()?, note.fact.clone()))).last()
    };
    // A host that was refused a ring may have scenarios that never asked for one.
    let wanted = if planned == Backend::Auto { Backend::IoUring } else { planned };
    let is_of_plan = |note: &Note| {
        note.stage.is_none_or(|of| of == stage) && note.fact.refused_backend() == Some(wanted)
    };
    if let Some((backend, why)) = taken(NoteKind::BackendChosen, &|note| note.stage == Some(stage))
    {
        return (backend, Because::Tried(why));
    }
    match taken(NoteKind::BackendFallback, &is_of_plan) {
        Some((backend, why)) => (backend, Because::Refused(why)),
        None => (wanted, Because::Planned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::note::{Choice, Fallback, RefusedBackend, SystemError, WhyRefused};
    use model::{Bytes, Nanos, Op, StageKind};

    const SUITE: &str = "[stages]\nprepare = false\nprecondition = 0\n[[workload]]\nname = \"w\"\n";

    fn of(suite: &str, hosts: usize, notes: &[(Option<u32>, u32, Fact)]) -> Vec<Means> {
        let mut recorded = Recorded::with_hosts(suite, hosts);
        assert_eq!(recorded.stage(StageKind::Measure), MEASURE);
        (0..hosts as u32)
            .for_each(|host| recorded.host_interval(MEASURE, host, 0, &[(Op::Read, &[100; 10])]));
        for (stage, host, fact) in notes {
            recorded.note(Note { stage: *stage, host: *host, fact: fact.clone() });
        }
        let record = recorded.end();
        let rows = crate::results(&record);
        means(&record, rows.first().expect("a row"))
    }

    /// The only stage of the suite.
    const MEASURE: u32 = 0;

    fn refused() -> Fact {
        let error = SystemError { errno: Some(1), words: "no".to_owned() };
        let of_ring = RefusedBackend { backend: Backend::IoUring, why: WhyRefused::System(error) };
        let (refused, taken) = (vec![of_ring], Backend::Libaio);
        Fact::BackendFallback(Fallback { refused, taken, one_after_the_other: false })
    }

    fn took_sync() -> Fact {
        Fact::BackendChosen(Choice {
            workloads: vec!["w".to_owned()],
            stage: StageKind::Measure,
            taken: Backend::Sync,
            deep: Backend::IoUring,
            deep_iops: 5,
            sync_iops: 10,
            rounds: 2,
            length: Nanos::millis(100),
            ios: 3,
            bytes: Bytes::kib(12),
            cpu: None,
        })
    }

    #[test]
    fn what_was_planned_and_not_refused_is_what_was_used() {
        let means = |way, timing| vec![Means { way, because: Because::Planned, timing, hosts: 1 }];
        assert_eq!(of(SUITE, 1, &[]), means(Way::Backend(Backend::IoUring), Timing::PerBatch));
        let sync = format!("{SUITE}[engine]\nbackend = \"sync\"\n");
        assert_eq!(of(&sync, 1, &[]), means(Way::Backend(Backend::Sync), Timing::PerRequest));
        let other = [(None, 0, refused())];
        assert_eq!(of(&sync, 1, &other), of(&sync, 1, &[]), "that was another scenario's");
    }

    #[test]
    fn hosts_that_had_to_do_otherwise_are_told_apart() {
        let found = of(SUITE, 3, &[(None, 1, refused())]);
        let planned = Means {
            way: Way::Backend(Backend::IoUring),
            because: Because::Planned,
            timing: Timing::PerBatch,
            hosts: 2,
        };
        let way = Way::Backend(Backend::Libaio);
        let refused =
            Means { way, because: Because::Refused(refused()), hosts: 1, ..planned.clone() };
        assert_eq!(found, [planned, refused]);
    }

    #[test]
    fn what_was_tried_counts_for_its_own_stage() {
        let auto = format!("{SUITE}[engine]\nbackend = \"auto\"\n");
        let tried = |stage| (Some(stage), 0, took_sync());
        let found = of(&auto, 1, &[(None, 0, refused()), tried(MEASURE)]);
        let way = Way::Backend(Backend::Sync);
        assert_eq!(
            found,
            [Means {
                way,
                because: Because::Tried(took_sync()),
                timing: Timing::PerRequest,
                hosts: 1
            }]
        );
        assert_eq!(of(&auto, 1, &[tried(7)])[0].because, Because::Planned);
    }
}
