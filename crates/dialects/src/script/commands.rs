//! The commands of a script, with what it sets put in: variables, lists, and loops over words that
//! are known.

use super::here::Here;
use super::lines::{self, Kind, Line, Loop};
use crate::import::MOST_BYTES;
use crate::shell;
use std::collections::BTreeMap;

/// No script runs more commands once its loops are taken apart.
const MOST_COMMANDS: usize = 20_000;
/// No loop has more turns, and no loops lie deeper in each other.
const MOST_TURNS: usize = 256;
const MOST_DEPTH: usize = 8;
/// No texts of a script are longer in all, its loops taken apart.
const MOST_TEXTS: usize = 8 << 20;
/// No value is longer.
const MOST_VALUE: usize = 4_096;

/// A command of a script, with the line at which it begins.
pub struct Command {
    /// From 1.
    pub line: usize,
    /// Its words.
    pub text: String,
    /// The text that it is given, with variables put in, and its file.
    pub here: Option<Here>,
}

/// The commands of a script.
pub fn commands(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Vec<Command> {
    let kind = Kind::of(text);
    let lines = lines::logical(text, kind);
    let mut reader = Reader { kind, variable, known: BTreeMap::new(), all: Vec::new(), bytes: 0 };
    reader.lines(&lines, 0);
    reader.all
}

struct Reader<'a> {
    kind: Kind,
    variable: &'a dyn Fn(&str) -> Option<String>,
    /// Variables; a list has its words with blanks between them.
    known: BTreeMap<String, String>,
    all: Vec<Command>,
    /// Bytes of the texts that commands are given.
    bytes: usize,
}

