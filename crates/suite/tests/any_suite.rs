//! Suites from anybody: whatever stands in them, they are read or refused, and never more than
//! that.

use form::Override;
use proptest::prelude::*;
use suite::Spec;

/// Good and bad suites to start from: the built-in ones and the fixtures.
fn corpus() -> Vec<String> {
    crate::common::corpus(["suites", "fixtures/bad-suites"])
}

/// Words and signs that mean something in a suite.
const WORDS: [&str; 29] = [
    "[",
    "]",
    "[[",
    "\"",
    "=",
    "\n",
    "auto",
    "4KiB",
    "999999999999999999999",
    "-1",
    "1e400",
    "nan",
    "0",
    "100%",
    "[[workload]]",
    "[sweep]",
    "depth = [1, 2]",
    "group = \"g\"",
    "rate = 1e9",
    "hot_spots = \"50%:50%\"",
    "\u{0}",
    "ü",
    "{",
    "'''",
    "\"2 * memory / workers\"",
    "\"1..8 x2\"",
    "size = [\"1..8 +3\"]",
    "repetitions = 9999",
    "skip = \"depth / 0 > 1\"",
];

/// What a reader must hold to: no panic, and errors that point into the text.
fn read(text: &str) {
    let sets: Vec<Override> =
        ["depth=3", "layout.size=1GiB"].iter().filter_map(|set| set.parse().ok()).collect();
    for sets in [&[][..], &sets] {
        match Spec::parse("fuzz", text, sets) {
            Ok(spec) => assert!(
                !spec.first_scenario().points.is_empty()
                    && spec.first_scenario().points.iter().all(|point| !point.workloads.is_empty())
            ),
            Err(errors) => {
                assert!(!errors.problems.is_empty());
                for problem in &errors.problems {
                    let place = errors.sources.place(&problem.span);
                    assert!(
                        place.text.get(place.span.clone()).is_some(),
                        "{problem:?} points nowhere"
                    );
                    assert!(!problem.remedy.is_empty());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn a_suite_that_somebody_damaged_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        edits in crate::common::edits(&WORDS),
    ) {
        let corpus = corpus();
        read(&crate::common::damaged(which.get::<String>(&corpus), edits));
    }
}
