//! What the hosts' CPUs did for each request, by their kernels' counters: that of the load
//! generators, and all the rest: kernel threads, interrupts, servers that run there, and whatever
//! else ran.

use crate::attribution::{Attribution, attribution};
use crate::row::ResultRow;
use model::usage::Part;
use model::{Record, Setting};

/// The CPUs of all hosts of a point whose kernels counted them.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCpu {
    /// The point's number in the plan.
    pub point: u32,
    /// The scenario's label.
    pub scenario: String,
    /// The workloads that ran.
    pub workloads: Vec<String>,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<Setting>,
    /// Which repetition, from 1; `None` where the run repeats nothing.
    pub repetition: Option<u32>,
    /// How many CPUs the counting hosts have together; above 0.
    pub cpus: f64,
    /// How many of them were busy on average, 0 to `cpus`.
    pub busy: f64,
    /// How many the load generators took by their own account; 0 and up.
    pub workers: f64,
    /// Requests per second of all workloads; above 0.
    pub rate: f64,
}

impl HostCpu {
    /// The share of all CPUs that was busy, 0 to 1.
    pub fn share(&self) -> f64 {
        self.busy / self.cpus
    }

    /// CPU time of all hosts for each request, in ns.
    pub fn per_request_ns(&self) -> f64 {
        self.busy / self.rate * 1e9
    }

    /// That of the load generators, in ns.
    pub fn workers_ns(&self) -> f64 {
        self.workers / self.rate * 1e9
    }

    /// All the rest, in ns: kernel threads, interrupts, servers and other programs of these hosts.
    pub fn rest_ns(&self) -> f64 {
        (self.per_request_ns() - self.workers_ns()).max(0.0)
    }
}

/// The CPUs of each measured point, in the order of the rows. Nothing of points whose hosts did not
/// all count: a part of them has not carried all requests.
pub fn host_cpu(record: &Record, rows: &[ResultRow]) -> Vec<HostCpu> {
    attribution(record, rows).iter().filter_map(|one| of_point(record, rows, one)).collect()
}

fn of_point(record: &Record, rows: &[ResultRow], one: &Attribution) -> Option<HostCpu> {
    let row = rows.iter().find(|row| row.point == one.point && row.is_of_point())?;
    let (mut cpus, mut busy, mut hosts) = (0.0, 0.0, 0);
    for watched in one.watched.iter().filter(|watched| watched.part == Part::Cpu) {
        let facts = record.testbed.get(watched.host as usize)?;
        let own = f64::from(facts.logical_cpus);
        cpus += own;
        busy += own * watched.used.share()?;
        hosts += 1;
    }
    let is_whole = hosts == record.plan.hosts.len();
    (is_whole && cpus > 0.0 && row.iops() > 0.0).then(|| HostCpu {
        point: one.point,
        scenario: one.scenario.clone(),
        workloads: one.workloads.clone(),
        sweep: one.sweep.clone(),
        repetition: one.repetition,
        cpus,
        busy,
        workers: row.cpu_cores(),
        rate: row.iops(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::counters::{Entry, Layer, Metric};
    use model::{Op, StageKind};

    #[test]
    fn the_time_of_a_request_is_that_of_the_busy_cpus_and_the_rest_is_no_less_than_nothing() {
        let some = HostCpu {
            point: 0,
            scenario: String::new(),
            workloads: Vec::new(),
            sweep: Vec::new(),
            repetition: None,
            cpus: 8.0,
            busy: 2.0,
            workers: 0.5,
            rate: 100_000.0,
        };
        assert_eq!((some.share(), some.per_request_ns()), (0.25, 20_000.0));
        assert_eq!((some.workers_ns(), some.rest_ns()), (5_000.0, 15_000.0));
        assert_eq!(HostCpu { busy: 0.1, ..some }.rest_ns(), 0.0, "counters lag");
    }

    #[test]
    fn counters_of_all_hosts_make_the_figure_and_none_of_a_run_without_them() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        for number in 0..4 {
            recorded.interval(stage, number, &[(Op::Read, &[1_000; 50])]);
        }
        let without = recorded.record();
        assert_eq!(host_cpu(&without, &crate::results(&without)), []);
        for number in 0..4 {
            let values = vec![(Metric::UserNs, 500_000_000), (Metric::IdleNs, 500_000_000)];
            let entry = Entry { layer: Layer::Cpu, name: "0".into(), values };
            recorded.counters(stage, 0, number, vec![entry]);
        }
        recorded.end();
        let record = recorded.record();
        let found = host_cpu(&record, &crate::results(&record));
        assert_eq!(found.len(), 1, "{found:?}");
        let share = found[0].share();
        assert!((share - 0.5).abs() < 0.01, "{found:?}");
        let cpus = f64::from(record.testbed[0].logical_cpus);
        let expected = 0.5 * cpus / 50.0 * 1e9;
        assert!((found[0].per_request_ns() / expected - 1.0).abs() < 0.05, "{found:?}");
    }
}
