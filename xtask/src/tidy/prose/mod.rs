//! Prose that a tired reader gets at once: short sentences, the field's words, narrow lines.
//!
//! Every page has limits. A page that was there before them has ceilings of its own in
//! `ceilings.txt`; they may only fall, and `cargo xtask docs` lowers them to what the page needs.

mod text;

use super::tree::{Text, Tree};
use super::{Finding, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The ceilings of pages that are above the limits: path, median, 90th percentile and longest
/// sentence in words, private words, wide lines.
pub const CEILINGS: &str = "xtask/src/tidy/prose/ceilings.txt";

/// What a page may have at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// Words of the median sentence.
    median: usize,
    /// Words that nine of ten sentences stay within.
    p90: usize,
    /// Words of the longest sentence.
    longest: usize,
    /// Words that only this house uses so.
    private: usize,
    /// Lines over 100 columns that could be broken.
    wide: usize,
}

const LIMITS: Limits = Limits { median: 16, p90: 30, longest: 45, private: 0, wide: 0 };

/// A page of the method has formulas in its sentences.
const METHOD: Limits = Limits { median: 18, p90: 34, ..LIMITS };

/// What a page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Figures {
    words: usize,
    needs: Limits,
}

/// Pages that are above what they may have, ceilings that can fall, and the table of all pages.
pub fn check(tree: &Tree) -> Verdict {
    let (ceilings, mut findings) = ceilings(tree);
    let mut table = vec![format!(
        "{:<58} {:>6} {:>6} {:>4} {:>7} {:>7} {:>4}",
        "page", "words", "median", "p90", "longest", "private", "wide"
    )];
    for page in pages(tree) {
        let figures = measure(&page.text);
        let Limits { median, p90, longest, private, wide } = figures.needs;
        let (path, words) = (&page.path, figures.words);
        table.push(format!(
            "{path:<58} {words:>6} {median:>6} {p90:>4} {longest:>7} {private:>7} {wide:>4}"
        ));
        let ceiling = ceilings.get(path.as_str()).copied();
        findings.extend(above(path, figures.needs, ceiling.unwrap_or(limits_of(path))));
        if ceiling.is_some_and(|ceiling| lowered(path, figures.needs) != Some(ceiling)) {
            let what = format!("{path} needs less than its line says");
            findings.push(Finding::new(CEILINGS, what, "run `cargo xtask docs`"));
        }
    }
    for path in ceilings.keys().filter(|path| tree.text(path).is_none()) {
        let what = format!("{path} is not there");
        findings.push(Finding::new(CEILINGS, what, "run `cargo xtask docs`"));
    }
    Verdict { findings, table, ..Verdict::default() }
}

/// The list of ceilings with each lowered to what its page needs; none rises and none is new.
pub fn lower(tree: &Tree) -> String {
    let (ceilings, _) = ceilings(tree);
    let mut list = String::from(
        "# Pages above the limits of prose: median, p90, longest, private words, wide lines.\n\
         # These may only fall; `cargo xtask docs` lowers them.\n",
    );
    for page in pages(tree) {
        let Some(old) = ceilings.get(page.path.as_str()) else { continue };
        let Some(needs) = lowered(&page.path, measure(&page.text).needs) else { continue };
        let new = each(needs, *old, usize::min);
        let Limits { median, p90, longest, private, wide } = new;
        let _ = writeln!(list, "{} {median} {p90} {longest} {private} {wide}", page.path);
    }
    list
}

/// The pages whose prose is measured.
fn pages(tree: &Tree) -> impl Iterator<Item = &Text> {
    tree.ending(".md").filter(|page| {
        page.path.starts_with("docs/") || ["README.md", "ARCHITECTURE.md"].contains(&&*page.path)
    })
}

fn limits_of(path: &str) -> Limits {
    if path.starts_with("docs/method/") { METHOD } else { LIMITS }
}

/// The ceiling that a page needs; `None` where the limits are enough.
fn lowered(path: &str, needs: Limits) -> Option<Limits> {
    let limits = limits_of(path);
    let ceiling = each(needs, limits, usize::max);
    (ceiling != limits).then_some(ceiling)
}

fn each(a: Limits, b: Limits, choose: fn(usize, usize) -> usize) -> Limits {
    Limits {
        median: choose(a.median, b.median),
        p90: choose(a.p90, b.p90),
        longest: choose(a.longest, b.longest),
        private: choose(a.private, b.private),
        wide: choose(a.wide, b.wide),
    }
}

fn above(path: &str, has: Limits, may: Limits) -> Vec<Finding> {
    let sentences = "shorten its sentences: subject first, one thought each";
    let judged = [
        ("words in its median sentence", has.median, may.median, sentences),
        ("words in a tenth of its sentences", has.p90, may.p90, sentences),
        ("words in its longest sentence", has.longest, may.longest, sentences),
        (
            "private words",
            has.private,
            may.private,
            "use the field's verbs: report, appear, store, total (docs/journal/style.md)",
        ),
        ("lines over 100 columns", has.wide, may.wide, "break them"),
    ];
    let over = judged.into_iter().filter(|(_, has, may, _)| has > may);
    over.map(|(what, has, may, remedy)| {
        Finding::new(path, format!("has {has} {what}, more than {may}"), remedy)
    })
    .collect()
}

fn measure(page: &str) -> Figures {
    let mut lengths: Vec<usize> = text::sentences(page).iter().map(|s| text::words(s)).collect();
    lengths.retain(|words| *words > 0);
    lengths.sort_unstable();
    let at = |part: usize| {
        let rank = (lengths.len() * part).div_ceil(100);
        lengths.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    };
    let private = text::sentences(page).iter().map(|s| text::private_words(s)).sum();
    let needs =
        Limits { median: at(50), p90: at(90), longest: at(100), private, wide: text::wide(page) };
    Figures { words: lengths.iter().sum(), needs }
}

/// The ceilings by page, and the lines that are none.
fn ceilings(tree: &Tree) -> (BTreeMap<&str, Limits>, Vec<Finding>) {
    let mut ceilings = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, line) in tree.text(CEILINGS).unwrap_or_default().lines().enumerate() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split(' ').collect();
        let numbers: Vec<usize> = fields.iter().skip(1).filter_map(|n| n.parse().ok()).collect();
        if let (6, [median, p90, longest, private, wide]) = (fields.len(), &numbers[..]) {
            let limits = Limits {
                median: *median,
                p90: *p90,
                longest: *longest,
                private: *private,
                wide: *wide,
            };
            ceilings.insert(fields[0], limits);
        } else {
            let what = format!("`{line}` is not a path and five numbers");
            findings.push(Finding::at(CEILINGS, index + 1, what, "correct the line"));
        }
    }
    (ceilings, findings)
}

#[cfg(test)]
mod tests;
