//! The columns of a terminal's table, and which of them there is room for.

use crate::ground::emphasis;
use comfy_table::{CellAlignment, Table, presets};
use model::printable;

/// Between two columns.
const GAP: usize = 2;

/// Columns of this rank and below go before anything is folded.
const NOT_MISSED: u8 = 3;

/// What a cell has that has no figure.
const NONE: &str = "–";

/// A column. What stands in it may come from anybody; nothing of it leaves its cell, or steers a
/// terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    head: String,
    /// What it is called where it is left out: heads may be short.
    name: String,
    /// Whether it has names, which stand to the left; figures stand to the right.
    is_name: bool,
    want: Want,
    /// Its cells, from top to bottom.
    cells: Vec<String>,
}

impl Column {
    pub fn new<'a>(
        head: &str,
        name: &str,
        is_name: bool,
        want: Want,
        cells: impl Iterator<Item = &'a str>,
    ) -> Column {
        let harmless = |words: &str| printable::line(words).into_owned();
        let (head, name, cells) = (harmless(head), harmless(name), cells.map(harmless).collect());
        Column { head, name, is_name, want, cells }
    }

    /// Whether no cell has a figure.
    pub fn is_empty(&self) -> bool {
        !self.cells.is_empty() && self.cells.iter().all(|cell| cell == NONE)
    }

    fn width(&self) -> usize {
        let lines = self.cells.iter().flat_map(|cell| cell.lines()).chain([self.head.as_str()]);
        lines.map(emphasis::length).max().unwrap_or(0)
    }
}

/// What becomes of a column where the room is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// It stays as it is.
    Whole,
    /// It may take several lines, broken behind commas.
    Folded,
    /// It goes, those with lower numbers first.
    Spare(u8),
}

/// Leaves out of `columns` what there is no room for in `room` columns of a terminal, folds what
/// may be folded if that is not enough, and returns the names of those left out, from left to
/// right. What cannot be left out stays, however narrow the terminal is.
pub fn fit(columns: &mut Vec<Column>, room: usize) -> Vec<String> {
    // Folding costs height and no figure; it comes once what nobody misses is gone.
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut gone: Vec<usize> = Vec::new();
    let mut places: Vec<usize> = (0..columns.len()).collect();
    let mut leave_out = |columns: &mut Vec<Column>, most: u8| {
        while width(columns) > room {
            let rank = |(at, column): (usize, &Column)| match column.want {
                // Dashes alone say nothing: they go before any figure.
                Want::Spare(_) if column.is_empty() => Some((false, 0, at)),
                Want::Spare(rank) if rank <= most => Some((true, rank, at)),
                _ => None,
            };
            let Some((_, _, at)) = columns.iter().enumerate().filter_map(rank).min() else { break };
            columns.remove(at);
            gone.push(places.remove(at));
        }
    };
    leave_out(columns, NOT_MISSED);
    if width(columns) > room {
        for column in columns.iter_mut().filter(|column| column.want == Want::Folded) {
            column.cells.iter_mut().for_each(|cell| *cell = cell.replace(", ", ",\n"));
        }
    }
    leave_out(columns, u8::MAX);
    gone.sort_unstable();
    gone.into_iter().filter_map(|at| names.get(at).cloned()).collect()
}

fn width(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + GAP).sum::<usize>().saturating_sub(GAP)
}

/// The table set in by two characters, without what a terminal of `room` columns has no room for;
/// what that is stands below.
pub fn within(mut columns: Vec<Column>, room: Option<usize>) -> String {
    const INDENT: usize = 2;
    let left_out = fit(&mut columns, room.map_or(usize::MAX, |room| room.saturating_sub(INDENT)));
    let mut text: String = render(&columns).lines().map(|line| format!("  {line}\n")).collect();
    if !left_out.is_empty() {
        text.push_str(&format!("  Columns hidden for width: {}.\n", left_out.join(", ")));
    }
    text
}

/// The table, a line for each row and more for folded cells.
pub fn render(columns: &[Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns.iter().map(|column| column.head.as_str()));
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        table
            .add_row(columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str)));
    }
    for (column, drawn) in columns.iter().zip(table.column_iter_mut()) {
        drawn.set_padding((0, GAP as u16));
        drawn.set_cell_alignment(if column.is_name {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(head: &'static str, want: Want, cell: &str) -> Column {
        Column::new(head, head, want == Want::Folded, want, std::iter::once(cell))
    }

    /// 8 + 2 + 14 + 2 + 6 + 2 + 6 + 2 + 6 = 48 columns wide.
    fn columns() -> Vec<Column> {
        vec![
            column("workload", Want::Whole, "w"),
            column("sweep", Want::Folded, "a=123, b=12345"),
            column("iops", Want::Whole, "123456"),
            column("mean", Want::Spare(4), "123 ms"),
            column("cpu", Want::Spare(1), "12.3 %"),
        ]
    }

    fn fitted(room: usize) -> (Vec<String>, Vec<String>, bool) {
        let mut columns = columns();
        let gone = fit(&mut columns, room);
        let is_folded =
            columns.iter().any(|column| column.cells.iter().any(|cell| cell.contains('\n')));
        (columns.iter().map(|column| column.head.clone()).collect(), gone, is_folded)
    }

    #[test]
    fn columns_go_by_their_rank_and_names_fold_before_figures_are_missed() {
        let of = |kept: &[&str], gone: &[&str], is_folded| {
            let all =
                |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            (all(kept), all(gone), is_folded)
        };
        assert_eq!(fitted(48), of(&["workload", "sweep", "iops", "mean", "cpu"], &[], false));
        assert_eq!(fitted(47), of(&["workload", "sweep", "iops", "mean"], &["cpu"], false));
        assert_eq!(
            fitted(39),
            of(&["workload", "sweep", "iops", "mean"], &["cpu"], true),
            "33 wide when folded"
        );
        assert_eq!(fitted(33), of(&["workload", "sweep", "iops", "mean"], &["cpu"], true));
        assert_eq!(fitted(32), of(&["workload", "sweep", "iops"], &["mean", "cpu"], true));
        assert_eq!(
            fitted(0),
            of(&["workload", "sweep", "iops"], &["mean", "cpu"], true),
            "no figure of its own goes"
        );
    }

    #[test]
    fn dashes_go_before_figures_and_only_where_room_is_short() {
        let dashes = |room| {
            let mut columns = vec![
                column("iops", Want::Whole, "123456"),
                column("± of it", Want::Spare(7), NONE),
                column("cpu", Want::Spare(0), "12.3 %"),
            ];
            fit(&mut columns, room)
        };
        assert_eq!(dashes(23), Vec::<String>::new());
        assert_eq!(dashes(22), ["± of it"]);
        assert_eq!(dashes(13), ["± of it", "cpu"]);
    }

    #[test]
    fn no_name_leaves_its_cell() {
        let of = |head, is_name, cells: &'static [&str]| {
            Column::new(head, head, is_name, Want::Whole, cells.iter().copied())
        };
        let text = render(&[
            of("a\nb", true, &["x\ny\u{202e}", "z"]),
            of("c\u{1b}[2J", false, &["1", ""]),
        ]);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.chars().any(|c| c != '\n' && printable::acts(c)), "{text}");
    }

    #[test]
    fn what_fits_is_no_wider_than_its_room() {
        for room in 25..60 {
            let mut columns = columns();
            fit(&mut columns, room);
            let text = render(&columns);
            assert!(text.lines().all(|line| line.chars().count() <= room), "{room}: {text}");
        }
    }
}
