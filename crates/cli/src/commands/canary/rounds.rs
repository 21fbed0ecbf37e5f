//! Segment after segment, until somebody stops it.

use super::alarm::Alarm;
use super::load::{self, Wanted};
use super::segment::{self, How, Prepared, Watched};
use super::session::Session;
use super::{Outcome, ledger, retention};
use crate::args::CanaryArgs;
use crate::commands::plan;
use crate::commands::run::refuse_imagined;
use crate::failure::Failure;
use crate::hosts;
use crate::signals::{self, Signalled, Work};
use crate::web::CanaryPage;
use analysis::canary::Guard;
use model::canary::{SLOT_NS, State};
use std::time::Duration;

/// After a segment that could not begin, or could not go on.
const RETRY: Duration = Duration::from_secs(60);

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
pub(crate) fn run(args: &CanaryArgs, wanted: &Wanted) -> Result<Outcome, Failure> {
    // First of all: who sees an agent may already send a signal.
    let signalled = signals::watch(Work::Canary);
    let known = ledger::peek(&wanted.dir)?;
    let run_id = known
        .map_or_else(|| plan::run_id(&wanted.asked.spec.suite.name.value), |state| state.run_id);
    let first = prepare(args, wanted, &run_id, &signalled)?;
    let terms = load::terms(wanted, &first.plan, args.slo.window)?;
    let ledger = ledger::claim(&wanted.dir)?.open(State::new(run_id, terms.clone()))?;
    if let Some(what) = load::difference(&ledger.state().terms, &terms) {
        return Err(Failure::usage(format!(
            "--dir {} is that of another canary: {what}; name another folder",
            wanted.dir.display()
        )));
    }
    let board = || segment::board(&first, fleet::unix_ns());
    let page = CanaryPage::start(&args.share, board)?;
    let mut session = Session {
        page,
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
    session.metrics();
    let outcome = session.segments(first);
    session.alarm.finish();
    if let Some(page) = session.page.take() {
        page.finish();
    }
    outcome
}

impl Session<'_> {
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
                    return Err(Failure::target(why));
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
            Some(what) => Err(Failure::run(format!("the load is not the same: {what}"))),
        }
    }

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
            self.metrics();
            self.rest(Duration::from_nanos(left().min(SLOT_NS)));
        }
        true
    }
}
