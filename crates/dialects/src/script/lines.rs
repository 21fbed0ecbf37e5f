//! The text of a script as logical lines: those that go on are joined, loops are taken apart.

use super::here::{self, Here};
use crate::import::MOST_BYTES;

/// No script has more lines that count.
pub const MOST_LINES: usize = 100_000;

/// Which words a script is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A shell of Unix.
    Shell,
    /// PowerShell.
    PowerShell,
    /// A batch file of Windows.
    Batch,
}

impl Kind {
    /// By what only one of them writes.
    pub fn of(text: &str) -> Kind {
        if text.starts_with("#!") {
            return Kind::Shell;
        }
        let begins = |wanted: &[&str]| {
            text.lines().map(str::trim_start).any(|line| {
                wanted.iter().any(|word| {
                    line.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
                })
            })
        };
        let is_assigned = |line: &str| {
            line.trim_start().starts_with('$')
                && line.split_once('=').is_some_and(|(name, _)| {
                    name.trim().chars().skip(1).all(|c| c.is_ascii_alphanumeric() || c == '_')
                })
        };
        if begins(&["@echo ", "set ", "rem ", "::", "for %"]) && !begins(&["set -"]) {
            Kind::Batch
        } else if begins(&["param", "foreach", "write-host", "write-output", "& ", "<#"])
            || text.lines().any(is_assigned)
        {
            Kind::PowerShell
        } else {
            Kind::Shell
        }
    }

    /// The sign at the end of a line that goes on.
    fn goes_on(self) -> char {
        match self {
            Kind::Shell => '\\',
            Kind::PowerShell => '`',
            Kind::Batch => '^',
        }
    }

    fn is_comment(self, line: &str) -> bool {
        let lower = line.get(..4).unwrap_or(line).to_ascii_lowercase();
        match self {
            Kind::Shell | Kind::PowerShell => line.starts_with('#'),
            Kind::Batch => line.starts_with("::") || lower.starts_with("rem"),
        }
    }
}

/// A logical line, with the number of the one at which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// Without blanks around it.
    pub text: String,
    /// The text that it is given (`<<`).
    pub here: Option<Here>,
}

/// The lines of a script without comments.
pub fn logical(text: &str, kind: Kind) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    let every = here::Lines::of(text);
    let mut until = 0;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if number < until {
            continue;
        }
        // `<#` to `#>` is a comment.
        if kind == Kind::PowerShell && line.trim_start().starts_with("<#") {
            let is_end = |line: &str| line.contains("#>");
            if !is_end(line) {
                let _ = lines.by_ref().find(|(_, line)| is_end(line));
            }
            continue;
        }
        let mut whole = line.trim().to_owned();
        while whole.ends_with(kind.goes_on()) && whole.len() < MOST_BYTES {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push(' ');
            whole.push_str(next.trim());
        }
        if whole.is_empty() || kind.is_comment(&whole) {
            continue;
        }
        if all.len() >= MOST_LINES {
            break;
        }
        let of = |text| Line { number: number + 1, text, here: None };
        all.extend(parts(&whole, kind).into_iter().map(of));
        // Its end may be on a further line than its beginning.
        let last = number + whole_lines(every.from(number), kind);
        let given = here::behind(&every, last).filter(|_| kind == Kind::Shell);
        if let (Some((here, next)), Some(line)) = (given, all.last_mut()) {
            line.here = Some(here);
            until = next;
        }
    }
    all
}

/// How many lines a command goes on behind its first one.
fn whole_lines(lines: &[&str], kind: Kind) -> usize {
    lines.iter().take_while(|line| line.trim().ends_with(kind.goes_on())).count()
}

