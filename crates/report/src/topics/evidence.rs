//! What speaks against the figures of a run, in words: the page and its paragraph say the same.

use crate::ground::words;
use analysis::ResultRow;
use analysis::attribution::Attribution;
use analysis::trust::{Evidence, Reason};
use model::Record;

/// What was found of a run whose results, with all doubts, are `rows`.
pub fn evidence(record: &Record, rows: &[ResultRow], limits: &[Attribution]) -> Evidence {
    Evidence::of(record, rows, limits, crate::topics::doubts::is_shown)
}

/// A sentence for each reason, the gravest first; empty where none was found.
pub fn sentences(evidence: &Evidence) -> Vec<String> {
    evidence.reasons().iter().map(|reason| sentence(*reason, evidence.results)).collect()
}

fn sentence(reason: Reason, results: u64) -> String {
    let of = |some: u64| match (some, results) {
        (1, 1) => "the result".to_owned(),
        (some, all) if some == all => format!("all {} results", words::count(all)),
        (some, all) => format!("{} of the {} results", words::count(some), words::count(all)),
    };
    match reason {
        Reason::Nothing { .. } if results == 0 => "Nothing was measured.".to_owned(),
        Reason::Nothing { results: empty } => format!("No request succeeded in {}.", of(empty)),
        Reason::NotComplete => "The run did not reach its planned end.".to_owned(),
        Reason::Failed { requests } => format!("{} failed.", words::counted(requests, "request")),
        Reason::HostsLost { hosts } => {
            format!("{} lost.", was(hosts, "host"))
        }
        Reason::HostsSaturated { hosts } => {
            let whose =
                if hosts == 1 { "1 host" } else { &format!("{} hosts", words::count(hosts)) };
            format!("The CPUs of {whose} were saturated: they may be the limit, not the target.")
        }
        Reason::Doubted { results: some } => {
            format!("There are reasons to doubt {}, listed below.", of(some))
        }
        Reason::Unsure { results: some, rates } => format!(
            "The ± of the {} is unknown in {}: samples are too few or too dependent. Measure \
             longer.",
            match rates {
                0 => "p99",
                rates if rates == some => "rate",
                _ => "rate or of the p99",
            },
            of(some)
        ),
        Reason::Unquotable { results: some } => {
            format!("Evidence for {} is missing: see the verdict.", of(some))
        }
    }
}

fn was(count: u64, noun: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", words::counted(count, noun))
}

/// The class of a run's badge, and how the run ended.
pub fn badge(record: &Record, evidence: &Evidence) -> (&'static str, String) {
    let state = words::run_state(&analysis::run_state(record));
    let grave: Vec<String> = evidence
        .reasons()
        .into_iter()
        .filter_map(|reason| match reason {
            Reason::Failed { requests } => {
                Some(format!("{} failed", words::counted(requests, "request")))
            }
            Reason::HostsLost { hosts } => Some(format!("{} lost", words::counted(hosts, "host"))),
            _ => None,
        })
        .collect();
    (class(evidence), [vec![state], grave].concat().join(", "))
}

/// The class of the badge of a run that is over: green only where nothing speaks against its
/// figures.
pub fn class(evidence: &Evidence) -> &'static str {
    let is_grave = |reason: &Reason| {
        matches!(reason, Reason::NotComplete | Reason::Failed { .. } | Reason::HostsLost { .. })
    };
    match evidence.reasons() {
        none if none.is_empty() => "badge good",
        some if some.iter().any(is_grave) => "badge bad",
        _ => "badge",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, measured};
    use model::Op;

    fn sound() -> Evidence {
        Evidence { is_complete: true, results: 4, ..Evidence::default() }
    }

    #[test]
    fn every_reason_has_its_sentence_and_green_is_for_none() {
        let record = measured(W, &[(Op::Read, &[1_000; 90])]);
        assert_eq!(sentences(&sound()).len(), 0);
        assert_eq!(badge(&record, &sound()), ("badge good", "complete".to_owned()));
        let all = [
            Evidence { results: 0, ..sound() },
            Evidence { empty: 1, ..sound() },
            Evidence { is_complete: false, ..sound() },
            Evidence { failed: 3_784, ..sound() },
            Evidence { lost_hosts: 1, ..sound() },
            Evidence { saturated_hosts: 2, ..sound() },
            Evidence { doubted: 3, ..sound() },
            Evidence { unsure: 4, ..sound() },
            Evidence { unquotable: 4, ..sound() },
        ];
        for found in all {
            assert_eq!(sentences(&found).len(), 1, "{found:?}");
            assert_ne!(badge(&record, &found).0, "badge good", "{found:?}");
        }
        assert_eq!(
            badge(&record, &all[3]),
            ("badge bad", "complete, 3,784 requests failed".to_owned())
        );
        assert_eq!(badge(&record, &all[7]), ("badge", "complete".to_owned()));
        let of =
            |rates| sentences(&Evidence { unsure: 4, unsure_rates: rates, ..sound() }).concat();
        assert!(of(0).starts_with("The ± of the p99 is unknown in "), "{}", of(0));
        assert!(of(4).starts_with("The ± of the rate is unknown in "), "{}", of(4));
        assert!(of(1).starts_with("The ± of the rate or of the p99 is unknown"), "{}", of(1));
    }
}
