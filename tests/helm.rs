//! The Helm chart, as far as it can be checked without Helm: what it asks of the program exists,
//! its values are those of its schema, and its version is the program's. `docs/HACKING.md` has the
//! commands that render it.

use crate::common::{plimsoll, scratch};
use serde_json::Value;
use std::collections::BTreeSet;

const CHART: &str = include_str!("../deploy/helm/plimsoll/Chart.yaml");
const VALUES: &str = include_str!("../deploy/helm/plimsoll/values.yaml");
const SCHEMA: &str = include_str!("../deploy/helm/plimsoll/values.schema.json");
const TEMPLATES: [&str; 4] = [
    include_str!("../deploy/helm/plimsoll/templates/_helpers.tpl"),
    include_str!("../deploy/helm/plimsoll/templates/canary.yaml"),
    include_str!("../deploy/helm/plimsoll/templates/agents.yaml"),
    include_str!("../deploy/helm/plimsoll/templates/NOTES.txt"),
];

/// Every path of the values file, `canary.push.url`: two spaces of indentation for each step.
fn paths_of_values() -> BTreeSet<String> {
    let (mut above, mut paths): (Vec<&str>, BTreeSet<String>) = Default::default();
    for line in VALUES.lines() {
        let bare = line.trim_start();
        let Some((key, _)) = bare.split_once(':').filter(|_| !bare.starts_with('#')) else {
            continue;
        };
        above.truncate((line.len() - bare.len()) / 2);
        above.push(key);
        paths.insert(above.join("."));
    }
    paths
}

/// Every path that the templates read. `$canary` and `$agents` are set at their heads.
fn paths_of_templates() -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let mut paths = BTreeSet::new();
    for (name, stands_for) in [(".Values.", ""), ("$canary.", "canary."), ("$agents.", "agents.")] {
        for template in TEMPLATES {
            for (place, _) in template.match_indices(name) {
                let rest = &template[place + name.len()..];
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                paths.insert(format!("{stands_for}{}", &rest[..end]));
            }
        }
    }
    paths
}

#[test]
fn templates_read_values_that_are_there_and_every_value_is_in_the_schema() {
    let (values, read) = (paths_of_values(), paths_of_templates());
    assert!(read.len() > 25, "{read:?}");
    let missing: Vec<&String> = read.difference(&values).collect();
    assert!(missing.is_empty(), "templates read what values.yaml lacks: {missing:?}");
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    // Below these, Kubernetes decides what there is.
    let is_free = |path: &str| path.contains("resources.");
    for path in values.iter().filter(|path| !is_free(path)) {
        let mut place = &schema;
        for key in path.split('.') {
            if let Some(name) = place["$ref"].as_str() {
                place = &schema["definitions"][name.trim_start_matches("#/definitions/")];
            }
            place = &place["properties"][key];
        }
        assert!(place.is_object(), "the schema lacks {path}");
    }
}

#[test]
fn the_chart_has_the_version_of_the_program_and_asks_for_options_that_it_has() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(CHART.contains(&format!("\nversion: {version}\n")), "{CHART}");
    assert!(CHART.contains(&format!("\nappVersion: \"{version}\"\n")), "{CHART}");
    let folder = scratch();
    let help = plimsoll(&folder, "canary --help").with_code(0).out;
    let [_, canary, ..] = TEMPLATES;
    let asked: BTreeSet<&str> = canary
        .match_indices("--")
        .map(|(place, _)| &canary[place..])
        .filter_map(|rest| rest.split_once('=').map(|(option, _)| option))
        .filter(|option| option.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .collect();
    assert!(asked.len() >= 10, "{asked:?}");
    for option in asked {
        assert!(help.contains(&format!("{option} ")), "{option} is no option of a canary");
    }
}
