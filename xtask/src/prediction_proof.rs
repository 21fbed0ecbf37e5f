//! `cargo xtask prediction-proof`: how far predictions hold on simulated clusters.

use crate::shell::{self, Outcome};

const PAGE: &str = "docs/method/prediction.md";
const BEGIN: &str = "<!-- prediction-proof: begin -->\n";
const END: &str = "<!-- prediction-proof: end -->";

/// Random cases and clusters with hidden parameters; `--write` keeps the tables in the method.
///
/// # Errors
/// The arguments are wrong, or a program fails.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let write = arguments.iter().any(|word| word == "--write");
    let mut example = shell::cargo();
    // Half an hour of arithmetic without it would be two.
    example.args(["run", "--release", "--quiet", "--locked", "--package", "twin"]);
    example.args(["--example", "prediction-proof", "--"]);
    example.args(arguments.iter().filter(|word| *word != "--write"));
    let tables = shell::capture(&mut example)?;
    print!("{tables}");
    if write {
        let path = shell::root().join(PAGE);
        let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
        let new = replaced(&page, &tables).ok_or(format!("{PAGE} has no place for the tables"))?;
        std::fs::write(&path, new).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    Ok(())
}

/// The page with these tables between its marks.
fn replaced(page: &str, tables: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{tables}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_between_the_marks() {
        let page = format!("a\n{BEGIN}old\n{END}\nb\n");
        let new = replaced(&page, "| new |").expect("marks");
        assert_eq!(new, format!("a\n{BEGIN}\n| new |\n{END}\nb\n"));
        assert_eq!(replaced("no marks", "x"), None);
    }
}
