//! Values as they come, whatever the file's form, and the intervals that they make.

use super::names::{ROWS, Row, Rule};
use super::{
    MOST_COLUMNS, MOST_NAME, MOST_VALUES, Refused, ToldCounters, ToldHost, ToldInterval, Wanted,
    wrong,
};
use model::counters::{Entry, Layer, Metric};
use model::note::CounterForm;
use model::printable;
use model::testbed::MOST_OTHERS;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Around the run so much more is kept, so that an interval that reaches into it has its begin.
const AROUND_NS: u64 = 3_600_000_000_000;
/// An interval that is so many times as long as the usual one is a gap: nothing is known of it.
const GAP: u64 = 3;
/// All instances of a group together.
pub(super) const TOTAL: &str = "_Total";

/// A column or series that has a noun of ours.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Column {
    host: String,
    thing: String,
    row: usize,
}

/// Values of a file that lie in the run or near it.
pub(super) struct Gather<'a> {
    pub wanted: &'a Wanted<'a>,
    pub form: CounterForm,
    columns: Vec<Column>,
    numbers: HashMap<Column, usize>,
    values: Vec<(u64, u32, f64)>,
    /// Instants at which all hosts of the file were read, whether or not a value came of it.
    rows: Vec<u64>,
    span: Option<(u64, u64)>,
    left_out: BTreeSet<u64>,
}

/// The columns of one host that are taken, and its values by instant.
#[derive(Default)]
struct OfHost<'a> {
    columns: BTreeMap<u32, (&'a Column, &'static Row)>,
    instants: BTreeMap<u64, Vec<(u32, f64)>>,
}

impl<'a> Gather<'a> {
    pub fn new(wanted: &'a Wanted<'a>) -> Gather<'a> {
        Gather {
            wanted,
            form: CounterForm::default(),
            columns: Vec::new(),
            numbers: HashMap::new(),
            values: Vec::new(),
            rows: Vec::new(),
            span: None,
            left_out: BTreeSet::new(),
        }
    }

    /// Counts a name, by its number in the file, that has no noun of ours.
    pub fn leave_out(&mut self, number: u64) {
        self.left_out.insert(number);
    }

    /// The number of a column; `None` where it is not wanted.
    pub fn column(&mut self, host: &str, thing: &str, row: usize) -> Result<Option<u32>, Refused> {
        let named = |text: &str| -> String {
            printable::line(text.trim()).chars().take(MOST_NAME).collect()
        };
        let host = match (host.trim().is_empty(), self.wanted.host) {
            (false, Some(only)) if !host.trim().eq_ignore_ascii_case(only) => return Ok(None),
            (true, None) => {
                let what = "it does not name its host";
                return Err(wrong(self.wanted, what, "say how it is called with --host"));
            }
            (true, Some(only)) => named(only),
            (false, _) => named(host),
        };
        let column = Column { host, thing: named(thing), row };
        if let Some(number) = self.numbers.get(&column) {
            return Ok(u32::try_from(*number).ok());
        }
        if self.columns.len() >= MOST_COLUMNS {
            return Err(self.too_wide());
        }
        let number = self.columns.len();
        self.columns.push(column.clone());
        self.numbers.insert(column, number);
        Ok(u32::try_from(number).ok())
    }

    pub fn too_wide(&self) -> Refused {
        let what = format!("it has more than {MOST_COLUMNS} columns");
        wrong(self.wanted, &what, "write fewer counters, such as one group for each file")
    }

    /// A time of the file as ns since 1970, moved by what was said; `None` where it cannot be.
    /// Whatever it tells, the file covers it.
    pub fn instant(&mut self, seconds: f64) -> Option<u64> {
        if !seconds.is_finite() || !(0.0..4e9).contains(&seconds) {
            return None;
        }
        let whole = (seconds.trunc() as i64).checked_mul(1_000_000_000)?;
        let part = (seconds.fract() * 1e9) as i64;
        let moved = whole.checked_add(part)?.checked_add(self.wanted.offset_ns.unwrap_or(0))?;
        let at = u64::try_from(moved).ok()?;
        self.span = Some(self.span.map_or((at, at), |(from, to)| (from.min(at), to.max(at))));
        Some(at)
    }

    /// Whether an instant is of interest.
    pub fn is_near(&self, at: u64) -> bool {
        let within = &self.wanted.within;
        (within.start.saturating_sub(AROUND_NS)..within.end.saturating_add(AROUND_NS)).contains(&at)
    }

    /// Everything was read at this instant: no interval reaches over it.
    pub fn read_all(&mut self, at: u64) {
        self.rows.push(at);
    }

    /// Takes in a value.
    pub fn take(&mut self, at: u64, column: u32, value: f64) -> Result<(), Refused> {
        if !value.is_finite() || !self.is_near(at) {
            return Ok(());
        }
        if self.values.len() >= MOST_VALUES {
            let what = format!("more than {MOST_VALUES} of its values lie in the run");
            return Err(wrong(self.wanted, &what, "write fewer counters, or a longer interval"));
        }
        self.values.push((at, column, value));
        Ok(())
    }

    /// The intervals that all values make.
    pub fn finish(self) -> Result<ToldCounters, Refused> {
        let Some((from, to)) = self.span else {
            return Err(wrong(self.wanted, "it has no time that can be read", "write it again"));
        };
        let within = &self.wanted.within;
        if to <= within.start || from >= within.end {
            return Err(Refused::OtherTime { from, to });
        }
        if self.columns.is_empty() {
            let what = "none of its counters has a noun here";
            let remedy = "write those of CPUs, disks, ports or memory; \
                          `plimsoll help counters-of-others` lists them";
            return Err(wrong(self.wanted, what, remedy));
        }
        let mut hosts: BTreeMap<&str, OfHost<'_>> = BTreeMap::new();
        for (number, column) in chosen(&self.columns) {
            let of_host = hosts.entry(&column.host).or_default();
            of_host.columns.insert(number, (column, &ROWS[column.row]));
        }
        if hosts.len() > MOST_OTHERS {
            let what = format!("it has more than {MOST_OTHERS} hosts");
            return Err(wrong(self.wanted, &what, "name one of them with --host"));
        }
        for (at, number, value) in &self.values {
            let column = self.columns.get(*number as usize);
            let Some(of_host) = column.and_then(|one| hosts.get_mut(one.host.as_str())) else {
                continue;
            };
            if of_host.columns.contains_key(number) {
                of_host.instants.entry(*at).or_default().push((*number, *value));
            }
        }
        for of_host in hosts.values_mut() {
            for at in &self.rows {
                of_host.instants.entry(*at).or_default();
            }
        }
        let told = |(name, of): (&str, OfHost<'_>)| of.told(name, within.start, within.end);
        Ok(ToldCounters {
            form: self.form,
            hosts: hosts.into_iter().map(told).collect(),
            left_out: self.left_out.len() as u64,
        })
    }
}

