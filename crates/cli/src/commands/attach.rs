//! `plimsoll attach`: counters of hosts where no agent runs, from a file, onto the axis of a run.
//! As `resume` does, it writes a run file of its own, and the one that it was given stays as it is.

use super::together::{TOGETHER, halt, write_full};
use super::{answer, saved};
use crate::args::AttachArgs;
use crate::failure::Failure;
use crate::files::{foreign_results, text_file};
use dialects::counters::{self, Refused, ToldCounters, ToldHost, ToldInterval, Wanted};
use model::inventory::{Inventory, NicFacts};
use model::note::CountersFrom;
use model::testbed::{HostFacts, MOST_OTHERS, Place};
use model::{Bytes, CounterSample, Event, Fact, Nanos, Note, Record, StageKind, resume};
use report::pens::json::each;
use report::{ground::words, object, topics};
use std::path::{Path, PathBuf};

pub(crate) fn attach(args: &AttachArgs) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| beside(&args.run));
    let hosts = attached(args, &out)?;
    let object = || {
        let host = |from: &&CountersFrom| {
            object! {
                form: from.form.word(), interval_ns: from.interval.0,
                error_ns: from.interval.0 / 2, covered_ns: from.covered.0,
                measured_ns: from.measured.0,
                ..from { host, file, sha256, offset_ns, taken, left_out },
            }
        };
        object! { run: out.display().to_string(), hosts: each(hosts.iter(), |one| host(&one)) }
    };
    let told = || {
        let lines = hosts.iter().map(|from| {
            format!("{}\n", topics::note::sentence(&Fact::CountersFrom(Box::new(from.clone()))))
        });
        format!("{}{}\n", lines.collect::<String>(), out.display())
    };
    answer(args.json, object, told)
}

/// `run.plimsoll` → `run-attached.plimsoll`.
fn beside(run: &Path) -> PathBuf {
    let name = run.file_stem().unwrap_or_default().to_string_lossy();
    run.with_file_name(format!("{name}-attached.plimsoll"))
}

/// Puts the counters of a file into the file of a run that has just ended, in its place.
pub(super) fn into(run: &Path, file: &Path) -> Result<Vec<CountersFrom>, Failure> {
    let (run, file, out) = (run.to_owned(), file.to_owned(), beside(run));
    let args = AttachArgs { run, file, offset: None, host: None, out: None, json: false };
    let hosts = attached(&args, &out)?;
    std::fs::rename(&out, &args.run)
        .map_err(|error| Failure::run(format!("{}: {error}", args.run.display())))?;
    Ok(hosts)
}

/// Writes the run with the counters to `out`. Comes back with where those of each host came from.
fn attached(args: &AttachArgs, out: &Path) -> Result<Vec<CountersFrom>, Failure> {
    let record = saved::read_to_resume(&args.run)?;
    let run = args.run.display();
    let Some((ended_ns, _)) = record.end else {
        return Err(Failure::run_file(format!(
            "{run} has not ended; attach when it has, or end it with `plimsoll resume`"
        )));
    };
    if record.plan.is_simulated() {
        return Err(Failure::usage(format!(
            "{run} was simulated, so no host's clock goes with it; name a run of hosts"
        )));
    }
    let told = read(args, &record, ended_ns)?;
    let file = foreign_results::file_name(&args.file);
    let sha256 = foreign_results::sha256(&args.file)?;
    let is_it = |note: &Note| matches!(&note.fact, Fact::CountersFrom(of) if of.sha256 == sha256);
    if record.notes.iter().any(is_it) {
        let file = args.file.display();
        return Err(Failure::usage(format!("{file} is attached to {run} already")));
    }
    let of_plan = record.plan.hosts.len();
    let (mut others, mut all) = (Vec::new(), Vec::new());
    let loads = |host: &ToldHost| {
        record.loaders().iter().any(|known| known.hostname.eq_ignore_ascii_case(&host.name))
    };
    for host in &told.hosts {
        if loads(host) {
            let name = model::printable::line(&host.name);
            eprintln!("note: {name} loads in this run, and its agent counts there: left out");
            continue;
        }
        let number = (record.testbed.len() + others.len()) as u32;
        let (samples, covered, measured) = placed(&record, number, ended_ns, &host.intervals);
        if samples.is_empty() {
            continue;
        }
        others.push((facts(host, number, of_plan as u32), samples));
        all.push(CountersFrom {
            host: host.name.clone(),
            form: told.form,
            file: file.clone(),
            sha256: sha256.clone(),
            offset_ns: args.offset.unwrap_or(0),
            interval: Nanos(host.interval_ns),
            covered: Nanos(covered),
            measured: Nanos(measured),
            taken: host.taken,
            left_out: told.left_out,
        });
    }
    if others.is_empty() {
        return Err(Failure::usage(format!(
            "{}: of no host without an agent, an interval lies in a stage of the run; write a \
             shorter interval, or move its times with --offset",
            args.file.display()
        )));
    }
    if record.testbed.len() - of_plan + others.len() > MOST_OTHERS {
        return Err(Failure::usage(format!(
            "{run} would have more than {MOST_OTHERS} hosts without load; name one with --host"
        )));
    }
    write(&record, &args.run, out, &others, &all)?;
    Ok(all)
}

