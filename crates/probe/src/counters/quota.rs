//! How often a control group used its CPU quota up: `cpu.stat` of both versions (the kernel's
//! `Documentation/admin-guide/cgroup-v2.rst` and `Documentation/scheduler/sched-bwc.rst`).

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{number, words};
use super::table::{Column, Table};
use crate::{cgroup, mounts};
use model::CounterSample;
use model::counters::{Layer, Metric};

/// `cpu.stat` of this process's groups and of those above them.
pub struct Quotas {
    groups: Vec<(String, KernelFile)>,
    table: Table,
}

impl Quotas {
    pub fn new(opener: &mut Opener) -> Quotas {
        let tree = opener.tree().clone();
        let mounts = mounts::read(&tree);
        let file = |group: cgroup::Group| {
            let path = group.folder.join("cpu.stat");
            let file = opener.file_of_now(path.to_str()?)?;
            Some((group.folder.to_string_lossy().into_owned(), file))
        };
        let groups = cgroup::groups(&tree, &mounts).into_iter().filter_map(file).collect();
        let columns = [Metric::Periods, Metric::ThrottledPeriods, Metric::ThrottledNs];
        Quotas { groups, table: Table::new(Layer::Quota, columns.map(Column::plain).to_vec()) }
    }
}

impl Source for Quotas {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let mut unseen = CounterSample::default();
        for (name, file) in &mut self.groups {
            let mut now = [None; 3];
            let whole = file.lines(opener, |line| {
                let mut words = words(line);
                let (Some(key), value) = (words.next(), words.next().and_then(number)) else {
                    return;
                };
                match key {
                    b"nr_periods" => now[0] = value,
                    b"nr_throttled" => now[1] = value,
                    b"throttled_time" => now[2] = value,
                    b"throttled_usec" => now[2] = value.and_then(|us| us.checked_mul(1_000)),
                    _ => {}
                }
            });
            if whole && now[0].is_some() {
                // A group that never had a quota is remembered, so that its first interval with one
                // counts, but not shown.
                let into = if now[0] == Some(0) { &mut unseen } else { &mut *sample };
                self.table.put(name.as_bytes(), &now, into);
            }
        }
        self.table.end(sample);
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::Counters;
    use crate::tree::testing::tree;
    use model::counters::{Layer, Metric};

    /// What an interval counts of the groups in which these files were, and then held `later`.
    fn counted(files: &[(&str, &str)], later: &[(&str, &str)]) -> Vec<Vec<(Metric, u64)>> {
        let (folder, tree) = tree(files);
        let mut counters = Counters::open(&tree);
        for (path, text) in later {
            std::fs::write(folder.path().join(path), text).expect("a file");
        }
        let sample = counters.read();
        let quotas = sample.entries.into_iter().filter(|entry| entry.layer == Layer::Quota);
        quotas.map(|entry| entry.values).collect()
    }

    #[test]
    fn a_quota_of_either_version_is_counted() {
        use Metric::{Periods, ThrottledNs, ThrottledPeriods};
        let of_first = counted(
            &[
                ("proc/self/cgroup", "3:cpu,cpuacct:/box\n"),
                ("proc/self/mountinfo", "31 1 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
                ("cg/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
                ("cg/cpu/box/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_time 7\n"),
            ],
            &[("cg/cpu/box/cpu.stat", "nr_periods 39\nnr_throttled 35\nthrottled_time 907\n")],
        );
        assert_eq!(of_first, [[(Periods, 34), (ThrottledPeriods, 34), (ThrottledNs, 900)]]);
        let of_second = counted(
            &[
                ("proc/self/cgroup", "0::/pod\n"),
                ("proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n"),
                ("cg/cpu.stat", "usage_usec 12\nuser_usec 3\n"),
                (
                    "cg/pod/cpu.stat",
                    "usage_usec 9\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
                ),
            ],
            &[(
                "cg/pod/cpu.stat",
                "usage_usec 9\nnr_periods 4\nnr_throttled 1\nthrottled_usec 5\n",
            )],
        );
        assert_eq!(of_second, [[(Periods, 4), (ThrottledPeriods, 1), (ThrottledNs, 5_000)]]);
    }
}
