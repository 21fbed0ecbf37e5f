//! What happens at instants of a run: marks, the suite's events and what was found, on the axis of
//! the stage that runs.

use super::{Action, Actions, Marked, Now};
use model::occurrence::{Heat, MOST_DETAIL_BYTES, last_lines};
use model::plan::{Plan, Point, Stage};
use model::planned_event::PlannedEvent;
use model::{CounterSample, Event, Occurrence, OccurrenceKind};

/// A run takes so many marks and findings, and no more: a kernel log or a script that never ends
/// must not fill its file.
const MOST_OCCURRENCES: u32 = 10_000;

#[derive(Clone, Copy, Debug)]
struct Current {
    stage: u32,
    /// When it began, on the coordinator's steady clock, in ns.
    began_ns: u64,
    /// How far its samples have come, in ns after its start.
    sampled_ns: u64,
    /// The next of its events.
    next: usize,
}

#[derive(Clone, Debug)]
struct Running {
    number: u32,
    name: String,
    began_ns: u64,
    stage: u32,
    /// How long the end of its scenario waits for it, in ns.
    wait_ns: u64,
}

/// Commands are waited for whose scenario is over.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    /// The stage that comes behind them; `None` where the run ends.
    pub(super) next: Option<u32>,
    /// When the stages before were over, in ns.
    since_ns: u64,
    /// The scenario that goes on, if one does.
    goes_on: Option<String>,
}

/// The instants of a run.
#[derive(Debug)]
pub(super) struct Timeline {
    events: Vec<PlannedEvent>,
    /// When which events are due, by stage: instants in ns after its start and places in `events`.
    due: Vec<Vec<(u64, usize)>>,
    current: Option<Current>,
    /// Whether hosts take the time of the wall. Simulated time is as far as its samples, and no
    /// command has a place in it.
    in_real_time: bool,
    commands: Vec<Running>,
    /// The scenario of each stage that is of a point.
    scenarios: Vec<Option<String>>,
    commands_begun: u32,
    heat: Heat,
    room: u32,
}

impl Timeline {
    pub(super) fn new(plan: &Plan) -> Timeline {
        let mut timeline = Timeline {
            events: plan.events.clone(),
            due: Vec::new(),
            current: None,
            in_real_time: plan.hosts.iter().all(|host| !host.engine.virtual_time),
            commands: Vec::new(),
            scenarios: Vec::new(),
            commands_begun: 0,
            heat: Heat::new(plan.hosts.len()),
            room: MOST_OCCURRENCES,
        };
        timeline.extend(&plan.stages, |stage| plan.points.get(stage.point? as usize));
        timeline
    }

