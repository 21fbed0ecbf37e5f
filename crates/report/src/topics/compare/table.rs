//! A comparison for the terminal.

use super::glance::{self, changed, is_told};
use super::{
    LEGEND, has_differences, interval, metric_of, not_decided, only, percent, said, title, tone,
    value, verdict,
};
use crate::ground::emphasis;
use crate::ground::folding::folded;
use crate::pens::terminal::{self as columns, Column, Want};
use analysis::compare::{Against, ComparedPoint, Comparison, Verdict};
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
    let whole = other.unlike.iter().map(|unlike| said(unlike, "the run"));
    let missing = [only(&other.only_base, "A has"), only(&other.only_other, "B has")];
    for sentence in whole.chain(missing.into_iter().flatten()) {
        text.push_str(&format!("  {sentence}\n"));
    }
    text.push('\n');
    if other.points.is_empty() {
        text.push_str("  No point of the two can be compared.\n\n");
        return text;
    }
    text.push_str(&format!("{}\n\n", glance::answer(other)));
    text.push_str(&at_a_glance(other, shown.room));
    for note in glance::notes(other) {
        text.push_str(&format!("- {note}\n"));
    }
    text.push('\n');
    text.extend(changed(other).map(|point| block(point, shown.room)));
    text
}

fn at_a_glance(other: &Against, room: Option<usize>) -> String {
    let is_metadata = other.points.iter().any(|point| point.is_metadata);
    let rate = if is_metadata { "rate" } else { "IOPS" };
    let mut table = vec![
        Column::names("point").want(Want::Folded),
        Column::figures(&format!("{rate} A → B")).want(Want::Spare(1)),
        Column::figures("Δ").called(&format!("difference of {rate}")),
        Column::figures("p99 A → B").want(Want::Spare(0)),
        Column::figures("Δ").called("difference of p99"),
        Column::names("verdict"),
    ];
    for line in glance::lines(other) {
        let verdict = line.tone.map_or(line.verdict.clone(), |tone| tone.marked(&line.verdict));
        let cells = [line.point, line.rate.0, line.rate.1, line.p99.0, line.p99.1, verdict];
        columns::row(&mut table, cells);
    }
    columns::within(table, room)
}

/// What changed of one point, figure by figure.
fn block(compared: &ComparedPoint, room: Option<usize>) -> String {
    let mut table = vec![
        Column::names("figure"),
        Column::figures("A"),
        Column::figures("B"),
        Column::figures("difference"),
        Column::figures("95 % interval").want(Want::Spare(0)),
        Column::names(""),
    ];
    for found in compared.differences.iter().filter(|found| is_told(found)) {
        let cells = [
            metric_of(compared, found.metric).to_owned(),
            value(found.metric, found.base),
            value(found.metric, found.other),
            percent(found.percent),
            interval(found.interval),
            tone(found).map_or_else(|| verdict(found).to_owned(), |it| it.marked(verdict(found))),
        ];
        columns::row(&mut table, cells);
    }
    let mut text = format!("{}\n{}", glance::name(compared), columns::within(table, room));
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
    use analysis::compare::compare;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    fn run(suite: &str, latency_ns: u64, per_second: u64) -> Record {
        let mut recorded = Recorded::new(&format!(
            "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{suite}"
        ));
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..30u64 {
            // A little unevenness, so that there is an error to know.
            let ios = (per_second + second * 7 % 11) as usize;
            let latencies: Vec<u64> = (0..ios as u64).map(|n| latency_ns + n % 97 * 100).collect();
            recorded.interval(stage, second as u32, &[(Op::Read, &latencies)]);
        }
        recorded.end();
        recorded.record()
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
        assert!(
            text.contains("IOPS") && text.contains("−24.9 %") && text.contains("Columns hidden"),
            "{text}"
        );
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
