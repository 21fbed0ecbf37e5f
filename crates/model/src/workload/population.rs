//! A population of files: a steady mix of operations under which files are born, change and die,
//! while as many are there as before.

use crate::op::Op;
use crate::units::{Bytes, Percent, UnitError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Operations that the mix of a population has at most.
pub const MOST_LIVING: usize = 12;
/// The largest weight in a mix.
pub const MOST_WEIGHT: u32 = 1_000_000;
/// Names that each worker has at least: one more file and one file less have room among them at
/// any share that may live.
pub const LEAST_NAMES: u64 = 10;
/// The least share of its names of which a population has files.
pub const LEAST_FILL: Percent = Percent::of(20);
/// The largest: a free name is found by drawing, ten times at most on average.
pub const MOST_FILL: Percent = Percent::of(90);
/// The longest append.
pub const MOST_APPEND: Bytes = Bytes::mib(1);
/// What appends add to a file on average, at most: a file then outgrows what a ledger can tell,
/// 2 GiB, never (once in *e*^128).
pub const MOST_GROWTH: Bytes = Bytes::mib(16);
/// What a worker keeps of each name, in bytes: whether there is a file, under which of its two
/// names, and how long it is.
pub const LEDGER_BYTES: u64 = 4;
/// A sum of many draws is above its mean by more standard deviations once in 30,000 runs (normal
/// approximation).
const SIGMAS: f64 = 4.0;

/// The operations of a population with their weights: each time, one of them is drawn, in
/// proportion to its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(Op, u32)>", into = "Vec<(Op, u32)>")]
pub struct LivingMix([Option<(Op, u32)>; MOST_LIVING]);

impl LivingMix {
    /// A mix of `parts`, whose weights are 1 to [`MOST_WEIGHT`].
    ///
    /// # Errors
    /// What is wrong with them, and the remedy: too many or none, one twice, a weight out of range,
    /// one that no population has, or a mix under which files or their bytes would become more and
    /// more, or fewer and fewer.
    pub fn new(parts: &[(Op, u32)]) -> Result<LivingMix, UnitError> {
        if !(1..=MOST_LIVING).contains(&parts.len()) {
            return Err(UnitError::new(
                format!("a mix of {} operations", parts.len()),
                format!("write 1 to {MOST_LIVING} operations with weights"),
            ));
        }
        for (number, (op, weight)) in parts.iter().enumerate() {
            if !LivingMix::takes(*op) {
                return Err(UnitError::new(
                    format!("`{op}` does not go into a mix"),
                    "leave it out, or give it a place of its own in the list of operations",
                ));
            }
            if parts[..number].iter().any(|(other, _)| other == op) {
                return Err(UnitError::new(
                    format!("`{op}` twice in a mix"),
                    "give each operation one weight",
                ));
            }
            if !(1..=MOST_WEIGHT).contains(weight) {
                return Err(UnitError::new(
                    format!("`{op}` has a weight of {weight}, which is out of range"),
                    format!("write a whole number from 1 to {MOST_WEIGHT}"),
                ));
            }
        }
        let mix = LivingMix(std::array::from_fn(|index| parts.get(index).copied()));
        mix.is_steady().map(|()| mix)
    }

    /// Whether `op` may be one of a population.
    pub fn takes(op: Op) -> bool {
        op.is_metadata() && !matches!(op, Op::Link | Op::Symlink | Op::Mkdir | Op::Rmdir)
    }

    /// Whether `op` makes a mix one of a population: it changes which files there are, their names,
    /// lengths or bytes.
    pub fn is_change(op: Op) -> bool {
        LivingMix::takes(op) && !op.leaves_files()
    }

    fn is_steady(&self) -> Result<(), UnitError> {
        let (born, dead) = (self.weight(Op::Create), self.weight(Op::Remove));
        let told =
            |what: String| Err(UnitError::new(what, "give `create` and `remove` the same weight"));
        match (born, dead) {
            (1.., 0) => {
                return told("`create` without `remove`: files would only grow in number".into());
            }
            (0, 1..) => return told("`remove` without `create`: no file would be left".into()),
            _ if born != dead => {
                return told(format!(
                    "`create` has a weight of {born} and `remove` one of {dead}: the number of \
                     files would not stay"
                ));
            }
            _ => {}
        }
        if self.weight(Op::Append) > 0 && dead == 0 && self.weight(Op::Truncate) == 0 {
            return Err(UnitError::new(
                "`append` alone: files would grow without bound",
                "add `truncate`, or `create` and `remove`",
            ));
        }
        Ok(())
    }

    /// Its operations with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (Op, u32)> + '_ {
        self.0.iter().copied().flatten()
    }

    /// The weight of `op`; 0 where it has none.
    pub fn weight(&self, op: Op) -> u64 {
        self.parts().find(|(own, _)| *own == op).map_or(0, |(_, weight)| u64::from(weight))
    }

    /// The sum of the weights; at least 1.
    pub fn total(&self) -> u64 {
        self.parts().map(|(_, weight)| u64::from(weight)).sum::<u64>().max(1)
    }

    /// The operation that `point` falls upon: a number from 0 to [`total`](Self::total) − 1.
    #[inline]
    pub fn at(&self, mut point: u64) -> Op {
        let mut last = Op::Stat;
        for (op, weight) in self.parts() {
            last = op;
            match point.checked_sub(u64::from(weight)) {
                Some(rest) => point = rest,
                None => break,
            }
        }
        last
    }

    /// The place of `op` among the parts, from 0; 0 where it is none of them.
    #[inline]
    pub fn place(&self, op: Op) -> usize {
        self.parts().position(|(own, _)| own == op).unwrap_or(0)
    }
}

