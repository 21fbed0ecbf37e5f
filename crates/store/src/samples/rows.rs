//! Rows of what hosts did, put into samples.

use crate::file::checksums::Part;
use crate::file::values::{Problem, small, unsigned};
use model::histogram::EncodedHistogram;
use model::sample::{IntervalSample, OpSample, WorkerOp, WorkerSample};
use model::{Op, WriteMark};
use rusqlite::Row;
use std::collections::BTreeMap;

/// Stage, interval, host: in this order, samples of a record stand.
pub type Key = (u32, u32, u32);

pub fn key(row: &Row<'_>) -> Result<Key, Problem> {
    Ok((small(row.get(0)?)?, small(row.get(2)?)?, small(row.get(1)?)?))
}

pub fn op(row: &Row<'_>, column: usize) -> Result<Op, Problem> {
    let name: String = row.get(column)?;
    Op::from_name(&name).ok_or_else(|| Problem(format!("`{name}` is no operation")))
}

/// Samples in the order of a record.
pub type Samples = BTreeMap<Key, IntervalSample>;

fn sample_of<'a>(
    samples: &'a mut Samples,
    row: &Row<'_>,
) -> Result<&'a mut IntervalSample, Problem> {
    samples
        .get_mut(&key(row)?)
        .ok_or_else(|| "a row belongs to an interval that is not there".into())
}

fn op_of<'a>(samples: &'a mut Samples, row: &Row<'_>) -> Result<&'a mut OpSample, Problem> {
    let wanted = work_and_op(row)?;
    let found =
        sample_of(samples, row)?.ops.iter_mut().find(|sample| (sample.work, sample.op) == wanted);
    found.ok_or_else(|| "a row belongs to an operation that is not there".into())
}

/// The fourth and the fifth column of the tables that have both.
fn work_and_op(row: &Row<'_>) -> Result<(u32, Op), Problem> {
    Ok((small(row.get(3)?)?, op(row, 4)?))
}

/// Hands the rows of a table to somebody, in the order of writing.
pub type Each<'a> =
    dyn Fn(Part, &mut dyn FnMut(&Row<'_>) -> Result<(), Problem>) -> Result<(), Problem> + 'a;

pub fn fill_ops(each: &Each<'_>, samples: &mut Samples) -> Result<(), Problem> {
    each(Part::Samples, &mut |row| {
        let (work, op) = work_and_op(row)?;
        let sample = OpSample {
            work,
            op,
            ios: unsigned(row.get(5)?)?,
            bytes: unsigned(row.get(6)?)?,
            errors: Vec::new(),
            latency: EncodedHistogram(row.get(12)?),
            raw_latencies: Vec::new(),
        };
        let ops = &mut sample_of(samples, row)?.ops;
        if ops.iter().any(|other| (other.work, other.op) == (work, op)) {
            return Err("an operation stands twice in one interval".into());
        }
        ops.push(sample);
        Ok(())
    })?;
    each(Part::Errors, &mut |row| {
        let errno = i32::try_from(row.get::<_, i64>(5)?).map_err(|_| "an errno is out of range")?;
        let count = unsigned(row.get(6)?)?;
        op_of(samples, row)?.errors.push((errno, count));
        Ok(())
    })?;
    each(Part::RawLatencies, &mut |row| {
        let bytes: Vec<u8> = row.get(5)?;
        let (values, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err("raw latencies are cut off".into());
        }
        op_of(samples, row)?.raw_latencies =
            values.iter().map(|ns| u64::from_le_bytes(*ns)).collect();
        Ok(())
    })
}

pub fn fill_workers(each: &Each<'_>, samples: &mut Samples) -> Result<(), Problem> {
    each(Part::Workers, &mut |row| {
        let worker = WorkerSample {
            worker: small(row.get(3)?)?,
            cpu_user_ns: unsigned(row.get(4)?)?,
            cpu_system_ns: unsigned(row.get(5)?)?,
            ops: Vec::new(),
            mark: None,
        };
        sample_of(samples, row)?.workers.push(worker);
        Ok(())
    })?;
    each(Part::WorkerSamples, &mut |row| {
        let number = small(row.get(3)?)?;
        let (ios, bytes, errors) =
            (unsigned(row.get(5)?)?, unsigned(row.get(6)?)?, unsigned(row.get(7)?)?);
        let counts = WorkerOp { op: op(row, 4)?, ios, bytes, errors };
        worker_of(samples, row, number)?.ops.push(counts);
        Ok(())
    })?;
    each(Part::WriteMarks, &mut |row| {
        let number = small(row.get(3)?)?;
        let mark = mark(row)?;
        worker_of(samples, row, number)?.mark = Some(mark);
        Ok(())
    })
}

/// The worker of a row by its `number`.
fn worker_of<'a>(
    samples: &'a mut Samples,
    row: &Row<'_>,
    number: u32,
) -> Result<&'a mut WorkerSample, Problem> {
    // They stand in order, so the one that is meant is near its own number.
    let workers = &mut sample_of(samples, row)?.workers;
    let near = workers
        .get(number as usize)
        .is_some_and(|worker| worker.worker == number)
        .then_some(number as usize);
    let index = near.or_else(|| workers.iter().position(|worker| worker.worker == number));
    Ok(&mut workers[index.ok_or("a row belongs to a worker that is not there")?])
}

fn mark(row: &Row<'_>) -> Result<WriteMark, Problem> {
    let failed: Vec<u8> = row.get(9)?;
    let (failed, rest) = failed.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("a list of failed writes is cut off".into());
    }
    Ok(WriteMark {
        base: small(row.get(4)?)?,
        sent: small(row.get(5)?)?,
        completed: small(row.get(6)?)?,
        durable: small(row.get(7)?)?,
        overtaken: small(row.get(8)?)?,
        failed: failed.iter().map(|generation| u32::from_le_bytes(*generation)).collect(),
        more_failed: row.get(10)?,
    })
}
