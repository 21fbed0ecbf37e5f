//! Jobs of fio that nobody chose: drawn from its grammar by a seed, and by nothing else. How often
//! an option comes is roughly how often it stands in jobs that people publish.

use model::rng::Rng;
use std::fmt;

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

/// A line: an option and its value.
pub type Line = (&'static str, String);

/// When an option is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    All,
    Devices,
    Files,
    Random,
    Mixed,
    Writes,
    Checked,
    Several,
}

/// Options of which one is drawn, in so many of a hundred jobs: choices apart by blanks, lines of
/// one choice by `;`, and behind `*` how many times as often it comes.
struct Rule(u64, For, &'static str);

const PLACES: &str = "filename=DEV0*12 filename=DEV0:DEV1*2 directory=DIR0*6 directory=DIR0:DIR1 \
    directory=DIR0;nrfiles=4*2 directory=DIR0;nrfiles=3;filesize=1m filename=DIR0/f*2 \
    filename=DIR0/f:DIR0/g";
const DIRECTIONS: &str = "rw=read*6 rw=write*6 rw=randread*10 rw=randwrite*8 rw=rw*2 \
    readwrite=readwrite rw=randrw*8 rw=read:8 rw=randread:4 rw=randwrite:8 rw=write:64k rw=rw:4k \
    rw=read:-16k";
const TRIMS: &str = "rw=trim*2 rw=randtrim*2 rw=trimwrite";
const BLOCKS: &str = "bs=4k*10 bs=8k*3 bs=16k*2 bs=64k*3 bs=128k bs=512 bs=12k blocksize=32k \
    bs=4k,16k*2 bs=64k,4k bsrange=4k-32k*2 bsrange=1k-16k bsrange=4k-16k,8k-64k \
    bssplit=4k/60:16k/30:64k/10*2 bssplit=4k/50:8k/50,16k/90:32k/10 bssplit=,8k/50:16k/50";
const SIZES: &str = "size=8m*6 size=4m*4 size=16m*3 size=1m*2 size=2m size=3000k";

const RULES: [Rule; 22] = [
    Rule(87, For::All, BLOCKS),
    Rule(88, For::All, "direct=1*14 direct=0 buffered=1"),
    Rule(100, For::Files, SIZES),
    Rule(92, For::Devices, "size=8m*6 size=4m*4 size=16m*3 size=1m size=50%*2 size=100% size=2m"),
    Rule(18, For::Devices, "offset=4m*3 offset=25%*2 offset=1m offset=10% offset=12k"),
    Rule(6, For::Files, "offset=1m offset=512k"),
    Rule(
        60,
        For::All,
        "ioengine=libaio;iodepth=4*4 ioengine=libaio;iodepth=16*4 ioengine=libaio;iodepth=32*3 \
         ioengine=libaio*2 ioengine=io_uring;iodepth=8*3 ioengine=io_uring;iodepth=32*2 \
         ioengine=psync*3 ioengine=sync;iodepth=16 ioengine=sync ioengine=psync;iodepth=8",
    ),
    Rule(
        24,
        For::All,
        "numjobs=2*4 numjobs=4*3 numjobs=3 numjobs=2;offset_increment=4m*2 \
         numjobs=2;offset_increment=25%",
    ),
    Rule(40, For::Several, "group_reporting=1"),
    Rule(
        50,
        For::Mixed,
        "rwmixread=70*4 rwmixread=30*2 rwmixread=50 rwmixwrite=10 rwmixread=90 rwmixwrite=100",
    ),
    Rule(28, For::Random, "norandommap=1"),
    Rule(
        14,
        For::Random,
        "random_distribution=zipf:1.1*3 random_distribution=zipf:0.8 \
         random_distribution=pareto:0.3*2 random_distribution=normal:20 \
         random_distribution=zoned:60/10:30/20:8/30:2/40*2",
    ),
    Rule(
        15,
        For::All,
        "runtime=1;time_based=1*5 runtime=1*2 runtime=1;time_based=1;ramp_time=1 \
         runtime=2;time_based=1;startdelay=1",
    ),
    Rule(
        13,
        For::All,
        "rate_iops=400;runtime=2;time_based=1*3 rate_iops=300,100;runtime=2;time_based=1 \
         rate_iops=300,;runtime=2;time_based=1 rate_iops=,200;runtime=2;time_based=1 \
         rate=2m;runtime=2;time_based=1*2 rate=4m;io_size=4m rate=1m,512k;runtime=2;time_based=1 \
         thinktime=2000;runtime=2;time_based=1 thinktime=1000;number_ios=500 \
         thinktime=10000;thinktime_blocks=8;runtime=2;time_based=1 \
         thinktime=20000;thinktime_blocks=4;number_ios=200",
    ),
    Rule(10, For::All, "io_size=2m*2 io_size=512k io_size=20m number_ios=100 number_ios=1000"),
    Rule(
        16,
        For::Writes,
        "fsync=16*2 fsync=1 fsync=32 fdatasync=8*2 fdatasync=1 end_fsync=1*3 sync=1 sync=dsync",
    ),
    Rule(12, For::Random, "randrepeat=0*3 randseed=4711 randrepeat=1"),
    Rule(7, For::Random, "blockalign=16k blockalign=4k*2 percentage_random=30"),
    Rule(6, For::Checked, "verify=crc32c*3 verify=md5 verify=crc32c;do_verify=0"),
    Rule(
        25,
        For::Files,
        "file_service_type=roundrobin file_service_type=random \
         file_service_type=sequential",
    ),
    Rule(5, For::All, "loops=2*3 loops=3"),
    Rule(3, For::All, "startdelay=1"),
];

/// What a second or third section has of its own.
const LATER: [Rule; 6] = [
    Rule(60, For::All, "stonewall=1"),
    Rule(100, For::All, DIRECTIONS),
    Rule(35, For::All, BLOCKS),
    Rule(25, For::All, "size=2m size=4m"),
    Rule(20, For::All, "numjobs=2 iodepth=8 rate_iops=200"),
    Rule(15, For::Devices, "offset=16m offset=50%"),
];

/// Draws a job: the same for the same seed.
pub fn draw(seed: u64) -> Job {
    let mut rng = Rng::new(seed);
    let mut job = Job { global: Vec::new(), sections: vec![Vec::new()] };
    let place = choice(&mut rng, PLACES);
    let is_device = place[0].1.starts_with("DEV");
    job.global.extend(place);
    // Files cannot be trimmed by fio.
    let trims = is_device && rng.below(100) < 8;
    let direction = choice(&mut rng, if trims { TRIMS } else { DIRECTIONS });
    let of_job = direction[0].clone();
    job.sections[0].extend(direction);
    let mut groups: Vec<Vec<Line>> = Vec::new();
    for Rule(percent, when, choices) in &RULES {
        let known: Vec<&Line> = job.global.iter().chain(groups.iter().flatten()).collect();
        if rng.below(100) >= *percent || !when.holds(&known, &of_job.1) {
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

fn section(rng: &mut Rng, place: &[Line]) -> Vec<Line> {
    let known: Vec<&Line> = place.iter().collect();
    let rules = LATER.iter();
    let drawn = rules.filter(|Rule(_, when, _)| when.holds(&known, "")).flat_map(|rule| {
        let Rule(percent, _, choices) = rule;
        let is_drawn = rng.below(100) < *percent;
        if is_drawn { choice(rng, choices) } else { Vec::new() }
    });
    drawn.collect()
}

/// One of the choices, by their weights.
fn choice(rng: &mut Rng, choices: &'static str) -> Vec<Line> {
    let weighted: Vec<(&'static str, u64)> = choices
        .split_whitespace()
        .map(|one| match one.rsplit_once('*') {
            Some((lines, weight)) => (lines, weight.parse().unwrap_or(1)),
            None => (one, 1),
        })
        .collect();
    let mut left = rng.below(weighted.iter().map(|(_, weight)| weight).sum::<u64>().max(1));
    let drawn = weighted.iter().find(|(_, weight)| {
        let is_here = left < *weight;
        left = left.saturating_sub(*weight);
        is_here
    });
    let lines = drawn.map_or("", |(lines, _)| lines).split(';');
    lines.filter_map(|line| line.split_once('=')).map(|(n, v)| (n, v.to_owned())).collect()
}

fn has(lines: &[&Line], name: &str) -> bool {
    lines.iter().any(|line| line.0 == name)
}

impl For {
    fn holds(self, known: &[&Line], direction: &str) -> bool {
        let place = known.first().map_or("", |line| line.1.as_str());
        match self {
            For::All => true,
            For::Devices => place.starts_with("DEV"),
            For::Files => place.starts_with("DIR"),
            For::Random => direction.starts_with("rand"),
            For::Mixed => direction.contains("rw") || direction == "readwrite",
            For::Writes => !["read", "randread"].contains(&direction),
            For::Checked => ["write", "randwrite", "randrw"].contains(&direction),
            For::Several => has(known, "numjobs"),
        }
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
        for (name, section) in ["a", "b", "c"].iter().zip(&self.sections) {
            writeln!(f, "[{name}]")?;
            lines(f, section)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
        let rules = RULES.iter().chain(&LATER).map(|rule| rule.2);
        for choices in rules.chain([PLACES, DIRECTIONS, TRIMS, BLOCKS]) {
            for one in choices.split_whitespace() {
                let lines = one.rsplit_once('*').map_or(one, |(lines, _)| lines);
                lines.split(';').for_each(|line| assert!(drawn.contains(line), "{line}"));
            }
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
    }
}
