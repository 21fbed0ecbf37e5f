//! The results as a table for the terminal, with every doubt marked beside the figure that it
//! touches.

use crate::ground::emphasis::{self, Emphasis};
use crate::ground::words;
use crate::topics::doubts::Marks;
use crate::topics::results::superscript;
use crate::topics::{
    self, amounts, attribution, findings, grade, io_path, loadline, repetitions, results,
};
use analysis::ceiling::Reached;
use analysis::doubts::Sort;
use analysis::verdict::Verdict;
use analysis::{ResultRow, RunState};
use catalogue::Cluster;
use model::Record;

/// How much stands under a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    /// The gravest doubts, at most [`MOST_NOTES`], and how many more there are.
    Few,
    /// Every doubt, and how each figure is to be read.
    All,
}

/// Doubts under a table, unless all are asked for.
const MOST_NOTES: usize = 3;

/// How a terminal shows results.
#[derive(Clone, Copy, Debug)]
pub struct TableStyle {
    /// What stands under the table.
    pub notes: Notes,
    /// The columns that there are; `None` is no terminal.
    pub room: Option<usize>,
    /// Whether the head is bold and doubts are amber.
    pub in_colour: bool,
}

/// The table, and under it every doubt in words, what was at its limit, and the share of the
/// testbed's ceilings, where it is known.
pub fn results(record: &Record, testbed: Option<&Cluster>) -> String {
    let shown = TableStyle { notes: Notes::All, room: None, in_colour: false };
    results_within(record, testbed, shown)
}

/// As [`results()`], for a terminal: a column without room is left out, and named under the table.
pub fn results_within(record: &Record, testbed: Option<&Cluster>, shown: TableStyle) -> String {
    let TableStyle { notes, .. } = shown;
    let (rows, reached) = results::judged::judged(record, testbed);
    if rows.is_empty() {
        return format!(
            "nothing was measured; the run is {}",
            words::run_state(&analysis::run_state(record))
        );
    }
    if notes == Notes::All {
        return shown_with(record, testbed, &rows, &reached, shown, usize::MAX);
    }
    let text = shown_with(record, testbed, &rows, &reached, shown, MOST_NOTES);
    match rows.len() == 1 && text.split_whitespace().count() > MOST_WORDS {
        // One row is told in few words: of its doubts, the gravest; the others are counted.
        true => shown_with(record, testbed, &rows, &reached, shown, 1),
        false => text,
    }
}

/// So many words tell a result of one row, its table included.
const MOST_WORDS: usize = 112;

/// The same with at most so many doubts.
fn shown_with(
    record: &Record,
    testbed: Option<&Cluster>,
    rows: &[ResultRow],
    reached: &[Reached],
    shown: TableStyle,
    most: usize,
) -> String {
    let TableStyle { notes, room, in_colour } = shown;
    let marks = Marks::of(rows, most);
    let (table, left_out) = results::table(record, rows, &marks).fitted(room.unwrap_or(usize::MAX));
    let under = under(record, rows, &marks, &left_out, notes);
    let mut text = [
        answers(record, rows),
        headed(&table),
        "\n".to_owned(),
        amounts::text(rows, label, room.unwrap_or(usize::MAX)),
        repetitions::text(rows, room.unwrap_or(usize::MAX)),
        under.iter().map(|line| format!("{line}\n")).collect(),
        topics::fidelity::text(record),
        topics::told::text(record, rows),
        topics::population::text(record),
        topics::due::text(rows),
        topics::bursts::text(record, rows),
    ]
    .concat();
    let verdict = Verdict::of_run(record, rows);
    let graded = match notes {
        Notes::All => grade::line(&verdict),
        Notes::Few => grade::brief(&verdict),
    };
    let gap = if text.ends_with("\n\n") { "" } else { "\n" };
    text.push_str(&format!("{gap}{graded}\n"));
    let of_target = marks.phrases(Sort::Target);
    if !of_target.is_empty() {
        text.push_str(&format!("Target: {}.\n", of_target.join("; ")));
    }
    text.push_str(&match notes {
        Notes::All => attribution::text(record, rows),
        Notes::Few => attribution::brief(record, rows),
    });
    text.push_str(&topics::simulated_layers::text(record, rows));
    text.push_str(&topics::host_cpu::text(record, rows));
    text.push_str(&topics::hit_share::text(record, rows));
    text.push_str(&topics::others::text(record, rows, notes == Notes::All));
    if let Some(cluster) = testbed.filter(|_| !reached.is_empty()) {
        let title = format!("Share of the ceiling of {}", cluster.top.name.value);
        text.push_str(&words::titled(&title, topics::ceiling::reached_lines(reached)));
    }
    let findings = analysis::findings(rows);
    let sentences = findings.iter().map(|finding| findings::sentence(finding, rows));
    text.push_str(&words::titled("Sweeps", sentences));
    text.push_str(&topics::occurrences::table(record));
    text.push_str(&topics::verified::text(record));
    text.push_str(&topics::left_behind::text(record));
    let state = analysis::run_state(record);
    if state != RunState::Complete {
        text.push_str(&format!("The run is {}.\n", words::run_state(&state)));
    }
    let text = match room {
        Some(room) => crate::ground::folding::folded(&text, room),
        None => text,
    };
    emphasis::resolved(&text, in_colour)
}

