//! A point of a suite before it is planned.

use crate::{LayoutSpec, TreeSpec, WorkloadSpec};
use model::setting::Setting;

/// Workloads that run at the same time, with one combination of the sweep's values.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSpec {
    /// The workloads as they are to run; at least one.
    pub workloads: Vec<WorkloadSpec>,
    /// Axis and value of each sweep axis, as written.
    pub sweep: Vec<Setting>,
    /// Which repetition of these values it is, from 1.
    pub repetition: u32,
    /// The layout that it asks for: that of the suite with the sweep's values, and with arithmetic
    /// that may come to other values at each point.
    pub layout: LayoutSpec,
    /// The tree of its layout, with arithmetic that may come to other values at each point.
    pub tree: TreeSpec,
}
