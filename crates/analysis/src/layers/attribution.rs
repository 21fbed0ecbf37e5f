//! Which layer was at its limit while a point was measured, by what the hosts' kernels counted
//! meanwhile: where, from when on, for how much of the time; and if none was, how near the highest
//! of each came.
//!
//! Source of the three questions (utilisation, saturation, errors): Gregg, "Thinking Methodically
//! about Performance", ACM Queue 10(12), 2012.

use crate::doubts::{Warning, below};
use crate::rows::row::ResultRow;
use model::inventory::{LinkKind, Media};
use model::testbed::{DeviceFacts, HostFacts};
use model::usage::{Part, Usage, Use};
use model::{Record, Setting};
use std::ops::Range;

/// What was all but used up for less of the time than this held up few requests.
pub const LEAST_FULL: f64 = 0.1;
/// Where the workers took less of the CPUs than this, others kept them busy.
const MOST_BESIDE_OTHERS: f64 = 0.5;

/// One thing of a host that was watched while a point was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// The host's number in the plan.
    pub host: u32,
    /// What it is.
    pub part: Part,
    /// Its name; empty for what a host has one of.
    pub name: String,
    /// How it was used.
    pub used: Use,
    /// For a disk of a host that knows what its targets stand on: whether one of them stands on
    /// it.
    pub is_under_target: Option<bool>,
    /// For a disk: whether it may serve several requests at a time, so that it is not used up by
    /// being busy all the time.
    pub may_be_parallel: bool,
    /// The host's name, where it sends no load and a file told its counters.
    pub told_of: Option<String>,
}

impl Watched {
    /// Whether it was at its limit: all but used up for [`LEAST_FULL`] of the time or more.
    pub fn is_limit(&self) -> bool {
        self.used.full_span.is_some() && self.used.full_share() >= LEAST_FULL
    }
}

/// What the counters of one measured point say about its limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribution {
    /// The point's number in the plan.
    pub point: u32,
    /// The scenario's label.
    pub scenario: String,
    /// The workloads that ran, in the order of the results.
    pub workloads: Vec<String>,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<Setting>,
    /// Which repetition of these values it is, from 1; `None` where the run repeats nothing.
    pub repetition: Option<u32>,
    /// Whether all of its workloads had a given rate: then no layer has to be at its limit.
    pub is_paced: bool,
    /// The time on which figures rest, in ns after the stage's start.
    pub load_ns: Range<u64>,
    /// How many intervals of counters it rests on, those of each host counted.
    pub samples: u64,
    /// Whether these were taken evenly out of more.
    pub is_thinned: bool,
    /// All that was watched, by host, part and name.
    pub watched: Vec<Watched>,
}

impl Attribution {
    /// The hosts whose CPUs together were used up while the point was measured.
    pub(crate) fn saturated_hosts(&self) -> Vec<u32> {
        let full = self.watched.iter().filter(|one| one.part == Part::Cpu && one.is_limit());
        full.filter(|one| one.told_of.is_none()).map(|one| one.host).collect()
    }

    /// What was at its limit: what was it for longest first. A CPU of a host of which all CPUs
    /// together were is not named once more, and neither is a disk that no target stands on where
    /// one that a target stands on was.
    pub fn limits(&self) -> Vec<&Watched> {
        let all = || self.watched.iter().filter(|watched| watched.is_limit());
        let is_whole = |host| all().any(|other| other.part == Part::Cpu && other.host == host);
        let is_other = |one: &Watched| one.is_under_target == Some(false);
        let has_targets = all().any(|one| one.is_under_target == Some(true));
        let mut limits: Vec<&Watched> = all()
            .filter(|one| {
                !(one.part == Part::Core && is_whole(one.host) || is_other(one) && has_targets)
            })
            .collect();
        let rank = |one: &Watched| (one.used.full_share(), one.used.share().unwrap_or(0.0));
        limits.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal));
        limits
    }

    /// Of each part that was watched, the one that was used most, in the order of the parts;
    /// without those of which nobody can know it.
    pub fn highest(&self) -> Vec<&Watched> {
        let share = |one: &Watched| one.used.share().unwrap_or(0.0);
        let of = |part: &Part| {
            let known =
                self.watched.iter().filter(|one| one.part == *part && one.used.share().is_some());
            // Of equal ones the first.
            known.rev().max_by(|a, b| share(a).total_cmp(&share(b)))
        };
        Part::ALL.iter().filter_map(of).collect()
    }

    /// What was seen, but not how much of it was used: ports without a known speed, mounts of file
    /// systems on other machines.
    pub fn unknown(&self) -> impl Iterator<Item = &Watched> {
        let can_be = |one: &&Watched| one.part != Part::Cache && one.used.share().is_none();
        self.watched.iter().filter(can_be)
    }

    /// What went wrong, the most first.
    pub fn errors(&self) -> Vec<&Watched> {
        let mut found: Vec<&Watched> =
            self.watched.iter().filter(|one| one.used.errors > 0).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.used.errors));
        found
    }
}

