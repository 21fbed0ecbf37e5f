//! `plimsoll resume`: goes on with a run that was cut short.

use super::run::{Display, ToRun, exit, perform};
use super::together::{TOGETHER, halt, write_full};
use super::views::Views;
use super::{confirmation, saved};
use crate::args::{HostArgs, ResumeArgs};
use crate::failure::Failure;
use crate::hosts::{self, Asked, Hosts, Terms};
use crate::marks;
use crate::signals::Work;
use crate::terminal::run_overview::RunOverview;
use crate::web::Tls;
use model::plan::{HostPlan, PlannedTarget};
use model::record::StageRecord;
use model::takeover::OnRecord;
use model::testbed::HostFacts;
use model::{Event, Fact, IntervalSample, Note, Plan, Record, hostlist, resume};
use report::topics;
use report::topics::command_line::quoted;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How long a target may take to answer where the plan does not say.
const PATIENCE: model::Nanos = model::Nanos::seconds(30);

/// Runs what is left of a run, on the same hosts and layout, into a file of its own that has
/// everything.
pub(crate) fn resume(args: &ResumeArgs) -> Result<ExitCode, Failure> {
    Tls::check(&args.share.page.tls)?;
    let mut record = saved::read_to_resume(&args.run)?;
    without_commands(&mut record);
    marks::clear(&args.run);
    let left = resume::left_over(&record);
    if left.is_empty() {
        eprintln!("{}: the run is complete; nothing is left to do", args.run.display());
        return Ok(ExitCode::SUCCESS);
    }
    check_command(&record, args)?;
    check_places(&record)?;
    check_guests(&record)?;
    check_devices(&record, args)?;
    let from = way(&record, args)?;
    go_on(&record, left, &from, args, &Joined::default())
}

/// The way to the hosts: as it is said now, or as the run file says it.
pub(super) fn way(record: &Record, args: &ResumeArgs) -> Result<HostArgs, Failure> {
    let given = args.hosts.options();
    if given.is_empty() { recorded(record, &args.run) } else { HostArgs::of(&given) }
}

/// Runs these stages of a record, into a file of its own.
pub(super) fn go_on(
    record: &Record,
    left: Vec<u32>,
    from: &HostArgs,
    args: &ResumeArgs,
    joined: &Joined,
) -> Result<ExitCode, Failure> {
    let patience =
        record.plan.hosts.iter().map(|host| host.engine.patience).max().unwrap_or(PATIENCE);
    let asked = Asked { terms: Terms::of_plan(&record.plan.fleet), patience };
    let started = hosts::start(Work::Run, from, &|names| Ok(targets(record, names)), asked)?;
    let facts = same_hosts(record, &started, from)?;
    for absent in &started.absent {
        eprintln!("note: {absent}; the run goes on without, and it may come in between points");
    }
    // Of a host without an agent nothing is known; it is looked at when it comes in.
    let there: Vec<(&HostPlan, &HostFacts)> = record
        .plan
        .hosts
        .iter()
        .zip(&facts)
        .zip(&started.told)
        .filter(|(_, told)| told.is_some())
        .map(|(host, _)| host)
        .collect();
    for (host, facts) in &there {
        confirmation::check(host, facts, &args.targets).map_err(Failure::target)?;
    }
    let is_there = there.iter().all(|(plan, facts)| resume::layout_is_there(plan, facts));
    let stages = if is_there { left } else { resume::with_prepare(record, left) };
    let of_left = stages.iter().filter_map(|stage| record.plan.stages.get(*stage as usize));
    let left_to_do = Plan { stages: of_left.cloned().collect(), ..record.plan.clone() };
    started.last_long_enough(&left_to_do)?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.run));
    let version = env!("CARGO_PKG_VERSION");
    let marker = started.fleet.marker();
    let whole = RunOverview {
        plan: &record.plan,
        hosts: &record.testbed,
        version,
        began_ns: record.started_unix_ns,
        marker: &marker,
    };
    let mut views = Views::start(&args.share, &whole)?;
    let mut writer =
        store::Writer::create(&out, &record.plan, &record.testbed, version, record.started_unix_ns)
            .map_err(Failure::run)?;
    let mut together = Vec::new();
    hand_on(record, &stages, &args.run, joined, &mut |event| {
        views.event(&record.plan, &event);
        together.push(event);
        write_full(&mut writer, &mut together, TOGETHER)
    })?;
    write_full(&mut writer, &mut together, 1)?;
    let note = note(record, &args.run, &stages, is_there);
    eprintln!("{}", topics::note::sentence(&note.fact));
    let note = Event::Note(note);
    writer.append(&note).map_err(Failure::run)?;
    views.event(&record.plan, &note);
    let to_run = ToRun {
        plan: &record.plan,
        hosts: &record.testbed,
        stages: &stages,
        out: &out,
        counters_from: None,
    };
    let (record, end) = perform(started, &to_run, writer, Display { how: args.how, views })?;
    exit(&record, end, &out)
}

