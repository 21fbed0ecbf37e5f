//! Simulated devices: targets whose right answer is known before they are measured.
//!
//! A [`Device`] answers each request with the instant at which it will complete. It lives in
//! virtual time: it reads no clock, starts no thread and opens no file, so the same seed gives the
//! same answers on the same machine, and an hour of load passes in seconds. What a device does
//! follows from its [`DeviceSpec`], which stands behind `sim:` in a target. A [`Cluster`] is a
//! whole described testbed, whose right answers are known as shapes and ceilings. The formulas that
//! such a device must obey are in `docs/method/simulation.md`, "Simulated targets".

mod check;
pub mod cluster;
mod device;
mod flash;
mod lru;
mod pacer;
mod sampler;
mod spec;
mod stall;
mod text;

use text::quantity;

pub use catalogue::Cluster as Testbed;
pub use catalogue::cluster::REFERENCE as TESTBEDS;
pub use cluster::{Cluster, ClusterSpec};
pub use device::{Answer, Device, Request};
pub use spec::{Cache, Credits, DeviceSpec, ErrorRate, Flash, Service, Stall};
pub use text::preset::{PRESETS, Preset};
