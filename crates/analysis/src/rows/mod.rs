//! Rows of results: what a stage did of each workload, in all, by host and by place.

pub(crate) mod by_host;
pub(crate) mod by_place;
pub(crate) mod durable;
pub mod fairness;
pub(crate) mod hosts;
pub(crate) mod issued;
pub(crate) mod left_behind;
pub mod little;
pub mod rate_shares;
pub(crate) mod results;
pub(crate) mod row;
pub(crate) mod state;
pub(crate) mod tally;
pub mod told;