/// What hosts did that is on record nowhere: taken over from their agents.
#[derive(Debug, Default)]
pub(super) struct Joined {
    pub(super) stage: Option<u32>,
    pub(super) samples: Vec<IntervalSample>,
}

/// Hands on what stays of a run: what hosts did from its file, so that nobody holds a day of it.
pub(super) fn hand_on(
    record: &Record,
    stages: &[u32],
    run: &Path,
    joined: &Joined,
    take: &mut resume::Take<'_, Failure>,
) -> Result<(), Failure> {
    let mut file = store::Stages::of(run).map_err(Failure::run_file)?;
    let of_stage = |stage: &StageRecord, take: &mut resume::Take<'_, Failure>| {
        let mut known: BTreeMap<u32, OnRecord> = BTreeMap::new();
        let halted = file.each(record, stage.stage, |event| {
            if let Event::Sample(sample) = &event {
                known.entry(sample.host).or_default().take(sample.interval);
            }
            take(event)
        });
        halted.map_err(halt)?;
        // The other coordinator may have woken up and recorded some of them meanwhile.
        let is_of_it = joined.stage == Some(stage.stage);
        for sample in joined.samples.iter().filter(|_| is_of_it) {
            if known.get(&sample.host).copied().unwrap_or_default().next() <= sample.interval {
                take(Event::Sample(sample.clone()))?;
            }
        }
        Ok(())
    };
    resume::hand_on(record, stages, of_stage, take)
}

pub(super) fn on_record(
    record: &Record,
    run: &Path,
    stage: u32,
) -> Result<BTreeMap<u32, OnRecord>, Failure> {
    let mut known: BTreeMap<u32, OnRecord> = BTreeMap::new();
    let mut file = store::Stages::of(run).map_err(Failure::run_file)?;
    let took = file.each(record, stage, |event| {
        if let Event::Sample(sample) = event {
            known.entry(sample.host).or_default().take(sample.interval);
        }
        Ok::<(), Failure>(())
    });
    took.map_err(halt)?;
    Ok(known)
}

/// Leaves all commands out: a run file may come from anybody, so no command of it is run. The
/// events stay, as marks; what was to be done before points stays too, without its command, so that
/// their results say that it was not done.
pub(super) fn without_commands(record: &mut Record) {
    for event in &mut record.plan.events {
        if event.command.take().is_some() {
            eprintln!(
                "warning: event {}: a run that is resumed runs no command of its file; give it by \
                 hand, the instant is marked",
                event.name
            );
        }
    }
    let preruns = record.plan.points.iter_mut().filter_map(|point| point.prerun.as_mut());
    // Each of them, and not only the first: none may be left.
    if preruns.filter_map(|prerun| prerun.command.take()).count() > 0 {
        eprintln!(
            "warning: stages.prerun: a run that is resumed runs no command of its file; the \
             results of the points that are left say that caches were not emptied as asked"
        );
    }
}

