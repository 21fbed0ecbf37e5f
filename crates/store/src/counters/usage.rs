//! What the kernels' counters of measurements come to, without holding them. A day on many hosts
//! has more of them than can be looked at while somebody waits: of such a run, intervals are taken
//! evenly out of all.

use crate::coded::{self, Blocks, Extent};
use crate::counters::series;
use crate::file::checksums::{self, Part, Single};
use crate::file::source::Source;
use crate::file::values::{Problem, small, unsigned};
use crate::samples::search::{self, Bracket};
use model::counters::{Entry, Layer, Metric};
use model::usage::Usage;
use model::{CounterSample, Kernels, Record, StageKind};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// With more rows than this, it would take seconds to look at all of them.
const MOST_ROWS: i64 = 1_000_000;
/// Each has to be found among all rows.
const MOST_SAMPLES: i64 = 10_000;
/// So many values of blocks are looked at, at most.
const MOST_DECODED: i64 = 256_000_000;
/// And so many samples of them are taken.
const MOST_TAKEN: i64 = 65_536;
/// No host has more things to count than this; a damaged file could say so.
const MOST_OF_SAMPLE: usize = 100_000;

type Names = BTreeMap<i64, (Layer, String, Metric)>;

/// Finds what the counters of each stage that measured come to, while `other` work is done; its
/// result first. `load` says when the load of a stage was on, in ns after its start. A file without
/// counters has none.
///
/// # Errors
/// Those of the `other` work, or the counters are damaged.
pub fn find_beside<E>(
    source: &Source,
    record: &Record,
    load: impl Fn(u32) -> Option<Range<u64>>,
    other: impl FnOnce() -> Result<E, Problem>,
) -> Result<(E, Usages), Problem> {
    let most =
        Most { rows: MOST_ROWS, samples: MOST_SAMPLES, decoded: MOST_DECODED, taken: MOST_TAKEN };
    Wanted::of(&source.opened.connection, record, load)?.all(source, most, other)
}

/// What is looked at of a long run, at most.
#[derive(Clone, Copy)]
struct Most {
    /// Rows of counters.
    rows: i64,
    /// Samples in rows.
    samples: i64,
    /// Values in blocks.
    decoded: i64,
    /// Samples in blocks.
    taken: i64,
}

/// What counters come to, by stage.
pub type Usages = BTreeMap<u32, Usage>;

/// What all who take counters have to know.
struct Wanted<'a> {
    record: &'a Record,
    kernels: Kernels,
    names: Names,
    /// When load was on, by stage.
    loads: BTreeMap<u32, Range<u64>>,
    blocks: Blocks,
}

/// Counters that one thread takes.
enum Job {
    /// All samples that begin in these rows.
    Rows(RangeInclusive<i64>),
    /// Of the samples that are wanted, those with these numbers.
    Some(Range<i64>, Thinning),
    /// Of the blocks that are wanted, those with these numbers.
    Blocks(Range<i64>, Chosen),
    /// What is no block yet.
    Tail,
}

/// How some blocks are taken out of all.
#[derive(Clone, Copy)]
struct Chosen {
    all: Extent,
    /// How many are taken.
    wanted: i64,
    /// One sample out of so many is.
    step: i64,
}

impl Chosen {
    fn is_thinned(self) -> bool {
        self.wanted < self.all.count || self.step > 1
    }

    /// The block that is taken as one of this number.
    fn block(self, number: i64) -> i64 {
        if self.wanted >= self.all.count {
            return self.all.first.saturating_add(number);
        }
        let place = place(number as u64, self.all.count as u128, self.wanted as u128);
        self.all.first.saturating_add(i64::try_from(place).unwrap_or(i64::MAX))
    }
}

/// How some samples are taken out of all.
#[derive(Clone, Copy)]
struct Thinning {
    /// All rows and samples.
    all: Bracket,
    /// How many samples are taken.
    wanted: i64,
}

