//! The view on a screen of any size.

use super::canvas::{Canvas, Rect, Style, width};
use super::format::Unit;
use super::keys::{HELP, REPLAY_HELP};
use super::state::{State, Subject};
use super::table::{Column, Panel, Presence, Row, RowId, node_cells};
use report::ground::folding::folded;

/// Fewer columns than this show no table.
const LEAST_WIDTH: u16 = 40;
/// Fewer lines do not, either.
const LEAST_HEIGHT: u16 = 8;
/// A screen of so many lines has room for more than one message.
const TALL: u16 = 30;
/// A name gets at least so many columns, and at most.
const NAME_WIDTH: (u16, u16) = (8, 40);
/// Between two columns lie at most so many blanks.
const WIDEST_GAP: u16 = 4;
/// From this share on, CPU or device is worth a colour.
const HOT: f64 = 0.9;

/// Draws the state. `title` says what is watched, `status` how: both stand in the first line.
pub fn draw(canvas: &mut Canvas, state: &mut State, title: &str, status: &str) {
    let (width, height) = canvas.size();
    let area = Rect { x: 0, y: 0, width, height };
    if width < LEAST_WIDTH || height < LEAST_HEIGHT {
        let text = format!(
            "plimsoll watch needs {LEAST_WIDTH} columns and {LEAST_HEIGHT} lines; here are {width} \
             and {height}. Make the window larger, or press q."
        );
        for (line, y) in folded(&text, width.into()).lines().zip(0..) {
            canvas.text(0, y, line, width.into(), Style::PLAIN);
        }
        return;
    }
    let mut rest = area;
    title_line(canvas, top(&mut rest, 1), state, title, status);
    if state.progress().is_some() {
        run_lines(canvas, top(&mut rest, 2), state);
    }
    let foot = bottom(&mut rest, 1);
    let messages = bottom(&mut rest, if height < TALL { 1 } else { 4 });
    message_lines(canvas, messages, state);
    let seen = table(canvas, rest, state);
    foot_line(canvas, foot, state, &seen);
    if state.is_helping() {
        help(canvas, area, state.subject());
    }
}

fn top(rest: &mut Rect, lines: u16) -> Rect {
    let lines = lines.min(rest.height);
    let cut = Rect { height: lines, ..*rest };
    *rest = Rect { y: rest.y + lines, height: rest.height - lines, ..*rest };
    cut
}

fn bottom(rest: &mut Rect, lines: u16) -> Rect {
    let lines = lines.min(rest.height);
    rest.height -= lines;
    Rect { y: rest.y + rest.height, height: lines, ..*rest }
}

/// Text on the left and on the right of a line; the left one gives way.
fn both_ends(canvas: &mut Canvas, area: Rect, left: &str, right: &str, style: Style) {
    if area.height == 0 {
        return;
    }
    canvas.style(area, style);
    let all = usize::from(area.width);
    let taken = width(right).min(all);
    canvas.text(area.x, area.y, left, (all - taken).saturating_sub(1), style);
    canvas.text(area.x + (all - taken) as u16, area.y, right, taken, style);
}

fn title_line(canvas: &mut Canvas, area: Rect, state: &State, title: &str, status: &str) {
    let (hosts, lost) = state.host_counts();
    let mut left = format!(" {title} · {hosts} node{}", if hosts == 1 { "" } else { "s" });
    if lost > 0 {
        left.push_str(&format!(" ({lost} lost)"));
    }
    if let Some(node) = state.node_name() {
        left = format!(" {title} · {node}");
    }
    let paused = if state.is_paused() { "PAUSED · " } else { "" };
    both_ends(canvas, area, &left, &format!("{paused}{status} "), Style::REVERSED);
}

fn run_lines(canvas: &mut Canvas, area: Rect, state: &State) {
    let (Some(progress), 2) = (state.progress(), area.height) else { return };
    let head = progress.head();
    let head = if head.is_empty() { "waiting for the first stage".to_owned() } else { head };
    let share = progress.share();
    let width = usize::from(area.width / 5);
    let full = (share * width as f64) as usize;
    let bar = format!(
        "{}{} {:>3.0} % {}",
        "━".repeat(full),
        "─".repeat(width - full.min(width)),
        share * 100.0,
        progress.eta()
    );
    let (first, second) = (Rect { height: 1, ..area }, Rect { y: area.y + 1, height: 1, ..area });
    let now = format!(" {}", progress.now_with_median().trim());
    both_ends(canvas, first, &format!(" {}", head.trim()), &format!("{bar} "), Style::PLAIN);
    both_ends(canvas, second, &now, "", Style::BOLD);
}

