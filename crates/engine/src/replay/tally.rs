//! What was sent of a trace, against what was to be sent.

use super::feed::{Due, Feed};
use model::Histogram;
use model::replayed::Replayed;
use model::trace::{InFlight, SequenceDigest};

/// One worker's count.
#[derive(Default)]
pub(crate) struct Tally {
    requests: u64,
    bytes: u64,
    offsets_exact: u64,
    digest: SequenceDigest,
    /// When the last request was sent, and how late it was.
    last: Option<u64>,
    inter_arrival_error: Histogram,
    lateness: Histogram,
    in_flight: InFlight,
}

impl Tally {
    /// A request goes out, so much later than due; with it the worker has so many outstanding.
    #[inline]
    pub(crate) fn sent(&mut self, due: &Due, late_ns: u64, in_flight: u64) {
        self.in_flight.sent(in_flight);
        let request = &due.request;
        self.requests += 1;
        self.bytes += u64::from(request.length);
        self.offsets_exact += u64::from(due.is_exact);
        self.digest.add(request.op, request.offset, request.length);
        self.lateness.record(late_ns);
        // Between two requests, sent and due differ by what their latenesses differ by.
        if let Some(last_ns) = self.last.replace(late_ns) {
            self.inter_arrival_error.record(late_ns.abs_diff(last_ns));
        }
    }
}

/// What all workers of a stage sent of their traces.
#[derive(Default)]
pub(crate) struct Replays {
    sum: Option<Sum>,
}

struct Sum {
    replayed: Replayed,
    inter_arrival_error: Histogram,
    lateness: Histogram,
    /// Workers that sent something.
    workers: u32,
}

impl Replays {
    /// Adds what a worker sent, whose share of the trace holds `share` requests.
    pub(crate) fn add(
        &mut self,
        tally: &Tally,
        feed: &Feed,
        share: u64,
        original: Option<InFlight>,
    ) {
        let sum = self.sum.get_or_insert_with(|| Sum {
            replayed: Replayed {
                requests: 0,
                of: 0,
                bytes: 0,
                offsets_exact: 0,
                in_sequence: true,
                inter_arrival_error: Histogram::new().encode(),
                lateness: Histogram::new().encode(),
                in_flight: None,
                original,
            },
            inter_arrival_error: Histogram::new(),
            lateness: Histogram::new(),
            workers: 0,
        });
        sum.workers += 1;
        let replayed = &mut sum.replayed;
        // Each worker knows its own requests alone.
        replayed.in_flight = Some(tally.in_flight).filter(|_| sum.workers == 1);
        replayed.requests += tally.requests;
        replayed.of += share;
        replayed.bytes += tally.bytes;
        replayed.offsets_exact += tally.offsets_exact;
        replayed.in_sequence &= feed.end() == Some((tally.requests, tally.digest));
        sum.inter_arrival_error.merge(&tally.inter_arrival_error);
        sum.lateness.merge(&tally.lateness);
    }

    /// All of it; `None` where no worker had a trace.
    pub(crate) fn take(&mut self) -> Option<Replayed> {
        let Sum { replayed, inter_arrival_error, lateness, .. } = self.sum.take()?;
        Some(Replayed {
            inter_arrival_error: inter_arrival_error.encode(),
            lateness: lateness.encode(),
            ..replayed
        })
    }
}
