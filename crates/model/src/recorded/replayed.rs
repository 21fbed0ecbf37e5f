//! How true a load was to the trace that it was taken from.

use crate::histogram::{BadHistogram, EncodedHistogram, Histogram};
use crate::trace::InFlight;
use serde::{Deserialize, Serialize};

/// What a host sent of its share of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// Requests that were sent.
    pub requests: u64,
    /// Requests that the host was to send.
    pub of: u64,
    /// Bytes of those that were sent.
    pub bytes: u64,
    /// Requests that were sent to the very bytes that they had in the trace.
    pub offsets_exact: u64,
    /// Whether each worker sent all of its requests in the order of the trace.
    pub in_sequence: bool,
    /// How much the time between two requests of a worker differed from that in the trace, in ns.
    pub inter_arrival_error: EncodedHistogram,
    /// How much later than due requests were sent, in ns.
    pub lateness: EncodedHistogram,
    /// How many requests the target had at once; `None` where several workers sent, each of which
    /// knows its own alone, and in runs of versions that did not look.
    #[serde(default)]
    pub in_flight: Option<InFlight>,
    /// How many the recorded device had; `None` where the trace does not say.
    #[serde(default)]
    pub original: Option<InFlight>,
}

/// What all hosts sent of a trace.
#[derive(Clone, Debug)]
pub struct Fidelity {
    /// Requests that were sent.
    pub requests: u64,
    /// Requests that were to be sent.
    pub of: u64,
    /// Bytes of those that were sent.
    pub bytes: u64,
    /// Requests that were sent to the very bytes that they had in the trace.
    pub offsets_exact: u64,
    /// Whether each worker sent all of its requests in the order of the trace.
    pub in_sequence: bool,
    /// How much the time between two requests of a worker differed from that in the trace, in ns.
    pub inter_arrival_error: Histogram,
    /// How much later than due requests were sent, in ns.
    pub lateness: Histogram,
    /// How many requests each host's target had at once; `None` where that of any is not known.
    pub in_flight: Option<InFlight>,
    /// How many each recorded device had; likewise.
    pub original: Option<InFlight>,
}

impl Fidelity {
    /// What these come to together; `None` where there is none.
    ///
    /// # Errors
    /// What should be a histogram is none.
    pub fn of<'a>(
        all: impl Iterator<Item = &'a Replayed>,
    ) -> Result<Option<Fidelity>, BadHistogram> {
        let mut sum: Option<Fidelity> = None;
        for one in all {
            let sum = sum.get_or_insert_with(|| Fidelity {
                requests: 0,
                of: 0,
                bytes: 0,
                offsets_exact: 0,
                in_sequence: true,
                inter_arrival_error: Histogram::new(),
                lateness: Histogram::new(),
                in_flight: Some(InFlight::default()),
                original: Some(InFlight::default()),
            });
            let both = |sum: Option<InFlight>, one: Option<InFlight>| Some(sum?.and(one?));
            sum.in_flight = both(sum.in_flight, one.in_flight);
            sum.original = both(sum.original, one.original);
            sum.requests = sum.requests.saturating_add(one.requests);
            sum.of = sum.of.saturating_add(one.of);
            sum.bytes = sum.bytes.saturating_add(one.bytes);
            sum.offsets_exact = sum.offsets_exact.saturating_add(one.offsets_exact);
            sum.in_sequence &= one.in_sequence;
            one.inter_arrival_error.merge_into(&mut sum.inter_arrival_error)?;
            one.lateness.merge_into(&mut sum.lateness)?;
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_add_up_and_one_that_is_out_of_sequence_counts() {
        let of = |requests, in_sequence, lateness_ns| {
            let mut lateness = Histogram::new();
            lateness.record(lateness_ns);
            Replayed {
                requests,
                of: 10,
                bytes: requests * 512,
                offsets_exact: requests,
                in_sequence,
                inter_arrival_error: Histogram::new().encode(),
                lateness: lateness.encode(),
                in_flight: Some(InFlight { requests, sum: 2 * requests, most: requests }),
                original: in_sequence.then_some(InFlight { requests, sum: requests, most: 1 }),
            }
        };
        let sum = Fidelity::of([of(10, true, 5), of(7, false, 9)].iter());
        let sum = sum.expect("histograms").expect("some");
        assert_eq!((sum.requests, sum.of, sum.bytes, sum.in_sequence), (17, 20, 17 * 512, false));
        assert_eq!((sum.lateness.count(), sum.lateness.max_ns()), (2, Some(9)));
        assert_eq!(sum.in_flight, Some(InFlight { requests: 17, sum: 34, most: 10 }));
        assert_eq!(sum.original, None, "one host's does not stand for both");
        assert!(Fidelity::of([].iter()).is_ok_and(|none| none.is_none()));
    }
}