fn message_lines(canvas: &mut Canvas, area: Rect, state: &State) {
    let messages: Vec<&str> = state.messages(usize::from(area.height)).collect();
    for (message, y) in messages.iter().zip(area.y + area.height - messages.len() as u16..) {
        canvas.text(area.x + 1, y, message, usize::from(area.width - 1), Style::YELLOW);
    }
}

fn foot_line(canvas: &mut Canvas, area: Rect, state: &State, seen: &str) {
    let (filter, is_typing) = state.filter();
    let keys = match (state.subject(), state.panel()) {
        (Subject::Replay, Panel::Nodes) => {
            "? help  q quit  Enter node  Space pause  ←→ time  +- speed"
        }
        (_, Panel::Nodes) => "? help  q quit  Enter node  <> sort  / filter  Space pause",
        (_, Panel::Devices | Panel::Nics | Panel::Cores) => {
            "? help  Esc back  Enter zoom  Tab next table  <> sort  / filter"
        }
        (_, Panel::Part) => "? help  Esc back  <> sort  / filter",
        (_, Panel::Host) => "? help  Esc back  Tab next table  <> sort  / filter",
    };
    let left = match (is_typing, filter) {
        (true, filter) => format!(" /{filter}▏ Enter keep, Esc clear"),
        (false, "") => format!(" {keys}"),
        (false, filter) => format!(" /{filter}  Esc clear  {keys}"),
    };
    both_ends(canvas, area, &left, &format!("{seen} "), Style::DIM);
}

/// The columns that fit, with the number and the place of each.
struct Fit {
    name_width: u16,
    columns: Vec<(usize, Column, u16)>,
}

impl Fit {
    fn new(width: u16, longest_name: usize, columns: &[Column]) -> Fit {
        let (least, most) = NAME_WIDTH;
        let wanted = (longest_name.min(usize::from(most)) as u16).max(least);
        let needed = |rank: u8, gap: u16| -> u16 {
            columns
                .iter()
                .filter(|column| column.rank <= rank)
                .map(|column| column.width() + gap)
                .sum()
        };
        let highest = columns.iter().map(|column| column.rank).max().unwrap_or(0);
        // All columns with a short name are worth more than fewer with a long one.
        let rank = (0..=highest).rev().find(|rank| needed(*rank, 1) + least <= width).unwrap_or(0);
        let gap =
            (1..=WIDEST_GAP).rev().find(|gap| needed(rank, *gap) + wanted <= width).unwrap_or(1);
        let name_width = width.saturating_sub(needed(rank, gap)).min(wanted.max(least));
        let mut x = name_width;
        let mut fit = Fit { name_width, columns: Vec::new() };
        for (number, column) in columns.iter().enumerate().filter(|(_, column)| column.rank <= rank)
        {
            fit.columns.push((number, *column, x + gap));
            x += gap + column.width();
        }
        fit
    }
}

fn table(canvas: &mut Canvas, area: Rect, state: &mut State) -> String {
    let mut area = Rect { x: area.x + 1, width: area.width - 2, ..area };
    let (rows, cursor) = state.rows();
    let longest = rows.iter().map(|row| width(&label(row))).max().unwrap_or(0);
    let fit = Fit::new(area.width, longest, state.panel().columns());
    heads(canvas, top(&mut area, 2), state, &fit);
    let total = Row {
        id: RowId::Named(String::new()),
        name: "all".to_owned(),
        cells: if state.panel() == Panel::Nodes { node_cells(&state.total()) } else { Vec::new() },
        unit: None,
        presence: Presence::Here,
    };
    if !total.cells.is_empty() {
        line(canvas, top(&mut area, 1), &total, &fit, Style::BOLD);
    }
    let page = usize::from(area.height).max(1);
    state.set_page(page);
    // Whole pages, and the last one full.
    let first = (cursor / page * page).min(rows.len().saturating_sub(page));
    for (row, number) in rows.iter().skip(first).take(usize::from(area.height)).zip(first..) {
        let style = match row.presence {
            Presence::Here => Style::PLAIN,
            Presence::Awaited => Style::DIM,
            Presence::Gone => Style::RED,
        };
        let style = if number == cursor { style.and(Style::REVERSED) } else { style };
        line(canvas, top(&mut area, 1), row, &fit, style);
    }
    match rows.len() {
        0 => "none".to_owned(),
        all => format!("{}–{} of {all}", first + 1, (first + page).min(all)),
    }
}

