//! From what the kernel counted since it started to what was counted in an interval. Pure.

use model::CounterSample;
use model::counters::{Entry, Layer, Metric};

/// One number of a row.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    metric: Metric,
    /// By how much the kernel's unit is larger than ours.
    scale: u64,
    /// By how much the kernel's number may go back without meaning anything.
    slack: u64,
}

impl Column {
    /// A number in our own unit.
    pub const fn plain(metric: Metric) -> Column {
        Column::scaled(metric, 1)
    }

    /// A number in a unit that is `scale` times ours.
    pub const fn scaled(metric: Metric, scale: u64) -> Column {
        Column { metric, scale, slack: 0 }
    }

    /// A number that the kernel says may go back a little: `/proc/stat`'s idle and iowait do (man 5
    /// proc_stat).
    pub const fn loose(self, slack: u64) -> Column {
        Column { slack, ..self }
    }
}

/// What a number did between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// It grew by so much.
    By(u64),
    /// It began anew, or is nonsense.
    Reset,
}

/// A quarter of 32 bits: a counter that was in the last one and is in the first one went round.
const QUARTER: u64 = 1 << 30;
/// No counter grows by so much in an interval: a kernel counted below 0.
const ABSURD: u64 = 1 << 62;

/// How a counter changed. One that went back has wrapped if it is of 32 bits (the times in
/// `/proc/diskstats` are, and the counters of some network drivers), and else began anew.
fn change(before: u64, now: u64) -> Change {
    let wrapped = (3 * QUARTER..4 * QUARTER).contains(&before) && now < QUARTER;
    match now.checked_sub(before) {
        Some(grown) if grown < ABSURD => Change::By(grown),
        None if wrapped => Change::By(4 * QUARTER - before + now),
        _ => Change::Reset,
    }
}

/// The counters of all things of one layer, as they were last read.
#[derive(Debug)]
pub struct Table {
    layer: Layer,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// Where the next row is expected: the kernel keeps an order.
    next: usize,
    reading: u64,
}

#[derive(Debug)]
struct Row {
    name: String,
    /// `None` where the kernel did not tell.
    last: Vec<Option<u64>>,
    /// The reading in which it was seen.
    seen: u64,
}

impl Table {
    pub fn new(layer: Layer, columns: Vec<Column>) -> Table {
        Table { layer, columns, rows: Vec::new(), next: 0, reading: 0 }
    }

    /// Takes one thing's numbers, in the order of the columns (those at the end may be missing),
    /// and puts what changed into `sample`. Something that was not there the last time has gauges
    /// alone: since when it counts, nobody knows.
    pub fn put(&mut self, name: &[u8], now: &[Option<u64>], sample: &mut CounterSample) {
        let Some(place) = self.place(name) else { return };
        let row = &mut self.rows[place];
        row.seen = self.reading;
        let mut values = Vec::with_capacity(self.columns.len());
        let mut reset = false;
        for (index, column) in self.columns.iter().enumerate() {
            let now = now.get(index).copied().flatten();
            let last = std::mem::replace(&mut row.last[index], now);
            let value = match (last, now) {
                (_, Some(now)) if column.metric.is_gauge() => Some(now),
                (Some(last), Some(now)) if now < last && last - now <= column.slack => {
                    row.last[index] = Some(last);
                    Some(0)
                }
                (Some(last), Some(now)) => match change(last, now) {
                    Change::By(grown) => Some(grown),
                    Change::Reset => {
                        reset = true;
                        None
                    }
                },
                _ => None,
            };
            values.extend(value.map(|value| (column.metric, value.saturating_mul(column.scale))));
        }
        if reset {
            sample.notes.push(format!(
                "{} {}: a counter began anew; it is left out once",
                self.layer, row.name
            ));
        }
        if !values.is_empty() {
            sample.entries.push(Entry { layer: self.layer, name: row.name.clone(), values });
        }
    }

    /// Where the row of `name` is, made if need be; `None` if the kernel wrote it twice in one
    /// reading.
    fn place(&mut self, name: &[u8]) -> Option<usize> {
        let is = |row: &Row| row.name.as_bytes() == name;
        let expected = self.rows.get(self.next).is_some_and(is).then_some(self.next);
        let found = match expected.or_else(|| self.rows.iter().position(is)) {
            Some(found) if self.rows[found].seen == self.reading => return None,
            Some(found) => found,
            None => {
                let (name, last) =
                    (super::parse::name(name).into_owned(), vec![None; self.columns.len()]);
                // A name that is no text would never be found again under its bytes.
                if self.rows.iter().any(|row| row.name == name) {
                    return None;
                }
                self.rows.push(Row { name, last, seen: 0 });
                self.rows.len() - 1
            }
        };
        self.next = found + 1;
        Some(found)
    }

