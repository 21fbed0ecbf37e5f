//! TOML as a tree in which every node knows where it was written.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Byte positions in [`Sources`].
pub type Span = Range<usize>;

/// The texts that a suite was read from: its file, then one short text for each `--set`.
///
/// Spans are positions in the concatenation of all texts, so a span says by itself which text it
/// points into.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    texts: Vec<(String, String)>,
}

/// A span resolved to its own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file's path, or `--set`.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
    /// Positions in that text.
    pub span: Span,
}

impl Place<'_> {
    /// Line and column of the start, both from 1; columns count characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = &self.text[..self.span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl Sources {
    /// Adds a text and returns the position at which its spans begin.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        let base = self.texts.iter().map(|(_, text)| text.len() + 1).sum();
        self.texts.push((name.into(), text.into()));
        base
    }

    /// Where `span` points to. Positions outside every text point to the end of the last one.
    pub fn place(&self, span: &Span) -> Place<'_> {
        let mut base = 0;
        let last = self.texts.len().saturating_sub(1);
        for (index, (name, text)) in self.texts.iter().enumerate() {
            if span.start <= base + text.len() || index == last {
                let clamp = |at: usize| {
                    let mut at = at.saturating_sub(base).min(text.len());
                    while !text.is_char_boundary(at) {
                        at -= 1;
                    }
                    at
                };
                let (start, end) = (clamp(span.start), clamp(span.end));
                return Place { name, text, span: start..end.max(start) };
            }
            base += text.len() + 1;
        }
        Place { name: "", text: "", span: 0..0 }
    }
}

/// A TOML value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value stands.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text in quotes.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A date or time, which no field of a suite takes.
    Datetime,
    /// `[a, b]`, or `[[table]]`s.
    Array(Vec<Node>),
    /// Keys and values.
    Table(Table),
}

/// Keys and values in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One `key = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub node: Node,
}

impl Table {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// Gives `key` a value, in place of the one it had.
    pub fn set(&mut self, key: &str, key_span: Span, node: Node) {
        let entry = Entry { key: key.to_owned(), key_span, node };
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }
}

impl Node {
    /// What kind of value it is, in words for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Datetime => "a date or time",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value as short text for sweep labels: what was written, without quotes.
    pub fn label(&self) -> String {
        match &self.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Array(items) => items.iter().map(Node::label).collect::<Vec<_>>().join(", "),
            Value::Table(table) => {
                let of = |entry: &Entry| format!("{} {}", entry.key, entry.node.label());
                table.entries.iter().map(of).collect::<Vec<_>>().join(" ")
            }
            Value::Datetime => self.kind().to_owned(),
        }
    }
}

/// A mistake in TOML's own grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub span: Span,
    /// What, in the parser's words.
    pub message: String,
}

/// Reads `text`, whose spans begin at `base`. What can be read in spite of mistakes comes back with
/// them.
pub fn parse(text: &str, base: usize) -> (Table, Vec<SyntaxError>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let errors = errors
        .iter()
        .map(|error| SyntaxError {
            span: error.span().map_or(base..base, |span| shift(&span, base)),
            message: error.message().trim().replace('\n', "; "),
        })
        .collect();
    (convert_table(table.get_ref(), base), errors)
}

/// Reads one value, as it stands behind `key =`; text that is no TOML value counts as a text
/// without its quotes.
pub fn parse_value(text: &str, base: usize) -> Node {
    let trimmed = text.trim();
    let start = base + (text.len() - text.trim_start().len());
    let span = start..start + trimmed.len();
    let document = format!("v = {trimmed}");
    let parsed = match parse(&document, 0) {
        (mut table, errors) if errors.is_empty() && table.entries.len() == 1 => {
            table.entries.pop().map(|entry| entry.node.value)
        }
        _ => None,
    };
    Node { value: parsed.unwrap_or_else(|| Value::Text(trimmed.to_owned())), span }
}

fn shift(span: &Span, base: usize) -> Span {
    span.start + base..span.end + base
}

fn convert_table(table: &DeTable<'_>, base: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: shift(&key.span(), base),
            node: convert(value, base),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Table { entries }
}

fn convert(value: &Spanned<DeValue<'_>>, base: usize) -> Node {
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Float(f64::INFINITY),
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| convert(item, base)).collect())
        }
        DeValue::Table(table) => Value::Table(convert_table(table, base)),
    };
    Node { span: shift(&value.span(), base), value: converted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_point_into_the_text_that_they_came_from() {
        let mut sources = Sources::default();
        let file = sources.add("a.toml", "x = 1\ny = \"ü\"\nz = 2\n");
        let set = sources.add("--set", "depth=8");
        let z = sources.place(&(file + 15..file + 16));
        assert_eq!((z.name, &z.text[z.span.clone()], z.line_and_column()), ("a.toml", "z", (3, 1)));
        let depth = sources.place(&(set..set + 5));
        assert_eq!((depth.name, &depth.text[depth.span.clone()]), ("--set", "depth"));
        assert_eq!(sources.place(&(900..901)).span, 7..7);
    }

    #[test]
    fn tables_keep_the_order_of_the_file_and_values_their_kind() {
        let (table, errors) = parse("z = 1\na = 1.5\n[m]\nb = true\n", 0);
        assert!(errors.is_empty());
        let keys: Vec<_> = table.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
        assert_eq!(table.get("a").map(|node| node.value.clone()), Some(Value::Float(1.5)));
    }

    #[test]
    fn several_grammar_mistakes_come_back_at_once() {
        let (_, errors) = parse("a = \nb = 1\nc = [1,,2]\n", 0);
        assert!(errors.len() >= 2, "{errors:?}");
    }

    #[test]
    fn a_value_on_the_command_line_needs_no_quotes() {
        assert_eq!(parse_value("1GiB", 3).value, Value::Text("1GiB".into()));
        assert_eq!(parse_value(" 8", 3), Node { span: 4..5, value: Value::Integer(8) });
        assert!(matches!(parse_value("[1, 2]", 0).value, Value::Array(items) if items.len() == 2));
    }
}
