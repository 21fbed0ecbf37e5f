//! One version in all places that name it: a package would otherwise be called by another one than
//! its citation and its chart.

use crate::kept;
use crate::shell::Outcome;

/// Where the version stands beside `Cargo.toml`, and the line that says it.
const PLACES: [(&str, &str); 4] = [
    ("CITATION.cff", "version: {}"),
    ("deploy/helm/plimsoll/Chart.yaml", "version: {}"),
    ("deploy/helm/plimsoll/Chart.yaml", "appVersion: \"{}\""),
    ("CHANGELOG.md", "## {}"),
];

/// Refuses a release whose places do not agree.
///
/// # Errors
/// A place names another version, or cannot be read.
pub fn agree(version: &str) -> Outcome<()> {
    for (place, line) in PLACES {
        let text = kept::read(place)?;
        if !says(&text, line, version) {
            let wanted = line.replace("{}", version);
            return Err(format!("{place} has no line `{wanted}`, the version of Cargo.toml"));
        }
    }
    Ok(())
}

/// A changelog may say behind `##` that the version is not out yet, and behind it when it was.
fn says(text: &str, line: &str, version: &str) -> bool {
    let wanted = line.replace("{}", version);
    text.lines().any(|found| {
        found == wanted
            || found.strip_prefix("## ").is_some_and(|head| {
                line.starts_with("## ") && head.split([' ', ':', ',']).any(|word| word == version)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tree_agrees_with_itself_and_no_other_version_does() {
        assert_eq!(agree(env!("CARGO_PKG_VERSION")), Ok(()));
        let refused = agree("999.0.0").expect_err("another version");
        assert!(refused.contains("CITATION.cff has no line `version: 999.0.0`"), "{refused}");
    }

    #[test]
    fn a_line_says_a_version_whole() {
        assert!(says("## Unreleased: 0.1.0\n", "## {}", "0.1.0"));
        assert!(says("## 0.1.0, 2026-11-23\n", "## {}", "0.1.0"));
        assert!(!says("## 10.1.0\n", "## {}", "0.1.0"));
        assert!(!says("version: 0.1.01\n", "version: {}", "0.1.0"));
        assert!(!says("## version: 0.1.0\n", "version: {}", "0.1.0"));
    }
}
