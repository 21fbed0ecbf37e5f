//! Finds the suite that was asked for, and puts targets and options together.

use crate::args::{DEFAULT_TARGET, Pattern, QuickArgs, WorkArgs};
use crate::asked::{quick, quotable, simulate};
use crate::commands::lab;
use crate::failure::{Failure, suite_failure};
use crate::files::text_file;
use crate::{imported, machines};
use clap::ValueEnum;
use form::{Override, nearest};
use model::note::{Adjusted, Imported};
use provision::Deployment;
use provision::provider::Machine;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use suite::planner::GivenUp;
use suite::{ALL_HOSTS, HostTargets, Scenario, Spec, planner};

/// The built-in suites: name and text.
pub(crate) const BUILT_IN: [(&str, &str); 26] = embedded!(
    "../../../../suites/",
    ".toml",
    [
        "azure-stack-hci", "calibration", "disk-mark", "fileserver", "four-corners",
        "hyperflex-stretched", "io500-like", "ior-n-to-1", "iozone-n-to-n", "iozone-random",
        "jesd219-enterprise", "mdtest-4k", "pixstor-nvme", "quick", "s2d-disaggregated", "smoke",
        "snia-iops", "snia-latency", "snia-throughput", "snia-write-saturation", "varmail",
        "vmfleet-general", "vmfleet-sql", "vmfleet-vdi", "vsan-four-corners", "webserver"
    ]
);

/// What was asked for: a checked suite and the targets it goes to.
pub(crate) struct Asked {
    pub(crate) spec: Spec,
    targets: Vec<HostTargets>,
    pub(crate) left_out: Vec<Adjusted>,
    pub(crate) text: String,
    pub(crate) is_file: bool,
    /// What became of the options of the job that it was made of.
    pub(crate) imported: Option<Imported>,
    disks: Vec<GivenUp>,
    pub(crate) run_file_in: PathBuf,
}

impl Asked {
    pub(crate) fn own_disks(&self) -> Vec<GivenUp> {
        self.disks.clone()
    }

    pub(crate) fn targets_of(&self, hosts: &[String]) -> Result<Vec<Vec<String>>, Failure> {
        let of = |scenario: &Scenario| {
            let targets = scenario.own_targets.as_ref().unwrap_or(&self.targets);
            let found = planner::targets_of(&self.spec.labels, targets, hosts);
            found.map_err(|refusals| Failure::refused(&refusals))
        };
        let mut all = of(self.spec.first_scenario())?;
        for scenario in &self.spec.scenarios()[1..] {
            for (mine, further) in all.iter_mut().zip(of(scenario)?) {
                let new: Vec<String> =
                    further.into_iter().filter(|path| !mine.contains(path)).collect();
                mine.extend(new);
            }
        }
        Ok(all)
    }
}

pub(crate) fn asked(work: &WorkArgs) -> Result<Asked, Failure> {
    asked_with(work, &[])
}

/// Reads the arguments, with these fields changed before any `--set` of theirs.
pub(crate) fn asked_with(work: &WorkArgs, changed: &[Override]) -> Result<Asked, Failure> {
    let mut imported = None;
    let (name, text, paths) = match work.quick.rw {
        Some(pattern) => {
            ("(quick form)".to_owned(), quick::suite(pattern, &work.quick), work.what.clone())
        }
        None => {
            if work.what.is_empty() && work.quick != QuickArgs::default() {
                return Err(Failure::usage(
                    "words of the quick form need a pattern or a suite; add --rw \
                            randread, or name a suite",
                ));
            }
            let (name, text) = find(&work.what)?;
            // A file that calls itself a suite is held to that.
            let is_job =
                !name.ends_with(".toml") && !is_built_in(&name) && dialects::is_job(&name, &text);
            let text = match is_job {
                true => {
                    let job = imported::to_run(&name, &text, work.allow_loss)?;
                    imported = Some(job.imported);
                    job.text
                }
                false => text,
            };
            (name, text, Vec::new())
        }
    };
    put_together(work, Read { name, text, paths, imported }, changed)
}

/// The same of a suite that was made for these arguments.
pub(crate) fn asked_of(work: &WorkArgs, name: &str, text: String) -> Result<Asked, Failure> {
    put_together(work, Read { name: name.to_owned(), text, paths: Vec::new(), imported: None }, &[])
}

