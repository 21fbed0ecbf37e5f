//! Options of fio behind the quick form: those that `plimsoll run` has not itself become `--set`,
//! by the table that reads fio's jobs. So a run file keeps them in our words.

use dialects::fio::{quick_changes, quick_knows, takes_a_value};
use dialects::{Class, ReportedOption};
use std::ffi::OsString;

/// The quick form's own options.
const QUICK: [&str; 7] = ["rw", "bs", "iodepth", "numjobs", "size", "runtime", "rwmixread"];

/// Options for which the command has a word of its own, with which it answers.
const OWN_WORDS: [&str; 8] =
    ["direct", "ioengine", "filename", "directory", "ramp_time", "verify", "rate", "thinktime"];

/// A line with fio's options as our own, and what was said of them.
pub(crate) struct Expanded {
    pub(crate) line: Vec<OsString>,
    /// The options that were understood, or refused for their values.
    pub(crate) told: Vec<ReportedOption>,
}

pub(crate) fn is_quick(line: &[OsString]) -> bool {
    let mut words = line.iter().filter_map(|word| word.to_str());
    words.any(|word| word == "--rw" || word.starts_with("--rw="))
}

/// Puts `--set` in the place of fio's options, where the quick form is used. `known` says whether
/// the command has an option of this name; such words, and those that the command answers, stay.
pub(crate) fn expanded(line: &[OsString], known: &dyn Fn(&str) -> bool) -> Expanded {
    let none = || Expanded { line: line.to_vec(), told: Vec::new() };
    let Some(words) = line.iter().map(|word| word.to_str()).collect::<Option<Vec<_>>>() else {
        return none();
    };
    if !is_quick(line)
        || !words.get(1).is_some_and(|name| ["run", "plan", "loadline"].contains(name))
    {
        return none();
    }
    let mut kept = Vec::new();
    let (mut base, mut more) = (defaults(), Vec::new());
    let mut all = words.iter().zip(line).enumerate().peekable();
    while let Some((_, (word, original))) = all.next() {
        let option = word.strip_prefix("--").filter(|option| !option.is_empty());
        let (name, given) = match option.map(|option| option.split_once('=')) {
            Some(Some((name, value))) => (name, Some(value.to_owned())),
            Some(None) => (option.unwrap_or_default(), None),
            None => ("", None),
        };
        let next = all.peek().map(|(_, (next, _))| **next).filter(|next| !next.starts_with("--"));
        if QUICK.contains(&name) {
            let value = given.or(next.map(str::to_owned)).unwrap_or_default();
            base.push((name.to_owned(), value));
        }
        let is_ours = known(name) || OWN_WORDS.contains(&name) || !quick_knows(name);
        if is_ours {
            kept.push(original.clone());
            continue;
        }
        let has_value = option.is_some_and(|option| option.contains('='));
        let value = match next.filter(|_| !has_value && takes_a_value(name)) {
            Some(next) => {
                all.next();
                next.to_owned()
            }
            None => word.split_once('=').map_or("", |(_, value)| value).to_owned(),
        };
        more.push((name.to_owned(), value));
    }
    if more.is_empty() {
        return none();
    }
    let (changes, told) = quick_changes(&base, &more);
    // Behind the command's name, so that a `--set` that was typed has the last word.
    let at = kept.len().min(2);
    let sets = changes.iter().map(|one| format!("--set={}={}", one.field, one.value).into());
    kept.splice(at..at, sets.collect::<Vec<OsString>>());
    Expanded { line: kept, told }
}

fn defaults() -> Vec<(String, String)> {
    let pairs = [
        ("direct", "1"),
        ("ioengine", "io_uring"),
        ("time_based", "1"),
        ("runtime", "60"),
        ("norandommap", "1"),
        ("size", "1g"),
    ];
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Why a line cannot be taken: an option was refused for its value.
pub(crate) fn refused(told: &[ReportedOption]) -> Option<String> {
    let refused = told.iter().find(|told| told.class == Class::Refused)?;
    let sign = if refused.value.is_empty() { "" } else { "=" };
    Some(format!(
        "--{}{sign}{} is an option of fio that cannot be taken over: {}",
        refused.name, refused.value, refused.why
    ))
}

/// What is said of options that do not mean quite the same.
pub(crate) fn notes(told: &[ReportedOption]) -> impl Iterator<Item = String> + '_ {
    let others = told.iter().filter(|told| told.class == Class::Approximated);
    others.map(|told| {
        let sign = if told.value.is_empty() { "" } else { "=" };
        format!("approximated  --{}{sign}{}  {}", told.name, told.value, told.why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(line: &str) -> (String, Vec<ReportedOption>) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let known = |name: &str| QUICK.contains(&name) || name == "set" || name == "target";
        let expanded = expanded(&words, &known);
        let words: Vec<String> =
            expanded.line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        (words.join(" "), expanded.told)
    }

    #[test]
    fn options_of_fio_become_fields() {
        let line = "plimsoll run --rw randrw --bs 4k --rwmixwrite 30 --group_reporting /x";
        assert_eq!(expand(line).0, "plimsoll run --set=read=70% --rw randrw --bs 4k /x");
        let (line, told) = expand("plimsoll run --rw=randread --bsrange=4k-8k /x --set think=1ms");
        assert!(line.starts_with("plimsoll run --set=block_size="), "{line}");
        assert!(line.ends_with(" --rw=randread /x --set think=1ms"), "{line}");
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn other_words_stay() {
        for line in [
            "plimsoll run --rw read --zonemode zbd",
            "plimsoll run --rw randread --rate 1000 /x",
            "plimsoll run --rwmixwrite=30 suite.toml",
            "plimsoll show --rw read --thinktime 5",
            "plimsoll run --rw read --frobnicate",
        ] {
            let (kept, told) = expand(line);
            assert_eq!((kept.as_str(), told.len()), (line, 0));
        }
        let (_, told) = expand("plimsoll run --rw read --bssplit=x /y");
        assert!(refused(&told).is_some_and(|why| why.contains("bssplit=x")), "{told:?}");
    }
}
