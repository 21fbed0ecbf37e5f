//! Who takes part, and how each is started and read. The same method measures all of them: the CPU
//! time of the whole process and its children, as the shell's `time` counts it.

use super::target::Target;
use crate::shell::{self, Outcome};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that can load the target, in one of its ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// Its name in tables.
    pub name: &'static str,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Ours with this backend, recording every latency, as always.
    Ours(&'static str),
    /// The barest loop with this option: no clock, no statistics.
    Bare(&'static str),
    /// fio with this engine and these options. At its defaults it records every latency, too.
    Fio(&'static str, &'static str),
    /// The bare loop in fio's source, batches of 32, registered files and buffers.
    TIoUring,
    /// elbencho with libaio.
    Elbencho,
}

const fn contender(name: &'static str, way: Way) -> Contender {
    Contender { name, way }
}

pub(super) const PLIMSOLL: Contender = contender("plimsoll", Way::Ours("io_uring"));
/// One request at a time.
pub(super) const PLIMSOLL_SYNC: Contender = contender("plimsoll, sync", Way::Ours("sync"));
/// No system call at all.
pub(super) const PLIMSOLL_NULL: Contender = contender("plimsoll, null", Way::Ours("null"));
/// The kernel's request that does nothing: the same loop and its ring, without a target.
pub(super) const PLIMSOLL_NOP: Contender = contender("plimsoll, no-op", Way::Ours("nop"));
pub(super) const BARE_RING: Contender = contender("bare ring loop", Way::Bare("--ring"));
pub(super) const BARE_PREAD: Contender = contender("bare pread loop", Way::Bare("--pread"));
pub(super) const BARE_NOP: Contender = contender("bare ring loop, no-op", Way::Bare("--nop"));
pub(super) const FIO: Contender = contender("fio", Way::Fio("io_uring", ""));
pub(super) const FIO_TUNED: Contender = contender("fio, tuned", Way::Fio("io_uring", TUNED));
pub(super) const FIO_LIBAIO: Contender = contender("fio, libaio", Way::Fio("libaio", BATCH));
pub(super) const FIO_PSYNC: Contender = contender("fio, psync", Way::Fio("psync", ""));
pub(super) const FIO_NULL: Contender = contender("fio, null", Way::Fio("null", ""));
pub(super) const T_IO_URING: Contender = contender("t/io_uring", Way::TIoUring);
pub(super) const ELBENCHO: Contender = contender("elbencho", Way::Elbencho);

/// What everybody is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Random reads, or sequential ones.
    pub random: bool,
    /// The size of each request, in KiB.
    pub block_kib: u32,
    /// Requests outstanding, where a way has more than one.
    pub depth: u32,
    /// How long, in ms.
    pub millis: u32,
    /// How many do so at the same time.
    pub workers: u32,
}

impl Load {
    /// For programs that know no shorter time.
    fn whole_seconds(self) -> u32 {
        self.millis.div_ceil(1000)
    }
}

/// Our own programs.
pub struct Programs {
    /// The optimised `plimsoll`.
    pub plimsoll: PathBuf,
    /// The optimised example `bare-ring` of the engine.
    pub bare: PathBuf,
}

impl Programs {
    /// Builds them, unless one is `given`: then `bare-ring` lies beside it.
    ///
    /// # Errors
    /// They do not compile.
    pub fn build(given: Option<&Path>) -> Outcome<Programs> {
        if let Some(given) = given {
            let bare = given.with_file_name("bare-ring");
            return Ok(Programs { plimsoll: given.to_owned(), bare });
        }
        let plimsoll = shell::build_plimsoll()?;
        Ok(Programs { plimsoll, bare: shell::build_example("engine", "bare-ring")? })
    }
}

/// What one run came to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Requests that completed.
    pub ios: f64,
    /// Requests per second.
    pub iops: f64,
    /// User time of the whole process, in seconds.
    pub user_s: f64,
    /// System time of the whole process, in seconds.
    pub system_s: f64,
}

impl Measured {
    /// The same without what a run of hardly any load does and costs, `start_up`; the rate stays.
    pub fn without(self, start_up: Measured) -> Measured {
        Measured {
            ios: (self.ios - start_up.ios).max(0.0),
            iops: self.iops,
            user_s: (self.user_s - start_up.user_s).max(0.0),
            system_s: (self.system_s - start_up.system_s).max(0.0),
        }
    }

