//! The practical limit of one worker: 4 KiB random reads by the barest loop that keeps 32 requests
//! outstanding.
//!
//! No clock in the loop, no statistics, the cheapest generator; registered files and buffers; no
//! access times. What a load generator does beyond this is its own cost, so `cargo xtask bench`
//! holds the engine against it.
//!
//! `bare-ring [FILE…] --bytes N --millis N [--workers N] [--direct] [--async] [--ring | --pread |
//! --nop]` prints `{"ios": …, "seconds": …}`. Each worker is a thread, which opens the file for
//! itself, or of several files the next one. `--async` hands each request to a thread of the
//! kernel at once, as the engine does where a file knows no requests that do not wait; `--pread`
//! makes a plain call for each request; `--nop` sends the kernel's request that does nothing and
//! takes no file; its offsets are drawn all the same.

use io_uring::{IoUring, opcode, squeue, types};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

const BLOCK: usize = 4096;
const DEPTH: usize = 32;
/// How often is looked whether a worker has failed.
const LOOK: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Ring,
    Pread,
    Nop,
}

/// What the command line says.
struct Options {
    files: Vec<String>,
    bytes: u64,
    millis: u64,
    workers: u64,
    direct: bool,
    through_thread: bool,
    way: Way,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        files: Vec::new(),
        bytes: 0,
        millis: 3000,
        workers: 1,
        direct: false,
        through_thread: false,
        way: Way::Ring,
    };
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|value| value.parse::<u64>().ok());
            value.filter(|value| *value > 0).ok_or_else(|| format!("{word} wants a number above 0"))
        };
        match word.as_str() {
            "--bytes" => options.bytes = number()?,
            "--millis" => options.millis = number()?,
            "--workers" => options.workers = number()?,
            "--direct" => options.direct = true,
            "--async" => options.through_thread = true,
            "--ring" => options.way = Way::Ring,
            "--pread" => options.way = Way::Pread,
            "--nop" => options.way = Way::Nop,
            unknown if unknown.starts_with('-') => {
                return Err(format!(
                    "`{unknown}` is no option; there are --bytes, --millis, --workers, --direct, \
                     --async, --ring, --pread, --nop"
                ));
            }
            _ => options.files.push(word),
        }
    }
    if options.way != Way::Nop && (options.files.is_empty() || options.bytes < BLOCK as u64) {
        return Err(format!("a file and --bytes of at least {BLOCK} are wanted"));
    }
    Ok(options)
}

/// Offsets of whole blocks, uniformly over a range: one multiplication for the next state, one to
/// scale it.
struct Offsets {
    state: u64,
    blocks: u64,
}

impl Offsets {
    #[inline]
    fn next(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (((self.state >> 32) * self.blocks) >> 32) * BLOCK as u64
    }
}

