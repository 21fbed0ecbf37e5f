//! The tables of the view: nodes, and of one node its devices, network ports and cores. Sorting and
//! filtering are here, drawing is not.

use super::figures::{Counts, Figures, READ, Side, WRITE, cpu_ns, per_second};
use super::format::Unit;
use model::CounterSample;
use model::counters::{Entry, Layer, Metric};

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// All nodes.
    Nodes,
    /// Block devices and network mounts of one node.
    Devices,
    /// Network interfaces and RDMA ports of one node.
    Nics,
    /// Logical CPUs of one node.
    Cores,
    /// Every counter of one node that is not of a device, a port or a core.
    Host,
    /// Every counter of one device, port or core.
    Part,
}

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it has in common with its neighbours: `read`, `write`, `net`; empty for nothing.
    pub group: &'static str,
    /// Its own head.
    pub head: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// A narrow terminal drops the columns of the highest rank first.
    pub rank: u8,
}

const fn column(group: &'static str, head: &'static str, unit: Unit, rank: u8) -> Column {
    Column { group, head, unit, rank }
}

const IO: [Column; 6] = [
    column("read", "IOPS", Unit::Rate, 0),
    column("read", "MiB/s", Unit::Bandwidth, 1),
    column("read", "time", Unit::Time, 3),
    column("write", "IOPS", Unit::Rate, 0),
    column("write", "MiB/s", Unit::Bandwidth, 1),
    column("write", "time", Unit::Time, 3),
];
const NODES: [Column; 9] = [
    IO[0],
    IO[1],
    IO[2],
    IO[3],
    IO[4],
    IO[5],
    column("", "CPU", Unit::Share, 1),
    column("net MiB/s", "in", Unit::Bandwidth, 2),
    column("net MiB/s", "out", Unit::Bandwidth, 2),
];
const DEVICES: [Column; 8] = [
    IO[0],
    IO[1],
    IO[2],
    IO[3],
    IO[4],
    IO[5],
    column("", "busy", Unit::Share, 1),
    column("", "queue", Unit::Number, 2),
];
const NICS: [Column; 6] = [
    column("received", "MiB/s", Unit::Bandwidth, 0),
    column("received", "pkt/s", Unit::Rate, 1),
    column("received", "lost", Unit::Number, 2),
    column("sent", "MiB/s", Unit::Bandwidth, 0),
    column("sent", "pkt/s", Unit::Rate, 1),
    column("sent", "lost", Unit::Number, 2),
];
const CORES: [Column; 7] = [
    column("", "busy", Unit::Share, 0),
    column("", "user", Unit::Share, 1),
    column("", "sys", Unit::Share, 1),
    column("", "irq", Unit::Share, 2),
    column("", "wait", Unit::Share, 2),
    column("", "stolen", Unit::Share, 3),
    column("", "MHz", Unit::Frequency, 3),
];
/// A row of these panels has a unit of its own; the column is as wide as the widest.
const COUNTERS: [Column; 1] = [column("", "value", Unit::Time, 0)];

impl Column {
    /// How wide it is, in columns of text.
    pub fn width(self) -> u16 {
        self.unit.width().max(self.head.len() as u16)
    }
}

impl Panel {
    /// Its columns of numbers; before them stands the name.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Panel::Nodes => &NODES,
            Panel::Devices => &DEVICES,
            Panel::Nics => &NICS,
            Panel::Cores => &CORES,
            Panel::Host | Panel::Part => &COUNTERS,
        }
    }

    /// The head of the names.
    pub fn title(self) -> &'static str {
        match self {
            Panel::Nodes => "node",
            Panel::Devices => "device",
            Panel::Nics => "port",
            Panel::Cores => "core",
            Panel::Host | Panel::Part => "counter",
        }
    }

    /// The next table of a node.
    pub fn next(self) -> Panel {
        match self {
            Panel::Nodes => Panel::Nodes,
            Panel::Devices => Panel::Nics,
            Panel::Nics => Panel::Cores,
            Panel::Cores => Panel::Host,
            Panel::Host => Panel::Devices,
            Panel::Part => Panel::Part,
        }
    }

    /// Whether entries of a layer stand in it.
    pub fn shows(self, layer: Layer) -> bool {
        match self {
            Panel::Nodes | Panel::Host | Panel::Part => false,
            Panel::Devices => matches!(layer, Layer::Block | Layer::Nfs | Layer::Smb),
            Panel::Nics => matches!(layer, Layer::Nic | Layer::Rdma),
            Panel::Cores => layer == Layer::Cpu,
        }
    }
}

