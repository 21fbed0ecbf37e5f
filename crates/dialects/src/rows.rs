//! The options of a dialect: a text file with a row for each. Reader, loss report and page of the
//! dialect come from it; what a row cannot say is a function of the dialect.
//!
//! ```text
//! tried: 2026-11-27, fio 3.33              or `never`
//! == Options                               a chapter
//! -r, --record | size | same | record | `block_size`
//! -i           | number | same! | - | workloads: 0 writes, 1 reads;
//!    others are refused                    a line that begins with a blank goes on
//! ```
//!
//! The columns: name and other names; what it takes; what becomes of it; the slot that keeps its
//! value; the words. What becomes of it is `same`, `near`, `harmless`, `refused`, `later` (harmless
//! until the whole job asks for it), `near but same 0 none` (another class with these values) or
//! `unless 0 none` (refused but for these). With `!` behind it, [`Reads::decide`] has the last
//! word. What stands behind ` // ` in the words is for the page alone.

use crate::draft::Fields;
use crate::loss::{Class, Losses, OptionId, Verdict};
use crate::words::values::{self, Notation};
use form::nearest;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is there or not.
    Nothing,
    /// Yes or no; by itself it means yes.
    Flag,
    /// A count.
    Number,
    /// A size.
    Size,
    /// A time.
    Time,
    /// A percentage.
    Percent,
    /// Any words.
    Text,
}

/// What is said of a value that changes nothing.
const NOTHING: &str = "this value asks for nothing";

const TAKES: [(&str, Takes); 7] = [
    ("–", Takes::Nothing),
    ("flag", Takes::Flag),
    ("number", Takes::Number),
    ("size", Takes::Size),
    ("time", Takes::Time),
    ("percent", Takes::Percent),
    ("text", Takes::Text),
];

impl Takes {
    /// Its word in tables and pages.
    pub fn word(self) -> &'static str {
        TAKES.iter().find(|(_, takes)| *takes == self).map_or("", |(word, _)| word)
    }

    /// Whether a word behind the option is its value.
    pub fn a_value(self) -> bool {
        !matches!(self, Takes::Nothing | Takes::Flag)
    }
}

/// What becomes of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// The suite means the same, comes near to it, has no need of it, or does without it.
    Class(Class),
    /// It asks for nothing until the whole job says what it becomes.
    Later,
    /// With one of these values it asks for nothing; otherwise it is refused.
    Unless(Vec<&'static str>),
    /// The first class; the second one with one of these values.
    But(Class, Class, Vec<&'static str>),
}

/// An option.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub others: Vec<&'static str>,
    /// What it takes.
    pub takes: Takes,
    /// What becomes of it.
    pub becomes: Becomes,
    /// Whether the dialect's function has the last word.
    pub is_decided: bool,
    /// Where its value is kept.
    pub slot: Option<&'static str>,
    /// Where it goes, what differs, why it is harmless, or what Plimsoll would need.
    pub told: &'static str,
    /// What the page says beside it.
    pub more: &'static str,
}

/// Options that stand together.
#[derive(Debug)]
pub struct Chapter {
    /// Its name on the page.
    pub name: &'static str,
    /// Its options.
    pub rows: Vec<Row>,
}

/// All options of a dialect.
#[derive(Debug)]
pub struct Table {
    /// When it was held against the tool, and which version; `never` where it was not.
    pub tried: &'static str,
    /// Its chapters.
    pub chapters: Vec<Chapter>,
    /// Its slots, in order.
    slots: Vec<&'static str>,
}

/// A value as its row says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Yes or no.
    Is(bool),
    /// A count, bytes, ns, or millionths.
    Number(u64),
    /// Words.
    Text(String),
    /// Several, one after the other.
    List(Vec<Value>),
}

/// An option with its value where it was given.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its number in the loss report.
    pub id: OptionId,
    /// The value; empty where it has none.
    pub value: String,
}

/// The values that a job gives, by slot.
#[derive(Clone, Debug)]
pub struct Values {
    table: &'static Table,
    all: Vec<(&'static str, Value, OptionId)>,
}

/// What is being read of a dialect.
pub trait Reads {
    /// Where values are kept.
    fn values(&mut self) -> &mut Values;