/// What a search found, which stands before its points.
fn answers(record: &Record, rows: &[ResultRow]) -> String {
    let rate = analysis::loadline::load_line(record, rows);
    let along = analysis::loadline::axis::along_line(record, rows);
    let map = analysis::loadline::map::load_map(record, rows);
    let said = rate.map(|line| loadline::sentences(&line)).into_iter();
    let rounds = analysis::rounds::rounds(record, rows);
    let said = said.chain(rounds.map(|found| topics::rounds::sentences(&found)));
    let said = said.chain(along.map(|line| loadline::other_axis::sentences(&line)));
    let said = said.chain(map.map(|map| loadline::map::sentences(&map)));
    said.map(|sentences| format!("{}\n\n", sentences.join("\n"))).collect()
}

fn headed(table: &str) -> String {
    match table.split_once('\n') {
        Some((head, rows)) => format!("{}\n{rows}", emphasis::marked(Emphasis::Head, head)),
        None => table.to_owned(),
    }
}

fn under(
    record: &Record,
    rows: &[ResultRow],
    marks: &Marks,
    left_out: &[String],
    notes: Notes,
) -> Vec<String> {
    let mut lines: Vec<String> = (1..)
        .zip(&marks.numbered())
        .map(|(number, sentence)| {
            let sentence = emphasis::marked(Emphasis::Doubt, sentence);
            format!("{} {sentence}", superscript(number))
        })
        .collect();
    let more = marks.unnumbered();
    if more > 0 {
        let more = words::counted(more, "more doubt");
        lines.push(format!("and {more}: `plimsoll show RUN --explain`."));
    }
    let mut of_run = marks.phrases(Sort::Run);
    of_run.extend(words::no_interval(rows).map(|why| format!("no interval (–): {why}")));
    if !of_run.is_empty() {
        lines.push(format!("Limits of this run: {}.", of_run.join("; ")));
    }
    if !left_out.is_empty() {
        lines.push(format!(
            "Columns hidden for width: {}. Widen the terminal, pipe the output, or use --json.",
            left_out.join(", ")
        ));
    }
    if notes == Notes::All {
        lines.extend(marks.sentences(Sort::Run));
        lines.extend(marks.sentences(Sort::Target));
        lines.extend(legend(record, rows, left_out));
    }
    lines
}

/// How the figures are to be read, a line each.
fn legend(record: &Record, rows: &[ResultRow], left_out: &[String]) -> Vec<String> {
    let mut lines = vec![
        "latency  service time; at a fixed rate, response time".to_owned(),
        "±        how far the 95 % interval of the figure before it reaches at most".to_owned(),
    ];
    if left_out.iter().all(|name| name != "CPU") {
        lines.push("CPU      the load generator's own; 100 % is one core".to_owned());
    }
    if rows.iter().any(|row| row.ops.one().is_none()) {
        lines.push(format!("all      {}", words::WHOLE));
    }
    lines.extend(io_path::sentences(record, rows).iter().map(|path| format!("I/O      {path}")));
    lines
}

