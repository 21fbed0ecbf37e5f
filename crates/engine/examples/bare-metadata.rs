//! The practical limit of one metadata worker: create, stat, read and remove files by the barest loop of the same system calls.
//!
//! No clock in the loop, no statistics, one buffer that is never filled anew. What a load generator does beyond this is its own cost.
//!
//! `bare-metadata DIRECTORY --files N --bytes N [--per-directory N]` makes a tree below DIRECTORY, which has to be empty, runs the four
//! operations over all files, removes the tree, and prints the operations per second of each as JSON.

use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::process::ExitCode;
use std::time::Instant;

struct Options {
    directory: String,
    files: u64,
    bytes: usize,
    per_directory: u64,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { directory: String::new(), files: 10_000, bytes: 0, per_directory: 1024 };
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|value| value.parse::<u64>().ok());
            value.ok_or_else(|| format!("{word} wants a number"))
        };
        match word.as_str() {
            "--files" => options.files = number()?,
            "--bytes" => options.bytes = number()?.min(64 << 20) as usize,
            "--per-directory" => options.per_directory = number()?.max(1),
            unknown if unknown.starts_with('-') => {
                return Err(format!("`{unknown}` is no option; there are --files, --bytes, --per-directory"));
            }
            directory => options.directory = directory.to_owned(),
        }
    }
    if options.directory.is_empty() { Err("name an empty directory".to_owned()) } else { Ok(options) }
}

/// `d12/f12345` and a zero byte, in `buffer`.
fn path(buffer: &mut [u8; 64], directory: u64, file: Option<u64>) -> &CStr {
    let mut end = 0;
    let mut put = |letter: u8, mut number: u64, end: &mut usize| {
        let (mut digits, mut first) = ([0; 20], 20);
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        buffer[*end] = letter;
        buffer[*end + 1..*end + 21 - first].copy_from_slice(&digits[first..]);
        *end += 21 - first;
    };
    put(b'd', directory, &mut end);
    if let Some(file) = file {
        put(b'/', 0, &mut end);
        // The slash needs no number.
        end -= 1;
        put(b'f', file, &mut end);
    }
    buffer[end] = 0;
    CStr::from_bytes_until_nul(buffer).unwrap_or_default()
}

fn check(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn create(root: RawFd, path: &CStr, buffer: &mut [u8]) -> io::Result<()> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path ends with a zero byte, and `root` is open.
    let file = check(i64::from(unsafe { libc::openat(root, path.as_ptr(), flags, 0o600) }))? as RawFd;
    if !buffer.is_empty() {
        // SAFETY: the buffer is this long.
        check(unsafe { libc::write(file, buffer.as_ptr().cast(), buffer.len()) } as i64)?;
    }
    // SAFETY: it was opened above and nobody else has it.
    check(i64::from(unsafe { libc::close(file) })).map(|_| ())
}

fn stat(root: RawFd, path: &CStr, _: &mut [u8]) -> io::Result<()> {
    // SAFETY: an all-zero `statx` is a valid value of that plain C struct.
    let mut facts: libc::statx = unsafe { std::mem::zeroed() };
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the path ends with a zero byte, `root` is open, and `facts` can be written to.
    let done = unsafe { libc::statx(root, path.as_ptr(), flags, libc::STATX_BASIC_STATS, &raw mut facts) };
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

fn run(options: &Options) -> io::Result<Vec<(&'static str, f64)>> {
    let root = fs::File::open(&options.directory)?;
    let directories = options.files.div_ceil(options.per_directory);
    let mut name = [0; 64];
    for directory in 0..directories {
        let path = path(&mut name, directory, None);
        // SAFETY: the path ends with a zero byte, and `root` is open.
        check(i64::from(unsafe { libc::mkdirat(root.as_raw_fd(), path.as_ptr(), 0o700) }))?;
    }
    let operations: [(&str, Operation); 4] = [("create", create), ("stat", stat), ("read", read), ("remove", remove)];
    let mut buffer = vec![0x5a; options.bytes];
    let mut rates = Vec::new();
    for (word, operation) in operations {
        let start = Instant::now();
        for file in 0..options.files {
            operation(root.as_raw_fd(), path(&mut name, file / options.per_directory, Some(file)), &mut buffer)?;
        }
        rates.push((word, options.files as f64 / start.elapsed().as_secs_f64()));
    }
    for directory in 0..directories {
        let path = path(&mut name, directory, None);
        // SAFETY: the path ends with a zero byte, and `root` is open.
        check(i64::from(unsafe { libc::unlinkat(root.as_raw_fd(), path.as_ptr(), libc::AT_REMOVEDIR) }))?;
    }
    Ok(rates)
}

fn main() -> ExitCode {
    let result = parse(std::env::args().skip(1))
        .and_then(|options| run(&options).map_err(|error| format!("{}: {error}", options.directory)));
    // A reader that went away is nobody to tell.
    match result {
        Ok(rates) => {
            let fields: Vec<String> = rates.iter().map(|(word, rate)| format!("\"{word}\": {rate:.0}")).collect();
            let _ = writeln!(io::stdout(), "{{{}}}", fields.join(", "));
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "bare-metadata: {error}");
            ExitCode::from(2)
        }
    }
}
