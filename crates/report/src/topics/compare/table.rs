//! A comparison for the terminal.

use super::glance::{self, Line, changed, is_told};
use super::{
    LEGEND, Tone, has_differences, interval, metric_of, name, not_decided, of_runs, percent, title,
    tone, value, verdict,
};
use crate::ground::emphasis;
use crate::ground::folding::folded;
use crate::pens::terminal::Want;
use crate::pens::{Cell, Table};
use analysis::compare::{Against, ComparedPoint, Comparison, Difference, Verdict};
use model::Record;

/// How a terminal shows a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparisonStyle<'a> {
    /// What the runs are called.
    pub names: &'a [String],
    /// The columns that there are; `None` is no terminal.
    pub room: Option<usize>,
    /// Whether verdicts have colours.
    pub in_colour: bool,
}

/// One block for each run: a line for each point, then the details of those that changed.
pub fn table(comparison: &Comparison, records: &[&Record], shown: ComparisonStyle<'_>) -> String {
    if comparison.others.is_empty() {
        return "nothing to compare: there is one run with one scenario".to_owned();
    }
    let mut text: String =
        comparison.others.iter().map(|other| against(other, records, shown)).collect();
    if has_differences(comparison) {
        text.push_str(&format!("{LEGEND}\n"));
    }
    let text = shown.room.map_or_else(|| text.clone(), |room| folded(&text, room));
    emphasis::resolved(&text, shown.in_colour)
}

fn against(other: &Against, records: &[&Record], shown: ComparisonStyle<'_>) -> String {
    let mut text = format!("{}\n", title(other, records, shown.names));
    text.extend(of_runs(other).iter().map(|sentence| format!("  {sentence}\n")));
    text.push('\n');
    if other.points.is_empty() {
        text.push_str("  No point of the two can be compared.\n\n");
        return text;
    }
    text.push_str(&format!("{}\n\n", glance::answer(other)));
    text.push_str(&at_a_glance(other, &glance::lines(other)).within(shown.room));
    for note in glance::notes(other) {
        text.push_str(&format!("- {note}\n"));
    }
    text.push('\n');
    text.extend(changed(other).map(|point| block(point, shown.room)));
    text
}

/// A line for each point. On a page the verdict stands first: a narrow window cuts off what it
/// rests on, not the finding.
pub(super) fn at_a_glance<'a>(other: &Against, lines: &'a [Line]) -> Table<&'a Line> {
    let is_metadata = other.points.iter().any(|point| point.is_metadata);
    let (rate, of_rate) = match is_metadata {
        true => ("rate A → B", "difference of rate"),
        false => ("IOPS A → B", "difference of IOPS"),
    };
    let toned = |line: &Line| {
        let tone = match line.tone {
            Some(Tone::Better) => "wraps better",
            Some(Tone::Worse) => "wraps worse",
            None => "wraps",
        };
        Cell::from(&line.verdict).classed(tone)
    };
    let marked = |line: &Line| {
        line.tone.map_or_else(|| line.verdict.clone(), |tone| tone.marked(&line.verdict))
    };
    Table::of(lines)
        .name("point", |line| &line.point)
        .class("wraps")
        .want(Want::Folded)
        .words("verdict", toned)
        .on_page()
        .figure(rate, |line| &line.rate.0)
        .titled("IOPS A → B")
        .want(Want::Spare(1))
        .figure("Δ", |line| &line.rate.1)
        .called(of_rate)
        .figure("p99 A → B", |line| &line.p99.0)
        .want(Want::Spare(0))
        .figure("Δ", |line| &line.p99.1)
        .called("difference of p99")
        .words("verdict", marked)
        .on_terminal()
        .capitals()
}

/// Differences of one point, figure by figure; on a page the verdict stands first.
pub(super) fn differences<'a>(
    compared: &ComparedPoint,
    all: impl Iterator<Item = &'a Difference>,
) -> Table<&'a Difference> {
    let marked = |found: &Difference| {
        tone(found).map_or_else(|| verdict(found).to_owned(), |it| it.marked(verdict(found)))
    };
    let a = |found: &Difference| value(found.metric, found.base);
    let b = |found: &Difference| value(found.metric, found.other);
    Table::of(all)
        .name("figure", |found| metric_of(compared, found.metric))
        .class("wraps")
        .words("verdict", verdict)
        .class("wraps")
        .on_page()
        .figure("A", a)
        .on_terminal()
        .figure("B", b)
        .on_terminal()
        .figure("difference", |found| percent(found.percent))
        .figure("95 % interval", |found| interval(found.interval))
        .want(Want::Spare(0))
        .figure("A", a)
        .on_page()
        .figure("B", b)
        .on_page()
        .words("", marked)
        .on_terminal()
        .capitals()
}