    /// Requests for each second of CPU time.
    pub fn ios_per_cpu_s(&self) -> f64 {
        let cpu_s = self.user_s + self.system_s;
        if cpu_s > 0.0 { self.ios / cpu_s } else { 0.0 }
    }

    /// User time for each request, in ns.
    pub fn user_ns_per_io(&self) -> f64 {
        if self.ios > 0.0 { self.user_s * 1e9 / self.ios } else { 0.0 }
    }
}

impl Contender {
    /// The program that has to be on the PATH; `None` for our own.
    fn program(self) -> Option<&'static str> {
        match self.way {
            Way::Ours(_) | Way::Bare(_) => None,
            Way::Fio(..) => Some("fio"),
            Way::TIoUring => Some("io_uring"),
            Way::Elbencho => Some("elbencho"),
        }
    }

    /// The program that it needs and is not there.
    pub fn missing(self) -> Option<&'static str> {
        self.program().filter(|program| shell::which(program).is_none())
    }

    /// One run on one processor.
    ///
    /// # Errors
    /// It is not installed, fails, or writes something unexpected.
    pub fn run(
        self,
        target: &Target,
        load: Load,
        cpu: u32,
        programs: &Programs,
    ) -> Outcome<Measured> {
        let (out, user_s, system_s) = timed(&self.words(target, load, programs), Some(cpu))?;
        let (ios, iops) = self
            .read(&out, f64::from(load.millis) / 1e3)
            .ok_or_else(|| format!("{} says nothing of its I/Os: {out}", self.name))?;
        Ok(Measured { ios, iops, user_s, system_s })
    }

    /// What a run of hardly any load costs, to be taken off a longer one: fio's start-up alone
    /// takes a sixth of a second of CPU time. Nothing for programs that count their time in whole
    /// seconds; theirs is a few ms.
    ///
    /// # Errors
    /// As in [`run`](Self::run).
    pub fn start_up(
        self,
        target: &Target,
        load: Load,
        cpu: u32,
        programs: &Programs,
    ) -> Outcome<Measured> {
        let shortest = Load { millis: 100, ..load };
        match self.way {
            Way::Ours(_) | Way::Fio(..) => self.run(target, shortest, cpu, programs),
            _ => Ok(Measured { ios: 0.0, iops: 0.0, user_s: 0.0, system_s: 0.0 }),
        }
    }

    /// Its command line.
    fn words(self, target: &Target, load: Load, programs: &Programs) -> Vec<String> {
        let one = Load { depth: 1, ..load };
        match self.way {
            Way::Ours("sync") => ours(target, one, &programs.plimsoll, "sync"),
            Way::Ours(backend) => ours(target, load, &programs.plimsoll, backend),
            Way::Bare("--ring") if target.refuses_nowait => {
                bare(target, load, &programs.bare, "--async")
            }
            Way::Bare(way) => bare(target, load, &programs.bare, way),
            Way::Fio("psync", more) => fio(target, one, "psync", more),
            Way::Fio(engine, more) => fio(target, load, engine, more),
            Way::TIoUring => t_io_uring(target, load),
            Way::Elbencho => elbencho(target, load),
        }
    }

    /// Requests, and requests per second, from what it wrote.
    pub fn read(self, out: &str, seconds: f64) -> Option<(f64, f64)> {
        match self.way {
            Way::Ours(_) => {
                let result = &json(out)?["results"][0];
                Some((result["ios"].as_f64()?, result["iops"].as_f64()?))
            }
            Way::Bare(_) => {
                let result = json(out)?;
                let ios = result["ios"].as_f64()?;
                Some((ios, ios / result["seconds"].as_f64()?))
            }
            Way::Fio(..) => {
                let read = &json(out)?["jobs"][0]["read"];
                Some((read["total_ios"].as_f64()?, read["iops"].as_f64()?))
            }
            Way::TIoUring => {
                let iops = t_io_uring_iops(out)?;
                Some((iops * seconds.max(f64::from(T_IO_URING_SECONDS)), iops))
            }
            Way::Elbencho => elbencho_iops(out).map(|iops| (iops * seconds, iops)),
        }
    }
}

