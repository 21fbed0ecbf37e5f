//! What stands in the way of a comparison, or has to be said with it.

use crate::doubts::servers;
use crate::layers::caches::{CacheKind, caches};
use crate::rows::row::ResultRow;
use crate::rows::state::{RunState, run_state};
use model::choices::{Access, Backend, TrimAs};
use model::load::{Pace, Rate};
use model::plan::{Contents, HostPlan, Stop, Work};
use model::{Bytes, Op, Percent, Record};
use std::collections::BTreeSet;

/// A parameter in which two sides are not alike, with both values as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// The parameter in words: `block size`.
    pub what: &'static str,
    /// Of the base.
    pub base: String,
    /// Of the other side.
    pub other: String,
    /// Whether no comparison makes sense for it.
    pub refused: bool,
}

/// Collects what differs.
#[derive(Default)]
struct Differences(Vec<Unlike>);

impl Differences {
    fn add<T: PartialEq>(
        &mut self,
        what: &'static str,
        refused: bool,
        sides: [&T; 2],
        text: impl Fn(&T) -> String,
    ) {
        if sides[0] != sides[1] {
            self.0.push(Unlike { what, base: text(sides[0]), other: text(sides[1]), refused });
        }
    }
}

/// How load was kept up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Closed loops with equally many requests outstanding: rate and latency are one finding (1 ÷
    /// 0.75 = 1.33).
    EqualDepth,
    /// The same fixed rate: the latency is the finding.
    EqualRate,
    /// Neither.
    Unequal,
}

/// How the load of two rows compares.
pub fn load(base: &ResultRow, other: &ResultRow) -> Load {
    let depths = |row: &ResultRow| row.works.iter().map(|work| work.depth).collect::<Vec<u32>>();
    let paces =
        |row: &ResultRow| row.works.iter().map(|work| work.pace.clone()).collect::<Vec<Pace>>();
    // Of several works, each has its own depth: of one, only the product with its workers counts.
    let is_as_deep = match (base.work(), other.work()) {
        (Some(one), Some(two)) => {
            u64::from(one.depth) * u64::from(base.workers)
                == u64::from(two.depth) * u64::from(other.workers)
        }
        _ => depths(base) == depths(other) && base.workers == other.workers,
    };
    // How deep a command goes, nobody knows.
    let is_free = |row: &ResultRow| {
        row.works.iter().all(|work| !work.pace.is_open() && work.command.is_none())
    };
    match paces(base) == paces(other) {
        true if is_free(base) && is_as_deep => Load::EqualDepth,
        true if base.is_paced() => Load::EqualRate,
        _ => Load::Unequal,
    }
}

/// In what two runs differ as a whole. Both may be one.
pub fn runs(base: &Record, other: &Record) -> Vec<Unlike> {
    let mut found = Differences::default();
    let plain = |text: &String| text.clone();
    let both = |text: fn(&Record) -> String| [text(base), text(other)];
    let mut texts =
        |what, refused, pair: [String; 2]| found.add(what, refused, [&pair[0], &pair[1]], plain);
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let simulated =
        both(|record| if record.plan.is_simulated() { "simulated" } else { "real" }.to_owned());
    texts("target", true, simulated);
    let null = |record: &Record| yes(record.plan.backend != Backend::Null);
    texts("anything sent to the target", true, [null(base), null(other)]);
    texts("suite", false, both(|record| record.plan.suite.clone()));
    texts("scale", false, both(|record| record.plan.scale.to_string()));
    texts("layout", false, both(|record| record.plan.footprint().to_string()));
    texts("hosts", false, both(|record| record.plan.hosts.len().to_string()));
    texts("direct I/O", false, [yes(base.plan.direct), yes(other.plan.direct)]);
    texts("backend", false, both(|record| record.plan.backend.to_string()));
    let contents = both(|record| {
        record.plan.hosts.first().map_or_else(String::new, |host| contents(&host.engine.contents))
    });
    texts("contents", false, contents);
    texts("length of an interval", false, both(|record| record.plan.interval.to_string()));
    texts("state of the servers", false, both(servers_of));
    texts("version of Plimsoll", false, both(|record| record.version.clone()));
    texts("state", false, both(|record| state(&run_state(record))));
    found.0
}