struct Read {
    name: String,
    text: String,
    paths: Vec<String>,
    /// What became of the options of a job.
    imported: Option<Imported>,
}

/// A lab's nodes are at its sites, and load its mount where nothing else is named.
fn in_lab(work: &WorkArgs, spec: &mut Spec) -> Result<(), Failure> {
    let Some(lab) = lab::named(&work.hosts)? else { return Ok(()) };
    if spec.labels.is_empty() {
        spec.labels = lab::labels(&lab);
    }
    if spec.targets.is_empty() {
        spec.targets = vec![of_hosts(None, &lab.mount().to_string_lossy())];
    }
    Ok(())
}

fn put_together(work: &WorkArgs, read: Read, changed: &[Override]) -> Result<Asked, Failure> {
    let Read { name, text, paths, imported } = read;
    let mut sets = changed.to_vec();
    if work.buffered {
        // Comes first, so that an explicit --set has the last word.
        sets.extend("engine.direct=false".parse::<Override>());
    }
    if let Some(counters) = &work.counters {
        sets.extend(format!("keep.counters={counters}").parse::<Override>());
    }
    if work.hosts.simulate.is_some() {
        // A simulation stores nothing, and its caches are in their steady state from the start.
        sets.extend("stages.prepare=false".parse::<Override>());
    }
    if work.quotable {
        sets.extend(quotable::for_longest(&work.sets));
    }
    let folder = Path::new(&name).parent().unwrap_or(Path::new("")).to_owned();
    let files = |file: &str| text_file::of_suite(&folder, file);
    let parse = |sets: &[Override]| {
        Spec::parse_with(&name, &text, sets, &files).map_err(|errors| suite_failure(&errors))
    };
    let mut spec = parse(&[sets.as_slice(), work.sets.as_slice()].concat())?;
    if work.quick.rw.is_none() {
        let words = quick::sets(&work.quick, &spec);
        if !words.is_empty() {
            sets.extend(words);
            spec = parse(&[sets.as_slice(), work.sets.as_slice()].concat())?;
        }
    }
    if imported.is_some() {
        imported::refuse_commands(&spec, &work.sets, work.allow_commands)?;
    }
    if work.quotable {
        sets.extend(quotable::sets(&spec));
        spec = parse(&[sets.as_slice(), work.sets.as_slice()].concat())?;
    }
    if work.hosts.simulate.is_some() {
        let amounts = simulate::amounts(&spec, work.scale);
        if !amounts.is_empty() {
            spec = parse(&[sets, amounts, work.sets.clone()].concat())?;
        }
    }
    spec.keep_scenarios(&work.scenarios).map_err(Failure::usage)?;
    in_lab(work, &mut spec)?;
    let cluster = simulate::target(&work.hosts, &name)?;
    let loaded = loaded_machines(work, &paths)?;
    let mut targets = targets(work, &paths, cluster.clone(), &spec)?;
    let mut left_out = Vec::new();
    if let Some(cluster) = &cluster {
        left_out = on_cluster(cluster, &mut spec)?;
    } else if let Some(machines) = &loaded {
        // So do the disks of machines of ours.
        targets = machine_targets(machines);
        for scenario in spec.scenarios_mut() {
            scenario.own_targets = Some(targets.clone());
        }
    } else if spec.has_named_scenarios() {
        // A scenario's own targets stay. Those of the file stay where there are no scenarios: they
        // say who owns a path, whoever names it.
        spec.targets.clone_from(&targets);
    }
    let is_file = work.quick.rw.is_none() && !is_built_in(&name);
    let disks = loaded.as_ref().map_or_else(Vec::new, own_disks);
    let run_file_in = PathBuf::from(".");
    Ok(Asked { spec, targets, left_out, text, is_file, imported, disks, run_file_in })
}

/// A simulated cluster takes the place of all targets. What of the suite is left out there.
fn on_cluster(cluster: &str, spec: &mut Spec) -> Result<Vec<Adjusted>, Failure> {
    let mut left_out = simulate::leave_out(spec);
    left_out.extend(simulate::join_targets(spec));
    left_out.extend(simulate::without_software(cluster)?);
    let clusters = spec.scenarios().iter().map(|one| simulate::of_scenario(cluster, spec, one));
    let clusters = clusters.collect::<Result<Vec<String>, Failure>>()?;
    for (scenario, own) in spec.scenarios_mut().iter_mut().zip(clusters) {
        left_out.extend(simulate::assumed(&own));
        scenario.own_targets = Some(vec![of_hosts(None, &own)]);
    }
    Ok(left_out)
}

