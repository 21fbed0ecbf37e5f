//! The zones of one target, and which of them a request goes to. Pure: what it decides, the worker
//! carries out.
//!
//! The rules are those of fio's `zonemode=zbd` (its `zbd.c`), but for two: of each zone, one write
//! is under way at a time, and a read never meets a write that is not over.

use model::Op;
use model::plan::ZoneRules;

/// The least that anything is a multiple of.
pub(super) const SECTOR: u64 = 512;
/// Nobody's.
const NOBODY: u32 = u32::MAX;

/// A zone and what is under way in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Zone {
    /// Its first byte.
    pub(super) start: u64,
    /// Behind the last byte that can be written.
    pub(super) end: u64,
    /// Where the next write goes.
    pub(super) pointer: u64,
    /// Behind the last byte that can be read.
    pub(super) written: u64,
    /// Whether it has to be written at its write pointer.
    pub(super) is_sequential: bool,
    /// Whether it can be neither read nor written.
    pub(super) is_offline: bool,
    /// Whether it is one of those that are being written: its place in the limit of open zones.
    is_open: bool,
    /// The worker that opened it.
    opener: u32,
    is_writing: bool,
    readers: u32,
    /// Whether it is being reset or finished.
    is_changing: bool,
    /// Whether a write failed, so that the device alone knows the write pointer.
    is_unknown: bool,
    /// Whether it is to be reset although it has room.
    is_due: bool,
}

impl Zone {
    /// A zone with nothing under way.
    pub(super) fn new(start: u64, capacity: u64, pointer: u64) -> Zone {
        Zone {
            start,
            end: start + capacity,
            pointer,
            written: pointer,
            is_sequential: true,
            opener: NOBODY,
            ..Zone::default()
        }
    }

    fn room(&self) -> u64 {
        self.end.saturating_sub(self.pointer)
    }

    fn readable(&self) -> u64 {
        if self.is_offline { 0 } else { self.written.saturating_sub(self.start) }
    }

    fn is_quiet(&self) -> bool {
        !self.is_writing && !self.is_changing && self.readers == 0
    }
}

/// A worker's bytes of one target, in whole zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// The number of its file.
    pub(super) file: u32,
    /// Its first byte.
    pub(super) start: u64,
    /// How many bytes.
    pub(super) length: u64,
    /// Its first zone, and the one behind its last.
    pub(super) zones: (usize, usize),
}

impl Area {
    /// Behind its last byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// A request that looks for its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) op: Op,
    pub(super) area: Area,
    /// Where it was drawn; in order, where the one before it ended.
    pub(super) offset: u64,
    pub(super) length: u64,
    /// The smallest request of its kind.
    pub(super) least: u64,
    pub(super) is_random: bool,
    pub(super) worker: u32,
    /// Whether it was counted on the way to a reset before its zone is full.
    pub(super) is_counted: bool,
    pub(super) rules: ZoneRules,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It goes out, to these bytes.
    Send { offset: u64, length: u64 },
    /// Something has to come back first.
    Wait,
    /// This zone has to be reset first.
    Reset { zone: usize },
    /// This zone has less room than any request, and is finished; the request goes on from there.
    Finish { zone: usize, next: Option<u64> },
    /// The device has to say where the write pointer of this zone is.
    Look { zone: usize },
    /// Nothing is left up to the end of the bytes.
    AtEnd,
}

/// The zones of one target.
#[derive(Debug)]
pub(super) struct Table {
    zones: Box<[Zone]>,
    /// From the start of a zone to that of the next.
    pub(super) size: u64,
    /// Zones that may be open at the same time; 0: any number.
    most_open: usize,
    /// Those that are open, by number.
    open: Vec<u32>,
    /// Bytes that hold data in the zones that are loaded, and all of their bytes.
    valid: u64,
    loaded: u64,
    /// Writes until the next reset of a zone that has room; 0 before the first is counted.
    until_reset: u64,
}

