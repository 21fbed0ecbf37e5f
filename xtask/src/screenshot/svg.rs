//! Text with a terminal's orders (ECMA-48, 8.3.117 SGR) as a picture.

/// The size of a character's box.
const BOX: (usize, usize) = (8, 17);
/// Around the text.
const MARGIN: usize = 8;
const PAPER: &str = "#16181d";
const INK: &str = "#d7dae0";

/// How characters look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    dim: bool,
    reversed: bool,
    colour: Option<&'static str>,
}

impl Look {
    /// Takes in one order; what is not known changes nothing.
    fn take(&mut self, order: &str) {
        match order {
            "" | "0" => *self = Look::default(),
            "1" => self.bold = true,
            "2" => self.dim = true,
            "7" => self.reversed = true,
            "22" => (self.bold, self.dim) = (false, false),
            "27" => self.reversed = false,
            "31" => self.colour = Some("#ff7b72"),
            "33" => self.colour = Some("#e3b341"),
            "39" => self.colour = None,
            _ => {}
        }
    }
}

/// Characters of one look: the column where they begin, and their text.
type Piece = (usize, String, Look);

/// A line's pieces. A look goes on into the next line.
fn pieces(line: &str, look: &mut Look) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut column, mut rest) = (0, line);
    while let Some(first) = rest.chars().next() {
        if let Some((orders, behind)) =
            rest.strip_prefix("\u{1b}[").and_then(|orders| orders.split_once('m'))
        {
            // The first colours have two names; the long one is 38;5;N.
            orders.replace("38;5;", "3").split(';').for_each(|order| look.take(order));
            rest = behind;
            continue;
        }
        match pieces.last_mut() {
            Some((_, text, last)) if last == look => text.push(first),
            _ => pieces.push((column, first.to_string(), *look)),
        }
        column += 1;
        rest = &rest[first.len_utf8()..];
    }
    pieces
}

/// The picture of a terminal of so many columns and lines.
pub fn picture(text: &str, columns: usize, lines: usize) -> String {
    let (width, height) = (columns * BOX.0 + 2 * MARGIN, lines * BOX.1 + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"ui-monospace, DejaVu Sans Mono, \
         Menlo, monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" \
         fill=\"{PAPER}\"/>\n"
    );
    let mut look = Look::default();
    for (number, line) in text.lines().take(lines).enumerate() {
        for (column, text, look) in pieces(line, &mut look) {
            svg.push_str(&piece(column, number, &text, look));
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn piece(column: usize, line: usize, text: &str, look: Look) -> String {
    let (x, y) = (MARGIN + column * BOX.0, MARGIN + line * BOX.1);
    let width = text.chars().count() * BOX.0;
    let colour = look.colour.unwrap_or(INK);
    let mut svg = String::new();
    if look.reversed {
        svg = format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{colour}\"/>\n",
            BOX.1
        );
    }
    if text.trim().is_empty() {
        return svg;
    }
    let ink = if look.reversed { PAPER } else { colour };
    let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
    let opacity = if look.dim { " opacity=\"0.6\"" } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let y = y + BOX.1 - 4;
    svg.push_str(&format!(
        "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" fill=\"{ink}\"{weight}{opacity} \
         xml:space=\"preserve\">{text}</text>\n"
    ));
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_colour_and_are_not_text() {
        let mut look = Look::default();
        let found = pieces("a\u{1b}[1;38;5;1mbé\u{1b}[0m c", &mut look);
        let red = Look { bold: true, colour: Some("#ff7b72"), ..Look::default() };
        assert_eq!(
            found,
            [
                (0, "a".to_owned(), Look::default()),
                (1, "bé".to_owned(), red),
                (3, " c".to_owned(), Look::default())
            ]
        );
        pieces("\u{1b}[7m", &mut look);
        assert!(look.reversed, "into the next line");
    }

    #[test]
    fn a_picture_is_whole_and_escapes_what_it_shows() {
        let picture = picture("<a> & \u{1b}[7mb", 80, 24);
        assert!(picture.contains("&lt;a&gt; &amp; ") && !picture.contains('\u{1b}'), "{picture}");
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<text").count(), picture.matches("</text>").count());
    }

    #[test]
    fn an_order_that_is_cut_off_ends_with_the_line() {
        assert_eq!(picture("\u{1b}[31", 80, 24).matches("<text").count(), 1);
    }
}
