//! `cargo xtask docs`: the pages that are generated from the code.

use crate::shell::{self, Outcome};

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
        let file = shell::root().join(path);
        if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
            println!("unchanged {path}");
            continue;
        }
        std::fs::write(&file, text)
            .map_err(|error| format!("{path} cannot be written: {error}"))?;
        println!("written   {path}");
    }
    Ok(())
}
