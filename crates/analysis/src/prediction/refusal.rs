//! Rows that nothing should be fitted to.

use super::load::{Load, Measured, fitted};
use super::network::Network;
use super::parameter::{DEPENDS, Parameter, Values};
use crate::ceiling::{Layer, ceiling};
use catalogue::Cluster;
use catalogue::cluster::MOST_FITTED_ROWS;

/// Rows of one load whose rates differ by more than this factor contradict each other.
const CONTRADICTS: f64 = 1.5;
/// Nor are they further apart than this many times what repetitions of other loads stray by: √2 for
/// a difference, and 4 deviations.
const MOST_APART: f64 = 5.7;
/// Rows that stray by more than this about the fit, as a logarithm, are not of this model.
const MOST_SPREAD: f64 = 0.35;
/// Datasheets round.
const ABOVE: f64 = 1.02;

/// Why nothing is fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Fewer than two rows.
    TooFewRows {
        /// How many there are.
        rows: usize,
    },
    /// More rows than a fit takes.
    TooManyRows {
        /// How many there are.
        rows: usize,
        /// How many it takes.
        most: usize,
    },
    /// Rows depend on more than twice as many parameters as there are rows.
    TooManyUnknowns {
        /// How many rows there are.
        rows: usize,
        /// What they depend on.
        unknowns: Vec<Parameter>,
    },
    /// Two rows of one load are further apart than any model could bring together.
    Contradiction {
        /// One row.
        one: Box<Measured>,
        /// The other.
        other: Box<Measured>,
    },
    /// A row is above what the testbed can carry: it is of another cluster, or a fact is wrong.
    AboveCeiling {
        /// The row.
        row: Box<Measured>,
        /// The layer that binds.
        layer: Layer,
        /// What it allows, in requests per second.
        ceiling: f64,
    },
    /// No parameters bring model and rows together.
    DoesNotFit {
        /// How far rows stray on average: the root of the mean square of the logarithms.
        spread: f64,
        /// The row that strays most.
        row: Box<Measured>,
        /// What the fit says of it, in requests per second.
        predicted: f64,
    },
}

/// Whether a fitted testbed's rows are such that its values may have been fitted to them, by the
/// rules of a calibration. A testbed that was edited since may say anything.
///
/// # Errors
/// Why nothing would have been fitted to them.
pub fn check_fitted(cluster: &Cluster) -> Result<(), Refusal> {
    let rows = fitted(cluster);
    if rows.is_empty() {
        return Ok(());
    }
    check_rows(cluster, &rows)?;
    let networks: Vec<Network> = rows.iter().map(|row| Network::new(cluster, &row.load)).collect();
    check_fit(cluster, &Values::of(cluster), &rows, &networks)
}

/// Whether these rows may be fitted at all.
///
/// # Errors
/// Why they may not.
pub(super) fn check_rows(cluster: &Cluster, rows: &[Measured]) -> Result<(), Refusal> {
    if rows.len() < 2 {
        return Err(Refusal::TooFewRows { rows: rows.len() });
    }
    if rows.len() > MOST_FITTED_ROWS {
        return Err(Refusal::TooManyRows { rows: rows.len(), most: MOST_FITTED_ROWS });
    }
    for (index, one) in rows.iter().enumerate() {
        for other in &rows[index + 1..] {
            let ratio = (one.rate / other.rate).ln().abs();
            if one.load.is_like(&other.load)
                && ratio > CONTRADICTS.ln()
                && ratio > MOST_APART * repeats_stray(rows, &one.load)
            {
                return Err(Refusal::Contradiction {
                    one: Box::new(one.clone()),
                    other: Box::new(other.clone()),
                });
            }
        }
        let most = ceiling(&one.load.used(cluster), &one.load.workload);
        // Names alone meet no layer that has a ceiling.
        let is_above = |rate: f64| one.load.object.moves_data() && one.rate > ABOVE * rate;
        if let Some(limit) = most.binding().filter(|limit| is_above(limit.iops)) {
            let (layer, ceiling) = (limit.layer, limit.iops);
            return Err(Refusal::AboveCeiling { row: Box::new(one.clone()), layer, ceiling });
        }
    }
    Ok(())
}

