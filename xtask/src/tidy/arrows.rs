//! Which crate may use which: the arrows of the design, read from the manifests.

use super::Finding;
use super::tree::Tree;

/// A crate's folder and the crates that it may name in its dependencies, a line for each. Whatever
/// is not here has no place yet.
const ARROWS: &str = "\
model:
plan_json: model
form: model
catalogue: form model
suite: form model
dialects: suite form model
twin: catalogue model
probe: model
store: plan_json model
analysis: catalogue model
engine: twin model
fleet: engine probe plan_json model
provision: model
report: analysis catalogue model
live: report analysis model
cli: model form catalogue suite dialects twin probe store analysis engine fleet provision \
     report live
xtask: dialects suite catalogue model
";

/// Rooms of a run, a record or a page: they have a plan and no suite, their tests neither.
const WITHOUT_SUITE: [&str; 5] = ["engine", "fleet", "store", "report", "live"];

/// The feature of helpers for the tests of other crates; what it alone brings in is for tests.
const FOR_TESTS: &str = "testing";

const REMEDY: &str =
    "move the code to the room that may see both, or hand it over as a noun of `model`";

/// Every arrow that the design does not have.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.ending("Cargo.toml") {
        let folder = manifest.path.trim_end_matches("Cargo.toml").trim_end_matches('/');
        if folder.is_empty() {
            continue;
        }
        let name = folder.strip_prefix("crates/").unwrap_or(folder);
        let mut say = |what, remedy| findings.push(Finding::new(&manifest.path, what, remedy));
        let table: toml::Table = match manifest.text.parse() {
            Ok(table) => table,
            Err(error) => {
                say(format!("is not TOML: {}", toml::de::Error::message(&error)), "mend it");
                continue;
            }
        };
        if allowed(name).is_none() {
            let what = format!("the crate `{name}` has no place among the arrows");
            say(what, "draw its arrows in xtask/src/tidy/arrows.rs");
            continue;
        }
        for (kind, user) in used(&table) {
            if !may_use(name, &user, kind) {
                let line = line_of(&manifest.text, &user);
                let what = format!("`{name}` may not use `{user}` ({kind})");
                findings.push(Finding::at(&manifest.path, line, what, REMEDY));
            }
        }
    }
    findings
}

fn arrows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let lines = ARROWS.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(from, to)| (from, to.split_whitespace().collect()))
}

fn allowed(name: &str) -> Option<Vec<&'static str>> {
    arrows().find(|(from, _)| *from == name).map(|(_, to)| to)
}

/// Whether `from` may have `to` among its dependencies of `kind`.
///
/// Tests may look further than the code they test, but never back: a crate whose tests need what is
/// built on it is two crates.
fn may_use(from: &str, to: &str, kind: &str) -> bool {
    let direct = |from, to| allowed(from).is_some_and(|list| list.contains(&to));
    match kind {
        "dev-dependencies" if to == "suite" && WITHOUT_SUITE.contains(&from) => false,
        "dev-dependencies" => direct(from, to) || !reaches(to, from),
        _ => direct(from, to),
    }
}

/// Whether following arrows from `from` leads to `to`. The arrows have no circle, which a test
/// holds.
fn reaches(from: &str, to: &str) -> bool {
    allowed(from).unwrap_or_default().into_iter().any(|next| next == to || reaches(next, to))
}

/// The crates of ours that a manifest names, with the kind of the dependency.
fn used(manifest: &toml::Table) -> Vec<(&'static str, String)> {
    let mut used = Vec::new();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let per_target =
        targets.into_iter().flat_map(|table| table.values()).filter_map(toml::Value::as_table);
    for table in std::iter::once(manifest).chain(per_target) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = table.get(kind).and_then(toml::Value::as_table);
            for (key, value) in dependencies.into_iter().flatten() {
                if let Some(name) = own_name(key, value) {
                    let is_for_tests = is_only_for_tests(manifest, key, value);
                    let kind = if is_for_tests { "dev-dependencies" } else { kind };
                    used.push((kind, name.to_owned()));
                }
            }
        }
    }
    used
}

