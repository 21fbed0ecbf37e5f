//! Reads tables into typed fields and collects every mistake on the way.

use super::arithmetic::{self, Arithmetic, ArithmeticError, Computed, Lookup, Name, Unit};
use super::elsewhere;
use super::tree::{Node, Span, Table, Value};
use crate::load::{HotSpots, Part, Rate, SizeMix, Skew};
use crate::priority::Priority;
use crate::units::{Bytes, Nanos, Percent, UnitError};
use std::collections::BTreeSet;
use std::fmt;

/// One mistake in a suite: what, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the [`Sources`](super::Sources).
    pub span: Span,
    /// What kind of mistake.
    pub kind: ProblemKind,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

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

/// A type that a field of a suite can have.
pub trait Field: Sized {
    /// The type in words, for the reference: `size`, `duration`.
    const KIND: &'static str;

    /// Reads the value of one node.
    ///
    /// # Errors
    /// Says what is wrong with the value and what to write instead.
    fn read(node: &Node) -> Result<Self, UnitError>;

    /// The value as it would be written in a suite.
    fn write(&self) -> String;

    /// The unit of what arithmetic in such a field comes to; `None` where it takes none.
    const ARITHMETIC: Option<Unit> = None;

    /// The value that arithmetic came to.
    ///
    /// # Errors
    /// Says why the field cannot have it.
    fn computed(value: f64) -> Result<Self, UnitError> {
        Err(UnitError {
            message: format!("cannot be {value}"),
            remedy: format!("write a {}", Self::KIND),
        })
    }
}

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
    problems: &'a mut Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// A reader of `table`, which stands at `span`.
    pub fn new(table: &'a Table, span: Span, problems: &'a mut Vec<Problem>) -> Reader<'a> {
        Reader { table, span, known: BTreeSet::new(), names: |_| &[], problems }
    }

    /// The names that arithmetic in a field may ask for, by the field's key.
    pub fn with_names(mut self, names: fn(&str) -> &'static [Name]) -> Reader<'a> {
        self.names = names;
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
                let remedy = elsewhere::remedy(&entry.key).or_else(near);
                let remedy = remedy.unwrap_or_else(|| format!("known here: {}", known.join(", ")));
                let message = format!("`{}` is not a known field", entry.key);
                let problem = Problem::new(entry.key_span.clone(), message, remedy);
                self.problems.push(problem.of_kind(ProblemKind::Unknown));
            }
        }
    }
}