impl Thinning {
    /// So many samples of a file with more than `most_rows` rows that they have about as many, and
    /// at most `most_samples`.
    fn of(all: Bracket, most_rows: i64, most_samples: i64) -> Thinning {
        let (rows, samples) =
            (count(all.first, all.last), count(all.first_sample, all.last_sample));
        let fitting = samples.saturating_mul(i128::from(most_rows)) / rows.max(1);
        // At most `most_samples`, so it fits.
        Thinning { all, wanted: fitting.clamp(1, i128::from(most_samples).max(1)) as i64 }
    }

    /// The sample that is taken as one of this number.
    fn sample(&self, number: i64) -> i64 {
        let samples = count(self.all.first_sample, self.all.last_sample);
        let place = place(number as u64, samples as u128, self.wanted as u128);
        // Within the range of two numbers of 64 bits.
        (i128::from(self.all.first_sample) + place as i128) as i64
    }
}

/// How many numbers there are from the first to the last one.
fn count(first: i64, last: i64) -> i128 {
    i128::from(last) - i128::from(first) + 1
}

impl<'a> Wanted<'a> {
    fn of(
        connection: &Connection,
        record: &'a Record,
        load: impl Fn(u32) -> Option<Range<u64>>,
    ) -> Result<Wanted<'a>, Problem> {
        let is_measured = |stage: u32| {
            record
                .plan
                .stages
                .get(stage as usize)
                .is_some_and(|planned| planned.kind == StageKind::Measure)
        };
        let measured =
            record.stages.iter().map(|stage| stage.stage).filter(|stage| is_measured(*stage));
        let names = series(connection)?;
        let blocks = Blocks::of(&names);
        Ok(Wanted {
            record,
            kernels: Kernels::of(&record.testbed),
            names,
            blocks,
            loads: measured.filter_map(|stage| Some((stage, load(stage)?))).collect(),
        })
    }

    /// All samples of a file with at most so many rows of counters; else at most so many of them,
    /// and so many that they have about as many rows. Of blocks likewise. Beside the result of
    /// `other` work that is done meanwhile.
    fn all<E>(
        &self,
        source: &Source,
        most: Most,
        other: impl FnOnce() -> Result<E, Problem>,
    ) -> Result<(E, Usages), Problem> {
        let range = |table: &str, column: &str| {
            let query = ends(table, column);
            source
                .opened
                .connection
                .query_row(&query, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        };
        let (rows, samples) = (range("counters", "rowid")?, range("counter_samples", "sample")?);
        let all = Bracket {
            first: rows.0,
            first_sample: samples.0,
            last: rows.1,
            last_sample: samples.1,
        };
        let thinning = (count(rows.0, rows.1) > i128::from(most.rows))
            .then(|| Thinning::of(all, most.rows, most.samples));
        let mut jobs: Vec<Job> = match thinning {
            None => {
                // At most `most_rows`, so it fits.
                let count = count(rows.0, rows.1) as i64;
                let some = |part: Range<i64>| rows.0 + part.start..=rows.0 + (part.end - 1);
                parts(count, source.threads(count)).map(some).map(Job::Rows).collect()
            }
            // They have as many rows as are looked at in all, and each has to be found.
            Some(thinning) => parts(thinning.wanted, source.threads(most.rows))
                .map(|numbers| Job::Some(numbers, thinning))
                .collect(),
        };
        let chosen = self.chosen(source, most)?;
        if let Some(chosen) = chosen {
            let parts = parts(chosen.wanted, source.threads(most.rows));
            jobs.extend(parts.map(|numbers| Job::Blocks(numbers, chosen)));
            jobs.push(Job::Tail);
        }
        let is_thinned = thinning.is_some() || chosen.is_some_and(Chosen::is_thinned);
        let take = |connection: &Connection, job| {
            let mut taker = Taker { connection, wanted: self, usages: Usages::new() };
            match job {
                Job::Rows(rows) => taker.rows(rows)?,
                Job::Some(numbers, thinning) => taker.some(numbers, thinning)?,
                Job::Blocks(numbers, chosen) => taker.blocks(numbers, chosen)?,
                Job::Tail => taker.tail()?,
            }
            Ok(taker.usages)
        };
        let (other, found) = source.beside(jobs, &take, other)?;
        let mut usages = Usages::new();
        for (stage, usage) in found.into_iter().flatten() {
            usages.entry(stage).or_default().merge(usage);
        }
        usages.values_mut().for_each(|usage| usage.is_thinned = is_thinned);
        usages.retain(|_, usage| usage.samples > 0);
        Ok((other, usages))
    }

    /// The blocks that are taken; `None` of a file that can have none.
    fn chosen(&self, source: &Source, most: Most) -> Result<Option<Chosen>, Problem> {
        let blocks = &self.blocks;
        let connection = &source.opened.connection;
        let all = Extent::of(connection)?;
        let each = blocks.usual_values(connection, all)?;
        let wanted = (most.decoded / each).max(1).min(all.count);
        let samples = wanted.saturating_mul(coded::MOST_SAMPLES as i64);
        let step = if wanted < all.count || samples > 4 * most.taken {
            samples / most.taken.max(1) + 1
        } else {
            1
        };
        Ok(Some(Chosen { all, wanted, step }))
    }
}

