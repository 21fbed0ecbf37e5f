//! Jobs of fio that nobody chose: drawn from its grammar by a seed, and by nothing else. How often
//! an option comes is roughly how often it stands in jobs that people publish.

use super::grammar::{Grammar, Line, Rule, choice, has};
use crate::shell::Outcome;
use model::rng::Rng;
use std::fmt;
use std::path::{Path, PathBuf};

/// No job has fewer or more options, names of sections apart.
const FEWEST: usize = 3;
const MOST: usize = 12;

/// Where it goes and what it does, a job has to say: without `direct`, it were another one.
const FIXED: [&str; 7] = ["filename", "directory", "size", "rw", "readwrite", "direct", "buffered"];

/// A job: the lines of `[global]`, and sections with theirs. `DEV0` and `DIR0` stand for a device
/// and a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// `(name, value)`, for all sections.
    pub global: Vec<Line>,
    /// The lines of each section.
    pub sections: Vec<Vec<Line>>,
}

/// Lists and rules of fio.
const FIO: Grammar = Grammar(include_str!("grammar.txt"));

/// Draws a job: the same for the same seed.
pub fn draw(seed: u64) -> Job {
    let mut rng = Rng::new(seed);
    let mut job = Job { global: Vec::new(), sections: vec![Vec::new()] };
    let place = choice(&mut rng, FIO.list("places"));
    let is_device = place[0].1.starts_with("DEV");
    job.global.extend(place);
    // Files cannot be trimmed by fio.
    let trims = is_device && rng.below(100) < 8;
    let direction = choice(&mut rng, FIO.list(if trims { "trims" } else { "directions" }));
    let of_job = direction[0].clone();
    job.sections[0].extend(direction);
    let mut groups: Vec<Vec<Line>> = Vec::new();
    for Rule(percent, when, choices) in &FIO.rules("rule") {
        let known: Vec<&Line> = job.global.iter().chain(groups.iter().flatten()).collect();
        if rng.below(100) >= *percent || !holds(when, &known, &of_job.1) {
            continue;
        }
        let mut lines = choice(&mut rng, choices);
        let is_known = |line: &Line| known.iter().any(|other| other.0 == line.0);
        let is_sized = has(&known, "filesize");
        lines.retain(|line| !(is_known(line) || is_sized && line.0 == "size"));
        groups.push(lines);
    }
    let sections = [0, 0, 0, 0, 0, 0, 0, 1, 1, 2][rng.below(10) as usize];
    let later: Vec<Vec<Line>> = (0..sections).map(|_| section(&mut rng, &job.global)).collect();
    let room = MOST - job.global.len() - 1 - later.iter().map(Vec::len).sum::<usize>().min(7);
    while groups.iter().map(Vec::len).sum::<usize>() > room {
        // A size of files has to stay.
        let last = groups.iter().rposition(|group| group.iter().all(|line| line.0 != "size"));
        groups.remove(last.unwrap_or(0));
    }
    for group in groups {
        let to_all = rng.below(3) > 0 || !later.is_empty();
        if to_all { &mut job.global } else { &mut job.sections[0] }.extend(group);
    }
    job.sections.extend(later);
    while job.lines().count() > MOST {
        job.sections.pop();
    }
    for line in [("bs", "4k"), ("direct", "1")] {
        let has_it = job.lines().any(|(name, _)| *name == line.0 || name.starts_with("b"));
        if job.lines().count() < FEWEST && !has_it {
            job.global.push((line.0, line.1.to_owned()));
        }
    }
    job
}

/// The jobs of the files of a folder, in the order of their names.
///
/// # Errors
/// It cannot be read.
pub fn read_all(folder: &Path) -> Outcome<Vec<Job>> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort();
    paths.iter().map(|path| Ok(read(&std::fs::read_to_string(path).map_err(failed)?))).collect()
}

/// A job that somebody wrote. An option without a value is set.
fn read(text: &str) -> Job {
    let mut job = Job { global: Vec::new(), sections: Vec::new() };
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    for line in lines.filter(|line| !line.is_empty()) {
        if line.starts_with('[') {
            if line != "[global]" {
                job.sections.push(Vec::new());
            }
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, "1"));
        // As long as the chore lives.
        let line = (&*name.trim().to_owned().leak(), value.trim().to_owned());
        job.sections.last_mut().unwrap_or(&mut job.global).push(line);
    }
    job
}

fn section(rng: &mut Rng, place: &[Line]) -> Vec<Line> {
    let known: Vec<&Line> = place.iter().collect();
    let rules = FIO.rules("later").into_iter();
    let drawn = rules.filter(|Rule(_, when, _)| holds(when, &known, "")).flat_map(|rule| {
        let Rule(percent, _, choices) = rule;
        let is_drawn = rng.below(100) < percent;
        if is_drawn { choice(rng, choices) } else { Vec::new() }
    });
    drawn.collect()
}

