//! Priorities of single requests (`cmdprio_percentage`, `cmdprio_bssplit`): a workload for each of
//! them, bound by their shares.

use super::job::Job;
use super::options::find;
use super::together::divisor;
use super::work::{mix, priority_word};
use crate::draft::{Fields, Group, Taken, Work, quoted, share, unique};
use crate::loss::{Losses, OptionId, Verdict};

/// The shares of a group add up to so many, but for those that are rounded up.
const SHARES: f64 = 1_000.0;
/// No job has more priorities.
const MOST: usize = 32;

/// Sizes with weights: of reads, of writes.
type Sizes = [Vec<(u64, u64)>; 2];

/// The requests that have one priority.
#[derive(Debug, PartialEq)]
struct Class {
    /// Class and level; `None` for those that the job has without it.
    priority: Option<[u64; 2]>,
    sizes: Sizes,
    /// Their share of all requests.
    part: f64,
    /// The share of reads among them.
    read: f64,
}

/// Whether a job has priorities of single requests.
pub fn asks(job: &Job) -> bool {
    job.urgent_sizes.is_some() || job.urgent.is_some_and(|parts| parts != [0, 0])
}

/// Puts a workload for each priority in the place of each workload that has several. `jobs` has the
/// job of each workload of the group.
pub fn split(jobs: &[&Job], losses: &mut Losses, group: &mut Group, taken: &mut Taken) {
    if !jobs.iter().any(|job| asks(job)) {
        return;
    }
    let has_share = group.works.iter().any(|work| work.fields.get("share").is_some());
    let several = jobs.len() > 1;
    let mut works = Vec::new();
    for (job, work) in jobs.iter().zip(std::mem::take(&mut group.works)) {
        let Some(id) = asks(job).then(|| job.first_id(&["urgent_sizes", "urgent"])).flatten()
        else {
            works.push(work);
            continue;
        };
        let classes = classes(job);
        let needs = needs(&work, has_share || several, classes.len());
        if let Some(needs) = needs {
            losses.worsen(id, Verdict::refused(needs));
            works.push(work);
            continue;
        }
        said(job, losses);
        timed(id, losses, group);
        let source = losses.source(id);
        works.extend(classes.iter().map(|class| of_class(class, &work, &classes, &source, taken)));
    }
    group.works = works;
}

/// What stands in the way of several workloads for one.
fn needs(work: &Work, is_bound: bool, classes: usize) -> Option<&'static str> {
    match work.fields.get("access") {
        _ if is_bound => Some("priorities of single requests of one job among several"),
        _ if classes > MOST => Some("more than 32 priorities of single requests"),
        Some("\"sequential\"") => Some("priorities of single requests of one sequence"),
        _ if work.fields.get("rate").is_some() || work.fields.get("think").is_some() => {
            Some("priorities of single requests that are paced")
        }
        _ => None,
    }
}

/// Class and level, where a split has used them.
fn said(job: &Job, losses: &mut Losses) {
    for slot in ["urgent_class", "urgent_level"] {
        losses.replace(job.id(slot), Verdict::same("`priority` of a workload of its own"));
    }
}

/// Shares hold over a time.
fn timed(id: OptionId, losses: &mut Losses, group: &mut Group) {
    if group.stages.get("amount").is_none() {
        return;
    }
    let of_amount = ["amount", "count_fsync", "count_close", "stonewall"];
    group.stages.0.retain(|line| !of_amount.contains(&line.key));
    group.stages.set("measure", "\"60s\"", "without a time; a ratio holds over one");
    let split = find("cmdprio_percentage").map_or("", |row| row.told);
    let why = format!("{split}; 60 s in place of the amount, `--set measure=…` for another time");
    losses.replace(id, Verdict::near(why));
}

/// The requests of a job by their priorities, those without one last.
fn classes(job: &Job) -> Vec<Class> {
    let direction = job.asked();
    let reads = match (direction.reads, direction.writes || direction.trims) {
        (true, false) => 1.0,
        (false, _) => 0.0,
        (true, true) => job.number("mix").map_or(0.5, |mix| mix as f64 / 1e6),
    };
    let parts = [reads, 1.0 - reads];
    let all = job.sizes();
    let mut found: Vec<(Option<[u64; 2]>, Sizes)> = Vec::new();
    let mut total = [0.0_f64; 2];
    for side in 0..2 {
        for (size, weight) in all[side].iter().filter(|_| parts[side] > 0.0) {
            total[side] += f64::from(*weight) * 100.0;
            for (priority, percent) in of_size(job, side, *size) {
                let weight = u64::from(*weight) * percent;
                if weight == 0 {
                    continue;
                }
                let at = found.iter().position(|(known, _)| *known == priority);
                let at = at.unwrap_or_else(|| {
                    found.push((priority, Sizes::default()));
                    found.len() - 1
                });
                found[at].1[side].push((*size, weight));
            }
        }
    }
    found.sort_by_key(|(priority, _)| priority.is_none());
    let class = |(priority, sizes): (Option<[u64; 2]>, Sizes)| {
        let of = |side: usize| {
            let own: u64 = sizes[side].iter().map(|(_, weight)| weight).sum();
            parts[side] * own as f64 / total[side].max(1.0)
        };
        let (reads, part) = (of(0), of(0) + of(1));
        Class { priority, part, read: if part > 0.0 { reads / part } else { 0.0 }, sizes }
    };
    found.into_iter().map(class).collect()
}

