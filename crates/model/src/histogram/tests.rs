//! Histograms held to what was recorded, and broken bytes.

use super::*;
use proptest::prelude::*;

#[test]
fn every_bucket_holds_its_own_bounds_and_they_adjoin() {
    let mut next = 0;
    for bucket in 0..BUCKETS {
        let (low, high) = bucket_bounds(bucket);
        assert_eq!(low, next, "bucket {bucket} starts where the one before ends");
        assert_eq!((bucket_of(low), bucket_of(high)), (bucket, bucket));
        assert!((high - low) as f64 <= low as f64 / 127.0, "bucket {bucket} is wider than 1 %");
        next = high + 1;
    }
    assert!(next > 3_600_000_000_000, "an hour is told apart");
    assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
}

#[test]
fn an_empty_histogram_has_no_quantiles() {
    let empty = Histogram::new();
    assert_eq!((empty.quantile_ns(0.5), empty.mean_ns(), empty.max_ns()), (None, None, None));
    assert_eq!(empty.encode().decode(), Ok(empty));
}

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|v| histogram.record(*v));
    histogram
}

proptest! {
    #[test]
    fn quantiles_fall_in_the_bucket_of_the_true_value(
        mut values in prop::collection::vec(0u64..4_000_000_000_000, 1..500),
        q in 0.0f64..=1.0,
    ) {
        let histogram = of(&values);
        values.sort_unstable();
        let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
        let (truth, told) = (values[rank - 1], histogram.quantile_ns(q).expect("not empty"));
        prop_assert_eq!(bucket_of(told), bucket_of(truth));
        prop_assert!(told.abs_diff(truth) as f64 <= truth as f64 * 0.01);
    }

    #[test]
    fn merging_equals_recording_together_and_survives_encoding(
        left in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..200),
        right in prop::collection::vec(0u64..1_000_000, 0..200),
    ) {
        let mut merged = of(&left);
        of(&right).encode().merge_into(&mut merged).expect("own encoding");
        let together = of(&[left, right].concat());
        prop_assert_eq!(&merged, &together);
        prop_assert_eq!(together.encode().decode(), Ok(merged));
    }

    #[test]
    fn a_tight_histogram_is_the_same_to_the_byte(
        parts in prop::collection::vec(
            prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..40), 0..6),
    ) {
        let (mut one, mut left, mut right) = (Tight::default(), Tight::default(),
            Tight::default());
        let mut buckets = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let head = take_apart(&of(part).encode().0, &mut buckets).expect("own encoding");
            one.add(&head, &buckets).expect("few");
            let side = if place % 2 == 0 { &mut left } else { &mut right };
            side.add(&head, &buckets).expect("few");
            // Packed in between, they go on as before.
            if place % 3 == 1 {
                left.pack();
                one.pack();
            }
        }
        if parts.len() % 2 == 1 {
            right.pack();
        }
        left.merge(&right).expect("few enough");
        let together = of(&parts.concat());
        let mut merged = Histogram::new();
        merged.merge_tight(&one);
        prop_assert_eq!(&merged, &together);
        prop_assert_eq!(one.encode(), together.encode());
        let mut packed = one.clone();
        packed.pack();
        prop_assert_eq!(&packed, &one);
        prop_assert!(packed.counts.is_empty() && packed.held_bytes() <= 3 + 40 + 8 * 240);
        let mut merged = Histogram::new();
        merged.merge_tight(&packed);
        prop_assert_eq!(&merged, &together);
        prop_assert_eq!(left.encode(), together.encode());
        prop_assert_eq!(together.encode().max_ns(), Ok(together.max_ns()));
    }

    #[test]
    fn what_is_counted_without_decoding_is_what_decoding_counts(
        values in prop::collection::vec(0u64..1_000_000, 0..200),
        limits in prop::array::uniform2(0u64..1_000_000),
    ) {
        let encoded = of(&values).encode();
        let below = |limit: u64| values.iter().filter(|v| bucket_of(**v) <= bucket_of(limit))
            .count() as u64;
        prop_assert_eq!(encoded.at_most(limits), Ok(limits.map(below)));
        prop_assert_eq!(encoded.sum_ns(), Ok(of(&values).sum_ns()));
    }

    #[test]
    fn quantiles_from_the_buckets_in_use_are_those_of_the_histogram(
        values in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..200),
        q in 0.0f64..=1.0,
    ) {
        let (whole, mut buckets) = (of(&values), Vec::new());
        let head = take_apart(&whole.encode().0, &mut buckets).expect("own encoding");
        prop_assert_eq!(head.quantile_ns(&buckets, q), whole.quantile_ns(q));
        prop_assert_eq!((head.mean_ns(), head.max_ns()), (whole.mean_ns(), whole.max_ns()));
    }

    #[test]
    fn hostile_bytes_are_refused_and_never_panic(bytes in prop::collection::vec(any::<u8>(),
        0..64)) {
        let encoded = EncodedHistogram(bytes);
        let _ = (encoded.at_most([0, 1_000]), encoded.sum_ns());
        if let Ok(histogram) = encoded.decode() {
            let _ = histogram.quantile_ns(0.99);
        }
    }
}
