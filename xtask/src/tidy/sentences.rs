//! No fact is read out of a sentence: what people read is made at the edge, and nobody looks into
//! it.

use super::Finding;
use super::code::{is_in_name, only_code, starts_word, without_tests};
use super::tree::{Text, Tree, is_test};

/// Cuts sentences into the lines of a terminal, which takes no fact from them.
const FOLDED: &str = "crates/report/src/ground/folding.rs";

/// What holds words for people, as fields, names and functions are called.
const WORDS: [&str; 9] =
    ["detail", "error", "message", "problem", "reason", "remedy", "sentence", ".words", "why"];

/// What looks into a text.
const LOOKS: &str = "contains ends_with find matches parse rfind rsplit rsplit_once split \
    split_once split_whitespace starts_with strip_prefix strip_suffix trim_start_matches";

/// What hands a text on as it is.
const STEPS: [&str; 7] = ["as_deref", "as_ref", "as_str", "clone", "to_owned", "to_string", "trim"];

/// Words for people that somebody looks into, outside of tests.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let rooms = tree.ending(".rs").filter(|file| is_judged(&file.path));
    rooms.flat_map(in_file).collect()
}

fn is_judged(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !is_test(path) && path != FOLDED
}

fn in_file(file: &Text) -> Vec<Finding> {
    let remedy = "keep the fact as a type, and make its words where they are shown";
    looked_into(&without_tests(&only_code(&file.text)))
        .into_iter()
        .map(|(line, what)| Finding::at(&file.path, line, what, remedy))
        .collect()
}

/// The lines where words are looked into, and how.
fn looked_into(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for word in WORDS {
        for (at, _) in code.match_indices(word) {
            let is_whole = word.starts_with('.') || starts_word(code, at);
            let behind = &code[at + word.len()..];
            if !is_whole || behind.chars().next().is_some_and(is_in_name) {
                continue;
            }
            if let Some(look) = calls(behind).find(|call| !STEPS.contains(call))
                && LOOKS.split(' ').any(|one| one == look)
            {
                let line = code[..at].matches('\n').count() + 1;
                found.push((line, format!("`{word}` is looked into by `{look}`")));
            }
        }
    }
    found.sort();
    found
}

/// The names of the calls in a chain, one after the other: of `(x).trim().parse::<u64>()` these
/// are `trim` and `parse`.
fn calls(chain: &str) -> impl Iterator<Item = &str> {
    let mut rest = arguments(chain.trim_start());
    std::iter::from_fn(move || {
        let name = rest.trim_start().strip_prefix('.')?.trim_start();
        let end = name.find(|c: char| !is_in_name(c)).unwrap_or(name.len());
        rest = arguments(&name[end..]);
        Some(&name[..end])
    })
}

/// What stands behind the parentheses that `text` begins with, if it does.
fn arguments(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if c == ')' { &text[at + 1..] } else { text };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: &str) -> Vec<String> {
        looked_into(code).into_iter().map(|(line, what)| format!("{line} {what}")).collect()
    }

    #[test]
    fn whoever_looks_into_words_is_found() {
        assert_eq!(
            told("note.detail\n    .as_str()\n    .split(x).next()"),
            ["1 `detail` is looked into by `split`"]
        );
        assert_eq!(told("a;\nif why.ends_with(x) {}"), ["2 `why` is looked into by `ends_with`"]);
        assert_eq!(
            told("note::sentence(&fact(x)).parse::<u64>()"),
            ["1 `sentence` is looked into by `parse`"]
        );
        assert_eq!(told("error.words.contains(x)"), ["1 `.words` is looked into by `contains`"]);
        for fine in [
            "words.contains(x)", "note.detail.len()", "detail_of.split(x)", "format!(detail)",
            "x.find(why)",
        ] {
            assert_eq!(told(fine), [""; 0], "{fine}");
        }
    }

    #[test]
    fn tests_and_the_reader_of_older_files_are_left_alone() {
        for path in ["crates/a/src/b/tests.rs", "crates/a/tests/b.rs", FOLDED, "tests/main.rs"] {
            assert!(!is_judged(path), "{path}");
        }
        assert!(is_judged("crates/store/src/reader.rs"));
    }
}
