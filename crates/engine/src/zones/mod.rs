//! Zoned devices: the zones of a stage's targets, and how a worker's requests find their places in
//! them.

pub(crate) mod device;
mod of_stage;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use of_stage::{Kept, Zones, of_stage, whole_zones};

use crate::error::EngineError;
use crate::generator::Request;
use model::plan::{Extent, Stop, Work, Worker, ZoneRules};
use model::{Op, Percent};
use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use table::{Area, Step, Table, Wanted};

/// A worker whose zone is taken looks again at once for so long.
const AWAKE_NS: u64 = 60_000;
/// Then it looks every 50 µs: of this time, the driver takes off 60 µs, which it spends awake.
const LOOK_NS: u64 = 110_000;

/// A request of a worker that has no place yet.
struct Pending {
    wanted: Wanted,
    /// When it was due, on the clock.
    due_ns: u64,
    /// Since when it waits.
    held_since_ns: Option<u64>,
}

/// A request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) op: Op,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) due_ns: u64,
}

/// How far a worker that goes in order has got: the number of its area, and the byte there.
type Cursor = (usize, u64);

/// A worker's requests on their way into zones.
pub(crate) struct Zoned {
    zones: Arc<[Option<Zones>]>,
    worker: u32,
    areas: Box<[Area]>,
    rules: ZoneRules,
    is_random: bool,
    /// Whether it ends at the end of its bytes.
    is_once: bool,
    /// The smallest reads and writes.
    least: [u64; 2],
    /// Of reads and of writes.
    cursors: [Cursor; 2],
    pending: Option<Pending>,
    /// What is under way, by slot.
    out: Box<[Option<Placed>]>,
    is_over: bool,
    failure: Option<EngineError>,
}

impl Zoned {
    /// Of worker `number` with `depth` requests.
    pub(crate) fn new(
        work: &Work,
        worker: &Worker,
        number: u32,
        depth: u32,
        zones: &Arc<[Option<Zones>]>,
    ) -> Option<Zoned> {
        let rules = work.zones?;
        let areas: Box<[Area]> =
            worker.extents.iter().filter_map(|extent| area(extent, zones)).collect();
        let first = (0, areas.first().map_or(0, |area| area.start));
        Some(Zoned {
            zones: zones.clone(),
            worker: number,
            rules,
            is_random: work.pattern.random > Percent::ZERO,
            is_once: work.stop.time().is_none(),
            least: [work.block_size.smallest().0, work.write_block_size.smallest().0],
            cursors: [first; 2],
            pending: None,
            out: vec![None; depth as usize].into(),
            is_over: areas.is_empty() || work.stop == Stop::Amount,
            failure: None,
            areas,
        })
    }

    /// Whether a request looks for its place.
    pub(crate) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// When the request that looks for its place was due.
    pub(crate) fn pending(&self) -> Option<(Op, u64)> {
        self.pending.as_ref().map(|pending| (pending.wanted.op, pending.due_ns))
    }

    /// Whether no place is left for anything.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Why it ended early.
    pub(crate) fn take_failure(&mut self) -> Option<EngineError> {
        self.failure.take()
    }

    /// How long from `now_ns` on it need not look.
    pub(crate) fn quiet_ns(&self, now_ns: u64) -> u64 {
        match self.pending.as_ref().and_then(|pending| pending.held_since_ns) {
            Some(since_ns) if now_ns.saturating_sub(since_ns) >= AWAKE_NS => LOOK_NS,
            _ => 0,
        }
    }

    /// Takes a request that was drawn.
    pub(crate) fn take(&mut self, request: &Request, due_ns: u64) {
        let is_write = request.op != Op::Read;
        let (area, offset) = match self.is_random || request.op == Op::Trim {
            true => (self.area_of(request), request.offset),
            false => self.cursors[usize::from(is_write)],
        };
        let wanted = Wanted {
            op: request.op,
            area: self.areas[area],
            offset,
            length: request.length.into(),
            least: self.least[usize::from(is_write)],
            is_random: self.is_random,
            worker: self.worker,
            is_counted: false,
            rules: self.rules,
        };
        self.pending = Some(Pending { wanted, due_ns, held_since_ns: None });
    }

    fn area_of(&self, request: &Request) -> usize {
        let has = |area: &Area| {
            area.file == request.file && (area.start..area.end()).contains(&request.offset)
        };
        self.areas.iter().position(has).unwrap_or(0)
    }

