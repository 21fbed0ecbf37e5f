//! What hosts are made of, for people.

use crate::ground::words;
use crate::topics::{cluster_parts, plan};
use model::inventory::{Inventory, Limits, Link, LinkKind, MountFacts, NicFacts, RdmaFacts};
use model::testbed::{DeviceFacts, HostFacts, TargetFacts, TargetKind};
use model::{Bytes, printable};
use std::fmt::Write;

/// More CPUs than this are given as a number, not as a list.
const MOST_LISTED: usize = 16;

/// All hosts, one after the other; of several, their drives and ports together.
pub fn render(hosts: &[HostFacts]) -> String {
    let each: Vec<String> = hosts.iter().map(host).collect();
    let all = if hosts.len() > 1 { cluster_parts::render(hosts) } else { String::new() };
    if all.is_empty() { each.join("\n") } else { format!("{}\n{all}", each.join("\n")) }
}

fn host(facts: &HostFacts) -> String {
    let mut lines = Lines::default();
    let inventory = &facts.inventory;
    lines.put("host", &plan::host_line(facts));
    if let Some(line) = processors(inventory) {
        lines.put("cpu", &line);
    }
    // A single node is all of the host, which is said already.
    for node in inventory.numa.iter().filter(|_| inventory.numa.len() > 1) {
        let line = format!("node {}: {}, {} of memory", node.node, cpus(&node.cpus), node.memory);
        lines.put("numa", &line);
    }
    if let Some(line) = limits(&inventory.limits) {
        lines.put("limits", &line);
    }
    inventory.disks.iter().for_each(|disk| lines.put("disk", &device(disk)));
    inventory.nics.iter().for_each(|one| lines.put("network", &nic(one)));
    inventory.rdma.iter().for_each(|port| lines.put("rdma", &rdma(port)));
    inventory.mounts.iter().for_each(|one| lines.put("mount", &mount(one)));
    facts.targets.iter().for_each(|one| target(one, &mut lines));
    lines.text
}

/// Lines with what they are about in front; only the first of several alike says it.
#[derive(Default)]
struct Lines {
    text: String,
    head: &'static str,
}

impl Lines {
    fn put(&mut self, head: &'static str, line: &str) {
        let shown = if self.head == head { "" } else { head };
        self.head = head;
        // Names come from devices and from other machines: what would steer a terminal is not for
        // it.
        let line = printable::line(line);
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{shown:8} {}", line.trim_end());
    }
}

fn processors(inventory: &Inventory) -> Option<String> {
    let count = |number: u32, noun| words::counted(u64::from(number), noun);
    (inventory.threads > 0).then(|| {
        let (sockets, cores) = (count(inventory.sockets, "socket"), count(inventory.cores, "core"));
        format!("{sockets}, {cores}, {}", count(inventory.threads, "thread"))
    })
}

fn cpus(cpus: &[u32]) -> String {
    match cpus.len() {
        0 => "no CPUs".to_owned(),
        1..=MOST_LISTED => {
            format!("CPUs {}", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
        }
        many => words::counted(many as u64, "CPU"),
    }
}

fn limits(limits: &Limits) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(
        limits.cpu_milli.map(|milli| format!("CPU time of {} CPUs", milli as f64 / 1_000.0)),
    );
    parts.extend((!limits.cpus.is_empty()).then(|| format!("{} only", cpus(&limits.cpus))));
    parts.extend(limits.memory.map(|memory| format!("{memory} of memory with its page cache")));
    parts.extend(limits.io.iter().map(|line| format!("I/O {line}")));
    (!parts.is_empty()).then(|| format!("{} (control group)", parts.join(", ")))
}

fn listed(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}

