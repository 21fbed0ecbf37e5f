//! Reads tables into typed fields and collects every mistake on the way.

use crate::arithmetic::{self, Arithmetic, ArithmeticError, Computed, Lookup, Name, Unit};
use crate::field::Field;
use crate::nearest::nearest;
use crate::tree::{Node, Span, Table, Value};
use crate::{Tables, other_names};
use model::units::UnitError;
use std::collections::BTreeSet;

/// One mistake in a suite: what, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the [`Sources`](crate::Sources).
    pub span: Span,
    /// What kind of mistake.
    pub kind: ProblemKind,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

/// Every mistake that was found so far.
pub type Problems = Vec<Problem>;

impl Problem {
    /// A problem at `span`.
    pub fn new(span: Span, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        let kind = ProblemKind::Other;
        Problem { span, kind, message: message.into(), remedy: remedy.into() }
    }

    /// The same as a mistake of this kind.
    pub fn of_kind(self, kind: ProblemKind) -> Problem {
        Problem { kind, ..self }
    }
}

/// The kinds of mistakes that a broken grammar can cause, and all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A field, or a table of those of which there has to be one, is not there.
    Missing,
    /// A field is none that is known where it stands.
    Unknown,
    /// Any other.
    Other,
}

type Formula = Option<Box<Arithmetic>>;

/// A field's value, and where it was given; `None` where the default stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// Where the author wrote it.
    pub span: Option<Span>,
    /// Arithmetic that is still to be computed, for a machine and a point; until then the value is
    /// the default.
    pub formula: Option<Box<Arithmetic>>,
}

impl Node {
    /// A problem with what stands here.
    pub fn wrong(&self, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem::new(self.span.clone(), message, remedy)
    }
}

impl<T> Given<T> {
    /// A problem with what was given here.
    pub fn wrong(&self, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem::new(place(self), message, remedy)
    }
}

impl<T: Field> Given<T> {
    /// Computes the value from its formula, if it has one, with the values that `lookup` knows.
    pub fn compute(&mut self, key: &'static str, lookup: &Lookup<'_>) -> Option<Computed> {
        let formula = self.formula.take()?;
        let outcome = formula.evaluate(lookup).and_then(|value| Ok(T::computed(value)?));
        let outcome = outcome.map(|value| {
            self.value = value;
            self.value.write().trim_matches('"').to_owned()
        });
        let span = self.span.clone().unwrap_or(0..0);
        Some(Computed { key, text: formula.text().to_owned(), span, outcome })
    }
}

