//! What a file no longer keeps in rows: of a long run, samples go into blocks, which take less than
//! half the room. Behind the time that a suite says, they go altogether, and their sums stay. They
//! are exact, with all their histograms.
//!
//! A block can go only where nothing that is found out later can ask for a part of it. Figures rest
//! on whole rows of intervals with the same hosts, and a host's last interval of load ends one. So
//! a block stays as it is in which any host has its last one so far: that host is silent, lost or
//! done. Of a stage that may settle, every block stays, for its figures begin anywhere.

use crate::file::checksums::{Part, Sums};
use crate::file::values::{Problem, each, small};
use crate::sample_blocks::{self, Move, Progress};
use crate::samples::block_edge::{Edge, NUMBERED, take_checksums_away, take_intervals_away};
use crate::samples::block_rows::Reach;
use model::digest::{Held, Spans};
use model::plan::Plan;
use model::{IntervalSample, StageKind};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Takes rows of samples away that are not kept.
#[derive(Debug, Default)]
pub struct Thinner {
    keep_ns: Option<u64>,
    /// The stages of which nothing may go.
    whole: BTreeSet<u32>,
    /// When stages began, by the clock for people.
    begun_unix_ns: BTreeMap<u32, u64>,
    /// The number behind each host's last interval of load, by stage.
    loads: BTreeMap<u32, BTreeMap<u32, u32>>,
    /// The end of the latest sample.
    now_unix_ns: u64,
    waiting: VecDeque<Waiting>,
    /// So many of them, from the first on, are in blocks of samples or cannot be.
    tried: usize,
    /// The most rows of samples of the others; `None` where samples stay in rows.
    rows: Option<i64>,
    /// How far the last block reaches.
    before: Edge,
    /// The last block whose rows are gone; 0 where there is none.
    last: i64,
    /// The block whose rows are going into columns.
    moving: Option<Move>,
    /// How much of that may be done in this transaction.
    room: u64,
}

/// A block whose samples are there.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Not in rows.
    is_coded: bool,
    block: i64,
    from: Edge,
    to: Edge,
    ended_unix_ns: u64,
}

impl Waiting {
    fn is_large(self) -> bool {
        self.to.reach.samples.saturating_sub(self.from.reach.samples) > AT_ONCE
    }
}

/// So many rows of samples stay rows, which every program can read: those of a short run, or the
/// last ones of a long one.
const PLAIN_ROWS: i64 = 1 << 20;

/// So many rows of samples go at once.
const AT_ONCE: i64 = 1 << 14;

impl Thinner {
    /// As the plan says. What is checked after a crash needs every interval, and so do single
    /// latencies.
    pub fn new(plan: &Plan) -> Thinner {
        let needs_all =
            |host: &model::plan::HostPlan| host.engine.contents.verify || host.engine.raw_latencies;
        let (keep_ns, rows) = match plan.hosts.iter().any(needs_all) {
            true => (None, None),
            false => (plan.keep.full.map(|full| full.0), Some(PLAIN_ROWS)),
        };
        let mut thinner = Thinner { keep_ns, rows, ..Thinner::default() };
        thinner.whole = whole(plan);
        thinner
    }

    /// With so many rows of samples before the first block of them.
    #[cfg(test)]
    pub fn with_rows(self, rows: i64) -> Thinner {
        Thinner { rows: self.rows.map(|_| rows), ..self }
    }

    /// A stage began.
    pub fn began(&mut self, plan: &Plan, stage: u32, unix_ns: u64) {
        self.begun_unix_ns.insert(stage, unix_ns);
        // A search adds stages.
        self.whole = whole(plan);
    }

    /// A sample was written.
    pub fn took(&mut self, sample: &IntervalSample) {
        // Twice what it will cost itself: a block is done before the next one is there.
        self.room = self.room.saturating_add(2 * sample_blocks::cost(sample));
        if self.keep_ns.is_none() {
            return;
        }
        let begun = self.begun_unix_ns.get(&sample.stage).copied().unwrap_or_default();
        let end_ns = sample.start_ns.saturating_add(sample.length_ns);
        self.now_unix_ns = self.now_unix_ns.max(begun.saturating_add(end_ns));
        if sample.phase.counts() {
            let next = self.loads.entry(sample.stage).or_default().entry(sample.host).or_default();
            *next = (*next).max(sample.interval.saturating_add(1));
        }
    }

    /// A block was written that reaches so far.
    pub fn wrote(
        &mut self,
        connection: &Connection,
        block: i64,
        reach: Reach,
    ) -> rusqlite::Result<()> {
        if self.keep_ns.is_none() && self.rows.is_none() {
            return Ok(());
        }
        let intervals = connection.query_row(
            "SELECT coalesce(max(row), 0) FROM checksums WHERE part = 'intervals'",
            [],
            |row| row.get(0),
        )?;
        let to = Edge { reach, intervals };
        let from = std::mem::replace(&mut self.before, to);
        let ended_unix_ns = self.now_unix_ns;
        self.waiting.push_back(Waiting { is_coded: false, block, from, to, ended_unix_ns });
        Ok(())
    }