    /// How the tool writes numbers.
    fn notation(&self) -> Notation {
        Notation::PLAIN
    }

    /// The value that a text says; here a tool reads what it writes in a way of its own.
    ///
    /// # Errors
    /// It is none, and why.
    fn value(&self, row: &Row, text: &str) -> Result<Value, String> {
        row.value(text, self.notation())
    }

    /// The value that an option's slot keeps; `None` where `decide` sees to it.
    ///
    /// # Errors
    /// The text is no such value, and why.
    fn kept(&self, row: &Row, text: &str) -> Result<Option<Value>, String> {
        self.value(row, text).map(Some)
    }

    /// What becomes of an option whose row has a `!`; its value is in its slot already.
    ///
    /// # Errors
    /// The value is none that is understood, and why.
    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String>;
}

impl Table {
    /// The table of a text that is part of the program.
    ///
    /// # Panics
    /// The text is no table: a test of each dialect reads it.
    pub fn read(text: &'static str) -> Table {
        let mut table = Table { tried: "never", chapters: Vec::new(), slots: Vec::new() };
        let lines = joined(text).lines();
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let last = table.chapters.last_mut();
            if let Some(tried) = line.strip_prefix("tried: ") {
                table.tried = tried;
            } else if let Some(name) = line.strip_prefix("== ") {
                table.chapters.push(Chapter { name, rows: Vec::new() });
            } else {
                let row = Row::read(line).unwrap_or_else(|why| panic!("`{line}`: {why}"));
                last.unwrap_or_else(|| panic!("`{line}` has no chapter")).rows.push(row);
            }
        }
        table.slots =
            table.chapters.iter().flat_map(|all| &all.rows).filter_map(|row| row.slot).collect();
        table.slots.sort_unstable();
        table
    }

