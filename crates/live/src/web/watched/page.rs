//! The live page of hosts that are watched without a run.

use super::node::Side;
use super::{Host, Node, Watching};
use crate::web::bounded_series::Slot;
use crate::web::dashboard::Part;
use crate::web::hosts::{self, Listed};
use crate::web::page::told;
use crate::web::{View, charts, counters};
use report::ground::chart::{Line, Lines};
use report::ground::markup::{Markup, classed, element, plain};
use report::ground::words;
use report::pens::Table;

pub(super) const TITLE: &str = "Hosts";

pub(super) fn parts(watching: &Watching, view: &View) -> Vec<Part> {
    let headline = |words: &str| plain("h2", words);
    let (counts, notes) = ("What the kernels count", told(watching.happened.iter().rev()));
    // The form stands outside of what changes, so that nobody is interrupted while typing.
    let of_hosts = [headline("Hosts"), hosts::form(watching.hosts.len(), view)].into();
    vec![
        Part::new("head", "Hosts that are watched", Markup::new(), head(watching)),
        Part::new("charts", counts, headline(counts), drawn(watching, view)),
        Part::new("hosts", "Hosts", of_hosts, table(watching, view)),
        Part::new("happened", "Notes", headline("Notes"), notes),
    ]
}

fn head(watching: &Watching) -> Markup {
    let hosts = match watching.hosts.len() {
        1 => watching.name(0),
        many => words::counted(many as u64, "host"),
    };
    let (badge, state) =
        if watching.is_over { ("badge", "over") } else { ("badge good", "watched") };
    let facts = format!(
        "{hosts} · every {} · since {}",
        watching.interval,
        words::utc(watching.started_unix_ns)
    );
    let lead =
        "What the hosts' kernels count, whoever loads them: Plimsoll itself loads nothing here.";
    [
        plain("h1", TITLE),
        classed("p", "lead", lead),
        classed("p", "facts", [classed("span", badge, state), Markup::from(facts)]),
    ]
    .into()
}

fn drawn(watching: &Watching, view: &View) -> Markup {
    let end_s = watching.now_s();
    let instants: Vec<(f64, String)> = watching.instants.iter().cloned().collect();
    match view.host {
        None => {
            let charts = over_time(watching.whole_slots(), end_s, &instants);
            if let [only] = watching.hosts.as_slice() {
                return [charts, counted(only)].into();
            }
            [classed("p", "lead", hosts::together(watching.hosts.len(), &watching.kernels)), charts]
                .into()
        }
        Some(number) => {
            let all = element("a", &[("href", "/"), ("data-keep", "all")], "All hosts together");
            let head = [Markup::from(format!("{} alone. ", watching.name(number))), all];
            let charts = match watching.hosts.get(number as usize) {
                Some(host) => {
                    [over_time(host.over_time.slots(), end_s, &instants), counted(host)].into()
                }
                None => Markup::from("There is no such host."),
            };
            [classed("p", "lead", head), charts].into()
        }
    }
}

/// What the kernel of a host counts beside what charts show.
fn counted(host: &Host) -> Markup {
    counters::list(host.counted.as_ref().filter(|_| host.lost.is_none()), &[])
}

fn over_time(slots: &[Slot<Node>], end_s: f64, instants: &[(f64, String)]) -> Markup {
    if slots.is_empty() {
        return plain("p", "Nothing was told yet.");
    }
    let both = |value: &dyn Fn(&Slot<Node>, Side) -> Option<f64>| {
        let line = |name: &str, style, side: fn(&Node) -> Side| Line {
            name: name.to_owned(),
            style,
            points: charts::points(slots, |_, slot| value(slot, side(&slot.part))),
        };
        vec![
            line("read", "line read", |node| node.read),
            line("write", "line write", |node| node.write),
        ]
    };
    let iops = both(&|slot, side| charts::rate(slot, side.ios));
    let bytes = both(&|slot, side| charts::mebi_rate(slot, side.bytes));
    let latency = both(&|_, side| side.latency_ns().filter(|ns| *ns > 0.0));
    let content = [
        charts::over_time("IOPS", words::iops, end_s, iops).render_with(instants),
        charts::over_time("Bandwidth, MiB/s", charts::mebi_words, end_s, bytes)
            .render_with(instants),
        Lines::latencies("Latency in the kernel, mean", end_s, latency).render_with(instants),
        charts::system(slots, |node| node.system, end_s, instants),
    ];
    classed("div", "charts", content.into_iter().collect::<Markup>())
}

fn table(watching: &Watching, view: &View) -> Markup {
    let lost = (0..)
        .zip(&watching.hosts)
        .filter(|(_, host)| host.lost.is_some())
        .map(|(host, _)| host)
        .collect();
    let listed = Listed { count: watching.hosts.len(), name: &|host| watching.name(host), lost };
    hosts::windowed(&listed, view, &|here| cells(watching, view, here).html())
}

fn cells<'a>(watching: &'a Watching, view: &View, here: &[u32]) -> Table<(u32, &'a Host)> {
    let state = |host: &Host| {
        let (class, state) = match (&host.lost, &host.last) {
            (Some(why), _) => ("bad", format!("lost: {why}")),
            (None, Some(_)) => ("good", "watched".to_owned()),
            (None, None) => ("", "to tell".to_owned()),
        };
        classed("span", class, state)
    };
    let last = |host: &Host| {
        let (node, length_ns) =
            host.last.filter(|(_, length_ns)| *length_ns > 0 && host.lost.is_none())?;
        Some((node, length_ns as f64 / 1e9))
    };
    let side = |words: fn(Side, f64) -> String, of: fn(Node) -> Side| {
        move |(_, host): (u32, &Host)| last(host).map(|(node, seconds)| words(of(node), seconds))
    };
    let network = |bytes: fn(Node) -> u64| {
        move |(_, host): (u32, &Host)| {
            last(host).map(|(node, seconds)| words::bandwidth(bytes(node) as f64 / seconds))
        }
    };
    let iops = |side: Side, seconds: f64| words::iops(side.ios as f64 / seconds);
    let bytes = |side: Side, seconds: f64| words::mib_per_s(side.bytes as f64 / seconds);
    let latency = |side: Side, _: f64| words::latency(side.latency_ns().map(|ns| ns as u64));
    let busy = |host: &Host| last(host).and_then(|(node, _)| node.system.busy());
    let known = |number: &u32| Some((*number, watching.hosts.get(*number as usize)?));
    Table::of(here.iter().filter_map(known))
        .name("Host", |(number, _)| hosts::name_link(view, number, watching.name(number)))
        .words("State", |(_, host)| state(host))
        .figure("Read IOPS", side(iops, |node| node.read))
        .figure("MiB/s", side(bytes, |node| node.read))
        .figure("Latency", side(latency, |node| node.read))
        .figure("Write IOPS", side(iops, |node| node.write))
        .figure("MiB/s", side(bytes, |node| node.write))
        .figure("Latency", side(latency, |node| node.write))
        .figure("CPU", |(_, host)| busy(host).map(words::share))
        .figure("Received", network(|node| node.system.received_bytes))
        .figure("Sent", network(|node| node.system.sent_bytes))
}
