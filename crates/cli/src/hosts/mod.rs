//! The hosts that were asked for, with an agent on each.

mod terms;

pub(crate) use terms::{Absence, Least, Terms};

use crate::args::HostArgs;
use crate::asked::simulate;
use crate::commands::lab;
use crate::failure::Failure;
use crate::files::plain_file;
use crate::machines;
use crate::signals::{self, Signalled, Work};
use fleet::launch::{self, Hold, LaunchError, SlurmJob, Start, Via, Wanted};
use fleet::{Fleet, FleetError, HostReport, Takeover};
use model::note::{AboutHosts, HostStart};
use model::takeover::Kept;
use model::testbed::HostFacts;
use model::{Nanos, Plan, hostlist};
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use suite::planner;

const LONGEST_LIST: u64 = 1 << 20;
/// Processes of this machine that a list may ask for.
const MOST_LOCAL: u32 = 1024;
/// A copy of the program that takes longer is told, and again after so long.
const COPY_TAKES: Duration = Duration::from_secs(5);
/// Wall clocks of machines that are kept on time differ by less.
const CLOCKS_DIFFER_NS: i128 = 2_000_000_000;

pub(crate) struct Hosts {
    pub(crate) fleet: Fleet,
    pub(crate) targets: Vec<Vec<String>>,
    /// What each host is, where it was asked; `None` of a host without an agent.
    pub(crate) told: Vec<Option<HostReport>>,
    pub(crate) absent: Vec<LaunchError>,
    /// What is presumed of those of them that may join between points, by their numbers; else they
    /// are left out.
    pub(crate) presumed: Vec<(usize, HostFacts)>,
    /// How the start of each agent went, in the order in which they were asked for.
    pub(crate) starts: Vec<HostStart>,
    hold: Option<Hold>,
    job: Option<SlurmJob>,
    /// That one machine plays them all.
    played: Option<AboutHosts>,
}

impl Hosts {
    /// What is to be said of the start: who is left out, and how each went.
    pub(crate) fn notes(&self) -> impl Iterator<Item = AboutHosts> {
        let why = |absent: &LaunchError| {
            let what = absent.what.clone();
            absent.hosts.iter().map(move |host| (host.clone(), what.clone())).collect::<Vec<_>>()
        };
        let hosts: Vec<(String, String)> = self.absent.iter().flat_map(why).collect();
        let of = self.asked() as u64;
        let left_out = (!hosts.is_empty()).then_some(match self.presumed.is_empty() {
            true => AboutHosts::LeftOut { hosts, of },
            false => AboutHosts::Awaited { hosts, of },
        });
        let starts = self.starts.clone();
        let started = (!starts.is_empty()).then_some(AboutHosts::Started(starts));
        let held = self
            .hold
            .as_ref()
            .map(|hold| AboutHosts::HoldOut { within: hold.within, name: hold.name.clone() });
        left_out.into_iter().chain(started).chain(held).chain(self.played.clone())
    }

    pub(crate) fn asked(&self) -> usize {
        let left_out = self.absent.iter().map(|absent| absent.hosts.len()).sum::<usize>();
        self.fleet.names().len() + if self.presumed.is_empty() { left_out } else { 0 }
    }

    /// What the plan is made for: these hosts, and for those that are not there what is presumed
    /// of them.
    pub(crate) fn to_plan_for(&self, facts: &[HostFacts]) -> Vec<HostFacts> {
        let mut facts = facts.to_vec();
        for (number, presumed) in &self.presumed {
            facts[*number].clone_from(presumed);
        }
        facts
    }

