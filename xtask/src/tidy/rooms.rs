//! The page of each room: its duty, and what to open to change a thing. A page that names a file
//! which is not there sends its reader into a wall.

use super::Finding;
use super::tree::{Text, Tree};

/// Every crate has its page, `ARCHITECTURE.md` leads to it, and its files are there.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let map = tree.text("ARCHITECTURE.md").unwrap_or_default();
    let mut findings = Vec::new();
    for manifest in tree.ending("/Cargo.toml") {
        let Some(room) = manifest.path.strip_suffix("/Cargo.toml") else { continue };
        if !room.starts_with("crates/") {
            continue;
        }
        let page = format!("{room}/README.md");
        if !map.contains(&format!("]({page})")) {
            let what = format!("does not lead to {page}");
            findings.push(Finding::new("ARCHITECTURE.md", what, "link the room's page"));
        }
        match tree.texts.iter().find(|text| text.path == page) {
            Some(page) => findings.extend(missing(tree, room, page)),
            None => findings.push(Finding::new(page, "is missing", "say what the room is for")),
        }
    }
    findings
}

/// Names of files and folders on a room's page that are not there.
fn missing(tree: &Tree, room: &str, page: &Text) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in page.text.lines().enumerate() {
        let names = line.split('`').skip(1).step_by(2);
        for name in names.filter(|name| name.ends_with('/') || name.ends_with(".rs")) {
            let is_there = |path: String| match path.ends_with('/') {
                true => tree.paths.iter().any(|known| known.starts_with(&path)),
                false => tree.has(&path),
            };
            let places = [format!("{room}/src/{name}"), format!("crates/{name}"), name.to_owned()];
            if !places.into_iter().any(is_there) {
                let what = format!("names `{name}`, which is not there");
                findings.push(Finding::at(&page.path, number + 1, what, "name its new place"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_without_a_page_and_a_page_with_a_dead_name_are_found() {
        let tree = |page: &str, map: &str| {
            Tree::of(&[
                ("ARCHITECTURE.md", map),
                ("crates/a/Cargo.toml", ""),
                ("crates/a/src/lib.rs", ""),
                ("crates/a/src/b/c.rs", ""),
                ("crates/a/README.md", page),
            ])
        };
        let good = tree("`lib.rs`, `b/`, `a/src/b/c.rs`, `word`", "[a](crates/a/README.md)");
        assert_eq!(check(&good), []);
        let bad = check(&tree("\n`gone.rs`", ""));
        let places: Vec<&str> = bad.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["ARCHITECTURE.md", "crates/a/README.md:2"]);
        let none =
            Tree::of(&[("ARCHITECTURE.md", "](crates/a/README.md)"), ("crates/a/Cargo.toml", "")]);
        assert_eq!(check(&none).len(), 1);
    }
}
