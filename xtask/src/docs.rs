//! `cargo xtask docs`: the pages that are generated from the code.

use crate::kept;
use crate::shell::Outcome;

/// The generated pages: path from the root, and text. `cargo xtask tidy` compares them with what is
/// there.
pub fn pages() -> Vec<(&'static str, String)> {
    let mut pages = vec![
        ("docs/reference/suite.md", suite::reference()),
        ("docs/method/doubts.md", catalogue::ways::page()),
        ("docs/method/targets.md", catalogue::targets::page()),
        ("docs/reference/testbed.md", catalogue::cluster::reference()),
    ];
    pages.extend(dialects::pages());
    pages
}

/// Writes every generated page that differs.
pub fn run() -> Outcome<()> {
    write(pages())
}

/// Writes the pages that differ from what is there.
///
/// # Errors
/// One cannot be written.
pub fn write(pages: Vec<(&str, String)>) -> Outcome<()> {
    for (path, text) in pages {
        if kept::read(path).is_ok_and(|old| old == text) {
            println!("unchanged {path}");
            continue;
        }
        kept::write(path, &text)?;
    }
    Ok(())
}