/// The way to the hosts that the run file says, where it leads nowhere but to this machine. The
/// file may come from anybody: it runs no command and chooses no other machine, which its reader's
/// keys would open.
fn recorded(record: &Record, run: &Path) -> Result<HostArgs, Failure> {
    let options = &record.plan.hosts_from;
    if options.iter().all(|option| option.starts_with("--hosts=local:")) {
        return HostArgs::of(options);
    }
    let again: Vec<String> = said_again(record).iter().map(|word| quoted(word)).collect();
    Err(Failure::usage(format!(
        "the run was on other machines, and a run file may not choose those; look at them, \
         and say them: plimsoll resume {} {}",
        quoted(&run.to_string_lossy()),
        again.join(" ")
    )))
}

/// The options that lead to the same hosts: of a Slurm job that is over, to a new one with its
/// nodes.
fn said_again(record: &Record) -> Vec<String> {
    let nodes: Vec<&str> = record.plan.hosts.iter().map(|host| host.hostname.as_str()).collect();
    let again = |option: &String| match option.strip_prefix("--slurm=") {
        Some(options) => format!("--slurm={} -w {}", without_nodes(options), nodes.join(",")),
        None => option.clone(),
    };
    record.plan.hosts_from.iter().map(again).collect()
}

/// The options of salloc but those that name nodes.
fn without_nodes(options: &str) -> String {
    let mut words = options.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-w" | "--nodelist" => drop(words.next()),
            word if word.starts_with("--nodelist=") => {}
            word if word.starts_with("-w") => {}
            word => kept.push(word),
        }
    }
    kept.join(" ")
}

/// The targets that the plan has for each of these hosts, each once; of one alone those of the
/// plan's only one, whatever it was called.
pub(super) fn targets(record: &Record, names: &[String]) -> Vec<Vec<String>> {
    let is_alone = names.len() == 1 && record.plan.hosts.len() == 1;
    let of = |name: &String| {
        let mut paths: Vec<String> = Vec::new();
        let host = record.plan.hosts.iter().find(|host| host.hostname == *name || is_alone);
        for target in host.map_or(&[][..], |host| &host.targets) {
            if !paths.contains(&target.path) {
                paths.push(target.path.clone());
            }
        }
        paths
    };
    names.iter().map(of).collect()
}

/// A run file may come from anybody, and what it names outside its targets is nobody's wish.
pub(super) fn check_places(record: &Record) -> Result<(), Failure> {
    match record.plan.hosts.iter().find_map(HostPlan::misplaced) {
        None => Ok(()),
        Some(misplaced) => Err(Failure::target(format!(
            "{misplaced}; do not trust this run file: nothing was touched, begin the run \
             anew"
        ))),
    }
}

/// A run file may come from anybody: a command that makes the load is started again only where it
/// is said again, word by word.
pub(super) fn check_command(record: &Record, args: &ResumeArgs) -> Result<(), Failure> {
    let stages = record.plan.hosts.iter().flat_map(|host| &host.stages);
    let works = stages
        .flat_map(|stage| &stage.works)
        .chain(record.plan.stages.iter().flat_map(|stage| &stage.works));
    let mut commands = works.filter_map(|work| work.command.as_ref());
    let Some(other) = commands.find(|command| command.words != args.command) else {
        return Ok(());
    };
    let words: Vec<String> = other.words.iter().map(|word| quoted(word)).collect();
    Err(Failure::usage(format!(
        "the run starts a command, and none is taken from a run file unseen; look at it, and say \
         it again: plimsoll resume {} -- {}",
        quoted(&args.run.to_string_lossy()),
        words.join(" ")
    )))
}

fn check_guests(record: &Record) -> Result<(), Failure> {
    let made = record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Machines(made) if made.go_with_run => Some(made),
        _ => None,
    });
    let Some(made) = made else { return Ok(()) };
    Err(Failure::target(format!(
        "the run was on machines that {} made for it ({}); they were removed with their \
         disks when it ended. Begin the run anew, or keep machines with `plimsoll vms up`",
        made.provider,
        hostlist::compress(
            &made.nodes.iter().flat_map(|on| on.machines.clone()).collect::<Vec<_>>()
        )
    )))
}