/// Room for every outstanding request, aligned as direct I/O wants it; it lives as long as the
/// process.
fn buffers() -> NonNull<u8> {
    let Ok(layout) = Layout::from_size_align(DEPTH * BLOCK, BLOCK) else {
        unreachable!("a constant size of a power of two");
    };
    // SAFETY: the layout is not empty.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

/// A request came back with something else than what was asked for: a figure from it would say
/// nothing.
fn refused(result: i64) -> io::Error {
    match i32::try_from(-result) {
        Ok(errno) if errno > 0 => io::Error::from_raw_os_error(errno),
        _ => io::Error::other(format!("a request moved {result} bytes instead of {BLOCK}")),
    }
}

fn ring_loop(
    options: &Options,
    mut offsets: Offsets,
    file: Option<&File>,
    stop: &AtomicBool,
) -> io::Result<u64> {
    let mut ring: IoUring =
        IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(DEPTH as u32)?;
    let memory = buffers();
    if let Some(file) = file {
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let whole = libc::iovec { iov_base: memory.as_ptr().cast(), iov_len: DEPTH * BLOCK };
        // SAFETY: the memory is never freed.
        unsafe { ring.submitter().register_buffers(&[whole])? };
    }
    let flags = if options.through_thread { squeue::Flags::ASYNC } else { squeue::Flags::empty() };
    let expected = if options.way == Way::Nop { 0 } else { BLOCK as i32 };
    let mut free: Vec<u64> = (0..DEPTH as u64).collect();
    let mut ios = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut queue = ring.submission();
        for slot in free.drain(..) {
            // Whoever generates load decides where each request goes, also for one that goes
            // nowhere.
            let offset = black_box(offsets.next());
            let entry = if options.way == Way::Nop {
                opcode::Nop::new().build()
            } else {
                // SAFETY: a slot is below DEPTH.
                let buffer = unsafe { memory.as_ptr().add(slot as usize * BLOCK) };
                opcode::ReadFixed::new(types::Fixed(0), buffer, BLOCK as u32, 0)
                    .offset(offset)
                    .build()
            };
            // SAFETY: the buffer is never freed, and its slot is free only when no request uses it.
            let pushed = unsafe { queue.push(&entry.user_data(slot).flags(flags)) };
            debug_assert!(pushed.is_ok(), "the queue has a place for every slot");
        }
        drop(queue);
        ring.submit_and_wait(1)?;
        for entry in ring.completion() {
            if entry.result() != expected {
                return Err(refused(i64::from(entry.result())));
            }
            free.push(entry.user_data());
            ios += 1;
        }
    }
    // What is outstanding still writes into the buffers, which are never freed, and is not counted.
    Ok(ios)
}

fn pread_loop(mut offsets: Offsets, file: &File, stop: &AtomicBool) -> io::Result<u64> {
    let memory = buffers();
    let mut ios = 0;
    while !stop.load(Ordering::Relaxed) {
        let offset = offsets.next() as libc::off_t;
        // SAFETY: the memory is this large and nobody else uses it.
        let moved = unsafe { libc::pread(file.as_raw_fd(), memory.as_ptr().cast(), BLOCK, offset) };
        if moved < 0 {
            return Err(io::Error::last_os_error());
        }
        if moved as usize != BLOCK {
            return Err(refused(moved as i64));
        }
        ios += 1;
    }
    Ok(ios)
}

/// The requests of one worker.
fn work(options: &Options, number: usize, stop: &AtomicBool) -> io::Result<u64> {
    let flags = libc::O_NOATIME | if options.direct { libc::O_DIRECT } else { 0 };
    let open = |path: &String| OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = options.files.get(number % options.files.len().max(1)).map(open).transpose()?;
    // Each in an order of its own, as those of a load generator: workers in step would ask for the
    // same pages of one file at the same time.
    let blocks = (options.bytes / BLOCK as u64).max(1);
    let offsets = Offsets { state: number as u64 + 1, blocks };
    match (&file, options.way) {
        (Some(file), Way::Pread) => pread_loop(offsets, file, stop),
        _ => ring_loop(options, offsets, file.as_ref(), stop),
    }
}

fn run(options: &Options) -> io::Result<(u64, f64)> {
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let ios = std::thread::scope(|scope| {
        let (stop, workers) = (&stop, options.workers as usize);
        let start_one = |number| scope.spawn(move || work(options, number, stop));
        let threads: Vec<_> = (0..workers).map(start_one).collect();
        let end = start + Duration::from_millis(options.millis);
        // One that fails is not waited for.
        while Instant::now() < end && !threads.iter().any(ScopedJoinHandle::is_finished) {
            std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
        stop.store(true, Ordering::Relaxed);
        let ends = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a worker panicked")))
        });
        ends.sum::<io::Result<u64>>()
    })?;
    Ok((ios, start.elapsed().as_secs_f64()))
}

fn main() -> ExitCode {
    let result = parse(std::env::args().skip(1)).and_then(|options| {
        run(&options).map_err(|error| format!("{}: {error}", options.files.join(", ")))
    });
    // A reader that went away is nobody to tell.
    match result {
        Ok((ios, seconds)) => {
            let _ = writeln!(io::stdout(), "{{\"ios\": {ios}, \"seconds\": {seconds:.6}}}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "bare-ring: {error}");
            ExitCode::from(2)
        }
    }
}