fn read(args: &AttachArgs, record: &Record, ended_ns: u64) -> Result<ToldCounters, Failure> {
    let text = text_file::read_foreign(&args.file, "counters", counters::MOST_BYTES)?;
    let file = args.file.display().to_string();
    let within = record.started_unix_ns..ended_ns;
    let wanted = Wanted {
        file: &file,
        host: args.host.as_deref(),
        offset_ns: args.offset,
        within: within.clone(),
    };
    counters::read(&wanted, &text).map_err(|refused| match refused {
        Refused::Unread(error) => Failure::usage(error),
        Refused::OtherTime { from, to } => Failure::usage(format!(
            "{file}: its counters are of {} to {}, and the run was from {} to {}. Name the file \
             of that time, or move its times with --offset",
            words::utc(from),
            words::utc(to),
            words::utc(within.start),
            words::utc(within.end)
        )),
    })
}

/// What a file tells of a host, as one behind those of the plan.
fn facts(host: &ToldHost, number: u32, of: u32) -> HostFacts {
    let nic = |(name, mbit): &(String, u32)| NicFacts {
        name: name.clone(),
        speed_mbit: Some(*mbit).filter(|mbit| *mbit > 0),
        up: true,
        ..NicFacts::default()
    };
    HostFacts {
        place: Place { number, of },
        logical_cpus: host.cpus,
        memory: Bytes(host.memory),
        inventory: Inventory {
            nics: host.speeds.iter().map(nic).collect(),
            ..Inventory::default()
        },
        ..HostFacts::unknown(&host.name)
    }
}

/// The intervals in the stages in which their middles lie, how much of the measurements they
/// cover, and how long these are.
fn placed(
    record: &Record,
    host: u32,
    ended_ns: u64,
    intervals: &[ToldInterval],
) -> (Vec<CounterSample>, u64, u64) {
    let ends = |from: u64| {
        let starts = record.stages.iter().map(|stage| stage.started_unix_ns);
        starts.filter(|start| *start > from).min().unwrap_or(ended_ns).max(from)
    };
    let is_measured = |stage: u32| {
        let planned = record.plan.stages.get(stage as usize);
        planned.is_some_and(|stage| stage.kind == StageKind::Measure)
    };
    let (mut samples, mut covered, mut measured) = (Vec::new(), 0u64, 0u64);
    for stage in &record.stages {
        let (start, end) = (stage.started_unix_ns, ends(stage.started_unix_ns));
        let here = intervals.iter().filter(|one| {
            let middle = one.start_unix_ns.saturating_add(one.length_ns / 2);
            (start..end).contains(&middle)
        });
        for (number, one) in (0..).zip(here) {
            let sample = CounterSample {
                stage: stage.stage,
                host,
                number,
                // By at most half of an interval, as nobody knows better where it lies.
                start_ns: one.start_unix_ns.saturating_sub(start),
                length_ns: one.length_ns,
                entries: one.entries.clone(),
                notes: Vec::new(),
            };
            if is_measured(stage.stage) {
                let until = one.start_unix_ns.saturating_add(one.length_ns).min(end);
                let length = until.saturating_sub(one.start_unix_ns.max(start));
                covered = covered.saturating_add(length);
            }
            samples.push(sample);
        }
        if is_measured(stage.stage) {
            measured = measured.saturating_add(end - start);
        }
    }
    (samples, covered, measured)
}