    /// Ends a reading: what was not seen is forgotten, so that nothing is ever counted over a gap.
    pub fn end(&mut self, sample: &mut CounterSample) {
        let before = self.rows.len();
        let gone: Vec<String> = self
            .rows
            .iter()
            .filter(|row| row.seen != self.reading)
            .map(|row| row.name.clone())
            .collect();
        self.rows.retain(|row| row.seen == self.reading);
        match gone.as_slice() {
            [] => {}
            all if all.len() == before && before > 1 => {
                sample.notes.push(format!("{}: nothing can be read of it any more", self.layer));
            }
            some => {
                let names = some.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                sample.notes.push(format!("{} {names}: gone", self.layer));
            }
        }
        (self.reading, self.next) = (self.reading + 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::plain(Metric::Reads),
            Column::scaled(Metric::ReadBytes, 512),
            Column::plain(Metric::InFlight),
            Column::plain(Metric::IdleNs).loose(10),
        ];
        Table::new(Layer::Block, columns)
    }

    fn reading(table: &mut Table, rows: &[(&str, [u64; 4])]) -> CounterSample {
        let mut sample = CounterSample::default();
        for (name, numbers) in rows {
            table.put(name.as_bytes(), &numbers.map(Some), &mut sample);
        }
        table.end(&mut sample);
        sample
    }

    #[test]
    fn counters_become_differences_in_our_units_and_gauges_stay() {
        let mut table = table();
        let first = reading(&mut table, &[("sda", [100, 8, 3, 50])]);
        assert_eq!(
            first.entries[0].values,
            [(Metric::InFlight, 3)],
            "since when it counts is unknown"
        );
        let second = reading(&mut table, &[("sda", [107, 10, 1, 50])]);
        let expected = [
            (Metric::Reads, 7),
            (Metric::ReadBytes, 1024),
            (Metric::InFlight, 1),
            (Metric::IdleNs, 0),
        ];
        assert_eq!(second.entries[0].values, expected);
        assert_eq!(second.notes, Vec::<String>::new());
    }

    #[test]
    fn a_counter_of_32_bits_goes_round() {
        assert_eq!(change(u64::from(u32::MAX) - 4, 5), Change::By(10));
        assert_eq!(change(u64::from(u32::MAX), 0), Change::By(1));
        // Nobody can tell this from a counter that began anew.
        assert_eq!(change(QUARTER, 5), Change::Reset);
        assert_eq!(change(1 << 40, 5), Change::Reset);
        assert_eq!(change(u64::MAX, 5), Change::Reset);
        assert_eq!(change(5, u64::MAX), Change::Reset, "a kernel that counted below 0");
    }

    #[test]
    fn a_counter_that_begins_anew_is_left_out_once_with_a_note() {
        let mut table = table();
        reading(&mut table, &[("sda", [1000, 10, 0, 0])]);
        let reset = reading(&mut table, &[("sda", [3, 12, 0, 0])]);
        assert_eq!((reset.get(Layer::Block, "sda", Metric::Reads), reset.notes.len()), (None, 1));
        assert_eq!(reset.get(Layer::Block, "sda", Metric::ReadBytes), Some(1024));
        let next = reading(&mut table, &[("sda", [5, 12, 0, 0])]);
        assert_eq!((next.get(Layer::Block, "sda", Metric::Reads), next.notes.len()), (Some(2), 0));
    }

    #[test]
    fn what_may_go_back_a_little_counts_nothing_twice() {
        let mut table = table();
        let idle = |sample: &CounterSample| sample.get(Layer::Block, "sda", Metric::IdleNs);
        reading(&mut table, &[("sda", [0, 0, 0, 100])]);
        assert_eq!(idle(&reading(&mut table, &[("sda", [0, 0, 0, 95])])), Some(0));
        assert_eq!(
            idle(&reading(&mut table, &[("sda", [0, 0, 0, 110])])),
            Some(10),
            "since 100, not since 95"
        );
        assert_eq!(idle(&reading(&mut table, &[("sda", [0, 0, 0, 1])])), None);
    }

    #[test]
    fn a_device_that_goes_and_comes_back_is_never_counted_over_the_gap() {
        let mut table = table();
        reading(&mut table, &[("sda", [1, 1, 0, 0]), ("sdb", [1, 1, 0, 0])]);
        let without = reading(&mut table, &[("sdb", [2, 2, 0, 0])]);
        assert_eq!(
            (without.entries.len(), without.notes.as_slice()),
            (1, ["block sda: gone".to_owned()].as_slice())
        );
        let back = reading(&mut table, &[("sdb", [3, 3, 0, 0]), ("sda", [9_000, 9, 2, 0])]);
        assert_eq!(
            back.entry(Layer::Block, "sda").map(|entry| entry.values.clone()),
            Some(vec![(Metric::InFlight, 2)])
        );
        assert_eq!(back.get(Layer::Block, "sdb", Metric::Reads), Some(1));
    }

    #[test]
    fn a_file_that_is_gone_is_one_note_and_a_name_that_stands_twice_counts_once() {
        let mut table = table();
        reading(&mut table, &[("sda", [1; 4]), ("sdb", [1; 4])]);
        let none = reading(&mut table, &[]);
        assert_eq!((none.entries.len(), none.notes.len()), (0, 1));
        let mut sample = CounterSample::default();
        for name in [&b"sda"[..], b"sda", b"\xff", b"\xff"] {
            table.put(name, &[None, None, Some(1)], &mut sample);
        }
        assert_eq!(sample.entries.len(), 2);
    }
}
