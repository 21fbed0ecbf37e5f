//! Somebody takes agents over whose coordinator is dead: what they kept is told again, as in a real
//! session, and what they still say follows.

use super::super::SECOND;
use super::{What, World};
use crate::link::Frame;
use crate::takeover;
use crate::wire::{FromAgent, ToAgent};
use model::takeover::Kept;

/// How long somebody waits who takes over, in ns.
const WITHIN_NS: u64 = 120 * SECOND;

/// What a host's session holds, and what whoever took over has of it.
#[derive(Debug, Default)]
pub(super) struct Held {
    frames: crate::session::kept::Kept,
    /// How many the first coordinator took.
    taken: u64,
    /// What was told to the second one; `None` while there is none.
    pub(super) told: Option<Kept>,
    is_let_go: bool,
}

impl World<'_> {
    /// Whether agents of this world have sessions that somebody may take over.
    pub(super) fn holds_sessions(&self) -> bool {
        self.scenario.coordinator.taken_over_at_ns.is_some()
    }

    /// An agent says something: its session keeps it.
    pub(super) fn keep(&mut self, host: usize, frame: &Frame) {
        let now_ns = self.queue.now_ns();
        let side = &mut self.sides[host];
        side.held.frames.push(frame.bytes().to_vec());
        let _ = side.held.frames.next();
        if side.held.told.is_some()
            && let Some(at_ns) = side.up.arrival(now_ns)
        {
            let what = What::ToldAgain { host, frame: frame.clone() };
            self.queue.plan(at_ns, what);
        }
    }

    /// The first coordinator took one more of a host's frames.
    pub(super) fn took(&mut self, host: usize) {
        let held = &mut self.sides[host].held;
        held.taken += 1;
        assert!(held.frames.taken(held.taken).is_some(), "it takes what was said");
    }

    pub(super) fn take_over(&mut self) {
        let now_ns = self.queue.now_ns();
        if self.coordinator.is_some() || self.outcome.end.is_some() {
            return;
        }
        self.outcome.taken_over = true;
        for host in 0..self.sides.len() {
            let side = &mut self.sides[host];
            // One that came back has a session of its own, which nobody simulates.
            if side.is_dead || side.life > 0 || side.is_out {
                continue;
            }
            side.held.told = Some(Kept::default());
            side.held.frames.rewind();
            while let Some(frame) = side.held.frames.next() {
                let frame = Frame::from_bytes(frame.to_vec()).expect("as it was said");
                if let Some(at_ns) = side.up.arrival(now_ns) {
                    self.queue.plan(at_ns, What::ToldAgain { host, frame });
                }
            }
            self.queue.plan(now_ns, What::Beat { host, until_ns: now_ns + WITHIN_NS });
        }
    }

    /// A sign of life to an agent that was taken over, or its end.
    pub(super) fn beat(&mut self, host: usize, until_ns: u64) {
        let now_ns = self.queue.now_ns();
        let held = &mut self.sides[host].held;
        let has_ended = held.told.as_ref().is_some_and(|kept| kept.end.is_some());
        if has_ended || now_ns >= until_ns || self.outcome.under_way.is_none() {
            if !std::mem::replace(&mut held.is_let_go, true) {
                self.close_down(host);
            }
            return;
        }
        self.hand_down(host, &ToAgent::Ping { sent_ns: 0 });
        self.queue.plan(now_ns + SECOND, What::Beat { host, until_ns });
    }

    /// The second coordinator hears something.
    pub(super) fn told_again(&mut self, host: usize, frame: &Frame) {
        let (stage, held) = (self.outcome.under_way, &mut self.sides[host].held);
        if let (Some(stage), Some(kept), false) = (stage, &mut held.told, held.is_let_go) {
            let word: FromAgent = frame.read().expect("as it was said");
            takeover::take(kept, host as u32, stage, word);
        }
    }
}