fn block(compared: &ComparedPoint, room: Option<usize>) -> String {
    let told = compared.differences.iter().filter(|found| is_told(found));
    let table = differences(compared, told);
    let mut text = format!("{}\n{}", name(&compared.key), table.within(room));
    for (said, verdict) in
        [("No significant difference", Verdict::NoDifference), ("Not known", Verdict::NotKnown)]
    {
        let rest = compared.differences.iter().filter(|found| found.verdict == verdict);
        let rest: Vec<&str> = rest.map(|found| metric_of(compared, found.metric)).collect();
        if !rest.is_empty() {
            text.push_str(&format!("  {said}: {}.\n", rest.join(", ")));
        }
    }
    for found in &compared.differences {
        if let Verdict::NotDecided { needed } = found.verdict {
            let (name, change) = (metric_of(compared, found.metric), percent(found.percent));
            let words = not_decided(compared, needed);
            text.push_str(&format!("  {name} {change}, {words}.\n"));
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, has, lacks, reading, swept};
    use analysis::compare::compare;

    fn run(suite: &str, latency_ns: u64, per_second: u64) -> Record {
        let suite = format!("[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{suite}");
        // A little unevenness, so that there is an error to know.
        let ios = |second| per_second + second * 7 % 11;
        reading(&suite, |second| (0..ios(second)).map(|n| latency_ns + n % 97 * 100).collect())
    }

    fn shown(records: &[&Record]) -> String {
        table(&compare(records), records, ComparisonStyle::default())
    }

    #[test]
    fn what_differs_is_said_with_its_interval_and_what_does_not_too() {
        let (base, other) = (run("", 1_000_000, 1_000), run("", 1_333_000, 750));
        insta::assert_snapshot!(shown(&[&base, &other, &base]));
    }

    #[test]
    fn a_narrow_terminal_has_all_differences_in_its_width() {
        let (base, other) = (run("", 1_000_000, 1_000), run("", 1_333_000, 750));
        let text = table(
            &compare(&[&base, &other]),
            &[&base, &other],
            ComparisonStyle { room: Some(70), ..ComparisonStyle::default() },
        );
        assert!(text.lines().all(|line| line.chars().count() <= 70), "{text}");
        has(&text, &["IOPS", "−24.9 %", "Columns hidden"]);
    }

    #[test]
    fn runs_are_called_by_their_files_and_verdicts_have_colours_where_wanted() {
        let (base, other) = (run("", 1_000_000, 1_000), run("", 1_333_000, 750));
        let names = ["before".to_owned(), "after".to_owned()];
        let shown = ComparisonStyle { names: &names, room: None, in_colour: true };
        let text = table(&compare(&[&base, &other]), &[&base, &other], shown);
        assert!(text.starts_with("A: before · B: after\n"), "{text}");
        assert!(text.contains("\u{1b}[31mworse\u{1b}[0m\n"), "{text}");
        assert!(!table(&compare(&[&base, &base]), &[&base, &base], shown).contains('\u{1b}'));
    }

    #[test]
    fn a_fall_to_a_thirtieth_that_is_not_decided_says_so_and_how_many_repetitions_would_decide() {
        let side = |levels: [u64; 3]| {
            let suite = format!("{W}[sweep]\nrepetitions = 3\n");
            swept(&suite, levels.map(|level| vec![1_000_000_000 / level; level as usize]))
        };
        let text = shown(&[&side([1_000, 9_000, 3_000]), &side([33, 300, 100])]);
        has(
            &text,
            &[
                "Not decided at 1 of 1 point: all repetitions of one side lie beyond the other's",
                "Repeat each run 4 times (--set sweep.repetitions=4).",
                "  IOPS −96.7 %, not decided: 3 repetitions; 4 would",
            ],
        );
        lacks(&text, &["No significant difference at", "No significant difference."]);
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let (base, other) =
            (run("", 1_000_000, 1_000), run("block_size = \"8KiB\"\n", 1_000_000, 1_000));
        let text = shown(&[&base, &other]);
        assert!(
            text.contains(
                "Not compared, because the point is not the same. block size: 4 KiB against 8 KiB."
            ),
            "{text}"
        );
        assert!(!text.contains("Holm") && shown(&[&base, &base]).contains("Holm"), "{text}");
        assert!(shown(&[&base]).starts_with("nothing to compare"));
    }
}