    /// The chapter of this name.
    ///
    /// # Panics
    /// There is none.
    pub fn chapter(&'static self, name: &str) -> &'static Chapter {
        let found = self.chapters.iter().find(|chapter| chapter.name == name);
        found.unwrap_or_else(|| panic!("no chapter `{name}`"))
    }

    /// The option of this name, in whatever chapter.
    pub fn find(&'static self, name: &str) -> Option<&'static Row> {
        self.chapters.iter().find_map(|chapter| chapter.find(name))
    }

    /// All options.
    pub fn rows(&'static self) -> impl Iterator<Item = &'static Row> {
        self.chapters.iter().flat_map(|chapter| &chapter.rows)
    }
}

impl Chapter {
    /// The option of this name.
    pub fn find(&'static self, name: &str) -> Option<&'static Row> {
        self.rows.iter().find(|row| row.names().any(|own| is_same(own, name)))
    }

    /// Reports an option (name, value, place) of a tool, and reads it.
    pub fn read(
        &'static self,
        tool: &str,
        [name, value, place]: [&str; 3],
        job: &mut impl Reads,
        losses: &mut Losses,
    ) {
        let id = losses.tell(name, value, place, Verdict::harmless(""));
        let verdict = match self.find(name) {
            Some(row) => row.apply(job, &Given { id, value: value.to_owned() }),
            None => unknown(self.rows.iter(), tool, name),
        };
        losses.replace(id, verdict);
    }
}

impl Row {
    fn read(line: &'static str) -> Result<Row, String> {
        let columns: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
        let [names, takes, becomes, slot, words] = columns[..] else {
            return Err("five columns are needed".to_owned());
        };
        let mut names = names.split(',').map(str::trim);
        let (told, more) = words.split_once(" // ").unwrap_or((words, ""));
        let takes = TAKES.iter().find(|(word, _)| *word == takes);
        let word = becomes.trim_end_matches('!');
        Ok(Row {
            name: names.next().unwrap_or_default(),
            others: names.collect(),
            takes: takes.ok_or("an unknown kind of value")?.1,
            becomes: becomes_of(word).ok_or("an unknown class")?,
            is_decided: becomes.ends_with('!'),
            slot: Some(slot).filter(|slot| *slot != "-"),
            told,
            more,
        })
    }

    /// All its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.others.iter().copied())
    }

    /// Whether something depends on its value.
    pub fn reads_its_value(&self) -> bool {
        let by_value = matches!(self.becomes, Becomes::Unless(_) | Becomes::But(..));
        self.is_decided || self.slot.is_some() || by_value
    }

    /// What becomes of it with this value, which is put into its slot.
    pub fn apply(&self, job: &mut impl Reads, given: &Given) -> Verdict {
        self.read_into(job, given).unwrap_or_else(Verdict::refused)
    }

    fn read_into(&self, job: &mut impl Reads, given: &Given) -> Result<Verdict, String> {
        if let Some(slot) = self.slot {
            if let Some(value) = job.kept(self, &given.value)? {
                job.values().put(slot, value, given.id);
            }
        } else if matches!(self.becomes, Becomes::But(..)) {
            job.kept(self, &given.value)?;
        }
        match self.is_decided {
            true => job.decide(self, given),
            false => Ok(self.verdict(&given.value)),
        }
    }

    /// What the table alone says of it.
    pub fn verdict(&self, value: &str) -> Verdict {
        let told = |class: Class| Verdict { class, why: self.told.to_owned() };
        match &self.becomes {
            Becomes::Class(class) => told(*class),
            Becomes::But(class, _, values) if !values.contains(&value) => told(*class),
            Becomes::But(_, Class::Harmless, _) => Verdict::harmless(NOTHING),
            Becomes::But(_, Class::Same, _) => Verdict::same("what Plimsoll does in any case"),
            Becomes::But(_, class, _) => told(*class),
            Becomes::Later => Verdict::harmless("nothing in this job asks for it"),
            Becomes::Unless(values) if values.contains(&value) => Verdict::harmless(NOTHING),
            Becomes::Unless(_) => Verdict::refused(self.told),
        }
    }

    /// A value of this option.
    ///
    /// # Errors
    /// The text is none, and why.
    pub fn value(&self, text: &str, notation: Notation) -> Result<Value, String> {
        Ok(match self.takes {
            Takes::Nothing => Value::Is(true),
            Takes::Flag => Value::Is(values::flag(text)?),
            Takes::Number => Value::Number(notation.number(text)?),
            Takes::Size => Value::Number(notation.size(text)?),
            Takes::Time => Value::Number(values::time(text, notation.second)?),
            Takes::Percent => Value::Number(values::percent(text)?),
            Takes::Text => Value::Text(values::plain_text(text)?),
        })
    }

    /// Class and words for the page.
    pub fn doc(&self) -> (&'static str, String) {
        let words = match self.more {
            "" => self.told.to_owned(),
            more => format!("{}; {more}", self.told),
        };
        match &self.becomes {
            Becomes::Class(class) => (class.word(), words),
            Becomes::Later => ("same", words),
            Becomes::Unless(values) => ("refused", but(&words, Class::Harmless, values)),
            Becomes::But(first, second, values) => (first.word(), but(&words, *second, values)),
        }
    }
}

impl Values {
    /// None yet, of the slots of this table.
    pub fn of(table: &'static Table) -> Values {
        Values { table, all: Vec::new() }
    }

    /// Keeps a value; the last one counts.
    pub fn put(&mut self, slot: &'static str, value: Value, id: OptionId) {
        self.all.retain(|(known, ..)| *known != slot);
        self.all.push((slot, value, id));
    }

    /// Forgets a value.
    pub fn forget(&mut self, slot: &str) {
        self.all.retain(|(known, ..)| *known != slot);
    }

    /// Takes a value that it has not itself.
    pub fn take(&mut self, slot: &str, from: &Values) {
        if let (None, Some(entry)) = (self.get(slot), from.get(slot)) {
            self.all.push(entry.clone());
        }
    }

    /// Takes all values that it has not itself.
    pub fn complete(&mut self, from: &Values) {
        from.all.iter().for_each(|(slot, ..)| self.take(slot, from));
    }

    fn get(&self, slot: &str) -> Option<&(&'static str, Value, OptionId)> {
        let is_known = self.table.slots.binary_search(&slot).is_ok();
        debug_assert!(is_known, "no row has the slot `{slot}`");
        self.all.iter().find(|(known, ..)| *known == slot)
    }

    /// A count, bytes, ns or millionths.
    pub fn number(&self, slot: &str) -> Option<u64> {
        match self.get(slot) {
            Some((_, Value::Number(number), _)) => Some(*number),
            _ => None,
        }
    }

    /// Whether it was given, and was not a no.
    pub fn is(&self, slot: &str) -> bool {
        self.get(slot).is_some_and(|(_, value, _)| *value != Value::Is(false))
    }

    /// Words.
    pub fn text(&self, slot: &str) -> Option<&str> {
        match self.get(slot) {
            Some((_, Value::Text(text), _)) => Some(text),
            _ => None,
        }
    }

    /// Yes or no, where it was said.
    pub fn flag(&self, slot: &str) -> Option<bool> {
        self.id(slot).map(|_| self.is(slot))
    }

    /// Several values.
    pub fn list(&self, slot: &str) -> Option<&[Value]> {
        match self.get(slot) {
            Some((_, Value::List(all), _)) => Some(all),
            _ => None,
        }
    }

    /// The option that gave it.
    pub fn id(&self, slot: &str) -> Option<OptionId> {
        self.get(slot).map(|(_, _, id)| *id)
    }

    /// That option as comments name it; empty where none gave it.
    pub fn source(&self, slot: &str, losses: &Losses) -> String {
        self.id(slot).map(|id| losses.source(id)).unwrap_or_default()
    }

    /// Sets a field to the number of a slot, written so, where one gave it.
    pub fn copy(
        &self,
        slot: &str,
        losses: &Losses,
        fields: &mut Fields,
        key: &'static str,
        write: impl Fn(u64) -> String,
    ) {
        if let Some(number) = self.number(slot) {
            fields.set(key, write(number), self.source(slot, losses));
        }
    }

    /// What is known now of the option that gave it; see [`Losses::worsen`].
    pub fn worsen(&self, slot: &str, losses: &mut Losses, verdict: Verdict) {
        if let Some(id) = self.id(slot) {
            losses.worsen(id, verdict);
        }
    }
}

/// The text with each row in one line. A table is read once, and stays.
fn joined(text: &str) -> &'static str {
    let mut all = String::with_capacity(text.len());
    for line in text.lines() {
        all.push(if line.starts_with(' ') { ' ' } else { '\n' });
        all.push_str(line.trim());
    }
    all.leak()
}

/// The words of a page, and the class of some values.
fn but(words: &str, class: Class, values: &[&str]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    format!("{words}; {} with {}", class.word(), values.join(", "))
}

/// The third column of a row.
fn becomes_of(text: &'static str) -> Option<Becomes> {
    let class = |word: &str| match word {
        "same" => Some(Class::Same),
        "near" => Some(Class::Approximated),
        "harmless" => Some(Class::Harmless),
        "refused" => Some(Class::Refused),
        _ => None,
    };
    if let Some(values) = text.strip_prefix("unless ") {
        return Some(Becomes::Unless(values.split(' ').collect()));
    }
    let Some((first, rest)) = text.split_once(" but ") else {
        return class(text).map(Becomes::Class).or((text == "later").then_some(Becomes::Later));
    };
    let (second, values) = rest.split_once(' ')?;
    Some(Becomes::But(class(first)?, class(second)?, values.split(' ').collect()))
}

/// Whether two names are one: `-` and `_` are the same in them.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    one.len() == other.len()
        && one.bytes().zip(other.bytes()).all(|(one, other)| plain(one) == plain(other))
}

/// What is said of an option that no row has.
pub fn unknown<'a>(rows: impl Iterator<Item = &'a Row>, tool: &str, name: &str) -> Verdict {
    let near = match nearest(name, rows.flat_map(Row::names)) {
        Some(near) => format!("; the nearest is `{near}`"),
        None => String::new(),
    };
    Verdict::refused(format!("{tool} has no such option that Plimsoll knows{near}"))
}
