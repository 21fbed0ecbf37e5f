//! `plimsoll record`: the requests that a device is sent, as a trace.

use super::{not_made, print_json};
use crate::args::RecordArgs;
use crate::failure::Failure;
use crate::signals;
use crate::terminal::standard_error::over;
use model::trace::{Header, Request, Totals, TraceClock, Writer};
use model::{Bytes, Nanos, Op};
use probe::block_trace::{BlockTrace, BlockTraceError, TracedDevice};
use report::ground::words;
use report::object;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the kernel's buffers are emptied.
const ROUND: Duration = Duration::from_millis(50);
/// How often what was recorded is made a block of its own, so that a killed recording loses no
/// more.
const BLOCK: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Counts {
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    last_ns: u64,
}

impl Counts {
    fn add(&mut self, request: &Request) {
        self.last_ns = request.at_ns;
        *match request.op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Trim => &mut self.trims,
            _ => &mut self.flushes,
        } += 1;
    }
}

/// Records until the time is over, or until Ctrl-C.
pub(crate) fn record(args: &RecordArgs) -> Result<(), Failure> {
    if args.length.is_some_and(|length| length == Nanos(0)) {
        return Err(Failure::usage("--for 0s records nothing; give it a time"));
    }
    let refuse = |error: BlockTraceError| refused(&args.device, &error);
    let no_file = |error: io::Error| not_made(&args.out, &error);
    // Looked at first: the kernel is asked for nothing where the trace cannot be written.
    if args.out.symlink_metadata().is_ok() {
        return Err(no_file(io::ErrorKind::AlreadyExists.into()));
    }
    let stop = signals::asked_to_stop();
    let mut trace = BlockTrace::start(&args.device).map_err(refuse)?;
    let device = trace.device().clone();
    let file = OpenOptions::new().write(true).create_new(true).open(&args.out);
    let file = file.map_err(no_file)?;
    warn_of_own_writes(&args.out, &file, &device);
    let mut writer =
        Writer::new(BufWriter::new(file), &header(&args.device, &device)).map_err(no_file)?;
    // The header is there at once: whoever kills the recording leaves a trace that can be read.
    writer.flush().map_err(no_file)?;
    announce(args, &device);
    let (mut counts, is_terminal) = (Counts::default(), io::stderr().is_terminal());
    let (began, mut block) = (Instant::now(), Instant::now());
    let length = args.length.map(|length| Duration::from_nanos(length.0));
    while !stop.load(Ordering::SeqCst) && length.is_none_or(|length| began.elapsed() < length) {
        let left = length.map_or(ROUND, |length| length.saturating_sub(began.elapsed()));
        std::thread::sleep(ROUND.min(left));
        let mut sink = |request: &Request| {
            counts.add(request);
            writer.add(request)
        };
        trace.read(&mut sink).map_err(refuse)?;
        if block.elapsed() >= BLOCK {
            writer.flush().map_err(no_file)?;
            block = Instant::now();
            if is_terminal {
                let left = length.map(|all| all.saturating_sub(began.elapsed()));
                over(&progress(&writer.totals(), left));
            }
        }
    }
    if is_terminal {
        over("");
    }
    let is_cut_short = length.is_some_and(|length| began.elapsed() < length);
    let left_out = trace.left_out();
    let mut sink = |request: &Request| {
        counts.add(request);
        writer.add(request)
    };
    let ended = trace.finish(&mut sink).map_err(refuse)?;
    let (file, totals) =
        writer.finish_with(ended.lost, left_out, ended.in_flight).map_err(no_file)?;
    let flushed = file.into_inner().map_err(io::IntoInnerError::into_error);
    flushed.and_then(|file| file.sync_all()).map_err(no_file)?;
    if args.json {
        print_json(&object(args, &device, &counts, &totals))?;
    }
    say(args, &counts, &totals);
    if is_cut_short {
        let text = "interrupted: the trace is whole, and shorter than asked for";
        return Err(Failure::Interrupted(text.to_owned()));
    }
    Ok(())
}

fn announce(args: &RecordArgs, device: &TracedDevice) {
    let below =
        if device.is_below { format!("{}, which holds ", device.name) } else { String::new() };
    eprintln!(
        "recording {below}{} ({}) to {}, {}",
        args.device.display(),
        device.event(),
        args.out.display(),
        args.length.map_or("until Ctrl-C".to_owned(), |length| format!("for {length}"))
    );
}

fn progress(totals: &Totals, left: Option<Duration>) -> String {
    let left = left.map_or("until Ctrl-C".to_owned(), |left| format!("{} s left", left.as_secs()));
    let bytes = words::decimal(Bytes(totals.bytes));
    format!("{} requests, {bytes}; {left}", words::count(totals.requests))
}

fn object(args: &RecordArgs, device: &TracedDevice, counts: &Counts, totals: &Totals) -> Value {
    let in_flight = totals.in_flight;
    let in_flight = in_flight.map(|seen| json!({ "mean": seen.mean(), "max": seen.most }));
    object! {
        file: args.out.to_string_lossy(), device: args.device.to_string_lossy(),
        name: device.name, size_bytes: device.size_bytes, taken_from: device.event(),
        requests: totals.requests, bytes: totals.bytes, reads: counts.reads,
        writes: counts.writes, trims: counts.trims, flushes: counts.flushes, lost: totals.lost,
        left_out: totals.left_out, seconds: counts.last_ns as f64 / 1e9, in_flight,
    }
}

fn header(path: &Path, device: &TracedDevice) -> Header {
    Header {
        device: path.to_string_lossy().into_owned(),
        size_bytes: device.size_bytes,
        sector_bytes: device.sector_bytes,
        clock: TraceClock::Monotonic,
        taken_from: device.event().to_owned(),
        began_unix_ns: fleet::unix_ns(),
    }
}

fn say(args: &RecordArgs, counts: &Counts, totals: &Totals) {
    let file = args.out.display();
    eprintln!(
        "recorded  {} requests, {} ({} bytes): {} reads, {} writes, {} trims, {} flushes",
        words::count(totals.requests),
        words::decimal(Bytes(totals.bytes)),
        words::count(totals.bytes),
        words::count(counts.reads),
        words::count(counts.writes),
        words::count(counts.trims),
        words::count(counts.flushes),
    );
    if totals.requests == 0 {
        eprintln!("warning: {}: it was sent no request while it was watched", file);
    }
    if totals.lost > 0 {
        eprintln!(
            "warning: {file}: the kernel had no room for {} requests; the trace lacks them, and \
             says so",
            totals.lost
        );
    }
    if totals.left_out > 0 {
        eprintln!(
            "note: {file}: {} requests are neither reads, writes, flushes nor trims; they are left \
             out",
            totals.left_out
        );
    }
    eprintln!("trace     {file}; replay it with `plimsoll replay {file}`");
}

fn warn_of_own_writes(out: &Path, file: &File, device: &TracedDevice) {
    if file.metadata().is_ok_and(|metadata| device.holds(metadata.dev())) {
        eprintln!(
            "warning: {} lies on {}: writing the trace is recorded, too; name a file on another \
             disk with --out",
            out.display(),
            device.name
        );
    }
}

fn refused(device: &Path, error: &BlockTraceError) -> Failure {
    let words = error.words(device);
    match error {
        BlockTraceError::File { .. } => {
            Failure::run(format!("{words}; what was recorded until then is kept"))
        }
        _ => Failure::target(words),
    }
}
