//! Plain arithmetic in the text of a field: `2 * memory / workers`.
//!
//! ```text
//! condition = and { "or" and }          and   = not { "and" not }        not    = [ "not" ] test
//! test      = sum [ ("<"|"<="|">"|">="|"=="|"!=") sum ]
//! sum       = product { ("+"|"-") product }                              product = factor {
//! ("*"|"/") factor }
//! factor    = "-" factor | number [unit] | name [ "(clients)" ] | "(" condition ")" |
//! ("min"|"max") "(" sum { "," sum } ")"
//!           | "floor" "(" sum ")"
//! ```

mod parser;

use crate::tree::Span;
use model::units::{Bytes, Nanos, UnitError};
use std::fmt;

pub use parser::parse;

/// What arithmetic can ask about the hosts and a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The memory of all hosts in use together, in bytes.
    Memory,
    /// The logical CPUs of the host that has the fewest.
    Cpus,
    /// How many hosts there are.
    Hosts,
    /// Bytes free on the target that has the least, our own files counted as free.
    Free,
    /// Workers on all hosts together: of the workload in its own fields, of all workloads of the
    /// point elsewhere.
    Workers,
    /// Requests that a worker keeps outstanding; the most, where workloads of a point differ.
    Depth,
    /// The largest request, in bytes.
    BlockSize,
    /// Files in each target directory; in the other fields of a tree, the files of the tree.
    Files,
}

impl Name {
    /// Every name.
    pub const ALL: [Name; 8] = [
        Name::Memory,
        Name::Cpus,
        Name::Hosts,
        Name::Free,
        Name::Workers,
        Name::Depth,
        Name::BlockSize,
        Name::Files,
    ];

    /// The first `count` of [`ALL`](Self::ALL), which stand in the order in which they become
    /// known.
    pub fn first(count: usize) -> &'static [Name] {
        const ALL: &[Name] = &Name::ALL;
        &ALL[..count.min(ALL.len())]
    }

    /// The word for it in a suite.
    pub fn word(self) -> &'static str {
        match self {
            Name::Memory => "memory",
            Name::Cpus => "cpus",
            Name::Hosts => "hosts",
            Name::Workers => "workers",
            Name::Depth => "depth",
            Name::Files => "files",
            Name::Free => "free",
            Name::BlockSize => "block_size",
        }
    }
}

impl Name {
    /// What it stands for, as the reference prints it.
    pub fn meaning(self) -> &'static str {
        match self {
            Name::Memory => {
                "the memory of all hosts in use together; also written `memory(clients)`"
            }
            Name::Cpus => "the logical CPUs of the host that has the fewest",
            Name::Hosts => "how many hosts there are",
            Name::Free => {
                "bytes free on the target that has the least, our own files counted as free; of a \
                 device, all its bytes"
            }
            Name::Workers => {
                "workers on all hosts together: of the workload in its own fields, elsewhere of \
                 all workloads of the point"
            }
            Name::Depth => {
                "requests that a worker keeps outstanding; the most, where workloads that run at \
                 the same time differ"
            }
            Name::BlockSize => "the largest request of the point",
            Name::Files => {
                "files in each target directory; in the other fields of `[tree]`, its `files`"
            }
        }
    }
}

/// The values of names; `None` for one that is not known.
pub type Lookup<'a> = dyn Fn(Name) -> Option<f64> + 'a;

/// What came of a field that was written as arithmetic.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// The field.
    pub key: &'static str,
    /// What was written.
    pub text: String,
    /// Where.
    pub span: Span,
    /// The value as it would be written in a suite, or why there is none.
    pub outcome: Result<String, ArithmeticError>,
}

/// What a unit behind a number means, which the field decides: `1m` is a size in one and a minute
/// in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes; also for counts, where sizes may be divided by each other.
    Size,
    /// Seconds.
    Duration,
}

impl Unit {
    /// The number that `text`, digits with a unit, stands for: bytes, or seconds.
    fn value(self, text: &str) -> Result<f64, ArithmeticError> {
        let value = match self {
            Unit::Size => text.parse().map(|Bytes(bytes)| bytes as f64),
            Unit::Duration => text.parse().map(|Nanos(nanos)| nanos as f64 / 1e9),
        };
        value.map_err(ArithmeticError::from)
    }
}

