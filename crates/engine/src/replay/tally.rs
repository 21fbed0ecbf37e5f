//! What was sent of a trace, against what was to be sent.

use super::feed::{Due, Feed};
use model::Histogram;
use model::replayed::Replayed;
use model::trace::SequenceDigest;

/// One worker's count.
pub(crate) struct Tally {
    requests: u64,
    bytes: u64,
    offsets_exact: u64,
    digest: SequenceDigest,
    /// When the last request was sent, and how late it was.
    last: Option<u64>,
    inter_arrival_error: Histogram,
    lateness: Histogram,
}

impl Tally {
    pub(crate) fn new() -> Tally {
        Tally {
            requests: 0,
            bytes: 0,
            offsets_exact: 0,
            digest: SequenceDigest::default(),
            last: None,
            inter_arrival_error: Histogram::new(),
            lateness: Histogram::new(),
        }
    }

    /// A request goes out, so much later than due.
    #[inline]
    pub(crate) fn sent(&mut self, due: &Due, late_ns: u64) {
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
}

impl Replays {
    /// Adds what a worker sent, whose share of the trace holds `share` requests.
    pub(crate) fn add(&mut self, tally: &Tally, feed: &Feed, share: u64) {
        let sum = self.sum.get_or_insert_with(|| Sum {
            replayed: Replayed {
                requests: 0,
                of: 0,
                bytes: 0,
                offsets_exact: 0,
                in_sequence: true,
                inter_arrival_error: Histogram::new().encode(),
                lateness: Histogram::new().encode(),
            },
            inter_arrival_error: Histogram::new(),
            lateness: Histogram::new(),
        });
        let replayed = &mut sum.replayed;
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
        let Sum { replayed, inter_arrival_error, lateness } = self.sum.take()?;
        Some(Replayed {
            inter_arrival_error: inter_arrival_error.encode(),
            lateness: lateness.encode(),
            ..replayed
        })
    }
}
