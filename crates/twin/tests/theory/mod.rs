//! Devices against theory: every figure here has a formula, and none comes from a run of the device
//! itself.

mod distributions;
mod harness;
mod limits;
mod queues;
mod stalls;
