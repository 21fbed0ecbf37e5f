//! What one drive can do, whether a testbed or the catalogue says it.

use form::Auto;

/// What one drive can do; `None` where neither the file nor the catalogue says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Capacity in bytes.
    pub capacity_bytes: Option<f64>,
    /// Sequential reads in bytes per second.
    pub read_bytes_per_s: Option<f64>,
    /// Sequential writes in bytes per second.
    pub write_bytes_per_s: Option<f64>,
    /// Random reads of 4 KiB per second.
    pub read_iops: Option<f64>,
    /// Random writes of 4 KiB per second.
    pub write_iops: Option<f64>,
}

/// The value, if somebody said it.
pub fn fixed<T>(value: Auto<T>) -> Option<T> {
    match value {
        Auto::Fixed(value) => Some(value),
        Auto::Auto => None,
    }
}
