//! Which hosts of a fleet tell of one kernel, so that what it counts is counted once.
//!
//! Agents on one machine (`--hosts local:N`, several containers, several `slurmd`) read the same
//! `/proc` and `/sys`. A sum over hosts takes of each of them what no other that is left tells
//! already, and that is decided here alone.

use crate::counters::{CounterSample, Layer};
use crate::testbed::HostFacts;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// For each host of a fleet the first one that reads the same counters.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    hosts: Vec<First>,
}

/// The first host with the same kernel, with the same networks on it, with the same mounts on it.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    kernel: usize,
    network: usize,
    mounts: usize,
}

/// What of a host's counters goes into sums over hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedLayers {
    kernel: bool,
    network: bool,
    mounts: bool,
}

impl HostFacts {
    /// What names its running kernel: the random number of its boot. `None` where the host does not
    /// tell, as in runs of versions that did not ask.
    pub fn kernel_id(&self) -> Option<&str> {
        self.identity.split_whitespace().next().filter(|word| !word.contains(":["))
    }

    /// The name that its kernel gives to a namespace of its agent, such as `net:[4026531840]` for
    /// `net`; empty where unknown.
    fn namespace(&self, kind: &str) -> &str {
        let is_it =
            |word: &&str| word.strip_prefix(kind).is_some_and(|rest| rest.starts_with(":["));
        self.identity.split_whitespace().find(is_it).unwrap_or_default()
    }
}

impl Kernels {
    /// Of hosts in the order of their numbers. One that does not tell what its kernel is has one of
    /// its own.
    pub fn of(hosts: &[HostFacts]) -> Kernels {
        let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut first = Vec::with_capacity(hosts.len());
        for (number, host) in hosts.iter().enumerate() {
            let mut of = |space| {
                host.kernel_id()
                    .map_or(number, |kernel| *seen.entry((kernel, space)).or_insert(number))
            };
            let (network, mounts) = (host.namespace("net"), host.namespace("mnt"));
            first.push(First { kernel: of("kernel"), network: of(network), mounts: of(mounts) });
        }
        Kernels { hosts: first }
    }

    /// For each host the first one on the same kernel: equal numbers share its memory.
    pub fn first_on_kernel(&self, host: usize) -> usize {
        self.hosts.get(host).map_or(host, |first| first.kernel)
    }

    /// How many kernels its hosts have: fewer than hosts where some share one.
    pub fn count(&self) -> usize {
        self.hosts.iter().enumerate().filter(|(number, first)| first.kernel == *number).count()
    }

    /// What a host tells that no other tells already: of several on one kernel the first that
    /// `is_there` says it all. Nothing for a host that is not there; all for one that was not
    /// known.
    pub fn voice(&self, host: usize, is_there: impl Fn(usize) -> bool) -> CountedLayers {
        if !is_there(host) {
            return CountedLayers::default();
        }
        let Some(own) = self.hosts.get(host) else {
            return CountedLayers { kernel: true, network: true, mounts: true };
        };
        let is_first = |of: fn(&First) -> usize| {
            let first = of(own);
            !(first..host).any(|other| {
                self.hosts.get(other).is_some_and(|it| of(it) == first) && is_there(other)
            })
        };
        CountedLayers {
            kernel: is_first(|first| first.kernel),
            network: is_first(|first| first.network),
            mounts: is_first(|first| first.mounts),
        }
    }
}

impl CountedLayers {
    /// Whether it tells anything.
    pub fn is_any(self) -> bool {
        self.kernel || self.network || self.mounts
    }

    /// Whether a layer's counters are its to tell. Interfaces are those of a network namespace and
    /// NFS mounts those of a mount namespace (man 7 namespaces); threads and quotas are an agent's
    /// own; all else is the kernel's.
    pub fn tells(self, layer: Layer) -> bool {
        match layer {
            Layer::Thread | Layer::Quota => true,
            Layer::Nic => self.network,
            Layer::Nfs => self.mounts,
            _ => self.kernel,
        }
    }

    /// What of a sample goes into sums over hosts.
    pub fn of(self, sample: &CounterSample) -> Cow<'_, CounterSample> {
        if self.kernel && self.network && self.mounts {
            return Cow::Borrowed(sample);
        }
        let entries =
            sample.entries.iter().filter(|entry| self.tells(entry.layer)).cloned().collect();
        Cow::Owned(CounterSample { entries, notes: sample.notes.clone(), ..*sample })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Entry, Metric};

    fn hosts(identities: &[&str]) -> Vec<HostFacts> {
        let host = |identity: &&str| HostFacts {
            identity: (*identity).to_owned(),
            ..crate::testbed::tests::host()
        };
        identities.iter().map(host).collect()
    }

    fn all(voice: CountedLayers) -> [bool; 3] {
        [Layer::Block, Layer::Nic, Layer::Nfs].map(|layer| voice.tells(layer))
    }

    #[test]
    fn of_agents_on_one_kernel_the_first_that_is_left_tells() {
        let one = "b00t net:[1] uts:[2] mnt:[3]";
        let kernels = Kernels::of(&hosts(&[one, "other net:[1] uts:[2] mnt:[3]", one, one]));
        let voices = |gone: &'static [usize]| {
            (0..4)
                .map(|host| kernels.voice(host, |it| !gone.contains(&it)).is_any())
                .collect::<Vec<_>>()
        };
        assert_eq!(voices(&[]), [true, true, false, false]);
        assert_eq!((kernels.count(), Kernels::default().count()), (2, 0));
        assert_eq!(voices(&[0]), [false, true, true, false]);
        assert_eq!(voices(&[0, 1, 2]), [false, false, false, true]);
        assert!(
            kernels.voice(4, |_| true).is_any() && Kernels::default().voice(0, |_| true).is_any(),
            "nobody shares with them"
        );
    }

    #[test]
    fn containers_of_one_kernel_have_networks_and_mounts_of_their_own_and_its_devices_once() {
        let kernels = Kernels::of(&hosts(&[
            "b00t net:[1] uts:[1] mnt:[1]",
            "b00t net:[2] uts:[2] mnt:[2] node2",
            "b00t net:[2] uts:[3] mnt:[3]",
        ]));
        let voices = [0, 1, 2].map(|host| all(kernels.voice(host, |_| true)));
        assert_eq!(voices, [[true, true, true], [false, true, true], [false, false, true]]);
        assert_eq!(all(kernels.voice(2, |host| host == 2)), [true, true, true]);
    }

    #[test]
    fn who_does_not_tell_its_kernel_has_its_own() {
        let kernels = Kernels::of(&hosts(&["", "", "net:[1] uts:[1]", "net:[1] uts:[1]"]));
        assert!(
            (0..4).all(|host| all(kernels.voice(host, |_| true)) == [true; 3]),
            "namespaces have these numbers everywhere"
        );
    }

    #[test]
    fn a_sample_keeps_what_its_host_has_to_tell() {
        let entry = |layer, name: &str| Entry {
            layer,
            name: name.into(),
            values: vec![(Metric::Reads, 1)],
        };
        let sample = CounterSample {
            host: 1,
            entries: vec![
                entry(Layer::Block, "sda"),
                entry(Layer::Nic, "eth0"),
                entry(Layer::Thread, "7"),
            ],
            ..CounterSample::default()
        };
        let kernels = Kernels::of(&hosts(&["b net:[1]", "b net:[2]"]));
        let kept = kernels.voice(1, |_| true).of(&sample).into_owned();
        assert_eq!((kept.host, kept.entries), (1, sample.entries[1..].to_vec()));
        assert_eq!(*kernels.voice(0, |_| true).of(&sample), sample);
    }
}
