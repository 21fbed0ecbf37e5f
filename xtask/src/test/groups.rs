//! Groups of whole-program tests that the usual check leaves out but for a smoke test, from
//! `xtask/checks.toml`.

use crate::kept;
use crate::scope::Scope;
use crate::shell::Outcome;
use toml::{Table, Value};

/// Where they stand, from the root of the workspace.
const FILE: &str = "xtask/checks.toml";

/// Tests that take their turns, and for longest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What the names of its tests begin with.
    pub tests: String,
    /// Those that always run, by their whole names.
    smoke: Vec<String>,
    /// What they test: a change there runs them all.
    files: Vec<String>,
    /// Why they are left out.
    why: String,
}

impl Group {
    /// What runs of it, as arguments of the program of tests, without those of other groups
    /// `of_all` that are a part of it. Empty: nothing.
    pub fn which(&self, scope: &Scope, of_all: &[Group]) -> Vec<String> {
        if scope.touches(&self.files) {
            let inner = of_all.iter().filter(|other| *other != self);
            let inner = inner.filter(|other| other.tests.starts_with(&self.tests));
            let skipped = inner.flat_map(|other| ["--skip".to_owned(), other.tests.clone()]);
            return [self.tests.clone()].into_iter().chain(skipped).collect();
        }
        let exact = (!self.smoke.is_empty()).then(|| "--exact".to_owned());
        exact.into_iter().chain(self.smoke.iter().cloned()).collect()
    }

    /// The line that says what is left out, if anything is.
    pub fn left_out(&self, scope: &Scope) -> Option<String> {
        let Group { name, tests, smoke, why, .. } = self;
        (!scope.touches(&self.files)).then(|| {
            format!(
                "LEFT OUT: {name} (`{tests}`: {why}) but for {}; \
                 `cargo xtask test --all` runs them",
                if smoke.is_empty() { "nothing".to_owned() } else { smoke.join(", ") }
            )
        })
    }
}

/// All groups.
///
/// # Errors
/// The file cannot be read, or is no list of groups.
pub fn read() -> Outcome<Vec<Group>> {
    of(&kept::read(FILE)?)
}

fn of(text: &str) -> Outcome<Vec<Group>> {
    let table: Table = text.parse().map_err(|error| format!("{FILE}: {error}"))?;
    let groups = table.get("group").and_then(Value::as_array);
    groups.into_iter().flatten().map(group).collect()
}

fn group(value: &Value) -> Outcome<Group> {
    let missing = |key: &str| format!("{FILE}: a group without `{key}`");
    let text = |key: &str| {
        value.get(key).and_then(Value::as_str).ok_or_else(|| missing(key)).map(String::from)
    };
    let list = |key: &str| -> Outcome<Vec<String>> {
        let texts = value.get(key).and_then(Value::as_array).ok_or_else(|| missing(key))?;
        Ok(texts.iter().filter_map(Value::as_str).map(String::from).collect())
    };
    Ok(Group {
        name: text("name")?,
        tests: text("tests")?,
        smoke: list("smoke")?,
        files: list("files")?,
        why: text("why")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    const TEXT: &str = "[[group]]\nname = \"m\"\ntests = \"vms::\"\nsmoke = [\"vms::a\"]\n\
                        files = [\"tests/vms/\"]\nwhy = \"slow\"\n";

    #[test]
    fn a_group_runs_whole_where_what_it_tests_changed() {
        let groups = of(TEXT).expect("a group");
        let here = Scope::Changed(["tests/vms/acts.rs".to_owned()].into());
        let elsewhere = Scope::Changed(["tests/fleet.rs".to_owned()].into());
        for scope in [Scope::All, here] {
            assert_eq!(
                (groups[0].which(&scope, &groups), groups[0].left_out(&scope)),
                (vec!["vms::".into()], None)
            );
        }
        assert_eq!(groups[0].which(&elsewhere, &groups), ["--exact", "vms::a"]);
        let inner = Group { tests: "vms::b::".into(), smoke: Vec::new(), ..groups[0].clone() };
        let both = [groups[0].clone(), inner.clone()];
        assert_eq!(both[0].which(&Scope::All, &both), ["vms::", "--skip", "vms::b::"]);
        assert_eq!(inner.which(&elsewhere, &both), [""; 0]);
        let line = groups[0].left_out(&elsewhere).expect("a line");
        assert!(line.starts_with("LEFT OUT: m ") && line.contains("vms::a"), "{line}");
        assert!(of("[[group]]\nname = \"m\"\n").is_err_and(|why| why.contains("`tests`")));
    }

    #[test]
    fn every_smoke_test_is_one_of_its_group_and_every_file_is_there() {
        for group in read().expect("the file of the workspace") {
            assert!(group.smoke.iter().all(|name| name.starts_with(&group.tests)));
            for file in &group.files {
                assert!(shell::root().join(file).exists(), "{}: {file} is not there", group.name);
            }
        }
    }
}
