//! What is doubtful in results of other tools, and what they lack, in sentences.

use super::latency;
use crate::ground::sentence::{filled, template};
use analysis::foreign::{Lack, Missing};
use model::foreign::{Doubt, DoubtKind};

/// A sentence for each kind of doubt: `kind | sentence`. A figure in braces has the number of its
/// places behind it; without one, all that it has are shown.
const SENTENCES: &str = include_str!("sentences.txt");

/// Why no figure of another tool can be quoted by our evidence.
pub const NOT_QUOTABLE: &str = "not quotable: Plimsoll did not measure it, and holds no testbed, \
                                samples or kernel counters of it";

/// A doubt as a sentence, with what to make of it.
pub fn doubt(doubt: &Doubt) -> String {
    let name = match (doubt.kind, doubt.computed) {
        (DoubtKind::DuplicateKey, Some(_)) => "duplicate-key counted",
        (kind, _) => kind.word(),
    };
    let [text] = template(SENTENCES, name);
    let shown = |what: &str, way: &str| match what {
        "said" => figure(doubt.said.unwrap_or(0.0), way).into(),
        "computed" => figure(doubt.computed.unwrap_or(0.0), way).into(),
        _ => doubt.name.as_str().into(),
    };
    filled(text, &shown).text()
}

fn figure(value: f64, way: &str) -> String {
    match (way, way.strip_prefix('.').and_then(|places| places.parse().ok())) {
        (_, Some(places)) => format!("{value:.places$}"),
        ("time", _) => latency(value),
        // It may be one that no tool prints.
        ("plain", _) if value.abs() >= 1e15 => format!("{value:.1e}"),
        ("plain", _) => format!("{value:.1}"),
        _ => value.to_string(),
    }
}

/// What is missing as a sentence, of a run of so many rows.
pub fn lack(lack: &Lack, rows: usize) -> String {
    let of = if lack.rows == rows {
        String::new()
    } else {
        format!(" ({} of {rows} results)", lack.rows)
    };
    let what = match lack.missing {
        Missing::Latencies => "no latency",
        Missing::Quantiles => "no quantile of latencies: a mean hides the slow requests",
        Missing::TotalQuantiles => {
            "quantiles of the time behind the submission alone: whole requests took longer; \
             fio has those with `lat_percentiles=1`"
        }
        Missing::Histogram => {
            "no histogram: quantiles are those that the tool printed, and cannot be merged"
        }
        Missing::Spread => "no spread of the rate: no difference can be told from chance",
        Missing::Requests => "no count of requests",
        Missing::Time => "no time for which it was measured",
    };
    format!("{what}{of}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_of_doubt_has_its_sentence() {
        let mut names: BTreeSet<&str> = DoubtKind::ALL.iter().map(|kind| kind.word()).collect();
        names.insert("duplicate-key counted");
        let lines = SENTENCES.lines().filter_map(|line| Some(line.split_once(" | ")?.0));
        assert_eq!(names, lines.collect());
    }
}
