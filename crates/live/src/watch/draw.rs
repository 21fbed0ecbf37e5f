//! The view on a screen of any size.

use super::format::Unit;
use super::keys::{HELP, REPLAY_HELP};
use super::state::{State, Subject};
use super::table::{Column, Panel, Presence, Row, RowId, node_cells};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph, Widget, Wrap};

/// Fewer columns than this show no table.
pub const LEAST_WIDTH: u16 = 40;
/// Fewer lines do not, either.
pub const LEAST_HEIGHT: u16 = 8;
/// A screen of so many lines has room for more than one message.
const TALL: u16 = 30;
/// A name gets at least so many columns, and at most.
const NAME_WIDTH: (u16, u16) = (8, 40);
/// Between two columns lie at most so many blanks.
const WIDEST_GAP: u16 = 4;
/// From this share on, CPU or device is worth a colour.
const HOT: f64 = 0.9;

/// Draws the state. `title` says what is watched, `status` how: both stand in the first line.
pub fn draw(frame: &mut Frame<'_>, state: &mut State, title: &str, status: &str) {
    let area = frame.area();
    if area.width < LEAST_WIDTH || area.height < LEAST_HEIGHT {
        let text = format!(
            "plimsoll watch needs {LEAST_WIDTH} columns and {LEAST_HEIGHT} lines; here are {} and \
             {}. Make the window larger, or press q.",
            area.width, area.height
        );
        Paragraph::new(text).wrap(Wrap { trim: true }).render(area, frame.buffer_mut());
        return;
    }
    let buffer = frame.buffer_mut();
    let mut rest = area;
    title_line(buffer, top(&mut rest, 1), state, title, status);
    if state.progress().is_some() {
        run_lines(buffer, top(&mut rest, 2), state);
    }
    let foot = bottom(&mut rest, 1);
    let messages = bottom(&mut rest, if area.height < TALL { 1 } else { 4 });
    message_lines(buffer, messages, state);
    let seen = table(buffer, rest, state);
    foot_line(buffer, foot, state, &seen);
    if state.is_helping() {
        help(buffer, area, state.subject());
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
fn both_ends(buffer: &mut Buffer, area: Rect, left: &str, right: &str, style: Style) {
    if area.height == 0 {
        return;
    }
    buffer.set_style(area, style);
    let width = Line::raw(right).width().min(usize::from(area.width)) as u16;
    buffer.set_stringn(
        area.x,
        area.y,
        left,
        usize::from((area.width - width).saturating_sub(1)),
        style,
    );
    buffer.set_stringn(area.right() - width, area.y, right, usize::from(width), style);
}

fn title_line(buffer: &mut Buffer, area: Rect, state: &State, title: &str, status: &str) {
    let (hosts, lost) = state.host_counts();
    let mut left = format!(" {title} · {hosts} node{}", if hosts == 1 { "" } else { "s" });
    if lost > 0 {
        left.push_str(&format!(" ({lost} lost)"));
    }
    if let Some(node) = state.node_name() {
        left = format!(" {title} · {node}");
    }
    let paused = if state.is_paused() { "PAUSED · " } else { "" };
    both_ends(
        buffer,
        area,
        &left,
        &format!("{paused}{status} "),
        Style::new().add_modifier(Modifier::REVERSED),
    );
}

fn run_lines(buffer: &mut Buffer, area: Rect, state: &State) {
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
    both_ends(
        buffer,
        Rect { height: 1, ..area },
        &format!(" {}", head.trim()),
        &format!("{bar} "),
        Style::new(),
    );
    let bold = Style::new().add_modifier(Modifier::BOLD);
    both_ends(
        buffer,
        Rect { y: area.y + 1, height: 1, ..area },
        &format!(" {}", progress.now_with_median().trim()),
        "",
        bold,
    );
}

fn message_lines(buffer: &mut Buffer, area: Rect, state: &State) {
    let style = Style::new().fg(Color::Yellow);
    let messages: Vec<&str> = state.messages(usize::from(area.height)).collect();
    for (message, y) in messages.iter().zip(area.bottom() - messages.len() as u16..) {
        buffer.set_stringn(area.x + 1, y, message, usize::from(area.width - 1), style);
    }
}

fn foot_line(buffer: &mut Buffer, area: Rect, state: &State, seen: &str) {
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
    both_ends(buffer, area, &left, &format!("{seen} "), Style::new().add_modifier(Modifier::DIM));
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

fn table(buffer: &mut Buffer, area: Rect, state: &mut State) -> String {
    let mut area = Rect { x: area.x + 1, width: area.width - 2, ..area };
    let (rows, cursor) = state.rows();
    let longest = rows.iter().map(|row| Line::raw(label(row)).width()).max().unwrap_or(0);
    let fit = Fit::new(area.width, longest, state.panel().columns());
    heads(buffer, top(&mut area, 2), state, &fit);
    let total = Row {
        id: RowId::Named(String::new()),
        name: "all".to_owned(),
        cells: if state.panel() == Panel::Nodes { node_cells(&state.total()) } else { Vec::new() },
        unit: None,
        presence: Presence::Here,
    };
    if !total.cells.is_empty() {
        line(buffer, top(&mut area, 1), &total, &fit, Style::new().add_modifier(Modifier::BOLD));
    }
    let page = usize::from(area.height).max(1);
    state.set_page(page);
    // Whole pages, and the last one full.
    let first = (cursor / page * page).min(rows.len().saturating_sub(page));
    for (row, number) in rows.iter().skip(first).take(usize::from(area.height)).zip(first..) {
        let style = match row.presence {
            Presence::Here => Style::new(),
            Presence::Awaited => Style::new().add_modifier(Modifier::DIM),
            Presence::Gone => Style::new().fg(Color::Red),
        };
        let style = if number == cursor { style.add_modifier(Modifier::REVERSED) } else { style };
        line(buffer, top(&mut area, 1), row, &fit, style);
    }
    match rows.len() {
        0 => "none".to_owned(),
        all => format!("{}–{} of {all}", first + 1, (first + page).min(all)),
    }
}

fn heads(buffer: &mut Buffer, area: Rect, state: &State, fit: &Fit) {
    if area.height < 2 {
        return;
    }
    let (order, dim) = (state.order(), Style::new().add_modifier(Modifier::DIM));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let arrow = if order.descending { '▾' } else { '▴' };
    let head = |text: &str, number: usize| {
        if order.column == number { format!("{arrow}{text}") } else { text.to_owned() }
    };
    let title = head(state.panel().title(), 0);
    buffer.set_stringn(area.x, area.y + 1, title, usize::from(fit.name_width), bold);
    let mut groups: Vec<(&str, u16, u16)> = Vec::new();
    for (number, column, x) in &fit.columns {
        let end = x + column.width();
        match groups.last_mut() {
            Some((group, _, last)) if *group == column.group => *last = end,
            _ => groups.push((column.group, *x, end)),
        }
        let text = head(column.head, number + 1);
        let width = Line::raw(text.as_str()).width() as u16;
        // The arrow may stand in the gap.
        buffer.set_string(area.x + end.saturating_sub(width), area.y + 1, text, bold);
    }
    for (group, begin, end) in groups.into_iter().filter(|(group, ..)| !group.is_empty()) {
        let width = usize::from(end - begin);
        buffer.set_stringn(
            area.x + begin,
            area.y,
            format!("{:─<width$}", format!("{group} ")),
            width,
            dim,
        );
    }
}

/// Its name; a mark before it says that it is gone, for those who see no colours.
fn label(row: &Row) -> String {
    match row.presence {
        Presence::Gone => format!("✗ {}", row.name),
        Presence::Here | Presence::Awaited => row.name.clone(),
    }
}

fn line(buffer: &mut Buffer, area: Rect, row: &Row, fit: &Fit, style: Style) {
    if area.height == 0 {
        return;
    }
    buffer.set_style(area, style);
    buffer.set_stringn(area.x, area.y, label(row), usize::from(fit.name_width), style);
    for (number, column, x) in &fit.columns {
        let value = row.cells.get(*number).copied().flatten();
        let unit = row.unit.unwrap_or(column.unit);
        let is_hot = column.unit == Unit::Share && value.is_some_and(|share| share >= HOT);
        let style = if is_hot { style.fg(Color::Yellow) } else { style };
        let text = format!("{:>width$}", unit.text(value), width = usize::from(column.width()));
        buffer.set_stringn(area.x + x, area.y, text, usize::from(column.width()), style);
    }
}

fn help(buffer: &mut Buffer, area: Rect, subject: Subject) {
    let replay = if subject == Subject::Replay { REPLAY_HELP } else { &[] };
    let mut lines: Vec<Line<'_>> = HELP
        .iter()
        .chain(replay)
        .map(|(keys, what)| Line::raw(format!(" {keys:9} {what}")))
        .collect();
    let (width, height) = (56.min(area.width), (lines.len() as u16 + 2).min(area.height));
    let room = usize::from(height.saturating_sub(2));
    if lines.len() > room {
        lines.truncate(room.saturating_sub(1));
        lines.push(Line::raw(" …         more keys on a taller screen"));
    }
    let area = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    Clear.render(area, buffer);
    Paragraph::new(lines)
        .block(Block::bordered().title(" Keys · any key closes this "))
        .render(area, buffer);
}