    /// Takes in further stages of the plan, each of which belongs to the point that `point_of`
    /// finds.
    pub(super) fn extend<'a>(
        &mut self,
        stages: &[Stage],
        point_of: impl Fn(&Stage) -> Option<&'a Point>,
    ) {
        let due = |stage: &Stage| {
            let events = self.events.iter().enumerate();
            let mut due: Vec<(u64, usize)> = events
                .filter_map(|(place, event)| Some((event.due_ns(stage, point_of(stage))?, place)))
                .collect();
            due.sort_unstable();
            due
        };
        self.due.extend(stages.iter().map(due).collect::<Vec<_>>());
        let scenario = |stage: &Stage| point_of(stage).map(|point| point.scenario.clone());
        self.scenarios.extend(stages.iter().map(scenario));
        assert_eq!(self.due.len(), self.scenarios.len(), "of each stage both are known");
    }

    pub(super) fn begin(&mut self, stage: u32, began_ns: u64) {
        assert!(self.current.is_none(), "a stage begins within another");
        assert!(self.commands.len() <= self.commands_begun as usize, "commands nobody began");
        self.current = Some(Current { stage, began_ns, sampled_ns: 0, next: 0 });
    }

    pub(super) fn is_within_a_stage(&self) -> bool {
        self.current.is_some()
    }

    pub(super) fn end(&mut self) {
        self.current = None;
    }

    /// The samples of the stage that runs have come so far, in ns after its start.
    pub(super) fn sampled(&mut self, until_ns: u64) {
        if let Some(current) = &mut self.current {
            current.sampled_ns = current.sampled_ns.max(until_ns);
        }
    }

    /// The stage that runs, and how far it was at an instant of the steady clock, in ns.
    fn place(&self, steady_ns: u64) -> (Option<u32>, u64) {
        match self.current {
            None => (None, 0),
            Some(current) if self.in_real_time => {
                (Some(current.stage), steady_ns.saturating_sub(current.began_ns))
            }
            Some(current) => (Some(current.stage), current.sampled_ns),
        }
    }

    fn at(&self, occurrence: Occurrence, steady_ns: u64, now: Now) -> Occurrence {
        let (stage, at_ns) = self.place(steady_ns);
        let ago_ns = now.steady_ns.saturating_sub(steady_ns);
        Occurrence { stage, at_ns, unix_ns: now.unix_ns.saturating_sub(ago_ns), ..occurrence }
    }

    fn emit(&mut self, occurrence: Occurrence, actions: &mut Actions) {
        if self.room > 0 {
            self.room -= 1;
            actions.push(Action::Emit(Event::Happened(Box::new(occurrence))));
        }
    }

    /// Begins the events that are due by now.
    pub(super) fn advance(&mut self, now: Now, actions: &mut Actions) {
        while let Some(current) = &mut self.current {
            let reached_ns = match self.in_real_time {
                true => now.steady_ns.saturating_sub(current.began_ns),
                false => current.sampled_ns,
            };
            let due = self.due.get(current.stage as usize).and_then(|due| due.get(current.next));
            let Some((due_ns, place)) = due.copied().filter(|(due_ns, _)| *due_ns <= reached_ns)
            else {
                return;
            };
            current.next += 1;
            let current_stage = current.stage;
            let stage = Some(current_stage);
            let at_ns = if self.in_real_time { reached_ns } else { due_ns };
            let Some(event) = self.events.get(place).cloned() else { continue };
            let mut occurrence = Occurrence::new(OccurrenceKind::Planned, &event.name);
            (occurrence.stage, occurrence.at_ns, occurrence.unix_ns) = (stage, at_ns, now.unix_ns);
            match &event.command {
                Some(_) if !self.in_real_time => {
                    occurrence.detail =
                        "the command was left out: the time of this run is simulated".to_owned();
                }
                Some(command) => occurrence.detail = last_lines(command, MOST_DETAIL_BYTES),
                None if !self.in_real_time => {
                    occurrence.detail = "what happens then is up to the parameters of the \
                                         simulated target"
                        .to_owned();
                }
                None => occurrence.detail = "no command was given: a mark alone".to_owned(),
            }
            self.emit(occurrence, actions);
            if let Some(command) = event.command.filter(|_| self.in_real_time) {
                let number = self.next_number();
                let (began_ns, wait_ns) = (now.steady_ns, event.wait.0);
                let stage = current_stage;
                self.commands.push(Running {
                    number,
                    name: event.name.clone(),
                    began_ns,
                    stage,
                    wait_ns,
                });
                actions.push(Action::Command { number, name: event.name, command });
            }
        }
    }

    pub(super) fn next_number(&mut self) -> u32 {
        let number = self.commands_begun;
        self.commands_begun += 1;
        number
    }

    pub(super) fn happened(&mut self, occurrence: Occurrence, now: Now, actions: &mut Actions) {
        let occurrence = self.at(occurrence, now.steady_ns, now);
        self.emit(occurrence, actions);
    }

    /// Somebody says that something happened.
    pub(super) fn marked(
        &mut self,
        label: &str,
        at_ns: u64,
        now: Now,
        actions: &mut Actions,
    ) -> Marked {
        let has_room = self.room > 0;
        let mark = Occurrence::new(OccurrenceKind::Mark, label);
        let mark = self.at(mark, at_ns.min(now.steady_ns), now);
        self.emit(mark.clone(), actions);
        if has_room { Marked::Recorded(Box::new(mark)) } else { Marked::Full }
    }

    pub(super) fn command_ended(
        &mut self,
        number: u32,
        status: Option<i32>,
        output: &str,
        now: Now,
        actions: &mut Actions,
    ) {
        let Some(place) = self.commands.iter().position(|command| command.number == number) else {
            return;
        };
        let command = self.commands.remove(place);
        self.end_command(&command, status, output, now, actions);
    }

    fn end_command(
        &mut self,
        command: &Running,
        status: Option<i32>,
        output: &str,
        now: Now,
        actions: &mut Actions,
    ) {
        let mut occurrence = Occurrence::new(OccurrenceKind::CommandEnded, &command.name);
        occurrence.detail = last_lines(output, MOST_DETAIL_BYTES);
        occurrence.status = status;
        occurrence.duration_ns = Some(now.steady_ns.saturating_sub(command.began_ns));
        let occurrence = self.at(occurrence, now.steady_ns, now);
        self.emit(occurrence, actions);
    }

    /// A stage is over, and `next` is to begin, or the run to end: what has to be waited for before
    /// that, because commands run that belong to a scenario which ends with it.
    pub(super) fn wait_before(&self, next: Option<u32>, now: Now) -> Option<Wait> {
        let goes_on = next.and_then(|stage| self.scenarios.get(stage as usize).cloned().flatten());
        let wait = Wait { next, since_ns: now.steady_ns, goes_on };
        self.is_waiting(&wait, now).then_some(wait)
    }

    pub(super) fn is_waiting(&self, wait: &Wait, now: Now) -> bool {
        let waited_ns = now.steady_ns.saturating_sub(wait.since_ns);
        self.commands.iter().any(|command| {
            let scenario = self.scenarios.get(command.stage as usize).and_then(Option::as_ref);
            let is_over = wait.goes_on.is_none() || wait.goes_on.as_ref() != scenario;
            is_over && waited_ns < command.wait_ns
        })
    }

    /// Says of each command that began in an earlier stage that it still runs in this one.
    pub(super) fn tell_of_running(&mut self, now: Now, actions: &mut Actions) {
        let Some(current) = self.current else { return };
        for command in self.commands.clone() {
            let mut still = Occurrence::new(OccurrenceKind::StillRunning, &command.name);
            (still.stage, still.unix_ns) = (Some(current.stage), now.unix_ns);
            self.emit(still, actions);
        }
    }

    /// Gives up the commands that still run when the run is over.
    pub(super) fn give_up(&mut self, now: Now, actions: &mut Actions) {
        for command in std::mem::take(&mut self.commands) {
            let words = "it was still running when the run ended, and was left alone";
            self.end_command(&command, None, words, now, actions);
        }
    }

    /// A host is given up that was not heard of for `silent_ns`.
    pub(super) fn lost(
        &mut self,
        host: u32,
        why: &str,
        silent_ns: u64,
        now: Now,
        actions: &mut Actions,
    ) {
        let duration_ns = Some(silent_ns);
        let lost = Occurrence {
            host: Some(host),
            duration_ns,
            ..Occurrence::new(OccurrenceKind::HostLost, why)
        };
        let lost = self.at(lost, now.steady_ns, now);
        self.emit(lost, actions);
    }

    pub(super) fn returned(&mut self, host: u32, words: &str, now: Now, actions: &mut Actions) {
        let returned =
            Occurrence { host: Some(host), ..Occurrence::new(OccurrenceKind::HostReturned, words) };
        let returned = self.at(returned, now.steady_ns, now);
        self.emit(returned, actions);
    }

    /// A line of a host's kernel log of an instant of the steady clock, in ns.
    pub(super) fn logged(
        &mut self,
        host: u32,
        stage: u32,
        logged_ns: u64,
        line: &str,
        now: Now,
        actions: &mut Actions,
    ) {
        let line =
            Occurrence { host: Some(host), ..Occurrence::new(OccurrenceKind::KernelLog, line) };
        let (_, at_ns) = self.place(logged_ns);
        self.found(stage, at_ns, line, now, actions);
    }

    /// Looks whether a host's processors began to slow down.
    pub(super) fn counted(
        &mut self,
        host: u32,
        sample: &CounterSample,
        now: Now,
        actions: &mut Actions,
    ) {
        if let Some(throttled) = self.heat.began(host, sample) {
            self.found(sample.stage, sample.start_ns, throttled, now, actions);
        }
    }

    /// What a host found belongs to the stage that runs, or is not of this run. It cannot be of the
    /// future.
    fn found(
        &mut self,
        stage: u32,
        at_ns: u64,
        occurrence: Occurrence,
        now: Now,
        actions: &mut Actions,
    ) {
        let (current, reached_ns) = self.place(now.steady_ns);
        if current == Some(stage) {
            let at_ns = at_ns.min(reached_ns);
            let unix_ns = now.unix_ns.saturating_sub(reached_ns - at_ns);
            self.emit(Occurrence { stage: current, at_ns, unix_ns, ..occurrence }, actions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;
    use model::planned_event::EventTime;
    use model::units::{Nanos, Percent};

    fn event(name: &str, at: EventTime, command: Option<&str>) -> PlannedEvent {
        PlannedEvent {
            name: name.into(),
            at,
            workloads: vec![],
            scenarios: vec![],
            command: command.map(str::to_owned),
            wait: Nanos::seconds(600),
        }
    }

    fn now(ms: u64) -> Now {
        Now { steady_ns: ms * 1_000_000, unix_ns: 1_000_000_000_000 + ms * 1_000_000 }
    }

    /// Kind, label, stage, instant in ms; or the command that is to run.
    fn told(actions: &[Action]) -> Vec<String> {
        let line = |action: &Action| match action {
            Action::Emit(Event::Happened(one)) => {
                format!("{} {} {:?} {}", one.kind, one.label, one.stage, one.at_ns / 1_000_000)
            }
            Action::Command { number, command, .. } => format!("run {number} {command}"),
            other => format!("{other:?}"),
        };
        actions.iter().map(line).collect()
    }

    fn advance(timeline: &mut Timeline, ms: u64) -> Vec<String> {
        let mut actions = Vec::new();
        timeline.advance(now(ms), &mut actions);
        told(&actions)
    }

    #[test]
    fn events_are_due_once_in_their_order_at_the_instant_at_which_they_begin() {
        let mut plan = plan(1, 2);
        let half = EventTime::Share(Percent { ppm: 500_000 });
        plan.events = vec![
            event("b", half, Some("x")),
            event("a", EventTime::After(Nanos::millis(200)), None),
        ];
        let mut timeline = Timeline::new(&plan);
        assert_eq!(advance(&mut timeline, 900), [""; 0], "no stage runs");
        timeline.begin(1, 1_000_000_000);
        assert_eq!(advance(&mut timeline, 1_199), [""; 0]);
        assert_eq!(
            advance(&mut timeline, 1_640),
            ["planned a Some(1) 640", "planned b Some(1) 640", "run 0 x"]
        );
        assert_eq!(advance(&mut timeline, 1_900), [""; 0]);
        let mut actions = Vec::new();
        timeline.command_ended(0, Some(3), "no\n", now(1_700), &mut actions);
        timeline.command_ended(0, Some(3), "twice", now(1_700), &mut actions);
        assert_eq!(told(&actions), ["command-ended b Some(1) 700"]);
        let [Action::Emit(Event::Happened(ended))] = actions.as_slice() else {
            panic!("{actions:?}")
        };
        assert_eq!(
            (ended.status, ended.duration_ns, ended.detail.as_str()),
            (Some(3), Some(60_000_000), "no")
        );
    }

    /// Three stages, of which the first two are of one scenario.
    fn scenarios() -> Plan {
        let mut plan = plan(1, 3);
        let point = |scenario: &str| Point {
            scenario: scenario.into(),
            ..super::super::tests::searching().points[0].clone()
        };
        plan.points = vec![point("a"), point("a"), point("b")];
        (0..).zip(&mut plan.stages).for_each(|(number, stage)| stage.point = Some(number));
        plan.events = vec![event("e", EventTime::default(), Some("sleep"))];
        plan
    }

    #[test]
    fn a_command_is_waited_for_where_its_scenario_ends_as_long_as_its_event_says() {
        let mut timeline = Timeline::new(&scenarios());
        timeline.begin(0, 0);
        assert_eq!(advance(&mut timeline, 0).len(), 2);
        timeline.end();
        assert!(timeline.wait_before(Some(1), now(1_000)).is_none(), "the scenario goes on");
        let mut actions = Vec::new();
        timeline.begin(1, 1_100_000_000);
        timeline.tell_of_running(now(1_000), &mut actions);
        assert_eq!(told(&actions), ["still-running e Some(1) 0"]);
        timeline.end();
        let wait = timeline.wait_before(Some(2), now(2_000)).expect("another scenario");
        assert!(timeline.is_waiting(&wait, now(601_999)));
        assert!(!timeline.is_waiting(&wait, now(602_000)), "ten minutes");
        let wait = timeline.wait_before(None, now(2_000));
        let wait = wait.expect("the run ends with its last scenario");
        timeline.command_ended(0, Some(0), "", now(3_000), &mut actions);
        assert!(!timeline.is_waiting(&wait, now(3_000)));
        actions.clear();
        timeline.begin(2, 3_000_000_000);
        timeline.tell_of_running(now(3_000), &mut actions);
        assert_eq!(told(&actions), [""; 0]);
    }

    #[test]
    fn simulated_time_goes_by_samples_and_runs_no_command() {
        let mut plan = plan(1, 1);
        plan.hosts[0].engine.virtual_time = true;
        plan.events = vec![
            event("e", EventTime::After(Nanos::millis(500)), Some("rm")),
            event("f", EventTime::After(Nanos::millis(600)), None),
        ];
        let mut timeline = Timeline::new(&plan);
        timeline.begin(0, 0);
        timeline.sampled(499_000_000);
        assert_eq!(advance(&mut timeline, 999_999), [""; 0]);
        timeline.sampled(900_000_000);
        let mut actions = Vec::new();
        timeline.advance(now(1), &mut actions);
        assert_eq!(told(&actions), ["planned e Some(0) 500", "planned f Some(0) 600"]);
        let details: Vec<&str> = actions
            .iter()
            .filter_map(|action| match action {
                Action::Emit(Event::Happened(one)) => Some(one.detail.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(
            details,
            [
                "the command was left out: the time of this run is simulated",
                "what happens then is up to the parameters of the simulated target"
            ]
        );
        let mut actions = Vec::new();
        let Marked::Recorded(mark) = timeline.marked("m", 0, now(1), &mut actions) else {
            panic!("{actions:?}")
        };
        assert_eq!(
            (told(&actions), mark.at_ns),
            (vec!["mark m Some(0) 900".to_owned()], 900_000_000)
        );
    }

    #[test]
    fn a_mark_stands_where_its_caller_was_and_commands_that_outlive_the_run_are_told() {
        let mut plan = plan(1, 1);
        plan.events = vec![event("e", EventTime::default(), Some("sleep"))];
        let mut timeline = Timeline::new(&plan);
        timeline.begin(0, 1_000_000_000);
        assert_eq!(advance(&mut timeline, 1_000).len(), 2);
        let mut actions = Vec::new();
        timeline.marked("m", 1_300_000_000, now(1_310), &mut actions);
        timeline.marked("future", u64::MAX, now(1_310), &mut actions);
        timeline.end();
        timeline.marked("between", 1_320_000_000, now(1_320), &mut actions);
        timeline.give_up(now(1_400), &mut actions);
        timeline.give_up(now(1_400), &mut actions);
        let wanted = [
            "mark m Some(0) 300",
            "mark future Some(0) 310",
            "mark between None 0",
            "command-ended e None 0",
        ];
        assert_eq!(told(&actions), wanted);
        let Action::Emit(Event::Happened(mark)) = &actions[0] else { panic!("{actions:?}") };
        assert_eq!(mark.unix_ns, 1_001_300_000_000);
    }

    #[test]
    fn what_hosts_find_is_of_the_stage_that_runs_and_never_endless() {
        let mut timeline = Timeline::new(&plan(2, 2));
        timeline.begin(1, 0);
        let mut actions = Vec::new();
        timeline.logged(1, 0, 5, "of another stage", now(10), &mut actions);
        timeline.logged(1, 1, 5_000_000, "nvme0: I/O error", now(10), &mut actions);
        timeline.logged(1, 1, u64::MAX, "of the future", now(10), &mut actions);
        timeline.lost(1, "h1: gone", 4_000_000, now(10), &mut actions);
        let Some(Action::Emit(Event::Happened(lost))) = actions.last() else {
            panic!("{actions:?}")
        };
        assert_eq!((lost.at_ns, lost.since_ns()), (10_000_000, 6_000_000), "its last word");
        let hot = |count| {
            let values = vec![(model::counters::Metric::CoreThrottles, count)];
            let entry = model::counters::Entry {
                layer: model::counters::Layer::Clock,
                name: "0".into(),
                values,
            };
            CounterSample {
                stage: 1,
                start_ns: 2_000_000,
                entries: vec![entry],
                ..CounterSample::default()
            }
        };
        for count in [1, 4, 0, 2] {
            timeline.counted(0, &hot(count), now(10), &mut actions);
        }
        timeline.counted(9, &hot(1), now(10), &mut actions);
        let heat = |count: u32| {
            format!(
                "throttled CPUs slowed down because of heat, {count} times in an interval Some(1) \
                 2"
            )
        };
        let wanted =
            ["kernel-log nvme0: I/O error Some(1) 5", "kernel-log of the future Some(1) 10"];
        let wanted = [wanted[0], wanted[1], "host-lost h1: gone Some(1) 10"].map(str::to_owned);
        assert_eq!(told(&actions), [&wanted[..], &[heat(1), heat(2)]].concat());
        actions.clear();
        (0..20_000).for_each(|_| drop(timeline.marked("m", 0, now(10), &mut actions)));
        assert_eq!(actions.len(), MOST_OCCURRENCES as usize - 5);
        assert_eq!(
            timeline.marked("m", 0, now(10), &mut actions),
            Marked::Full,
            "and whoever marks is told"
        );
    }
}
