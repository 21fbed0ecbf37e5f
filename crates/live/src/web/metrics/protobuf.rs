//! Messages of protobuf, as far as metrics need them: the wire format
//! (<https://protobuf.dev/programming-guides/encoding/>) with the
//! fields of `io.prometheus.client.MetricFamily` (<https://github.com/prometheus/client_model>,
//! `metrics.proto`).

use super::kind::Kind;
use super::native::{Native, SCHEMA, ZERO_THRESHOLD_S};
use model::varint;

#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn varint(&mut self, value: u64) {
        varint::put(&mut self.0, value);
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    pub fn whole(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    pub fn double(&mut self, field: u32, value: f64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes, or a text.
    pub fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    pub count: u64,
    pub sum_s: f64,
    /// Upper ends in s and how many are no larger, in rising order, without the end that is for
    /// all.
    pub at_most: &'a [(f64, u64)],
    /// The same by powers.
    pub native: &'a Native,
}

pub fn family(name: &str, help: &str, kind: Kind, metrics: &[u8]) -> Vec<u8> {
    let mut family = Message::default();
    family.bytes(1, name.as_bytes());
    family.bytes(2, help.as_bytes());
    family.whole(3, kind as u64);
    let mut whole = Message::default();
    whole.varint((family.0.len() + metrics.len()) as u64);
    [whole.0.as_slice(), &family.0, metrics].concat()
}

pub fn number(labels: &[(&str, &str)], kind: Kind, value: f64) -> Vec<u8> {
    let mut inner = Message::default();
    inner.double(1, value);
    metric(labels, if kind == Kind::Counter { 3 } else { 2 }, &inner)
}

pub fn histogram(labels: &[(&str, &str)], histogram: &Histogram<'_>) -> Vec<u8> {
    let mut inner = Message::default();
    inner.whole(1, histogram.count);
    inner.double(2, histogram.sum_s);
    for (end_s, count) in histogram.at_most {
        let mut bucket = Message::default();
        bucket.whole(1, *count);
        bucket.double(2, *end_s);
        inner.message(3, &bucket);
    }
    inner.whole(5, varint::fold(i64::from(SCHEMA)));
    inner.double(6, ZERO_THRESHOLD_S);
    inner.whole(7, histogram.native.zeros());
    let (spans, deltas) = histogram.native.spans();
    for (offset, length) in spans {
        let mut span = Message::default();
        span.whole(1, varint::fold(i64::from(offset)));
        span.whole(2, u64::from(length));
        inner.message(12, &span);
    }
    let mut packed = Message::default();
    deltas.into_iter().for_each(|delta| packed.varint(varint::fold(delta)));
    inner.message(13, &packed);
    metric(labels, 7, &inner)
}

/// A metric with what is measured in `field`.
fn metric(labels: &[(&str, &str)], field: u32, value: &Message) -> Vec<u8> {
    let mut metric = Message::default();
    for (key, text) in labels {
        let mut pair = Message::default();
        pair.bytes(1, key.as_bytes());
        pair.bytes(2, text.as_bytes());
        metric.message(1, &pair);
    }
    metric.message(field, value);
    let mut outer = Message::default();
    outer.message(4, &metric);
    outer.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_wire_formats_own_examples() {
        // 150 as field 1 is 08 96 01, "testing" as field 2 is 12 07 …, −2 is 3 in zigzag: all three
        // from the format's documentation.
        let mut message = Message::default();
        message.whole(1, 150);
        message.bytes(2, b"testing");
        assert_eq!(message.0, b"\x08\x96\x01\x12\x07testing");
        let folded = [0, -1, 1, -2, i64::from(i32::MAX), i64::MAX, i64::MIN].map(varint::fold);
        assert_eq!(folded, [0, 1, 2, 3, 0xffff_fffe, u64::MAX - 1, u64::MAX]);
        let mut largest = Message::default();
        largest.varint(u64::MAX);
        assert_eq!(largest.0, [[0xff; 9].as_slice(), &[1]].concat());
    }

    #[test]
    fn a_family_of_a_counter_is_these_bytes() {
        let metric = number(&[("op", "read")], Kind::Counter, 1.0);
        assert_eq!(
            metric,
            b"\x22\x17\x0a\x0a\x0a\x02op\x12\x04read\x1a\x09\x09\0\0\0\0\0\0\xf0\x3f"
        );
        let whole = family("a_total", "b", Kind::Counter, &metric);
        assert_eq!(whole, [b"\x27\x0a\x07a_total\x12\x01b\x18\x00".as_slice(), &metric].concat());
        assert_eq!(number(&[], Kind::Gauge, 0.0), b"\x22\x0b\x12\x09\x09\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn a_histogram_is_these_bytes() {
        let mut native = Native::default();
        // 0 ns, 1 ns twice, 2 ns: buckets −478 and −462 of schema 4.
        native.add(&[(0, 1), (1, 2), (2, 1)]);
        let at_most = [(1.0, 4)];
        let bytes =
            histogram(&[], &Histogram { count: 4, sum_s: 0.0, at_most: &at_most, native: &native });
        let threshold = b"\x31\0\0\0\0\0\0\x10\x3e";
        let inner = [
            b"\x08\x04\x11\0\0\0\0\0\0\0\0".as_slice(),
            b"\x1a\x0b\x08\x04\x11\0\0\0\0\0\0\xf0\x3f",
            b"\x28\x08",
            threshold,
            b"\x38\x01",
            b"\x62\x05\x08\xbb\x07\x10\x01",
            b"\x62\x04\x08\x1e\x10\x01",
            b"\x6a\x02\x04\x01",
        ]
        .concat();
        let length = u8::try_from(inner.len()).expect("short");
        assert_eq!(bytes, [&[0x22, length + 2, 0x3a, length], inner.as_slice()].concat());
    }
}