impl Table {
    /// Of these zones, of which `areas` are loaded.
    pub(super) fn new(zones: Box<[Zone]>, size: u64, most_open: usize, areas: &[Area]) -> Table {
        let is_loaded =
            |number: usize| areas.iter().any(|area| (area.zones.0..area.zones.1).contains(&number));
        let loaded = || zones.iter().enumerate().filter(|(number, _)| is_loaded(*number));
        let valid = loaded().map(|(_, zone)| zone.pointer - zone.start).sum();
        let loaded = loaded().count() as u64 * size;
        let open = Vec::with_capacity(most_open.min(zones.len()));
        Table { zones, size, most_open, open, valid, loaded, until_reset: 0 }
    }

    /// Whether any zone of these areas holds data.
    pub(super) fn has_data(&self, areas: &[Area]) -> bool {
        let mut zones = areas.iter().flat_map(|area| &self.zones[area.zones.0..area.zones.1]);
        zones.any(|zone| zone.readable() > 0)
    }

    /// The zones.
    pub(super) fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// The number of the zone that holds `offset`.
    pub(super) fn at(&self, offset: u64) -> usize {
        ((offset / self.size) as usize).min(self.zones.len() - 1)
    }

    /// Has an open zone take its place in the limit; whether there was one.
    pub(super) fn is_open_already(&mut self, number: usize) -> bool {
        if self.most_open == 0 || self.zones[number].is_open {
            return true;
        }
        if self.open.len() >= self.most_open {
            return false;
        }
        self.push_open(number, NOBODY);
        true
    }

    fn push_open(&mut self, number: usize, worker: u32) {
        self.open.push(number as u32);
        self.zones[number].is_open = true;
        self.zones[number].opener = worker;
    }

    /// What becomes of a request. What it is told to do first, it does and asks again.
    pub(super) fn place(&mut self, wanted: &mut Wanted) -> Step {
        let step = match wanted.op {
            Op::Read => self.read(wanted),
            Op::Trim => self.trim(wanted),
            _ => self.write(wanted),
        };
        match step {
            Step::Send { offset, .. } => {
                let number = self.at(offset);
                let zone = &mut self.zones[number];
                match wanted.op {
                    Op::Read => zone.readers += 1,
                    Op::Trim => zone.is_changing = true,
                    _ => zone.is_writing = true,
                }
            }
            Step::Reset { zone } | Step::Finish { zone, .. } | Step::Look { zone } => {
                self.zones[zone].is_changing = true;
            }
            Step::Wait | Step::AtEnd => {}
        }
        step
    }

    fn write(&mut self, wanted: &mut Wanted) -> Step {
        let first = self.at(wanted.offset);
        if !self.zones[first].is_sequential {
            return self.write_anywhere(first, wanted);
        }
        let number = match self.choose(first, wanted) {
            Ok(number) => number,
            Err(step) => return step,
        };
        let zone = self.zones[number];
        if zone.is_writing || zone.is_changing {
            return Step::Wait;
        }
        if zone.is_unknown {
            return if zone.is_quiet() { Step::Look { zone: number } } else { Step::Wait };
        }
        self.count(number, wanted);
        let zone = self.zones[number];
        if zone.is_due || zone.room() < wanted.least {
            return if zone.is_quiet() { Step::Reset { zone: number } } else { Step::Wait };
        }
        let length = wanted.length.min(zone.room()) / wanted.least * wanted.least;
        self.zones[number].pointer = zone.pointer + length;
        self.valid += length;
        Step::Send { offset: zone.pointer, length }
    }

    /// A write to a zone without a write pointer, which ends before one that has one.
    fn write_anywhere(&self, number: usize, wanted: &Wanted) -> Step {
        let Wanted { offset, length, least, .. } = *wanted;
        let next = self.zones[number].start + self.size;
        let ends = self.zones.get(number + 1).is_none_or(|zone| zone.is_sequential);
        if self.zones[number].is_offline {
            return Step::Wait;
        }
        if !ends || offset + length <= next {
            return Step::Send { offset, length };
        }
        let offset = if offset + least > next { next - least } else { offset };
        Step::Send { offset, length: (next - offset).min(length) / least * least }
    }