/// The worst that a run's storage said of its servers.
fn servers_of(record: &Record) -> String {
    let mut worst = "";
    for (_, state) in servers::states(record) {
        let found = match &state.parts {
            None => "not known",
            Some(parts) if !parts.down.is_empty() => return "degraded".to_owned(),
            Some(parts) if parts.to_heal > 0 => "healing",
            Some(_) => "whole",
        };
        let rank = |word| ["", "whole", "not known", "healing"].iter().position(|one| *one == word);
        worst = if rank(found) > rank(worst) { found } else { worst };
    }
    worst.to_owned()
}

/// Whether the other run reads at random what the base has read, in the same order (by one seed),
/// where a cache may hold it. What a run writes first is in no cache of another, and the page cache
/// is emptied between them. `rows` are the other's.
pub fn reads_again(base: &Record, other: &Record, rows: &[ResultRow]) -> bool {
    let memory = other.loaders().iter().map(|host| host.memory).max().unwrap_or_default();
    let may_hold = |kind: CacheKind| match kind {
        CacheKind::Device | CacheKind::Page => false,
        CacheKind::Loop => other.plan.footprint() <= memory,
        CacheKind::Hypervisor | CacheKind::HostPage | CacheKind::Network | CacheKind::Unseen => {
            true
        }
    };
    let is_held = |row: &ResultRow| {
        row.plans(Op::Read) && caches(other, row).iter().any(|cache| may_hold(cache.kind))
    };
    let is_old = other.plan.prepare_bytes() == Bytes(0) && !other.plan.backend.sends_nothing();
    is_old && rows.iter().any(is_held) && !random_reads(base).is_disjoint(&random_reads(other))
}

/// Where a run reads at random, and by which seeds.
fn random_reads(record: &Record) -> BTreeSet<(&str, &str, u64)> {
    let mut found = BTreeSet::new();
    for host in &record.plan.hosts {
        let files: Vec<&str> = host.files().map(|file| file.path.as_str()).collect();
        for stage in &host.stages {
            for worker in &stage.workers {
                let work = stage.works.get(worker.work as usize);
                let is_random = |work: &&Work| work.reads() && work.pattern.random > Percent::ZERO;
                let extents = work.filter(is_random).map_or(&[][..], |_| &worker.extents);
                let paths = extents.iter().filter_map(|extent| files.get(extent.file as usize));
                found.extend(paths.map(|path| (host.hostname.as_str(), *path, worker.seed)));
            }
        }
    }
    found
}

