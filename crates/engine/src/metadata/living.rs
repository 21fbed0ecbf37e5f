//! One worker of a population in real time: an operation after the other, at its pace.

#[cfg(test)]
mod tests;

use super::calls::Files;
use super::life::Life;
use super::paced::Paced;
use crate::clock::Clock;
use crate::threads::shared::{Shared, begin_on_time, page};
use crate::worker::driver::{AWAKE_NS, FromWorker, Line, Pages, WorkerEnd};
use crate::worker::{Finished, Outcome};
use model::metadata::{FileShare, Tree};
use model::plan::{Stop, Worker};
use model::population::{Population, PopulationStage};
use rustix::thread::gettid;
use std::os::fd::BorrowedFd;
use std::sync::PoisonError;

/// A worker's place: where its files are and who it is.
pub(super) struct Place<'a> {
    pub(super) shared: &'a Shared,
    pub(super) worker: &'a Worker,
    pub(super) line: &'a Line,
    pub(super) tree: &'a Tree,
    pub(super) root: BorrowedFd<'a>,
    pub(super) share: FileShare,
}

/// Fills `population`, or runs its mix, with `files` as its hands.
pub(super) fn run<C: Clock>(
    place: &Place<'_>,
    population: Population,
    files: &mut Files<'_, C>,
) -> WorkerEnd {
    let Place { shared, worker, share, .. } = *place;
    let ledger = shared.ledgers.take(share);
    let mut life = Life::new(population, share, worker.seed, ledger);
    let end = go(place, &mut life, files);
    let ledger = life.into_ledger();
    if population.stage == PopulationStage::Live {
        let mut sum = shared.files_left.lock().unwrap_or_else(PoisonError::into_inner);
        sum.add(share, &ledger);
    }
    shared.ledgers.keep(share, ledger);
    end
}

fn go<C: Clock>(place: &Place<'_>, life: &mut Life, files: &mut Files<'_, C>) -> WorkerEnd {
    let Place { shared, worker, line, tree, .. } = *place;
    let work = &shared.stage.works[worker.work as usize];
    let clock = shared.control.clock();
    let first = page(shared, worker);
    // The stage outlives its workers' setting up, so somebody listens.
    let _ = line.out.send(FromWorker::Ready { worker: line.worker, thread: gettid() });
    let Some(timetable) = shared.gate.wait() else { return WorkerEnd::Complete };
    begin_on_time(shared, &timetable, &clock);
    let mut paced = Paced::new(work, worker, timetable.start_ns);
    let mut pages = Pages::open(timetable, line, first);
    let (mut failed, mut now_ns) = (false, clock.now_ns());
    while !pages.turn(now_ns, shared.control.cuts(), || None) {
        if let Some(due_ns) = paced.due_ns().filter(|due_ns| *due_ns > now_ns) {
            // The last stretch is spent awake: a sleeper wakes too late.
            let quiet_ns = (due_ns - now_ns).saturating_sub(AWAKE_NS);
            clock.rest(quiet_ns.min(pages.patience_ns(now_ns, shared.control.cuts())));
            now_ns = clock.now_ns();
            continue;
        }
        let Some(step) = life.next(tree) else { break };
        // To choose an operation is no part of it.
        let since_ns = paced.since_ns(clock.now_ns());
        let (outcome, uncounted_ns) = files.perform_step(&step);
        now_ns = clock.now_ns();
        let is_over = pages.turn(now_ns, shared.control.cuts(), || None);
        let latency_ns = now_ns.saturating_sub(since_ns).saturating_sub(uncounted_ns);
        pages.write_down(Finished { op: step.slot, latency_ns, outcome });
        match outcome {
            Outcome::Success { .. } => life.done(tree, &step),
            Outcome::Failure { .. } => {
                life.found(&step, files.look(&step));
                failed = true;
            }
        }
        paced.took(step.moves);
        paced.ended(now_ns);
        // A population with holes would not be the one that was asked for.
        if is_over || (failed && work.stop == Stop::Amount) {
            break;
        }
    }
    now_ns = clock.now_ns();
    if work.stop == Stop::Amount && !shared.control.is_stopped() {
        // What was filled is not to be written back while something is measured.
        failed |= rustix::fs::syncfs(place.root).is_err();
        now_ns = clock.now_ns();
    }
    if pages.turn(now_ns, shared.control.cuts(), || None) {
        let bytes = u32::try_from(tree.mean_size().0).unwrap_or(u32::MAX);
        paced.unsent(shared.control.stop_at_ns(), bytes, &mut |age_ns, count| {
            pages.never(life.any_slot(), age_ns, count);
        });
    }
    pages.close(now_ns, None);
    if failed && work.stop == Stop::Amount { WorkerEnd::AmountFailed } else { WorkerEnd::Complete }
}
