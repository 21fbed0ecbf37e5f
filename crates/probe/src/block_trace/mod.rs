//! The requests that a block device is sent, as the kernel's tracepoints tell them.
//!
//! Each recording has an instance of its own in tracefs, so that nobody else's tracing is touched.
//! It is removed at the end; what a dead process of ours left is removed by the next one.

mod device;
mod flight;
mod format;
mod instance;
mod ring;

pub use device::TracedDevice;
pub use instance::remove_left;

use flight::Flight;
use format::Format;
use instance::Instance;
use model::trace::{InFlight, Request, op_of_letters};
use model::{Histogram, Op};
use ring::Page;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Why no requests can be recorded.
#[derive(Debug)]
pub enum BlockTraceError {
    /// The path cannot be looked at.
    NoDevice(io::Error),
    /// It is neither a block device, a file nor a directory.
    NotBlock,
    /// It is a file or directory of a file system that lies on no block device of its own.
    NoneBelow,
    /// It is a partition of a device whose requests are not told by partition.
    PartitionOfBios,
    /// The kernel has no tracefs, or it cannot be mounted.
    NoTracefs(io::Error),
    /// tracefs is there, and may not be written to.
    NotPermitted,
    /// This kernel tells something that is not understood; what.
    Unknown(&'static str),
    /// A file of tracefs.
    File {
        /// Which one.
        name: String,
        /// What the system said.
        error: io::Error,
    },
}

impl BlockTraceError {
    /// What is wrong with this path, and the remedy.
    pub fn words(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            BlockTraceError::NoDevice(error) => format!("{path}: {error}; check the path"),
            BlockTraceError::NotBlock => format!(
                "{path} is no block device, file or directory; name a device such as /dev/nvme0n1"
            ),
            BlockTraceError::NoneBelow => format!(
                "{path} lies on no block device of its own, as on tmpfs, NFS, overlayfs, btrfs or \
                 a FUSE mount; name the device that its requests reach, such as /dev/nvme0n1"
            ),
            BlockTraceError::PartitionOfBios => format!(
                "{path} is a partition of a device that the kernel tells no requests of; name the \
                 whole device"
            ),
            BlockTraceError::NoTracefs(error) => format!(
                "tracefs cannot be mounted: {error}; the kernel needs CONFIG_FTRACE and \
                 CONFIG_BLK_DEV_IO_TRACE, or try `mount -t tracefs tracefs /sys/kernel/tracing`"
            ),
            BlockTraceError::NotPermitted => "the kernel's tracepoints may not be used; run \
                                              Plimsoll as root, outside of a container without \
                                              that right"
                .to_owned(),
            BlockTraceError::Unknown(what) => format!(
                "{path}: this kernel tells {what} in a way that is not known; please report it"
            ),
            BlockTraceError::File { name, error } => format!("{name}: {error}"),
        }
    }
}

/// Where requests go; what it fails with ends the trace.
type Sink<'a> = dyn FnMut(&Request) -> io::Result<()> + 'a;

/// An event that was read and has not been handed on.
struct Seen {
    at_ns: u64,
    pid: u32,
    letters: [u8; 10],
    sector: u64,
    sectors: u32,
    /// Whether it came back, and was not sent.
    is_back: bool,
}

/// What a recording came to, beside its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingEnd {
    /// Requests that were lost because the kernel had no room for them.
    pub lost: u64,
    /// How many requests the device had at once; `None` where the kernel does not say, or something
    /// was lost.
    pub in_flight: Option<InFlight>,
    /// How long requests took at the device, from issue to completion; `None` as above.
    pub latencies: Option<BTreeMap<Op, Histogram>>,
}

/// A recording.
pub struct BlockTrace {
    device: TracedDevice,
    /// Closed before their instance is removed, as the order of these fields has it.
    cpus: Vec<File>,
    instance: Instance,
    format: Format,
    /// Of what came back; `None` where this kernel does not tell it.
    format_of_end: Option<Format>,
    flight: Flight,
    page: Vec<u8>,
    held: Vec<Seen>,
    first_ns: Option<u64>,
    last_ns: u64,
    left_out: u64,
}

/// Events are told a moment after their instants: what is younger than this is held back.
const SETTLED_NS: u64 = 2_000_000;

impl BlockTrace {
    /// Begins to record what `device` is sent, or the device below the file system of a file or
    /// directory.
    ///
    /// # Errors
    /// There is no block device, or the kernel does not let us trace.
    pub fn start(device: &Path) -> Result<BlockTrace, BlockTraceError> {
        let device = TracedDevice::of(device)?;
        let instance = Instance::create()?;
        let event = format!("events/block/{}", device.event());
        let format = Format::read(&instance.text(&format!("{event}/format"))?)
            .ok_or(BlockTraceError::Unknown("the fields of its events"))?;
        let bytes = ring::page_bytes(&instance.text("events/header_page")?)
            .ok_or(BlockTraceError::Unknown("the pages of its buffers"))?;
        instance.write("trace_clock", "mono")?;
        // What is there is kept, and what has no room is counted.
        instance.write("options/overwrite", "0")?;
        instance.size_buffers()?;
        instance.write(&format!("{event}/filter"), &device.filter())?;
        let end = format!("events/block/{}", device.event_of_end());
        let told = instance.text(&format!("{end}/format")).ok();
        let format_of_end = told.and_then(|text| Format::read(&text)).filter(|_| {
            // Without it, requests are recorded as ever.
            instance.write(&format!("{end}/filter"), &device.filter()).is_ok()
                && instance.write(&format!("{end}/enable"), "1").is_ok()
        });
        let cpus = instance.cpus()?;
        instance.write(&format!("{event}/enable"), "1")?;
        Ok(BlockTrace {
            device,
            instance,
            format,
            format_of_end,
            flight: Flight::default(),
            cpus,
            page: vec![0; bytes],
            held: Vec::new(),
            first_ns: None,
            last_ns: 0,
            left_out: 0,
        })
    }