/// In what two scenarios of a run differ as a whole, each given by one of its stages.
pub fn scenarios(record: &Record, base: u32, other: u32) -> Vec<Unlike> {
    let mut found = Differences::default();
    let plan = &record.plan;
    let mut texts =
        |what, pair: [String; 2]| found.add(what, false, [&pair[0], &pair[1]], String::clone);
    let paths = |stage: u32| {
        let mine =
            |host: &HostPlan| host.targets.get(host.targets_of(stage)).unwrap_or_default().to_vec();
        let mut paths: Vec<String> =
            plan.hosts.iter().flat_map(mine).map(|target| target.path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.join(", ")
    };
    texts("targets", [paths(base), paths(other)]);
    texts("layout", [base, other].map(|stage| plan.footprint_of(stage).to_string()));
    let (Some(one), Some(two)) = (plan.engine_of(base), plan.engine_of(other)) else {
        return found.0;
    };
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    texts("direct I/O", [yes(one.direct), yes(two.direct)]);
    texts("backend", [one.backend.to_string(), two.backend.to_string()]);
    texts("contents", [contents(&one.contents), contents(&two.contents)]);
    found.0
}

fn contents(contents: &Contents) -> String {
    let checked = if contents.verify { ", checked" } else { "" };
    format!("{} compressible, {} duplicate{checked}", contents.compressible, contents.duplicate)
}

fn state(state: &RunState) -> String {
    match state {
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed(_) => "failed",
        RunState::Unfinished => "unfinished",
    }
    .to_owned()
}

/// In what the work of two rows of the same name differs.
pub fn rows(base: &ResultRow, other: &ResultRow) -> Vec<Unlike> {
    let mut found = Differences::default();
    let sides = [&base.works, &other.works];
    found.add("workloads at the same time", true, sides.map(Vec::len).each_ref(), usize::to_string);
    for (one, two) in base.works.iter().zip(&other.works) {
        of_work(&mut found, one, two);
    }
    found.add("workers", false, [&base.workers, &other.workers], u32::to_string);
    found.add("complete", false, [&base.complete, &other.complete], |complete| {
        if *complete { "yes" } else { "no" }.to_owned()
    });
    found.0.dedup();
    found.0
}

fn of_work(found: &mut Differences, one: &Work, two: &Work) {
    let (reads, writes) = (one.reads() && two.reads(), one.writes() && two.writes());
    if reads {
        found.add("block size", true, [&one.block_size, &two.block_size], ToString::to_string);
    }
    if writes {
        found.add(
            "block size of writes",
            true,
            [&one.write_block_size, &two.write_block_size],
            ToString::to_string,
        );
    }
    found.add("share of reads", true, [&one.read, &two.read], Percent::to_string);
    if one.trims() && two.trims() {
        found.add("trims", true, [&one.trim_as, &two.trim_as], TrimAs::to_string);
    }
    found.add("zones", true, [&one.zones, &two.zones], |zones| match zones {
        None => "ignored".to_owned(),
        Some(rules) => format!(
            "{}, {} open, {} for each worker, {} reset past {}{}",
            if rules.size.0 == 0 { "the device's".to_owned() } else { rules.size.to_string() },
            rules.open,
            rules.worker_open,
            rules.reset_frequency,
            rules.reset_threshold,
            if rules.unwritten_reads { ", all read" } else { "" },
        ),
    });
    found.add("access", true, [&one.pattern.access, &two.pattern.access], Access::to_string);
    if one.pattern.access == two.pattern.access {
        found.add("pattern", true, [&one.pattern, &two.pattern], |pattern| {
            format!(
                "{} random, {}, aligned to {}, {} streams{}{}",
                pattern.random,
                pattern.skew,
                pattern.align,
                pattern.streams,
                if pattern.run.0 > 0 {
                    format!(", runs of {}", pattern.run)
                } else {
                    String::new()
                },
                if pattern.backward { ", backward" } else { "" },
            )
        });
    }
    found.add("fsync", true, [&one.fsync_every, &two.fsync_every], |every| match every {
        0 => "none".to_owned(),
        every => format!("every {every} writes"),
    });
    found.add("durable writes", true, [&one.dsync, &two.dsync], |dsync| {
        if *dsync { "yes" } else { "no" }.to_owned()
    });
    if one.pace.is_open() == two.pace.is_open() {
        found.add("pace", false, [&one.pace, &two.pace], pace);
    } else {
        // Service times against response times.
        found.add("pace", true, [&one.pace, &two.pace], pace);
    }
    found.add("share", true, [&one.share, &two.share], u32::to_string);
    found.add("depth", false, [&one.depth, &two.depth], u32::to_string);
    found.add("measured time", false, [&one.stop, &two.stop], |stop| match stop {
        Stop::After(time) => time.to_string(),
        Stop::Steady(steady) => format!("until steady, {} to {}", steady.least, steady.most),
        Stop::Amount => "one pass".to_owned(),
        Stop::Once(once) if once.stonewall => "an amount, until the first was done".to_owned(),
        Stop::Once(_) => "an amount".to_owned(),
    });
}

fn pace(pace: &Pace) -> String {
    match pace {
        Pace::Open { rate: rate @ (Rate::Iops { .. } | Rate::Bytes { .. }), poisson } => {
            format!("{rate}{}", if *poisson { ", Poisson" } else { "" })
        }
        Pace::Changing { curve, poisson } => {
            format!("{curve}{}", if *poisson { ", Poisson" } else { "" })
        }
        Pace::Closed { think, burst } if think.0 > 0 => {
            format!("closed loop, {think} of rest after every {burst}")
        }
        Pace::Closed { .. } => "closed loop".to_owned(),
    }
}
