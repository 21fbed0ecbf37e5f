//! One disk under two hosts: each would overwrite what the other one writes, and figures of both
//! would be those of half a disk.

use super::Refusal;
use model::plan::{Extent, HostPlan, Part, PlannedTarget, Work};
use model::testbed::HostFacts;
use model::wwid;
use std::collections::BTreeMap;

struct Written<'a> {
    host: &'a HostPlan,
    path: &'a str,
    wwid: &'a str,
    /// The part of the plan that it belongs to; `None` where the plan is all one.
    part: Option<&'a Part>,
}

/// Refuses devices of two hosts that are one disk for sure and are written to by both while their
/// layouts stand. Layouts of scenarios that take turns may be on one disk, because each is made
/// anew. No layout has hosts share a device: only files can be shared.
///
/// The hosts of `plans` are those of `hosts`, in their order.
pub(super) fn shared(plans: &[HostPlan], hosts: &[HostFacts]) -> Vec<Refusal> {
    let all: Vec<Vec<Written<'_>>> =
        plans.iter().zip(hosts).map(|(plan, facts)| written(plan, facts)).collect();
    let mut refusals = Vec::new();
    for (number, mine) in all.iter().enumerate() {
        for device in mine {
            let mut earlier = all[..number].iter().flatten();
            // One line for each device is enough, however many hosts have it.
            refusals.extend(
                earlier.find(|other| meet(device, other)).map(|other| refusal(other, device)),
            );
        }
    }
    refusals.dedup();
    refusals
}

/// Refuses devices that two hosts on one kernel would watch for their commands: what one kernel
/// counted cannot be told apart by the command that caused it, and would count twice.
pub(super) fn watched_twice(hosts: &[HostFacts]) -> Vec<Refusal> {
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut refusals = Vec::new();
    for host in hosts {
        let Some(kernel) = host.kernel_id() else { continue };
        for device in host.targets.iter().filter_map(|target| target.device.as_ref()) {
            let other = *seen.entry((kernel, &device.name)).or_insert(&host.hostname);
            if other != host.hostname {
                let what = format!(
                    "hosts {other} and {} are one machine, and their targets lie on one device \
                     ({}), whose requests would count twice",
                    host.hostname, device.name
                );
                let remedy = "name a target on a device of its own for each, or one host";
                refusals.push(Refusal::target(what, remedy));
            }
        }
    }
    refusals
}

fn refusal(one: &Written<'_>, other: &Written<'_>) -> Refusal {
    let what = format!(
        "host {}: device {} and device {} of host {} are one disk ({}), and both hosts would \
         write to it",
        other.host.hostname, other.path, one.path, one.host.hostname, other.wwid
    );
    Refusal::target(what, "give each host a disk of its own, or read it with --existing")
}

fn meet(one: &Written<'_>, other: &Written<'_>) -> bool {
    let at_once = match (one.part, other.part) {
        (Some(one), Some(other)) => one.meets(other),
        _ => true,
    };
    at_once && wwid::is_same(one.wwid, other.wwid)
}

/// The devices that a host writes to and whose names are known.
fn written<'a>(plan: &'a HostPlan, facts: &'a HostFacts) -> Vec<Written<'a>> {
    let mut found = Vec::new();
    let mut first = 0;
    for (number, target) in plan.targets.iter().enumerate() {
        let files = first..first + target.files.len();
        first = files.end;
        let of_path = facts.targets.iter().find(|facts| facts.path == target.path);
        let wwid = of_path
            .and_then(|facts| facts.device.as_ref())
            .map_or("", |device| device.wwid.as_str());
        if target.kind != PlannedTarget::Device || wwid.is_empty() {
            continue;
        }
        let is_in = |extent: &Extent| files.contains(&(extent.file as usize));
        if is_changed(plan, &is_in) {
            let part = plan.parts.iter().find(|part| part.targets.contains(&(number as u32)));
            found.push(Written { host: plan, path: &target.path, wwid, part });
        }
    }
    found
}

