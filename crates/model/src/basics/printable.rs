//! Texts from outside (names, what hosts and commands write, what run files hold), made harmless
//! where they are shown. A terminal obeys control characters; marks of direction show a text in
//! another order; a line feed ends the row of a table.

use std::borrow::Cow;

/// Stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// Whether a character does something other than to be seen: control characters of both sets (ESC,
/// BEL, the C1 block), marks that turn the direction of what follows, and separators of lines and
/// paragraphs.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text that stays in its line and does nothing there.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |c| match c {
        '\n' | '\t' | '\r' => ' ',
        _ => REPLACEMENT,
    })
}

/// A text of lines that do nothing but stand below each other.
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| if matches!(c, '\n' | '\t') { c } else { REPLACEMENT })
}

/// JSON that says the same and does nothing to a terminal: such characters stand only within its
/// strings, where each is written by its number. The line feeds between its lines stay.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| acts(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) && c != '\n' {
            true => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

fn replaced(text: &str, by: impl Fn(char) -> char) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if acts(c) { by(c) } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}b\r\n\tc\u{2028}d\u{7f}";

    #[test]
    fn what_acts_is_replaced_and_what_is_seen_stays() {
        assert_eq!(line(HOSTILE), "a\u{fffd}]0;x\u{fffd}\u{fffd}2J\u{fffd}b   c\u{fffd}d\u{fffd}");
        assert_eq!(
            lines(HOSTILE),
            "a\u{fffd}]0;x\u{fffd}\u{fffd}2J\u{fffd}b\u{fffd}\n\tc\u{fffd}d\u{fffd}"
        );
        let good = "± 4 KiB – ¹ é 日本 🚢";
        assert!(matches!(line(good), Cow::Borrowed(same) if same == good));
    }

    #[test]
    fn json_says_the_same() {
        let value = serde_json::json!({ HOSTILE: [HOSTILE, "plain"] });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let safe = json(&text);
        assert!(!safe.chars().any(|c| acts(c) && c != '\n'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), value);
        assert!(matches!(json("{\n}"), Cow::Borrowed(_)));
    }
}
