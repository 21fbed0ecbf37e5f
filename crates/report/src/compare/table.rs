//! A comparison for the terminal.

use super::{LEGEND, has_differences, interval, metric_of, only, percent, point, remarks, said, title, value, verdict};
use analysis::compare::{Against, ComparedPoint, Comparison};
use comfy_table::{CellAlignment, Table, presets};
use model::Record;

/// One block for each run, with a table for each point that both have.
pub fn table(comparison: &Comparison, records: &[&Record]) -> String {
    if comparison.others.is_empty() {
        return "nothing to compare: there is one run with one scenario".to_owned();
    }
    let mut text: String = comparison.others.iter().map(|other| against(other, records)).collect();
    if has_differences(comparison) {
        text.push_str(&format!("{LEGEND}\n"));
    }
    text
}

fn against(other: &Against, records: &[&Record]) -> String {
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
    text.extend(other.points.iter().map(block));
    text
}

fn block(compared: &ComparedPoint) -> String {
    let mut text = format!("{} {}\n", point(&compared.key), compared.key.op.name());
    if !compared.differences.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(["figure", "base", "other", "difference", "95 % interval", ""]);
        for found in &compared.differences {
            table.add_row([
                metric_of(compared.key.op, found.metric).to_owned(),
                value(found.metric, found.base),
                value(found.metric, found.other),
                percent(found.percent),
                interval(found.interval),
                verdict(found).to_owned(),
            ]);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if index == 0 { 2 } else { 0 }, 2));
            let text = matches!(index, 0 | 5);
            column.set_cell_alignment(if text { CellAlignment::Left } else { CellAlignment::Right });
        }
        text.extend(table.lines().map(|line| format!("{}\n", line.trim_end())));
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
        let mut recorded =
            Recorded::new(&format!("[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{suite}"));
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
        table(&compare(records), records)
    }

    #[test]
    fn what_differs_is_said_with_its_interval_and_what_does_not_too() {
        let (base, other) = (run("", 1_000_000, 1_000), run("", 1_333_000, 750));
        insta::assert_snapshot!(shown(&[&base, &other, &base]));
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let (base, other) = (run("", 1_000_000, 1_000), run("block_size = \"8KiB\"\n", 1_000_000, 1_000));
        let text = shown(&[&base, &other]);
        assert!(
            text.contains("Not compared, because the point is not the same. block size: 4 KiB against 8 KiB."),
            "{text}"
        );
        assert!(!text.contains("Holm") && shown(&[&base, &base]).contains("Holm"), "{text}");
        assert!(shown(&[&base]).starts_with("nothing to compare"));
    }
}
