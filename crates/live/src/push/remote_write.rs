//! Prometheus remote write 1.0 (<https://prometheus.io/docs/specs/prw/remote_write_spec/>) with
//! native histograms (`prompb/types.proto` and `remote.proto` of Prometheus 2.40 and later).

use super::Snapshot;
use crate::web::metrics::{
    Amount, Kind, Message, Native, Point, SCHEMA, Told, Value, ZERO_THRESHOLD_S,
};
use model::varint;
use std::collections::HashSet;

/// The label `job` of what is pushed: nobody configured one.
const JOB: &str = "plimsoll";
/// What goes with each push, around which the block format of Snappy has to be put.
pub const HEADERS: [[&str; 2]; 3] = [
    ["content-type", "application/x-protobuf"],
    ["content-encoding", "snappy"],
    ["x-prometheus-remote-write-version", "0.1.0"],
];

/// A writer, which knows which series arrived.
///
/// A counter that appears with its first count would be one that never grew: `increase()` sees
/// differences alone. So a new series has a 0 at the instant of the push before, at which it was 0.
#[derive(Clone, Debug, Default)]
pub struct RemoteWrite {
    /// The label `instance` of all series: who pushes, where a scrape would name who is scraped.
    instance: String,
    /// The series that arrived, as their labels are written.
    known: HashSet<Vec<u8>>,
    new: HashSet<Vec<u8>>,
    /// The instant of the last push that arrived, in ms since 1970.
    before_ms: Option<i64>,
    sent_ms: i64,
}

/// The instants of a push, in ms since 1970.
#[derive(Clone, Copy, Debug)]
struct Instants {
    now_ms: i64,
    before_ms: i64,
}

/// ns since 1970 as Prometheus counts.
fn ms(unix_ns: u64) -> i64 {
    i64::try_from(unix_ns / 1_000_000).unwrap_or(i64::MAX)
}

impl RemoteWrite {
    /// One that pushes from the machine of this name.
    pub fn of(instance: &str) -> RemoteWrite {
        RemoteWrite { instance: instance.to_owned(), ..RemoteWrite::default() }
    }

    /// What a push of `snapshot` sends; `lost` pushes did not arrive so far.
    pub fn body(&mut self, snapshot: &Snapshot, lost: u64) -> Vec<u8> {
        let now_ms = ms(snapshot.unix_ns);
        let before_ms = self.before_ms.unwrap_or_else(|| ms(snapshot.began_unix_ns));
        let instants = Instants { now_ms, before_ms };
        (self.sent_ms, self.new) = (now_ms, HashSet::new());
        let mut request = Message::default();
        let families = snapshot.told(lost);
        for family in &families {
            for point in &family.points {
                let labels = labels(family.name, point, &self.instance);
                let is_new = !self.known.contains(&labels.0);
                let mut series = labels.clone();
                let was_none = is_new && family.is_new && family.kind != Kind::Gauge;
                if was_none && before_ms < now_ms {
                    put(&mut series, instants.before_ms, &none_of(&point.amount));
                }
                put(&mut series, instants.now_ms, &point.amount);
                request.message(1, &series);
                if is_new {
                    self.new.insert(labels.0);
                }
            }
        }
        if self.before_ms.is_none() {
            families.iter().for_each(|family| request.message(3, &metadata(family)));
        }
        request.0
    }

    /// The last body arrived.
    pub fn arrived(&mut self) {
        self.known.extend(std::mem::take(&mut self.new));
        self.before_ms = Some(self.sent_ms);
    }
}

/// The labels of a series, in the order of their names, as the head of a `TimeSeries`. One without
/// a value is none. `job` and `instance` are those that Prometheus gives to what it scrapes.
fn labels(name: &str, point: &Point, instance: &str) -> Message {
    let mut pairs = vec![("__name__", name), ("job", JOB)];
    pairs.extend((!instance.is_empty()).then_some(("instance", instance)));
    let own = point.labels.iter().map(|(key, text)| (key.as_str(), text.as_str()));
    pairs.extend(own.filter(|(_, text)| !text.is_empty()));
    pairs.sort_unstable();
    let mut series = Message::default();
    for (key, text) in pairs {
        let mut label = Message::default();
        label.bytes(1, key.as_bytes());
        label.bytes(2, text.as_bytes());
        series.message(1, &label);
    }
    series
}

/// The same before anything was counted.
fn none_of(amount: &Amount) -> Amount {
    match amount {
        Amount::Value(_) => Amount::Value(Value::Whole(0)),
        Amount::Durations { .. } => Amount::Durations { sum_ns: 0, native: Native::default() },
    }
}

