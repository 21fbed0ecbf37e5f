//! Layouts are given back by all hosts together: no host does it before every other one is through
//! with them.
//!
//! What one host makes, others may load: a shared file, the files of the next host, the trees of
//! another one. So the end of a host's own stage says nothing. The coordinator says it, in a word
//! that nobody else can make, and the next layout is opened after all hosts have done it.

use super::permission::{LayoutsOver, RunOver};
use super::{Action, Actions, Coordinator, Owes, Step};
use crate::wire::ToAgent;
use model::RunEnd;
use model::plan::{Part, Plan};
use std::collections::BTreeSet;

/// A host that owes one of these may load its layout.
const LOADS: [Owes; 3] = [Owes::Armed, Owes::Start, Owes::StageEnd];

/// The layouts of scenarios, and which of them hosts have open.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    parts: Vec<Part>,
    /// By their numbers.
    open: BTreeSet<u32>,
}

impl Layouts {
    pub(super) fn new(plan: &Plan) -> Layouts {
        // Hosts differ in what stands in a part, and not in when it stands.
        let parts = plan.hosts.first().map_or(&[][..], |host| &host.parts);
        debug_assert!(plan.hosts.iter().all(|host| host.parts.len() == parts.len()));
        Layouts { parts: parts.to_vec(), open: BTreeSet::new() }
    }

    /// A stage is set up, and its layout opened.
    pub(super) fn open_for(&mut self, stage: u32) {
        let of = self.parts.iter().position(|part| part.stages.binary_search(&stage).is_ok());
        self.open.extend(of.and_then(|part| u32::try_from(part).ok()));
    }

    /// Those that are open and over when `stage` begins; they are open no more. That of the last
    /// scenario stays until the run is over.
    fn take_over_at(&mut self, stage: u32) -> Vec<u32> {
        let is_over =
            |part: &u32| self.parts.get(*part as usize).is_some_and(|part| part.is_over_at(stage));
        let over: Vec<u32> = self.open.iter().copied().filter(is_over).collect();
        self.open.retain(|part| !over.contains(part));
        over
    }
}

