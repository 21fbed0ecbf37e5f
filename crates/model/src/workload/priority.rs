//! How urgent requests are to the kernel's I/O scheduler.

use crate::units::UnitError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The least urgent level of a class; 0 is the most urgent (`linux/ioprio.h`).
const LAST_LEVEL: u8 = 7;
/// Bits below the class in the kernel's word (`IOPRIO_CLASS_SHIFT`).
const CLASS_SHIFT: u16 = 13;

/// The I/O priority of requests, as `ioprio_set(2)` describes it. It matters where a scheduler or a
/// device looks at it: `mq-deadline`, `bfq`, and drives that take command priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Priority {
    /// None of its own: that of the process.
    Inherited,
    /// Before all others, with a level from 0 (the most urgent) to 7. Wants `CAP_SYS_NICE` or
    /// `CAP_SYS_ADMIN`.
    Realtime(u8),
    /// As usual, with a level from 0 (the most urgent) to 7.
    BestEffort(u8),
    /// Only when nobody else wants the disk.
    Idle,
}

impl Priority {
    /// The kernel's word for it: the class in the upper three of 16 bits, the level in the lower
    /// ones; 0 for none.
    pub fn ioprio(self) -> u16 {
        let (class, level) = match self {
            Priority::Inherited => (0, 0),
            Priority::Realtime(level) => (1, level),
            Priority::BestEffort(level) => (2, level),
            Priority::Idle => (3, 0),
        };
        class << CLASS_SHIFT | u16::from(level.min(LAST_LEVEL))
    }
}

impl FromStr for Priority {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let level = |level: &str| level.trim().parse().ok().filter(|level| *level <= LAST_LEVEL);
        let read = match text.trim().split_once('/') {
            None if text.trim() == "none" => Some(Priority::Inherited),
            None if text.trim() == "idle" => Some(Priority::Idle),
            Some((class, rest)) if class.trim() == "realtime" => {
                level(rest).map(Priority::Realtime)
            }
            Some((class, rest)) if class.trim() == "best-effort" => {
                level(rest).map(Priority::BestEffort)
            }
            _ => None,
        };
        read.ok_or_else(|| UnitError {
            message: format!("`{text}` is not a priority"),
            remedy: "write none, realtime/0 to realtime/7, best-effort/0 to best-effort/7, or idle"
                .to_owned(),
        })
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Priority::Inherited => f.pad("none"),
            Priority::Realtime(level) => f.pad(&format!("realtime/{level}")),
            Priority::BestEffort(level) => f.pad(&format!("best-effort/{level}")),
            Priority::Idle => f.pad("idle"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_become_the_kernels() {
        for (text, word) in [
            ("none", 0),
            ("realtime/0", 0x2000),
            ("realtime/7", 0x2007),
            ("best-effort/4", 0x4004),
            ("idle", 0x6000),
        ] {
            let priority: Priority = text.parse().expect(text);
            assert_eq!((priority.to_string().as_str(), priority.ioprio()), (text, word));
        }
        assert_eq!(" realtime / 3 ".parse(), Ok(Priority::Realtime(3)));
    }

    #[test]
    fn what_is_none_says_what_to_write() {
        for text in [
            "", "realtime", "realtime/8", "realtime/-1", "idle/3", "best-effort/", "rt/0", "none/0",
        ] {
            let error = text.parse::<Priority>().expect_err(text);
            assert!(error.remedy.contains("best-effort/0"), "{error:?}");
        }
    }
}
