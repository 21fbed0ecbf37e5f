//! What of a long run its file keeps.

use crate::choices::CountersKept;
use crate::counters::{CounterSample, Layer};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What of a long run its file keeps. Sums and histograms of whole spans of time are always kept,
/// so that totals and quantiles are exact whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Keep {
    /// How long every single interval of every host is kept; `None` to the end.
    pub full: Option<Nanos>,
    /// Which of the kernels' counters are recorded.
    pub counters: CountersKept,
}

impl Keep {
    /// Whether all is kept, as it was in versions that knew nothing else.
    pub fn is_all(&self) -> bool {
        *self == Keep::default()
    }

    /// What is recorded of a sample of counters; `None` where nothing is.
    pub fn counters_of<'a>(&self, sample: &'a CounterSample) -> Option<Cow<'a, CounterSample>> {
        match self.counters {
            CountersKept::All => Some(Cow::Borrowed(sample)),
            CountersKept::None => None,
            CountersKept::Disk => {
                let entries = sample.entries.iter().filter(|entry| entry.layer == Layer::Block);
                let entries = entries.cloned().collect();
                let notes = sample.notes.clone();
                Some(Cow::Owned(CounterSample { entries, notes, ..*sample }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Entry, Metric};

    #[test]
    fn of_disks_alone_the_rest_is_left_out() {
        let entry = |layer, name: &str| Entry {
            layer,
            name: name.to_owned(),
            values: vec![(Metric::Reads, 1)],
        };
        let entries = vec![entry(Layer::Cpu, "0"), entry(Layer::Block, "sda")];
        let sample = CounterSample { entries, host: 3, ..CounterSample::default() };
        let of = |counters| Keep { counters, ..Keep::default() }.counters_of(&sample);
        assert_eq!(of(CountersKept::All).as_deref(), Some(&sample));
        assert_eq!(of(CountersKept::None), None);
        let disk = of(CountersKept::Disk).expect("disks");
        assert_eq!((disk.entries.len(), disk.host), (1, 3));
        assert_eq!(disk.entries[0].name, "sda");
    }
}
