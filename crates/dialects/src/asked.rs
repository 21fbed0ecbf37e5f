//! What a source asks for, in quantities and by its own options alone: what is laid beside the plan
//! of the suite that it becomes.

use crate::loss::OptionId;
use crate::words::values::Extent;
use std::collections::BTreeMap;
use std::ops::Range;

/// What of streams of requests can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The bytes out of which places are taken, and in how many files or devices.
    Places,
    /// How much is sent, where an amount ends it.
    Amount,
    /// For how long, where a time ends it.
    Time,
    /// The sizes of requests, and how often each comes.
    Sizes,
    /// The share of reads.
    Reads,
    /// What each second is to bring.
    Rate,
    /// Requests under way at a time, at most.
    InFlight,
}

/// Streams of requests that are alike, as their source asks for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The workload that they became.
    pub workload: String,
    /// How many they are; `None` is one for each CPU.
    pub streams: Option<u64>,
    /// The devices that all of them load; none where they load files.
    pub devices: Vec<String>,
    /// The names of its files, where it gives them any: who gives the same loads the same.
    pub names: Vec<String>,
    /// How many files each loads.
    pub files: u64,
    /// Whether no two streams load the same file.
    pub own: bool,
    /// Where each begins in a file, and how much further on than the stream before it.
    pub from: Extent,
    /// By how much.
    pub step: Extent,
    /// What a place that is a share is rounded up to a multiple of.
    pub align: u64,
    /// How much of all its files a stream loads; `None` is what there is of a device.
    pub size: Option<Extent>,
    /// The bytes of each file, where they are given for themselves.
    pub file: Option<u64>,
    /// Whether it goes anywhere in such files, and `size` says how much it sends.
    pub roams: bool,
    /// From the start of a request to that of the next one, where something lies between.
    pub stride: Option<u64>,
    /// What a stream sends before it ends; `None` is all that it loads.
    pub amount: Option<Extent>,
    /// The same in requests; the first of both ends it.
    pub requests: Option<u64>,
    /// How often that comes again.
    pub rounds: u64,
    /// The time that ends it, in ns.
    pub time_ns: Option<u64>,
    /// How long it runs before it is measured, in ns; an amount counts what it sends then.
    pub ramp_ns: u64,
    /// Sizes with weights: of reads, of writes and trims; none where there are no such requests.
    pub sizes: [Vec<(u64, u32)>; 2],
    /// The share of reads in millionths, where it is known.
    pub reads: Option<u64>,
    /// Requests of each stream in a second.
    pub iops: Option<u64>,
    /// The same in bytes.
    pub bytes_per_second: Option<u64>,
    /// Requests of each stream that are under way at a time, at most.
    pub depth: u64,
    /// The options that say so, the nearest first.
    pub options: Vec<(Quantity, OptionId)>,
}

/// Ranges of bytes that do not meet, by file.
pub type Places = BTreeMap<String, Vec<Range<u64>>>;

/// The sum of parts and the whole that they are shares of.
fn of(extent: Extent, whole: Option<u64>) -> Option<u64> {
    match extent {
        Extent::Bytes(bytes) => Some(bytes),
        Extent::Share(ppm) => {
            whole.map(|whole| (u128::from(whole) * u128::from(ppm) / 1_000_000) as u64)
        }
    }
}

impl Asked {
    /// The one size of its requests, if they have one.
    fn one_size(&self) -> Option<u64> {
        let mut all = self.sizes.iter().flatten().map(|(size, _)| *size);
        let first = all.next()?;
        all.all(|size| size == first).then_some(first)
    }

    /// What stream `number` loads of a file; `whole` is the size of a device.
    fn range(&self, number: u64, whole: Option<u64>) -> Option<Range<u64>> {
        let step = of(self.step, whole)?.saturating_mul(number);
        let all = [self.file, whole].into_iter().flatten().min();
        let from = match self.from {
            Extent::Bytes(bytes) => bytes,
            share => of(share, all)?.next_multiple_of(self.align.max(1)),
        };
        let from = from.saturating_add(step);
        let length = match self.size {
            Some(Extent::Bytes(bytes)) if !self.roams => bytes / self.files.max(1),
            Some(share @ Extent::Share(_)) => of(share, all)?,
            _ => all?.saturating_sub(from),
        };
        let to = from.saturating_add(length).min(all.unwrap_or(u64::MAX));
        Some(from.min(to)..to)
    }

    /// What its streams load, by device or by a name that stands for a file; `None` where that is
    /// not known. `size` has the sizes of devices.
    pub fn places(&self, size: &dyn Fn(&str) -> Option<u64>) -> Option<Places> {
        let mut all = Places::new();
        for number in 0..self.streams? {
            for device in &self.devices {
                let range = self.range(number, Some(size(device)?))?;
                all.entry(device.clone()).or_default().push(range);
            }
            for file in 0..if self.devices.is_empty() { self.files } else { 0 } {
                let owner = if self.own { number } else { 0 };
                let name = match self.names.get(file as usize) {
                    Some(name) => name.clone(),
                    None => format!("{} {owner} {file}", self.workload),
                };
                all.entry(name).or_default().push(self.range(number, None)?);
            }
        }
        Some(all)
    }

    /// The bytes that its streams send, where an amount ends them and that is known.
    pub fn bytes(&self, size: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
        let mut all = 0_u64;
        for number in 0..self.streams? {
            let mut loaded = 0_u64;
            for file in 0..self.files {
                let whole = match self.devices.get(file as usize) {
                    Some(device) => Some(size(device)?),
                    None => None,
                };
                let range = self.range(number, whole)?;
                let length = range.end - range.start;
                let touched = match (self.stride, self.one_size()) {
                    (Some(stride), Some(block)) => {
                        length.div_ceil(stride.max(1)).saturating_mul(block)
                    }
                    _ => length,
                };
                loaded = loaded.saturating_add(touched);
            }
            let limit = match (self.amount, self.size) {
                (Some(amount), _) => of(amount, Some(loaded))?,
                (None, Some(Extent::Bytes(bytes))) => bytes.min(loaded),
                (None, _) => loaded,
            };
            let own = match self.requests {
                Some(count) => limit.min(count.saturating_mul(self.one_size()?)),
                None => limit,
            };
            all = all.saturating_add(own);
        }
        Some(all.saturating_mul(self.rounds))
    }
}

/// Ranges in order, of which those that meet are one.
pub fn joined(places: Places) -> Places {
    let of_file = |mut all: Vec<Range<u64>>| {
        all.sort_by_key(|range| range.start);
        let mut once: Vec<Range<u64>> = Vec::new();
        for range in all.into_iter().filter(|range| !range.is_empty()) {
            match once.last_mut().filter(|last| last.end >= range.start) {
                Some(last) => last.end = last.end.max(range.end),
                None => once.push(range),
            }
        }
        once
    };
    places.into_iter().map(|(file, all)| (file, of_file(all))).collect()
}
