//! A canary at work: what it has seen, and whom it reports to.

use super::alarm::{Alarm, News};
use super::ledger::Ledger;
use super::load::Wanted;
use crate::args::{CanaryArgs, OnHarm};
use crate::failure::Failure;
use crate::signals::Signalled;
use crate::web::CanaryPage;
use analysis::canary::burn::Minutes;
use analysis::canary::{Guard, change, pause};
use model::canary::{Counts, Ended, Entry, Harm, SLOT_NS, Unanswered};
use report::topics::canary::{self as words, Told};
use std::collections::BTreeMap;

/// What the running segment came to until now.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// By the minute since 1970.
    pub(crate) slots: BTreeMap<u64, Counts>,
    pub(crate) unanswered: Option<Unanswered>,
}

pub(crate) struct Session<'a> {
    pub(crate) wanted: &'a Wanted,
    pub(crate) ledger: Ledger,
    pub(crate) guard: Guard,
    pub(crate) signalled: Signalled,
    pub(crate) args: &'a CanaryArgs,
    pub(crate) alarm: Alarm<'a>,
    pub(crate) page: Option<CanaryPage>,
    /// Whether time is simulated, so that nobody waits for it.
    pub(crate) is_virtual: bool,
}

impl Session<'_> {
    /// The instant in the canary's time, which never goes back: in ns since 1970.
    pub(crate) fn now(&self) -> u64 {
        let state = self.ledger.state();
        // Nobody waited for a pause in simulated time.
        let paused = if self.is_virtual { state.paused_until_unix_ns } else { 0 };
        fleet::unix_ns().max(state.last_end_unix_ns).max(paused)
    }

    /// The load was taken away. False where the canary ends with that.
    pub(crate) fn harmed(&mut self, harm: Harm) -> Result<bool, Failure> {
        let now = self.now();
        let stays = self.args.guard.on_harm == OnHarm::Pause;
        let until = now.saturating_add(pause(self.ledger.state().pauses).0);
        let why = words::harm(harm);
        let then = match stays {
            true => format!("the load stays away for {}", pause(self.ledger.state().pauses)),
            false => "the canary ends".to_owned(),
        };
        let text = format!("others may suffer: {why}; {then}");
        if stays {
            self.ledger.append(&Entry::Paused { unix_ns: now, until_unix_ns: until, harm })?;
        }
        self.guard.begin();
        let line = words::paused_line(harm, stays.then_some(until));
        self.alarm.tell(&News { alert: "harm", is_on: true, text: &text, line: &line })?;
        self.metrics();
        Ok(stays)
    }

    pub(crate) fn minute(&mut self, last: u64, running: &Running) -> Result<(), Failure> {
        let known = &self.ledger.state().running_slots;
        let slots = running.slots.iter().filter(|(slot, counts)| known.get(slot) != Some(counts));
        let slots: BTreeMap<u64, Counts> = slots.map(|(slot, counts)| (*slot, *counts)).collect();
        if !slots.is_empty() {
            self.ledger.append(&Entry::Minute { slots, unanswered: running.unanswered })?;
        }
        let end_unix_ns = last.saturating_add(1).saturating_mul(SLOT_NS);
        self.change(end_unix_ns, running)
    }

    /// Tells which alerts begin or end until an instant that has passed.
    fn change(&mut self, unix_ns: u64, running: &Running) -> Result<(), Failure> {
        let Running { slots: running, unanswered } = running;
        let state = self.ledger.state();
        let minutes = Minutes { terms: &state.terms, kept: &state.slots, running };
        for change in minutes.changes(unix_ns, &state.firing) {
            self.ledger.append(&Entry::Alert(change))?;
            let state = self.ledger.state();
            let told = Told { state, running, unanswered: *unanswered, unix_ns };
            self.alarm.tell(&News {
                alert: change.alert.word(),
                is_on: change.is_on,
                text: &words::alert(change, &told),
                line: &words::alert_line(change, &told),
            })?;
        }
        self.metrics_at(unix_ns, running, *unanswered);
        Ok(())
    }

    /// A segment came to its end, or was cut short.
    pub(crate) fn ended(&mut self, ended: Ended) -> Result<(), Failure> {
        let unix_ns = ended.ended_unix_ns;
        self.ledger.append(&Entry::Ended(Box::new(ended)))?;
        self.change(unix_ns, &Running::default())?;
        let (state, running) = (self.ledger.state(), BTreeMap::new());
        let told = Told { state, running: &running, unanswered: None, unix_ns };
        if let Some(segment) = state.recent.back() {
            let (text, line) =
                (words::segment(segment, &told), words::segment_line(segment, &told));
            self.alarm.line(&text, &line)?;
        }
        let figures: Vec<_> = state.figures.iter().copied().collect();
        if let Some(changed) = change(&figures) {
            self.ledger.append(&Entry::Changed(changed))?;
            let (text, line) = (words::changed(&changed), words::changed_line(&changed));
            self.alarm.tell(&News { alert: "level", is_on: true, text: &text, line: &line })?;
        }
        Ok(())
    }

    /// Tells the metrics as of now to whoever wants them; no segment runs.
    pub(crate) fn metrics(&mut self) {
        self.metrics_at(self.now(), &BTreeMap::new(), None);
    }

    fn metrics_at(
        &mut self,
        unix_ns: u64,
        running: &BTreeMap<u64, Counts>,
        unanswered: Option<Unanswered>,
    ) {
        let told = Told { state: self.ledger.state(), running, unanswered, unix_ns };
        let metrics = words::metrics(&told, fleet::unix_ns());
        self.alarm.metrics(&words::metrics_text(&metrics));
        if let Some(page) = &mut self.page {
            page.tell(unix_ns, words::status(&told), metrics);
        }
    }
}