/// The columns that are taken: of each layer of a host the first group of the table, of each metric
/// of a thing its first line, and sums of all things only where there is nothing else.
fn chosen(columns: &[Column]) -> impl Iterator<Item = (u32, &Column)> {
    let mut groups: BTreeMap<(&str, u8), usize> = BTreeMap::new();
    let mut lines: BTreeMap<(&str, u8, &str, &str), usize> = BTreeMap::new();
    let mut parts: BTreeSet<(&str, u8)> = BTreeSet::new();
    for column in columns {
        let (row, host) = (&ROWS[column.row], column.host.as_str());
        let layer = row.layer as u8;
        let group = groups.entry((host, layer)).or_insert(column.row);
        *group = (*group).min(column.row);
        let line = lines.entry((host, layer, &column.thing, metric_of(row))).or_insert(column.row);
        *line = (*line).min(column.row);
    }
    let is_of_group = move |column: &Column| {
        let row = &ROWS[column.row];
        let first = groups.get(&(column.host.as_str(), row.layer as u8));
        first.is_some_and(|first| ROWS[*first].family() == row.family())
    };
    for column in columns.iter().filter(|column| is_of_group(column)) {
        if !column.thing.ends_with(TOTAL) {
            parts.insert((&column.host, ROWS[column.row].layer as u8));
        }
    }
    (0..).zip(columns).filter(move |(_, column)| {
        let (row, host) = (&ROWS[column.row], column.host.as_str());
        let layer = row.layer as u8;
        let line = lines.get(&(host, layer, column.thing.as_str(), metric_of(row)));
        let has_parts = parts.contains(&(host, layer));
        is_of_group(column)
            && line == Some(&column.row)
            && match column.thing.as_str() {
                TOTAL => !has_parts,
                thing => !thing.ends_with(TOTAL),
            }
    })
}

/// What a line gives: a fact of the host is none of its metrics.
fn metric_of(row: &Row) -> &'static str {
    match row.rule {
        Rule::Speed(_) => "speed",
        Rule::Memory(_) => "memory",
        _ => row.metric.word(),
    }
}

