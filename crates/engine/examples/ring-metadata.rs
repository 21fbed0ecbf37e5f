//! Create, stat and remove empty files by plain system calls, and by io_uring's `openat`, `statx`,
//! `close` and `unlinkat`: what would a ring bring to metadata workers?
//!
//! `ring-metadata DIRECTORY [--files N] [--workers N] [--rounds N]` lets the ways take turns with N
//! files of each worker in a directory of its own below DIRECTORY, one batch of requests after the
//! other, and prints for each operation and way the medians: operations per second, and per
//! second of CPU time of the whole process, the kernel's workers for it included.

use io_uring::{IoUring, opcode, squeue, types};
use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, mem};

/// Requests that a ring is given at once; 0 is no ring.
const WAYS: [usize; 3] = [0, 1, 32];
const OPERATIONS: [&str; 3] = ["create", "stat", "remove"];
const CREATE: i32 =
    libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;

struct Options {
    directory: String,
    files: u64,
    workers: u64,
    rounds: u64,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { directory: String::new(), files: 20_000, workers: 1, rounds: 3 };
    while let Some(word) = words.next() {
        let mut number = || {
            words
                .next()
                .and_then(|value| value.parse().ok())
                .ok_or(format!("{word} wants a number"))
        };
        match word.as_str() {
            "--files" => options.files = number()?,
            "--workers" => options.workers = number()?.clamp(1, 1024),
            "--rounds" => options.rounds = number()?.max(1),
            unknown if unknown.starts_with('-') => {
                return Err(format!(
                    "`{unknown}` is no option; there are --files, --workers, --rounds"
                ));
            }
            directory => options.directory = directory.to_owned(),
        }
    }
    if options.directory.is_empty() {
        Err("name an empty directory".to_owned())
    } else {
        Ok(options)
    }
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The name of a file, as long as those of the engine.
fn name(number: u64) -> io::Result<CString> {
    Ok(CString::new(format!("f{number:018}"))?)
}

/// One operation on every file by plain calls.
fn plainly(operation: &str, root: RawFd, files: u64) -> io::Result<()> {
    for number in 0..files {
        let name = name(number)?;
        match operation {
            "create" => {
                // SAFETY: the name ends with a zero byte, and `root` is open.
                let file = check(unsafe { libc::openat(root, name.as_ptr(), CREATE, 0o600) })?;
                // SAFETY: it was opened above, and nobody else has it.
                check(unsafe { libc::close(file) })?;
            }
            "stat" => {
                let mut facts = mem::MaybeUninit::<libc::statx>::uninit();
                let (flags, mask) = (libc::AT_SYMLINK_NOFOLLOW, libc::STATX_BASIC_STATS);
                // SAFETY: the name ends with a zero byte, `root` is open, and `facts` can be
                // written to.
                check(unsafe {
                    libc::statx(root, name.as_ptr(), flags, mask, facts.as_mut_ptr())
                })?;
            }
            // SAFETY: the name ends with a zero byte, and `root` is open.
            _ => drop(check(unsafe { libc::unlinkat(root, name.as_ptr(), 0) })?),
        }
    }
    Ok(())
}

/// Gives the ring these requests and waits for all of them; their results in the order in which
/// they came.
fn all_of(ring: &mut IoUring, requests: &[squeue::Entry]) -> io::Result<Vec<i32>> {
    for request in requests {
        // SAFETY: what the request points to stays in its place until this function comes back, and
        // the queue has room for a batch.
        unsafe { ring.submission().push(request) }.map_err(io::Error::other)?;
    }
    ring.submit_and_wait(requests.len())?;
    let results: Vec<i32> = ring.completion().map(|done| done.result()).collect();
    match results.iter().find(|result| **result < 0) {
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None if results.len() == requests.len() => Ok(results),
        None => Err(io::Error::other("fewer completions than requests")),
    }
}

/// The same by a ring, so many at once.
fn by_ring(operation: &str, root: RawFd, files: u64, batch: usize) -> io::Result<()> {
    let mut ring =
        IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(batch as u32)?;
    let at = types::Fd(root);
    // SAFETY: an all-zero `statx` is a valid value of that plain C struct.
    let mut facts: Vec<libc::statx> = (0..batch).map(|_| unsafe { mem::zeroed() }).collect();
    for first in (0..files).step_by(batch) {
        let names: Vec<CString> = (first..files.min(first + batch as u64))
            .map(name)
            .collect::<io::Result<Vec<CString>>>()?;
        let request = |(name, facts): (&CString, &mut libc::statx)| match operation {
            "create" => opcode::OpenAt::new(at, name.as_ptr()).flags(CREATE).mode(0o600).build(),
            "stat" => opcode::Statx::new(at, name.as_ptr(), (&raw mut *facts).cast())
                .flags(libc::AT_SYMLINK_NOFOLLOW)
                .mask(libc::STATX_BASIC_STATS)
                .build(),
            _ => opcode::UnlinkAt::new(at, name.as_ptr()).build(),
        };
        let requests: Vec<squeue::Entry> = names.iter().zip(&mut facts).map(request).collect();
        let results = all_of(&mut ring, &requests)?;
        if operation == "create" {
            let closes: Vec<squeue::Entry> = results
                .into_iter()
                .map(|file| opcode::Close::new(types::Fd(file)).build())
                .collect();
            all_of(&mut ring, &closes)?;
        }
    }
    Ok(())
}

/// CPU seconds of this process until now.
fn cpu_s() -> f64 {
    // SAFETY: an all-zero `rusage` is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: `usage` can be written to.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Operations per second, and per CPU second, of one operation by one way.
fn lap(operation: &str, batch: usize, roots: &[fs::File], files: u64) -> io::Result<(f64, f64)> {
    let (begin, before_s) = (Instant::now(), cpu_s());
    std::thread::scope(|scope| {
        let work = |root: &fs::File| {
            let root = root.as_raw_fd();
            if batch == 0 {
                plainly(operation, root, files)
            } else {
                by_ring(operation, root, files, batch)
            }
        };
        let threads: Vec<_> = roots.iter().map(|root| scope.spawn(move || work(root))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("panicked")))
        })
    })?;
    let count = (files * roots.len() as u64) as f64;
    Ok((count / begin.elapsed().as_secs_f64(), count / (cpu_s() - before_s)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn run(options: &Options) -> io::Result<String> {
    let folders: Vec<String> =
        (0..options.workers).map(|worker| format!("{}/w{worker}", options.directory)).collect();
    folders.iter().try_for_each(fs::create_dir)?;
    let roots = folders.iter().map(fs::File::open).collect::<io::Result<Vec<fs::File>>>()?;
    let mut laps = vec![Vec::new(); OPERATIONS.len() * WAYS.len()];
    for round in 0..options.rounds {
        let mut ways: Vec<usize> = (0..WAYS.len()).collect();
        if round % 2 == 1 {
            ways.reverse();
        }
        for way in ways {
            for (number, operation) in OPERATIONS.into_iter().enumerate() {
                laps[number * WAYS.len() + way]
                    .push(lap(operation, WAYS[way], &roots, options.files)?);
            }
        }
    }
    folders.iter().try_for_each(fs::remove_dir)?;
    let figure = |number: usize, way: usize, of: fn(&(f64, f64)) -> f64| {
        median(laps[number * WAYS.len() + way].iter().map(of).collect())
    };
    let mut text = String::new();
    for (number, operation) in OPERATIONS.into_iter().enumerate() {
        for (way, batch) in WAYS.into_iter().enumerate() {
            let how =
                if batch == 0 { "plain".to_owned() } else { format!("ring, {batch} at once") };
            let (rate, per_cpu) =
                (figure(number, way, |lap| lap.0), figure(number, way, |lap| lap.1));
            let (times, times_cpu) =
                (rate / figure(number, 0, |lap| lap.0), per_cpu / figure(number, 0, |lap| lap.1));
            text.push_str(&format!(
                "{operation:7} {how:17} {rate:9.0} /s {times:5.2} ×   {per_cpu:9.0} /CPU-s \
                 {times_cpu:5.2} ×\n"
            ));
        }
    }
    Ok(text)
}

fn main() -> ExitCode {
    let result = parse(std::env::args().skip(1))
        .and_then(|options| run(&options).map_err(|error| error.to_string()));
    // A reader that went away is nobody to tell.
    match result {
        Ok(text) => {
            let _ = write!(io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "ring-metadata: {error}");
            ExitCode::from(2)
        }
    }
}