/// `for x in a b; do fio …; done` in parts, each of which begins with its word. Other lines stay.
fn parts(line: &str, kind: Kind) -> Vec<String> {
    let is_word = |word: &str| {
        let rest = line.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ';', '\t']))
    };
    let is_split = kind == Kind::Shell && ["for", "while", "do", "done"].iter().any(|w| is_word(w));
    if !is_split {
        return vec![line.to_owned()];
    }
    let mut all = Vec::new();
    let (mut quote, mut from) = (None, 0);
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, ';') => {
                all.push(line[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(line[from..].trim());
    let mut parts = Vec::new();
    for part in all.into_iter().filter(|part| !part.is_empty()) {
        match part.strip_prefix("do").filter(|rest| rest.starts_with([' ', '\t'])) {
            Some(rest) => parts.extend(["do".to_owned(), rest.trim().to_owned()]),
            None => parts.push(part.to_owned()),
        }
    }
    parts
}

/// A loop over words: its variable, the words as they are written, and where its body ends.
#[derive(Debug, PartialEq, Eq)]
pub struct Loop<'a> {
    /// The variable.
    pub variable: &'a str,
    /// What it runs through.
    pub words: &'a str,
    /// The lines of the body, from 0.
    pub body: std::ops::Range<usize>,
    /// The first line behind it.
    pub next: usize,
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The loop that begins at a line, where one does.
pub fn loop_at(lines: &[Line], at: usize, kind: Kind) -> Option<Loop<'_>> {
    let text = lines[at].text.as_str();
    match kind {
        Kind::Shell => {
            let (variable, words) = text.strip_prefix("for ")?.trim().split_once(" in ")?;
            let (body, next) = until_done(lines, at + 1)?;
            is_name(variable).then_some(Loop { variable, words: words.trim(), body, next })
        }
        Kind::PowerShell => {
            let head = text.get(..7).filter(|head| head.eq_ignore_ascii_case("foreach"))?;
            let rest = text[head.len()..].trim().strip_prefix("($")?;
            let (inner, behind) = rest.rsplit_once(')')?;
            let (variable, words) = inner.split_once(" in ")?;
            let (body, next) = until_brace(lines, at, behind.contains('{'))?;
            is_name(variable).then_some(Loop { variable, words: words.trim(), body, next })
        }
        Kind::Batch => None,
    }
}

/// The lines from a `do` to its `done`.
fn until_done(lines: &[Line], from: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let begin = from + usize::from(lines.get(from)?.text == "do");
    let mut depth = 1;
    for (at, line) in lines.iter().enumerate().skip(begin) {
        let first = line.text.split([' ', '\t', '|', '>', '&']).next().unwrap_or_default();
        match first {
            "for" | "while" | "until" => depth += 1,
            "done" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((begin..at, at + 1));
        }
    }
    None
}

/// The lines between braces, the first of which ends this line or begins the next.
fn until_brace(
    lines: &[Line],
    at: usize,
    is_open: bool,
) -> Option<(std::ops::Range<usize>, usize)> {
    let begin = at + 1 + usize::from(!is_open);
    let mut depth = 1_i64;
    for (at, line) in lines.iter().enumerate().skip(begin) {
        let count = |brace: char| line.text.matches(brace).count() as i64;
        depth += count('{') - count('}');
        if depth <= 0 {
            return Some((begin..at, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_and_comments_are_left_out() {
        let of = |text: &str, kind| {
            logical(text, kind).into_iter().map(|line| (line.number, line.text)).collect::<Vec<_>>()
        };
        let text = "a \\\n  b\n# c\n\nfor x in 1 2; do fio; done\n";
        let lines = of(text, Kind::Shell);
        let texts: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a  b", "for x in 1 2", "do", "fio", "done"]);
        assert_eq!(lines[1].0, 5);
        assert_eq!(of("a ^\n b\nREM c\n:: d\n", Kind::Batch).len(), 1);
    }

    #[test]
    fn the_words_of_a_script_decide_its_kind() {
        assert_eq!(Kind::of("@echo off\r\nset A=1\r\n"), Kind::Batch);
        assert_eq!(Kind::of("$a = 5\n& diskspd"), Kind::PowerShell);
        assert_eq!(Kind::of("set -e\nfio\n"), Kind::Shell);
    }

    #[test]
    fn loops_lie_in_loops() {
        let text = "for a in 1 2\ndo\nfor b in 3; do\nx\ndone\ndone\ny\n";
        let lines = logical(text, Kind::Shell);
        let outer = loop_at(&lines, 0, Kind::Shell).expect("a loop");
        assert_eq!((outer.variable, outer.words, outer.body, outer.next), ("a", "1 2", 2..6, 7));
        let text = "foreach ($d in $all) {\n x {\n }\n}\ny";
        let lines = logical(text, Kind::PowerShell);
        let one = loop_at(&lines, 0, Kind::PowerShell).expect("a loop");
        assert_eq!((one.variable, one.words, one.body, one.next), ("d", "$all", 1..3, 4));
    }
}
