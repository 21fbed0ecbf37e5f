//! IO500's `result_summary.txt` or `result.txt`, and its score computed again.
//!
//! The score is the square root of two geometric means: that of the bandwidths in GiB/s, and that
//! of the rates of metadata in thousands of operations a second (io500.org, *Rules*).

use super::numbers::as_written;
use super::{Results, doubt};
use crate::import::ImportError;
use model::Op;
use model::foreign::{DoubtKind, Form, GivenRow, Measured, Quantity, short};

const GIB: f64 = (1_u64 << 30) as f64;

/// The phases of the score.
const BANDWIDTH: [&str; 4] = ["ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read"];
const METADATA: [&str; 8] = [
    "mdtest-easy-write", "mdtest-hard-write", "find", "mdtest-easy-stat", "mdtest-hard-stat",
    "mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete",
];

/// A number as it is printed: the range that its digits stand for.
#[derive(Clone, Copy, Debug)]
struct Printed {
    value: f64,
    low: f64,
    high: f64,
}

fn printed(text: &str) -> Option<Printed> {
    let (low, high) = as_written(text)?;
    Some(Printed { value: text.parse().ok()?, low, high })
}

/// The summary of a run of IO500.
///
/// # Errors
/// No phase is in it.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    if is_sections(text) {
        return sections(name, text);
    }
    let mut results = Results::new(Form::Io500Summary);
    let mut phases: Vec<(String, Printed)> = Vec::new();
    let mut score = None;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        if let Some(version) = line.strip_prefix("IO500 version ") {
            results.tool_version = short(version.trim());
        } else if line.starts_with("[SCORE ]") || line.starts_with("[SCORE]") {
            score = Some(scores(line));
            invalid(line, "score", &mut results);
        } else if line.starts_with('[')
            && !line.starts_with("[SCORE")
            && let Some(phase) = phase(line, place)
        {
            invalid(line, &phase.row.workload, &mut results);
            if line.starts_with("[RESULT") {
                phases.push((phase.row.workload.clone(), phase.printed));
            }
            results.push(name, phase.row)?;
        }
    }
    if phases.is_empty() {
        let remedy = "name the result_summary.txt of a run that ended";
        return Err(ImportError::new(name, "no phase has a result", remedy));
    }
    check(&phases, score.as_ref(), &mut results);
    Ok(results)
}

/// Whether a text is a `result.txt`: a section for each phase, with its score.
pub fn is_sections(text: &str) -> bool {
    let is_phase = |line: &str| {
        let name = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        name.is_some_and(|name| BANDWIDTH.contains(&name) || METADATA.contains(&name))
    };
    let is_score = |line: &str| line.split_once('=').is_some_and(|(key, _)| key.trim() == "score");
    text.lines().any(is_phase) && text.lines().any(is_score)
}

/// A `result.txt`: scores of phases in GiB/s and thousands of operations a second.
fn sections(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::Io500Summary);
    let mut phases: Vec<(String, Printed)> = Vec::new();
    let mut all = [None, None, None];
    let mut now = String::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section.clone_into(&mut now);
            continue;
        }
        invalid(line, &now, &mut results);
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with(';')) else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        let first = value.split_whitespace().next().unwrap_or_default();
        match (now.as_str(), key) {
            ("run", "version") => results.tool_version = short(value),
            ("SCORE" | "SCOREX", "BW") => all[0] = printed(first),
            ("SCORE" | "SCOREX", "MD") => all[1] = printed(first),
            ("SCORE" | "SCOREX", "SCORE") => all[2] = printed(first),
            (_, "score") => {
                let Some(printed) = printed(first) else { continue };
                let mut row = GivenRow::new(&now, op(&now), format!("{name}:{number}"));
                match now.starts_with("ior-") {
                    true => {
                        let bandwidth = Some(printed.value * GIB);
                        row.add(Quantity::whole(Measured::Bandwidth), bandwidth);
                    }
                    false => row.add(Quantity::whole(Measured::Rate), Some(printed.value * 1e3)),
                }
                if BANDWIDTH.contains(&now.as_str()) || METADATA.contains(&now.as_str()) {
                    phases.push((now.clone(), printed));
                }
                results.push(name, row)?;
            }
            (_, "t_delta") => {
                let seconds = first.parse::<f64>().ok().map(|seconds| seconds * 1e9);
                let row = results.rows.last_mut().filter(|row| row.workload == now);
                if let Some(row) = row {
                    row.add(Quantity::whole(Measured::Time), seconds);
                }
            }
            _ => {}
        }
    }
    if phases.is_empty() {
        let remedy = "name the result.txt of a run that ended";
        return Err(ImportError::new(name, "no phase has a result", remedy));
    }
    check(&phases, Some(&all), &mut results);
    Ok(results)
}