/// Whether any worker writes to extents that are `wanted`.
fn is_changed(plan: &HostPlan, wanted: &dyn Fn(&Extent) -> bool) -> bool {
    plan.stages.iter().any(|stage| {
        let changes = |work: u32| stage.works.get(work as usize).is_some_and(Work::changes);
        stage.workers.iter().any(|worker| changes(worker.work) && worker.extents.iter().any(wanted))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{GivenUp, Request, tests as any};
    use super::*;
    use crate::Spec;
    use model::plan::Plan;
    use model::testbed::{DeviceFacts, TargetFacts, TargetKind};
    use model::units::Bytes;

    const SUITE: &str = "name = \"t\"\n[[workload]]\nname = \"w\"\nread = \"50%\"\n";
    const DISK: &str = "naa.6001405a1b2c3d4e5f60718293a4b5c6";

    fn host(name: &str, path: &str, wwid: &str) -> HostFacts {
        let device = DeviceFacts {
            size: Bytes::gib(200),
            logical_block: 512,
            wwid: wwid.into(),
            ..DeviceFacts::default()
        };
        let kind = TargetKind::Device { size: Bytes::gib(200), in_use: None };
        let target =
            TargetFacts { device: Some(device), ..super::super::tests::target(path, kind) };
        let identity = format!("boot of {name}");
        HostFacts { hostname: name.into(), identity, ..super::super::tests::host(vec![target]) }
    }

    fn planned(suite: &str, existing: bool, hosts: &[HostFacts]) -> Result<Plan, Vec<String>> {
        let spec = Spec::parse("t.toml", suite, &[]).expect("a good suite");
        let given = |host: &HostFacts| {
            let of = |target: &TargetFacts| GivenUp {
                host: Some(host.hostname.clone()),
                device: target.path.clone(),
            };
            host.targets.iter().map(of).collect::<Vec<_>>()
        };
        let destroy_data: Vec<GivenUp> =
            if existing { Vec::new() } else { hosts.iter().flat_map(given).collect() };
        let request =
            Request { existing, destroy_data: &destroy_data, ..any::request(&spec, hosts) };
        any::planned(&request)
    }

    #[test]
    fn hosts_that_would_write_to_one_disk_are_refused_by_name() {
        let hosts = [
            host("a", "/dev/sdb", DISK),
            host("b", "/dev/sdc", DISK),
            host("c", "/dev/sdb", "naa.5000c500a1b2c3d4"),
        ];
        let told = planned(SUITE, false, &hosts).expect_err("one disk");
        let line = format!(
            "host b: device /dev/sdc and device /dev/sdb of host a are one disk ({DISK}), and \
             both hosts would write to it; give each host a disk of its own, or read it with \
             --existing"
        );
        assert_eq!(told, [line]);
        let mapped = [
            host("a", "/dev/sdb", DISK),
            host("b", "/dev/dm-1", "dm.mpath-36001405a1b2c3d4e5f60718293a4b5c6"),
        ];
        assert_eq!(planned(SUITE, false, &mapped).expect_err("one disk").len(), 1);
    }

    #[test]
    fn names_that_prove_nothing_and_hosts_that_only_read_are_not_refused() {
        for wwid in ["", "t10.ATA QEMU HARDDISK QM00001", "serial.disk-1", "serial.00000000"] {
            planned(SUITE, false, &[host("a", "/dev/vdb", wwid), host("b", "/dev/vdb", wwid)])
                .expect("two disks");
        }
        let reads = SUITE.replace("50%", "100%");
        let hosts = [host("a", "/dev/sdb", DISK), host("b", "/dev/sdb", DISK)];
        planned(&reads, true, &hosts).expect("both only read");
        assert_eq!(
            planned(&reads, false, &hosts).expect_err("what is read is written first").len(),
            1
        );
    }

    #[test]
    fn scenarios_may_take_turns_on_a_disk_but_not_hold_it_together() {
        let suite = |order: &str| {
            let of = |name: &str, a: &str, b: &str, size: &str| {
                let targets = format!("targets = {{ a = \"{a}\", b = \"{b}\" }}\n");
                format!(
                    "[[scenario]]\nname = \"{name}\"\n{targets}layout = {{ size = \"{size}\" }}\n"
                )
            };
            let mine = of("first", "/dev/both", "/dev/own", "64MiB");
            format!(
                "{SUITE}[sweep]\norder = \"{order}\"\n{mine}{}",
                of("second", "/dev/own", "/dev/both", "32MiB")
            )
        };
        let two = |name: &str, own: &str| {
            let mut facts = host(name, "/dev/both", DISK);
            facts.targets.extend(host(name, "/dev/own", own).targets);
            facts
        };
        let hosts = [two("a", "naa.5000c500a1b2c3d4"), two("b", "naa.5000c500a1b2c3d5")];
        planned(&suite("sequential"), false, &hosts).expect("one after the other");
        let told = planned(&suite("interleaved"), false, &hosts).expect_err("both stand");
        assert!(
            told.len() == 1 && told[0].contains("device /dev/both of host a are one disk"),
            "{told:?}"
        );
    }
}
