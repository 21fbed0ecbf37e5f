//! Values of which many are 0: behind a 0 stands how many of them there are.

use super::{Bad, In, Out};

/// How many zeros were not written yet, or are still to be handed out.
#[derive(Debug, Default)]
pub struct Zeros(u64);

impl Zeros {
    /// Writes a value; a 0 is written with those behind it, so that [`end`](Self::end) comes last.
    pub fn put(&mut self, out: &mut Out, value: u64) {
        if value == 0 {
            self.0 += 1;
        } else {
            self.end(out);
            out.number(value);
        }
    }

    /// Writes the zeros that are not written yet.
    pub fn end(&mut self, out: &mut Out) {
        if self.0 > 0 {
            out.number(0);
            out.number(std::mem::take(&mut self.0));
        }
    }

    /// Takes the next value; `None` where two zeros stand together, so that something of the
    /// user's own follows.
    ///
    /// # Errors
    /// There is none.
    pub fn take(&mut self, from: &mut In<'_>) -> Result<Option<u64>, Bad> {
        if self.0 == 0 {
            match from.number()? {
                0 => self.0 = from.number()?,
                value => return Ok(Some(value)),
            }
            if self.0 == 0 {
                return Ok(None);
            }
        }
        self.0 -= 1;
        Ok(Some(0))
    }

    /// Whether no zero is still to be written or handed out.
    pub fn is_over(&self) -> bool {
        self.0 == 0
    }
}