fn loaded_machines(work: &WorkArgs, paths: &[String]) -> Result<Option<Deployment>, Failure> {
    let is_named = !work.targets.is_empty() || !paths.is_empty();
    let is_made = work.machines.provider.is_some();
    if is_made && (is_named || !work.destroy_data.is_empty() || work.existing) {
        return Err(Failure::usage(
            "the disks of machines are the targets of --provider; leave out other \
                    targets, --destroy-data and --existing",
        ));
    }
    if is_named || work.existing || !work.destroy_data.is_empty() {
        return Ok(None);
    }
    machines::named(&work.hosts)
}

/// The disks that machines of ours load: the same paths in all, or each machine its own.
fn machine_targets(machines: &Deployment) -> Vec<HostTargets> {
    if machines.machines.iter().all(|machine| machine.devices.is_empty()) {
        return vec![HostTargets { paths: machines.devices.clone(), ..of_hosts(None, "") }];
    }
    let of = |machine: &Machine| HostTargets {
        paths: machines.devices_of(machine).to_vec(),
        ..of_hosts(Some(&machine.name), "")
    };
    machines.machines.iter().map(of).collect()
}

fn own_disks(machines: &Deployment) -> Vec<GivenUp> {
    let of = |machine: &Machine| {
        let host = Some(machine.name.clone());
        let one = move |device: &String| GivenUp { host: host.clone(), device: device.clone() };
        machines.devices_of(machine).iter().map(one).collect::<Vec<_>>()
    };
    machines.machines.iter().flat_map(of).collect()
}

fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(built_in, _)| *built_in == name)
}

/// What the arguments name; if they name nothing, what the suite does.
fn targets(
    work: &WorkArgs,
    paths: &[String],
    cluster: Option<String>,
    spec: &Spec,
) -> Result<Vec<HostTargets>, Failure> {
    let mut targets: Vec<HostTargets> = paths.iter().map(|path| of_hosts(None, path)).collect();
    targets
        .extend(work.targets.iter().map(|target| of_hosts(target.hosts.as_deref(), &target.path)));
    if let Some(cluster) = cluster {
        if !targets.is_empty() || !work.destroy_data.is_empty() {
            return Err(Failure::usage(
                "--simulate is a target itself; leave out the others, or name \
                        sim:cluster=TESTBED as the target",
            ));
        }
        return Ok(vec![of_hosts(None, &cluster)]);
    }
    check_targets(&targets)?;
    if targets.is_empty() {
        targets.clone_from(&spec.targets);
    }
    for given in work.destroy_data.iter().flat_map(|given| &given.0) {
        let is_named = |target: &HostTargets| target.paths.contains(&given.device);
        let own = spec.scenarios().iter().filter_map(|scenario| scenario.own_targets.as_ref());
        let of_scenarios = own.flatten();
        if !targets.iter().chain(of_scenarios).any(is_named) {
            targets.push(of_hosts(None, &given.device));
        }
    }
    if targets.is_empty() {
        targets.push(of_hosts(None, DEFAULT_TARGET));
    }
    Ok(targets)
}

fn of_hosts(hosts: Option<&str>, path: &str) -> HostTargets {
    let hosts = hosts.unwrap_or(ALL_HOSTS).to_owned();
    HostTargets { hosts, paths: vec![path.to_owned()], owner: String::new() }
}

fn check_targets(targets: &[HostTargets]) -> Result<(), Failure> {
    // A shell makes one of a variable that it does not know.
    if targets.iter().flat_map(|target| &target.paths).any(|path| path.trim().is_empty()) {
        return Err(Failure::usage(
            "a target has no name; give a directory, a file or a device, and `.` for \
                    the directory you are in",
        ));
    }
    // What hosts of their own are given is looked at when these are known.
    let of_all = targets.iter().filter(|target| target.hosts == ALL_HOSTS);
    let paths: Vec<&String> = of_all.flat_map(|target| &target.paths).collect();
    for (index, target) in paths.iter().enumerate() {
        let is_same = |other: &&String| {
            other == target
                || std::fs::canonicalize(other)
                    .is_ok_and(|a| std::fs::canonicalize(target).is_ok_and(|b| a == b))
        };
        if paths[..index].iter().any(is_same) {
            return Err(Failure::usage(format!(
                "target {target} is named twice; name each target once"
            )));
        }
    }
    Ok(())
}

