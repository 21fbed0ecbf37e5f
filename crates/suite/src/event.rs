//! `[[event]]`: what is to happen in the midst of a measurement.

use crate::choices::Act;
use crate::names::Names;
use crate::{PointSpec, VmsSpec};
use form::{Given, Node, Problem, Problems, Reader, Table, Value, nearest, spec_table};
use model::hostlist;
use model::machines::MachineAct;
use model::planned_event::{EventTime, PlannedEvent};
use model::scale::Scale;
use model::units::Nanos;

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
        /// What is done then to machines of `[vms]`, instead of a command, and waited for.
        act: Act = Act::None,
        /// The machines to which it is done: a name or a list of names. `[]`: all.
        machines: Names = Names(Vec::new()),
        /// Where `act = "move"` moves their disks, as `vms.pool` takes it; or the libvirt to which
        /// `act = "migrate"` moves the machines: `"qemu+ssh://host/system"`.
        to: String = String::new(),
        /// How long the end of its scenario waits for a command that still runs, and the end of the
        /// run too. What is measured while it still runs has a doubt. `"0s"`: it is not waited for.
        wait: Nanos = Nanos::seconds(600),
    }
}

impl EventSpec {
    pub(crate) fn planned(&self, vms: &VmsSpec, scale: Scale) -> PlannedEvent {
        let command = match self.act.value.kind() {
            Some(act) => self.act_command(act, &vms.name.value),
            None => self.command.value.trim().to_owned(),
        };
        PlannedEvent {
            name: self.name.value.clone(),
            at: self.at.value.scaled(scale),
            workloads: self.workloads.value.0.clone(),
            scenarios: self.scenarios.value.0.clone(),
            command: (!command.is_empty()).then_some(command),
            wait: self.wait.value,
        }
    }

    /// What the coordinator's own program is to do. Names of machines are plain; a pool may be any
    /// path.
    fn act_command(&self, act: MachineAct, name: &str) -> String {
        let mut command = format!("\"$PLIMSOLL\" vms {act} {name}");
        for machine in &self.machines.value.0 {
            command.push(' ');
            command.push_str(machine);
        }
        if !self.to.value.is_empty() {
            let quoted = self.to.value.replace('\'', r"'\''");
            command.push_str(&format!(" --to '{quoted}'"));
        }
        command
    }
}

pub(crate) fn read(root: &Table, points: &[PointSpec], problems: &mut Problems) -> Vec<EventSpec> {
    let nodes: &[Node] = match root.get("event") {
        Some(Node { value: Value::Array(nodes), .. }) => nodes,
        Some(node) => {
            let remedy = "write `[[event]]`, with two brackets, above each event";
            problems.push(node.wrong("the events are not a list of tables", remedy));
            return Vec::new();
        }
        None => return Vec::new(),
    };
    if let Some(node) = nodes.get(MOST_EVENTS) {
        let message = format!("the suite has {} events", nodes.len());
        problems.push(node.wrong(message, format!("write at most {MOST_EVENTS}")));
        return Vec::new();
    }
    let mut events: Vec<EventSpec> = Vec::new();
    for node in nodes {
        let Value::Table(table) = &node.value else {
            let message = format!("expected a table, found {}", node.kind());
            problems.push(node.wrong(message, "write `[[event]]` above its fields"));
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

fn check(event: &EventSpec, others: &[EventSpec], points: &[PointSpec], problems: &mut Problems) {
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
pub(crate) fn check_scenarios(events: &[EventSpec], known: &[&str], problems: &mut Problems) {
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
        let planned = spec.events[0].planned(&spec.vms, "0.5".parse::<Scale>().expect("a scale"));
        assert_eq!(planned.command.as_deref(), Some("true"));
        assert_eq!(planned.at, super::EventTime::After(Nanos::millis(900_000)));
        assert_eq!(planned.wait, Nanos::seconds(600), "a command takes as long at any scale");
        let spec = Spec::parse(
            "s",
            SUITE,
            &[set("event.e.command=\"drain 'a b'\""), set("event.e.at=50%")],
        );
        let spec = spec.expect("a good suite");
        let planned = spec.events[0].planned(&spec.vms, Scale::FULL);
        assert_eq!(
            (planned.command.as_deref(), planned.at.to_string().as_str()),
            (Some("drain 'a b'"), "50%")
        );
        let spec = Spec::parse("s", SUITE, &[]).expect("a good suite");
        assert_eq!(spec.events[0].planned(&spec.vms, Scale::FULL).command, None);
    }

    #[test]
    fn what_is_done_to_machines_is_a_command_of_our_own() {
        let set = |text: &str| text.parse().expect("an override");
        let told = |sets: &[&str]| {
            let sets: Vec<_> = sets.iter().map(|text| set(text)).collect();
            let spec = Spec::parse("s", SUITE, &sets).map_err(|errors| {
                errors.problems.iter().map(|p| p.message.clone()).collect::<Vec<_>>().join("; ")
            })?;
            Ok::<_, String>(spec.events[0].planned(&spec.vms, Scale::FULL).command)
        };
        let moved = told(&["event.e.act=move", "event.e.to=/mnt/it's"]).expect("good");
        let words = "\"$PLIMSOLL\" vms move plimsoll --to '/mnt/it'\\''s'";
        assert_eq!(moved.as_deref(), Some(words));
        let one = told(&["event.e.act=off", "vms.count=2", "event.e.machines=plimsoll-2"]);
        assert_eq!(
            one.expect("good").as_deref(),
            Some("\"$PLIMSOLL\" vms off plimsoll plimsoll-2")
        );
        for (sets, what) in [
            (vec!["event.e.act=off", "event.e.machines=plimsoll-2"], "no machine of [vms]"),
            (vec!["event.e.machines=plimsoll-1"], "are for an event that does"),
            (vec!["event.e.act=off", "event.e.command=true"], "not both"),
            (vec!["event.e.act=move", "event.e.to=a b"], "`a b` is no pool"),
        ] {
            let error = told(&sets).expect_err(what);
            assert!(error.contains(what), "{what}: {error}");
        }
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
