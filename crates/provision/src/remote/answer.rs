//! Answers of others: JSON of their own making, read within bounds and never believed to be whole.

use crate::{Outcome, Problem};
use serde_json::Value;

/// The longest part of an answer that is repeated in words.
const LONGEST_WORDS: usize = 160;

/// An answer as JSON.
pub(crate) fn read(call: &str, answer: &str) -> Outcome<Value> {
    serde_json::from_str(answer).map_err(|error| {
        let said = match answer.trim() {
            "" => "its answer is empty".to_owned(),
            text => format!("its answer is no whole JSON ({error}): {}", own_line(text)),
        };
        Problem::tool(call, said)
    })
}

/// A text on one line of bounded length, without what steers a terminal.
pub(crate) fn own_line(text: &str) -> String {
    let plain = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut line: String = plain.take(LONGEST_WORDS).collect();
    if text.chars().nth(LONGEST_WORDS).is_some() {
        line.push('…');
    }
    line
}

fn missing(call: &str, key: &str) -> Problem {
    Problem::tool(call, format!("its answer has no {key}"))
}

/// The value behind a path of keys.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// An object behind a path of keys.
pub(crate) fn object<'a>(call: &str, value: &'a Value, path: &str) -> Outcome<&'a Value> {
    at(value, path).filter(|value| value.is_object()).ok_or_else(|| missing(call, path))
}

/// A list behind a path of keys.
pub(crate) fn array<'a>(call: &str, value: &'a Value, path: &str) -> Outcome<&'a [Value]> {
    let found = if path.is_empty() { Some(value) } else { at(value, path) };
    let found = found.and_then(Value::as_array).map(Vec::as_slice);
    found.ok_or_else(|| missing(call, if path.is_empty() { "list" } else { path }))
}

/// A text behind a path of keys; `None` also where it is something else.
pub(crate) fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    at(value, path).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_answer_is_refused_in_few_words() {
        for bad in ["", "{", "<html>", "\u{1b}[2J{\"a\":", "nul", &"[".repeat(100_000)] {
            let problem = read("govc about", bad).expect_err("no JSON").to_string();
            assert!(problem.len() < 600 && !problem.contains('\u{1b}'), "{problem}");
        }
        let value = read("x", r#"{"a":{"b":[1,"2",-3]},"c":-1}"#).expect("JSON");
        assert_eq!(array("x", &value, "a.b").map(<[Value]>::len), Ok(3));
        assert!(object("x", &value, "c").is_err() && text(&value, "a.b").is_none());
        assert_eq!(own_line(&"ä".repeat(500)).chars().count(), LONGEST_WORDS + 1);
    }
}
