//! `plimsoll take`: goes on with a run whose coordinator is gone and whose agents hold out.

use super::resume::{
    Joined, beside, check_command, check_devices, check_places, go_on, hand_on, on_record, way,
    without_commands,
};
use super::run::{exit, show};
use super::saved;
use super::together::{TOGETHER, write_full};
use crate::args::{HostArgs, ResumeArgs};
use crate::failure::Failure;
use crate::{hosts, marks};
use fleet::Takeover;
use fleet::launch::Hold;
use model::note::AboutHosts;
use model::{Event, Fact, Nanos, Note, Record, RunEnd, resume, takeover};
use report::topics;
use std::process::ExitCode;

/// How much longer than its time and its patience the end of a stage is waited for.
const MARGIN: Nanos = Nanos::seconds(30);

/// Takes a run over: what its agents kept is joined to its record, and what is left of it is run.
/// The run file stays as it is: the other coordinator may still have it open.
pub(crate) fn take(args: &ResumeArgs) -> Result<ExitCode, Failure> {
    let mut record = saved::read_to_resume(&args.run)?;
    without_commands(&mut record);
    if record.end.is_some() {
        return Err(Failure::usage(format!(
            "{} has ended, so nobody holds out for it; go on with `plimsoll resume`",
            args.run.display()
        )));
    }
    let hold = held(&record).ok_or_else(|| {
        Failure::usage(
            "the agents of this run do not hold out (fleet.hold = 0s); go on with \
             `plimsoll resume`",
        )
    })?;
    check_command(&record, args)?;
    check_places(&record)?;
    check_devices(&record, args)?;
    let from = way(&record, args)?;
    marks::clear(&args.run);
    let (joined, fact) = hear(&mut record, args, &from, hold)?;
    let note = Note { stage: None, host: 0, fact };
    eprintln!("{}", topics::note::sentence(&note.fact));
    record.notes.push(note);
    match resume::left_over(&record) {
        left if left.is_empty() => finish(&record, args, &joined),
        left => go_on(&record, left, &from, args, &joined),
    }
}

fn held(record: &Record) -> Option<Hold> {
    record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::HoldOut { within, name }) => {
            Some(Hold { within: *within, name: name.clone() })
        }
        _ => None,
    })
}

/// Hears the agents, and joins what they kept to the record. Comes back with what is in no file.
fn hear(
    record: &mut Record,
    args: &ResumeArgs,
    from: &HostArgs,
    hold: Hold,
) -> Result<(Joined, Fact), Failure> {
    let stage = takeover::under_way(record);
    let time = stage.and_then(|stage| record.plan.stages.get(stage as usize)?.stop().time());
    let patience = record.plan.hosts.iter().map(|host| host.engine.patience).max();
    let within = [time, patience, Some(MARGIN)].into_iter().flatten();
    let within = Nanos(within.fold(0, |sum, one| sum.saturating_add(one.0)));
    let names: Vec<String> = record.plan.hosts.iter().map(|host| host.hostname.clone()).collect();
    let heard = hosts::take_over(from, &names, hold, Takeover { stage, within })?;
    let (of, mut told) = (heard.len() as u64, Vec::new());
    for (host, kept) in (0..).zip(heard) {
        match kept {
            Ok(kept) => told.push((host, kept)),
            Err(error) => eprintln!("note: {error}"),
        }
    }
    let hosts = told.len() as u64;
    let samples = match stage {
        Some(stage) => {
            // Looked at now: until its agents were relieved, the other may have recorded some.
            let known = on_record(record, &args.run, stage)?;
            takeover::join_behind(record, stage, known, told)
        }
        None => Vec::new(),
    };
    let intervals = samples.len() as u64;
    let fact = Fact::Hosts(AboutHosts::TakenOver { hosts, of, intervals });
    Ok((Joined { stage, samples }, fact))
}

fn finish(record: &Record, args: &ResumeArgs, joined: &Joined) -> Result<ExitCode, Failure> {
    let out = args.out.clone().unwrap_or_else(|| beside(&args.run));
    let (version, began_ns) = (env!("CARGO_PKG_VERSION"), record.started_unix_ns);
    let mut writer = store::Writer::create(&out, &record.plan, &record.testbed, version, began_ns)
        .map_err(Failure::run)?;
    let end = RunEnd::Complete;
    let over = Event::RunEnded { unix_ns: fleet::unix_ns(), end: end.clone() };
    let mut together = Vec::new();
    hand_on(record, &[], &args.run, joined, &mut |event| {
        together.push(event);
        write_full(&mut writer, &mut together, TOGETHER)
    })?;
    together.push(over);
    write_full(&mut writer, &mut together, 1)?;
    writer.finish().map_err(Failure::run)?;
    eprintln!("note: what the run made stays on its targets; `plimsoll clean` removes it");
    let record = store::read_judged(&out).map_err(Failure::run)?;
    show(args.how, false, &record, &out)?;
    exit(&record, end, &out)
}
