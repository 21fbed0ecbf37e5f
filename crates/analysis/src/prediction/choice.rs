//! Which rows are fitted and which are held out; and whether they are all of one cluster.

use super::load::Measured;
use catalogue::Cluster;
use model::Record;
use model::testbed::SIMULATED_CLUSTER;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::str::FromStr;

/// Rows, as somebody names them: numbers and ranges such as `1,3-5`, or a part of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// First and last number of each range.
    Numbers(Vec<std::ops::RangeInclusive<usize>>),
    /// What a name has in it, whatever the case of its letters.
    Text(String),
}

impl FromStr for Chosen {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Chosen, Infallible> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        };
        let ranges: Option<Vec<_>> = text.split(',').map(|part| range(part.trim())).collect();
        Ok(ranges.map_or_else(|| Chosen::Text(text.trim().to_lowercase()), Chosen::Numbers))
    }
}

impl Chosen {
    fn has(&self, row: &Measured) -> bool {
        match self {
            Chosen::Numbers(ranges) => ranges.iter().any(|range| range.contains(&row.number)),
            Chosen::Text(text) => row.name.to_lowercase().contains(text.as_str()),
        }
    }
}

/// Rows apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Parted {
    /// To be fitted.
    pub fit: Vec<Measured>,
    /// To be predicted.
    pub held_out: Vec<Measured>,
}

/// Why rows cannot be parted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotParted {
    /// A choice that no row has: its place among those to fit, then those to hold.
    NoSuchRow(usize),
    /// A row is to be fitted and held out.
    Both(String),
}

/// Parts the rows: what is held out is not fitted; where rows to fit are named, all others are held
/// out; without a word, those of `meant` are fitted, or all where none is meant.
///
/// # Errors
/// A choice that fits no row, or a row that is in both.
pub fn part(
    rows: &[Measured],
    meant: &[bool],
    fit: &[Chosen],
    hold: &[Chosen],
) -> Result<Parted, NotParted> {
    for (index, chosen) in fit.iter().chain(hold).enumerate() {
        if !rows.iter().any(|row| chosen.has(row)) {
            return Err(NotParted::NoSuchRow(index));
        }
    }
    let any_is_meant = meant.iter().any(|meant| *meant);
    let mut parted = Parted { fit: Vec::new(), held_out: Vec::new() };
    for (row, meant) in rows.iter().zip(meant) {
        let is_in = |choices: &[Chosen]| choices.iter().any(|chosen| chosen.has(row));
        let (to_fit, to_hold) = (is_in(fit), is_in(hold));
        if to_fit && to_hold {
            return Err(NotParted::Both(row.name.clone()));
        }
        let is_fitted = match (fit.is_empty(), hold.is_empty()) {
            (false, _) => to_fit,
            (true, false) => !to_hold,
            (true, true) => *meant || !any_is_meant,
        };
        if is_fitted { &mut parted.fit } else { &mut parted.held_out }.push(row.clone());
    }
    Ok(parted)
}

/// The runs are not all of this testbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherCluster {
    /// A run simulated another testbed.
    Simulated {
        /// The number of the run, from 0.
        run: usize,
        /// What it simulated.
        cluster: String,
    },
    /// Two runs loaded from other hosts.
    OtherHosts {
        /// The number of the second run, from 0.
        run: usize,
        /// Hosts of the first.
        first: Vec<String>,
        /// Hosts of this one.
        hosts: Vec<String>,
    },
}

/// The testbeds that a run simulated, as it names them.
pub fn simulated(record: &Record) -> impl Iterator<Item = &str> {
    let targets = record.plan.hosts.iter().flat_map(|host| &host.targets);
    let texts = targets.filter_map(|target| target.path.strip_prefix(SIMULATED_CLUSTER));
    texts.map(|text| text.split(',').next().unwrap_or(text))
}

/// Whether all of these runs may be of this testbed: none simulated another one, and no two have no
/// host in common.
///
/// # Errors
/// The run that is not.
pub fn one_cluster(testbed: &Cluster, runs: &[Record]) -> Result<(), OtherCluster> {
    let mut first: Option<BTreeSet<String>> = None;
    for (run, record) in runs.iter().enumerate() {
        if let Some(other) = simulated(record).find(|cluster| !testbed.is_called(cluster)) {
            return Err(OtherCluster::Simulated { run, cluster: other.to_owned() });
        }
        let hosts: BTreeSet<String> =
            record.plan.hosts.iter().map(|host| host.hostname.clone()).collect();
        match &first {
            Some(known) if known.is_disjoint(&hosts) => {
                return Err(OtherCluster::OtherHosts {
                    run,
                    first: known.iter().cloned().collect(),
                    hosts: hosts.into_iter().collect(),
                });
            }
            Some(_) => {}
            None => first = Some(hosts),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Workload;
    use crate::prediction::load::Load;
    use model::{Bytes, Percent};

    fn rows() -> Vec<Measured> {
        let load = Load {
            workload: Workload::new("w", Bytes::kib(4), Percent::ALL, true, None),
            hosts: 1,
            outstanding: 1,
            depth: 1,
            remote: Percent::ZERO,
            object: model::Object::Blocks,
            route: model::Route::Testbed,
        };
        let names = ["4K read, 1 TB", "4K read, 2 TB", "4K write, 1 TB"];
        (1..)
            .zip(names)
            .map(|(number, name)| Measured {
                number,
                name: name.to_owned(),
                load: load.clone(),
                rate: 1.0,
            })
            .collect()
    }

    fn chosen(texts: &[&str]) -> Vec<Chosen> {
        texts.iter().map(|text| text.parse().expect("never fails")).collect()
    }

    fn fitted(meant: [bool; 3], fit: &[&str], hold: &[&str]) -> Result<Vec<usize>, NotParted> {
        let parted = part(&rows(), &meant, &chosen(fit), &chosen(hold))?;
        assert_eq!(parted.fit.len() + parted.held_out.len(), 3);
        Ok(parted.fit.iter().map(|row| row.number).collect())
    }

    #[test]
    fn rows_are_named_by_number_or_by_a_part_of_their_name() {
        assert_eq!(fitted([false; 3], &[], &[]), Ok(vec![1, 2, 3]));
        assert_eq!(fitted([false, true, false], &[], &[]), Ok(vec![2]));
        assert_eq!(fitted([false, true, false], &["1, 3"], &[]), Ok(vec![1, 3]));
        assert_eq!(fitted([true; 3], &[], &["2-3"]), Ok(vec![1]));
        assert_eq!(fitted([true; 3], &["4k READ", "3"], &[]), Ok(vec![1, 2, 3]));
        assert_eq!(fitted([true; 3], &[", 1 tb"], &[]), Ok(vec![1, 3]));
    }

    #[test]
    fn a_choice_of_nothing_and_a_row_of_both_are_refused() {
        assert_eq!(fitted([true; 3], &["1"], &["8K"]), Err(NotParted::NoSuchRow(1)));
        assert_eq!(
            fitted([true; 3], &["read"], &["1"]),
            Err(NotParted::Both("4K read, 1 TB".to_owned()))
        );
    }
}