/// Batches as large as the depth; fio takes all that is there.
const BATCH: &str =
    "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";

/// The fastest that fio has for a ring.
pub const TUNED: &str = "--fixedbufs --registerfiles --iodepth_batch_submit=32 \
                         --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";

fn split(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The command line of `program`, which is one of ours.
pub fn ours(target: &Target, load: Load, program: &Path, backend: &str) -> Vec<String> {
    let mut words = vec![program.display().to_string()];
    let pattern = if load.random { "randread" } else { "read" };
    words.extend(split(&format!(
        "run --rw {pattern} --bs {}k --iodepth {} --numjobs {} --json --quiet --size {} --runtime \
         {}ms --set backend={backend}",
        load.block_kib, load.depth, load.workers, target.bytes, load.millis
    )));
    // Files of their own are as many as there are workers only where it makes them.
    let path = match target.own {
        true => target.path.join("ours"),
        false => {
            words.push("--existing".to_owned());
            target.path.clone()
        }
    };
    words.extend(["--target".to_owned(), path.display().to_string()]);
    words.extend(["--out".to_owned(), target.scratch.join("run.plimsoll").display().to_string()]);
    if !target.direct {
        words.push("--buffered".to_owned());
    }
    words
}

/// The command line of the bare loop.
pub fn bare(target: &Target, load: Load, program: &Path, way: &str) -> Vec<String> {
    let mut words = vec![program.display().to_string()];
    words.extend(target.files(load.workers).iter().map(|file| file.display().to_string()));
    words.extend(split(&format!(
        "--bytes {} --millis {} --workers {} {way}",
        target.bytes, load.millis, load.workers
    )));
    if target.direct {
        words.push("--direct".to_owned());
    }
    words
}

/// The command line of fio.
pub fn fio(target: &Target, load: Load, engine: &str, more: &str) -> Vec<String> {
    let pattern = if load.random { "randread" } else { "read" };
    let mut words = split(&format!(
        "fio --name=bench --ioengine={engine} --rw={pattern} --bs={}k --iodepth={} \
         --numjobs={} --group_reporting --time_based --readonly \
         --output-format=json --size={} --runtime={}ms --direct={} {more}",
        load.block_kib,
        load.depth,
        load.workers,
        target.bytes,
        load.millis,
        u8::from(target.direct)
    ));
    if target.own {
        words.push(format!("--directory={}", target.path.display()));
        words.push("--filename_format=$jobnum".to_owned());
    } else {
        words.push(format!("--filename={}", target.path.display()));
    }
    if !target.direct {
        // At its default, fio throws a small file out of the cache each time it begins again from
        // the front.
        words.push("--invalidate=0".to_owned());
    }
    words
}

/// It says what it did in the second before, so that after a single one it has nothing to say.
const T_IO_URING_SECONDS: u32 = 3;

fn t_io_uring(target: &Target, load: Load) -> Vec<String> {
    let mut words = split(&format!(
        "io_uring -d{depth} -s{depth} -c{depth} -b{} -p0 -B1 -F1 -n1 -O{} -r{}",
        load.block_kib * 1024,
        u8::from(target.direct),
        load.whole_seconds().max(T_IO_URING_SECONDS),
        depth = load.depth
    ));
    words.push(target.path.display().to_string());
    words
}

fn elbencho(target: &Target, load: Load) -> Vec<String> {
    // More than the time allows for. Begun again from the front after each pass, which `--infloop`
    // does, it would have a small file's blocks in pieces: on the cached file that leaves it a
    // quarter of what it can do.
    let order = if load.random { "--rand --randalgo fast --randamount 512g" } else { "--infloop" };
    let path = if target.direct { "--direct" } else { "" };
    let mut words = split(&format!(
        "elbencho --read {order} {path} --nodiocheck --block {}k --size {} --threads 1 --iodepth \
         {} --timelimit {} --nolive",
        load.block_kib,
        target.bytes,
        load.depth,
        load.whole_seconds()
    ));
    words.push(target.path.display().to_string());
    words
}

/// The best second of `Maximum IOPS=1580K`: it writes nothing of the whole.
fn t_io_uring_iops(out: &str) -> Option<f64> {
    let text = out.lines().find_map(|line| line.trim().strip_prefix("Maximum IOPS="))?.trim();
    let (digits, factor) = match text.strip_suffix(['K', 'M']) {
        Some(digits) => (digits, if text.ends_with('M') { 1e6 } else { 1e3 }),
        None => (text, 1.0),
    };
    // None at all is no figure: it was over before it had one.
    Some(digits.parse::<f64>().ok()? * factor).filter(|iops| *iops > 0.0)
}

/// The last column, "last done", of the line of IOPS.
fn elbencho_iops(out: &str) -> Option<f64> {
    let line = out.lines().find(|line| line.split_whitespace().any(|word| word == "IOPS"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// Runs the words, on one processor where it is given; returns standard output, user and system
/// seconds.
pub fn timed(words: &[String], cpu: Option<u32>) -> Outcome<(String, f64, f64)> {
    // A run file of the round before is ours to remove: nothing is ever overwritten.
    for word in words.iter().filter(|word| word.ends_with(".plimsoll")) {
        let _ = std::fs::remove_file(word);
    }
    let mut shell = Command::new("bash");
    // The last line on standard error is that of `time`; the command's own go elsewhere.
    shell.args(["-c", "TIMEFORMAT='%U %S'; time \"$0\" \"$@\" 2>/dev/null"]);
    let pinned = cpu.map(|cpu| ["taskset".to_owned(), "-c".to_owned(), cpu.to_string()]);
    shell.args(pinned.into_iter().flatten()).args(words);
    let output = shell
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("bash cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", words.join(" "), output.status));
    }
    let times = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = times.trim().lines().last().unwrap_or_default();
    let (user_s, system_s) = both(last).ok_or_else(|| format!("`time` said `{last}`"))?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), user_s, system_s))
}

