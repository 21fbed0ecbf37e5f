//! How many were found: rates with their intervals, and the table.

use super::runner::Judged;
use crate::shell::Outcome;
use std::fmt::Write;

/// The runs of one lie and of its twin.
pub struct Count {
    name: &'static str,
    doubt: &'static str,
    stage: &'static str,
    found: u64,
    alarms: u64,
    runs: u64,
}

impl Count {
    /// Counts the runs in which the lie's own doubt stands, and those of the twin.
    ///
    /// # Errors
    /// A run failed.
    pub fn of(
        name: &'static str,
        doubt: &'static str,
        stage: &'static str,
        runs: impl Iterator<Item = Outcome<Judged>>,
    ) -> Outcome<Count> {
        let mut count = Count { name, doubt, stage, found: 0, alarms: 0, runs: 0 };
        for judged in runs {
            let Judged { lying, honest } = judged?;
            count.runs += 1;
            count.found += u64::from(lying.contains(doubt));
            count.alarms += u64::from(honest.contains(doubt));
        }
        Ok(count)
    }
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

/// The table of all lies, and a line for the honest runs.
pub fn table(counts: &[Count], honest: &Honest) -> String {
    let head = "| lie | doubt | target | found (95 %) | false alarms of the twin |";
    let mut text = format!("{head}\n|---|---|---|---|---|\n");
    // Writing to a String cannot fail.
    for one in counts {
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} |",
            one.name,
            one.doubt,
            one.stage,
            with_interval(one.found, one.runs),
            with_interval(one.alarms, one.runs)
        );
    }
    let _ = writeln!(
        text,
        "| honest simulated runs | any | simulated | – | {} |",
        with_interval(honest.alarms, honest.runs)
    );
    for (doubt, times) in &honest.doubts {
        let _ = writeln!(text, "\n{times} × `{doubt}` on honest runs");
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
        let count = Count { name: "n", doubt: "d", stage: "real", found: 19, alarms: 1, runs: 20 };
        let honest = Honest { runs: 80, alarms: 1, doubts: Vec::new() };
        assert_eq!(
            last_line(&[count], &honest),
            "found 19 of 20 lies (95.0%), 2 of 100 false alarms (2.0%)"
        );
    }
}
