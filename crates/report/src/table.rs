//! The results as a table for the terminal, with every doubt marked beside the figure that it touches.

use crate::doubts::{Marks, Touches};
use crate::{findings, loadline, means, words};
use analysis::{ResultRow, RunState};
use comfy_table::{CellAlignment, Table, presets};
use model::{Cluster, Op, Record};

/// The table, and under it the doubts in words, what was at its limit, and what was reached of the testbed's ceilings, where it is known.
pub fn results(record: &Record, testbed: Option<&Cluster>) -> String {
    let (rows, reached) = crate::html::judged(record, testbed);
    if rows.is_empty() {
        return format!("nothing was measured; the run is {}", words::run_state(&analysis::run_state(record)));
    }
    let mut marks = Marks::default();
    let swept = rows.iter().any(|row| !row.sweep.is_empty() || row.repetition.is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut head = vec!["workload"];
    if swept {
        head.push("sweep");
    }
    head.extend([
        "op",
        words::rate_head(&rows),
        "±",
        "MiB/s",
        "mean",
        "p50",
        "p99",
        "±",
        "p99.9",
        "max",
        "errors",
        "CPU",
    ]);
    table.set_header(head);
    for row in &rows {
        table.add_row(cells(row, swept, &mut marks));
    }
    let figures = if swept { 3 } else { 2 };
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if index < figures { CellAlignment::Left } else { CellAlignment::Right });
    }
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    text.push_str("\nLatencies are service times; at a fixed rate, response times. CPU: the load generator's own, 100 % is one core.\n");
    for row in &rows {
        if let Some(done) = row.done.filter(|_| row.op != Op::Fsync) {
            text.push_str(&format!("{}, {}: {}.\n", label(row), row.op.name(), words::done(row, &done)));
        }
    }
    text.push_str(&format!("{}\n", words::sureness_legend(&rows)));
    means::sentences(record, &rows).iter().for_each(|said| text.push_str(&format!("{said}\n")));
    for (index, sentence) in marks.sentences.iter().enumerate() {
        text.push_str(&format!("{} {sentence}\n", superscript(index + 1)));
    }
    if let Some(line) = analysis::loadline::load_line(record, &rows) {
        text.push_str(&format!("\n{}\n", loadline::sentences(&line).join("\n")));
    }
    if let Some(line) = analysis::loadline::along::along_line(record, &rows) {
        text.push_str(&format!("\n{}\n", loadline::along::sentences(&line).join("\n")));
    }
    text.push_str(&crate::attribution::text(record, &rows));
    if let Some(cluster) = testbed.filter(|_| !reached.is_empty()) {
        text.push_str(&format!("\nShare of the ceiling of {}\n", cluster.top.name.value));
        crate::ceiling::reached_lines(&reached).iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    let findings = analysis::findings(&rows);
    if !findings.is_empty() {
        text.push_str("\nSweeps\n");
    }
    for finding in &findings {
        text.push_str(&format!("- {}\n", findings::sentence(finding)));
    }
    text.push_str(&crate::occurrences::table(record));
    let state = analysis::run_state(record);
    if state != RunState::Complete {
        text.push_str(&format!("The run is {}.\n", words::run_state(&state)));
    }
    text
}

/// The workload, and its values of the sweep.
fn label(row: &ResultRow) -> String {
    match words::sweep(&row.sweep, row.repetition).as_str() {
        "" => row.workload.clone(),
        sweep => format!("{} ({sweep})", row.workload),
    }
}

fn cells(row: &ResultRow, swept: bool, marks: &mut Marks) -> Vec<String> {
    let quantile = |share| words::latency(row.latency.quantile_ns(share));
    let mut cells = vec![row.workload.clone()];
    if swept {
        cells.push(words::sweep(&row.sweep, row.repetition));
    }
    cells.extend([
        row.op.name().to_owned(),
        format!("{}{}", words::iops(row.iops()), superscripts(&marks.of(row, Touches::Rate))),
        words::sureness(Some(row.iops()), row.sure.iops.map(|iops| iops.interval())),
        words::mib_per_s_of(row),
        words::latency(row.latency.mean_ns().map(|mean| mean.round() as u64)),
        quantile(0.5),
        format!("{}{}", quantile(0.99), superscripts(&marks.of(row, Touches::P99))),
        words::sureness(row.latency.quantile_ns(0.99).map(|ns| ns as f64), row.sure.p99_ns()),
        format!("{}{}", quantile(0.999), superscripts(&marks.of(row, Touches::P999))),
        words::latency(row.latency.max_ns()),
        words::count(row.error_count()),
        words::share(row.cpu_cores()),
    ]);
    cells
}

/// `¹˒²`, behind a figure.
fn superscripts(numbers: &[usize]) -> String {
    numbers.iter().map(|number| superscript(*number)).collect::<Vec<_>>().join("˒")
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::StageKind;

    #[test]
    fn figures_and_doubts_stand_side_by_side() {
        let mut recorded = Recorded::new(
            "[stages]\nprecondition = \"2s\"\n[[workload]]\nname = \"4k-random-read\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
        );
        let first = recorded.stage(StageKind::Measure);
        for interval in 0..2 {
            let fast: Vec<u64> = (0..50_000).map(|n| 80_000 + n * 10).collect();
            recorded.interval(first, interval, &[(Op::Read, &fast)]);
            recorded.interval(first + 2, interval, &[(Op::Read, &[1_200_000; 350]), (Op::Write, &[2_300_000; 150])]);
        }
        recorded.fail(first + 2, 0, Op::Write, 5, 12);
        recorded.busy(0.93);
        recorded.end();
        insta::assert_snapshot!(results(&recorded.record(), None));
    }

    #[test]
    fn a_sweep_has_a_column_and_a_cut_run_says_so() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100_000; 100])]);
        insta::assert_snapshot!(results(&recorded.record(), None));
    }

    #[test]
    fn a_run_that_measured_nothing_says_that() {
        let recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        assert!(results(&recorded.record(), None).starts_with("nothing was measured; the run is unfinished"));
    }
}