/// The candidate that is a few slips away from `text`, if there is one.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(text, candidate), candidate))
        .filter(|(distance, candidate)| {
            // One slip in five letters, two from six on: a guess that is further off sends its
            // reader the wrong way.
            let is_begun = text.len() >= 4 && candidate.starts_with(text);
            is_begun || *distance <= (candidate.len().max(text.len()) + 2) / 4
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// What to write in place of `text` in a field that takes one of these words.
pub(crate) fn word_remedy(text: &str, words: &[&str]) -> String {
    if let Some(said) = elsewhere::value(text, words) {
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

fn unexpected(node: &Node, wanted: &str, example: &str) -> UnitError {
    UnitError {
        message: format!("expected {wanted}, found {}", node.kind()),
        remedy: format!("write {example}"),
    }
}

/// A quantity that is written as text with a unit or as a bare number.
macro_rules! text_or_number {
    ($type:ty, $kind:literal, $example:literal $(, $computed:expr)?) => {
        impl Field for $type {
            const KIND: &'static str = $kind;

            fn read(node: &Node) -> Result<Self, UnitError> {
                match &node.value {
                    Value::Text(text) => text.parse(),
                    Value::Integer(_) | Value::Float(_) => node.label().parse(),
                    _ => Err(unexpected(node, concat!("a ", $kind), $example)),
                }
            }

            fn write(&self) -> String {
                format!("\"{self}\"")
            }

            $(const ARITHMETIC: Option<Unit> = Some(Unit::Size);

            fn computed(value: f64) -> Result<Self, UnitError> {
                let computed = $computed;
                computed(value)
            })?
        }
    };
}

text_or_number!(Bytes, "size", "a size such as \"4KiB\"", size);
text_or_number!(Nanos, "duration", "a duration such as \"60s\"");
text_or_number!(Percent, "share", "a percentage such as \"70%\"");
text_or_number!(
    SizeMix,
    "size, or sizes with weights",
    "a size such as \"4KiB\" or a mix such as \"4KiB:70, 64KiB:30\"",
    |value| size(value).map(SizeMix::single)
);
text_or_number!(Rate, "rate", "requests per second such as 10000, or \"100MiB/s\"");
text_or_number!(Skew, "number", "a number such as 1.2");
text_or_number!(HotSpots, "shares of requests and space", "shares such as \"95%:5%, 4%:10%\"");
text_or_number!(Priority, "priority", "a priority such as \"best-effort/4\"");
text_or_number!(Part, "part", "two shares such as \"0%-50%\"");

/// Beyond this, no file system has files.
const MOST_BYTES: f64 = (1u64 << 60) as f64;

/// A computed size, rounded down to whole bytes.
fn size(value: f64) -> Result<Bytes, UnitError> {
    if value < 1.0 {
        let message =
            if value < 0.0 { "comes to less than 0 bytes" } else { "comes to a size of 0" };
        let remedy =
            "write arithmetic that comes to at least 1 byte, such as max(4KiB, …)".to_owned();
        return Err(UnitError { message: message.into(), remedy });
    }
    if value > MOST_BYTES {
        let message = format!("comes to {value:.0} bytes");
        return Err(UnitError {
            message,
            remedy: "write arithmetic that comes to at most 1 EiB".into(),
        });
    }
    Ok(Bytes(value as u64))
}

impl Field for String {
    const KIND: &'static str = "text";

    fn read(node: &Node) -> Result<Self, UnitError> {
        let Value::Text(text) = &node.value else {
            return Err(unexpected(node, "a text", "it in quotes"));
        };
        // Names end up in tables, file names and SVG; a name of a page would be a slip or an
        // attack.
        if text.len() > 1000 || text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(UnitError {
                message: "too long, or has control characters".into(),
                remedy: "write at most 1000 printable characters".into(),
            });
        }
        Ok(text.clone())
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Field for bool {
    const KIND: &'static str = "true or false";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(unexpected(node, "true or false", "true or false, without quotes")),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Field for u64 {
    const KIND: &'static str = "whole number, 0 and up";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match node.value {
            Value::Integer(number) => u64::try_from(number).map_err(|_| UnitError {
                message: format!("{number} is negative"),
                remedy: "write a whole number of at least 0".into(),
            }),
            _ => Err(unexpected(
                node,
                "a whole number",
                "a whole number of at least 0, without quotes",
            )),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// A whole number that arithmetic may come to. Unlike a [`Count`] it is never rounded: who wants
/// that writes `floor(…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(pub u64);

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Field for Whole {
    const KIND: &'static str = u64::KIND;

    fn read(node: &Node) -> Result<Self, UnitError> {
        u64::read(node).map(Whole)
    }

    fn write(&self) -> String {
        self.to_string()
    }

    const ARITHMETIC: Option<Unit> = Some(Unit::Size);

    fn computed(value: f64) -> Result<Self, UnitError> {
        let refuse =
            |message: String, remedy: &str| Err(UnitError { message, remedy: remedy.into() });
        if value < 0.0 {
            return refuse(
                format!("comes to {value}, which is less than 0"),
                "write arithmetic that comes to at least 0",
            );
        }
        if value > MOST_WHOLE {
            let remedy = "write arithmetic that comes to less, such as min(…, 1_000_000)";
            return refuse(format!("comes to {value:.0}"), remedy);
        }
        if value.fract() != 0.0 {
            return refuse(
                format!("comes to {value}, which is not a whole number"),
                "round it down: \"floor(…)\"",
            );
        }
        Ok(Whole(value as u64))
    }
}

/// Beyond 2^53 not every whole number has a value of its own in the arithmetic.
const MOST_WHOLE: f64 = (1u64 << 53) as f64;

/// How many there are of something: 1 to 65,536.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

impl Count {
    /// The largest count.
    pub const MAX: i64 = 65_536;
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Field for Count {
    const KIND: &'static str = "whole number, 1 to 65536";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match node.value {
            Value::Integer(number @ 1..=Count::MAX) => Ok(Count(number as u32)),
            Value::Integer(number) => Err(UnitError {
                message: format!("{number} is out of range"),
                remedy: format!("write a whole number from 1 to {}", Count::MAX),
            }),
            _ => Err(unexpected(
                node,
                "a whole number",
                "a whole number of at least 1, without quotes",
            )),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }

    const ARITHMETIC: Option<Unit> = Some(Unit::Size);

    /// Rounded down, as three files for ten workers have to be.
    fn computed(value: f64) -> Result<Self, UnitError> {
        if (1.0..Count::MAX as f64 + 1.0).contains(&value) {
            return Ok(Count(value as u32));
        }
        Err(UnitError {
            message: format!(
                "comes to {value}, and a count is at least 1 and at most {}",
                Count::MAX
            ),
            remedy: format!("bound it: \"max(1, …)\" or \"min({}, …)\"", Count::MAX),
        })
    }
}

/// Requests outstanding of a worker: 1 to 4,096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth(pub u32);

impl Depth {
    /// The largest depth.
    pub const MAX: u32 = 4_096;

    fn check(count: Count) -> Result<Self, UnitError> {
        if count.0 <= Depth::MAX {
            return Ok(Depth(count.0));
        }
        Err(UnitError {
            message: format!("a depth of {count} is out of range"),
            remedy: format!("write a depth from 1 to {}", Depth::MAX),
        })
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Field for Depth {
    const KIND: &'static str = "whole number, 1 to 4096";

    fn read(node: &Node) -> Result<Self, UnitError> {
        let remedy = || format!("write a depth from 1 to {}", Depth::MAX);
        let out_of_range = |error| UnitError { remedy: remedy(), ..error };
        let is_number = matches!(node.value, Value::Integer(_));
        let count = Count::read(node)
            .map_err(|error| if is_number { out_of_range(error) } else { error })?;
        Depth::check(count)
    }

    fn write(&self) -> String {
        self.to_string()
    }

    const ARITHMETIC: Option<Unit> = Count::ARITHMETIC;

    fn computed(value: f64) -> Result<Self, UnitError> {
        Count::computed(value).and_then(Depth::check)
    }
}

/// How much a stage does, if that is what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Time ends it.
    None,
    /// Every worker's share once.
    All,
    /// At most so many bytes of every worker's share.
    Bytes(Bytes),
}

impl Field for Amount {
    const KIND: &'static str = "`\"none\"`, `\"all\"` or size";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match &node.value {
            Value::Text(text) if text == "none" => Ok(Amount::None),
            Value::Text(text) if text == "all" => Ok(Amount::All),
            _ => Bytes::read(node).map(Amount::Bytes),
        }
    }

    fn write(&self) -> String {
        match self {
            Amount::None => "\"none\"".to_owned(),
            Amount::All => "\"all\"".to_owned(),
            Amount::Bytes(bytes) => bytes.write(),
        }
    }
}

/// A value, or `"auto"`: Plimsoll decides by the machine, and the plan says what it decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto<T> {
    /// Sized to the machine.
    Auto,
    /// As the author says.
    Fixed(T),
}

impl<T: Field> Field for Auto<T> {
    const KIND: &'static str = T::KIND;

    fn read(node: &Node) -> Result<Self, UnitError> {
        match &node.value {
            Value::Text(text) if text == "auto" => Ok(Auto::Auto),
            _ => T::read(node).map(Auto::Fixed).map_err(|error| UnitError {
                remedy: format!("{}, or \"auto\"", error.remedy),
                ..error
            }),
        }
    }

    fn write(&self) -> String {
        match self {
            Auto::Auto => "\"auto\"".to_owned(),
            Auto::Fixed(value) => value.write(),
        }
    }

    const ARITHMETIC: Option<Unit> = T::ARITHMETIC;

    fn computed(value: f64) -> Result<Self, UnitError> {
        T::computed(value).map(Auto::Fixed)
    }
}

/// Declares an enum of words: the words are the values that a suite can have, and nothing else
/// lists them.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $(
        $(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every variant, in the order of the reference.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word that stands for it in suites, plans and reports.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl $crate::spec::Field for $name {
            const KIND: &'static str = $crate::spec::join_words!($($word),*);

            fn read(node: &$crate::spec::Node) -> Result<Self, $crate::units::UnitError> {
                let text = node.label();
                $name::ALL.iter().copied().find(|variant| variant.word() == text).ok_or_else(|| {
                    let words: Vec<&str> = $name::ALL.iter().map(|variant| variant.word())
                        .collect();
                    $crate::units::UnitError {
                        message: format!("`{text}` is not one of {}", words.join(", ")),
                        remedy: $crate::spec::word_remedy(&text, &words),
                    }
                })
            }

            fn write(&self) -> String {
                format!("\"{self}\"")
            }
        }
    };
}

/// `"a", "b"` as one literal: `"a" or "b"`.
macro_rules! join_words {
    ($only:literal) => { concat!("`\"", $only, "\"`") };
    ($first:literal, $($rest:literal),+) => {
        concat!("`\"", $first, "\"`", $(" or `\"", $rest, "\"`"),+)
    };
}

pub(crate) use {join_words, words};
