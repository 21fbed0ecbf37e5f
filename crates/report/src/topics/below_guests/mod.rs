//! What nodes did below the guests of a run.

mod boots;
mod drawing;

use crate::ground::markup::{Markup, not_shown, plain};
use crate::ground::words;
use crate::pens::Table;
use crate::topics::results::row::name;
use analysis::{ResultRow, guests};
use model::machines::{BelowGuests, BelowNode, BelowStage, BootTime, HostCpu, NodeCounts};
use model::{Bytes, Nanos, Record, hostlist};

/// More points than this are folded away.
const MOST_POINTS: usize = 24;
/// More machines than this are no picture.
const MOST_MACHINES: usize = 64;

/// The section of the page: who ran where, how they came up, then each point with what its nodes
/// did. Nothing where no machines of ours carried the run.
pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let Some(made) = guests::made(record) else { return Markup::new() };
    let below = guests::below(record);
    let mut content = plain("h2", "Nodes, machines, disks");
    content.push(drawing::figure(record, rows, made, below, MOST_MACHINES));
    let all: usize = made.nodes.iter().map(|on| on.machines.len()).sum();
    content.push(not_shown(all, MOST_MACHINES, "machines"));
    content.push(boots::figure(&made.boots, MOST_MACHINES));
    if let Some(below) = below.filter(|below| !below.stages.is_empty()) {
        content.push(points(record, rows, below));
        content.push(not_shown(below.stages.len(), MOST_POINTS, "points"));
    }
    plain("section", content)
}

/// Machines that started together, in a sentence; `None` without any.
pub fn boot_storm(boots: &[BootTime]) -> Option<String> {
    boots::sentence(boots)
}

fn points(record: &Record, rows: &[ResultRow], below: &BelowGuests) -> Markup {
    let title = |stage: &BelowStage| {
        let row = rows.iter().find(|row| row.stage == stage.stage && row.is_whole());
        row.map_or_else(|| format!("stage {}", stage.stage + 1), name)
    };
    let waited = |stage: &BelowStage, node: &BelowNode| {
        guests::share_waited(record, guests::made(record)?, node, stage.length).map(words::share)
    };
    let cpus = |stage: &BelowStage, time: Option<Nanos>| {
        time.map(|time| format!("{:.2}", time.0 as f64 / stage.length.0.max(1) as f64))
    };
    let busy = |node: &BelowNode| {
        let (busy, cpus) = node.counts.busy.zip(node.counts.cpus).filter(|(_, cpus)| cpus.0 > 0)?;
        Some(words::share(busy.0 as f64 / cpus.0 as f64))
    };
    let ratio =
        |stage: &BelowStage| Some(format!("{:.2}", ratio(stage.guest_written, &stage.nodes)?));
    let all = below.stages.iter().take(MOST_POINTS);
    Table::of(all.flat_map(|stage| stage.nodes.iter().map(move |node| (stage, node))))
        .name("Point", |(stage, _)| title(stage))
        .class("wraps")
        .words("Node", |(_, node)| &node.node)
        .figure("Guests read, wrote", |(stage, _)| {
            format!("{}, {}", stage.guest_read, stage.guest_written)
        })
        .figure("Disks read, wrote", |(_, node)| bytes_of_disks(&node.counts))
        .figure("Ratio", |(stage, _)| ratio(stage))
        .figure("CPUs of guests", |(stage, node)| cpus(stage, node.guests.map(|cpu| cpu.vcpu)))
        .figure("Of their I/O", |(stage, node)| cpus(stage, node.guests.and_then(|cpu| cpu.io)))
        .figure("Rest of them", |(stage, node)| cpus(stage, node.guests.map(|cpu| cpu.other)))
        .figure("Waited", |(stage, node)| waited(stage, node))
        .figure("Node busy", |(_, node)| busy(node))
        .caption(
            "Between two looks at the nodes, at the begin and the end of each measurement. The \
             ratio: bytes that disks of all nodes wrote for each byte that guests wrote, other \
             programs' included. CPU in CPUs. Waited: virtual CPUs that had work and no CPU, in \
             their time.",
        )
        .scroll()
}

fn bytes_of_disks(counts: &NodeCounts) -> Option<String> {
    let (read, written) = counts.read_bytes.zip(counts.written_bytes)?;
    Some(format!("{}, {}", Bytes(read), Bytes(written)))
}

/// Each node: the machines that are not there any more, CPU time, bytes of its disks; then how many
/// bytes disks wrote for each byte that guests wrote.
pub fn sentence(below: &BelowGuests) -> String {
    let nodes: Vec<String> = below.nodes.iter().map(|node| of_node(below.length, node)).collect();
    let mut text = format!(
        "in {}, guests read {} and wrote {}; {}",
        below.length,
        below.guest_read,
        below.guest_written,
        nodes.join("; ")
    );
    if let Some(times) = ratio(below.guest_written, &below.nodes) {
        text.push_str(&format!(
            "; disks wrote {times:.2} bytes for each byte that guests wrote, other programs' \
             included"
        ));
    }
    text
}

