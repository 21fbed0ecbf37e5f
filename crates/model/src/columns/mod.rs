//! Whole numbers as few bytes, and back: the one coding of run files, of traces and of counters on
//! their way. Who uses it says which numbers and columns stand in which order.
//!
//! What is read may come from anybody. Nothing is made larger than the bytes that say so, but for
//! columns: a column of one number over and over takes two bytes, so whoever reads it bounds how
//! many numbers it may have.

mod forms;
pub mod varint;
mod zeros;

pub use zeros::Zeros;

use varint::{fold, put, put_u128, take_u64, take_u128, unfold};

/// Why bytes are not what somebody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// They end too early, or have a number that is longer than any.
    CutOff,
    /// A number is greater than what it stands for can be.
    OutOfRange,
    /// There are more of them.
    TooLong,
}

/// Numbers, texts and columns in a row.
#[derive(Clone, Debug, Default)]
pub struct Out(Vec<u8>);

impl Out {
    /// One whose first byte is the version of its layout.
    pub fn of(layout: u8) -> Out {
        Out(vec![layout])
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// What was written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Forgets what was written; its room is used again.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Writes bytes whose number the reader knows.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes a number.
    #[inline]
    pub fn number(&mut self, value: u64) {
        put(&mut self.0, value);
    }

    /// Writes a number that may be longer than the others.
    pub fn wide(&mut self, value: u128) {
        put_u128(&mut self.0, value);
    }

    /// Writes how many follow, or a place.
    pub fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// Writes a signed number, short where it is small in either direction.
    pub fn signed(&mut self, value: i64) {
        self.number(fold(value));
    }

    /// Writes a number as its difference from one that the reader knows.
    pub fn difference(&mut self, value: u64, from: u64) {
        self.signed(value.wrapping_sub(from) as i64);
    }

    /// Writes bytes with their number.
    pub fn block(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// Writes a text with its length.
    pub fn text(&mut self, text: &str) {
        self.block(text.as_bytes());
    }

    /// Writes a column in whichever form is shortest; nothing where it is empty.
    pub fn column(&mut self, column: &[u64]) {
        forms::put(self, column);
    }

    /// Writes a column of counts that waver, without a look for the shortest form: histograms have
    /// hundreds of such columns.
    pub fn counts(&mut self, column: &[u64]) {
        forms::put_counts(self, column);
    }

    /// Writes when stretches of time began and how long they were, as two columns: the gaps from
    /// the end of each to the next one, and the lengths.
    pub fn stretches(&mut self, stretches: impl Iterator<Item = (u64, u64)>) {
        let mut end_ns = 0u64;
        let gap_and_length = |(start_ns, length_ns): (u64, u64)| {
            let gap_ns = start_ns.wrapping_sub(end_ns);
            end_ns = start_ns.wrapping_add(length_ns);
            (fold(gap_ns as i64), length_ns)
        };
        let (gaps, lengths): (Vec<u64>, Vec<u64>) = stretches.map(gap_and_length).unzip();
        self.column(&gaps);
        self.column(&lengths);
    }
}

/// What is left to be read.
#[derive(Clone, Copy, Debug)]
pub struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    /// All of these bytes.
    pub fn new(bytes: &'a [u8]) -> In<'a> {
        In(bytes)
    }

    /// Those behind the version of a layout; `None` where they have another one.
    pub fn of(layout: u8, bytes: &'a [u8]) -> Option<In<'a>> {
        bytes.split_first().filter(|(first, _)| **first == layout).map(|(_, rest)| In(rest))
    }

    /// What nobody read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether everything was read.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything was read.
    ///
    /// # Errors
    /// There is more.
    pub fn end(self) -> Result<(), Bad> {
        if self.is_over() { Ok(()) } else { Err(Bad::TooLong) }
    }

    /// Takes a number.
    ///
    /// # Errors
    /// There is none, or a longer one.
    #[inline]
    pub fn number(&mut self) -> Result<u64, Bad> {
        take_u64(&mut self.0)
    }

    /// Takes a number that may be longer than the others.
    ///
    /// # Errors
    /// There is none, or a longer one.
    pub fn wide(&mut self) -> Result<u128, Bad> {
        take_u128(&mut self.0)
    }

    /// Takes a number that fits a smaller type.
    ///
    /// # Errors
    /// There is none, or it does not fit.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T, Bad> {
        T::try_from(self.number()?).map_err(|_| Bad::OutOfRange)
    }

    /// Takes how many follow, each of which takes a byte at least.
    ///
    /// # Errors
    /// There is no number, or so many bytes are not there.
    pub fn count(&mut self) -> Result<usize, Bad> {
        let count = usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len());
        count.ok_or(Bad::CutOff)
    }

    /// Takes a signed number.
    ///
    /// # Errors
    /// There is none.
    pub fn signed(&mut self) -> Result<i64, Bad> {
        self.number().map(unfold)
    }

    /// Takes a number that was written as its difference from this one.
    ///
    /// # Errors
    /// There is none.
    pub fn difference(&mut self, from: u64) -> Result<u64, Bad> {
        Ok(from.wrapping_add(self.signed()? as u64))
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn raw(&mut self, count: usize) -> Result<&'a [u8], Bad> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Bad::CutOff)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Takes bytes that were written with their number.
    ///
    /// # Errors
    /// There are fewer.
    pub fn block(&mut self) -> Result<&'a [u8], Bad> {
        let count = self.count()?;
        self.raw(count)
    }

    /// Takes a text.
    ///
    /// # Errors
    /// It is cut off, or is none.
    pub fn text(&mut self) -> Result<&'a str, Bad> {
        std::str::from_utf8(self.block()?).map_err(|_| Bad::OutOfRange)
    }

    /// Takes a column of so many numbers, and adds them to `out`.
    ///
    /// # Errors
    /// There is none.
    pub fn column(&mut self, count: usize, out: &mut Vec<u64>) -> Result<(), Bad> {
        forms::take(self, count, out)
    }

    /// Takes a column of so many numbers, and adds those at the `wanted` places to `out`, which
    /// rise and are below `count`: of a packed column, no other is looked at.
    ///
    /// # Errors
    /// There is none.
    pub fn some_of_column(
        &mut self,
        count: usize,
        wanted: &[usize],
        out: &mut Vec<u64>,
    ) -> Result<(), Bad> {
        forms::take_some(self, count, wanted, out)
    }

    /// Takes so many stretches of time: when each began and how long it was.
    ///
    /// # Errors
    /// There are none.
    pub fn stretches(&mut self, count: usize) -> Result<Vec<(u64, u64)>, Bad> {
        let (mut gaps, mut lengths) = (Vec::with_capacity(count), Vec::with_capacity(count));
        self.column(count, &mut gaps)?;
        self.column(count, &mut lengths)?;
        let mut end_ns = 0u64;
        let stretch = |(gap, length_ns): (u64, u64)| {
            let start_ns = end_ns.wrapping_add(unfold(gap) as u64);
            end_ns = start_ns.wrapping_add(length_ns);
            (start_ns, length_ns)
        };
        Ok(gaps.into_iter().zip(lengths).map(stretch).collect())
    }
}

#[cfg(test)]
mod tests;
