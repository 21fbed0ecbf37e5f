//! How measured amounts ended, at the first worker that was done and at the last: a sentence where
//! there are one or two, a table where there are more.

use crate::ground::words;
use crate::pens::Table;
use crate::pens::terminal::Want;
use analysis::{Covers, Done, Progress, ResultRow};
use model::Nanos;

/// So many are told in sentences.
const MOST_SENTENCES: usize = 2;

/// The part under the table of results, in `room` columns; nothing where no amount was measured.
pub fn text(rows: &[ResultRow], label: fn(&ResultRow) -> String, room: usize) -> String {
    let ended = |row: &ResultRow| row.done.filter(|_| row.covers != Covers::Beside);
    let all: Vec<(&ResultRow, Done)> =
        rows.iter().filter_map(|row| Some((row, ended(row)?))).collect();
    if all.len() <= MOST_SENTENCES {
        let told = |(row, done): &(&ResultRow, Done)| {
            let (load, op) = (label(row), row.ops.name());
            let name = if load == op { load } else { format!("{load}, {op}") };
            format!("{name}: {}.\n", words::done(row, done))
        };
        return all.iter().map(told).collect();
    }
    let is_alone = all.iter().all(|(row, _)| row.workers == 1);
    let (head, parts) = match is_alone {
        true => ("Each amount, from its first request to its last", &[ALL][..]),
        false => ("Until the first worker was done, and until the last was", &[FIRST, LAST][..]),
    };
    format!("\n{head}\n{}\n", table(&all, parts, label).fitted(room).0)
}

/// A part of an amount that a table has columns for.
#[derive(Clone, Copy)]
struct Part {
    head: &'static str,
    of: fn(&Done) -> Progress,
}

const FIRST: Part = Part { head: "first", of: |done| done.first };
const LAST: Part = Part { head: "last", of: |done| done.last };
/// Of a single worker, which is first and last.
const ALL: Part = Part { head: "time", of: |done| done.last };

fn table<'a>(
    all: &'a [(&'a ResultRow, Done)],
    parts: &[Part],
    label: fn(&ResultRow) -> String,
) -> Table<&'a (&'a ResultRow, Done)> {
    let rate = words::rate_head(all.iter().map(|(row, _)| *row));
    let moves = all.iter().any(|(row, _)| row.moves_bytes());
    let mut table = Table::of(all)
        .words("load", |(row, _)| label(row))
        .want(Want::Folded)
        .words("op", |(row, _)| row.ops.name());
    for Part { head, of } in parts {
        let time = |done| Nanos((of(done).seconds * 1e9).round() as u64).to_string();
        table = table
            .figure(*head, |(_, done)| time(done))
            .figure(rate, |(_, done)| words::iops(of(done).iops()));
        if moves {
            let bytes = |(row, done): &(&ResultRow, Done)| {
                row.moves_bytes().then(|| words::mib_per_s(of(done).bytes_per_s()))
            };
            table = table.figure("MiB/s", bytes).want(Want::Spare(0));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, measured};
    use analysis::{Ops, Progress};
    use model::Op;

    fn rows(count: u64) -> Vec<ResultRow> {
        let record = measured(W, &[(Op::Read, &[100_000; 100])]);
        let row = analysis::results(&record).remove(0);
        let at = |number: u64, seconds: f64| Progress {
            seconds,
            ios: 1_000 * number,
            bytes: number << 30,
        };
        let done = |number: u64| Done { first: at(number, 1.0), last: at(number * 3, 4.0) };
        let op = |number: u64| if number.is_multiple_of(2) { Op::Create } else { Op::Stat };
        (1..=count)
            .map(|number| ResultRow {
                ops: Ops::One(op(number)),
                done: Some(done(number)),
                ..row.clone()
            })
            .collect()
    }

    fn label(row: &ResultRow) -> String {
        format!("{} (workers=1, operation={})", row.workload, row.ops.name())
    }

    #[test]
    fn few_are_sentences_and_many_are_a_table() {
        assert_eq!(text(&[], label, 80), "");
        let two = text(&rows(2), label, 80);
        assert_eq!(two.matches(": the first worker was done after 1 s").count(), 2, "{two}");
        insta::assert_snapshot!(text(&rows(3), label, usize::MAX));
    }

    #[test]
    fn a_narrow_terminal_folds_names_and_loses_bandwidth_first() {
        let narrow = text(&rows(3), label, 60);
        assert!(!narrow.contains("MiB/s") && narrow.contains("op/s"), "{narrow}");
        assert!(narrow.lines().skip(2).all(|line| line.chars().count() <= 60), "{narrow}");
    }

    #[test]
    fn what_has_no_amount_and_an_fsync_are_not_told() {
        let mut all = rows(4);
        all[0].done = None;
        all[1].covers = Covers::Beside;
        assert_eq!(text(&all, label, 80).lines().count(), 2, "two sentences");
    }
}
