//! Damage as a reader of the results hears of it.

use super::header::{Found, Header};
use model::sample::{VERIFY_CORRUPT, VERIFY_MISDIRECTED, VERIFY_STALE, VERIFY_TORN};
use std::fmt;

/// What is wrong with what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Corrupt,
    Misdirected,
    Torn,
    Stale,
}

impl Kind {
    /// The number that stands for it among errnos.
    pub(crate) fn errno(self) -> i32 {
        match self {
            Kind::Corrupt => VERIFY_CORRUPT,
            Kind::Misdirected => VERIFY_MISDIRECTED,
            Kind::Torn => VERIFY_TORN,
            Kind::Stale => VERIFY_STALE,
        }
    }
}

/// One damaged place: the first of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) kind: Kind,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    /// The oldest generation that could stand there; 0 if this run wrote nothing there.
    pub(crate) expected: u32,
    pub(crate) found: Found,
    /// The number of this run.
    pub(crate) ours: u64,
}

impl Damage {
    /// `corrupt: /mnt/x/data-00000.bin at offset 4096: expected …, found …`
    pub(crate) fn in_words(&self, path: &str) -> String {
        let kind = match self.kind {
            Kind::Corrupt => "corrupt",
            Kind::Misdirected => "misdirected",
            Kind::Torn => "torn write",
            Kind::Stale => "lost write",
        };
        let expected = Damage::expected_in_words(self.expected);
        format!("{kind}: {path} at offset {}: expected {expected}, found {self}", self.offset)
    }

    /// What has to stand where the oldest possible generation is `expected`.
    pub(crate) fn expected_in_words(expected: u32) -> String {
        match expected {
            0 => "a whole block of this place".to_owned(),
            generation => format!("generation {generation} or newer"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = |header: &Header| if header.run == self.ours { "" } else { " of another run" };
        match &self.found {
            Found::Whole(header) if self.kind == Kind::Misdirected => {
                let Header { host, file, offset, generation, .. } = header;
                write!(
                    f,
                    "generation {generation}{} of host {host}, file {file}, offset {offset}",
                    whose(header)
                )
            }
            Found::Whole(header) => write!(f, "generation {}{}", header.generation, whose(header)),
            Found::Damaged(header) => {
                write!(f, "generation {}{} with a wrong checksum", header.generation, whose(header))
            }
            Found::Zeros => f.write_str("zeros"),
            Found::Foreign => f.write_str("bytes without a header"),
        }
    }
}