    /// Whether the next reset of a zone that has room is due with this write.
    fn count(&mut self, number: usize, wanted: &mut Wanted) {
        let frequency = u64::from(wanted.rules.reset_frequency.ppm);
        if frequency == 0 || std::mem::replace(&mut wanted.is_counted, true) {
            return;
        }
        let threshold = u128::from(self.loaded) * u128::from(wanted.rules.reset_threshold.ppm);
        if u128::from(self.valid) * 1_000_000 < threshold {
            return;
        }
        if self.until_reset == 0 {
            self.until_reset = 1_000_000 / frequency;
        }
        self.until_reset -= 1;
        self.zones[number].is_due |= self.until_reset == 0;
    }

    /// The zone that a write goes to.
    fn choose(&mut self, first: usize, wanted: &Wanted) -> Result<usize, Step> {
        let zone = &self.zones[first];
        let room = zone.room();
        if room > 0 && room < wanted.least && !zone.is_unknown {
            if !zone.is_quiet() {
                return Err(Step::Wait);
            }
            let next = self.next_sequential(first, wanted);
            return Err(Step::Finish { zone: first, next });
        }
        if self.take(first, wanted) {
            return Ok(first);
        }
        let mut from = first;
        if self.is_limited() && !self.open.is_empty() {
            // Those of others do not help.
            let Some(number) = self.pick(wanted) else { return Err(Step::Wait) };
            if self.zones[number].room() >= wanted.least {
                return Ok(number);
            }
            from = if wanted.is_random { first } else { number };
        }
        if self.will_close() {
            return Err(Step::Wait);
        }
        let (low, high) = wanted.area.zones;
        let all = high - low;
        for further in 1..=all {
            let number = low + (from - low + further) % all;
            let zone = &self.zones[number];
            if zone.is_sequential && !zone.is_open && self.take(number, wanted) {
                return Ok(number);
            }
        }
        let has_room = |number: &&u32| {
            let number = **number as usize;
            (low..high).contains(&number) && self.zones[number].room() >= wanted.least
        };
        if let Some(number) = self.open.iter().find(has_room) {
            return Ok(*number as usize);
        }
        let is_busy = |number: &u32| !self.zones[*number as usize].is_quiet();
        match self.pick(wanted) {
            Some(zone) if wanted.is_random && !self.open.iter().any(is_busy) => {
                Err(Step::Reset { zone })
            }
            _ => Err(Step::Wait),
        }
    }

    fn is_limited(&self) -> bool {
        self.most_open > 0
    }

    /// Whether the limit is reached, and a zone closes as soon as its write is over.
    fn will_close(&self) -> bool {
        let closes = |number: &u32| {
            let zone = &self.zones[*number as usize];
            zone.is_writing && zone.room() == 0
        };
        self.is_limited() && self.open.iter().any(closes)
    }

    /// The start of the next zone with a write pointer; at random, from the start again at the end.
    fn next_sequential(&self, number: usize, wanted: &Wanted) -> Option<u64> {
        let (low, high) = wanted.area.zones;
        let is_sequential = |number: &usize| self.zones[*number].is_sequential;
        let behind = (number + 1..high).find(is_sequential);
        let again = || (low..=number).find(is_sequential).filter(|_| wanted.is_random);
        behind.or_else(again).map(|number| self.zones[number].start)
    }

    /// Opens a zone for a worker's writes; whether it may.
    fn take(&mut self, number: usize, wanted: &Wanted) -> bool {
        let zone = &self.zones[number];
        if zone.is_offline {
            return false;
        }
        if !self.is_limited() {
            return true;
        }
        if zone.is_open {
            return zone.room() > 0;
        }
        let own = |one: &&u32| self.zones[**one as usize].opener == wanted.worker;
        let most = wanted.rules.worker_open as usize;
        if most > 0 && self.open.iter().filter(own).count() >= most {
            return false;
        }
        if self.open.len() >= self.most_open {
            return false;
        }
        self.push_open(number, wanted.worker);
        true
    }

    /// One of the open zones among the worker's bytes, by where the request was drawn.
    fn pick(&self, wanted: &Wanted) -> Option<usize> {
        let count = self.open.len();
        let at = u128::from(wanted.offset - wanted.area.start) * count as u128
            / u128::from(wanted.area.length.max(1));
        let (low, high) = wanted.area.zones;
        let all = (0..count).map(|further| self.open[(at as usize + further) % count] as usize);
        let mut own = all.filter(|number| (low..high).contains(number));
        own.next()
    }

