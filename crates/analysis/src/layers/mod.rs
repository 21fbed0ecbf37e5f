//! What lies below the load, and what of it was busy.

pub mod attribution;
pub(crate) mod boot_storm;
pub(crate) mod caches;
pub mod guests;
pub mod hit_share;
pub mod host_cpu;
pub mod io_path;
pub(crate) mod targets;
