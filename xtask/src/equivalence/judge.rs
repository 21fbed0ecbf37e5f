//! Whether what a suite sends is what fio sends.
//!
//! fio runs twice, with other draws. What both of its runs have alike to the request, ours has to
//! the request: how many, where, how long, how often made durable. What is drawn differs between
//! both: of that, the shares (chi-square) and the distributions (Kolmogorov and Smirnov) of ours
//! may differ from each of fio's no more than chance lets them. A measure in which fio's own runs
//! differ by more than chance is none, and says nothing. Chance is 1e-6 of all tests of all jobs
//! together (Bonferroni). What differs is run once more with other draws, and counts if it differs
//! again. How many requests are sent until a time ends is compared of jobs that have a pace alone,
//! to a tenth. Through the page cache, which bytes are loaded is compared, and not by how many
//! requests.

use super::chance::{Share, distance, in_windows, level_of_distance, other_places};
use super::chance::{places, ranks, unequal};
use super::draw::Job;
use super::grammar::Line;
use super::kernel::Sent;
use model::Op;
use std::collections::{BTreeMap, BTreeSet};

/// What the import says of an amount that it cannot have: we take a second.
pub const LONG: &str = "60 s in place of the amount";
/// No job has more tests.
const TESTS: f64 = 64.0;
/// Part of a random map whose end fio fills with the next free blocks: so many more follow.
const NEIGHBOURS: f64 = 0.02;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// How many requests or bytes.
    Amount,
    /// Lengths, and the share of each operation.
    Sizes,
    /// The first and the last place.
    Extent,
    /// Where, and how many different places.
    Places,
    /// In which order.
    Order,
    /// When.
    Pace,
    /// How many at a time.
    Flight,
    /// How often made durable.
    Flushes,
    /// How many files.
    Files,
    /// It did not run.
    Failure,
}

impl Kind {
    /// Options whose loss explains it. That a file is our own, or a rate an open loop, is said of
    /// every file and every rate, and explains nothing but what it says.
    fn explained_by(self) -> &'static str {
        match self {
            Kind::Amount => {
                " runtime size io_size number_ios offset offset_increment filesize nrfiles verify \
                 do_verify rw bs bsrange bssplit numjobs time_based blockalign thinktime zonemode "
            }
            Kind::Sizes => " bs bsrange bssplit blockalign rwmixread rwmixwrite verify offset ",
            Kind::Extent => {
                " size io_size number_ios offset offset_increment filesize nrfiles blockalign \
                 verify runtime "
            }
            Kind::Places => {
                " size io_size offset offset_increment filesize nrfiles file_service_type verify \
                 random_distribution rw blockalign bs bsrange bssplit runtime number_ios numjobs \
                 percentage_random zonemode "
            }
            Kind::Order => {
                " rw file_service_type nrfiles verify offset_increment bsrange bssplit \
                 random_distribution percentage_random numjobs runtime iodepth "
            }
            Kind::Pace => {
                " rate rate_iops thinktime thinktime_blocks startdelay ramp_time runtime stonewall \
                 loops "
            }
            Kind::Flight => " iodepth ioengine rate rate_iops fsync fdatasync ",
            Kind::Flushes => " fdatasync end_fsync sync loops ioengine runtime ",
            Kind::Files => " nrfiles file_service_type numjobs ",
            Kind::Failure => "",
        }
    }

    /// Whether the loss of this option, for this reason, explains it.
    pub fn is_of(self, option: &str, why: &str) -> bool {
        let option = option.replace("blocksize_", "bs").replace("blocksize", "bs");
        let option = option.replace("readwrite", "rw");
        // Nearly nothing is sent, of the sizes that have room, or of no file at all.
        if why.contains("at the first one beyond the end") {
            return self != Kind::Failure;
        }
        let by_words = match self {
            // With another amount, there are other syncs, too.
            Kind::Flushes if why.contains(" asked for, ") => return true,
            Kind::Flushes => "fio flushes again",
            Kind::Extent if option == "rw" && why.contains("twice as many blocks") => return true,
            // A time in place of an amount goes on behind it.
            Kind::Extent if why.contains(LONG) => return true,
            Kind::Amount if why.contains("page faults") => return true,
            Kind::Extent => "go on from one place",
            Kind::Sizes | Kind::Flight => "without O_DIRECT",
            _ => return self.explained_by().contains(&format!(" {option} ")),
        };
        self.explained_by().contains(&format!(" {option} ")) || why.contains(by_words)
    }
}

