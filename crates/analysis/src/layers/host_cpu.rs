//! What the hosts' CPUs did for each request, by their kernels' counters: that of the load
//! generators with the clients of file systems, of servers that run there, of the kernel's threads,
//! and all the rest: interrupts and whatever else ran.

use crate::layers::attribution::{Attribution, Watched, attribution};
use crate::rows::row::ResultRow;
use model::counters::{CLIENTS, KERNEL_THREADS, SERVERS};
use model::usage::Part;
use model::{Record, Setting};

/// The CPUs of all hosts of a point whose kernels counted them.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// What programs took by the kernels' account; `None` where one of them did not say.
    pub programs: Option<Programs>,
    /// Requests per second of all workloads; above 0.
    pub rate: f64,
}

/// How many CPUs programs took, by what they are to storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Programs {
    /// File systems of clients in user space.
    pub clients: f64,
    /// Servers of storage.
    pub servers: f64,
    /// Threads of the kernel.
    pub kernel_threads: f64,
}

impl HostCpu {
    /// CPU time of clients for each request, in ns: the load generators, and file systems in user
    /// space.
    pub fn client_ns(&self) -> f64 {
        let clients = self.programs.map_or(0.0, |programs| programs.clients);
        (self.workers + clients) / self.rate * 1e9
    }

    /// That of servers, in ns; `None` where nobody counted them.
    pub fn servers_ns(&self) -> Option<f64> {
        self.programs.map(|programs| programs.servers / self.rate * 1e9)
    }

    /// That of the kernel's threads, in ns; `None` where nobody counted them.
    pub fn kernel_threads_ns(&self) -> Option<f64> {
        self.programs.map(|programs| programs.kernel_threads / self.rate * 1e9)
    }

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

    /// All the rest, in ns: interrupts and other programs of these hosts, and whatever was not
    /// counted apart.
    pub fn rest_ns(&self) -> f64 {
        let apart = self.servers_ns().unwrap_or(0.0) + self.kernel_threads_ns().unwrap_or(0.0);
        (self.per_request_ns() - self.client_ns() - apart).max(0.0)
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
    let is_cpu = |one: &&Watched| one.part == Part::Cpu && one.told_of.is_none();
    for watched in one.watched.iter().filter(is_cpu) {
        let facts = record.testbed.get(watched.host as usize)?;
        let own = f64::from(facts.logical_cpus);
        cpus += own;
        busy += own * watched.used.share()?;
        hosts += 1;
    }
    let is_whole = hosts == record.plan.hosts.len();
    let stage = record.stage(row.stage)?;
    let usage = stage.usage(record, &stage.digest(record));
    let cpus_of = |name: &str| -> Option<f64> {
        let of = |host: u32| usage.ran.get(&(host, name.to_owned()))?.cpus();
        (0..record.plan.hosts.len() as u32).map(of).sum()
    };
    let programs = cpus_of(CLIENTS)
        .zip(cpus_of(SERVERS))
        .zip(cpus_of(KERNEL_THREADS))
        .map(|((clients, servers), kernel_threads)| Programs { clients, servers, kernel_threads });
    (is_whole && cpus > 0.0 && row.iops() > 0.0).then(|| HostCpu {
        point: one.point,
        scenario: one.scenario.clone(),
        workloads: one.workloads.clone(),
        sweep: one.sweep.clone(),
        repetition: one.repetition,
        cpus,
        busy,
        workers: row.cpu_cores(),
        programs,
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
        let some =
            HostCpu { cpus: 8.0, busy: 2.0, workers: 0.5, rate: 100_000.0, ..HostCpu::default() };
        assert_eq!((some.share(), some.per_request_ns()), (0.25, 20_000.0));
        assert_eq!((some.workers_ns(), some.rest_ns()), (5_000.0, 15_000.0));
        let programs = Programs { clients: 0.1, servers: 0.7, kernel_threads: 0.3 };
        let apart = HostCpu { programs: Some(programs), ..some.clone() };
        assert!((apart.client_ns() - 6_000.0).abs() < 1e-6, "{apart:?}");
        assert!((apart.servers_ns().expect("counted") - 7_000.0).abs() < 1e-6);
        assert!((apart.kernel_threads_ns().expect("counted") - 3_000.0).abs() < 1e-6);
        assert!((apart.rest_ns() - 4_000.0).abs() < 1e-6);
        assert_eq!((some.servers_ns(), some.client_ns()), (None, 5_000.0));
        assert_eq!(HostCpu { busy: 0.1, ..some }.rest_ns(), 0.0, "counters lag");
    }

    #[test]
    fn counters_of_all_hosts_make_the_figure_and_none_of_a_run_without_them() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.load(0..4, &[(Op::Read, &[1_000; 50])]);
        let without = recorded.record();
        assert_eq!(host_cpu(&without, &crate::results(&without)), []);
        for number in 0..4 {
            let values = vec![(Metric::UserNs, 500_000_000), (Metric::IdleNs, 500_000_000)];
            let entry = Entry { layer: Layer::Cpu, name: "0".into(), values };
            let program = |name: &str, ms: u64| Entry {
                layer: Layer::Process,
                name: name.into(),
                values: vec![(Metric::RunNs, ms * 1_000_000)],
            };
            let programs =
                [program(CLIENTS, 0), program(SERVERS, 200), program(KERNEL_THREADS, 100)];
            let entries = [entry].into_iter().chain(programs).collect();
            recorded.counters(stage, 0, number, entries);
        }
        let record = recorded.end();
        let found = host_cpu(&record, &crate::results(&record));
        assert_eq!(found.len(), 1, "{found:?}");
        let share = found[0].share();
        assert!((share - 0.5).abs() < 0.01, "{found:?}");
        let cpus = f64::from(record.testbed[0].logical_cpus);
        let expected = 0.5 * cpus / 50.0 * 1e9;
        assert!((found[0].per_request_ns() / expected - 1.0).abs() < 0.05, "{found:?}");
        let servers = found[0].servers_ns().expect("counted");
        assert!((servers / (0.2 / 50.0 * 1e9) - 1.0).abs() < 0.05, "{found:?}");
        let threads = found[0].kernel_threads_ns().expect("counted");
        assert!((servers / threads - 2.0).abs() < 1e-6, "{found:?}");
    }
}
