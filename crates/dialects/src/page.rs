//! The pages of the dialects, made of their tables.

use crate::rows::Table;
use crate::table::Opt;
use crate::{diskspd, elbencho, fio, io500, iometer, iozone, mpi, vdbench};
use std::fmt::Write;

/// The pages: path from the root of the project, and text.
pub fn pages() -> Vec<(&'static str, String)> {
    let diskspd = page("DiskSpd", include_str!("diskspd/page.md"), &diskspd::OPTIONS);
    let elbencho = page("elbencho", include_str!("elbencho/page.md"), &elbencho::OPTIONS);
    vec![
        ("docs/compat/diskspd.md", diskspd),
        ("docs/compat/elbencho.md", elbencho),
        ("docs/compat/fio.md", fio_page()),
        ("docs/compat/io500.md", page("IO500", include_str!("io500/page.md"), &io500::OPTIONS)),
        (
            "docs/compat/iometer.md",
            page("Iometer", include_str!("iometer/page.md"), &iometer::OPTIONS),
        ),
        ("docs/compat/ior.md", page("IOR", include_str!("mpi/ior.md"), &mpi::IOR)),
        ("docs/compat/iozone.md", page("IOzone", include_str!("iozone/page.md"), &iozone::OPTIONS)),
        ("docs/compat/mdtest.md", page("mdtest", include_str!("mpi/mdtest.md"), &mpi::MDTEST)),
        (
            "docs/compat/vdbench.md",
            page("vdbench", include_str!("vdbench/page.md"), &vdbench::OPTIONS),
        ),
    ]
}

fn fio_page() -> String {
    let mut text = head("fio", FIO);
    if HELD.lines().next().is_some() {
        text.push_str("\n| job | requests of fio | of Plimsoll | compared | found |\n");
        text.push_str("|---|---:|---:|---|---|\n");
        text.push_str(HELD);
    }
    for (name, options) in fio::CHAPTERS {
        chapter(&mut text, name, options);
    }
    chapter(&mut text, "Options of the command", fio::TOOL);
    text
}

fn head(tool: &str, differences: &str) -> String {
    format!(
        "# Jobs of {tool}\n\nGenerated from the table of the dialect by `cargo xtask docs`; do not \
         edit.\n\n{differences}\n"
    )
}

/// The page of a dialect: what differs by intention, then the table of each chapter.
fn page(tool: &str, differences: &str, table: &'static Table) -> String {
    let mut text = head(tool, differences);
    for chapter in &table.chapters {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n{HEAD}", chapter.name);
        for row in &chapter.rows {
            let (class, what) = row.doc();
            line(&mut text, row.name, &row.others, row.takes.word(), class, &what);
        }
    }
    text
}

const HEAD: &str = "
| option | also | takes | class | what becomes of it |
|---|---|---|---|---|
";

fn line(text: &mut String, name: &str, also: &[&str], takes: &str, class: &str, what: &str) {
    let also: Vec<String> = also.iter().map(|alias| format!("`{alias}`")).collect();
    let (also, what) = (also.join(", "), what.replace('|', "\\|"));
    let _ = writeln!(text, "| `{name}` | {also} | {takes} | {class} | {what} |");
}

fn chapter<J>(text: &mut String, name: &str, options: &[Opt<J>]) {
    // Writing to a String cannot fail.
    let _ = write!(text, "\n## {name}\n{HEAD}");
    for option in options {
        let (class, what) = option.doc();
        line(text, option.name, option.aliases, option.takes.word(), class, &what);
    }
}

/// What `cargo xtask equivalence --write` found.
const HELD: &str = include_str!("fio/held.md");

const FIO: &str = "\
`plimsoll import job.fio -o suite.toml` writes a suite; `plimsoll run job.fio` runs it at once. \
The \
loss report names every option with its class: *same*, *approximated*, *harmless* or *refused*.

## Intended differences

These hold for every job, whatever its options say.

| fio | Plimsoll |
|---|---|
| `direct` is 0 unless given | direct I/O unless told otherwise; an imported suite says `direct = \
false` where fio's job does not say `direct=1` |
| a job without `runtime` ends when `size` is done | `stages.amount`; with blocks of several \
sizes, 60 s |
| with `runtime` and without `time_based`, what comes first ends the job | the time ends it; the \
report of losses says so |
| a random job touches each block once before it touches one again | `access = \"permutation\"`; \
with `norandommap`, or with blocks of several sizes, `\"random\"` |
| files have the job's name or `filename` | Plimsoll makes files of its own, in `plimsoll-data` \
beside them, and never writes a file that it did not make |
| what a job of reads finds was written by fio or is there | `stages.prepare` writes it, but \
never to a device |
| `rate` is a ceiling; latency counts from the submission | an open loop; latency counts from the \
time at which a request is due |
| a trim is a discard (`BLKDISCARD`) | `fallocate` with a hole: to a device, the kernel sends \
write zeroes that may unmap |
| `zonemode=zbd`: a job may have several writes under way in one zone | `zones = \"device\"` has \
one in each |
| towards the end of a random map, fio takes the next free block | the order of a permutation has \
no neighbours to its end |
| buffers are used again, a little changed | no two blocks are alike |
| jobs that run together have each their own engine | one engine, and one choice of `direct`, for \
all that run together |
| jobs that are alike but for their names are reported one by one | one workload with as many \
workers |
| `stonewall` begins a group | a point of its own; a scenario where layout, engine or time differ |
| `4k` and `4kb` are 4096, `4kib` is 4000 (`kb_base=1024`) | read as fio reads them; suites say \
`4KiB` |
| `slat`, `clat`, `lat` | one latency: from when a request is due, or could be sent, to its \
completion |

## Held against fio

`tests/equivalence.rs` runs fio and the suite that its job becomes on a loop device, and reads the \
kernel's block tracepoints of both: what the driver was sent, and what came back. A job that ends \
with an amount sends the same requests to the same places. For others, these agree within chance:

* shares of operations and sizes, and of requests behind the one before (chi-square);
* places, or how often the most wanted ones come (Kolmogorov–Smirnov);
* requests in flight, of jobs with a depth and large blocks (Kolmogorov–Smirnov, of requests far \
apart, and the greatest number);
* times between requests, of jobs with a rate or rests, in fifths of their mean \
(Kolmogorov–Smirnov).

All tests together fail by chance once in 10,000 times. `0.012 of 0.044` is the distance that was \
found, and the one that chance allows. In brackets: the example of fio that the job is after. \
`cargo xtask equivalence` runs all of them; some run with the tests.

Requests in flight and times between them also depend on the machine. This table was taken on a \
busy one with two processors, where both tools wake late. Rows that differ in these are not shown \
to be equal.
";
