//! Keys that one object of a JSON text has twice. Readers of JSON take the last one, so that the
//! first is gone without a word (RFC 8259, 4: what becomes of it is not predictable).

use super::{Results, doubt};
use model::foreign::DoubtKind;
use std::borrow::Cow;
use std::collections::HashSet;

/// Keys that are remembered at once; of an object that has more, the rest is not compared.
const MOST_KEYS: usize = 1 << 18;
/// No reader goes deeper.
const MOST_DEPTH: usize = 200;
/// So many are named; of the others, the number is said.
const MOST_NAMED: usize = 20;

/// Keys that came again in their object.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// The first of them: where in the value, and the line, from 0.
    pub named: Vec<(String, usize)>,
    /// All of them.
    pub count: usize,
}

impl Duplicates {
    /// Takes in those of another text, which begins at this line.
    pub fn extend(&mut self, other: Duplicates, line: usize) {
        let room = MOST_NAMED.saturating_sub(self.named.len());
        let named = other.named.into_iter().take(room);
        self.named.extend(named.map(|(path, at)| (path, at + line)));
        self.count += other.count;
    }

    /// Says each of them of the file `name`.
    pub fn say(&self, name: &str, results: &mut Results) {
        for (path, line) in &self.named {
            doubt(
                results,
                DoubtKind::DuplicateKey,
                &format!("{name}:{}: `{path}`", line + 1),
                None,
            );
        }
        if self.count > self.named.len() {
            let numbers = Some((self.named.len() as f64, self.count as f64));
            doubt(results, DoubtKind::DuplicateKey, name, numbers);
        }
    }
}

/// An object or a list that is open.
struct Open<'a> {
    keys: HashSet<Cow<'a, str>>,
    is_object: bool,
    /// Whether the next text is a key.
    expects_key: bool,
    /// The key or the number of what stands in it.
    key: Cow<'a, str>,
    number: usize,
}

/// The duplicates in a text of JSON; what is no JSON in it is passed over.
pub fn find(text: &str) -> Duplicates {
    let mut found = Duplicates::default();
    let mut open: Vec<Open<'_>> = Vec::new();
    let (mut at, mut line, mut remembered) = (0, 0, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => line += 1,
            b'{' | b'[' if open.len() < MOST_DEPTH => {
                let is_object = *byte == b'{';
                open.push(Open {
                    keys: HashSet::new(),
                    is_object,
                    expects_key: is_object,
                    key: Cow::Borrowed(""),
                    number: 0,
                });
            }
            b'}' | b']' => remembered -= open.pop().map_or(0, |open| open.keys.len()),
            b',' => {
                if let Some(inner) = open.last_mut() {
                    inner.number += 1;
                    inner.expects_key = inner.is_object;
                }
            }
            b'"' => {
                let end = end_of_text(bytes, at + 1);
                let raw = text.get(at + 1..end).unwrap_or_default();
                line += raw.matches('\n').count();
                at = end;
                if let Some(inner) = open.last_mut().filter(|inner| inner.expects_key) {
                    inner.expects_key = false;
                    inner.key = plain(raw);
                    let key = inner.key.clone();
                    if inner.keys.contains(&key) {
                        found.count += 1;
                        if found.named.len() < MOST_NAMED {
                            found.named.push((path(&open), line));
                        }
                    } else if remembered < MOST_KEYS {
                        remembered += 1;
                        inner.keys.insert(key);
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Where the text ends that begins at `from`: at its closing quote.
fn end_of_text(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A key without escapes: `a` may also be written `\u0061`.
fn plain(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    serde_json::from_str(&format!("\"{raw}\"")).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// `jobs[0].read.iops`.
fn path(open: &[Open<'_>]) -> String {
    let mut path = String::new();
    for one in open {
        match one.is_object {
            true if path.is_empty() => path.push_str(&one.key),
            true => path.push_str(&format!(".{}", one.key)),
            false => path.push_str(&format!("[{}]", one.number)),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::read;
    use model::foreign::Form;

    fn named(text: &str) -> Vec<(String, usize)> {
        find(text).named
    }

    #[test]
    fn a_key_that_comes_again_in_its_object_is_named_with_its_place() {
        let text =
            "{\"jobs\": [\n{\"read\": {\"iops\": 1, \"bw\": 2,\n\"iops\": 3}},\n{\"read\": 1}]}";
        assert_eq!(named(text), [("jobs[0].read.iops".to_owned(), 2)]);
        assert_eq!(named("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 2}]}"), []);
        assert_eq!(named("{\"a\": \"a\", \"b\": \"a\"}"), [], "a value is no key");
        assert_eq!(named("{\"\\u0061\": 1, \"a\": 2}").len(), 1, "the same key, written otherwise");
        assert_eq!(named("{\"a\\\"\": 1, \"a\": 2}"), []);
    }

    #[test]
    fn very_many_are_counted_and_few_are_named() {
        let many = format!("{{{}\"a\": 0}}", "\"a\": 1, ".repeat(5_000));
        let found = find(&many);
        assert_eq!((found.count, found.named.len()), (5_000, MOST_NAMED));
    }

    #[test]
    fn what_is_broken_is_passed_over() {
        for text in ["", "}]\"", "{\"a", "{\"a\\", "[[[[", "{\"a\": nan, \"a\": 1", "\u{fffd}{\""] {
            find(text);
        }
        find(&"{\"a\":".repeat(100_000));
        let keys: String = (0..400_000).map(|key| format!("\"{key}\":0,")).collect();
        assert_eq!(find(&format!("{{{keys}\"x\":1}}")).count, 0);
    }

    #[test]
    fn every_form_of_json_says_so() {
        let fio = "some text\n{\"fio version\": \"fio-3.33\", \"jobs\": [{\"jobname\": \"a\", \
                   \"read\": {\"total_ios\": 5000, \"runtime\": 5000,\n\"iops\": 10, \"iops\": \
                   1000}}]}";
        let ior = "{\"Version\": \"IOR-4\", \"tests\": [], \"tests\": [], \"summary\": \
                   [{\"operation\": \"write\", \"bwMeanMIB\": 5}]}";
        let elbencho = "{\"operation\": \"WRITE\", \"IOPS [last]\": \"5\", \"IOPS [last]\": \"6\", \
                        \"MiB/s [last]\": \"1\", \"time ms [last]\": \"2000\"}";
        let of = |text: &str, form| -> Vec<String> {
            let results = read("x.json", text, form).expect("results");
            let doubts = results.doubts.into_iter();
            let of_kind = doubts.filter(|doubt| doubt.kind == DoubtKind::DuplicateKey);
            of_kind.map(|doubt| doubt.name).collect()
        };
        assert_eq!(of(fio, Form::FioJson), ["x.json:3: `jobs[0].read.iops`"]);
        assert_eq!(of(ior, Form::Ior), ["x.json:1: `tests`"]);
        assert_eq!(of(elbencho, Form::ElbenchoJson), ["x.json:1: `IOPS [last]`"]);
    }
}
