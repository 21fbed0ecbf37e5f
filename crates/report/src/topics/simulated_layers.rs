//! How busy the layers of a simulated cluster were at each point. A simulation has no kernel whose
//! counters report it.

use super::ceiling::layer as name;
use crate::ground::markup::{Markup, not_shown, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use analysis::ResultRow;
use model::layer::Layer;
use model::note::Crossing;
use model::{Fact, Op, Record};

/// More points than this are folded away.
const MOST_POINTS: usize = 48;
/// Layers that a line names.
const MOST_NAMED: usize = 3;
/// None that rounds to nothing is among the busiest.
const LEAST_NAMED: f64 = 0.000_5;

/// A point with the share of its time that each layer worked, 0 to 1.
struct Busy<'a> {
    point: String,
    layers: Vec<(Layer, f64)>,
    row: &'a ResultRow,
}

fn share(ppm: u32) -> f64 {
    f64::from(ppm) / 1e6
}

/// The layers in the order of tables. What never worked is left out: a testbed that says nothing of
/// a layer's cost costs nothing there, and nobody knows how busy it is.
fn shown(busy_ppm: &[(Layer, u32)]) -> Vec<(Layer, f64)> {
    let mut layers: Vec<(Layer, f64)> = busy_ppm
        .iter()
        .filter(|(_, ppm)| *ppm > 0)
        .map(|(layer, ppm)| (*layer, share(*ppm)))
        .collect();
    layers.sort_by_key(|(layer, _)| *layer);
    layers
}

pub(super) fn sentence(busy_ppm: &[(Layer, u32)]) -> String {
    format!("simulated layers were busy: {}", of_layers(shown(busy_ppm)))
}

fn of_layers(layers: impl IntoIterator<Item = (Layer, f64)>) -> String {
    let one = |(layer, busy)| format!("{} {}", name(layer), words::share(busy));
    layers.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What of reads and writes went to another site, beside what was to: `reads from the other site
/// 50 % (planned 0.0 %)`.
pub(super) fn of_sites(ways: &[Crossing]) -> String {
    let way = |way: &Crossing| {
        let what = if way.op == Op::Read { "reads from" } else { "writes to" };
        format!(
            "{what} the other site {} (planned {})",
            words::share(way.found()),
            words::share(way.planned())
        )
    };
    ways.iter().map(way).collect::<Vec<_>>().join(", ")
}

fn crossings<'a>(record: &'a Record, row: &ResultRow) -> Option<&'a [Crossing]> {
    record.notes.iter().find_map(|note| match &note.fact {
        Fact::SimulatedSites(ways) if note.stage == Some(row.stage) => Some(&ways[..]),
        _ => None,
    })
}

/// The same for machines; `None` of clusters on one site.
pub(crate) fn site_objects(record: &Record, row: &ResultRow) -> Option<Vec<Value>> {
    let object = |way: &Crossing| {
        object! {
            op: way.op.name(), share: way.found(), bytes: way.bytes.0, far_bytes: way.far.0,
            ..way { planned() },
        }
    };
    Some(each(crossings(record, row)?, object))
}

fn points<'a>(record: &Record, rows: &'a [ResultRow]) -> Vec<Busy<'a>> {
    let mut found = Vec::new();
    for note in &record.notes {
        let (Fact::SimulatedLayers { busy_ppm }, Some(stage)) = (&note.fact, note.stage) else {
            continue;
        };
        let Some(row) = rows.iter().find(|row| row.stage == stage && row.is_of_point()) else {
            continue;
        };
        let works = record.plan.stages.get(stage as usize).map_or(&[][..], |stage| &stage.works);
        let works: Vec<&str> = works.iter().map(|work| work.workload.as_str()).collect();
        let point = words::with_sweep(&works.join(" + "), &row.sweep, row.repetition);
        found.push(Busy { point, layers: shown(busy_ppm), row });
    }
    found.sort_by_key(|busy| busy.row.point);
    found
}

/// The part of a terminal's table: the busiest layers of each point. Nothing of other runs.
pub(crate) fn text(record: &Record, rows: &[ResultRow]) -> String {
    let all = points(record, rows);
    let line = |busy: &Busy<'_>| {
        let named = busiest(&busy.layers).into_iter();
        let named = named.filter(|(_, share)| *share >= LEAST_NAMED).take(MOST_NAMED);
        let sites = crossings(record, busy.row).filter(|ways| !ways.is_empty());
        let sites = sites.map_or_else(String::new, |ways| format!("; {}", of_sites(ways)));
        format!("{}: {}{sites}", busy.point, of_layers(named))
    };
    let more = |more| format!("and {more} more; the page has the first {MOST_POINTS} in full");
    let lines = words::at_most(all.iter().map(line).collect(), MOST_POINTS, more);
    words::titled("Busiest layers of the simulated cluster", lines)
}

