//! What a simulated device is: the parameters, with their units.

use model::{Bytes, Op, Percent};
use serde::{Deserialize, Serialize};

/// How long a server works on one request, without the time for its bytes and without any waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Service {
    /// Always this many ns.
    Constant(u64),
    /// Exponentially distributed: the service of the M/M/c queue.
    Exponential {
        /// The mean in ns.
        mean_ns: u64,
    },
    /// Lognormally distributed: the logarithm of the time is normal.
    Lognormal {
        /// The median in ns, which is also the geometric mean.
        median_ns: u64,
        /// The standard deviation of the natural logarithm, 0 to 4.
        sigma: f64,
    },
    /// One of these times in ns, each as often as its weight says.
    Empirical(Vec<(u64, u32)>),
}

impl Service {
    /// The mean in ns. Lognormal: median · exp(σ²/2) (Johnson, Kotz and Balakrishnan, *Continuous
    /// Univariate Distributions*, volume 1, chapter 14). An empirical distribution without weight
    /// has the mean 0.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Service::Constant(ns) => *ns as f64,
            Service::Exponential { mean_ns } => *mean_ns as f64,
            Service::Lognormal { median_ns, sigma } => {
                *median_ns as f64 * (sigma * sigma / 2.0).exp()
            }
            Service::Empirical(points) => {
                let total: f64 = points.iter().map(|&(_, weight)| f64::from(weight)).sum();
                let sum: f64 =
                    points.iter().map(|&(ns, weight)| ns as f64 * f64::from(weight)).sum();
                if total > 0.0 { sum / total } else { 0.0 }
            }
        }
    }
}

/// A fast tier before the device: whole lines, the least recently used of which makes room for the
/// next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// How much it holds; a fraction of a line is not used.
    pub size: Bytes,
    /// The unit of caching, 4 KiB to 1 MiB, a power of two.
    pub line: Bytes,
    /// What a read costs of which every line is in the cache. Any other read costs the device's
    /// service.
    pub read_service: Service,
    /// What a write costs that the cache takes; used with write-back only.
    pub write_service: Service,
    /// With a rate, the cache is write-back: it takes writes until it is full of bytes that the
    /// device has not got yet, and moves these at this rate. Without one it is write-through: a
    /// write costs the device's service.
    pub destage_bytes_per_s: Option<u64>,
}

/// A span of virtual time in which the device stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// When it begins, in ns from the start of virtual time.
    pub at_ns: u64,
    /// How long it lasts, in ns.
    pub length_ns: u64,
}

/// Requests that fail, at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRate {
    /// Which requests.
    pub op: Op,
    /// The error they come back with: a positive Linux errno, such as 5 for EIO.
    pub errno: i32,
    /// How many in a million.
    pub ppm: u32,
}

/// A bucket of tokens, one of which every request takes: while there are any, only the other limits
/// hold. It is full at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credits {
    /// How many it holds; at least 1.
    pub size: u64,
    /// How many come in each second; at least 1.
    pub per_s: u64,
}

/// Flash behind the device: a page is written to a new place each time, and before a block is
/// erased, what is valid in it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flash {
    /// What it has beyond the capacity, as a share of the capacity.
    pub spare: Percent,
    /// How fast all channels together write pages, copies included, in bytes per second.
    pub program_bytes_per_s: u64,
    /// What is erased at once.
    pub block: Bytes,
    /// Whether it begins as a long time of random writes leaves it; else as from the factory.
    pub used: bool,
}

/// A simulated device. Requests are served first come, first served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// The size of the device. As on a Linux block device, reads behind it move nothing and writes
    /// fail with ENOSPC.
    pub capacity: Bytes,
    /// How many requests are served at the same time; at least 1.
    pub parallelism: u32,
    /// How long a read keeps a server.
    pub read_service: Service,
    /// How long a write keeps a server.
    pub write_service: Service,
    /// How long an fsync keeps a server; behind a write-back cache at least until everything
    /// written is on the device.
    pub fsync_service: Service,
    /// One path for the bytes of all servers: a request keeps its server for length ÷ bandwidth
    /// more, and longer while the path is taken.
    pub bandwidth_bytes_per_s: Option<u64>,
    /// Requests of any kind begin at least 1 ÷ this many seconds apart.
    pub iops_limit: Option<u64>,
    /// What bounds requests of any kind in the long run, and not at first.
    pub credits: Option<Credits>,
    /// What writes cost in the long run, and not at first.
    pub flash: Option<Flash>,
    /// A fast tier, whose hits take a server and count in both limits like any request.
    pub cache: Option<Cache>,
    /// When the device stands still, in any order.
    pub stalls: Vec<Stall>,
    /// Which requests fail. The rates of one operation add up to at most a million.
    pub errors: Vec<ErrorRate>,
}
