//! What TCP carries between hosts, without any storage: the baseline of a network.

// The addresses of `core` are nouns: nothing of it can open a connection.
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An address of a host, as its kernel lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAddress {
    /// The address.
    pub address: IpAddr,
    /// The bits of it that its network has; 32 or 128 where the kernel has no such route.
    pub prefix: u8,
    /// The interface that has it; empty where the kernel does not report it.
    pub interface: String,
    /// The speed of its link, in 10⁶ bits a second; `None` where nobody reports it.
    pub speed_mbit: Option<u32>,
}

impl HostAddress {
    /// The network that it is in.
    pub fn subnet(&self) -> Subnet {
        Subnet::of(self.address, self.prefix)
    }
}

/// A range of addresses: `10.1.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subnet {
    first: IpAddr,
    prefix: u8,
}

impl Subnet {
    /// The range of this many bits that `address` is in; more bits than it has are all of them.
    pub fn of(address: IpAddr, prefix: u8) -> Subnet {
        match address {
            IpAddr::V4(address) => {
                let prefix = prefix.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                Subnet { first: IpAddr::V4((u32::from(address) & mask).into()), prefix }
            }
            IpAddr::V6(address) => {
                let prefix = prefix.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                Subnet { first: IpAddr::V6((u128::from(address) & mask).into()), prefix }
            }
        }
    }

    /// Whether an address is in it.
    pub fn holds(&self, address: IpAddr) -> bool {
        Subnet::of(address, self.prefix).first == self.first
    }
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

impl FromStr for Subnet {
    type Err = String;

    fn from_str(text: &str) -> Result<Subnet, String> {
        let wrong = || format!("`{text}` is no range of addresses; write one such as 10.1.0.0/16");
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
        let bits: u8 = bits.trim().parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if bits > most {
            return Err(wrong());
        }
        Ok(Subnet::of(address, bits))
    }
}

/// What a flow between two hosts is: who sends, for how long, and how much at most. The host that
/// listens and the one that connects get the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSpec {
    /// By what both know each other; nothing is sent to anybody else.
    pub token: u128,
    /// TCP connections of each direction that is used, 1 to [`MOST_STREAMS`].
    pub streams: u32,
    /// Whether the host that connects sends.
    pub forward: bool,
    /// Whether the host that listens sends.
    pub backward: bool,
    /// How long the connections may take until all of them are there, in ns.
    pub setup_ns: u64,
    /// What is sent so long at first does not count, in ns.
    pub settle_ns: u64,
    /// What is received in this time then counts, in ns.
    pub window_ns: u64,
    /// Bytes of each direction at most.
    pub most_bytes: u64,
}

/// Connections of one direction of a flow at most.
pub const MOST_STREAMS: u32 = 64;
/// Nothing that a flow does takes longer, in ns.
pub const LONGEST_FLOW_NS: u64 = 3_600_000_000_000;

impl FlowSpec {
    /// Connections of both directions together.
    pub fn connections(&self) -> u32 {
        self.streams * (u32::from(self.forward) + u32::from(self.backward))
    }

    /// All of its times together, in ns.
    pub fn longest_ns(&self) -> u64 {
        self.setup_ns.saturating_add(self.settle_ns).saturating_add(self.window_ns)
    }

    /// Whether a host may do this: it comes over the wire.
    pub fn is_sound(&self) -> bool {
        (1..=MOST_STREAMS).contains(&self.streams)
            && (self.forward || self.backward)
            && self.window_ns > 0
            && self.longest_ns() <= LONGEST_FLOW_NS
    }
}

/// What one of both hosts counted of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Bytes that it received in the window, without headers; 0 where it only sends.
    pub received_bytes: u64,
    /// The window's real length, in ns; 0 where it only sends.
    pub window_ns: u64,
    /// All bytes that it sent, those before and after the window included.
    pub sent_bytes: u64,
    /// What the interface of its address received in the time of the window, in bytes with
    /// headers; `None` where the kernel does not report it.
    pub interface_received: Option<u64>,
    /// TCP segments that the host sent once more in that time, for whomever.
    pub retransmitted: Option<u64>,
    /// The share of all its CPUs that was busy in that time, 0 to 1.
    pub cpu_busy: Option<f64>,
}