/// Why a text is no arithmetic, or has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

impl ArithmeticError {
    fn new(message: impl Into<String>, remedy: impl Into<String>) -> ArithmeticError {
        ArithmeticError { message: message.into(), remedy: remedy.into() }
    }
}

impl From<UnitError> for ArithmeticError {
    fn from(error: UnitError) -> ArithmeticError {
        ArithmeticError { message: error.message, remedy: error.remedy }
    }
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> Result<f64, ArithmeticError> {
        let truth = |is: bool| f64::from(u8::from(is));
        Ok(match self {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide if right == 0.0 => {
                return Err(ArithmeticError::new(
                    "divides by zero",
                    "divide by something that is never 0, such as max(1, …)",
                ));
            }
            Operator::Divide => left / right,
            Operator::Min => left.min(right),
            Operator::Max => left.max(right),
            Operator::Less => truth(left < right),
            Operator::LessOrEqual => truth(left <= right),
            Operator::Greater => truth(left > right),
            Operator::GreaterOrEqual => truth(left >= right),
            Operator::Equal => truth(left == right),
            Operator::NotEqual => truth(left != right),
            Operator::And => truth(left != 0.0 && right != 0.0),
            Operator::Or => truth(left != 0.0 || right != 0.0),
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Push(f64),
    Ask(Name),
    Negate,
    Not,
    Floor,
    Apply(Operator),
}

/// Arithmetic that has been read. It is kept in postfix order, so that evaluating it needs no
/// recursion.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic {
    text: String,
    steps: Vec<Step>,
    is_condition: bool,
}

impl Arithmetic {
    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that it asks for, each once.
    pub fn names(&self) -> Vec<Name> {
        let asks = |name: &Name| self.steps.contains(&Step::Ask(*name));
        Name::ALL.into_iter().filter(asks).collect()
    }

    /// Whether it is true or false rather than a number.
    pub fn is_condition(&self) -> bool {
        self.is_condition
    }

    /// Its value, 1 and 0 for true and false. `lookup` knows the names' values.
    ///
    /// # Errors
    /// A division by zero, a name that `lookup` does not know, a value beyond all numbers.
    pub fn evaluate(&self, lookup: &Lookup<'_>) -> Result<f64, ArithmeticError> {
        let mut stack: Vec<f64> = Vec::new();
        let pop = |stack: &mut Vec<f64>| stack.pop().unwrap_or(f64::NAN);
        for step in &self.steps {
            let value = match step {
                Step::Push(value) => *value,
                Step::Ask(name) => lookup(*name).ok_or_else(|| {
                    ArithmeticError::new(
                        format!("`{}` is not known here", name.word()),
                        "leave it out, or write a number in its place",
                    )
                })?,
                Step::Negate => -pop(&mut stack),
                Step::Floor => pop(&mut stack).floor(),
                Step::Not => f64::from(u8::from(pop(&mut stack) == 0.0)),
                Step::Apply(operator) => {
                    let right = pop(&mut stack);
                    operator.apply(pop(&mut stack), right)?
                }
            };
            stack.push(value);
        }
        let value = pop(&mut stack);
        match value.is_finite() {
            true => Ok(value),
            false => {
                Err(ArithmeticError::new("has no finite value", "write a smaller computation"))
            }
        }
    }
}

/// Whether a text that is no literal was meant as arithmetic: it has an operator, or is one of our
/// names or nearly so.
pub fn looks_like(text: &str) -> bool {
    let text = text.trim();
    // A mix of sizes with weights.
    if text.contains(':') {
        return false;
    }
    let is_word = text.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let near_name =
        is_word && crate::nearest(text, Name::ALL.iter().map(|name| name.word())).is_some();
    near_name
        || text.contains(['*', '/', '(', ')', '+'])
        || text.trim_start_matches('-').contains('-')
}

#[cfg(test)]
mod tests;