/// Reads one table: takes its known keys, then complains of the ones that are left.
pub struct Reader<'a> {
    table: &'a Table,
    span: Span,
    known: BTreeSet<&'static str>,
    names: fn(&str) -> &'static [Name],
    tables: Tables,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// A reader of `table`, which stands at `span`.
    pub fn new(table: &'a Table, span: Span, problems: &'a mut Vec<Problem>) -> Reader<'a> {
        Reader { table, span, known: BTreeSet::new(), names: |_| &[], tables: &[], problems }
    }

    /// A reader of the table `key` of `root`, or of an empty one where it is not given.
    pub fn of_table(root: &'a Table, key: &str, problems: &'a mut Vec<Problem>) -> Reader<'a> {
        static EMPTY: Table = Table { entries: Vec::new() };
        match root.get(key) {
            Some(Node { value: Value::Table(table), span }) => {
                Reader::new(table, span.clone(), problems)
            }
            Some(node) => {
                let message = format!("expected a table, found {}", node.kind());
                problems.push(Problem::new(
                    node.span.clone(),
                    message,
                    format!("write `[{key}]` on a line of its own"),
                ));
                Reader::new(&EMPTY, node.span.clone(), problems)
            }
            None => Reader::new(&EMPTY, 0..0, problems),
        }
    }

    /// The names that arithmetic in a field may ask for, by the field's key.
    pub fn with_names(mut self, names: fn(&str) -> &'static [Name]) -> Reader<'a> {
        self.names = names;
        self
    }

    /// The tables of the whole text, by which it knows where a key belongs that it has not.
    pub fn with_tables(mut self, tables: Tables) -> Reader<'a> {
        self.tables = tables;
        self
    }

    /// The field `key`, or `default` where it is not given or wrong (which is then noted).
    pub fn field<T: Field>(&mut self, key: &'static str, default: T) -> Given<T> {
        self.known.insert(key);
        let Some(node) = self.table.get(key) else {
            return Given { value: default, span: None, formula: None };
        };
        let span = Some(node.span.clone());
        let outcome = match (T::read(node), T::ARITHMETIC, &node.value) {
            (Err(_), Some(unit), Value::Text(text)) if arithmetic::looks_like(text) => {
                self.formula(key, text, unit)
            }
            (read, ..) => read.map(|value| (Some(value), None)),
        };
        match outcome {
            Ok((value, formula)) => Given { value: value.unwrap_or(default), span, formula },
            Err(error) => {
                self.problems.push(Problem::new(
                    node.span.clone(),
                    format!("{key}: {}", error.message),
                    error.remedy,
                ));
                Given { value: default, span, formula: None }
            }
        }
    }

    /// Arithmetic in a field: its value where it asks for nothing, else what there is to compute.
    fn formula<T: Field>(
        &self,
        key: &str,
        text: &str,
        unit: Unit,
    ) -> Result<(Option<T>, Formula), UnitError> {
        let plain =
            |error: ArithmeticError| UnitError { message: error.message, remedy: error.remedy };
        let formula = arithmetic::parse(text, unit, (self.names)(key)).map_err(plain)?;
        if formula.is_condition() {
            let remedy = format!("write a {}, or arithmetic without a comparison", T::KIND);
            return Err(UnitError { message: "is true or false, not a number".into(), remedy });
        }
        if formula.names().is_empty() {
            let value = formula.evaluate(&|_| None).map_err(plain)?;
            return Ok((Some(T::computed(value)?), None));
        }
        Ok((None, Some(Box::new(formula))))
    }

    /// The field `key`, which must be there.
    pub fn required<T: Field + Default>(&mut self, key: &'static str) -> Given<T> {
        if self.table.get(key).is_none() {
            let remedy = format!("add `{key} = …` ({})", T::KIND);
            let problem = Problem::new(self.span.clone(), format!("`{key}` is missing"), remedy);
            self.problems.push(problem.of_kind(ProblemKind::Missing));
        }
        self.field(key, T::default())
    }

    /// Allows `keys`, which somebody else reads.
    pub fn allow(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// Complains of every key that nobody asked for.
    pub fn finish(self) {
        for entry in &self.table.entries {
            if !self.known.contains(entry.key.as_str()) {
                let known: Vec<&str> = self.known.iter().copied().collect();
                let near = || {
                    nearest(&entry.key, known.iter().copied())
                        .map(|near| format!("did you mean `{near}`?"))
                };
                let remedy = other_names::remedy(&entry.key, self.tables).or_else(near);
                let remedy = remedy.unwrap_or_else(|| format!("known here: {}", known.join(", ")));
                let message = format!("`{}` is not a known field", entry.key);
                let problem = Problem::new(entry.key_span.clone(), message, remedy);
                self.problems.push(problem.of_kind(ProblemKind::Unknown));
            }
        }
    }
}

/// What to write in place of `text` in a field that takes one of these words.
pub fn word_remedy(text: &str, words: &[&str]) -> String {
    if let Some(said) = other_names::value(text, words) {
        return said.to_owned();
    }
    match (nearest(text, words.iter().copied()), words.split_last()) {
        (Some(near), _) => format!("did you mean \"{near}\"?"),
        (None, Some((last, others))) if !others.is_empty() => {
            format!("write {} or {last}", others.join(", "))
        }
        (None, _) => format!("write {}", words.concat()),
    }
}

/// Reads the table `key` of `root`, or an empty one where it is not given.
pub fn read_table<T>(
    root: &Table,
    key: &str,
    problems: &mut Vec<Problem>,
    read: fn(&mut Reader<'_>) -> T,
) -> T {
    let mut reader = Reader::of_table(root, key, problems);
    let read = read(&mut reader);
    reader.finish();
    read
}

/// Where a field was given; the start of the file for a default.
pub fn place<T>(given: &Given<T>) -> Span {
    given.span.clone().unwrap_or(0..0)
}
