//! What nodes did below the guests of a run.

use crate::ground::words;
use model::machines::{BelowGuests, BelowNode, HostCpu, NodeCounts};
use model::{Bytes, Nanos, hostlist};

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
    if let Some(times) = amplification(below) {
        text.push_str(&format!(
            "; disks wrote {times:.2} bytes for each byte that guests wrote, other programs' \
             included"
        ));
    }
    text
}

/// Bytes that all nodes' disks wrote for each byte that guests wrote; `None` where a node does not
/// report it, or guests wrote nothing.
fn amplification(below: &BelowGuests) -> Option<f64> {
    let all: Option<u64> = below.nodes.iter().map(|node| node.counts.written_bytes).sum();
    let guests = below.guest_written.0;
    (guests > 0 && !below.nodes.is_empty()).then_some(())?;
    Some(all? as f64 / guests as f64)
}

fn of_node(length: Nanos, node: &BelowNode) -> String {
    let mut parts = Vec::new();
    if !node.astray.is_empty() {
        parts.push(format!(
            "{} did not run there at the end: figures by node do not hold",
            hostlist::compress(&node.astray)
        ));
    }
    if let Some(HostCpu { vcpu, io, other }) = node.guests {
        let io = io.map(|io| format!("{io} for their I/O, ")).unwrap_or_default();
        parts.push(format!("CPU {vcpu} for guests, {io}{other} for the rest of them"));
    }
    let NodeCounts { busy, cpus, read_bytes, written_bytes } = node.counts;
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

    fn below() -> BelowGuests {
        let node = BelowNode {
            node: "n1".into(),
            astray: Vec::new(),
            guests: Some(HostCpu {
                vcpu: Nanos::seconds(8),
                io: Some(Nanos::seconds(2)),
                other: Nanos::seconds(1),
            }),
            counts: NodeCounts {
                busy: Some(Nanos::seconds(20)),
                cpus: Some(Nanos::seconds(40)),
                read_bytes: Some(1 << 20),
                written_bytes: Some(3 << 30),
            },
        };
        BelowGuests {
            length: Nanos::seconds(10),
            guest_read: Bytes::gib(4),
            guest_written: Bytes::gib(1),
            nodes: vec![node],
        }
    }

    #[test]
    fn nodes_stand_beside_what_their_guests_did() {
        assert_eq!(
            sentence(&below()),
            "in 10 s, guests read 4 GiB and wrote 1 GiB; n1: CPU 8 s for guests, 2 s for their \
             I/O, 1 s for the rest of them, 50 % of all 4 CPUs busy, disks read 1 MiB and wrote 3 \
             GiB; disks wrote 3.00 bytes for each byte that guests wrote, other programs' included"
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
