//! The run as Prometheus reads it: the text format, conventional names, base units (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
//!
//! Native histograms are not offered: their buckets are powers of a root of 2 in seconds, which do not fall on the edges of ours, and
//! what is not exact is not offered. A Prometheus that wants them makes them from the classic ones without loss
//! (`convert_classic_histograms_to_nhcb`).

mod kernel;
mod requests;
mod text;

pub use kernel::Kernel;
pub use requests::{Labels, Requests};
use text::Family;

/// What there is to say about the run as a whole.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The version of Plimsoll.
    pub version: &'a str,
    /// The run's name.
    pub run_id: &'a str,
    /// The suite's name.
    pub suite: &'a str,
    /// When it began, in ns since 1970.
    pub started_unix_ns: u64,
    /// Stages that ended, and all stages.
    pub stages: (usize, usize),
    /// Hosts by state: words of ours, and how many.
    pub hosts: Vec<(&'static str, usize)>,
    /// Whether it is over.
    pub is_over: bool,
}

/// Everything, as one answer to a scrape.
pub fn render(run: &Run<'_>, requests: &Requests, kernel: &Kernel, names: &[String]) -> String {
    let mut out = String::new();
    out.push_str(&build(run.version));
    let labels = [("run_id", run.run_id), ("suite", run.suite)];
    out.push_str(&one(&labels, "plimsoll_run_info", "Which run it is."));
    let mut gauge = |name, help, value: String| {
        let mut family = Family::gauge(name, help);
        family.add(&[], &value);
        out.push_str(&family.finish());
    };
    let started = text::seconds(u128::from(run.started_unix_ns));
    gauge("plimsoll_run_start_time_seconds", "When the run began, since 1970.", started);
    gauge("plimsoll_run_over", "Whether the run is over.", u8::from(run.is_over).to_string());
    gauge("plimsoll_run_stages", "Stages that the plan has.", run.stages.1.to_string());
    gauge("plimsoll_run_stages_ended", "Stages that ended.", run.stages.0.to_string());
    out.push_str(&by_state(&run.hosts));
    requests.render(&mut out, names);
    kernel.render(&mut out, names);
    out
}

/// Hosts without a run, as one answer to a scrape: `hosts` by state, and what their kernels count.
pub fn render_hosts(version: &str, hosts: &[(&str, usize)], kernel: &Kernel, names: &[String]) -> String {
    let mut out = build(version) + &by_state(hosts);
    kernel.render(&mut out, names);
    out
}

/// A fact that stands in labels.
fn one(labels: &[(&str, &str)], name: &'static str, help: &str) -> String {
    let mut family = Family::gauge(name, help);
    family.add(labels, "1");
    family.finish()
}

fn build(version: &str) -> String {
    one(&[("version", version)], "plimsoll_build_info", "The version of Plimsoll.")
}

fn by_state(hosts: &[(&str, usize)]) -> String {
    let mut family = Family::gauge("plimsoll_hosts", "Hosts by state.");
    for (state, count) in hosts {
        family.add(&[("state", state)], &count.to_string());
    }
    family.finish()
}

/// Every name of a family that this program can tell.
pub fn names() -> Vec<&'static str> {
    let run = [
        "plimsoll_build_info",
        "plimsoll_run_info",
        "plimsoll_run_start_time_seconds",
        "plimsoll_run_over",
        "plimsoll_run_stages",
        "plimsoll_run_stages_ended",
        "plimsoll_hosts",
    ];
    run.into_iter().chain(requests::NAMES).chain(kernel::names()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_that_the_dashboard_names_exists() {
        let dashboard = include_str!("../../../../../deploy/grafana-dashboard.json");
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let named = dashboard.match_indices("plimsoll_").map(|(place, _)| &dashboard[place..]);
        let named: Vec<&str> = named.map(|rest| &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]).collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            let family = ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end));
            assert!(names().iter().any(|known| *known == name || Some(*known) == family), "{name}");
        }
    }
}
