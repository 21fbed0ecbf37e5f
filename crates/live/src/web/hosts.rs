//! The table of hosts: a window of it, because there may be thousands.

use super::View;
use super::board::{Board, HostBoard};
use super::load::System;
use model::Kernels;
use report::ground::markup::{Markup, classed, element, plain};
use report::ground::words;
use report::pens::{Cell, Table};

pub const WINDOW: usize = 50;

pub fn table(board: &Board, view: &View) -> Markup {
    let lost = (0..)
        .zip(&board.hosts)
        .filter(|(_, host)| host.lost.is_some())
        .map(|(host, _)| host)
        .collect();
    let listed = Listed { count: board.hosts.len(), name: &|host| board.name(host), lost };
    windowed(&listed, view, &|here| cells(board, view, here).html())
}

/// Above what all hosts did: how many, and that a kernel counts once where they share one.
pub(super) fn together(hosts: usize, kernels: &Kernels) -> String {
    let all = words::counted(hosts as u64, "host");
    match kernels.count() {
        shared if shared < hosts => {
            let kernels = words::counted(shared as u64, "kernel");
            format!("{all} together, on {kernels}: what a kernel counts is in the sums once.")
        }
        _ => format!("{all} together."),
    }
}

/// Hosts that are listed: their names, who is lost, and the head of their table.
pub(super) struct Listed<'a> {
    pub count: usize,
    pub name: &'a dyn Fn(u32) -> String,
    pub lost: Vec<u32>,
}

/// A table of the hosts in the window that a reader looks at, and the ways to the other windows.
pub(super) fn windowed(
    listed: &Listed<'_>,
    view: &View,
    table: &dyn Fn(&[u32]) -> Markup,
) -> Markup {
    let wanted: Vec<u32> = (0..listed.count as u32)
        .filter(|host| view.find.is_empty() || (listed.name)(*host).contains(&view.find))
        .collect();
    let from = view.from.min(wanted.len().saturating_sub(1)) / WINDOW * WINDOW;
    let here: Vec<u32> = wanted.iter().skip(from).take(WINDOW).copied().collect();
    let (lost, mut content) = (&listed.lost, Markup::new());
    if !lost.is_empty() {
        let names: Vec<String> = lost.iter().take(5).map(|host| (listed.name)(*host)).collect();
        let more = if lost.len() > names.len() { " and others" } else { "" };
        let lost = words::counted(lost.len() as u64, "host");
        content.push(classed("p", "bad", format!("{lost} lost: {}{more}", names.join(", "))));
    }
    let attributes = [
        ("class", "scroll"),
        ("tabindex", "0"),
        ("role", "region"),
        ("aria-label", "Table of hosts"),
    ];
    content.push(element("div", &attributes, table(&here)));
    if listed.count > WINDOW || !view.find.is_empty() {
        content.push(windows(view, from, here.len(), wanted.len()));
    }
    content
}

fn state(board: &Board, host: &HostBoard) -> (&'static str, String) {
    match (&host.lost, &board.end, board.current()) {
        (Some(why), _, _) => ("bad", format!("lost: {why}")),
        (None, Some(_), _) => ("", "done".to_owned()),
        (None, None, Some(_)) => ("good", "working".to_owned()),
        (None, None, None) => ("", "ready".to_owned()),
    }
}

/// What a host did last: requests, bytes, the length, the p99.
type Last = (u64, u64, u64, Option<u64>);

