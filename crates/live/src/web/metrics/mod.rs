//! The run as Prometheus reads it, as text or as protobuf: conventional names, base units
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).

mod canary;
mod family;
mod form;
mod kernel;
mod kind;
mod native;
mod out;
mod protobuf;
mod requests;
mod scrape;
mod text;
mod told;
mod totals;
mod value;

pub use form::Form;
pub use kernel::Kernel;
pub use kind::Kind;
pub(crate) use native::{Native, SCHEMA, ZERO_THRESHOLD_S};
pub(crate) use protobuf::Message;
pub use requests::{Labels, Requests};
pub use scrape::{Detail, Run, Scrape};
pub use told::{Amount, Point, Told, owned};
pub use value::Value;

/// Of more hosts, what each of their devices, ports, mounts and shares counts is told to who asks
/// for it only: a thousand hosts with a hundred devices each are 93 MiB for each scrape, of which a
/// Prometheus would drop most.
pub const MOST_DETAILED_HOSTS: usize = 64;

/// Every name of a family that this program can tell.
pub fn names() -> Vec<&'static str> {
    let run = "plimsoll_build_info plimsoll_memory_bytes plimsoll_run_info \
               plimsoll_run_start_time_seconds plimsoll_run_over plimsoll_run_verdict \
               plimsoll_run_durable_bytes_per_second plimsoll_run_stages \
               plimsoll_run_stages_ended plimsoll_run_point plimsoll_hosts \
               plimsoll_hosts_detailed";
    run.split(' ').chain(requests::NAMES).chain(kernel::names()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    const DASHBOARD: &str = include_str!("../../../../../deploy/grafana-dashboard.json");

    fn dashboard() -> Value {
        serde_json::from_str(DASHBOARD).expect("JSON")
    }

    fn panels(dashboard: &Value) -> &Vec<Value> {
        dashboard["panels"].as_array().expect("panels")
    }

    #[test]
    fn panels_of_the_dashboard_have_numbers_kinds_and_units_that_grafana_knows() {
        let dashboard = dashboard();
        assert!(
            dashboard["schemaVersion"].as_u64().is_some_and(|version| (36..=42).contains(&version))
        );
        assert!(dashboard["id"].is_null(), "a number would be that of another Grafana's database");
        let uid = dashboard["uid"].as_str().expect("a uid");
        assert!(
            (1..=40).contains(&uid.len())
                && uid.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        );
        let mut numbers = BTreeSet::new();
        for panel in panels(&dashboard) {
            let title = panel["title"].as_str().filter(|title| !title.is_empty()).expect("a title");
            assert!(
                numbers.insert(panel["id"].as_u64().filter(|id| *id > 0).expect("a number")),
                "{title}"
            );
            assert!(
                ["stat", "timeseries", "heatmap"].iter().any(|kind| panel["type"] == *kind),
                "{title}"
            );
            let units = ["percentunit", "short", "iops", "ops", "binBps", "bytes", "s"];
            assert!(
                units.iter().any(|unit| panel["fieldConfig"]["defaults"]["unit"] == *unit),
                "{title}"
            );
            let targets = panel["targets"].as_array().expect("queries");
            let letters: BTreeSet<&str> =
                targets.iter().filter_map(|target| target["refId"].as_str()).collect();
            assert!(
                letters.len() == targets.len() && !targets.is_empty(),
                "{title}: each query has a letter of its own"
            );
        }
    }

    #[test]
    fn panels_of_the_dashboard_stand_in_its_grid_and_do_not_overlap() {
        let dashboard = dashboard();
        let mut taken = BTreeSet::new();
        for panel in panels(&dashboard) {
            let of = |key: &str| panel["gridPos"][key].as_u64().expect("a whole number");
            let (x, y, width, height) = (of("x"), of("y"), of("w"), of("h"));
            assert!(width > 0 && height > 0 && x + width <= 24, "the grid has 24 columns: {panel}");
            let cells = (x..x + width).flat_map(|x| (y..y + height).map(move |y| (x, y)));
            assert!(cells.into_iter().all(|cell| taken.insert(cell)), "{}", panel["title"]);
        }
    }

    #[test]
    fn variables_of_the_dashboard_are_declared_and_its_data_source_is_the_one_that_is_chosen() {
        let dashboard = dashboard();
        let variables = dashboard["templating"]["list"].as_array().expect("variables");
        let declared: BTreeSet<&str> =
            variables.iter().filter_map(|variable| variable["name"].as_str()).collect();
        assert_eq!(
            (variables[0]["type"].as_str(), variables[0]["query"].as_str()),
            (Some("datasource"), Some("prometheus"))
        );
        let chosen = r#"{"type":"prometheus","uid":"${datasource}"}"#;
        let chosen: Value = serde_json::from_str(chosen).expect("JSON");
        let asking = panels(&dashboard).iter().chain(&variables[1..]);
        assert!(asking.into_iter().all(|one| one["datasource"] == chosen));
        let queries = panels(&dashboard)
            .iter()
            .flat_map(|panel| panel["targets"].as_array().expect("queries"));
        for query in queries.map(|target| target["expr"].as_str().expect("a query")) {
            for (place, _) in query.match_indices('$') {
                let rest = query[place + 1..].trim_start_matches("__").trim_start_matches('{');
                let name = &rest[..rest
                    .find(|c: char| !c.is_ascii_lowercase() && c != '_')
                    .unwrap_or(rest.len())];
                assert!(name == "rate_interval" || declared.contains(name), "{name}: {query}");
            }
        }
    }

    #[test]
    fn no_query_of_the_dashboard_adds_two_coordinators_up() {
        let dashboard = dashboard();
        let variables = dashboard["templating"]["list"].as_array().expect("variables");
        for name in ["job", "instance", "run"] {
            let one = variables.iter().find(|variable| variable["name"] == name).expect("chosen");
            let several = (one["multi"].as_bool(), one["includeAll"].as_bool());
            assert_eq!(several, (Some(false), Some(false)), "{name}");
        }
        let chosen = "{job=~\"$job\",instance=~\"$instance\",run=~\"$run\"";
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let queries = panels(&dashboard)
            .iter()
            .flat_map(|panel| panel["targets"].as_array().expect("queries"));
        for query in queries.map(|target| target["expr"].as_str().expect("a query")) {
            for (place, _) in query.match_indices("plimsoll_") {
                let rest = query[place..].trim_start_matches(is_part);
                assert!(rest.starts_with(chosen), "of which run? {query}");
            }
        }
    }

    #[test]
    fn every_metric_that_the_dashboard_names_exists() {
        let dashboard = DASHBOARD;
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let named = dashboard.match_indices("plimsoll_").map(|(place, _)| &dashboard[place..]);
        let named: Vec<&str> =
            named.map(|rest| &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]).collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            let family =
                ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end));
            assert!(names().iter().any(|known| *known == name || Some(*known) == family), "{name}");
        }
    }
}
