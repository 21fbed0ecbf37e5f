//! Samples of one host's counters that wait for their time, packed: as they are handed out, they
//! take ten times as much memory.

use crate::file::values::Problem;
use model::CounterSample;
use model::columns::{In, Out};

/// Samples of the same counters, in their order.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// The first one, whose counters all have.
    like: CounterSample,
    out: Out,
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
            self.notes.push((self.out.bytes().len(), sample.notes.clone()));
        }
        self.out.number(sample.number.into());
        self.out.number(sample.start_ns);
        self.out.number(sample.length_ns);
        let values = sample.entries.iter().flat_map(|entry| &entry.values);
        values.for_each(|(_, value)| self.out.number(*value));
        self.left += 1;
    }

    /// Hands out the next one.
    pub fn pop(&mut self) -> Result<Option<CounterSample>, Problem> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let began = self.at;
        let mut rest = In::new(self.out.bytes().get(self.at..).unwrap_or_default());
        let mut sample = self.like.clone();
        sample.number = rest.small()?;
        (sample.start_ns, sample.length_ns) = (rest.number()?, rest.number()?);
        for (_, value) in sample.entries.iter_mut().flat_map(|entry| &mut entry.values) {
            *value = rest.number()?;
        }
        self.at = self.out.bytes().len() - rest.rest().len();
        if self.notes.first().is_some_and(|(at, _)| *at == began) {
            sample.notes = self.notes.remove(0).1;
        }
        Ok(Some(sample))
    }
}
