//! Network interfaces and RDMA ports (the kernel's `ABI/testing/sysfs-class-net`,
//! `ABI/stable/sysfs-class-infiniband`).

use crate::tree::{Tree, number, text};
use model::inventory::{NicFacts, RdmaFacts};
use std::path::Path;

/// More of them than any host has.
const MOST: usize = 4_096;

/// The network interfaces that this process sees, but for the loopback.
pub fn nics(tree: &Tree) -> Vec<NicFacts> {
    let names = tree.names("sys/class/net").into_iter().filter(|name| name != "lo").take(MOST);
    // `bonding_masters` is a file among the interfaces.
    names
        .filter(|name| tree.path(&format!("sys/class/net/{name}")).is_dir())
        .map(|name| nic(tree, name))
        .collect()
}

fn nic(tree: &Tree, name: String) -> NicFacts {
    let folder = tree.path(&format!("sys/class/net/{name}"));
    NicFacts {
        driver: target_name(&folder.join("device/driver")),
        // Without a link it is −1 or cannot be read.
        speed_mbit: number(&folder.join("speed"))
            .and_then(|speed| u32::try_from(speed).ok())
            .filter(|speed| *speed > 0),
        mtu: number(&folder.join("mtu")).and_then(|mtu| u32::try_from(mtu).ok()).unwrap_or(0),
        // Drivers that do not follow their link say "unknown".
        up: text(&folder.join("operstate"))
            .is_some_and(|state| state == "up" || state == "unknown"),
        numa_node: text(&folder.join("device/numa_node")).and_then(|node| node.parse().ok()),
        master: target_name(&folder.join("master")),
        name,
    }
}

/// The last part of what a link leads to; empty where there is none.
fn target_name(link: &Path) -> String {
    let target = std::fs::read_link(link).unwrap_or_default();
    target.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The ports of all RDMA devices.
pub fn rdma(tree: &Tree) -> Vec<RdmaFacts> {
    const DEVICES: &str = "sys/class/infiniband";
    let mut all = Vec::new();
    for device in tree.names(DEVICES).into_iter().take(MOST) {
        let numa_node = tree
            .text(&format!("{DEVICES}/{device}/device/numa_node"))
            .and_then(|node| node.parse().ok());
        for port in tree.names(&format!("{DEVICES}/{device}/ports")).into_iter().take(MOST) {
            let read = |file: &str| {
                tree.text(&format!("{DEVICES}/{device}/ports/{port}/{file}")).unwrap_or_default()
            };
            let Ok(number) = port.parse() else { continue };
            let state = read("state");
            all.push(RdmaFacts {
                device: device.clone(),
                port: number,
                rate_mbit: rate(&read("rate")),
                link: read("link_layer"),
                // `4: ACTIVE`
                state: state.split_once(": ").map_or(state.as_str(), |(_, word)| word).to_owned(),
                numa_node,
            });
        }
    }
    all
}

/// `2.5 Gb/sec (1X)` in 10⁶ bits a second.
fn rate(text: &str) -> Option<u32> {
    let rate: f64 = text.split_once(" Gb/sec")?.0.trim().parse().ok()?;
    (rate > 0.0 && rate < 1e6).then(|| (rate * 1_000.0).round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::{link, tree};

    #[test]
    fn interfaces_are_told_with_their_drivers_and_bonds() {
        let (_folder, tree) = tree(&[
            ("sys/class/net/eth0/speed", "25000\n"),
            ("sys/class/net/eth0/mtu", "9000\n"),
            ("sys/class/net/eth0/operstate", "up\n"),
            ("sys/class/net/eth0/device/numa_node", "1\n"),
            ("sys/class/net/eth1/speed", "-1\n"),
            ("sys/class/net/eth1/operstate", "down\n"),
            ("sys/class/net/lo/mtu", "65536\n"),
            ("sys/class/net/bonding_masters", "bond0\n"),
            ("sys/drivers/ice/x", ""),
            ("sys/class/net/bond0/mtu", "9000\n"),
        ]);
        link(&tree, "sys/class/net/eth0/device/driver", "sys/drivers/ice");
        link(&tree, "sys/class/net/eth0/master", "sys/class/net/bond0");
        let nics = nics(&tree);
        let names: Vec<&str> = nics.iter().map(|nic| nic.name.as_str()).collect();
        assert_eq!(names, ["bond0", "eth0", "eth1"]);
        let eth0 = &nics[1];
        assert_eq!((eth0.driver.as_str(), eth0.master.as_str()), ("ice", "bond0"));
        assert_eq!(
            (eth0.speed_mbit, eth0.mtu, eth0.up, eth0.numa_node),
            (Some(25_000), 9_000, true, Some(1))
        );
        assert_eq!((nics[2].speed_mbit, nics[2].up, nics[2].driver.as_str()), (None, false, ""));
    }

    #[test]
    fn ports_are_told_with_their_rates() {
        let (_folder, tree) = tree(&[
            ("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n"),
            ("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"),
            ("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n"),
            ("sys/class/infiniband/mlx5_0/device/numa_node", "-1\n"),
        ]);
        let ports = rdma(&tree);
        assert_eq!(ports.len(), 1);
        let told = (
            ports[0].rate_mbit,
            ports[0].state.as_str(),
            ports[0].link.as_str(),
            ports[0].numa_node,
        );
        assert_eq!(told, (Some(100_000), "ACTIVE", "InfiniBand", None));
        assert_eq!(
            (rate("2.5 Gb/sec (1X)"), rate("-1 Gb/sec"), rate("NaN Gb/sec"), rate("")),
            (Some(2_500), None, None, None)
        );
    }
}
