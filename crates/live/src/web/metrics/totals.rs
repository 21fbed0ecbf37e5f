//! Totals of what kernels counted, and states as they last were, by host and thing. A thousand
//! hosts tell each second of thousands of counters: a thing is looked for where it stood the last
//! time, and nothing is allocated for one that is known.

use model::CounterSample;
use model::counters::{Layer, Metric};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The metrics of a layer that are kept; at most [`MOST_METRICS`].
type Columns = Vec<(Layer, Vec<Metric>)>;

/// A row knows by a bit which of its values were ever told.
pub const MOST_METRICS: usize = 32;

#[derive(Clone, Debug)]
struct Row {
    layer: Layer,
    name: String,
    known: u32,
    values: Vec<u128>,
    told: u64,
}

#[derive(Clone, Debug, Default)]
struct Host {
    rows: Vec<Row>,
    samples: u64,
}

/// The totals of all hosts. A copy shares those of each host until one of the two changes them.
#[derive(Clone, Debug)]
pub struct Totals {
    columns: Columns,
    is_sum: fn(Layer) -> bool,
    hosts: BTreeMap<u32, Arc<Host>>,
}

impl Totals {
    /// Keeps these metrics of these layers; one row for all things of a layer where `is_sum` says
    /// so.
    pub fn new(mut columns: Columns, is_sum: fn(Layer) -> bool) -> Totals {
        columns.iter_mut().for_each(|(_, metrics)| metrics.truncate(MOST_METRICS));
        Totals { columns, is_sum, hosts: BTreeMap::new() }
    }

    pub fn add(&mut self, sample: &CounterSample) {
        let host = Arc::make_mut(self.hosts.entry(sample.host).or_default());
        host.samples = host.samples.saturating_add(1);
        let mut next = 0;
        for entry in &sample.entries {
            let Some((_, metrics)) = self.columns.iter().find(|(layer, _)| *layer == entry.layer)
            else {
                continue;
            };
            // One sum over all CPUs: a line for each of thousands would be a burden on who scrapes.
            let name = if (self.is_sum)(entry.layer) { "" } else { entry.name.as_str() };
            let place = host.place(entry.layer, name, next, metrics.len());
            next = place + 1;
            let row = &mut host.rows[place];
            let is_first = row.told != host.samples;
            row.told = host.samples;
            for (metric, value) in &entry.values {
                let Some(column) = metrics.iter().position(|known| known == metric) else {
                    continue;
                };
                let (value, bit) = (u128::from(*value), 1 << column);
                let sum = &mut row.values[column];
                *sum = match (metric.is_gauge(), row.known & bit != 0) {
                    (true, true) if !is_first => value.min(*sum),
                    (false, true) => sum.saturating_add(value),
                    _ => value,
                };
                row.known |= bit;
            }
        }
    }

    /// A host is gone: its totals stay, and what its states were says nothing of now.
    pub fn lost(&mut self, host: u32) {
        for row in
            self.hosts.get_mut(&host).into_iter().flat_map(|host| &mut Arc::make_mut(host).rows)
        {
            let metrics = self
                .columns
                .iter()
                .find(|(layer, _)| *layer == row.layer)
                .map(|(_, metrics)| metrics);
            for (column, _) in
                metrics.into_iter().flatten().enumerate().filter(|(_, metric)| metric.is_gauge())
            {
                row.known &= !(1 << column);
            }
        }
    }

    /// What is known of a metric: the host's number, the thing's name and the value; by host, and
    /// then in the order in which things were first told.
    pub fn of(&self, layer: Layer, metric: Metric) -> impl Iterator<Item = (u32, &str, u128)> {
        let metrics = self.columns.iter().find(|(of, _)| *of == layer).map(|(_, metrics)| metrics);
        let column = metrics.and_then(|metrics| metrics.iter().position(|known| *known == metric));
        let rows = column.into_iter().flat_map(|column| {
            let rows = self
                .hosts
                .iter()
                .flat_map(|(number, host)| host.rows.iter().map(move |row| (*number, row)));
            rows.map(move |(number, row)| (column, number, row))
        });
        let rows = rows
            .filter(move |(column, _, row)| row.layer == layer && row.known & (1 << column) != 0);
        rows.filter_map(|(column, number, row)| {
            Some((number, row.name.as_str(), *row.values.get(column)?))
        })
    }
}

