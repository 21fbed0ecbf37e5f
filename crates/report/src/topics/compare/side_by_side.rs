//! Several runs side by side: which they are, what each carried, and every doubt beside the figure
//! that it touches.

use super::run_name;
use crate::ground::markup::{Markup, plain};
use crate::ground::words::{self, hosts};
use crate::pens::Table;
use crate::topics::doubts::Marks;
use crate::topics::evidence;
use crate::topics::results::row::name;
use crate::topics::results::{doubts, references};
use analysis::attribution::attribution;
use analysis::trust::Evidence;
use analysis::{Ops, ResultRow};
use catalogue::Cluster;
use model::Record;
use std::collections::BTreeMap;

/// What makes a line of one run the same as a line of another: scenario, workload with its sweep,
/// operation.
type Key = (String, String, Ops);

/// The head of a page of several runs, and which these are.
pub fn head(records: &[&Record], names: &[String]) -> [Markup; 2] {
    let head = plain("header", plain("h1", format!("{} runs side by side", records.len())));
    let runs = plain("section", [plain("h2", "Runs"), which(records, names)]);
    [head, runs]
}

fn which(records: &[&Record], names: &[String]) -> Markup {
    Table::of(records.iter().copied().enumerate())
        .name("", |(index, _)| run_name(names, index))
        .words("Suite", |(_, record)| &record.plan.suite)
        .words("Hosts", |(_, record)| hosts(record))
        .words("Began", |(_, record)| words::utc(record.started_unix_ns))
        .words("Plimsoll", |(_, record)| &record.version)
        .words("State", |(_, record)| words::run_state(&analysis::run_state(record)))
        .bare()
        .scroll()
}

/// What each run carried.
pub fn figures(
    records: &[&Record],
    results: &[Vec<ResultRow>],
    testbed: Option<&Cluster>,
    names: &[String],
) -> Markup {
    let (lines, runs, evidence) = lines(records, results, testbed);
    let marks = Marks::of(runs.iter().flat_map(BTreeMap::values), usize::MAX);
    let mut table =
        Table::of(&lines).name("Workload", |key| &key.1).words("Op", |key| key.2.name()).bare();
    for (number, run) in runs.iter().enumerate() {
        let name = run_name(names, number);
        let rate = |row: &ResultRow| {
            let numbers = references(&marks.beside(row));
            Markup::from([Markup::from(words::iops(row.iops())), numbers])
        };
        let of_bytes = |row: &ResultRow| words::mib_per_s(row.bytes_per_s());
        let p99 = |row: &ResultRow| words::quantile(&row.latency, 0.99);
        table = table
            .figure(format!("{name} IOPS"), |key| run.get(key).map(rate))
            .figure(format!("{name} MiB/s"), |key| run.get(key).map(of_bytes))
            .figure(format!("{name} p99"), |key| run.get(key).map(p99));
    }
    plain("section", [plain("h2", "Side by side"), table.scroll(), doubts(&marks, &evidence)])
}

/// The lines of the table, in the order in which the runs first have them, each run's figures by
/// line, and what was found of all of them.
fn lines(
    records: &[&Record],
    results: &[Vec<ResultRow>],
    testbed: Option<&Cluster>,
) -> (Vec<Key>, Vec<BTreeMap<Key, ResultRow>>, Evidence) {
    let mut lines: Vec<Key> = Vec::new();
    let mut runs: Vec<BTreeMap<Key, ResultRow>> = Vec::new();
    let mut evidence: Option<Evidence> = None;
    for (record, rows) in records.iter().zip(results) {
        let mut run = BTreeMap::new();
        let rows = crate::topics::results::judged::judge(record, rows.clone(), testbed).0;
        let of_run = evidence::evidence(record, &rows, &attribution(record, &rows));
        evidence = Some(evidence.map_or(of_run, |others| others.and(of_run)));
        for row in rows {
            let key = (row.scenario.clone(), name(&row), row.ops);
            if !run.contains_key(&key) && !runs.iter().any(|earlier| earlier.contains_key(&key)) {
                lines.push(key.clone());
            }
            run.insert(key, row);
        }
        runs.push(run);
    }
    (lines, runs, evidence.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, measuring};
    use model::{Op, StageKind};

    fn run(workloads: &[&str]) -> Recorded {
        let suite: String =
            workloads.iter().map(|name| format!("[[workload]]\nname = \"{name}\"\n")).collect();
        let mut recorded = Recorded::new(&format!("[stages]\nprecondition = \"1s\"\n{suite}"));
        for stage in measuring(&recorded) {
            // Long enough for intervals of confidence.
            for second in 0..40 {
                // A rate that is constant to the digit is a limiter's.
                let ios = vec![100_000; 1_000 + second as usize * 7 % 23];
                recorded.interval(stage, second, &[(Op::Read, &ios)]);
            }
        }
        recorded
    }

    fn results(records: &[&Record]) -> Vec<Vec<ResultRow>> {
        records.iter().map(|record| analysis::results(record)).collect()
    }

    fn page(records: &[&Record]) -> String {
        let head: Markup = head(records, &[]).into();
        head.into_string() + &figures(records, &results(records), None, &[]).into_string()
    }

    #[test]
    fn a_doubt_about_one_run_stands_beside_its_figure_here_too() {
        let (mut sound, mut busy) = (run(&["w"]), run(&["w"]));
        for recorded in [&mut sound, &mut busy] {
            let stage = recorded.stage(StageKind::Measure);
            recorded.seen_at_disks(stage, "write through");
            recorded.end();
        }
        let alone = page(&[&sound.record(), &sound.record()]);
        assert!(alone.contains("No reason to doubt") && !alone.contains("sup"), "{alone}");
        busy.busy(0.97);
        let page = page(&[&sound.record(), &busy.record()]);
        assert_eq!(page.matches("<sup class=\"doubt\">1</sup>").count(), 1, "{page}");
        assert!(page.contains("kept its core 97 % busy"), "{page}");
    }

    #[test]
    fn a_run_that_was_cut_short_says_so() {
        let page = page(&[&run(&["w"]).record(), &run(&["w"]).record()]);
        assert_eq!(page.matches("<td>unfinished: ").count(), 2, "{page}");
        assert!(page.contains("Only a part was measured"), "{page}");
    }

    #[test]
    fn what_only_one_run_has_is_a_line_with_dashes() {
        let (one, other) = (run(&["a", "b"]).record(), run(&["b", "c"]).record());
        let (lines, runs, _) = lines(&[&one, &other], &results(&[&one, &other]), None);
        let names: Vec<&str> = lines.iter().map(|line| line.1.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(!runs[0].contains_key(&lines[2]));
        assert!(runs[1].contains_key(&lines[1]));
        assert_eq!(page(&[&one, &other]).matches("–</td>").count(), 6);
    }
}
