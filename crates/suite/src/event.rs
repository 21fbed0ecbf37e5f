//! `[[event]]`: what is to happen in the midst of a measurement.

use crate::PointSpec;
use form::{Field, Given, Node, Problem, Reader, Table, Value, nearest, spec_table};
use model::hostlist;
use model::planned_event::{EventTime, PlannedEvent};
use model::scale::Scale;
use model::units::{Nanos, UnitError};

/// A suite is a page of text; more events than this on it are a slip.
const MOST_EVENTS: usize = 100;

spec_table! {
    /// Something that is to happen in the midst of a measurement: a migration, a failover, a drive
    /// that is pulled. Every view shows it on its time axis, and the report shows what changed
    /// after it.
    pub struct EventSpec {
        /// Its name, as views show it: letters, digits, and `.` `-` `_`. `--set
        /// event.NAME.command="…"` sets a field of it.
        name: String,
        /// When, in the measure stage of each point: a share of its time such as `"50%"`, or a time
        /// after its start such as `"30m"`, which `--scale` shrinks like the stage's.
        at: EventTime,
        /// The workloads in whose measure stages it happens: a name or a list of names. `[]`: all.
        workloads: Names = Names(Vec::new()),
        /// The scenarios in whose measure stages it happens: a name or a list of names. `[]`: all.
        scenarios: Names = Names(Vec::new()),
        /// What the coordinator has `sh -c` do then; no other host does. Its exit status, duration
        /// and last lines are recorded, and the run goes on whatever they are. Under simulated time
        /// it is left out. `""`: nothing, the event is a mark.
        command: String = String::new(),
        /// How long the end of its scenario waits for a command that still runs, and the end of the
        /// run too. What is measured while it still runs has a doubt. `"0s"`: it is not waited for.
        wait: Nanos = Nanos::seconds(600),
    }
}

impl EventSpec {
    /// The event as a plan has it.
    pub(crate) fn planned(&self, scale: Scale) -> PlannedEvent {
        let command = self.command.value.trim();
        PlannedEvent {
            name: self.name.value.clone(),
            at: self.at.value.scaled(scale),
            workloads: self.workloads.value.0.clone(),
            scenarios: self.scenarios.value.0.clone(),
            command: (!command.is_empty()).then(|| command.to_owned()),
            wait: self.wait.value,
        }
    }
}

/// Names, one or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Field for Names {
    const KIND: &'static str = "name or list of names";

    fn read(node: &Node) -> Result<Names, UnitError> {
        match &node.value {
            Value::Array(nodes) => {
                nodes.iter().map(String::read).collect::<Result<_, _>>().map(Names)
            }
            _ => String::read(node).map(|name| Names(vec![name])),
        }
    }

    fn write(&self) -> String {
        let names: Vec<String> = self.0.iter().map(String::write).collect();
        format!("[{}]", names.join(", "))
    }
}

/// The events of a suite.
pub(crate) fn read(
    root: &Table,
    points: &[PointSpec],
    problems: &mut Vec<Problem>,
) -> Vec<EventSpec> {
    let nodes: &[Node] = match root.get("event") {
        Some(Node { value: Value::Array(nodes), .. }) => nodes,
        Some(node) => {
            let remedy = "write `[[event]]`, with two brackets, above each event";
            problems.push(Problem::new(
                node.span.clone(),
                "the events are not a list of tables",
                remedy,
            ));
            return Vec::new();
        }
        None => return Vec::new(),
    };
    if let Some(node) = nodes.get(MOST_EVENTS) {
        let message = format!("the suite has {} events", nodes.len());
        problems.push(Problem::new(
            node.span.clone(),
            message,
            format!("write at most {MOST_EVENTS}"),
        ));
        return Vec::new();
    }
    let mut events: Vec<EventSpec> = Vec::new();
    for node in nodes {
        let Value::Table(table) = &node.value else {
            let message = format!("expected a table, found {}", node.kind());
            problems.push(Problem::new(
                node.span.clone(),
                message,
                "write `[[event]]` above its fields",
            ));
            continue;
        };
        let mut reader = Reader::new(table, node.span.clone(), problems);
        let event = EventSpec::read(&mut reader);
        reader.finish();
        check(&event, &events, points, problems);
        events.push(event);
    }
    events
}

