//! Medians, spreads and ratios.

use super::contender::{Contender, Measured};
use crate::shell::Outcome;

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Requests for each second of CPU time.
    PerCpuSecond,
    /// Requests per second.
    Iops,
}

impl Figure {
    fn of(self, result: &Measured) -> f64 {
        match self {
            Figure::PerCpuSecond => result.ios_per_cpu_s(),
            Figure::Iops => result.iops,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Figure::PerCpuSecond => "I/Os per CPU-second",
            Figure::Iops => "IOPS",
        }
    }
}

/// The least ratio of our figure to a contender's that the project claims.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Against whom.
    pub of: Contender,
    /// In what.
    pub figure: Figure,
    /// Ours ÷ theirs.
    pub least: f64,
}

/// What all contenders did, round by round; the first is ours.
pub struct Comparison {
    /// Who took part.
    pub contenders: Vec<Contender>,
    /// For each of them, one result a round.
    pub measured: Vec<Vec<Measured>>,
}

impl Comparison {
    /// A table in Markdown, which reads well in a terminal too.
    pub fn table(&self, claims: &[Claim]) -> String {
        let mut text = String::from(
            "| contender | IOPS | I/Os per CPU-second | user ns per I/O | ours ÷ its, I/Os per \
             CPU-second | ours ÷ its, IOPS | claimed |\n|---|---|---|---|---|---|---|\n",
        );
        for (contender, results) in self.contenders.iter().zip(&self.measured) {
            let claimed: Vec<String> = claims
                .iter()
                .filter(|claim| claim.of == *contender)
                .map(|claim| {
                    format!("{} {}: {}", claim.least, claim.figure.words(), self.verdict(claim))
                })
                .collect();
            text.push_str(&format!(
                "| {} | {} | {} | {:.0} | {} | {} | {} |\n",
                contender.name,
                spread(&all(results, |result| result.iops), thousands),
                spread(&all(results, Measured::ios_per_cpu_s), thousands),
                median(&all(results, Measured::user_ns_per_io)),
                self.ratio(results, Measured::ios_per_cpu_s),
                self.ratio(results, |result| result.iops),
                claimed.join("; "),
            ));
        }
        text
    }

    /// The ratio of medians, and behind it the least and the largest of the rounds.
    fn ratio(&self, theirs: &[Measured], figure: impl Fn(&Measured) -> f64) -> String {
        let Some(ours) = self.measured.first() else { return String::new() };
        if std::ptr::eq(ours.as_slice(), theirs) {
            return String::new();
        }
        ratio(&all(ours, &figure), &all(theirs, &figure))
    }

    /// Our median ÷ that of the claim's contender; `None` when it did not take part.
    fn reached(&self, claim: &Claim) -> Option<f64> {
        let index = self.contenders.iter().position(|contender| *contender == claim.of)?;
        let ours = median(&all(self.measured.first()?, |result| claim.figure.of(result)));
        let theirs = median(&all(self.measured.get(index)?, |result| claim.figure.of(result)));
        (theirs > 0.0).then(|| ours / theirs)
    }

    fn verdict(&self, claim: &Claim) -> &'static str {
        match self.reached(claim) {
            Some(ratio) if ratio >= claim.least => "held",
            Some(_) => "missed",
            None => "not measured",
        }
    }

    /// Our user time for each request, in ns.
    pub fn our_user_ns(&self) -> f64 {
        self.measured.first().map_or(0.0, |ours| median(&all(ours, Measured::user_ns_per_io)))
    }

    /// Claims that our figures do not bear out, in words.
    pub fn missed(&self, claims: &[Claim]) -> Vec<String> {
        let reached = claims.iter().filter_map(|claim| Some((claim, self.reached(claim)?)));
        reached
            .filter(|(claim, ratio)| *ratio < claim.least)
            .map(|(claim, ratio)| {
                let (name, figure) = (claim.of.name, claim.figure.words());
                format!("{ratio:.2} × {name} in {figure} where {} × is claimed", claim.least)
            })
            .collect()
    }
}

fn all(results: &[Measured], figure: impl Fn(&Measured) -> f64) -> Vec<f64> {
    results.iter().map(figure).collect()
}

/// The middle value; the mean of the two middle ones of an even number. 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The ratio of the medians of `ours` and `theirs`, and behind it the least and the largest of the
/// rounds.
pub fn ratio(ours: &[f64], theirs: &[f64]) -> String {
    let rounds: Vec<f64> = ours.iter().zip(theirs).map(|(our, their)| our / their).collect();
    let (low, high) = extremes(&rounds);
    format!("**{:.2}** ({low:.2} to {high:.2})", median(ours) / median(theirs))
}

/// The least and the largest.
pub fn extremes(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(0.0, f64::max))
}

/// The median, and behind it the least and the largest, each in `words`.
pub fn spread(values: &[f64], words: fn(f64) -> String) -> String {
    let (low, high) = extremes(values);
    format!("{} ({} to {})", words(median(values)), words(low), words(high))
}

/// A rate in thousands.
pub fn thousands(value: f64) -> String {
    // Two digits at least, also of a disk's large requests.
    if value < 1e4 { format!("{:.1} k", value / 1e3) } else { format!("{:.0} k", value / 1e3) }
}

/// What `lap` measures of each contender, round by round. Rounds go through them in alternating
/// order, so that whoever comes later has no standing advantage.
///
/// # Errors
/// A lap fails.
pub fn take_turns<T>(
    contenders: usize,
    rounds: u32,
    mut lap: impl FnMut(usize) -> Outcome<T>,
) -> Outcome<Vec<Vec<T>>> {
    let mut laps: Vec<Vec<T>> = (0..contenders).map(|_| Vec::new()).collect();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..contenders).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            laps[index].push(lap(index)?);
        }
    }
    Ok(laps)
}

#[cfg(test)]
mod tests {
    use super::super::contender::{ELBENCHO, FIO, PLIMSOLL};
    use super::*;

    fn measured(ios: [f64; 3]) -> Vec<Measured> {
        ios.iter()
            .map(|ios| Measured { ios: *ios, iops: *ios, user_s: 0.25, system_s: 0.75 })
            .collect()
    }

    #[test]
    fn ratios_are_those_of_medians_with_the_spread_of_rounds() {
        let comparison = Comparison {
            contenders: vec![PLIMSOLL, FIO],
            measured: vec![measured([300.0, 400.0, 500.0]), measured([200.0, 100.0, 400.0])],
        };
        let claim = |of, least| Claim { of, figure: Figure::PerCpuSecond, least };
        let held = [claim(FIO, 1.5), claim(ELBENCHO, 9.0)];
        let table = comparison.table(&held);
        assert!(table.contains("**2.00** (1.25 to 4.00)"), "{table}");
        assert!(
            table.contains("1.5 I/Os per CPU-second: held") && !table.contains("missed"),
            "{table}"
        );
        assert_eq!(comparison.missed(&held), [""; 0], "who did not take part is no miss");
        assert_eq!(comparison.our_user_ns(), 0.25e9 / 400.0);
        let missed = comparison.missed(&[claim(FIO, 2.5)]);
        assert_eq!(missed, ["2.00 × fio in I/Os per CPU-second where 2.5 × is claimed"]);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