fn invalid(line: &str, name: &str, results: &mut Results) {
    if line.contains("INVALID") || line.contains("-invalid]") {
        doubt(results, DoubtKind::MarkedInvalid, name, None);
    }
}

/// A line of a phase.
struct Phase {
    row: GivenRow,
    printed: Printed,
}

/// `[RESULT] BW phase 1 ior_easy_write 3.1 GB/s : time 300 seconds`, and `[RESULT] ior-easy-write
/// 3.1 GiB/s : time 300 seconds`.
fn phase(line: &str, place: String) -> Option<Phase> {
    let words: Vec<&str> = line.split_once(']')?.1.split_whitespace().collect();
    let unit = words.iter().position(|word| {
        ["gib/s", "gb/s", "kiops"].contains(&word.to_ascii_lowercase().as_str())
    })?;
    let name = words.get(unit.checked_sub(2)?)?.replace('_', "-");
    let printed = printed(words[unit - 1])?;
    let mut row = GivenRow::new(&name, op(&name), place);
    match words[unit].eq_ignore_ascii_case("kiops") {
        true => row.add(Quantity::whole(Measured::Rate), Some(printed.value * 1e3)),
        // Older versions print GiB/s as `GB/s`.
        false => row.add(Quantity::whole(Measured::Bandwidth), Some(printed.value * GIB)),
    }
    let time = words.iter().position(|word| *word == "time").and_then(|at| words.get(at + 1));
    let seconds = time.and_then(|text| text.parse::<f64>().ok());
    row.add(Quantity::whole(Measured::Time), seconds.map(|seconds| seconds * 1e9));
    Some(Phase { row, printed })
}

/// What a phase does.
fn op(phase: &str) -> Option<Op> {
    let (program, what) = phase.split_once('-')?;
    match (program, what.rsplit('-').next()?) {
        ("ior", "write") => Some(Op::Write),
        ("ior", "read") => Some(Op::Read),
        ("mdtest", "write") => Some(Op::Create),
        ("mdtest", "stat") => Some(Op::Stat),
        ("mdtest", "read") => Some(Op::ReadFile),
        ("mdtest", "delete") => Some(Op::Remove),
        _ => None,
    }
}

/// Bandwidth, metadata and total, as they are printed.
fn scores(line: &str) -> [Option<Printed>; 3] {
    let words: Vec<&str> = line.split_whitespace().collect();
    let behind = |name: &str| {
        let at = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
        printed(words.get(at + 1)?)
    };
    [behind("Bandwidth"), behind("IOPS"), behind("TOTAL")]
}

/// The geometric mean of the phases of these names that were measured; a phase of zero counts as
/// none, as in IO500.
fn mean(phases: &[(String, Printed)], names: &[&str], of: fn(&Printed) -> f64) -> Option<f64> {
    let all: Vec<f64> = phases
        .iter()
        .filter(|(name, printed)| names.contains(&name.as_str()) && printed.value > 0.0)
        .map(|(_, printed)| of(printed).max(f64::MIN_POSITIVE).ln())
        .collect();
    (!all.is_empty()).then(|| (all.iter().sum::<f64>() / all.len() as f64).exp())
}