fn heads(canvas: &mut Canvas, area: Rect, state: &State, fit: &Fit) {
    if area.height < 2 {
        return;
    }
    let order = state.order();
    let arrow = if order.descending { '▾' } else { '▴' };
    let head = |text: &str, number: usize| {
        if order.column == number { format!("{arrow}{text}") } else { text.to_owned() }
    };
    let title = head(state.panel().title(), 0);
    canvas.text(area.x, area.y + 1, &title, usize::from(fit.name_width), Style::BOLD);
    let mut groups: Vec<(&str, u16, u16)> = Vec::new();
    for (number, column, x) in &fit.columns {
        let end = x + column.width();
        match groups.last_mut() {
            Some((group, _, last)) if *group == column.group => *last = end,
            _ => groups.push((column.group, *x, end)),
        }
        let text = head(column.head, number + 1);
        // The arrow may stand in the gap.
        let room = width(&text);
        let x = area.x + end.saturating_sub(room as u16);
        canvas.text(x, area.y + 1, &text, room, Style::BOLD);
    }
    for (group, begin, end) in groups.into_iter().filter(|(group, ..)| !group.is_empty()) {
        let width = usize::from(end - begin);
        let text = format!("{:─<width$}", format!("{group} "));
        canvas.text(area.x + begin, area.y, &text, width, Style::DIM);
    }
}

/// Its name; a mark before it says that it is gone, for those who see no colours.
fn label(row: &Row) -> String {
    match row.presence {
        Presence::Gone => format!("✗ {}", row.name),
        Presence::Here | Presence::Awaited => row.name.clone(),
    }
}

fn line(canvas: &mut Canvas, area: Rect, row: &Row, fit: &Fit, style: Style) {
    if area.height == 0 {
        return;
    }
    canvas.style(area, style);
    canvas.text(area.x, area.y, &label(row), usize::from(fit.name_width), style);
    for (number, column, x) in &fit.columns {
        let value = row.cells.get(*number).copied().flatten();
        let unit = row.unit.unwrap_or(column.unit);
        let is_hot = column.unit == Unit::Share && value.is_some_and(|share| share >= HOT);
        let style = if is_hot { style.and(Style::YELLOW) } else { style };
        let width = usize::from(column.width());
        let text = format!("{:>width$}", unit.text(value));
        canvas.text(area.x + x, area.y, &text, width, style);
    }
}

fn help(canvas: &mut Canvas, area: Rect, subject: Subject) {
    let replay = if subject == Subject::Replay { REPLAY_HELP } else { &[] };
    let keys = HELP.iter().chain(replay);
    let mut lines: Vec<String> = keys.map(|(keys, what)| format!(" {keys:9} {what}")).collect();
    // A blank and the two edges beside the longest line.
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as u16;
    let width = longest.saturating_add(3).min(area.width);
    let height = (lines.len() as u16 + 2).min(area.height);
    let (inner, room) = (usize::from(width) - 2, usize::from(height) - 2);
    if lines.len() > room {
        lines.truncate(room - 1);
        lines.push(" …         more keys on a taller screen".to_owned());
    }
    let (x, mut y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 2);
    let head = format!("┌{:─<inner$}┐", " Keys · any key closes this ");
    let foot = format!("└{}┘", "─".repeat(inner));
    let lines = lines.iter().map(|line| format!("│{line:inner$.inner$}│"));
    for line in [head].into_iter().chain(lines).chain([foot]) {
        canvas.text(x, y, &line, width.into(), Style::PLAIN);
        y += 1;
    }
}
