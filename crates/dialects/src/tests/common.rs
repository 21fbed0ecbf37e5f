//! A host on which every target of an imported suite can be planned, and what an import of a
//! command line says.

use crate::Import;
use model::testbed::{DirectIo, HostFacts, Place, TargetFacts, TargetKind};
use model::{Bytes, Plan};
use proptest::prop_assert;
use proptest::test_runner::TestCaseError;
use std::fmt::Write;
use suite::planner::{self, GivenUp, Request};
use suite::{HostTargets, Spec};

/// The report of losses of a command line and its suites, as people read them.
pub fn losses_and_suites(import: &Import) -> String {
    let mut text = String::new();
    for reported in &import.options {
        let class = reported.class.word();
        let option = format!("{} {}", reported.name, reported.value);
        let _ = writeln!(text, "{:8} {option:24} {class:12} {}", reported.place, reported.why);
    }
    for suite in &import.suites {
        let _ = write!(text, "\n{}", suite.text);
    }
    text
}

fn target(path: &str) -> TargetFacts {
    let kind = match path.starts_with("/dev/") {
        true => TargetKind::Device { size: Bytes::gib(4_000), in_use: None },
        false => TargetKind::Missing,
    };
    TargetFacts {
        path: path.into(),
        kind,
        writable: true,
        file_system: Some("ext4".into()),
        free: Bytes::gib(200_000),
        reserved: Bytes(0),
        total: Bytes::gib(200_000),
        free_inodes: Some(100_000_000),
        direct: DirectIo::Aligned(512),
        device: None,
        chain: Vec::new(),
    }
}

fn host(targets: Vec<TargetFacts>) -> HostFacts {
    HostFacts {
        hostname: "h".into(),
        kernel: "Linux".into(),
        cpu_model: "cpu".into(),
        logical_cpus: 8,
        memory: Bytes::gib(1_024),
        memory_available: Bytes::gib(1_000),
        numa_cpus: vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]],
        hypervisor: None,
        place: Place::default(),
        identity: String::new(),
        agent_version: "0".into(),
        inventory: model::inventory::Inventory::default(),
        targets,
    }
}

/// The plan of a suite, or what is wrong with it, in words.
pub fn planned(text: &str) -> Result<Plan, String> {
    let mut spec = Spec::parse("imported.toml", text, &[]).map_err(|errors| {
        let all: Vec<String> = errors
            .problems
            .iter()
            .map(|problem| format!("{}; {}", problem.message, problem.remedy))
            .collect();
        all.join("\n")
    })?;
    let everywhere = HostTargets {
        hosts: suite::ALL_HOSTS.to_owned(),
        // What has no size is a device that has one.
        paths: vec![if text.contains("size = \"free\"") { "/dev/t" } else { "/t" }.to_owned()],
        owner: String::new(),
    };
    if spec.targets.is_empty() {
        spec.targets.push(everywhere);
    }
    let targets = spec.scenarios().iter().flat_map(|scenario| spec.targets_of(scenario));
    let mut paths: Vec<String> = Vec::new();
    for path in targets.flat_map(|target| &target.paths) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    let devices = paths.iter().filter(|path| path.starts_with("/dev/"));
    let given_up: Vec<GivenUp> =
        devices.map(|path| GivenUp { host: None, device: path.clone() }).collect();
    let hosts = [host(paths.iter().map(|path| target(path)).collect())];
    planner::plan(&Request {
        run_id: "imported",
        spec: &spec,
        scale: model::Scale::FULL,
        existing: false,
        destroy_data: &given_up,
        hosts: &hosts,
    })
    .map_err(|refusals| refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// Tools fail themselves where these are asked for.
const THEIR_OWN: [&str; 4] = ["one block", "direct I/O needs", "smaller than", "multiple"];

/// A line that nobody chose is refused in words, or can be planned, or its tool fails there, too.
pub fn planned_or_refused(line: &str, import: &Import) -> Result<(), TestCaseError> {
    if import.refused().next().is_none()
        && let Err(why) = planned(&import.suites[0].text)
    {
        let is_its_own = THEIR_OWN.iter().any(|word| why.contains(word));
        prop_assert!(is_its_own, "{line}: {why}\n{}", import.suites[0].text);
    }
    Ok(())
}
