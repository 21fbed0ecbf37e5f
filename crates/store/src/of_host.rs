//! What one host did, for whoever looks at what it left behind: the day of a thousand others is not
//! held beside it.

use crate::file::error::StoreError;
use crate::reader::read_to_look;
use crate::samples::by_stage::Stages;
use model::Record;
use model::sample::{IntervalSample, WorkerSample};
use std::path::Path;

/// Reads a run file with what one host's workers did, and without what its kernel counted. An
/// interval holds the workers with a write mark alone; the first one of a stage holds the
/// operations of all. Latencies are left out.
///
/// # Errors
/// As those of [`read`](crate::read); what was not read may be damaged.
pub fn read_of_host(path: &Path, host: u32) -> Result<Record, StoreError> {
    let mut record = read_to_look(path)?;
    let mut file = Stages::of(path)?;
    let stages: Vec<u32> = record.stages.iter().map(|stage| stage.stage).collect();
    for (place, stage) in stages.into_iter().enumerate() {
        let mut held = Vec::new();
        file.each_of_host(&record, stage, host, &mut |sample| take(&mut held, sample))?;
        *record.stages[place].samples_mut() = held;
    }
    Ok(record)
}

/// Takes in an interval behind the others of its stage.
fn take(held: &mut Vec<IntervalSample>, mut sample: IntervalSample) {
    sample.ops = Vec::new();
    let Some(first) = held.first_mut() else { return held.push(sample) };
    for worker in &mut sample.workers {
        add(&mut first.workers, worker);
    }
    sample.workers.retain(|worker| worker.mark.is_some());
    if !sample.workers.is_empty() {
        held.push(sample);
    }
}

/// Moves what a worker did to the same worker of another interval.
fn add(to: &mut Vec<WorkerSample>, from: &mut WorkerSample) {
    let ops = std::mem::take(&mut from.ops);
    let same = |own: &&mut WorkerSample| own.worker == from.worker;
    let Some(own) = to.iter_mut().find(same) else {
        return to.push(WorkerSample { ops, mark: None, ..from.clone() });
    };
    for done in ops {
        match own.ops.iter_mut().find(|own| own.op == done.op) {
            None => own.ops.push(done),
            Some(own) => {
                own.ios = own.ios.saturating_add(done.ios);
                own.bytes = own.bytes.saturating_add(done.bytes);
                own.errors = own.errors.saturating_add(done.errors);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Op, WriteMark, sample::WorkerOp};

    #[test]
    fn marks_stay_as_they_are_and_operations_add_up() {
        let worker = |worker: u32, sent: Option<u32>, ios| WorkerSample {
            worker,
            cpu_user_ns: 0,
            cpu_system_ns: 0,
            ops: vec![WorkerOp { op: Op::Write, ios, bytes: 2 * ios, errors: 1 }],
            mark: sent.map(|sent| WriteMark { sent, ..WriteMark::default() }),
        };
        let sample = |interval: u32, workers: Vec<WorkerSample>| IntervalSample {
            stage: 1,
            host: 0,
            interval,
            start_ns: u64::from(interval),
            length_ns: 1,
            phase: model::sample::Phase::Load,
            workers,
            ops: Vec::new(),
        };
        let mut held = Vec::new();
        take(&mut held, sample(0, vec![worker(0, Some(5), 10)]));
        take(&mut held, sample(1, vec![worker(0, Some(7), 20), worker(1, None, 3)]));
        take(&mut held, sample(2, vec![worker(1, None, 4)]));
        let counts = |sample: &IntervalSample| -> Vec<(u32, u64, u64, u64)> {
            let of = |own: &WorkerSample| {
                own.ops.iter().map(|op| (own.worker, op.ios, op.bytes, op.errors)).next()
            };
            sample.workers.iter().filter_map(of).collect()
        };
        assert_eq!(counts(&held[0]), [(0, 30, 60, 2), (1, 7, 14, 2)]);
        let marks: Vec<(u64, u32, u32)> = held
            .iter()
            .flat_map(|sample| sample.workers.iter().map(move |own| (sample.start_ns, own)))
            .filter_map(|(at, own)| Some((at, own.worker, own.mark.as_ref()?.sent)))
            .collect();
        assert_eq!((marks.as_slice(), held.len()), (&[(0, 0, 5), (1, 0, 7)][..], 2));
    }
}