/// Hands the run on into a file of its own, each stage with the counters of the others.
fn write(
    record: &Record,
    run: &Path,
    out: &Path,
    others: &[(HostFacts, Vec<CounterSample>)],
    all: &[CountersFrom],
) -> Result<(), Failure> {
    let mut testbed = record.testbed.clone();
    testbed.extend(others.iter().map(|(facts, _)| facts.clone()));
    let mut writer =
        store::Writer::create(out, &record.plan, &testbed, &record.version, record.started_unix_ns)
            .map_err(Failure::run)?;
    let filled = fill(record, run, &mut writer, others, all);
    let written = filled.and_then(|()| writer.finish().map_err(Failure::run));
    // Half of a run is none, and it was made a moment ago.
    written.inspect_err(|_| drop(std::fs::remove_file(out)))
}

fn fill(
    record: &Record,
    run: &Path,
    writer: &mut store::Writer,
    others: &[(HostFacts, Vec<CounterSample>)],
    all: &[CountersFrom],
) -> Result<(), Failure> {
    let first = record.testbed.len() as u32;
    let mut file = store::Stages::of(run).map_err(Failure::run_file)?;
    let mut together = Vec::new();
    let of_stage = |stage: &model::record::StageRecord, take: &mut resume::Take<'_, Failure>| {
        file.each(record, stage.stage, &mut *take).map_err(halt)?;
        let samples = others.iter().flat_map(|(_, samples)| samples);
        let here = samples.filter(|sample| sample.stage == stage.stage);
        here.cloned().map(|sample| Event::Counters(Box::new(sample))).try_for_each(take)
    };
    resume::hand_on(record, &[], of_stage, &mut |event| {
        together.push(event);
        write_full(writer, &mut together, TOGETHER)
    })?;
    let note = |(host, from): (u32, &CountersFrom)| {
        let fact = Fact::CountersFrom(Box::new(from.clone()));
        Event::Note(Note { stage: None, host, fact })
    };
    together.extend((first..).zip(all).map(note));
    let ended = record.end.clone();
    together.extend(ended.map(|(unix_ns, end)| Event::RunEnded { unix_ns, end }));
    write_full(writer, &mut together, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn an_interval_lies_in_the_stage_of_its_middle() {
        let mut recorded = analysis::testing::Recorded::new("[[workload]]\nname = \"w\"\n");
        let stage = recorded.stage(StageKind::Measure);
        let mut record = recorded.end();
        let start = 1_000 * SECOND;
        record.stages = vec![model::record::StageRecord::new(stage, start)];
        let at = |from: i64, length: u64| ToldInterval {
            start_unix_ns: start.saturating_add_signed(from * SECOND as i64),
            length_ns: length * SECOND,
            entries: Vec::new(),
        };
        let intervals = [at(-4, 4), at(-1, 4), at(3, 4), at(7, 4), at(11, 4)];
        let (samples, covered, measured) = placed(&record, 1, start + 10 * SECOND, &intervals);
        let here: Vec<_> = samples.iter().filter(|sample| sample.stage == stage).collect();
        let starts: Vec<u64> = here.iter().map(|sample| sample.start_ns / SECOND).collect();
        assert_eq!(starts, [0, 3, 7], "what lies outside for more than half is left out");
        assert_eq!(beside(Path::new("a/run.plimsoll")), Path::new("a/run-attached.plimsoll"));
        assert_eq!((covered, measured), (10 * SECOND, 10 * SECOND));
        assert_eq!(here.iter().map(|sample| sample.number).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
