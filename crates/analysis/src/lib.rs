//! A recorded run in, figures and doubts out. Pure arithmetic: the same record gives the same answer at any time.
//!
//! Every statistic has its formula and its source in `docs/METHOD.md`.

mod issued;
mod results;
mod series;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod validity;

pub use issued::{Issued, issued};
pub use results::{Cpu, ResultRow, RunState, results, run_state};
pub use series::{SeriesPoint, series};
pub use validity::{QUANTILES, Quantile, Warning};
