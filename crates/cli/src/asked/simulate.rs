//! What `--simulate` asks for: a cluster as the target, and how many hosts load it.

use crate::args::{HostArgs, WorkArgs};
use crate::asked::{budget, testbed};
use crate::failure::Failure;
use catalogue::Cluster;
use catalogue::cluster::{FITTED, fixed};
use form::Override;
use model::note::{Adjusted, Fact};
use model::plan::PlanNote;
use model::testbed::{HostFacts, SIMULATED_CLUSTER as CLUSTER, TargetKind};
use model::{Bytes, EventTime, Fraction, Percent, Plan, Scale, ScaleArg};
use suite::{Scenario, Spec, TargetSet};

/// Logical CPUs of a core, on the servers of today.
const THREADS: u64 = 2;
/// Logical CPUs and memory of a simulated host where the testbed says none: those of this machine
/// have no part in what is simulated.
const UNSAID: (u32, Bytes) = (2, Bytes::gib(16));

/// The target that takes the place of all others; `None` where nothing is to be simulated. What is
/// no cluster is refused here, once for all hosts.
pub(crate) fn target(hosts: &HostArgs, suite: &str) -> Result<Option<String>, Failure> {
    let target = match hosts.simulate.as_deref() {
        None => return Ok(None),
        Some("") if testbed::built_in(suite).is_some() => named(suite),
        Some("") => {
            let names: Vec<&str> = testbed::BUILT_IN.iter().map(|(name, _)| *name).collect();
            return Err(Failure::usage(format!(
                "--simulate: no testbed is called like the suite `{suite}`; name one \
                 behind it, such as {}",
                names.join(", ")
            )));
        }
        Some(cluster) => named(cluster),
    };
    checked(target).map(Some)
}

/// A testbed that was named, with its parameters: of a reference testbed what was fitted to its
/// report, unless they say otherwise.
fn named(cluster: &str) -> String {
    let (name, parameters) = cluster.split_once(',').unwrap_or((cluster, ""));
    let says = |one: &str| ["fitted", "unfitted"].contains(&one.trim());
    let is_shipped = FITTED.iter().any(|(known, _)| *known == name.trim());
    if is_shipped && !parameters.split(',').any(says) {
        format!("{CLUSTER}{name},fitted{}", &cluster[name.len()..])
    } else {
        format!("{CLUSTER}{cluster}")
    }
}

fn checked(target: String) -> Result<String, Failure> {
    match engine::simulated(&target).kind {
        TargetKind::Unreadable(why) => Err(Failure::usage(format!("the simulated cluster: {why}"))),
        _ => Ok(target),
    }
}

/// The parameters of a scenario's simulation: what commas separate that stand in no parentheses.
fn parameters(scenario: &Scenario) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_between = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    };
    let text = scenario.simulate.as_deref().unwrap_or_default();
    text.split(is_between).map(str::trim).filter(|parameter| !parameter.is_empty()).collect()
}

pub(crate) fn of_scenario(
    cluster: &str,
    spec: &Spec,
    scenario: &Scenario,
) -> Result<String, Failure> {
    let of_cluster: Vec<String> = parameters(scenario)
        .into_iter()
        .filter(|parameter| Lesser::of(parameter).is_none())
        .map(|parameter| at_event(parameter, spec, scenario))
        .collect::<Result<_, _>>()?;
    if of_cluster.is_empty() {
        Ok(cluster.to_owned())
    } else {
        checked(format!("{cluster},{}", of_cluster.join(",")))
    }
}

/// What a reader has to know of a cluster whose volumes migrate.
pub(crate) fn assumed(cluster: &str) -> Option<Adjusted> {
    cluster.contains(",migrate=").then_some(Adjusted::MigrationAssumed)
}

/// What a reader has to know of a testbed of his own that says nothing of its software.
pub(crate) fn without_software(cluster: &str) -> Result<Option<Adjusted>, Failure> {
    let named = cluster.strip_prefix(CLUSTER).unwrap_or(cluster);
    let name = named.split(',').next().unwrap_or(named);
    if testbed::built_in(name).is_some() {
        return Ok(None);
    }
    let read = testbed::read(name, &[])?;
    let times = [read.found(|software| software.read.value), read.found(|one| one.write.value)];
    let testbed = name.to_owned();
    Ok(times.iter().all(Option::is_none).then_some(Adjusted::SoftwareNotGiven { testbed }))
}

