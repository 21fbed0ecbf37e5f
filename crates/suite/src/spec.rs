//! A suite as its author wrote it, checked: what [`Spec::parse`] gives.

use crate::{
    ClientsSpec, ContentsSpec, EngineSpec, EventSpec, FleetSpec, HostTargets, Label, LayoutSpec,
    Order, PointSpec, StagesSpec, SuiteSpec, TreeSpec,
};
use form::arithmetic::Arithmetic;
use form::{Sources, Span, nearest};

/// A suite, checked by itself; whether it fits a machine is the planner's question.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The top of the file.
    pub suite: SuiteSpec,
    /// `[layout]`
    pub layout: LayoutSpec,
    /// `[tree]`
    pub tree: TreeSpec,
    /// `[stages]`
    pub stages: StagesSpec,
    /// `[fleet]`
    pub fleet: FleetSpec,
    /// `[engine]`
    pub engine: EngineSpec,
    /// `[contents]`
    pub contents: ContentsSpec,
    /// `[clients]`
    pub clients: ClientsSpec,
    /// `[labels]`, in their order.
    pub labels: Vec<Label>,
    /// `[targets]`, in their order.
    pub targets: Vec<HostTargets>,
    /// `[[event]]`, in their order.
    pub events: Vec<EventSpec>,
    /// The workloads, alone or in groups, with the sweep's values put in: the product of groups
    /// and axes, groups outermost, in the order and as often as the sweep says.
    pub points: Vec<PointSpec>,
    /// In what order points run, and scenarios.
    pub order: Order,
    /// The scenarios, each a suite of its own; none where the suite is one by itself. Where there
    /// are any, all of the above but the targets is that of the first one.
    pub scenarios: Vec<Scenario>,
    /// True for the points that are to be left out, and where it was written.
    pub skip: Option<(Arithmetic, Span)>,
    /// The texts that all of it was read from.
    pub sources: Sources,
}

/// One scenario of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name: the coordinate `scenario` of its points.
    pub name: String,
    /// Whether it names its own targets; otherwise those of the run are its.
    pub has_own_targets: bool,
    /// What a simulated cluster is given besides its own parameters, to show what distinguishes
    /// this scenario.
    pub simulate: Option<String>,
    /// Whether it is left out of a simulation of the whole suite.
    pub too_long_to_simulate: bool,
    /// What it comes to.
    pub spec: Spec,
}

impl Spec {
    /// Leaves the scenarios of these names, in the order of the suite; all where none is named.
    ///
    /// # Errors
    /// A name that no scenario has, in words with a remedy.
    pub fn keep_scenarios(&mut self, names: &[String]) -> Result<(), String> {
        let known: Vec<&str> =
            self.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
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
            self.scenarios.retain(|scenario| names.contains(&scenario.name));
        }
        Ok(())
    }
}
