//! A comparison for the terminal.

use super::{
    LEGEND, has_differences, interval, metric_of, only, percent, point, remarks, said, title,
    value, verdict,
};
use crate::ground::columns::{self, Column, Want};
use crate::ground::folding::folded;
use analysis::compare::{Against, ComparedPoint, Comparison};
use model::Record;

/// One block for each run, with a table for each point that both have, for a terminal of so many
/// columns; `None` is no terminal.
pub fn table(comparison: &Comparison, records: &[&Record], room: Option<usize>) -> String {
    if comparison.others.is_empty() {
        return "nothing to compare: there is one run with one scenario".to_owned();
    }
    let mut text: String =
        comparison.others.iter().map(|other| against(other, records, room)).collect();
    if has_differences(comparison) {
        text.push_str(&format!("{LEGEND}\n"));
    }
    room.map_or_else(|| text.clone(), |room| folded(&text, room))
}

fn against(other: &Against, records: &[&Record], room: Option<usize>) -> String {
    let mut text = format!("{}\n", title(other, records));
    let whole = other.unlike.iter().map(|unlike| said(unlike, "the run"));
    let missing = [only(&other.only_base, "the base has"), only(&other.only_other, "this one has")];
    for sentence in whole.chain(missing.into_iter().flatten()) {
        text.push_str(&format!("  {sentence}\n"));
    }
    if other.points.is_empty() {
        text.push_str("  No point of the two can be compared.\n");
    }
    text.push('\n');
    text.extend(other.points.iter().map(|point| block(point, room)));
    text
}

fn block(compared: &ComparedPoint, room: Option<usize>) -> String {
    let mut text = format!("{} {}\n", point(&compared.key), compared.key.ops.name());
    if !compared.differences.is_empty() {
        let mut table = vec![
            Column::names("figure"),
            Column::figures("base"),
            Column::figures("other"),
            Column::figures("difference"),
            Column::figures("95 % interval").want(Want::Spare(0)),
            Column::names(""),
        ];
        for found in &compared.differences {
            let cells = [
                metric_of(compared, found.metric).to_owned(),
                value(found.metric, found.base),
                value(found.metric, found.other),
                percent(found.percent),
                interval(found.interval),
                verdict(found).to_owned(),
            ];
            columns::row(&mut table, cells);
        }
        text.push_str(&columns::within(table, room));
    }
    text.extend(remarks(compared).iter().map(|sentence| format!("  {sentence}\n")));
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
        table(&compare(records), records, None)
    }

    #[test]
    fn what_differs_is_said_with_its_interval_and_what_does_not_too() {
        let (base, other) = (run("", 1_000_000, 1_000), run("", 1_333_000, 750));
        insta::assert_snapshot!(shown(&[&base, &other, &base]));
    }

    #[test]
    fn a_narrow_terminal_has_all_differences_in_its_width() {
        let (base, other) = (run("", 1_000_000, 1_000), run("", 1_333_000, 750));
        let text = table(&compare(&[&base, &other]), &[&base, &other], Some(70));
        assert!(text.lines().all(|line| line.chars().count() <= 70), "{text}");
        assert!(
            text.contains("IOPS") && text.contains("−24.9 %") && text.contains("Columns hidden"),
            "{text}"
        );
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
