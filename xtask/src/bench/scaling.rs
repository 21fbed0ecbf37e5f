//! How workers add up on one host: from one to as many as it has processors, beside fio and the
//! bare loops.

use super::contender::{self, Load, Programs, TUNED, bare, fio, ours, timed};
use super::figures::{median, ratio, take_turns, thousands};
use super::options::Options;
use super::target::Target;
use super::{SMALL, Tables, is_here};
use crate::shell::Outcome;
use std::path::{Path, PathBuf};

/// Its name for `--only`.
pub const NAME: &str = "scaling";

/// What it is about, in words.
pub const TITLE: &str = "from one worker to as many as there are processors, 4 KiB random read, \
                         depth 32, not pinned";

/// How long each turn takes, in ms: there are hundreds.
const MILLIS: u32 = 400;

/// The least share of one worker's speed that each of several keeps, where the bare loop's do.
const LEAST_EFFICIENCY: f64 = 0.85;

struct Place {
    name: &'static str,
    target: Make,
    /// Our backend.
    backend: &'static str,
    /// fio's engines: at its defaults, and the fastest ones. Of several, the faster one counts.
    defaults: &'static [Engine],
    tuned: &'static [Engine],
    /// The bare loop; `None` where there is none.
    bare: Option<&'static str>,
    /// The least ratio to fio's fastest that the project claims.
    least: Option<f64>,
}

/// Makes a target for so many workers at most.
type Make = fn(u32) -> Outcome<Target>;

/// An engine of fio with its options, and whether it has a depth.
type Engine = (&'static str, &'static str, bool);

const RING: &[Engine] = &[("io_uring", "", true)];
const RING_TUNED: &[Engine] = &[("io_uring", TUNED, true)];

/// A ring on the target, as on most of them.
const ON_RING: Place = Place {
    name: "",
    target: |_| Target::cached_file(),
    backend: "io_uring",
    defaults: RING,
    tuned: RING_TUNED,
    bare: Some("--ring"),
    least: None,
};

const PLACES: &[Place] = &[
    Place { name: "page-cached, one file", least: Some(1.3), ..ON_RING },
    Place {
        name: "page-cached, a file for each",
        target: Target::cached_files,
        least: Some(1.8),
        ..ON_RING
    },
    Place {
        name: "tmpfs, one file, what `auto` takes",
        target: |_| Target::shared_memory(),
        backend: "auto",
        tuned: &[("io_uring", TUNED, true), ("psync", "", false)],
        bare: Some("--pread"),
        least: Some(1.2),
        ..ON_RING
    },
    Place {
        name: "no target (null)",
        backend: "null",
        defaults: &[("null", "", true)],
        tuned: &[],
        bare: None,
        ..ON_RING
    },
    Place { name: "disk, one file, direct", target: |_| Target::disk_file(), ..ON_RING },
    Place { name: "loop device, direct", target: |_| Target::loop_device(), ..ON_RING },
];

/// Who takes part on a place.
#[derive(Clone, PartialEq, Eq)]
enum Who {
    Ours(PathBuf),
    Before(PathBuf),
    Defaults(Engine),
    Tuned(Engine),
    Bare(PathBuf, &'static str),
}

impl Who {
    /// Everybody who is here; the first is ours.
    fn of(place: &Place, programs: &Programs, before: Option<&Path>) -> Vec<Who> {
        let mut all = vec![Who::Ours(programs.plimsoll.clone())];
        all.extend(before.map(|before| Who::Before(before.to_owned())));
        if is_here("fio", contender::FIO.missing()) {
            all.extend(place.defaults.iter().map(|engine| Who::Defaults(*engine)));
            all.extend(place.tuned.iter().map(|engine| Who::Tuned(*engine)));
        }
        all.extend(place.bare.map(|way| Who::Bare(programs.bare.clone(), way)));
        all
    }

