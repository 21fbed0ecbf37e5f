//! The built-in suites are good suites, and the reference testbeds good testbeds.

use super::Finding;
use super::tree::{Text, Tree};
use catalogue::{Cluster, SpecErrors};
use suite::Spec;

/// Every mistake in `suites/*.toml` and `reference/testbeds/*.toml`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let errors = |file: &Text| -> Option<SpecErrors> {
        if file.path.starts_with("suites/") {
            Spec::parse(&file.path, &file.text, &[]).err()
        } else if file.path.starts_with("reference/testbeds/") {
            Cluster::parse(&file.path, &file.text, &[]).err()
        } else {
            None
        }
    };
    tree.ending(".toml")
        .filter_map(errors)
        .flat_map(|errors| {
            let findings = errors.problems.iter().map(|problem| {
                let place = errors.sources.place(&problem.span);
                let (line, column) = place.line_and_column();
                let what = format!("{}: {}", problem.message, problem.remedy);
                Finding::new(format_args!("{}:{line}:{column}", place.name), what, "mend the file")
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
        let testbed = "name = \"t\"\n[[nodes]]\ncount = 2\n[protection]\ncopies = 3\n";
        let tree = Tree::of(&[
            ("suites/good.toml", good),
            ("suites/bad.toml", bad),
            ("fixtures/bad.toml", bad),
            ("reference/testbeds/bad.toml", testbed),
        ]);
        let places: Vec<String> = check(&tree).into_iter().map(|finding| finding.place).collect();
        assert_eq!(
            places,
            ["suites/bad.toml:4:1", "suites/bad.toml:5:8", "reference/testbeds/bad.toml:5:10"]
        );
    }
}