/// For each measured point of `rows`, which are those of `record`, what its counters say, in the
/// order of the rows. Nothing of points without counters, nor of simulations, whose load no kernel
/// saw.
pub fn attribution(record: &Record, rows: &[ResultRow]) -> Vec<Attribution> {
    if record.plan.is_simulated() {
        return Vec::new();
    }
    let mut found: Vec<Attribution> = Vec::new();
    let mut last = None;
    for row in rows {
        if last == Some(row.stage) {
            // Another operation or another workload of the same point.
            if let Some(known) = found.last_mut().filter(|known| known.point == row.point) {
                known.add(row);
            }
            continue;
        }
        last = Some(row.stage);
        found.extend(of_point(record, row));
    }
    found
}

/// Puts the doubt beside every row of a point that hosts made the load of whose CPUs were used up.
pub fn doubt(record: &Record, limits: &[Attribution], rows: &mut [ResultRow]) {
    if record.plan.backend.sends_nothing() {
        // Its own speed is what is measured.
        return;
    }
    for limit in limits {
        // What a quota takes from a generator, others have: they are not what holds it up.
        let is_throttled = |host: &u32| {
            let quotas = limit.watched.iter().filter(|one| one.part == Part::Quota);
            quotas.filter(|one| one.host == *host).any(|one| below::is_throttled(&one.used))
        };
        let mut saturated = limit.saturated_hosts();
        saturated.retain(|host| !is_throttled(host));
        let name =
            |host: &u32| record.plan.hosts.get(*host as usize).map(|host| host.hostname.clone());
        let is_worst = |one: &&Watched| one.part == Part::Cpu && saturated.contains(&one.host);
        let share = limit
            .watched
            .iter()
            .filter(is_worst)
            .map(|one| one.used.full_share())
            .fold(0.0, f64::max);
        let hosts: Vec<String> = saturated.iter().filter_map(name).collect();
        if hosts.is_empty() {
            continue;
        }
        let own = own_share(record, &saturated, rows, limit.point);
        for row in rows.iter_mut().filter(|row| row.point == limit.point) {
            // A level that falls when others take the CPUs is nobody's credits.
            if own < MOST_BESIDE_OTHERS {
                row.warnings.retain(|doubt| !matches!(doubt, Warning::BurstSpent { .. }));
            }
            row.warnings.push(Warning::HostSaturated { hosts: hosts.clone(), share, own });
        }
    }
}

/// What the workers of a point took of the CPUs of these hosts, as if all of them were there: 0 to
/// 1. It is too much rather than too little.
fn own_share(record: &Record, hosts: &[u32], rows: &[ResultRow], point: u32) -> f64 {
    let cpus: u64 = hosts
        .iter()
        .filter_map(|host| record.testbed.get(*host as usize))
        .map(|facts| u64::from(facts.logical_cpus))
        .sum();
    let here = rows.iter().filter(|row| row.point == point);
    let cores = here.map(ResultRow::cpu_cores).fold(0.0, f64::max);
    if cpus == 0 { 1.0 } else { (cores / cpus as f64).min(1.0) }
}

impl Attribution {
    fn add(&mut self, row: &ResultRow) {
        for work in &row.works {
            if !self.workloads.contains(&work.workload) {
                self.workloads.push(work.workload.clone());
            }
        }
        self.is_paced &= row.is_paced();
    }
}

fn of_point(record: &Record, row: &ResultRow) -> Option<Attribution> {
    let stage = record.stage(row.stage)?;
    // Without counters there is no need to add up samples.
    if !stage.is_counted() {
        return None;
    }
    let digest = stage.digest(record);
    let usage = stage.usage(record, &digest);
    let load_ns = digest.frame.load_ns()?;
    if usage.samples == 0 {
        return None;
    }
    Some(Attribution {
        point: row.point,
        scenario: row.scenario.clone(),
        workloads: vec![row.workload.clone()],
        sweep: row.sweep.clone(),
        repetition: row.repetition,
        is_paced: row.is_paced(),
        load_ns,
        samples: usage.samples,
        is_thinned: usage.is_thinned,
        watched: watched(record, &usage),
    })
}

