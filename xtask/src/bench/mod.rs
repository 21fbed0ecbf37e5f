//! `cargo xtask bench`: Plimsoll beside its peers, interleaved in one run, as ratios of medians.
//!
//! Machines are noisy and differ, so that no figure here stands for itself: what counts is how two
//! contenders compare that took turns on one target in the same minutes.

mod contender;
mod day;
mod extras;
mod figures;
mod fleet;
mod metadata;
mod options;
pub mod page;
mod peak;
mod scaling;
mod scenery;
mod sequential_files;
mod sweep;
mod target;
mod watching;

use crate::shell::{self, Outcome};
use contender::{Contender, Load, Measured, Programs};
use extras::EXTRAS;
use figures::{Claim, Comparison, Figure};
pub use options::Options;
use std::path::Path;
use target::Target;

struct Bench {
    /// Its name for `--only`.
    name: &'static str,
    /// What it is about, in words.
    title: &'static str,
    target: fn() -> Outcome<Target>,
    load: Load,
    /// The first is ours, to which all others are held.
    contenders: &'static [Contender],
    claims: &'static [Claim],
    /// The most user time for each request of ours that the project claims, in ns.
    user_ns: Option<f64>,
}

/// One worker on one core that it keeps busy: there, IOPS and I/Os per CPU-second say the same, and
/// on a disk that lets it wait only the second tells the programs apart. So that is what claims are
/// about, unless they name the throughput.
const fn claim(of: Contender, least: f64) -> Claim {
    Claim { of, figure: Figure::PerCpuSecond, least }
}

/// The least share of the bare loop's speed that is left when everything is recorded.
const OF_BARE: f64 = 0.95;

/// The least share of fio's throughput on a disk that lets both wait, at the same depth and at no
/// more CPU time.
const OF_FIO: f64 = 0.98;

/// The disk at a depth: a device's own queue is what a load generator may not let run low.
const fn at_depth(name: &'static str, title: &'static str, depth: u32) -> Bench {
    Bench {
        name,
        title,
        target: Target::disk_file,
        load: Load { depth, ..SMALL },
        contenders: &[contender::PLIMSOLL, contender::FIO, contender::FIO_TUNED],
        claims: &AS_FIO,
        user_ns: None,
    }
}

const AS_FIO: [Claim; 2] =
    [claim(contender::FIO, 1.0), Claim { of: contender::FIO, figure: Figure::Iops, least: OF_FIO }];

const SMALL: Load = Load { random: true, block_kib: 4, depth: 32, millis: 1000, workers: 1 };
const LARGE: Load = Load { random: false, block_kib: 1024, depth: 4, millis: 1000, workers: 1 };

const ALL: &[Contender] = &[
    contender::PLIMSOLL,
    contender::BARE_RING,
    contender::PLIMSOLL_SYNC,
    contender::BARE_PREAD,
    contender::FIO,
    contender::FIO_TUNED,
    contender::FIO_LIBAIO,
    contender::FIO_PSYNC,
    contender::T_IO_URING,
    contender::ELBENCHO,
];

