//! The JSON of fio's output: found among what stands around it, and mended where fio wrote what is
//! none.

use super::duplicates::{self, Duplicates};
use serde_json::Value;

/// What an output of fio holds.
pub struct Found {
    /// Its outputs, in their order: a script may have appended one to the other.
    pub outputs: Vec<Value>,
    /// Bytes of text around them that are no blanks.
    pub around: usize,
    /// Words that are no JSON, such as `nan`, in whose place nothing stands now.
    pub mended: usize,
    /// Keys that came again in their object.
    pub duplicates: Duplicates,
}

/// No file holds more outputs of fio.
const MOST_OUTPUTS: usize = 10_000;
/// No text around outputs has more brackets that begin a line.
const MOST_FAILED: usize = 20;
/// An output that other JSON is wrapped around lies no deeper.
const MOST_DEPTH: usize = 6;

/// All outputs in a text: objects that begin a line, or begin at all.
///
/// # Errors
/// There is none, or one is none to its end: the place and why.
pub fn find(text: &str) -> Result<Found, String> {
    let mut found =
        Found { outputs: Vec::new(), around: 0, mended: 0, duplicates: Duplicates::default() };
    let (mut lines, mut counted) = (0, 0);
    let (mut from, mut failed) = (0, 0);
    while let Some(begin) = next_object(text, from) {
        found.around += text[from..begin].trim().len();
        match object(text, begin) {
            Ok((value, length, mended)) => {
                outputs_in(value, 0, &mut found.outputs);
                lines += text[counted..begin].matches('\n').count();
                counted = begin;
                found.duplicates.extend(duplicates::find(&text[begin..begin + length]), lines);
                found.mended += mended;
                from = begin + length;
            }
            // A bracket of some text may begin a line, a brace only before the first output.
            Err(why) => {
                let is_cut = text[begin..].starts_with('{')
                    && (!found.outputs.is_empty() || !text[begin + 1..].contains("\n{"));
                failed += 1;
                if is_cut || failed > MOST_FAILED {
                    return Err(why);
                }
                found.around += 1;
                from = begin + 1;
            }
        }
        if found.outputs.len() > MOST_OUTPUTS {
            return Err(format!("it holds more than {MOST_OUTPUTS} outputs"));
        }
    }
    found.around += text[from..].trim().len();
    match found.outputs.is_empty() {
        true => Err("there is no JSON of fio in it".to_owned()),
        false => Ok(found),
    }
}

/// Where the next value begins: at a line's first letter, else at the first brace of a text in
/// which none begins a line.
fn next_object(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from..];
    let begun = rest.trim_start();
    if begun.starts_with(['{', '[']) {
        return Some(text.len() - begun.len());
    }
    let at_line = rest.find("\n{").map(|at| from + at + 1);
    at_line.or_else(|| if from == 0 { rest.find('{') } else { None })
}

/// The value that begins there, its length, and how many words of it were mended.
fn object(text: &str, begin: usize) -> Result<(Value, usize, usize), String> {
    let rest = &text[begin..];
    let error = match first(rest) {
        Ok((value, length)) => return Ok((value, length, 0)),
        Err(error) => error,
    };
    // Words that are no JSON are taken as not given; the length is that of the text as it was.
    let (mended, count) = without_nan(rest);
    if count > 0
        && let Ok((value, length)) = first(&mended)
    {
        let (length, count) = as_it_was(rest, length);
        return Ok((value, length, count));
    }
    let lines = text[..begin].matches('\n').count();
    Err(format!(
        "it is no JSON: line {}, column {}: {}",
        lines + error.line(),
        error.column(),
        reason(&error)
    ))
}

/// The outputs in a value: itself, the items of a list, or what other objects are wrapped around.
fn outputs_in(value: Value, depth: usize, all: &mut Vec<Value>) {
    let is_output = |object: &serde_json::Map<String, Value>| {
        ["jobs", "client_stats"].iter().any(|key| object.get(*key).is_some_and(Value::is_array))
    };
    match value {
        Value::Object(object) if is_output(&object) => all.push(Value::Object(object)),
        Value::Object(object) if depth < MOST_DEPTH => {
            object.into_iter().for_each(|(_, inner)| outputs_in(inner, depth + 1, all));
        }
        Value::Array(items) if depth < MOST_DEPTH => {
            items.into_iter().for_each(|inner| outputs_in(inner, depth + 1, all));
        }
        _ => {}
    }
}