/// The priorities of requests of a size in percent, which add up to 100.
fn of_size(job: &Job, side: usize, size: u64) -> Vec<(Option<[u64; 2]>, u64)> {
    let class = job.urgent_class.map_or(1, |both| both[side]);
    let level = job.urgent_level.map_or(0, |both| both[side]);
    let mut all: Vec<(Option<[u64; 2]>, u64)> = Vec::new();
    let mut add = |priority: [u64; 2], percent: u64| {
        // One of no class is none.
        let priority = (priority[0] > 0).then_some(priority);
        match all.iter_mut().find(|(known, _)| *known == priority) {
            Some((_, sum)) => *sum += percent,
            None => all.push((priority, percent)),
        }
    };
    match (&job.urgent_sizes, job.urgent) {
        (Some(sizes), _) => sizes[side]
            .iter()
            .filter(|one| one.size == size)
            .for_each(|one| add(one.priority.unwrap_or([class, level]), one.percent)),
        (None, Some(parts)) => add([class, level], parts[side]),
        (None, None) => {}
    }
    let given: u64 = all.iter().map(|(_, percent)| percent).sum();
    let rest = 100_u64.saturating_sub(given);
    match all.iter_mut().find(|(known, _)| known.is_none()) {
        Some((_, sum)) => *sum += rest,
        None => all.push((None, rest)),
    }
    all
}

/// The workload of one priority.
fn of_class(class: &Class, work: &Work, all: &[Class], source: &str, taken: &mut Taken) -> Work {
    let mut fields = work.fields.clone();
    let least = all.iter().map(|one| one.part).fold(f64::INFINITY, f64::min);
    sizes(class, &mut fields, source);
    if all.len() > 1 {
        // The rarest one has a whole share, so that the ratio is held as it is where it can be.
        let unit = (least * SHARES).max(1.0) / least.max(1e-9);
        let shares: Vec<u64> =
            all.iter().map(|one| ((one.part * unit).round() as u64).max(1)).collect();
        let common = shares.iter().fold(0, |all, share| divisor(all, *share)).max(1);
        let own = ((class.part * unit).round() as u64).max(1) / common;
        fields.set("share", own.to_string(), source);
        let depth: u64 = fields.get("depth").and_then(|text| text.parse().ok()).unwrap_or(1);
        let own = ((depth as f64 * class.part).round() as u64).max(1);
        fields.set("depth", own.to_string(), source);
    }
    if let Some(word) = class.priority.and_then(|[class, level]| priority_word(class, level)) {
        fields.set("priority", word, source);
    }
    let name = match class.priority {
        None => work.name.clone(),
        Some([class, level]) => {
            let class = ["", "realtime", "best-effort", "idle"][class.min(3) as usize];
            unique(&format!("{}-{class}-{level}", work.name), taken)
        }
    };
    Work { name, note: work.note.clone(), fields }
}

fn sizes(class: &Class, fields: &mut Fields, source: &str) {
    let [reads, writes] = &class.sizes;
    let text = |sizes: &[(u64, u64)]| {
        let common = sizes.iter().fold(0, |all, (_, weight)| divisor(all, *weight)).max(1);
        let one = |(size, weight): &(u64, u64)| {
            (*size, u32::try_from(weight / common).unwrap_or(u32::MAX))
        };
        mix(&sizes.iter().map(one).collect::<Vec<_>>())
    };
    fields.0.retain(|line| line.key != "write_block_size");
    match (reads.is_empty(), writes.is_empty()) {
        (false, false) if reads != writes => {
            fields.set("block_size", text(reads), source);
            fields.set("write_block_size", text(writes), source);
        }
        (false, _) => fields.set("block_size", text(reads), source),
        (true, _) => fields.set("block_size", text(writes), source),
    }
    if fields.get("read").is_some() {
        let ppm = (class.read * 1e6).round() as u64;
        fields.set("read", quoted(&share(ppm)), source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, World, import};

    fn parts(options: &str) -> Vec<(Option<[u64; 2]>, u32, u32)> {
        let text = format!("[a]\nfilename=/dev/sda\nioengine=libaio\n{options}");
        let mut losses = Losses::default();
        let sections =
            super::super::sections::parse("a", &text, &World::NOTHING).expect("sections");
        let jobs = super::super::convert::jobs(&sections, &[], &World::NOTHING, &mut losses);
        let percent = |part: f64| (part * 100.0).round() as u32;
        classes(&jobs[0])
            .iter()
            .map(|class| (class.priority, percent(class.part), percent(class.read)))
            .collect()
    }

    #[test]
    fn each_priority_has_its_share_of_reads_and_writes() {
        let text = "rw=randread\ncmdprio_percentage=20\n";
        assert_eq!(parts(text), [(Some([1, 0]), 20, 100), (None, 80, 100)]);
        let text = "rw=randrw\ncmdprio_percentage=20,40\ncmdprio_class=2\ncmdprio=3\n";
        assert_eq!(parts(text), [(Some([2, 3]), 30, 33), (None, 70, 57)]);
        let text = "rw=randrw\nbssplit=64k/40:1024k/60,1024k/100\n\
                    cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0,1024k/0\n";
        let wanted = [(Some([1, 1]), 5, 100), (Some([3, 2]), 15, 100), (None, 80, 37)];
        assert_eq!(parts(text), wanted);
    }

    #[test]
    fn what_has_one_order_or_pace_cannot_be_split() {
        for options in ["rw=read\n", "rw=randread\nrate_iops=100\n", "rw=randread\n[b]\nbs=8k\n"] {
            let text = format!("[a]\nfilename=/dev/sda\ncmdprio_percentage=20\n{options}");
            let import = import("a", &text, Some(Dialect::Fio), &World::NOTHING).expect("a job");
            assert_eq!(import.refused().count(), 1, "{options}");
        }
    }
}
