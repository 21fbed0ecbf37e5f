//! The run in few sentences: what it is, the most that it carried, how it changed along its sweep,
//! what happened in it, and whether to believe it.

use crate::ground::markup::{Markup, classed, list_of_any, plain};
use crate::ground::words;
use crate::topics::{findings, grade};
use analysis::ceiling::Reached;
use analysis::trust::Evidence;
use analysis::verdict::Verdict;
use analysis::{Covers, ResultRow, RunState};
use model::Record;
use model::plan::PlannedTarget;

/// A change along a sweep by less than this share is not worth a sentence of so few.
const NOTABLE: f64 = 0.2;

/// The block of a page: what the run carried, what else there is to say as a list, and the verdict.
pub fn block(
    record: &Record,
    rows: &[ResultRow],
    reached: &[Reached],
    evidence: &Evidence,
) -> Markup {
    let mut said = sentences(record, rows, reached, evidence).into_iter();
    let mut content = plain("p", said.next().unwrap_or_default());
    content.push(list_of_any(said));
    if carried(rows) {
        content.push(graded(&Verdict::of_run(record, rows)));
    }
    classed("div", "verdict", content)
}

fn graded(verdict: &Verdict) -> Markup {
    let mut said = grade::sentences(verdict).into_iter();
    let mut content = plain("strong", said.next().unwrap_or_default());
    content.push(format!(" {}", said.collect::<Vec<_>>().join(" ")));
    classed("p", grade::class(verdict.level), content)
}

fn carried(rows: &[ResultRow]) -> bool {
    rows.iter().any(|row| row.ios > 0)
}

/// The sentences but for the verdict; a run that measured nothing has one.
fn sentences(
    record: &Record,
    rows: &[ResultRow],
    reached: &[Reached],
    evidence: &Evidence,
) -> Vec<String> {
    if !carried(rows) {
        return vec!["This run delivered nothing: there is no figure to judge.".to_owned()];
    }
    let mut said = vec![most(rows, record.plan.hosts.len())];
    // What a search changed was its own question: its answer is above.
    said.extend(changed(rows).filter(|_| record.plan.search.is_none()));
    said.extend(crate::topics::occurrences::finding(record));
    said.extend(ceiling(reached));
    said.extend(trust(record, evidence));
    said
}

/// The highest rate and the highest bandwidth of any point: of all that it carried, not of a part
/// of it.
fn most(rows: &[ResultRow], hosts: usize) -> String {
    let points = || rows.iter().filter(|row| row.is_of_point());
    let rate = points().max_by(|a, b| a.iops().total_cmp(&b.iops()));
    let bandwidth = points().max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    let (Some(rate), Some(bandwidth)) = (rate, bandwidth) else { return String::new() };
    let who = match hosts {
        0 | 1 => "One host".to_owned(),
        many => format!("{many} hosts together"),
    };
    let of = |row: &ResultRow| format!("({}, {})", super::results::row::name(row), row.ops.name());
    let unit = words::rate_unit(rate.is_metadata());
    // The rate of a single point is a mean, and no most among others.
    let most = if points().count() > 1 { "at most " } else { "" };
    let highest = format!("{} {unit} {}", words::iops(rate.iops()), of(rate));
    if bandwidth.bytes == 0 {
        return format!("{who} delivered {most}{highest}.");
    }
    let widest = words::bandwidth(bandwidth.bytes_per_s());
    format!("{who} delivered {most}{highest} and {most}{widest} {}.", of(bandwidth))
}

/// What the sweep changed most; the curves' own words where there are curves.
fn changed(rows: &[ResultRow]) -> Option<String> {
    let found = analysis::findings(rows);
    let wholes = || found.iter().filter(|found| found.covers >= Covers::Workload);
    if let Some(first) =
        wholes().find(|found| found.covers == Covers::Point).or_else(|| wholes().next())
    {
        let odd: usize = wholes().map(|found| found.curve.odd.len()).sum();
        let more = if odd == 0 {
            String::new()
        } else {
            format!(" In all curves together, {} out of line.", are(odd, "point"))
        };
        return Some(format!("{}{more}", findings::sentence(first, rows)));
    }
    let mut deepest: Option<(f64, &ResultRow, &ResultRow)> = None;
    let wholes = || rows.iter().filter(|row| row.is_whole() && row.complete);
    for base in wholes().filter(|row| row.iops() > 0.0) {
        let alike = |row: &&ResultRow| {
            row.workload == base.workload && row.ops == base.ops && row.sweep != base.sweep
        };
        for other in wholes().filter(alike).filter(|row| row.point > base.point) {
            let change = (other.iops() / base.iops()).max(f64::MIN_POSITIVE).ln().abs();
            if deepest.is_none_or(|(most, ..)| change > most) {
                deepest = Some((change, base, other));
            }
        }
    }
    let (_, base, other) = deepest?;
    let share = other.iops() / base.iops() - 1.0;
    if share.abs() < NOTABLE {
        return Some("No value of the sweep changed a rate by a fifth or more.".to_owned());
    }
    Some(format!(
        "What changed most is {} {}: from {} to {} its rate went from {} to {} {} ({}).",
        base.workload,
        base.ops.name(),
        words::sweep(&base.sweep, None),
        words::sweep(&other.sweep, None),
        words::iops(base.iops()),
        words::iops(other.iops()),
        words::rate_unit(base.is_metadata()),
        crate::topics::compare::percent(share * 100.0)
    ))
}