/// The numbers below `count` in so many ranges of about the same length, none of them empty.
fn parts(count: i64, parts: usize) -> impl Iterator<Item = Range<i64>> {
    let step = count.div_euclid(i64::try_from(parts).unwrap_or(i64::MAX).max(1)).saturating_add(1);
    let starts = (0..count.max(0)).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    starts.map(move |start| start..start.saturating_add(step).min(count))
}

struct Taker<'a> {
    connection: &'a Connection,
    wanted: &'a Wanted<'a>,
    usages: Usages,
}

impl Taker<'_> {
    /// Takes in those of the wanted samples that have these numbers.
    fn some(&mut self, numbers: Range<i64>, thinning: Thinning) -> Result<(), Problem> {
        let Bracket { first, first_sample, last, last_sample } = thinning.all;
        let (mut after, mut before) = (first, first_sample);
        for number in numbers {
            let sample = thinning.sample(number);
            let among = Bracket { first: after, first_sample: before, last, last_sample };
            (after, before) = (self.first_row(sample, among)?, sample);
            self.run(after, None, |_, of| of == sample)?;
        }
        Ok(())
    }

    /// Takes in the samples whose first row is one of these.
    fn rows(&mut self, rows: RangeInclusive<i64>) -> Result<(), Problem> {
        let before = "SELECT sample FROM counters WHERE rowid < ? ORDER BY rowid DESC LIMIT 1";
        let before =
            self.connection.query_row(before, [rows.start()], |row| row.get(0)).optional()?;
        let mut last = before;
        self.run(*rows.start(), before, |row, of| {
            let is_begun = last == Some(of);
            last = Some(of);
            is_begun || row <= *rows.end()
        })
    }

    /// Takes in samples of those of the wanted blocks that have these numbers.
    fn blocks(&mut self, numbers: Range<i64>, chosen: Chosen) -> Result<(), Problem> {
        let blocks = &self.wanted.blocks;
        for number in numbers {
            let block = chosen.block(number);
            let is_wanted =
                |at: usize| block.wrapping_add(at as i64).rem_euclid(chosen.step.max(1)) == 0;
            blocks.block(self.connection, block, is_wanted, &mut |sample| {
                self.take(sample);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Takes in what is no block yet.
    fn tail(&mut self) -> Result<(), Problem> {
        let blocks = &self.wanted.blocks;
        blocks.tail(self.connection, |sample| {
            self.take(sample);
            Ok(())
        })
    }

    /// The first row of a sample or of one behind it, among rows that stand in the order of their
    /// samples, as a writer leaves them.
    fn first_row(&self, sample: i64, among: Bracket) -> Result<i64, Problem> {
        let mut next = self.connection.prepare_cached(
            "SELECT sample FROM counters WHERE rowid >= ? ORDER BY rowid LIMIT 1",
        )?;
        search::first_row(sample, among, |row| {
            Ok(next.query_row([row], |found| found.get(0)).optional()?)
        })
    }

    /// Takes in the samples from a row on, but for what is left of the sample `before`, as long as
    /// `goes_on` says so of a row and its sample.
    fn run(
        &mut self,
        first: i64,
        mut before: Option<i64>,
        mut goes_on: impl FnMut(i64, i64) -> bool,
    ) -> Result<(), Problem> {
        let (connection, wanted) = (self.connection, self.wanted);
        let mut rows = connection.prepare_cached(
            "SELECT rowid, sample, series, value FROM counters WHERE rowid >= ? ORDER BY rowid",
        )?;
        let mut heads = connection.prepare_cached(
            "SELECT stage, host, number, start_ns, length_ns, notes FROM counter_samples WHERE \
             sample = ?",
        )?;
        let mut checks = Single::of(connection, Part::Counters)?;
        let mut rows = rows.query([first])?;
        let mut current: Option<(i64, CounterSample)> = None;
        let (mut values, mut sum) = (0, 0u64);
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(1)?;
            if !goes_on(row.get(0)?, number) {
                break;
            }
            if before == Some(number) {
                continue;
            }
            before = None;
            if current.as_ref().is_none_or(|(known, _)| *known != number) {
                let (begun, of_head) = head(&mut heads, number)?;
                if let Some((before, whole)) = current.replace((number, begun)) {
                    checks.check(before, sum)?;
                    self.take(&whole);
                }
                (values, sum) = (0, of_head);
            }
            sum = sum.wrapping_add(checksums::of_columns(row, 2..=3)?);
            values += 1;
            if values > MOST_OF_SAMPLE {
                return Err("a sample of counters has more values than any host".into());
            }
            let (layer, name, metric) =
                wanted.names.get(&row.get(2)?).ok_or("a counter has no name")?;
            let value = (*metric, unsigned(row.get(3)?)?);
            let Some((_, sample)) = &mut current else { continue };
            match sample
                .entries
                .last_mut()
                .filter(|entry| entry.layer == *layer && entry.name == *name)
            {
                Some(entry) => entry.values.push(value),
                None => sample.entries.push(Entry {
                    layer: *layer,
                    name: name.clone(),
                    values: vec![value],
                }),
            }
        }
        if let Some((last, whole)) = current {
            checks.check(last, sum)?;
            self.take(&whole);
        }
        Ok(())
    }

    fn take(&mut self, sample: &CounterSample) {
        let Wanted { record, kernels, loads, .. } = self.wanted;
        if let Some(load) = loads.get(&sample.stage) {
            self.usages
                .entry(sample.stage)
                .or_default()
                .take(&record.testbed, kernels, load, sample);
        }
    }
}

/// The query for the least and the greatest number of a table, or 0 and 0 of none. Asked for
/// together, SQLite would look at every row, and a day has thousands of millions; each by itself,
/// it looks at the ends.
fn ends(table: &str, column: &str) -> String {
    format!(
        "SELECT coalesce((SELECT min({column}) FROM {table}), 0), coalesce((SELECT max({column}) \
         FROM {table}), 0)"
    )
}

/// The one that is taken of the samples from `number` × `all` ÷ `wanted` to the next such place.
/// Not always the first: hosts take turns in a file, and an even step could meet the same one each
/// time.
fn place(number: u64, all: u128, wanted: u128) -> u128 {
    let start = u128::from(number) * all / wanted.max(1);
    let end = (u128::from(number) + 1) * all / wanted.max(1);
    // Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4.
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    start + u128::from(mixed >> 32) % end.saturating_sub(start).max(1)
}

/// A sample without its values, and the checksum of that.
fn head(heads: &mut CachedStatement<'_>, sample: i64) -> Result<(CounterSample, u64), Problem> {
    let mut rows = heads.query(params![sample])?;
    let row = rows.next()?.ok_or("a counter belongs to a sample that is not there")?;
    let sample = CounterSample {
        stage: small(row.get(0)?)?,
        host: small(row.get(1)?)?,
        number: small(row.get(2)?)?,
        start_ns: unsigned(row.get(3)?)?,
        length_ns: unsigned(row.get(4)?)?,
        entries: Vec::new(),
        notes: Vec::new(),
    };
    Ok((sample, checksums::of_row(row)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaffold::fresh;
    use crate::{Writer, read_digests, read_judged};
    use analysis::testing::Recorded;
    use model::event::Event;
    use model::record::StageRecord;
    use model::usage::Part;
    use model::{Op, RunEnd};

    const SECOND: u64 = 1_000_000_000;

    /// A run of `seconds` on four hosts; the disk of the last one is busy all the time, those of
    /// the others for a quarter of it.
    fn written(path: &std::path::Path, seconds: u32) {
        written_with(path, seconds, 1 << 20);
    }

    /// The same with so many values in rows of their own.
    fn written_with(path: &std::path::Path, seconds: u32, plain: usize) {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 4);
        let stage = recorded.stage(StageKind::Measure);
        for (number, host) in (0..seconds).flat_map(|second| (0..4).map(move |host| (second, host)))
        {
            recorded.host_interval(stage, host, number, &[(Op::Read, &[100_000; 3])]);
            let busy = if host == 3 { SECOND } else { SECOND / 4 };
            let values = vec![(Metric::BusyNs, busy), (Metric::QueueNs, busy)];
            let entries = vec![Entry { layer: Layer::Block, name: "sda".to_owned(), values }];
            recorded.counters(stage, host, number, entries);
        }
        let record = recorded.record();
        let mut writer =
            Writer::create(path, &record.plan, &record.testbed, &record.version, 0).expect("room");
        writer = writer.with_plain(plain);
        for held in &record.stages {
            writer.append(&Event::StageStarted { stage: held.stage, unix_ns: 0 }).expect("room");
            let samples = held.samples().iter().cloned().map(Event::Sample);
            let counted = held.counters().iter().cloned();
            let events: Vec<Event> =
                samples.chain(counted.map(|sample| Event::Counters(Box::new(sample)))).collect();
            writer.append_all(&events).expect("room");
        }
        writer.append(&Event::RunEnded { unix_ns: 1, end: RunEnd::Complete }).expect("room");
        writer.finish().expect("room");
    }

    /// What so many threads find of at most so many rows and 100 samples.
    fn usages(path: &std::path::Path, threads: usize, most_rows: i64) -> Usages {
        let most = Most { rows: most_rows, samples: 100, decoded: most_rows, taken: most_rows };
        let (record, source) =
            (read_digests(path).expect("a run file"), Source::shared_by(path, threads));
        let source = source.expect("a run file");
        let load = |stage| record.stage(stage)?.summed()?.frame.load_ns();
        let wanted = Wanted::of(&source.opened.connection, &record, load);
        let found = wanted.and_then(|wanted| wanted.all(&source, most, || Ok(())));
        found.unwrap_or_else(|problem| panic!("{}", problem.0)).1
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let (_folder, path) = fresh();
        written(&path, 60);
        // Samples of one, two and, over several parts, very many rows; gaps between them; and one
        // that goes on behind another.
        let connection = Connection::open(&path).expect("a file");
        let changes = "DELETE FROM checksums; DELETE FROM counters WHERE sample % 7 = 0 AND rowid \
                       % 2 = 0;
            UPDATE counters SET sample = 100 WHERE sample BETWEEN 101 AND 190;
            INSERT INTO counters SELECT 3, series, value FROM counters WHERE sample = 3;";
        connection.execute_batch(changes).expect("a changed file");
        drop(connection);
        for most_rows in [10_000, 200] {
            let alone = usages(&path, 1, most_rows);
            assert_eq!(alone.len(), 1);
            for threads in [2, 3, 5, 7, 64, 500] {
                assert_eq!(
                    usages(&path, threads, most_rows),
                    alone,
                    "{threads} threads, {most_rows} rows"
                );
            }
        }
    }

    #[test]
    fn blocks_come_to_what_rows_come_to_by_any_number_of_threads() {
        let folder = tempfile::tempdir().expect("a folder");
        let (rows, blocks) = (folder.path().join("rows"), folder.path().join("blocks"));
        written_with(&rows, 300, 1 << 20);
        written_with(&blocks, 300, 90);
        let expected = usages(&rows, 1, 10_000);
        assert_eq!(expected.len(), 1);
        for threads in [1, 2, 3, 7] {
            assert_eq!(usages(&blocks, threads, 100_000), expected, "{threads} threads");
        }
        let some = usages(&blocks, 1, 600);
        let some = some.values().next().expect("a stage");
        assert!(some.is_thinned && some.samples < 400, "{}", some.samples);
        assert_eq!(
            crate::read(&rows).expect("a file").stages[0].counters(),
            crate::read(&blocks).expect("a file").stages[0].counters(),
        );
    }

    #[test]
    fn parts_leave_nothing_out_and_take_nothing_twice() {
        for (count, threads) in [(0, 4), (1, 4), (7, 3), (8, 8), (10_000, 7), (3, 0)] {
            let taken: Vec<i64> =
                parts(count, threads).inspect(|part| assert!(!part.is_empty())).flatten().collect();
            assert_eq!(taken, (0..count).collect::<Vec<i64>>());
            assert!(parts(count, threads).count() <= threads.max(1));
        }
    }

    #[test]
    fn some_of_many_intervals_say_what_all_of_them_say() {
        let (_folder, path) = fresh();
        written(&path, 200);
        let (held, read) =
            (crate::read(&path).expect("a run file"), read_judged(&path).expect("a run file"));
        let held = held.stages.last().expect("one");
        let whole = read.stages.last().and_then(StageRecord::summed_usage).expect("counters");
        assert_eq!(
            &*held.usage(&read, &held.digest(&read)),
            whole,
            "the file and the memory agree"
        );
        assert_eq!((whole.samples, whole.is_thinned), (800, false));
        let record = read_digests(&path).expect("a run file");
        assert!(
            !record.stages.is_empty()
                && record.stages.iter().all(|stage| stage.summed_usage().is_none()),
            "who does not ask does not wait for it"
        );
        let some = usages(&path, 1, 400);
        let some = some.values().next().expect("a stage");
        assert_eq!((some.samples, some.is_thinned), (100, true));
        for host in 0..4 {
            let of = |usage: &Usage| usage.uses[&(host, Part::Disk)]["sda"];
            assert_eq!(of(some).share(), of(whole).share());
            assert_eq!(of(some).full_share(), of(whole).full_share());
        }
    }

    #[test]
    fn the_ends_of_a_table_are_found_without_a_look_at_its_rows() {
        let (_folder, path) = fresh();
        written(&path, 50);
        let connection = Connection::open(&path).expect("a file");
        for (table, column, last) in
            [("counters", "rowid", 400), ("counter_samples", "sample", 200)]
        {
            let mut query = connection.prepare(&ends(table, column)).expect("a query");
            let found: (i64, i64) =
                query.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).expect("one row");
            assert_eq!(found, (1, last));
            assert_eq!(query.get_status(rusqlite::StatementStatus::FullscanStep), 0, "{table}");
        }
    }

    #[test]
    fn samples_are_taken_evenly_and_from_every_host_that_takes_its_turn() {
        let (all, wanted, hosts) = (128_000u128, 1_000u64, 128);
        let taken: Vec<u128> =
            (0..wanted).map(|number| place(number, all, u128::from(wanted))).collect();
        assert!(!taken.is_empty());
        assert!(taken.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..).zip(&taken).all(|(number, taken)| taken / 128 == number));
        let met: std::collections::BTreeSet<u128> =
            taken.iter().map(|taken| taken % hosts).collect();
        assert!(met.len() > 120, "{} of 128 hosts", met.len());
        assert_eq!(place(0, 1, 1), 0);
        assert!(place(u64::MAX, u128::from(u64::MAX), 1) > 0, "no panic");
    }
}
