//! Flash at work: pages that are never written twice before their block is erased, and the copies
//! that follow from it.
//!
//! The log is a circle: pages are written in turn, and the oldest block is the one that is cleaned.
//! Under uniform random writes its write amplification has a closed form, which makes the right
//! answer known: see [`Flash::amplification`].

use crate::pacer::Pacer;
use crate::spec::Flash;
use model::rng::Rng;

/// The unit of mapping. A smaller write costs a page.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Nothing is there.
const NONE: u32 = u32::MAX;
/// Blocks that are erased ahead of the one that is written.
const AHEAD: u32 = 1;
/// Flash that is used was written at random so many times over: cleaning comes in waves at first,
/// which die down with each turn of the circle.
const USED_WRITES: u64 = 6;
/// What the random writes before a run begin with.
const USED_SEED: u64 = 0x0F1A_5400;

impl Flash {
    /// Pages written to flash for each page that the host writes at random, evenly over the whole
    /// device, in the long run.
    pub fn amplification(&self) -> f64 {
        model::flash::amplification(self.spare)
    }

    /// Pages of one erase block.
    fn pages_of_block(&self) -> u32 {
        (self.block.0 / PAGE_BYTES).clamp(1, u64::from(NONE)) as u32
    }

    /// Erase blocks of a device of so many bytes: what the host sees, and the spare.
    pub(crate) fn blocks(&self, capacity_bytes: u64) -> u64 {
        let pages = u128::from(capacity_bytes.div_ceil(PAGE_BYTES));
        let all = pages * (1_000_000 + u128::from(self.spare.ppm)) / 1_000_000;
        u64::try_from(all / u128::from(self.pages_of_block())).unwrap_or(u64::MAX)
    }
}

/// The state of the flash.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// Where each page of the host is.
    place: Vec<u32>,
    /// Whose page is at each place.
    owner: Vec<u32>,
    per_block: u32,
    blocks: u32,
    /// The block that is written, and how many of its pages are.
    open: u32,
    used: u32,
    /// Blocks behind it that are erased, in the order of the circle.
    erased: u32,
    /// All channels together, in bytes.
    program: Pacer,
    host_pages: u64,
    written_pages: u64,
}

impl Log {
    /// As from the factory, where every block is erased, or used. A spec that is refused makes a
    /// log all the same, with room for the cleaning.
    pub(crate) fn new(flash: &Flash, capacity_bytes: u64) -> Log {
        let per_block = flash.pages_of_block();
        let pages = capacity_bytes.div_ceil(PAGE_BYTES).min(u64::from(NONE) / 4) as u32;
        let least = pages.div_ceil(per_block) + 2 * (AHEAD + 1);
        let blocks =
            u32::try_from(flash.blocks(capacity_bytes)).unwrap_or(u32::MAX / per_block).max(least);
        let mut log = Log {
            place: vec![NONE; pages as usize],
            owner: vec![NONE; blocks as usize * per_block as usize],
            per_block,
            blocks,
            open: 0,
            used: 0,
            erased: blocks - 1,
            program: Pacer::new(flash.program_bytes_per_s),
            host_pages: 0,
            written_pages: 0,
        };
        if flash.used {
            log.wear();
        }
        log
    }

    /// Writes everything once in order, then at random, before the time of the run begins.
    fn wear(&mut self) {
        let pages = self.place.len() as u32;
        (0..pages).for_each(|page| self.append(page));
        let mut rng = Rng::new(USED_SEED);
        for _ in 0..USED_WRITES * u64::from(pages) {
            let page = rng.below(pages.into()) as u32;
            self.forget(page);
            self.append(page);
        }
        self.written_pages = 0;
    }

    /// Takes a write at `at_ns`, and says when its last page is programmed, copies included.
    pub(crate) fn write(&mut self, at_ns: u64, offset: u64, length: u64) -> u64 {
        let before = self.written_pages;
        for page in self.touched(offset, length) {
            self.forget(page);
            self.append(page);
            self.host_pages += 1;
        }
        self.program.take(at_ns, (self.written_pages - before).saturating_mul(PAGE_BYTES))
    }

    /// Gives up the whole pages of a range.
    pub(crate) fn trim(&mut self, offset: u64, length: u64) {
        let first = offset.div_ceil(PAGE_BYTES);
        let end = (offset.saturating_add(length) / PAGE_BYTES).min(self.place.len() as u64);
        (first..end).for_each(|page| self.forget(page as u32));
    }

    /// Pages written so far: by the host, and altogether.
    #[cfg(test)]
    pub(crate) fn pages(&self) -> [u64; 2] {
        [self.host_pages, self.written_pages]
    }

    fn touched(&self, offset: u64, length: u64) -> std::ops::Range<u32> {
        let end = offset.saturating_add(length).div_ceil(PAGE_BYTES);
        let within = |page: u64| page.min(self.place.len() as u64) as u32;
        within(offset / PAGE_BYTES)..within(end)
    }

    fn forget(&mut self, page: u32) {
        let place = std::mem::replace(&mut self.place[page as usize], NONE);
        if place != NONE {
            self.owner[place as usize] = NONE;
        }
    }

    fn append(&mut self, page: u32) {
        while self.used == self.per_block {
            self.open_next();
        }
        let place = self.open * self.per_block + self.used;
        self.owner[place as usize] = page;
        self.place[page as usize] = place;
        self.used += 1;
        self.written_pages += 1;
    }

