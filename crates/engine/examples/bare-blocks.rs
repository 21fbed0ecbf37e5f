//! The practical limit of sequential load: large blocks through files that are there, by the barest
//! loop of `pread` and `pwrite`.
//!
//! No clock in the loop, no statistics, one buffer that is never filled anew. What a load generator
//! does beyond this is its own cost, and what this does not reach, no caller of these system calls
//! can.
//!
//! `bare-blocks FILE... --block N --bytes N [--write] [--direct]` has a worker for each FILE, which
//! goes through its first `--bytes`. Where a FILE is named several times, each of its workers goes
//! through the next `--bytes` of it. Workers begin at the same time. Prints how many bytes
//! moved and the seconds from the first worker's begin to the last one's end as JSON.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;
use std::ptr::NonNull;
use std::sync::Barrier;
use std::time::Instant;

/// A buffer of its own huge page is one segment for a device, as ours is.
const HUGE_PAGE: usize = 2 << 20;

struct Options {
    files: Vec<String>,
    block: usize,
    bytes: u64,
    write: bool,
    direct: bool,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options =
        Options { files: Vec::new(), block: 1 << 20, bytes: 1 << 20, write: false, direct: false };
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|value| value.parse::<u64>().ok());
            value.ok_or_else(|| format!("{word} wants a number"))
        };
        match word.as_str() {
            "--block" => options.block = number()?.clamp(512, 64 << 20) as usize,
            "--bytes" => options.bytes = number()?,
            "--write" => options.write = true,
            "--direct" => options.direct = true,
            unknown if unknown.starts_with('-') => {
                return Err(format!(
                    "`{unknown}` is no option; there are --block, --bytes, --write, --direct"
                ));
            }
            file => options.files.push(file.to_owned()),
        }
    }
    if options.files.is_empty() {
        Err("name a file for each worker".to_owned())
    } else {
        Ok(options)
    }
}

/// Memory that begins with a huge page, where the system has them.
struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

impl Buffer {
    fn new(bytes: usize) -> io::Result<Buffer> {
        let layout =
            Layout::from_size_align(bytes.max(HUGE_PAGE), HUGE_PAGE).map_err(io::Error::other)?;
        // SAFETY: the layout is not empty.
        let start =
            NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: only advice on memory that is ours.
        unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
        // SAFETY: the memory is ours and this large. Written to, so that it is there before the
        // first request.
        unsafe { start.as_ptr().write_bytes(0x5a, layout.size()) };
        Ok(Buffer { start, layout })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this very layout; every call on it is over.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// One worker, from `begin` on: comes back with when it began and when it ended.
fn work(
    path: &str,
    begin: u64,
    options: &Options,
    gate: &Barrier,
) -> io::Result<(Instant, Instant)> {
    let flags = if options.direct { libc::O_DIRECT } else { 0 };
    let file: File =
        OpenOptions::new().read(true).write(options.write).custom_flags(flags).open(path)?;
    let buffer = Buffer::new(options.block)?;
    gate.wait();
    let first = Instant::now();
    let mut offset = begin;
    while offset < begin + options.bytes {
        let (number, start) = (file.as_raw_fd(), buffer.start.as_ptr());
        let moved = match options.write {
            // SAFETY: the buffer holds a block, and nobody else uses it.
            true => unsafe {
                libc::pwrite(number, start.cast(), options.block, offset as libc::off_t)
            },
            // SAFETY: the same.
            false => unsafe {
                libc::pread(number, start.cast(), options.block, offset as libc::off_t)
            },
        };
        match moved {
            1.. => offset += moved as u64,
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => return Err(io::Error::last_os_error()),
        }
    }
    Ok((first, Instant::now()))
}

/// Bytes and seconds.
fn run(options: &Options) -> (u64, f64) {
    let gate = Barrier::new(options.files.len());
    let lone = |number: usize| {
        let path = &options.files[number];
        let before = options.files[..number].iter().filter(|other| *other == path).count() as u64;
        work(path, before * options.bytes, options, &gate).unwrap_or_else(|error| {
            // The others would wait for this one for ever.
            let _ = writeln!(io::stderr(), "bare-blocks: {path}: {error}");
            std::process::exit(2)
        })
    };
    let laps: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let lone = &lone;
        let threads: Vec<_> =
            (0..options.files.len()).map(|number| scope.spawn(move || lone(number))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let (begin, end) = (laps.iter().map(|lap| lap.0).min(), laps.iter().map(|lap| lap.1).max());
    let seconds =
        begin.zip(end).map_or(f64::NAN, |(begin, end)| end.duration_since(begin).as_secs_f64());
    (options.bytes * laps.len() as u64, seconds)
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).map(|options| run(&options)) {
        Ok((bytes, seconds)) => {
            // A reader that went away is nobody to tell.
            let _ = writeln!(io::stdout(), "{{\"bytes\": {bytes}, \"seconds\": {seconds:.6}}}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "bare-blocks: {error}");
            ExitCode::from(2)
        }
    }
}
