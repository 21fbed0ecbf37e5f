//! What an agent's operator allows it to touch. An agent is started by whoever may log in; what it may overwrite is a narrower question.

use model::metadata::Tree;
use model::plan::{HostPlan, PlannedTarget, Target};
use model::testbed::{host_suffix, scenario_suffix};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The file in which a host's operator says what agents may touch there, one path a line. Where it is missing, the start command alone counts.
pub const ALLOW_FILE: &str = "/etc/plimsoll/allow";

/// Longer than any list that a person keeps.
const LONGEST_LIST: u64 = 1 << 20;

/// Which paths may be touched: those below a path of every list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    lists: Vec<Allowed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Allowed {
    paths: Vec<Place>,
    by: String,
}

/// A path that is allowed, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// Found out when it is first asked, because that may hang; and then it stays, so that no link is turned to another place later.
    real: Arc<OnceLock<PathBuf>>,
    follows: bool,
}

impl Place {
    fn of(path: PathBuf, follows: bool) -> Place {
        Place { path, real: Arc::default(), follows }
    }

    /// Whether it holds `path`, which leads to `real_path`.
    fn holds(&self, real_path: &Path) -> bool {
        real_path.starts_with(if self.follows { self.real.get_or_init(|| real(&self.path)) } else { &self.path })
    }
}

impl Allowed {
    /// Whether one of the paths holds `path`, which leads to `real`. One that holds it by its name is asked first: whether it does must not hang on
    /// another path that is allowed and does not answer.
    fn holds(&self, path: &Path, real: &Path) -> bool {
        let (by_name, others): (Vec<&Place>, Vec<&Place>) =
            self.paths.iter().partition(|place| path.starts_with(&place.path));
        by_name.into_iter().chain(others).any(|place| place.holds(real))
    }
}

/// A path that may not be touched, or a list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardError(String);

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GuardError {}

impl Guard {
    /// Everything that this user may touch: an agent in the coordinator's own process.
    pub fn none() -> Guard {
        Guard::default()
    }

    /// What the start command allows and, where there is one, the host's own file. No allowed path is looked at yet.
    ///
    /// # Errors
    /// The host's file is there and cannot be read: nothing is allowed then.
    pub fn of_host(paths: &[PathBuf], file: &Path) -> Result<Guard, GuardError> {
        let command = Allowed {
            paths: paths.iter().map(|path| Place::of(path.clone(), true)).collect(),
            by: "--allow".to_owned(),
        };
        let mut lists = vec![command];
        match read(file) {
            Ok(None) => {}
            Ok(Some(text)) => lists.push(Allowed {
                paths: text
                    .lines()
                    .map(str::trim)
                    .filter(|line| line.starts_with('/'))
                    .map(|line| Place::of(PathBuf::from(line), false))
                    .collect(),
                by: file.display().to_string(),
            }),
            Err(error) => {
                let what = format!("{} says what may be touched here, and cannot be read: {error}", file.display());
                return Err(GuardError(format!("{what}; let the agent's user read it")));
            }
        }
        Ok(Guard { lists })
    }

    /// Whether `path` may be touched. Simulated targets always may.
    ///
    /// # Errors
    /// It may not; the words name the list and the remedy.
    pub fn check(&self, path: &str) -> Result<(), GuardError> {
        if engine::is_simulated(path) {
            return Ok(());
        }
        if self.lists.is_empty() {
            return Ok(());
        }
        let real = real(Path::new(path));
        match self.lists.iter().find(|list| !list.holds(Path::new(path), &real)) {
            None => Ok(()),
            Some(list) => Err(GuardError(format!(
                "{path} is not among the paths that {} allows on this host; name an allowed path, or have its operator add this one",
                list.by
            ))),
        }
    }

    /// Whether a folder of ours at the target that was named may be touched: below it, or a host's own folder beside it.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_beside(&self, root: &str, target: &str) -> Result<(), GuardError> {
        self.check(target)?;
        self.check(root).or_else(|error| beside(root, target).then_some(()).ok_or(error))
    }

    /// Whether a host's share may be loaded: every path in it, whoever wrote it.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_plan(&self, plan: &HostPlan) -> Result<(), GuardError> {
        for tree in &plan.trees {
            self.check_tree(tree, &plan.targets)?;
        }
        for target in &plan.targets {
            self.check(&target.path)?;
            if target.kind == PlannedTarget::Simulated {
                continue;
            }
            if let PlannedTarget::Directory { root } = &target.kind {
                self.check(root).or_else(|error| beside(root, &target.path).then_some(()).ok_or(error))?;
            }
            for file in &target.files {
                self.check(&file.path).or_else(|error| beside(&file.path, &target.path).then_some(()).ok_or(error))?;
            }
        }
        Ok(())
    }

    /// The same for one tree: this host makes it, or another one does, in a folder beside the target.
    fn check_tree(&self, tree: &Tree, targets: &[Target]) -> Result<(), GuardError> {
        let target = targets.get(tree.target as usize).map_or("", |target| &target.path);
        self.check(&tree.path).or_else(|error| beside(&tree.path, target).then_some(()).ok_or(error))
    }
}

