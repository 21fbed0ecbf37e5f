//! Histograms in little memory, for many that are filled at the same time.

use super::{BadHistogram, EncodedHistogram, Head, encoded, take_apart};

/// A histogram that holds only the buckets between the lowest and the highest in use: for many
/// that are filled at the same time. Once it is [packed](Self::pack), it holds those in use alone,
/// in some hundred bytes.
#[derive(Clone, Debug, Default, Eq)]
pub struct Tight {
    pub(super) low: usize,
    pub(super) counts: Vec<u64>,
    /// In place of the counts: the compact form; empty where the counts stand.
    packed: Box<[u8]>,
    pub(super) head: Head,
}

/// Packed or not makes no difference.
impl PartialEq for Tight {
    fn eq(&self, other: &Tight) -> bool {
        self.encode() == other.encode()
    }
}

impl Tight {
    /// Takes as little memory as it can until something is added again.
    pub fn pack(&mut self) {
        if self.counts.is_empty() {
            return;
        }
        let EncodedHistogram(bytes) = self.encode();
        (self.packed, self.counts, self.low) = (bytes.into(), Vec::new(), 0);
    }

    /// The buckets in use, where it is packed.
    pub(super) fn packed_buckets(&self) -> Vec<(u16, u64)> {
        let mut buckets = Vec::new();
        if !self.packed.is_empty() {
            let head = take_apart(&self.packed, &mut buckets);
            assert_eq!(head, Ok(self.head), "what was packed is what was counted");
        }
        buckets
    }

    fn unpack(&mut self) {
        let buckets = self.packed_buckets();
        self.packed = Box::default();
        if let (Some(first), Some(last)) = (buckets.first(), buckets.last()) {
            self.reach(usize::from(first.0), usize::from(last.0));
            self.add_buckets(&buckets);
        }
    }

    fn add_buckets(&mut self, buckets: &[(u16, u64)]) {
        let counts = &mut self.counts[..];
        for (bucket, n) in buckets {
            // There is room since `reach`.
            counts[usize::from(*bucket) - self.low] += n;
        }
    }

    /// Adds a histogram that was [taken apart](take_apart). Order and grouping make no difference.
    ///
    /// # Errors
    /// More latencies than can be counted; then it stays as it was.
    pub fn add(&mut self, head: &Head, buckets: &[(u16, u64)]) -> Result<(), BadHistogram> {
        let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else { return Ok(()) };
        self.head.has_room(head.count)?;
        if !self.packed.is_empty() {
            self.unpack();
        }
        self.reach(usize::from(first.0), usize::from(last.0));
        self.add_buckets(buckets);
        self.head.add(head);
        Ok(())
    }

    /// Adds everything that `other` counted.
    ///
    /// # Errors
    /// More latencies than can be counted; then it stays as it was.
    pub fn merge(&mut self, other: &Tight) -> Result<(), BadHistogram> {
        if other.head.count == 0 {
            return Ok(());
        }
        self.head.has_room(other.head.count)?;
        if !self.packed.is_empty() {
            self.unpack();
        }
        let buckets = other.packed_buckets();
        if let (Some(first), Some(last)) = (buckets.first(), buckets.last()) {
            self.reach(usize::from(first.0), usize::from(last.0));
            self.add_buckets(&buckets);
        } else {
            self.reach(other.low, other.low + other.counts.len().saturating_sub(1));
            for (mine, theirs) in self.counts[other.low - self.low..].iter_mut().zip(&other.counts)
            {
                *mine += theirs;
            }
        }
        self.head.add(&other.head);
        Ok(())
    }

    /// Makes room for the buckets from `first` to `last`.
    fn reach(&mut self, first: usize, last: usize) {
        if self.counts.is_empty() {
            self.low = first;
        }
        if first < self.low {
            let missing = self.low - first;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.low = first;
        }
        if last - self.low >= self.counts.len() {
            self.counts.resize(last - self.low + 1, 0);
        }
    }

    /// The compact form for run files and the wire: the same bytes as those of a `Histogram` with
    /// the same counts.
    pub fn encode(&self) -> EncodedHistogram {
        if !self.packed.is_empty() {
            return EncodedHistogram(self.packed.to_vec());
        }
        encoded(&self.head, self.low, &self.counts)
    }

    /// The bytes that its counts take.
    pub fn held_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u64>() + self.packed.len()
    }
}
