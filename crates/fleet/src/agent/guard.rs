//! What an agent's operator allows it to touch. An agent is started by whoever may log in; what it
//! may overwrite is a narrower question.

use engine::{Bounds, Place};
use model::plan::places::{is_root_of, own_folder, without_slash};
use model::plan::{HostPlan, PlannedTarget};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The file in which a host's operator says what agents may touch there, one path a line. Where it
/// is missing, the start command alone counts.
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
    paths: Vec<Listed>,
    by: String,
}

/// A path that is allowed, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    path: PathBuf,
    /// Found out when it is first asked, because that may hang; and then it stays, so that no link
    /// is turned to another place later.
    real: Arc<OnceLock<PathBuf>>,
    /// The same of the directory above it, in which hosts and scenarios have folders of their own.
    real_above: Arc<OnceLock<PathBuf>>,
    follows: bool,
}

impl Listed {
    fn of(path: PathBuf, follows: bool) -> Listed {
        Listed { path, real: Arc::default(), real_above: Arc::default(), follows }
    }

    /// Whether it holds what leads to `real_path`.
    fn holds(&self, real_path: &Path) -> bool {
        real_path.starts_with(if self.follows {
            self.real.get_or_init(|| real(&self.path))
        } else {
            &self.path
        })
    }

    /// Whether the place is a folder of a host or of a scenario beside this very path, and no link
    /// leads from there.
    fn is_beside(&self, place: Place<'_>) -> bool {
        let Some(above) = self.path.parent() else { return false };
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        if Path::new(place.target) != self.path || !beside(place.path, place.target) {
            return false;
        }
        let above = if self.follows { self.real_above.get_or_init(|| real(above)) } else { above };
        Path::new(place.path).file_name().is_some_and(|name| place.real == above.join(name))
    }
}

impl Allowed {
    /// Whether one of the paths holds `path`, which leads to `real`. One that holds it by its name
    /// is asked first: whether it does must not hang on another path that is allowed and does not
    /// answer.
    fn holds(&self, path: &Path, real: &Path) -> bool {
        let (by_name, others): (Vec<&Listed>, Vec<&Listed>) =
            self.paths.iter().partition(|listed| path.starts_with(&listed.path));
        by_name.into_iter().chain(others).any(|listed| listed.holds(real))
    }

    fn may(&self, place: Place<'_>) -> bool {
        self.holds(Path::new(place.path), place.real)
            || self.paths.iter().any(|listed| listed.is_beside(place))
    }

    fn refuse(&self, path: &str) -> GuardError {
        GuardError(format!(
            "{path} is not among the paths that {} allows on this host; name an allowed path, or \
             have its operator add this one",
            self.by
        ))
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

    /// What the start command allows and, where there is one, the host's own file. No allowed path
    /// is looked at yet.
    ///
    /// # Errors
    /// The host's file is there and cannot be read: nothing is allowed then.
    pub fn of_host(paths: &[PathBuf], file: &Path) -> Result<Guard, GuardError> {
        let command = Allowed {
            paths: paths.iter().map(|path| Listed::of(path.clone(), true)).collect(),
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
                    .map(|line| Listed::of(PathBuf::from(line), false))
                    .collect(),
                by: file.display().to_string(),
            }),
            Err(error) => {
                let what = format!(
                    "{} says what may be touched here, and cannot be read: {error}",
                    file.display()
                );
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
            Some(list) => Err(list.refuse(path)),
        }
    }

