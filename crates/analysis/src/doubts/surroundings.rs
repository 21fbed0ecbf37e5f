//! Doubts that what hosts are and how they are set up gives, before any figure is looked at.

use crate::doubts::Warning;
use crate::rows::row::ResultRow;
use model::inventory::{DeviceFacts, MountFacts};
use model::testbed::{HostFacts, TargetFacts};
use model::{Op, Record};

/// Sources of time that cost a system call or a trip to a slow chip for each reading. `tsc`,
/// `kvm-clock`, `hyperv_clocksource_tsc_page`, `xen` and `arch_sys_counter` are read in user space,
/// or in nanoseconds.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];
/// Options of a mount by which a file system sends no flushes. The last two are an overlay's, in
/// the words of one who mounts and of the kernel since 6.6.
const NO_BARRIERS: [&str; 5] =
    ["nobarrier", "barrier=0", "barrier=none", "volatile", "fsync=volatile"];

/// All of them for the targets that a row's stage loads, each once.
pub(crate) fn doubts(record: &Record, row: &ResultRow) -> Vec<Warning> {
    if record.plan.is_simulated() || record.plan.backend.sends_nothing() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (host, facts) in record.plan.hosts.iter().zip(&record.testbed) {
        let planned = host.targets.get(host.targets_of(row.stage)).unwrap_or_default();
        let is_loaded = |target: &&TargetFacts| planned.iter().any(|one| one.path == target.path);
        for target in facts.targets.iter().filter(is_loaded) {
            found.extend(of_target(facts, target, row));
        }
        found.extend(of_host(facts));
    }
    let mut once: Vec<Warning> = Vec::new();
    for doubt in found {
        if !once.contains(&doubt) {
            once.push(doubt);
        }
    }
    once
}

fn of_host(facts: &HostFacts) -> Vec<Warning> {
    let source = facts.inventory.clock_source.as_str();
    let slow = SLOW_CLOCKS
        .contains(&source)
        .then(|| Warning::ClockSource { host: facts.hostname.clone(), source: source.to_owned() });
    let is_limit =
        |line: &&String| line.split_whitespace().skip(1).any(|field| !field.ends_with("=max"));
    let limited = facts
        .inventory
        .limits
        .io
        .iter()
        .find(is_limit)
        .map(|line| Warning::IoLimited { host: facts.hostname.clone(), limit: line.clone() });
    slow.into_iter().chain(limited).collect()
}

fn of_target(facts: &HostFacts, target: &TargetFacts, row: &ResultRow) -> Vec<Warning> {
    let mut found: Vec<Warning> = devices(target).flat_map(of_device).collect();
    found.extend(target.device.as_ref().and_then(|device| queue_short(device, row)));
    if row.plans(Op::Write) {
        found.extend(mounts_of(facts, target).find_map(barriers_off));
    }
    found
}

/// Every device that is named below a target, the one right under it first.
fn devices(target: &TargetFacts) -> impl Iterator<Item = &DeviceFacts> {
    target.device.iter().chain(target.chain.iter().filter_map(|link| link.device.as_ref()))
}

fn of_device(device: &DeviceFacts) -> Vec<Warning> {
    let name = || device.name.clone();
    let missing = device.raid_missing;
    let degraded = (missing > 0).then(|| Warning::ArrayDegraded { device: name(), missing });
    let is_busy = !matches!(device.raid_action.as_str(), "" | "idle" | "frozen");
    let busy =
        is_busy.then(|| Warning::ArrayBusy { device: name(), action: device.raid_action.clone() });
    let is_narrow = !device.link_best.is_empty()
        && !device.link_now.is_empty()
        && device.link_now != device.link_best;
    let narrow = is_narrow.then(|| Warning::LinkNarrow {
        device: name(),
        now: device.link_now.clone(),
        best: device.link_best.clone(),
    });
    [degraded, busy, narrow].into_iter().flatten().collect()
}

/// Whether a row keeps more requests outstanding than its device takes: what is above it waits in
/// the kernel, and the latencies hold that wait.
fn queue_short(device: &DeviceFacts, row: &ResultRow) -> Option<Warning> {
    let takes = u64::from(device.queue_depth?).saturating_mul(u64::from(device.queues?.max(1)));
    // How much a command asks for at a time nobody knows.
    let own = |work: &model::plan::Work| if work.command.is_none() { work.depth } else { 0 };
    let of_work = |work: &model::plan::Work| u64::from(own(work));
    let deepest = row.works.iter().map(of_work).max().unwrap_or(0);
    let asked = deepest.saturating_mul(u64::from(row.workers));
    let is_short = takes > 0 && asked > takes && !row.is_paced() && !row.is_metadata();
    is_short.then(|| Warning::QueueShort { device: device.name.clone(), asked, takes })
}