impl From<LivingMix> for Vec<(Op, u32)> {
    fn from(mix: LivingMix) -> Self {
        mix.parts().collect()
    }
}

impl TryFrom<Vec<(Op, u32)>> for LivingMix {
    type Error = UnitError;

    fn try_from(parts: Vec<(Op, u32)>) -> Result<Self, UnitError> {
        LivingMix::new(&parts)
    }
}

impl fmt::Display for LivingMix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (op, weight)) in self.parts().enumerate() {
            write!(formatter, "{}{op}:{weight}", if place > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

crate::words! {
    /// What a stage does to a population.
    pub enum PopulationStage {
        /// Creates files until as many are there as are to live.
        Fill = "fill",
        /// Runs the mix.
        Live = "live",
    }
}

/// A population on the names of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Population {
    /// What happens to it.
    pub mix: LivingMix,
    /// The share of the names that have a file: [`LEAST_FILL`] to [`MOST_FILL`].
    pub fill: Percent,
    /// Bytes of each append.
    pub append: Bytes,
    /// What this stage does to it.
    pub stage: PopulationStage,
}

impl Population {
    /// How many files live on so many names of a worker, rounded. Births and deaths keep their
    /// number within one of it.
    pub fn target(&self, names: u64) -> u64 {
        let all = u128::from(Percent::ALL.ppm);
        ((u128::from(names) * u128::from(self.fill.ppm) + all / 2) / all) as u64
    }

    /// Appends of a file on average, between its birth or its cutting back and the next of these.
    fn appends(&self) -> f64 {
        let appends = self.mix.weight(Op::Append) as f64;
        appends / (self.mix.weight(Op::Remove) + self.mix.weight(Op::Truncate)).max(1) as f64
    }

    /// What they add to it.
    pub fn growth(&self) -> Bytes {
        Bytes((self.appends() * self.append.0 as f64).ceil() as u64)
    }

