//! The manifests of `deploy/`, held to the fields of Kubernetes 1.34, of which
//! `fixtures/kubernetes/fields.json` is the part that they use; and what they promise.

mod api;

use crate::common::Json;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents of a manifest, in the part of YAML in which ours are written: blocks of maps and
/// lists, scalars of one line, lists of scalars in brackets.
fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n")
        .map(|text| {
            let is_content =
                |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
            let lines: Vec<(usize, String)> = text
                .lines()
                .filter(is_content)
                .map(|line| (line.len() - line.trim_start().len(), line.trim().to_owned()))
                .collect();
            let mut rest = &lines[..];
            let value = block(&mut rest);
            assert!(rest.is_empty(), "what is this: {rest:?}");
            value
        })
        .collect()
}

fn block(lines: &mut &[(usize, String)]) -> Value {
    let depth = lines[0].0;
    if lines[0].1.starts_with("- ") { list(lines, depth) } else { map(lines, depth) }
}

fn list(lines: &mut &[(usize, String)], depth: usize) -> Value {
    let mut entries = Vec::new();
    while let Some((at, line)) = lines.first().filter(|(at, _)| *at == depth) {
        let Some(rest) = line.strip_prefix("- ") else { break };
        if is_entry(rest) {
            // The entry is a map that begins on this line.
            let mut own: Vec<(usize, String)> = vec![(at + 2, rest.to_owned())];
            let more = lines[1..].iter().take_while(|(at, _)| *at > depth).count();
            own.extend_from_slice(&lines[1..=more]);
            let mut own = &own[..];
            entries.push(map(&mut own, at + 2));
            assert!(own.is_empty(), "what is this: {own:?}");
            *lines = &lines[more + 1..];
        } else {
            entries.push(scalar(rest));
            *lines = &lines[1..];
        }
    }
    Value::Array(entries)
}

fn is_entry(text: &str) -> bool {
    !text.starts_with(['"', '[']) && (text.contains(": ") || text.ends_with(':'))
}

fn map(lines: &mut &[(usize, String)], depth: usize) -> Value {
    let mut fields = Map::new();
    while let Some((_, line)) = lines.first().filter(|(at, _)| *at == depth) {
        let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no field: {line}"));
        *lines = &lines[1..];
        let value = match value.trim() {
            "" => block(lines),
            value => scalar(value),
        };
        assert!(fields.insert(name.to_owned(), value).is_none(), "{name} stands there twice");
    }
    Value::Object(fields)
}

