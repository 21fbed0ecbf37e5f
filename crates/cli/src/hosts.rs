//! The hosts that were asked for, with an agent on each.

use crate::args::HostArgs;
use crate::failure::Failure;
use crate::signals::{self, Signalled, Work};
use crate::simulate;
use fleet::launch::{self, SlurmJob, Via, Wanted};
use fleet::{Fleet, HostReport};
use model::testbed::HostFacts;
use model::{Nanos, Plan, hostlist};
use std::path::Path;

/// A list of hosts is a few pages of text.
const LONGEST_LIST: u64 = 1 << 20;
/// Processes of this machine that a list may ask for.
const MOST_LOCAL: u32 = 1024;
/// Wall clocks of machines that are kept on time differ by less.
const CLOCKS_DIFFER_NS: i128 = 2_000_000_000;

/// Agents, and what has to stay as long as they do.
pub struct Hosts {
    /// The agents.
    pub fleet: Fleet,
    /// The targets of each, in the order of the hosts.
    pub targets: Vec<Vec<String>>,
    /// Hosts that have no agent, each with the reason; only of a look that does without them.
    pub unreached: Vec<String>,
    /// Ended with them, if it is ours.
    job: Option<SlurmJob>,
}

impl Hosts {
    /// Refuses a plan that surely lasts longer than the Slurm job that its hosts are of: the job's
    /// end would cut it short.
    ///
    /// # Errors
    /// Both times, and the remedy.
    pub fn last_long_enough(&self, plan: &Plan) -> Result<(), Failure> {
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

/// The way to the hosts, and who they are.
struct Way {
    via: Via,
    hosts: Vec<String>,
    job: Option<SlurmJob>,
}

/// Says which targets each of the hosts of these names has.
pub type TargetsOf<'a> = dyn Fn(&[String]) -> Result<Vec<Vec<String>>, Failure> + 'a;

/// Starts the agents for a run, each allowed to touch its own targets. Ctrl-C reaches them from
/// here on.
pub fn start(
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    lost_after: Nanos,
) -> Result<Hosts, Failure> {
    start_for(Work::Run, args, targets_of, lost_after, true)
}

/// The same for one run of several: `signalled` knows of them all.
pub fn start_next(
    signalled: &Signalled,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    lost_after: Nanos,
) -> Result<Hosts, Failure> {
    start_with(signalled, args, targets_of, lost_after, true)
}

/// Starts the agents for a look at each host and at `targets` there.
pub fn look(args: &HostArgs, targets: &[String], lost_after: Nanos) -> Result<Hosts, Failure> {
    start_for(Work::Look, args, &|names| Ok(vec![targets.to_vec(); names.len()]), lost_after, true)
}

/// The same for those of the hosts that can be reached; it is a failure if none can.
pub fn look_where_reached(
    args: &HostArgs,
    targets: &[String],
    lost_after: Nanos,
) -> Result<Hosts, Failure> {
    start_for(Work::Look, args, &|names| Ok(vec![targets.to_vec(); names.len()]), lost_after, false)
}

fn start_for(
    work: Work,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    lost_after: Nanos,
    needs_all: bool,
) -> Result<Hosts, Failure> {
    // First of all: who sees an agent may already send a signal.
    start_with(&signals::watch(work), args, targets_of, lost_after, needs_all)
}

fn start_with(
    signalled: &Signalled,
    args: &HostArgs,
    targets_of: &TargetsOf<'_>,
    lost_after: Nanos,
    needs_all: bool,
) -> Result<Hosts, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if args.simulate.is_some() {
        let cluster = targets_of(&[probe::hostname()])?.concat();
        let names: Vec<String> =
            (1..=simulate::hosts(args, &cluster)?).map(Fleet::simulated_name).collect();
        let fleet = Fleet::simulated(version, names.len() as u32);
        signalled.reach(fleet.interrupter());
        return Ok(Hosts { fleet, targets: targets_of(&names)?, unreached: Vec::new(), job: None });
    }
    let Some(way) = way(args, signalled)? else {
        let targets = targets_of(&[probe::hostname()])?;
        let fleet = Fleet::local(version);
        signalled.reach(fleet.interrupter());
        return Ok(Hosts { fleet, targets, unreached: Vec::new(), job: None });
    };
    let mut targets = targets_of(&way.hosts)?;
    let real = |targets: &Vec<String>| {
        targets.iter().filter(|target| !engine::is_simulated(target)).cloned().collect()
    };
    let mut wanted = Wanted {
        via: way.via,
        hosts: way.hosts,
        allow: targets.iter().map(real).collect(),
        agent: args.agent.clone(),
        version: version.to_owned(),
        fanout: args.fanout,
        by: None,
    };
    let mut launched = launch::launch(&wanted);
    let mut unreached = Vec::new();
    if let (Err(errors), false) = (&launched, needs_all) {
        let is_there = reached(&wanted.hosts, errors);
        if is_there.contains(&true) && is_there.contains(&false) {
            unreached = errors.iter().map(ToString::to_string).collect();
            keep(&mut targets, &is_there);
            keep(&mut wanted.hosts, &is_there);
            keep(&mut wanted.allow, &is_there);
            launched = launch::launch(&wanted);
        }
    }
    let launched = launched.map_err(|errors| refused(&errors))?;
    let fleet = Fleet::remote(launched, lost_after);
    signalled.reach(fleet.interrupter());
    Ok(Hosts { fleet, targets, unreached, job: way.job })
}

/// Whether nothing is said against each of the hosts. An error of several names them all.
fn reached(hosts: &[String], errors: &[launch::LaunchError]) -> Vec<bool> {
    let is_named = |host: &String| errors.iter().any(|error| error.hosts.contains(host));
    hosts.iter().map(|host| !is_named(host)).collect()
}

fn keep<T>(list: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    list.retain(|_| is_kept.next() == Some(&true));
}

/// Removes the copies of the program from the hosts. False where no hosts were named.
pub fn forget(args: &HostArgs) -> Result<bool, Failure> {
    let signalled = signals::watch(Work::Look);
    let Some(way) = way(args, &signalled)? else { return Ok(false) };
    launch::forget(&way.via, &way.hosts).map_err(|errors| refused(&errors))?;
    Ok(true)
}

fn refused(errors: &[launch::LaunchError]) -> Failure {
    let causes = launch::LaunchError::by_cause(errors);
    let lines: Vec<String> = causes.iter().map(|error| format!("error: {error}")).collect();
    Failure::Target(lines.join("\n"))
}

/// What the arguments ask for; `None` is this machine alone, in this process.
fn way(args: &HostArgs, signalled: &Signalled) -> Result<Option<Way>, Failure> {
    let usage = |what: String| Failure::Usage(format!("error: {what}"));
    let target = |what: String| Failure::Target(format!("error: {what}"));
    if let Some(options) = &args.slurm {
        let job = signalled.slurm().allocate(options);
        return job.inspect_err(|_| signalled.or_end()).map(of_job).map(Some).map_err(target);
    }
    if let Some(selector) = &args.kubernetes {
        let options: Vec<String> = args
            .kubectl
            .iter()
            .flat_map(|text| text.split_whitespace())
            .map(str::to_owned)
            .collect();
        let hosts = launch::pods(selector, &options).map_err(target)?;
        return Ok(Some(Way { via: Via::Kubernetes { options }, hosts, job: None }));
    }
    let Some(list) = &args.hosts else { return Ok(None) };
    if list == "slurm" {
        return SlurmJob::current().map(of_job).map(Some).map_err(usage);
    }
    if let Some(count) = list.strip_prefix("local:") {
        let count = count.parse().ok().filter(|count| (1..=MOST_LOCAL).contains(count));
        let count = count
            .ok_or_else(|| usage(format!("--hosts {list}: write local:1 to local:{MOST_LOCAL}")))?;
        let hosts = (1..=count).map(|number| format!("local-{number}")).collect();
        return Ok(Some(Way { via: Via::Local, hosts, job: None }));
    }
    let hosts = match list.strip_prefix('@') {
        Some(path) => read(Path::new(path))
            .and_then(|text| hostlist::expand_file(&text).map_err(|error| error.to_string())),
        None => hostlist::expand(list).map_err(|error| error.to_string()),
    };
    let hosts = hosts.map_err(|what| usage(format!("--hosts: {what}")))?;
    if hosts.is_empty() {
        return Err(usage(format!("--hosts {list}: names no host; write one name a line")));
    }
    let via = match &args.launcher {
        Some(template) => Via::template(template).map_err(usage)?,
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
    std::fs::File::open(path)
        .map_err(wrong)?
        .take(LONGEST_LIST)
        .read_to_string(&mut text)
        .map_err(wrong)?;
    Ok(text)
}

/// What the hosts are, once it is sure that they are different machines. Says which wall clocks are
/// off.
pub fn facts_of(told: Vec<HostReport>, may_be_one: bool) -> Result<Vec<HostFacts>, Failure> {
    for told in told.iter().filter(|told| told.wall_ahead_ns.abs() > CLOCKS_DIFFER_NS) {
        let seconds = told.wall_ahead_ns / 1_000_000_000;
        let (name, seconds, side) =
            (&told.facts.hostname, seconds.abs(), if seconds > 0 { "ahead of" } else { "behind" });
        eprintln!(
            "note: the wall clock of {name} is {seconds} s {side} ours; no figure depends on it, \
             but its own logs will not match the report's times"
        );
    }
    let hosts: Vec<HostFacts> = told.into_iter().map(|told| told.facts).collect();
    if may_be_one {
        return Ok(hosts);
    }
    for (number, host) in hosts.iter().enumerate() {
        let same =
            |other: &&HostFacts| !host.identity.is_empty() && other.identity == host.identity;
        if let Some(other) = hosts[..number].iter().find(same) {
            return Err(Failure::Target(format!(
                "error: hosts {} and {} are one machine under two names; name it once",
                other.hostname, host.hostname
            )));
        }
    }
    Ok(hosts)
}

/// Whether several agents on one machine are what was asked for.
pub fn may_be_one(args: &HostArgs) -> bool {
    args.simulate.is_some() || args.hosts.as_ref().is_some_and(|list| list.starts_with("local:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(list: &str) -> Result<Option<(Via, Vec<String>)>, String> {
        let args = HostArgs { hosts: Some(list.to_owned()), ..HostArgs::default() };
        way(&args, &Signalled::default())
            .map(|way| way.map(|way| (way.via, way.hosts)))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn hosts_that_nothing_is_said_against_are_kept() {
        let mut hosts = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let error = |hosts: &[&str]| launch::LaunchError {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            what: "gone".to_owned(),
            remedy: None,
        };
        let is_there = reached(&hosts, &[error(&["b", "d"]), error(&["bb"])]);
        assert_eq!(is_there, [true, false, true, false]);
        keep(&mut hosts, &is_there);
        assert_eq!(hosts, ["a", "c"]);
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
