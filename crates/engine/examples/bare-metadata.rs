//! The practical limit of metadata workers: create, stat, read and remove files by the barest loop
//! of the same system calls.
//!
//! No clock in the loop, no statistics, one buffer that is never filled anew, and for each worker a
//! table of file descriptors of its own, as a process has it. What a load generator does beyond
//! this is its own cost.
//!
//! `bare-metadata DIRECTORY --files N --bytes N [--workers N] [--per-directory N]` makes a tree for
//! each worker below DIRECTORY, which has to be empty, runs the four operations over all files, the
//! workers beginning each at the same time, removes the trees, and prints of each operation how
//! many there were, the seconds from the first worker's begin to the last one's end, and the
//! workers' CPU seconds as JSON.

use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::process::ExitCode;
use std::sync::Barrier;
use std::time::Instant;

struct Options {
    directory: String,
    files: u64,
    bytes: usize,
    per_directory: u64,
    workers: u64,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        directory: String::new(),
        files: 10_000,
        bytes: 0,
        per_directory: 1024,
        workers: 1,
    };
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|value| value.parse::<u64>().ok());
            value.ok_or_else(|| format!("{word} wants a number"))
        };
        match word.as_str() {
            "--files" => options.files = number()?,
            "--bytes" => options.bytes = number()?.min(64 << 20) as usize,
            "--per-directory" => options.per_directory = number()?.max(1),
            "--workers" => options.workers = number()?.clamp(1, 1024),
            unknown if unknown.starts_with('-') => {
                return Err(format!(
                    "`{unknown}` is no option; there are --files, --bytes, --workers, \
                     --per-directory"
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

/// Digits of a number in a name, as the engine writes it: what a call costs the kernel depends on
/// the length of the name.
const DIGITS: usize = 18;

/// `d000000000000000012/f000000000000012345` and a zero byte, in `buffer`.
fn path(buffer: &mut [u8; 64], directory: u64, file: Option<u64>) -> &CStr {
    let mut end = 0;
    let mut put = |letter: u8, mut number: u64, end: &mut usize| {
        let (mut digits, mut first) = ([b'0'; 20], 20);
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        let first = first.min(20 - DIGITS);
        buffer[*end] = letter;
        buffer[*end + 1..*end + 21 - first].copy_from_slice(&digits[first..]);
        *end += 21 - first;
    };
    put(b'd', directory, &mut end);
    if let Some(file) = file {
        put(b'/', 0, &mut end);
        // The slash needs no number.
        end -= DIGITS;
        put(b'f', file, &mut end);
    }
    buffer[end] = 0;
    // SAFETY: the byte at `end` is zero, and none before it: they are letters, digits and slashes.
    unsafe { CStr::from_bytes_with_nul_unchecked(&buffer[..=end]) }
}

fn check(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn create(root: RawFd, path: &CStr, buffer: &mut [u8]) -> io::Result<()> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path ends with a zero byte, and `root` is open.
    let file =
        check(i64::from(unsafe { libc::openat(root, path.as_ptr(), flags, 0o600) }))? as RawFd;
    if !buffer.is_empty() {
        // SAFETY: the buffer is this long.
        check(unsafe { libc::write(file, buffer.as_ptr().cast(), buffer.len()) } as i64)?;
    }
    // SAFETY: it was opened above and nobody else has it.
    check(i64::from(unsafe { libc::close(file) })).map(|_| ())
}

fn stat(root: RawFd, path: &CStr, _: &mut [u8]) -> io::Result<()> {
    let mut facts = std::mem::MaybeUninit::<libc::statx>::uninit();
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the path ends with a zero byte, `root` is open, and `facts` can be written to.
    let done = unsafe {
        libc::statx(root, path.as_ptr(), flags, libc::STATX_BASIC_STATS, facts.as_mut_ptr())
    };
    check(i64::from(done)).map(|_| ())
}

fn read(root: RawFd, path: &CStr, buffer: &mut [u8]) -> io::Result<()> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path ends with a zero byte, and `root` is open.
    let file = check(i64::from(unsafe { libc::openat(root, path.as_ptr(), flags) }))? as RawFd;
    if !buffer.is_empty() {
        // SAFETY: the buffer is this long.
        check(unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) } as i64)?;
    }
    // SAFETY: it was opened above and nobody else has it.
    check(i64::from(unsafe { libc::close(file) })).map(|_| ())
}

fn remove(root: RawFd, path: &CStr, _: &mut [u8]) -> io::Result<()> {
    // SAFETY: the path ends with a zero byte, and `root` is open.
    check(i64::from(unsafe { libc::unlinkat(root, path.as_ptr(), 0) })).map(|_| ())
}

/// One of the operations on one file.
type Operation = fn(RawFd, &CStr, &mut [u8]) -> io::Result<()>;

/// What one operation on all files of a worker took.
#[derive(Clone, Copy)]
struct Lap {
    begin: Instant,
    end: Instant,
    cpu_s: f64,
}

const OPERATIONS: [(&str, Operation); 4] =
    [("create", create), ("stat", stat), ("read", read), ("remove", remove)];

/// CPU seconds of this thread until now, from the same account as those of the engine.
fn cpu_s() -> f64 {
    // SAFETY: an all-zero `rusage` is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` can be written to.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Takes this thread out of the table of descriptors that threads share: in that, each call on a
/// directory counts its users up and down.
fn leave_shared_table() -> io::Result<()> {
    // SAFETY: the table is copied for this thread; nothing is closed, and what it borrows keeps its
    // number.
    check(i64::from(unsafe { libc::unshare(libc::CLONE_FILES) })).map(|_| ())
}

/// One worker: `files` of its own below `directory`, which it makes and removes.
fn work(directory: &str, files: u64, options: &Options, gate: &Barrier) -> io::Result<Vec<Lap>> {
    leave_shared_table()?;
    fs::create_dir(directory)?;
    let root = fs::File::open(directory)?;
    let directories = files.div_ceil(options.per_directory);
    let mut name = [0; 64];
    for directory in 0..directories {
        let path = path(&mut name, directory, None);
        // SAFETY: the path ends with a zero byte, and `root` is open.
        check(i64::from(unsafe { libc::mkdirat(root.as_raw_fd(), path.as_ptr(), 0o700) }))?;
    }
    let mut buffer = vec![0x5a; options.bytes];
    let mut laps = Vec::new();
    for (_, operation) in OPERATIONS {
        gate.wait();
        let (begin, before_s) = (Instant::now(), cpu_s());
        for file in 0..files {
            operation(
                root.as_raw_fd(),
                path(&mut name, file / options.per_directory, Some(file)),
                &mut buffer,
            )?;
        }
        laps.push(Lap { begin, end: Instant::now(), cpu_s: cpu_s() - before_s });
    }
    fs::remove_dir_all(directory)?;
    Ok(laps)
}

/// Operations, seconds and CPU seconds of each operation.
fn run(options: &Options) -> Vec<(&'static str, u64, f64, f64)> {
    let gate = Barrier::new(options.workers as usize);
    let each = options.files.div_ceil(options.workers);
    let lone = |worker: u64| {
        let directory = format!("{}/w{worker}", options.directory);
        work(&directory, each, options, &gate).unwrap_or_else(|error| {
            // The others would wait for this one for ever.
            let _ = writeln!(io::stderr(), "bare-metadata: {directory}: {error}");
            std::process::exit(2)
        })
    };
    let laps: Vec<Vec<Lap>> = std::thread::scope(|scope| {
        let lone = &lone;
        let threads: Vec<_> =
            (0..options.workers).map(|worker| scope.spawn(move || lone(worker))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let figures = OPERATIONS.iter().enumerate().filter_map(|(number, (word, _))| {
        let of = || laps.iter().filter_map(|laps| laps.get(number));
        let (begin, end) = (of().map(|lap| lap.begin).min()?, of().map(|lap| lap.end).max()?);
        let cpu_s = of().map(|lap| lap.cpu_s).sum();
        Some((*word, each * options.workers, end.duration_since(begin).as_secs_f64(), cpu_s))
    });
    figures.collect()
}

fn main() -> ExitCode {
    let result = parse(std::env::args().skip(1)).map(|options| run(&options));
    // A reader that went away is nobody to tell.
    match result {
        Ok(figures) => {
            let field = |(word, ops, seconds, cpu_s): (&str, u64, f64, f64)| {
                format!(
                    "\"{word}\": {{\"ops\": {ops}, \"seconds\": {seconds:.6}, \"cpu_s\": \
                     {cpu_s:.6}}}"
                )
            };
            let fields: Vec<String> = figures.into_iter().map(field).collect();
            let _ = writeln!(io::stdout(), "{{{}}}", fields.join(", "));
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "bare-metadata: {error}");
            ExitCode::from(2)
        }
    }
}