impl Reader<'_> {
    fn lines(&mut self, lines: &[Line], depth: usize) {
        let mut at = 0;
        while at < lines.len() && self.all.len() < MOST_COMMANDS {
            let turn = lines::loop_at(lines, at, self.kind).filter(|_| depth < MOST_DEPTH);
            match turn {
                Some(turn) => {
                    self.turns(&turn, lines, depth);
                    at = turn.next;
                }
                None => {
                    self.line(&lines[at]);
                    at += 1;
                }
            }
        }
    }

    /// The body once for each word; once with an open variable where the words are not known.
    fn turns(&mut self, turn: &Loop<'_>, lines: &[Line], depth: usize) {
        let body = &lines[turn.body.clone()];
        let before = self.known.remove(turn.variable);
        match self.words(turn.words) {
            Some(words) => {
                for word in words {
                    self.known.insert(turn.variable.to_owned(), word);
                    self.lines(body, depth + 1);
                }
            }
            None => self.lines(body, depth + 1),
        }
        self.known.remove(turn.variable);
        self.known.extend(before.map(|value| (turn.variable.to_owned(), value)));
    }

    /// The words that a loop runs through.
    fn words(&self, text: &str) -> Option<Vec<String>> {
        let text = self.put_in(text);
        let text = text.trim().trim_start_matches("@(").trim_end_matches(')');
        if let Some(range) = range(text) {
            return Some(range);
        }
        let is_open = text.contains(['$', '`', '*', '?', '{', '(']);
        let words = match self.kind {
            Kind::PowerShell => text
                .split(',')
                .map(|word| word.trim().trim_matches(['"', '\'']).to_owned())
                .collect(),
            // A list in quotes is one word, which people write for several.
            Kind::Shell | Kind::Batch => shell::words(text)
                .ok()?
                .iter()
                .flat_map(|word| word.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
                .collect::<Vec<String>>(),
        };
        (!is_open && !words.is_empty() && words.len() <= MOST_TURNS).then_some(words)
    }

    fn line(&mut self, line: &Line) {
        if let Some((name, value)) = self.assignment(&line.text) {
            self.known.insert(name, value);
            return;
        }
        if let Some((variable, words, command)) = self.batch_loop(&line.text) {
            for word in words {
                let text = command.replace(&format!("%%{variable}"), &word);
                self.line(&Line { number: line.number, text, here: None });
            }
            return;
        }
        let whole = self.put_in(&line.text);
        let text = begun(&whole);
        let text = begun(shell::first_command(text, self.kind == Kind::Shell).0).to_owned();
        if !text.is_empty() && self.all.len() < MOST_COMMANDS {
            let here = line.here.as_ref().and_then(|here| self.given(here));
            self.all.push(Command { line: line.number, text, here });
        }
    }

    /// A text as the shell gives it; `None` once there is too much of it.
    fn given(&mut self, here: &Here) -> Option<Here> {
        let mut text = String::new();
        for line in here.text.lines() {
            match here.expands {
                true => text.push_str(&self.put_in(line)),
                false => text.push_str(line),
            }
            text.push('\n');
            if self.bytes.saturating_add(text.len()) > MOST_TEXTS {
                return None;
            }
        }
        self.bytes += text.len();
        let path = here.path.as_ref().map(|path| self.put_in(path));
        (text.len() <= MOST_BYTES).then(|| Here { text, path, ..here.clone() })
    }

    /// What sets a variable, alone in its line.
    fn assignment(&self, line: &str) -> Option<(String, String)> {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let (name, value) = match self.kind {
            Kind::Shell => {
                let words = ["export ", "local ", "readonly ", "declare ", "typeset "];
                let line = words.iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
                let (name, value) = line.split_once('=')?;
                if let Some(list) = value.strip_prefix('(').and_then(|list| list.split(')').next())
                {
                    let words = shell::words(&self.put_in(list)).ok()?;
                    return is_name(name).then(|| (name.to_owned(), words.join(" ")));
                }
                let value = self.put_in(value);
                let words = shell::words(value.split('#').next()?).ok()?;
                let value = words.first().cloned().unwrap_or_default();
                // `A=1 command` sets it for that command alone.
                return (words.len() <= 1 && is_name(name) && self.is_plain(&value))
                    .then(|| (name.to_owned(), value));
            }
            Kind::PowerShell => {
                // Parameters have attributes and types before them: `[int]$Threads = 4,`.
                let mut line = line;
                while let Some(rest) = line.strip_prefix('[') {
                    line = rest.split_once(']')?.1.trim_start();
                }
                let (name, value) = line.strip_prefix('$')?.split_once('=')?;
                let value = value.split(" #").next().unwrap_or(value).trim();
                (name.trim(), value.trim_end_matches([';', ',']))
            }
            Kind::Batch => {
                let head = line.get(..4).filter(|head| head.eq_ignore_ascii_case("set "))?;
                let rest = line[head.len()..].trim().trim_matches('"');
                let (name, value) = rest.split_once('=')?;
                (name.trim(), value)
            }
        };
        let value = self.put_in(value.trim().trim_matches(['"', '\'']));
        // The path of a tool is a value; a tool with options is a call whose output is kept.
        let is_call = value.contains(" -") && super::tool(begun(&value)).is_some();
        (is_name(name) && !is_call && value.len() < MOST_VALUE).then(|| (name.to_owned(), value))
    }

    fn is_plain(&self, value: &str) -> bool {
        !value.contains('`') && !value.contains("$(") && value.len() < MOST_VALUE
    }

    /// `for %%x in (4K 8K) do command`.
    fn batch_loop(&self, line: &str) -> Option<(char, Vec<String>, String)> {
        let head = line.get(..6).filter(|head| head.eq_ignore_ascii_case("for %%"))?;
        let rest = &line[head.len()..];
        let variable = rest.chars().next().filter(char::is_ascii_alphabetic)?;
        let (_, rest) = rest.split_once('(').filter(|_| self.kind == Kind::Batch)?;
        let (words, rest) = rest.split_once(')')?;
        let command = rest.trim();
        let command = command
            .get(..3)
            .filter(|word| word.eq_ignore_ascii_case("do "))
            .map(|word| &command[word.len()..])?;
        let words = self.put_in(words);
        let words: Vec<String> = words
            .split([' ', ',', ';', '\t'])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        (words.len() <= MOST_TURNS).then(|| (variable, words, command.to_owned()))
    }

    /// The text with known variables put in.
    fn put_in(&self, line: &str) -> String {
        match self.kind {
            Kind::Batch => self.put_in_of_batch(line),
            Kind::Shell | Kind::PowerShell => self.put_in_of_dollars(line),
        }
    }

    fn put_in_of_batch(&self, line: &str) -> String {
        let mut text = String::new();
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once('%') {
            text.push_str(before);
            let found = behind.split_once('%').and_then(|(name, next)| {
                let wanted = name.to_ascii_lowercase();
                let known = self.known.iter().find(|(name, _)| name.to_ascii_lowercase() == wanted);
                Some((known?.1, next))
            });
            match found.filter(|_| text.len() < 1 << 16) {
                Some((value, next)) => {
                    text.push_str(value);
                    rest = next;
                }
                None => {
                    text.push('%');
                    rest = behind;
                }
            }
        }
        text + rest
    }

    fn put_in_of_dollars(&self, line: &str) -> String {
        if !line.contains('$') {
            return line.to_owned();
        }
        let mut parts = line.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let inner = part.strip_prefix('{').and_then(|part| part.split_once('}'));
            let plain = || part.split_at(part.find(|c| !is_letter(c)).unwrap_or(part.len()));
            let (name, rest) = inner.unwrap_or_else(plain);
            match self.value(name).filter(|_| text.len() < 1 << 16) {
                Some(found) => text.push_str(&found),
                None if inner.is_some() => text.push_str(&format!("${{{name}}}")),
                None => text.push_str(&format!("${name}")),
            }
            text.push_str(rest);
        }
        text
    }

    /// `NAME`, `NAME[@]`, `NAME:-VALUE`.
    fn value(&self, name: &str) -> Option<String> {
        let (name, default) = match name.split_once(":-").or_else(|| name.split_once(":=")) {
            Some((name, default)) => (name, Some(default)),
            None => (name, None),
        };
        let name = name.strip_suffix("[@]").or_else(|| name.strip_suffix("[*]")).unwrap_or(name);
        if name.is_empty() {
            return None;
        }
        let of_here = self.known.get(name).cloned();
        of_here.or_else(|| (self.variable)(name)).or_else(|| default.map(str::to_owned))
    }
}