/// Whether a row still says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It does.
    Here,
    /// It said nothing yet.
    Awaited,
    /// It is there no more.
    Gone,
}

/// What a line of a table is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowId {
    /// A host, by its number.
    Host(usize),
    /// A device, a port or a core.
    Part(Layer, String),
    /// Anything else, by its name.
    Named(String),
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What tells it from all others of its table.
    pub id: RowId,
    /// Its name for people.
    pub name: String,
    /// One number for each column of the panel; `None` where it is not known.
    pub cells: Vec<Option<f64>>,
    /// The unit of its numbers, where it is not that of their columns.
    pub unit: Option<Unit>,
    /// Whether it is there.
    pub presence: Presence,
}

/// By what a table is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// 0 is the name, and then come the columns.
    pub column: usize,
    /// The largest first.
    pub descending: bool,
}

/// Keeps the rows whose name has `filter` in it, whatever the case, and sorts them. Rows without
/// the number come last either way; equal rows stay in the order in which they came.
pub fn arrange(mut rows: Vec<Row>, filter: &str, order: Order) -> Vec<Row> {
    let wanted = filter.to_lowercase();
    rows.retain(|row| row.name.to_lowercase().contains(&wanted));
    let cell = |row: &Row| {
        order.column.checked_sub(1).and_then(|column| row.cells.get(column).copied().flatten())
    };
    rows.sort_by(|a, b| match (order.column, cell(a), cell(b)) {
        (0, ..) if order.descending => natural(&b.name, &a.name),
        (0, ..) => natural(&a.name, &b.name),
        (_, Some(a), Some(b)) if order.descending => b.total_cmp(&a),
        (_, Some(a), Some(b)) => a.total_cmp(&b),
        (_, a, b) => b.is_some().cmp(&a.is_some()),
    });
    rows
}

/// Names with numbers as people count: `node9` before `node10`.
fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
            return a.len().cmp(&b.len());
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let digits =
                |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let ((left, a_rest), (right, b_rest)) = (a.split_at(digits(a)), b.split_at(digits(b)));
            let (short_left, short_right) =
                (left.trim_start_matches('0'), right.trim_start_matches('0'));
            let order =
                short_left.len().cmp(&short_right.len()).then_with(|| short_left.cmp(short_right));
            // 01 and 1 are one number; the longer writing comes later.
            match order.then_with(|| left.len().cmp(&right.len())) {
                std::cmp::Ordering::Equal => (a, b) = (a_rest, b_rest),
                order => return order,
            }
        } else if x == y {
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
        } else {
            return x.cmp(&y);
        }
    }
}

fn side(side: &Side) -> [Option<f64>; 3] {
    [side.iops, side.bytes_per_s, side.latency_ns]
}

/// The numbers of a node.
pub fn node_cells(figures: &Figures) -> Vec<Option<f64>> {
    let network = [figures.cpu_share, figures.received_bytes_per_s, figures.sent_bytes_per_s];
    [side(&figures.read), side(&figures.write), network].concat()
}

