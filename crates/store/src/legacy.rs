//! Run files of older formats, whose notes are sentences. This is the only place where a fact is
//! read out of one; what is written today has facts alone ([`Fact`]).

use crate::values::Problem;
use model::choices::Backend;
use model::note::{Fact, InWords, NoteKind};
use model::plan::PlanNote;
use serde::Deserialize;
use serde_json::Value;

/// The last format with notes in words.
pub const LAST_IN_WORDS: u32 = 4;

/// What a note said: its words as they are, and beside them the facts that they hold.
pub fn fact(kind: NoteKind, words: String) -> Fact {
    let (refused, taken) = match kind {
        NoteKind::BackendFallback => (fallback_from(&words), fallback_to(&words)),
        NoteKind::BackendChosen => (None, chosen(&words)),
        _ => (None, None),
    };
    let device_read = if kind == NoteKind::DeviceRead { device_read(&words) } else { None };
    Fact::InWords(InWords { kind, words, refused, taken, device_read })
}

/// A plan's JSON with its notes as they are written today.
///
/// # Errors
/// It is not JSON, or its notes are none.
pub fn plan(text: &str) -> Result<Value, Problem> {
    #[derive(Deserialize)]
    struct Said {
        kind: NoteKind,
        detail: String,
    }
    let mut plan: Value = serde_json::from_str(text)?;
    if let Some(notes) = plan.get_mut("notes") {
        let said: Vec<Said> = serde_json::from_value(notes.take())?;
        let facts = said.into_iter().map(|one| PlanNote { fact: fact(one.kind, one.detail) });
        *notes = serde_json::to_value(facts.collect::<Vec<_>>())?;
    }
    Ok(plan)
}

/// `io_uring: Operation not permitted (os error 1); libaio takes its place`
fn fallback_from(words: &str) -> Option<Backend> {
    backend(words.split(':').next()?)
}

fn fallback_to(words: &str) -> Option<Backend> {
    backend(words.rsplit_once(" takes its place")?.0.rsplit(' ').next()?)
}

/// `w (measure): auto took sync: io_uring did 500 IOPS …`
fn chosen(words: &str) -> Option<Backend> {
    backend(words.split_once("): auto took ")?.1.split(':').next()?)
}

fn backend(word: &str) -> Option<Backend> {
    Backend::ALL.iter().copied().find(|backend| backend.word() == word)
}

/// `4096 bytes were read from devices in measure of w`
fn device_read(words: &str) -> Option<u64> {
    words.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: NoteKind, words: &str) -> Fact {
        let read = fact(kind, words.to_owned());
        assert!(matches!(&read, Fact::InWords(old) if old.words == words && old.kind == kind));
        read
    }

    #[test]
    fn the_backend_that_took_over_is_read_and_the_one_that_did_not() {
        for (words, refused, taken) in [
            (
                "io_uring: Operation not permitted (os error 1); libaio takes its place",
                Backend::IoUring,
                Backend::Libaio,
            ),
            (
                "io_uring: no; libaio: it has no request for a trim; sync takes its place, with \
                 one request outstanding per worker",
                Backend::IoUring,
                Backend::Sync,
            ),
            (
                "libaio: no; sync takes its place, with one request outstanding per worker",
                Backend::Libaio,
                Backend::Sync,
            ),
        ] {
            let read = read(NoteKind::BackendFallback, words);
            assert_eq!((read.refused_backend(), read.backend()), (Some(refused), Some(taken)));
        }
    }

    #[test]
    fn the_backend_that_did_best_is_read() {
        let words = "a + b (measure): auto took sync: io_uring did 500 IOPS at the workload's \
                     depth, sync 750 with one request outstanding for each worker";
        assert_eq!(read(NoteKind::BackendChosen, words).backend(), Some(Backend::Sync));
    }

    #[test]
    fn what_devices_read_is_a_number() {
        let words = "4096 bytes were read from devices in measure of w";
        assert_eq!(read(NoteKind::DeviceRead, words).device_read(), Some(4096));
        assert_eq!(read(NoteKind::DeviceRead, "no number").device_read(), None);
    }

    #[test]
    fn words_of_another_kind_are_words_alone() {
        let words = "4096: libaio takes its place): auto took sync: ";
        for kind in [NoteKind::Stuck, NoteKind::HostLost, NoteKind::Adjusted] {
            let read = read(kind, words);
            assert_eq!((read.backend(), read.device_read()), (None, None));
        }
    }

    #[test]
    fn a_plan_keeps_all_but_the_form_of_its_notes() {
        let old = r#"{"suite":"x","notes":[{"kind":"Adjusted","detail":"file size: 1"}]}"#;
        let Ok(new) = plan(old) else { panic!("a plan") };
        assert_eq!(new["suite"], "x");
        let notes: Vec<PlanNote> = serde_json::from_value(new["notes"].clone()).expect("notes");
        let words = "file size: 1".to_owned();
        assert_eq!(notes, [PlanNote { fact: fact(NoteKind::Adjusted, words) }]);
        assert!(plan(r#"{"notes":[{"kind":"NoSuch","detail":""}]}"#).is_err());
    }
}