    /// Whether a folder of ours at the target that was named may be touched: below what is allowed,
    /// or a host's or scenario's own folder beside it. No link leads there.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_root(&self, root: &str, target: &str) -> Result<(), GuardError> {
        self.check(target)?;
        if !is_root_of(root, target) {
            return Err(GuardError(format!("{root} is no folder of ours at {target}")));
        }
        if self.lists.is_empty() {
            return Ok(());
        }
        self.may(Place { path: root, target, real: &real(Path::new(root)) })
    }

    /// Whether a place may be touched that is looked at without its links.
    fn may(&self, place: Place<'_>) -> Result<(), GuardError> {
        match self.lists.iter().find(|list| !list.may(place)) {
            None => Ok(()),
            Some(list) => Err(list.refuse(&place.real.to_string_lossy())),
        }
    }

    /// The same for the engine, which asks once a place is open: what was a folder when a plan was
    /// checked may be a link by then.
    pub fn bounds(&self) -> Bounds {
        if self.lists.is_empty() {
            return Bounds::default();
        }
        let guard = self.clone();
        Bounds::of(move |place| guard.may(place).map_err(|error| error.to_string()))
    }

    /// Whether a host's share may be loaded: every path in it, whoever wrote it.
    ///
    /// # Errors
    /// As [`check`](Self::check), and when a path does not follow from its target.
    pub fn check_plan(&self, plan: &HostPlan) -> Result<(), GuardError> {
        if let Some(misplaced) = plan.misplaced() {
            return Err(GuardError(format!(
                "{misplaced}; do not trust this run file, or begin the run anew"
            )));
        }
        let mut works = plan.stages.iter().flat_map(|stage| &stage.works);
        // The host's own list, behind that of whoever started the agent.
        if let Some(list) = self.lists.get(1).filter(|_| works.any(|work| work.command.is_some())) {
            return Err(GuardError(format!(
                "{} says what may be touched on this host, and no list holds a command; have its \
                 operator start it",
                list.by
            )));
        }
        for target in plan.targets.iter().filter(|target| target.kind != PlannedTarget::Simulated) {
            match target.root() {
                Some(root) => self.check_root(root, &target.path)?,
                None => self.check(&target.path)?,
            }
        }
        for tree in &plan.trees {
            let target = plan.targets.get(tree.target as usize);
            let is_real = target.filter(|target| target.kind != PlannedTarget::Simulated);
            if let (Some(target), Some((root, _))) = (is_real, tree.place()) {
                self.check_root(root, &target.path)?;
            }
        }
        Ok(())
    }
}

/// Whether `path` is a folder of a host, a scenario, or a scenario on a host, beside the target
/// that was allowed, such as `/mnt/x-h0003-s0001` beside `/mnt/x`.
fn beside(path: &str, target: &str) -> bool {
    path.strip_prefix(without_slash(target)).is_some_and(|suffix| own_folder(suffix).is_some())
}

/// The path without links and `..`, as far as it exists; what does not exist yet hangs below what
/// does.
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
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    // A pipe in its place has nothing to read, and says so at once.
    match std::fs::OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(open) => {
            let mut text = String::new();
            open.take(LONGEST_LIST).read_to_string(&mut text).map(|_| Some(text))
        }
        // A link that leads nowhere was made to lead to a list.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !has_link(file) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a path that leads nowhere has a link among its names.