impl Coordinator {
    /// Has all hosts give back what is over before `stage`; false where nothing is.
    pub(super) fn begin_giving_back(&mut self, stage: u32, actions: &mut Actions) -> bool {
        let parts = self.layouts.take_over_at(stage);
        if parts.is_empty() {
            return false;
        }
        assert!(
            !self.owes(&LOADS),
            "a host still has a stage of a layout that is to be given back"
        );
        self.step = Step::GivingBack { stage };
        let word = LayoutsOver::of(parts);
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| host.alive) {
            self.debts.turn(host, Owes::GaveBack);
            actions.push(Action::Send { host: number, message: ToAgent::GiveBack(word.clone()) });
        }
        true
    }

    /// A host gave back what it was told to, or could not; the reason in words.
    pub(super) fn gave_back(
        &mut self,
        number: usize,
        failed: Option<String>,
        actions: &mut Actions,
    ) {
        self.debts.turn(&mut self.hosts[number], Owes::Nothing);
        let Some(why) = failed.map(|why| self.named(number, &why)) else { return };
        if self.end == RunEnd::Complete {
            self.halt(RunEnd::Failed(why), actions);
        } else {
            self.left.push(why);
        }
    }

    /// That all hosts are through with the run.
    pub(super) fn run_over(&self) -> RunOver {
        assert!(!self.owes(&LOADS), "a host still has a stage of the run that is over");
        RunOver::removing(!self.keep_data)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        armed, complete, continuing, heard, lost, own, plan, ready, released, run,
    };
    use super::super::{Input, Reach};
    use super::*;
    use crate::wire::FromAgent;
    use model::choices::Backend;
    use model::plan::EngineSettings;

    /// A plan with layouts of these stages.
    fn with_parts(mut plan: Plan, parts: &[&[u32]]) -> Plan {
        let part = |stages: &&[u32]| Part {
            stages: stages.to_vec(),
            targets: 0..0,
            trees: 0..0,
            engine: EngineSettings::simple(Backend::Null),
        };
        plan.hosts.iter_mut().for_each(|host| host.parts = parts.iter().map(part).collect());
        plan
    }

    fn gave_back(host: usize) -> Input {
        heard(host, FromAgent::GaveBack { failed: None })
    }

    fn stage(number: u32) -> Vec<Input> {
        let end = |host| complete(host, number);
        vec![armed(0, number), armed(1, number), end(0), end(1)]
    }

    #[test]
    fn no_host_gives_back_before_all_are_through_and_none_goes_on_before_all_gave_back() {
        let mut coordinator = own(&with_parts(plan(2, 3), &[&[0, 1], &[2]]));
        run(&mut coordinator, vec![Input::Begin, ready(0), ready(1)]);
        let first = run(&mut coordinator, stage(0));
        assert_eq!(
            first[3..],
            ["ended 0 Complete", "0:arm 1", "1:arm 1"],
            "the layout has another stage"
        );
        run(&mut coordinator, vec![armed(0, 1), armed(1, 1)]);
        assert_eq!(run(&mut coordinator, vec![complete(0, 1)]), [""; 0], "host 1 is slow");
        let all = run(&mut coordinator, vec![complete(1, 1)]);
        assert_eq!(all, ["ended 1 Complete", "0:give back [0]", "1:give back [0]"]);
        assert_eq!(run(&mut coordinator, vec![gave_back(1), Input::Tick]), [""; 0]);
        assert_eq!(run(&mut coordinator, vec![gave_back(0)]), ["0:arm 2", "1:arm 2"]);
        let last = run(&mut coordinator, stage(2));
        assert_eq!(
            last[4..],
            ["run ended Complete", "0:release true", "1:release true"],
            "the last one with the run"
        );
        assert_eq!(
            run(&mut coordinator, vec![gave_back(0), released(0), released(1)]),
            ["finish Complete"]
        );
    }

    #[test]
    fn layouts_that_take_turns_are_given_back_one_by_one() {
        let mut coordinator = own(&with_parts(plan(2, 4), &[&[0, 2], &[1, 3]]));
        run(&mut coordinator, vec![Input::Begin, ready(0), ready(1)]);
        for number in [0, 1] {
            let next = run(&mut coordinator, stage(number));
            assert_eq!(
                next[4..],
                [format!("0:arm {}", number + 1), format!("1:arm {}", number + 1)]
            );
        }
        let third = run(&mut coordinator, stage(2));
        assert_eq!(third[4..], ["0:give back [0]", "1:give back [0]"]);
        run(&mut coordinator, vec![gave_back(0), gave_back(1)]);
        assert_eq!(run(&mut coordinator, stage(3))[4], "run ended Complete");
    }

    #[test]
    fn a_resumed_run_gives_back_only_what_it_opened() {
        let plan = with_parts(plan(2, 3), &[&[0], &[1], &[2]]);
        let mut coordinator = Coordinator::new(&plan, &[1, 2], Reach::OwnProcess, false);
        assert_eq!(
            run(&mut coordinator, vec![Input::Begin, ready(0), ready(1)])[2..],
            ["0:arm 1", "1:arm 1"]
        );
        assert_eq!(run(&mut coordinator, stage(1))[4..], ["0:give back [1]", "1:give back [1]"]);
    }

    #[test]
    fn what_cannot_be_given_back_ends_the_run() {
        let mut coordinator = own(&with_parts(plan(2, 2), &[&[0], &[1]]));
        run(&mut coordinator, [vec![Input::Begin, ready(0), ready(1)], stage(0)].concat());
        let failed = heard(0, FromAgent::GaveBack { failed: Some("/d: read-only".into()) });
        assert_eq!(run(&mut coordinator, vec![failed]), ["0:stop", "1:stop"]);
        let end = run(&mut coordinator, vec![gave_back(1)]);
        assert_eq!(
            end,
            ["run ended Failed(\"host h0: /d: read-only\")", "0:release true", "1:release true"]
        );
    }

    #[test]
    fn nobody_waits_for_a_host_that_is_lost_meanwhile() {
        let mut coordinator = own(&with_parts(continuing(2, 1), &[&[0], &[1]]));
        run(&mut coordinator, [vec![Input::Begin, ready(0), ready(1)], stage(0)].concat());
        assert_eq!(run(&mut coordinator, vec![gave_back(0)]), [""; 0]);
        assert_eq!(
            run(&mut coordinator, vec![lost(1)]),
            ["1:drop", "note HostLost Some(1)", "0:arm 1"]
        );
        let mut coordinator = own(&with_parts(continuing(2, 1), &[&[0], &[1]]));
        run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
        assert_eq!(run(&mut coordinator, vec![complete(0, 0)]), [""; 0]);
        let without = run(&mut coordinator, vec![lost(1)]);
        assert_eq!(
            without,
            ["1:drop", "note HostLost Some(0)", "ended 0 Complete", "0:give back [0]"]
        );
    }

    #[test]
    fn an_interrupt_waits_for_those_that_are_giving_back() {
        let mut coordinator = own(&with_parts(plan(2, 2), &[&[0], &[1]]));
        run(&mut coordinator, [vec![Input::Begin, ready(0), ready(1)], stage(0)].concat());
        assert_eq!(
            run(&mut coordinator, vec![gave_back(0), Input::Interrupt]),
            ["0:stop", "1:stop"]
        );
        let end = run(&mut coordinator, vec![gave_back(1)]);
        assert_eq!(end, ["run ended Interrupted", "0:release true", "1:release true"]);
    }
}
