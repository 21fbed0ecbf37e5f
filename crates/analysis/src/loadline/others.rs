//! What others than the workers took of the load hosts' CPUs while a point was measured.

use model::Record;
use model::usage::Part;
use std::collections::BTreeMap;

/// CPU time of a load host that its workers did not take.
#[derive(Clone, Debug, PartialEq)]
pub struct Others {
    /// The host's name.
    pub host: String,
    /// The share of all its CPUs, 0 to 1: other programs, and what the kernel did in nobody's
    /// name.
    pub share: f64,
}

/// The load host of whose CPUs others took most while `point` was measured; `None` where no
/// counters tell it.
pub fn of_point(record: &Record, point: u32) -> Option<Others> {
    let stage =
        record.stage(record.plan.measure_stage(point)?).filter(|_| !record.plan.is_simulated())?;
    let digest = stage.digest(record);
    let load_ns = digest.frame.load_ns()?;
    let mut workers_ns: BTreeMap<u32, u64> = BTreeMap::new();
    for ((host, _), worker) in &digest.sums.workers {
        let sum = workers_ns.entry(*host).or_default();
        *sum = sum.saturating_add(worker.user_ns.saturating_add(worker.system_ns));
    }
    let usage = stage.usage(record, &digest);
    let of_host = |(host, workers_ns): (&u32, &u64)| {
        let whole = usage.uses.get(&(*host, Part::Cpu))?.values().next()?.share()?;
        let cpus = usage.uses.get(&(*host, Part::Core))?.len() as f64;
        let ours = *workers_ns as f64 / (load_ns.end.saturating_sub(load_ns.start) as f64 * cpus);
        let host = record.plan.hosts.get(*host as usize)?.hostname.clone();
        (ours.is_finite()).then(|| Others { host, share: (whole - ours).clamp(0.0, 1.0) })
    };
    workers_ns.iter().filter_map(of_host).max_by(|a, b| a.share.total_cmp(&b.share))
}
