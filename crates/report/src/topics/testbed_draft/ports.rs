//! The network ports of a host: which of them carry storage traffic only its owner knows, so the
//! fastest are proposed.

use super::text::{Draft, comment};
use model::testbed::HostFacts;

/// A port that is hardware and has a link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    name: String,
    speed_mbit: Option<u32>,
    numa_node: Option<u32>,
}

/// Interfaces of the hardware that are up, and InfiniBand ports; an Ethernet port that does RDMA is
/// one of the former.
fn ports(host: &HostFacts) -> Vec<Port> {
    let has_infiniband = host.inventory.rdma.iter().any(|port| port.link == "InfiniBand");
    // What goes over IP on InfiniBand uses the same port.
    let is_port = |name: &str| !(has_infiniband && name.starts_with("ib"));
    let nics = host
        .inventory
        .nics
        .iter()
        .filter(|nic| nic.up && !nic.driver.is_empty() && is_port(&nic.name));
    let nics = nics.map(|nic| Port {
        name: nic.name.clone(),
        speed_mbit: nic.speed_mbit,
        numa_node: nic.numa_node,
    });
    let rdma = host
        .inventory
        .rdma
        .iter()
        .filter(|port| port.link == "InfiniBand" && port.state == "ACTIVE");
    let rdma = rdma.map(|port| Port {
        name: format!("{} port {}", port.device, port.port),
        speed_mbit: port.rate_mbit,
        numa_node: port.numa_node,
    });
    nics.chain(rdma).collect()
}

/// Speeds and sockets of a host's ports, sorted, to compare hosts by.
pub(in crate::topics) fn summary(host: &HostFacts) -> Vec<(Option<u32>, Option<u32>)> {
    let mut all: Vec<_> =
        ports(host).into_iter().map(|port| (port.speed_mbit, port.numa_node)).collect();
    all.sort_unstable();
    all
}

/// How many of `ports` hang off another socket than all drives; `None` where that cannot be told:
/// the drives hang off several, or a NUMA node is not a socket here.
fn far(host: &HostFacts, ports: &[&Port]) -> Option<u64> {
    let inventory = &host.inventory;
    if inventory.sockets < 2 || inventory.numa.len() != inventory.sockets as usize {
        return None;
    }
    let mut homes = inventory.disks.iter().filter_map(|disk| disk.numa_node);
    let home = homes.next()?;
    let is_known =
        homes.all(|other| other == home) && ports.iter().all(|port| port.numa_node.is_some());
    is_known.then(|| ports.iter().filter(|port| port.numa_node != Some(home)).count() as u64)
}

fn speed(mbit: u32) -> String {
    if mbit.is_multiple_of(1_000) {
        format!("{}Gbit/s", mbit / 1_000)
    } else {
        format!("{mbit}Mbit/s")
    }
}

pub(super) fn write(draft: &mut Draft, host: &HostFacts) {
    let all = ports(host);
    let told = |port: &Port| {
        let rate = port.speed_mbit.map_or_else(|| "speed not told".to_owned(), speed);
        let node = port.numa_node.map(|node| format!(", NUMA node {node}")).unwrap_or_default();
        format!("{} ({rate}{node})", comment(&port.name))
    };
    if !all.is_empty() {
        draft.remark(&format!(
            "Ports with a link: {}.",
            all.iter().map(told).collect::<Vec<_>>().join(", ")
        ));
    }
    let fastest = all.iter().filter_map(|port| port.speed_mbit).max();
    let Some(fastest) = fastest else {
        draft.ask(
            "How many ports of each carry storage traffic, and how fast is each?",
            "ports = 2",
        );
        draft.more("port_speed = \"25Gbit/s\"");
        return;
    };
    let chosen: Vec<&Port> = all.iter().filter(|port| port.speed_mbit == Some(fastest)).collect();
    draft.question("Taken to carry storage traffic: the fastest. Is that so?");
    draft.number("ports", chosen.len() as u64);
    draft.text("port_speed", &speed(fastest));
    draft.ask("Which share of it can payload have?", "port_efficiency = \"96%\"");
    if host.inventory.sockets < 2 {
        return;
    }
    match far(host, &chosen) {
        Some(far) => draft.number("far_ports", far),
        None => draft.ask(
            "How many of these ports hang off another socket than the drives?",
            "far_ports = 1",
        ),
    }
    draft.ask(
        "What does the link between the sockets carry, each way?",
        "socket_link = \"41.6GB/s\"",
    );
}