/// A difference and what it is.
pub type Difference = (Kind, String);

/// What of a job says how it is to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A time may end it.
    pub timed: bool,
    /// It says itself when requests are sent.
    pub paced: bool,
    /// It goes through the page cache.
    pub buffered: bool,
    /// Sections of it run together.
    pub together: bool,
    /// Sections do different things: how much of each a time lets through is how fast they are.
    pub unlike: bool,
    /// Sections have sizes of their own, of which the same is true.
    pub sized: bool,
    /// Several requests to devices may be sent at once; the kernel orders them by device.
    pub at_once: bool,
    /// It loads files.
    pub files: bool,
    /// Several sections load files: in which ones and where in them each has its part is our own.
    pub laid_out: bool,
    /// Each block once, at random.
    pub map: bool,
    /// How many requests it may have under way.
    pub deep: u64,
}

impl Facts {
    /// Those of a job.
    pub fn of(job: &Job) -> Facts {
        let any = |names: &[&str]| names.iter().any(|name| job.has(name));
        let is_random = |(name, value): &(&str, String)| *name == "rw" && value.starts_with("rand");
        let files = job.lines().any(|(_, value)| value.starts_with("DIR"));
        Facts {
            timed: job.has("runtime"),
            paced: any(&["rate", "rate_iops", "thinktime"]),
            buffered: !job.global.iter().chain(&job.sections[0]).any(|(name, _)| *name == "direct")
                || job.lines().any(|(name, value)| *name == "direct" && value == "0"),
            together: job.sections.len() > 1
                && !job.sections[1..]
                    .iter()
                    .all(|section| section.iter().any(|(name, _)| *name == "stonewall")),
            unlike: differ(job, &["rw", "readwrite", "rwmixread", "rwmixwrite"]),
            sized: differ(
                job,
                &["bs", "blocksize", "bsrange", "blocksize_range", "bssplit", "blockalign"],
            ),
            at_once: !files && job.lines().any(|line| line.0 == "iodepth" && line.1 != "1"),
            files,
            laid_out: files && job.sections.len() > 1,
            map: job.lines().any(is_random) && !job.has("norandommap"),
            deep: job.sections.iter().map(|section| deep(&job.global, section)).sum(),
        }
    }
}

/// Whether sections say different things of their own with these options.
fn differ(job: &Job, names: &[&str]) -> bool {
    let own = |section: &[Line]| -> Vec<Line> {
        section.iter().filter(|line| names.contains(&line.0)).cloned().collect()
    };
    job.sections.windows(2).any(|pair| own(&pair[0]) != own(&pair[1]))
}

/// The depths of a section's jobs together.
fn deep(global: &[Line], section: &[Line]) -> u64 {
    let last = |name: &str| {
        let all = global.iter().chain(section).filter(|line| line.0 == name);
        all.rev().find_map(|line| line.1.parse().ok()).unwrap_or(1)
    };
    last("iodepth") * last("numjobs")
}

/// What we sent. Of the syncs, `behind` may be left out: they are behind the load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub sent: Vec<Sent>,
    pub behind: u64,
}

struct Judge {
    facts: Facts,
    level: f64,
    behind: u64,
    /// Which places are hot is each run's own choice, and so is how far it is from one to the next.
    hot: bool,
    found: Vec<Difference>,
}

/// All in which ours differs from both runs of fio, where these are alike. `jobs` are judged.
pub fn differences(facts: Facts, fio: [&[Sent]; 2], ours: &Load, jobs: u64) -> Vec<Difference> {
    let level = 1e-6 / (TESTS * jobs as f64);
    let mut judge = Judge { facts, level, behind: ours.behind, hot: false, found: Vec::new() };
    let three = [fio[0], fio[1], &ours.sent];
    for op in [Op::Read, Op::Write, Op::Trim] {
        let all = three.map(|all| of_op(all, op, &facts));
        let counts = all.each_ref().map(Vec::len);
        if counts.iter().all(|count| *count == 0) {
            continue;
        }
        if counts.contains(&0) {
            if (counts[0] > 0) == (counts[1] > 0) {
                judge.say(Kind::Amount, format!("{op:?}: {counts:?} requests"));
            }
            continue;
        }
        let [a, b, ours] = &all;
        let all = [a.as_slice(), b, ours];
        match facts.buffered {
            true => judge.covered(op, all),
            false => judge.requests(op, all),
        }
    }
    judge.whole(three);
    judge.found
}

