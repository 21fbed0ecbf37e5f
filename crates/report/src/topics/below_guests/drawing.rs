//! Who ran where, drawn: each node with its machines, each machine with its disks.

use crate::ground::chart::{frame, number, rect};
use crate::ground::gather::each_once;
use crate::ground::markup::{Markup, element, plain};
use crate::ground::words;
use analysis::ResultRow;
use model::machines::{BelowGuests, BelowNode, MachinesMade};
use model::usage::Part;
use model::{Bytes, Record};
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
struct Columns {
    left: f64,
    right: f64,
}

#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
}

const WIDTH: f64 = 900.0;
/// The boxes of nodes and machines: from where to where.
const NODE: Columns = Columns { left: 1.0, right: 250.0 };
const MACHINE: Columns = Columns { left: 290.0, right: 540.0 };
/// Where disks begin, how far each is from the next, and how wide it is.
const DISKS: f64 = 566.0;
const DISK_STEP: f64 = 33.0;
const DISK_WIDTH: f64 = 28.0;
/// Disks of one line; more go on below.
const PER_LINE: usize = 10;
/// The heights of a line of words, of a line of disks, and between boxes.
const LINE: f64 = 17.0;
const DISK_LINE: f64 = 38.0;
const GAP: f64 = 10.0;
/// The width of a letter, at most.
const LETTER: f64 = 7.4;

struct NodeBox<'a> {
    words: Vec<String>,
    machines: Vec<MachineBox<'a>>,
}

struct MachineBox<'a> {
    name: &'a str,
    words: String,
    is_astray: bool,
    disks: Vec<Disk>,
}

/// A disk of a guest, and what the guest's kernel counted there in all measurements.
#[derive(PartialEq)]
struct Disk {
    name: String,
    bytes: Option<u64>,
}

pub(super) fn figure(
    record: &Record,
    rows: &[ResultRow],
    made: &MachinesMade,
    below: Option<&BelowGuests>,
    most: usize,
) -> Markup {
    let counted = disk_bytes(record);
    let mut left = most;
    let mut boxes = Vec::new();
    for on in &made.nodes {
        let node = below.and_then(|below| below.nodes.iter().find(|node| node.node == on.node));
        let shown = on.machines.len().min(left);
        left -= shown;
        let machines = on.machines.iter().take(shown);
        let machines =
            machines.map(|name| machine(record, rows, name, node, &counted)).collect::<Vec<_>>();
        boxes.push(NodeBox { words: node_words(record, made, on, below, node), machines });
    }
    let busiest = boxes.iter().flat_map(|node| &node.machines).flat_map(|one| &one.disks);
    let busiest = busiest.filter_map(|disk| disk.bytes).max().unwrap_or(0);
    let (mut content, mut top) = (Markup::new(), 1.0);
    for node in &boxes {
        let (drawn, height) = draw_node(node, top, busiest);
        content.push(drawn);
        top += height + GAP;
    }
    let legend = frame::remark(
        "Of a machine: what its load asked for in all measurements. Of a disk: bytes that the \
         guest's kernel counted there, beside the busiest one. Of a node: everything on it, from \
         before the first stage to behind the last one.",
    );
    let title = "Nodes, their machines and their disks";
    let drawn = frame::picture("chart tree", [WIDTH, top], title, &described(&boxes), content);
    frame::figure(&[], "Node → machine → disks", legend, drawn)
}

/// What each disk of each guest read and wrote in all measurements, as its kernel counts it.
fn disk_bytes(record: &Record) -> BTreeMap<(u32, String), u64> {
    let mut sums = BTreeMap::new();
    let points = 0..record.plan.points.len() as u32;
    let stages = points.filter_map(|point| record.plan.measure_stage(point));
    for stage in stages.filter_map(|stage| record.stage(stage)) {
        let digest = stage.digest(record);
        for ((host, part), things) in &stage.usage(record, &digest).uses {
            for (name, used) in things.iter().filter(|_| *part == Part::Disk) {
                let sum: &mut u64 = sums.entry((*host, name.clone())).or_default();
                *sum = sum.saturating_add(used.received_bytes).saturating_add(used.sent_bytes);
            }
        }
    }
    sums
}

