//! What a comparison on one processor does not show: how workers add up, how soon the first request
//! goes out, here and on several hosts, and what workers weigh.

use super::contender::Programs;
use super::figures::{extremes, median};
use super::peak::high_water_mib;
use super::target::{Folder, Target, scratch};
use super::{fleet, sweep, watching};
use crate::shell::{self, Outcome};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// One measurement of this kind.
pub struct Extra {
    /// Its name for `--only`.
    pub name: &'static str,
    /// What is measured, with its unit.
    pub title: &'static str,
    /// One round.
    measure: fn(&Programs, u32) -> Outcome<f64>,
    /// The bound that the project claims.
    bound: Bound,
}

/// What a figure has to keep to.
#[derive(Clone, Copy, Debug)]
enum Bound {
    AtLeast(f64),
    Under(f64),
}

impl Bound {
    fn holds(self, figure: f64) -> bool {
        match self {
            Bound::AtLeast(least) => figure >= least,
            Bound::Under(most) => figure < most,
        }
    }

    fn words(self) -> String {
        match self {
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::Under(most) => format!("under {most}"),
        }
    }
}

/// All of them.
pub const EXTRAS: &[Extra] = &[
    Extra {
        name: "scale",
        title: "IOPS of four workers ÷ IOPS of one, page-cached files of 256 KiB of their own, \
                not pinned",
        measure: scale,
        bound: Bound::AtLeast(3.7),
    },
    // 3.7 of 4: what workers take from each other, which shows even where other programs take
    // processors from all of them.
    Extra {
        name: "scale-cpu",
        title: "I/Os per CPU-second of four workers ÷ of one, page-cached files of 256 KiB of \
                their own, not pinned",
        measure: scale_cpu,
        bound: Bound::AtLeast(0.925),
    },
    Extra {
        name: "startup",
        title: "from the start of the process to the first read that a zram device sees, ms",
        measure: startup_ms,
        bound: Bound::Under(20.0),
    },
    Extra {
        name: "memory",
        title: "the most memory that a run with 1,024 workers of depth 32 held (VmHWM), MiB",
        measure: memory_mib,
        bound: Bound::Under(512.0),
    },
    Extra {
        name: "fleet",
        title: "four hosts over ssh (network namespaces), the program in place: from the start of \
                `plimsoll run --hosts` to the first read that a zram device sees, ms",
        measure: fleet::first_read_ms,
        bound: Bound::Under(1000.0),
    },
    Extra {
        name: "fleet",
        title: "the same four hosts: how far from the agreed instant the last worker of any of \
                them began at most, clock error included, ms",
        measure: fleet::skew_ms,
        bound: Bound::Under(1.0),
    },
    Extra {
        name: "sweep",
        title: "the time between two points of a sweep that share their layout, on a tmpfs, ms",
        measure: sweep::between_points_ms,
        bound: Bound::Under(100.0),
    },
    Extra {
        name: "sweep-memory",
        title: "the most memory that a run held which made and removed 2^21 empty files (VmHWM), \
                MiB",
        measure: sweep::many_files_mib,
        bound: Bound::Under(256.0),
    },
    Extra {
        name: "watching",
        title: "one reading a second of all counters of a host with 64 CPUs and 100 disks, from \
                files as long as its kernel's, % of a core",
        measure: watching::probe_percent,
        bound: Bound::Under(0.5),
    },
    Extra {
        name: "watching",
        title: "what these counters hold in memory, MiB",
        measure: watching::probe_mib,
        bound: Bound::Under(2.0),
    },
];

impl Extra {
    /// The rounds' median with their spread as a row of a table, and what is missed.
    ///
    /// # Errors
    /// It cannot be measured here.
    pub fn run(
        &self,
        programs: &Programs,
        rounds: u32,
        seconds: u32,
    ) -> Outcome<(String, Option<String>)> {
        let figures: Vec<f64> =
            (0..rounds).map(|_| (self.measure)(programs, seconds)).collect::<Outcome<_>>()?;
        Ok(self.row(&figures))
    }

    fn row(&self, figures: &[f64]) -> (String, Option<String>) {
        let middle = median(figures);
        let (low, high) = extremes(figures);
        let verdict = if self.bound.holds(middle) { "held" } else { "missed" };
        let bound = self.bound.words();
        let row = format!(
            "| {} | **{middle:.2}** ({low:.2} to {high:.2}) | {bound}: {verdict} |\n",
            self.title
        );
        let missed = (!self.bound.holds(middle))
            .then(|| format!("{}: {middle:.2} where {bound} is claimed", self.name));
        (row, missed)
    }
}

/// A run of the quick form in a directory of its own.
fn quick(programs: &Programs, scratch: &Path, words: &str) -> Command {
    let mut command = Command::new(&programs.plimsoll);
    command
        .args(["run", "--rw", "randread", "--bs", "4k", "--json", "--quiet"])
        .args(words.split_whitespace());
    command.arg("--out").arg(scratch.join("run.plimsoll"));
    command
}

/// IOPS, and I/Os for each second of the workers' CPU time.
fn speed(programs: &Programs, workers: u32, seconds: u32) -> Outcome<(f64, f64)> {
    let folder = Folder(scratch()?);
    let words =
        format!("--buffered --iodepth 32 --size 256k --numjobs {workers} --runtime {seconds}");
    let text = shell::capture(
        quick(programs, &folder.0, &words).arg("--target").arg(folder.0.join("data")),
    )?;
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("no JSON: {error}"))?;
    let result = &json["results"][0];
    let figure = |value: &serde_json::Value| {
        value.as_f64().ok_or_else(|| format!("a figure is missing: {text}"))
    };
    let cpu_s = figure(&result["cpu"]["user_s"])? + figure(&result["cpu"]["system_s"])?;
    Ok((figure(&result["iops"])?, figure(&result["ios"])? / cpu_s))
}

fn scale(programs: &Programs, seconds: u32) -> Outcome<f64> {
    Ok(speed(programs, 4, seconds)?.0 / speed(programs, 1, seconds)?.0)
}

fn scale_cpu(programs: &Programs, seconds: u32) -> Outcome<f64> {
    Ok(speed(programs, 4, seconds)?.1 / speed(programs, 1, seconds)?.1)
}

fn startup_ms(programs: &Programs, _seconds: u32) -> Outcome<f64> {
    let target = Target::zram()?;
    let words = "--existing --iodepth 32 --numjobs 1 --size 1g --runtime 1";
    let mut command = quick(programs, &target.scratch, words);
    // Looking without a pause would hold a processor and the locks of sysfs, which the program
    // reads while it starts.
    target.first_read_ms(command.arg("--target").arg(&target.path), Duration::from_micros(100))
}

fn memory_mib(programs: &Programs, seconds: u32) -> Outcome<f64> {
    let folder = Folder(scratch()?);
    let words = format!("--buffered --iodepth 32 --size 128k --numjobs 1024 --runtime {seconds}");
    let mut command = quick(programs, &folder.0, &words);
    command.arg("--target").arg(folder.0.join("data"));
    high_water_mib(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_the_bound_holds() {
        let named = |name| EXTRAS.iter().find(|extra| extra.name == name).expect("there");
        let (row, missed) = named("memory").row(&[300.0, 700.0, 400.0]);
        assert!(row.contains("**400.00** (300.00 to 700.00) | under 512: held"), "{row}");
        assert_eq!(missed, None);
        let (row, missed) = named("scale").row(&[3.0]);
        assert!(row.contains("missed"), "{row}");
        assert_eq!(missed.as_deref(), Some("scale: 3.00 where at least 3.7 is claimed"));
    }
}