    /// Presumes of each host without an agent what it is, by those that have one. False where that
    /// is not possible for all of them.
    fn presume(&mut self) -> bool {
        let told = (0..).zip(&self.told);
        let there: Vec<(u32, &HostFacts)> =
            told.clone().filter_map(|(n, told)| Some((n, &told.as_ref()?.facts))).collect();
        let absent = told.filter(|(_, told)| told.is_none()).map(|(number, _)| number);
        let presumed = absent.map(|number: u32| {
            let host = number as usize;
            let targets = self.targets.get(host)?;
            let facts = planner::presumed(number, &self.fleet.names()[host], targets, &there)?;
            Some((host, facts))
        });
        let Some(presumed) = presumed.collect::<Option<Vec<_>>>() else { return false };
        self.fleet.presume(presumed.clone());
        self.presumed = presumed;
        true
    }

    /// Refuses a plan that surely lasts longer than the Slurm job that its hosts are of: the job's
    /// end would cut it short.
    pub(crate) fn last_long_enough(&self, plan: &Plan) -> Result<(), Failure> {
        let left_s = self.job.as_ref().and_then(|job| job.left_s);
        let is_virtual = plan.hosts.iter().any(|host| host.engine.virtual_time);
        let needs = if is_virtual { Nanos(0) } else { least_time(plan) };
        left_s.map_or(Ok(()), |left_s| is_enough(left_s, needs)).map_err(Failure::Usage)
    }
}

/// Whether so many seconds of a job are enough for stages that take so long at least.
fn is_enough(left_s: u64, needs: Nanos) -> Result<(), String> {
    if left_s >= needs.0 / 1_000_000_000 {
        return Ok(());
    }
    Err(format!(
        "error: the Slurm job ends in {}, and the plan takes {needs} at least; give the job more \
         time, as --slurm \"… --time={}\", or shorten the plan with --scale",
        Nanos(left_s.saturating_mul(1_000_000_000)),
        // Minutes, with room for what is prepared and given back.
        needs.0 / 60_000_000_000 + 5
    ))
}

/// What the stages of a plan take that last a given time, those that may end early taken at their
/// shortest.
fn least_time(plan: &Plan) -> Nanos {
    Nanos(plan.fixed_time().0.saturating_sub(plan.steady_room().0))
}

struct Way {
    via: Via,
    hosts: Vec<String>,
    job: Option<SlurmJob>,
}

pub(crate) type TargetsOf<'a> = dyn Fn(&[String]) -> Result<Vec<Vec<String>>, Failure> + 'a;

/// Starts the agents, each allowed to touch its own targets, and asks each what it and these are; a
/// target may take so long to answer. Ctrl-C reaches them from here on.
pub(crate) fn start(
    work: Work,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    asked: Asked,
) -> Result<Hosts, Failure> {
    // First of all: who sees an agent may already send a signal.
    start_with(&signals::watch(work), work, args, targets_of, asked)
}

/// The same for one run of several: `signalled` knows of them all.
pub(crate) fn start_next(
    signalled: &Signalled,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    asked: Asked,
) -> Result<Hosts, Failure> {
    start_with(signalled, Work::Run, args, targets_of, asked)
}

