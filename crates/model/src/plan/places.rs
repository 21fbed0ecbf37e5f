//! Where a host's files are, which follows from its targets alone: a plan that names any other
//! place is refused.
//!
//! A plan may come from a run file of anybody. So no path in it is ever opened as it stands: a root
//! is the target that the user named or a folder of ours in it or beside it, and a file or a tree
//! is a name of ours in a root.

use super::names::{data_file_name, tree_name};
use super::{HostPlan, PlannedTarget, Target};
use crate::metadata::Tree;
use crate::testbed::{DATA_DIR, host_suffix, scenario_suffix};
use std::fmt;

/// A path of a plan that does not follow from its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The path.
    pub path: String,
    /// The target that it is to belong to, as the user named it; empty where the plan has no such
    /// target.
    pub target: String,
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plan names {:?}, which is no place of target {:?}", self.path, self.target)
    }
}

impl std::error::Error for Misplaced {}

/// The numbers of the host and of the scenario's layout whose folder has a name that ends so,
/// behind the target's: `-h0003`, `-s0001` or both. `None` for any other ending.
pub fn own_folder(suffix: &str) -> Option<(Option<u32>, Option<u32>)> {
    let number = |text: &str| text.parse().ok();
    let (of_host, of_scenario) = match suffix.strip_prefix("-h") {
        Some(rest) => rest
            .split_once("-s")
            .map_or((Some(rest), None), |(host, part)| (Some(host), Some(part))),
        None => (None, Some(suffix.strip_prefix("-s")?)),
    };
    let found = (of_host.and_then(number), of_scenario.and_then(number));
    let written = |(host, part): (Option<u32>, Option<u32>)| {
        host.map_or_else(String::new, host_suffix) + &part.map_or_else(String::new, scenario_suffix)
    };
    (written(found) == suffix).then_some(found)
}

/// Whether our files may be in the directory `root` for `target`, as the user named it: there, in
/// our folder in it, or in one for a host or a scenario beside either of them.
pub fn is_root_of(root: &str, target: &str) -> bool {
    let ends_well = |suffix: &str| suffix.is_empty() || own_folder(suffix).is_some();
    let follows = |target: &str| {
        let Some(rest) = root.strip_prefix(target) else { return false };
        // A target that ends in a slash has no second one before our folder.
        let inner = rest.strip_prefix('/').or_else(|| target.ends_with('/').then_some(rest));
        ends_well(rest)
            || inner.and_then(|inner| inner.strip_prefix(DATA_DIR)).is_some_and(ends_well)
    };
    follows(target) || follows(without_slash(target))
}

/// A path without the slashes at its end; `/` stays.
pub fn without_slash(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { path } else { trimmed }
}

impl Target {
    /// The directory of its files, by its name in the plan; `None` where it has none: a device, a
    /// file that is only read, a simulated target.
    pub fn root(&self) -> Option<&str> {
        match &self.kind {
            PlannedTarget::Directory { root } => Some(root),
            PlannedTarget::Joined => {
                self.files.first().and_then(|file| Some(file.path.rsplit_once('/')?.0))
            }
            PlannedTarget::ReadOnly | PlannedTarget::Device | PlannedTarget::Simulated => None,
        }
    }

    /// The first path in it that does not follow from its name.
    fn misplaced(&self) -> Option<Misplaced> {
        let misplaced = |path: &str| Misplaced { path: path.to_owned(), target: self.path.clone() };
        let is_in_place = |number: u32, path: &str| match (&self.kind, self.root()) {
            (_, Some(root)) => is_named(path, root, &data_file_name(number)),
            (PlannedTarget::Simulated, None) => path.starts_with(&self.path),
            // A simulated target is not opened by a run that sends nothing.
            (PlannedTarget::ReadOnly, None) if self.path.starts_with("sim:") => {
                path.starts_with(&self.path)
            }
            (_, None) => path == self.path,
        };
        let root = self.root().filter(|root| self.path.is_empty() || !is_root_of(root, &self.path));
        let file =
            || (0..).zip(&self.files).find(|(number, file)| !is_in_place(*number, &file.path));
        root.or_else(|| file().map(|(_, file)| file.path.as_str())).map(misplaced)
    }
}

/// Whether `path` is `name` in `root`.
fn is_named(path: &str, root: &str, name: &str) -> bool {
    path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) == Some(name)
}

impl Tree {
    /// The directory that it is in, and its name there; `None` if that is no name of ours.
    pub fn place(&self) -> Option<(&str, &str)> {
        let (root, name) = self.path.rsplit_once('/')?;
        let number = name.strip_prefix("tree-")?.parse().ok()?;
        (tree_name(number) == name).then_some((root, name))
    }
}

impl HostPlan {
    /// The first path of the plan that does not follow from the names of its targets; `None` where
    /// all do. What passes here may be opened, as far as its user may touch the targets.
    pub fn misplaced(&self) -> Option<Misplaced> {
        let in_targets = self.targets.iter().find_map(Target::misplaced);
        in_targets.or_else(|| self.trees.iter().find_map(|tree| self.misplaced_tree(tree)))
    }

