//! Whether a suite does to files and directories what mdtest does: how often what, how many in each
//! directory, by whom, and in which order.

use super::super::judge::{Difference, Kind};
use super::calls::{Call, What};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer steps of a worker say nothing of an order.
const FEW: usize = 12;
/// So many steps lead to a higher number where files come in turn; by chance, half of them do.
const RISING: f64 = 0.8;

/// What is done to a thing: the word of it.
type Item<'a> = (&'static str, &'a Call);

/// All in which ours differs: the calls of each of its stages.
pub(super) fn differences(theirs: &[Call], ours: &[Vec<&Call>]) -> Vec<Difference> {
    let is_dir = |name: &str| match name.split_once(".mdtest.") {
        Some(("dir", _)) => Some(true),
        Some(("file", _)) => Some(false),
        _ => None,
    };
    let is_our_dir = |name: &str| {
        let kind = name.chars().next().filter(|_| name.len() == 19)?;
        "mfr".contains(kind).then_some(kind == 'm')
    };
    let theirs: Vec<Item<'_>> = theirs.iter().filter_map(|call| item(call, is_dir)).collect();
    let ours: Vec<Item<'_>> =
        ours.iter().flatten().filter_map(|call| item(call, is_our_dir)).collect();
    let mut found = Vec::new();
    counted(&[&theirs, &ours], &mut found);
    placed(&[&theirs, &ours], &mut found);
    in_turn(&[&theirs, &ours], &mut found);
    found
}

fn item(call: &Call, is_dir: impl Fn(&str) -> Option<bool>) -> Option<Item<'_>> {
    let is_dir = is_dir(call.path.rsplit('/').next()?)?;
    let word = match call.what {
        What::Create => "files made",
        What::Open => "files opened",
        What::Read => "reads",
        What::Write => "writes",
        What::Sync => "syncs",
        What::Remove => "files removed",
        What::Stat if is_dir => "stats of directories",
        What::Stat => "stats of files",
        What::Mkdir => "directories made",
        What::Rmdir => "directories removed",
        What::Rename if is_dir => "directories renamed",
        What::Rename => "files renamed",
    };
    Some((word, call))
}

/// How often what is done, and how many bytes there are.
fn counted(both: &[&Vec<Item<'_>>; 2], found: &mut Vec<Difference>) {
    let counts = both.map(|all| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (word, call) in all {
            *counts.entry((*word).to_owned()).or_default() += 1;
            if ["reads", "writes"].contains(word) {
                *counts.entry(format!("bytes of {word}")).or_default() += call.length;
            }
        }
        counts
    });
    let words: BTreeSet<&String> = counts.iter().flat_map(BTreeMap::keys).collect();
    for word in words {
        let [theirs, ours] = counts.each_ref().map(|all| all.get(word).copied().unwrap_or(0));
        let kind = if word == "syncs" { Kind::Flushes } else { Kind::Amount };
        if theirs != ours {
            found.push((kind, format!("{word}: {theirs}, ours {ours}")));
        }
    }
}

