//! Markup that cannot be broken from inside: text is escaped on its way in, and there is no other
//! way in.

use model::printable;

/// A piece of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup(String);

impl Markup {
    /// Nothing.
    pub fn new() -> Markup {
        Markup::default()
    }

    /// Adds a piece behind this one.
    pub fn push(&mut self, piece: impl Into<Markup>) {
        self.0.push_str(&piece.into().0);
    }

    /// As it stands in a file.
    pub fn into_string(self) -> String {
        self.0
    }

    /// A text of ours that is markup already: a style sheet or a script, without anything of the
    /// run in it.
    pub fn of_ours(text: &'static str) -> Markup {
        Markup(text.to_owned())
    }
}

impl From<&str> for Markup {
    fn from(text: &str) -> Markup {
        Markup(escape(text))
    }
}

impl From<String> for Markup {
    fn from(text: String) -> Markup {
        Markup(escape(&text))
    }
}

impl From<&String> for Markup {
    fn from(text: &String) -> Markup {
        Markup(escape(text))
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Markup>>(pieces: I) -> Markup {
        Markup(pieces.into_iter().map(|piece| piece.0).collect())
    }
}

impl<const N: usize> From<[Markup; N]> for Markup {
    fn from(pieces: [Markup; N]) -> Markup {
        pieces.into_iter().collect()
    }
}

/// `<name attributes>content</name>`.
pub fn element(
    name: &'static str,
    attributes: &[(&'static str, &str)],
    content: impl Into<Markup>,
) -> Markup {
    let mut text = format!("<{name}");
    for (key, value) in attributes {
        text.push_str(&format!(" {key}=\"{}\"", escape(value)));
    }
    Markup(format!("{text}>{}</{name}>", content.into().0))
}

/// `<name>content</name>`.
pub fn plain(name: &'static str, content: impl Into<Markup>) -> Markup {
    element(name, &[], content)
}

/// `<name class="class">content</name>`.
pub fn classed(name: &'static str, class: &str, content: impl Into<Markup>) -> Markup {
    element(name, &[("class", class)], content)
}

/// Control characters have no business in a page; the rest is written so that it is text and
/// nothing else.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c != '\n' && printable::acts(c) => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_stay_text() {
        let hostile = "<script>alert('x')</script>\u{0}\u{202e}\" onload=\"y";
        let markup = element("p", &[("title", hostile)], hostile).into_string();
        assert_eq!(markup.matches('<').count(), 2, "{markup}");
        assert_eq!(markup.matches('"').count(), 2, "{markup}");
        assert!(!markup.contains(['\u{0}', '\u{202e}']), "{markup}");
    }
}