fn start_with(
    signalled: &Signalled,
    work: Work,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    asked: Asked,
) -> Result<Hosts, Failure> {
    let way = way_to(args, signalled)?;
    let mut gone: Vec<Start> = Vec::new();
    let mut terms = asked.terms;
    loop {
        let mut hosts = start_over(&way, args, targets_of, terms, &gone)?;
        signalled.reach(hosts.fleet.interrupter());
        match hosts.fleet.inspect(&hosts.targets, asked.patience) {
            Ok(told) => {
                hosts.told = told;
                if let Absence::Awaited(least) = terms.absence
                    && !hosts.presume()
                {
                    // Nobody knows what a share of theirs would be: the others do without them.
                    let left_out =
                        |absent: &LaunchError| Start::lost(&absent.hosts[0], absent.what.clone());
                    gone = hosts.absent.iter().map(left_out).collect();
                    terms.absence = Absence::LeftOut(least);
                    continue;
                }
                hosts.job = way.and_then(|way| way.job);
                return Ok(hosts);
            }
            // It was there a moment ago. The others do without it, as if it never had been.
            Err(FleetError::Lost { host, why, .. })
                if terms.absence != Absence::Refused
                    && way.is_some()
                    && gone.iter().all(|start| start.host != host) =>
            {
                gone.push(Start::lost(&host, why));
            }
            Err(FleetError::Interrupted) if work == Work::Look => {
                return Err(Failure::Interrupted("stopped".to_owned()));
            }
            Err(error) => return Err(Failure::run(error)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) terms: Terms,
    /// How long a target may take to answer.
    pub(crate) patience: Nanos,
}

/// Starts the agents for work at `targets` of each host; nobody is asked anything.
pub(crate) fn reach(args: &HostArgs, targets: &[String], terms: Terms) -> Result<Hosts, Failure> {
    let signalled = signals::watch(Work::Look);
    let way = way_to(args, &signalled)?;
    let targets_of = |names: &[String]| Ok(vec![targets.to_vec(); names.len()]);
    let mut hosts = start_over(&way, args, &targets_of, terms, &[])?;
    signalled.reach(hosts.fleet.interrupter());
    hosts.job = way.and_then(|way| way.job);
    Ok(hosts)
}

/// What agents of a run kept that hold out under this name, in the order of these hosts.
pub(crate) fn take_over(
    args: &HostArgs,
    names: &[String],
    hold: Hold,
    terms: Takeover,
) -> Result<Vec<Result<Kept, LaunchError>>, Failure> {
    let Some(way) = way_to(args, &signals::watch(Work::Look))? else {
        return Err(Failure::usage(
            "a run in one process ends with it: nothing holds out; go on with `plimsoll \
             resume`",
        ));
    };
    if way.hosts != names {
        return Err(Failure::usage(format!(
            "the run is one of {}, and the hosts are {}; name the same ones",
            hostlist::compress(names),
            hostlist::compress(&way.hosts)
        )));
    }
    let Way { via, hosts, .. } = way;
    let wanted = Wanted { hold: Some(hold), ..wanted(args, via, hosts) };
    Ok(terms.hear(&wanted))
}

/// Agents that may load nothing, and of which none may lack.
fn wanted(args: &HostArgs, via: Via, hosts: Vec<String>) -> Wanted {
    Wanted {
        via,
        hosts,
        agent: args.agent.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fanout: args.fanout,
        connections: args.connections,
        ..Wanted::default()
    }
}

/// The way to the hosts; `None` where they are in this process.
fn way_to(args: &HostArgs, signalled: &Signalled) -> Result<Option<Way>, Failure> {
    if args.simulate.is_some() { Ok(None) } else { way(args, signalled) }
}

/// Starts the agents of all but those of `gone`.
fn start_over(
    way: &Option<Way>,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    terms: Terms,
    gone: &[Start],
) -> Result<Hosts, Failure> {
    let Some(way) = way else { return in_this_process(args, targets_of) };
    let targets = targets_of(&way.hosts)?;
    let real = |targets: &Vec<String>| {
        targets.iter().filter(|target| !engine::is_simulated(target)).cloned().collect()
    };
    let hold = (terms.hold > Nanos(0)).then(|| Hold::new(terms.hold));
    let wanted = Wanted {
        allow: targets.iter().map(real).collect(),
        start_within: terms.start_within,
        may_lack: terms.absence != Absence::Refused,
        hold: hold.clone(),
        ..wanted(args, way.via.clone(), way.hosts.clone())
    };
    let launched = while_copying(|| launch::launch_but(&wanted, gone, &told));
    let mut launched = launched.map_err(|errors| refused(&errors))?;
    let (absent, starts) = (launched.errors(), facts(&launched.starts));
    let (of, there) = (wanted.hosts.len(), wanted.hosts.len() - absent.len());
    if !terms.are_enough(there, of) {
        return Err(too_few(&absent, there, terms.absence));
    }
    let is_there: Vec<bool> = (0..of).map(|host| launched.agents.has(host)).collect();
    let mut targets = targets;
    if !matches!(terms.absence, Absence::Kept(_) | Absence::Awaited(_)) {
        keep(&mut targets, &is_there);
        launched = launched.closed_up();
    }
    let fleet = Fleet::remote(launched, terms.lost_after);
    let (told, presumed) = (Vec::new(), Vec::new());
    let played = lab::note(args);
    Ok(Hosts { fleet, targets, told, absent, presumed, starts, hold, job: None, played })
}

/// Agents of this process: this machine alone, or simulated hosts.
fn in_this_process(args: &HostArgs, targets_of: &TargetsOf<'_>) -> Result<Hosts, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let own = targets_of(&[probe::hostname()])?;
    let (fleet, targets) = if args.simulate.is_some() {
        let count = simulate::hosts(args, &own.concat())?;
        let names: Vec<String> = (1..=count).map(Fleet::simulated_name).collect();
        (Fleet::simulated(version, count), targets_of(&names)?)
    } else {
        (Fleet::local(version), own)
    };
    let (absent, starts) = (Vec::new(), Vec::new());
    let (told, presumed) = (Vec::new(), Vec::new());
    let (hold, job, played) = (None, None, None);
    Ok(Hosts { fleet, targets, told, absent, presumed, starts, hold, job, played })
}

/// Says of each host that is slow to take the program how far it is, while `work` goes on.
fn while_copying<T>(work: impl FnOnce() -> T) -> T {
    let (going_on, ended) = std::sync::mpsc::channel::<()>();
    let tells = move || {
        while ended.recv_timeout(COPY_TAKES) == Err(RecvTimeoutError::Timeout) {
            for copy in launch::copying().into_iter().filter(|copy| copy.lasts >= COPY_TAKES) {
                let launch::Copying { host, taken, of, lasts } = copy;
                let lasts = lasts.as_secs();
                eprintln!("note: host {host} took {taken} of the program's {of} in {lasts} s");
            }
        }
    };
    // Without a thread for it, nothing is said.
    let _ = std::thread::Builder::new().name("copies".to_owned()).spawn(tells);
    let done = work();
    drop(going_on);
    done
}

/// Says once of a host that it is tried again, while nothing else is to be seen.
fn told(start: &Start, is_tried_again: bool) {
    if let (Some(error), true, 1) = (start.error(), is_tried_again, start.tries)
        && !start.is_busy()
    {
        eprintln!("note: host {}: {}; it is tried again", start.host, error.what);
    }
}

/// How it went, where not all went at once; else there is nothing to tell.
fn facts(starts: &[Start]) -> Vec<HostStart> {
    let is_plain = |start: &Start| start.tries <= 1 && start.missing.is_none();
    if starts.iter().all(is_plain) {
        return Vec::new();
    }
    starts.iter().map(Start::fact).collect()
}

/// Why nothing is done without those that are not there.
fn too_few(absent: &[LaunchError], there: usize, absence: Absence) -> Failure {
    let Failure::Target(mut lines) = refused(absent) else { return refused(absent) };
    let of = there + absent.len();
    match absence {
        Absence::Refused if there > 0 => lines.push_str(&format!(
            "\n{there} of {of} hosts can be reached; --set fleet.on_lost_host=continue goes on \
             with them"
        )),
        Absence::LeftOut(least) | Absence::Kept(least) | Absence::Awaited(least) if there > 0 => {
            lines.push_str(&format!(
                "\n{there} of {of} hosts can be reached, and fleet.quorum asks for {}",
                least.of(of)
            ));
        }
        _ => {}
    }
    Failure::Target(lines)
}

fn keep<T>(list: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    list.retain(|_| is_kept.next() == Some(&true));
}

/// Removes the copies of the program from the hosts. False where no hosts were named.
pub(crate) fn forget(args: &HostArgs) -> Result<bool, Failure> {
    let signalled = signals::watch(Work::Look);
    let Some(way) = way(args, &signalled)? else { return Ok(false) };
    if let Via::Sockets(_) = way.via {
        // The program is what they were started with; it goes with them.
        return Ok(false);
    }
    launch::forget(&way.via, &way.hosts).map_err(|errors| refused(&errors))?;
    Ok(true)
}

fn refused(errors: &[LaunchError]) -> Failure {
    let causes = LaunchError::by_cause(errors);
    let lines: Vec<String> = causes.iter().map(|error| format!("error: {error}")).collect();
    Failure::Target(lines.join("\n"))
}

/// What the arguments ask for; `None` is this machine alone, in this process.
fn way(args: &HostArgs, signalled: &Signalled) -> Result<Option<Way>, Failure> {
    if let Some(options) = &args.slurm {
        let job = signalled.slurm().allocate(options);
        return job
            .inspect_err(|_| signalled.or_end())
            .map(of_job)
            .map(Some)
            .map_err(Failure::target);
    }
    if let Some(selector) = &args.kubernetes {
        let options: Vec<String> = args
            .kubectl
            .iter()
            .flat_map(|text| text.split_whitespace())
            .map(str::to_owned)
            .collect();
        let hosts = launch::pods(selector, &options).map_err(Failure::target)?;
        return Ok(Some(Way { via: Via::Kubernetes { options }, hosts, job: None }));
    }
    let Some(list) = &args.hosts else { return Ok(None) };
    if let Some(machines) = machines::named(args)? {
        let hosts = machines.machines.iter().map(|machine| machine.name.clone()).collect();
        return Ok(Some(Way { via: machines::way(&machines)?, hosts, job: None }));
    }
    if let Some(found) = lab::named(args)? {
        let (hosts, via) = lab::way(&found)?;
        return Ok(Some(Way { via, hosts, job: None }));
    }
    if list == "slurm" {
        return SlurmJob::current().map(of_job).map(Some).map_err(Failure::usage);
    }
    if let Some(count) = list.strip_prefix("local:") {
        let count = count.parse().ok().filter(|count| (1..=MOST_LOCAL).contains(count));
        let count = count.ok_or_else(|| {
            Failure::usage(format!("--hosts {list}: write local:1 to local:{MOST_LOCAL}"))
        })?;
        let hosts = (1..=count).map(|number| format!("local-{number}")).collect();
        return Ok(Some(Way { via: Via::Local, hosts, job: None }));
    }
    let hosts = match list.strip_prefix('@') {
        Some(path) => read(Path::new(path))
            .and_then(|text| hostlist::expand_file(&text).map_err(|error| error.to_string())),
        None => hostlist::expand(list).map_err(|error| error.to_string()),
    };
    let hosts = hosts.map_err(|what| Failure::usage(format!("--hosts: {what}")))?;
    if hosts.is_empty() {
        return Err(Failure::usage(format!(
            "--hosts {list}: names no host; write one name a line"
        )));
    }
    let via = match &args.launcher {
        Some(template) => Via::template(template).map_err(Failure::usage)?,
        None => Via::Ssh,
    };
    Ok(Some(Way { via, hosts, job: None }))
}

fn of_job(job: SlurmJob) -> Way {
    Way { via: Via::Slurm { job: job.job.clone() }, hosts: job.nodes.clone(), job: Some(job) }
}

fn read(path: &Path) -> Result<String, String> {
    use std::io::Read;
    let wrong = |error: std::io::Error| format!("{}: {error}; check the path", path.display());
    let mut text = String::new();
    plain_file::open(path)
        .map_err(wrong)?
        .take(LONGEST_LIST)
        .read_to_string(&mut text)
        .map_err(wrong)?;
    Ok(text)
}

/// What the hosts are, once it is sure that they are different machines; of those without an agent,
/// their names. Says which wall clocks are off.
pub(crate) fn facts_of(started: &Hosts, may_be_one: bool) -> Result<Vec<HostFacts>, Failure> {
    let told = started.told.iter().flatten();
    for told in told.filter(|told| told.wall_ahead_ns.abs() > CLOCKS_DIFFER_NS) {
        let seconds = told.wall_ahead_ns / 1_000_000_000;
        let (name, seconds, side) =
            (&told.facts.hostname, seconds.abs(), if seconds > 0 { "ahead of" } else { "behind" });
        eprintln!(
            "note: the wall clock of {name} is {seconds} s {side} ours; no figure depends on it, \
             but its own logs will not match the report's times"
        );
    }
    let fact = |(told, name): (&Option<HostReport>, &String)| match told {
        Some(told) => told.facts.clone(),
        None => HostFacts::unknown(name),
    };
    let hosts: Vec<HostFacts> = started.told.iter().zip(started.fleet.names()).map(fact).collect();
    if may_be_one {
        return Ok(hosts);
    }
    for (number, host) in hosts.iter().enumerate() {
        let same =
            |other: &&HostFacts| !host.identity.is_empty() && other.identity == host.identity;
        if let Some(other) = hosts[..number].iter().find(same) {
            return Err(Failure::target(format!(
                "hosts {} and {} are one machine under two names; name it once",
                other.hostname, host.hostname
            )));
        }
    }
    Ok(hosts)
}

/// Whether several agents on one machine are what was asked for.
pub(crate) fn may_be_one(args: &HostArgs) -> bool {
    args.simulate.is_some() || args.hosts.as_ref().is_some_and(|list| list.starts_with("local:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Percent;

    fn asked(list: &str) -> Result<Option<(Via, Vec<String>)>, String> {
        let args = HostArgs { hosts: Some(list.to_owned()), ..HostArgs::default() };
        way(&args, &Signalled::default())
            .map(|way| way.map(|way| (way.via, way.hosts)))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_quorum_is_a_share_of_those_that_were_asked_for() {
        let terms = |absence| Terms::look(Nanos(0), absence);
        let half = terms(Absence::LeftOut(Least::Share(Percent::of(50))));
        assert_eq!([1, 2, 3].map(|there| half.are_enough(there, 4)), [false, true, true]);
        assert!(!half.are_enough(2, 5) && half.are_enough(3, 5));
        let none = terms(Absence::Kept(Least::ONE));
        assert!(none.are_enough(1, 1000) && !none.are_enough(0, 1000));
        assert!(!terms(Absence::Refused).are_enough(3, 4));
        let error = |host: &str| LaunchError {
            hosts: vec![host.to_owned()],
            what: "gone".to_owned(),
            remedy: None,
        };
        let said = too_few(&[error("b")], 3, Absence::Refused).to_string();
        assert!(said.contains("host b: gone\n3 of 4 hosts can be reached; --set fleet."), "{said}");
        let said = too_few(&[error("b")], 1, Absence::Kept(Least::Count(2))).to_string();
        assert!(said.contains("1 of 2 hosts") && said.contains("asks for 2"), "{said}");
    }

    #[test]
    fn a_job_that_ends_before_the_plan_does_is_refused() {
        let refused = is_enough(599, Nanos::seconds(600)).expect_err("too short");
        assert!(refused.contains("ends in 9m 59s") && refused.contains("--time=15"), "{refused}");
        assert_eq!(
            (is_enough(600, Nanos::seconds(600)), is_enough(0, Nanos(999_999_999))),
            (Ok(()), Ok(()))
        );
    }

    #[test]
    fn a_list_is_ssh_or_this_machine() {
        assert_eq!(
            way(&HostArgs::default(), &Signalled::default())
                .map(|way| way.is_none())
                .map_err(|_| ()),
            Ok(true)
        );
        assert_eq!(asked("n[1-2]"), Ok(Some((Via::Ssh, vec!["n1".into(), "n2".into()]))));
        assert_eq!(
            asked("local:2"),
            Ok(Some((Via::Local, vec!["local-1".into(), "local-2".into()])))
        );
        assert!(asked("local:0").expect_err("none").contains("local:1"));
        assert!(asked("@/no/such/file").expect_err("no file").contains("check the path"));
        assert!(asked("n[").expect_err("half a list").contains("without"));
    }
}
