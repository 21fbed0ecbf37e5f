//! Samples of one host's counters that wait for their time, packed: as they are handed out, they
//! take ten times as much memory.

use crate::values::Problem;
use model::CounterSample;
use model::varint::{put, take_u64};

/// Samples of the same counters, in their order.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// The first one, whose counters all have.
    like: CounterSample,
    bytes: Vec<u8>,
    at: usize,
    left: usize,
    /// Notes are rare.
    notes: Vec<(usize, Vec<String>)>,
}

impl Packed {
    /// Takes in the next sample, which has the counters of those before.
    pub fn push(&mut self, sample: &CounterSample) {
        if self.left == 0 {
            self.like = CounterSample { notes: Vec::new(), ..sample.clone() };
        }
        if !sample.notes.is_empty() {
            self.notes.push((self.bytes.len(), sample.notes.clone()));
        }
        put(&mut self.bytes, sample.number.into());
        put(&mut self.bytes, sample.start_ns.into());
        put(&mut self.bytes, sample.length_ns.into());
        let values = sample.entries.iter().flat_map(|entry| &entry.values);
        values.for_each(|(_, value)| put(&mut self.bytes, (*value).into()));
        self.left += 1;
    }

    /// Hands out the next one.
    pub fn pop(&mut self) -> Result<Option<CounterSample>, Problem> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let began = self.at;
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        let mut sample = self.like.clone();
        let number = take_u64(&mut rest)?;
        sample.number = u32::try_from(number).map_err(|_| "a number is out of range")?;
        (sample.start_ns, sample.length_ns) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
        for (_, value) in sample.entries.iter_mut().flat_map(|entry| &mut entry.values) {
            *value = take_u64(&mut rest)?;
        }
        self.at = self.bytes.len() - rest.len();
        if self.notes.first().is_some_and(|(at, _)| *at == began) {
            sample.notes = self.notes.remove(0).1;
        }
        Ok(Some(sample))
    }
}
