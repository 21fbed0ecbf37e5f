//! What is asked for when agents are to be started; it crosses the wire, to those that start agents
//! for us.

use super::via::Via;
use model::Nanos;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;

/// Which agents are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The way to the hosts.
    pub via: Via,
    /// Their names.
    pub hosts: Vec<String>,
    /// The paths that each agent may touch, in the order of the hosts; none where there is no
    /// entry.
    pub allow: Vec<Vec<String>>,
    /// Where the program is on the hosts; where it is not said, it is copied to those that lack
    /// it.
    pub agent: Option<PathBuf>,
    /// Our version, which theirs has to be.
    pub version: String,
    /// How many agents each starts: us, and those that start others for us. `None` is all of them
    /// from here up to 64 hosts, and a tree past that, as far as the hosts can start one another.
    pub fanout: Option<u32>,
    /// Hosts that are reached at the same time, by each that starts others; `None` is 64.
    pub connections: Option<u32>,
    /// Hosts that are not there are tried again for so long.
    pub start_within: Nanos,
    /// Whether the others may do without a host: then whoever says nothing is waited for as long as
    /// the others show what is usual, and not for as long as a host may take.
    pub may_lack: bool,
    /// How agents hold out whose connection breaks; `None` is not at all.
    pub hold: Option<Hold>,
    /// The host that starts them for us; `None` is this one.
    pub by: Option<String>,
}

/// How agents hold out without a connection, and are found again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// For so long.
    pub within: Nanos,
    /// What their names begin with, which nobody else has.
    pub name: String,
}

impl Hold {
    /// The longest part of a host's name that goes into that of its agent.
    const LONGEST: usize = 40;

    /// For so long, under a name by chance.
    pub fn new(within: Nanos) -> Hold {
        Hold { within, name: format!("{:032x}", by_chance()) }
    }

    /// What the agent of a host is called. Two hosts on one machine have names of their own.
    pub fn name_of(&self, host: &str) -> String {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
        let plain: Vec<char> = host.chars().filter(is_plain).collect();
        let last = plain.len().saturating_sub(Hold::LONGEST);
        format!("{}-{}", self.name, plain[last..].iter().collect::<String>())
    }
}

/// Bits that no other copy of a program has, here or elsewhere.
pub(crate) fn by_chance() -> u128 {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    half() << 64 | half()
}
