//! Whether the run file lies on a disk that the run itself loads.
//!
//! What a run writes through the page cache makes every other write to that disk wait, those of the
//! run file too: an interval then reaches it up to seconds late, and a run that is killed loses
//! more than its last one.
//!
//! And whether it lies in a directory that is loaded: beside it, our files go into a folder of
//! their own, as beside anybody's files.

use model::inventory::{Inventory, LinkKind};
use model::plan::{PlanNote, Work};
use model::testbed::{DATA_DIR, DirectoryState, HostFacts, TargetFacts, TargetKind};
use model::{Fact, Plan};
use std::path::Path;

pub(crate) fn folder_of(out: &Path) -> &Path {
    out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An empty directory of this machine is not empty any more once the run file is in it.
pub(crate) fn lay_beside(hosts: &mut [HostFacts], run_file_in: &Path) {
    let Ok(kept) = run_file_in.canonicalize() else { return };
    for target in hosts.iter_mut().flat_map(|host| &mut host.targets) {
        if let TargetKind::Directory { root, state: state @ DirectoryState::Empty } =
            &mut target.kind
            && Path::new(root.as_str()).canonicalize().is_ok_and(|place| place == kept)
        {
            *root = Path::new(root.as_str()).join(DATA_DIR).to_string_lossy().into_owned();
            *state = DirectoryState::Missing;
        }
    }
}

/// What to say of the run file at `out`, if anything.
pub(crate) fn note(plan: &Plan, hosts: &[HostFacts], out: &Path) -> Option<PlanNote> {
    let writes = plan.stages.iter().flat_map(|stage| &stage.works).any(Work::writes);
    if plan.direct || !writes {
        return None;
    }
    let looker = probe::Looker::new();
    let here = looker.host("", Inventory::default(), Vec::new()).identity;
    let holder = looker.target(&folder_of(out).to_string_lossy(), None);
    let ours = hosts.iter().filter(|host| !here.is_empty() && host.identity == here);
    let (disk, target) =
        ours.flat_map(|host| &host.targets).find_map(|target| shared(target, &holder))?;
    let (disk, target) = (disk.to_owned(), target.to_owned());
    Some(PlanNote { fact: Fact::RunFileOnTarget { disk, target } })
}

/// The disk that `target` and `holder` both end at, and the target's path.
fn shared<'a>(target: &'a TargetFacts, holder: &TargetFacts) -> Option<(&'a str, &'a str)> {
    let is_disk = |kind| matches!(kind, LinkKind::Disk | LinkKind::Network);
    let mut disks = target.chain.iter().filter(|link| is_disk(link.kind) && !link.name.is_empty());
    let disk = disks.find(|link| {
        holder.chain.iter().any(|other| {
            (other.kind, &other.name, &other.detail) == (link.kind, &link.name, &link.detail)
        })
    })?;
    Some((&disk.name, &target.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::inventory::Link;

    fn on(path: &str, disks: &[(LinkKind, &str, &str)]) -> TargetFacts {
        let link = |(kind, name, detail): &(LinkKind, &str, &str)| Link {
            kind: *kind,
            name: (*name).to_owned(),
            detail: (*detail).to_owned(),
            ..Link::default()
        };
        TargetFacts {
            chain: disks.iter().map(link).collect(),
            ..probe::unreadable(path, String::new())
        }
    }

    #[test]
    fn our_files_go_beside_a_run_file_that_lies_in_the_target() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().to_string_lossy().into_owned();
        let empty = TargetFacts {
            kind: TargetKind::Directory { root: path.clone(), state: DirectoryState::Empty },
            ..on(&path, &[])
        };
        let laid = |run_file_in: &Path| {
            let facts = probe::Looker::new().host("", Inventory::default(), Vec::new());
            let mut hosts = [HostFacts { targets: vec![empty.clone()], ..facts }];
            lay_beside(&mut hosts, run_file_in);
            hosts[0].targets[0].kind.clone()
        };
        assert_eq!(laid(Path::new("/")), empty.kind);
        let inner = TargetKind::Directory {
            root: format!("{path}/{DATA_DIR}"),
            state: DirectoryState::Missing,
        };
        assert_eq!(laid(&place.path().join(".")), inner);
    }

    #[test]
    fn a_disk_below_both_is_found_and_named() {
        let raid = on(
            "/mnt/x",
            &[
                (LinkKind::FileSystem, "ext4", ""),
                (LinkKind::Disk, "sda", ""),
                (LinkKind::Disk, "sdb", ""),
            ],
        );
        assert_eq!(
            shared(&raid, &on("/home", &[(LinkKind::Disk, "sdb", "")])),
            Some(("sdb", "/mnt/x"))
        );
        assert_eq!(
            shared(
                &raid,
                &on("/home", &[(LinkKind::FileSystem, "ext4", ""), (LinkKind::Disk, "sdc", "")])
            ),
            None
        );
        assert_eq!(shared(&raid, &on("/home", &[])), None, "nobody knows");
    }
}
