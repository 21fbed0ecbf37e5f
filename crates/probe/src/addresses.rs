//! The addresses of a host with their interfaces (`/proc/net/fib_trie`, `/proc/net/route` and
//! `/proc/net/if_inet6`; the kernel's `net/ipv4/fib_trie.c` and `net/ipv6/addrconf.c`), and what
//! its network counts.

use crate::net;
use crate::tree::Tree;
use model::network::HostAddress;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// More of them than any host has.
const MOST: usize = 4_096;

/// A route to a network that an interface is in itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    interface: String,
    network: u32,
    prefix: u8,
}

/// The addresses by which others may reach this host: none of the loopback, none that hold on one
/// link only.
pub fn addresses(tree: &Tree) -> Vec<HostAddress> {
    let read = |path: &str| tree.text(path).unwrap_or_default();
    let routes = routes(&read("proc/net/route"));
    let four = local_addresses(&read("proc/net/fib_trie")).into_iter().map(|address| {
        let bits = u32::from(address);
        let of = |route: &&Route| {
            bits.checked_shr(32 - u32::from(route.prefix)).unwrap_or(0)
                == route.network.checked_shr(32 - u32::from(route.prefix)).unwrap_or(0)
        };
        let route = routes.iter().filter(of).max_by_key(|route| route.prefix);
        HostAddress {
            address: IpAddr::V4(address),
            prefix: route.map_or(32, |route| route.prefix),
            interface: route.map(|route| route.interface.clone()).unwrap_or_default(),
            speed_mbit: None,
        }
    });
    let six = six(&read("proc/net/if_inet6"));
    let nics = net::nics(tree);
    let mut all: Vec<HostAddress> = four.chain(six).take(MOST).collect();
    for address in &mut all {
        let nic = nics.iter().find(|nic| nic.name == address.interface);
        address.speed_mbit = nic.and_then(|nic| nic.speed_mbit);
    }
    all
}

/// The addresses that the kernel takes for its own, in the order of the trie, each once.
fn local_addresses(trie: &str) -> Vec<Ipv4Addr> {
    let mut all: Vec<Ipv4Addr> = Vec::new();
    let mut last = None;
    for line in trie.lines() {
        let line = line.trim();
        if let Some(leaf) = line.strip_prefix("|-- ") {
            last = leaf.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = last
            && !address.is_loopback()
            && !all.contains(&address)
            && all.len() < MOST
        {
            all.push(address);
        }
    }
    all
}

/// The routes without a gateway. Numbers are in hexadecimal and in the host's own order of bytes.
fn routes(text: &str) -> Vec<Route> {
    let route = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| u32::from_str_radix(words.get(place)?, 16).ok();
        let (network, gateway, mask) = (number(1)?, number(2)?, number(7)?);
        // As it stands in memory, which is the order of the network.
        let [network, mask] = [network, mask].map(|word| u32::from_be_bytes(word.to_ne_bytes()));
        let prefix = mask.leading_ones() as u8;
        (gateway == 0 && prefix > 0).then(|| Route {
            interface: words[0].to_owned(),
            network,
            prefix,
        })
    };
    text.lines().skip(1).filter_map(route).take(MOST).collect()
}

/// Addresses of IPv6 with a global scope: address, interface's number, prefix, scope, flags, name.
fn six(text: &str) -> Vec<HostAddress> {
    let address = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let bits = u128::from_str_radix(words.first()?, 16).ok()?;
        let prefix = u8::from_str_radix(words.get(2)?, 16).ok()?;
        let address = IpAddr::V6(Ipv6Addr::from(bits));
        (*words.get(3)? == "00").then(|| HostAddress {
            address,
            prefix,
            interface: words.get(5).copied().unwrap_or_default().to_owned(),
            speed_mbit: None,
        })
    };
    text.lines().filter_map(address).take(MOST).collect()
}

/// What a host's network and its CPUs counted until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkNow {
    /// Bytes that the interface received, with headers.
    pub received: Option<u64>,
    /// TCP segments that were sent once more, on all interfaces.
    pub retransmitted: Option<u64>,
    /// Time of all CPUs without work, in the kernel's ticks.
    pub idle_ticks: Option<u64>,
    /// Time of all CPUs, in the kernel's ticks.
    pub all_ticks: Option<u64>,
}

