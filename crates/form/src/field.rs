//! What a field of a table can be: how each type is read, written and computed.

use crate::arithmetic::Unit;
use crate::tree::{Node, Value};
use model::choices::{
    Access, Backend, CloseTime, CountersKept, DuplicateScope, FileFsync, OnLostHost, Poll, TrimAs,
};
use model::load::{HotSpots, Part, Rate, Sequence, SizeMix, Skew};
use model::machines::{Accelerator, DiskAllocation, DiskBus, DiskCache, DiskContent};
use model::planned_event::EventTime;
use model::priority::Priority;
use model::units::{Bytes, Nanos, Percent, UnitError};
use std::fmt;

/// A type that a field of a table can have.
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
text_or_number!(Sequence, "sequence of places", "numbers of blocks such as \"2,0,1\"");
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

impl<T> Auto<T> {
    /// The value, if somebody said it.
    pub fn fixed(self) -> Option<T> {
        match self {
            Auto::Fixed(value) => Some(value),
            Auto::Auto => None,
        }
    }
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

impl Field for EventTime {
    const KIND: &'static str = "share or duration";

    fn read(node: &Node) -> Result<EventTime, UnitError> {
        match &node.value {
            Value::Text(text) if text.trim_end().ends_with('%') => {
                text.parse().map(EventTime::Share)
            }
            Value::Text(text) => text.parse().map(EventTime::After),
            _ => Err(UnitError {
                message: format!("expected a time in a stage, found {}", node.kind()),
                remedy: "write a share such as \"50%\" or a time such as \"30m\"".to_owned(),
            }),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }
}

field_of_words!(
    Access, Backend, CloseTime, CountersKept, DuplicateScope, FileFsync, OnLostHost, Poll, TrimAs
);
field_of_words!(model::Level, model::Route);
field_of_words!(Accelerator, DiskAllocation, DiskBus, DiskCache, DiskContent);
