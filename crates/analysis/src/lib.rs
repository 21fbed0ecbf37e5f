//! A recorded run in, figures and doubts out. Pure arithmetic: the same record gives the same
//! answer at any time.
//!
//! Every statistic has its formula and its source in `docs/method`.

pub mod aftermath;
pub mod attribution;
pub mod backlog;
mod boot_storm;
pub mod bursts;
mod by_host;
mod by_place;
mod caches;
pub mod canary;
pub mod ceiling;
pub mod changes;
mod check;
pub mod compare;
mod confidence;
pub mod doubts;
mod durable;
pub mod effects;
mod estimate;
pub mod event_io;
pub mod expected;
pub mod fairness;
pub mod foreign;
pub mod gate;
pub mod guests;
pub mod hit_share;
pub mod host_cpu;
mod host_series;
mod hosts;
pub mod io_path;
mod issued;
pub mod kept;
mod knee;
mod left_behind;
pub mod little;
pub mod loadline;
pub mod network;
mod offer;
pub mod outlook;
pub mod prediction;
pub mod published;
mod quantile;
mod raise;
pub mod rate_shares;
mod results;
pub mod rounds;
mod row;
mod series;
#[cfg(test)]
mod settled_tests;
#[cfg(test)]
mod simulated;
#[cfg(any(test, feature = "testing"))]
mod simulated_normal;
mod state;
pub mod steady;
mod student;
mod tally;
mod targets;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trend;
pub mod trust;
pub mod verdict;
pub mod warm;
pub mod warmup;

pub use boot_storm::BootStorm;
pub use by_host::{Share, by_host};
pub use by_place::{NO_LABEL, by_label, by_locality};
pub use doubts::{Misplaced, Straggler, Warning, results};
pub use durable::{Durable, durable};
pub use estimate::{CONFIDENCE, Estimate, Interval};
pub use host_series::{HostSeries, host_series};
pub use hosts::host_rates;
pub use issued::{FlushProbes, Issued, flush_probes, issued};
pub use knee::{Curve, Finding, LEAST_POINTS, Measure, Odd, findings};
pub use left_behind::{LeftBehind, left_behind};
pub use offer::Offer;
pub use quantile::{QUANTILES, Quantile};
pub use row::{Confidence, Covers, Cpu, Done, LeftOver, Ops, Progress, ResultRow};
pub use series::{Series, SeriesPoint, series};
pub use state::{RunState, run_state};
