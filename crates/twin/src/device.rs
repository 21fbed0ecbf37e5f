//! The simulated device itself: when each request completes, and with what.

use crate::check::{LINE_BYTES, MOST_LINES, MOST_SERVERS};
use crate::flash::Log;
use crate::lru::Lru;
use crate::pacer::Pacer;
use crate::sampler::Sampler;
use crate::spec::{Cache, Credits, DeviceSpec, ErrorRate};
use crate::stall::StallMap;
use model::Op;
use model::errno::ENOSPC;
use model::rng::{Rng, derive};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most that Linux moves in one request (`MAX_RW_COUNT` in `include/linux/fs.h`), in bytes.
pub(crate) const MAX_RW_COUNT: u32 = 0x7fff_f000;
const PPM: u64 = 1_000_000;

/// One request to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// Where, in bytes from the beginning of the device. An fsync has no place.
    pub offset: u64,
    /// How much, in bytes. An fsync has no length.
    pub length: u32,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When it completes, in ns of virtual time: later than its submission.
    pub completed_ns: u64,
    /// The bytes moved, or a negative errno.
    pub result: i32,
}

/// A simulated device at an instant of virtual time.
///
/// The order of things within a request: it waits for its turn, a server, the IOPS limit and, as a
/// write, for room in a write-back cache; then it has the server while its bytes go through the
/// shared path and while it is served. What fails takes its time as well, but moves nothing into
/// the cache. A line is in the cache from the submission of the request that brings it in. A write
/// that is repeated in a write-back cache counts anew: nothing is combined.
#[derive(Clone, Debug)]
pub struct Device {
    capacity_bytes: u64,
    /// Of reads, writes, and everything that moves no bytes.
    samplers: [Sampler; 3],
    /// When each server is free, in working time.
    servers: BinaryHeap<Reverse<u64>>,
    gate: Option<Pacer>,
    path: Option<Pacer>,
    bucket: Option<Bucket>,
    flash: Option<Box<Log>>,
    tier: Option<Tier>,
    stalls: StallMap,
    failures: [Failures; Op::COUNT],
    services: Rng,
    chances: Rng,
    now_ns: u64,
    /// When the last request began, in working time: none begins before one that came earlier.
    begun_ns: u64,
}

impl Device {
    /// A device that is idle at 0 with a cold cache. Its answers follow from `spec`, `seed` and the
    /// requests.
    ///
    /// A spec that [`DeviceSpec::check`] refuses makes a device all the same, with at least one
    /// server and one line.
    pub fn new(spec: &DeviceSpec, seed: u64) -> Device {
        Device {
            capacity_bytes: spec.capacity.0,
            samplers: [&spec.read_service, &spec.write_service, &spec.fsync_service]
                .map(Sampler::new),
            servers: (0..spec.parallelism.clamp(1, MOST_SERVERS)).map(|_| Reverse(0)).collect(),
            gate: spec.iops_limit.map(Pacer::new),
            path: spec.bandwidth_bytes_per_s.map(Pacer::new),
            bucket: spec.credits.map(Bucket::new),
            flash: spec.flash.as_ref().map(|flash| Box::new(Log::new(flash, spec.capacity.0))),
            tier: spec.cache.as_ref().map(Tier::new),
            stalls: StallMap::new(&spec.stalls),
            failures: Op::EACH.map(|op| Failures::new(&spec.errors, op)),
            // Two sequences, so that errors do not change the times of what succeeds.
            services: Rng::new(derive(seed, &[0])),
            chances: Rng::new(derive(seed, &[1])),
            now_ns: 0,
            begun_ns: 0,
        }
    }

    /// Takes a request at `now_ns` of virtual time and says when it will complete, and with what.
    /// Requests are served in the order of these calls; a `now_ns` before that of an earlier call
    /// counts as the latter.
    pub fn submit(&mut self, now_ns: u64, request: Request) -> Answer {
        self.now_ns = self.now_ns.max(now_ns);
        let now_ns = self.stalls.working_ns(self.now_ns);
        let result = self.result_of(request);
        let length = u64::try_from(result).unwrap_or(0);
        let begin_ns = self.begin(now_ns, request.op, length);
        let sent_ns = self.path.as_mut().map_or(begin_ns, |path| path.take(begin_ns, length));
        let sent_ns = self.program(sent_ns, request, length);
        let done_ns = self.serve(sent_ns, request, length);
        if let Some(mut server) = self.servers.peek_mut() {
            *server = Reverse(done_ns);
        }
        Answer { completed_ns: self.stalls.virtual_ns(done_ns), result }
    }

