//! What all hosts did in each interval, of samples whose rows go: for programs that read rows
//! alone.

use crate::file::values::{Problem, number, small, unsigned};
use crate::samples::rows::op;
use model::digest::Spans;
use model::{Op, Phase};
use rusqlite::{Row, Transaction, params};
use std::collections::BTreeMap;

/// By stage, interval, phase, work and operation.
#[derive(Debug, Default)]
pub struct Moments(BTreeMap<(u32, u32, Phase, u32, Op), Moment>);

#[derive(Debug, Default)]
struct Moment {
    hosts: i64,
    start_ns: u64,
    length_ns: u64,
    ios: u64,
    bytes: u64,
    errors: u64,
    /// The times of all requests, in ns; `None` where there is none.
    sum_ns: Option<f64>,
    worst_p99_ns: Option<i64>,
    max_ns: Option<i64>,
}

impl Moments {
    /// Takes in a row of `samples`, of these intervals.
    pub fn take(
        &mut self,
        row: &Row<'_>,
        stages: &[(u32, BTreeMap<u32, Spans>)],
    ) -> Result<(), Problem> {
        let (stage, host, interval) =
            (small(row.get(0)?)?, small(row.get(1)?)?, small(row.get(2)?)?);
        let (work, op) = (small(row.get(3)?)?, op(row, 4)?);
        let spans = stages.iter().find(|(of, _)| *of == stage);
        let spans = spans.and_then(|(_, hosts)| hosts.get(&host));
        let span = spans.and_then(|spans| spans.get(spans.find(interval)?));
        let span = span.ok_or("a row belongs to an interval that is not there")?;
        let key = (stage, interval, span.phase, work, op);
        let moment =
            self.0.entry(key).or_insert(Moment { start_ns: u64::MAX, ..Moment::default() });
        let ios = unsigned(row.get(5)?)?;
        let mean_ns: Option<f64> = row.get(8)?;
        moment.hosts += 1;
        moment.start_ns = moment.start_ns.min(span.start_ns);
        moment.length_ns = moment.length_ns.max(span.length_ns);
        moment.ios = moment.ios.saturating_add(ios);
        moment.bytes = moment.bytes.saturating_add(unsigned(row.get(6)?)?);
        moment.errors = moment.errors.saturating_add(unsigned(row.get(7)?)?);
        if let Some(mean_ns) = mean_ns {
            *moment.sum_ns.get_or_insert(0.0) += mean_ns * ios as f64;
        }
        moment.worst_p99_ns = moment.worst_p99_ns.max(row.get(10)?);
        moment.max_ns = moment.max_ns.max(row.get(11)?);
        Ok(())
    }

    /// Writes them as rows.
    pub fn write(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO moments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        for ((stage, interval, phase, work, op), moment) in self.0 {
            let mean_ns = moment.sum_ns.filter(|_| moment.ios > 0);
            insert.execute(params![
                stage,
                interval,
                phase.name(),
                work,
                op.name(),
                moment.hosts,
                number(moment.start_ns),
                number(moment.length_ns),
                number(moment.ios),
                number(moment.bytes),
                number(moment.errors),
                mean_ns.map(|sum_ns| sum_ns / moment.ios as f64),
                moment.worst_p99_ns,
                moment.max_ns,
            ])?;
        }
        Ok(())
    }
}
