//! How many were found: rates with their intervals, and the table.

use super::table::{KINDS, Lie};
use std::fmt::Write;

/// The runs of one lie and of its twin.
pub struct Count {
    /// The lie.
    pub lie: Lie,
    /// Runs in which it was found.
    pub found: u64,
    /// Runs of the twin in which it was accused.
    pub alarms: u64,
    /// Runs of each; 0 where it could not be staged.
    pub runs: u64,
}

/// Honest runs, and what was said of them without reason.
pub struct Honest {
    /// How many.
    pub runs: u64,
    /// Those with a doubt.
    pub alarms: u64,
    /// The doubts of them, by how often, the most frequent first.
    pub doubts: Vec<(String, u64)>,
}

impl Honest {
    /// None were run.
    pub const NONE: Honest = Honest { runs: 0, alarms: 0, doubts: Vec::new() };
}

/// The 95 % interval of a share: Wilson, *Probable Inference, the Law of Succession, and
/// Statistical Inference*, Journal of the American Statistical Association 22, 1927.
fn wilson(hits: u64, of: u64) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    if of == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (of as f64, hits as f64 / of as f64);
    let middle = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    (((middle - reach) / whole).max(0.0), ((middle + reach) / whole).min(1.0))
}

fn with_interval(hits: u64, of: u64) -> String {
    let (low, high) = wilson(hits, of);
    format!("{hits} of {of} ({:.0}–{:.0} %)", low * 100.0, high * 100.0)
}

/// The table of all lies that were staged, and a line for the honest runs.
pub fn table(counts: &[Count], honest: &Honest) -> String {
    let head = "| lie | one of | target | found (95 %) | false alarms of the twin |";
    let mut text = format!("{head}\n|---|---|---|---|---|\n");
    // Writing to a String cannot fail.
    for one in counts.iter().filter(|one| one.runs > 0) {
        let Lie { name, says, kind, lying, .. } = &one.lie;
        let target = if kind == KINDS[0] { String::new() } else { format!(": `{}`", lying.target) };
        let _ = writeln!(
            text,
            "| {name} | `{}` | {kind}{target} | {} | {} |",
            says.join("` `"),
            with_interval(one.found, one.runs),
            with_interval(one.alarms, one.runs)
        );
    }
    if honest.runs > 0 {
        let alarms = with_interval(honest.alarms, honest.runs);
        let _ = writeln!(text, "| honest simulated runs | any | simulated | – | {alarms} |");
    }
    for (doubt, times) in &honest.doubts {
        let _ = writeln!(text, "\n{times} × `{doubt}` on honest runs");
    }
    text
}

/// The same by kind of target.
pub fn by_kind(counts: &[Count]) -> String {
    let head = "| kind of target | found (95 %) | false alarms of the twins | not staged |";
    let mut text = format!("{head}\n|---|---|---|---|\n");
    for kind in KINDS {
        let of_kind: Vec<&Count> = counts.iter().filter(|one| one.lie.kind == kind).collect();
        let sum = |of: fn(&Count) -> u64| of_kind.iter().map(|one| of(one)).sum::<u64>();
        let runs = sum(|one| one.runs);
        if !of_kind.is_empty() {
            let _ = writeln!(
                text,
                "| {kind} | {} | {} | {} |",
                with_interval(sum(|one| one.found), runs),
                with_interval(sum(|one| one.alarms), runs),
                sum(|one| u64::from(one.runs == 0))
            );
        }
    }
    text
}

/// `found N of M lies (…%), K of L false alarms (…%)`.
pub fn last_line(counts: &[Count], honest: &Honest) -> String {
    let sum = |figure: fn(&Count) -> u64| counts.iter().map(figure).sum::<u64>();
    let (found, lies) = (sum(|one| one.found), sum(|one| one.runs));
    let alarms = sum(|one| one.alarms) + honest.alarms;
    let chances = lies + honest.runs;
    let share = |part: u64, whole: u64| {
        if whole > 0 { part as f64 / whole as f64 * 100.0 } else { 0.0 }
    };
    format!(
        "found {found} of {lies} lies ({:.1}%), {alarms} of {chances} false alarms ({:.1}%)",
        share(found, lies),
        share(alarms, chances)
    )
}

#[cfg(test)]
mod tests {
    use super::super::table::Run;
    use super::*;

    #[test]
    fn intervals_are_those_of_wilson() {
        let (low, high) = wilson(20, 20);
        assert!((low - 0.838_9).abs() < 1e-3 && (high - 1.0).abs() < 1e-9, "{low} {high}");
        let (low, high) = wilson(0, 1_000);
        assert!(low < 1e-9 && (high - 0.003_83).abs() < 1e-4, "{low} {high}");
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    #[test]
    fn the_last_line_adds_all_runs_up() {
        let run = |target: &str| Run { target: target.to_owned(), load: String::new() };
        let lie = Lie {
            name: "n".to_owned(),
            says: vec!["d".to_owned()],
            kind: "memory".to_owned(),
            lying: run("tmpfs"),
            honest: run("disk"),
        };
        let absent = Count { lie: lie.clone(), found: 0, alarms: 0, runs: 0 };
        let counts = [Count { lie, found: 19, alarms: 1, runs: 20 }, absent];
        let honest = Honest { runs: 80, alarms: 1, doubts: Vec::new() };
        assert_eq!(
            last_line(&counts, &honest),
            "found 19 of 20 lies (95.0%), 2 of 100 false alarms (2.0%)"
        );
        let kinds = by_kind(&counts);
        let row = "| memory | 19 of 20 (76–99 %) | 1 of 20 (1–24 %) | 1 |\n";
        assert!(kinds.ends_with(row), "{kinds}");
    }
}
