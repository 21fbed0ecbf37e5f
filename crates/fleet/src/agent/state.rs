//! What an agent decides. Pure: it is told the time and what came, and says what follows; the
//! threads around it and the simulation of fleets do what it says.

use crate::launch::Wanted;
use crate::link::Frame;
use crate::wire::{Cleaned, FromAgent, Outcome, ToAgent};
use model::StageEnd;
use model::network::FlowFailure;

/// When the coordinator was last heard of, and how long a silence may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contact {
    heard_ns: u64,
    /// 0 is for ever.
    lost_after_ns: u64,
    gone: bool,
}

/// What follows from an order at once, whatever the agent is doing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reaction {
    /// From now on a silence ends the load; somebody has to look.
    BeWary,
    Nothing,
    /// This is the answer, and it must not wait.
    Answer(FromAgent),
    /// The load ends now. The order goes on: a stage that waits for its start has to hear of it,
    /// too.
    Stop(ToAgent),
    /// Agents of other hosts are to be started, whose relay this one is then.
    Adopt(Box<Wanted>),
    /// This goes on to a host below, whatever this one does.
    Pass {
        below: u32,
        frame: Frame,
    },
    /// A host below is none of ours any more.
    Part {
        below: u32,
    },
    /// The stage that runs was judged.
    Judge {
        /// In ns after its start: how far, and its end, if it has one now.
        to_ns: u64,
        end_after_ns: Option<u64>,
    },
    /// Another host was the first in this stage: its books are cut now, and with `stops` its load
    /// ends.
    Cut {
        stage: u32,
        stops: bool,
    },
    /// It waits for its turn.
    Queue(ToAgent),
}

/// What becomes of a stage that is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Its workers begin at this instant on the agent's clock; `None` is at once.
    At(Option<u64>),
    CalledOff,
}

impl Contact {
    /// Takes in an order that came at `now_ns`: any is a sign of life.
    pub(crate) fn hear(&mut self, order: ToAgent, now_ns: u64) -> Reaction {
        self.heard_ns = self.heard_ns.max(now_ns);
        match order {
            ToAgent::Welcome { lost_after_ns } => {
                self.lost_after_ns = lost_after_ns;
                if lost_after_ns > 0 { Reaction::BeWary } else { Reaction::Nothing }
            }
            ToAgent::Ping { sent_ns } => {
                Reaction::Answer(FromAgent::Pong { sent_ns, agent_ns: now_ns })
            }
            ToAgent::Stop => Reaction::Stop(ToAgent::Stop),
            ToAgent::Adopt(wanted) => Reaction::Adopt(wanted),
            ToAgent::Pass { below, frame } => Reaction::Pass { below, frame },
            ToAgent::Part { below } => Reaction::Part { below },
            ToAgent::Judged { to_ns, end_after_ns } => Reaction::Judge { to_ns, end_after_ns },
            ToAgent::FirstDone { stage, stops } => Reaction::Cut { stage, stops },
            order => Reaction::Queue(order),
        }
    }

    /// The link has ended, or nothing on it can be read.
    pub(crate) fn close(&mut self) {
        self.gone = true;
    }

    /// Whether the coordinator is gone, by the end of the link or by its silence. It does not come
    /// back.
    pub(crate) fn is_over(&mut self, now_ns: u64) -> bool {
        self.gone |= self.over_at_ns().is_some_and(|at_ns| now_ns > at_ns);
        self.gone
    }

    /// The last instant at which the coordinator counts as there if nothing more is heard of it;
    /// `None` is for ever.
    pub(crate) fn over_at_ns(&self) -> Option<u64> {
        (self.lost_after_ns > 0).then(|| self.heard_ns.saturating_add(self.lost_after_ns))
    }
}

/// What says that an order was not done, of the reason in words: that of a panic. `None` where
/// nobody waits for an answer.
pub(crate) fn in_place_of_answer(order: &ToAgent) -> Option<Box<dyn FnOnce(String) -> FromAgent>> {
    Some(match order {
        ToAgent::Inspect { .. } | ToAgent::Assign(_) | ToAgent::Addresses => {
            Box::new(FromAgent::Refused)
        }
        ToAgent::Listen { .. } | ToAgent::Connect { .. } => {
            Box::new(|why| FromAgent::Flowed(Err(FlowFailure::Broken(why))))
        }
        ToAgent::Arm { stage } => {
            let stage = *stage;
            Box::new(move |why| {
                let end = StageEnd::Panicked(why);
                FromAgent::StageEnded { stage, end, notes: Vec::new(), late_ns: None }
            })
        }
        ToAgent::Clean { targets, .. } => {
            let targets = targets.clone();
            Box::new(move |why| {
                let of = |target: String| Cleaned {
                    root: target.clone(),
                    target,
                    outcome: Outcome::Failed(why.clone()),
                };
                FromAgent::Cleaned(targets.into_iter().map(of).collect())
            })
        }
        ToAgent::GiveBack(_) => Box::new(|why| FromAgent::GaveBack { failed: Some(why) }),
        ToAgent::Release(_) => Box::new(|why| FromAgent::Released { left: Some(why) }),
        _ => return None,
    })
}

