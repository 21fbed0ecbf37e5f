//! Whatever was written comes back, and no bytes break the reader.

use super::{Bad, In, Out, Zeros};
use proptest::prelude::*;

fn bytes_of(column: &[u64]) -> Vec<u8> {
    let mut out = Out::default();
    out.column(column);
    out.into_bytes()
}

fn back(column: &[u64]) -> Vec<u64> {
    let bytes = bytes_of(column);
    let (mut rest, mut found) = (In::new(&bytes), Vec::new());
    if !column.is_empty() {
        assert_eq!(rest.column(column.len(), &mut found), Ok(()));
    }
    assert_eq!(rest.end(), Ok(()));
    found
}

#[test]
fn what_does_not_change_costs_two_bytes_and_what_wavers_its_bits() {
    assert_eq!(bytes_of(&[100; 128]).len(), 2);
    assert_eq!(bytes_of(&[0; 128]), [0, 0]);
    // 0 to 7 ticks of 10 ms: three bits each, and some bytes ahead of them.
    let ticks: Vec<u64> = (0..128).map(|n: u64| n * 5 % 8 * 10_000_000).collect();
    assert!(bytes_of(&ticks).len() <= 3 * 128 / 8 + 8, "{}", bytes_of(&ticks).len());
    // What grows evenly: its differences are one number.
    let grows: Vec<u64> = (0..128).map(|n| 1 << 40 | (n * 4_096)).collect();
    assert!(bytes_of(&grows).len() < 24);
    // Seldom other than usual: a few bytes each time.
    let mut seldom = [7; 128];
    (seldom[3], seldom[90]) = (1 << 30, 8);
    assert!(bytes_of(&seldom).len() < 16);
}

#[test]
fn extremes_come_back() {
    for column in [
        vec![u64::MAX, 0],
        vec![0, u64::MAX, 1, u64::MAX - 1],
        vec![1 << 63, (1 << 63) - 1, 1 << 63],
        vec![5],
        vec![],
    ] {
        assert_eq!(back(&column), column);
    }
}

#[test]
fn another_layout_a_number_that_does_not_fit_and_bytes_behind_the_end_are_refused() {
    let mut out = Out::of(1);
    out.number(300);
    let bytes = out.into_bytes();
    assert!(In::of(2, &bytes).is_none() && In::of(1, &[]).is_none());
    let rest = In::of(1, &bytes).expect("its layout");
    assert_eq!(rest.end(), Err(Bad::TooLong));
    assert_eq!({ rest }.small::<u8>(), Err(Bad::OutOfRange));
    assert_eq!({ rest }.small::<u16>(), Ok(300));
    assert_eq!({ rest }.count(), Err(Bad::CutOff), "a byte for each at least");
}

proptest! {
    #[test]
    fn any_column_comes_back(
        column in prop_oneof![
            prop::collection::vec(any::<u64>(), 0..140),
            prop::collection::vec(0u64..40, 0..140),
            prop::collection::vec((0u64..90).prop_map(|n| n * 512), 0..140),
            prop::collection::vec(prop_oneof![20 => Just(3u64), 1 => any::<u64>()], 0..140),
        ],
    ) {
        prop_assert_eq!(&back(&column), &column);
        let bytes = bytes_of(&column);
        for step in [1, 3, 200] {
            let wanted: Vec<usize> = (step / 2..column.len()).step_by(step).collect();
            let (mut rest, mut some) = (In::new(&bytes), vec![9]);
            if !column.is_empty() {
                let taken = rest.some_of_column(column.len(), &wanted, &mut some);
                prop_assert_eq!(taken, Ok(()));
            }
            prop_assert!(rest.is_over());
            let expected = [9].into_iter().chain(wanted.iter().map(|place| column[*place]));
            prop_assert!(some.iter().copied().eq(expected));
        }
    }

    #[test]
    fn anything_else_comes_back_too(
        numbers in prop::collection::vec(prop_oneof![3 => Just(0), 1 => any::<u64>()], 1..40),
        (signed, wide, text) in (any::<i64>(), 0..1u128 << 120, ".{0,9}"),
        stretches in prop::collection::vec((any::<u64>(), any::<u64>()), 1..40),
    ) {
        let (mut out, mut zeros) = (Out::of(7), Zeros::default());
        out.signed(signed);
        out.wide(wide);
        out.text(&text);
        out.difference(numbers[0], signed as u64);
        out.counts(&numbers);
        out.stretches(stretches.iter().copied());
        numbers.iter().for_each(|number| zeros.put(&mut out, *number));
        zeros.end(&mut out);
        out.raw(&[0, 0]);

        let mut rest = In::of(7, out.bytes()).expect("its layout");
        prop_assert_eq!(rest.signed(), Ok(signed));
        prop_assert_eq!(rest.wide(), Ok(wide));
        prop_assert_eq!(rest.text(), Ok(text.as_str()));
        prop_assert_eq!(rest.difference(signed as u64), Ok(numbers[0]));
        let mut counts = Vec::new();
        prop_assert_eq!(rest.column(numbers.len(), &mut counts), Ok(()));
        prop_assert_eq!(&counts, &numbers);
        prop_assert_eq!(rest.stretches(stretches.len()), Ok(stretches));
        let mut zeros = Zeros::default();
        for number in numbers {
            prop_assert_eq!(zeros.take(&mut rest), Ok(Some(number)));
        }
        prop_assert_eq!(zeros.take(&mut rest), Ok(None), "two zeros are the user's own");
        prop_assert!(zeros.is_over());
        prop_assert_eq!(rest.end(), Ok(()));
    }

    #[test]
    fn no_bytes_break_anything(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        count in 0usize..130,
    ) {
        let all = In::new(&bytes);
        let (mut rest, mut out) = (all, Vec::new());
        let is_taken = rest.column(count, &mut out).is_ok();
        if is_taken {
            prop_assert_eq!(out.len(), count);
        }
        let wanted: Vec<usize> = (0..count).step_by(7).collect();
        let (mut other, mut some) = (all, Vec::new());
        let is_read = other.some_of_column(count, &wanted, &mut some).is_ok();
        prop_assert_eq!(is_read, is_taken);
        if is_read {
            prop_assert_eq!((some.len(), other.rest()), (wanted.len(), rest.rest()));
        }
        let (mut rest, mut zeros) = (all, Zeros::default());
        let _ = ({ all }.text(), { all }.block(), { all }.wide());
        let _ = (0..count).try_for_each(|_| zeros.take(&mut rest).map(|_| ()));
    }
}