const BENCHES: &[Bench] = &[
    Bench {
        name: "cached",
        title: "one worker, 4 KiB random read, depth 32, on a page-cached file of 256 KiB",
        target: Target::cached_file,
        load: SMALL,
        contenders: ALL,
        claims: &[
            claim(contender::BARE_RING, OF_BARE),
            claim(contender::FIO, 2.9),
            claim(contender::FIO_TUNED, 1.45),
            claim(contender::ELBENCHO, 2.0),
        ],
        user_ns: Some(60.0),
    },
    Bench {
        name: "zram",
        title: "one worker, 4 KiB random read, depth 32, direct, on a zram device that was never \
                written",
        target: Target::zram,
        load: SMALL,
        contenders: ALL,
        claims: &[
            claim(contender::BARE_RING, OF_BARE),
            claim(contender::FIO, 1.8),
            claim(contender::FIO_TUNED, 1.1),
            claim(contender::ELBENCHO, 1.2),
        ],
        user_ns: None,
    },
    Bench {
        name: "tmpfs",
        title: "one worker, 4 KiB random read, depth 32, direct, on a tmpfs file of 64 MiB",
        target: Target::tmpfs_file,
        load: SMALL,
        contenders: ALL,
        claims: &[claim(contender::BARE_RING, OF_BARE)],
        user_ns: None,
    },
    Bench {
        name: "disk",
        title: "one worker, 4 KiB random read, depth 32, direct, on a file of 256 MiB under the \
                target directory",
        target: Target::disk_file,
        load: SMALL,
        contenders: ALL,
        claims: &[
            claim(contender::BARE_RING, OF_BARE),
            claim(contender::FIO, 1.0),
            Claim { of: contender::FIO, figure: Figure::Iops, least: OF_FIO },
        ],
        user_ns: None,
    },
    at_depth("disk-4", "one worker, 4 KiB random read, depth 4, direct, on the same file", 4),
    at_depth("disk-8", "one worker, 4 KiB random read, depth 8, direct, on the same file", 8),
    at_depth("disk-16", "one worker, 4 KiB random read, depth 16, direct, on the same file", 16),
    at_depth("disk-64", "one worker, 4 KiB random read, depth 64, direct, on the same file", 64),
    Bench {
        name: "noop",
        title: "one worker, the kernel's no-op request, depth 32: our loop beside the bare one; \
                then ours and fio's without a system call",
        target: Target::cached_file,
        load: SMALL,
        contenders: &[
            contender::PLIMSOLL_NOP,
            contender::BARE_NOP,
            contender::PLIMSOLL_NULL,
            contender::FIO_NULL,
        ],
        claims: &[claim(contender::BARE_NOP, OF_BARE)],
        user_ns: None,
    },
    Bench {
        name: "sequential",
        title: "one worker, 1 MiB sequential read, depth 4, direct, on a file of 256 MiB under \
                the target directory",
        target: Target::disk_file,
        load: LARGE,
        contenders: &[contender::PLIMSOLL, contender::FIO],
        claims: &[
            claim(contender::FIO, 1.0),
            Claim { of: contender::FIO, figure: Figure::Iops, least: 1.0 },
        ],
        user_ns: None,
    },
];

/// A comparison with a table of its own kind.
struct Special {
    name: &'static str,
    title: &'static str,
    run: fn(&Programs, &Options) -> Outcome<Result<Tables, String>>,
}

const SPECIALS: [Special; 5] = [
    Special {
        name: metadata::NAME,
        title: metadata::TITLE,
        run: |programs, options| on_file_systems(programs, options, metadata::run),
    },
    Special {
        name: sequential_files::NAME,
        title: sequential_files::TITLE,
        run: |programs, options| on_file_systems(programs, options, sequential_files::run),
    },
    Special {
        name: watching::NAME,
        title: watching::TITLE,
        run: |programs, options| Ok(watching::run(programs, options)),
    },
    Special {
        name: day::NAME,
        title: day::TITLE,
        // At its full size only where nothing else is asked for.
        run: |programs, options| day::run(&programs.plimsoll, options.only.is_some()).map(Ok),
    },
    Special {
        name: scaling::NAME,
        title: scaling::TITLE,
        run: |programs, options| scaling::run(programs, options).map(Ok),
    },
];

/// On file systems of our own, where they can be mounted.
fn on_file_systems(
    programs: &Programs,
    options: &Options,
    run: fn(&Path, u32) -> Outcome<Tables>,
) -> Outcome<Result<Tables, String>> {
    if !shell::is_root() {
        return Ok(Err("only root can mount file systems".to_owned()));
    }
    if shell::which("mkfs.ext4").is_none() {
        return Ok(Err("mkfs.ext4 is not installed".to_owned()));
    }
    run(&programs.plimsoll, options.rounds).map(Ok)
}

fn names() -> Vec<&'static str> {
    let special = SPECIALS.iter().map(|special| special.name);
    let more = special.chain(EXTRAS.iter().map(|extra| extra.name));
    BENCHES.iter().map(|bench| bench.name).chain(more).collect()
}

/// Runs the benches that can run here, prints their tables, and with `--write` keeps them in
/// `docs/benchmarks.md`.
///
/// # Errors
/// A contender that is here fails.
pub fn run(options: &Options) -> Outcome<()> {
    let programs = Programs::build(options.program.as_deref())?;
    let mut book = Book::default();
    for bench in BENCHES.iter().filter(|bench| options.wants(bench.name)) {
        section(&mut book, bench.name, bench.title, || measure(bench, options, &programs))?;
    }
    for special in SPECIALS.iter().filter(|special| options.wants(special.name)) {
        let run = || (special.run)(&programs, options);
        section(&mut book, special.name, special.title, run)?;
    }
    measure_extras(options, &programs, &mut book);
    if options.write {
        page::write(&book.report, options)?;
    }
    // A figure that misses its claim is told; noise on one machine is no reason to fail.
    book.missed.iter().for_each(|what| println!("MISSED: {what}"));
    Ok(())
}