/// The requests of one operation; the addresses of files are those within one.
fn of_op(all: &[Sent], op: Op, facts: &Facts) -> Vec<Sent> {
    let these = all.iter().filter(|one| one.op == op && (one.direct || facts.buffered));
    let first = all.iter().map(|one| one.file).min().unwrap_or(0);
    // Each device has addresses of its own.
    let base = |one: &Sent| if facts.files { 0 } else { (one.file - first) << 40 };
    these.map(|one| Sent { offset: one.offset + base(one), ..*one }).collect()
}

fn bytes(all: &[Sent]) -> u64 {
    all.iter().map(|one| one.length).sum()
}

/// From a request of a worker to its next one, as a distance that orders as numbers do.
fn jumps(all: &[Sent]) -> Vec<u64> {
    let mut ends: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut jumps = Vec::new();
    for one in all.iter().filter(|one| one.op != Op::Fsync) {
        if let Some(end) = ends.insert((one.source, one.file), one.end()) {
            jumps.push((1_u64 << 62).wrapping_add(one.offset).wrapping_sub(end));
        }
    }
    jumps
}

/// Requests of a worker to another file than its one before.
fn turns(all: &[Sent]) -> Share {
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    let mut is_turn =
        |one: &&Sent| last.insert(one.source, one.file).is_some_and(|before| before != one.file);
    Share { of: all.len() as f64, count: all.iter().filter(|one| is_turn(one)).count() as f64 }
}

/// How many of each do not follow the one before.
fn jumped(all: [&[Sent]; 3]) -> [f64; 3] {
    all.map(|all| jumps(all).iter().filter(|jump| **jump != BEHIND).count().max(1) as f64)
}

const BEHIND: u64 = 1 << 62;

impl Judge {
    fn say(&mut self, kind: Kind, what: String) {
        self.found.push((kind, what));
    }

    /// Numbers that are to be equal where fio's are, and else no further apart than `slack`.
    fn equal(&mut self, kind: Kind, what: &str, values: [u64; 3], slack: f64) {
        let most = if values[0] == values[1] { 0.0 } else { slack };
        self.near(kind, what, values, [slack, most]);
    }

    /// Numbers of which fio's are no further apart than the first slack, and ours than the second.
    fn near(&mut self, kind: Kind, what: &str, values: [u64; 3], slack: [f64; 2]) {
        let [a, b, ours] = values.map(|value| value as f64);
        let (between, apart) = ((a - b).abs(), (ours - a).abs().min((ours - b).abs()));
        if between <= slack[0] && apart > slack[1] + 2.0 * between {
            let [a, b, ours] = values;
            self.say(kind, format!("{what}: {a} and {b} of fio, {ours} of ours"));
        }
    }

    /// Two distributions of each, with `n` independent values, further apart than `spare`.
    fn distance(
        &mut self,
        kind: Kind,
        what: &str,
        all: [Vec<u64>; 3],
        n: [f64; 3],
        spare: f64,
    ) -> bool {
        let [mut a, mut b, mut ours] = all;
        let level = self.level;
        let far = |one: &mut Vec<u64>, other: &mut Vec<u64>, n: [f64; 2], spare: f64| {
            let (far, most) = (distance(one, other), level_of_distance(n[0], n[1], level) + spare);
            (far > most).then_some((far, most))
        };
        if far(&mut a, &mut b, [n[0], n[1]], 0.0).is_some() {
            return false;
        }
        let n = [[n[0], n[2]], [n[1], n[2]]];
        let both = (far(&mut a, &mut ours, n[0], spare), far(&mut b, &mut ours, n[1], spare));
        if let (Some((one, most)), Some((other, _))) = both {
            self.say(
                kind,
                format!("{what} differ by {one:.3} and {other:.3}, {most:.3} is chance"),
            );
        }
        true
    }

