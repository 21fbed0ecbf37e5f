//! When a stage ends.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// When a stage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// After so much time.
    After(Nanos),
    /// When the rate is steady, or after the greatest time.
    Steady(Steady),
    /// When every byte of every extent was touched once; then an `fsync` of every file.
    Amount,
    /// When every worker has done as many requests as blocks fit into its extents, or as
    /// [`Work::most`](super::Work::most) says, as part of what is measured. Of metadata work: when
    /// it was at each of its files once.
    Once(Once),
}

impl Stop {
    /// The time that ends it at the latest, if time is what ends it.
    pub fn time(self) -> Option<Nanos> {
        match self {
            Stop::After(time) => Some(time),
            Stop::Steady(steady) => Some(steady.most),
            Stop::Amount | Stop::Once(_) => None,
        }
    }

    /// What is to be known of a measured amount, if it is one.
    pub fn once(self) -> Option<Once> {
        match self {
            Stop::Once(once) => Some(once),
            Stop::After(_) | Stop::Steady(_) | Stop::Amount => None,
        }
    }

    /// What is to be known of a stage that ends when it is steady, if it does.
    pub fn steady(self) -> Option<Steady> {
        match self {
            Stop::Steady(steady) => Some(steady),
            Stop::After(_) | Stop::Once(_) | Stop::Amount => None,
        }
    }
}

/// How a stage ends that goes on until it is steady: by SNIA's rule over [`Steady::ROUNDS`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steady {
    /// It does not end earlier: one window of rounds.
    pub least: Nanos,
    /// It ends then, steady or not.
    pub most: Nanos,
    /// The length of a round: whole intervals.
    pub round: Nanos,
}

impl Steady {
    /// Rounds of a measurement window (SNIA, *Solid State Storage Performance Test Specification*,
    /// 2.0.2, 2.1.24).
    pub const ROUNDS: u64 = 5;
    /// With fewer intervals than this in a round, a round is noise.
    pub const LEAST_IN_ROUND: u64 = 4;

    /// With a window of at least `least`, in rounds of whole intervals; the greatest time is never
    /// below the least.
    pub fn new(least: Nanos, most: Nanos, interval: Nanos) -> Steady {
        let interval = interval.0.max(1);
        let each = least.0.div_ceil(interval).div_ceil(Steady::ROUNDS).max(Steady::LEAST_IN_ROUND);
        let round = each.saturating_mul(interval);
        let least = round.saturating_mul(Steady::ROUNDS);
        // The greatest time ends with an interval, too.
        let most = most.0.div_ceil(interval).saturating_mul(interval).max(least);
        Steady { least: Nanos(least), most: Nanos(most), round: Nanos(round) }
    }
}

/// How a measured amount ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    /// Whether all workers of all hosts stop when the first of them is done.
    pub stonewall: bool,
    /// Whether each worker flushes what it wrote (`fsync`) within its time.
    pub fsync: bool,
    /// Whether each worker opens its files for itself and closes them within its time.
    pub close: bool,
}
