//! Numbers by place, in as few bytes as they need: a day on a thousand hosts has as many of them as
//! would fill a memory that nobody has.

/// So many numbers have one width.
pub(super) const CHUNK: usize = 64;

/// Up to [`CHUNK`] numbers of the same width. Those that were never set are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed {
    /// `CHUNK` times the width, little-endian; none where all are 0.
    bytes: Box<[u8]>,
}

impl Packed {
    fn width(&self) -> usize {
        self.bytes.len() / CHUNK
    }

    /// Those with these numbers.
    pub fn of(values: &[u64; CHUNK]) -> Packed {
        let all = values.iter().fold(0, |all, value| all | value);
        let width = (u64::BITS - all.leading_zeros()).div_ceil(8) as usize;
        // Each is written whole, and the next one over its upper bytes, which are 0.
        let mut bytes = [0; (CHUNK + 1) * size_of::<u64>()];
        for (at, value) in values.iter().enumerate() {
            bytes[at * width..][..size_of::<u64>()].copy_from_slice(&value.to_le_bytes());
        }
        Packed { bytes: bytes[..CHUNK * width].into() }
    }

    /// All of them.
    pub fn all(&self) -> [u64; CHUNK] {
        let (mut values, width) = ([0; CHUNK], self.width());
        if width == 0 {
            return values;
        }
        let mut bytes = [0; (CHUNK + 1) * size_of::<u64>()];
        bytes[..self.bytes.len()].copy_from_slice(&self.bytes);
        let mask = u64::MAX >> (u64::BITS as usize - 8 * width);
        for (at, value) in values.iter_mut().enumerate() {
            if let Some(whole) = bytes.get(at * width..).and_then(|rest| rest.first_chunk()) {
                *value = u64::from_le_bytes(*whole) & mask;
            }
        }
        values
    }

    pub fn get(&self, at: usize) -> u64 {
        let width = self.width();
        // All but the last few have eight bytes from their own on.
        if let Some(whole) = self.bytes.get(at * width..).and_then(|rest| rest.first_chunk())
            && width > 0
        {
            return u64::from_le_bytes(*whole) & (u64::MAX >> (u64::BITS as usize - 8 * width));
        }
        let mut whole = [0; 8];
        if let Some(bytes) = self.bytes.get(at * width..(at + 1) * width) {
            whole[..width].copy_from_slice(bytes);
        }
        u64::from_le_bytes(whole)
    }

    pub fn set(&mut self, at: usize, value: u64) {
        let wanted = (u64::BITS - value.leading_zeros()).div_ceil(8) as usize;
        if wanted > self.width() {
            let mut wider = Packed { bytes: vec![0; CHUNK * wanted].into() };
            (0..CHUNK).for_each(|place| wider.put(place, self.get(place)));
            *self = wider;
        }
        self.put(at, value);
    }

    /// Writes a number for which there is room.
    fn put(&mut self, at: usize, value: u64) {
        let width = self.width();
        if let Some(place) = self.bytes.get_mut(at * width..(at + 1) * width) {
            place.copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
}

/// Numbers by place. Those that were never set are 0.
#[derive(Clone, Debug, Default)]
pub struct Column {
    chunks: Vec<Packed>,
    length: usize,
}

/// How wide they are makes no difference.
impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.length == other.length && self.iter().eq(other.iter())
    }
}

impl Eq for Column {}

impl Column {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The number at this place; `None` behind the last one.
    pub fn get(&self, at: usize) -> Option<u64> {
        if at >= self.length {
            return None;
        }
        Some(self.chunks.get(at / CHUNK).map_or(0, |chunk| chunk.get(at % CHUNK)))
    }

    /// Sets the number at a place; behind the last one, there is none to set.
    pub fn set(&mut self, at: usize, value: u64) {
        if at < self.length
            && let Some(chunk) = self.chunks.get_mut(at / CHUNK)
        {
            chunk.set(at % CHUNK, value);
        }
    }

    /// Makes of each number from one place to before another what `change` makes of it.
    ///
    /// # Errors
    /// Those of `change`; or a place is behind the last one, which is `stray`. Some numbers may be
    /// changed then.
    pub fn change<E>(
        &mut self,
        from: usize,
        to: usize,
        stray: E,
        mut change: impl FnMut(u64) -> Result<u64, E>,
    ) -> Result<(), E> {
        let mut at = from;
        while at < to.min(self.length) {
            let Some(chunk) = self.chunks.get_mut(at / CHUNK) else { break };
            let end = to.min(self.length).min((at / CHUNK + 1) * CHUNK);
            let mut values = chunk.all();
            for value in &mut values[at % CHUNK..=(end - 1) % CHUNK] {
                *value = change(*value)?;
            }
            *chunk = Packed::of(&values);
            at = end;
        }
        if at < to { Err(stray) } else { Ok(()) }
    }

