//! One segment: an ordinary run into a file of its own, watched while it goes on.

use super::load;
use super::session::{Running, Session};
use crate::commands::events_of_run::is_worth_a_record;
use crate::failure::Failure;
use crate::hosts::Hosts;
use analysis::canary::{Answered, Done, Load, Tally};
use fleet::Interrupter;
use live::web::board::Board;
use model::canary::{Began, Counts, Ended, Entry, Harm, SLOT_NS};
use model::load::Pace;
use model::plan::Stage;
use model::testbed::HostFacts;
use model::{Event, Histogram, IntervalSample, Op, Plan, RunEnd, StageEnd, StageKind, resume};
use std::collections::BTreeMap;
use std::path::Path;
use store::Halted;

pub(crate) struct Prepared {
    pub(crate) started: Hosts,
    pub(crate) plan: Plan,
    pub(crate) facts: Vec<HostFacts>,
}

pub(crate) enum How {
    Complete,
    Harm(Harm),
    Stopped,
    Failed(String),
}

/// A segment that runs.
pub(crate) struct Live {
    stage: u32,
    is_poisson: bool,
    began_unix_ns: u64,
    tally: Option<Tally>,
    levels_ns: Vec<u64>,
    harm: Option<Harm>,
    interrupter: Interrupter,
}

fn tally(session: &Session<'_>, is_poisson: bool, began_unix_ns: u64) -> Tally {
    let (rate_milli, judge) =
        (session.ledger.state().terms.rate_milli, session.wanted.judge.clone());
    Tally::new(Load { began_unix_ns, rate_milli, is_poisson, judge })
}

/// Whether requests of a stage are due like strangers arriving.
fn is_poisson(stage: &Stage) -> bool {
    stage.works.iter().any(|work| matches!(work.pace, Pace::Open { poisson: true, .. }))
}

/// The stages of a segment: without what lays it out, where the layout of an earlier one still
/// stands.
fn stages(plan: &Plan, facts: &[HostFacts]) -> Vec<u32> {
    let hosts = || plan.hosts.iter().zip(facts);
    let stands = hosts().all(|(host, facts)| resume::layout_is_there(host, facts));
    let lays_out = |kind: StageKind| matches!(kind, StageKind::Purge | StageKind::Prepare);
    let is_left = |kind: StageKind| !(stands && lays_out(kind));
    (0..).zip(&plan.stages).filter(|(_, stage)| is_left(stage.kind)).map(|(n, _)| n).collect()
}

pub(crate) fn board(prepared: &Prepared, began_unix_ns: u64) -> Board {
    let Prepared { plan, facts, .. } = prepared;
    Board::new(plan.clone(), facts.clone(), env!("CARGO_PKG_VERSION"), began_unix_ns)
}

/// Runs a segment, keeps what it came to, and says how it ended.
pub(crate) fn run(session: &mut Session<'_>, prepared: Prepared) -> Result<How, Failure> {
    let began = Began { number: session.ledger.state().next, unix_ns: session.now() };
    if let Some(page) = &session.page {
        page.segment(board(&prepared, began.unix_ns));
    }
    let Prepared { started, plan, facts } = prepared;
    let (stage, planned) = load::measured(&plan)?;
    let out = session.ledger.run_file(began.number);
    session.ledger.append(&Entry::Began(began))?;
    let version = env!("CARGO_PKG_VERSION");
    let mut writer = store::Writer::create(&out, &plan, &facts, version, fleet::unix_ns())
        .map_err(Failure::run)?;
    let mut live = Live {
        stage,
        is_poisson: is_poisson(planned),
        began_unix_ns: began.unix_ns,
        tally: None,
        levels_ns: Vec::new(),
        harm: None,
        interrupter: started.fleet.interrupter(),
    };
    let stages = stages(&plan, &facts);
    let mut is_kept = false;
    // The layout stays: the next segment finds it.
    let ending = started.fleet.run(
        &plan,
        &stages,
        true,
        &analysis::steady::is_steady,
        &mut |events: &[Event]| {
            is_kept |= events.iter().any(is_worth_a_record);
            writer.append_all(events).map_err(|error| error.to_string())?;
            events
                .iter()
                .try_for_each(|event| live.event(session, event))
                .map_err(|error| error.to_string())
        },
    );
    session.signalled.leave();
    writer.finish().map_err(Failure::run)?;
    ending.left.iter().for_each(|left| eprintln!("warning: {left}"));
    let harm = live.harm;
    settle(session, began, Watched { levels_ns: live.levels_ns, harm })?;
    Ok(match ending.end {
        // It may have come to its end before the load was away.
        RunEnd::Complete => harm.map_or(How::Complete, How::Harm),
        RunEnd::Interrupted => harm.map_or(How::Stopped, How::Harm),
        RunEnd::Failed(why) => How::Failed(why),
        RunEnd::Panicked(why) => {
            return Err(Failure::Bug(format!(
                "error: a bug in Plimsoll ended the segment: {why}; please report it with {}",
                out.display()
            )));
        }
    })
}

