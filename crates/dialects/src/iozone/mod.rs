//! IOzone: command lines.

use crate::apart::beside;
use crate::draft::{Fields, Group, Work, size};
use crate::import::Import;
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Given, Reads, Row, Table, Values};
use crate::words::line::{self, BLOCK, Limits, Line, WORKERS};
use crate::words::values::{self, Notation};
use std::sync::LazyLock;

/// IOzone's options.
pub static OPTIONS: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_str!("../iozone/options.txt")));

/// A command line of IOzone.
struct Iozone {
    values: Values,
    /// `-i`
    tests: Vec<u64>,
    /// `-f`, the first of `-F`
    file: Option<(String, OptionId)>,
}

impl Reads for Iozone {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn notation(&self) -> Notation {
        Notation { bare: 1024, ..Notation::PLAIN }
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        match row.slot {
            Some("test") => self.test(),
            _ => {
                let file = values::plain_text(&given.value)?;
                let (first, _) = self.file.get_or_insert((file.clone(), given.id));
                match beside(first) == beside(&file) {
                    true => Ok(row.verdict(&given.value)),
                    false => {
                        Err("files in several directories; name them with --target".to_owned())
                    }
                }
            }
        }
    }
}

impl Iozone {
    fn test(&mut self) -> Result<Verdict, String> {
        let test = self.values.number("test").unwrap_or(0);
        let what = match test {
            0..=2 => {
                self.tests.push(test);
                return Ok(Verdict::same("its workloads"));
            }
            8 => {
                self.tests.push(test);
                return Ok(Verdict::near("half of the requests read"));
            }
            3 => "requests from the end to the beginning",
            4 => "one record that is written again and again",
            5 => "strides of reads (`stride` of a workload is near)",
            6 | 7 => "calls of the C library (`fwrite`, `fread`)",
            9 | 10 => "`pwrite` and `pread`, which all workloads here use",
            11 | 12 => "`pwritev` and `preadv`",
            _ => "a test of this number",
        };
        Err(what.to_owned())
    }
}

/// The words behind `iozone`, which begin at `first`.
pub fn command(words: &[String], first: usize) -> Import {
    let mut losses = Losses::default();
    let mut job = Iozone { values: Values::of(&OPTIONS), tests: Vec::new(), file: None };
    // `-F` takes all files that follow.
    let bare = |last: &str| ["-f", "-F"].contains(&last).then_some("-F");
    let line = Line { tool: "IOzone", words, first, bare };
    line.read(OPTIONS.chapter("Options"), &mut job, &mut losses);
    let group = group(&job, &mut losses);
    line::import("iozone", "IOzone", Fields::default(), group, losses)
}

fn group(job: &Iozone, losses: &mut Losses) -> Group {
    let values = &job.values;
    let mut group = Group { name: "iozone".to_owned(), in_turn: true, ..Group::default() };
    if let Some((file, id)) = &job.file {
        group.targets = vec![beside(file)];
        group.targets_from = losses.source(*id);
    }
    group.layout.set("files", "1", "");
    group.layout.text("per", "worker", "");
    if values.is("automatic") {
        automatic(values, losses, &mut group);
    } else {
        let limits = Limits(512, 1 << 60, size);
        let bytes = limits.of("size", values, losses).unwrap_or(512 << 10);
        group.layout.set("size", size(bytes), values.source("size", losses));
        if values.number("record").unwrap_or(4 << 10) > bytes {
            let slot = if values.is("record") { "record" } else { "size" };
            let needs = "a file (`-s`, 512 KiB without it) of at least one record, as IOzone does";
            values.worsen(slot, losses, Verdict::refused(needs));
        }
    }
    // The first test writes all of each file.
    let makes = tests(job).contains(&0);
    group.stages.set("prepare", (!makes).to_string(), "");
    group.stages.text("amount", "all", "");
    for (key, slot) in [("count_fsync", "flush"), ("count_close", "close")] {
        group.stages.set(key, values.is(slot).to_string(), values.source(slot, losses));
    }
    group.engine.text("backend", "sync", "");
    group.engine.set("direct", values.is("direct").to_string(), values.source("direct", losses));
    if values.is("verify") {
        group.contents.set("verify", "true", values.source("verify", losses));
    }
    for test in tests(job) {
        works(values, test, losses, &mut group);
    }
    group
}

/// The tests that run; without a word of it, those that have workloads here.
fn tests(job: &Iozone) -> Vec<u64> {
    match job.tests.is_empty() {
        true => vec![0, 1, 2],
        false => {
            let mut tests = job.tests.clone();
            tests.sort_unstable();
            tests.dedup();
            tests
        }
    }
}

/// `-a`: sizes of records from 4 KiB to 16 MiB, and one size of files in place of many.
fn automatic(values: &Values, losses: &mut Losses, group: &mut Group) {
    let slot = if values.is("size") { "size" } else { "most" };
    let bytes = Limits(1 << 20, 1 << 60, size).of(slot, values, losses).unwrap_or(512 << 20);
    group.layout.set("size", size(bytes), values.source(slot, losses));
    if values.number("record").is_none() {
        let powers = (12..=24).map(|power| 1_u64 << power).take_while(|record| *record <= bytes);
        let all: Vec<String> = powers.map(size).collect();
        let source = values.source("automatic", losses);
        group.sweep.set("block_size", format!("[{}]", all.join(", ")), source);
    }
}

fn works(values: &Values, test: u64, losses: &mut Losses, group: &mut Group) {
    let twice = !values.is("once");
    let workers = WORKERS.of("threads", values, losses).unwrap_or(1);
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
            let record = BLOCK.of("record", values, losses).unwrap_or(4 << 10);
            fields.set("block_size", size(record), values.source("record", losses));
        }
        fields.text("access", access, "");
        fields.text("read", read, "");
        fields.set("workers", workers.to_string(), values.source("threads", losses));
        if values.is("cluster") {
            fields.text("spread", "all-hosts", values.source("cluster", losses));
        }
        fields.set("depth", "1", "");
        if values.is("durable") {
            fields.set("dsync", "true", values.source("durable", losses));
        }
        group.works.push(Work { name: (*name).to_owned(), note: String::new(), fields });
    }
}