fn check(
    phases: &[(String, Printed)],
    score: Option<&[Option<Printed>; 3]>,
    results: &mut Results,
) {
    for wanted in BANDWIDTH.iter().chain(&METADATA) {
        let is_there = |(name, printed): &(String, Printed)| name == wanted && printed.value > 0.0;
        if !phases.iter().any(is_there) {
            doubt(results, DoubtKind::PhaseMissing, wanted, None);
        }
    }
    let of = |which: fn(&Printed) -> f64| {
        let bandwidth = mean(phases, &BANDWIDTH, which).unwrap_or(0.0);
        let metadata = mean(phases, &METADATA, which).unwrap_or(0.0);
        [bandwidth, metadata, (bandwidth * metadata).sqrt()]
    };
    let [low, value, high] = [of(|p| p.low), of(|p| p.value), of(|p| p.high)];
    let mut row = GivenRow::new("score", None, "computed".to_owned());
    row.add(Quantity::whole(Measured::Bandwidth), Some(value[0] * GIB));
    row.add(Quantity::whole(Measured::Rate), Some(value[1] * 1e3));
    row.add(Quantity::whole(Measured::Score), Some(value[2]));
    results.rows.push(row);
    let Some(score) = score else { return };
    for (at, name) in ["score of bandwidth", "score of metadata", "score"].into_iter().enumerate() {
        let Some(said) = score[at] else { continue };
        if said.high < low[at] || said.low > high[at] {
            doubt(results, DoubtKind::ScoreDiffers, name, Some((said.value, value[at])));
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    /// Made up; the means are 2 and 4, so that the score is the root of 8.
    fn summary(total: &str, find: &str) -> String {
        let mut text = String::from("IO500 version made-up (standard)\n");
        for (name, value) in BANDWIDTH.iter().zip(["1.0", "4.0", "2.0", "2.0"]) {
            text.push_str(&format!("[RESULT] {name:>20} {value} GiB/s : time 300.1 seconds\n"));
        }
        let rates = ["1.0", "16.0", find, "4.0", "4.0", "4.0", "2.0", "8.0"];
        for (name, value) in METADATA.iter().zip(rates) {
            text.push_str(&format!("[RESULT] {name:>20} {value} kIOPS : time 300.1 seconds\n"));
        }
        text.push_str("[      ] timestamp 0.0 kIOPS : time 0.0 seconds\n");
        text.push_str(&format!("[SCORE ] Bandwidth 2.0 GiB/s : IOPS 4.0 kiops : TOTAL {total}\n"));
        text
    }

    #[test]
    fn the_score_is_the_root_of_two_geometric_means() {
        let results = read("s", &summary("2.828427", "4.0")).expect("results");
        // 2.828427 is more exact than what is printed of the phases allows to know.
        assert_eq!(results.doubts, []);
        let score = results.rows.last().and_then(|row| row.get(Quantity::whole(Measured::Score)));
        assert!(score.is_some_and(|score| (score - 8_f64.sqrt()).abs() < 1e-9), "{score:?}");
        let bandwidth = results.rows[0].get(Quantity::whole(Measured::Bandwidth));
        assert_eq!(bandwidth, Some(GIB));
        assert_eq!(results.rows[0].get(Quantity::whole(Measured::Time)), Some(300.1e9));
        assert_eq!(results.tool(), "IO500 made-up (standard)");
    }

    #[test]
    fn a_score_that_does_not_follow_is_doubted() {
        let results = read("s", &summary("3.2", "4.0")).expect("results");
        assert_eq!(results.doubts.len(), 1);
        assert_eq!(results.doubts[0].kind, DoubtKind::ScoreDiffers);
        assert_eq!(results.doubts[0].said, Some(3.2));
        let results = read("s", &summary("2.828 [INVALID]", "0.0")).expect("results");
        let kinds: Vec<DoubtKind> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [DoubtKind::MarkedInvalid, DoubtKind::PhaseMissing], "{results:?}");
    }

    #[test]
    fn sections_with_scores_are_read_as_the_summary_is() {
        let mut text = String::from("[run]\nversion = made-up\n");
        for (name, value) in BANDWIDTH.iter().zip(["1.0", "4.0", "2.0", "2.0"]) {
            text.push_str(&format!("[{name}]\nexe = ./ior -w\nscore = {value}\nt_delta = 9.5\n"));
        }
        for (name, value) in METADATA.iter().zip(["1", "16", "4", "4", "4", "4", "2", "8"]) {
            text.push_str(&format!("[{name}]\nscore   = {value}.0\n"));
        }
        text.push_str("[SCORE]\nMD = 4.0\nBW = 2.0\nSCORE = 3.2 [INVALID]\n");
        assert_eq!(super::super::detect(&text), Some(Form::Io500Summary));
        let results = read("result.txt", &text).expect("results");
        assert_eq!(results.tool(), "IO500 made-up");
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Bandwidth), Some(GIB));
        assert_eq!(row.get(Quantity::whole(Measured::Time)), Some(9.5e9));
        assert_eq!(results.rows[4].overall(Measured::Rate), Some(1e3));
        let kinds: Vec<DoubtKind> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [DoubtKind::MarkedInvalid, DoubtKind::ScoreDiffers]);
    }

    #[test]
    fn lines_of_older_versions_are_read() {
        let line = "[RESULT] BW   phase 1            ior_easy_write             2.500 GB/s : time \
                    362.34 seconds\n[RESULT] IOPS phase 3   find  7.5 kiops : time  1.0 seconds\n";
        let results = read("s", line).expect("results");
        let bandwidth = results.rows[0].get(Quantity::whole(Measured::Bandwidth));
        assert_eq!(bandwidth, Some(2.5 * GIB));
        assert_eq!(results.rows[1].get(Quantity::whole(Measured::Rate)), Some(7_500.0));
    }
}