/// How far repetitions of other loads than this one stray about their means: the deviation of a
/// logarithm; 0 where fewer than three of them say it.
fn repeats_stray(rows: &[Measured], but: &Load) -> f64 {
    let (mut squares, mut freedom) = (0.0, 0.0);
    let mut groups: Vec<(&Load, Vec<f64>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.load.is_like(but)) {
        match groups.iter_mut().find(|(load, _)| load.is_like(&row.load)) {
            Some((_, rates)) => rates.push(row.rate.ln()),
            None => groups.push((&row.load, vec![row.rate.ln()])),
        }
    }
    for (_, rates) in groups {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        squares += rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
        freedom += rates.len() as f64 - 1.0;
    }
    if freedom < 3.0 { 0.0 } else { f64::sqrt(squares / freedom) }
}

/// Whether the model and the rows belong together.
///
/// # Errors
/// Why they do not.
pub(super) fn check_fit(
    cluster: &Cluster,
    values: &Values,
    rows: &[Measured],
    networks: &[Network],
) -> Result<(), Refusal> {
    let strays = |network: &Network, row: &Measured| network.ln_rate(values) - row.rate.ln();
    let squares: f64 =
        networks.iter().zip(rows).map(|(network, row)| strays(network, row).powi(2)).sum();
    let spread = (squares / rows.len().max(1) as f64).sqrt();
    if spread > MOST_SPREAD {
        let away = |network: &Network, row: &Measured| strays(network, row).abs();
        let worst =
            networks.iter().zip(rows).max_by(|a, b| away(a.0, a.1).total_cmp(&away(b.0, b.1)));
        if let Some((network, row)) = worst {
            let predicted = network.carries(values).rate;
            return Err(Refusal::DoesNotFit { spread, row: Box::new(row.clone()), predicted });
        }
    }
    let depends = |parameter: &Parameter| {
        networks.iter().any(|network| network.slopes(values)[parameter.index()].abs() >= DEPENDS)
    };
    let unknowns: Vec<Parameter> = Parameter::EACH
        .into_iter()
        .filter(|parameter| parameter.known(cluster).is_none() && depends(parameter))
        .collect();
    if unknowns.len() > 2 * rows.len() {
        return Err(Refusal::TooManyUnknowns { rows: rows.len(), unknowns });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: &str = "name = \"t\"\n[[nodes]]\ncount = 3\n[[nodes.drives]]\ncount = 4\nmodel = \
                       \"p4610-3.2tb\"\n";

    /// The lab with rows of a load that software of 20 µs carries at `rates`.
    fn lab(fitted: &str, rates: &[f64]) -> Cluster {
        let mut text = format!("{LAB}[fitted]\n{fitted}\n");
        for (number, rate) in rates.iter().enumerate() {
            text.push_str(&format!(
                "[[fitted_row]]\nname = \"r{number}\"\nread_bytes = \"4KiB\"\nwrite_bytes = \
                 \"4KiB\"\nread = \"100%\"\nrandom = \"100%\"\nfootprint = \"1TB\"\nhosts = \
                 3\noutstanding = 192\nrate = {rate}\n"
            ));
        }
        Cluster::parse("t", &text, &[]).expect("a testbed")
    }

    #[test]
    fn rows_that_contradict_what_was_fitted_are_refused_as_a_calibration_refuses_them() {
        let (fitted, rates) = ("read = \"20us\"", [140_000.0, 141_000.0]);
        assert_eq!(check_fitted(&lab(fitted, &[])), Ok(()));
        assert_eq!(check_fitted(&lab(fitted, &rates)), Ok(()));
        let of =
            |fitted: &str, rates: &[f64]| check_fitted(&lab(fitted, rates)).expect_err("no fit");
        let slower = of("read = \"2ms\"", &rates);
        assert!(matches!(slower, Refusal::DoesNotFit { .. }), "{slower:?}");
        let apart = of(fitted, &[140_000.0, 1_400.0]);
        assert!(matches!(apart, Refusal::Contradiction { .. }), "{apart:?}");
        let above = of(fitted, &[140e6, 141e6]);
        assert!(matches!(above, Refusal::AboveCeiling { .. }), "{above:?}");
        assert_eq!(of(fitted, &rates[..1]), Refusal::TooFewRows { rows: 1 });
    }
}