/// The numbers of one part of a node.
pub fn part_cells(panel: Panel, entry: &Entry, sample: &CounterSample) -> Vec<Option<f64>> {
    let length_ns = sample.length_ns;
    match panel {
        Panel::Nodes | Panel::Host | Panel::Part => Vec::new(),
        Panel::Devices => {
            let side = |metrics| side(&Counts::of(entry, metrics, length_ns).side());
            let busy =
                per_second(entry.get(Metric::BusyNs), length_ns).map(|ns| (ns / 1e9).min(1.0));
            let queue = entry.get(Metric::InFlight).map(|count| count as f64);
            [&side(READ)[..], &side(WRITE)[..], &[busy, queue]].concat()
        }
        Panel::Nics => {
            let rate = |metric| per_second(entry.get(metric), length_ns);
            let lost = |errors, drops| match (entry.get(errors), entry.get(drops)) {
                (None, None) => None,
                (errors, drops) => {
                    Some(errors.unwrap_or(0).saturating_add(drops.unwrap_or(0)) as f64)
                }
            };
            vec![
                rate(Metric::ReceivedBytes),
                rate(Metric::ReceivedPackets),
                lost(Metric::ReceiveErrors, Metric::ReceiveDrops),
                rate(Metric::SentBytes),
                rate(Metric::SentPackets),
                lost(Metric::SendErrors, Metric::SendDrops),
            ]
        }
        Panel::Cores => {
            let Some((busy, all)) = cpu_ns(entry) else { return vec![None; CORES.len()] };
            let part = |ns: Option<u64>| ns.map(|ns| ns as f64 / all as f64);
            let both = |a, b| match (entry.get(a), entry.get(b)) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            };
            let clock =
                sample.get(Layer::Clock, &entry.name, Metric::FrequencyHz).map(|hz| hz as f64);
            vec![
                part(Some(busy)),
                part(both(Metric::UserNs, Metric::NiceNs)),
                part(entry.get(Metric::SystemNs)),
                part(both(Metric::IrqNs, Metric::SoftirqNs)),
                part(entry.get(Metric::IowaitNs)),
                part(entry.get(Metric::StealNs)),
                clock,
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: Option<f64>) -> Row {
        Row {
            id: RowId::Named(name.to_owned()),
            name: name.to_owned(),
            cells: vec![value],
            unit: None,
            presence: Presence::Here,
        }
    }

    fn names(rows: &[Row], filter: &str, column: usize, descending: bool) -> Vec<String> {
        arrange(rows.to_vec(), filter, Order { column, descending })
            .into_iter()
            .map(|row| row.name)
            .collect()
    }

    #[test]
    fn rows_are_sorted_by_any_column_and_what_is_unknown_comes_last() {
        let rows =
            [row("n10", Some(1.0)), row("n9", None), row("N2", Some(3.0)), row("n1", Some(1.0))];
        assert_eq!(names(&rows, "", 0, false), ["N2", "n1", "n9", "n10"]);
        assert_eq!(names(&rows, "", 0, true), ["n10", "n9", "n1", "N2"]);
        assert_eq!(names(&rows, "", 1, true), ["N2", "n10", "n1", "n9"]);
        assert_eq!(names(&rows, "", 1, false), ["n10", "n1", "N2", "n9"]);
        assert_eq!(names(&rows, "N1", 0, false), ["n1", "n10"], "whatever the case");
        assert_eq!(names(&rows, "", 9, true).len(), 4, "a column that is none");
    }

    #[test]
    fn numbers_in_names_count() {
        use std::cmp::Ordering;
        for (a, b) in [
            ("cpu9", "cpu10"),
            ("a", "ab"),
            ("n1a2", "n1a10"),
            ("n1", "n01"),
            ("9", "99999999999999999999999"),
        ] {
            assert_eq!(
                (natural(a, b), natural(b, a)),
                (Ordering::Less, Ordering::Greater),
                "{a} {b}"
            );
        }
        assert_eq!(natural("n01", "n01"), Ordering::Equal);
    }

    #[test]
    fn every_panel_has_a_number_for_each_column() {
        let entry = Entry { layer: Layer::Block, name: "sda".to_owned(), values: Vec::new() };
        for panel in [Panel::Devices, Panel::Nics, Panel::Cores] {
            let cells = part_cells(panel, &entry, &CounterSample::default());
            assert_eq!(cells, vec![None; panel.columns().len()], "{panel:?}");
        }
        assert_eq!(node_cells(&Figures::default()), vec![None; NODES.len()]);
    }
}