/// A device has to be given up again: after a restart, its name may be another's.
pub(super) fn check_devices(record: &Record, args: &ResumeArgs) -> Result<(), Failure> {
    let several = record.plan.hosts.len() > 1;
    for host in &record.plan.hosts {
        for device in host.targets.iter().filter(|target| target.kind == PlannedTarget::Device) {
            let names = |given: &suite::planner::GivenUp| {
                given.device == device.path
                    && given.host.as_ref().map_or(!several, |name| *name == host.hostname)
            };
            if !args.destroy_data.iter().flat_map(|given| &given.0).any(names) {
                let host = if several { format!("{}:", host.hostname) } else { String::new() };
                return Err(Failure::target(format!(
                    "the run overwrites {0}, whose name may be another device\'s by now; \
                     look, and say --destroy-data {host}{0} again",
                    device.path
                )));
            }
        }
    }
    Ok(())
}

fn same_hosts(
    record: &Record,
    started: &Hosts,
    from: &HostArgs,
) -> Result<Vec<HostFacts>, Failure> {
    let facts = hosts::facts_of(started, hosts::may_be_one(from))?;
    let planned: Vec<String> = record.plan.hosts.iter().map(|host| host.hostname.clone()).collect();
    let there: Vec<String> = facts.iter().map(|facts| facts.hostname.clone()).collect();
    if planned == there {
        return Ok(facts);
    }
    let remedy = match &from.slurm {
        Some(options) => {
            let wanted = format!("{} -w {}", without_nodes(options), planned.join(","));
            format!("ask for the same ones with --slurm {}", quoted(&wanted))
        }
        None => "name the same ones with --hosts".to_owned(),
    };
    Err(Failure::usage(format!(
        "the run is one of {}, and the hosts are {}; {remedy}",
        hostlist::compress(&planned),
        hostlist::compress(&there)
    )))
}

fn note(record: &Record, run: &Path, stages: &[u32], is_there: bool) -> Note {
    let points = record.plan.points.len();
    let is_left = |point: &u32| {
        let of_point = |stage: &u32| {
            record.plan.stages.get(*stage as usize).is_some_and(|s| s.point == Some(*point))
        };
        stages.iter().any(of_point)
    };
    let left = (0..points as u32).filter(is_left).count() as u64;
    let (run, of) = (run.display().to_string(), points as u64);
    Note { stage: None, host: 0, fact: Fact::Resumed { run, left, of, is_there } }
}

pub(super) fn beside(run: &Path) -> PathBuf {
    let last = || marks::resumed_names(run).last().unwrap_or_default();
    marks::resumed_names(run).find(|path| !path.exists()).unwrap_or_else(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machines::{Accelerator, DiskCache, MachinesMade, OnNode, ProviderKind};
    use model::plan::PlanNote;

    #[test]
    fn a_run_whose_machines_went_with_it_is_not_asked_for_their_devices() {
        let mut record = analysis::testing::Recorded::new("[[workload]]\nname = \"w\"\n").record();
        let made = |go_with_run| MachinesMade {
            name: "vm".to_owned(),
            provider: ProviderKind::Qemu,
            nodes: vec![OnNode {
                node: "n1".to_owned(),
                machines: vec!["vm-1".to_owned(), "vm-2".to_owned()],
            }],
            accelerator: Accelerator::Kvm,
            cache: DiskCache::None,
            boots: Vec::new(),
            go_with_run,
        };
        for (goes, is_refused) in [(false, false), (true, true)] {
            record.plan.notes = vec![PlanNote { fact: Fact::Machines(made(goes)) }];
            let told = check_guests(&record).map_err(|failure| failure.to_string());
            assert_eq!(told.is_err(), is_refused, "{told:?}");
            let words = told.err().unwrap_or_default();
            assert!(!is_refused || words.contains("vm-[1-2]") && words.contains("anew"), "{words}");
            assert!(!words.contains("--destroy-data"), "{words}");
        }
    }
}