fn label(row: &ResultRow) -> String {
    words::with_sweep(&row.workload, &row.sweep, row.repetition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, begun, has};
    use model::{Fact, Note, Op, StageKind};

    fn few(room: Option<usize>) -> TableStyle {
        TableStyle { notes: Notes::Few, room, in_colour: false }
    }

    #[test]
    fn a_terminal_has_a_bold_head_and_amber_doubts_in_the_same_width() {
        let record = begun(W, &[(Op::Read, &[100_000; 100])]);
        let coloured =
            results_within(&record, None, TableStyle { in_colour: true, ..few(Some(60)) });
        assert!(coloured.starts_with("\u{1b}[1mworkload"), "{coloured}");
        assert!(coloured.contains("\u{1b}[33mOnly a part was measured"), "{coloured}");
        let plain = results_within(&record, None, few(Some(60)));
        let stripped = ["\u{1b}[1m", "\u{1b}[33m", "\u{1b}[0m"]
            .iter()
            .fold(coloured, |text, escape| text.replace(escape, ""));
        assert_eq!(stripped, plain);
    }

    #[test]
    fn figures_and_doubts_stand_side_by_side() {
        let mut recorded = Recorded::new(
            "[stages]\nprecondition = \"2s\"\n[[workload]]\nname = \
             \"4k-random-read\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
        );
        let first = recorded.stage(StageKind::Measure);
        for interval in 0..2 {
            let fast: Vec<u64> = (0..50_000).map(|n| 80_000 + n * 10).collect();
            recorded.interval(first, interval, &[(Op::Read, &fast)]);
            recorded.interval(
                first + 2,
                interval,
                &[(Op::Read, &[1_200_000; 350]), (Op::Write, &[2_300_000; 150])],
            );
        }
        recorded.fail(first + 2, 0, Op::Write, 5, 12);
        recorded.busy(0.93);
        insta::assert_snapshot!(results(&recorded.end(), None));
    }

    #[test]
    fn a_sweep_has_a_column_and_a_cut_run_says_so() {
        let record = begun(
            "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n",
            &[(Op::Read, &[100_000; 100])],
        );
        insta::assert_snapshot!(results(&record, None));
    }

    #[test]
    fn a_run_that_measured_nothing_says_that() {
        let recorded = Recorded::new(W);
        assert!(
            results(&recorded.record(), None)
                .starts_with("nothing was measured; the run is unfinished")
        );
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns_and_every_doubt_its_mark() {
        let name = "four-kibibytes-at-random";
        let mut recorded = Recorded::new(&format!(
            "[[workload]]\nname = \"{name}\"\n[sweep]\ndepth = [1, 8]\nblock_size = [\"4KiB\", \
             \"8KiB\"]\n"
        ));
        recorded.second(0, &[(Op::Read, &[100_000; 2_000])]);
        recorded.busy(0.93);
        let record = recorded.end();
        let wide = results(&record, None);
        let marked = |text: &str| {
            text.lines()
                .find(|line| line.starts_with(name))
                .map(|line| line.matches(['¹', '²', '³', '⁴']).count())
        };
        assert!(
            !wide.contains("hidden for width")
                && wide.contains("p99.9")
                && marked(&wide) == Some(1),
            "{wide}"
        );
        let narrow =
            results_within(&record, None, TableStyle { notes: Notes::All, ..few(Some(80)) });
        let table = narrow.split("\n\n").next().unwrap_or_default();
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(
            !table.contains("p99.9")
                && narrow.contains("Columns hidden for width: ")
                && narrow.contains("p99.9"),
            "{narrow}"
        );
        assert_eq!(marked(&narrow), marked(&wide), "{narrow}");
    }

    /// A run of four hosts, one of them lost, that has every sort of doubt.
    fn doubted() -> Record {
        let suite = "[[workload]]\nname = \"w\"\nread = \"70%\"\n";
        let mut recorded = Recorded::with_hosts(suite, 4);
        let stage = recorded.stage(StageKind::Measure);
        for host in 0..3 {
            let ops: [(Op, &[u64]); 2] =
                [(Op::Read, &[100_000; 100]), (Op::Write, &[1_000; 2_000])];
            recorded.host_interval(stage, host, 0, &ops);
        }
        let fact = Fact::HostLost { name: "node3".into(), why: "gone".into() };
        recorded.note(Note { stage: Some(stage), host: 3, fact });
        recorded.fail(stage, 0, Op::Write, 5, 12);
        recorded.busy(0.93);
        recorded.record()
    }

    #[test]
    fn at_most_three_doubts_have_a_number_the_gravest_first_and_no_number_leads_nowhere() {
        let record = doubted();
        let text = |notes| results_within(&record, None, TableStyle { notes, ..few(None) });
        let short = text(Notes::Few);
        let place = |said: &str| short.find(said).unwrap_or_else(|| panic!("{said}: {short}"));
        assert!(place("¹ Only a part was measured") < place("² Measured without node3"), "{short}");
        assert!(place("² Measured") < place("³ Requests failed"), "{short}");
        assert!(
            place("³ Requests") < place("and 1 more doubt: `plimsoll show RUN --explain`"),
            "{short}"
        );
        assert!(!short.contains('⁴') && !short.contains("kept its core"), "{short}");
        assert!(
            place("more doubt") < place("Limits of this run: only 300 requests of w read; "),
            "{short}"
        );
        let long = text(Notes::All);
        assert!(long.contains("⁴ A worker kept its core") && !long.contains("--explain"), "{long}");
        has(&long, &["No preconditioning: caches", "latency  "]);
    }

    #[test]
    fn failures_are_never_left_out() {
        let mut recorded = Recorded::new(W);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100_000; 100])]);
        assert!(!results_within(&recorded.record(), None, few(Some(20))).contains("errors  "));
        recorded.fail(stage, 0, Op::Read, 5, 3);
        let text = results_within(&recorded.record(), None, few(Some(20)));
        assert!(text.lines().next().is_some_and(|head| head.ends_with("errors")), "{text}");
    }
}
