//! Whether a suite asks of files what IOR asks: phase by phase, which requests, where, of how many
//! files, by whom, and in which order.

use super::super::judge::{Difference, Kind};
use super::calls::{Call, What};
use super::command::Command;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer requests of a worker to a segment say nothing of a random order.
const FEW: u64 = 12;

/// The requests and syncs of a phase.
type Phase<'a> = Vec<&'a Call>;

/// All in which ours differs: the calls of each of its stages.
pub(super) fn differences<'a>(
    job: &Command,
    theirs: &'a [Call],
    ours: impl Iterator<Item = Vec<&'a Call>>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let ours: Vec<Vec<&Call>> = ours.collect();
    let over = [written_over(theirs.iter()), written_over(ours.iter().flatten().copied())];
    if over[0] != over[1] {
        let what = format!("files written over: {}, ours {}", over[0], over[1]);
        found.push((Kind::Files, what));
    }
    let theirs = phases(theirs, job.value("-a") == Some("MPIIO"));
    // What is made durable before a load is to leave the page cache.
    let of_load = |all: Vec<&'a Call>| {
        let all = all.into_iter().filter(|call| is_request(call) || call.what == What::Sync);
        all.skip_while(|call| call.what == What::Sync).collect::<Phase<'_>>()
    };
    let ours: Vec<Phase<'_>> =
        ours.into_iter().map(of_load).filter(|all| !all.is_empty()).collect();
    let names = |all: &[Phase<'_>]| all.iter().map(|one| name(one)).collect::<Vec<_>>().join(", ");
    if names(&theirs) != names(&ours) {
        let what = format!("phases: {} of theirs, {} of ours", names(&theirs), names(&ours));
        found.push((Kind::Amount, what));
    }
    let mut left = theirs.iter();
    for our in &ours {
        if let Some(their) = left.find(|their| name(their) == name(our)) {
            compare(job, their, our, &mut found);
        }
    }
    found
}

/// How many files are written again in a place, and were not removed before.
fn written_over<'a>(all: impl Iterator<Item = &'a Call>) -> usize {
    let (mut written, mut over): (BTreeSet<(&str, u64)>, BTreeSet<&str>) = Default::default();
    for call in all {
        match call.what {
            What::Remove => written.retain(|(path, _)| *path != call.path),
            What::Write if !written.insert((&call.path, call.offset)) => {
                over.insert(&call.path);
            }
            _ => {}
        }
    }
    over.len()
}

fn is_request(call: &Call) -> bool {
    matches!(call.what, What::Read | What::Write)
}

/// From opening to opening: each rank opens its file once in each phase. MPI-IO opens it also to
/// make it, and then `again`.
fn phases(all: &[Call], again: bool) -> Vec<Phase<'_>> {
    let mut opened: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
    let mut phases: Vec<Phase<'_>> = Vec::new();
    for call in all {
        let (number, is_idle) = opened.entry(call.source).or_default();
        match call.what {
            What::Create | What::Open if again && *is_idle => {}
            What::Create | What::Open => (*number, *is_idle) = (*number + 1, true),
            What::Read | What::Write | What::Sync if *number > 0 => {
                phases.resize(phases.len().max(*number), Vec::new());
                phases[*number - 1].push(call);
                *is_idle = false;
            }
            _ => {}
        }
    }
    phases.retain(|phase| phase.iter().any(|call| is_request(call)));
    phases
}

