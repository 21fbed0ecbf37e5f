//! A mistake in a text as compilers show it: message, the line with the place underlined, remedy.

use form::Place;
use report::ground::folding::hung;

/// No line is wider, but for the text that is shown.
const ROOM: usize = 100;

const RED: &str = "31";
const CYAN: &str = "36";
const MAGENTA: &str = "35;1";
const DIM: &str = "2";

/// A mistake, what to do about it, and the place with a line before and behind it. What is shown
/// goes to a terminal as it is: the caller has taken orders to it out.
pub(crate) fn drawn(message: &str, help: &str, place: &Place<'_>, in_colour: bool) -> String {
    let paint = |words: &str, code: &str| match in_colour {
        true => format!("\x1b[{code}m{words}\x1b[0m"),
        false => words.to_owned(),
    };
    let (row, column) = place.line_and_column();
    let first = row.saturating_sub(1).max(1);
    let lines: Vec<(usize, &str)> = (1..).zip(place.text.lines()).skip(first - 1).collect();
    let lines = &lines[..lines.len().min(row + 2 - first)];
    let width = lines.last().map_or(1, |(number, _)| number.to_string().len());
    let blank = " ".repeat(width);
    let message = hung("  × ", message, 4, ROOM).replace("\n    ", "\n  │ ");
    let mut text = format!("{}\n", message.replacen('×', &paint("×", RED), 1));
    text.push_str(&format!(" {blank} ╭─[{}:{row}:{column}]\n", place.name));
    for (number, line) in lines {
        let shown = line.replace('\t', TAB);
        let number_said = paint(&format!("{number:>width$}"), DIM);
        text.push_str(&format!(" {number_said} │ {shown}\n"));
        if *number == row {
            let (before, below) = below(line, column, place);
            let mark = paint(&"─".repeat(below), MAGENTA);
            text.push_str(&format!(" {blank} · {}{mark}\n", " ".repeat(before)));
        }
    }
    let help = hung("  help: ", help, 8, ROOM).replacen("help:", &paint("help:", CYAN), 1);
    text.push_str(&format!(" {blank} ╰────\n{help}\n"));
    text
}

const TAB: &str = "    ";

/// How many characters stand before a place, and how many it has in its first line: at least one.
fn below(line: &str, column: usize, place: &Place<'_>) -> (usize, usize) {
    let wide = |c: char| if c == '\t' { TAB.len() } else { 1 };
    let before = line.chars().take(column - 1).map(wide).sum();
    let spanned = place.text.get(place.span.clone()).unwrap_or_default();
    let in_line = spanned.lines().next().unwrap_or_default().chars().map(wide).sum::<usize>();
    (before, in_line.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_and_places_over_several_lines_are_underlined_where_they_begin() {
        let text = "a = 1\n\tb = [\n1]\nc = 2";
        let place = Place { name: "s.toml", text, span: 11..16 };
        let said = "  × no\n   ╭─[s.toml:2:6]\n 1 │ a = 1\n 2 │     b = [\n   ·         ─\n \
                    3 │ 1]\n   ╰────\n  help: yes\n";
        assert_eq!(drawn("no", "yes", &place, false), said);
        let empty = Place { name: "e", text: "", span: 0..0 };
        assert_eq!(
            drawn("no", "yes", &empty, false),
            "  × no\n   ╭─[e:1:1]\n   ╰────\n  help: yes\n"
        );
    }
}
