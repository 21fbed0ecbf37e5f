//! What a zoned device says of its zones, and what is asked of it beside reads and writes.
//! The calls are those of `linux/blkzoned.h`.

use super::table::{SECTOR, Zone};
use rustix::fs::{FileType, fstat, major, minor};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// `BLKREPORTZONE`: `_IOWR(0x12, 130, struct blk_zone_report)`.
const BLKREPORTZONE: libc::Ioctl = 0xC010_1282_u32 as libc::Ioctl;
/// `BLKRESETZONE`: `_IOW(0x12, 131, struct blk_zone_range)`.
const BLKRESETZONE: libc::Ioctl = 0x4010_1283;
/// `BLKFINISHZONE`: `_IOW(0x12, 136, struct blk_zone_range)`.
const BLKFINISHZONE: libc::Ioctl = 0x4010_1288;
/// `BLK_ZONE_REP_CAPACITY`: the report has capacities.
const HAS_CAPACITY: u32 = 1;
/// Zones in one report.
const EACH: usize = 1024;

/// `struct blk_zone`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Reported {
    start: u64,
    length: u64,
    pointer: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    more: [u8; 24],
}

/// `struct blk_zone_report` with room for its zones.
#[repr(C)]
struct Report {
    sector: u64,
    count: u32,
    flags: u32,
    zones: [Reported; EACH],
}

/// A zone and whether the device has it open.
pub(super) struct Found {
    pub(super) zone: Zone,
    pub(super) is_open: bool,
    pub(super) length: u64,
}

/// Whether a file is a block device with zones.
pub(super) fn is_zoned(file: &OwnedFd) -> bool {
    model_of(file).is_some_and(|model| model.starts_with("host-"))
}

/// `none`, `host-aware` or `host-managed`; `None` of what is no block device.
fn model_of(file: &OwnedFd) -> Option<String> {
    read_of_queue(file, "zoned")
}

/// How many zones the device lets be open at once; 0: any number, or it does not say.
pub(super) fn most_open(file: &OwnedFd) -> u64 {
    let read = |name| read_of_queue(file, name).and_then(|text| text.parse().ok());
    let of = |name| read(name).filter(|count: &u64| *count > 0);
    match (of("max_open_zones"), of("max_active_zones")) {
        (Some(open), Some(active)) => open.min(active),
        (Some(count), None) | (None, Some(count)) => count,
        (None, None) => 0,
    }
}

fn read_of_queue(file: &OwnedFd, name: &str) -> Option<String> {
    let stat = fstat(file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        return None;
    }
    let device = format!("/sys/dev/block/{}:{}", major(stat.st_rdev), minor(stat.st_rdev));
    // A partition has the queue of its device.
    let paths = [format!("{device}/queue/{name}"), format!("{device}/../queue/{name}")];
    let text = paths.iter().find_map(|path| std::fs::read_to_string(path).ok())?;
    Some(text.trim().to_owned())
}

/// The zones of a device from the first byte on, up to `most` of them.
pub(super) fn report(file: &OwnedFd, most: u64) -> io::Result<Vec<Found>> {
    let mut all: Vec<Found> = Vec::new();
    let mut sector = 0;
    while (all.len() as u64) < most {
        let zones = report_from(file.as_raw_fd(), sector, EACH)?;
        let Some(last) = zones.last() else { break };
        let next = last.start.saturating_add(last.length);
        if next <= sector {
            return Err(io::Error::other("its report of zones does not go on"));
        }
        for one in &zones {
            all.push(found(one)?);
        }
        sector = next;
    }
    Ok(all)
}

/// Where the write pointer of the zone is that begins at `start`.
pub(super) fn pointer(file: RawFd, start: u64) -> io::Result<u64> {
    let zones = report_from(file, start / SECTOR, 1)?;
    let zone = zones.first().ok_or_else(|| io::Error::other("it reports no zone there"))?;
    Ok(found(zone)?.zone.pointer)
}