fn ceiling(reached: &[Reached]) -> Option<String> {
    let share = |one: &Reached| one.share().unwrap_or(0.0);
    let nearest = reached
        .iter()
        .filter(|one| one.share().is_some())
        .max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let layer = crate::topics::ceiling::layer(nearest.ceiling.binding()?.layer);
    let name = &nearest.ceiling.workload.name;
    Some(if nearest.is_above() {
        format!(
            "{name} is above the testbed's ceiling ({layer}): it did not come from where the \
             testbed says."
        )
    } else {
        format!(
            "Nearest to the testbed's ceiling is {name}, with {} of it ({layer}).",
            words::share(share(nearest))
        )
    })
}

fn trust(record: &Record, evidence: &Evidence) -> Vec<String> {
    let mut said = Vec::new();
    let mut targets = record.plan.hosts.iter().flat_map(|host| &host.targets);
    if targets.any(|target| target.kind == PlannedTarget::Simulated) {
        said.push("The target was simulated.".to_owned());
    }
    let shrunk = words::shrunk(record.plan.scale, "were");
    if !shrunk.is_empty() {
        said.push(format!("{shrunk}: it is no measure of the full suite."));
    }
    let state = analysis::run_state(record);
    if state != RunState::Complete {
        said.push(format!("The run is {}.", words::run_state(&state)));
    }
    // How the run ended is said above, with its reason.
    // What is missing for a quotable figure, the verdict says.
    let reasons = Evidence { is_complete: true, unquotable: 0, ..*evidence };
    said.extend(crate::topics::evidence::sentences(&reasons));
    if evidence.is_sound() {
        said.push("No reason to doubt its figures was found.".to_owned());
    }
    said
}