    fn misplaced_tree(&self, tree: &Tree) -> Option<Misplaced> {
        let target = self.targets.get(tree.target as usize);
        let is_well = |target: &Target| {
            let may = match &target.kind {
                PlannedTarget::Directory { root } => {
                    tree.joined || tree.place().is_some_and(|(own, _)| own == root)
                }
                PlannedTarget::Joined => tree.joined,
                PlannedTarget::Simulated => true,
                PlannedTarget::ReadOnly | PlannedTarget::Device => false,
            };
            may && tree.place().is_some_and(|(root, _)| is_root_of(root, &target.path))
        };
        let path = target.map_or("", |target| &target.path);
        (!target.is_some_and(is_well))
            .then(|| Misplaced { path: tree.path.clone(), target: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Backend;
    use crate::plan::{EngineSettings, TargetFile};
    use crate::units::{Bytes, Nanos};

    #[test]
    fn a_root_is_the_target_or_a_folder_of_ours_in_it_or_beside_it() {
        for root in
            ["", "-h0003", "-s0001", "-h0003-s0001", "/plimsoll-data", "/plimsoll-data-h0003-s0012"]
        {
            assert!(is_root_of(&format!("/mnt/x{root}"), "/mnt/x"), "{root}");
        }
        assert!(
            is_root_of("/mnt/x/plimsoll-data", "/mnt/x/")
                && is_root_of("/plimsoll-data-h0000", "/")
        );
        assert!(is_root_of("/mnt/x-h0001", "/mnt/x/") && is_root_of("x-s0001", "x"));
        for root in [
            "/", "/y", "-h3", "-hosts", "/../etc", "/plimsoll-data/..", "-h0003/../../etc",
            "/plimsoll-datax",
        ] {
            assert!(!is_root_of(&format!("/mnt/x{root}"), "/mnt/x"), "{root}");
        }
        assert!(!is_root_of("/etc", "/") && !is_root_of("/mnt/y", "/mnt/x"));
    }

    fn plan(path: &str, kind: PlannedTarget, files: &[&str]) -> HostPlan {
        let file = |path: &&str| TargetFile { path: (*path).to_owned(), size: Bytes(4096) };
        let target =
            Target { path: path.to_owned(), kind, files: files.iter().map(file).collect() };
        let engine = EngineSettings::simple(Backend::Sync);
        HostPlan { targets: vec![target], ..HostPlan::empty("r", Nanos::seconds(1), engine) }
    }

    fn in_root(root: &str) -> PlannedTarget {
        PlannedTarget::Directory { root: root.to_owned() }
    }

    #[test]
    fn every_path_that_does_not_follow_from_its_target_is_found() {
        let good = [
            plan(
                "/t",
                in_root("/t-h0001"),
                &["/t-h0001/data-00000.bin", "/t-h0001/data-00001.bin"],
            ),
            plan("/t", PlannedTarget::Joined, &["/t-h0002/data-00000.bin"]),
            plan("/t", PlannedTarget::Joined, &[]),
            plan("/dev/x", PlannedTarget::Device, &["/dev/x"]),
            plan("/f", PlannedTarget::ReadOnly, &["/f", "/f"]),
            plan("sim:cluster=a", PlannedTarget::Simulated, &["sim:cluster=a,file=shared"]),
            plan("sim:cluster=a", PlannedTarget::ReadOnly, &["sim:cluster=a,file=shared"]),
        ];
        for plan in good {
            assert_eq!(plan.misplaced(), None);
        }
        let bad = [
            plan("/t", in_root("/etc"), &[]),
            plan("", in_root("/etc"), &["/etc/data-00000.bin"]),
            plan("/t", in_root("/t"), &["/etc/passwd"]),
            plan("/t", in_root("/t"), &["/t/data-00001.bin"]),
            plan("/t", in_root("/t"), &["/t/../etc/data-00000.bin"]),
            plan("/t", in_root("/t"), &["/t/data-00000.bin", "/t/data-00000.bin"]),
            plan("/t", PlannedTarget::Joined, &["/dev/sda"]),
            plan("/t", PlannedTarget::Joined, &["/t/data-00000.bin", "/u/data-00001.bin"]),
            plan("/dev/x", PlannedTarget::Device, &["/dev/sda"]),
            plan("/f", PlannedTarget::ReadOnly, &["/etc/shadow"]),
            plan("sim:ssd", PlannedTarget::Simulated, &["/etc/shadow"]),
        ];
        for plan in bad {
            assert!(plan.misplaced().is_some(), "{:?}", plan.targets);
        }
    }

    #[test]
    fn a_tree_stands_in_the_root_of_its_target() {
        let tree = |path: &str, target: u32, joined: bool| Tree {
            target,
            path: path.to_owned(),
            files: 1,
            fan_out: 1,
            per_directory: 1,
            joined,
            ..Tree::default()
        };
        let is_well = |tree: Tree| {
            HostPlan { trees: vec![tree], ..plan("/t", in_root("/t"), &[]) }.misplaced().is_none()
        };
        assert!(
            is_well(tree("/t/tree-00000", 0, false))
                && is_well(tree("/t-h0002/tree-00007", 0, true))
        );
        for (path, target, joined) in [
            ("/t-h0002/tree-00000", 0, false),
            ("/t/tree-0", 0, false),
            ("/t/home", 0, false),
            ("/t-h0002/../tree-00000", 0, true),
            ("/u/tree-00000", 0, true),
            ("/t/tree-00000", 7, true),
        ] {
            assert!(!is_well(tree(path, target, joined)), "{path}");
        }
    }
}