fn machine<'a>(
    record: &Record,
    rows: &[ResultRow],
    name: &'a str,
    node: Option<&BelowNode>,
    counted: &BTreeMap<(u32, String), u64>,
) -> MachineBox<'a> {
    let (mut ios, mut bytes) = (0u64, 0u64);
    for row in rows.iter().filter(|row| row.is_addend()) {
        for share in analysis::by_host(record, row).iter().filter(|share| share.name == name) {
            ios = ios.saturating_add(share.ios);
            bytes = bytes.saturating_add(share.bytes);
        }
    }
    let host = (0u32..).zip(&record.plan.hosts).find(|(_, host)| host.hostname == name);
    let disks = host.map(|(number, host)| {
        let facts = record.testbed.get(number as usize);
        let disk = |path: &str| {
            let facts = facts.and_then(|host| host.targets.iter().find(|one| one.path == path));
            let device = facts.and_then(|one| one.device.as_ref()).map(|one| one.name.clone());
            let last = || path.rsplit('/').next().unwrap_or(path).to_owned();
            let name = device.filter(|name| !name.is_empty()).unwrap_or_else(last);
            let bytes = counted.get(&(number, name.clone())).copied();
            Disk { name, bytes }
        };
        // Scenarios may have the same disk again.
        each_once(host.targets.iter().map(|target| disk(&target.path)))
    });
    let is_astray = node.is_some_and(|node| node.astray.iter().any(|gone| gone == name));
    let words = match is_astray {
        true => "not here at the end".to_owned(),
        false => format!("{} requests, {}", words::count(ios), Bytes(bytes)),
    };
    MachineBox { name, words, is_astray, disks: disks.unwrap_or_default() }
}

fn node_words(
    record: &Record,
    made: &MachinesMade,
    on: &model::machines::OnNode,
    below: Option<&BelowGuests>,
    node: Option<&BelowNode>,
) -> Vec<String> {
    let mut all = vec![on.node.clone(), words::counted(on.machines.len() as u64, "machine")];
    let (Some(below), Some(node)) = (below, node) else { return all };
    if let Some((busy, cpus)) = node.counts.busy.zip(node.counts.cpus).filter(|(_, c)| c.0 > 0) {
        all.push(format!("CPUs {} busy", words::share(busy.0 as f64 / cpus.0 as f64)));
    }
    if let Some(share) = analysis::guests::share_waited(record, made, node, below.length) {
        all.push(format!("virtual CPUs waited {}", words::share(share)));
    }
    if let (Some(read), Some(written)) = (node.counts.read_bytes, node.counts.written_bytes) {
        all.push(format!("disks read {}", Bytes(read)));
        all.push(format!("disks wrote {}", Bytes(written)));
    }
    all
}

/// A node with its machines from `top` on, and how high it is.
fn draw_node(node: &NodeBox<'_>, top: f64, busiest: u64) -> (Markup, f64) {
    let heights = node.machines.iter().map(height);
    let machines = heights.sum::<f64>() + GAP * node.machines.len().saturating_sub(1) as f64;
    let all = machines.max(node.words.len() as f64 * LINE + 12.0);
    let mut drawn = boxed(NODE, top, all, false);
    for (number, line) in (0u32..).zip(&node.words) {
        let class = if number == 0 { "name" } else { "label" };
        let y = top + 18.0 + f64::from(number) * LINE;
        drawn.push(text(class, NODE.left + 10.0, y, line, NODE.right - NODE.left - 20.0));
    }
    let from = top + all / 2.0;
    let mut at = top;
    for machine in &node.machines {
        let high = height(machine);
        drawn.push(link(
            Place { x: NODE.right, y: from },
            Place { x: MACHINE.left, y: at + high / 2.0 },
        ));
        drawn.push(draw_machine(machine, at, high, busiest));
        at += high + GAP;
    }
    (drawn, all)
}