    /// Shares of each, further apart than `spare` of all.
    fn shares(&mut self, kind: Kind, what: &str, all: [Share; 3], spare: f64) {
        let [a, b, ours] = all;
        let apart = |one: Share| (one.count / one.of - ours.count / ours.of).abs() > spare;
        let far = |one: Share| unequal(one, ours, self.level).filter(|_| apart(one));
        if unequal(a, b, self.level).is_none()
            && let (Some(what_differs), Some(_)) = (far(a), far(b))
        {
            self.say(kind, format!("{what}: {what_differs}"));
        }
    }

    /// One operation past the page cache.
    fn requests(&mut self, op: Op, all: [&[Sent]; 3]) {
        let Facts { timed, paced, together, sized, .. } = self.facts;
        let counts = all.map(|all| all.len() as u64);
        let name = op.name();
        let (mean, sd) = (bytes(all[0]) as f64 / counts[0] as f64, (counts[0] as f64).sqrt());
        if !timed {
            self.equal(Kind::Amount, &format!("{name}s"), counts, 6.0 * sd);
            self.equal(Kind::Amount, &format!("{name} bytes"), all.map(bytes), 6.0 * sd * mean);
        } else if paced {
            let slack = counts[0] as f64 / 10.0 + 6.0 * sd.min(4.0);
            self.near(Kind::Amount, &format!("{name}s"), counts, [slack; 2]);
        }
        let lengths: BTreeSet<u64> =
            all.iter().flat_map(|all| all.iter()).map(|one| one.length).collect();
        for length in lengths.iter().filter(|_| !(timed && sized)) {
            let share = |all: &[Sent]| {
                let count = all.iter().filter(|one| one.length == *length).count() as f64;
                Share { of: all.len() as f64, count }
            };
            self.shares(Kind::Sizes, &format!("{name}s of {length} bytes"), all.map(share), 0.0);
        }
        if self.facts.laid_out {
            return;
        }
        self.extent(name, all);
        let maps = all.map(places);
        if !timed && other_places(&maps[0], &maps[1]) == 0 {
            let other = other_places(&maps[0], &maps[2]);
            if other > 0 {
                let of = maps[0].len();
                self.say(Kind::Places, format!("{name}s: {other} other places than fio's {of}"));
            }
            return;
        }
        self.drawn_places(name, all);
        if !(timed && together) {
            self.different_places(name, all);
        }
    }

    /// Where requests are whose places are drawn, or that a time ends.
    fn drawn_places(&mut self, name: &str, all: [&[Sent]; 3]) {
        // Those that follow another one say nothing new.
        let n = jumped(all);
        let of = |all: &[Sent]| all.iter().map(|one| one.offset).collect::<Vec<_>>();
        if !self.distance(Kind::Places, &format!("places of {name}s"), all.map(of), n, 0.0) {
            self.hot = true;
            let least = all.iter().map(|all| all.len()).min().unwrap_or(0);
            let ranked = all.map(|all| ranks(&all[..least]));
            let n = [least as f64; 3];
            self.distance(Kind::Places, &format!("ranks of the places of {name}s"), ranked, n, 0.0);
        }
    }

    /// The first and the last place; of many that are drawn, nearly.
    fn extent(&mut self, name: &str, all: [&[Sent]; 3]) {
        let ends = all.map(|all| {
            let first = all.iter().map(|one| one.offset).min().unwrap_or(0);
            [first, all.iter().map(Sent::end).max().unwrap_or(0)]
        });
        let few = jumped(all).iter().copied().fold(f64::MAX, f64::min);
        let slack = (ends[0][1] - ends[0][0]) as f64 * (20.0 / few).min(1.0);
        self.near(
            Kind::Extent,
            &format!("first place of {name}s"),
            ends.map(|end| end[0]),
            [slack; 2],
        );
        self.near(
            Kind::Extent,
            &format!("last place of {name}s"),
            ends.map(|end| end[1]),
            [slack; 2],
        );
    }

    /// How many different places there are, of as many requests.
    fn different_places(&mut self, name: &str, all: [&[Sent]; 3]) {
        let least = all.iter().map(|all| all.len()).min().unwrap_or(0);
        let of = |all: &[Sent]| {
            all[..least].iter().map(|one| one.offset).collect::<BTreeSet<_>>().len() as u64
        };
        let different = all.map(of);
        let what = format!("different places of {least} {name}s");
        let slack = 6.0 * (least as f64).sqrt();
        match different[0] == least as u64 && different[1] == least as u64 && !self.facts.timed {
            true => self.equal(Kind::Places, &what, different, slack),
            false => self.near(Kind::Places, &what, different, [slack; 2]),
        }
    }

