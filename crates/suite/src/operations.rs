//! The operations of a metadata workload, as a suite lists them.

use form::{Field, Node, Value, nearest};
use model::metadata::OpMix;
use model::op::Op;
use model::population::LivingMix;
use model::units::UnitError;

/// Operations that a list has at most.
const MOST_OPERATIONS: usize = 64;

/// One entry of a list of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// To every file once.
    Each(Op),
    /// Drawn by weight, for a time.
    Mix(OpMix),
    /// The same, and files are born, change and die.
    Living(LivingMix),
}

impl Operation {
    /// What it consists of.
    pub(crate) fn ops(self) -> Vec<Op> {
        match self {
            Operation::Each(op) => vec![op],
            Operation::Mix(mix) => mix.parts().map(|(op, _)| op).collect(),
            Operation::Living(mix) => mix.parts().map(|(op, _)| op).collect(),
        }
    }

    /// Whether files are born, change and die.
    pub(crate) fn is_living(self) -> bool {
        matches!(self, Operation::Living(_))
    }

    /// As a suite has it: `read`, or `stat:70, open:20`.
    pub(crate) fn text(self) -> String {
        let part = |(op, weight)| format!("{}:{weight}", word(op));
        match self {
            Operation::Each(op) => word(op).to_owned(),
            Operation::Mix(mix) => mix.parts().map(part).collect::<Vec<_>>().join(", "),
            Operation::Living(mix) => mix.parts().map(part).collect::<Vec<_>>().join(", "),
        }
    }
}

/// The operations of a metadata workload, in the order in which they run; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operations(pub Vec<Operation>);

impl Default for Operations {
    fn default() -> Self {
        Operations([Op::Create, Op::Stat, Op::ReadFile, Op::Remove].map(Operation::Each).to_vec())
    }
}

/// The word of an operation in a suite: reads and writes need not say there that they are of files.
pub(crate) fn word(op: Op) -> &'static str {
    match op {
        Op::ReadFile => "read",
        Op::WriteFile => "write",
        Op::FsyncFile => "fsync",
        op => op.name(),
    }
}

/// What a list may have at one of its places: an operation, or a mix of them with weights.
fn operation(node: &Node) -> Result<Operation, UnitError> {
    let text = node.label();
    if !text.contains(':') {
        return match known(&text)? {
            op @ (Op::Append | Op::Truncate | Op::FsyncFile) => Err(UnitError {
                message: format!("`{}` goes to a population of files alone", word(op)),
                remedy: "write a mix such as \"create:10, append:10, read:70, remove:10\""
                    .to_owned(),
            }),
            op => Ok(Operation::Each(op)),
        };
    }
    let remedy = "write a mix such as \"stat:70, open:20, readdir:10\", or one of a population \
                  such as \"create:10, read:80, remove:10\"";
    let told = |message: String| UnitError { message, remedy: remedy.to_owned() };
    let part = |part: &str| {
        let (op, weight) =
            part.split_once(':').ok_or_else(|| told(format!("`{}` has no weight", part.trim())))?;
        let weight = weight.trim().parse();
        Ok((
            known(op.trim())?,
            weight.map_err(|_| {
                told(format!("`{}` has no weight that is a whole number", part.trim()))
            })?,
        ))
    };
    let parts = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?;
    if parts.iter().any(|(op, _)| LivingMix::is_change(*op)) {
        return LivingMix::new(&parts).map(Operation::Living);
    }
    OpMix::new(&parts).map(Operation::Mix).map_err(told)
}

fn known(text: &str) -> Result<Op, UnitError> {
    let known = || Op::EACH.into_iter().filter(|op| op.is_metadata());
    // What `mdtest` and the manual call it.
    let text = if text == "unlink" { "remove" } else { text };
    known().find(|op| word(*op) == text).ok_or_else(|| {
        let words: Vec<&str> = known().map(word).collect();
        UnitError {
            message: format!("`{text}` is not one of {}", words.join(", ")),
            remedy: match nearest(text, words.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "write a list such as [\"create\", \"stat\", \"remove\"]".to_owned(),
            },
        }
    })
}

impl Field for Operations {
    const KIND: &'static str = "list of `create`, `stat`, `open`, `read`, `write`, `readdir`, \
                                `setattr`, `rename`, `link`, `symlink`, `remove`, `mkdir`, \
                                `rmdir`, or mixes such as `stat:70, open:20, readdir:10`, which \
                                also take `append`, `truncate` and `fsync`";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match &node.value {
            Value::Text(_) => operation(node).map(|op| Operations(vec![op])),
            Value::Array(nodes) if (1..=MOST_OPERATIONS).contains(&nodes.len()) => {
                nodes.iter().map(operation).collect::<Result<_, _>>().map(Operations)
            }
            Value::Array(nodes) => Err(UnitError {
                message: format!("a list of {} operations", nodes.len()),
                remedy: format!(
                    "write 1 to {MOST_OPERATIONS} of them, such as [\"create\", \"stat\", \
                     \"remove\"]"
                ),
            }),
            _ => Err(UnitError {
                message: format!("expected a list of operations, found {}", node.kind()),
                remedy: "write a list such as [\"create\", \"stat\", \"remove\"]".to_owned(),
            }),
        }
    }

    fn write(&self) -> String {
        let words: Vec<String> =
            self.0.iter().map(|operation| format!("\"{}\"", operation.text())).collect();
        format!("[{}]", words.join(", "))
    }
}