/// `migrate=EVENT+LENGTH` with the event's time in its place, so that the suite's event moves the
/// migration.
fn at_event(parameter: &str, spec: &Spec, scenario: &Scenario) -> Result<String, Failure> {
    let named = parameter.strip_prefix("migrate=").and_then(|value| value.split_once('+'));
    let event = named
        .and_then(|(name, _)| spec.events.iter().find(|event| event.name.value == name.trim()));
    let (Some((_, length)), Some(event)) = (named, event) else { return Ok(parameter.to_owned()) };
    let share = match event.at.value {
        EventTime::Share(share) => share,
        // Times shrink in a simulation, and shares stay.
        EventTime::After(after) if scenario.stages.measure.value > after => {
            let ppm = u128::from(after.0) * 1_000_000 / u128::from(scenario.stages.measure.value.0);
            Percent { ppm: ppm as u32 }
        }
        EventTime::After(after) => {
            return Err(Failure::usage(format!(
                "the simulated cluster: the event `{}` is due after {after}, when nothing \
                 is measured any more; give it a share, such as at = \"50%\"",
                event.name.value
            )));
        }
    };
    Ok(format!("migrate={share}+{length}"))
}

/// What a scenario measures in a simulation, where all of it would be too many requests.
enum Lesser<'a> {
    /// `amount=SIZE`: so many bytes of each worker.
    Amount(&'a str),
    /// `files=NUMBER`: so many files of each host; arithmetic as `tree.files` takes it.
    Files(&'a str),
}

impl Lesser<'_> {
    fn of(parameter: &str) -> Option<Lesser<'_>> {
        let (key, value) = parameter.split_once('=')?;
        match key.trim() {
            "amount" => Some(Lesser::Amount(value.trim())),
            "files" => Some(Lesser::Files(value.trim())),
            _ => None,
        }
    }

    /// What stands for it in a suite of which `size` is left. It is enough as it is, so that
    /// nothing of it is to be scaled away.
    fn overridden(&self, scenario: &str, size: Fraction) -> Option<Override> {
        let Fraction { numerator, denominator } = size;
        let text = match self {
            Lesser::Amount(amount) => {
                let full: Bytes = amount.parse().ok()?;
                let bytes =
                    u128::from(full.0) * u128::from(denominator) / u128::from(numerator.max(1));
                format!("scenario.{scenario}.stages.amount={}B", bytes.min(u128::from(MOST_AMOUNT)))
            }
            Lesser::Files(files) if size.is_one() => {
                format!("scenario.{scenario}.tree.files={files}")
            }
            Lesser::Files(files) => {
                format!(
                    "scenario.{scenario}.tree.files=floor(({files}) * {denominator} / {numerator})"
                )
            }
        };
        text.parse().ok()
    }
}

/// As large as an amount is read back without loss.
const MOST_AMOUNT: u64 = 1 << 50;

/// Overrides that give each scenario of a suite the amount that it has in a simulation, where
/// `scale` leaves so much of its sizes.
pub(crate) fn amounts(spec: &Spec, scale: Option<ScaleArg>) -> Vec<Override> {
    let size = scale.and_then(|scale| scale.size).unwrap_or(Fraction::ONE);
    let of = |scenario: &Scenario| {
        let lesser = parameters(scenario).into_iter().find_map(|parameter| {
            let name = scenario.name.as_deref()?;
            Lesser::of(parameter).map(|lesser| lesser.overridden(name, size))
        });
        lesser.flatten()
    };
    spec.scenarios().iter().filter_map(of).collect()
}

/// Takes the scenarios out of a suite that are not simulated, unless there are no others; what to
/// say of each.
pub(crate) fn leave_out(spec: &mut Spec) -> Vec<Adjusted> {
    let left_out = spec.scenarios().iter().filter(|scenario| scenario.too_long_to_simulate);
    let names: Vec<String> = left_out.filter_map(|scenario| scenario.name.clone()).collect();
    let any_stays = spec.retain_scenarios(|scenario| !scenario.too_long_to_simulate);
    let names = if any_stays { names } else { Vec::new() };
    names.into_iter().map(|name| Adjusted::ScenarioLeftOut { name }).collect()
}