    /// One operation through the page cache: the pages that it covers.
    fn covered(&mut self, op: Op, all: [&[Sent]; 3]) {
        if self.facts.timed || self.facts.laid_out {
            return;
        }
        let pages = all.map(|all| {
            let of = |one: &Sent| one.offset >> 12..one.end().div_ceil(4_096);
            all.iter().flat_map(of).collect::<BTreeSet<u64>>()
        });
        let count = pages.each_ref().map(|pages| pages.len() as u64);
        let what = format!("pages of {}s", op.name());
        self.equal(Kind::Amount, &what, count, 6.0 * (count[0] as f64).sqrt());
        if pages[0] == pages[1] && pages[0] != pages[2] {
            self.say(Kind::Places, format!("other {what}"));
        }
    }

    /// All operations together: their shares, order, pace, flight, flushes and files.
    fn whole(&mut self, three: [&[Sent]; 3]) {
        let Facts { timed, paced, buffered, together, unlike, files, map, laid_out, deep, .. } =
            self.facts;
        let flushes = three.map(|all| all.iter().filter(|one| one.op == Op::Fsync).count() as u64);
        let [a, _, ours] = flushes;
        let is_behind = (ours - self.behind.min(ours)..=ours).contains(&a);
        if !timed && !is_behind && (files || !buffered) {
            self.equal(Kind::Flushes, "flushes", flushes, 2.0 + flushes[0] as f64 / 10.0);
        }
        let sent = three.map(|all| -> Vec<Sent> {
            let is_load = |one: &&Sent| one.op != Op::Fsync && (one.direct || buffered);
            all.iter().filter(is_load).copied().collect()
        });
        let distinct =
            |all: &Vec<Sent>| all.iter().map(|one| one.file).collect::<BTreeSet<_>>().len() as u64;
        if !laid_out {
            self.equal(Kind::Files, "files", sent.each_ref().map(distinct), 0.0);
        }
        if buffered || sent.iter().any(|all| all.len() < 30) {
            return;
        }
        if !(timed && together) {
            // Where an amount ends it, the requests of each operation are counted themselves.
            let drawn = if timed && !unlike { &[Op::Read, Op::Write, Op::Trim][..] } else { &[] };
            for &op in drawn {
                let share = |all: &Vec<Sent>| {
                    let count = all.iter().filter(|one| one.op == op).count() as f64;
                    Share { of: all.len() as f64, count }
                };
                let what = format!("share of {}s", op.name());
                self.shares(Kind::Sizes, &what, sent.each_ref().map(share), 0.0);
            }
            self.order(sent.each_ref().map(|all| jumps(all)), map);
            let (turns, spare) =
                (sent.each_ref().map(|all| turns(all)), 2.0 / sent[0].len() as f64);
            let spare = if laid_out || self.facts.at_once { 1.0 } else { spare };
            self.shares(Kind::Order, "to another file", turns, spare);
        }
        let deepest = sent
            .each_ref()
            .map(|all| all.iter().map(|one| u64::from(one.in_flight)).max().unwrap_or(0));
        let [a, b, ours] = deepest;
        // Short jobs of a busy machine may miss each other; as many as were asked for is no fault.
        let most = if a + 1 >= deep / 2 { deep.max(a + 2) } else { a + 2 };
        if a == b && (ours + 1 > most || ours + 1 < a / 2) {
            self.say(
                Kind::Flight,
                format!("at most {} in flight of fio, {} of ours", a + 1, ours + 1),
            );
        }
        if paced {
            self.pace(sent.each_ref().map(Vec::as_slice));
        }
    }

    /// How workers go on from one request to the next.
    fn order(&mut self, all: [Vec<u64>; 3], map: bool) {
        if all.iter().any(|jumps| jumps.len() < 30) {
            return;
        }
        let follow = |jumps: &Vec<u64>| {
            let count = jumps.iter().filter(|jump| **jump == BEHIND).count() as f64;
            Share { of: jumps.len() as f64, count }
        };
        let spare = if map { NEIGHBOURS } else { 2.0 / all[0].len() as f64 };
        let shares = all.each_ref().map(follow);
        self.shares(Kind::Order, "behind the request before", shares, spare);
        let n = all.each_ref().map(|jumps| jumps.len() as f64);
        if self.hot {
            return;
        }
        // The same neighbours again.
        let spare = if map { NEIGHBOURS } else { 0.0 };
        self.distance(Kind::Order, "ways from one request to the next", all, n, spare);
    }

