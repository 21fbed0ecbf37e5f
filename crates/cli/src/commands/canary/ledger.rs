//! The ledger of a canary: a folder of ours with a state, and the entries since then.
//!
//! A file of lines, each with its checksum: first the state, then one entry a line, on disk before
//! anything follows from it. A line that was half written when the process was killed is the last
//! one, and is left out. Now and then the state is written anew with all entries in it, so that the
//! file stays small.

use crate::failure::Failure;
use crate::files::plain_file;
use model::canary::{Entry, FORMAT, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const LEDGER: &str = "canary.ledger";
const NEW: &str = "canary.ledger.new";
const LOCK: &str = "canary.lock";
/// A ledger is smaller: a state of 90 days by the minute, and its entries.
const LARGEST: u64 = 64 << 20;
/// After so many entries, the state is written anew.
const MOST_ENTRIES: usize = 256;

/// The ledger of the canary that runs here.
pub(crate) struct Ledger {
    dir: PathBuf,
    file: File,
    entries: usize,
    state: State,
    /// Held as long as the canary runs.
    _lock: File,
}

fn failed(dir: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::run(format!("the canary's folder {}: {what}", dir.display()))
}

/// CRC-32C (Castagnoli 1993), bit by bit: a ledger is small.
fn crc32c(bytes: &[u8]) -> u32 {
    let fold = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(sum & 1))
        })
    };
    !bytes.iter().fold(!0, fold)
}

fn line(value: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string(value).map_err(|error| error.to_string())?;
    Ok(format!("{:08x} {text}\n", crc32c(text.as_bytes())))
}

/// What a line says; `None` where it does not fit its checksum.
fn parsed<T: DeserializeOwned>(line: &str) -> Option<T> {
    let (sum, text) = line.split_once(' ')?;
    let is_whole = u32::from_str_radix(sum, 16).ok()? == crc32c(text.as_bytes());
    is_whole.then(|| serde_json::from_str(text).ok()).flatten()
}

#[derive(Debug)]
struct Parsed {
    state: State,
    entries: usize,
    /// Bytes up to the last whole line.
    whole: usize,
}

fn parse(text: &str) -> Result<Parsed, String> {
    let damaged = |number: usize| {
        format!(
            "line {number} of {LEDGER} is damaged; put a copy of it back, or begin a new canary \
             with another --dir"
        )
    };
    let mut lines = text.split_inclusive('\n').enumerate();
    let first = lines.next().map(|(_, line)| line).unwrap_or_default();
    let mut state: State = first.strip_suffix('\n').and_then(parsed).ok_or_else(|| damaged(1))?;
    if state.format != FORMAT {
        return Err(format!(
            "{LEDGER} has format {}, and this program reads {FORMAT}; use the one that wrote it",
            state.format
        ));
    }
    let unsound = |number: usize, what: &str| {
        format!(
            "line {number} of {LEDGER} has a value that no canary writes, {what}; put a copy of it \
             back, or begin a new canary with another --dir"
        )
    };
    state.sound().map_err(|what| unsound(1, what))?;
    let (mut entries, mut whole) = (0, first.len());
    for (number, line) in lines {
        match line.strip_suffix('\n').and_then(parsed::<Entry>) {
            Some(entry) => {
                entry.sound().map_err(|what| unsound(number + 1, what))?;
                state.apply(&entry);
            }
            // The last one was being written.
            None if whole + line.len() == text.len() => break,
            None => return Err(damaged(number + 1)),
        }
        entries += 1;
        whole += line.len();
    }
    Ok(Parsed { state, entries, whole })
}