    /// Nothing more goes: a transaction failed, or samples do not follow each other.
    pub fn stop(&mut self) {
        self.waiting.clear();
        self.moving = None;
        (self.keep_ns, self.rows) = (None, None);
    }

    /// The last block whose rows are gone; 0 where there is none.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Before a transaction ends: goes on with what is to be done to blocks, as far as this
    /// transaction's samples pay for it; at the end of a run, all of it.
    pub fn work(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        is_end: bool,
    ) -> rusqlite::Result<()> {
        let mut room = std::mem::take(&mut self.room);
        if is_end {
            room = u64::MAX;
        }
        loop {
            if self.moving.is_none() {
                self.thin(transaction, checks)?;
                self.next(transaction)?;
            }
            let Some(moving) = &mut self.moving else { return Ok(()) };
            match moving.go_on(transaction, checks, &mut room)? {
                Progress::Paused => return Ok(()),
                Progress::Over => self.moving = None,
                Progress::Refused => {
                    self.moving = None;
                    self.tried += 1;
                }
                Progress::InColumns => {
                    let block = &mut self.waiting[self.tried];
                    block.is_coded = true;
                    self.last = self.last.max(block.block);
                    self.tried += 1;
                }
            }
        }
    }

    /// Begins to put the oldest samples into a block where more of them are in rows than should
    /// be, or where it is soon to go and too large to go at once. The last block of sums stays in
    /// rows: SQLite would give their numbers to others.
    fn next(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let Some(most) = self.rows else { return Ok(()) };
        while self.tried + 1 < self.waiting.len() {
            let waiting = self.waiting[self.tried];
            let rows = self.before.reach.samples.saturating_sub(waiting.from.reach.samples);
            let is_to_go = self.tried == 0 && self.is_old(waiting) && waiting.is_large();
            if rows <= most && !is_to_go {
                break;
            }
            if let Some(spans) = spans(transaction, waiting.block)? {
                self.moving = Some(Move::new(waiting.block, waiting.from, waiting.to, spans));
                break;
            }
            self.tried += 1;
        }
        Ok(())
    }

    /// Whether a block ended so long ago that it is not kept.
    fn is_old(&self, block: Waiting) -> bool {
        let age_ns = self.now_unix_ns.saturating_sub(block.ended_unix_ns);
        self.keep_ns.is_some_and(|keep_ns| age_ns > keep_ns)
    }

    /// Takes the samples of blocks away that ended long enough ago. A large one goes by way of
    /// columns, which are gone in no time.
    fn thin(&mut self, transaction: &Transaction<'_>, checks: &mut Sums) -> rusqlite::Result<()> {
        while let Some(first) = self.waiting.front().copied() {
            let is_untried = self.tried == 0 && self.rows.is_some() && self.waiting.len() > 1;
            if !self.is_old(first) || (is_untried && first.is_large()) {
                break;
            }
            self.waiting.pop_front();
            self.tried = self.tried.saturating_sub(1);
            if let Some(spans) = self.that_may_go(transaction, first.block)? {
                take_away(transaction, checks, first, &spans)?;
                self.last = self.last.max(first.block);
            }
        }
        Ok(())
    }

