//! Grammars of what tools are told: lists of choices, and rules that draw one of them in so many of
//! a hundred jobs. `grammar.txt` says how they are written.

use model::rng::Rng;

/// A line: an option and its value.
pub(super) type Line = (&'static str, String);

/// Lists and rules, each behind a head that begins with `@`.
#[derive(Clone, Copy)]
pub(super) struct Grammar(pub &'static str);

/// Options of which one is drawn: in so many of a hundred jobs, when, and which.
#[derive(Clone, Copy)]
pub(super) struct Rule(pub u64, pub &'static str, pub &'static str);

impl Grammar {
    /// What there is of this word: the rest of each head, and what stands below it.
    pub(super) fn entries(self, word: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = self.0.split("\n@ ").skip(1).filter_map(|entry| entry.split_once('\n'));
        all.filter_map(move |(head, body)| Some((head.strip_prefix(word)?.trim(), body.trim())))
    }

    /// The choices of a list.
    pub(super) fn list(self, name: &str) -> &'static str {
        self.entries(name).next().map_or("", |(_, choices)| choices)
    }

    /// All rules of this word.
    pub(super) fn rules(self, word: &str) -> Vec<Rule> {
        let one = |(head, choices): (&'static str, &'static str)| {
            let (percent, when) = head.split_once(' ').unwrap_or((head, ""));
            let choices = choices.strip_prefix('$').map_or(choices, |name| self.list(name));
            Rule(percent.parse().unwrap_or(0), when, choices)
        };
        self.entries(word).map(one).collect()
    }
}

/// One of the choices, by their weights.
pub(super) fn choice(rng: &mut Rng, choices: &'static str) -> Vec<Line> {
    let weighted: Vec<(&'static str, u64)> = choices
        .split_whitespace()
        .map(|one| match one.rsplit_once('*') {
            Some((lines, weight)) => (lines, weight.parse().unwrap_or(1)),
            None => (one, 1),
        })
        .collect();
    let mut left = rng.below(weighted.iter().map(|(_, weight)| weight).sum::<u64>().max(1));
    let drawn = weighted.iter().find(|(_, weight)| {
        let is_here = left < *weight;
        left = left.saturating_sub(*weight);
        is_here
    });
    let lines = drawn.map_or("", |(lines, _)| lines).split(';');
    lines.filter_map(|line| line.split_once('=')).map(|(n, v)| (n, v.to_owned())).collect()
}

/// Whether an option of this name is among them.
pub(super) fn has(lines: &[&Line], name: &str) -> bool {
    lines.iter().any(|line| line.0 == name)
}

/// Each line that these choices have.
#[cfg(test)]
pub(super) fn all_lines(choices: &'static str) -> impl Iterator<Item = &'static str> {
    let of_one = |one: &'static str| one.rsplit_once('*').map_or(one, |(lines, _)| lines);
    choices.split_whitespace().flat_map(move |one| of_one(one).split(';'))
}