/// Has every workload load all targets, as a simulated cluster is one; what to say of it.
pub(crate) fn join_targets(spec: &mut Spec) -> Option<Adjusted> {
    let scenarios = spec.scenarios_mut().iter_mut();
    let workloads = scenarios.flat_map(|one| &mut one.points).flat_map(|one| &mut one.workloads);
    let mut is_joined = false;
    for workload in workloads.filter(|workload| !workload.targets.value.is_all()) {
        workload.targets.value = TargetSet::all();
        is_joined = true;
    }
    is_joined.then_some(Adjusted::TargetsJoined)
}

pub(crate) struct Simulation {
    cluster: Cluster,
    spec: twin::ClusterSpec,
}

impl Simulation {
    /// What is simulated, where the hosts are simulated too; `None` where they are real.
    pub(crate) fn of(
        hosts: &HostArgs,
        targets: &[Vec<String>],
    ) -> Result<Option<Simulation>, Failure> {
        let named = targets.iter().flatten().find_map(|target| target.strip_prefix("sim:"));
        let (Some(_), Some(text)) = (&hosts.simulate, named) else { return Ok(None) };
        let spec = twin::ClusterSpec::parse(text)
            .map_err(|why| Failure::usage(format!("the simulated cluster: {why}")))?;
        let text = spec.reference().map_err(Failure::usage)?;
        let text = text.map_or_else(|| testbed::text(&spec.testbed), Ok)?;
        let cluster = spec.used(testbed::parsed(&spec.testbed, &text, &[])?);
        Ok(Some(Simulation { cluster, spec }))
    }

    /// Puts the testbed's facts in the place of this machine's, which stands behind all of the
    /// simulated hosts and has no part in what they measure.
    pub(crate) fn describe(&self, hosts: &mut [HostFacts]) {
        let count = hosts.len().max(1) as u64;
        for host in hosts {
            let (what, cores, memory) = self.host(count);
            host.cpu_model = format!("simulated: {what} of {}", self.cluster.top.name.value);
            host.logical_cpus = cores.unwrap_or(UNSAID.0);
            host.memory = memory.unwrap_or(UNSAID.1);
            host.memory_available = host.memory;
            host.kernel = "virtual time".to_owned();
            host.numa_cpus.clear();
            host.hypervisor = None;
            host.inventory = model::inventory::Inventory::default();
        }
    }

    /// What one of `count` hosts is, its CPUs and its memory, where the testbed says it.
    fn host(&self, count: u64) -> (&'static str, Option<u32>, Option<Bytes>) {
        if self.cluster.has_clients() {
            return ("a client", None, fixed(self.cluster.clients.memory.value));
        }
        let of_nodes = |figure: &dyn Fn(&catalogue::cluster::NodeGroup) -> Option<u64>| {
            let each = self
                .cluster
                .nodes
                .iter()
                .map(|group| figure(group).map(|one| one.saturating_mul(group.count())));
            each.sum::<Option<u64>>().map(|all| (all / count.max(self.cluster.node_count())).max(1))
        };
        let cores = of_nodes(&|group| {
            let cores: Option<form::Count> = fixed(group.spec.cores.value);
            cores.map(|cores| u64::from(cores.0) * THREADS)
        });
        let memory =
            of_nodes(&|group| fixed(group.spec.memory.value).map(|memory: Bytes| memory.0));
        let what = if count > self.cluster.node_count() { "a machine on a node" } else { "a node" };
        (what, cores.map(|cores| cores.min(1_024) as u32), memory.map(Bytes))
    }

    /// What the storage software adds to each request at least.
    fn least_ns(&self) -> u64 {
        let paths = [
            self.cluster.found(|software| software.read_path.value),
            self.cluster.found(|software| software.write_path.value),
        ];
        paths.into_iter().flatten().map(|path| path.0).min().unwrap_or(self.spec.stack_ns)
    }

    /// The scale of a run, where its times may shrink to what can be simulated soon; `full` is its
    /// plan at the full length of times.
    pub(crate) fn scale(&self, work: &WorkArgs, full: &Plan) -> Scale {
        let said = work.scale.unwrap_or_default();
        match said.time {
            Some(time) => said.or(time),
            None => said.or(budget::time_scale(full, &self.cluster, self.least_ns())),
        }
    }