    fn read(&self, wanted: &Wanted) -> Step {
        let Wanted { offset, length, least, is_random, .. } = *wanted;
        let drawn = self.at(offset);
        let zone = &self.zones[drawn];
        if !zone.is_sequential || (wanted.rules.unwritten_reads && !zone.is_offline) {
            return Step::Send { offset, length };
        }
        let is_short = zone.readable() < least || (!is_random && offset + least > zone.written);
        let number = if is_short { self.find(drawn, least, wanted) } else { Some(drawn) };
        let Some(number) = number else { return Step::AtEnd };
        let zone = &self.zones[number];
        if zone.is_changing {
            return Step::Wait;
        }
        let range = zone.readable();
        let offset = if range <= length || (is_short && !is_random) {
            zone.start
        } else if is_random {
            let within = (offset - self.zones[drawn].start) % (range - length);
            zone.start + within / least * least
        } else {
            offset
        };
        let length = length.min(zone.written - offset) / least * least;
        Step::Send { offset, length }
    }

    /// The nearest zone with so much to read; in order, the next one.
    fn find(&self, from: usize, least: u64, wanted: &Wanted) -> Option<usize> {
        let (low, high) = wanted.area.zones;
        let is_fit = |number: &usize| self.zones[*number].readable() >= least;
        for distance in 1..=high - low {
            let after = from.checked_add(distance).filter(|number| *number < high);
            let before = from.checked_sub(distance).filter(|number| *number >= low);
            let before = before.filter(|_| wanted.is_random);
            if let Some(number) = after.into_iter().chain(before).find(is_fit) {
                return Some(number);
            }
        }
        None
    }

    fn trim(&self, wanted: &Wanted) -> Step {
        let drawn = self.at(wanted.offset);
        let zone = &self.zones[drawn];
        let is_fit = zone.is_sequential && (!wanted.is_random || zone.pointer > zone.start);
        let number = if is_fit { Some(drawn) } else { self.find(drawn, 1, wanted) };
        match number.map(|number| &self.zones[number]) {
            Some(zone) if zone.is_sequential && zone.is_quiet() => {
                Step::Send { offset: zone.start, length: self.size }
            }
            _ => Step::Wait,
        }
    }

    /// A request came back from these bytes.
    pub(super) fn came_back(&mut self, op: Op, offset: u64, length: u64, is_whole: bool) {
        let number = self.at(offset);
        let zone = &mut self.zones[number];
        match op {
            Op::Read => zone.readers -= 1,
            Op::Trim => {
                zone.is_changing = false;
                if is_whole {
                    self.was_reset(number);
                    self.close(number);
                }
            }
            _ => {
                zone.is_writing = false;
                if !zone.is_sequential {
                    return;
                }
                zone.is_unknown |= !is_whole;
                zone.written = if is_whole { zone.pointer } else { zone.written };
                if offset + length >= zone.end {
                    self.close(number);
                }
            }
        }
    }

    /// A zone was reset; it stays open for whoever reset it.
    pub(super) fn was_reset(&mut self, number: usize) {
        let zone = &mut self.zones[number];
        self.valid = self.valid.saturating_sub(zone.pointer - zone.start);
        (zone.pointer, zone.written) = (zone.start, zone.start);
        (zone.is_changing, zone.is_due, zone.is_unknown) = (false, false, false);
    }

    /// A zone was finished: it has no room any more.
    pub(super) fn was_finished(&mut self, number: usize) {
        let zone = &mut self.zones[number];
        (zone.pointer, zone.written) = (zone.end, zone.end);
        zone.is_changing = false;
        self.close(number);
    }

    /// The device said where the write pointer of a zone is.
    pub(super) fn was_looked_at(&mut self, number: usize, pointer: u64) {
        let zone = &mut self.zones[number];
        let pointer = pointer.clamp(zone.start, zone.end);
        self.valid = self.valid.saturating_sub(zone.pointer - zone.start) + pointer - zone.start;
        (zone.pointer, zone.written) = (pointer, pointer);
        (zone.is_changing, zone.is_unknown) = (false, false);
    }

    fn close(&mut self, number: usize) {
        self.zones[number].is_open = false;
        self.zones[number].opener = NOBODY;
        self.open.retain(|one| *one as usize != number);
    }
}