fn name(phase: &Phase<'_>) -> &'static str {
    let reads = phase.iter().filter(|call| call.what == What::Read).count();
    if reads > phase.iter().filter(|call| call.what == What::Write).count() {
        "read"
    } else {
        "write"
    }
}

/// The places of each of these, in turn: of a worker, or of a file.
fn lists<K: Ord>(phase: &Phase<'_>, of: impl Fn(&Call) -> K) -> Vec<Vec<u64>> {
    let mut lists: BTreeMap<K, Vec<u64>> = BTreeMap::new();
    for call in phase.iter().filter(|call| is_request(call)) {
        lists.entry(of(call)).or_default().push(call.offset);
    }
    let mut lists: Vec<_> = lists.into_values().collect();
    lists.sort();
    lists
}

/// How many syncs come before a request of who asks for them, and how many do not.
fn syncs(phase: &Phase<'_>) -> [usize; 2] {
    let (mut counts, mut later) = ([0, 0], BTreeSet::new());
    for call in phase.iter().rev() {
        match call.what {
            What::Sync => counts[usize::from(!later.contains(&call.source))] += 1,
            _ => _ = later.insert(call.source),
        }
    }
    counts
}

fn compare(job: &Command, theirs: &Phase<'_>, ours: &Phase<'_>, found: &mut Vec<Difference>) {
    let phase = name(theirs);
    let mut say = |kind: Kind, about: &str, what: String| {
        // Once is enough, of many repetitions.
        if !found.iter().any(|(_, other)| other.starts_with(about)) {
            found.push((kind, format!("{about} of {phase}s: {what}")));
        }
    };
    let both = [theirs, ours];
    let count = both.map(|all| all.iter().filter(|call| is_request(call)).count());
    let bytes = both.map(|all| all.iter().map(|call| call.length).sum::<u64>());
    if count[0] != count[1] || bytes[0] != bytes[1] {
        let what = format!("{count:?}, bytes {bytes:?}");
        say(Kind::Amount, "requests", what);
    }
    let lengths = both.map(|all| {
        let all = all.iter().filter(|call| is_request(call));
        all.map(|call| call.length).collect::<BTreeSet<_>>()
    });
    if lengths[0] != lengths[1] {
        say(Kind::Sizes, "sizes", format!("{:?}, ours {:?}", lengths[0], lengths[1]));
    }
    let of_files = both.map(|all| lists(all, |call| call.path.clone()));
    if of_files[0].len() != of_files[1].len() {
        say(Kind::Files, "files", format!("{:?}", of_files.each_ref().map(Vec::len)));
    } else {
        let sorted = of_files.map(|mut all| {
            all.iter_mut().for_each(|list| list.sort_unstable());
            all.sort();
            all
        });
        let ends = sorted.each_ref().map(|all| {
            all.iter().map(|list| list.last().copied().unwrap_or(0)).collect::<Vec<_>>()
        });
        if ends[0] != ends[1] {
            say(Kind::Extent, "last places", format!("{:?}, ours {:?}", ends[0], ends[1]));
        } else if sorted[0] != sorted[1] {
            say(Kind::Places, "places", "others in the same files".to_owned());
        }
    }
    let of_workers = both.map(|all| lists(all, |call| call.source));
    order(job, &of_workers, &mut say);
    let [theirs, ours] = both.map(syncs);
    // What was written is made durable at the end, whether that counts or not.
    if theirs[0] != ours[0] || theirs[1] > ours[1] {
        say(Kind::Flushes, "syncs", format!("{theirs:?} amid and behind, ours {ours:?}"));
    }
}

/// In which order each worker goes through its places.
fn order(job: &Command, of: &[Vec<Vec<u64>>; 2], say: &mut impl FnMut(Kind, &str, String)) {
    if of[0].len() != of[1].len() {
        say(Kind::Places, "workers", format!("{:?}", of.each_ref().map(Vec::len)));
        return;
    }
    let is_in_turn = |list: &Vec<u64>| list.is_sorted();
    if of[0].iter().all(is_in_turn) && !job.lines.iter().any(|line| line.0 == "-z") {
        if of[0] != of[1] {
            let of_one = of.each_ref().map(|all| format!("{:?}", all[0]));
            say(Kind::Order, "order", format!("a worker {}, ours {}", of_one[0], of_one[1]));
        }
        return;
    }
    let segments = job.value("-s").and_then(|count| count.parse().ok()).unwrap_or(1);
    let is_long = |list: &&Vec<u64>| list.len() as u64 / segments >= FEW;
    let many = |all: &Vec<Vec<u64>>| all.iter().filter(is_long).count();
    let random = |all: &Vec<Vec<u64>>| all.iter().filter(|list| !is_in_turn(list)).count();
    if of.iter().all(|all| many(all) > 0) && (random(&of[0]) == 0) != (random(&of[1]) == 0) {
        say(Kind::Order, "order", "random in one alone".to_owned());
    }
    let end = of[0].iter().flatten().max().map_or(0, |last| last + 1);
    let turns = of.each_ref().map(|all| {
        let segment = end.div_ceil(segments).max(1);
        let of_list = |list: &Vec<u64>| {
            let mut these: Vec<u64> = list.iter().map(|place| place / segment).collect();
            these.dedup();
            these.len() as u64
        };
        all.iter().map(of_list).max().unwrap_or(0)
    });
    if turns[0] <= segments && turns[1] > segments {
        let what = format!("{segments} one after the other, ours {} changes", turns[1]);
        say(Kind::Order, "segments", what);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Tool;
    use super::super::calls::of_thread;
    use super::*;

    /// The calls of ranks: each `w0 w1 s r0 x` writes, syncs, reads, opens before each change
    /// between reads and writes, and removes.
    fn ranks(texts: &[(u32, &str)]) -> Vec<Call> {
        let mut all = Vec::new();
        for (source, text) in texts {
            let mut lines = String::new();
            let mut before = "";
            for (number, word) in text.split(' ').enumerate() {
                let (kind, place) = word.split_at(1);
                let at = format!("1.{number:06}");
                if "wr".contains(kind) && kind != before {
                    lines += &format!("{at} open(\"/x/f\", O_RDWR) = 3</x/f>\n");
                    before = kind;
                }
                lines += &match kind {
                    "w" => format!("{at} pwrite64(3</x/f>, \"\"..., 9, {place}) = 9\n"),
                    "r" => format!("{at} pread64(3</x/f>, \"\"..., 9, {place}) = 9\n"),
                    "s" => format!("{at} fsync(3</x/f>) = 0\n"),
                    _ => format!("{at} unlink(\"/x/f\") = 0\n"),
                };
            }
            all.extend(of_thread(*source, &lines, "/x"));
        }
        all.sort_by_key(|call| call.at_us);
        all
    }

    fn told(options: &str, theirs: &[(u32, &str)], ours: &[&[(u32, &str)]]) -> Vec<String> {
        let lines = options.split_whitespace().filter_map(|line| {
            let (name, value) = line.split_once('=')?;
            Some((if name == "-z" { "-z" } else { "-s" }, value.to_owned()))
        });
        let job = Command { tool: Tool::Ior, ranks: "1".to_owned(), lines: lines.collect() };
        let (theirs, ours) = (ranks(theirs), ours.iter().map(|one| ranks(one)));
        let ours: Vec<Vec<Call>> = ours.collect();
        let found = differences(&job, &theirs, ours.iter().map(|one| one.iter().collect()));
        found.into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn what_is_asked_of_files_is_held_to_the_request() {
        let same = |theirs: &str, ours: &[&str]| {
            let ours: Vec<[(u32, &str); 1]> = ours.iter().map(|text| [(7, *text)]).collect();
            let ours: Vec<&[(u32, &str)]> = ours.iter().map(<[_; 1]>::as_slice).collect();
            told("", &[(1, theirs)], &ours)
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(same("w0 w9 s r0 r9", &["w0 w9 s", "r0 r9"]), none);
        assert_eq!(same("w0 w9 r0 r9", &["w0 w9 s", "s r0 r9"]), none, "before and behind a load");
        assert!(same("w0 s w9", &["w0 w9 s"])[0].starts_with("syncs of writes: [1, 0]"));
        assert!(same("w0 w9 r0 r9", &["w0 w9"])[0].starts_with("phases: write, read of theirs"));
        let less = same("w0 w9 w18", &["w0 w9"]);
        assert!(less[0].starts_with("requests of writes: [3, 2]"), "{less:?}");
        assert!(less[1].starts_with("last places of writes"), "{less:?}");
        assert!(same("w0 w9 w18", &["w9 w0 w18"])[0].starts_with("order of writes"));
        let again = same("w0 r0 x w0", &["w0", "r0", "w0"]);
        assert_eq!(again, ["files written over: 0, ours 1"]);
        let two: &[(u32, &str)] = &[(1, "w0 w9"), (2, "w18 w27")];
        assert_eq!(told("", two, &[&[(5, "w0 w9"), (4, "w18 w27")]]), none);
        assert!(told("", two, &[&[(5, "w0 w9 w18 w27")]])[0].starts_with("workers of writes"));
        assert!(told("", two, &[&[(5, "w0 w18"), (4, "w9 w27")]])[0].starts_with("order of"));
    }

    #[test]
    fn of_random_places_the_set_and_the_segments_count() {
        let theirs = "w27 w0 w18 w9 w63 w36 w54 w45 w81 w72 w99 w90";
        let of = |options: &str, ours: &str| told(options, &[(1, theirs)], &[&[(7, ours)]]);
        let other = "w0 w27 w18 w9 w36 w54 w45 w63 w99 w72 w81 w90";
        assert_eq!(of("-z= -s=1", other), Vec::<String>::new());
        assert_eq!(of("-z= -s=3", other), Vec::<String>::new());
        let mixed = "w0 w99 w18 w9 w36 w54 w45 w63 w27 w72 w81 w90";
        assert!(of("-z= -s=3", mixed)[0].starts_with("segments of writes"));
        let turn = "w0 w9 w18 w27 w36 w45 w54 w63 w72 w81 w90 w99";
        assert_eq!(of("-z= -s=1", turn), ["order of writes: random in one alone"]);
    }
}
