//! What a canary decides: which requests keep the objective, how fast the error budget is spent,
//! whether others may suffer, and whether a level changed.

pub mod burn;
mod guard;
mod level;
mod slo;
mod tally;

pub use guard::{Guard, GuardTerms, SlotSeen, pause};
pub use level::change;
pub use slo::{Judge, Unjudgeable};
pub use tally::{Answered, Done, Load, Tally};

#[cfg(test)]
mod month_tests;