fn are(count: usize, noun: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", words::counted(count as u64, noun))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, begun, has, lacks, measured, swept};
    use analysis::{Ops, Warning};
    use model::{Op, StageKind};

    /// The paragraph of a run with these results, by what is found of them.
    fn judged(record: &Record, rows: &[ResultRow]) -> String {
        let evidence = crate::topics::evidence::evidence(record, rows, &[]);
        let grade = carried(rows).then(|| grade::line(&Verdict::of_run(record, rows)));
        let said = sentences(record, rows, &[], &evidence);
        said.into_iter().chain(grade).collect::<Vec<_>>().join(" ")
    }

    fn told(suite: &str, counts: &[usize]) -> String {
        let record = swept(suite, counts.iter().map(|count| vec![1_000; *count]));
        judged(&record, &analysis::results(&record))
    }

    #[test]
    fn the_most_what_changed_and_whether_to_believe_it_are_told() {
        let sizes = format!("{W}[sweep]\nsize = [\"1MiB\", \"2MiB\"]\n");
        let text = told(&sizes, &[90, 9]);
        assert!(
            text.starts_with("One host delivered at most 90.0 IOPS (w (size=1MiB), read)"),
            "{text}"
        );
        has(&text, &["from size=1MiB to size=2MiB its rate went from 90.0 to 9.00 IOPS (−90.0 %)"]);
        assert!(
            text.contains("The ± of the rate is unknown in all 2 results"),
            "a second is short: {text}"
        );
        assert!(told(&sizes, &[90, 88]).contains("No value of the sweep"));
        let curve = told(&format!("{W}[sweep]\ndepth = \"1..8 x2\"\n"), &[10, 20, 40, 41]);
        assert!(curve.contains("w read over depth: peak"), "{curve}");
    }

    #[test]
    fn operations_have_their_own_unit_and_no_bandwidth_where_no_bytes_move() {
        let record = measured(W, &[(Op::Read, &[1_000; 90])]);
        let mut rows = analysis::results(&record);
        (rows[0].ops, rows[0].bytes) = (Ops::One(Op::Stat), 0);
        let text = judged(&record, &rows);
        assert!(text.starts_with("One host delivered 90.0 op/s (w, stat). "), "{text}");
    }

    #[test]
    fn the_headline_is_what_a_mix_carried_and_not_its_larger_half() {
        let record = measured(
            "[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
            &[(Op::Read, &[1_000; 14_088]), (Op::Write, &[1_000; 6_031])],
        );
        let text = judged(&record, &analysis::results(&record));
        assert!(
            text.starts_with(
                "One host delivered 20,119 IOPS (mix, all) and 78.6 MiB/s (mix, all)."
            ),
            "{text}"
        );
        assert!(!text.contains("14,088"), "{text}");
    }

    #[test]
    fn the_headline_of_workloads_at_the_same_time_is_that_of_all_of_them() {
        let group = "[[workload]]\nname = \"a\"\ngroup = \"g\"\n[[workload]]\nname = \"b\"\ngroup \
                     = \"g\"\n";
        let mut recorded = Recorded::new(group);
        let stage = recorded.stage(StageKind::Measure);
        recorded.side_by_side(
            stage,
            0,
            &[(0, Op::Read, &[1_000; 40]), (1, Op::Read, &[1_000; 50])],
        );
        let record = recorded.end();
        let text = judged(&record, &analysis::results(&record));
        assert!(text.starts_with("One host delivered 90.0 IOPS (a + b, all)"), "{text}");
    }

    #[test]
    fn the_curve_of_a_mix_is_that_of_the_whole() {
        let mut recorded = Recorded::new(
            "[[workload]]\nname = \"m\"\nread = \"50%\"\n[sweep]\ndepth = \"1..8 x2\"\n",
        );
        let first = recorded.stage(StageKind::Measure);
        for (number, count) in (0..).zip([10, 20, 40, 41]) {
            recorded.interval(
                first + number,
                0,
                &[(Op::Read, &vec![1_000; count]), (Op::Write, &vec![1_000; count])],
            );
        }
        let record = recorded.end();
        let text = judged(&record, &analysis::results(&record));
        has(&text, &["m all over depth: peak 82.0 IOPS"]);
        lacks(&text, &["m read over"]);
    }

    #[test]
    fn only_doubts_that_stand_below_are_counted() {
        let mut recorded =
            Recorded::new("[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n");
        let stage = recorded.stage(StageKind::Measure);
        let values: Vec<u64> = (0..1_000u64).map(|n| 1_000 + n % 100).collect();
        (0..40).for_each(|second| recorded.interval(stage, second, &[(Op::Read, &values)]));
        recorded.seen_at_disks(stage, "write through");
        let record = recorded.end();
        let mut rows = analysis::results(&record);
        let mut told = |warnings: Vec<Warning>| {
            rows[0].warnings = warnings;
            judged(&record, &rows)
        };
        let thin = |quantile| Warning::ThinTail { quantile, beyond: 3 };
        // No table has the p99.99: its doubt weakens no verdict.
        let unseen = told(vec![thin("p99.99")]);
        has(&unseen, &["No reason to doubt its figures was found. Verdict: quotable."]);
        let of_run = told(vec![thin("p99.9")]);
        assert!(of_run.contains("Verdict: indicative.") && !of_run.contains("reason"), "{of_run}");
        let seen = told(vec![thin("p99.99"), Warning::WorkerBusy { share: 0.97 }]);
        let said = "There are reasons to doubt the result, listed below. Verdict: indicative.";
        assert!(seen.contains(said) && !seen.contains("No reason"), "{seen}");
    }

    #[test]
    fn a_run_too_short_for_an_interval_is_not_called_sound() {
        let record = measured(
            "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n",
            &[(Op::Read, &[1_000; 1_000_000])],
        );
        let text = judged(&record, &analysis::results(&record));
        has(&text, &["The ± of the rate is unknown in the result"]);
        lacks(&text, &["No reason"]);
    }

    #[test]
    fn a_run_without_figures_or_end_says_so() {
        assert!(told(W, &[]).contains("no figure to judge"));
        let record = begun(W, &[(Op::Read, &[1_000; 10])]);
        has(&judged(&record, &analysis::results(&record)), &["The run is "]);
    }
}
