//! A trace on another target: faster or slower, folded or stretched onto another size.

use super::Request;
use crate::op::Op;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How many times faster than it was recorded a trace is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speed {
    /// Thousandths; from 1 to a million.
    pub milli: u32,
}

impl Speed {
    /// As it was recorded.
    pub const ONE: Speed = Speed { milli: 1_000 };
    const MOST_MILLI: u32 = 1_000_000;

    /// When a request is due that was sent at `at_ns`.
    pub fn due_ns(self, at_ns: u64) -> u64 {
        (u128::from(at_ns) * 1_000 / u128::from(self.milli.max(1))) as u64
    }

    /// Whether it is one.
    pub fn is_sound(self) -> bool {
        (1..=Speed::MOST_MILLI).contains(&self.milli)
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        let number = text.trim().strip_suffix(['x', '×']).unwrap_or(text.trim());
        let value: Option<f64> = number.parse().ok();
        match value.filter(|value| (0.001..=1_000.0).contains(value)) {
            Some(value) => Ok(Speed { milli: (value * 1e3).round() as u32 }),
            None => Err(format!("`{text}` is no speed; write 2x or 0.5x, from 0.001x to 1000x")),
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}x", f64::from(self.milli) / 1e3))
    }
}

/// How offsets of a trace become those of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Space {
    /// Each as it was.
    Same,
    /// Modulo the size of the target.
    Fold {
        /// The size of the target.
        size: Bytes,
    },
    /// In proportion.
    Stretch {
        /// The end of what the trace touched.
        from: Bytes,
        /// The size of the target.
        size: Bytes,
        /// What offsets are multiples of.
        align: Bytes,
    },
}

/// A trace on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// When requests are due.
    pub speed: Speed,
    /// Where they go.
    pub space: Space,
}

/// A request of a trace as it is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// When it is due, in ns after the start.
    pub due_ns: u64,
    /// Its first byte.
    pub offset: u64,
    /// Whether that is where it was in the trace.
    pub is_exact: bool,
}

/// A request that is longer than the target, or ends behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfSpace;

impl Mapping {
    /// As it was recorded.
    pub const SAME: Mapping = Mapping { speed: Speed::ONE, space: Space::Same };

    /// When and where `request` is to be sent, on a target of `size_bytes`.
    ///
    /// # Errors
    /// It ends behind the target.
    pub fn of(&self, request: &Request, size_bytes: u64) -> Result<Mapped, OutOfSpace> {
        let due_ns = self.speed.due_ns(request.at_ns);
        if request.op == Op::Fsync {
            return Ok(Mapped { due_ns, offset: 0, is_exact: true });
        }
        let length = u64::from(request.length);
        let last = |size: u64| size.checked_sub(length).ok_or(OutOfSpace);
        let offset = match self.space {
            Space::Same => request.offset,
            // One that goes over the end ends with the target.
            Space::Fold { size } => {
                let size = size.0.min(size_bytes);
                let last = last(size)?;
                if request.offset <= last {
                    request.offset
                } else {
                    (request.offset % size).min(last)
                }
            }
            Space::Stretch { from, size, align } => {
                let size = size.0.min(size_bytes);
                let place =
                    u128::from(request.offset) * u128::from(size) / u128::from(from.0.max(1));
                let align = align.0.max(1);
                (place.min(u128::from(last(size)?)) as u64) / align * align
            }
        };
        let is_within = offset.checked_add(length).is_some_and(|end| end <= size_bytes);
        let mapped = Mapped { due_ns, offset, is_exact: offset == request.offset };
        if is_within { Ok(mapped) } else { Err(OutOfSpace) }
    }
}
