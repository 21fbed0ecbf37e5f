//! What is done before a point begins: a command of the coordinator's, for caches that no host of
//! the run can reach.

use super::{Action, Actions, Coordinator, Now, Step};
use model::note::NotEmptied;
use model::occurrence::{MOST_DETAIL_BYTES, last_lines, one_line};
use model::plan::{Plan, Point, Prerun, Stage, StageKind};
use model::{Event, Fact, Nanos, Note, Occurrence, OccurrenceKind, RunEnd};
use std::collections::BTreeMap;

/// A command has so long, in ns. The caches of a server are written back in minutes; what takes
/// longer hangs.
const LONGEST_NS: u64 = 600_000_000_000;
/// After it was killed, its end is waited for so long, in ns: what the kernel holds in a system
/// call does not die.
const END_WITHIN_NS: u64 = 5_000_000_000;
/// So much of what it wrote at last stands in a note, in bytes; the occurrence has more.
const MOST_WORDS_BYTES: usize = 200;

/// Something that is to be done before a stage.
#[derive(Clone, Debug)]
struct Due {
    point: String,
    /// The stage that its results come from.
    measured: u32,
    prerun: Prerun,
}

/// A command that runs before a stage.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) stage: u32,
    number: u32,
    due: Due,
    began_ns: u64,
    /// When it is waited for no longer, in ns.
    by_ns: u64,
    is_killed: bool,
}

struct End<'a> {
    status: Option<i32>,
    output: &'a str,
    /// Why it was killed or given up, if it was.
    why: Option<&'a str>,
}

/// What is to be done before the points of a run.
#[derive(Debug)]
pub(super) struct Preruns {
    /// By the first stage of each point.
    due: BTreeMap<u32, Due>,
}

impl Preruns {
    pub(super) fn new(plan: &Plan) -> Preruns {
        let mut preruns = Preruns { due: BTreeMap::new() };
        for (number, point) in (0..).zip(&plan.points) {
            preruns.add(number, point, (0..).zip(&plan.stages));
        }
        preruns
    }

    /// Takes in a point, which has some of these numbered stages.
    pub(super) fn add<'a>(
        &mut self,
        number: u32,
        point: &Point,
        stages: impl Iterator<Item = (u32, &'a Stage)>,
    ) {
        let Some(prerun) = point.prerun.clone() else { return };
        let mine: Vec<(u32, &Stage)> =
            stages.filter(|(_, stage)| stage.point == Some(number)).collect();
        let Some((first, _)) = mine.first() else { return };
        let measured = mine
            .iter()
            .find(|(_, stage)| stage.kind == StageKind::Measure)
            .map_or(*first, |(stage, _)| *stage);
        let point = format!("before point {} ({})", number + 1, point.name());
        self.due.insert(*first, Due { point, measured, prerun });
    }
}

impl Coordinator {
    /// Begins what is to be done before a stage; false where nothing is. Each is done once.
    pub(super) fn begin_prerun(&mut self, stage: u32, now: Now, actions: &mut Actions) -> bool {
        let Some(due) = self.preruns.due.remove(&stage) else { return false };
        let command = match &due.prerun.command {
            Some(command) if self.terms.in_real_time => command.clone(),
            Some(_) => {
                self.leave_out(
                    &due,
                    "the time of this run is simulated, and no command has a place in it",
                    actions,
                );
                return false;
            }
            None => {
                self.leave_out(&due, "a run that is resumed runs no command of its file", actions);
                return false;
            }
        };
        let number = self.timeline.next_number();
        let by_ns = now.steady_ns.saturating_add(LONGEST_NS);
        let began_ns = now.steady_ns;
        self.step =
            Step::Prerun(UnderWay { stage, number, due, began_ns, by_ns, is_killed: false });
        actions.push(Action::Command {
            number,
            name: OccurrenceKind::Prerun.word().to_owned(),
            command,
        });
        true
    }

    fn leave_out(&mut self, due: &Due, why: &str, actions: &mut Actions) {
        let mut occurrence =
            Occurrence::new(OccurrenceKind::Prerun, &format!("{}: left out", due.point));
        occurrence.detail = why.to_owned();
        self.timeline.happened(occurrence, self.now, actions);
        actions.push(not_emptied(due, NotEmptied::LeftOut { why: why.to_owned() }));
    }

