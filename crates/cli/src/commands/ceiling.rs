//! `plimsoll ceiling`

use super::{answer, network, print};
use crate::args::{CeilingArgs, Pattern};
use crate::asked::{suite_and_targets, testbed};
use crate::failure::{Failure, suite_failure};
use crate::files::outputs::{self, Kind};
use analysis::ceiling::{Ceiling, Workload, ceiling as compute};
use catalogue::Cluster;
use catalogue::cluster::{Change, Role, fixed};
use catalogue::devices::catalogue;
use form::Auto;
use model::choices::Access;
use model::load::{SizeMix, Skew};
use model::popularity::{Law, Popularity};
use model::{Bytes, Percent};
use report::topics::ceiling::{self, Ceilings};
use suite::{Spec, WorkloadSpec};

/// Computes and shows what a testbed can carry.
pub(crate) fn ceiling(args: &CeilingArgs) -> Result<(), Failure> {
    if args.devices {
        return print(&ceiling::catalogue(catalogue()));
    }
    if let Some(name) = &args.print {
        return print(testbed::built_in(name).ok_or_else(|| testbed::unknown(name))?);
    }
    match &args.testbed {
        None => print(&list()?),
        Some(wanted) => show(args, wanted),
    }
}

fn show(args: &CeilingArgs, wanted: &str) -> Result<(), Failure> {
    // What is given by hand has precedence over what was measured.
    let measured = args.network.as_deref().map(network::changes_of).transpose()?;
    let sets: Vec<Change> =
        measured.into_iter().flatten().chain(args.sets.iter().map(Change::from)).collect();
    let cluster = testbed::read(wanted, &sets)?;
    if args.footprint == Some(Bytes(0)) {
        return Err(Failure::usage(
            "--footprint 0: a load touches something; give all bytes that it touches, such \
             as 16TB, or leave it out",
        ));
    }
    let workloads = workloads(args)?;
    let judge = |cluster: &Cluster| -> Vec<Ceiling> {
        workloads.iter().map(|work| compute(cluster, work)).collect()
    };
    let base = judge(&cluster);
    if base.iter().all(|one| one.binding().is_none()) {
        let why = if holds_no_data(&cluster) {
            "the testbed has no data drives (those with role = \"boot\" hold no data); add them as \
             [[nodes.drives]] with a model or rates"
        } else {
            "no layer has a figure, so there is no ceiling; give the data drives a model or rates \
             ([[nodes.drives]]), or the nodes their ports"
        };
        return Err(Failure::usage(format!("{wanted}: {why}; nothing was computed")));
    }
    let mut what_ifs = Vec::new();
    for what_if in &args.what_ifs {
        let changes: Vec<Change> = sets.iter().chain(&what_if.changes).cloned().collect();
        what_ifs.push((what_if.name.clone(), judge(&testbed::read(wanted, &changes)?)));
    }
    let ceilings = Ceilings { cluster: &cluster, base, what_ifs, measured: args.measured };
    if let Some(out) = &args.shown.out {
        outputs::write(out, Kind::Page, args.shown.force, ceiling::html(&ceilings).as_bytes())?;
        eprintln!("page      {}", out.display());
    }
    answer(args.shown.json, || ceiling::json(&ceilings), || ceiling::table(&ceilings))
}

fn holds_no_data(cluster: &Cluster) -> bool {
    let mut drives = cluster.nodes.iter().flat_map(|group| &group.drives);
    drives.all(|drive| matches!(drive.spec.role.value, Role::Boot))
}

/// One workload in fio's words, those of a suite, or the usual ones.
fn workloads(args: &CeilingArgs) -> Result<Vec<Workload>, Failure> {
    if let Some(pattern) = args.rw {
        return Ok(vec![quick(args, pattern)]);
    }
    let Some(wanted) = &args.suite else { return Ok(Workload::usual(args.footprint)) };
    let (name, text) = suite_and_targets::find(std::slice::from_ref(wanted))?;
    let spec = Spec::parse(&name, &text, &[]).map_err(|errors| suite_failure(&errors))?;
    Ok(of_suite(&spec, args.footprint))
}

/// The workloads of every scenario of a suite, one for each point; what differs only in its
/// scenario's name stands once.
fn of_suite(spec: &Spec, footprint: Option<Bytes>) -> Vec<Workload> {
    let mut found: Vec<(&str, Workload)> = Vec::new();
    for scenario in spec.scenarios() {
        let name = scenario.name.as_deref().unwrap_or_default();
        for point in &scenario.points {
            let axes: Vec<String> = point.sweep.iter().map(model::Setting::to_string).collect();
            for work in &point.workloads {
                let mut workload = of_workload(work, footprint);
                if !axes.is_empty() {
                    workload.name = format!("{} ({})", workload.name, axes.join(", "));
                }
                if !found.iter().any(|(_, known)| *known == workload) {
                    found.push((name, workload));
                }
            }
        }
    }
    let mut workloads: Vec<Workload> = Vec::new();
    for (scenario, mut workload) in found.clone() {
        // Of one name in several scenarios, each says of which it is.
        if found.iter().filter(|(_, other)| other.name == workload.name).count() > 1 {
            workload.name = format!("{} ({scenario})", workload.name);
        }
        workloads.push(workload);
    }
    workloads
}