    /// The request that looks for a place, if it finds one now.
    pub(crate) fn place(&mut self, slot: u32, now_ns: u64) -> Option<Placed> {
        let mut pending = self.pending.take()?;
        match self.step(&mut pending.wanted) {
            Ok(Some((offset, length))) => {
                let Wanted { op, area, .. } = pending.wanted;
                let placed = Placed {
                    op,
                    file: area.file,
                    offset,
                    length: length as u32,
                    due_ns: pending.due_ns,
                };
                self.out[slot as usize] = Some(placed);
                self.moved(&placed);
                return Some(placed);
            }
            Ok(None) => {
                pending.held_since_ns.get_or_insert(now_ns);
            }
            Err(error) => {
                self.failure = Some(error);
                self.is_over = true;
            }
        }
        // What is over asks for nothing any more.
        self.pending = (!self.is_over).then_some(pending);
        None
    }

    /// One step on a request's way: its bytes, or nothing yet. After a call of the device the
    /// worker looks at its clock again, so that no request's time holds that of a reset.
    fn step(&mut self, wanted: &mut Wanted) -> Result<Option<(u64, u64)>, EngineError> {
        let zones = self.zones[wanted.area.file as usize].as_ref().expect("areas are in zones");
        let step = lock(zones).place(wanted);
        match step {
            Step::Send { offset, length } => return Ok(Some((offset, length))),
            Step::Wait => {}
            Step::Reset { zone } => zones.reset(zone)?,
            Step::Look { zone } => zones.look(zone)?,
            Step::Finish { zone, next } => {
                zones.finish(zone)?;
                match next {
                    Some(next) => wanted.offset = next,
                    None => self.at_end(wanted),
                }
            }
            Step::AtEnd => self.at_end(wanted),
        }
        Ok(None)
    }

    /// Nothing is left up to the end of its bytes: an amount ends, and a time goes round.
    fn at_end(&mut self, wanted: &mut Wanted) {
        self.is_over = self.is_once;
        if self.is_random {
            return;
        }
        let kind = usize::from(wanted.op != Op::Read);
        self.next_area(kind);
        let (area, offset) = self.cursors[kind];
        (wanted.area, wanted.offset) = (self.areas[area], offset);
    }

    fn next_area(&mut self, kind: usize) {
        let next = (self.cursors[kind].0 + 1) % self.areas.len().max(1);
        self.cursors[kind] = (next, self.areas[next].start);
    }

    /// In order, the next request follows this one.
    fn moved(&mut self, placed: &Placed) {
        let kind = usize::from(placed.op != Op::Read);
        if self.is_random || placed.op == Op::Trim {
            return;
        }
        let (number, _) = self.cursors[kind];
        let area = self.areas[number];
        let zones = self.zones[area.file as usize].as_ref().expect("areas are in zones");
        let mut next = placed.offset + u64::from(placed.length);
        let table = lock(zones);
        let zone = table.zones()[table.at(placed.offset)];
        if zone.is_sequential && placed.op == Op::Write && next >= zone.end {
            next = zone.start + table.size;
        }
        drop(table);
        self.cursors[kind] = (number, next);
        if next < area.end() {
            return;
        }
        let is_last = number + 1 == self.areas.len();
        self.is_over |= self.is_once && is_last;
        self.next_area(kind);
    }

    /// The request in this slot came back.
    pub(crate) fn came_back(&mut self, slot: u32, is_whole: bool) {
        let Some(placed) = self.out[slot as usize].take() else { return };
        let Some(zones) = &self.zones[placed.file as usize] else { return };
        lock(zones).came_back(placed.op, placed.offset, placed.length.into(), is_whole);
    }
}

/// What of an extent is whole zones, as an area.
fn area(extent: &Extent, zones: &Arc<[Option<Zones>]>) -> Option<Area> {
    let zones = zones.get(extent.file as usize)?.as_ref()?;
    let table = lock(zones);
    of_stage::area(extent, table.size, table.zones().len())
}

fn lock(zones: &Zones) -> MutexGuard<'_, Table> {
    // A table is whole between two steps.
    zones.table().lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a reset of a zone is to the backend: 0, or -1 and the cause in `errno`.
pub(crate) fn reset_as_request(file: std::os::fd::RawFd, io: &crate::io::Io) -> isize {
    match device::reset(file, io.offset, io.length.into()) {
        Ok(()) => 0,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            // SAFETY: the place of this thread's own errno.
            unsafe { *libc::__errno_location() = errno };
            -1
        }
    }
}

/// Why a zone of a target is not what it should be.
fn refused(path: &str, what: &str, start: u64, error: &io::Error) -> EngineError {
    let what = format!("the zone at byte {start} cannot be {what}: {error}");
    EngineError::target(path, what, "see what the kernel's log says of the device")
}