fn text(dir: &Path) -> Result<Option<String>, Failure> {
    let file = match plain_file::open_own(OpenOptions::new().read(true), &dir.join(LEDGER)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(dir, error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(dir, error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(
            dir,
            format!("{LEDGER} is larger than any of ours; name another --dir"),
        ));
    }
    // What is no text has no right checksum either.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// What the ledger in `dir` says, for somebody who only looks.
pub(crate) fn look(dir: &Path) -> Result<State, Failure> {
    match text(dir)? {
        Some(text) => parse(&text).map(|parsed| parsed.state).map_err(|what| failed(dir, what)),
        None => Err(Failure::usage(format!(
            "{} has no canary ({LEDGER}); name the folder that --dir named",
            dir.display()
        ))),
    }
}

/// What stands in `dir`, which may not be there; touches nothing.
pub(crate) fn peek(dir: &Path) -> Result<Option<State>, Failure> {
    let found = text(dir)?.map(|text| parse(&text)).transpose();
    found.map(|found| found.map(|parsed| parsed.state)).map_err(|what| failed(dir, what))
}

pub(crate) struct Claimed {
    dir: PathBuf,
    lock: File,
}

/// Takes the folder: a new or empty one, or that of a canary that does not run.
pub(crate) fn claim(dir: &Path) -> Result<Claimed, Failure> {
    let usage = |what: &str| Failure::usage(format!("--dir {}: {what}", dir.display()));
    if !dir.exists() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| usage(&format!("{error}; name another folder")))?;
    }
    let mut others = std::fs::read_dir(dir)
        .map_err(|error| usage(&format!("{error}; name another folder")))?
        .filter_map(Result::ok)
        .filter(|entry| ![LOCK, NEW].map(Into::into).contains(&entry.file_name()));
    if !dir.join(LEDGER).exists() && others.next().is_some() {
        return Err(usage(
            "has files and no canary; name a new or an empty folder, or that of a canary",
        ));
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    let lock = plain_file::open_own(&mut options, &dir.join(LOCK))
        .map_err(|error| failed(dir, format!("{LOCK}: {error}; name another --dir")))?;
    match lock.try_lock() {
        Ok(()) => Ok(Claimed { dir: dir.to_owned(), lock }),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(usage("another canary runs there; end it, or name another folder"))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(failed(dir, error)),
    }
}

impl Claimed {
    /// The ledger, begun with `state` where there is none.
    pub(crate) fn open(self, state: State) -> Result<Ledger, Failure> {
        let dir = self.dir;
        let parsed = match text(&dir)? {
            Some(text) => parse(&text).map_err(|what| failed(&dir, what))?,
            None => Parsed { state, entries: 0, whole: 0 },
        };
        if parsed.whole == 0 {
            rewrite(&dir, &parsed.state)?;
        }
        let file = plain_file::open_own(OpenOptions::new().append(true), &dir.join(LEDGER))
            .map_err(|error| failed(&dir, error))?;
        if parsed.whole > 0 {
            // Half a line would spoil the next one.
            file.set_len(parsed.whole as u64).map_err(|error| failed(&dir, error))?;
        }
        let (state, entries) = (parsed.state, parsed.entries);
        Ok(Ledger { dir, file, entries, state, _lock: self.lock })
    }
}

fn rewrite(dir: &Path, state: &State) -> Result<(), Failure> {
    let write = || -> std::io::Result<()> {
        let text = line(state).map_err(std::io::Error::other)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true).mode(0o600);
        let mut file = plain_file::open_own(&mut options, &dir.join(NEW))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(dir.join(NEW), dir.join(LEDGER))?;
        File::open(dir)?.sync_all()
    };
    write().map_err(|error| failed(dir, format!("{LEDGER} cannot be written: {error}")))
}

impl Ledger {
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Where the run file of a segment is: the name follows from the number alone.
    pub(crate) fn run_file(&self, number: u32) -> PathBuf {
        self.dir.join(format!("segment-{number:07}.plimsoll"))
    }

    /// Writes an entry; when it comes back, the entry is on disk.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<(), Failure> {
        let write = |file: &mut File| -> std::io::Result<()> {
            let text = line(entry).map_err(std::io::Error::other)?;
            file.write_all(text.as_bytes())?;
            file.sync_data()
        };
        write(&mut self.file).map_err(|error| {
            failed(&self.dir, format!("{LEDGER} cannot be written: {error}; make room there"))
        })?;
        self.state.apply(entry);
        self.entries += 1;
        if self.entries >= MOST_ENTRIES {
            rewrite(&self.dir, &self.state)?;
            let ledger = self.dir.join(LEDGER);
            self.file = plain_file::open_own(OpenOptions::new().append(true), &ledger)
                .map_err(|error| failed(&self.dir, error))?;
            self.entries = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Nanos;
    use model::canary::{Began, Terms};

    fn state() -> State {
        let terms = Terms {
            suite: "s".to_owned(),
            rate_milli: 1,
            targets: Vec::new(),
            objective: "p99 < 5ms".parse().expect("an objective"),
            target_ppm: 990_000,
            window: Nanos::seconds(7 * 24 * 3600),
        };
        State::new("c".to_owned(), terms)
    }

    fn open(dir: &Path) -> Ledger {
        claim(dir).and_then(|claimed| claimed.open(state())).expect("a ledger")
    }

    #[test]
    fn the_checksum_is_the_one_of_the_literature() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_link_in_the_place_of_a_file_of_ours_is_not_followed() {
        for name in [LOCK, LEDGER, NEW] {
            let folder = tempfile::tempdir().expect("a folder");
            let dir = folder.path().join("canary");
            std::fs::create_dir(&dir).expect("a folder");
            let elsewhere = folder.path().join("elsewhere");
            std::os::unix::fs::symlink(&elsewhere, dir.join(name)).expect("a link");
            let claimed = claim(&dir).and_then(|claimed| claimed.open(state()));
            assert!(claimed.is_err(), "{name}");
            assert!(!elsewhere.exists(), "{name}");
        }
    }

    #[test]
    fn half_a_line_at_the_end_is_left_out_and_damage_before_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("canary");
        let mut ledger = open(&dir);
        for number in 1..=3 {
            ledger.append(&Entry::Began(Began { number, unix_ns: 7 })).expect("room");
        }
        drop(ledger);
        let path = dir.join(LEDGER);
        let whole = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(&path, &whole[..whole.len() - 5]).expect("room");
        let mut again = open(&dir);
        assert_eq!(again.state().next, 3, "the third entry was cut");
        again.append(&Entry::Void { number: 2 }).expect("room");
        drop(again);
        assert_eq!(look(&dir).map(|state| state.running).map_err(|_| ()), Ok(None));
        let text = std::fs::read_to_string(&path).expect("a text").replacen("Began", "Begun", 1);
        std::fs::write(&path, text).expect("room");
        let why = look(&dir).expect_err("damaged").to_string();
        assert!(why.contains("line 2 of canary.ledger is damaged"), "{why}");
    }