pub(crate) fn find(what: &[String]) -> Result<(String, String), Failure> {
    // Whoever leaves the `=` out would be told of a suite of that name.
    if let Some(address) = what.iter().find_map(|word| word.parse::<SocketAddr>().ok()) {
        let text = format!(
            "error: `{address}` is no suite; the address of --serve stands behind `=`: \
             --serve={address}"
        );
        return Err(Failure::Usage(text));
    }
    let wanted = match what {
        [] => "four-corners",
        [one] => one.as_str(),
        [_, extra, ..] => {
            let text = format!(
                "error: `{extra}` is one name too many; give one suite, and name paths with \
                 --target PATH"
            );
            return Err(Failure::Usage(text));
        }
    };
    if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == wanted) {
        return Ok(((*name).to_owned(), (*text).to_owned()));
    }
    let path = Path::new(wanted);
    if let Some(meant) = meant(wanted, path.is_dir()) {
        return Err(Failure::usage(format!("`{wanted}` is no suite; {meant}")));
    }
    let looks_like_a_file = wanted.ends_with(".toml") || wanted.contains('/');
    if looks_like_a_file || path.is_file() {
        return text_file::read(path, "suite").map(|text| (wanted.to_owned(), text));
    }
    Err(Failure::Usage(unknown(wanted)))
}

/// What somebody means who names no suite where one stands.
fn meant(wanted: &str, is_folder: bool) -> Option<String> {
    let is_pattern = Pattern::from_str(wanted, true).is_ok();
    match wanted {
        _ if is_pattern => Some(format!("a pattern stands behind `--rw`: --rw {wanted} PATH")),
        _ if is_folder || wanted.starts_with("/dev/") => Some(format!(
            "a path to load stands behind a suite (quick --target {wanted}) or a pattern (--rw \
             randread {wanted})"
        )),
        _ if wanted.ends_with(".plimsoll") => Some(format!("it is a run: plimsoll show {wanted}")),
        _ => None,
    }
}

fn unknown(wanted: &str) -> String {
    let names = BUILT_IN.iter().map(|(name, _)| *name);
    let remedy = match nearest(wanted, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = names.collect();
            format!(
                "the built-in ones are {}; a suite file ends in .toml; a path to load goes behind \
                 --target",
                names.join(", ")
            )
        }
    };
    format!("error: no suite is called `{wanted}`; {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_suite_is_good_and_named_like_its_file() {
        for (name, text) in BUILT_IN {
            let spec = Spec::parse(name, text, &[]).expect("a good suite");
            assert_eq!(spec.suite.name.value, name);
            assert!(!spec.suite.description.value.is_empty());
        }
    }

    #[test]
    fn every_measurement_of_a_built_in_suite_has_intervals_enough_for_an_error() {
        for (name, text) in BUILT_IN {
            let spec = Spec::parse(name, text, &[]).expect("a good suite");
            for scenario in spec.scenarios() {
                let stages = &scenario.stages;
                let intervals = stages.measure.value.0 / stages.interval.value.0;
                assert!(intervals >= 40, "{name}: {intervals} intervals");
            }
        }
    }

    #[test]
    fn who_names_a_pattern_a_path_or_a_run_is_told_where_it_stands() {
        let said = |wanted: &str| meant(wanted, wanted == "/mnt/x").unwrap_or_default();
        assert!(said("randread").contains("--rw randread PATH"));
        assert!(said("/mnt/x").contains("quick --target /mnt/x"));
        assert!(said("/dev/vda").contains("--rw randread /dev/vda"));
        assert!(said("x.plimsoll").contains("plimsoll show x.plimsoll"));
        assert_eq!(said("mine.toml"), "");
    }

    #[test]
    fn a_near_name_is_suggested() {
        assert!(unknown("four-corner").contains("did you mean `four-corners`?"));
        assert!(unknown("xyzzy").contains("the built-in ones are"));
    }
}