/// What an agent whose stage is set up makes of the next order; `None` where there will be none.
pub(crate) fn start(order: Option<&ToAgent>) -> Start {
    match order {
        Some(ToAgent::Go { start_ns }) => Start::At(*start_ns),
        _ => Start::CalledOff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::RunOver;

    #[test]
    fn a_silence_is_counted_from_the_last_word_and_nobody_comes_back_from_it() {
        let mut contact = Contact::default();
        assert!(
            !contact.is_over(u64::MAX),
            "without a limit, a coordinator may be silent for ever"
        );
        assert_eq!(contact.hear(ToAgent::Welcome { lost_after_ns: 10 }, 100), Reaction::BeWary);
        assert_eq!(contact.over_at_ns(), Some(110));
        assert!(!contact.is_over(110));
        let pong = FromAgent::Pong { sent_ns: 7, agent_ns: 105 };
        assert_eq!(contact.hear(ToAgent::Ping { sent_ns: 7 }, 105), Reaction::Answer(pong));
        assert!(!contact.is_over(115));
        assert!(contact.is_over(116));
        contact.hear(ToAgent::Ping { sent_ns: 8 }, 117);
        assert!(contact.is_over(117));
    }

    #[test]
    fn the_end_of_the_link_counts_without_a_limit_too() {
        let mut contact = Contact::default();
        assert_eq!(contact.hear(ToAgent::Welcome { lost_after_ns: 0 }, 0), Reaction::Nothing);
        contact.close();
        assert!(contact.is_over(0));
    }

    #[test]
    fn a_stop_acts_at_once_and_goes_on_and_the_rest_waits_for_its_turn() {
        let mut contact = Contact::default();
        assert_eq!(contact.hear(ToAgent::Stop, 1), Reaction::Stop(ToAgent::Stop));
        let judged = ToAgent::Judged { to_ns: 5, end_after_ns: Some(6) };
        assert_eq!(contact.hear(judged, 1), Reaction::Judge { to_ns: 5, end_after_ns: Some(6) });
        let cut = Reaction::Cut { stage: 3, stops: true };
        assert_eq!(
            contact.hear(ToAgent::FirstDone { stage: 3, stops: true }, 1),
            cut,
            "it must not wait either"
        );
        let arm = ToAgent::Arm { stage: 3 };
        assert_eq!(contact.hear(arm.clone(), 2), Reaction::Queue(arm));
    }

    #[test]
    fn whoever_waits_for_an_answer_gets_one_also_after_a_panic() {
        let answer = |order: ToAgent| {
            in_place_of_answer(&order).map(|answer| answer("thread agent panicked: no".to_owned()))
        };
        let why = || "thread agent panicked: no".to_owned();
        let end = StageEnd::Panicked(why());
        let ended = FromAgent::StageEnded { stage: 2, end, notes: Vec::new(), late_ns: None };
        assert_eq!(answer(ToAgent::Arm { stage: 2 }), Some(ended));
        let release = ToAgent::Release(RunOver::in_a_test(true));
        assert_eq!(answer(release), Some(FromAgent::Released { left: Some(why()) }));
        let inspect = ToAgent::Inspect { targets: Vec::new(), host: None, patience_ns: 0 };
        assert_eq!(answer(inspect), Some(FromAgent::Refused(why())));
        let cleaned = answer(ToAgent::Clean { targets: vec!["/mnt/x".to_owned()], patience_ns: 0 });
        assert!(matches!(cleaned, Some(FromAgent::Cleaned(all)) if all.len() == 1));
        assert_eq!(answer(ToAgent::Watch { interval_ns: 1 }), None);
    }

    #[test]
    fn only_a_go_begins_a_stage_and_a_late_one_begins_none() {
        assert_eq!(start(Some(&ToAgent::Go { start_ns: Some(5) })), Start::At(Some(5)));
        for other in [None, Some(&ToAgent::Stop), Some(&ToAgent::Extend(Vec::new()))] {
            assert_eq!(start(other), Start::CalledOff);
        }
        let late = ToAgent::Go { start_ns: None };
        assert!(
            in_place_of_answer(&late).is_none() && in_place_of_answer(&ToAgent::Stop).is_none()
        );
    }
}
