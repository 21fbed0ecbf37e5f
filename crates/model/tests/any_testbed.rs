//! Testbeds from anybody: whatever stands in them, they are read or refused, and never more than that.

use model::cluster::Cluster;
use proptest::prelude::*;

/// Good and bad testbeds to start from: the published ones and the fixtures.
fn corpus() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["reference/testbeds", "fixtures/bad-testbeds"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten());
    let texts = files.filter(|file| file.path().extension().is_some_and(|end| end == "toml"));
    let mut texts: Vec<String> = texts.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
    texts.sort();
    texts
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

/// What a reader must hold to: no panic, errors that point into the text, and sums that do not overflow.
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
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, prop::sample::select(WORDS.to_vec())), 0..12),
    ) {
        let corpus = corpus();
        let mut text: Vec<char> = which.get(&corpus).chars().collect();
        for (place, cut, word) in edits {
            let place = place.index(text.len() + 1);
            let end = (place + cut).min(text.len());
            text.splice(place..end, word.chars());
        }
        read(&text.into_iter().collect::<String>());
    }
}