fn cells<'a>(board: &'a Board, view: &View, here: &[u32]) -> Table<(u32, &'a HostBoard)> {
    let state = |host: &HostBoard| {
        let (class, state) = state(board, host);
        classed("span", class, state)
    };
    let per_s = |sum: u64, length_ns: u64| sum as f64 / (length_ns as f64 / 1e9);
    let load = |host: &HostBoard| {
        host.last.filter(|(_, _, length_ns, _)| *length_ns > 0 && host.lost.is_none())
    };
    let system = |host: &HostBoard| {
        host.system.filter(|(_, length_ns)| *length_ns > 0 && host.lost.is_none())
    };
    let network = |host: &HostBoard, bytes: fn(&System) -> u64| {
        let (system, length_ns) = system(host)?;
        Some(words::bandwidth(per_s(bytes(&system), length_ns)))
    };
    let iops = |(ios, _, length_ns, _): Last| words::iops(per_s(ios, length_ns));
    let rate = |(_, bytes, length_ns, _): Last| words::mib_per_s(per_s(bytes, length_ns));
    let errors = |number: u32| {
        let errors = board.errors_of(number);
        Cell::from(words::count(errors)).classed(if errors > 0 { "number bad" } else { "number" })
    };
    let busy = |host: &HostBoard| system(host).and_then(|(system, _)| system.busy());
    let known = |number: &u32| Some((*number, board.hosts.get(*number as usize)?));
    Table::of(here.iter().filter_map(known))
        .name("Host", |(number, _)| name_link(view, number, board.name(number)))
        .words("State", |(_, host)| state(host))
        .figure("IOPS", |(_, host)| load(host).map(iops))
        .figure("MiB/s", |(_, host)| load(host).map(rate))
        .figure("p99", |(_, host)| load(host).map(|(_, _, _, p99_ns)| words::latency(p99_ns)))
        .figure("Errors", |(number, _)| errors(number))
        .figure("CPU", |(_, host)| busy(host).map(words::share))
        .figure("Received", |(_, host)| network(host, |system| system.received_bytes))
        .figure("Sent", |(_, host)| network(host, |system| system.sent_bytes))
}

pub(super) fn name_link(view: &View, number: u32, name: String) -> Markup {
    let (href, key) = (link(view, Some(number), view.from), format!("host-{number}"));
    let current = if view.host == Some(number) { "true" } else { "false" };
    element("a", &[("href", &href), ("data-keep", &key), ("aria-current", current)], name)
}

fn windows(view: &View, from: usize, shown: usize, of: usize) -> Markup {
    let way = |from: usize, words: &str, key: &str| {
        element("a", &[("href", &link(view, view.host, from)), ("data-keep", key)], words)
    };
    let text = match shown {
        0 => "No host has such a name.".to_owned(),
        _ => format!("Hosts {} to {} of {}.", from + 1, from + shown, words::count(of as u64)),
    };
    let mut content = classed("span", "remark", text);
    if from > 0 {
        content.push(way(from.saturating_sub(WINDOW), "Earlier hosts", "earlier"));
    }
    if from + shown < of {
        content.push(way(from + WINDOW, "Further hosts", "further"));
    }
    element("nav", &[("class", "windows"), ("aria-label", "Windows of the table")], content)
}

fn link(view: &View, host: Option<u32>, from: usize) -> String {
    let mut parts = Vec::new();
    parts.extend(host.map(|host| format!("host={host}")));
    if from > 0 {
        parts.push(format!("from={from}"));
    }
    if !view.find.is_empty() {
        let safe = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        };
        parts.push(format!("find={}", view.find.bytes().map(safe).collect::<String>()));
    }
    if parts.is_empty() { "/".to_owned() } else { format!("/?{}", parts.join("&")) }
}

/// The form that looks for hosts by name; it stands outside of what changes, so that nobody is
/// interrupted while typing.
pub fn form(hosts: usize, view: &View) -> Markup {
    if hosts <= WINDOW && view.find.is_empty() {
        return Markup::new();
    }
    let most = View::MOST_FIND.to_string();
    let input =
        [("name", "find"), ("type", "search"), ("maxlength", &*most), ("value", &*view.find)];
    let label = plain(
        "label",
        [Markup::from("Hosts with this in their name "), element("input", &input, "")],
    );
    let mut content = label;
    if let Some(host) = view.host {
        content.push(element(
            "input",
            &[("type", "hidden"), ("name", "host"), ("value", &host.to_string())],
            "",
        ));
    }
    content.push(element("button", &[("type", "submit")], "Look"));
    element("form", &[("method", "get"), ("action", "/"), ("class", "find")], content)
}
