//! A spec as text that reads back as the same spec.

use super::quantity::{show_bytes, show_ns};
use crate::spec::{DeviceSpec, Service};
use model::errno::name_of;
use std::fmt;

impl fmt::Display for DeviceSpec {
    /// The whole device on top of the preset `constant`, without `sim:`; nothing in it depends on
    /// another preset. It reads back as it was if [`check`](DeviceSpec::check) accepts it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "constant,read={},write={}", self.read_service, self.write_service)?;
        write!(f, ",fsync={},servers={}", self.fsync_service, self.parallelism)?;
        write!(f, ",capacity={}", show_bytes(self.capacity.0))?;
        if let Some(rate) = self.bandwidth_bytes_per_s {
            write!(f, ",bandwidth={}/s", show_bytes(rate))?;
        }
        if let Some(iops) = self.iops_limit {
            write!(f, ",iops={iops}")?;
        }
        if let Some(credits) = self.credits {
            write!(f, ",credits={}@{}", credits.size, credits.per_s)?;
        }
        if let Some(flash) = self.flash {
            let speed = show_bytes(flash.program_bytes_per_s);
            write!(f, ",flash={}@{speed}/s", flash.spare)?;
            write!(f, ",flash-block={}", show_bytes(flash.block.0))?;
            f.write_str(if flash.used { ",flash-state=used" } else { "" })?;
        }
        if let Some(cache) = &self.cache {
            write!(f, ",cache={}@{}", show_bytes(cache.size.0), cache.read_service)?;
            write!(
                f,
                ",cache-write={},cache-line={}",
                cache.write_service,
                show_bytes(cache.line.0)
            )?;
            if let Some(rate) = cache.destage_bytes_per_s {
                write!(f, ",destage={}/s", show_bytes(rate))?;
            }
        }
        for stall in &self.stalls {
            write!(f, ",stall={}+{}", show_ns(stall.at_ns), show_ns(stall.length_ns))?;
        }
        for error in &self.errors {
            write!(f, ",error={}:{}:{}ppm", error.op, name_of(error.errno), error.ppm)?;
        }
        Ok(())
    }
}

impl fmt::Display for Service {
    /// In the grammar of a spec: `100us`, `exponential:50us`, `lognormal:80us:0.5`,
    /// `empirical:10us*90:1ms*10`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Service::Constant(ns) => f.write_str(&show_ns(*ns)),
            Service::Exponential { mean_ns } => write!(f, "exponential:{}", show_ns(*mean_ns)),
            Service::Lognormal { median_ns, sigma } => {
                write!(f, "lognormal:{}:{sigma}", show_ns(*median_ns))
            }
            Service::Empirical(points) => {
                f.write_str("empirical")?;
                points.iter().try_for_each(|(ns, weight)| write!(f, ":{}*{weight}", show_ns(*ns)))
            }
        }
    }
}
