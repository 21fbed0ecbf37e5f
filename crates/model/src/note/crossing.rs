//! What went between the sites of a cluster.

use crate::op::Op;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Bytes of one direction in a simulated cluster of several sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing {
    /// Reads or writes.
    pub op: Op,
    /// The share that was to go to another site than its host's, in millionths.
    pub planned_ppm: u32,
    /// All bytes.
    pub bytes: Bytes,
    /// Those that another site answered, or of writes ordered.
    pub far: Bytes,
}

impl Crossing {
    /// The share that was to go to another site, 0 to 1.
    pub fn planned(&self) -> f64 {
        f64::from(self.planned_ppm) / 1e6
    }

    /// The share that went there, 0 to 1; 0 of nothing.
    pub fn found(&self) -> f64 {
        if self.bytes.0 > 0 { self.far.0 as f64 / self.bytes.0 as f64 } else { 0.0 }
    }
}