    /// What comes back: an error by chance, else what a Linux block device of this size moves.
    fn result_of(&mut self, request: Request) -> i32 {
        if let Some(errno) = self.failures[request.op.index()].draw(&mut self.chances) {
            return -errno;
        }
        let left = self.capacity_bytes.saturating_sub(request.offset);
        let length = request.length.min(MAX_RW_COUNT);
        let moved = length.min(u32::try_from(left).unwrap_or(u32::MAX)) as i32;
        match request.op {
            Op::Read => moved,
            Op::Write if moved == 0 && length > 0 => -ENOSPC,
            Op::Write => moved,
            // A block device has no files: what is done to them moves nothing.
            _ => 0,
        }
    }

    /// When a request leaves the queue, in working time.
    fn begin(&mut self, now_ns: u64, op: Op, length: u64) -> u64 {
        let server_ns = self.servers.peek().map_or(0, |free| free.0);
        let mut begin_ns = now_ns.max(server_ns).max(self.begun_ns);
        if let Some(gate) = &mut self.gate {
            begin_ns = begin_ns.max(gate.free_ns());
        }
        if let Some(bucket) = &mut self.bucket {
            begin_ns = begin_ns.max(bucket.free_ns());
        }
        if let (Op::Write, Some(tier)) = (op, &self.tier) {
            begin_ns = begin_ns.max(tier.room_ns(length));
        }
        if let Some(gate) = &mut self.gate {
            gate.take(begin_ns, 1);
        }
        if let Some(bucket) = &mut self.bucket {
            bucket.tokens.take(begin_ns, 1);
        }
        self.begun_ns = begin_ns;
        begin_ns
    }

    /// When the pages of a write are in the flash, in working time; a trim gives its pages up.
    fn program(&mut self, at_ns: u64, request: Request, length: u64) -> u64 {
        match (&mut self.flash, request.op) {
            (Some(log), Op::Write) if length > 0 => log.write(at_ns, request.offset, length),
            (Some(log), Op::Trim) => {
                log.trim(request.offset, u64::from(request.length));
                at_ns
            }
            _ => at_ns,
        }
    }

    /// When the service of a request is over, in working time.
    fn serve(&mut self, at_ns: u64, request: Request, length: u64) -> u64 {
        let own = &self.samplers[request.op.index().min(Op::Fsync.index())];
        let Some(tier) = &mut self.tier else {
            return at_ns.saturating_add(own.draw_ns(&mut self.services));
        };
        let hit = length > 0 && tier.touch(request.offset, length);
        match (request.op, &mut tier.destage) {
            (Op::Read, _) if hit => {
                at_ns.saturating_add(tier.read_service.draw_ns(&mut self.services))
            }
            (Op::Write, Some(destage)) if length > 0 => {
                destage.take(at_ns, length);
                at_ns.saturating_add(tier.write_service.draw_ns(&mut self.services))
            }
            (Op::Fsync, Some(destage)) => {
                at_ns.saturating_add(own.draw_ns(&mut self.services)).max(destage.free_ns())
            }
            _ => at_ns.saturating_add(own.draw_ns(&mut self.services)),
        }
    }
}

/// A bucket of tokens at work: what was taken comes back one after the other, and until all is
/// back, no more than the bucket holds may be missing.
#[derive(Clone, Debug)]
struct Bucket {
    /// The way of the tokens back into it. It is full once that is free.
    tokens: Pacer,
    size: u64,
}

impl Bucket {
    fn new(credits: Credits) -> Bucket {
        Bucket { tokens: Pacer::new(credits.per_s), size: credits.size.max(1) }
    }

    /// From when on there is a token, in working time.
    fn free_ns(&self) -> u64 {
        self.tokens.free_ns().saturating_sub(self.tokens.span_ns(self.size - 1))
    }
}

/// The cache at work.
#[derive(Clone, Debug)]
struct Tier {
    lines: Lru,
    line_bits: u32,
    size_bytes: u64,
    read_service: Sampler,
    write_service: Sampler,
    /// The way of written bytes to the device, when the cache is write-back. It is free once
    /// everything is there.
    destage: Option<Pacer>,
}