fn report_from(file: RawFd, sector: u64, count: usize) -> io::Result<Vec<Reported>> {
    // SAFETY: the report is made of integers, for which zero is a value.
    let mut report: Box<Report> = unsafe { Box::new(std::mem::zeroed()) };
    report.sector = sector;
    report.count = count.min(EACH) as u32;
    // SAFETY: the file is open, and the kernel writes no more zones than `count` says.
    let failed = unsafe { libc::ioctl(file, BLKREPORTZONE, &raw mut *report) } != 0;
    if failed {
        return Err(io::Error::last_os_error());
    }
    let mut zones = report.zones[..(report.count as usize).min(count.min(EACH))].to_vec();
    if report.flags & HAS_CAPACITY == 0 {
        zones.iter_mut().for_each(|zone| zone.capacity = zone.length);
    }
    Ok(zones)
}

/// The zone in bytes.
fn found(reported: &Reported) -> io::Result<Found> {
    let bytes = |sectors: u64| {
        let bytes = sectors.checked_mul(SECTOR).filter(|bytes| *bytes <= 1 << 62);
        bytes.ok_or_else(|| io::Error::other("its report has a zone past any device"))
    };
    let (start, length) = (bytes(reported.start)?, bytes(reported.length)?);
    let capacity = bytes(reported.capacity)?;
    if length == 0 || capacity > length {
        return Err(io::Error::other("its report has a zone without a size"));
    }
    // Conditions: 0 no write pointer, 2 and 3 open, 4 closed, 13 read-only, 14 full, 15 offline.
    let pointer = match reported.condition {
        0 | 14 => start + capacity,
        _ => bytes(reported.pointer)?.clamp(start, start + capacity),
    };
    let mut zone = Zone::new(start, capacity, pointer);
    // Types: 1 conventional, 2 sequential, 3 better sequential.
    zone.is_sequential = reported.kind == 2;
    zone.is_offline = matches!(reported.condition, 13 | 15);
    Ok(Found { zone, is_open: matches!(reported.condition, 2..=4), length })
}

/// Resets a zone: its data is gone, and it is written from its start.
pub(crate) fn reset(file: RawFd, offset: u64, length: u64) -> io::Result<()> {
    change(file, BLKRESETZONE, offset, length)
}

/// Finishes a zone: it has no room any more.
pub(super) fn finish(file: RawFd, offset: u64, length: u64) -> io::Result<()> {
    change(file, BLKFINISHZONE, offset, length)
}

fn change(file: RawFd, call: libc::Ioctl, offset: u64, length: u64) -> io::Result<()> {
    let range = [offset / SECTOR, length / SECTOR];
    // SAFETY: the file is open, and the kernel reads two numbers.
    let failed = unsafe { libc::ioctl(file, call, range.as_ptr()) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_laid_out_as_the_kernels() {
        assert_eq!(size_of::<Reported>(), 64);
        assert_eq!(size_of::<Report>(), 16 + 64 * EACH);
    }

    fn reported(condition: u8, pointer: u64) -> Reported {
        // SAFETY: it is made of integers, for which zero is a value.
        let mut zone: Reported = unsafe { std::mem::zeroed() };
        (zone.start, zone.length, zone.capacity) = (2048, 2048, 2000);
        (zone.kind, zone.condition, zone.pointer) = (2, condition, pointer);
        zone
    }

    #[test]
    fn a_report_is_believed_within_the_zone_alone() {
        let start = 2048 * SECTOR;
        let open = found(&reported(2, 2050)).expect("a zone");
        assert_eq!((open.zone.start, open.zone.pointer), (start, start + 2 * SECTOR));
        assert_eq!((open.zone.end, open.is_open), (start + 2000 * SECTOR, true));
        for condition in [0, 14] {
            let full = found(&reported(condition, u64::MAX)).expect("a zone");
            assert_eq!(full.zone.pointer, full.zone.end, "{condition}");
        }
        assert!(found(&reported(15, 2048)).expect("a zone").zone.is_offline);
        assert!(found(&reported(1, 1 << 62)).is_err(), "a pointer past any device");
        assert_eq!(found(&reported(1, 9_000)).expect("a zone").zone.pointer, open.zone.end);
        let mut empty = reported(1, 2048);
        empty.length = 0;
        assert!(found(&empty).is_err());
    }
}
