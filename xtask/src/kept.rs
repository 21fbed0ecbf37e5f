//! What a chore keeps in a page: text between two marks, where it will be written again.

use crate::shell::{self, Outcome};

const END: &str = "<!-- end -->";

/// The text of a page of the workspace.
///
/// # Errors
/// It cannot be read.
pub fn read(page: &str) -> Outcome<String> {
    std::fs::read_to_string(shell::root().join(page)).map_err(|error| format!("{page}: {error}"))
}

/// Gives a page of the workspace another text.
///
/// # Errors
/// It cannot be written.
pub fn write(page: &str, text: &str) -> Outcome<()> {
    std::fs::write(shell::root().join(page), text).map_err(|error| format!("{page}: {error}"))?;
    println!("written   {page}");
    Ok(())
}

/// Puts `text` into `page`, between the marks of `cargo xtask CHORE --write`.
///
/// # Errors
/// The page cannot be read or written, or has lost its marks.
pub fn put(page: &str, chore: &str, text: &str) -> Outcome<()> {
    let new = with(&read(page)?, chore, text);
    write(page, &new.map_err(|mark| format!("{page} has lost the mark `{mark}` of {chore}"))?)
}

/// The page with another text of a chore, or the mark that it has lost.
fn with(page: &str, chore: &str, text: &str) -> Outcome<String> {
    let begin = format!("<!-- written by `cargo xtask {chore} --write`: begin -->");
    let (before, rest) = page.split_once(&begin).ok_or(&begin)?;
    let (_, after) = rest.split_once(END).ok_or(END)?;
    Ok(format!("{before}{begin}\n\n{text}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_marks_and_only_what_stands_between_them_changes() {
        for (page, chore) in [
            ("docs/benchmarks.md", "bench"),
            ("docs/benchmarks.md", "soak --scale"),
            ("docs/fleets.md", "mutants --fleet"),
            ("docs/method/gate.md", "gate-proof"),
            ("docs/method/prediction.md", "prediction-proof"),
        ] {
            let text = read(page).expect("the page");
            let changed = with(&text, chore, "other").expect("its marks");
            assert_eq!(changed.matches(END).count(), text.matches(END).count());
            let (before, after) =
                changed.split_once(" --write`: begin -->\n\nother\n").expect("the text");
            assert!(text.starts_with(before) && text.ends_with(after), "{page} {chore}");
            let lost = with(&text, "nothing", "other").expect_err("no marks");
            assert!(lost.contains("xtask nothing --write"), "{lost}");
        }
    }
}
