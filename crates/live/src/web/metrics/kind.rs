//! The types of metrics.

/// What type of family it is, by its number in `metrics.proto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum that only grows; its name ends in `_total`.
    Counter = 0,
    /// A state.
    Gauge = 1,
    /// Counts by size.
    Histogram = 4,
}

impl Kind {
    /// Its name in the text form.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}
