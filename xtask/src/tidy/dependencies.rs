//! Rules about packages that are not ours: each has a reason, a licence that we allow, and one
//! version.

use super::tree::Tree;
use super::{Finding, Verdict};
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::BTreeMap;

const REASONS: &str = "docs/decisions/dependencies.md";
const RULES: &str = "deny.toml";
/// Fewer words than this are a label and no reason.
const LEAST_WORDS: usize = 5;

/// Every dependency of the workspace has its sentence in `docs/decisions/dependencies.md`, and
/// every sentence its dependency.
pub fn reasons(tree: &Tree) -> Vec<Finding> {
    let Some(manifest) = tree.text("Cargo.toml").and_then(|text| text.parse::<toml::Table>().ok())
    else {
        return vec![Finding::new("Cargo.toml", "is missing or no TOML", "mend it")];
    };
    let workspace = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let declared: Vec<&str> = workspace
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.get("path").is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let given = sentences(tree.text(REASONS).unwrap_or_default());
    let remedy = "say there what it is for and why this one";
    let reason = |name: &&str| match given.iter().find(|(_, given, _)| given == name) {
        None => Some(Finding::new(REASONS, format!("has no sentence for `{name}`"), remedy)),
        Some((line, _, sentence)) if sentence.split_whitespace().count() < LEAST_WORDS => {
            let what = format!("the words for `{name}` are no sentence");
            Some(Finding::at(REASONS, *line, what, remedy))
        }
        Some(_) => None,
    };
    let unused = given.iter().filter(|(_, name, _)| !declared.contains(&name.as_str()));
    let unused = unused.map(|(line, name, _)| {
        let what = format!("`{name}` is no dependency of the workspace");
        Finding::at(REASONS, *line, what, "take its line out, or name it in Cargo.toml")
    });
    declared.iter().filter_map(reason).chain(unused).collect()
}

/// The rows of a page that give a reason: ``| `name` | words | words |``, as line, name and words.
fn sentences(page: &str) -> Vec<(usize, String, String)> {
    let row = |(number, line): (usize, &str)| {
        let (name, words) = line.strip_prefix("| `")?.split_once("` |")?;
        Some((number, name.to_owned(), words.replace('|', " ").trim().to_owned()))
    };
    (1..).zip(page.lines()).filter_map(row).collect()
}

/// What `deny.toml` says, as far as names can tell.
struct Rules {
    licences: Vec<String>,
    /// Package and version (`1`, `0.4`) that may stand beside another version of itself.
    skips: Vec<(String, String)>,
}

impl Rules {
    fn read(tree: &Tree) -> Option<Rules> {
        let table: toml::Table = tree.text(RULES)?.parse().ok()?;
        let licences = table.get("licenses")?.get("allow")?.as_array()?;
        let licences = licences.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect();
        let skips =
            table.get("bans").and_then(|bans| bans.get("skip")).and_then(toml::Value::as_array);
        let skip = |entry: &toml::Value| {
            let text = |field| entry.get(field).and_then(toml::Value::as_str).map(str::to_owned);
            Some((text("name")?, text("version")?))
        };
        Some(Rules { licences, skips: skips.into_iter().flatten().filter_map(skip).collect() })
    }