    fn refused(dir: &Path, text: &str) -> String {
        std::fs::create_dir_all(dir).expect("room");
        std::fs::write(dir.join(LEDGER), text).expect("room");
        let looked = look(dir).map(|_| ()).expect_err("refused").to_string();
        let opened = claim(dir).and_then(|claimed| claimed.open(state()));
        assert_eq!(opened.map(|_| ()).expect_err("refused").to_string(), looked);
        let after = std::fs::read_to_string(dir.join(LEDGER)).expect("a text");
        assert!(after == text, "what is refused stays as it was");
        looked
    }

    #[test]
    fn a_hostile_ledger_is_refused_in_words_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = line(&state()).expect("a line");
        let began = line(&Entry::Began(Began { number: 1, unix_ns: 7 })).expect("a line");
        let forged = State { last_end_unix_ns: u64::MAX, ..state() };
        let forged = line(&forged).expect("a line");
        let void = line(&Entry::Void { number: 0 }).expect("a line");
        let changed = whole.replacen("990000", "990001", 1);
        let other = State { format: FORMAT + 1, ..state() };
        let texts = [
            (String::new(), "line 1 of canary.ledger is damaged"),
            ("\n".to_owned(), "line 1 of canary.ledger is damaged"),
            // Cut off within the state: there is nothing to go on with.
            (whole[..whole.len() - 9].to_owned(), "line 1 of canary.ledger is damaged"),
            (changed, "line 1 of canary.ledger is damaged"),
            (began.clone(), "line 1 of canary.ledger is damaged"),
            (format!("{whole}\n{began}"), "line 2 of canary.ledger is damaged"),
            (format!("{whole}{whole}{began}"), "line 2 of canary.ledger is damaged"),
            (forged, "line 1 of canary.ledger has a value that no canary writes, last_end_unix_ns"),
            (format!("{whole}{void}{began}"), "line 2 of canary.ledger has a value"),
            (line(&other).expect("a line"), "canary.ledger has format 2"),
        ];
        for (number, (text, says)) in texts.iter().enumerate() {
            let why = refused(&folder.path().join(number.to_string()), text);
            assert!(why.contains(says), "{says}: {why}");
        }
    }

    #[test]
    fn an_endless_line_and_an_endless_file_cost_no_more_than_the_largest_ledger() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = line(&state()).expect("a line");
        let why = refused(folder.path(), &format!("{whole}{}\n{whole}", "x".repeat(1 << 20)));
        assert!(why.contains("line 2 of canary.ledger is damaged"), "{why}");
        let file = File::create(folder.path().join(LEDGER)).expect("room");
        // Without a byte on the disk.
        file.set_len(1 << 40).expect("a hole");
        let why = look(folder.path()).map(|_| ()).expect_err("refused").to_string();
        assert!(why.contains("larger than any of ours"), "{why}");
    }

    #[test]
    fn a_ledger_stays_small_is_held_by_one_and_begins_in_no_folder_of_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = open(folder.path());
        for number in 1..=1_000 {
            ledger.append(&Entry::Began(Began { number, unix_ns: 7 })).expect("room");
        }
        let lines = std::fs::read_to_string(folder.path().join(LEDGER)).expect("a text");
        assert!(lines.lines().count() <= MOST_ENTRIES && ledger.state().next == 1_001);
        let held = claim(folder.path()).map(|_| ()).expect_err("held").to_string();
        assert!(held.contains("another canary runs there"), "{held}");
        let theirs = tempfile::tempdir().expect("a folder");
        std::fs::write(theirs.path().join("photo.jpg"), "x").expect("room");
        let why = claim(theirs.path()).map(|_| ()).expect_err("not ours").to_string();
        assert!(why.contains("has files and no canary"), "{why}");
    }
}
