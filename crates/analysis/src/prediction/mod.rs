//! What a described cluster will carry: a closed network of queues, fitted to measured rows.
//!
//! [`load`] → [`network`] (with [`parameter`]s) → [`mva`] → [`fit`] → [`calibration`] and
//! [`forecast`]. A prediction always has an interval, and says whether what binds it also bound a
//! fitted row. `docs/method/prediction.md` has every formula and what came of the published rows.

pub mod basis;
mod cache;
pub mod calibration;
pub mod choice;
#[cfg(any(test, feature = "testing"))]
pub mod drawn;
pub mod fit;
pub mod follow;
pub mod forecast;
pub mod given_rate;
pub mod load;
pub mod load_line;
pub mod marks;
mod matrix;
pub mod mva;
pub mod network;
mod outlook;
pub mod parameter;
mod posterior;
mod priors;
mod refusal;
mod rows;

#[cfg(test)]
mod report_tests;
#[cfg(test)]
mod tests;