/// Bytes that all nodes' disks wrote for each byte that guests wrote; `None` where a node does not
/// report it, or guests wrote nothing.
fn ratio(guest_written: Bytes, nodes: &[BelowNode]) -> Option<f64> {
    let all: Option<u64> = nodes.iter().map(|node| node.counts.written_bytes).sum();
    (guest_written.0 > 0 && !nodes.is_empty()).then_some(())?;
    Some(all? as f64 / guest_written.0 as f64)
}

fn of_node(length: Nanos, node: &BelowNode) -> String {
    let mut parts = Vec::new();
    if !node.astray.is_empty() {
        parts.push(format!(
            "{} did not run there at the end: figures by node do not hold",
            hostlist::compress(&node.astray)
        ));
    }
    if let Some(HostCpu { vcpu, io, other, waited }) = node.guests {
        let io = io.map(|io| format!("{io} for their I/O, ")).unwrap_or_default();
        parts.push(format!("CPU {vcpu} for guests, {io}{other} for the rest of them"));
        parts.extend(waited.map(|waited| format!("virtual CPUs waited {waited} for a CPU")));
    }
    let NodeCounts { busy, cpus, read_bytes, written_bytes, .. } = node.counts;
    if let (Some(busy), Some(cpus)) = (busy, cpus)
        && cpus.0 > 0
    {
        let count = cpus.0 as f64 / length.0.max(1) as f64;
        let share = words::share(busy.0 as f64 / cpus.0 as f64);
        parts.push(format!("{share} of all {count:.0} CPUs busy"));
    }
    if let (Some(read), Some(written)) = (read_bytes, written_bytes) {
        parts.push(format!("disks read {} and wrote {}", Bytes(read), Bytes(written)));
    }
    if parts.is_empty() {
        parts.push("no answer".to_owned());
    }
    format!("{}: {}", node.node, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Fact;
    use model::machines::MachinesMade;

    fn below() -> BelowGuests {
        let node = BelowNode {
            node: "n1".into(),
            astray: Vec::new(),
            guests: Some(HostCpu {
                vcpu: Nanos::seconds(8),
                io: Some(Nanos::seconds(2)),
                other: Nanos::seconds(1),
                waited: Some(Nanos::seconds(3)),
            }),
            counts: NodeCounts {
                busy: Some(Nanos::seconds(20)),
                cpus: Some(Nanos::seconds(40)),
                read_bytes: Some(1 << 20),
                written_bytes: Some(3 << 30),
                ..NodeCounts::default()
            },
        };
        BelowGuests {
            length: Nanos::seconds(10),
            guest_read: Bytes::gib(4),
            guest_written: Bytes::gib(1),
            nodes: vec![node],
            stages: Vec::new(),
        }
    }

    #[test]
    fn the_page_has_each_machine_on_its_node_and_each_point_with_what_the_node_did() {
        let mut recorded =
            analysis::testing::Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(model::StageKind::Measure);
        recorded.interval(stage, 0, &[(model::Op::Read, &[1_000; 50])]);
        let mut record = recorded.end();
        let machine = record.plan.hosts[0].hostname.clone();
        record.testbed[0].logical_cpus = 1;
        assert_eq!(section(&record, &[]), Markup::new(), "no machines of ours");
        let made = MachinesMade {
            name: "a".into(),
            provider: model::machines::ProviderKind::Qemu,
            nodes: vec![model::machines::OnNode { node: "n1".into(), machines: vec![machine] }],
            accelerator: model::machines::Accelerator::Kvm,
            cache: model::machines::DiskCache::None,
            boots: Vec::new(),
            go_with_run: true,
        };
        record.plan.notes.push(model::plan::PlanNote { fact: Fact::Machines(made) });
        let BelowGuests { length, guest_read, guest_written, nodes, .. } = below();
        let of_stage = BelowStage { stage, length, guest_read, guest_written, nodes };
        let fact = Fact::BelowGuests(BelowGuests { stages: vec![of_stage], ..below() });
        record.notes.push(model::Note { stage: None, host: 0, fact });
        let rows = analysis::results(&record);
        let page = section(&record, &rows).into_string();
        let parts =
            ["n1", ">50 requests, 200 KiB<", "4 GiB, 1 GiB", "1 MiB, 3 GiB", "3.00", ">0.80<"];
        for part in parts.into_iter().chain(["50 %", "disks wrote 3 GiB", ">30 %<", "<svg"]) {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn nodes_stand_beside_what_their_guests_did() {
        assert_eq!(
            sentence(&below()),
            "in 10 s, guests read 4 GiB and wrote 1 GiB; n1: CPU 8 s for guests, 2 s for their \
             I/O, 1 s for the rest of them, virtual CPUs waited 3 s for a CPU, 50 % of \
             all 4 CPUs busy, disks read 1 MiB and wrote 3 GiB; disks wrote 3.00 bytes \
             for each byte that guests wrote, other programs' included"
        );
    }

    #[test]
    fn a_machine_that_moved_is_named_and_a_part_stands_for_no_whole() {
        let mut moved = below();
        moved.nodes[0].astray = vec!["a-1".into(), "a-2".into()];
        moved.nodes.push(BelowNode { node: "n2".into(), ..BelowNode::default() });
        let text = sentence(&moved);
        assert!(text.contains("n1: a-[1-2] did not run there") && text.contains("n2: no answer"));
        assert!(!text.contains("for each byte"), "{text}");
    }
}
