//! Words that a terminal shows in a colour.
//!
//! Who makes a text marks them by what they mean. The marks are noncharacters (Unicode 16, 23.7),
//! which are for the use of a program alone. The last step makes escapes of them, or removes them.

use model::printable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// The head of a table.
    Head,
    /// A doubt.
    Doubt,
    /// A change for the worse.
    Worse,
    /// A change for the better.
    Better,
}

/// The mark behind emphasised words.
const END: char = '\u{FDD0}';
/// The marks in front of them, each with the escape of ECMA-48 that a terminal takes for it.
const BEGINS: [(Emphasis, char, &str); 4] = [
    (Emphasis::Head, '\u{FDD1}', "\x1b[1m"),
    (Emphasis::Doubt, '\u{FDD2}', "\x1b[33m"),
    (Emphasis::Worse, '\u{FDD3}', "\x1b[31m"),
    (Emphasis::Better, '\u{FDD4}', "\x1b[32m"),
];
const RESET: &str = "\x1b[0m";

pub fn marked(emphasis: Emphasis, words: &str) -> String {
    let begin = BEGINS.iter().find(|(one, ..)| *one == emphasis).map_or(END, |(_, mark, _)| *mark);
    format!("{begin}{words}{END}")
}

fn is_mark(character: char) -> bool {
    character == END || BEGINS.iter().any(|(_, mark, _)| *mark == character)
}

/// How many characters of `text` a terminal shows.
pub fn length(text: &str) -> usize {
    text.chars().filter(|character| !is_mark(*character)).count()
}

/// `text` with its marks as escapes, or without them. No other order to a terminal is left in it,
/// whoever wrote its words: it is printed as it is.
pub fn resolved(text: &str, in_colour: bool) -> String {
    let text = printable::lines(text);
    let mut all = String::with_capacity(text.len());
    let mut is_open = false;
    for character in text.chars() {
        let begin = BEGINS.iter().find(|(_, mark, _)| *mark == character);
        match begin {
            Some((.., escape)) if in_colour => {
                all.push_str(escape);
                is_open = true;
            }
            None if character == END && in_colour => {
                all.push_str(RESET);
                is_open = false;
            }
            _ if is_mark(character) => {}
            _ => all.push(character),
        }
    }
    // A text from outside may bring a mark that nobody ends.
    if is_open {
        all.push_str(RESET);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_take_no_room_and_become_escapes_or_nothing() {
        let text = format!("a {} b", marked(Emphasis::Worse, "worse"));
        assert_eq!((length(&text), resolved(&text, false)), (9, "a worse b".to_owned()));
        assert_eq!(resolved(&text, true), "a \x1b[31mworse\x1b[0m b");
        assert_eq!(resolved("\u{FDD3}x", true), "\x1b[31mx\x1b[0m", "nothing stays on");
        let theirs = marked(Emphasis::Worse, "a\x1b]0;owned\x07\u{202e}b\nc");
        let shown = resolved(&theirs, true);
        assert_eq!(shown, "\x1b[31ma\u{fffd}]0;owned\u{fffd}\u{fffd}b\nc\x1b[0m");
        for (emphasis, ..) in BEGINS {
            assert_eq!(resolved(&marked(emphasis, "x"), false), "x");
            assert!(resolved(&marked(emphasis, "x"), true).ends_with("x\x1b[0m"));
        }
    }
}
