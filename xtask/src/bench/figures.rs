//! Medians, spreads and ratios.

use super::contender::Measured;

/// What all contenders did, round by round; the first is ours.
pub struct Comparison {
    /// Their names.
    pub names: Vec<String>,
    /// For each of them, one result a round.
    pub measured: Vec<Vec<Measured>>,
}

impl Comparison {
    /// A table in Markdown, which reads well in a terminal too.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| contender | IOPS | I/Os per CPU-second | ours ÷ its, I/Os per CPU-second | ours ÷ its, IOPS |\n|---|---|---|---|---|\n",
        );
        for (name, results) in self.names.iter().zip(&self.measured) {
            text.push_str(&format!(
                "| {name} | {} | {} | {} | {} |\n",
                spread(&all(results, |result| result.iops), thousands),
                spread(&all(results, Measured::ios_per_cpu_s), thousands),
                self.ratio(results, Measured::ios_per_cpu_s),
                self.ratio(results, |result| result.iops),
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
        let middle = median(&all(ours, &figure)) / median(&all(theirs, &figure));
        let rounds: Vec<f64> = ours.iter().zip(theirs).map(|(our, their)| figure(our) / figure(their)).collect();
        let (low, high) = extremes(&rounds);
        format!("**{middle:.2}** ({low:.2} to {high:.2})")
    }

    /// Contenders over whom our lead is smaller than `claim`.
    pub fn missed(&self, claim: f64) -> Vec<String> {
        let Some((ours, others)) = self.measured.split_first() else { return Vec::new() };
        let our = median(&all(ours, Measured::ios_per_cpu_s));
        let ratios = others.iter().map(|results| our / median(&all(results, Measured::ios_per_cpu_s)));
        let named = self.names.iter().skip(1).zip(ratios);
        named
            .filter(|(_, ratio)| *ratio < claim)
            .map(|(name, ratio)| format!("{ratio:.2} × {name} where {claim} × is claimed"))
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

fn extremes(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(0.0, f64::max))
}

fn spread(values: &[f64], words: fn(f64) -> String) -> String {
    let (low, high) = extremes(values);
    format!("{} ({} to {})", words(median(values)), words(low), words(high))
}

fn thousands(value: f64) -> String {
    format!("{:.0} k", value / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ios: [u64; 3]) -> Vec<Measured> {
        ios.iter().map(|ios| Measured { ios: *ios, iops: *ios as f64, cpu_s: 1.0 }).collect()
    }

    #[test]
    fn ratios_are_those_of_medians_with_the_spread_of_rounds() {
        let names = vec!["plimsoll".to_owned(), "fio".to_owned()];
        let comparison = Comparison { names, measured: vec![measured([300, 400, 500]), measured([200, 100, 400])] };
        let table = comparison.table();
        assert!(table.contains("**2.00** (1.25 to 4.00)"), "{table}");
        assert_eq!(comparison.missed(1.5), Vec::<String>::new());
        assert_eq!(comparison.missed(2.5), ["2.00 × fio where 2.5 × is claimed"]);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