fn watched(record: &Record, usage: &Usage) -> Vec<Watched> {
    let mut all = Vec::new();
    let uses = usage.uses.iter().chain(&usage.others);
    let used_up = uses.filter(|((_, part), _)| *part != Part::Stacked);
    for ((host, part), things) in used_up {
        let Some(facts) = record.testbed.get(*host as usize) else { continue };
        let under =
            (*part == Part::Disk).then(|| under_targets(facts)).filter(|disks| !disks.is_empty());
        let is_under =
            |name: &str| under.as_ref().map(|disks| disks.iter().any(|disk| disk.name == name));
        all.extend(things.iter().map(|(name, used)| Watched {
            host: *host,
            part: *part,
            name: name.clone(),
            used: *used,
            is_under_target: is_under(name),
            may_be_parallel: *part == Part::Disk && !is_turning(facts, name),
            told_of: (!facts.sends_load()).then(|| facts.hostname.clone()),
        }));
    }
    all
}

/// The disks that the targets of a host stand on, as far as it knows.
fn under_targets(facts: &HostFacts) -> Vec<&DeviceFacts> {
    let chains = facts.targets.iter().flat_map(|target| &target.chain);
    let disks =
        chains.filter(|link| link.kind == LinkKind::Disk).filter_map(|link| link.device.as_ref());
    disks.chain(facts.targets.iter().filter_map(|target| target.device.as_ref())).collect()
}

