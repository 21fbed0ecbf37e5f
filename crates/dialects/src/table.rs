//! The table of a dialect: every option of the source, declared once. The reader, the loss report
//! and the page of the dialect come from it.

use crate::loss::{Class, OptionId, Verdict};
use form::nearest;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is there or not.
    Nothing,
    /// Yes or no; by itself it means yes.
    Flag,
    /// A number.
    Number,
    /// A size, or several for reads, writes and trims.
    Size,
    /// A time.
    Time,
    /// Any words.
    Text,
}

impl Takes {
    /// Its word in the pages.
    pub fn word(self) -> &'static str {
        match self {
            Takes::Nothing => "–",
            Takes::Flag => "flag",
            Takes::Number => "number",
            Takes::Size => "size",
            Takes::Time => "time",
            Takes::Text => "text",
        }
    }
}

/// An option with its value where it was given.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its number in the loss report.
    pub id: OptionId,
    /// The value; empty where it has none.
    pub value: String,
}

/// Puts a value into what is being read (`J`), and says what became of it; `Err` says why the value
/// is none.
pub type Read<J> = fn(&mut J, &Given) -> Result<Verdict, String>;

/// What an option becomes.
#[derive(Debug)]
pub enum Rule<J> {
    /// It is read into the suite: the class in general, where it goes or what differs, and the
    /// function that decides.
    Read(Class, &'static str, Read<J>),
    /// It changes nothing here.
    Harmless(&'static str),
    /// The suite comes near to it, whatever its value; this is what differs.
    Near(&'static str),
    /// Plimsoll would need this.
    Refused(&'static str),
    /// With one of these values it asks for nothing; otherwise Plimsoll would need something.
    Unless(&'static [&'static str], &'static str),
}

/// An option of a dialect.
#[derive(Debug)]
pub struct Opt<J: 'static> {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it takes.
    pub takes: Takes,
    /// What it becomes.
    pub rule: Rule<J>,
}

impl<J> Opt<J> {
    /// Whether something depends on its value.
    pub fn reads_its_value(&self) -> bool {
        matches!(self.rule, Rule::Read(..) | Rule::Unless(..))
    }

    /// What becomes of it with this value.
    pub fn apply(&self, job: &mut J, given: &Given) -> Verdict {
        match &self.rule {
            Rule::Read(_, _, read) => match read(job, given) {
                Ok(verdict) => verdict,
                Err(why) => Verdict::refused(why),
            },
            Rule::Harmless(why) => Verdict::harmless(*why),
            Rule::Near(differs) => Verdict::near(*differs),
            Rule::Refused(needs) => Verdict::refused(*needs),
            Rule::Unless(values, _) if values.contains(&given.value.as_str()) => {
                Verdict::harmless("this value asks for nothing")
            }
            Rule::Unless(_, needs) => Verdict::refused(*needs),
        }
    }

    /// Class and words for the page.
    pub fn doc(&self) -> (&'static str, String) {
        match &self.rule {
            Rule::Read(class, what, _) => (class.word(), (*what).to_owned()),
            Rule::Harmless(why) => ("harmless", (*why).to_owned()),
            Rule::Near(differs) => ("approximated", (*differs).to_owned()),
            Rule::Refused(needs) => ("refused", (*needs).to_owned()),
            Rule::Unless(values, needs) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                ("refused", format!("{needs}; harmless with {}", values.join(", ")))
            }
        }
    }
}

/// The option of this name, among several tables.
pub fn find<J>(tables: &[&'static [Opt<J>]], name: &str) -> Option<&'static Opt<J>> {
    let is_it = |option: &&Opt<J>| {
        is_same(option.name, name) || option.aliases.iter().any(|alias| is_same(alias, name))
    };
    tables.iter().flat_map(|table| table.iter()).find(is_it)
}

/// Whether two names are one: `-` and `_` are the same in them.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    one.len() == other.len()
        && one.bytes().zip(other.bytes()).all(|(one, other)| plain(one) == plain(other))
}

/// What is said of an option that no table has.
pub fn unknown<J>(tables: &[&'static [Opt<J>]], dialect: &str, name: &str) -> Verdict {
    let all = || tables.iter().flat_map(|table| table.iter());
    let names =
        all().flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()));
    let near = match nearest(name, names) {
        Some(near) => format!("; the nearest is `{near}`"),
        None => String::new(),
    };
    Verdict::refused(format!("{dialect} has no such option that Plimsoll knows{near}"))
}