fn of_workload(spec: &WorkloadSpec, footprint: Option<Bytes>) -> Workload {
    let reads = &spec.block_size.value;
    let writes = match &spec.write_block_size.value {
        Auto::Fixed(mix) => mix,
        Auto::Auto => reads,
    };
    let random = match (spec.random.value, spec.access.value) {
        (Auto::Fixed(share), _) => share,
        (Auto::Auto, Access::Sequential) => Percent::ZERO,
        (Auto::Auto, _) => Percent::ALL,
    };
    let workload = Workload::of_mixes(&spec.name.value, reads, writes, spec.read.value, random);
    let popularity = footprint.and_then(|bytes| popularity(spec, bytes, reads, writes));
    Workload { footprint, popularity, ..workload }
}

/// Which blocks a workload of a suite prefers, where it touches so many bytes. Nobody plans hosts
/// and workers here, so one worker counts, which has the whole for itself.
fn popularity(
    spec: &WorkloadSpec,
    footprint: Bytes,
    reads: &SizeMix,
    writes: &SizeMix,
) -> Option<Popularity> {
    let access = spec.access.value;
    let usual = Skew { milli: if access == Access::Pareto { 200 } else { 1_200 } };
    let skew = fixed(spec.skew.value).unwrap_or(usual);
    let sizes = || reads.sizes().chain(writes.sizes());
    let is_one = sizes().all(|size| Some(size) == sizes().next());
    let align = match spec.align.value {
        Auto::Fixed(align) => align,
        Auto::Auto if is_one => Bytes(0),
        Auto::Auto => sizes().min().unwrap_or_default(),
    };
    Some(Popularity {
        law: Law::of(access, skew, &spec.hot_spots.value)?,
        part: footprint,
        sharers: 1,
        reads: reads.clone(),
        writes: writes.clone(),
        align,
    })
}

fn quick(args: &CeilingArgs, pattern: Pattern) -> Workload {
    let mixed = args.rwmixread.unwrap_or(Percent::of(50));
    let (word, is_random, read) = match pattern {
        Pattern::Read => ("sequential", false, Percent::ALL),
        Pattern::Write => ("sequential", false, Percent::ZERO),
        Pattern::Randread => ("random", true, Percent::ALL),
        Pattern::Randwrite => ("random", true, Percent::ZERO),
        Pattern::Rw => ("sequential", false, mixed),
        Pattern::Randrw => ("random", true, mixed),
    };
    let block = args.bs.unwrap_or(Bytes::kib(4));
    let mix = match read {
        Percent::ALL => "read".to_owned(),
        Percent::ZERO => "write".to_owned(),
        share => format!("{share} read"),
    };
    Workload::new(&format!("{block} {word} {mix}"), block, read, is_random, args.footprint)
}

fn list() -> Result<String, Failure> {
    let mut lines = String::new();
    for (name, _) in testbed::BUILT_IN {
        let cluster = testbed::read(name, &[])?;
        lines.push_str(&format!("{name:20} {}\n", cluster.top.description.value));
    }
    lines.push_str(
        "\n`plimsoll ceiling NAME` says what it can carry; `plimsoll ceiling --print NAME > \
         my.toml` prints one to start your own from.\n",
    );
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_s_workload_has_the_mean_of_its_sizes_and_both_directions() {
        let text = "name = \"s\"\n[[workload]]\nname = \"w\"\nblock_size = \"4KiB:75, \
                    64KiB:25\"\nwrite_block_size = \"8KiB\"\nread = \"75%\"\n";
        let spec = Spec::parse("s", text, &[]).expect("a good suite");
        let workload = of_workload(&spec.first_scenario().points[0].workloads[0], None);
        assert_eq!((workload.read_bytes, workload.write_bytes), (19.0 * 1024.0, 8192.0));
        assert_eq!((workload.random, workload.read_share()), (1.0, 0.75));
        assert_eq!(workload.bytes(), 0.75 * 19.0 * 1024.0 + 0.25 * 8192.0);
    }

    #[test]
    fn every_scenario_of_a_suite_has_its_workloads() {
        let (name, text) = suite_and_targets::find(&["pixstor-nvme".to_owned()]).expect("built in");
        let spec = Spec::parse(&name, &text, &[]).expect("a good suite");
        let names: Vec<String> =
            of_suite(&spec, None).into_iter().map(|workload| workload.name).collect();
        for workload in
            ["n-n-sequential-write", "n-1-sequential-read", "random-read", "random-write"]
        {
            assert!(names.iter().any(|name| name.starts_with(workload)), "{workload}: {names:?}");
        }
        let (name, text) =
            suite_and_targets::find(&["s2d-disaggregated".to_owned()]).expect("built in");
        let spec = Spec::parse(&name, &text, &[]).expect("a good suite");
        assert_eq!(of_suite(&spec, None).len(), 2, "three ways to one load have one ceiling");
    }
}
