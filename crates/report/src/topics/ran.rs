//! What was run, on what and when: the head of a page, and the first lines of `plimsoll show`.

use crate::ground::words;
use model::plan::PlannedTarget;
use model::{Record, printable};
use std::collections::BTreeSet;

/// More targets or workloads are counted.
const MOST: usize = 4;

/// Hosts, instant, time and scale.
pub(crate) fn facts(record: &Record) -> Vec<String> {
    let plan = &record.plan;
    let mut facts = vec![words::hosts(record), words::utc(record.started_unix_ns)];
    let mut targets = plan.hosts.iter().flat_map(|host| &host.targets);
    let is_simulated = targets.any(|target| target.kind == PlannedTarget::Simulated);
    if is_simulated {
        facts.push("simulated, in virtual time".to_owned());
    }
    if let Some((ended, _)) = record.end {
        facts.push(took(ended.saturating_sub(record.started_unix_ns), is_simulated));
    }
    if !plan.scale.is_full() {
        facts.push(words::shrunk(plan.scale, "are").to_lowercase());
    }
    facts
}

/// The suite, [`facts`], the targets, and what each workload asks for: whoever is sent a run file
/// knows nothing of it.
pub fn text(record: &Record) -> String {
    let plan = &record.plan;
    let mut facts = facts(record);
    facts.push(format!("Plimsoll {}", record.version));
    let targets: BTreeSet<&str> = plan
        .hosts
        .iter()
        .flat_map(|host| &host.targets)
        .map(|target| target.path.as_str())
        .collect();
    let paths = targets.into_iter().map(str::to_owned).collect();
    let paths = words::at_most(paths, MOST, |more| format!("{more} more"));
    let mut asked: Vec<String> = Vec::new();
    let rows = analysis::results(record);
    for row in rows.iter().filter(|row| row.is_whole()) {
        let Some(work) = row.work() else { continue };
        let line = format!("{}: {}", row.workload, words::work(work, row.workers));
        if !asked.contains(&line) {
            asked.push(line);
        }
    }
    let head =
        [format!("{} · {}", plan.suite, facts.join(" · ")), format!("on {}", paths.join(", "))];
    let asked = words::at_most(asked, MOST, |more| format!("and {more} more"));
    // A name may be anybody's: none begins a line of its own.
    head.iter().chain(&asked).map(|line| format!("{}\n", printable::line(line))).collect()
}

/// `8 min in all`, to a second; of a simulated run it is the time that it took here, which is no
/// time of the system that it shows.
fn took(ns: u64, is_simulated: bool) -> String {
    let time = match ns / 1_000_000_000 {
        0 => "less than 1 s".to_owned(),
        seconds => model::Nanos(seconds.saturating_mul(1_000_000_000)).to_string(),
    };
    let of_what = if is_simulated { "to simulate it" } else { "in all" };
    format!("{time} {of_what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::Op;

    #[test]
    fn a_colleague_reads_what_was_run_on_what() {
        let suite = "[[workload]]\nname = \"w\"\nblock_size = \"8KiB\"\ndepth = 4\n";
        let mut recorded = Recorded::new(suite);
        recorded.second(0, &[(Op::Read, &[100; 5])]);
        let said = text(&recorded.record());
        assert!(said.contains("Plimsoll ") && said.contains("\non /"), "{said}");
        assert!(said.contains("\nw: 8 KiB random read, depth 4"), "{said}");
    }

    #[test]
    fn a_run_that_was_over_at_once_took_some_time() {
        assert_eq!(took(999_999_999, false), "less than 1 s in all");
        assert_eq!(took(90_500_000_000, false), format!("{} in all", model::Nanos(90_000_000_000)));
        assert_eq!(took(1, true), "less than 1 s to simulate it");
    }
}
