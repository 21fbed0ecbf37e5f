//! What the program is made of: a list in CycloneDX 1.5, from `cargo metadata`.

use crate::kept;
use crate::shell::{self, Outcome};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The list of everything that is in the program for `triple`, without what only builds or tests
/// it.
///
/// # Errors
/// `cargo metadata` does not run, or says nothing that is known.
pub fn sbom(triple: &str, created: &str) -> Outcome<String> {
    let words = ["metadata", "--format-version", "1", "--locked", "--filter-platform", triple];
    let text = shell::capture(shell::cargo().args(words))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    listed(&metadata, &checksums(&kept::read("Cargo.lock")?)?, created)
}

/// The checksum of each package that comes from a registry, by name and version.
fn checksums(lock: &str) -> Outcome<BTreeMap<(String, String), String>> {
    let lock: toml::Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let of = |package: &toml::Value| {
        let text = |name| package.get(name).and_then(toml::Value::as_str).map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.filter_map(of).collect())
}

fn listed(
    metadata: &Value,
    sums: &BTreeMap<(String, String), String>,
    created: &str,
) -> Outcome<String> {
    let by_id: BTreeMap<&str, &Value> = array(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = array(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let root = by_id.iter().find(|(_, package)| package["name"] == "cli");
    let (root, program) = root.ok_or("cargo metadata knows no package `cli`")?;
    let mut inside: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![*root];
    while let Some(id) = open.pop() {
        if inside.insert(id) {
            open.extend(nodes.get(id).into_iter().flat_map(|node| linked(node)));
        }
    }
    let mut components: Vec<Value> =
        inside.iter().filter(|id| *id != root).map(|id| component(by_id[id], sums)).collect();
    components.sort_by_key(|one| one["bom-ref"].to_string());
    let version = &program["version"];
    let content = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": created,
            "component": {"type": "application", "name": "plimsoll", "version": version,
                "bom-ref": format!("plimsoll@{}", version.as_str().unwrap_or_default())},
        },
        "components": components,
    });
    let mut content = content;
    // The same content has the same number: version 8 of RFC 9562 leaves its bits to us.
    let sum = Sha256::digest(content.to_string());
    let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    content["serialNumber"] = format!(
        "urn:uuid:{}-{}-8{}-a{}-{}",
        &sum[..8],
        &sum[8..12],
        &sum[13..16],
        &sum[17..20],
        &sum[20..32]
    )
    .into();
    serde_json::to_string_pretty(&content)
        .map(|text| text + "\n")
        .map_err(|error| error.to_string())
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The packages that are linked into a package's own code.
fn linked(node: &Value) -> impl Iterator<Item = &str> {
    let is_linked =
        |dependency: &&Value| array(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
    array(&node["deps"]).filter(is_linked).filter_map(|dependency| dependency["pkg"].as_str())
}

fn component(package: &Value, sums: &BTreeMap<(String, String), String>) -> Value {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    let (name, version) = (text("name"), text("version"));
    let reference = format!("pkg:cargo/{name}@{version}");
    let mut component = json!({"type": "library", "bom-ref": reference, "name": name,
        "version": version, "licenses": [{"expression": licence(&text("license"))}]});
    if let Some(sum) = sums.get(&(name, version)) {
        component["purl"] = reference.into();
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

/// As SPDX writes it: older packages put a slash for "or".
fn licence(text: &str) -> String {
    text.replace('/', " OR ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_listed_and_what_only_builds_is_not() {
        let package = |name: &str| {
            json!({"id": name, "name": name, "version": "1.0.0",
            "license": "MIT/Apache-2.0"})
        };
        let dependency = |name: &str, kind: Value| {
            json!({"pkg": name, "dep_kinds":
            [{"kind": kind}]})
        };
        let packages = ["cli", "linked", "deep", "build-only", "test-only"].map(package);
        let metadata = json!({
            "packages": packages,
            "resolve": {"nodes": [
                {"id": "cli", "deps": [dependency("linked", Value::Null),
                    dependency("build-only", "build".into()),
                    dependency("test-only", "dev".into())]},
                {"id": "linked", "deps": [dependency("deep", Value::Null)]},
                {"id": "deep", "deps": []},
            ]},
        });
        let sums = checksums(
            "[[package]]\nname = \"deep\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\
             [[package]]\nname = \"linked\"\nversion = \"1.0.0\"\n",
        );
        let text = listed(&metadata, &sums.expect("a lock file"), "1970-01-01T00:00:00Z");
        let list: Value = serde_json::from_str(&text.expect("a list")).expect("JSON");
        let names: Vec<&str> =
            array(&list["components"]).filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, ["deep", "linked"]);
        assert_eq!(list["components"][0]["hashes"][0]["content"], "ab");
        assert_eq!(list["components"][1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert!(list["serialNumber"].as_str().is_some_and(|number| number.len() == 45));
    }
}