impl Live {
    fn event(&mut self, session: &mut Session<'_>, event: &Event) -> Result<(), Failure> {
        session.page.iter().for_each(|page| page.event(event));
        match event {
            Event::StageStarted { stage, unix_ns } if *stage == self.stage => {
                let began_unix_ns = self.began_unix_ns.max(*unix_ns);
                self.tally = Some(tally(session, self.is_poisson, began_unix_ns));
            }
            Event::Sample(sample) if sample.stage == self.stage => self.sample(session, sample),
            Event::Waiting(waiting) if waiting.stage == self.stage => {
                self.tally.iter_mut().for_each(|tally| tally.wait(waiting));
            }
            _ => return Ok(()),
        }
        let Some(tally) = &mut self.tally else { return Ok(()) };
        // Whatever holds up the rows of a worker holds up no minute.
        while let Some(minute) = tally.next_minute() {
            session.minute(
                minute,
                &Running { slots: tally.slots(), unanswered: tally.unanswered() },
            )?;
        }
        Ok(())
    }

    fn sample(&mut self, session: &mut Session<'_>, sample: &IntervalSample) {
        let Some(tally) = &mut self.tally else { return };
        let is_load = sample.phase.counts();
        tally.interval(sample.start_ns, sample.length_ns, is_load);
        for op in &sample.ops {
            // The run file refuses what is none.
            let latency = op.latency.decode().unwrap_or_default();
            tally.take(&Answered {
                host: sample.host,
                start_ns: sample.start_ns,
                length_ns: sample.length_ns,
                is_load,
                op: op.op,
                bytes: op.bytes,
                errors: op.error_count(),
                latency: &latency,
            });
        }
        while let Some((_, seen)) = tally.next_over() {
            if self.harm.is_none() {
                match session.guard.slot(seen) {
                    Ok(level) => self.levels_ns.extend(level),
                    Err(harm) => {
                        self.harm = Some(harm);
                        self.interrupter.interrupt();
                    }
                }
            }
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The p99 of each quiet window, in ns.
    pub(crate) levels_ns: Vec<u64>,
    /// Why the load was taken away.
    pub(crate) harm: Option<Harm>,
}

pub(crate) fn settle(
    session: &mut Session<'_>,
    began: Began,
    watched: Watched,
) -> Result<(), Failure> {
    let number = began.number;
    let out = session.ledger.run_file(number);
    let seen = if out.exists() { read(session, began, &out)? } else { None };
    let Some(seen) = seen else {
        if let Err(why) = super::retention::remove(&out, &session.ledger.state().run_id) {
            eprintln!("warning: {} stays: {why}", out.display());
        }
        return session.ledger.append(&Entry::Void { number });
    };
    let mut seen = seen;
    let told = session.ledger.state().running_slots.clone();
    seen.add_told(told);
    let file_bytes = out.metadata().map_or(0, |meta| meta.len());
    let ended = Ended {
        number,
        began_unix_ns: seen.began_unix_ns,
        ended_unix_ns: seen.done.end_unix_ns,
        is_cut: seen.is_cut,
        harm: watched.harm,
        file_bytes,
        totals: seen.done.totals,
        slots: seen.done.slots,
        levels_ns: watched.levels_ns,
    };
    session.ended(ended)
}

struct Seen {
    began_unix_ns: u64,
    is_cut: bool,
    done: Done,
}

impl Seen {
    /// Adds the minutes behind the last one that the file has, as they were told while the segment
    /// ran: a canary that is killed while its target answers nothing has no rows of them.
    fn add_told(&mut self, told: BTreeMap<u64, Counts>) {
        let last = self.done.slots.last_key_value().map_or(0, |(slot, _)| *slot);
        for (slot, counts) in told.into_iter().filter(|(slot, _)| self.is_cut && *slot > last) {
            self.done.slots.insert(slot, counts);
            self.done.totals.counts.add(counts);
            self.done.totals.missed = self.done.totals.missed.saturating_add(counts.bad);
            // That minute may not have been over.
            self.done.end_unix_ns = self.done.end_unix_ns.max(slot.saturating_mul(SLOT_NS));
        }
    }
}

/// `None` where the load never began.
fn read(session: &Session<'_>, began: Began, out: &Path) -> Result<Option<Seen>, Failure> {
    let unreadable = |error: store::StoreError| {
        Failure::run_file(format!(
            "{error}; move it away, and its segment counts as one without load"
        ))
    };
    let record = store::read_digests(out).map_err(unreadable)?;
    let (number, planned) = load::measured(&record.plan)?;
    let Some(stage) = record.stage(number) else { return Ok(None) };
    let began_unix_ns = began.unix_ns.max(stage.started_unix_ns);
    let mut tally = tally(session, is_poisson(planned), began_unix_ns);
    let digest = stage.digest(&record);
    for span in digest.frame.spans.values().flatten() {
        tally.interval(span.start_ns, span.length_ns, span.phase.counts());
    }
    let mut take = |row: model::rows::SampleRow| {
        let latency: Histogram = row.latency.decode().unwrap_or_default();
        if row.stage == number {
            tally.take(&Answered {
                host: row.host,
                start_ns: row.start_ns,
                length_ns: row.length_ns,
                is_load: row.phase.counts(),
                op: row.op,
                bytes: row.bytes,
                errors: row.errors,
                latency: &latency,
            });
        }
        Ok::<(), Failure>(())
    };
    store::each_sample(out, &mut take).map_err(|halted| match halted {
        Halted::File(error) => unreadable(error),
        Halted::Taker(failure) => failure,
    })?;
    for left in stage.ends.iter().flat_map(|end| &end.left).filter(|left| left.op != Op::Fsync) {
        tally.never(&left.never.decode().unwrap_or_default());
    }
    let is_cut = stage.end != Some(StageEnd::Complete);
    Ok(Some(Seen { began_unix_ns, is_cut, done: tally.finish() }))
}