fn device(disk: &DeviceFacts) -> String {
    let named = |name: &str, value: &str| {
        if value.is_empty() { String::new() } else { format!("{name} {value}") }
    };
    let number = |name: &str, value: Option<u32>| {
        value.map(|value| format!("{name} {value}")).unwrap_or_default()
    };
    let medium = [disk.media.words(), disk.transport.as_str()];
    let medium: Vec<&str> = medium.into_iter().filter(|word| !word.is_empty()).collect();
    let size = if disk.size > Bytes(0) { disk.size.to_string() } else { String::new() };
    let parts = [
        size,
        disk.model.clone(),
        medium.join(" over "),
        named("firmware", &disk.firmware),
        named("scheduler", &disk.scheduler),
        number("depth", disk.queue_depth),
        number("queues", disk.queues),
        named("cache", &disk.write_cache),
        number("NUMA node", disk.numa_node),
    ];
    format!("{}: {}", disk.name, listed(&parts))
}

fn speed(mbit: u32) -> String {
    if mbit >= 1_000 {
        format!("{} Gbit/s", f64::from(mbit) / 1_000.0)
    } else {
        format!("{mbit} Mbit/s")
    }
}

fn nic(nic: &NicFacts) -> String {
    let parts = [
        if nic.up { String::new() } else { "not up".to_owned() },
        nic.speed_mbit.map(speed).unwrap_or_default(),
        if nic.driver.is_empty() {
            "software".to_owned()
        } else {
            format!("driver {}", nic.driver)
        },
        format!("MTU {}", nic.mtu),
        nic.numa_node.map(|node| format!("NUMA node {node}")).unwrap_or_default(),
        if nic.master.is_empty() { String::new() } else { format!("a part of {}", nic.master) },
    ];
    format!("{}: {}", nic.name, listed(&parts))
}

fn rdma(port: &RdmaFacts) -> String {
    let parts = [
        port.rate_mbit.map(speed).unwrap_or_default(),
        port.link.clone(),
        port.state.to_lowercase(),
        port.numa_node.map(|node| format!("NUMA node {node}")).unwrap_or_default(),
    ];
    format!("{} port {}: {}", port.device, port.port, listed(&parts))
}

fn mount(mount: &MountFacts) -> String {
    let source = if mount.source.is_empty() { String::new() } else { format!("{} ", mount.source) };
    let servers = match mount.servers.as_slice() {
        [] if mount.network => ", on other machines".to_owned(),
        [] => String::new(),
        servers => format!(", served by {}", servers.join(", ")),
    };
    format!(
        "{}: {source}{} ({}){servers}",
        mount.mount_point,
        mount.file_system,
        mount.options.join(",")
    )
}

fn target(target: &TargetFacts, lines: &mut Lines) {
    // Each begins anew.
    lines.head = "";
    lines.put("target", &format!("{}: {}", target.path, what(&target.kind)));
    for link in &target.chain {
        lines.put(
            "target",
            &format!("{:indent$}{}", "", chain_line(link), indent = 2 * (link.depth as usize + 1)),
        );
    }
}

fn what(kind: &TargetKind) -> String {
    match kind {
        TargetKind::Missing => "nothing stands there yet".to_owned(),
        TargetKind::NoParent => "nothing stands there, nor above it".to_owned(),
        TargetKind::Directory { .. } => "a directory".to_owned(),
        TargetKind::File { size } => format!("a file of {size}"),
        TargetKind::Device { size, in_use: None } => format!("a block device of {size}"),
        TargetKind::Device { size, in_use: Some(why) } => {
            format!("a block device of {size}; {why}")
        }
        TargetKind::Simulated { size } => format!("a simulated device of {size}"),
        TargetKind::Other(what) => what.clone(),
        TargetKind::Unreadable(why) => format!("it cannot be looked at: {why}"),
    }
}

