//! What the passes of a run that read back what it wrote came to: in words, and as a paragraph of
//! the page. What was found beside them is a doubt.

use crate::ground::markup::{Markup, plain};
use crate::ground::words;
use model::{Bytes, Record, StageKind};

/// One sentence; nothing where nothing was read back.
pub fn text(record: &Record) -> String {
    let is_pass = |stage: u32| {
        let planned = record.plan.stages.get(stage as usize);
        planned.is_some_and(|planned| planned.kind == StageKind::Verify)
    };
    let (mut bytes, mut bad) = (0u64, 0u64);
    for stage in record.stages.iter().filter(|stage| is_pass(stage.stage)) {
        for part in stage.digest(record).sums.parts.values() {
            bytes = bytes.saturating_add(part.all.bytes);
            bad = part.errors.values().fold(bad, |sum, count| sum.saturating_add(*count));
        }
    }
    match (bytes, bad) {
        (0, 0) => String::new(),
        (bytes, 0) => format!("Verified: {} were read back, as written.\n", Bytes(bytes)),
        (bytes, bad) => format!(
            "Verified: {} of what was read back failed or was damaged; {} were as written.\n",
            words::counted(bad, "request"),
            Bytes(bytes)
        ),
    }
}

/// The same for the page.
pub fn paragraph(record: &Record) -> Markup {
    match text(record) {
        text if text.is_empty() => Markup::new(),
        text => plain("p", text.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::Op;
    use model::sample::VERIFY_CORRUPT;

    #[test]
    fn what_was_read_back_is_told_with_what_was_damaged() {
        let mut recorded = Recorded::new(
            "[contents]\nverify = \"after\"\n[[workload]]\nname = \"w\"\nread = \"0%\"\n",
        );
        recorded.second(0, &[(Op::Write, &[100; 5])]);
        assert_eq!(text(&recorded.record()), "", "nothing was read back yet");
        let pass = recorded.stage(StageKind::Verify);
        recorded.interval(pass, 0, &[(Op::Read, &[100; 4])]);
        assert_eq!(text(&recorded.record()), "Verified: 4 MiB were read back, as written.\n");
        recorded.fail(pass, 0, Op::Read, VERIFY_CORRUPT, 2);
        let said = text(&recorded.record());
        assert!(said.starts_with("Verified: 2 requests of what was read back failed"), "{said}");
    }
}
