//! A recorded run in, figures and doubts out. Pure arithmetic: the same record gives the same
//! answer at any time.
//!
//! Every statistic has its formula and its source in `docs/method`.

pub mod canary;
pub mod ceiling;
pub mod compare;
pub mod doubts;
mod estimate;
pub mod foreign;
pub mod gate;
mod knee;
mod layers;
pub mod loadline;
pub mod network;
mod over_time;
pub mod prediction;
pub mod published;
mod rows;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trend;
pub mod verdict;

pub use doubts::{Misplaced, Straggler, Warning, results};
pub use estimate::quantile::{QUANTILES, Quantile};
pub use estimate::{CONFIDENCE, Estimate, Interval};
pub use knee::{Curve, Finding, LEAST_POINTS, Measure, Odd, findings};
pub use layers::boot_storm::BootStorm;
pub use layers::{attribution, guests, hit_share, host_cpu, io_path};
pub use over_time::host_series::{HostSeries, host_series};
pub use over_time::offer::Offer;
pub use over_time::series::{Series, SeriesPoint, series};
pub use over_time::{
    aftermath, backlog, bursts, changes, effects, event_io, rounds, steady, warm, warmup,
};
pub use rows::by_host::{Share, by_host};
pub use rows::by_place::{NO_LABEL, by_label, by_locality};
pub use rows::durable::{Durable, durable};
pub use rows::hosts::host_rates;
pub use rows::issued::{FlushProbes, Issued, flush_probes, issued};
pub use rows::left_behind::{LeftBehind, left_behind};
pub use rows::row::{Confidence, Covers, Cpu, Done, Flow, LeftOver, Ops, Progress, ResultRow};
pub use rows::state::{RunState, run_state};
pub use rows::{fairness, little, rate_shares, told};
pub use verdict::{expected, kept, outlook, trust};