/// Whether a rule is for jobs of these lines and this direction.
fn holds(when: &str, known: &[&Line], direction: &str) -> bool {
    let place = known.first().map_or("", |line| line.1.as_str());
    match when {
        "devices" => place.starts_with("DEV"),
        "files" => place.starts_with("DIR"),
        "random" => direction.starts_with("rand"),
        "mixed" => direction.contains("rw") || direction == "readwrite",
        "writes" => !["read", "randread"].contains(&direction),
        "checked" => ["write", "randwrite", "randrw"].contains(&direction),
        "several" => has(known, "numjobs"),
        _ => true,
    }
}

impl Job {
    /// All lines.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.global.iter().chain(self.sections.iter().flatten())
    }

    /// Whether it has an option of this name.
    pub fn has(&self, name: &str) -> bool {
        self.lines().any(|line| line.0 == name)
    }

    /// The job without these options.
    pub(super) fn without(&self, names: &[&str]) -> Job {
        let mut job = self.clone();
        let lines = std::iter::once(&mut job.global).chain(&mut job.sections);
        lines.for_each(|lines| lines.retain(|(name, _)| !names.contains(name)));
        job
    }

    /// The job without all that it need not have, and every job that has a section or a line less.
    pub fn smaller(&self) -> Vec<Job> {
        let mut bare = self.clone();
        bare.sections.truncate(1);
        bare.global.retain(|line| FIXED.contains(&line.0));
        bare.sections[0].retain(|line| FIXED.contains(&line.0));
        let mut all = vec![bare];
        all.retain(|bare| bare.lines().count() + 1 < self.lines().count());
        for number in (0..self.sections.len()).filter(|_| self.sections.len() > 1) {
            let mut job = self.clone();
            job.sections.remove(number);
            all.push(job);
        }
        let lists = 0..=self.sections.len();
        for list in lists {
            let count = if list == 0 { &self.global } else { &self.sections[list - 1] }.len();
            for line in (0..count).rev() {
                let mut job = self.clone();
                let lines = if list == 0 { &mut job.global } else { &mut job.sections[list - 1] };
                let (name, _) = lines.remove(line);
                if !FIXED.contains(&name) {
                    all.push(job);
                }
            }
        }
        all
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |f: &mut fmt::Formatter<'_>, lines: &[Line]| {
            lines.iter().try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
        };
        writeln!(f, "[global]")?;
        lines(f, &self.global)?;
        for (number, section) in self.sections.iter().enumerate() {
            let name = char::from_digit(number as u32 % 26 + 10, 36).unwrap_or('z');
            writeln!(f, "[{name}]")?;
            lines(f, section)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::grammar::all_lines;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_is_a_job_and_all_that_the_grammar_has_is_drawn_some_time() {
        let jobs: Vec<Job> = (0..6_000).map(draw).collect();
        assert_eq!(jobs[77], draw(77));
        assert_ne!(jobs[77], jobs[78]);
        for job in &jobs {
            let count = job.lines().count();
            assert!((FEWEST..=MOST).contains(&count), "{count} options:\n{job}");
        }
        let drawn: BTreeSet<String> = jobs
            .iter()
            .flat_map(Job::lines)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let all = ["rule", "later"].map(|word| FIO.rules(word)).concat();
        assert!(all.len() == 35 && all.iter().all(|rule| rule.0 > 0 && !rule.2.is_empty()));
        let lists = ["places", "directions", "trims", "blocks"].map(|name| FIO.list(name));
        for choices in all.iter().map(|rule| rule.2).chain(lists) {
            all_lines(choices).for_each(|line| assert!(drawn.contains(line), "{line}"));
        }
    }

    #[test]
    fn fio_takes_every_job_that_is_drawn() {
        let Some(fio) = crate::shell::which("fio") else { return };
        let folder = tempfile::tempdir().expect("a folder");
        for seed in 0..60 {
            let text = draw(seed).to_string().replace("DEV", "/dev/loop").replace("DIR", "/tmp/d");
            let path = folder.path().join("job.fio");
            std::fs::write(&path, &text).expect("a job");
            let mut command = std::process::Command::new(&fio);
            let told = command.arg("--parse-only").arg(&path).output().expect("fio");
            assert!(told.status.success() && told.stderr.is_empty(), "{text}{told:?}");
        }
    }

    #[test]
    fn a_smaller_job_has_less_and_still_says_where_it_goes() {
        let job = (0..).map(draw).find(|job| job.sections.len() == 2).expect("some have two");
        for smaller in job.smaller() {
            assert!(smaller.lines().count() < job.lines().count());
            assert!(smaller.has("filename") || smaller.has("directory"));
        }
        let less = job.without(&["rw", "readwrite"]);
        assert!(less.has("size") == job.has("size") && !less.has("rw") && !less.has("readwrite"));
    }
}