/// What has been measured so far.
#[derive(Default)]
struct Book {
    /// Tables for the page.
    report: String,
    /// Claims that were not borne out.
    missed: Vec<String>,
}

/// Measures what has a table of its own, and writes it, or why it could not be measured, below its
/// heading.
fn section(
    book: &mut Book,
    name: &str,
    title: &str,
    measure: impl FnOnce() -> Outcome<Result<Tables, String>>,
) -> Outcome<()> {
    println!("\n== {name}: {title}");
    let text = match measure()? {
        Ok((table, missed)) => {
            book.missed.extend(missed);
            table
        }
        Err(why) => {
            println!("SKIPPED: {name} because {why}");
            format!("not run, because {why}\n")
        }
    };
    book.report.push_str(&format!("\n### {name}: {title}\n\n{text}"));
    Ok(())
}

fn measure(
    bench: &Bench,
    options: &Options,
    programs: &Programs,
) -> Outcome<Result<Tables, String>> {
    let here = shell::which("taskset")
        .map(|_| ())
        .ok_or("taskset is not installed (`cargo xtask test` as root installs it)");
    let target = match here.map_err(str::to_owned).and_then(|()| (bench.target)()) {
        Ok(target) => target,
        Err(why) => return Ok(Err(why)),
    };
    let comparison = compare(bench, &target, options, programs)?;
    let table = comparison.table(bench.claims);
    print!("{table}");
    let missed = comparison.missed(bench.claims).into_iter();
    let missed = missed.map(|what| format!("{}: {what}", bench.name));
    let missed = too_dear(bench, &comparison).into_iter().chain(missed).collect();
    Ok(Ok((table, missed)))
}

/// Our own cost in user space, where the project bounds it.
fn too_dear(bench: &Bench, comparison: &Comparison) -> Option<String> {
    let cost_ns = comparison.our_user_ns();
    let bound_ns = bench.user_ns.filter(|bound_ns| cost_ns > *bound_ns)?;
    Some(format!(
        "{}: {cost_ns:.0} user ns per I/O where at most {bound_ns} are claimed",
        bench.name
    ))
}

/// All contenders that are here take turns, round after round.
fn compare(
    bench: &Bench,
    target: &Target,
    options: &Options,
    programs: &Programs,
) -> Outcome<Comparison> {
    let contenders: Vec<Contender> =
        bench.contenders.iter().copied().filter(|one| is_here(one.name, one.missing())).collect();
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); contenders.len()];
    let load = Load { millis: options.seconds.saturating_mul(1000), ..bench.load };
    let start_ups = contenders
        .iter()
        .map(|contender| contender.start_up(target, load, options.cpu, programs))
        .collect::<Outcome<Vec<Measured>>>()?;
    for round in 0..options.rounds {
        for ((contender, start_up), results) in contenders.iter().zip(&start_ups).zip(&mut measured)
        {
            let result = contender.run(target, load, options.cpu, programs)?.without(*start_up);
            println!(
                "round {} {:22} {:>10.0} IOPS {:>10.0} I/Os per CPU-second",
                round + 1,
                contender.name,
                result.iops,
                result.ios_per_cpu_s()
            );
            results.push(result);
        }
    }
    Ok(Comparison { contenders, measured })
}

/// Whether a contender can take part: nothing of what it needs is missing.
fn is_here(name: &str, missing: Option<&str>) -> bool {
    if let Some(program) = missing {
        println!("SKIPPED: {name} because `{program}` is not on the PATH");
    }
    missing.is_none()
}

/// A table in Markdown, and what was missed.
type Tables = (String, Vec<String>);

fn measure_extras(options: &Options, programs: &Programs, book: &mut Book) {
    let mut rows = String::new();
    for extra in EXTRAS.iter().filter(|extra| options.wants(extra.name)) {
        println!("\n== {}: {}", extra.name, extra.title);
        match extra.run(programs, options.rounds, options.seconds) {
            Ok((row, missed)) => {
                print!("{row}");
                rows.push_str(&row);
                book.missed.extend(missed);
            }
            Err(why) => {
                println!("SKIPPED: {} because {why}", extra.name);
                rows.push_str(&format!("| {} | not run, because {why} | |\n", extra.title));
            }
        }
    }
    if !rows.is_empty() {
        book.report.push_str(&format!(
            "\n### Of ours alone\n\n| what | measured | claimed |\n|---|---|---|\n{rows}"
        ));
    }
}
