//! Measured rows beside what a fitted testbed predicts of them: a long run beside what a short one
//! of the same cluster implies. What lies outside of its interval is a finding.

use crate::prediction::choice::{OtherCluster, one_cluster};
use crate::prediction::fit::Range;
use crate::prediction::forecast::{Forecast, forecast};
use crate::prediction::load::{LeftOut, Load, Measured, Planned, Rows, fitted, measured};
use crate::prediction::network::Owner;
use crate::rows::row::ResultRow;
use catalogue::Cluster;
use model::Record;

/// One in so many rows lies outside of its interval by chance.
pub const ONE_IN: usize = 10;

/// A fitted row is written down with fewer digits than a run has of it.
const ONE_RATE: f64 = 1e-3;

/// A measured row beside what is predicted of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The workload with its axes.
    pub name: String,
    /// What was asked.
    pub load: Load,
    /// Requests per second, as measured; above 0.
    pub measured: f64,
    /// Requests per second, as predicted.
    pub predicted: Range,
    /// Who binds it, the one that holds most first.
    pub binding: Vec<Owner>,
    /// What no fitted row speaks for; with any, the prediction is an extrapolation.
    pub unseen: Vec<Owner>,
    /// Whether the fitted rows leave it so open that it may be off by more than 30 %.
    pub is_wide: bool,
    /// Whether the testbed was fitted to this very row: its error proves nothing.
    pub is_fitted: bool,
}

/// On which side of its interval a row lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Slower than is implied.
    Below,
    /// Faster.
    Above,
}

impl Expected {
    /// Measured ÷ predicted, less 1: -1 and up.
    pub fn departure(&self) -> f64 {
        self.measured / self.predicted.value - 1.0
    }

    /// Where the row lies outside of its interval; `None` inside.
    pub fn outside(&self) -> Option<Outside> {
        match self.measured {
            rate if rate < self.predicted.low => Some(Outside::Below),
            rate if rate > self.predicted.high => Some(Outside::Above),
            _ => None,
        }
    }

    /// Whether nothing that was fitted speaks for it.
    pub fn is_extrapolated(&self) -> bool {
        !self.unseen.is_empty()
    }
}

/// A run beside the predictions of a fitted testbed.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The testbed's name.
    pub testbed: String,
    /// How many rows it was fitted to; 2 and up.
    pub fitted_rows: usize,
    /// In the order of the run.
    pub rows: Vec<Expected>,
    /// Rows that are not predicted, each with the reason.
    pub left_out: Vec<(String, LeftOut)>,
}

impl Held {
    /// Rows that the fit did not see.
    pub fn unseen_rows(&self) -> impl Iterator<Item = &Expected> {
        self.rows.iter().filter(|row| !row.is_fitted)
    }

    /// Rows that the fit did not see and that lie outside of their interval, the farthest first.
    pub fn findings(&self) -> Vec<&Expected> {
        let mut found: Vec<&Expected> =
            self.unseen_rows().filter(|row| row.outside().is_some()).collect();
        let far = |row: &Expected| (row.measured / row.predicted.value).ln().abs();
        found.sort_by(|a, b| far(b).total_cmp(&far(a)));
        found
    }
}

/// Why a run is not held against a testbed.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfit {
    /// No rows were fitted: class estimates say nothing of this cluster.
    NotFitted,
    /// The run is of another cluster.
    OtherCluster(OtherCluster),
}

/// Holds `rows`, which are those of `record`, against what `cluster` is predicted to carry.
///
/// # Errors
/// The testbed is not fitted, or the run simulated another one.
pub fn against(cluster: &Cluster, record: &Record, rows: &[ResultRow]) -> Result<Held, Unfit> {
    let known = fitted(cluster);
    if known.is_empty() {
        return Err(Unfit::NotFitted);
    }
    let testbed = cluster.top.name.value.clone();
    one_cluster(cluster, std::slice::from_ref(record)).map_err(Unfit::OtherCluster)?;
    let Rows { rows: found, left_out } = measured(record, rows);
    let loads: Vec<Planned> = found
        .iter()
        .map(|row| Planned { name: row.name.clone(), load: row.load.clone() })
        .collect();
    let predicted = forecast(cluster, &loads, &[]);
    let rows =
        found.into_iter().zip(predicted).map(|(row, said)| beside(&known, row, said)).collect();
    Ok(Held { testbed, fitted_rows: known.len(), rows, left_out })
}