fn check(
    event: &EventSpec,
    others: &[EventSpec],
    points: &[PointSpec],
    problems: &mut Vec<Problem>,
) {
    if let Given { value, span: Some(span), .. } = &event.name {
        if !hostlist::is_name(value) {
            let message = format!("`{value}` cannot be the name of an event");
            problems.push(Problem::new(
                span.clone(),
                message,
                "write letters, digits, and . - _ only",
            ));
        } else if others.iter().any(|other| other.name.value == *value) {
            let message = format!("two events are called `{value}`");
            problems.push(Problem::new(span.clone(), message, "give each its own name"));
        }
    }
    if let Given { value: EventTime::Share(share), span: Some(span), .. } = &event.at
        && share.ppm >= 1_000_000
    {
        let remedy = "write a share below 100% or a time after the stage's start";
        problems.push(Problem::new(span.clone(), "at: the stage is over then", remedy));
    }
    let Given { value: Names(names), span: Some(span), .. } = &event.workloads else { return };
    let known = || {
        points
            .iter()
            .flat_map(|point| &point.workloads)
            .map(|workload| workload.name.value.as_str())
    };
    for name in names.iter().filter(|name| !known().any(|known| known == name.as_str())) {
        let remedy = match nearest(name, known()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "name a `[[workload]]` of this suite".to_owned(),
        };
        problems.push(Problem::new(
            span.clone(),
            format!("no workload is called `{name}`"),
            remedy,
        ));
    }
}

/// Complains about scenarios that the suite has not.
pub(crate) fn check_scenarios(events: &[EventSpec], known: &[&str], problems: &mut Vec<Problem>) {
    for event in events {
        let Given { value: Names(names), span: Some(span), .. } = &event.scenarios else {
            continue;
        };
        for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
            let remedy = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None if known.is_empty() => {
                    "the suite has no scenarios; leave `scenarios` out".to_owned()
                }
                None => "name a `[[scenario]]` of this suite".to_owned(),
            };
            problems.push(Problem::new(
                span.clone(),
                format!("no scenario is called `{name}`"),
                remedy,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use model::scale::Scale;
    use model::units::Nanos;

    const SUITE: &str =
        "name = \"s\"\n[[workload]]\nname = \"w\"\n[[event]]\nname = \"e\"\nat = \"30m\"\n";

    #[test]
    fn an_event_gets_its_command_from_the_user_and_its_time_is_scaled() {
        let set = |text: &str| text.parse().expect("an override");
        let spec = Spec::parse("s", SUITE, &[set("event.e.command=true")]).expect("a good suite");
        let planned = spec.events[0].planned("0.5".parse::<Scale>().expect("a scale"));
        assert_eq!(planned.command.as_deref(), Some("true"));
        assert_eq!(planned.at, super::EventTime::After(Nanos::millis(900_000)));
        assert_eq!(planned.wait, Nanos::seconds(600), "a command takes as long at any scale");
        let spec = Spec::parse(
            "s",
            SUITE,
            &[set("event.e.command=\"drain 'a b'\""), set("event.e.at=50%")],
        );
        let planned = spec.expect("a good suite").events[0].planned(Scale::FULL);
        assert_eq!(
            (planned.command.as_deref(), planned.at.to_string().as_str()),
            (Some("drain 'a b'"), "50%")
        );
        let spec = Spec::parse("s", SUITE, &[]).expect("a good suite");
        assert_eq!(spec.events[0].planned(Scale::FULL).command, None);
    }

    #[test]
    fn every_slip_is_told() {
        let text = "name = \"s\"\n[[workload]]\nname = \"write\"\n[[event]]\nname = \"a b\"\nat = \
                    \"100%\"\nworkloads = \"writ\"\n[[event]]\nname = \"c\"\nat = \
                    5\n[[event]]\nname = \"c\"\nwhen = \"1s\"\n";
        let errors = Spec::parse("s", text, &[]).expect_err("mistakes");
        let told: Vec<&str> =
            errors.problems.iter().map(|problem| problem.message.as_str()).collect();
        for wanted in [
            "`a b` cannot be the name of an event",
            "at: the stage is over then",
            "no workload is called `writ`",
            "at: expected a time in a stage, found a whole number",
            "two events are called `c`",
            "`at` is missing",
            "`when` is not a known field",
        ] {
            assert!(told.contains(&wanted), "{wanted}: {told:?}");
        }
        for (scenarios, remedy) in
            [("", "the suite has no scenarios"), ("[[scenario]]\nname = \"far\"\n", "\"far\"")]
        {
            let text = format!("{SUITE}scenarios = [\"fat\"]\n{scenarios}");
            let problems = Spec::parse("s", &text, &[]).expect_err("no such scenario").problems;
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].message.contains("no scenario is called `fat`"), "{problems:?}");
            assert!(problems[0].remedy.contains(remedy), "{problems:?}");
        }
        let errors = Spec::parse("s", "name = \"s\"\nevent = 5\n[[workload]]\nname = \"w\"\n", &[]);
        assert!(
            errors.expect_err("a mistake").problems[0].message.contains("not a list of tables")
        );
    }
}