    /// What is recorded.
    pub fn device(&self) -> &TracedDevice {
        &self.device
    }

    /// Requests so far that were neither reads, writes, flushes nor trims.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Hands on what the kernel has told since, in the order of its instants; the first request is
    /// at 0.
    ///
    /// # Errors
    /// Of tracefs, or the sink's.
    pub fn read(&mut self, sink: &mut Sink<'_>) -> Result<(), BlockTraceError> {
        let before_ns = now_ns();
        self.fetch()?;
        self.hand_on(before_ns.saturating_sub(SETTLED_NS), sink)
    }

    /// What was sent until now is not recorded.
    ///
    /// # Errors
    /// Of tracefs.
    pub fn begin(&mut self) -> Result<(), BlockTraceError> {
        self.read(&mut |_| Ok(()))?;
        self.flight.forget();
        (self.first_ns, self.last_ns, self.left_out) = (None, 0, 0);
        Ok(())
    }

    /// Ends the recording, and hands on the rest.
    ///
    /// # Errors
    /// Of tracefs, or the sink's.
    pub fn finish(mut self, sink: &mut Sink<'_>) -> Result<RecordingEnd, BlockTraceError> {
        let event = format!("events/block/{}/enable", self.device.event());
        self.instance.write(&event, "0")?;
        if self.format_of_end.is_some() {
            let end = format!("events/block/{}/enable", self.device.event_of_end());
            self.instance.write(&end, "0")?;
        }
        self.fetch()?;
        self.hand_on(u64::MAX, sink)?;
        let lost = self.instance.lost()?;
        let is_seen = self.format_of_end.is_some() && lost == 0;
        let in_flight = self.flight.seen().filter(|_| is_seen);
        let latencies = self.flight.latencies().filter(|_| is_seen);
        Ok(RecordingEnd { lost, in_flight, latencies })
    }

    fn fetch(&mut self) -> Result<(), BlockTraceError> {
        let pages = self.instance.pages(self.page.len());
        for file in &mut self.cpus {
            // A processor that fills its buffer faster than it is read does not hold up the others.
            for _ in 0..pages {
                let length = match file.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => {
                        let name = "trace_pipe_raw".to_owned();
                        return Err(BlockTraceError::File { name, error });
                    }
                };
                let format = &self.format;
                let of_end = self.format_of_end.as_ref();
                for event in Page::of(&self.page[..length]) {
                    let sent = format.event(event.at_ns, event.data);
                    let back = || {
                        let seen = of_end?.event(event.at_ns, event.data)?;
                        Some(Seen { is_back: true, ..seen })
                    };
                    self.held.extend(sent.or_else(back));
                }
            }
        }
        Ok(())
    }

    fn hand_on(&mut self, until_ns: u64, sink: &mut Sink<'_>) -> Result<(), BlockTraceError> {
        self.held.sort_by_key(|seen| seen.at_ns);
        let count = self.held.partition_point(|seen| seen.at_ns <= until_ns);
        for seen in self.held.drain(..count) {
            if seen.is_back {
                self.flight.back(seen.at_ns, seen.sector, seen.sectors);
                continue;
            }
            let letters = String::from_utf8_lossy(&seen.letters);
            // Behind the first zero is what an earlier event left in the kernel's buffer.
            let letters = letters.split('\0').next().unwrap_or_default();
            let Some(op) = op_of_letters(letters, seen.sectors > 0) else {
                self.left_out += 1;
                continue;
            };
            let place = self.device.offset(seen.sector, seen.sectors);
            let (offset, length) = match (op, place) {
                (Op::Fsync, _) => (0, 0),
                (_, Some(place)) => place,
                // Of another partition.
                (_, None) => continue,
            };
            let first_ns = *self.first_ns.get_or_insert(seen.at_ns);
            // One that was told very late is put where it was told.
            self.last_ns = self.last_ns.max(seen.at_ns.saturating_sub(first_ns));
            let request = Request { at_ns: self.last_ns, op, offset, length, source: seen.pid };
            if !request.is_sound() {
                self.left_out += 1;
                continue;
            }
            if op != Op::Fsync {
                self.flight.sent(op, seen.at_ns, seen.sector, seen.sectors);
            }
            sink(&request)
                .map_err(|error| BlockTraceError::File { name: "the trace".to_owned(), error })?;
        }
        Ok(())
    }
}

fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64)
}
