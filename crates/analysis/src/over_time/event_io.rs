//! What an event itself read and wrote, such as a migration's copies, beside what the hosts did
//! meanwhile.

use crate::over_time::aftermath::Interval;
use crate::over_time::effects::course;
use model::digest::Digest;
use model::note::{CountedBy, EventIo};
use model::record::StageRecord;
use model::{Fact, Record};

/// An event's own requests, and those of the hosts in its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventTraffic<'a> {
    /// The stage in which it was.
    pub stage: u32,
    /// What was counted.
    pub io: &'a EventIo,
    /// Requests per second that the hosts' loads completed in its time; `None` where no interval
    /// lies in it.
    pub hosts_per_s: Option<f64>,
    /// Its own per second; `None` where nobody counts requests. What nodes counted is less what the
    /// guests asked for: disks merge and split requests, so that this is a bound and no count.
    pub own_per_s: Option<f64>,
}

impl EventTraffic<'_> {
    /// Both together, as somebody sees them who counts all requests.
    pub fn sum_per_s(&self) -> Option<f64> {
        match self.io.by {
            CountedBy::Simulation => self.hosts_per_s.zip(self.own_per_s).map(|(a, b)| a + b),
            CountedBy::Nodes { .. } => self.io.requests_per_s(),
        }
    }
}

/// What each event of a run read and wrote, where somebody counted it.
pub fn event_traffic(record: &Record) -> Vec<EventTraffic<'_>> {
    let mut found = Vec::new();
    for note in &record.notes {
        let (Fact::EventIo(io), Some(number)) = (&note.fact, note.stage) else { continue };
        let stage = record.stages.iter().find(|stage| stage.stage == number);
        found.extend(stage.map(|stage| of_stage(record, stage, io)));
    }
    found
}

fn of_stage<'a>(record: &Record, stage: &StageRecord, io: &'a EventIo) -> EventTraffic<'a> {
    let digest = stage.digest(record);
    let own_per_s = match io.by {
        CountedBy::Simulation => io.requests_per_s(),
        CountedBy::Nodes { guest_requests, .. } => {
            let all = io.reads.zip(io.writes).map(|(reads, writes)| reads.saturating_add(writes));
            all.and_then(|all| io.per_s(all.saturating_sub(guest_requests)))
        }
    };
    let hosts_per_s = match io.by {
        CountedBy::Simulation => of_hosts(record, stage.stage, &digest, io),
        CountedBy::Nodes { guest_requests, .. } => io.per_s(guest_requests),
    };
    EventTraffic { stage: stage.stage, io, hosts_per_s, own_per_s }
}

/// The rate of all works in the intervals whose middle lies in the event's time.
fn of_hosts(record: &Record, stage: u32, digest: &Digest, io: &EventIo) -> Option<f64> {
    let works = record.plan.stages.get(stage as usize)?.works.len() as u32;
    let (from_s, length_s) = (io.at.0 as f64 / 1e9, io.length.0 as f64 / 1e9);
    let is_within = |one: &Interval| {
        let middle_s = one.start_s + one.length_s / 2.0;
        (from_s..=from_s + length_s).contains(&middle_s)
    };
    let (mut ios, mut seconds) = (0.0, 0.0);
    for work in 0..works {
        let within: Vec<Interval> = course(digest, work).into_iter().filter(is_within).collect();
        ios += within.iter().map(|one| one.ios).sum::<f64>();
        // All works have the same intervals.
        seconds = within.iter().map(|one| one.length_s).sum();
    }
    (seconds > 0.0).then(|| ios / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::{Bytes, Nanos, Note, Op, StageKind};

    /// Ten seconds of 100 requests, 40 from the fourth to the sixth; an event in these.
    fn migrated(by: CountedBy) -> Record {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..10 {
            let count = if (4..7).contains(&second) { 40 } else { 100 };
            recorded.interval(stage, second, &[(Op::Read, &vec![1_000; count])]);
        }
        let mut record = recorded.end();
        let io = EventIo {
            event: "migration".to_owned(),
            at: Nanos::seconds(4),
            length: Nanos::seconds(3),
            reads: Some(300),
            writes: Some(150),
            read: Bytes(300 << 16),
            written: Bytes(150 << 16),
            by,
        };
        record.notes.push(Note { stage: Some(stage), host: 0, fact: Fact::EventIo(io) });
        record
    }

    #[test]
    fn a_simulations_own_requests_are_beside_those_of_the_hosts_in_the_same_time() {
        let record = migrated(CountedBy::Simulation);
        let found = event_traffic(&record);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].hosts_per_s, Some(40.0), "not the mean of the stage");
        assert_eq!(found[0].own_per_s, Some(150.0));
        assert_eq!(found[0].sum_per_s(), Some(190.0));
    }

    #[test]
    fn what_nodes_count_has_the_guests_requests_in_it() {
        let by =
            CountedBy::Nodes { guest_requests: 120, guest_read: Bytes(0), guest_written: Bytes(0) };
        let record = migrated(by);
        let found = event_traffic(&record);
        assert_eq!(found[0].hosts_per_s, Some(40.0));
        assert_eq!(found[0].own_per_s, Some(110.0), "450 less 120 in three seconds");
        assert_eq!(found[0].sum_per_s(), Some(150.0), "each once");
        let guests = CountedBy::Nodes {
            guest_requests: 1_000,
            guest_read: Bytes(0),
            guest_written: Bytes(0),
        };
        let merged = migrated(guests);
        assert_eq!(event_traffic(&merged)[0].own_per_s, Some(0.0), "disks merge; never below 0");
    }
}