/// The mounts that a target lies on: the one that holds it, which is the longest place that its
/// path begins with, and those of the file systems below it.
fn mounts_of<'a>(
    facts: &'a HostFacts,
    target: &'a TargetFacts,
) -> impl Iterator<Item = &'a MountFacts> {
    let all = &facts.inventory.mounts;
    let holds = |mount: &&MountFacts| {
        let rest = target.path.strip_prefix(mount.mount_point.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let holding = all.iter().filter(holds).max_by_key(|mount| mount.mount_point.len());
    let is_below = |mount: &&MountFacts| {
        let on = format!("{} at {}", mount.source, mount.mount_point);
        target.chain.iter().any(|link| link.detail == on.trim_start())
    };
    holding.into_iter().chain(all.iter().filter(is_below))
}

fn barriers_off(mount: &MountFacts) -> Option<Warning> {
    let is_off = |option: &&String| NO_BARRIERS.contains(&option.as_str());
    let option = mount.options.iter().find(is_off)?.clone();
    Some(Warning::BarriersOff { mount: mount.mount_point.clone(), option })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::inventory::{Link, LinkKind};

    /// The codes of this page for a run of writes at depth 32 on one host, changed like this.
    fn codes(change: impl FnOnce(&mut HostFacts)) -> Vec<&'static str> {
        let suite = "[[workload]]\nname = \"w\"\nread = \"0%\"\ndepth = 32\n";
        let mut recorded = Recorded::new(suite);
        change(&mut recorded.record_mut().testbed[0]);
        recorded.second(0, &[(Op::Write, &[1_000; 100])]);
        let record = recorded.end();
        let rows = results(&record);
        doubts(&record, &rows[0]).iter().map(Warning::code).collect()
    }

    fn device(facts: &mut HostFacts) -> &mut DeviceFacts {
        facts.targets[0].device.as_mut().expect("a disk")
    }

    fn mounted(facts: &mut HostFacts, place: &str, options: &[&str]) {
        facts.inventory.mounts.push(MountFacts {
            mount_point: place.to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            ..MountFacts::default()
        });
    }

    #[test]
    fn a_host_as_it_should_be_is_no_doubt() {
        let sound = codes(|facts| {
            facts.inventory.clock_source = "tsc".to_owned();
            facts.inventory.limits.io = vec!["259:0 rbps=max wbps=max riops=max wiops=max".into()];
            mounted(facts, "/", &["nobarrier"]);
            mounted(facts, "/mnt", &["rw", "barrier=1"]);
            let device = device(facts);
            (device.queue_depth, device.queues) = (Some(1023), Some(8));
            device.raid_action = "idle".to_owned();
            device.link_now = "16.0 GT/s PCIe x4".to_owned();
            device.link_best = device.link_now.clone();
        });
        assert_eq!(sound, [""; 0]);
    }

    #[test]
    fn each_way_in_which_a_host_deceives_has_its_own_doubt() {
        assert_eq!(codes(|facts| facts.inventory.clock_source = "hpet".into()), ["clock-source"]);
        let limit = |facts: &mut HostFacts| {
            facts.inventory.limits.io = vec!["259:0 rbps=max wbps=max riops=500 wiops=max".into()];
        };
        assert_eq!(codes(limit), ["io-limited"]);
        let short = |facts: &mut HostFacts| {
            (device(facts).queue_depth, device(facts).queues) = (Some(16), Some(1));
        };
        assert_eq!(codes(short), ["queue-short"]);
        let off = |facts: &mut HostFacts| {
            mounted(facts, "/", &["rw"]);
            mounted(facts, "/mnt/data", &["rw", "nobarrier"]);
        };
        assert_eq!(codes(off), ["barriers-off"]);
        let below = |facts: &mut HostFacts| {
            mounted(facts, "/mnt/data", &["rw"]);
            mounted(facts, "/lower", &["rw", "barrier=0"]);
            let detail = "at /lower".to_owned();
            facts.targets[0].chain.push(Link { detail, ..Link::default() });
        };
        assert_eq!(codes(below), ["barriers-off"], "of an overlay, or of a loop device's file");
        let volatile = |facts: &mut HostFacts| mounted(facts, "/mnt/data", &["fsync=volatile"]);
        assert_eq!(codes(volatile), ["barriers-off"]);
        assert_eq!(codes(|facts| device(facts).raid_missing = 1), ["array-degraded"]);
        assert_eq!(codes(|facts| device(facts).raid_action = "recover".into()), ["array-busy"]);
        let narrow = |facts: &mut HostFacts| {
            device(facts).link_now = "8.0 GT/s PCIe x4".to_owned();
            device(facts).link_best = "16.0 GT/s PCIe x4".to_owned();
        };
        assert_eq!(codes(narrow), ["link-narrow"]);
    }

    #[test]
    fn a_member_below_an_array_is_looked_at_and_each_doubt_stands_once() {
        let found = codes(|facts| {
            let member = DeviceFacts { raid_missing: 1, ..DeviceFacts::default() };
            let link = Link { kind: LinkKind::Raid, device: Some(member), ..Link::default() };
            facts.targets[0].chain = vec![link.clone(), link];
        });
        assert_eq!(found, ["array-degraded"]);
    }
}