    /// Goes on in the next block. If no other is erased by then, the oldest one is cleaned into it:
    /// its valid pages are no more than the block has room for.
    fn open_next(&mut self) {
        self.open = (self.open + 1) % self.blocks;
        self.used = 0;
        self.erased -= 1;
        if self.erased >= AHEAD {
            return;
        }
        let oldest = (self.open + self.erased + 1) % self.blocks;
        let first = oldest * self.per_block;
        for place in first..first + self.per_block {
            let page = std::mem::replace(&mut self.owner[place as usize], NONE);
            if page != NONE {
                let to = self.open * self.per_block + self.used;
                self.owner[to as usize] = page;
                self.place[page as usize] = to;
                self.used += 1;
                self.written_pages += 1;
            }
        }
        self.erased += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Bytes, Percent};

    fn flash(spare: &str) -> Flash {
        let spare: Percent = spare.parse().expect("a share");
        Flash { spare, program_bytes_per_s: 4096 * 1_000, block: Bytes::kib(256), used: false }
    }

    /// Pages written for each of the host's, while it writes once the whole device.
    fn pass(log: &mut Log, mut page: impl FnMut(u64) -> u64, pages: u64) -> f64 {
        let [host, written] = log.pages();
        for number in 0..pages {
            log.write(0, page(number) * PAGE_BYTES, PAGE_BYTES);
        }
        let now = log.pages();
        (now[1] - written) as f64 / (now[0] - host) as f64
    }

    #[test]
    fn random_writes_cost_in_the_long_run_what_theory_says() {
        // The two blocks that are kept for cleaning are a small part of the spare.
        const PAGES: u64 = 1 << 17;
        for spare in ["7%", "14%", "28%", "60%"] {
            let flash = flash(spare);
            let mut log = Log::new(&flash, PAGES * PAGE_BYTES);
            assert!((pass(&mut log, |page| page, PAGES) - 1.0).abs() < 1e-12, "the first pass");
            let mut rng = Rng::new(7);
            // The first cleaning comes in waves, which die down with each turn of the circle.
            for _ in 0..8 {
                pass(&mut log, |_| rng.below(PAGES), PAGES);
            }
            let found = pass(&mut log, |_| rng.below(PAGES), 8 * PAGES);
            let theory = flash.amplification();
            assert!((found / theory - 1.0).abs() < 0.02, "{spare}: {found} and {theory}");
        }
    }

    #[test]
    fn sequential_writes_cost_nothing_more_and_every_page_stays_known() {
        const PAGES: u64 = 1 << 12;
        let mut log = Log::new(&flash("10%"), PAGES * PAGE_BYTES);
        for _ in 0..5 {
            assert!((pass(&mut log, |page| page, PAGES) - 1.0).abs() < 1e-12);
        }
        let mut rng = Rng::new(1);
        pass(&mut log, |_| rng.below(PAGES), 3 * PAGES);
        for (page, place) in log.place.iter().enumerate() {
            assert_eq!(log.owner[*place as usize], page as u32);
        }
        assert_eq!(log.owner.iter().filter(|owner| **owner != NONE).count() as u64, PAGES);
    }

    #[test]
    fn a_trim_makes_the_drive_new_and_a_small_write_costs_a_page() {
        const PAGES: u64 = 1 << 12;
        let mut log = Log::new(&flash("10%"), PAGES * PAGE_BYTES);
        let mut rng = Rng::new(1);
        pass(&mut log, |_| rng.below(PAGES), 4 * PAGES);
        log.trim(0, PAGES * PAGE_BYTES);
        assert!((pass(&mut log, |page| page, PAGES) - 1.0).abs() < 1e-12, "as from its box");
        let [host, _] = log.pages();
        log.write(0, 512, 512);
        log.write(0, 4095, 2);
        assert_eq!(log.pages()[0] - host, 3);
        // Half a page is not given up.
        log.trim(2048, 4096);
        assert_ne!(log.place[0], NONE);
        assert_ne!(log.place[1], NONE);
    }

    #[test]
    fn used_flash_copies_from_the_start_what_theory_says_and_a_trim_of_all_ends_that() {
        const PAGES: u64 = 1 << 15;
        let flash = Flash { used: true, ..flash("28%") };
        let mut log = Log::new(&flash, PAGES * PAGE_BYTES);
        assert_eq!(log.pages(), [0, 0], "what was written before counts for nothing");
        let mut rng = Rng::new(3);
        let found = pass(&mut log, |_| rng.below(PAGES), PAGES / 4);
        let theory = flash.amplification();
        assert!((found / theory - 1.0).abs() < 0.05, "{found} and {theory}");
        for piece in 0..8 {
            log.trim(piece * PAGES / 8 * PAGE_BYTES, PAGES / 8 * PAGE_BYTES);
        }
        let fresh = pass(&mut log, |_| rng.below(PAGES), PAGES / 4);
        assert!((fresh - 1.0).abs() < 1e-12, "{fresh}");
    }

    #[test]
    fn the_time_is_that_of_all_pages_that_are_programmed() {
        let mut log = Log::new(&flash("10%"), 1 << 24);
        assert_eq!(log.write(5, 0, 8192), 2_000_005);
        assert_eq!(log.write(5, 0, 1), 3_000_005);
    }
}
