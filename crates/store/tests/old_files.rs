//! Run files that older programs wrote. `fixtures/run-files/format-N.plimsoll` was written by the
//! writer of that format, built from its own commit, and `format-N.expected` by the same program
//! from what it had in memory; those of formats 8 and 9 by queries of the tables.

use model::choices::Backend;
use model::{Fact, Record};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/run-files")
}

/// What a run has, as the older programs have printed it.
fn printed(record: &Record) -> String {
    let mut text = format!(
        "stages {} notes {} occurrences {} counters {}\n",
        record.stages.len(),
        record.notes.len(),
        record.occurrences.len(),
        record.counters().count()
    );
    for sample in record.samples() {
        let (stage, host, interval) = (sample.stage, sample.host, sample.interval);
        write!(text, "{stage} {host} {interval} {} {}", sample.start_ns, sample.length_ns)
            .expect("a text");
        for op in &sample.ops {
            let max_ns = op.latency.decode().ok().and_then(|own| own.max_ns()).unwrap_or(0);
            write!(text, " | {:?} {} {} {:?} {max_ns}", op.op, op.ios, op.bytes, op.errors)
                .expect("a text");
        }
        text.push('\n');
    }
    text
}

#[test]
fn files_of_older_programs_say_what_they_said() {
    let mut formats = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("a folder").flatten() {
        let expected = entry.path();
        let name = expected.file_stem().expect("a name").to_string_lossy().into_owned();
        if expected.extension().is_none_or(|kind| kind != "expected") {
            continue;
        }
        // What is read is a copy: nothing is left beside the fixture.
        let copies = tempfile::tempdir().expect("a folder");
        let file = copies.path().join("run.plimsoll");
        std::fs::copy(expected.with_extension("plimsoll"), &file).expect("room");
        let record = store::read(&file).expect("a run file of an older program");
        assert_eq!(printed(&record), std::fs::read_to_string(&expected).expect("a text"), "{name}");
        assert!(!analysis::results(&record).is_empty(), "{name}");
        let summed = store::read_digests(&file).expect("figures");
        assert_eq!(analysis::results(&summed), analysis::results(&record), "{name}");
        // Notes were sentences: what they hold is read out of them.
        if ["format-3", "format-4"].contains(&name.as_str()) {
            let words = |fact: &Fact| match fact {
                Fact::InWords(said) => Some((said.taken, said.device_read)),
                _ => None,
            };
            let said: Vec<_> = record.notes.iter().filter_map(|note| words(&note.fact)).collect();
            let expected = [(None, None), (None, None), (Some(Backend::Libaio), None)];
            assert_eq!(said[..3], expected, "{name}");
            assert_eq!(said[3..], [(None, Some(4_096))], "{name}");
        }
        formats.push(name);
    }
    formats.sort();
    assert!(formats.len() >= 6, "{formats:?}");
}