    /// Kills a command that takes too long, and goes on to the stage without one that does not even
    /// die.
    pub(super) fn look_at_prerun(&mut self, now: Now, actions: &mut Actions) {
        let Step::Prerun(under_way) = &mut self.step else { return };
        assert!(under_way.by_ns >= under_way.began_ns, "a command was over before it began");
        if now.steady_ns <= under_way.by_ns {
            return;
        }
        if !under_way.is_killed {
            under_way.is_killed = true;
            under_way.by_ns = now.steady_ns.saturating_add(END_WITHIN_NS);
            actions.push(Action::EndCommand { number: under_way.number });
            return;
        }
        let stage = under_way.stage;
        let why = "it was killed because it took too long, and did not even end then";
        self.tell_of_prerun(&End { status: None, output: "", why: Some(why) }, now, actions);
        self.set_up(stage, actions);
    }

    /// A command ended: goes on to the stage if it was the one that is under way; else it is of an
    /// event.
    pub(super) fn command_ended(
        &mut self,
        number: u32,
        status: Option<i32>,
        output: &str,
        now: Now,
        actions: &mut Actions,
    ) {
        let (stage, is_killed) = match &self.step {
            Step::Prerun(under_way) if under_way.number == number => {
                (under_way.stage, under_way.is_killed)
            }
            // How the run ended is on record, and nothing follows it.
            step if step.is_on_record() => return,
            _ => return self.timeline.command_ended(number, status, output, now, actions),
        };
        let longest = format!("it was killed because it took longer than {}", Nanos(LONGEST_NS));
        let why = is_killed.then_some(longest.as_str());
        self.tell_of_prerun(&End { status, output, why }, now, actions);
        self.set_up(stage, actions);
    }

    /// Ends the command with the run, which waits for nothing any more.
    pub(super) fn give_up_prerun(&mut self, now: Now, actions: &mut Actions) {
        let Step::Prerun(under_way) = &self.step else { return };
        actions.push(Action::EndCommand { number: under_way.number });
        let why = Some("it was ended with the run");
        self.tell_of_prerun(&End { status: None, output: "", why }, now, actions);
    }

    fn tell_of_prerun(&mut self, end: &End<'_>, now: Now, actions: &mut Actions) {
        let Step::Prerun(under_way) = &self.step else { return };
        let due = &under_way.due;
        let command = due.prerun.command.as_deref().unwrap_or_default();
        let mut occurrence =
            Occurrence::new(OccurrenceKind::Prerun, &format!("{}: {command}", due.point));
        let words: Vec<&str> = [end.output, end.why.unwrap_or_default()].map(str::trim_end).into();
        occurrence.detail =
            last_lines(&words.join("\n"), MOST_DETAIL_BYTES).trim_start().to_owned();
        occurrence.status = end.status;
        occurrence.duration_ns = Some(now.steady_ns.saturating_sub(under_way.began_ns));
        self.timeline.happened(occurrence, now, actions);
        // A point that never begins has no results to doubt.
        if self.end == RunEnd::Complete {
            actions.extend(failure(end).map(|how| not_emptied(due, how)));
        }
    }
}

/// How a command did not do what it should; `None` where it did.
fn failure(end: &End<'_>) -> Option<NotEmptied> {
    match (end.why, end.status) {
        (Some(why), _) => Some(NotEmptied::Failed { why: why.to_owned() }),
        (None, Some(0)) => None,
        (None, status) => {
            let last = end.output.trim_end().lines().last().unwrap_or_default();
            Some(NotEmptied::Ended { status, last: one_line(last, MOST_WORDS_BYTES) })
        }
    }
}