    /// Requests per second.
    fn iops(&self, place: &Place, target: &Target, load: Load) -> Outcome<f64> {
        let (words, reader) = match self {
            Who::Ours(program) | Who::Before(program) => {
                (ours(target, load, program, place.backend), contender::PLIMSOLL)
            }
            Who::Defaults((engine, more, has_depth)) | Who::Tuned((engine, more, has_depth)) => {
                let depth = if *has_depth { load.depth } else { 1 };
                (fio(target, Load { depth, ..load }, engine, more), contender::FIO)
            }
            Who::Bare(program, way) => (bare(target, load, program, way), contender::BARE_RING),
        };
        let (out, ..) = timed(&words, None)?;
        let (_, iops) = reader
            .read(&out, f64::from(load.millis) / 1e3)
            .ok_or_else(|| format!("`{}` says nothing of its I/Os: {out}", words.join(" ")))?;
        Ok(iops)
    }
}

/// Rounds of everybody on a place, with so many workers.
struct Cell {
    workers: u32,
    all: Vec<(Who, Vec<f64>)>,
}

impl Cell {
    fn measure(
        place: &Place,
        target: &Target,
        workers: u32,
        who: &[Who],
        rounds: u32,
    ) -> Outcome<Cell> {
        let load = Load { workers, millis: MILLIS, ..SMALL };
        let lap = |index: usize| who[index].iops(place, target, load);
        let laps = take_turns(who.len(), rounds, lap)?;
        Ok(Cell { workers, all: who.iter().cloned().zip(laps).collect() })
    }

    /// The rounds of whoever `is_one`; of several, those of the fastest.
    fn of(&self, is_one: impl Fn(&Who) -> bool) -> Option<&[f64]> {
        let ones = self.all.iter().filter(|(who, _)| is_one(who)).map(|(_, laps)| laps.as_slice());
        ones.max_by(|one, other| median(one).total_cmp(&median(other)))
    }

    fn ours(&self) -> &[f64] {
        self.of(|who| matches!(who, Who::Ours(_))).unwrap_or_default()
    }

    fn tuned(&self) -> Option<&[f64]> {
        self.of(|who| matches!(who, Who::Tuned(_)))
    }

    fn bare(&self) -> Option<&[f64]> {
        self.of(|who| matches!(who, Who::Bare(..)))
    }