impl Tier {
    fn new(cache: &Cache) -> Tier {
        let line_bits = cache.line.0.clamp(LINE_BYTES.0, LINE_BYTES.1).ilog2();
        let lines = (cache.size.0 >> line_bits).min(MOST_LINES);
        Tier {
            lines: Lru::new(lines as u32),
            line_bits,
            size_bytes: cache.size.0,
            read_service: Sampler::new(&cache.read_service),
            write_service: Sampler::new(&cache.write_service),
            destage: cache.destage_bytes_per_s.map(Pacer::new),
        }
    }

    /// Uses every line of a range that is not empty, and says whether all of them were there.
    fn touch(&mut self, offset: u64, length: u64) -> bool {
        let last = offset.saturating_add(length - 1) >> self.line_bits;
        let mut hit = true;
        for line in (offset >> self.line_bits)..=last {
            hit &= self.lines.touch(line);
        }
        hit
    }

    /// From when on a write of `length` bytes finds room, in working time. What waits for the
    /// device drains evenly, so room is there (size − length) ÷ rate before the last of it has
    /// gone.
    fn room_ns(&self, length: u64) -> u64 {
        self.destage.as_ref().map_or(0, |destage| {
            destage
                .free_ns()
                .saturating_sub(destage.span_ns(self.size_bytes.saturating_sub(length)))
        })
    }
}

/// The errors of one operation, with cumulated rates: one draw decides which it is, if any.
#[derive(Clone, Debug)]
struct Failures(Vec<(u64, i32)>);

impl Failures {
    fn new(errors: &[ErrorRate], op: Op) -> Failures {
        let mut below = 0;
        let of_op = errors.iter().filter(|error| error.op == op);
        Failures(
            of_op
                .map(|error| {
                    below += u64::from(error.ppm);
                    (below, error.errno.clamp(1, i32::MAX))
                })
                .collect(),
        )
    }

