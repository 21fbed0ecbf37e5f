//! What went through the network ports of all hosts, in Gbit/s: one table and one chart.

use super::attribution::{hostname, title};
use crate::ground::chart::{Bar, Bars};
use crate::ground::gather::grouped;
use crate::ground::markup::{Markup, classed, plain};
use crate::ground::words;
use crate::pens::Table;
use analysis::ResultRow;
use analysis::attribution::{Attribution, Watched, attribution};
use model::Record;
use model::usage::Part;

const BITS: f64 = 8.0;
/// More bars than this are no picture; the table has them.
const MOST_BARS: usize = 48;

struct Busiest<'a> {
    host: u32,
    name: &'a str,
    /// Bits per second in its busier direction, 0 and up.
    bits: f64,
    /// The share of its speed, where that is known.
    share: Option<f64>,
    point: &'a Attribution,
}

pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let points = attribution(record, rows);
    let ports = busiest(&points);
    if ports.is_empty() {
        return Markup::new();
    }
    let mut content = plain("h2", "Network ports");
    if (2..=MOST_BARS).contains(&ports.len()) {
        content.push(classed("div", "charts", chart(record, &ports)));
    }
    content.push(table(record, &ports, &points).scroll());
    content.push(classed(
        "p",
        "remark",
        "Of each port the busier direction, on average over the point where it carried most.",
    ));
    plain("section", content)
}

/// Each port at the point where it carried most, by host and name.
fn busiest(points: &[Attribution]) -> Vec<Busiest<'_>> {
    let mut found: Vec<Busiest<'_>> = Vec::new();
    for point in points {
        for (port, bits) in ports(point) {
            let here = Busiest {
                host: port.host,
                name: &port.name,
                bits,
                share: port.used.share(),
                point,
            };
            match found.iter_mut().find(|known| (known.host, known.name) == (here.host, here.name))
            {
                Some(known) if known.bits < bits => *known = here,
                Some(_) => {}
                None => found.push(here),
            }
        }
    }
    found
}

fn ports(point: &Attribution) -> impl Iterator<Item = (&Watched, f64)> {
    let is_port = |watched: &&Watched| watched.part == Part::Port;
    point
        .watched
        .iter()
        .filter(is_port)
        .filter_map(|port| Some((port, port.used.carried_per_s()? * BITS)))
}

fn chart(record: &Record, ports: &[Busiest<'_>]) -> Markup {
    let bar = |port: &Busiest<'_>| Bar {
        name: format!("{} {}", hostname(record, port.host), port.name),
        parts: vec![("bar step1", port.bits)],
        ceiling: port.share.filter(|share| *share > 0.0).map(|share| port.bits / share),
    };
    Bars {
        title: "Traffic of each port in Gbit/s".to_owned(),
        words: words::gbit_per_s,
        legend: Vec::new(),
        bars: ports.iter().map(bar).collect(),
    }
    .render()
}

/// A line of the table: host, port, bits per second, the share of its speed, the point.
type Line<'a> = (&'a str, &'a str, f64, Option<f64>, &'a Attribution);

fn table<'a>(
    record: &'a Record,
    ports: &[Busiest<'a>],
    points: &'a [Attribution],
) -> Table<Line<'a>> {
    let line = |port: &Busiest<'a>| {
        (hostname(record, port.host), port.name, port.bits, port.share, port.point)
    };
    let mut lines: Vec<Line<'_>> = ports.iter().map(line).collect();
    let sum = |point: &Attribution| ports_sum(point);
    let most = points.iter().max_by(|a, b| sum(a).total_cmp(&sum(b)));
    if let Some(point) = most.filter(|_| ports.len() > 1) {
        let labels = by_label(record, point);
        let sums = [("all hosts", sum(point))].into_iter().chain(labels);
        lines.extend(sums.map(|(name, bits)| (name, "together", bits, None, point)));
    }
    Table::of(lines)
        .name("Host", |line| line.0)
        .words("Port", |line| line.1)
        .figure("Traffic", |line| words::gbit_per_s(line.2))
        .figure("Of its speed", |line| line.3.map(words::share))
        .words("At", |line| title(line.4))
        .class("wraps")
}

/// Bits per second of the ports of the hosts of each label, such as that of a switch, at a point;
/// a host with several labels is in several sums.
fn by_label<'a>(record: &'a Record, point: &Attribution) -> Vec<(&'a str, f64)> {
    let of_port = |(port, bits): (&Watched, f64)| {
        let place = record.plan.places.get(port.host as usize);
        let labels = place.map_or(&[][..], |place| &place.labels);
        labels.iter().map(move |label| (label.as_str(), bits))
    };
    let labels = grouped(ports(point).flat_map(of_port));
    labels.into_iter().map(|(label, bits)| (label, bits.iter().sum())).collect()
}

/// Of hosts that load: what a port of a server received, one of theirs sent.
fn ports_sum(point: &Attribution) -> f64 {
    ports(point).filter(|(port, _)| port.told_of.is_none()).map(|(_, bits)| bits).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, has};
    use model::counters::{Entry, Layer, Metric};
    use model::{Op, StageKind};

    #[test]
    fn all_ports_stand_in_one_table_with_their_sum() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\nread = \"100%\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for (second, host) in (0..4).flat_map(|second| [(second, 0), (second, 1)]) {
            recorded.host_interval(stage, host, second, &[(Op::Read, &[1_000; 10])]);
        }
        recorded.end();
        for (second, host) in (0..4).flat_map(|second| [(second, 0), (second, 1)]) {
            let values = vec![(Metric::ReceivedBytes, 125_000_000), (Metric::SentBytes, 1_000)];
            let entry = Entry { layer: Layer::Nic, name: "eth0".into(), values };
            recorded.counters(stage, host, second, vec![entry]);
        }
        let record = recorded.record();
        let page = section(&record, &analysis::results(&record)).into_string();
        has(&page, &["Network ports", "<svg", "1.0 Gbit/s", "2.0 Gbit/s", "all hosts", "together"]);
        let mut labelled = record.clone();
        labelled.plan.places = vec![
            model::plan::HostPlace { labels: vec!["switch-1".to_owned()], ..Default::default() },
            model::plan::HostPlace::default(),
        ];
        let page = section(&labelled, &analysis::results(&labelled)).into_string();
        assert!(page.contains("switch-1"), "{page}");
    }
}
