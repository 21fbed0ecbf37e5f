//! The pages and the metrics that a server gives out: pure, from what is known of a run. The server
//! itself is the program's.

pub mod board;
mod bounded_series;
pub mod canary;
mod charts;
mod counters;
mod dashboard;
mod guard;
mod hosts;
mod load;
pub mod metrics;
mod page;
pub mod past_runs;
mod view;
pub mod watched;

pub use dashboard::Dashboard;
pub use guard::Guard;
pub use view::View;

/// The style of every page: the report's, and what is live alone.
pub fn style() -> String {
    [report::ground::page::STYLE, include_str!("live.css")].concat()
}

/// The script of every page: values under the pointer.
pub const SCRIPT: &str = report::ground::page::SCRIPT;
/// The script of the live page.
pub const LIVE_SCRIPT: &str = include_str!("live.js");
/// The mark in a browser's tab: the load line of a ship.
pub const ICON: &str = include_str!("icon.svg");