/// Reads what `interface` and the host counted until now (man 5 proc_pid_net, proc_stat;
/// RFC 4022's `RetransSegs` in `/proc/net/snmp`). What cannot be read is `None`.
pub fn network_now(tree: &Tree, interface: &str) -> NetworkNow {
    let read = |path: &str| tree.text(path).unwrap_or_default();
    let ticks = ticks(&read("proc/stat"));
    NetworkNow {
        received: received(&read("proc/net/dev"), interface),
        retransmitted: retransmitted(&read("proc/net/snmp")),
        idle_ticks: ticks.map(|(idle, _)| idle),
        all_ticks: ticks.map(|(_, all)| all),
    }
}

fn received(text: &str, interface: &str) -> Option<u64> {
    let counts = text.lines().find_map(|line| {
        let (name, counts) = line.split_once(':')?;
        (name.trim() == interface).then_some(counts)
    })?;
    counts.split_whitespace().next()?.parse().ok()
}

/// `Tcp:` stands twice: its names, then their numbers.
fn retransmitted(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|name| name == "RetransSegs")?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

/// Ticks without work, and all: user, nice, system, idle, iowait, irq, softirq, steal. Guests are a
/// part of the first two.
fn ticks(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_whitespace().take(8).map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let idle = ticks.get(3)?.saturating_add(*ticks.get(4)?);
    Some((idle, ticks.iter().fold(0, |sum: u64, one| sum.saturating_add(*one))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::tree;

    /// As Linux 6.1 wrote them on a host with two interfaces; the numbers of routes are those of a
    /// machine with little-endian words.
    const TRIE: &str = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe \
                        UNICAST\n     |-- 10.1.0.0\n        /16 link UNICAST\n     |-- \
                        10.1.0.7\n        /32 host LOCAL\nLocal:\n     |-- 127.0.0.1\n        \
                        /32 host LOCAL\n     |-- 10.1.0.7\n        /32 host LOCAL\n     |-- \
                        10.1.255.255\n        /32 link BROADCAST\n     |-- 192.0.2.2\n        \
                        /32 host LOCAL\n";
    const ROUTES: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n\
                          eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\n\
                          eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n\
                          bond1\t0000010A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\nbroken\n";
    const SIX: &str = "00000000000000000000000000000001 01 80 10 80       lo\n\
                       fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n\
                       fd000000000000000000000000000002 04 40 00 82     eth0\n";

    #[test]
    fn addresses_have_their_network_and_interface() {
        let (_folder, tree) = tree(&[
            ("proc/net/fib_trie", TRIE),
            ("proc/net/route", ROUTES),
            ("proc/net/if_inet6", SIX),
            ("sys/class/net/bond1/speed", "50000\n"),
            ("sys/class/net/bond1/operstate", "up\n"),
        ]);
        let all: Vec<(String, String, Option<u32>)> = addresses(&tree)
            .into_iter()
            .map(|one| (format!("{}/{}", one.address, one.prefix), one.interface, one.speed_mbit))
            .collect();
        let one = |address: &str, interface: &str, speed| {
            (address.to_owned(), interface.to_owned(), speed)
        };
        assert_eq!(
            all,
            [
                one("10.1.0.7/16", "bond1", Some(50_000)),
                one("192.0.2.2/24", "eth0", None),
                one("fd00::2/64", "eth0", None),
            ]
        );
        let (_folder, empty) = crate::tree::testing::tree(&[]);
        assert!(addresses(&empty).is_empty());
    }

    #[test]
    fn what_network_and_cpus_counted_is_read_as_far_as_it_is_there() {
        let dev = "Inter-|   Receive |  Transmit\n face |bytes packets\n    lo: 5 1 0 0 0 0 0 0 5 \
                   1 0 0 0 0 0 0\n  eth0:700 9 0 0 0 0 0 0 800 9 0 0 0 0 0 0\n";
        let snmp = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs InErrs\nTcp: 1 99 \
                    42 0\n";
        let stat = "cpu  10 0 20 60 5 1 2 2 9 0\ncpu0 1 1 1 1\n";
        let (_folder, tree) =
            tree(&[("proc/net/dev", dev), ("proc/net/snmp", snmp), ("proc/stat", stat)]);
        assert_eq!(
            network_now(&tree, "eth0"),
            NetworkNow {
                received: Some(700),
                retransmitted: Some(42),
                idle_ticks: Some(65),
                all_ticks: Some(100),
            }
        );
        assert_eq!(network_now(&tree, "eth1").received, None);
        let (_folder, empty) = crate::tree::testing::tree(&[("proc/net/snmp", "Tcp: a\n")]);
        assert_eq!(network_now(&empty, "eth0"), NetworkNow::default());
    }
}
