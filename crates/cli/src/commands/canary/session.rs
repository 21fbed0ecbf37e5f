//! Segment after segment, until somebody stops it.

use super::Outcome;
use super::alarm::{Alarm, News};
use super::ledger::{self, Ledger};
use super::load::{self, Wanted};
use super::retention;
use super::segment::{self, How, Prepared, Watched};
use crate::args::{CanaryArgs, OnHarm};
use crate::commands::plan;
use crate::commands::run::refuse_imagined;
use crate::failure::Failure;
use crate::hosts;
use crate::signals::{self, Signalled, Work};
use analysis::canary::burn::Minutes;
use analysis::canary::{Guard, change, pause};
use model::canary::{Counts, Ended, Entry, Harm, SLOT_NS, State};
use report::topics::canary::{self as words, Told};
use std::collections::BTreeMap;
use std::time::Duration;

/// After a segment that could not begin, or could not go on.
const RETRY: Duration = Duration::from_secs(60);

/// A canary at work.
pub struct Session<'a> {
    /// What is wanted of it.
    pub wanted: &'a Wanted,
    /// What it has seen.
    pub ledger: Ledger,
    /// Whether others may suffer.
    pub guard: Guard,
    /// Where signals go.
    pub signalled: Signalled,
    args: &'a CanaryArgs,
    alarm: Alarm<'a>,
    /// Whether time is simulated, so that nobody waits for it.
    is_virtual: bool,
}

fn prepare(
    args: &CanaryArgs,
    wanted: &Wanted,
    run_id: &str,
    signalled: &Signalled,
) -> Result<Prepared, Failure> {
    let asked = &wanted.asked;
    let started = hosts::start_next(
        signalled,
        &args.work.hosts,
        &|names| asked.targets_of(names),
        plan::asks(asked),
    )?;
    let (plan, facts) = plan::decide_as(run_id, &args.work, asked, &started)?;
    refuse_imagined(&plan)?;
    Ok(Prepared { started, plan, facts })
}

/// Runs the canary.
pub fn run(args: &CanaryArgs, wanted: &Wanted) -> Result<Outcome, Failure> {
    // First of all: who sees an agent may already send a signal.
    let signalled = signals::watch(Work::Canary);
    let known = ledger::peek(&wanted.dir)?;
    let run_id = known
        .map_or_else(|| plan::run_id(&wanted.asked.spec.suite.name.value), |state| state.run_id);
    let first = prepare(args, wanted, &run_id, &signalled)?;
    let terms = load::terms(wanted, &first.plan, args.slo.window)?;
    let ledger = ledger::claim(&wanted.dir)?.open(State::new(run_id, terms.clone()))?;
    if let Some(what) = load::difference(&ledger.state().terms, &terms) {
        return Err(Failure::Usage(format!(
            "error: --dir {} is that of another canary: {what}; name another folder",
            wanted.dir.display()
        )));
    }
    let mut session = Session {
        wanted,
        guard: Guard::new(wanted.guard, terms.rate_milli, &ledger.state().levels_ns),
        is_virtual: first.plan.hosts.iter().any(|host| host.engine.virtual_time),
        signalled,
        args,
        alarm: Alarm::new(&args.output),
        ledger,
    };
    if let Some(began) = session.ledger.state().running {
        eprintln!("note: segment {} was cut off; what it recorded counts", began.number);
        segment::settle(&mut session, began, Watched::default())?;
    }
    let outcome = session.segments(first);
    session.alarm.finish();
    outcome
}

