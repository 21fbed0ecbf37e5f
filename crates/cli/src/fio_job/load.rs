//! What a workload does, in fio's words.

use super::{FioJob, Severity, percent_of};
use form::Auto;
use model::Percent;
use model::choices::{Access, TrimAs};
use model::load::{Rate, SizeMix};
use model::offered::Offered;
use model::priority::Priority;
use suite::{Arrivals, RateOf, WorkloadSpec, Zones};

/// Directions, sizes, places, rates and pauses.
pub(crate) fn load(job: &mut FioJob, work: &WorkloadSpec, workers: u32) {
    direction(job, work);
    sizes(job, work);
    places(job, work);
    zones(job, work);
    rate(job, work, workers);
    if work.think.value.0 > 0 {
        job.put("thinktime", format!("{}us", work.think.value.0 / 1_000));
        job.put("thinktime_blocks", work.burst.value.0);
    }
    if work.share.value > 0 {
        job.lose(Severity::Refused, "share", "fio's `flow` holds no ratio within a request");
    }
    if work.fsync_every.value > 0 {
        job.put("fdatasync", work.fsync_every.value);
    }
    if work.dsync.value {
        job.put("sync", "dsync");
    }
    match work.priority.value {
        Priority::Inherited => {}
        Priority::Realtime(level) => priority(job, 1, level),
        Priority::BestEffort(level) => priority(job, 2, level),
        Priority::Idle => job.put("prioclass", 3),
    }
}

fn priority(job: &mut FioJob, class: u8, level: u8) {
    job.put("prioclass", class);
    job.put("prio", level);
}

fn direction(job: &mut FioJob, work: &WorkloadSpec) {
    let (read, trim) = (work.read.value, work.trim.value);
    let what = match (read, trim) {
        (_, Percent { ppm: 1_000_000 }) => "trim",
        (Percent { ppm: 1_000_000 }, _) => "read",
        (Percent { ppm: 0 }, _) => "write",
        _ => "rw",
    };
    if trim > Percent::ZERO && trim < Percent::ALL {
        job.lose(Severity::Refused, "trim", "fio mixes trims with nothing by a share");
    }
    if trim > Percent::ZERO && work.trim_as.value != TrimAs::Hole {
        job.lose(Severity::Refused, "trim_as", "fio's trims give space back");
    }
    let random = if work.access.value == Access::Sequential { "" } else { "rand" };
    job.put("rw", format!("{random}{what}"));
    if what == "rw" {
        job.put("rwmixread", percent_of(&read).unwrap_or(0.0));
    }
}

/// `4096`, or `4096/70:65536/30`.
fn mix(sizes: &SizeMix) -> String {
    let total: u32 = sizes.parts.iter().map(|(_, weight)| *weight).sum();
    let part = |(size, weight): &(model::Bytes, u32)| {
        // fio wants whole percents, and gives what is missing to those without one.
        format!("{}/{}", size.0, u64::from(*weight) * 100 / u64::from(total.max(1)))
    };
    sizes.parts.iter().map(part).collect::<Vec<_>>().join(":")
}

fn sizes(job: &mut FioJob, work: &WorkloadSpec) {
    let reads = &work.block_size.value;
    let writes = match &work.write_block_size.value {
        Auto::Fixed(sizes) => Some(sizes),
        Auto::Auto => None,
    };
    let is_single = reads.is_single() && writes.is_none_or(SizeMix::is_single);
    let is_whole = |sizes: &SizeMix| {
        let total: u32 = sizes.parts.iter().map(|(_, weight)| *weight).sum();
        sizes
            .parts
            .iter()
            .all(|(_, weight)| (u64::from(*weight) * 100).is_multiple_of(u64::from(total.max(1))))
    };
    let is_exact = is_single || (is_whole(reads) && writes.is_none_or(is_whole));
    if !is_exact {
        job.lose(Severity::Approximated, "block_size", "fio's `bssplit` has whole percents");
    }
    match (is_single, writes) {
        (true, None) => job.put("bs", reads.largest().0),
        (true, Some(writes)) => {
            job.put("bs", format!("{},{}", reads.largest().0, writes.largest().0));
        }
        (false, None) => job.put("bssplit", mix(reads)),
        (false, Some(writes)) => job.put("bssplit", format!("{},{}", mix(reads), mix(writes))),
    }
    if let Auto::Fixed(align) = work.align.value {
        job.put("blockalign", align.0);
    }
}

