//! A suite as its author wrote it, checked: what [`Spec::parse`] gives.

use crate::{
    ClientsSpec, ContentsSpec, EngineSpec, EventSpec, FleetSpec, HostTargets, KeepSpec, Label,
    LayoutSpec, ObjectiveSpec, Order, PointSpec, RoundsSpec, StagesSpec, SuiteSpec, TreeSpec,
    VmsSpec,
};
use form::arithmetic::Arithmetic;
use form::{Sources, Span, nearest};
use model::Objective;

/// A suite, checked by itself; whether it fits a machine is the planner's question.
///
/// Its fields are the same for all scenarios. What differs between them is in each [`Scenario`].
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The top of the file.
    pub suite: SuiteSpec,
    /// `[fleet]`
    pub fleet: FleetSpec,
    /// `[keep]`
    pub keep: KeepSpec,
    /// `[clients]`
    pub clients: ClientsSpec,
    /// `[vms]`
    pub vms: VmsSpec,
    /// `[objective]`
    pub objective: ObjectiveSpec,
    /// `[labels]`, in their order.
    pub labels: Vec<Label>,
    /// `[targets]`, in their order: those of every scenario without targets of its own.
    pub targets: Vec<HostTargets>,
    /// `[[event]]`, in their order.
    pub events: Vec<EventSpec>,
    /// In what order points run, and scenarios.
    pub order: Order,
    /// The texts that all of it was read from.
    pub sources: Sources,
    /// At least one, in the order of the file. Without `[[scenario]]` the only one has no name;
    /// otherwise all have.
    pub(crate) scenarios: Vec<Scenario>,
}

/// What belongs to one scenario of a suite. A suite without `[[scenario]]` is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name: the coordinate `scenario` of its points. `None` in a suite without `[[scenario]]`.
    pub name: Option<String>,
    /// Its own targets, where it names any; otherwise those of the suite are its.
    pub own_targets: Option<Vec<HostTargets>>,
    /// What a simulated cluster is given besides its own parameters, to show what distinguishes
    /// this scenario.
    pub simulate: Option<String>,
    /// Whether it is left out of a simulation of the whole suite.
    pub too_long_to_simulate: bool,
    /// `[layout]`
    pub layout: LayoutSpec,
    /// `[tree]`
    pub tree: TreeSpec,
    /// `[stages]`
    pub stages: StagesSpec,
    /// `[engine]`
    pub engine: EngineSpec,
    /// `[contents]`
    pub contents: ContentsSpec,
    /// The workloads, alone or in groups, with the sweep's values put in: the product of groups
    /// and axes, groups outermost, in the order and as often as the sweep says.
    pub points: Vec<PointSpec>,
    /// True for the points that are to be left out, and where it was written.
    pub skip: Option<(Arithmetic, Span)>,
    /// Rounds that go on until they are steady.
    pub rounds: RoundsSpec,
}

impl ObjectiveSpec {
    /// What has to be kept; `None` where nothing has. The text was checked when it was read.
    pub fn objective(&self) -> Option<Objective> {
        self.keep.value.parse().ok()
    }
}

impl Spec {
    /// The suite with these scenarios.
    pub(crate) fn of(self, scenarios: Vec<Scenario>) -> Spec {
        assert!(!scenarios.is_empty(), "a suite has at least one scenario");
        let is_named = |scenario: &Scenario| scenario.name.is_some();
        assert!(
            scenarios.len() == 1 || scenarios.iter().all(is_named),
            "one of several scenarios has a name"
        );
        Spec { scenarios, ..self }
    }

    /// The scenarios, in the order of the file; at least one.
    pub fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }

    /// The scenarios, to be changed; at least one.
    pub fn scenarios_mut(&mut self) -> &mut [Scenario] {
        &mut self.scenarios
    }

    /// The commands that a run of it starts: those before points, those of events, what reaches the
    /// nodes of its machines, and the programs of workloads that are commands.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let preruns = self.scenarios.iter().map(|scenario| &scenario.stages.prerun.value);
        let events = self.events.iter().map(|event| &event.command.value);
        let points = self.scenarios.iter().flat_map(|scenario| &scenario.points);
        let programs = points
            .flat_map(|point| &point.workloads)
            .filter_map(|workload| workload.command.value.0.first());
        let all = preruns.chain(events).chain([&self.vms.launcher.value]).chain(programs);
        all.map(|command| command.trim()).filter(|command| !command.is_empty())
    }

    /// The first scenario: of a suite without `[[scenario]]`, all that it runs.
    pub fn first_scenario(&self) -> &Scenario {
        &self.scenarios[0]
    }

    /// Whether the file has `[[scenario]]`.
    pub fn has_named_scenarios(&self) -> bool {
        self.first_scenario().name.is_some()
    }

    /// The targets of one of its scenarios, in their order.
    pub fn targets_of<'a>(&'a self, scenario: &'a Scenario) -> &'a [HostTargets] {
        scenario.own_targets.as_deref().unwrap_or(&self.targets)
    }

    /// Leaves the scenarios that `is_wanted` holds for. Where it holds for none, all stay and the
    /// answer is false: a suite has at least one.
    pub fn retain_scenarios(&mut self, is_wanted: impl Fn(&Scenario) -> bool) -> bool {
        let any = self.scenarios.iter().any(&is_wanted);
        if any {
            self.scenarios.retain(is_wanted);
        }
        any
    }

    /// Leaves the scenarios of these names, in the order of the suite; all where none is named.
    ///
    /// # Errors
    /// A name that no scenario has, in words with a remedy.
    pub fn keep_scenarios(&mut self, names: &[String]) -> Result<(), String> {
        let known: Vec<&str> =
            self.scenarios.iter().filter_map(|scenario| scenario.name.as_deref()).collect();
        for name in names {
            if known.is_empty() {
                return Err(format!(
                    "the suite has no scenarios, so none is called `{name}`; leave out \
                     --scenario, or add a `[[scenario]]`"
                ));
            }
            if !known.contains(&name.as_str()) {
                let remedy = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the suite has {}", known.join(", ")),
                };
                return Err(format!("no scenario is called `{name}`; {remedy}"));
            }
        }
        if !names.is_empty() {
            let is_named =
                |scenario: &Scenario| scenario.name.as_ref().is_some_and(|own| names.contains(own));
            self.retain_scenarios(is_named);
        }
        Ok(())
    }
}