    fn skips(&self, name: &str, version: &str) -> bool {
        self.skips.iter().any(|(skipped, prefix)| {
            skipped == name
                && version
                    .strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// The packages of `metadata` (JSON of `cargo metadata`) against the licences and the duplicates of
/// `deny.toml`.
pub fn judge(tree: &Tree, metadata: &str) -> Verdict {
    let Some(rules) = Rules::read(tree) else {
        return vec![Finding::new(RULES, "is missing, no TOML, or allows no licence", "mend it")]
            .into();
    };
    let Ok(metadata) = serde_json::from_str::<Value>(metadata) else {
        let what = "wrote something that is no JSON";
        return vec![Finding::new("cargo metadata", what, "update cargo")].into();
    };
    let mut verdict = Verdict::default();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (name, version) = (word(package, "name"), word(package, "version"));
        // Packages without a source are ours.
        if package["source"].is_null() {
            continue;
        }
        versions.entry(name).or_default().push(version);
        let licence = word(package, "license");
        let problem = match is_allowed(licence, &rules.licences) {
            Ok(true) => continue,
            Ok(false) => format!("`{licence}` is not allowed"),
            Err(error) => format!("its licence `{licence}` cannot be read: {error}"),
        };
        let remedy =
            "take another package, or allow the licence in deny.toml and say why in docs/decisions";
        verdict.findings.push(Finding::new(format_args!("{name} {version}"), problem, remedy));
    }
    for (name, versions) in versions {
        judge_versions(name, &versions, &rules, &mut verdict);
    }
    verdict
}

/// Slashes are an older way to write "or", and an older name of a licence is one, too.
const MODE: ParseMode =
    ParseMode { allow_slash_as_or_operator: true, allow_deprecated: true, ..ParseMode::STRICT };

/// Whether the SPDX expression `text` can be met with licences of `allowed` alone. A licence `WITH`
/// an exception counts by its whole text, or as the licence alone, since an exception only ever
/// permits more.
fn is_allowed(text: &str, allowed: &[String]) -> Result<bool, String> {
    let expression =
        Expression::parse_mode(text, MODE).map_err(|error| error.reason.to_string())?;
    Ok(expression.evaluate(|licence| {
        let whole = licence.to_string();
        let alone = whole.split(" WITH ").next().unwrap_or_default();
        allowed.iter().any(|one| *one == whole || one == alone)
    }))
}

fn judge_versions(name: &str, versions: &[&str], rules: &Rules, verdict: &mut Verdict) {
    if versions.len() < 2 {
        return;
    }
    let all = versions.join(", ");
    if versions.iter().filter(|version| !rules.skips(name, version)).count() > 1 {
        let remedy = "bring the versions together (`cargo tree -i NAME@VERSION` shows who asks), \
                      or skip one in deny.toml with its reason";
        let what = format!("comes in several versions: {all}");
        verdict.findings.push(Finding::new(name, what, remedy));
    } else {
        verdict.hints.push(format!("{name} comes as {all}; deny.toml says why"));
    }
}

fn word<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = "[licenses]\nallow = [\"MIT\"]\n[bans]\nskip = [{ name = \"syn\", version \
                        = \"2\", reason = \"x\" }]\n";

    fn metadata(packages: &[(&str, &str, &str)]) -> String {
        let packages: Vec<Value> = packages
            .iter()
            .map(|(name, version, license)| {
                serde_json::json!({ "name": name, "version": version, "license": license,
                    "source": "registry" })
            })
            .collect();
        serde_json::json!({ "packages": packages }).to_string()
    }

    fn verdict(packages: &[(&str, &str, &str)]) -> Verdict {
        judge(&Tree::of(&[(RULES, DENY)]), &metadata(packages))
    }

    #[test]
    fn an_unknown_licence_is_refused() {
        let found = verdict(&[
            ("good", "1.0.0", "MIT"),
            ("bad", "1.2.0", "GPL-3.0"),
            ("none", "1.0.0", ""),
        ])
        .findings;
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["bad 1.2.0", "none 1.0.0"]);
    }

    #[test]
    fn a_second_version_needs_a_reason() {
        let found = verdict(&[("syn", "2.0.1", "MIT"), ("syn", "3.0.0", "MIT")]);
        assert!(found.findings.is_empty() && found.hints.len() == 1);
        let found = verdict(&[("syn", "20.0.1", "MIT"), ("syn", "3.0.0", "MIT")]);
        assert_eq!(found.findings.len(), 1);
        let found = verdict(&[("toml", "1.0.0", "MIT"), ("toml", "0.9.0", "MIT")]);
        assert!(found.findings[0].what.contains("1.0.0, 0.9.0"));
    }

    #[test]
    fn broken_input_fails_instead_of_passing() {
        assert_eq!(judge(&Tree::default(), "{}").findings.len(), 1);
        assert_eq!(judge(&Tree::of(&[(RULES, DENY)]), "no json").findings.len(), 1);
    }

    #[test]
    fn dependencies_and_reasons_match() {
        let manifest = "[workspace.dependencies]\nmodel = { path = \"crates/model\" }\ntoml = \
                        \"1\"\nlibc = \"0.2\"\nserde = \"1\"\n";
        let page = "| package | for |\n|---|---|\n| `toml` | reads suites, with the place of \
                    every value |\n| `libc` | calls |\n| `gone` | was once of some use here |\n";
        let found = reasons(&Tree::of(&[("Cargo.toml", manifest), (REASONS, page)]));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("dependencies.md:4 the words for `libc`"));
        assert!(found[1].contains("no sentence for `serde`"));
        assert!(found[2].contains("dependencies.md:5 `gone`"));
    }

    fn judged(text: &str) -> Result<bool, String> {
        is_allowed(text, &["MIT".to_owned(), "Apache-2.0".to_owned(), "Unicode-3.0".to_owned()])
    }

    #[test]
    fn or_needs_one_and_needs_all() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "GPL-2.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "GPL-3.0 AND BSD-4-Clause OR MIT",
        ] {
            assert_eq!(judged(good), Ok(true), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND OpenSSL"] {
            assert_eq!(judged(bad), Ok(false), "{bad}");
        }
    }

    #[test]
    fn an_exception_can_be_allowed_by_its_whole_text() {
        let whole = ["GPL-2.0 WITH Linux-syscall-note".to_owned()];
        assert_eq!(is_allowed("GPL-2.0 WITH Linux-syscall-note", &whole), Ok(true));
        assert_eq!(is_allowed("GPL-2.0", &whole), Ok(false));
    }

    #[test]
    fn what_is_no_expression_is_no_licence() {
        let long = ["(".repeat(400), "MIT OR ".repeat(1000)].join(",");
        let broken = ",mit,MIT OR,AND MIT,(MIT,MIT),MIT MIT,MIT WITH,(),";
        for broken in [broken, &long].concat().split(',') {
            assert!(judged(broken).is_err(), "{broken}");
        }
    }
}
