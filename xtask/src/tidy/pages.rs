//! Rules about documents and text in general.

use super::Finding;
use super::tree::{Text, Tree, resolve};

/// Generated pages say what the code says.
pub fn generated(tree: &Tree, pages: &[(&str, String)]) -> Vec<Finding> {
    let stale = pages.iter().filter(|(path, text)| tree.text(path) != Some(text));
    stale
        .map(|(path, _)| {
            Finding::new(path, "differs from the types that it describes", "run `cargo xtask docs`")
        })
        .collect()
}

/// Relative links lead somewhere, and those to a heading find it.
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in tree.ending(".md") {
        for (line, target) in link_targets(&page.text) {
            let Some(path) = relative_path(&target) else { continue };
            let there = from(page, &path);
            if !there.as_ref().is_some_and(|there| tree.has(there)) {
                let what = format!("links to `{target}`, which is not there");
                let remedy = "mend the link, or add the file to git";
                findings.push(Finding::at(&page.path, line, what, remedy));
            }
        }
        findings.extend(dead_anchors(tree, page));
    }
    findings
}

/// `path` as seen from `page`.
fn from(page: &Text, path: &str) -> Option<String> {
    resolve(page.path.rsplit_once('/').map_or("", |(folder, _)| folder), path)
}

/// Links of a page to headings that are not there, on itself or another page.
fn dead_anchors(tree: &Tree, page: &Text) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, target) in link_targets(&page.text) {
        let Some((path, anchor)) = target.split_once('#') else { continue };
        let there = match path {
            "" => Some(page.path.clone()),
            path => relative_path(path).and_then(|path| from(page, &path)),
        };
        let Some(text) = there.filter(|path| path.ends_with(".md")).and_then(|p| tree.text(&p))
        else {
            continue;
        };
        if !anchors(text).iter().any(|known| known == anchor) {
            let what = format!("links to `{target}`, a heading that is not there");
            findings.push(Finding::at(&page.path, line, what, "name a heading of that page"));
        }
    }
    findings
}

/// What links call the headings of a page, as GitHub and mdBook name them.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.trim_start_matches('#');
        if fenced || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        let name: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        let name = name.replace(' ', "-");
        let before = anchors.iter().filter(|known| **known == name).count();
        anchors.push(if before == 0 { name } else { format!("{name}-{before}") });
    }
    anchors
}

/// The targets of a page's links outside code, with their 1-based lines.
fn link_targets(page: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    let mut fenced = false;
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let line = without_code(line);
        for (at, _) in line.match_indices("](") {
            let inside = &line[at + 2..];
            if let Some(end) = inside.find(')') {
                targets.push((index + 1, inside[..end].to_owned()));
            }
        }
        // `[name]: target`, the definition of a link by reference.
        if let Some((name, target)) = line.split_once("]: ")
            && name.starts_with('[')
            && !name.starts_with("[^")
        {
            targets.push((index + 1, target.to_owned()));
        }
    }
    targets
}

/// `line` without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').enumerate().filter(|(index, _)| index % 2 == 0).map(|(_, part)| part).collect()
}

/// The path that a link's target names; `None` for other hosts and places on the same page.
fn relative_path(target: &str) -> Option<String> {
    let target = target.trim();
    let target = match target.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((inside, _)) => inside,
        // Behind a space stands a title.
        None => target.split_whitespace().next()?,
    };
    let path = target.split(['#', '?']).next()?;
    let foreign = target.contains("://") || target.starts_with("mailto:") || path.is_empty();
    (!foreign).then(|| path.replace("%20", " "))
}

/// Places that exist on one machine only.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/Us", "ers/"), concat!("/tmp/", "t-")];

/// No text tells where it was written.
pub fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let remedy = "write a path from the root of the workspace, or a name such as DIR";
    let in_file = |file: &Text| {
        let found = |(line, text): (usize, &str)| {
            let what = format!("has the absolute path `{}…`", machine_path(text)?);
            Some(Finding::at(&file.path, line, what, remedy))
        };
        (1..).zip(file.text.lines()).filter_map(found).collect::<Vec<_>>()
    };
    tree.texts.iter().flat_map(in_file).collect()
}

fn machine_path(line: &str) -> Option<&'static str> {
    // Behind a name or a bracket it is part of a longer path, such as `$DIR/…` or an address.
    let continues = |c: char| c.is_alphanumeric() || "._-~})>*".contains(c);
    MACHINE_PATHS.iter().copied().find(|path| {
        line.match_indices(path)
            .any(|(at, _)| !line[..at].chars().next_back().is_some_and(continues))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_or_missing_page_is_found() {
        let tree = Tree::of(&[("a.md", "new"), ("b.md", "old")]);
        let page = |path| (path, "new".to_owned());
        let found = generated(&tree, &[page("a.md"), page("b.md"), page("c.md")]);
        let places: Vec<String> = found.into_iter().map(|finding| finding.place).collect();
        assert_eq!(places, ["b.md", "c.md"]);
    }

    #[test]
    fn dead_links_are_found_and_others_let_be() {
        let page = "[a](METHOD.md) [b](../README.md#top) [c](/Cargo.toml \"title\") \
                    ![d](<my file.png>)\n\
                    [e](https://example.org/x.md) [f](#here) [g](mailto:a@b) `[h](code.md)`\n\
                    ```\n[i](fenced.md)\n```\n[j](gone.md) [k](../../out.md)\n\
                    [l]: decisions/\n[m]: dead.md\n[^1]: a note\n## Here\n";
        let tree = Tree::of(&[
            ("docs/page.md", page),
            ("docs/METHOD.md", ""),
            ("docs/my file.png", ""),
            ("docs/decisions/x.md", ""),
            ("README.md", "# Top"),
            ("Cargo.toml", ""),
        ]);
        let found: Vec<String> = links(&tree)
            .iter()
            .map(|finding| format!("{} {}", finding.place, finding.what))
            .collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("docs/page.md:6 links to `gone.md`"));
        assert!(found[1].contains("out.md") && found[2].starts_with("docs/page.md:8"));
    }

    #[test]
    fn links_to_headings_that_are_not_there_are_found() {
        let page = "# A `Big` head, here\n[a](#a-big-head-here) [b](#b) [c](other.md#x)\n\
                    [d](other.md#y) [e](https://example.org/x.md#z) [f](code.rs#L1)\n";
        let tree =
            Tree::of(&[("page.md", page), ("other.md", "## X\n```\n# y\n```\n"), ("code.rs", "")]);
        let found: Vec<String> = links(&tree).iter().map(|finding| finding.what.clone()).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`#b`") && found[1].contains("`other.md#y`"));
    }

    #[test]
    fn absolute_paths_of_a_machine_are_found() {
        let home = format!("{}{}me", "/ho", "me/");
        let text = format!("in {home}\nhttps://example.org{home}\n$DIR{home}\n");
        let tree = Tree::of(&[("a.md", &text)]);
        let found: Vec<String> =
            machine_paths(&tree).into_iter().map(|finding| finding.place).collect();
        assert_eq!(found, ["a.md:1"]);
    }
}