fn not_emptied(due: &Due, how: NotEmptied) -> Action {
    let fact = Fact::CachesNotEmptied(how);
    Action::Emit(Event::Note(Note { stage: Some(due.measured), host: 0, fact }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        armed, complete, continuing, lost, own, plan, ready, released, run, script, searching,
    };
    use super::super::{Input, Reach};
    use super::*;

    /// The layout, then two points of a warm-up and a measurement each, before which a command is
    /// due.
    fn with_prerun(mut plan: Plan, command: Option<&str>) -> Plan {
        let one = plan.stages[0].clone();
        let stage = |kind, point| Stage { kind, point, ..one.clone() };
        plan.stages = vec![stage(StageKind::Prepare, None)];
        for point in [Some(0), Some(1)] {
            plan.stages.extend(
                [StageKind::Precondition, StageKind::Measure].map(|kind| stage(kind, point)),
            );
        }
        let prerun = Some(Prerun { command: command.map(str::to_owned) });
        plan.points = vec![Point { prerun, ..searching().points[0].clone() }; 2];
        plan
    }

    fn all(plan: &Plan) -> Coordinator {
        Coordinator::new(plan, &[0, 1, 2, 3, 4], Reach::OwnProcess, false)
    }

    fn is_over(number: u32, status: i32) -> Input {
        Input::CommandEnded { number, status: Some(status), output: "one\nlast\n".to_owned() }
    }

    fn stage(number: u32) -> Vec<Input> {
        vec![armed(0, number), complete(0, number)]
    }

    fn at(seconds: u64) -> Now {
        Now { steady_ns: seconds * 1_000_000_000, unix_ns: 0 }
    }

    /// Label, status and detail of what happened.
    fn told(actions: &[Action]) -> Vec<(String, Option<i32>, String)> {
        let of = |action: &Action| match action {
            Action::Emit(Event::Happened(one)) if one.kind == OccurrenceKind::Prerun => {
                Some((one.label.clone(), one.status, one.detail.clone()))
            }
            _ => None,
        };
        actions.iter().filter_map(of).collect()
    }

    #[test]
    fn a_command_runs_once_before_the_first_stage_of_each_point_and_not_before_the_layout() {
        let mut coordinator = all(&with_prerun(plan(1, 1), Some("drop")));
        assert_eq!(run(&mut coordinator, vec![Input::Begin, ready(0)]), ["0:assign", "0:arm 0"]);
        let laid_out = run(&mut coordinator, stage(0));
        assert_eq!(
            laid_out[2..],
            ["ended 0 Complete", "command 0"],
            "nobody is told of the stage yet"
        );
        assert_eq!(run(&mut coordinator, vec![Input::Tick, is_over(7, 0)]), [""; 0]);
        let actions = coordinator.step(is_over(0, 0), at(3));
        assert_eq!(script(&actions), ["0:arm 1"], "no doubt");
        assert_eq!(
            told(&actions),
            [("before point 1 (w): drop".to_owned(), Some(0), "one\nlast".to_owned())]
        );
        assert_eq!(run(&mut coordinator, vec![is_over(0, 0)]), [""; 0], "it ends once");
        assert_eq!(
            run(&mut coordinator, stage(1))[2..],
            ["ended 1 Complete", "0:arm 2"],
            "of the same point"
        );
        assert_eq!(run(&mut coordinator, stage(2))[2..], ["ended 2 Complete", "command 1"]);
    }

    #[test]
    fn a_command_that_fails_is_a_doubt_about_what_its_point_measures_and_the_run_goes_on() {
        let mut coordinator = all(&with_prerun(plan(1, 1), Some("drop")));
        run(&mut coordinator, [vec![Input::Begin, ready(0)], stage(0)].concat());
        let actions = coordinator.step(is_over(0, 3), at(0));
        assert_eq!(script(&actions), ["note CachesNotEmptied Some(2)", "0:arm 1"]);
        let Some(Action::Emit(Event::Note(note))) = actions.get(1) else { panic!("{actions:?}") };
        let how = NotEmptied::Ended { status: Some(3), last: "last".to_owned() };
        assert_eq!(note.fact, Fact::CachesNotEmptied(how));
    }

    #[test]
    fn a_command_that_hangs_is_killed_and_one_that_does_not_die_is_left_behind() {
        let begun = || {
            let mut coordinator = all(&with_prerun(plan(1, 1), Some("hang")));
            run(&mut coordinator, [vec![Input::Begin, ready(0)], stage(0)].concat());
            assert_eq!(script(&coordinator.step(Input::Tick, at(600))), [""; 0]);
            assert_eq!(script(&coordinator.step(Input::Tick, at(601))), ["end command 0"]);
            coordinator
        };
        let mut dies = begun();
        let killed = Input::CommandEnded {
            number: 0,
            status: None,
            output: "x\nended by signal: 9".to_owned(),
        };
        let actions = dies.step(killed, at(602));
        assert_eq!(script(&actions), ["note CachesNotEmptied Some(2)", "0:arm 1"]);
        assert!(told(&actions)[0].2.ends_with("longer than 10m 00s"), "{:?}", told(&actions));
        let mut stays = begun();
        assert_eq!(script(&stays.step(Input::Tick, at(606))), [""; 0]);
        assert_eq!(
            script(&stays.step(Input::Tick, at(607))),
            ["note CachesNotEmptied Some(2)", "0:arm 1"]
        );
        assert_eq!(
            script(&stays.step(is_over(0, 0), at(608))),
            [""; 0],
            "a late end changes nothing"
        );
    }

    #[test]
    fn an_interrupt_ends_the_command_and_the_run_at_once() {
        let mut coordinator = all(&with_prerun(plan(1, 1), Some("sleep")));
        run(&mut coordinator, [vec![Input::Begin, ready(0)], stage(0)].concat());
        let actions = coordinator.step(Input::Interrupt, at(1));
        assert_eq!(
            script(&actions),
            ["0:stop", "end command 0", "run ended Interrupted", "0:release true"]
        );
        assert_eq!(told(&actions)[0].2, "it was ended with the run");
        assert_eq!(run(&mut coordinator, vec![is_over(0, 0), released(0)]), ["finish Interrupted"]);
    }

    #[test]
    fn a_host_that_is_lost_meanwhile_ends_the_run_or_is_left_out() {
        let both = |inputs: [Vec<Input>; 2]| inputs.concat();
        let begin =
            || both([vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)], ends(0)]);
        fn ends(number: u32) -> Vec<Input> {
            vec![complete(0, number), complete(1, number)]
        }
        let mut goes_on = all(&with_prerun(continuing(2, 1), Some("drop")));
        run(&mut goes_on, begin());
        assert_eq!(run(&mut goes_on, vec![lost(1)]), ["1:drop", "note HostLost Some(1)"]);
        assert_eq!(run(&mut goes_on, vec![is_over(0, 0)]), ["0:arm 1"]);
        let mut ends_it = all(&with_prerun(plan(2, 1), Some("drop")));
        run(&mut ends_it, begin());
        let end = run(&mut ends_it, vec![lost(1)]);
        assert_eq!(end[..4], ["1:drop", "note HostLost Some(1)", "0:stop", "end command 0"]);
        assert!(end[4].starts_with("run ended Failed"), "{end:?}");
    }

    #[test]
    fn what_may_not_run_is_left_out_and_said() {
        let from_a_file = with_prerun(plan(1, 1), None);
        let mut simulated = with_prerun(plan(1, 1), Some("drop"));
        simulated.hosts[0].engine.virtual_time = true;
        for plan in [from_a_file, simulated] {
            let mut coordinator = all(&plan);
            let next = run(&mut coordinator, [vec![Input::Begin, ready(0)], stage(0)].concat());
            assert_eq!(
                next[4..],
                ["ended 0 Complete", "note CachesNotEmptied Some(2)", "0:arm 1"],
                "{next:?}"
            );
        }
    }

    #[test]
    fn a_search_has_it_done_before_each_point_that_it_adds() {
        let mut plan = searching();
        plan.points[0].prerun = Prerun::of(" drop ");
        let mut coordinator = own(&plan);
        let first = run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), is_over(0, 0)]);
        assert_eq!(first[2..], ["command 0", "0:arm 0", "1:arm 0"]);
        run(&mut coordinator, vec![armed(0, 0), armed(1, 0)]);
        run(&mut coordinator, vec![complete(0, 0), complete(1, 0)]);
        let added =
            run(&mut coordinator, vec![Input::Added(plan.at_rate(5_000_000).map(Box::new))]);
        assert_eq!(added.last().map(String::as_str), Some("command 1"), "{added:?}");
        assert_eq!(run(&mut coordinator, vec![is_over(1, 0)]), ["0:arm 1", "1:arm 1"]);
    }
}
