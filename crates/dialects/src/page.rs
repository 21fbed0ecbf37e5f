//! The pages of the dialects, made of their tables.

use crate::rows::Table;
use crate::table::Opt;
use crate::{diskspd, elbencho, fio, io500, iometer, iozone, mpi, vdbench};
use std::fmt::Write;

/// The pages: path from the root of the project, and text.
pub fn pages() -> Vec<(&'static str, String)> {
    let mut ior = head("IOR", IOR);
    chapter(&mut ior, "Options", mpi::IOR);
    let mut mdtest = head("mdtest", MDTEST);
    chapter(&mut mdtest, "Options", mpi::MDTEST);
    let mut diskspd = head("DiskSpd", DISKSPD);
    chapter(&mut diskspd, "Options", diskspd::OPTIONS);
    chapter(&mut diskspd, "Profiles: beside `<TimeSpans>`", diskspd::PROFILE);
    chapter(&mut diskspd, "Profiles: in `<TimeSpan>`", diskspd::SPAN);
    chapter(&mut diskspd, "Profiles: in `<Target>`", diskspd::TARGET);
    let mut elbencho = head("elbencho", ELBENCHO);
    chapter(&mut elbencho, "Options", elbencho::OPTIONS);
    vec![
        ("docs/compat/diskspd.md", diskspd),
        ("docs/compat/elbencho.md", elbencho),
        ("docs/compat/fio.md", page("fio", FIO, &fio::OPTIONS)),
        ("docs/compat/io500.md", io500_page()),
        ("docs/compat/iometer.md", iometer_page()),
        ("docs/compat/ior.md", ior),
        ("docs/compat/iozone.md", page("IOzone", include_str!("iozone/page.md"), &iozone::OPTIONS)),
        ("docs/compat/mdtest.md", mdtest),
        ("docs/compat/vdbench.md", vdbench_page()),
    ]
}

fn io500_page() -> String {
    let mut text = head("IO500", IO500);
    chapter(&mut text, "`[global]`", io500::GLOBAL);
    chapter(&mut text, "`[debug]`", io500::DEBUG);
    chapter(&mut text, "`[ior-easy]`, `[ior-hard]`, their `-write` and `-read`", io500::IOR);
    chapter(&mut text, "`[mdtest-easy]`, `[mdtest-hard]` and their phases", io500::MDTEST);
    chapter(&mut text, "`[find]`", io500::FIND);
    chapter(&mut text, "Sections of phases without a score", io500::EXTENDED);
    text
}

fn iometer_page() -> String {
    let mut text = head("Iometer", IOMETER);
    chapter(&mut text, "`TEST SETUP`", iometer::SETUP);
    chapter(&mut text, "`ACCESS SPECIFICATIONS`, by column", iometer::SPECIFICATION);
    chapter(&mut text, "`MANAGER LIST`: managers", iometer::MANAGER);
    chapter(&mut text, "`MANAGER LIST`: workers", iometer::WORKER);
    text
}

