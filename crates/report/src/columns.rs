//! The columns of a terminal's table, and which of them there is room for.

use comfy_table::{CellAlignment, Table, presets};

/// Between two columns.
const GAP: usize = 2;

/// Columns of this rank and below go before anything is folded.
const NOT_MISSED: u8 = 3;

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// What it is called where it is left out: heads may be short.
    pub name: &'static str,
    /// Whether it has names, which stand to the left; figures stand to the right.
    pub is_name: bool,
    /// What becomes of it where the room is short.
    pub want: Want,
    /// Its cells, from top to bottom.
    pub cells: Vec<String>,
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

impl Column {
    fn width(&self) -> usize {
        let lines = self.cells.iter().flat_map(|cell| cell.lines()).chain([self.head]);
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    }
}

/// Leaves out of `columns` what there is no room for in `room` columns of a terminal, folds what may be folded if that is not enough, and
/// returns the names of those left out, from left to right. What cannot be left out stays, however narrow the terminal is.
pub fn fit(columns: &mut Vec<Column>, room: usize) -> Vec<&'static str> {
    // Folding costs height and no figure; it comes once what nobody misses is gone.
    let names: Vec<&'static str> = columns.iter().map(|column| column.name).collect();
    let mut gone: Vec<usize> = Vec::new();
    let mut places: Vec<usize> = (0..columns.len()).collect();
    let mut leave_out = |columns: &mut Vec<Column>, most: u8| {
        while width(columns) > room {
            let rank = |(at, column): (usize, &Column)| match column.want {
                Want::Spare(rank) if rank <= most => Some((rank, at)),
                _ => None,
            };
            let Some((_, at)) = columns.iter().enumerate().filter_map(rank).min() else { break };
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
    gone.into_iter().filter_map(|at| names.get(at).copied()).collect()
}

fn width(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + GAP).sum::<usize>().saturating_sub(GAP)
}

/// The table, a line for each row and more for folded cells.
pub fn render(columns: &[Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns.iter().map(|column| column.head));
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        table.add_row(columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str)));
    }
    for (column, drawn) in columns.iter().zip(table.column_iter_mut()) {
        drawn.set_padding((0, GAP as u16));
        drawn.set_cell_alignment(if column.is_name { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(head: &'static str, want: Want, cell: &str) -> Column {
        Column { head, name: head, is_name: want == Want::Folded, want, cells: vec![cell.to_owned()] }
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

    fn fitted(room: usize) -> (Vec<&'static str>, Vec<&'static str>, bool) {
        let mut columns = columns();
        let gone = fit(&mut columns, room);
        let is_folded = columns.iter().any(|column| column.cells.iter().any(|cell| cell.contains('\n')));
        (columns.iter().map(|column| column.head).collect(), gone, is_folded)
    }

    #[test]
    fn columns_go_by_their_rank_and_names_fold_before_figures_are_missed() {
        assert_eq!(fitted(48), (vec!["workload", "sweep", "iops", "mean", "cpu"], vec![], false));
        assert_eq!(fitted(47), (vec!["workload", "sweep", "iops", "mean"], vec!["cpu"], false));
        assert_eq!(fitted(39), (vec!["workload", "sweep", "iops", "mean"], vec!["cpu"], true), "33 wide when folded");
        assert_eq!(fitted(33), (vec!["workload", "sweep", "iops", "mean"], vec!["cpu"], true));
        assert_eq!(fitted(32), (vec!["workload", "sweep", "iops"], vec!["mean", "cpu"], true));
        assert_eq!(
            fitted(0),
            (vec!["workload", "sweep", "iops"], vec!["mean", "cpu"], true),
            "no figure of its own goes"
        );
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