    /// A row of the table, where one worker did what `first` says, and what is missed in it.
    fn row(&self, place: &Place, first: &Cell) -> (String, Vec<String>) {
        let beside = |theirs: Option<&[f64]>| {
            theirs.map_or_else(String::new, |theirs| ratio(self.ours(), theirs))
        };
        let of_one = |laps: &[f64], of_one: &[f64]| {
            median(laps) / (median(of_one) * f64::from(self.workers))
        };
        let efficiency = of_one(self.ours(), first.ours());
        let of_bare = self.bare().zip(first.bare()).map(|(laps, one)| of_one(laps, one));
        let mut missed = Vec::new();
        let mut claimed = Vec::new();
        if let (Some(least), Some(tuned)) = (place.least, self.tuned()) {
            let reached = median(self.ours()) / median(tuned);
            claimed.push(verdict("fio tuned", reached, least, &mut missed));
        }
        if self.workers > 1 && of_bare.is_some_and(|bare| bare >= LEAST_EFFICIENCY) {
            claimed.push(verdict("efficiency", efficiency, LEAST_EFFICIENCY, &mut missed));
        }
        let missed = missed
            .into_iter()
            .map(|what| format!("{NAME}: {}, {} workers: {what}", place.name, self.workers));
        let row = format!(
            "| {} | {} | {} | {efficiency:.2} | {} | {} | {} | {} | {} | {} |\n",
            place.name,
            self.workers,
            thousands(median(self.ours())),
            of_bare.map_or_else(String::new, |bare| format!("{bare:.2}")),
            beside(self.of(|who| matches!(who, Who::Defaults(_)))),
            beside(self.tuned()),
            beside(self.bare()),
            beside(self.of(|who| matches!(who, Who::Before(_)))),
            claimed.join("; "),
        );
        (row, missed.collect())
    }
}

/// Whether `reached` is at least what is claimed of `what`, in words.
fn verdict(what: &str, reached: f64, least: f64, missed: &mut Vec<String>) -> String {
    if reached >= least {
        return format!("{what} {least}: held");
    }
    missed.push(format!("{reached:.2} in {what} where {least} is claimed"));
    format!("{what} {least}: missed")
}

/// 1, 2, 4 and so on, and at the end as many as there are processors.
fn counts(processors: u32) -> Vec<u32> {
    let powers = (0..).map(|power| 1 << power).take_while(|count| *count < processors);
    powers.chain([processors]).collect()
}

/// The table, and what was missed.
///
/// # Errors
/// None: what cannot be measured here has a row that says why.
pub fn run(programs: &Programs, options: &Options) -> Outcome<Tables> {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let mut table = String::from(
        "| target | workers | plimsoll, IOPS | efficiency | that of the bare loop | ours ÷ fio | \
         ours ÷ fio tuned | ours ÷ bare loop | ours ÷ before | claimed |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    print!("{table}");
    let mut missed = Vec::new();
    for place in PLACES {
        match on(place, programs, options, &counts(processors), &mut table) {
            Ok(more) => missed.extend(more),
            Err(why) => {
                let why = why.replace(['\n', '|'], " ");
                tell(&format!("| {} | not run, because {why} |||||||||\n", place.name), &mut table);
            }
        }
    }
    Ok((table, missed))
}

/// Shows a row at once: all of them take minutes.
fn tell(row: &str, table: &mut String) {
    print!("{row}");
    table.push_str(row);
}

/// All numbers of workers on one place, each with a row of the table; what was missed.
fn on(
    place: &Place,
    programs: &Programs,
    options: &Options,
    counts: &[u32],
    table: &mut String,
) -> Outcome<Vec<String>> {
    let target = (place.target)(counts.iter().copied().max().unwrap_or(1))?;
    let mut who = Who::of(place, programs, options.before.as_deref());
    let shortest = Load { millis: 100, ..SMALL };
    let ours = who[0].clone();
    // Where a machine forbids one of them, the others are compared.
    who.retain(|one| match one.iops(place, &target, shortest) {
        Err(why) if *one != ours => {
            println!("SKIPPED: one on {}, because {why}", place.name);
            false
        }
        _ => true,
    });
    let (mut first, mut missed) = (None, Vec::new());
    for workers in counts {
        let cell = Cell::measure(place, &target, *workers, &who, options.rounds)?;
        let (row, more) = cell.row(place, first.as_ref().unwrap_or(&cell));
        tell(&row, table);
        missed.extend(more);
        first.get_or_insert(cell);
    }
    Ok(missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_double_up_to_the_processors() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(12), [1, 2, 4, 8, 12]);
    }

    #[test]
    fn a_row_has_ratios_efficiency_and_what_is_claimed() {
        let place = &PLACES[2];
        let cell = |workers, ours, bare| Cell {
            workers,
            all: vec![
                (Who::Ours(PathBuf::new()), vec![ours; 3]),
                (Who::Defaults(place.defaults[0]), vec![100.0; 3]),
                (Who::Tuned(place.tuned[0]), vec![150.0; 3]),
                (Who::Tuned(place.tuned[1]), vec![200.0; 3]),
                (Who::Bare(PathBuf::new(), "--pread"), vec![bare; 3]),
            ],
        };
        let (one, two) = (cell(1, 300.0, 300.0), cell(2, 450.0, 600.0));
        let (row, missed) = two.row(place, &one);
        assert!(row.contains("| 0.75 | 1.00 | **4.50**"), "{row}");
        assert!(row.contains("| **2.25** (2.25 to 2.25) | **0.75**"), "the faster of two: {row}");
        assert!(row.ends_with("|  | fio tuned 1.2: held; efficiency 0.85: missed |\n"), "{row}");
        let place = "tmpfs, one file, what `auto` takes";
        let said = "0.75 in efficiency where 0.85 is claimed";
        assert_eq!(missed, [format!("scaling: {place}, 2 workers: {said}")]);
        assert_eq!(one.row(&PLACES[2], &one).1, Vec::<String>::new(), "one is as fast as one");
    }
}
