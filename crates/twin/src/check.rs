//! Which specs make sense. The bounds also keep memory small, sums from overflowing and texts
//! exact.

use crate::flash::PAGE_BYTES;
use crate::spec::{Cache, Credits, DeviceSpec, ErrorRate, Service, Stall};
use model::{Nanos, Op};

const SECTOR: u64 = 512;
/// Sizes and rates up to 2^50 are exact in the floating point that units are read with, and no
/// device is larger.
pub(crate) const MOST_BYTES: u64 = 1 << 50;
/// No request takes an hour; and an hour is where the histograms of a run end.
pub(crate) const LONGEST_SERVICE_NS: u64 = 3_600_000_000_000;
/// Instants up to a week are exact to the ns in text.
pub(crate) const LONGEST_RUN_NS: u64 = 7 * 86_400_000_000_000;
/// More servers than this are no limit to any load generator.
pub(crate) const MOST_SERVERS: u32 = 65_536;
/// About 100 MB of bookkeeping.
pub(crate) const MOST_LINES: u64 = 1 << 22;
/// The smallest and the largest line of a cache.
pub(crate) const LINE_BYTES: (u64, u64) = (4 << 10, 1 << 20);
/// The smallest and the largest erase block.
const FLASH_BLOCK_BYTES: (u64, u64) = (16 << 10, 64 << 20);
/// Two tables of 4 bytes a page: about 200 MB of bookkeeping.
const MOST_PAGES: u64 = 1 << 24;
/// One is written and one erased ahead; with few more, nearly everything is copied.
const LEAST_SPARE_BLOCKS: u64 = 4;
/// So many credits last longer than any run.
const MOST_CREDITS: u64 = 1 << 50;
const MOST_IOPS: u64 = 1_000_000_000;
const MOST_POINTS: usize = 1024;
const MOST_STALLS: usize = 1024;
const MOST_ERRORS: usize = 64;
const MOST_SIGMA: f64 = 4.0;
/// The largest errno that the kernel can return (`MAX_ERRNO` in `include/linux/err.h`).
const MAX_ERRNO: i32 = 4095;

impl DeviceSpec {
    /// Whether every parameter is in its range.
    ///
    /// # Errors
    /// A sentence that says what is wrong, where, and what to write instead.
    pub fn check(&self) -> Result<(), String> {
        let capacity = self.capacity.0;
        ensure(
            (SECTOR..=MOST_BYTES).contains(&capacity) && capacity.is_multiple_of(SECTOR),
            || {
                format!(
                    "capacity {} is not a device; write whole sectors of 512 bytes, up to 1 PiB",
                    self.capacity
                )
            },
        )?;
        ensure((1..=MOST_SERVERS).contains(&self.parallelism), || {
            format!("servers={} makes no device; write 1 to {MOST_SERVERS}", self.parallelism)
        })?;
        check_service("read", &self.read_service)?;
        check_service("write", &self.write_service)?;
        check_service("fsync", &self.fsync_service)?;
        check_rate("bandwidth", self.bandwidth_bytes_per_s)?;
        ensure(self.iops_limit.is_none_or(|iops| (1..=MOST_IOPS).contains(&iops)), || {
            format!(
                "iops={} is no limit; write 1 to {MOST_IOPS}, or leave it out",
                self.iops_limit.unwrap_or(0)
            )
        })?;
        self.cache.as_ref().map_or(Ok(()), check_cache)?;
        self.credits.map_or(Ok(()), check_credits)?;
        self.check_flash()?;
        check_stalls(&self.stalls)?;
        check_errors(&self.errors)
    }

    fn check_flash(&self) -> Result<(), String> {
        let Some(flash) = &self.flash else { return Ok(()) };
        check_rate("flash", Some(flash.program_bytes_per_s))?;
        let (least, most) = FLASH_BLOCK_BYTES;
        let block = flash.block;
        ensure(block.0.is_power_of_two() && (least..=most).contains(&block.0), || {
            format!("flash-block={block} is not a block; write a power of two from 16KiB to 64MiB")
        })?;
        ensure(self.capacity.0 / PAGE_BYTES <= MOST_PAGES, || {
            format!("flash of {} has too many pages; write capacity=64GiB or less", self.capacity)
        })?;
        let seen = self.capacity.0.div_ceil(block.0);
        ensure(flash.blocks(self.capacity.0) >= seen + LEAST_SPARE_BLOCKS, || {
            format!(
                "flash with a spare of {} leaves fewer than {LEAST_SPARE_BLOCKS} blocks of {block} \
                 to clean with; write a larger spare, or a smaller flash-block",
                flash.spare
            )
        })?;
        ensure(self.cache.as_ref().is_none_or(|cache| cache.destage_bytes_per_s.is_none()), || {
            "flash behind a write-back cache is not simulated; leave out destage or flash"
                .to_owned()
        })
    }
}

