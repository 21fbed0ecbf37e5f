//! The built-in suites are good suites.

use super::Finding;
use super::tree::Tree;
use model::Spec;

/// Every mistake in `suites/*.toml`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let suites = tree.ending(".toml").filter(|file| file.path.starts_with("suites/"));
    suites
        .filter_map(|file| Spec::parse(&file.path, &file.text, &[]).err())
        .flat_map(|errors| {
            let findings = errors.problems.iter().map(|problem| {
                let place = errors.sources.place(&problem.span);
                let (line, column) = place.line_and_column();
                let what = format!("{}: {}", problem.message, problem.remedy);
                Finding::new(format_args!("{}:{line}:{column}", place.name), what, "mend the suite")
            });
            findings.collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_suites_pass_and_every_mistake_of_a_bad_one_is_found() {
        let good = "name = \"good\"\n[[workload]]\nname = \"a\"\n";
        let bad = "name = \"bad\"\n[[workload]]\nname = \"a\"\ndept = 3\nread = \"many\"\n";
        let tree = Tree::of(&[("suites/good.toml", good), ("suites/bad.toml", bad), ("fixtures/bad.toml", bad)]);
        let places: Vec<String> = check(&tree).into_iter().map(|finding| finding.place).collect();
        assert_eq!(places, ["suites/bad.toml:4:1", "suites/bad.toml:5:8"]);
    }
}
