//! Where the rows of a sample begin, among rows that stand in the order of their samples: by
//! interpolation, because samples of one run have about as many rows each (Peterson, "Addressing
//! for random-access storage", IBM Journal of Research and Development 1, 1957), and by halves
//! where they have not.

/// As many tries by interpolation as bring even rows together; then by halves, which ends whatever
/// the rows are like.
const TRIES: u32 = 6;

/// Rows from `first` to `last` and the samples that these two belong to.
#[derive(Clone, Copy, Debug)]
pub struct Bracket {
    /// The first row; those before it belong to samples before the wanted one.
    pub first: i64,
    /// The sample of the first row, or one before it.
    pub first_sample: i64,
    /// The last row.
    pub last: i64,
    /// The sample of the last row.
    pub last_sample: i64,
}

/// The first row of `wanted` or of a sample behind it; the last row of the bracket if there is
/// none. `at` says to which sample a row belongs, or, where the row is missing, the next one that
/// there is.
///
/// # Errors
/// Those of `at`.
pub fn first_row<E>(
    wanted: i64,
    bracket: Bracket,
    mut at: impl FnMut(i64) -> Result<Option<i64>, E>,
) -> Result<i64, E> {
    let Bracket { mut first, mut first_sample, mut last, mut last_sample } = bracket;
    let mut tries = 0;
    while first < last {
        let row = guess(wanted, Bracket { first, first_sample, last, last_sample }, tries);
        tries += 1;
        match at(row)? {
            Some(found) if found < wanted => (first, first_sample) = (row.saturating_add(1), found),
            found => (last, last_sample) = (row, found.unwrap_or(last_sample)),
        }
    }
    Ok(first)
}

/// A row of the bracket but the last: by turns a little before and a little behind where the wanted
/// sample would begin if all had as many rows, so that the bracket closes from both sides.
fn guess(wanted: i64, bracket: Bracket, tries: u32) -> i64 {
    let Bracket { first, first_sample, last, last_sample } = bracket;
    let rows = i128::from(last) - i128::from(first);
    let samples = i128::from(last_sample) - i128::from(first_sample) + 1;
    // Of two neighbours, a share says nothing.
    if tries >= TRIES || samples <= 3 {
        return first.midpoint(last).clamp(first, last - 1);
    }
    let ahead = (i128::from(wanted) - i128::from(first_sample)).clamp(0, samples);
    // Both factors are below 2⁶⁵, so that the product may not fit: shares of a long bracket need no
    // last digit.
    let place =
        rows.checked_mul(ahead).map_or_else(|| rows / samples * ahead, |product| product / samples);
    let margin = rows / samples + 1;
    let place = if tries.is_multiple_of(2) { place - margin } else { place + margin };
    // Between the first and the last row, so it fits.
    (i128::from(first) + place.clamp(0, rows - 1)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Where `wanted` begins among `samples` whose rows each are `rows` (of the number of the
    /// sample), and how many rows were looked at.
    fn found(wanted: i64, samples: &[i64]) -> (i64, u32) {
        let mut looks = 0;
        let bracket = Bracket {
            first: 0,
            first_sample: samples[0],
            last: samples.len() as i64 - 1,
            last_sample: samples[samples.len() - 1],
        };
        let row = first_row(wanted, bracket, |row| {
            looks += 1;
            Ok::<_, Infallible>(samples.get(row as usize).copied())
        });
        (row.unwrap_or_else(|never| match never {}), looks)
    }

    /// The samples of rows where sample number n has so many.
    fn rows(samples: i64, each: impl Fn(i64) -> usize) -> Vec<i64> {
        (0..samples).flat_map(|sample| std::iter::repeat_n(sample, each(sample))).collect()
    }

    #[test]
    fn the_first_row_is_found_whatever_rows_samples_have() {
        let uneven: [fn(i64) -> usize; 5] = [
            |_| 1,
            |_| 30,
            |sample| if sample % 16 < 3 { 200 } else { 2 },
            |sample| if sample < 500 { 1 } else { 90 },
            |sample| (sample % 3) as usize,
        ];
        for each in uneven {
            let all = rows(1_000, each);
            for wanted in (0..1_000).step_by(7) {
                let expected = all.partition_point(|sample| *sample < wanted).min(all.len() - 1);
                assert_eq!(
                    found(wanted, &all).0,
                    expected as i64,
                    "{wanted} of {} rows",
                    all.len()
                );
            }
        }
        assert_eq!(
            (found(5, &[5]).0, found(9, &[1, 2, 3]).0, found(i64::MIN, &[1, 2, 3]).0),
            (0, 2, 0)
        );
    }

    #[test]
    fn few_rows_are_looked_at_where_samples_have_as_many_and_not_many_more_where_they_have_not() {
        let (even, uneven) =
            (rows(20_000, |_| 40), rows(20_000, |sample| if sample > 19_000 { 700 } else { 1 }));
        for wanted in (1..20_000).step_by(97) {
            let (_, looks) = found(wanted, &even);
            assert!(looks <= 10, "{looks} of {} rows", even.len());
            let (_, looks) = found(wanted, &uneven);
            assert!(looks <= TRIES + 20, "{looks} of {} rows", uneven.len());
        }
    }

    #[test]
    fn a_forged_file_ends_the_search_and_breaks_nothing() {
        let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
        for (first, last) in
            extremes.iter().flat_map(|first| extremes.iter().map(move |last| (*first, *last)))
        {
            for (first_sample, last_sample) in [(first, last), (last, first), (0, 0)] {
                let mut looks = 0;
                let bracket = Bracket { first, first_sample, last, last_sample };
                let row = first_row(7, bracket, |row| {
                    looks += 1;
                    Ok::<_, Infallible>(Some(row ^ 0x5555))
                });
                assert!(row.is_ok() && looks <= TRIES + 64 + 2, "{bracket:?}: {looks}");
            }
        }
    }
}
