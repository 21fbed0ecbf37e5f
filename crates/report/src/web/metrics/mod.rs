//! The run as Prometheus reads it, as text or as protobuf: conventional names, base units (<https://prometheus.io/docs/instrumenting/exposition_formats/>).

mod family;
mod form;
mod kernel;
mod native;
mod protobuf;
mod requests;
mod text;

use family::{Family, Kind, Value};
pub use form::Form;
pub use kernel::Kernel;
pub use requests::{Labels, Requests};

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
pub fn render(form: Form, run: &Run<'_>, requests: &Requests, kernel: &Kernel, names: &[String]) -> Vec<u8> {
    let mut out = build(form, run.version);
    let labels = [("run_id", run.run_id), ("suite", run.suite)];
    out.extend(gauge(form, "plimsoll_run_info", "Which run it is.", &labels, Value::Whole(1)));
    for (name, help, value) in [
        (
            "plimsoll_run_start_time_seconds",
            "When the run began, since 1970.",
            Value::Time(u128::from(run.started_unix_ns)),
        ),
        ("plimsoll_run_over", "Whether the run is over.", Value::Whole(u128::from(run.is_over))),
        ("plimsoll_run_stages", "Stages that the plan has.", Value::Whole(run.stages.1 as u128)),
        ("plimsoll_run_stages_ended", "Stages that ended.", Value::Whole(run.stages.0 as u128)),
    ] {
        out.extend(gauge(form, name, help, &[], value));
    }
    out.extend(by_state(form, &run.hosts));
    requests.render(form, &mut out, names);
    kernel.render(form, &mut out, names);
    out
}

/// Hosts without a run, as one answer to a scrape: `hosts` by state, and what their kernels count.
pub fn render_hosts(form: Form, version: &str, hosts: &[(&str, usize)], kernel: &Kernel, names: &[String]) -> Vec<u8> {
    let mut out = build(form, version);
    out.extend(by_state(form, hosts));
    kernel.render(form, &mut out, names);
    out
}

/// A family of one state.
fn gauge(form: Form, name: &'static str, help: &'static str, labels: &[(&str, &str)], value: Value) -> Vec<u8> {
    let mut family = Family::new(form, Kind::Gauge, name, help);
    family.add(labels, value);
    family.finish()
}

fn build(form: Form, version: &str) -> Vec<u8> {
    gauge(form, "plimsoll_build_info", "The version of Plimsoll.", &[("version", version)], Value::Whole(1))
}

fn by_state(form: Form, hosts: &[(&str, usize)]) -> Vec<u8> {
    let mut family = Family::new(form, Kind::Gauge, "plimsoll_hosts", "Hosts by state.");
    for (state, count) in hosts {
        family.add(&[("state", state)], Value::Whole(*count as u128));
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