/// How many things are made in each directory, and by each worker.
fn placed(both: &[&Vec<Item<'_>>; 2], found: &mut Vec<Difference>) {
    for (word, name) in [("files made", "files"), ("directories made", "directories")] {
        let trees = both.map(|all| {
            // Of each repetition, mdtest has a directory; ours have one.
            let made = all.iter().filter(|one| one.0 == word).map(|one| shared(&one.1.path));
            let made: BTreeSet<String> = made.collect();
            let mut parents: BTreeMap<&str, u64> = BTreeMap::new();
            for path in &made {
                *parents.entry(path.rsplit_once('/').map_or("", |pair| pair.0)).or_default() += 1;
            }
            let mut counts: Vec<u64> = parents.into_values().collect();
            counts.sort_unstable();
            counts
        });
        if trees[0] != trees[1] && trees.iter().all(|tree| !tree.is_empty()) {
            let what = format!("{name} in directories: {:?}, ours {:?}", trees[0], trees[1]);
            found.push((Kind::Files, what));
        }
    }
    for word in ["files made", "files opened", "stats of files", "files removed"] {
        let shares = both.map(|all| {
            let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
            for (_, call) in all.iter().filter(|one| one.0 == word) {
                *counts.entry(call.source).or_default() += 1;
            }
            let mut counts: Vec<u64> = counts.into_values().collect();
            counts.sort_unstable();
            counts.dedup();
            counts
        });
        if shares[0].len() != shares[1].len() && shares.iter().all(|share| !share.is_empty()) {
            let what = format!("{word} by workers: {:?}, ours {:?}", shares[0], shares[1]);
            found.push((Kind::Places, what));
        }
    }
}

/// The path without the number of the repetition.
fn shared(path: &str) -> String {
    let part = |part: &str| match part.strip_prefix("test-dir.").and_then(|n| n.split_once('-')) {
        Some((_, number)) => format!("test-dir.{number}"),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// In which order what is done, and in which order to the files.
fn in_turn(both: &[&Vec<Item<'_>>; 2], found: &mut Vec<Difference>) {
    let phases = |all: &Vec<Item<'_>>, other: &Vec<Item<'_>>| {
        let is_phase = |word: &str| !["reads", "writes", "syncs"].contains(&word);
        let in_both = |word: &str| other.iter().any(|one| one.0 == word);
        let words = all.iter().map(|one| one.0);
        let mut words: Vec<&str> = words.filter(|word| is_phase(word) && in_both(word)).collect();
        words.dedup();
        words
    };
    let turns = [phases(both[0], both[1]), phases(both[1], both[0])];
    if turns[0] != turns[1] {
        let what = turns.each_ref().map(|turns| turns.join(", "));
        found.push((Kind::Order, format!("turns: {}; ours {}", what[0], what[1])));
    }
    for word in ["files made", "files opened", "stats of files", "files removed"] {
        let follow = both.map(|all| follows(all, word));
        if let [Some(theirs), Some(ours)] = follow
            && (theirs > RISING) != (ours > RISING)
        {
            let random = if theirs > RISING { "random in ours" } else { "random in theirs" };
            found.push((Kind::Order, format!("order of {word}: {random} alone")));
        }
    }
}

/// Of the steps from a file to the next one of its directory, those that lead to a higher number.
fn follows(all: &[Item<'_>], word: &str) -> Option<f64> {
    let number = |path: &str| {
        let name = path.rsplit(['/', '.']).next().unwrap_or_default();
        name.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<u64>().ok()
    };
    let mut lists: BTreeMap<u32, Vec<(&str, u64)>> = BTreeMap::new();
    for (_, call) in all.iter().filter(|one| one.0 == word) {
        let folder = call.path.rsplit_once('/').map_or("", |pair| pair.0);
        let list = lists.entry(call.source).or_default();
        list.extend(number(&call.path).map(|number| (folder, number)));
    }
    let pairs = lists.values().flat_map(|list| list.windows(2));
    let steps: Vec<bool> =
        pairs.filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1 > pair[0].1).collect();
    let rising = steps.iter().filter(|rises| **rises).count();
    (steps.len() >= FEW).then(|| rising as f64 / steps.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::calls::of_thread;
    use super::*;

    /// mdtest's calls to its files and directories; with `ours`, the same by our names.
    fn calls(texts: &[(u32, &str)], ours: bool) -> Vec<Call> {
        let mut all = Vec::new();
        for (source, text) in texts {
            let mut lines = String::new();
            for (number, word) in text.split(' ').enumerate() {
                let (kind, name) = word.split_at(1);
                let (folder, item) = name.rsplit_once('/').unwrap_or(("test-dir.0-0", name));
                let (letter, digits) = item.split_at(1);
                let item = match (ours, letter) {
                    (true, letter) => format!("{letter}{digits:0>18}"),
                    (false, "m") => format!("dir.mdtest.0.{digits}"),
                    (false, _) => format!("file.mdtest.0.{digits}"),
                };
                let (at, path) = (format!("1.{number:06}"), format!("/x/{folder}/{item}"));
                lines += &match kind {
                    "c" => format!("{at} open(\"{path}\", O_CREAT) = 3<{path}>\n"),
                    "o" => format!("{at} open(\"{path}\", O_RDONLY) = 3<{path}>\n"),
                    "w" => format!("{at} write(3<{path}>, \"\"..., 9) = 9\n"),
                    "s" => format!("{at} stat(\"{path}\", {{...}}) = 0\n"),
                    "m" => format!("{at} mkdir(\"{path}\", 0700) = 0\n"),
                    _ => format!("{at} unlink(\"{path}\") = 0\n"),
                };
            }
            all.extend(of_thread(*source, &lines, "/x"));
        }
        all.sort_by_key(|call| call.at_us);
        all
    }

    fn told(theirs: &[(u32, &str)], ours: &[(u32, &str)]) -> Vec<String> {
        let ours = calls(ours, true);
        let found = differences(&calls(theirs, false), &[ours.iter().collect()]);
        found.into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn what_is_done_to_files_is_counted_where_by_whom_and_in_which_order() {
        let none: Vec<String> = Vec::new();
        let all = "mm1 cf1 wf1 cf2 wf2 sf1 sf2 uf1 uf2";
        assert_eq!(told(&[(1, all)], &[(7, all)]), none);
        assert_eq!(told(&[(1, "cf1 wf1 sf1")], &[(7, "cf1 wf1")]), ["stats of files: 1, ours 0"]);
        let bytes = told(&[(1, "cf1 wf1")], &[(7, "cf1 wf1 wf1")]);
        assert_eq!(bytes, ["bytes of writes: 9, ours 18", "writes: 1, ours 2"]);
        let apart = told(&[(1, "cf1 cf2")], &[(7, "ca/f1 cb/f2")]);
        assert_eq!(apart, ["files in directories: [2], ours [1, 1]"]);
        // A repetition has a directory of its own; ours have one.
        let twice = "ctest-dir.0-0/f1 utest-dir.0-0/f1 ctest-dir.1-0/f1 utest-dir.1-0/f1";
        assert_eq!(told(&[(1, twice)], &[(7, "cf1 uf1 cf1 uf1")]), none);
        let turned = told(&[(1, "mm1 cf1")], &[(7, "cf1 mm1")]);
        assert!(turned[0].starts_with("turns: directories made, files made; ours"), "{turned:?}");
        let shares = told(&[(1, "cf1 cf2"), (2, "cf3")], &[(7, "cf1 cf2 cf3")]);
        assert_eq!(shares, ["files made by workers: [1, 2], ours [3]"]);
        let stats = |order: &[u64]| {
            let words: Vec<String> = order.iter().map(|number| format!("sf{number}")).collect();
            words.join(" ")
        };
        let turn = stats(&(0..20).collect::<Vec<_>>());
        let random = stats(&[9, 3, 17, 1, 12, 0, 19, 5, 14, 2, 8, 16, 4, 11, 18, 6, 13, 7, 15, 10]);
        let order = told(&[(1, &random)], &[(7, &turn)]);
        assert_eq!(order, ["order of stats of files: random in theirs alone"]);
    }
}