fn scalar(text: &str) -> Value {
    let text = text.split(" #").next().unwrap_or_default().trim();
    match text {
        "{}" => Value::Object(Map::new()),
        _ if text.starts_with(['"', '[']) => {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
        }
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

/// The fields that the API server knows.
struct Schema(Value);

impl Schema {
    fn read() -> Schema {
        let text = fs::read_to_string(root().join("fixtures/kubernetes/fields.json"));
        Schema(serde_json::from_str(&text.expect("recorded")).expect("JSON"))
    }

    /// What a strict API server refuses of a document.
    fn refuses(&self, document: &Value) -> Vec<String> {
        let mut refused = Vec::new();
        let kind = document["kind"].as_str().unwrap_or_default();
        match self.0["kinds"][kind].as_str() {
            Some(name) => self.check(&format!("#{name}"), document, kind, &mut refused),
            None => refused.push(format!("{kind}: no such kind was recorded")),
        }
        refused
    }

    fn check(&self, of: &str, value: &Value, place: &str, refused: &mut Vec<String>) {
        if let Some(name) = of.strip_prefix('#') {
            return self.check_object(&self.0["definitions"][name], value, place, refused);
        }
        let inner = of.get(1..of.len() - 1).unwrap_or_default();
        let fits = match (of, value) {
            (_, Value::Array(entries)) if of.starts_with('[') => {
                for (number, entry) in entries.iter().enumerate() {
                    self.check(inner, entry, &format!("{place}[{number}]"), refused);
                }
                true
            }
            (_, Value::Object(entries)) if of.starts_with('{') => {
                for (name, entry) in entries {
                    self.check(inner, entry, &format!("{place}.{name}"), refused);
                }
                true
            }
            ("string", Value::String(_)) | ("boolean", Value::Bool(_)) | ("any", _) => true,
            ("integer", value) => value.is_i64(),
            ("quantity", value) => value.is_string() || value.is_number(),
            _ => false,
        };
        if !fits {
            refused.push(format!("{place}: {value} is no {of}"));
        }
    }

    fn check_object(
        &self,
        definition: &Value,
        value: &Value,
        place: &str,
        refused: &mut Vec<String>,
    ) {
        if let Some(of) = definition["is"].as_str() {
            return self.check(of, value, place, refused);
        }
        let Some(fields) = value.as_object() else {
            return refused.push(format!("{place}: {value} is no object"));
        };
        for (name, value) in fields {
            let place = format!("{place}.{name}");
            match definition["fields"][name].as_str() {
                Some(of) => self.check(of, value, &place, refused),
                None => refused.push(format!("{place}: unknown field")),
            }
        }
        for name in definition["required"].as_array().into_iter().flatten() {
            let name = name.text();
            if !fields.contains_key(name) {
                refused.push(format!("{place}.{name}: required"));
            }
        }
    }
}

/// Every manifest, with its name.
fn manifests() -> Vec<(String, Vec<Value>)> {
    let folders = [root().join("deploy"), root().join("deploy/kubernetes")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
    let mut all: Vec<(String, Vec<Value>)> = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("text");
            (path.file_name().expect("a name").to_string_lossy().into_owned(), documents(&text))
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn named(name: &str) -> Vec<Value> {
    manifests().into_iter().find(|(own, _)| own == name).expect("there").1
}

#[test]
fn every_manifest_has_the_fields_of_the_api_and_no_other() {
    let schema = Schema::read();
    let names: Vec<String> = manifests()
        .into_iter()
        .map(|(name, documents)| {
            for document in documents {
                assert_eq!(schema.refuses(&document), [""; 0], "{name}");
            }
            name
        })
        .collect();
    let ours = ["access.yaml", "claims.yaml", "devices.yaml", "nodes.yaml"];
    assert!(ours.iter().all(|name| names.iter().any(|own| own == name)), "{names:?}");
}

#[test]
fn a_field_that_the_api_does_not_have_is_found() {
    let schema = Schema::read();
    let mut document = named("claims.yaml").remove(0);
    document["spec"]["template"]["spec"]["containers"][0]["securityContexts"] = Value::Null;
    document["spec"]["replicas"] = "three".into();
    document["spec"].as_object_mut().expect("a spec").remove("selector");
    let refused = schema.refuses(&document).join("\n");
    for part in ["containers[0].securityContexts: unknown", "replicas: \"three\"", "selector: req"]
    {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

/// The pods of a manifest.
fn pods(documents: &[Value]) -> Vec<Value> {
    let pods = documents.iter().map(|document| document["spec"]["template"].clone());
    pods.filter(|pod| !pod.is_null()).collect()
}

#[test]
fn a_pod_has_no_rights_and_its_containers_find_what_they_mount() {
    for name in ["claims.yaml", "devices.yaml", "nodes.yaml"] {
        let documents = named(name);
        let claims = documents[0]["spec"]["volumeClaimTemplates"].as_array().cloned();
        let claims = claims.unwrap_or_default();
        for pod in pods(&documents) {
            let spec = &pod["spec"];
            assert_eq!(spec["automountServiceAccountToken"], false, "{name}");
            let labels = &pod["metadata"]["labels"];
            assert_eq!(documents[0]["spec"]["selector"]["matchLabels"], *labels, "{name}");
            let default = "kubectl.kubernetes.io/default-container";
            assert_eq!(pod["metadata"]["annotations"][default], "agent", "{name}");
            let volumes = spec["volumes"].list().iter();
            let volumes: BTreeSet<&str> = volumes
                .map(|volume| volume["name"].as_str())
                .chain(claims.iter().map(|claim| claim["metadata"]["name"].as_str()))
                .map(|name| name.expect("a name"))
                .collect();
            let containers = spec["containers"].list().iter();
            for container in
                containers.chain(spec["initContainers"].as_array().into_iter().flatten())
            {
                let own = &container["securityContext"];
                assert_eq!(own["allowPrivilegeEscalation"], false, "{name}");
                assert_eq!(own["capabilities"]["drop"], serde_json::json!(["ALL"]), "{name}");
                assert!(container["resources"]["limits"].is_null(), "{name}: no limit of CPU");
                for kind in ["volumeMounts", "volumeDevices"] {
                    for mount in container[kind].as_array().into_iter().flatten() {
                        let volume = mount["name"].text();
                        assert!(volumes.contains(volume), "{name}: {volume}");
                    }
                }
                let profile =
                    [own, &spec["securityContext"]].map(|of| of["seccompProfile"].clone());
                assert!(profile.iter().any(|profile| !profile.is_null()), "{name}");
                assert!(profile.iter().all(|profile| profile["type"] != "Unconfined"), "{name}");
            }
        }
    }
    let block = &named("devices.yaml")[0]["spec"]["volumeClaimTemplates"][0]["spec"];
    assert_eq!(block["volumeMode"], "Block");
}

#[test]
fn who_may_use_the_pods_may_do_what_plimsoll_asks_for_and_nothing_else() {
    let documents = named("access.yaml");
    let role = documents.iter().find(|document| document["kind"] == "Role").expect("a role");
    let rules: Vec<(String, String)> = role["rules"]
        .list()
        .iter()
        .map(|rule| (rule["resources"].to_string(), rule["verbs"].to_string()))
        .collect();
    let expected =
        [(r#"["pods"]"#, r#"["get","list"]"#), (r#"["pods/exec"]"#, r#"["get","create"]"#)];
    assert_eq!(rules, expected.map(|(one, other)| (one.to_owned(), other.to_owned())));
    let namespace = &documents[0]["metadata"]["labels"];
    assert!(namespace["pod-security.kubernetes.io/enforce"].is_string());
}

#[test]
fn the_seccomp_profile_is_that_of_containers_with_io_uring() {
    let text = fs::read_to_string(root().join("deploy/kubernetes/seccomp.json")).expect("text");
    let profile: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO");
    // The form of the runtime, not that of Docker: it knows no conditions.
    let known = ["names", "action", "args", "errnoRet"];
    let rules = profile["syscalls"].list();
    for rule in rules {
        let fields = rule.as_object().expect("an object");
        assert!(fields.keys().all(|name| known.contains(&name.as_str())), "{rule}");
    }
    let is_allowed = |name: &str| {
        rules.iter().any(|rule| {
            let names = rule["names"].list();
            rule["action"] == "SCMP_ACT_ALLOW"
                && rule["args"].is_null()
                && names.iter().any(|own| own == name)
        })
    };
    let asked = ["io_uring_setup", "io_uring_enter", "io_uring_register", "io_submit", "pwritev2"];
    assert!(asked.into_iter().all(is_allowed));
    let denied = ["mount", "bpf", "keyctl", "unshare", "setns", "kexec_load", "init_module"];
    assert!(!denied.into_iter().any(is_allowed));
}
