//! Frames that were said and may have to be said again. Pure.

use std::collections::VecDeque;

/// What is kept at most, in frames: at two in each second, nine hours.
const MOST_FRAMES: usize = 65_536;
/// And in bytes.
const MOST_BYTES: usize = 256 << 20;
/// Of what was taken, so much is kept for whoever takes over: it was heard, and perhaps not
/// recorded.
const TAKEN_FRAMES: usize = 256;
/// And in bytes.
const TAKEN_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct Kept {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The number of the first one.
    first: u64,
    /// How many the other end has taken.
    taken: u64,
    /// The bytes of those among the frames that it has taken.
    taken_bytes: usize,
    /// The next one to be said.
    next: u64,
}

impl Kept {
    /// The number of the first frame that is kept.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number behind the last one.
    fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    pub(crate) fn has_room(&self) -> bool {
        self.frames.len() < MOST_FRAMES && self.bytes < MOST_BYTES
    }

    pub(crate) fn push(&mut self, frame: Vec<u8>) {
        self.bytes += frame.len();
        self.frames.push_back(frame);
    }

    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        let at = usize::try_from(self.next.checked_sub(self.first)?).ok()?;
        let frame = self.frames.get(at)?;
        self.next += 1;
        Some(frame)
    }

    /// The other end has taken so many. `None` where it cannot have.
    pub(crate) fn taken(&mut self, taken: u64) -> Option<()> {
        if taken > self.next || taken < self.taken {
            return None;
        }
        for number in self.taken.max(self.first)..taken {
            let at = usize::try_from(number - self.first).ok()?;
            self.taken_bytes += self.frames.get(at)?.len();
        }
        self.taken = taken;
        self.forget();
        Some(())
    }

    /// What was taken is kept no longer than it has to be.
    fn forget(&mut self) {
        while self.first < self.taken
            && ((self.taken - self.first) as usize > TAKEN_FRAMES || self.taken_bytes > TAKEN_BYTES)
        {
            let Some(frame) = self.frames.pop_front() else { return };
            self.first += 1;
            self.bytes -= frame.len();
            self.taken_bytes -= frame.len();
        }
    }

    /// Goes on over another stream from what was taken. `None` where that is not kept.
    pub(crate) fn go_on_from(&mut self, taken: u64) -> Option<()> {
        if taken < self.taken || taken > self.end() {
            return None;
        }
        // It may have taken what was said last, and its sign of that was lost.
        self.next = self.next.max(taken);
        self.taken(taken)?;
        self.next = taken;
        Some(())
    }

    /// Begins again with the first one that is kept.
    pub(crate) fn rewind(&mut self) {
        (self.next, self.taken, self.taken_bytes) = (self.first, self.first, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(number: u64) -> Vec<u8> {
        vec![number as u8; 1 + number as usize % 7]
    }

    #[test]
    fn what_is_taken_is_kept_for_a_while_and_what_is_not_until_it_is() {
        let mut kept = Kept::default();
        for number in 0..1_000 {
            kept.push(frame(number));
            assert_eq!(kept.next(), Some(&frame(number)[..]));
        }
        assert_eq!(kept.first(), 0);
        kept.taken(900).expect("said");
        assert_eq!(kept.first(), 900 - TAKEN_FRAMES as u64);
        kept.go_on_from(950).expect("kept");
        assert_eq!(kept.next(), Some(&frame(950)[..]));
        kept.rewind();
        assert_eq!(kept.next(), Some(&frame(950 - TAKEN_FRAMES as u64)[..]));
        assert_eq!(kept.bytes, kept.frames.iter().map(Vec::len).sum::<usize>());
    }

    #[test]
    fn nobody_takes_what_was_not_said_nor_gives_back_what_was_taken() {
        let mut kept = Kept::default();
        (0..5).for_each(|number| kept.push(frame(number)));
        assert_eq!(kept.taken(1), None, "nothing was said yet");
        kept.next();
        kept.next();
        assert_eq!(kept.taken(3), None);
        kept.taken(2).expect("said");
        assert_eq!(kept.taken(1), None);
        assert_eq!(kept.go_on_from(1), None);
        assert_eq!(kept.go_on_from(6), None);
        assert_eq!(kept.go_on_from(5), Some(()), "it came, and its sign of that was lost");
    }

    proptest! {
        /// Streams break at any time with anything under way: each frame is heard once, in order.
        #[test]
        fn whatever_is_lost_on_the_way_each_frame_is_heard_once_and_in_order(
            steps in prop::collection::vec((0u8..4, 0usize..9), 1..200),
        ) {
            let (mut kept, mut heard, mut said) = (Kept::default(), Vec::new(), 0);
            let mut under_way: VecDeque<Vec<u8>> = VecDeque::new();
            for (step, count) in steps {
                match step {
                    0 => for _ in 0..count { kept.push(frame(said)); said += 1; },
                    1 => for _ in 0..count { under_way.extend(kept.next().map(<[u8]>::to_vec)); },
                    2 => {
                        heard.extend(under_way.drain(..count.min(under_way.len())));
                        prop_assert!(kept.taken(heard.len() as u64).is_some());
                    }
                    _ => {
                        // Some of it arrives, and nobody hears of that.
                        heard.extend(under_way.drain(..count.min(under_way.len())));
                        under_way.clear();
                        prop_assert!(kept.go_on_from(heard.len() as u64).is_some());
                    }
                }
            }
            let all: Vec<Vec<u8>> = (0..heard.len() as u64).map(frame).collect();
            prop_assert_eq!(heard, all);
        }
    }
}