    /// What a reader has to know of a plan whose times may have shrunk because of it.
    pub(crate) fn notes(
        &self,
        work: &WorkArgs,
        left_out: &[Adjusted],
        full: &Plan,
        plan: &mut Plan,
    ) {
        let note = |what| PlanNote { fact: Fact::Adjusted(what) };
        plan.notes.splice(0..0, left_out.iter().cloned().map(note));
        let time = plan.scale.time();
        if work.scale.unwrap_or_default().time.is_none() && time != Fraction::ONE {
            let all = full.fixed_time();
            let divisor = u64::from(time.denominator);
            plan.notes.insert(0, note(Adjusted::SimulatedTimes { divisor, all }));
        }
    }
}

/// How many hosts are simulated: what was asked for, or the testbed's clients, or the machines on
/// its nodes, or its nodes.
pub(crate) fn hosts(hosts: &HostArgs, targets: &[String]) -> Result<u32, Failure> {
    if let Some(count) = hosts.sim_hosts {
        return Ok(count);
    }
    let named = targets.first().and_then(|target| target.strip_prefix(CLUSTER));
    let Some(name) = named.map(|text| text.split_once(',').map_or(text, |(name, _)| name)) else {
        return Ok(1);
    };
    let cluster = testbed::read(name, &[])?;
    let count = |value| fixed::<form::Count>(value).map(|count| u64::from(count.0));
    let said = count(cluster.clients.count.value).or(count(cluster.access.machines.value));
    Ok(said.unwrap_or(cluster.node_count()).clamp(1, 1024) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulate(what: &str) -> HostArgs {
        HostArgs { simulate: Some(what.to_owned()), ..HostArgs::default() }
    }

    #[test]
    fn a_suite_that_is_called_like_a_testbed_needs_no_name() {
        let asked = |what: &str, suite: &str| {
            target(&simulate(what), suite).map_err(|failure| failure.to_string())
        };
        assert_eq!(
            asked("", "pixstor-nvme"),
            Ok(Some("sim:cluster=pixstor-nvme,fitted".to_owned()))
        );
        assert_eq!(
            asked("pixstor-nvme,remote=5%", "x"),
            Ok(Some("sim:cluster=pixstor-nvme,fitted,remote=5%".to_owned()))
        );
        for plain in ["pixstor-nvme,remote=5%,unfitted", "azure-stack-hci,remote=0%"] {
            assert_eq!(asked(plain, "x"), Ok(Some(format!("sim:cluster={plain}"))));
        }
        assert!(
            asked("azure-stack-hci,fitted", "x").expect_err("none").contains("leave `fitted` out")
        );
        assert!(asked("mine.toml", "x").expect_err("no file").contains("check the path"));
        assert!(asked("", "smoke").expect_err("no testbed").contains("vsan-four-corners"));
        assert_eq!(target(&HostArgs::default(), "x").map_err(|_| ()), Ok(None));
    }

    #[test]
    fn what_a_testbed_does_not_say_of_a_host_is_not_taken_from_this_machine() {
        let of = |testbed: &str| {
            let target = vec![format!("sim:cluster={testbed}")];
            let simulation = Simulation::of(&simulate(testbed), &[target]);
            let simulation = simulation.expect("a testbed").expect("a simulation");
            let here = probe::Looker::new().host("", Default::default(), Vec::new());
            let mut host = [HostFacts { logical_cpus: 7, memory: Bytes::gib(3), ..here }];
            simulation.describe(&mut host);
            (host[0].logical_cpus, host[0].memory)
        };
        assert_eq!(of("pixstor-nvme"), (2, Bytes::gib(128)), "a client has no cores");
        assert_eq!(of("hyperflex-stretched").0, 2);
    }

    #[test]
    fn there_are_as_many_hosts_as_clients_or_nodes() {
        let count = |target: &str| {
            hosts(&simulate(""), &[target.to_owned()]).map_err(|failure| failure.to_string())
        };
        assert_eq!(count("sim:cluster=pixstor-nvme,remote=0%"), Ok(16));
        assert_eq!(count("sim:cluster=vsan-four-corners"), Ok(16));
        assert_eq!(count("sim:cluster=hyperflex-stretched,remote=100%"), Ok(10));
        assert_eq!(count("sim:cluster=azure-stack-hci"), Ok(6));
        assert!(count("sim:cluster=nowhere").is_err());
        let asked = HostArgs { sim_hosts: Some(3), ..simulate("") };
        assert_eq!(hosts(&asked, &[]).map_err(|_| ()), Ok(3));
    }
}