/// Whether two rows are one measurement: another one of the same load has another rate.
fn is_same(one: &Measured, other: &Measured) -> bool {
    one.load.is_like(&other.load) && (one.rate / other.rate).ln().abs() < ONE_RATE
}

fn beside(known: &[Measured], row: Measured, said: Forecast) -> Expected {
    Expected {
        is_fitted: known.iter().any(|fitted| is_same(fitted, &row)),
        name: row.name,
        load: row.load,
        measured: row.rate,
        is_wide: said.is_wide(),
        predicted: said.rate,
        binding: said.binding,
        unseen: said.unseen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Workload;
    use crate::testing::Recorded;
    use catalogue::cluster::{FittedRow, with_fitted};
    use model::{Bytes, Op, Percent};

    fn expected(measured: f64, is_fitted: bool) -> Expected {
        Expected {
            name: format!("at {measured}"),
            load: Load {
                workload: Workload::new("w", Bytes::kib(4), Percent::ALL, true, None),
                hosts: 1,
                outstanding: 1,
                depth: 1,
                remote: Percent::ZERO,
                object: model::Object::Blocks,
                route: model::Route::Testbed,
            },
            measured,
            predicted: Range { value: 100.0, low: 80.0, high: 125.0 },
            binding: Vec::new(),
            unseen: Vec::new(),
            is_wide: false,
            is_fitted,
        }
    }

    #[test]
    fn what_lies_outside_of_its_interval_is_found_and_what_was_fitted_is_not() {
        let rows = [(79.0, false), (80.0, false), (125.0, false), (200.0, false), (10.0, true)]
            .map(|(measured, is_fitted)| expected(measured, is_fitted));
        let held = Held {
            testbed: "t".to_owned(),
            fitted_rows: 2,
            rows: rows.to_vec(),
            left_out: Vec::new(),
        };
        let found = held.findings();
        let said: Vec<_> = found.iter().map(|row| (row.measured, row.outside())).collect();
        assert_eq!(said, [(200.0, Some(Outside::Above)), (79.0, Some(Outside::Below))]);
        assert!((found[1].departure() + 0.21).abs() < 1e-12);
        assert_eq!(held.unseen_rows().count(), 4);
    }

    #[test]
    fn a_run_is_held_against_a_fitted_testbed_alone() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        recorded.second(0, &[(Op::Read, &[1_000_000; 50])]);
        let record = recorded.end();
        let rows = crate::results(&record);
        let lab = "name = \"lab\"\n[[nodes]]\n[[nodes.drives]]\nread_iops = 200\nwrite_iops = \
                   100\nread = \"1GB/s\"\nwrite = \"1GB/s\"\n";
        let cluster = |text: &str| Cluster::parse("lab", text, &[]).expect("a good testbed");
        assert_eq!(against(&cluster(lab), &record, &rows), Err(Unfit::NotFitted));
        let held = held_by(lab, &record, 190.0, 64);
        assert_eq!((held.fitted_rows, held.rows.len()), (2, 1));
        let row = &held.rows[0];
        assert!((row.measured - 50.0).abs() < 1e-9 && !row.is_fitted, "{row:?}");
        assert!(row.predicted.low < row.predicted.value, "{row:?}");
        // The row itself was fitted: it is no news. The same load at another rate is.
        let load = measured(&record, &rows).rows[0].load.clone();
        let like = held_by(lab, &record, 50.0, load.outstanding);
        assert!(like.rows[0].is_fitted && like.findings().is_empty(), "{like:?}");
        let again = held_by(lab, &record, 60.0, load.outstanding);
        assert!(!again.rows[0].is_fitted, "{again:?}");
    }

    /// Held against a testbed that was fitted to two rows, the second one of this rate and depth.
    fn held_by(lab: &str, record: &Record, rate: f64, outstanding: u64) -> Held {
        let rows = crate::results(record);
        let own = measured(record, &rows).rows[0].clone();
        let with = |rate: f64, outstanding: u64| Measured {
            load: Load { outstanding, ..own.load.clone() },
            rate,
            ..own.clone()
        };
        let fitted = [with(150.0, 32), with(rate, outstanding)].map(|row| FittedRow::from(&row));
        let text = with_fitted(lab, &[], &fitted);
        let cluster = Cluster::parse("lab", &text, &[]).expect("a good testbed");
        against(&cluster, record, &rows).expect("of this cluster")
    }
}