/// Why a flow could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowFailure {
    /// The address cannot be listened at; the system's own words.
    NoListener(String),
    /// The other host's kernel refused the connection: nobody listens, or a firewall rejects.
    Refused,
    /// No answer came in time: a firewall drops, or there is no way.
    NoAnswer,
    /// There is no way to the address; the system's own words.
    NoWay(String),
    /// Not all connections came in time: so many did.
    TooFew(u32),
    /// The connection goes out by another address of the host, so another port would be measured.
    OtherAddress(IpAddr),
    /// Whoever answered does not know the token.
    Stranger,
    /// It broke; the system's own words.
    Broken(String),
    /// The host measures already, or may not do what it was asked.
    Declined,
    /// Somebody stopped it.
    Stopped,
}

/// One host of a baseline, with the address that is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineHost {
    /// What the user calls it.
    pub name: String,
    /// Its address.
    pub address: HostAddress,
    /// The first host that is on the same kernel, by its place; itself where none before it is.
    pub kernel: u32,
}

/// In which direction a pair was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The first host sends.
    Forward,
    /// The second host sends.
    Backward,
    /// Both send at the same time.
    Both,
}

impl Way {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Way; 3] = [Way::Forward, Way::Backward, Way::Both];
}

/// One measurement between two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// The round, from 0: flows of one round and way ran at the same time.
    pub round: u32,
    /// The host that connected, by its place among the hosts.
    pub first: u32,
    /// The host that listened.
    pub second: u32,
    /// Who sent.
    pub way: Way,
    /// What the first counted; `None` where it failed.
    pub at_first: Option<FlowCounts>,
    /// What the second counted.
    pub at_second: Option<FlowCounts>,
    /// Why there is no figure.
    pub failed: Option<FlowFailure>,
}

/// What TCP carries between hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// When it began, in ns since 1970.
    pub unix_ns: u64,
    /// The version that measured.
    pub version: String,
    /// The hosts.
    pub hosts: Vec<BaselineHost>,
    /// TCP connections of each direction.
    pub streams: u32,
    /// What was sent so long at first did not count, in ns.
    pub settle_ns: u64,
    /// For how long each flow was measured, in ns.
    pub window_ns: u64,
    /// Rounds in which each host would meet each other.
    pub rounds_of_all: u32,
    /// What was measured, in order.
    pub flows: Vec<FlowResult>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_holds_its_addresses_alone() {
        let subnet: Subnet = "10.1.2.3/16".parse().expect("a range");
        assert_eq!(subnet.to_string(), "10.1.0.0/16");
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert!(subnet.holds(ip("10.1.255.1")) && !subnet.holds(ip("10.2.0.1")));
        assert!(!subnet.holds(ip("fd00::1")));
        let all: Subnet = "0.0.0.0/0".parse().expect("a range");
        assert!(all.holds(ip("255.1.1.1")) && !all.holds(ip("::1")));
        let six: Subnet = "fd00::5/64".parse().expect("a range");
        assert!(six.holds(ip("fd00::ffff")) && !six.holds(ip("fd01::1")));
        for text in ["", "10.1.0.0", "10.1.0.0/33", "10.1/16", "x/8", "::/129", "10.0.0.0/-1"] {
            assert!(text.parse::<Subnet>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_no_host_may_do_is_seen() {
        let good = FlowSpec {
            token: 1,
            streams: 4,
            forward: true,
            backward: true,
            setup_ns: 1,
            settle_ns: 1,
            window_ns: 1,
            most_bytes: 1,
        };
        assert!(good.is_sound() && good.connections() == 8);
        for bad in [
            FlowSpec { streams: 0, ..good.clone() },
            FlowSpec { streams: MOST_STREAMS + 1, ..good.clone() },
            FlowSpec { forward: false, backward: false, ..good.clone() },
            FlowSpec { window_ns: 0, ..good.clone() },
            FlowSpec { settle_ns: u64::MAX, ..good.clone() },
        ] {
            assert!(!bad.is_sound(), "{bad:?}");
        }
    }
}
