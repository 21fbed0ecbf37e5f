//! Runs the generators of a run again, to know for each block the oldest generation that must be
//! found.

use super::acknowledged::Known;
use crate::generator::{Bookmark, Generator, Request};
use model::Op;
use model::plan::{TargetFile, Work, Worker};

/// A part of a file with what must be found in its grains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The file's number on its host.
    pub(super) file: u32,
    /// The number of its first grain in the file.
    pub(super) first: u64,
    /// For each grain the oldest generation that must stand there; 0 where no write was
    /// acknowledged.
    pub(super) floors: Vec<u32>,
    /// For each grain the oldest generation that may have landed after the last acknowledged
    /// write; 0 where there is none.
    horizons: Vec<u32>,
}

impl Region {
    /// `count` grains of `file` from number `first` on, of which nothing is known.
    pub(super) fn new(file: u32, first: u64, count: usize) -> Region {
        Region { file, first, floors: vec![0; count], horizons: vec![0; count] }
    }
}

/// One worker of one stage that wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) stage: u32,
    /// The worker's number on its host.
    pub(super) number: u32,
    pub(super) work: &'a Work,
    pub(super) worker: &'a Worker,
    pub(super) known: &'a Known,
    /// Where its order began, if it went on with one.
    pub(super) from: Option<&'a Bookmark>,
}

/// Requests between two looks at whoever waits.
pub(super) const STEP: u64 = 1 << 16;

/// The map of a host's files, as far as they are looked at at a time.
pub(super) struct Map<'a> {
    /// One of each file at most, in the order of the files.
    pub(super) regions: Vec<Region>,
    pub(super) files: &'a [&'a TargetFile],
    pub(super) grain: u64,
}

impl Map<'_> {
    /// Raises the floors by what `writers`, in the order of stages, are known to have written.
    /// `tick` hears now and then how many requests were gone through since it was last called.
    ///
    /// Two passes: the first finds the last acknowledged write of each grain, and with it the
    /// oldest generation that may have landed after it; the second finds the first write to the
    /// grain from there on. Any of these may stand there, and none that is older.
    pub(super) fn replay(&mut self, writers: &[Writer<'_>], tick: &mut dyn FnMut(u64)) {
        for writer in writers {
            self.each(writer, tick, &mut |region, grain, generation| {
                if writer.known.is_acknowledged(generation) {
                    region.horizons[grain] =
                        region.horizons[grain].max(writer.known.horizon(generation));
                }
            });
        }
        for writer in writers {
            self.each(writer, tick, &mut |region, grain, generation| {
                let horizon = region.horizons[grain];
                if region.floors[grain] == 0 && horizon > 0 && generation >= horizon {
                    region.floors[grain] = generation;
                }
            });
        }
    }

    /// Hands every grain of the regions that `writer` wrote to `take`, with the generation, up to
    /// the last acknowledged write.
    fn each(
        &mut self,
        writer: &Writer<'_>,
        tick: &mut dyn FnMut(u64),
        take: &mut dyn FnMut(&mut Region, usize, u32),
    ) {
        let is_near =
            |region: &Region| writer.worker.extents.iter().any(|extent| extent.file == region.file);
        if !self.regions.iter().any(is_near) {
            return;
        }
        let mut generator = Generator::new(writer.work, writer.worker);
        generator.go_on(writer.from.cloned());
        let mut generation = writer.known.base;
        let mut requests = 0;
        while generation < writer.known.last {
            let Some(request) = generator.next_request() else { break };
            requests += 1;
            if requests == STEP {
                tick(std::mem::take(&mut requests));
            }
            if request.op == Op::Write {
                generation += 1;
                self.grains(&request, &mut |region, grain| take(region, grain, generation));
            }
        }
        tick(requests);
    }

    /// The grains that `request` fills; the last of a file may be cut off by its end.
    fn grains(&mut self, request: &Request, take: &mut dyn FnMut(&mut Region, usize)) {
        let size = self.files.get(request.file as usize).map_or(0, |file| file.size.0);
        let end = request.offset.saturating_add(u64::from(request.length)).min(size);
        let first = request.offset.div_ceil(self.grain);
        let last = if end == size { end.div_ceil(self.grain) } else { end / self.grain };
        if let Ok(index) = self.regions.binary_search_by_key(&request.file, |region| region.file) {
            let region = &mut self.regions[index];
            let from = first.max(region.first) - region.first;
            let to = last.saturating_sub(region.first).min(region.floors.len() as u64);
            (from..to).for_each(|grain| take(region, grain as usize));
        }
    }
}
