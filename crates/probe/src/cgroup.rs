//! What control groups leave to us, of both versions (man 7 cgroups; the kernel's
//! `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/`).

use crate::topology::cpu_list;
use crate::tree::{Tree, text};
use model::Bytes;
use model::inventory::Limits;
use procfs::process::MountInfo;
use std::path::{Component, Path, PathBuf};

/// A limit from here on is none: version 1 writes the largest number of pages.
const NO_LIMIT: u64 = 1 << 62;

/// The limits of this process's groups and of all above them.
pub fn limits(tree: &Tree, mounts: &[MountInfo]) -> Limits {
    let mut limits = Limits::default();
    for group in groups(tree, mounts) {
        if group.is_second {
            second(&group.folder, &mut limits);
        } else {
            first(&group.folder, &mut limits);
        }
    }
    limits
}

/// A control group of this process.
pub struct Group {
    /// Whether it is one of version 2.
    is_second: bool,
    /// Where its files are.
    pub folder: PathBuf,
}

/// This process's groups and all above them, of each hierarchy the innermost first.
pub fn groups(tree: &Tree, mounts: &[MountInfo]) -> Vec<Group> {
    let table = tree.text("proc/self/cgroup").unwrap_or_default();
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let folders = folders(tree, mount_of(mounts, controllers)?, path);
        let is_second = controllers.is_empty();
        Some(folders.into_iter().map(move |folder| Group { is_second, folder }))
    };
    table.lines().filter_map(of_line).flatten().collect()
}

/// Where a hierarchy is mounted: that without controllers is version 2's.
fn mount_of<'a>(mounts: &'a [MountInfo], controllers: &str) -> Option<&'a MountInfo> {
    mounts.iter().find(|mount| match controllers.split(',').next() {
        None | Some("") => mount.fs_type == "cgroup2",
        Some(controller) => {
            mount.fs_type == "cgroup" && mount.super_options.contains_key(controller)
        }
    })
}

/// The folder of a group and of those above it, innermost first. In a container the mount may begin
/// in the midst of the hierarchy.
fn folders(tree: &Tree, mount: &MountInfo, path: &str) -> Vec<PathBuf> {
    let top = tree.path(mount.mount_point.to_string_lossy().trim_start_matches('/'));
    let inner = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    // A group outside of what this process may see is written with `..`.
    if !inner.components().all(|part| matches!(part, Component::Normal(_))) {
        return vec![top];
    }
    inner.ancestors().map(|inner| top.join(inner)).collect()
}

fn tighten<T: Ord>(limit: &mut Option<T>, other: Option<T>) {
    if let Some(other) = other
        && limit.as_ref().is_none_or(|limit| other < *limit)
    {
        *limit = Some(other);
    }
}

/// Quota and period of CPU time as thousandths of a CPU.
fn milli(quota: &str, period: &str) -> Option<u64> {
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    quota.saturating_mul(1_000).checked_div(period)
}

fn memory(folder: &Path, file: &str) -> Option<Bytes> {
    text(&folder.join(file))?.parse().ok().filter(|bytes| *bytes < NO_LIMIT).map(Bytes)
}

fn cpus(folder: &Path, file: &str, limits: &mut Limits) {
    // The innermost group comes first and is a part of those above it.
    if let Some(list) = text(&folder.join(file)).filter(|_| limits.cpus.is_empty()) {
        limits.cpus = cpu_list(&list);
    }
}

fn second(folder: &Path, limits: &mut Limits) {
    if let Some(line) = text(&folder.join("cpu.max")) {
        tighten(
            &mut limits.cpu_milli,
            line.split_once(' ').and_then(|(quota, period)| milli(quota, period)),
        );
    }
    tighten(&mut limits.memory, memory(folder, "memory.max"));
    cpus(folder, "cpuset.cpus.effective", limits);
    let io = text(&folder.join("io.max")).unwrap_or_default();
    limits.io.extend(io.lines().map(str::to_owned));
}

fn first(folder: &Path, limits: &mut Limits) {
    let quota = text(&folder.join("cpu.cfs_quota_us")).zip(text(&folder.join("cpu.cfs_period_us")));
    tighten(&mut limits.cpu_milli, quota.and_then(|(quota, period)| milli(&quota, &period)));
    tighten(&mut limits.memory, memory(folder, "memory.limit_in_bytes"));
    cpus(folder, "cpuset.effective_cpus", limits);
    for (file, word) in [
        ("read_bps", "rbps"),
        ("write_bps", "wbps"),
        ("read_iops", "riops"),
        ("write_iops", "wiops"),
    ] {
        let lines = text(&folder.join(format!("blkio.throttle.{file}_device"))).unwrap_or_default();
        let lines = lines.lines().filter_map(|line| line.split_once(' '));
        limits.io.extend(lines.map(|(device, value)| format!("{device} {word}={value}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts;
    use crate::tree::testing::tree;

    #[test]
    fn the_tightest_limit_of_version_2_binds() {
        let (_folder, tree) = tree(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/memory.max", "1048576\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "2097152\n"),
            ("sys/fs/cgroup/a/b/cpuset.cpus.effective", "1-2\n"),
            ("sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n"),
            ("sys/fs/cgroup/a/b/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=max\n"),
        ]);
        let limits = limits(&tree, &mounts::read(&tree));
        assert_eq!((limits.cpu_milli, limits.memory), (Some(1_500), Some(Bytes::mib(1))));
        assert_eq!((limits.cpus.as_slice(), limits.io.len()), (&[1, 2][..], 1));
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_controller() {
        let (_folder, tree) = tree(&[
            (
                "proc/self/cgroup",
                "4:memory:/box\n3:cpu,cpuacct:/box\n2:blkio:/../..\n1:name=systemd:/\nnonsense\n",
            ),
            (
                "proc/self/mountinfo",
                "30 1 0:26 /box /cg/memory rw - cgroup cgroup rw,memory\n31 1 0:27 / /cg/cpu rw - \
                 cgroup cgroup rw,cpu,cpuacct\n32 1 0:28 / /cg/blkio rw - cgroup cgroup rw,blkio\n",
            ),
            ("cg/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("cg/cpu/cpu.cfs_quota_us", "-1\n"),
            ("cg/cpu/cpu.cfs_period_us", "100000\n"),
            ("cg/cpu/box/cpu.cfs_quota_us", "50000\n"),
            ("cg/cpu/box/cpu.cfs_period_us", "100000\n"),
            ("cg/blkio/blkio.throttle.read_iops_device", "8:0 100\n"),
        ]);
        let limits = limits(&tree, &mounts::read(&tree));
        assert_eq!((limits.cpu_milli, limits.memory), (Some(500), None));
        assert_eq!(limits.io, ["8:0 riops=100"]);
    }

    #[test]
    fn periods_of_nothing_are_no_limit() {
        assert_eq!(milli("5", "0"), None);
        assert_eq!(milli("-1", "100000"), None);
        let (_folder, tree) = tree(&[]);
        assert_eq!(limits(&tree, &[]), Limits::default());
    }
}