impl OfHost<'_> {
    fn told(&self, name: &str, from: u64, to: u64) -> ToldHost {
        let (mut speeds, mut memory) = (BTreeMap::new(), 0);
        for (number, value) in self.instants.values().flatten() {
            let Some((column, row)) = self.columns.get(number) else { continue };
            match row.rule {
                Rule::Speed(factor) => {
                    let mbit = whole(value * factor / 1e6).unwrap_or(0);
                    speeds.insert(column.thing.clone(), u32::try_from(mbit).unwrap_or(u32::MAX));
                }
                Rule::Memory(factor) => memory = whole(value * factor).unwrap_or(0),
                _ => {}
            }
        }
        let cpus: BTreeSet<&str> = self
            .columns
            .values()
            .filter(|(column, row)| row.layer == Layer::Cpu && column.thing != TOTAL)
            .map(|(column, _)| column.thing.as_str())
            .collect();
        let interval_ns = self.usual_ns();
        let pairs = self.instants.iter().zip(self.instants.iter().skip(1));
        let intervals = pairs
            .filter(|((start, _), (end, _))| {
                **end > from && **start < to && *end - *start <= interval_ns.saturating_mul(GAP)
            })
            .map(|((start, before), (end, now))| self.interval(*start, *end, before, now))
            .filter(|interval| !interval.entries.is_empty());
        ToldHost {
            name: name.to_owned(),
            taken: self.columns.len() as u64,
            cpus: cpus.len() as u32,
            memory,
            speeds: speeds.into_iter().collect(),
            interval_ns,
            intervals: intervals.collect(),
        }
    }

    /// The median of all distances of two instants.
    fn usual_ns(&self) -> u64 {
        let pairs = self.instants.keys().zip(self.instants.keys().skip(1));
        let mut all: Vec<u64> = pairs.map(|(a, b)| b - a).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }

    fn interval(
        &self,
        start: u64,
        end: u64,
        before: &[(u32, f64)],
        now: &[(u32, f64)],
    ) -> ToldInterval {
        let length_ns = end - start;
        let before: HashMap<u32, f64> = before.iter().copied().collect();
        let mut entries: BTreeMap<(u8, &str), Entry> = BTreeMap::new();
        for (number, value) in now {
            let Some((column, row)) = self.columns.get(number) else { continue };
            let name = if is_all_cpus(row, &column.thing) { "" } else { &column.thing };
            let values = values(row, before.get(number).copied(), *value, length_ns);
            if values.is_empty() {
                continue;
            }
            let entry = entries.entry((row.layer as u8, name)).or_insert_with(|| Entry {
                layer: row.layer,
                name: name.to_owned(),
                values: Vec::new(),
            });
            // A name that comes twice is one thing.
            let is_new = |(metric, _): &(Metric, u64)| entry.get(*metric).is_none();
            let new: Vec<(Metric, u64)> = values.into_iter().filter(is_new).collect();
            entry.values.extend(new);
        }
        let entries = entries.into_values().collect();
        ToldInterval { start_unix_ns: start, length_ns, entries }
    }
}

fn is_all_cpus(row: &Row, thing: &str) -> bool {
    row.layer == Layer::Cpu && thing == TOTAL || row.layer == Layer::Memory
}

/// What a value, with the one before it, says of an interval.
fn values(row: &Row, before: Option<f64>, now: f64, length_ns: u64) -> Vec<(Metric, u64)> {
    let length = length_ns as f64;
    // A little beyond is rounding; the queue alone makes a share of a disk larger.
    let share =
        |most: f64| (-5.0..=most).contains(&now).then(|| now.clamp(0.0, 100.0) / 100.0 * length);
    // A counter that went back began anew.
    let added = before.map(|before| now - before).filter(|added| *added >= 0.0);
    let one = match row.rule {
        Rule::Rate(factor) => Some(now * factor * length / 1e9),
        Rule::Share => share(f64::MAX),
        Rule::Rest => share(105.0).map(|idle| length - idle),
        Rule::Mean => Some(now * length),
        Rule::State(factor) => Some(now * factor),
        Rule::Sum(factor) => added.map(|added| added * factor),
        Rule::Idle => added.map(|added| (length - added * 1e9).max(0.0)),
        Rule::Busy => {
            let Some(work) = share(105.0).and_then(whole) else { return Vec::new() };
            return vec![(row.metric, work), (Metric::IdleNs, length_ns.saturating_sub(work))];
        }
        Rule::Speed(_) | Rule::Memory(_) => None,
    };
    one.and_then(whole).map(|value| (row.metric, value)).into_iter().collect()
}

/// A number as it is kept; `None` where it is none that can be.
fn whole(value: f64) -> Option<u64> {
    // Far below the 64 bits, so that sums of many are safe.
    (0.0..1e18).contains(&value).then(|| value.round() as u64)
}
