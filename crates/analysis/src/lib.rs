//! A recorded run in, figures and doubts out. Pure arithmetic: the same record gives the same answer at any time.
//!
//! Every statistic has its formula and its source in `docs/METHOD.md`.

mod degraded;
mod issued;
mod knee;
mod page_cache;
mod results;
mod series;
mod state;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod validity;
mod warning;

pub use issued::{Issued, issued};
pub use knee::{Curve, Finding, Measure, Odd, findings};
pub use results::{Cpu, Done, Progress, ResultRow};
pub use series::{SeriesPoint, series};
pub use state::{RunState, run_state};
pub use validity::results;
pub use warning::{QUANTILES, Quantile, Warning};