fn vdbench_page() -> String {
    let mut text = head("vdbench", VDBENCH);
    chapter(&mut text, "Before all definitions", vdbench::GENERAL);
    chapter(&mut text, "`hd=`", vdbench::HOST);
    chapter(&mut text, "`sd=`", vdbench::STORAGE);
    chapter(&mut text, "`wd=`", vdbench::WORKLOAD);
    chapter(&mut text, "`fsd=`", vdbench::FILE_SYSTEM);
    chapter(&mut text, "`fwd=`", vdbench::FILE_WORKLOAD);
    chapter(&mut text, "`rd=`", vdbench::RUN);
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

/// What differs from fio, and what `cargo xtask equivalence --write` found.
const FIO: &str = concat!(include_str!("fio/page.md"), include_str!("fio/held.md"));

const IOR: &str = "\
`plimsoll import --command \"mpirun -np 16 ior …\" -o suite.toml` writes a suite. This page is \
written from IOR's manual and was not tried against IOR.

## Intended differences

| IOR | Plimsoll |
|---|---|
| ranks of MPI, as the launcher places them | `workers` of all hosts together, spread evenly |
| all files of a phase are written, then read | the workloads `write` and `read`, one after the \
other |
| bandwidth with opening and closing | `count_close = true`; `count_fsync` with `-e` |
| a file that is not there is made | `prepare` makes it where only reads are asked for, or where \
a time ends the writes |
| the page cache is used unless `O_DIRECT` is asked for | `direct = false`, and the cache is \
emptied before reads (`engine.evict`) |
";

const MDTEST: &str = "\
`plimsoll import --command \"mpirun -np 16 mdtest …\" -o suite.toml` writes a suite. \
This page is written from mdtest's manual and was not tried against mdtest.

## Intended differences

| mdtest | Plimsoll |
|---|---|
| directories and files with every command, unless `-F` or `-D` says otherwise | `operations` \
name them; each is a point of its own |
| files in all directories of the tree, unless `-L` says otherwise | files in the lowest \
directories alone |
| a directory for all tasks, unless `-u` says otherwise | `tree.unique = false`: all workers of a \
host share a tree, hosts do not |
| the rate of the slowest task | the rate of all workers over the time of the wall |
";

const ELBENCHO: &str = "\
`plimsoll import --command \"elbencho …\" -o suite.toml` writes a suite, and so does \
`plimsoll import FILE` of a configuration file. This page is written from elbencho's own list of \
options and was not tried against elbencho.

## Intended differences

| elbencho | Plimsoll |
|---|---|
| phases one after the other | a workload for each; small files of directories are a tree |
| a path is looked at to see what it is | `/dev/…` is a device; options of files, or `/` at the \
end, mean a directory; anything else is a file |
| a file that all threads share | `layout.kind = \"shared-file\"`; each worker has its segment |
| `-n` directories with `-N` files for each thread | files of each worker |
| a phase ends with its amount, or is broken off by `--timelimit` | `stages.amount`; a time with \
`--infloop` |
| small files are written block by block | in one piece |
";

const IOMETER: &str = "\
`plimsoll import FILE.icf -o suite.toml` writes a suite of a configuration. This page is written \
from Iometer's source; Iometer itself was not run.

## Intended differences

| Iometer | Plimsoll |
|---|---|
| outstanding requests for each target of a worker | a worker for each target, with that `depth` |
| all workers run their first specification, then their second | points, or scenarios where \
workers differ |
| lines of a specification with reads of their own | `write_block_size`: each size is read and \
written as often |
| lines with a random share of their own | one share, the mean by weight |
| `align` 0: offsets at any sector | `align = 512`; many clusters need `--set align=4KiB` |
| `iobw.tst` fills the drive | `prepare` writes 90 % of what is free, or the maximum size |
| managers on several machines | `--hosts`; managers that differ are refused |
| workers of networks | refused |
| `RESULTS DISPLAY` | `--watch`, `--serve` |
";

const VDBENCH: &str = "\
`plimsoll import FILE -o suite.toml` writes a suite of a parameter file. Every beginning of a word \
is understood as vdbench does (`el=10`). `$name` is a variable of the environment. This page is \
written from vdbench's parser and manual; vdbench itself was not run.

## Intended differences

| vdbench | Plimsoll |
|---|---|
| `threads` for each storage, each with one request | a worker for each target, with that `depth` |
| `threads` of files | as many `workers`, each with one request |
| a run for each `rd=` | a point; a scenario where layout, times or engine differ |
| lists of rates, sizes, threads, reads | axes of a sweep; `seekpct` and rates of several \
workloads make points of their own |
| `iorate=curve` | the maximum alone; `plimsoll loadline` measures the curve |
| arrivals at a fixed rate are exponential | `arrivals = \"poisson\"`; an open loop |
| `skew` in percent of the rate | a `rate` for each workload; at full speed a `share` |
| workloads on storage of their own | `targets` of a workload, by number; where one leaves a file \
out, each file has a folder of its own |
| `size` of a device is a part of it | `layout.size`; of several sizes the smallest, and all of \
the smallest device where one has none |
| files in directories, opened one by one | files of a layout; up to 65,536 of them |
| operations on files run for `elapsed` | each operation goes to all files once |
| direct I/O where `openflags` says so | the same; devices are always loaded with direct I/O |
";

const IO500: &str = "\
`plimsoll import io500.ini -o suite.toml` writes a suite of IO500's phases. It makes no official \
score: IO500's own programs do that. `plimsoll import result_summary.txt` shows the results of a \
run of IO500, computes its score again, and says where the two differ.

A key without a value is not set: the default of IO500 holds.

## Intended differences

| IO500 | Plimsoll |
|---|---|
| ranks of MPI | `--set workers=N` on each host; without it, one for each CPU, at most 4 |
| all writes first, then all reads | four scenarios: easy and hard, data and metadata; each reads \
what it wrote at once, after `engine.evict` |
| a phase writes for `stonewall-time`, then all ranks do as much as the first | an amount where \
the sizes are within reach; otherwise `stages.measure` |
| ranks read what their neighbours wrote (`-C -Q 1`, `-N 1`) | each worker reads its own; \
`--set workload.ior-easy-read.rotate=1` on several hosts |
| `mdtest` stops creating after `stonewall-time` | all files of `n` are made |
| `find` walks through all directories | `stat` and `readdir` over the files of `mdtest-hard` |
| reads of IOR are checked | not checked; `--set contents.verify=true` where transfers are \
multiples of 512 |

## The score

The score of `result_summary.txt` is the root of two geometric means: GiB/s of four phases, and \
thousands of operations a second of eight. Plimsoll compares it with what is printed, within the \
digits that are printed.
";

const DISKSPD: &str = "\
`plimsoll import --command \"diskspd …\" -o suite.toml` writes a suite. This page is \
written \
from DiskSpd's manual and was not tried against DiskSpd. `plimsoll import profile.xml` reads \
profiles, as VMFleet has them. A result that holds a profile is none.

## Intended differences

| DiskSpd | Plimsoll |
|---|---|
| software and hardware caches are used unless `-S` says otherwise | `direct` and `dsync` say the \
same |
| a file that is there is loaded as it is | a layout of Plimsoll's own; `--existing` reads what \
is there |
| threads of a file begin at the same place | `sharing = \"whole\"` |
| buffers hold one pattern again and again | no two blocks are alike |
| 64 KiB, 2 requests, 1 thread, 5 s of warm-up, 10 s | the same, written down in the suite |
| each target has `-t` threads of its own | a workload for each target, with its `targets` |
| a target is a path | `targets` of a workload, by number; `*1` and paths of Windows \
are named with `--target`, in their order |
| `-g` holds a rate back | an open loop; latency counts from the time at which a request is due |
";