/// Whether a dependency is there with the feature of test helpers alone.
fn is_only_for_tests(manifest: &toml::Table, key: &str, value: &toml::Value) -> bool {
    let is_optional = value.get("optional").and_then(toml::Value::as_bool) == Some(true);
    let names_it = |wanted: &toml::Value| {
        let parts = wanted.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
        parts
            .map(|part| part.trim_start_matches("dep:"))
            .any(|part| part.split(['/', '?']).next() == Some(key))
    };
    let features = manifest.get("features").and_then(toml::Value::as_table);
    let mut naming = features.into_iter().flatten().filter(|(_, wanted)| names_it(wanted));
    is_optional
        && naming.next().is_some_and(|(feature, _)| feature == FOR_TESTS)
        && naming.next().is_none()
}

/// The folder of the crate of ours that a dependency means, whatever it is called there.
fn own_name<'a>(key: &'a str, value: &'a toml::Value) -> Option<&'a str> {
    let text = |field| value.get(field).and_then(toml::Value::as_str);
    let by_path = text("path").and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    let name = by_path.or(text("package")).unwrap_or(key);
    allowed(name).map(|_| name)
}

/// The 1-based line that names `dependency`, 1 where none does.
fn line_of(manifest: &str, dependency: &str) -> usize {
    manifest
        .lines()
        .position(|line| super::code::has_word(line, dependency))
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, manifest: &str) -> Vec<String> {
        check(&Tree::of(&[(path, manifest)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_arrows_of_the_design_pass() {
        let report = "[dependencies]\nanalysis.workspace = true\nmodel.workspace = \
                      true\nserde_json.workspace = true\n";
        assert!(findings("crates/report/Cargo.toml", report).is_empty());
        let twin = "[target.'cfg(unix)'.dependencies]\ntwin = { workspace = true }\n";
        assert!(findings("crates/engine/Cargo.toml", twin).is_empty());
    }

    #[test]
    fn an_arrow_back_is_found_with_its_line() {
        let found = findings(
            "crates/analysis/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nengine.workspace = true\n",
        );
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/analysis/Cargo.toml:4 `analysis` may not use `engine`"),
            "{}",
            found[0]
        );
    }

    #[test]
    fn another_name_hides_nothing() {
        for (from, manifest) in [
            ("report", "[dependencies]\ne = { path = \"../engine\" }\n"),
            ("report", "[dependencies]\ne = { package = \"engine\", workspace = true }\n"),
            ("store", "[target.'cfg(unix)'.dependencies]\nfleet = \"1\"\n"),
            ("store", "[build-dependencies]\nplimsoll = { path = \"../cli\" }\n"),
        ] {
            let found = findings(&format!("crates/{from}/Cargo.toml"), manifest);
            assert_eq!(found.len(), 1, "{from}: {manifest}");
        }
    }

    #[test]
    fn tests_may_look_sideways_but_not_back() {
        for (from, to, wrong) in
            [("report", "engine", 0), ("model", "store", 1), ("engine", "fleet", 1)]
        {
            let manifest = format!("[dev-dependencies]\n{to}.workspace = true\n");
            let found = findings(&format!("crates/{from}/Cargo.toml"), &manifest);
            assert_eq!(found.len(), wrong, "{from} -> {to}");
        }
    }

    #[test]
    fn who_has_a_plan_has_no_suite_not_even_in_tests() {
        for from in WITHOUT_SUITE {
            for kind in ["dependencies", "dev-dependencies"] {
                let manifest = format!("[{kind}]\nsuite.workspace = true\n");
                assert_eq!(findings(&format!("crates/{from}/Cargo.toml"), &manifest).len(), 1);
            }
        }
    }

    #[test]
    fn helpers_for_tests_may_have_what_tests_may() {
        let analysis = |features: &str| {
            let dependency = "[dependencies]\nsuite = { workspace = true, optional = true }\n";
            findings("crates/analysis/Cargo.toml", &format!("{dependency}[features]\n{features}"))
        };
        assert!(analysis("testing = [\"dep:suite\"]\n").is_empty());
        assert_eq!(analysis("other = [\"dep:suite\"]\n").len(), 1);
        assert_eq!(analysis("testing = [\"dep:suite\"]\nother = [\"suite/x\"]\n").len(), 1);
        assert_eq!(analysis("").len(), 1, "a feature of its own name");
    }

    #[test]
    fn a_crate_without_arrows_is_found() {
        assert!(findings("crates/cloud/Cargo.toml", "[package]\n")[0].contains("no place"));
    }

    #[test]
    fn the_arrows_have_no_circle() {
        // In the order of the list every arrow points upwards.
        for (index, (from, list)) in arrows().enumerate() {
            for to in list {
                assert!(arrows().take(index).any(|(earlier, _)| earlier == to), "{from} -> {to}");
            }
        }
    }
}