    /// The intervals of a block by stage and host; `None` where it has to stay.
    fn that_may_go(&self, transaction: &Transaction<'_>, block: i64) -> rusqlite::Result<ByStage> {
        let Some(all) = spans(transaction, block)? else { return Ok(None) };
        for (stage, spans) in &all {
            let loads = || spans.values().flatten().filter(|span| span.phase.counts());
            let first = loads().map(|span| span.interval).min();
            let last = loads().map(|span| span.interval).max();
            if let (Some(first), Some(last)) = (first, last) {
                let mut ends = self.loads.get(stage).into_iter().flat_map(BTreeMap::values);
                if self.whole.contains(stage) || ends.any(|end| *end > first && *end <= last) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(all))
    }
}

/// The intervals of a block; `None` where they cannot be read.
pub fn spans(connection: &Connection, block: i64) -> rusqlite::Result<ByStage> {
    let mut all = Vec::new();
    let mut statement =
        connection.prepare_cached("SELECT stage, spans FROM stage_sums WHERE block = ?")?;
    let mut rows = statement.query([block])?;
    while let Some(row) = rows.next()? {
        let mut spans: BTreeMap<u32, Spans> = BTreeMap::new();
        // We wrote it; what cannot be read stays.
        if Held::take(row.get_ref(1)?.as_blob()?, &mut spans).is_err() {
            return Ok(None);
        }
        all.push((row.get(0)?, spans));
    }
    Ok(Some(all))
}

/// Intervals by stage and host.
pub type ByStage = Option<Vec<(u32, BTreeMap<u32, Spans>)>>;

/// The stages that may settle: their figures rest on a part that is only known at the end.
fn whole(plan: &Plan) -> BTreeSet<u32> {
    let stages = (0..).zip(&plan.stages);
    let may_settle = stages
        .filter(|(_, stage)| stage.stop().steady().is_some() || stage.kind == StageKind::Verify);
    may_settle.map(|(number, _)| number).collect()
}

/// Takes the samples of a block away, in whichever form they are.
fn take_away(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    block: Waiting,
    stages: &[(u32, BTreeMap<u32, Spans>)],
) -> rusqlite::Result<()> {
    match block.is_coded {
        true => sample_blocks::remove(transaction, checks, block.block)?,
        false => take_rows_away(transaction, block, stages)?,
    }
    checks.insert(
        transaction,
        Part::Thinned,
        "INSERT INTO thinned VALUES (?)",
        params![block.block],
    )
}

/// Takes the rows of a block away. What all hosts together did in each interval stays in rows, for
/// other programs.
fn take_rows_away(
    transaction: &Transaction<'_>,
    block: Waiting,
    stages: &[(u32, BTreeMap<u32, Spans>)],
) -> rusqlite::Result<()> {
    let rows = [block.from.reach.samples, block.to.reach.samples];
    transaction.prepare_cached(MOMENTS)?.execute(rows)?;
    for part in NUMBERED {
        // SQLite gives a new row the number behind the last one: the last row of a table stays, or
        // its number would be that of another.
        let is_last = format!("SELECT NOT EXISTS (SELECT 1 FROM {} WHERE rowid > ?)", part.word());
        if transaction.query_row(&is_last, [block.to.rows(part)], |row| row.get(0))? {
            continue;
        }
        let delete = format!("DELETE FROM {} WHERE rowid > ? AND rowid <= ?", part.word());
        let rows = [block.from.rows(part), block.to.rows(part)];
        transaction.prepare_cached(&delete)?.execute(rows)?;
        take_checksums_away(transaction, part, block.from, block.to)?;
    }
    take_intervals_away(transaction, block.from, block.to, stages)
}

/// What all hosts did in each interval, of the rows of samples that go.
const MOMENTS: &str = "INSERT INTO moments
    SELECT samples.stage, samples.interval, intervals.phase, samples.work, samples.op, count(*),
           min(intervals.start_ns), max(intervals.length_ns), sum(samples.ios), \
                       sum(samples.bytes), sum(samples.errors),
           sum(samples.mean_ns * samples.ios) / nullif(sum(samples.ios), 0), max(samples.p99_ns), \
                       max(samples.max_ns)
    FROM samples JOIN intervals USING (stage, host, interval)
    WHERE samples.rowid > ? AND samples.rowid <= ?
    GROUP BY samples.stage, samples.interval, intervals.phase, samples.work, samples.op";

/// The blocks of a file whose rows are gone.
pub fn blocks(connection: &Connection) -> Result<BTreeSet<i64>, Problem> {
    let mut blocks = BTreeSet::new();
    each(connection, "SELECT block FROM thinned", |row| {
        blocks.insert(row.get(0)?);
        Ok(())
    })?;
    Ok(blocks)
}

/// The stages of which rows are gone.
pub fn stages(connection: &Connection) -> Result<BTreeSet<u32>, Problem> {
    let mut stages = BTreeSet::new();
    if is_any(connection)? {
        let query = "SELECT DISTINCT stage FROM stage_sums WHERE block IN (SELECT block FROM \
                     thinned)";
        each(connection, query, |row| {
            stages.insert(small(row.get(0)?)?);
            Ok(())
        })?;
    }
    Ok(stages)
}

/// Whether any rows of a file are gone.
pub fn is_any(connection: &Connection) -> Result<bool, Problem> {
    let found = connection.query_row("SELECT 1 FROM thinned LIMIT 1", [], |_| Ok(())).optional()?;
    Ok(found.is_some())
}

/// Whether the sums of every block whose rows are gone are there: nothing else tells of these.
pub fn check(connection: &Connection) -> Result<(), Problem> {
    let missing = "SELECT count(*) FROM thinned WHERE block NOT IN (SELECT block FROM sums)";
    sample_blocks::check(connection)?;
    if is_any(connection)? && connection.query_row(missing, [], |row| row.get::<_, i64>(0))? > 0 {
        return Err("sums are missing of which the file has no samples".into());
    }
    Ok(())
}
