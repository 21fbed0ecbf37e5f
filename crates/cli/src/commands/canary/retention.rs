//! Which run files go, and their removal: only such as the ledger lists, by names of ours.

use super::ledger::Ledger;
use crate::args::CanaryOutput;
use crate::failure::Failure;
use crate::files::plain_file;
use model::canary::{Entry, KeptFile, MOST_FILES};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The segments whose run files are to be removed at `unix_ns`, the oldest first: those that are
/// older than `keep_ns`, and as many more as make the others no larger than `keep_bytes`.
fn too_many(
    files: &BTreeMap<u32, KeptFile>,
    unix_ns: u64,
    keep_ns: u64,
    keep_bytes: u64,
) -> Vec<u32> {
    let mut bytes: u64 = files.values().map(|file| file.bytes).fold(0, u64::saturating_add);
    let mut left = files.len();
    let mut gone = Vec::new();
    for (number, file) in files {
        let is_old = unix_ns.saturating_sub(file.ended_unix_ns) > keep_ns;
        if !is_old && bytes <= keep_bytes && left <= MOST_FILES {
            break;
        }
        bytes = bytes.saturating_sub(file.bytes);
        left -= 1;
        gone.push(*number);
    }
    gone
}

/// Removes what is old or one too many. What cannot be removed is said and stays in the ledger.
pub(crate) fn tidy(
    ledger: &mut Ledger,
    output: &CanaryOutput,
    unix_ns: u64,
) -> Result<(), Failure> {
    let keep_bytes = output.keep_bytes.map_or(u64::MAX, |bytes| bytes.0);
    let gone = too_many(&ledger.state().files, unix_ns, output.keep.0, keep_bytes);
    for number in gone {
        let path = ledger.run_file(number);
        match remove(&path, &ledger.state().run_id) {
            Ok(()) => ledger.append(&Entry::Removed { number })?,
            Err(why) => eprintln!("warning: {} stays: {why}", path.display()),
        }
    }
    Ok(())
}

/// Removes a run file of the canary `run_id`, and nothing else of that name.
pub(crate) fn remove(path: &Path, run_id: &str) -> Result<(), String> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if !meta.is_file() {
        return Err("it is no file of ours".to_owned());
    }
    if let Some(other) = beside(path).find(|beside| !is_of_sqlite(beside)) {
        return Err(format!("{} beside it is no file of ours", other.display()));
    }
    let head = store::read_head(path).map_err(|error| error.to_string())?;
    if head.plan.run_id != run_id {
        return Err("it is the file of another run".to_owned());
    }
    std::fs::remove_file(path).map_err(|error| error.to_string())?;
    for beside in beside(path) {
        // Most have none.
        let _ = std::fs::remove_file(beside);
    }
    Ok(())
}

fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    ["-wal", "-shm", "-journal"].into_iter().map(|suffix| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        PathBuf::from(beside)
    })
}

/// Whether a file that may be there is SQLite's: a journal begins with a number of its own
/// (<https://www.sqlite.org/fileformat2.html>), and an index of one is whole pages.
fn is_of_sqlite(path: &Path) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return true };
    let is_index = path.as_os_str().as_encoded_bytes().ends_with(b"-shm");
    let begins = || {
        let mut head = [0; 4];
        let read = plain_file::open(path).and_then(|mut file| file.read_exact(&mut head));
        let journals =
            [[0x37, 0x7f, 6, 0x82], [0x37, 0x7f, 6, 0x83], [0xd9, 0xd5, 5, 0xf9], [0; 4]];
        read.is_ok() && journals.contains(&head)
    };
    meta.is_file()
        && (meta.len() == 0 || if is_index { meta.len() % 32_768 == 0 } else { begins() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_sqlite_beside_a_run_file_stays_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("segment-0000001.plimsoll");
        std::fs::write(&run, "a run").expect("written");
        let place = |suffix: &str| folder.path().join(format!("segment-0000001.plimsoll{suffix}"));
        for suffix in ["-wal", "-shm", "-journal"] {
            std::fs::write(place(suffix), "my notes of this segment").expect("written");
            let why = remove(&run, "r").expect_err("not ours");
            assert!(why.contains(suffix) && why.contains("no file of ours"), "{why}");
            assert!(place(suffix).exists() && run.exists());
            std::fs::remove_file(place(suffix)).expect("removed");
        }
        std::fs::write(place("-wal"), [0x37, 0x7f, 6, 0x82, 0, 0]).expect("written");
        assert!(is_of_sqlite(&place("-wal")) && is_of_sqlite(&place("-shm")));
    }

    #[test]
    fn the_oldest_go_first_and_no_more_than_needed() {
        let file = |number: u64| KeptFile { bytes: 10, ended_unix_ns: number * 100 };
        let files: BTreeMap<u32, KeptFile> = (1..=5).map(|n| (n, file(u64::from(n)))).collect();
        assert!(too_many(&files, 600, u64::MAX, u64::MAX).is_empty());
        assert_eq!(too_many(&files, 600, 399, u64::MAX), [1, 2], "300 ns is young enough");
        assert_eq!(too_many(&files, 600, u64::MAX, 25), [1, 2, 3]);
        assert_eq!(too_many(&files, 600, u64::MAX, 0), [1, 2, 3, 4, 5]);
        let many: BTreeMap<u32, KeptFile> =
            (1..=MOST_FILES as u32 + 2).map(|n| (n, file(1))).collect();
        assert_eq!(too_many(&many, 100, u64::MAX, u64::MAX), [1, 2]);
    }
}