/// Whether `path` lies in a folder of a host, a scenario, or a scenario on a host, beside the target that was allowed, such as `/mnt/x-h0003-s0001` beside
/// `/mnt/x`.
fn beside(path: &str, target: &str) -> bool {
    let Some(rest) = path.strip_prefix(target) else { return false };
    let suffix = rest.split('/').next().unwrap_or_default();
    own_folder(suffix).is_some() && !Path::new(rest).components().any(|part| part == Component::ParentDir)
}

/// The numbers of the host and of the scenario's layout whose folder has a name that ends so, behind the target's: `-h0003`, `-s0001` or both. `None` for any other
/// ending.
pub(super) fn own_folder(suffix: &str) -> Option<(Option<u32>, Option<u32>)> {
    let number = |text: &str| text.parse().ok();
    let (of_host, of_scenario) = match suffix.strip_prefix("-h") {
        Some(rest) => rest.split_once("-s").map_or((Some(rest), None), |(host, part)| (Some(host), Some(part))),
        None => (None, Some(suffix.strip_prefix("-s")?)),
    };
    let found = (of_host.and_then(number), of_scenario.and_then(number));
    let written = |(host, part): (Option<u32>, Option<u32>)| {
        host.map_or_else(String::new, host_suffix) + &part.map_or_else(String::new, scenario_suffix)
    };
    (written(found) == suffix).then_some(found)
}

/// The path without links and `..`, as far as it exists; what does not exist yet hangs below what does.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in absolute.ancestors() {
        if let Ok(found) = above.canonicalize() {
            let rest = absolute.strip_prefix(above).unwrap_or(Path::new(""));
            // What is not there cannot be a link; but a `..` in it would lead out again.
            let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
            return if is_plain { found.join(rest) } else { PathBuf::from("/") };
        }
    }
    absolute
}

fn read(file: &Path) -> std::io::Result<Option<String>> {
    use std::io::Read;
    match std::fs::File::open(file) {
        Ok(open) => {
            let mut text = String::new();
            open.take(LONGEST_LIST).read_to_string(&mut text).map(|_| Some(text))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_every_list_allows_may_be_touched() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("real");
        std::fs::create_dir(place.join("in")).expect("a folder");
        std::os::unix::fs::symlink("/etc", place.join("in/link")).expect("a link");
        let list = place.join("allow");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let guard = Guard::of_host(&[place.join("in")], &list).expect("no list");
        assert!(guard.check(&text(&place.join("in/new/file"))).is_ok());
        assert!(guard.check(&text(&place.join("in"))).is_ok());
        assert!(guard.check(&text(&place.join("inner"))).is_err(), "a name that only begins alike");
        assert!(guard.check(&text(&place.join("in/link/passwd"))).is_err(), "a link leads out");
        assert!(guard.check(&text(&place.join("in/new/../../x"))).is_err(), "so does ..");
        assert!(guard.check("/dev/sda").is_err());
        assert!(guard.check("sim:constant").is_ok());
        std::fs::write(&list, format!("# ours\n{}\n", place.join("other").display())).expect("a list");
        let guard = Guard::of_host(std::slice::from_ref(&place), &list).expect("a list");
        assert!(guard.check(&text(&place.join("other/x"))).is_ok());
        let refused = guard.check(&text(&place.join("in/x"))).expect_err("the host's list is narrower");
        assert!(refused.to_string().contains(&text(&list)));
    }

    #[test]
    fn a_list_that_cannot_be_read_allows_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Guard::of_host(&[PathBuf::from("/")], folder.path()).is_err());
    }

    #[test]
    fn a_hosts_own_folder_beside_an_allowed_target_is_allowed() {
        assert!(beside("/mnt/x-h0003/data-00001.bin", "/mnt/x") && beside("/mnt/x-h0003", "/mnt/x"));
        assert!(beside("/mnt/x-s0001/data-00001.bin", "/mnt/x") && beside("/mnt/x-h0003-s0001", "/mnt/x"));
        for path in ["/mnt/x-s1", "/mnt/x-s0001-h0003", "/mnt/x-h0003-s", "/mnt/x-h0003-sx", "/mnt/x-s0001/../y"] {
            assert!(!beside(path, "/mnt/x"), "{path}");
        }
        for path in ["/mnt/x-h0003/../../etc/passwd", "/mnt/x-h3", "/mnt/x-hosts", "/mnt/y-h0003", "/mnt/x"] {
            assert!(!beside(path, "/mnt/x"), "{path}");
        }
    }

    #[test]
    fn a_tree_stands_where_its_target_may() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("real");
        let guard = Guard::of_host(&[place.join("in")], &place.join("allow")).expect("no list");
        let path = |below: &str| place.join(below).to_str().expect("UTF-8").to_owned();
        let targets = [Target { path: path("in"), kind: PlannedTarget::Joined, files: Vec::new() }];
        let tree = |below: &str, target: u32| Tree {
            target,
            path: path(below),
            files: 1,
            size: model::Bytes(0),
            sizes: None,
            depth: 0,
            fan_out: 1,
            per_directory: 1,
            joined: target == 0,
        };
        for (below, number, allowed) in [
            ("in/tree-00000", 0, true),
            ("in-h0002/tree-00000", 0, true),
            ("in-h0002/../out", 0, false),
            ("out/tree-00000", 0, false),
            ("in-h0002/tree-00000", 7, false),
        ] {
            assert_eq!(guard.check_tree(&tree(below, number), &targets).is_ok(), allowed, "{below}");
        }
    }
}