    fn draw(&self, rng: &mut Rng) -> Option<i32> {
        if self.0.is_empty() {
            return None;
        }
        let ticket = rng.below(PPM);
        self.0.iter().find(|(below, _)| ticket < *below).map(|&(_, errno)| errno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(text: &str) -> Device {
        Device::new(&DeviceSpec::parse(text).expect(text), 1)
    }

    fn read(offset: u64, length: u32) -> Request {
        Request { op: Op::Read, offset, length }
    }

    fn write(offset: u64, length: u32) -> Request {
        Request { op: Op::Write, offset, length }
    }

    const FSYNC: Request = Request { op: Op::Fsync, offset: 0, length: 0 };

    #[test]
    fn requests_queue_for_the_first_free_server() {
        let mut device = device("constant,service=100us,servers=2");
        let completed: Vec<u64> = [0, 10_000, 20_000, 150_000]
            .map(|now_ns| device.submit(now_ns, read(0, 4096)).completed_ns)
            .into();
        assert_eq!(completed, [100_000, 110_000, 200_000, 250_000]);
    }

    #[test]
    fn a_request_keeps_its_server_for_its_bytes_too() {
        let mut device = device("constant,service=100us,bandwidth=4096000B/s");
        assert_eq!(device.submit(0, read(0, 4096)).completed_ns, 1_100_000);
        assert_eq!(device.submit(0, read(0, 4096)).completed_ns, 2_200_000);
    }

    #[test]
    fn a_bucket_lets_as_many_through_as_it_holds_and_then_as_many_as_come() {
        let mut device = device("constant,service=1ns,servers=64,credits=10@1000");
        let mut at = |now_ns| device.submit(now_ns, read(0, 1)).completed_ns;
        assert!((0..10).all(|_| at(0) == 1), "it was full");
        assert_eq!([at(0), at(0)], [1_000_001, 2_000_001]);
        // Empty since 2 ms: four come in 4 ms.
        assert!((0..4).all(|_| at(6_000_000) == 6_000_001));
        assert_eq!(at(6_000_000), 7_000_001);
        // Never more than it holds.
        assert!((0..10).all(|_| at(1_000_000_000) == 1_000_000_001));
        assert_eq!(at(1_000_000_000), 1_001_000_001);
    }

    #[test]
    fn a_write_waits_for_its_pages_and_a_read_does_not() {
        let mut device =
            device("constant,service=1us,capacity=16MiB,flash=10%@4096KB/s,flash-block=256KiB");
        assert_eq!(device.submit(0, write(0, 4096)).completed_ns, 1_001_000);
        assert_eq!(device.submit(2_000_000, read(0, 4096)).completed_ns, 2_001_000);
        // The second half of one page and the first of the next are two pages.
        assert_eq!(device.submit(3_000_000, write(2048, 4096)).completed_ns, 5_001_000);
    }

    #[test]
    fn the_end_of_the_device_is_that_of_a_linux_block_device() {
        let mut device = device("constant,service=1us,capacity=8KiB");
        for (request, result) in [
            (read(0, 4096), 4096),
            (read(4096, 8192), 4096),
            (read(8192, 4096), 0),
            (read(u64::MAX, u32::MAX), 0),
            (write(4096, 8192), 4096),
            (write(8192, 1), -ENOSPC),
            (write(8192, 0), 0),
            (FSYNC, 0),
        ] {
            assert_eq!(device.submit(0, request).result, result, "{request:?}");
        }
    }

    #[test]
    fn a_line_that_was_used_costs_the_cache_s_service() {
        let mut device =
            device("constant,service=1ms,servers=64,cache=64KiB@20us,cache-line=16KiB");
        let mut cost_ns = |request| device.submit(0, request).completed_ns;
        assert_eq!(cost_ns(read(0, 4096)), 1_000_000);
        assert_eq!(cost_ns(read(12_288, 4096)), 20_000);
        assert_eq!(cost_ns(read(12_288, 8192)), 1_000_000, "half of it is in the next line");
        assert_eq!(
            cost_ns(write(65_536, 4096)),
            1_000_000,
            "without a rate of destaging the cache is write-through"
        );
        assert_eq!(cost_ns(read(65_536, 4096)), 20_000, "what was written is in the cache");
    }

    #[test]
    fn a_write_back_cache_is_fast_until_it_is_full_and_an_fsync_waits_for_it() {
        let mut device =
            device("constant,service=1ms,servers=64,cache=64KiB@20us,destage=65536B/s");
        let mut done_ns = |request| device.submit(0, request).completed_ns;
        assert!((0..16).all(|block| done_ns(write(block * 4096, 4096)) == 20_000));
        assert_eq!(done_ns(write(0, 4096)), 62_500_000 + 20_000, "a sixteenth of a second");
        assert_eq!(done_ns(FSYNC), 1_062_500_000);
    }

    #[test]
    fn a_write_that_waits_for_room_holds_up_what_comes_behind_it() {
        let mut device = device("constant,service=1ms,servers=64,cache=8KiB@20us,destage=8192B/s");
        device.submit(0, write(0, 8192));
        assert_eq!(device.submit(0, write(0, 4096)).completed_ns, 500_020_000);
        let behind_ns = device.submit(1, read(65_536, 4096)).completed_ns;
        assert_eq!(behind_ns, 501_000_000, "first come, first served");
    }

    #[test]
    fn whatever_comes_nothing_panics_and_time_does_not_run_backwards() {
        let mut device =
            device("ssd,cache=1MiB@1us,stall=1s+2s,iops=7,bandwidth=3B/s,error=write:EIO:1%");
        for now_ns in [5, 3, 1_500_000_000, 0, u64::MAX, 1, u64::MAX] {
            for request in [read(u64::MAX, u32::MAX), write(0, u32::MAX), FSYNC, read(3, 0)] {
                let answer = device.submit(now_ns, request);
                assert!(answer.completed_ns > now_ns || answer.completed_ns == u64::MAX);
            }
        }
    }

    #[test]
    fn a_spec_that_makes_no_sense_still_makes_a_device() {
        let mut spec = DeviceSpec::parse("constant,cache=1MiB@1us").expect("a spec");
        spec.parallelism = 0;
        spec.iops_limit = Some(0);
        spec.bandwidth_bytes_per_s = Some(0);
        spec.capacity.0 = 0;
        if let Some(cache) = &mut spec.cache {
            (cache.size.0, cache.line.0) = (0, 0);
        }
        spec.errors.push(ErrorRate { op: Op::Read, errno: i32::MIN, ppm: u32::MAX });
        assert_eq!(Device::new(&spec, 1).submit(0, read(0, 4096)).result, -1);
    }
}