fn reason(error: &serde_json::Error) -> &'static str {
    if error.is_eof() { "it ends too early; fio did not end" } else { "a sign that is none there" }
}

/// The first value of a text, and where it ends.
fn first(text: &str) -> Result<(Value, usize), serde_json::Error> {
    let mut all = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match all.next() {
        Some(Ok(value)) => Ok((value, all.byte_offset())),
        Some(Err(error)) => Err(error),
        None => Ok((Value::Null, 0)),
    }
}

/// A word that C prints for a division by nothing.
fn word_of_c(rest: &str) -> Option<&'static str> {
    ["-nan", "nan", "-inf", "inf"].into_iter().find(|word| rest.starts_with(word))
}

/// What stands in place of such a word.
const NOTHING: &str = "null";

/// Walks through a text: each piece, and whether it is a word of C outside of strings.
fn pieces(text: &str, mut take: impl FnMut(&str, bool) -> bool) {
    let (mut rest, mut is_string) = (text, false);
    while let Some(c) = rest.chars().next() {
        let word = word_of_c(rest).filter(|_| !is_string);
        let length = match word {
            Some(word) => word.len(),
            None if c == '\\' && is_string => rest.chars().take(2).map(char::len_utf8).sum(),
            None => c.len_utf8(),
        };
        is_string ^= c == '"' && word.is_none();
        if !take(&rest[..length], word.is_some()) {
            return;
        }
        rest = &rest[length..];
    }
}

/// The text with `null` for `nan` and `inf` outside of strings, and how many there were.
fn without_nan(text: &str) -> (String, usize) {
    let (mut out, mut count) = (String::with_capacity(text.len()), 0);
    pieces(text, |piece, is_word| {
        out.push_str(if is_word { NOTHING } else { piece });
        count += usize::from(is_word);
        true
    });
    (out, count)
}

/// The length in the text as it was of what is `length` long once it is mended, and the number of
/// words that were mended in it.
fn as_it_was(text: &str, length: usize) -> (usize, usize) {
    let (mut mended, mut was, mut count) = (0, 0, 0);
    pieces(text, |piece, is_word| {
        if mended >= length {
            return false;
        }
        mended += if is_word { NOTHING.len() } else { piece.len() };
        was += piece.len();
        count += usize::from(is_word);
        true
    });
    (was, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_is_counted_and_words_are_mended() {
        let text = "fio: {warning}\n{\"jobs\": [], \"a\": nan, \"b\": \"nan \\\"inf\"}\n done";
        let found = find(text).expect("JSON");
        assert_eq!(found.outputs[0]["a"], Value::Null);
        assert_eq!(found.outputs[0]["b"], "nan \"inf");
        assert_eq!((found.mended, found.around), (1, 18));
        let found = find("{\"jobs\": []}").expect("JSON");
        assert_eq!((found.mended, found.around), (0, 0));
    }

    #[test]
    fn outputs_that_follow_each_other_or_lie_deeper_are_all_found() {
        let two = "{\"jobs\": [1], \"x\": -nan}\nfio: hi\n{\n\"jobs\": [2]}{\"jobs\": [3]}";
        let found = find(two).expect("three");
        let jobs: Vec<&Value> = found.outputs.iter().map(|one| &one["jobs"][0]).collect();
        assert_eq!(jobs, [1, 2, 3]);
        assert_eq!((found.mended, found.around), (1, 7));
        let wrapped = "[{\"id\": 1, \"fio\": {\"jobs\": [1]}}, {\"fio\": {\"jobs\": [2]}}]";
        assert_eq!(find(wrapped).expect("two").outputs.len(), 2);
        assert!(find("{\"jobs\": [1]}\n{\"jobs\": [").is_err(), "the second is cut off");
    }

    #[test]
    fn half_of_it_is_an_error_with_its_line() {
        let error = find("w\n{\n\"a\": [1,\n").err().expect("half");
        assert!(error.contains("line 4") && error.contains("too early"), "{error}");
        assert!(find("nothing").is_err());
    }
}
