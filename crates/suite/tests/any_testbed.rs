//! Testbeds from anybody: whatever stands in them, they are read or refused, and never more than
//! that.

use catalogue::Cluster;
use proptest::prelude::*;

/// Good and bad testbeds to start from: the published ones and the fixtures.
fn corpus() -> Vec<String> {
    crate::common::corpus(["reference/testbeds", "fixtures/bad-testbeds"])
}

/// Words and signs that mean something in a testbed.
const WORDS: [&str; 20] = [
    "[",
    "]",
    "[[",
    "\"",
    "=",
    "\n",
    "auto",
    "0",
    "-1",
    "1e400",
    "nan",
    "999999999999999999999",
    "100%",
    "\"25Gbit/s\"",
    "\"18446744073709551615\"",
    "[[nodes]]",
    "count = 4294967295",
    "\u{0}",
    "ü",
    "'''",
];

/// What a reader must hold to: no panic, errors that point into the text, and sums that do not
/// overflow.
fn read(text: &str) {
    match Cluster::parse("fuzz", text, &[]) {
        Ok(cluster) => assert!(cluster.node_count() > 0),
        Err(errors) => {
            assert!(!errors.problems.is_empty());
            for problem in &errors.problems {
                let place = errors.sources.place(&problem.span);
                assert!(place.text.get(place.span.clone()).is_some(), "{problem:?} points nowhere");
                assert!(!problem.remedy.is_empty());
            }
        }
    }
}

#[test]
fn the_corpus_is_read_or_refused_as_it_stands() {
    let corpus = corpus();
    assert!(corpus.len() >= 10, "{} testbeds", corpus.len());
    corpus.iter().for_each(|text| read(text));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn a_testbed_that_somebody_damaged_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        edits in crate::common::edits(&WORDS),
    ) {
        let corpus = corpus();
        read(&crate::common::damaged(which.get::<String>(&corpus), edits));
    }
}
