//! Command lines that nobody chose, of tools that a launcher starts: drawn from a grammar by a
//! seed, and by nothing else.

use super::super::Tool;
use super::super::grammar::{Grammar, Line, Rule, choice, has};
use model::rng::Rng;
use std::fmt;

/// No line has fewer or more options, the number of ranks and the path apart.
const FEWEST: usize = 3;
const MOST: usize = 10;

/// A command line; `DIR` stands for a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub tool: Tool,
    /// Ranks that the launcher starts; without any, there is no launcher.
    pub ranks: String,
    /// Its options, and last where it goes.
    pub lines: Vec<Line>,
}

/// What command lines of a tool are drawn from.
pub(super) fn grammar(tool: Tool) -> Grammar {
    match tool {
        Tool::Mdtest => Grammar(include_str!("mdtest.txt")),
        _ => Grammar(include_str!("ior.txt")),
    }
}

/// Draws a command line: the same for the same seed.
pub(super) fn draw(tool: Tool, seed: u64) -> Command {
    let (mut rng, grammar) = (Rng::new(seed), grammar(tool));
    let ranks = choice(&mut rng, grammar.list("ranks")).remove(0).1;
    let mut lines: Vec<Line> = Vec::new();
    while lines.len() < FEWEST {
        lines.clear();
        for Rule(percent, when, choices) in grammar.rules("rule") {
            let known: Vec<&Line> = lines.iter().collect();
            let is_for_it = when == "all" || has(&known, when);
            if rng.below(100) < percent && is_for_it && lines.len() < MOST {
                let mut drawn = choice(&mut rng, choices);
                drawn.retain(|(name, _)| !has(&known, name));
                lines.extend(drawn);
            }
        }
        lines.truncate(MOST);
    }
    // People write them in any order.
    for last in (1..lines.len()).rev() {
        lines.swap(last, rng.below(last as u64 + 1) as usize);
    }
    lines.extend(choice(&mut rng, grammar.list("places")));
    Command { tool, ranks, lines }
}

impl Command {
    /// The value of an option, where it is given.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|line| line.0 == name).map(|line| line.1.as_str())
    }

    /// Whether any option of one letter is one of these: also among others of one word.
    pub(super) fn has_any(&self, letters: &str) -> bool {
        let of_word = |name: &'static str| name.strip_prefix('-').filter(|n| !n.starts_with('-'));
        let is_one = |word: &str| word.chars().any(|letter| letters.contains(letter));
        self.lines.iter().filter_map(|(name, _)| of_word(name)).any(is_one)
    }

    /// The same without these flags of one letter, and with others.
    pub(super) fn with(&self, less: &str, more: &[&'static str]) -> Command {
        let mut other = self.clone();
        let is_less = |name: &str| name[1..].chars().all(|letter| less.contains(letter));
        other.lines.retain(|(name, _)| !is_less(name));
        let end = other.lines.len() - 1;
        other.lines.splice(end..end, more.iter().map(|name| (*name, String::new())));
        other
    }

    /// What makes what this line finds, where it reads or removes alone. Each repetition of mdtest
    /// finds what was made for it, in a directory of its own.
    pub(super) fn before(&self) -> Option<Command> {
        let has = |letters: &str| self.has_any(letters);
        match self.tool {
            Tool::Mdtest if has("TEr") && !has("C") => Some(self.with("CTEr", &["-C"])),
            Tool::Ior if has("rRW") && !has("w") => Some(self.with("rRWwkDi", &["-w", "-k"])),
            _ => None,
        }
    }

    /// Every command line that has an option less, or one rank.
    pub(super) fn smaller(&self) -> Vec<Command> {
        let fewer = Command { ranks: "1".to_owned(), ..self.clone() };
        let mut all = vec![fewer];
        all.retain(|fewer| !["", "1"].contains(&self.ranks.as_str()) && fewer != self);
        all.extend((0..self.lines.len() - 1).rev().map(|number| {
            let mut other = self.clone();
            other.lines.remove(number);
            other
        }));
        all
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.ranks.is_empty() {
            write!(f, "mpirun -np {} ", self.ranks)?;
        }
        write!(f, "{}", self.tool.name())?;
        self.lines.iter().try_for_each(|(name, value)| match value.as_str() {
            "" => write!(f, " {name}"),
            value if name.starts_with("--") => write!(f, " {name}={value}"),
            value => write!(f, " {name} {value}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::grammar::all_lines;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_is_a_line_that_is_read_and_all_that_the_grammar_has_is_drawn_some_time() {
        for tool in [Tool::Ior, Tool::Mdtest] {
            let all: Vec<Command> = (0..4_000).map(|seed| draw(tool, seed)).collect();
            assert!(all[77] == draw(tool, 77) && all[77] != all[78]);
            let (mut read, mut drawn) = (0, BTreeSet::new());
            for line in &all {
                let count = line.lines.len() - 1;
                assert!((FEWEST..=MOST).contains(&count), "{count} options: {line}");
                drawn.extend(line.lines.iter().map(|(name, value)| format!("{name}={value}")));
                drawn.insert(format!("np={}", line.ranks));
                let told =
                    dialects::import_command(&line.to_string(), None, &dialects::World::NOTHING);
                match told {
                    Ok(import) if import.refused().count() == 0 => {
                        read += 1;
                        let text = &import.suites[0].text;
                        let spec = suite::Spec::parse("imported.toml", text, &[]);
                        assert!(spec.is_ok(), "{line}\n{text}");
                    }
                    Ok(import) => assert!(import.refused().all(|told| !told.why.is_empty())),
                    Err(words) => assert!(!words.to_string().is_empty(), "{line}"),
                }
            }
            assert!(read > all.len() / 2, "{read} of {tool:?}");
            let rules = grammar(tool).rules("rule");
            assert!(rules.iter().all(|rule| rule.0 > 0 && !rule.2.is_empty()));
            let lists = ["ranks", "places"].map(|name| grammar(tool).list(name));
            for choices in rules.iter().map(|rule| rule.2).chain(lists) {
                let these = all_lines(choices).filter(|line| *line != "nothing");
                these.for_each(|line| assert!(drawn.contains(line), "{line} of {tool:?}"));
            }
        }
    }

    #[test]
    fn a_smaller_line_has_less_and_still_goes_there() {
        let line = draw(Tool::Ior, 5);
        let smaller = line.smaller();
        assert!(smaller.len() >= FEWEST);
        assert!(smaller.iter().all(|other| other.lines.last() == line.lines.last()));
        let made = Command { lines: vec![("-rF", String::new()), ("-o", "x".into())], ..line };
        assert!(made.has_any("r") && !made.has_any("w"));
        assert!(made.with("rF", &["-k"]).to_string().ends_with("ior -k -o x"));
        let lines = vec![("-i", "2".into()), ("-r", String::new()), ("-d", "x".into())];
        let alone = Command { tool: Tool::Mdtest, lines, ..made };
        assert!(alone.before().is_some_and(|b| b.to_string().ends_with("mdtest -i 2 -C -d x")));
    }
}
