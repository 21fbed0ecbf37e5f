//! fio's `write_iolog`, versions 2 and 3 (HOWTO, "Trace file format v2" and "v3").

use super::names::Names;
use super::{Read, Seen, TraceProblem, field, number};
use model::Op;

/// The version that a first line tells.
pub(super) fn version(line: &str) -> Option<u8> {
    match line.trim() {
        "fio version 2 iolog" => Some(2),
        "fio version 3 iolog" => Some(3),
        _ => None,
    }
}

/// Reads line after line.
pub(super) struct Iolog {
    version: u8,
    /// In version 2: the sum of all waits.
    now_ns: i128,
}

impl Iolog {
    pub(super) fn new() -> Iolog {
        Iolog { version: 0, now_ns: 0 }
    }

    /// One line. In version 3 its instant is in µs from the start of the log; in version 2, `wait`
    /// moves the instant of what follows by so many µs.
    pub(super) fn line(&mut self, line: &str, names: &mut Names) -> Result<Read, TraceProblem> {
        if self.version == 0 {
            self.version = version(line).ok_or_else(|| {
                TraceProblem::new(
                    "an iolog begins with `fio version 2 iolog` or `fio version 3 iolog`",
                    "name the form with --from if it is another",
                )
            })?;
            return Ok(Read::Nothing);
        }
        let mut words = line.split_ascii_whitespace();
        let at_ns = if self.version == 3 {
            i128::from(number(words.next(), "timestamp")?) * 1_000
        } else {
            self.now_ns
        };
        let file = field(words.next(), "file")?;
        let action = field(words.next(), "action")?;
        let op = match action {
            "add" | "open" | "close" => return Ok(Read::Nothing),
            "wait" if self.version == 2 => {
                self.now_ns += i128::from(number(words.next(), "wait")?) * 1_000;
                return Ok(Read::Nothing);
            }
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Trim,
            "sync" | "datasync" => Op::Fsync,
            _ => return Ok(Read::LeftOut),
        };
        let source = names.number(file)?;
        if op == Op::Fsync {
            return Ok(Read::Request(Seen::flush(at_ns, source)));
        }
        let offset = number(words.next(), "offset")?;
        let length = number(words.next(), "length")?;
        Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }))
    }
}
