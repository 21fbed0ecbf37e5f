//! Which address of each host is used. Only addresses that hosts report as their own are ever
//! connected to.

use model::network::{HostAddress, Subnet};

/// Why no address could be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// Fewer than two hosts.
    TooFew,
    /// A host has no address in the range that was asked for.
    NoneInRange {
        /// Its name.
        host: String,
        /// What it has instead.
        has: Vec<HostAddress>,
    },
    /// A host has several of them.
    SeveralInRange {
        /// Its name.
        host: String,
        /// Those.
        has: Vec<HostAddress>,
    },
    /// There is no network that all hosts are in with an address of their own.
    NoCommon,
    /// There are several.
    SeveralCommon(Vec<(Subnet, HostAddress)>),
    /// Two hosts have one address.
    Same {
        /// The names of both.
        hosts: [String; 2],
        /// The address.
        address: HostAddress,
    },
}

/// One address of each host: that of the range `wanted`, else that of the only network that all of
/// them are in.
///
/// # Errors
/// Where there is none, or several.
pub fn choose(
    hosts: &[(String, Vec<HostAddress>)],
    wanted: Option<Subnet>,
) -> Result<Vec<HostAddress>, AddressError> {
    if hosts.len() < 2 {
        return Err(AddressError::TooFew);
    }
    let chosen = match wanted {
        Some(range) => in_range(hosts, range)?,
        None => in_common(hosts)?,
    };
    match twice(hosts, &chosen) {
        Some(error) => Err(error),
        None => Ok(chosen),
    }
}

/// The first two hosts that have one address.
fn twice(hosts: &[(String, Vec<HostAddress>)], chosen: &[HostAddress]) -> Option<AddressError> {
    let same = |place: usize| {
        let address = &chosen[place];
        let other = chosen[..place].iter().position(|other| other.address == address.address)?;
        let hosts = [hosts[other].0.clone(), hosts[place].0.clone()];
        Some(AddressError::Same { hosts, address: address.clone() })
    };
    (0..chosen.len()).find_map(same)
}

fn in_range(
    hosts: &[(String, Vec<HostAddress>)],
    range: Subnet,
) -> Result<Vec<HostAddress>, AddressError> {
    let one = |(host, addresses): &(String, Vec<HostAddress>)| {
        let is_in = |address: &&HostAddress| range.holds(address.address);
        let found: Vec<HostAddress> = addresses.iter().filter(is_in).cloned().collect();
        let host = host.clone();
        match found.len() {
            0 => Err(AddressError::NoneInRange { host, has: addresses.clone() }),
            1 => Ok(found[0].clone()),
            _ => Err(AddressError::SeveralInRange { host, has: found }),
        }
    };
    hosts.iter().map(one).collect()
}

fn in_common(hosts: &[(String, Vec<HostAddress>)]) -> Result<Vec<HostAddress>, AddressError> {
    let mut candidates: Vec<(Subnet, Vec<HostAddress>)> = Vec::new();
    let mut same = None;
    for first in &hosts[0].1 {
        let subnet = first.subnet();
        let Ok(chosen) = in_range(hosts, subnet) else { continue };
        // What every host has alike is a bridge inside each of them.
        if let Some(error) = twice(hosts, &chosen) {
            same = same.or(Some(error));
            continue;
        }
        // The other family on the same ports is no other network.
        let ports = |all: &[HostAddress]| -> Vec<String> {
            all.iter().map(|one| one.interface.clone()).collect()
        };
        if !candidates.iter().any(|(_, known)| ports(known) == ports(&chosen)) {
            candidates.push((subnet, chosen));
        }
    }
    match candidates.len() {
        0 => Err(same.unwrap_or(AddressError::NoCommon)),
        1 => Ok(candidates.remove(0).1),
        _ => {
            let named = |(subnet, chosen): (Subnet, Vec<HostAddress>)| {
                chosen.into_iter().next().map(|first| (subnet, first))
            };
            Err(AddressError::SeveralCommon(candidates.into_iter().filter_map(named).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str, interface: &str) -> HostAddress {
        let (address, prefix) = text.split_once('/').expect("a prefix");
        HostAddress {
            address: address.parse().expect("an address"),
            prefix: prefix.parse().expect("a number"),
            interface: interface.to_owned(),
            speed_mbit: None,
        }
    }

    fn host(name: &str, all: &[(&str, &str)]) -> (String, Vec<HostAddress>) {
        (name.to_owned(), all.iter().map(|(text, port)| address(text, port)).collect())
    }

    fn chosen(hosts: &[(String, Vec<HostAddress>)], wanted: Option<&str>) -> Vec<String> {
        let wanted = wanted.map(|text| text.parse().expect("a range"));
        let all = choose(hosts, wanted).expect("a choice");
        all.iter().map(|one| one.address.to_string()).collect()
    }

    #[test]
    fn the_only_common_network_is_taken_and_inner_bridges_are_not() {
        let hosts = [
            host("a", &[("172.17.0.1/16", "docker0"), ("10.0.0.1/24", "e0"), ("fd00::1/64", "e0")]),
            host("b", &[("fd00::2/64", "e1"), ("10.0.0.2/24", "e1"), ("172.17.0.1/16", "docker0")]),
        ];
        assert_eq!(chosen(&hosts, None), ["10.0.0.1", "10.0.0.2"]);
        assert_eq!(chosen(&hosts, Some("fd00::/8")), ["fd00::1", "fd00::2"]);
    }

    #[test]
    fn what_leaves_a_choice_or_none_is_said() {
        let two = [
            host("a", &[("10.0.0.1/24", "e0"), ("10.1.0.1/24", "e1")]),
            host("b", &[("10.0.0.2/24", "e0"), ("10.1.0.2/24", "e1")]),
        ];
        let error = choose(&two, None).expect_err("two networks");
        let AddressError::SeveralCommon(several) = error else { panic!("{error:?}") };
        assert_eq!(several[1].0.to_string(), "10.1.0.0/24");
        let wide = Some("10.0.0.0/8".parse().expect("a range"));
        let error = choose(&two, wide).expect_err("two of a host");
        assert!(matches!(error, AddressError::SeveralInRange { .. }), "{error:?}");
        let other = Some("192.0.2.0/24".parse().expect("a range"));
        let error = choose(&two, other).expect_err("none");
        assert!(
            matches!(&error, AddressError::NoneInRange { host, has } if host == "a"
                && has.len() == 2),
            "{error:?}"
        );
        assert_eq!(choose(&two[..1], None), Err(AddressError::TooFew));
        let apart = [host("a", &[("10.0.0.1/24", "e0")]), host("b", &[("10.9.0.2/24", "e0")])];
        assert_eq!(choose(&apart, None), Err(AddressError::NoCommon));
        assert_eq!(chosen(&apart, Some("10.0.0.0/8")), ["10.0.0.1", "10.9.0.2"], "routed");
        let same = [host("a", &[("10.0.0.1/24", "e0")]), host("b", &[("10.0.0.1/24", "e0")])];
        for wanted in [None, wide] {
            let error = choose(&same, wanted).expect_err("one address");
            assert!(matches!(error, AddressError::Same { .. }), "{error:?}");
        }
    }
}