fn places(job: &mut FioJob, work: &WorkloadSpec) {
    let skew = |default: &str| match work.skew.value {
        Auto::Fixed(skew) => skew.to_string(),
        Auto::Auto => default.to_owned(),
    };
    match work.access.value {
        Access::Sequential | Access::Permutation => {}
        Access::Random => job.put("norandommap", 1),
        Access::Zipf => job.put("random_distribution", format!("zipf:{}", skew("1.2"))),
        Access::Pareto => job.put("random_distribution", format!("pareto:{}", skew("0.2"))),
        Access::HotSpot => {
            let share = |share: &Percent| percent_of(share).unwrap_or(0.0);
            let spots = &work.hot_spots.value.spots;
            let left = |pick: fn(&(Percent, Percent)) -> Percent| {
                100.0 - spots.iter().map(|spot| share(&pick(spot))).sum::<f64>()
            };
            let mut all: Vec<String> = spots
                .iter()
                .map(|(requests, space)| format!("{}/{}", share(requests), share(space)))
                .collect();
            let (requests, space) = (left(|spot| spot.0), left(|spot| spot.1));
            if space > 0.0 {
                all.push(format!("{requests}/{space}"));
            }
            job.put("random_distribution", format!("zoned:{}", all.join(":")));
        }
    }
    if let Auto::Fixed(sequence) = &work.sequence.value {
        job.put("random_distribution", format!("sequence:{sequence}"));
        job.put("random_sequence_stride", u8::from(work.sequence_advances.value));
    }
    let random = match work.random.value {
        Auto::Fixed(share) if work.access.value != Access::Sequential => percent_of(&share),
        _ => Some(100.0),
    };
    if random != Some(100.0) {
        job.put("percentage_random", random.unwrap_or(0.0));
    }
}

/// Zones of a device, which fio knows by the same rules.
fn zones(job: &mut FioJob, work: &WorkloadSpec) {
    if work.zones.value == Zones::Ignored {
        return;
    }
    job.put("zonemode", "zbd");
    if let Auto::Fixed(size) = work.zone_size.value {
        job.put("zonesize", size.0);
    }
    if work.unwritten_reads.value {
        job.put("read_beyond_wp", 1);
    }
    if work.open_zones.value > 0 {
        job.put("max_open_zones", work.open_zones.value);
    }
    if work.worker_open_zones.value > 0 {
        job.put("job_max_open_zones", work.worker_open_zones.value);
    }
    let ratio = |share: Percent| f64::from(share.ppm) / 1e6;
    if work.zone_reset_frequency.value > Percent::ZERO {
        job.put("zone_reset_threshold", ratio(work.zone_reset_threshold.value));
        job.put("zone_reset_frequency", ratio(work.zone_reset_frequency.value));
    }
    if work.depth.value.0 > 1 && work.read.value < Percent::ALL {
        let why = "fio has several writes of one job under way in a zone";
        job.lose(Severity::Approximated, "zones", why);
    }
}

fn rate(job: &mut FioJob, work: &WorkloadSpec, workers: u32) {
    let rate = match &work.rate.value {
        Auto::Fixed(Offered::Fixed(rate)) => *rate,
        Auto::Fixed(Offered::Share(_)) => {
            job.lose(Severity::Refused, "rate", "fio does not know what a target carries");
            return;
        }
        Auto::Fixed(Offered::Changing(_)) => {
            job.lose(Severity::Refused, "rate", "fio's rates do not change over time");
            return;
        }
        _ => return,
    };
    let why = "fio delays requests behind late ones, and counts latency from the submission";
    job.lose(Severity::Approximated, "rate", why);
    let of_job = |all: f64| match work.rate_of.value {
        RateOf::Worker => all,
        RateOf::All => all / f64::from(workers.max(1)),
    };
    let (name, of_job) = match rate {
        Rate::Iops { milli } => ("rate_iops", of_job(milli as f64 / 1e3)),
        Rate::Bytes { per_second } => ("rate", of_job(per_second as f64)),
    };
    // Each direction has a rate of its own.
    let read = f64::from(work.read.value.ppm) / 1e6;
    let (reads, writes) = ((of_job * read).round(), (of_job * (1.0 - read)).round());
    if (reads + writes - of_job).abs() > of_job * 0.01 {
        job.lose(Severity::Refused, "rate", "fio's rates are whole numbers for each job");
    }
    match (reads > 0.0, writes > 0.0) {
        (true, true) => job.put(name, format!("{reads},{writes}")),
        (true, false) => job.put(name, reads),
        (false, _) => job.put(name, writes),
    }
    if work.arrivals.value == Arrivals::Poisson {
        job.put("rate_process", "poisson");
    }
}