fn has_link(path: &Path) -> bool {
    path.ancestors().any(Path::is_symlink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metadata::Tree;
    use model::plan::Target;

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
        let beside = Guard::of_host(&[PathBuf::from("data")], &list).expect("no list");
        assert_eq!(
            beside.check_root("data-h0001", "data"),
            Ok(()),
            "a target may be named from here"
        );
        assert!(guard.check("sim:constant").is_ok());
        std::fs::write(&list, format!("# ours\n{}\n", place.join("other").display()))
            .expect("a list");
        let guard = Guard::of_host(std::slice::from_ref(&place), &list).expect("a list");
        assert!(guard.check(&text(&place.join("other/x"))).is_ok());
        let refused =
            guard.check(&text(&place.join("in/x"))).expect_err("the host's list is narrower");
        assert!(refused.to_string().contains(&text(&list)));
    }

    #[test]
    fn a_list_that_cannot_be_read_allows_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Guard::of_host(&[PathBuf::from("/")], folder.path()).is_err());
    }

    #[test]
    fn a_list_behind_a_link_that_leads_nowhere_allows_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("real");
        let paths = [PathBuf::from("/")];
        assert!(Guard::of_host(&paths, &place.join("allow")).is_ok(), "no list");
        std::os::unix::fs::symlink("nowhere", place.join("allow")).expect("a link");
        assert!(Guard::of_host(&paths, &place.join("allow")).is_err());
        std::os::unix::fs::symlink("nowhere", place.join("etc")).expect("a link");
        assert!(
            Guard::of_host(&paths, &place.join("etc/allow")).is_err(),
            "so does the folder of the list"
        );
    }

    #[test]
    fn a_hosts_own_folder_beside_an_allowed_target_is_allowed() {
        assert!(beside("/mnt/x-h0003", "/mnt/x") && beside("/mnt/x-s0001", "/mnt/x"));
        assert!(beside("/mnt/x-h0003-s0001", "/mnt/x"));
        for path in [
            "/mnt/x-s1", "/mnt/x-s0001-h0003", "/mnt/x-h0003-s", "/mnt/x-h0003-sx",
            "/mnt/x-s0001/../y",
        ] {
            assert!(!beside(path, "/mnt/x"), "{path}");
        }
        for path in
            ["/mnt/x-h0003/../../etc/passwd", "/mnt/x-h3", "/mnt/x-hosts", "/mnt/y-h0003", "/mnt/x"]
        {
            assert!(!beside(path, "/mnt/x"), "{path}");
        }
    }

    /// A host's share with one target in `root`, as its user named it.
    fn plan(target: &Path, root: &str) -> HostPlan {
        let path = target.to_str().expect("UTF-8").to_owned();
        let kind = PlannedTarget::Directory { root: root.to_owned() };
        let engine = model::plan::EngineSettings::simple(model::choices::Backend::Sync);
        let targets = vec![Target { path, kind, files: Vec::new() }];
        HostPlan { targets, ..HostPlan::empty("r", model::Nanos::seconds(1), engine) }
    }

    #[test]
    fn no_link_leads_out_of_an_allowed_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("real");
        let (allowed, secret) = (place.join("ok"), place.join("secret"));
        for made in [&allowed, &secret] {
            std::fs::create_dir(made).expect("a folder");
        }
        let target = allowed.join("d");
        let root = format!("{}-h0001", target.display());
        for allow in [&allowed, &target] {
            let guard =
                Guard::of_host(std::slice::from_ref(allow), &place.join("allow")).expect("no list");
            assert_eq!(guard.check_plan(&plan(&target, &root)), Ok(()));
            std::os::unix::fs::symlink(&secret, &root).expect("a link");
            assert!(guard.check_plan(&plan(&target, &root)).is_err(), "{}", allow.display());
            // As where the link is put there after the plan was checked: the engine finds it when
            // all is open.
            let may = |real: &Path| {
                let path = target.to_str().expect("UTF-8");
                guard.may(Place { path: &root, target: path, real }).is_ok()
            };
            assert!(may(Path::new(&root)) && !may(&secret));
            assert!(
                engine::open_in(plan(&target, &root), &guard.bounds(), &engine::Haste::default())
                    .is_err()
            );
            assert_eq!(
                std::fs::read_dir(&secret).expect("a folder").count(),
                0,
                "nothing was made there"
            );
            std::fs::remove_file(&root).expect("gone");
        }
    }

    #[test]
    fn a_link_in_the_target_that_is_turned_after_the_check_makes_nothing_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("real");
        for made in ["ok", "secret"] {
            std::fs::create_dir(place.join(made)).expect("a folder");
        }
        let guard = Guard::of_host(&[place.join("ok")], &place.join("allow")).expect("no list");
        for (link, target) in [("ok/d", "ok/d"), ("ok/above", "ok/above/d")] {
            let target = place.join(target);
            let plan = plan(&target, target.to_str().expect("UTF-8"));
            assert_eq!(guard.check_plan(&plan), Ok(()));
            std::os::unix::fs::symlink(place.join("secret"), place.join(link)).expect("a link");
            let refused = engine::open_in(plan, &guard.bounds(), &engine::Haste::default())
                .expect_err("elsewhere");
            assert!(refused.to_string().contains("--allow allows"), "{refused}");
            assert_eq!(std::fs::read_dir(place.join("secret")).expect("a folder").count(), 0);
        }
    }

    #[test]
    fn a_tree_stands_where_its_target_may() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("real");
        let guard = Guard::of_host(&[place.join("in")], &place.join("allow")).expect("no list");
        let path = |below: &str| place.join(below).to_str().expect("UTF-8").to_owned();
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
            let mut plan = plan(&place.join("in"), "");
            plan.targets[0].kind = PlannedTarget::Joined;
            plan.trees = vec![tree(below, number)];
            assert_eq!(guard.check_plan(&plan).is_ok(), allowed, "{below}");
        }
    }
}
