//! A command of the user's that makes the load in place of our own workers.

use serde::{Deserialize, Serialize};

/// A plan's command has no more words, and no more bytes in them.
const MOST_WORDS: usize = 1_024;
const MOST_BYTES: usize = 128 * 1024;

/// What is started on each host, and how its figure is found in what it prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWork {
    /// The program and its arguments; names in braces are filled in on each host.
    pub words: Vec<String>,
    /// A text with the place of its figure, where no dialect reads it; empty for none.
    #[serde(default)]
    pub result: String,
    /// Whether the block layer's events are recorded meanwhile.
    #[serde(default)]
    pub trace: bool,
}

impl CommandWork {
    /// Whether it can be started at all.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let bytes = self.words.iter().chain([&self.result]).map(String::len).sum::<usize>();
        let has_end = |word: &String| word.contains('\0');
        match self.words.first() {
            None => Err("a command has no program"),
            Some(program) if program.is_empty() => Err("a command has no program"),
            _ if self.words.iter().any(has_end) => Err("a word of a command has an end in it"),
            _ if self.words.len() > MOST_WORDS || bytes > MOST_BYTES => {
                Err("a command has more words than any")
            }
            _ => Ok(()),
        }
    }

    /// Its words with these names, each in braces, filled in. Other braces stay: programs have
    /// their own use for them.
    pub fn filled(&self, values: &[(&str, &str)]) -> Vec<String> {
        let fill = |word: &String| {
            let (mut text, mut rest) = (String::new(), word.as_str());
            while let Some(at) = rest.find('{') {
                let (before, from) = rest.split_at(at);
                text.push_str(before);
                let known = values.iter().find(|(name, _)| {
                    from[1..].strip_prefix(name).is_some_and(|after| after.starts_with('}'))
                });
                let (shown, length) =
                    known.map_or(("{", 1), |(name, value)| (*value, name.len() + 2));
                text.push_str(shown);
                rest = &from[length..];
            }
            text + rest
        };
        self.words.iter().map(fill).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> CommandWork {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        CommandWork { words, result: String::new(), trace: false }
    }

    #[test]
    fn names_are_filled_in_once_and_other_braces_stay() {
        let values = [("target", "/a {host}"), ("host", "h1")];
        let words = of(&["fio", "{target}/x-{host}", "{\"a\":{}}", "{targets} {"]);
        let filled = words.filled(&values);
        assert_eq!(filled, ["fio", "/a {host}/x-h1", "{\"a\":{}}", "{targets} {"]);
    }

    #[test]
    fn what_cannot_be_started_is_no_plan() {
        assert_eq!(of(&["dd", ""]).check(), Ok(()));
        for bad in [&[][..], &[""], &["a", "b\0c"], &["a"; MOST_WORDS + 1]] {
            assert!(of(bad).check().is_err());
        }
    }
}
