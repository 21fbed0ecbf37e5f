//! IOzone: command lines.

mod options;

pub use options::{Iozone, OPTIONS};

use crate::draft::{Draft, Fields, Group, Work, size};
use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::{Got, inside};
use crate::mpi::line::split;
use crate::table::{Given, find, unknown};
use crate::write;

/// The words behind `iozone`, which begin at `first`.
///
/// # Errors
/// There are too many words.
pub fn command(words: &[String], first: usize) -> Result<Import, ImportError> {
    if words.len() > MOST_OPTIONS {
        let what = format!("the command has more than {MOST_OPTIONS} words");
        return Err(ImportError::new("command", what, "take some out"));
    }
    let mut losses = Losses::default();
    let mut job = Iozone::default();
    let mut number = first;
    while number < words.len() {
        let place = format!("word {}", number + 1);
        let (word, next) = (&words[number], words.get(number + 1).map(String::as_str));
        number += 1;
        // `-F` takes all files that follow.
        let is_name = !word.starts_with('-') && job.expects_files;
        let (options, took) = match (is_name, plus(word, next)) {
            (true, _) => (vec![("-F".to_owned(), word.clone())], false),
            (false, Some(found)) => found,
            (false, None) => {
                job.expects_files = false;
                split(word, next, OPTIONS)
            }
        };
        number += usize::from(took);
        for (name, value) in options {
            let id = losses.tell(&name, &value, &place, Verdict::harmless(""));
            let verdict = match find(&[OPTIONS], &name) {
                Some(option) => option.apply(&mut job, &Given { id, value }),
                None => unknown(&[OPTIONS], "IOzone", &name),
            };
            losses.replace(id, verdict);
        }
    }
    Ok(suite(&job, losses))
}

/// Options of two letters: `-+n`, and their value.
fn plus(word: &str, next: Option<&str>) -> Option<(Vec<(String, String)>, bool)> {
    if !word.starts_with("-+") {
        return None;
    }
    let option = find(&[OPTIONS], word)?;
    let takes = !matches!(option.takes, crate::table::Takes::Flag | crate::table::Takes::Nothing);
    let value = next.filter(|_| takes).unwrap_or_default().to_owned();
    Some((vec![(word.to_owned(), value)], takes && next.is_some()))
}

fn suite(job: &Iozone, mut losses: Losses) -> Import {
    let mut group = Group { name: "iozone".to_owned(), in_turn: true, ..Group::default() };
    if let Some(got) = &job.file {
        let directory = got.value.rsplit_once('/').map_or(".", |(directory, _)| directory);
        group.targets = vec![inside(directory)];
        group.targets_from = losses.source(got.id);
    }
    let workers = job.threads.as_ref().map_or(1, |got| got.value).clamp(1, 65_536);
    group.layout.set("files", "1", "");
    group.layout.text("per", "worker", "");
    if job.automatic.is_some() {
        automatic(job, &mut losses, &mut group);
    } else {
        let bytes = job.size.as_ref().map_or(512 << 10, |got| got.value).max(512);
        group.layout.set("size", size(bytes), Got::source(&job.size, &losses));
    }
    // The first test writes all of each file.
    let makes = tests(job).contains(&0);
    group.stages.set("prepare", (!makes).to_string(), "");
    group.stages.text("amount", "all", "");
    let flush = job.flush.is_some();
    group.stages.set("count_fsync", flush.to_string(), Got::source(&job.flush, &losses));
    let close = job.close.is_some();
    group.stages.set("count_close", close.to_string(), Got::source(&job.close, &losses));
    group.engine.text("backend", "sync", "");
    let direct = job.direct.is_some();
    group.engine.set("direct", direct.to_string(), Got::source(&job.direct, &losses));
    if let Some(got) = &job.verify {
        group.contents.set("verify", "true", losses.source(got.id));
    }
    for test in tests(job) {
        works(job, test, workers, &losses, &mut group);
    }
    let draft = Draft {
        name: "iozone".to_owned(),
        description: "Imported from a command line of IOzone.".to_owned(),
        notes: vec![
            "Imported from a command line of IOzone by `plimsoll import`.".to_owned(),
            "Behind each field: the word that it came from. Others are IOzone's defaults."
                .to_owned(),
        ],
        groups: vec![group],
        ..Draft::default()
    };
    let suite = write::suite(&draft);
    Import::new("iozone", losses, vec![suite])
}

/// The tests that run; without a word of it, those that have workloads here.
fn tests(job: &Iozone) -> Vec<u64> {
    match job.tests.is_empty() {
        true => vec![0, 1, 2],
        false => {
            let mut tests: Vec<u64> = job.tests.iter().map(|got| got.value).collect();
            tests.sort_unstable();
            tests.dedup();
            tests
        }
    }
}

/// `-a`: sizes of records from 4 KiB to 16 MiB, and one size of files in place of many.
fn automatic(job: &Iozone, losses: &mut Losses, group: &mut Group) {
    let most = job.most.as_ref().map_or(512 << 20, |got| got.value);
    let bytes = job.size.as_ref().map_or(most, |got| got.value).max(1 << 20);
    group.layout.set("size", size(bytes), Got::source(&job.most, losses));
    if job.record.is_none() {
        let source = Got::source(&job.automatic, losses);
        let last = bytes.min(16 << 20);
        let mut all = Vec::new();
        let mut record: u64 = 4 << 10;
        while record <= last {
            all.push(size(record));
            record *= 2;
        }
        group.sweep.set("block_size", format!("[{}]", all.join(", ")), source);
    }
}

fn works(job: &Iozone, test: u64, workers: u64, losses: &Losses, group: &mut Group) {
    let twice = job.once.is_none();
    let all: &[(&str, &str, &str)] = match test {
        0 if twice => &[("write", "sequential", "0%"), ("rewrite", "sequential", "0%")],
        0 => &[("write", "sequential", "0%")],
        1 if twice => &[("read", "sequential", "100%"), ("reread", "sequential", "100%")],
        1 => &[("read", "sequential", "100%")],
        2 => &[("random-read", "permutation", "100%"), ("random-write", "permutation", "0%")],
        8 => &[("random-mix", "permutation", "50%")],
        _ => &[],
    };
    for (name, access, read) in all {
        let mut fields = Fields::default();
        if group.sweep.get("block_size").is_none() {
            let record = job.record.as_ref().map_or(4 << 10, |got| got.value).clamp(512, 1 << 30);
            fields.set("block_size", size(record), Got::source(&job.record, losses));
        }
        fields.text("access", access, "");
        fields.text("read", read, "");
        let source = Got::source(&job.threads, losses);
        fields.set("workers", workers.to_string(), source);
        if job.cluster.is_some() {
            fields.text("spread", "all-hosts", Got::source(&job.cluster, losses));
        }
        fields.set("depth", "1", "");
        if let Some(got) = &job.durable {
            fields.set("dsync", "true", losses.source(got.id));
        }
        group.works.push(Work { name: (*name).to_owned(), note: String::new(), fields });
    }
}
