//! What the storage software takes of a request's time, as `[software]` of the testbed says it or
//! `[fitted]` has it. Where neither does, it takes the class estimates of `stack` alone.

use crate::sampler::Sampler;
use crate::spec::Service;
use catalogue::Cluster as Testbed;
use model::rng::Rng;
use model::{Nanos, Percent};

const UNIT: u64 = 1_000_000;
const MIB: f64 = 1_048_576.0;

/// Waits that keep nobody else waiting, in ns: the ways through the fabric and the time of a
/// medium beside its rate are in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paths {
    read_ns: u64,
    write_ns: u64,
}

impl Paths {
    pub(super) fn ns(self, is_write: bool) -> u64 {
        if is_write { self.write_ns } else { self.read_ns }
    }
}

/// Times of the software.
#[derive(Clone, Debug)]
pub(super) struct Software {
    /// Of a lane of a node, one request after the other, in ns; `None` where nobody said
    /// anything of it.
    busy: Option<Busy>,
    pub(super) paths: Option<Paths>,
    /// One way to the other site, in ns.
    pub(super) site_way_ns: Option<u64>,
    /// The share of the cache tier that keeps data.
    pub(super) cache_usable: Option<f64>,
    spread: Sampler,
}

#[derive(Clone, Copy, Debug)]
struct Busy {
    read_ns: f64,
    write_ns: f64,
    read_byte_ns: f64,
    write_byte_ns: f64,
}

/// A share as somebody wrote it, 0 to 1.
pub(super) fn share(percent: Percent) -> f64 {
    f64::from(percent.ppm) / 1e6
}

impl Software {
    /// The software of a testbed; `stack_ns` stands for a path that nobody measured.
    pub(super) fn new(testbed: &Testbed, stack_ns: u64) -> Software {
        let ns = |time: Option<Nanos>| time.map(|time| time.0 as f64);
        let times = [
            ns(testbed.found(|software| software.read.value)),
            ns(testbed.found(|software| software.write.value)),
            ns(testbed.found(|software| software.read_per_mib.value)),
            ns(testbed.found(|software| software.write_per_mib.value)),
        ];
        let [read, write, read_mib, write_mib] = times.map(Option::unwrap_or_default);
        let busy = times.iter().any(Option::is_some).then_some(Busy {
            read_ns: read,
            write_ns: write,
            read_byte_ns: read_mib / MIB,
            write_byte_ns: write_mib / MIB,
        });
        let read_path = testbed.found(|software| software.read_path.value);
        let write_path = testbed.found(|software| software.write_path.value);
        let paths = (read_path.is_some() || write_path.is_some()).then(|| Paths {
            read_ns: read_path.map_or(stack_ns, |path| path.0),
            write_ns: write_path.map_or(stack_ns, |path| path.0),
        });
        Software {
            busy,
            paths,
            site_way_ns: testbed
                .found(|software| software.site_round_trip.value)
                .map(|trip| trip.0 / 2),
            cache_usable: testbed.found(|software| software.cache_usable.value).map(share),
            spread: Sampler::new(&Service::Exponential { mean_ns: UNIT }),
        }
    }

    pub(super) fn is_known(testbed: &Testbed) -> bool {
        Software::new(testbed, 0).busy.is_some()
    }

    /// A lane's time for a request, in ns: exponentially distributed about its mean, as the
    /// analysis of a queue assumes where nothing is known. 0 where nobody said anything of it.
    pub(super) fn draw_ns(&self, is_write: bool, bytes: f64, rng: &mut Rng) -> f64 {
        let Some(busy) = self.busy else { return 0.0 };
        let mean_ns = if is_write {
            busy.write_ns + busy.write_byte_ns * bytes
        } else {
            busy.read_ns + busy.read_byte_ns * bytes
        };
        mean_ns * self.spread.draw_ns(rng) as f64 / UNIT as f64
    }
}