/// Puts what was known at an instant behind the labels.
fn put(series: &mut Message, unix_ms: i64, amount: &Amount) {
    let number = match amount {
        Amount::Value(value) => value.number(),
        Amount::Durations { sum_ns, native } => {
            return series.message(4, &histogram(unix_ms, *sum_ns as f64 / 1e9, native));
        }
    };
    let mut sample = Message::default();
    sample.double(1, number);
    sample.whole(2, unix_ms.unsigned_abs());
    series.message(2, &sample);
}

fn histogram(unix_ms: i64, sum_s: f64, native: &Native) -> Message {
    let mut histogram = Message::default();
    histogram.whole(1, native.count());
    histogram.double(3, sum_s);
    histogram.whole(4, varint::fold(i64::from(SCHEMA)));
    histogram.double(5, ZERO_THRESHOLD_S);
    histogram.whole(6, native.zeros());
    let (spans, deltas) = native.spans();
    for (offset, length) in spans {
        let mut span = Message::default();
        span.whole(1, varint::fold(i64::from(offset)));
        span.whole(2, u64::from(length));
        histogram.message(11, &span);
    }
    let mut packed = Message::default();
    deltas.into_iter().for_each(|delta| packed.varint(varint::fold(delta)));
    histogram.message(12, &packed);
    histogram.whole(15, unix_ms.unsigned_abs());
    histogram
}

/// What a family is, told once.
fn metadata(family: &Told) -> Message {
    let mut metadata = Message::default();
    let kind = match family.kind {
        Kind::Counter => 1,
        Kind::Gauge => 2,
        Kind::Histogram => 3,
    };
    metadata.whole(1, kind);
    metadata.bytes(2, family.name.as_bytes());
    metadata.bytes(4, family.help.as_bytes());
    metadata
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counted, snapshot};
    use super::*;

    /// How often `part` is in `whole`.
    fn times(whole: &[u8], part: &[u8]) -> usize {
        whole.windows(part.len()).filter(|window| *window == part).count()
    }

    #[test]
    fn a_series_is_these_bytes() {
        let point = Point {
            labels: vec![("run".to_owned(), "r".to_owned()), ("op".to_owned(), String::new())],
            amount: Amount::Value(Value::Ratio(1.0)),
        };
        let mut series = labels("a_total", &point, "c1");
        put(&mut series, 300, &point.amount);
        let name = b"\x0a\x13\x0a\x08__name__\x12\x07a_total";
        let instance = b"\x0a\x0e\x0a\x08instance\x12\x02c1";
        let job = b"\x0a\x0f\x0a\x03job\x12\x08plimsoll";
        let run = b"\x0a\x08\x0a\x03run\x12\x01r";
        let sample = b"\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\xac\x02";
        assert_eq!(series.0, [name.as_slice(), instance, job, run, sample].concat());
    }

    #[test]
    fn a_histogram_is_these_bytes() {
        let mut native = Native::default();
        // 0 ns, 1 ns twice, 2 ns: buckets −478 and −462 of schema 4.
        native.add(&[(0, 1), (1, 2), (2, 1)]);
        let wanted = [
            b"\x08\x04\x19\0\0\0\0\0\0\0\0".as_slice(),
            b"\x20\x08\x29\0\0\0\0\0\0\x10\x3e\x30\x01",
            b"\x5a\x05\x08\xbb\x07\x10\x01\x5a\x04\x08\x1e\x10\x01",
            b"\x62\x02\x04\x01\x78\xac\x02",
        ];
        assert_eq!(histogram(300, 0.0, &native).0, wanted.concat());
    }

    #[test]
    fn a_new_series_was_nothing_at_the_push_before_until_that_one_arrived() {
        let zero = |unix_ms: i64| {
            let mut sample = Message::default();
            put(&mut sample, unix_ms, &Amount::Value(Value::Whole(0)));
            sample.0
        };
        let mut writer = RemoteWrite::default();
        let first = snapshot(2_000, &counted(&[5_000]));
        let counters = times(&writer.body(&first, 0), &zero(1_000));
        assert!(counters > 2, "the run began at 1,000 ms");
        assert_eq!(times(&writer.body(&first, 0), &zero(1_000)), counters, "sent again");
        writer.arrived();
        let next = snapshot(3_000, &counted(&[5_000, 6_000]));
        let again = writer.body(&next, 0);
        assert_eq!((times(&again, &zero(1_000)), times(&again, &zero(2_000))), (0, 0));
    }
}