/// User and system time of `time`'s line.
pub fn both(line: &str) -> Option<(f64, f64)> {
    let (user, system) = line.split_once(' ')?;
    Some((user.parse().ok()?, system.parse().ok()?))
}

/// The JSON object in a program's output: fio writes warnings before it.
pub fn json(out: &str) -> Option<Value> {
    serde_json::from_str(&out[out.find('{')?..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_read_in_its_own_words() {
        let bare = "{\"ios\": 300, \"seconds\": 2.0}\n";
        assert_eq!(BARE_RING.read(bare, 9.0), Some((300.0, 150.0)));
        let fio = "fio: a warning\n{\"jobs\": [{\"read\": {\"total_ios\": 12, \"iops\": 6.0}}]}";
        assert_eq!(FIO_TUNED.read(fio, 9.0), Some((12.0, 6.0)));
        assert_eq!(t_io_uring_iops("Exiting on timeout\nMaximum IOPS=0\n"), None);
        let bare = "IOPS=1200K, BW=4GiB/s\nExiting on timeout\nMaximum IOPS=1580K\n";
        assert_eq!(T_IO_URING.read(bare, 4.0), Some((6_320_000.0, 1_580_000.0)));
        let elbencho = "READ   Elapsed time     :     3.0s    3.0s\n       IOPS             :   \
                        500000   499000\n";
        assert_eq!(ELBENCHO.read(elbencho, 2.0), Some((998_000.0, 499_000.0)));
        assert_eq!(FIO.read("nothing at all", 1.0), None);
    }

    #[test]
    fn costs_are_quotients_and_nothing_divides_by_zero() {
        let measured = Measured { ios: 1e6, iops: 5e5, user_s: 0.5, system_s: 1.5 };
        assert_eq!((measured.ios_per_cpu_s(), measured.user_ns_per_io()), (5e5, 500.0));
        let start_up = Measured { ios: 2e5, iops: 4e5, user_s: 0.25, system_s: 0.25 };
        assert_eq!(measured.without(start_up).ios_per_cpu_s(), 8e5 / 1.5);
        let noise = start_up.without(measured).ios_per_cpu_s();
        assert_eq!(noise, 0.0, "noise never makes a cost negative");
        let nothing = Measured { ios: 0.0, user_s: 0.0, system_s: 0.0, ..measured };
        assert_eq!((nothing.ios_per_cpu_s(), nothing.user_ns_per_io()), (0.0, 0.0));
    }
}