impl Host {
    /// Where a thing's row is, which is likely at `next` and is made if need be.
    fn place(&mut self, layer: Layer, name: &str, next: usize, metrics: usize) -> usize {
        let is = |row: &Row| row.layer == layer && row.name == name;
        // All things of a layer that are one row follow each other.
        let likely = [next, next.wrapping_sub(1)]
            .into_iter()
            .find(|place| self.rows.get(*place).is_some_and(is));
        if let Some(found) = likely.or_else(|| self.rows.iter().position(is)) {
            return found;
        }
        self.rows.push(Row {
            layer,
            name: name.to_owned(),
            known: 0,
            values: vec![0; metrics],
            told: 0,
        });
        self.rows.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::counters::Entry;

    fn totals() -> Totals {
        let columns = vec![
            (Layer::Block, vec![Metric::Reads, Metric::InFlight]),
            (Layer::Clock, vec![Metric::FrequencyHz]),
        ];
        Totals::new(columns, |layer| layer == Layer::Clock)
    }

    fn sample(host: u32, entries: &[(Layer, &str, Metric, u64)]) -> CounterSample {
        let entry = |(layer, name, metric, value): &(Layer, &str, Metric, u64)| Entry {
            layer: *layer,
            name: (*name).to_owned(),
            values: vec![(*metric, *value)],
        };
        CounterSample {
            host,
            entries: entries.iter().map(entry).collect(),
            ..CounterSample::default()
        }
    }

    #[test]
    fn things_are_found_whatever_their_order_and_whoever_comes_and_goes() {
        let reads = |name, value| (Layer::Block, name, Metric::Reads, value);
        let mut totals = totals();
        totals.add(&sample(3, &[reads("a", 1), reads("b", 2), reads("c", 3)]));
        totals.add(&sample(3, &[reads("c", 30), reads("a", 10)]));
        totals.add(&sample(
            3,
            &[reads("d", 4), reads("b", 20), (Layer::Memory, "", Metric::FreeBytes, 9)],
        ));
        totals.add(&sample(1, &[reads("a", u64::MAX), reads("a", 1)]));
        let told: Vec<(u32, &str, u128)> = totals.of(Layer::Block, Metric::Reads).collect();
        let most = u128::from(u64::MAX) + 1;
        assert_eq!(told, [(1, "a", most), (3, "a", 11), (3, "b", 22), (3, "c", 33), (3, "d", 4)]);
        assert_eq!(totals.of(Layer::Memory, Metric::FreeBytes).count(), 0, "it is not kept");
        assert_eq!(totals.of(Layer::Block, Metric::Writes).count(), 0);
    }

    #[test]
    fn states_are_the_last_ones_the_least_of_those_that_are_one_and_go_with_their_host() {
        let clock = |name, value| (Layer::Clock, name, Metric::FrequencyHz, value);
        let state = |value| (Layer::Block, "a", Metric::InFlight, value);
        let mut totals = totals();
        totals.add(&sample(0, &[clock("0", 5), clock("1", 3), state(9), clock("2", 4)]));
        assert_eq!(totals.of(Layer::Clock, Metric::FrequencyHz).collect::<Vec<_>>(), [(0, "", 3)]);
        totals.add(&sample(
            0,
            &[clock("0", 8), clock("1", 7), state(2), (Layer::Block, "a", Metric::Reads, 6)],
        ));
        assert_eq!(totals.of(Layer::Clock, Metric::FrequencyHz).collect::<Vec<_>>(), [(0, "", 7)]);
        assert_eq!(totals.of(Layer::Block, Metric::InFlight).collect::<Vec<_>>(), [(0, "a", 2)]);
        totals.lost(0);
        totals.lost(9);
        assert_eq!(totals.of(Layer::Block, Metric::InFlight).count(), 0);
        assert_eq!(
            totals.of(Layer::Block, Metric::Reads).collect::<Vec<_>>(),
            [(0, "a", 6)],
            "a sum stays"
        );
    }
}
