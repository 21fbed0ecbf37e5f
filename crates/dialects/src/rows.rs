//! The options of a dialect: a text file with a row for each. Reader, loss report and page of the
//! dialect come from it; what a row cannot say is a function of the dialect.
//!
//! ```text
//! tried: 2026-11-27, fio 3.33              or `never`
//! == Options                               a chapter
//! -r, --record | size | same | record | `block_size`
//! -i           | number | same! | - | workloads: 0 writes, 1 reads;
//!    others are refused                    a line that begins with a blank goes on
//! --a, --b,                                so do names that end with a comma
//! --c | flag | harmless | - | …
//! ```
//!
//! The columns: name and other names; what it takes; what becomes of it; the slot that keeps its
//! value; the words. What becomes of it is `same`, `near`, `harmless`, `refused`, `later` (harmless
//! until the whole job asks for it) or `unless 0 none` (refused but for these values). With `!`
//! behind it, [`Reads::decide`] has the last word. What stands behind ` // ` is for the page alone.

use crate::draft::Fields;
use crate::loss::{Class, Losses, OptionId, Verdict};
use crate::values::{self, Notation};
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
    pub told: String,
    /// What the page says beside it.
    pub more: String,
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

    /// The value that a text says; here reads a tool what it writes in a way of its own.
    ///
    /// # Errors
    /// It is none, and why.
    fn value(&self, row: &Row, text: &str) -> Result<Value, String> {
        row.value(text, self.notation())
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
        let mut table = Table { tried: "never", chapters: Vec::new() };
        let mut names: Vec<&str> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let last = table.chapters.last_mut();
            if let Some(tried) = line.strip_prefix("tried: ") {
                table.tried = tried;
            } else if let Some(name) = line.strip_prefix("== ") {
                table.chapters.push(Chapter { name, rows: Vec::new() });
            } else if line.starts_with(' ') {
                let row = last.and_then(|chapter| chapter.rows.last_mut());
                let row = row.unwrap_or_else(|| panic!("`{line}` goes on from nothing"));
                row.told.push(' ');
                row.told.push_str(line.trim());
            } else if !line.contains('|') {
                names.extend(line.trim_end_matches(',').split(',').map(str::trim));
            } else {
                let names = std::mem::take(&mut names);
                let row = Row::read(names, line).unwrap_or_else(|why| panic!("`{line}`: {why}"));
                last.unwrap_or_else(|| panic!("`{line}` has no chapter")).rows.push(row);
            }
        }
        for row in table.chapters.iter_mut().flat_map(|chapter| &mut chapter.rows) {
            let all = std::mem::take(&mut row.told);
            let (told, more) = all.split_once(" // ").unwrap_or((&all, ""));
            (row.told, row.more) = (told.to_owned(), more.to_owned());
        }
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
    fn read(mut names: Vec<&'static str>, line: &'static str) -> Result<Row, String> {
        let columns: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
        let [last, takes, becomes, slot, words] = columns[..] else {
            return Err("five columns are needed".to_owned());
        };
        names.extend(last.split(',').map(str::trim));
        let takes = TAKES.iter().find(|(word, _)| *word == takes);
        let word = becomes.trim_end_matches('!');
        let class = |word: &'static str| match word {
            "same" => Some(Becomes::Class(Class::Same)),
            "near" => Some(Becomes::Class(Class::Approximated)),
            "harmless" => Some(Becomes::Class(Class::Harmless)),
            "refused" => Some(Becomes::Class(Class::Refused)),
            "later" => Some(Becomes::Later),
            _ => Some(Becomes::Unless(word.strip_prefix("unless ")?.split(' ').collect())),
        };
        Ok(Row {
            name: names.remove(0),
            others: names,
            takes: takes.ok_or("an unknown kind of value")?.1,
            becomes: class(word).ok_or("an unknown class")?,
            is_decided: becomes.ends_with('!'),
            slot: Some(slot).filter(|slot| *slot != "-"),
            told: words.to_owned(),
            more: String::new(),
        })
    }

    /// All its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.others.iter().copied())
    }

    /// Whether something depends on its value.
    pub fn reads_its_value(&self) -> bool {
        self.is_decided || self.slot.is_some() || matches!(self.becomes, Becomes::Unless(_))
    }

    /// What becomes of it with this value, which is put into its slot.
    pub fn apply(&self, job: &mut impl Reads, given: &Given) -> Verdict {
        self.read_into(job, given).unwrap_or_else(Verdict::refused)
    }

    fn read_into(&self, job: &mut impl Reads, given: &Given) -> Result<Verdict, String> {
        if let Some(slot) = self.slot {
            let value = job.value(self, &given.value)?;
            job.values().put(slot, value, given.id);
        }
        match self.is_decided {
            true => job.decide(self, given),
            false => Ok(self.verdict(&given.value)),
        }
    }

    /// What the table alone says of it.
    pub fn verdict(&self, value: &str) -> Verdict {
        match &self.becomes {
            Becomes::Class(class) => Verdict { class: *class, why: self.told.clone() },
            Becomes::Later => Verdict::harmless("nothing in this job asks for it"),
            Becomes::Unless(values) if values.contains(&value) => {
                Verdict::harmless("this value asks for nothing")
            }
            Becomes::Unless(_) => Verdict::refused(self.told.as_str()),
        }
    }

    /// The value that a text says, by what the option takes.
    ///
    /// # Errors
    /// It is none, and why.
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
        let words = match self.more.as_str() {
            "" => self.told.clone(),
            more => format!("{}; {more}", self.told),
        };
        match &self.becomes {
            Becomes::Class(class) => (class.word(), words),
            Becomes::Later => ("same", words),
            Becomes::Unless(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                ("refused", format!("{words}; harmless with {}", values.join(", ")))
            }
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
        let is_known = |row: &Row| row.slot == Some(slot);
        debug_assert!(self.table.rows().any(is_known), "no row has the slot `{slot}`");
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