    /// Bytes that appends have added to `files` living files at the very most. An append comes *a*
    /// times for *r* deaths and truncations of the same files, so the appends of one file have a
    /// geometric distribution with the mean *m* = *a* / *r* and the variance *m* (*m* + 1); all
    /// together stay below *n* *m* + 4 √(*n* *m* (*m* + 1)).
    pub fn grown(&self, files: u64) -> Bytes {
        let (mean, files) = (self.appends(), files as f64);
        let most = files.mul_add(mean, SIGMAS * (files * mean * (mean + 1.0)).sqrt());
        Bytes((most * self.append.0 as f64).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population(parts: &[(Op, u32)]) -> Population {
        Population {
            mix: LivingMix::new(parts).expect("a good mix"),
            fill: Percent::of(80),
            append: Bytes::kib(16),
            stage: PopulationStage::Live,
        }
    }

    #[test]
    fn a_mix_that_would_not_stay_steady_is_refused() {
        let cases: [(&[(Op, u32)], &str); 8] = [
            (&[], "a mix of 0"),
            (&[(Op::Create, 1)], "`create` without `remove`"),
            (&[(Op::Stat, 1), (Op::Remove, 1)], "`remove` without `create`"),
            (&[(Op::Create, 2), (Op::Remove, 1)], "a weight of 2 and `remove` one of 1"),
            (&[(Op::Append, 1), (Op::Stat, 1)], "grow without bound"),
            (&[(Op::Mkdir, 1)], "`mkdir` does not go into a mix"),
            (&[(Op::Rename, 1), (Op::Rename, 1)], "twice"),
            (&[(Op::Rename, 0)], "out of range"),
        ];
        for (parts, wanted) in cases {
            let told = LivingMix::new(parts).expect_err("refused");
            assert!(told.message.contains(wanted), "{told}");
        }
        for good in [
            &[(Op::Create, 3), (Op::Append, 1), (Op::Remove, 3)][..],
            &[(Op::Append, 1), (Op::Truncate, 1)],
            &[(Op::WriteFile, 1)],
        ] {
            assert!(LivingMix::new(good).is_ok());
        }
    }

    #[test]
    fn a_mix_draws_in_proportion_and_reads_back_as_it_was_recorded() {
        let mix = population(&[(Op::Create, 1), (Op::ReadFile, 2), (Op::Remove, 1)]).mix;
        let drawn: Vec<Op> = (0..mix.total()).map(|point| mix.at(point)).collect();
        assert_eq!(drawn, [Op::Create, Op::ReadFile, Op::ReadFile, Op::Remove]);
        assert_eq!(
            (mix.place(Op::Remove), mix.to_string().as_str()),
            (2, "create:1, read-file:2, remove:1")
        );
        let text = serde_json::to_string(&mix).expect("text");
        assert_eq!(serde_json::from_str::<LivingMix>(&text).expect("a mix"), mix);
        assert!(serde_json::from_str::<LivingMix>(r#"[["Create",1]]"#).is_err(), "never steady");
    }

    #[test]
    fn what_lives_and_what_it_grows_by_follow_from_the_weights() {
        let simple = population(&[(Op::Create, 1), (Op::Append, 1), (Op::Remove, 1)]);
        assert_eq!([0, 10, 99, 1_000_000].map(|names| simple.target(names)), [0, 8, 79, 800_000]);
        // One append to a death: each file has one on average, and 10,000 files vary by
        // 4 × √20,000.
        assert_eq!(
            simple.grown(10_000),
            Bytes(((10_000.0 + 4.0 * 20_000f64.sqrt()) * 16_384.0).ceil() as u64)
        );
        assert_eq!(population(&[(Op::Create, 1), (Op::Remove, 1)]).grown(10_000), Bytes(0));
        let both =
            population(&[(Op::Create, 1), (Op::Append, 2), (Op::Truncate, 3), (Op::Remove, 1)]);
        assert!(both.grown(1 << 30).0 < (1 << 30) * 16_384 * 51 / 100, "half an append each");
    }
}