/// `1..4`, `{1..4}`, `$(seq 1 4)`, `$(seq 4)`.
fn range(text: &str) -> Option<Vec<String>> {
    let inner = text.trim().trim_matches(['{', '}']);
    let ends: Vec<i64> = match inner.strip_prefix("$(seq ").map(|rest| rest.trim_end_matches(')')) {
        Some(rest) => {
            rest.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?
        }
        None => {
            let (first, last) = inner.split_once("..")?;
            vec![first.trim().parse().ok()?, last.trim().parse().ok()?]
        }
    };
    let (first, last) = match ends.as_slice() {
        [last] => (1, *last),
        [first, last] => (*first, *last),
        _ => return None,
    };
    let count = last.checked_sub(first)?;
    let is_few = (0..MOST_TURNS as i64).contains(&count);
    is_few.then(|| (first..=last).map(|number| number.to_string()).collect())
}

/// A command without words before it that change nothing of what it measures.
fn begun(line: &str) -> &str {
    const PLAIN: [&str; 10] =
        ["sudo", "time", "exec", "nohup", "then", "do", "&", "call", "start", "{"];
    let mut rest = line.trim();
    // `$out = & diskspd …` keeps what it prints.
    if rest.starts_with('$')
        && let Some((name, command)) = rest.split_once('=')
        && name[1..].trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        rest = command.trim();
    }
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        if !PLAIN.contains(&word.to_ascii_lowercase().as_str()) {
            break;
        }
        rest = behind.trim_start();
    }
    evaluated(rest)
}

/// The command in the text that PowerShell's `Invoke-Expression` runs.
fn evaluated(command: &str) -> &str {
    let Some((word, text)) = command.split_once(char::is_whitespace) else { return command };
    let is_call = ["invoke-expression", "iex"].contains(&word.to_ascii_lowercase().as_str());
    let text = text.trim();
    let inner = ['"', '\''].iter().find_map(|quote| {
        text.strip_prefix(*quote)?.strip_suffix(*quote).filter(|inner| !inner.contains(*quote))
    });
    inner.filter(|_| is_call).unwrap_or(command)
}
