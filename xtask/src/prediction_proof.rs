//! `cargo xtask prediction-proof`: how far predictions hold on simulated clusters.

use crate::kept;
use crate::shell::{self, Outcome};

/// Random cases and clusters with hidden parameters; `--write` keeps the tables in the method.
///
/// # Errors
/// The arguments are wrong, or a program fails.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let mut example = shell::cargo();
    // Half an hour of arithmetic without it would be two.
    example.args(["run", "--release", "--quiet", "--locked", "--package", "twin"]);
    example.args(["--example", "prediction-proof", "--"]);
    example.args(arguments.iter().filter(|word| *word != "--write"));
    let tables = shell::capture(&mut example)?;
    print!("{tables}");
    if arguments.iter().any(|word| word == "--write") {
        kept::put("docs/method/prediction.md", "prediction-proof", &tables)?;
    }
    Ok(())
}