/// Whether a disk turns: it serves one request after the other, so that it is used up when it is
/// busy all the time.
fn is_turning(facts: &HostFacts, name: &str) -> bool {
    let known =
        facts.inventory.disks.iter().chain(under_targets(facts)).find(|disk| disk.name == name);
    known.is_some_and(|disk| {
        disk.media == Media::Rotational
            || disk.rotational == Some(true) && disk.media == Media::Unknown
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::counters::{CounterSample, Entry, Layer, Metric};
    use model::{Bytes, Nanos, Op, StageKind};

    const SECOND: u64 = 1_000_000_000;

    /// Ten seconds on two hosts, in which the disks and CPUs of each are as busy as `shares`
    /// (percent) says of host, second and part.
    fn judged(suite: &str, shares: impl Fn(u32, u32, Part) -> u64) -> Vec<Attribution> {
        let mut recorded = Recorded::with_hosts(suite, 2);
        let stage = recorded.stage(StageKind::Measure);
        for (second, host) in (0..10).flat_map(|second| [(second, 0), (second, 1)]) {
            recorded.host_interval(stage, host, second, &[(Op::Read, &[100_000; 100])]);
        }
        recorded.end();
        // One more behind the load, in which everything stands still.
        for (number, host) in (0..11).flat_map(|second| [(second, 0), (second, 1)]) {
            let share =
                |part| if number < 10 { shares(host, number, part) * SECOND / 100 } else { 0 };
            let (busy, work) = (share(Part::Disk), share(Part::Cpu));
            let entries = vec![
                Entry::new(
                    Layer::Block,
                    "nvme0n1",
                    &[(Metric::BusyNs, busy), (Metric::QueueNs, busy * 30)],
                ),
                Entry::new(Layer::Block, "sdz", &[(Metric::BusyNs, busy)]),
                Entry::new(
                    Layer::Cpu,
                    "0",
                    &[(Metric::UserNs, work), (Metric::IdleNs, SECOND - work)],
                ),
                Entry::new(Layer::Nic, "eth0", &[(Metric::SentBytes, 5), (Metric::SendDrops, 2)]),
            ];
            recorded.counters(stage, host, number, entries);
        }
        let record = recorded.record();
        attribution(&record, &crate::results(&record))
    }

    const READS: &str = "[[workload]]\nname = \"w\"\n";

    fn named(watched: &[&Watched]) -> Vec<(u32, Part, String)> {
        watched.iter().map(|one| (one.host, one.part, one.name.clone())).collect()
    }

    #[test]
    fn the_disk_of_one_host_is_found_with_when_and_how_long() {
        let busy = |host, second, part| match part {
            Part::Disk if host == 1 && second >= 4 => 98,
            Part::Disk => 20,
            _ => 31,
        };
        let found = judged(READS, busy);
        assert_eq!(found.len(), 1);
        let limits = found[0].limits();
        assert_eq!(
            named(&limits),
            [(1, Part::Disk, "nvme0n1".to_owned())],
            "no target stands on the other disk"
        );
        assert_eq!(limits[0].used.full_span, Some((4 * SECOND, 10 * SECOND)));
        assert!(
            (limits[0].used.full_share() - 0.6).abs() < 1e-9,
            "what is behind the load does not count"
        );
        assert!((limits[0].used.waiting().expect("known") - (0.4 * 6.0 + 0.6 * 29.4)).abs() < 1e-6);
        assert!(limits[0].may_be_parallel);
        assert_eq!(found[0].samples, 20);
        let highest = found[0].highest();
        assert_eq!(
            named(&highest)[1..],
            [(0, Part::Cpu, String::new()), (0, Part::Core, "0".to_owned())]
        );
        assert_eq!(found[0].unknown().count(), 2, "ports without a speed");
        assert_eq!(found[0].errors()[0].used.errors, 20);
    }

    #[test]
    fn where_nothing_was_at_its_limit_none_is_named_and_a_moment_is_no_limit() {
        let found = judged(READS, |_, _, _| 50);
        assert_eq!(named(&found[0].limits()), []);
        assert!(!found[0].is_paced);
        let moment = judged(READS, |_, second, _| if second == 5 { 100 } else { 50 });
        assert!(!moment[0].limits().is_empty(), "a tenth of the time");
        assert!(judged(&format!("{READS}rate = 100\n"), |_, _, _| 50)[0].is_paced);
    }

    #[test]
    fn all_cpus_of_a_host_are_named_once() {
        let found =
            judged(READS, |host, _, part| if host == 0 && part == Part::Cpu { 100 } else { 1 });
        assert_eq!(named(&found[0].limits()), [(0, Part::Cpu, String::new())]);
    }

    #[test]
    fn a_host_without_cpu_time_left_is_a_doubt_about_every_row_of_its_point() {
        let burst = Warning::BurstSpent { at: Nanos(1), moved: Bytes(1), share: 0.4 };
        let doubted = |cpu: u64, disk: u64, throttled_ns: u64| {
            let mut found = judged(READS, |host, _, part| match part {
                Part::Cpu if host == 1 => cpu,
                Part::Disk => disk,
                _ => 20,
            });
            found[0].watched.push(Watched {
                host: 1,
                part: Part::Quota,
                name: "/sys/fs/cgroup/pod".to_owned(),
                used: Use { watched_ns: SECOND, used_ns: throttled_ns, ..Use::default() },
                is_under_target: None,
                may_be_parallel: false,
                told_of: None,
            });
            let mut recorded = Recorded::with_hosts(READS, 2);
            recorded.host_second(1, 0, &[(Op::Read, &[100_000; 100])]);
            let record = recorded.record();
            let mut rows = crate::results(&record);
            rows[0].warnings.push(burst.clone());
            doubt(&record, &found, &mut rows);
            let saturated = rows[0].warnings.iter().find(|one| one.code() == "host-saturated");
            assert_eq!(rows[0].warnings.contains(&burst), saturated.is_none(), "others did it");
            saturated.cloned()
        };
        let saturated =
            Warning::HostSaturated { hosts: vec!["node1".into()], share: 1.0, own: 0.25 / 8.0 };
        assert_eq!(doubted(100, 20, 0), Some(saturated));
        assert_eq!(doubted(100, 20, SECOND), None, "its quota held it up");
        assert_eq!(doubted(50, 100, 0), None, "a disk at its limit is the finding, not a doubt");
    }

    #[test]
    fn a_run_that_was_killed_says_what_it_has_and_nonsense_of_a_kernel_breaks_nothing() {
        let mut recorded = Recorded::new(READS);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[0; 5])]);
        let record = recorded.record_mut();
        let disk = |busy| {
            vec![Entry {
                layer: Layer::Block,
                name: "sda".into(),
                values: vec![(Metric::BusyNs, busy)],
            }]
        };
        let sample = |host, start_ns, length_ns, busy| CounterSample {
            stage,
            host,
            number: 0,
            start_ns,
            length_ns,
            entries: disk(busy),
            notes: Vec::new(),
        };
        let all = [
            sample(0, 0, SECOND, u64::MAX),
            sample(0, 0, 0, 5),
            sample(0, u64::MAX, u64::MAX, 5),
            sample(77, 0, SECOND, 5),
        ];
        record.stages.last_mut().expect("began").counters_mut().extend(all);
        let record = recorded.record();
        let found = attribution(&record, &crate::results(&record));
        assert_eq!((found.len(), found[0].samples, found[0].watched.len()), (1, 1, 1), "{found:?}");
        assert_eq!(found[0].watched[0].used.share(), Some(1.0));
    }

    #[test]
    fn without_counters_nothing_is_said() {
        let mut recorded = Recorded::new(READS);
        recorded.second(0, &[(Op::Read, &[100; 5])]);
        let record = recorded.record();
        assert_eq!(attribution(&record, &crate::results(&record)), []);
    }
}