impl Session<'_> {
    /// The instant in the canary's time, which never goes back: in ns since 1970.
    pub fn now(&self) -> u64 {
        let state = self.ledger.state();
        // Nobody waited for a pause in simulated time.
        let paused = if self.is_virtual { state.paused_until_unix_ns } else { 0 };
        fleet::unix_ns().max(state.last_end_unix_ns).max(paused)
    }

    fn segments(&mut self, first: Prepared) -> Result<Outcome, Failure> {
        let mut next = Some(first);
        let mut done = 0;
        while self.args.load.segments.is_none_or(|all| done < all) {
            if self.wait_for_pause() {
                // Hosts that waited so long may have changed.
                next = None;
            }
            let now = self.now();
            retention::tidy(&mut self.ledger, &self.args.output, now)?;
            let prepared = match next.take().map_or_else(|| self.again(), Ok) {
                Ok(prepared) => prepared,
                // A host that is away may come back; what is wrong with the arguments stays wrong.
                Err(failure @ (Failure::Target(_) | Failure::Run(_))) => {
                    eprintln!("{failure}\nnote: no segment began; the next try is in 60 s");
                    self.rest(RETRY);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            match segment::run(self, prepared)? {
                How::Complete => {}
                How::Harm(harm) => {
                    if !self.harmed(harm)? {
                        return Ok(Outcome::Harm);
                    }
                }
                How::Stopped => {
                    return Err(Failure::Interrupted(format!(
                        "stopped; the next start goes on, and the layout stays until `plimsoll \
                         clean`: {}",
                        self.places()
                    )));
                }
                How::Failed(why) if self.ledger.state().segments == 0 => {
                    return Err(Failure::Target(format!("error: {why}")));
                }
                How::Failed(why) => {
                    eprintln!("warning: the segment ended early: {why}; the next is in 60 s");
                    self.rest(RETRY);
                }
            }
            done += 1;
        }
        let now = self.now();
        retention::tidy(&mut self.ledger, &self.args.output, now)?;
        Ok(Outcome::Done)
    }

    fn again(&self) -> Result<Prepared, Failure> {
        let state = self.ledger.state();
        let prepared = prepare(self.args, self.wanted, &state.run_id, &self.signalled)?;
        let terms = load::terms(self.wanted, &prepared.plan, self.args.slo.window)?;
        match load::difference(&state.terms, &terms) {
            None => Ok(prepared),
            Some(what) => Err(Failure::Run(format!("error: the load is not the same: {what}"))),
        }
    }

    /// The targets, as words.
    fn places(&self) -> String {
        let all = self.ledger.state().terms.targets.iter();
        all.map(|(host, path)| format!("{host}:{path}")).collect::<Vec<_>>().join(", ")
    }

    fn rest(&self, time: Duration) {
        self.signalled.leave();
        if !self.is_virtual {
            std::thread::sleep(time);
        }
    }

    /// Waits until a pause is over. False where there is none.
    fn wait_for_pause(&mut self) -> bool {
        let until = self.ledger.state().paused_until_unix_ns;
        let left = || until.saturating_sub(fleet::unix_ns());
        if left() == 0 || self.is_virtual {
            return false;
        }
        while left() > 0 {
            self.metrics(&BTreeMap::new());
            self.rest(Duration::from_nanos(left().min(SLOT_NS)));
        }
        true
    }

    /// The load was taken away. False where the canary ends with that.
    fn harmed(&mut self, harm: Harm) -> Result<bool, Failure> {
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
        self.metrics(&BTreeMap::new());
        Ok(stays)
    }

    /// A minute is over, with these counts of the running segment.
    pub fn minute(&mut self, last: u64, running: &BTreeMap<u64, Counts>) -> Result<(), Failure> {
        let state = self.ledger.state();
        let minutes = Minutes { terms: &state.terms, kept: &state.slots, running };
        for change in minutes.changes(last, &state.firing) {
            self.ledger.append(&Entry::Alert(change))?;
            let told = Told { state: self.ledger.state(), running, unix_ns: (last + 1) * SLOT_NS };
            self.alarm.tell(&News {
                alert: change.alert.word(),
                is_on: change.is_on,
                text: &words::alert(change, &told),
                line: &words::alert_line(change, &told),
            })?;
        }
        self.metrics_at((last + 1) * SLOT_NS, running);
        Ok(())
    }

    /// A segment came to its end, or was cut short.
    pub fn ended(&mut self, ended: Ended) -> Result<(), Failure> {
        let last = ended.ended_unix_ns.saturating_sub(1) / SLOT_NS;
        self.ledger.append(&Entry::Ended(Box::new(ended)))?;
        let nothing = BTreeMap::new();
        self.minute(last, &nothing)?;
        let state = self.ledger.state();
        let told = Told { state, running: &nothing, unix_ns: (last + 1) * SLOT_NS };
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

    fn metrics(&self, running: &BTreeMap<u64, Counts>) {
        self.metrics_at(self.now(), running);
    }

    fn metrics_at(&self, unix_ns: u64, running: &BTreeMap<u64, Counts>) {
        let told = Told { state: self.ledger.state(), running, unix_ns };
        self.alarm.metrics(&words::metrics(&told, fleet::unix_ns()));
    }
}
