//! Source that no one compiles: a file left behind says things that are not true any more, and a
//! test in it never runs.

use super::Finding;
use super::tree::{Text, Tree, resolve};

const REMEDY: &str =
    "declare it where it belongs (`mod`, or `[[test]]` in a Cargo.toml), or remove it";

/// Rust files that are neither a crate's root nor anyone's module.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree
        .ending(".rs")
        .filter(|file| !is_root(tree, &file.path) && !is_module(tree, &file.path));
    sources.map(|file| Finding::new(&file.path, "is compiled by nobody", REMEDY)).collect()
}

/// Whether Cargo starts at this file, because of its place or because a manifest names it.
fn is_root(tree: &Tree, path: &str) -> bool {
    let (folder, name) = split(path);
    let (package, part) = split(folder);
    let is_package = |folder: &str| tree.text(join(folder, "Cargo.toml").as_str()).is_some();
    let by_place = match part {
        "src" => is_package(package) && matches!(name, "lib.rs" | "main.rs"),
        "bin" => is_package(split(package).0),
        "tests" | "examples" | "benches" => is_package(package),
        _ if name == "main.rs" && matches!(split(package).1, "tests" | "examples" | "benches") => {
            is_package(split(package).0)
        }
        _ => name == "build.rs" && is_package(folder),
    };
    by_place || tree.ending("Cargo.toml").any(|manifest| names(manifest, path))
}

/// Whether a manifest gives `path` to a target.
fn names(manifest: &Text, path: &str) -> bool {
    let above = split(&manifest.path).0;
    let paths = manifest
        .text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("path = \"")?.strip_suffix('"'));
    paths.into_iter().any(|named| resolve(above, named).as_deref() == Some(path))
}

/// Whether a file declares this one as its module, by its name or by its path.
fn is_module(tree: &Tree, path: &str) -> bool {
    let (folder, name) = split(path);
    let (above, module) = match name {
        "mod.rs" => split(folder),
        _ => (folder, name.trim_end_matches(".rs")),
    };
    let parents = [
        join(above, "mod.rs"),
        join(above, "lib.rs"),
        join(above, "main.rs"),
        format!("{above}.rs"),
    ];
    let by_name = format!("mod {module};");
    parents.iter().filter_map(|parent| tree.text(parent)).any(|text| text.contains(&by_name))
        || beside(tree, above).any(|text| text.text.contains(&by_name))
        || tree.ending(".rs").any(|file| includes(file, path))
}

/// The roots of tests and examples in a folder: their modules lie beside them.
fn beside<'a>(tree: &'a Tree, folder: &'a str) -> impl Iterator<Item = &'a Text> {
    tree.ending(".rs")
        .filter(move |file| split(&file.path).0 == folder && is_root(tree, &file.path))
}

/// Whether `file` has a module of which it gives the path.
fn includes(file: &Text, path: &str) -> bool {
    let above = split(&file.path).0;
    let paths = file
        .text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
    paths.into_iter().any(|named| resolve(above, named).as_deref() == Some(path))
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    const HOUSE: &[(&str, &str)] = &[
        ("crates/a/Cargo.toml", "[[test]]\nname = \"whole\"\npath = \"../../tests/whole.rs\"\n"),
        ("crates/a/src/lib.rs", "mod door;\npub mod room;\n"),
        ("crates/a/src/door.rs", "mod handle;\n"),
        ("crates/a/src/door/handle.rs", ""),
        ("crates/a/src/room/mod.rs", "#[path = \"../shared/lamp.rs\"]\nmod lamp;\n"),
        ("crates/a/src/shared/lamp.rs", ""),
        ("crates/a/tests/own.rs", ""),
        ("crates/a/tests/large/main.rs", ""),
        ("tests/whole.rs", "mod common;\n"),
        ("tests/common/mod.rs", ""),
    ];

    #[test]
    fn what_is_declared_is_found() {
        assert_eq!(check(&Tree::of(HOUSE)), []);
    }

    #[test]
    fn modules_and_tests_that_nobody_declares_are_told() {
        for orphan in [
            "crates/a/src/old.rs",
            "crates/a/src/room/old.rs",
            "crates/a/src/old/mod.rs",
            "tests/old.rs",
        ] {
            let tree = Tree::of(&[HOUSE, &[(orphan, "")]].concat());
            let findings = check(&tree);
            assert_eq!(findings.len(), 1, "{orphan}: {findings:?}");
            assert!(findings[0].to_string().starts_with(orphan));
        }
    }

    #[test]
    fn this_house_has_none() {
        assert_eq!(check(&Tree::load(&shell::root()).expect("a checkout")), []);
    }
}