/// The layers of a row's point, the busiest first, for machines; `None` where nobody simulated it.
pub(crate) fn objects(record: &Record, row: &ResultRow) -> Option<Vec<Value>> {
    record.notes.iter().find_map(|note| match &note.fact {
        Fact::SimulatedLayers { busy_ppm } if note.stage == Some(row.stage) => {
            Some(layer_objects(&shown(busy_ppm)))
        }
        _ => None,
    })
}

/// Layers with the share of the time in which they worked, the busiest first.
pub(super) fn layer_objects(layers: &[(Layer, f64)]) -> Vec<Value> {
    each(busiest(layers), |(layer, busy)| object! { layer: layer.code(), busy })
}

fn busiest(layers: &[(Layer, f64)]) -> Vec<(Layer, f64)> {
    let mut layers = layers.to_vec();
    layers.sort_by(|a, b| b.1.total_cmp(&a.1));
    layers
}

/// The section of the page: a row for each point, a column for each layer.
pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let all = points(record, rows);
    let mut columns: Vec<Layer> =
        all.iter().flat_map(|busy| busy.layers.iter().map(|(layer, _)| *layer)).collect();
    columns.sort_unstable();
    columns.dedup();
    if columns.is_empty() {
        return Markup::new();
    }
    let mut table =
        Table::of(all.iter().take(MOST_POINTS)).name("Point", |busy| &busy.point).class("wraps");
    for layer in &columns {
        let of = |(known, share): &(Layer, f64)| (known == layer).then(|| words::share(*share));
        table = table.figure(name(*layer), |busy| busy.layers.iter().find_map(of));
    }
    if all.iter().any(|busy| crossings(record, busy.row).is_some()) {
        let ways = |busy: &Busy<'_>| crossings(record, busy.row).map(of_sites).unwrap_or_default();
        table = table.words("Between sites", ways).class("wraps");
    }
    let table = table.bare().caption(
        "The share of the measured time in which each layer worked, the mean over all its parts; \
         ports and links in their busier direction. One part may be busier than the mean. –: the \
         testbed gives it no cost.",
    );
    let left_out = not_shown(all.len(), MOST_POINTS, "points");
    under("Layers of the simulated cluster", [table.scroll(), left_out])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, lasting};
    use model::{Bytes, Note};

    #[test]
    fn each_point_has_its_layers_and_an_idle_mover_is_none() {
        let reads = format!("{W}read = \"100%\"\n");
        let mut record = lasting(&reads, 4, &[(Op::Read, &[1_000; 40])]);
        let rows = analysis::results(&record);
        let stage = rows[0].stage;
        assert_eq!((text(&record, &rows), section(&record, &rows)), (String::new(), Markup::new()));
        assert_eq!(objects(&record, &rows[0]), None);
        let busy_ppm =
            vec![(Layer::Mover, 0), (Layer::Drives, 912_000), (Layer::Cache, 0), (Layer::Cpu, 5)];
        let fact = Fact::SimulatedLayers { busy_ppm };
        record.notes.push(Note { stage: Some(stage), host: 0, fact });
        let said = text(&record, &rows);
        assert!(said.contains("- w: capacity drives 91 %"), "{said}");
        let page = section(&record, &rows).into_string();
        assert!(page.contains("91 %") && !page.contains("cache drives"), "{page}");
        assert!(!said.contains("0.0 %") && !page.contains("mover"), "{said} {page}");
        let machines = objects(&record, &rows[0]).expect("simulated");
        assert_eq!(machines[0], object! { layer: "drives", busy: 0.912 });
        let codes: Vec<&Value> = machines.iter().map(|one| &one["layer"]).collect();
        assert_eq!(codes, ["drives", "cpu"], "the busiest first, without what never worked");
        assert_eq!(site_objects(&record, &rows[0]), None, "one site");
        let way =
            Crossing { op: Op::Read, planned_ppm: 0, bytes: Bytes(4 << 20), far: Bytes(1 << 20) };
        let fact = Fact::SimulatedSites(vec![way]);
        record.notes.push(Note { stage: Some(stage), host: 0, fact });
        let said = text(&record, &rows);
        assert!(said.contains("; reads from the other site 25 % (planned 0.0 %)"), "{said}");
        assert!(section(&record, &rows).into_string().contains("25 % (planned 0.0 %)"));
        let machines = site_objects(&record, &rows[0]).expect("two sites");
        assert!(machines[0]["share"] == 0.25 && machines[0]["planned"] == 0.0);
    }
}