    /// Mean gap, and requests in windows of sixteen of them.
    fn pace(&mut self, all: [&[Sent]; 3]) {
        let mean = |all: &[Sent]| {
            let time = all[all.len() - 1].at_us - all[0].at_us;
            time / (all.len() as u64 - 1)
        };
        let means = all.map(mean);
        self.near(Kind::Pace, "µs between requests", means, [means[0] as f64 / 10.0; 2]);
        let window = means.iter().max().copied().unwrap_or(1) * 16;
        let windows = all.map(|all| in_windows(all, window));
        if windows.iter().all(|windows| windows.len() >= 10) {
            let n = windows.each_ref().map(|windows| windows.len() as f64);
            self.distance(Kind::Pace, "requests in a window", windows, n, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    fn at(number: u64, offset: u64) -> Sent {
        let (at_us, length, op) = (number * 100, 4_096, Op::Write);
        let (source, in_flight, file, direct) = (0, 0, 0, true);
        Sent { at_us, op, offset, length, source, in_flight, file, direct }
    }

    fn random(seed: u64, count: u64, blocks: u64) -> Vec<Sent> {
        let mut rng = Rng::new(seed);
        (0..count).map(|number| at(number, rng.below(blocks) * 4_096)).collect()
    }

    fn kinds(facts: Facts, fio: [&[Sent]; 2], ours: &[Sent]) -> BTreeSet<Kind> {
        differences(facts, fio, &Load { sent: ours.to_vec(), behind: 0 }, 100)
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }

    #[test]
    fn what_fio_has_alike_is_held_to_the_request() {
        let facts = Facts::default();
        let fio: Vec<Sent> = (0..2_000).map(|number| at(number, number * 4_096)).collect();
        let both = [fio.as_slice(), &fio];
        assert_eq!(kinds(facts, both, &fio), BTreeSet::new());
        let less = kinds(facts, both, &fio[1..]);
        assert!(less.contains(&Kind::Amount) && less.contains(&Kind::Places), "{less:?}");
        let mut turned = fio.clone();
        turned.reverse();
        assert_eq!(kinds(facts, both, &turned), BTreeSet::from([Kind::Order]));
        let mut synced = fio.clone();
        synced.push(Sent { op: Op::Fsync, length: 0, ..fio[7] });
        assert_eq!(kinds(facts, both, &synced), BTreeSet::from([Kind::Flushes]));
        let synced = Load { sent: synced, behind: 1 };
        assert_eq!(differences(facts, both, &synced, 100), [], "behind the load");
        let mut files = fio.clone();
        files.iter_mut().step_by(2).for_each(|one| one.file = 1);
        assert!(kinds(Facts { files: true, ..facts }, both, &files).contains(&Kind::Files));
        let mut deep = fio.clone();
        deep[9].in_flight = 3;
        assert_eq!(kinds(facts, both, &deep), BTreeSet::from([Kind::Flight]));
        let slow: Vec<Sent> = fio.iter().map(|one| Sent { at_us: one.at_us * 2, ..*one }).collect();
        assert_eq!(
            kinds(Facts { paced: true, ..facts }, both, &slow),
            BTreeSet::from([Kind::Pace])
        );
        // Of those that a worker hands over at once, the kernel sends a device's together.
        let turn = |k: u64, run: u64| Sent {
            file: k / run % 2,
            ..at(k, (k / run / 2 * run + k % run) * 4_096)
        };
        let by = |run: u64| (0..2_000).map(|number| turn(number, run)).collect::<Vec<_>>();
        let (one, two) = (by(1), by(2));
        let two_devices = |at_once: bool| {
            kinds(Facts { at_once, ..facts }, [&one, &one], &two).contains(&Kind::Order)
        };
        assert!(two_devices(false) && !two_devices(true));
        let cached = Facts { buffered: true, ..facts };
        assert_eq!(kinds(cached, both, &turned), BTreeSet::new(), "the same pages");
        assert!(kinds(cached, both, &fio[8..]).contains(&Kind::Places));
    }

    #[test]
    fn what_is_drawn_may_differ_by_chance_alone() {
        let facts = Facts { timed: true, ..Facts::default() };
        let (a, b) = (random(1, 20_000, 4_096), random(2, 21_000, 4_096));
        let both = [a.as_slice(), &b];
        let wrong = |ours: &[Sent]| kinds(facts, both, ours);
        assert_eq!(wrong(&random(3, 9_000, 4_096)), BTreeSet::new(), "a slow one");
        let long = wrong(&random(3, 9_000, 4_800));
        assert!(long.contains(&Kind::Places) && long.contains(&Kind::Extent), "{long:?}");
        let mut ours = random(3, 9_000, 4_096);
        ours.iter_mut().step_by(5).for_each(|one| one.length = 8_192);
        assert_eq!(wrong(&ours), BTreeSet::from([Kind::Sizes]));
        ours = random(3, 9_000, 4_096);
        ours.iter_mut().step_by(5).for_each(|one| one.op = Op::Read);
        assert_eq!(wrong(&ours), BTreeSet::from([Kind::Amount, Kind::Sizes]), "fio reads nothing");
        // Of sections that do different things, each has its own time.
        let ops = |seed: u64, step: usize| {
            let mut all = random(seed, 9_000, 4_096);
            all.iter_mut().step_by(step).for_each(|one| one.op = Op::Read);
            all
        };
        let (a, b) = (ops(1, 3), ops(2, 3));
        assert_eq!(kinds(facts, [&a, &b], &ops(3, 2)), BTreeSet::from([Kind::Sizes]));
        let unlike = Facts { unlike: true, ..facts };
        assert_eq!(kinds(unlike, [&a, &b], &ops(3, 2)), BTreeSet::new());
        let is_unlike = |own: &str| {
            let section = |rw: &str| vec![("rw", rw.to_owned())];
            let sections = vec![section("read"), section(own)];
            Facts::of(&Job { global: Vec::new(), sections }).unlike
        };
        assert!(is_unlike("write") && !is_unlike("read"));
        // The same of sections that have sizes of their own.
        let sized = Facts { sized: true, ..facts };
        let long = |seed: u64, step: usize| {
            let mut all = random(seed, 9_000, 4_096);
            all.iter_mut().step_by(step).for_each(|one| one.length = 8_192);
            all
        };
        let (a, b) = (long(1, 3), long(2, 3));
        assert_eq!(kinds(facts, [&a, &b], &long(3, 2)), BTreeSet::from([Kind::Sizes]));
        assert_eq!(kinds(sized, [&a, &b], &long(3, 2)), BTreeSet::new());
        // Which places are hot is each run's own choice; how hot they are is not.
        let hot = |seed: u64, place: u64, step: usize| {
            let mut all = random(seed, 9_000, 4_096);
            all.iter_mut().step_by(step).for_each(|one| one.offset = place << 12);
            all
        };
        let (a, b) = (hot(1, 100, 3), hot(2, 4_000, 3));
        assert_eq!(kinds(facts, [&a, &b], &hot(3, 2_000, 3)), BTreeSet::new());
        assert!(kinds(facts, [&a, &b], &hot(3, 2_000, 2)).contains(&Kind::Places));
    }

    #[test]
    fn a_loss_explains_what_its_option_is_about() {
        let is_of = Kind::is_of;
        assert!(is_of(Kind::Pace, "rate_iops", "") && !is_of(Kind::Amount, "rate_iops", ""));
        assert!(!is_of(Kind::Extent, "rw", "") && !is_of(Kind::Extent, "", ""));
        assert!(!is_of(Kind::Failure, "rw", "") && !is_of(Kind::Flushes, "fsync", "no times"));
        assert!(is_of(Kind::Flushes, "fsync", "fio flushes again after"));
        assert!(is_of(Kind::Extent, "rw", "reach twice as many blocks"));
        assert!(is_of(Kind::Sizes, "direct", "opened without O_DIRECT"));
        assert!(is_of(Kind::Amount, "ioengine", "in place of page faults"));
        assert!(is_of(Kind::Sizes, "blocksize_range", "") && is_of(Kind::Order, "readwrite", ""));
        assert!(!is_of(Kind::Sizes, "direct", "") && !is_of(Kind::Pace, "", "without O_DIRECT"));
    }
}
