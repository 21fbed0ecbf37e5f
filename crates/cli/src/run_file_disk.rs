//! Whether the run file lies on a disk that the run itself loads.
//!
//! What a run writes through the page cache makes every other write to that disk wait, those of the
//! run file too: an interval then reaches it up to seconds late, and a run that is killed loses
//! more than its last one.

use model::inventory::{Inventory, LinkKind};
use model::plan::{PlanNote, Work};
use model::testbed::{HostFacts, TargetFacts};
use model::{Fact, Plan};
use std::path::Path;

/// What to say of the run file at `out`, if anything.
pub fn note(plan: &Plan, hosts: &[HostFacts], out: &Path) -> Option<PlanNote> {
    let writes = plan.stages.iter().flat_map(|stage| &stage.works).any(Work::writes);
    if plan.direct || !writes {
        return None;
    }
    let looker = probe::Looker::new();
    let here = looker.host("", Inventory::default(), Vec::new()).identity;
    let folder =
        out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let holder = looker.target(&folder.to_string_lossy(), None);
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
