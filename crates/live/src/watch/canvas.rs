//! A grid of cells, as a terminal has one: drawn in memory, and written as the lines that changed.

use model::printable;
use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style(u8);

impl Style {
    pub(crate) const PLAIN: Style = Style(0);
    pub(crate) const BOLD: Style = Style(1);
    pub(crate) const DIM: Style = Style(1 << 1);
    pub(crate) const REVERSED: Style = Style(1 << 2);
    pub(crate) const RED: Style = Style(1 << 3);
    /// Of both colours, this one is seen.
    pub(crate) const YELLOW: Style = Style(1 << 4);

    pub(crate) fn and(self, other: Style) -> Style {
        Style(self.0 | other.0)
    }

    /// What has a terminal write so, and in no other way.
    fn order(self, in_colour: bool) -> String {
        let flags = if in_colour { self.0 } else { self.0 & (Style::RED.0 - 1) };
        let codes = [";1", ";2", ";7", ";31", ";33"].into_iter().zip(0..);
        let set = codes.filter(|(_, flag)| flags >> flag & 1 == 1).map(|(code, _)| code);
        format!("\x1b[0{}m", set.collect::<String>())
    }
}

/// A part of a screen.
#[derive(Clone, Copy)]
pub(crate) struct Rect {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

/// Without text, it belongs to a wide character that begins before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell(Cow<'static, str>, Style);

const BLANK: Cow<'static, str> = Cow::Borrowed(" ");

/// A screen full of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: u16,
    height: u16,
    cells: Vec<Cell>,
}

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    shown(text).map(|(_, columns)| columns).sum()
}

/// What acts upon a terminal never comes to a cell.
fn shown(text: &str) -> impl Iterator<Item = (char, usize)> {
    let harmless = text.chars().filter(|c| !printable::acts(*c));
    harmless.filter_map(|c| Some((c, c.width()?)))
}

impl Canvas {
    /// So many columns and lines of blanks.
    pub fn new(width: u16, height: u16) -> Canvas {
        let cells = vec![Cell(BLANK, Style::PLAIN); usize::from(width) * usize::from(height)];
        Canvas { width, height, cells }
    }

    /// Its columns and lines.
    pub fn size(&self) -> (u16, u16) {
        (self.width, self.height)
    }

    fn row(&mut self, y: u16) -> &mut [Cell] {
        self.cells.chunks_mut(self.width.max(1).into()).nth(y.into()).unwrap_or_default()
    }

    fn rows(&self) -> std::slice::Chunks<'_, Cell> {
        self.cells.chunks(self.width.max(1).into())
    }

    /// Writes what fits of a text into `room` columns.
    pub(crate) fn text(&mut self, x: u16, y: u16, text: &str, room: usize, style: Style) {
        let row = self.row(y);
        let (begin, end) = (usize::from(x), row.len().min(usize::from(x) + room));
        let mut at = begin;
        for (c, columns) in shown(text) {
            if at + columns > end {
                break;
            }
            if columns == 0 {
                // An accent or the like.
                let before = row[begin..at].iter_mut().rfind(|cell| !cell.0.is_empty());
                before.into_iter().for_each(|cell| cell.0.to_mut().push(c));
                continue;
            }
            // Of a wide character that loses a half, the other one is a blank.
            if row[at].0.is_empty() {
                row[at - 1].0 = BLANK;
            }
            row[at..at + columns].fill(Cell("".into(), style));
            row[at].0 = c.to_string().into();
            at += columns;
            if let Some(next) = row.get_mut(at).filter(|cell| cell.0.is_empty()) {
                next.0 = BLANK;
            }
        }
    }

    /// Gives cells another look.
    pub(crate) fn style(&mut self, area: Rect, style: Style) {
        for y in area.y..area.y + area.height {
            let cells = self.row(y).iter_mut().skip(area.x.into()).take(area.width.into());
            cells.for_each(|cell| cell.1 = style);
        }
    }

    /// Its lines, without their looks.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.rows().map(|row| row.iter().map(|cell| &*cell.0).collect())
    }

    /// What makes a terminal that shows `before` show this.
    pub fn changes(&self, before: &Canvas, in_colour: bool) -> String {
        let is_other = self.size() != before.size();
        let mut orders = if is_other { "\x1b[0m\x1b[2J".to_owned() } else { String::new() };
        let rows = self.rows().zip(0..);
        for (row, y) in rows.filter(|(row, y)| is_other || before.rows().nth(*y) != Some(row)) {
            let _ = write!(orders, "\x1b[{};1H", y + 1);
            for cells in row.chunk_by(|one, next| one.1 == next.1) {
                orders.push_str(&cells[0].1.order(in_colour));
                cells.iter().for_each(|cell| orders.push_str(&cell.0));
            }
            orders.push_str("\x1b[0m");
        }
        orders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(texts: &[(u16, &str)]) -> Canvas {
        let mut canvas = Canvas::new(8, 2);
        texts.iter().for_each(|(x, text)| canvas.text(*x, 1, text, 8, Style::PLAIN));
        canvas
    }

    #[test]
    fn a_text_stays_in_its_room_and_does_nothing() {
        for (texts, wanted) in [
            (&[(0, "a\u{1b}[2J\n\u{202e}\u{9b}b\u{7f}")][..], "a[2Jb   "),
            (&[(6, "abcd")], "      ab"),
            (&[(9, "a"), (u16::MAX, "b\u{301}")], "        "),
            (&[(0, "\u{301}e\u{301}x日\u{301}本")], "e\u{301}x日\u{301}本  "),
            (&[(5, "日本")], "     日 "),
            // Wide characters of which a half is written over, on either side.
            (&[(0, "日本"), (1, "a")], " a本    "),
            (&[(0, "日本"), (0, "a")], "a 本    "),
            (&[(0, "日本"), (1, "語")], " 語     "),
        ] {
            let found = drawn(texts).lines().nth(1).expect("a line");
            assert_eq!((found.as_str(), width(&found)), (wanted, 8), "{texts:?}");
        }
        let mut none = Canvas::new(0, 0);
        none.text(0, 0, "a", 1, Style::BOLD);
        none.style(Rect { x: 0, y: 0, width: 9, height: 9 }, Style::BOLD);
        assert_eq!((none.lines().count(), width("日\u{7}e\u{301}")), (0, 3));
    }

    #[test]
    fn only_lines_that_changed_are_written() {
        let (before, mut after) = (drawn(&[]), drawn(&[(0, "ab")]));
        assert_eq!(after.changes(&after, true), "");
        assert_eq!(after.changes(&before, true), "\x1b[2;1H\x1b[0mab      \x1b[0m");
        after.style(Rect { x: 1, y: 1, width: 1, height: 1 }, Style::BOLD.and(Style::RED));
        let orders = |more| format!("\x1b[2;1H\x1b[0ma\x1b[0;1{more}mb\x1b[0m      \x1b[0m");
        assert_eq!(after.changes(&before, true), orders(";31"));
        assert_eq!(after.changes(&before, false), orders(""), "nobody wants colours");
        let whole = after.changes(&Canvas::new(8, 3), true);
        assert!(whole.starts_with("\x1b[0m\x1b[2J\x1b[1;1H") && whole.contains("\x1b[2;1H"));
    }
}
