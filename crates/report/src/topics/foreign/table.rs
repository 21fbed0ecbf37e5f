//! Results of other tools for the terminal.

use super::{NOT_QUOTABLE, doubt, headed, lack, tool, tools, value};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::terminal::Want;
use analysis::foreign::{Figure, lacks, shown_figures};
use model::foreign::{Doubt, ForeignRun, GivenRow, Measured, Quantity, Statistic};
use model::printable;

/// What a run of other tools' results holds; for a terminal of so many columns.
pub fn table(run: &ForeignRun, room: Option<usize>) -> String {
    let mut text = String::new();
    let mut line = |head: &str, words: &str| text.push_str(&headed(head, words, room));
    let measured = run.measured_unix_ns.map(words::utc);
    let when = measured.map_or_else(|| "time not given".to_owned(), |when| format!("of {when}"));
    line("foreign", &format!("results of {}, {when}", tools(run)));
    for source in &run.sources {
        let digits: String = source.sha256.chars().take(16).collect();
        line(
            "source",
            &format!(
                "{} ({}, {} bytes, SHA-256 {digits}…)",
                printable::line(&source.file),
                tool(source),
                words::count(source.bytes)
            ),
        );
    }
    text.push('\n');
    text.push_str(&rows(&run.rows, room));
    text.push('\n');
    let mut line = |head: &str, words: &str| {
        text.push_str(&headed(head, &printable::line(words), room));
    };
    line("given", "every figure is as the tool gave it; no interval of confidence is known");
    line("evidence", NOT_QUOTABLE);
    lacks(run).iter().for_each(|found| line("lacks", &lack(found, run.rows.len())));
    doubts(&run.doubts).iter().for_each(|found| line("doubt", found));
    text
}

fn doubts(all: &[Doubt]) -> Vec<String> {
    const MOST: usize = 40;
    let more = |more| format!("and {more} more; --json has all");
    words::at_most(all.iter().map(doubt).collect(), MOST, more)
}

/// The figures of rows, a column for each that any of them has.
pub fn rows(rows: &[GivenRow], room: Option<usize>) -> String {
    given_rows(rows).within(room)
}

pub(super) fn given_rows(rows: &[GivenRow]) -> Table<&GivenRow> {
    let mut table = Table::of(rows)
        .words("workload", |row| &row.workload)
        .words("op", GivenRow::op_name)
        .plain();
    for figure in shown_figures(&rows.iter().collect::<Vec<_>>()) {
        let is_spare = matches!(figure, Figure::Latency(_, Statistic::Quantile(999_900_000)));
        table = table
            .figure(super::figure(figure), |row| {
                figure.value(row).map(|found| value(figure, found))
            })
            .want(if is_spare { Want::Spare(0) } else { Want::Whole });
    }
    let deviation = Quantity::of(Measured::Rate, Statistic::StdDev);
    // Looked for once: for each row, it would be the square of all rows.
    if rows.iter().any(|row| row.get(deviation).is_some()) {
        let said = |row: &GivenRow| row.get(deviation).map(words::iops);
        table = table.figure("SD per s", said).want(Want::Spare(1)).on_terminal();
    }
    let score = |row: &GivenRow| row.get(Quantity::whole(Measured::Score));
    if rows.iter().any(|row| score(row).is_some()) {
        let said = |row: &GivenRow| score(row).map(|score| format!("{score:.6}"));
        table = table.figure("score", said).on_terminal();
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Op;

    /// CPU time of this thread, in ns (`Documentation/scheduler/sched-stats.rst`).
    fn cpu_ns() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("procfs");
        text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
    }

    #[test]
    fn eight_times_as_many_rows_take_about_eight_times_as_long() {
        let row = |number: usize| {
            let mut row = GivenRow::new("job", Some(Op::Read), number.to_string());
            row.add(Quantity::whole(Measured::Rate), Some(1.0));
            row
        };
        let takes = |count: usize| {
            let all: Vec<GivenRow> = (0..count).map(row).collect();
            let began = cpu_ns();
            rows(&all, None);
            cpu_ns() - began
        };
        let (few, many) = (takes(1_000).max(1), takes(8_000));
        // The square would be 64 times.
        assert!(many < 24 * few, "{few} ns and {many} ns");
    }
}