    /// Makes it so long at least.
    pub fn reach(&mut self, length: usize) {
        if self.length < length {
            self.length = length;
            self.chunks.resize(length.div_ceil(CHUNK), Packed::default());
        }
    }

    /// All numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.chunks.iter().flat_map(Packed::all);
        all.take(self.length)
    }

    /// All numbers in order, unpacked.
    pub fn values(&self) -> Vec<u64> {
        let mut values = Vec::with_capacity(self.chunks.len() * CHUNK);
        self.chunks.iter().for_each(|chunk| values.extend_from_slice(&chunk.all()));
        values.resize(self.length, 0);
        values
    }

    /// Adds another one, place by place; whether both have a number at some place. Saturates, as
    /// all sums of a stage do.
    pub fn merge(&mut self, other: Column) -> bool {
        self.reach(other.length);
        let mut is_twice = false;
        for (mine, theirs) in self.chunks.iter_mut().zip(other.chunks) {
            // Sums of different times have no chunk in common but where one ends.
            match (mine.width(), theirs.width()) {
                (_, 0) => {}
                (0, _) => *mine = theirs,
                _ => {
                    let (mut sums, values) = (mine.all(), theirs.all());
                    for (sum, value) in sums.iter_mut().zip(values) {
                        is_twice |= *sum > 0 && value > 0;
                        *sum = sum.saturating_add(value);
                    }
                    *mine = Packed::of(&sums);
                }
            }
        }
        is_twice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_take_few_bytes() {
        let mut column = Column::default();
        column.reach(1_000);
        assert!(column.chunks.iter().all(|chunk| chunk.bytes.is_empty()), "zeros take none");
        (0..1_000).for_each(|at| column.set(at, 40_000 + at as u64));
        let bytes: usize = column.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        assert_eq!(bytes, 1_000usize.div_ceil(CHUNK) * CHUNK * 2);
    }

    #[test]
    fn behind_the_last_place_is_nothing() {
        let mut column = Column::default();
        column.reach(65);
        column.set(65, 7);
        assert_eq!((column.get(64), column.get(65), column.len()), (Some(0), None, 65));
        column.reach(70);
        assert_eq!(column.get(65), Some(0));
    }

    proptest! {
        #[test]
        fn a_stretch_is_changed_as_its_numbers_one_by_one(
            values in prop::collection::vec(prop_oneof![0u64..300, any::<u64>()], 0..300),
            from in 0usize..310, count in 0usize..200,
        ) {
            let mut column = Column::default();
            column.reach(values.len());
            let all = column.change(0, values.len(), "stray", {
                let mut next = values.iter();
                move |before| { assert_eq!(before, 0); next.next().copied().ok_or("end") }
            });
            prop_assert_eq!(all, Ok(()));
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), values.clone());
            let mut other = column.clone();
            let to = from + count;
            let changed =
                column.change(from, to, "stray", |before| Ok(before.wrapping_mul(3) ^ 0x1234));
            prop_assert_eq!(changed.is_err(), to > values.len() && count > 0);
            for at in from..to {
                if let Some(before) = other.get(at) {
                    other.set(at, before.wrapping_mul(3) ^ 0x1234);
                }
            }
            prop_assert_eq!(column, other);
        }

        #[test]
        fn it_is_what_a_vector_is(
            changes in prop::collection::vec((0usize..200, prop_oneof![
                0u64..300, any::<u64>(), Just(u64::MAX)]), 0..90),
            more in prop::collection::vec(any::<u64>(), 0..140),
        ) {
            let (mut column, mut plain) = (Column::default(), vec![0u64; 150]);
            column.reach(150);
            for (at, value) in changes {
                column.set(at, value);
                if let Some(place) = plain.get_mut(at) {
                    *place = value;
                }
            }
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), plain.clone());
            let mut other = Column::default();
            other.reach(more.len());
            more.iter().enumerate().for_each(|(at, value)| other.set(at, *value));
            let both = plain.iter().zip(&more).any(|(one, other)| *one > 0 && *other > 0);
            prop_assert_eq!(column.merge(other), both);
            plain.iter_mut().zip(&more).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), plain.clone());
            prop_assert_eq!(column.values(), plain);
        }
    }
}