fn check_credits(credits: Credits) -> Result<(), String> {
    let Credits { size, per_s } = credits;
    ensure((1..=MOST_CREDITS).contains(&size) && (1..=MOST_IOPS).contains(&per_s), || {
        format!(
            "credits={size}@{per_s} limit nothing; write 1 to {MOST_CREDITS} credits, of which 1 \
             to \
             {MOST_IOPS} come in each second"
        )
    })
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn check_service(what: &str, service: &Service) -> Result<(), String> {
    let in_range = |ns: u64| {
        ensure((1..=LONGEST_SERVICE_NS).contains(&ns), || {
            format!("{what}: a service time of {} makes no device; write 1ns to 1h", Nanos(ns))
        })
    };
    match service {
        Service::Constant(ns) => in_range(*ns),
        Service::Exponential { mean_ns } => in_range(*mean_ns),
        Service::Lognormal { median_ns, sigma } => {
            in_range(*median_ns)?;
            ensure((0.0..=MOST_SIGMA).contains(sigma), || {
                format!("{what}: a lognormal service has a sigma of 0 to {MOST_SIGMA}, not {sigma}")
            })
        }
        Service::Empirical(points) => {
            ensure((1..=MOST_POINTS).contains(&points.len()), || {
                format!(
                    "{what}: an empirical service has 1 to {MOST_POINTS} times, not {}",
                    points.len()
                )
            })?;
            ensure(points.iter().all(|&(_, weight)| weight > 0), || {
                format!("{what}: an empirical time has the weight 0; leave it out")
            })?;
            points.iter().try_for_each(|&(ns, _)| in_range(ns))
        }
    }
}

fn check_rate(what: &str, rate: Option<u64>) -> Result<(), String> {
    ensure(rate.is_none_or(|rate| (1..=MOST_BYTES).contains(&rate)), || {
        format!("{what}={}B/s is no rate; write 1B/s to 1PiB/s, or leave it out", rate.unwrap_or(0))
    })
}

fn check_cache(cache: &Cache) -> Result<(), String> {
    let line = cache.line;
    ensure(line.0.is_power_of_two() && (LINE_BYTES.0..=LINE_BYTES.1).contains(&line.0), || {
        format!("cache-line={line} is not a line; write a power of two from 4KiB to 1MiB")
    })?;
    let lines = cache.size.0 / line.0;
    ensure(lines > 0, || {
        format!("cache={} is less than one line of {line}; write a larger size", cache.size)
    })?;
    ensure(lines <= MOST_LINES, || {
        format!(
            "cache={} has {lines} lines of {line}, more than {MOST_LINES}; write a larger \
             cache-line, up to 1MiB",
            cache.size
        )
    })?;
    check_service("cache", &cache.read_service)?;
    check_service("cache-write", &cache.write_service)?;
    check_rate("destage", cache.destage_bytes_per_s)
}

fn check_stalls(stalls: &[Stall]) -> Result<(), String> {
    ensure(stalls.len() <= MOST_STALLS, || {
        format!("{} stalls are too many; write up to {MOST_STALLS}", stalls.len())
    })?;
    ensure(stalls.iter().all(|stall| stall.length_ns > 0), || {
        "a stall of 0 s stalls nothing; leave it out".to_owned()
    })?;
    ensure(
        stalls.iter().all(|s| s.at_ns <= LONGEST_RUN_NS && s.length_ns <= LONGEST_RUN_NS),
        || {
            "a stall begins and lasts more than a week; write stall=AT+LENGTH with shorter times, \
             such as 5s+2s"
                .to_owned()
        },
    )
}

fn check_errors(errors: &[ErrorRate]) -> Result<(), String> {
    ensure(errors.len() <= MOST_ERRORS, || {
        format!("{} errors are too many; write up to {MOST_ERRORS}", errors.len())
    })?;
    ensure(errors.iter().all(|error| (1..=MAX_ERRNO).contains(&error.errno)), || {
        format!("an errno is a number from 1 to {MAX_ERRNO}; write a name such as EIO")
    })?;
    Op::EACH.into_iter().try_for_each(|op| {
        let ppm: u64 =
            errors.iter().filter(|error| error.op == op).map(|error| u64::from(error.ppm)).sum();
        ensure(ppm <= 1_000_000, || {
            format!("the errors of {op} add up to {ppm} ppm; all together are at most 1000000ppm")
        })
    })
}