fn chain_line(link: &Link) -> String {
    let detail = if link.detail.is_empty() { String::new() } else { format!(" ({})", link.detail) };
    match &link.device {
        // What is below tells the rest.
        Some(disk) if link.kind == LinkKind::Disk => {
            format!("{} {}", link.kind.words(), device(disk))
        }
        Some(disk) => format!("{} {}{detail}, {}", link.kind.words(), link.name, disk.size),
        None => format!("{} {}{detail}", link.kind.words(), link.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing;
    use model::inventory::{Media, NumaNode};

    fn disk(name: &str) -> DeviceFacts {
        DeviceFacts {
            name: name.to_owned(),
            model: "EXAMPLE SSD 1T".to_owned(),
            size: Bytes::gib(1024),
            media: Media::Nvme,
            transport: "pcie".to_owned(),
            firmware: "2B2Q".to_owned(),
            scheduler: "none".to_owned(),
            queue_depth: Some(1023),
            queues: Some(8),
            write_cache: "write back".to_owned(),
            numa_node: Some(1),
            ..DeviceFacts::default()
        }
    }

    fn inventory() -> Inventory {
        let mount =
            |mount_point: &str, file_system: &str, source: &str, servers: &[&str]| MountFacts {
                mount_point: mount_point.to_owned(),
                file_system: file_system.to_owned(),
                source: source.to_owned(),
                options: vec!["relatime".to_owned(), "rw".to_owned()],
                network: !servers.is_empty(),
                servers: servers.iter().map(|name| (*name).to_owned()).collect(),
            };
        Inventory {
            clock_source: "tsc".to_owned(),
            sockets: 2,
            cores: 32,
            threads: 64,
            numa: vec![
                NumaNode { node: 0, cpus: (0..32).collect(), memory: Bytes::gib(32) },
                NumaNode { node: 1, cpus: vec![32, 33], memory: Bytes::gib(32) },
            ],
            limits: Limits {
                cpu_milli: Some(1_500),
                memory: Some(Bytes::gib(8)),
                cpus: vec![4, 5],
                io: vec!["8:0 rbps=1048576".to_owned()],
            },
            disks: vec![disk("nvme0n1"), disk("nvme1n1")],
            nics: vec![NicFacts {
                name: "eth0".to_owned(),
                driver: "ice".to_owned(),
                speed_mbit: Some(25_000),
                mtu: 9_000,
                up: true,
                numa_node: Some(0),
                master: "bond0".to_owned(),
            }],
            rdma: vec![RdmaFacts {
                device: "mlx5_0".to_owned(),
                port: 1,
                rate_mbit: Some(100_000),
                link: "InfiniBand".to_owned(),
                state: "ACTIVE".to_owned(),
                numa_node: None,
            }],
            mounts: vec![
                mount("/mnt/data", "xfs", "/dev/md0", &[]),
                mount("/mnt/\u{1b}[2J", "nfs4", "filer:/x", &["filer"]),
            ],
        }
    }

    fn rich() -> HostFacts {
        let mut facts = testing::host(0);
        facts.inventory = inventory();
        let link = |depth, kind, name: &str, detail: &str, device| Link {
            depth,
            kind,
            name: name.to_owned(),
            detail: detail.to_owned(),
            device,
            ..Link::default()
        };
        facts.targets[0].chain = vec![
            link(0, LinkKind::FileSystem, "xfs", "/dev/md0 at /mnt/data", None),
            link(
                1,
                LinkKind::Raid,
                "md0",
                "raid1 of 2",
                Some(DeviceFacts { size: Bytes::gib(1023), ..disk("md0") }),
            ),
            link(2, LinkKind::Disk, "nvme0n1", "", Some(disk("nvme0n1"))),
            link(2, LinkKind::Disk, "nvme1n1", "", Some(disk("nvme1n1"))),
        ];
        facts
    }

    #[test]
    fn a_host_is_told_with_all_its_parts() {
        insta::assert_snapshot!(render(&[rich()]));
    }

    #[test]
    fn nothing_from_outside_steers_the_terminal() {
        assert!(!render(&[rich()]).contains('\u{1b}'));
    }

    #[test]
    fn a_host_that_tells_little_is_told_in_few_lines() {
        let text = render(&[testing::host(0), testing::host(1)]);
        assert_eq!(text.lines().filter(|line| !line.is_empty()).count(), 4, "{text}");
    }
}
