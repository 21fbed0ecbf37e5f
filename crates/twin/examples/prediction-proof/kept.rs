//! Predictions of hidden clusters, kept in a file as they come: a proof that is cut short goes on
//! where it ended.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// A prediction beside what was measured.
#[derive(Clone, Copy, Debug)]
pub struct Predicted {
    /// Requests per second.
    pub value: f64,
    /// The 90 % interval.
    pub low: f64,
    pub high: f64,
    /// The row as it was measured, noise and all.
    pub measured: f64,
    /// What the cluster carries without noise.
    pub carried: f64,
    /// The probability that it is off by more than 30 %.
    pub far_off: f64,
    pub is_extrapolated: bool,
}

impl Predicted {
    /// Whether it is marked where rows are wide above this probability.
    pub fn is_marked(&self, limit: f64) -> bool {
        self.is_extrapolated || self.far_off > limit
    }

    /// Whether it is further than this share from what the cluster carries.
    pub fn is_far(&self, share: f64) -> bool {
        (self.value / self.carried - 1.0).abs() > share
    }

    /// Whether the measured row lies in the interval.
    pub fn is_covered(&self) -> bool {
        (self.low..=self.high).contains(&self.measured)
    }

    fn line(&self) -> String {
        let Predicted { value, low, high, measured, carried, far_off, is_extrapolated } = self;
        format!(
            "{value} {low} {high} {measured} {carried} {far_off} {}",
            u8::from(*is_extrapolated)
        )
    }

    fn parse(words: &[&str]) -> Option<Predicted> {
        let number = |index: usize| words.get(index)?.parse::<f64>().ok();
        Some(Predicted {
            value: number(0)?,
            low: number(1)?,
            high: number(2)?,
            measured: number(3)?,
            carried: number(4)?,
            far_off: number(5)?,
            is_extrapolated: number(6)? > 0.5,
        })
    }
}

/// By seed, then by the way of measuring; nothing of a cluster whose fit was refused.
type Found = BTreeMap<u64, Vec<Option<Vec<Predicted>>>>;

/// What is known of each cluster.
#[derive(Default)]
pub struct Kept {
    found: Found,
    file: Option<File>,
}

impl Kept {
    /// Takes in what the file has, and adds to it from now on.
    pub fn in_file(path: &str) -> Kept {
        let mut found = Found::new();
        for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
            // A cluster is one line, so that one that was cut off is none.
            if let Some((seed, ways)) = read(line) {
                found.insert(seed, ways);
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        Kept { found, file: Some(file.unwrap_or_else(|error| panic!("{path}: {error}"))) }
    }

    /// Whether this cluster is known.
    pub fn has(&self, seed: u64) -> bool {
        self.found.contains_key(&seed)
    }

    /// Its rows, by the number of the way of measuring.
    pub fn of(&self, seed: u64, way: usize) -> Option<&Option<Vec<Predicted>>> {
        self.found.get(&seed)?.get(way)
    }

    /// Adds a cluster.
    pub fn add(&mut self, seed: u64, ways: Vec<Option<Vec<Predicted>>>) {
        if let Some(file) = &mut self.file {
            file.write_all(written(seed, &ways).as_bytes()).expect("a file that can be written");
        }
        self.found.insert(seed, ways);
    }
}

fn written(seed: u64, ways: &[Option<Vec<Predicted>>]) -> String {
    let way = |rows: &Option<Vec<Predicted>>| match rows {
        Some(rows) => rows.iter().map(Predicted::line).collect::<Vec<_>>().join(","),
        None => "refused".to_owned(),
    };
    format!("{seed};{};end\n", ways.iter().map(way).collect::<Vec<_>>().join(";"))
}

fn read(line: &str) -> Option<(u64, Vec<Option<Vec<Predicted>>>)> {
    let (seed, rest) = line.strip_suffix(";end")?.split_once(';')?;
    let row = |text: &str| Predicted::parse(&text.split(' ').collect::<Vec<_>>());
    let way = |text: &str| match text {
        "refused" => Some(None),
        rows => rows.split(',').map(row).collect::<Option<Vec<_>>>().map(Some),
    };
    Some((seed.parse().ok()?, rest.split(';').map(way).collect::<Option<_>>()?))
}
