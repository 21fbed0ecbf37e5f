//! Damage as a reader of the results hears of it.

use super::header::{Found, Header};
use model::note::{self, FoundBlock, Mismatch};
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
    /// The same for a note, with the path of its file.
    pub(crate) fn told(&self, path: &str) -> Mismatch {
        let damage = match self.kind {
            Kind::Corrupt => note::Damage::Corrupt,
            Kind::Misdirected => note::Damage::Misdirected,
            Kind::Torn => note::Damage::Torn,
            Kind::Stale => note::Damage::Stale,
        };
        let block = |header: &Header, is_whole| FoundBlock::Block {
            generation: header.generation,
            other_run: header.run != self.ours,
            is_whole,
        };
        let found = match &self.found {
            Found::Whole(header) if self.kind == Kind::Misdirected => FoundBlock::Elsewhere {
                generation: header.generation,
                other_run: header.run != self.ours,
                host: u32::from(header.host),
                file: header.file,
                offset: header.offset,
            },
            Found::Whole(header) => block(header, true),
            Found::Damaged(header) => block(header, false),
            Found::Zeros => FoundBlock::Zeros,
            Found::Foreign => FoundBlock::Foreign,
        };
        let (path, offset, expected) = (path.to_owned(), self.offset, self.expected);
        Mismatch { damage, path, offset, expected, found }
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
