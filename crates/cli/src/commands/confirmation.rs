//! Whether a recorded plan may be carried out where it says: its run file may come from anybody, so
//! its targets need a word of the user, or the marker of that very run.

use crate::args::TargetArg;
use model::plan::{PlannedTarget, Target};
use model::testbed::{DirectoryState, HostFacts, TargetKind};
use model::{HostPlan, hostlist};

pub(crate) fn check(plan: &HostPlan, facts: &HostFacts, named: &[TargetArg]) -> Result<(), String> {
    let needed = plan.most_buffers();
    // Under simulated time nothing is allocated for them.
    if !plan.engine.virtual_time && needed.0 > facts.memory.0 / 2 {
        return Err(format!(
            "host {}: its workers need {needed} of buffers, more than half of its {} of memory; \
             do not trust this run file, or begin the run anew",
            plan.hostname, facts.memory
        ));
    }
    for target in &plan.targets {
        let there =
            facts.targets.iter().find(|facts| facts.path == target.path).map(|facts| &facts.kind);
        match &target.kind {
            PlannedTarget::Directory { .. } => directory(plan, target, there, named)?,
            PlannedTarget::Device => device(plan, target, there)?,
            // The host that makes them answers for files of another host: they are opened beside
            // the marker of this run alone.
            PlannedTarget::ReadOnly => read_only(plan, target, named)?,
            PlannedTarget::Joined | PlannedTarget::Simulated => {}
        }
    }
    Ok(())
}

fn directory(
    plan: &HostPlan,
    target: &Target,
    there: Option<&TargetKind>,
    named: &[TargetArg],
) -> Result<(), String> {
    let is_marked = match there {
        Some(TargetKind::Directory { state: DirectoryState::Claimed { run, .. }, .. }) => {
            *run == plan.run_id
        }
        _ => false,
    };
    if is_marked || is_named(plan, target, named) {
        return Ok(());
    }
    Err(format!(
        "host {}: nothing of this run is left at {:?}, and a run file may come from anybody; look \
         at that path, and name it with --target to have the run write there",
        plan.hostname, target.path
    ))
}

fn is_named(plan: &HostPlan, target: &Target, named: &[TargetArg]) -> bool {
    let is_this_host =
        |hosts: &String| hostlist::expand(hosts).is_ok_and(|names| names.contains(&plan.hostname));
    let is_it = |named: &TargetArg| {
        named.path == target.path && named.hosts.as_ref().is_none_or(is_this_host)
    };
    named.iter().any(is_it)
}

/// A file or device of others has no marker of the run: the user says that it may be read.
fn read_only(plan: &HostPlan, target: &Target, named: &[TargetArg]) -> Result<(), String> {
    if is_named(plan, target, named) {
        return Ok(());
    }
    Err(format!(
        "host {}: the run reads {:?}, and a run file may come from anybody; look at that path, and \
         name it with --target to have the run read it",
        plan.hostname, target.path
    ))
}

/// As a run would be refused that begins.
fn device(plan: &HostPlan, target: &Target, there: Option<&TargetKind>) -> Result<(), String> {
    let needed = target.files.iter().map(|file| file.size).max().unwrap_or_default();
    let why = match there {
        Some(TargetKind::Device { in_use: Some(why), .. }) => {
            format!("the device is in use: {why}")
        }
        Some(TargetKind::Device { size, in_use: None }) if *size < needed => {
            format!("the device has {size}, and the run loads {needed} of it")
        }
        Some(TargetKind::Device { in_use: None, .. }) => return Ok(()),
        Some(TargetKind::Unreadable(why)) => format!("it cannot be looked at: {why}"),
        _ => "it is no block device".to_owned(),
    };
    Err(format!(
        "host {}: target {:?}: {why}; begin the run anew on an unused device",
        plan.hostname, target.path
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Backend;
    use model::plan::{EngineSettings, TargetFile};
    use model::testbed::TargetFacts;
    use model::{Bytes, Nanos};

    fn checked(kind: PlannedTarget, there: TargetKind, named: &[&str]) -> Result<(), String> {
        let files = vec![TargetFile { path: "/x".into(), size: Bytes::mib(1) }];
        let target = Target { path: "/x".into(), kind, files };
        let engine = EngineSettings::simple(Backend::Sync);
        let plan =
            HostPlan { targets: vec![target], ..HostPlan::empty("r", Nanos::seconds(1), engine) };
        let facts = TargetFacts {
            path: "/x".into(),
            kind: there,
            writable: true,
            ..TargetFacts::default()
        };
        let host = HostFacts {
            hostname: "h".into(),
            logical_cpus: 1,
            memory: Bytes::gib(1),
            targets: vec![facts],
            ..HostFacts::default()
        };
        let named: Vec<TargetArg> =
            named.iter().map(|text| text.parse().expect("a target")).collect();
        check(&plan, &host, &named)
    }

    #[test]
    fn what_a_run_only_reads_is_named() {
        let there = TargetKind::File { size: Bytes::mib(1) };
        let of = |named: &[&str]| checked(PlannedTarget::ReadOnly, there.clone(), named);
        let why = of(&["/y", "g:/x"]).expect_err("nobody named it");
        assert!(why.contains("--target") && why.contains("\"/x\""), "{why}");
        assert_eq!((of(&["/x"]), of(&["h:/x"])), (Ok(()), Ok(())));
    }

    #[test]
    fn a_directory_carries_the_runs_own_marker_or_is_named() {
        let root = || "/x".to_owned();
        let kind = || PlannedTarget::Directory { root: root() };
        let claimed = |run: &str| {
            let state = DirectoryState::Claimed { used: Bytes(0), run: run.to_owned() };
            TargetKind::Directory { root: root(), state }
        };
        assert_eq!(checked(kind(), claimed("r"), &[]), Ok(()));
        for there in [claimed("another"), claimed(""), TargetKind::Missing] {
            let why = checked(kind(), there.clone(), &["/y", "g:/x"]).expect_err("nobody named it");
            assert!(
                why.contains("host h") && why.contains("\"/x\"") && why.contains("--target"),
                "{why}"
            );
            assert_eq!(checked(kind(), there.clone(), &["/x"]), Ok(()));
            assert_eq!(checked(kind(), there, &["h:/x"]), Ok(()));
        }
    }

    #[test]
    fn a_device_in_use_is_refused_as_by_a_run_that_begins() {
        let device = |mib: u64, in_use: Option<&str>| TargetKind::Device {
            size: Bytes::mib(mib),
            in_use: in_use.map(str::to_owned),
        };
        assert_eq!(checked(PlannedTarget::Device, device(1, None), &[]), Ok(()));
        for (there, told) in [
            (device(1, Some("mounted at /")), "mounted at /"),
            (device(0, None), "1 MiB"),
            (TargetKind::File { size: Bytes::mib(1) }, "no block device"),
            (TargetKind::Unreadable("not allowed".into()), "not allowed"),
        ] {
            let why = checked(PlannedTarget::Device, there, &["/x"]).expect_err("refused");
            assert!(why.contains(told), "{why}");
        }
    }
}