fn height(machine: &MachineBox<'_>) -> f64 {
    DISK_LINE * machine.disks.len().div_ceil(PER_LINE).max(1) as f64 + 4.0
}

fn draw_machine(machine: &MachineBox<'_>, top: f64, high: f64, busiest: u64) -> Markup {
    let mut drawn = boxed(MACHINE, top, high, machine.is_astray);
    let room = MACHINE.right - MACHINE.left - 20.0;
    let middle = top + high / 2.0;
    drawn.push(text("name", MACHINE.left + 10.0, middle - 4.0, machine.name, room));
    drawn.push(text("label", MACHINE.left + 10.0, middle + 13.0, &machine.words, room));
    for (number, disk) in machine.disks.iter().enumerate() {
        let (line, place) = (number / PER_LINE, number % PER_LINE);
        if place == 0 {
            let y = top + 2.0 + line as f64 * DISK_LINE + DISK_LINE / 2.0;
            drawn.push(link(Place { x: MACHINE.right, y: middle }, Place { x: DISKS, y }));
        }
        let (x, y) = (DISKS + place as f64 * DISK_STEP, top + 4.0 + line as f64 * DISK_LINE);
        drawn.push(draw_disk(disk, x, y, busiest));
    }
    drawn
}

fn draw_disk(disk: &Disk, x: f64, y: f64, busiest: u64) -> Markup {
    let bytes = disk.bytes.map_or_else(|| "not counted".to_owned(), |b| Bytes(b).to_string());
    let mut parts = plain("title", format!("{}: {bytes}", disk.name));
    parts.push(boxed(Columns { left: x, right: x + DISK_WIDTH }, y, 30.0, false));
    let share = disk.bytes.map_or(0.0, |bytes| bytes as f64 / busiest.max(1) as f64);
    let wide = share.clamp(0.0, 1.0) * (DISK_WIDTH - 6.0);
    parts.push(rect("heat", [x + 3.0, y + 20.0, wide, 6.0]));
    parts.push(text("label small", x + 3.0, y + 14.0, &disk.name, DISK_WIDTH - 5.0));
    plain("g", parts)
}

fn boxed(columns: Columns, top: f64, high: f64, is_dashed: bool) -> Markup {
    let class = if is_dashed { "box gone" } else { "box" };
    rect(class, [columns.left, top, columns.right - columns.left, high])
}

/// A line that leaves and arrives level.
fn link(from: Place, to: Place) -> Markup {
    let (x, y) = (number(from.x), number(from.y));
    let (end, level) = (number(to.x), number(to.y));
    let middle = number((from.x + to.x) / 2.0);
    let path = format!("M{x} {y}C{middle} {y} {middle} {level} {end} {level}");
    element("path", &[("class", "link"), ("d", &path)], "")
}

/// Words that are cut where there is no room for them.
fn text(class: &str, x: f64, y: f64, words: &str, room: f64) -> Markup {
    let most = (room / LETTER) as usize;
    let is_long = words.chars().count() > most;
    let shown: String = match is_long {
        true => words.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => words.to_owned(),
    };
    frame::text(class, x, y, shown)
}

/// The same in a sentence for each node, for those who cannot see it.
fn described(boxes: &[NodeBox<'_>]) -> String {
    let one = |node: &NodeBox<'_>| {
        let machines = node.machines.iter().map(|machine| {
            let disks = words::counted(machine.disks.len() as u64, "disk");
            format!("{} with {disks}: {}", machine.name, machine.words)
        });
        format!("{}: {}.", node.words.join(", "), machines.collect::<Vec<_>>().join("; "))
    };
    boxes.iter().map(one).collect::<Vec<_>>().join(" ")
}
