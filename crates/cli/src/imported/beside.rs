//! What a job asks for beside what the plan of its suite sends, by quantities: that a suite means
//! the same is a property of the whole job, whatever is said of its options one by one.

use dialects::{Asked, Class, Import, Places, Quantity, Verdict, joined};
use model::load::{Pace, Rate, SizeMix};
use model::plan::{Work, Worker};
use model::testbed::{DirectIo, HostFacts, TargetFacts, TargetKind};
use model::{Bytes, Nanos, Plan, StageKind};
use std::collections::{BTreeMap, BTreeSet};
use suite::planner::{self, GivenUp, Refusal, Request};
use suite::{ALL_HOSTS, HostTargets, Spec};

/// A device that nobody has seen has so many bytes.
const UNSEEN: u64 = 1 << 50;
/// More streams with more files take their time, and are not laid beside their plan.
const MOST: u64 = 20_000;
const CPUS: u32 = 8;

/// Lays each workload beside its plan, and says on the options of the job what differs. `size` has
/// the sizes of devices that can be seen from here.
pub(crate) fn lay_beside(import: &mut Import, size: &dyn Fn(&str) -> Option<u64>) {
    // What was refused is missing in the plan.
    if import.asked.is_empty() || import.refused().next().is_some() {
        return;
    }
    let streams = |one: &Asked| one.streams.unwrap_or(1).saturating_mul(one.files);
    let all = import.asked.iter().map(streams).fold(0, u64::saturating_add);
    let first = import.asked[0].clone();
    if all > MOST {
        let why = format!("not laid beside its plan: more than {MOST} files of streams");
        return import.differs(&first, Quantity::Places, Verdict::near(why));
    }
    let devices = import.asked.iter().flat_map(|one| &one.devices);
    let sizes: BTreeMap<String, u64> =
        devices.map(|path| (path.clone(), size(path).unwrap_or(UNSEEN))).collect();
    let size = |path: &str| sizes.get(path).copied();
    let mut sent = BTreeMap::new();
    for suite in import.suites.clone() {
        match planned(&suite.name, &suite.text, &import.asked, &size) {
            Ok(plan) => all_sent(&plan, &mut sent),
            Err(words) => {
                let mut all = import.asked.iter();
                let asked = all.find(|one| !one.devices.is_empty()).cloned().unwrap_or(first);
                return import.differs(&asked, Quantity::Places, Verdict::refused(words));
            }
        }
    }
    let mut names: Vec<String> = import.asked.iter().map(|one| one.workload.clone()).collect();
    names.dedup();
    // Several jobs may have an option from one line.
    let mut told = Vec::new();
    for name in names {
        let asked: Vec<Asked> =
            import.asked.iter().filter(|one| one.workload == name).cloned().collect();
        let Some(sent) = sent.get(&name) else { continue };
        let together = |one: &&Asked| sent.peers.contains(&one.workload);
        let peers: Vec<Asked> = import.asked.iter().filter(together).cloned().collect();
        let files = other_files(&peers, sent).map(|words| (Quantity::Places, words));
        let all = differences(&asked, sent, &size);
        for (quantity, words) in all.into_iter().chain(files) {
            let mut options = asked[0].options.iter();
            let option = options.find(|(of, _)| *of == quantity).map(|(_, id)| *id);
            let why = format!("of the whole job, {words}");
            if told.contains(&(option, why.clone())) {
                continue;
            }
            told.push((option, why.clone()));
            import.differs(&asked[0], quantity, Verdict { class: Class::Approximated, why });
        }
    }
}

/// The plan of a suite on a host that has room for everything, or why there is none.
fn planned(
    name: &str,
    text: &str,
    asked: &[Asked],
    size: &dyn Fn(&str) -> Option<u64>,
) -> Result<Plan, String> {
    let mut spec = Spec::parse(name, text, &[]).map_err(|errors| {
        let all: Vec<&str> = errors.problems.iter().map(|one| one.message.as_str()).collect();
        format!("no suite: {}", all.join("; "))
    })?;
    if spec.targets.is_empty() {
        let (hosts, owner) = (ALL_HOSTS.to_owned(), String::new());
        spec.targets.push(HostTargets { hosts, paths: vec!["/plimsoll".to_owned()], owner });
    }
    let targets = spec.scenarios().iter().flat_map(|scenario| spec.targets_of(scenario));
    let mut paths: Vec<String> = Vec::new();
    for path in targets.flat_map(|target| &target.paths) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    let is_device = |path: &String| asked.iter().any(|one| one.devices.contains(path));
    let given_up: Vec<GivenUp> = paths
        .iter()
        .filter(|path| is_device(path))
        .map(|device| GivenUp { host: None, device: device.clone() })
        .collect();
    let of = |path: &String| target(path, size(path).filter(|_| is_device(path)));
    let hosts = [HostFacts {
        logical_cpus: CPUS,
        memory: Bytes(1 << 50),
        memory_available: Bytes(1 << 50),
        numa_cpus: vec![(0..CPUS).collect()],
        targets: paths.iter().map(of).collect(),
        ..HostFacts::unknown("here")
    }];
    let request = Request {
        run_id: "imported",
        spec: &spec,
        scale: model::Scale::FULL,
        existing: false,
        destroy_data: &given_up,
        hosts: &hosts,
    };
    planner::plan(&request).map_err(|refusals| {
        let words: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
        format!("no plan: {}", words.join("; "))
    })
}

fn target(path: &str, device: Option<u64>) -> TargetFacts {
    let of_device = |size| TargetKind::Device { size: Bytes(size), in_use: None };
    TargetFacts {
        path: path.to_owned(),
        kind: device.map_or(TargetKind::Missing, of_device),
        writable: true,
        file_system: Some("ext4".to_owned()),
        free: Bytes(1 << 58),
        total: Bytes(1 << 58),
        direct: DirectIo::Aligned(512),
        ..TargetFacts::default()
    }
}

/// What a workload sends, over all of its points.
#[derive(Default)]
struct Sent {
    places: Places,
    /// How many workers load each file.
    streams: BTreeMap<String, usize>,
    bytes: u64,
    time_ns: Option<u64>,
    /// How long it runs before it is measured.
    ramp_ns: u64,
    /// Requests or bytes that are due by its rate while that changes.
    due: Option<f64>,
    /// The workloads that run together with it, itself among them, and the files of all of them.
    peers: Vec<String>,
    files: BTreeSet<String>,
    in_flight: u64,
    sizes: [Vec<(u64, u32)>; 2],
    reads: u64,
    trims: u64,
    rate: Option<Rate>,
    is_closed: bool,
    is_alone: bool,
}

fn all_sent(plan: &Plan, sent: &mut BTreeMap<String, Sent>) {
    for host in &plan.hosts {
        let files: Vec<&str> = host.files().map(|file| file.path.as_str()).collect();
        let ramps = host.stages.iter().filter(|stage| stage.kind == StageKind::Precondition);
        for work in ramps.flat_map(|stage| &stage.works) {
            let one = sent.entry(work.workload.clone()).or_default();
            one.ramp_ns = work.stop.time().map_or(0, |time| time.0);
        }
        for stage in host.stages.iter().filter(|stage| stage.kind == StageKind::Measure) {
            let all = stage.workers.iter().flat_map(|worker| &worker.extents);
            let path = |file: u32| files.get(file as usize).copied().unwrap_or_default().to_owned();
            let paths: BTreeSet<String> = all.map(|extent| path(extent.file)).collect();
            for (number, work) in (0..).zip(&stage.works) {
                let one = sent.entry(work.workload.clone()).or_default();
                one.is_alone = stage.works.len() == 1;
                one.peers = stage.works.iter().map(|work| work.workload.clone()).collect();
                one.files = paths.clone();
                one.say(work);
                let workers = stage.workers.iter().filter(|worker| worker.work == number);
                (one.in_flight, one.streams) = (0, BTreeMap::new());
                workers.for_each(|worker| one.add(work, worker, &files));
            }
        }
    }
}

impl Sent {
    fn say(&mut self, work: &Work) {
        let parts = |mix: &SizeMix| mix.parts.iter().map(|(size, of)| (size.0, *of)).collect();
        self.sizes = [
            if work.reads() { parts(&work.block_size) } else { Vec::new() },
            if work.changes() { parts(&work.write_block_size) } else { Vec::new() },
        ];
        self.reads = if work.reads() { u64::from(work.read.ppm) } else { 0 };
        self.trims = u64::from(work.trim.ppm);
        self.time_ns = work.stop.time().map(|time| time.0);
        self.due = match &work.pace {
            Pace::Changing { curve, .. } => {
                let all = |ns| curve.due_between(0, ns);
                Some(all(self.time_ns.unwrap_or(0)) + all(self.ramp_ns))
            }
            Pace::Open { .. } | Pace::Closed { .. } => None,
        };
        self.is_closed = matches!(work.pace, Pace::Closed { .. });
        self.rate = match &work.pace {
            Pace::Open { rate, .. } => Some(*rate),
            Pace::Closed { .. } | Pace::Changing { .. } => None,
        };
    }

    fn add(&mut self, work: &Work, worker: &Worker, files: &[&str]) {
        self.in_flight = self.in_flight.saturating_add(u64::from(work.depth));
        let numbers: BTreeSet<u32> = worker.extents.iter().map(|extent| extent.file).collect();
        let path = |file: u32| files.get(file as usize).copied().unwrap_or_default();
        for file in numbers {
            *self.streams.entry(path(file).to_owned()).or_default() += 1;
        }
        for extent in &worker.extents {
            let file = path(extent.file);
            let range = extent.offset..extent.offset.saturating_add(extent.length);
            self.places.entry(file.to_owned()).or_default().push(range);
        }
        if work.stop.once().is_some() {
            self.bytes = self.bytes.saturating_add(work.amount(worker));
        }
    }
}

/// In what the plan of a workload differs from what the jobs ask for that it was made of.
fn differences(
    asked: &[Asked],
    sent: &Sent,
    size: &dyn Fn(&str) -> Option<u64>,
) -> Vec<(Quantity, String)> {
    let mut found = Vec::new();
    let mut say = |quantity, asked: String, sent: String| {
        found.push((quantity, format!("{asked} asked for, {sent} sent")));
    };
    let first = &asked[0];
    let block = first.sizes.iter().flatten().map(|(size, _)| *size).max().unwrap_or(4_096);
    let others =
        other_places(asked, sent, block, size).or_else(|| other_streams(asked, sent, size));
    if let Some((asked, sent)) = others {
        say(Quantity::Places, asked, sent);
    }
    for (quantity, asked, sent) in other_ends(asked, sent, block, size) {
        say(quantity, asked, sent);
    }
    for (number, of) in [(0, "reads"), (1, "writes")] {
        let both = [&first.sizes[number], &sent.sizes[number]].map(|sizes| shares(sizes));
        if both[0] != both[1] {
            let words = |all: &[(u64, u64)]| format!("{of} of {}", sizes_in_words(all));
            say(Quantity::Sizes, words(&both[0]), words(&both[1]));
        }
    }
    if let Some(asked) = first.reads.filter(|asked| asked.abs_diff(sent.reads) > 1_000) {
        let share = |ppm: u64| format!("{} % of reads", ppm as f64 / 1e4);
        say(Quantity::Reads, share(asked), share(sent.reads));
    }
    if let Some((asked, sent)) = other_rate(asked, sent) {
        say(Quantity::Rate, asked, sent);
    }
    let deep = sum(asked, &|one| Some(one.streams?.saturating_mul(one.depth)));
    if let Some(asked) = deep.filter(|asked| *asked != sent.in_flight) {
        say(
            Quantity::InFlight,
            format!("{asked} requests at a time"),
            format!("{} at a time", sent.in_flight),
        );
    }
    found
}

/// What ends a workload, and when it begins, where those are others, in words.
fn other_ends(
    asked: &[Asked],
    sent: &Sent,
    block: u64,
    size: &dyn Fn(&str) -> Option<u64>,
) -> Vec<(Quantity, String, String)> {
    let mut found = Vec::new();
    let mut say = |quantity, asked, sent| found.push((quantity, asked, sent));
    let time = asked.iter().map(|one| one.time_ns).max().flatten();
    let bytes = sum(asked, &|one| one.bytes(size)).filter(|_| time.is_none());
    let told = |ns: u64| Nanos(ns).to_string();
    let ramp = asked.iter().map(|one| one.ramp_ns).max().unwrap_or(0);
    if time.is_some() && sent.due.is_none() && ramp != sent.ramp_ns {
        let words = |ns: u64| format!("{} before what is measured", told(ns));
        say(Quantity::Time, words(ramp), words(sent.ramp_ns));
    }
    match (time, sent.time_ns) {
        // A rate that changes says when each of them begins and ends.
        (_, Some(_)) if sent.due.is_some() => {
            // Requests of one size, where an amount ends them.
            let each = if asked[0].iops.is_some() { block } else { 1 };
            let asked = sum(asked, &due).or(bytes.map(|all| all / each.max(1)));
            let is_other = |asked: u64, due: f64| (asked as f64 - due).abs() > due / 100.0 + 1.0;
            if let Some((asked, due)) = asked.zip(sent.due).filter(|(a, due)| is_other(*a, *due)) {
                let words = |all: f64| format!("{all:.0} by its rate");
                say(Quantity::Rate, words(asked as f64), words(due));
            }
        }
        (None, None) if sent.ramp_ns > 0 && bytes.is_some() => {
            let [asked, all] = [bytes.unwrap_or(0), sent.bytes].map(|all| Bytes(all).to_string());
            say(Quantity::Amount, asked, format!("{all} behind a ramp of {}", told(sent.ramp_ns)));
        }
        (Some(asked), Some(sent)) if asked.abs_diff(sent) > asked / 1_000 => {
            say(Quantity::Time, told(asked), told(sent));
        }
        (Some(asked), None) => say(Quantity::Time, told(asked), Bytes(sent.bytes).to_string()),
        // Several directions of which one is a trim end each by an amount of its own.
        (None, None) if sent.trims == 0 || sent.trims == 1_000_000 => {
            let slack = |bytes: u64| (bytes / 500_000).max(block.saturating_mul(sent.own_files()));
            if let Some(asked) = bytes.filter(|asked| asked.abs_diff(sent.bytes) > slack(*asked)) {
                say(Quantity::Amount, Bytes(asked).to_string(), Bytes(sent.bytes).to_string());
            }
        }
        (None, Some(sent)) => {
            let asked = bytes.map_or("an amount".to_owned(), |bytes| Bytes(bytes).to_string());
            say(Quantity::Amount, asked, told(sent));
        }
        _ => {}
    }
    found
}

/// The sum over all jobs of a workload, where each of them says it.
fn sum(asked: &[Asked], of: &dyn Fn(&Asked) -> Option<u64>) -> Option<u64> {
    asked.iter().try_fold(0_u64, |all, one| Some(all.saturating_add(of(one)?)))
}

/// What a stream's rate brings in its time and ramp, over all of the streams.
fn due(one: &Asked) -> Option<u64> {
    let each = one.iops.or(one.bytes_per_second)?.saturating_mul(one.streams?);
    let ns = one.time_ns?.saturating_add(one.ramp_ns);
    u64::try_from(u128::from(each) * u128::from(ns) / 1_000_000_000).ok()
}

/// How many files workloads load that run together, where those are more or fewer, in words.
fn other_files(peers: &[Asked], sent: &Sent) -> Option<String> {
    if sent.is_alone || peers.iter().any(|one| !one.devices.is_empty()) {
        return None;
    }
    let mut wanted = BTreeSet::new();
    for one in peers {
        wanted.extend(one.places(&|_| None)?.into_keys());
    }
    let is_other = sent.peers.iter().all(|name| peers.iter().any(|one| one.workload == *name))
        && wanted.len() != sent.files.len();
    let words = |count: usize| format!("{count} files for all that run together");
    is_other.then(|| format!("{} asked for, {} sent", words(wanted.len()), words(sent.files.len())))
}

/// How often requests are due, where that is other, in words.
fn other_rate(asked: &[Asked], sent: &Sent) -> Option<(String, String)> {
    let first = asked.first()?;
    let rate = |milli: u64, unit: &str| format!("{} {unit} a second", milli as f64 / 1e3);
    let all =
        |one: &Asked, of: Option<u64>| Some(of?.saturating_mul(one.streams?).saturating_mul(1_000));
    let asked_rate = match first.iops {
        Some(_) => sum(asked, &|one| all(one, one.iops)).map(|milli| (milli, "requests")),
        None => sum(asked, &|one| all(one, one.bytes_per_second)).map(|milli| (milli, "bytes")),
    };
    let sent_rate = match sent.rate {
        Some(Rate::Iops { milli }) => Some((milli, "requests")),
        Some(Rate::Bytes { per_second }) => Some((per_second.saturating_mul(1_000), "bytes")),
        None => None,
    };
    let words = |all: Option<(u64, &str)>| {
        all.map_or("no rate".to_owned(), |(milli, unit)| rate(milli, unit))
    };
    let is_far = |(a, unit): (u64, &str)| match sent_rate {
        Some((b, other)) => unit != other || a.abs_diff(b) > a / 1_000,
        None => sent.is_closed,
    };
    let has_rate = asked_rate.is_some() || first.iops.or(first.bytes_per_second).is_some();
    let is_other = asked_rate.is_some_and(is_far) || (!has_rate && sent_rate.is_some());
    is_other.then(|| (words(asked_rate), words(sent_rate)))
}

/// Bytes and files out of which places are taken, where they are others, in words.
fn other_places(
    asked: &[Asked],
    sent: &Sent,
    block: u64,
    size: &dyn Fn(&str) -> Option<u64>,
) -> Option<(String, String)> {
    let mut wanted = Places::new();
    for one in asked {
        let of = one.places(size)?;
        of.into_iter().for_each(|(file, all)| wanted.entry(file).or_default().extend(all));
    }
    let (wanted, loaded) = (joined(wanted), joined(sent.places.clone()));
    let sum = |all: &Places| {
        let ranges = all.values().flatten().map(|range| range.end - range.start);
        ranges.fold(0, u64::saturating_add)
    };
    let (a, b) = (sum(&wanted), sum(&loaded));
    // A plan has whole blocks, and a `range` is rounded to a millionth of a file.
    let slack = (a / 250_000).max(block.saturating_mul(2 * wanted.len() as u64));
    if asked.iter().all(|one| one.devices.is_empty()) {
        let is_other = a.abs_diff(b) > slack || (sent.is_alone && wanted.len() != loaded.len());
        let words = |bytes, all: &Places| format!("{} in {} files", Bytes(bytes), all.len());
        return is_other.then(|| (words(a, &wanted), words(b, &loaded)));
    }
    let ends = |all: &Places, path: &String| {
        let of = all.get(path).map_or(&[][..], Vec::as_slice);
        [of.first().map_or(0, |range| range.start), of.last().map_or(0, |range| range.end)]
    };
    let paths: Vec<&String> = wanted.keys().chain(loaded.keys()).collect();
    let odd = paths.into_iter().find(|path| {
        let (one, other) = (ends(&wanted, path), ends(&loaded, path));
        one.iter().zip(other).any(|(a, b)| a.abs_diff(b) > slack)
    });
    let words = |all: &Places, bytes: u64, path: &String| {
        let [from, to] = ends(all, path);
        format!("{} between {from} and {to} of {path}", Bytes(bytes))
    };
    let path = odd.or(wanted.keys().next().filter(|_| a.abs_diff(b) > slack))?;
    Some((words(&wanted, a, path), words(&loaded, b, path)))
}

/// How many streams load a device, where they are more or fewer, in words.
fn other_streams(
    asked: &[Asked],
    sent: &Sent,
    size: &dyn Fn(&str) -> Option<u64>,
) -> Option<(String, String)> {
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for one in asked.iter().filter(|one| !one.devices.is_empty()) {
        for (path, all) in one.places(size)? {
            *wanted.entry(path).or_default() += all.len();
        }
    }
    let loaded = |path: &str| sent.streams.get(path).copied().unwrap_or(0);
    let paths = wanted.keys().chain(sent.streams.keys());
    let asked = |path: &str| wanted.get(path).copied().unwrap_or(0);
    let path = paths.filter(|_| !wanted.is_empty()).find(|path| loaded(path) != asked(path))?;
    let words = |count: usize| format!("{count} streams on {path}");
    Some((words(asked(path)), words(loaded(path))))
}

impl Sent {
    fn own_files(&self) -> u64 {
        self.places.len() as u64
    }
}

/// Sizes and their shares of ten thousand, in order.
fn shares(sizes: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let all: u64 = sizes.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let mut shares = BTreeMap::new();
    for (size, weight) in sizes {
        *shares.entry(*size).or_insert(0) += u64::from(*weight) * 10_000 / all.max(1);
    }
    shares.into_iter().filter(|(_, share)| *share > 0).collect()
}

fn sizes_in_words(all: &[(u64, u64)]) -> String {
    match all {
        [] => "no size".to_owned(),
        [(size, _)] => Bytes(*size).to_string(),
        [(least, _), .., (most, _)] => {
            format!("{} sizes from {} to {}", all.len(), Bytes(*least), Bytes(*most))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dialects::{Dialect, World, import};

    /// The options that are not the same once the job is laid beside its plan, on a device of
    /// 256 MiB.
    fn told(options: &str) -> Vec<(String, String)> {
        let text = format!("[a]\n{options}\n");
        let mut import = import("a.fio", &text, Some(Dialect::Fio), &World::NOTHING).expect("jobs");
        lay_beside(&mut import, &|path| (path == "/dev/sdx").then_some(256 << 20));
        let told = import.options.iter().filter(|told| told.class >= Class::Approximated);
        let words = told.map(|told| (told.name.clone(), told.why.clone()));
        words.filter(|(_, why)| why.contains("whole job") || why.contains("no plan")).collect()
    }

    #[test]
    fn a_job_whose_plan_sends_what_it_asks_for_is_as_it_was() {
        for options in [
            "filename=/dev/sdx\nrw=randread\ndirect=1\nsize=64m",
            "filename=/dev/sdx\nrw=randwrite\nbs=4k\nsize=128m\nio_size=2m",
            "filename=/dev/sdx\nrw=read\nsize=25%\noffset=25%\nbs=1m",
            "filename=/dev/sdx\nrw=read\noffset=12k\nsize=8m\nruntime=5\ntime_based",
            "filename=/dev/sdx\nrw=write\nbs=64k\nsize=16m\noffset_increment=16m\nnumjobs=4",
            "filename=/dev/sdx:/dev/sdy\nrw=randwrite\nbs=64k\nsize=16m",
            "filename=/dev/sdx\nrw=randrw\nrwmixread=70\nbs=4k,64k\nsize=4m\nruntime=2\ntime_based",
            "filename=/dev/sdx\nrw=randread\nsize=8m\nrate_iops=100\nruntime=2\ntime_based\n\
             numjobs=3",
            "filename=/dev/sdx\nrw=randread\nbs=4k,64k\nbsrange=4k-64k\nsize=8m",
            "directory=/mnt\nrw=randread\nsize=8m\nnumjobs=3\nnrfiles=2",
            "filename=/mnt/f:/mnt/g\nrw=read\nbs=64k\nsize=8m\nnumjobs=2",
            "filename=/dev/sdx\nrw=randwrite\nbs=4k\nfilesize=32m\nsize=4m\nnumjobs=2",
            "filename=/dev/sdx\nrw=read\nfilesize=32m\nsize=4m",
            "filename=/dev/sdx\nrw=randread\nfilesize=32m\nnumjobs=4",
            "directory=/mnt\nrw=read\nfilesize=4m\nnrfiles=4\nsize=4m",
            "directory=/mnt\nrw=randread\nfilesize=4m\nnrfiles=4\nsize=4m",
            "filename=/dev/sdx\nrw=read:64k\nbs=64k\nsize=16m",
            "filename=/dev/sdx\nrw=read\nsize=1m\nnumber_ios=1000",
            "filename=/dev/sdx\nrw=read\noffset=33%\nbs=64k\nsize=4m",
            "filename=/dev/sdx\nrw=randread\nruntime=2\ntime_based\nramp_time=1",
            "filename=/dev/sdx\nrw=read\nsize=4m\nramp_time=1",
            "filename=/dev/sdx\nrw=randread\nruntime=2\ntime_based\nramp_time=1\nrate_iops=50\n\
             [b]\nfilename=/dev/sdx\nrw=randread\nruntime=2\ntime_based\nramp_time=1\n\
             rate_iops=100\nstartdelay=1",
            "filename=/dev/sdx\nrw=read\nbs=64k\nsize=4m\nrate_iops=64\n[b]\nfilename=/dev/sdx\n\
             rw=read\nbs=64k\nsize=8m\nrate=4m\nstartdelay=1",
            "filename=/dev/sdx\nrw=read\nsize=4m\n[b]\nstonewall\nfilename=/dev/sdx\nrw=write\n\
             size=2m\nloops=2",
        ] {
            assert_eq!(told(options), [], "{options}");
        }
    }

    #[test]
    fn options_that_are_fine_one_by_one_are_not_the_same_where_the_whole_differs() {
        for (options, name, words) in [
            (
                "filename=/dev/sdx\nrw=randread\nbs=64k\nsize=4m\nio_size=16m",
                "io_size",
                "16 MiB asked for, 4 MiB sent",
            ),
            ("filename=/dev/sdx\nrw=read\nsize=300m", "size", "no plan"),
            (
                "filename=/dev/sdx\nrw=write\nbs=64k\nsize=16m\noffset_increment=32m\nnumjobs=4",
                "offset_increment",
                "64 MiB between 0 and 117440512 of /dev/sdx asked for",
            ),
            (
                "directory=/mnt\nrw=write\nsize=8m\n[b]\nrw=read\nsize=4m\ndirectory=/mnt",
                "size",
                "2 files for all that run together asked for, 1 files",
            ),
            (
                "directory=/mnt\nfilename=x\nrw=write\nsize=4m\n[b]\ndirectory=/mnt\nfilename=y\n\
                 rw=write\nsize=4m\nbs=8k",
                "filename",
                "2 files for all that run together asked for, 1 files",
            ),
            (
                "filename=/dev/sdx\nrw=read\nbs=64k\noffset_increment=16m\nnumjobs=3",
                "offset_increment",
                "720 MiB asked for",
            ),
            (
                "filename=/dev/sdx\nrw=read\nsize=4m\nio_size=1m\n[b]\nfilename=/dev/sdx\n\
                 rw=randread\nsize=4m",
                "io_size",
                "1 MiB asked for, 4 MiB sent",
            ),
        ] {
            let told = told(options);
            let is_it = |(of, why): &(String, String)| of == name && why.contains(words);
            assert!(told.iter().any(is_it), "{options}: {told:?}");
        }
    }

    #[test]
    fn each_device_has_as_many_streams_as_its_jobs_ask_for() {
        let text = "[a]\nfilename=/dev/sdx:/dev/sdy\nrw=read\ndirect=1\nnumjobs=3\nruntime=1\n\
                    time_based\n";
        let mut import = import("a", text, Some(Dialect::Fio), &World::NOTHING).expect("a job");
        // As if it were two jobs, each with a device of its own, that were taken for one.
        let all = import.asked[0].clone();
        let of = |(path, streams): (&str, u64)| {
            let devices = vec![path.to_owned()];
            Asked { devices, files: 1, streams: Some(streams), ..all.clone() }
        };
        import.asked = [("/dev/sdx", 2), ("/dev/sdy", 1)].map(of).to_vec();
        lay_beside(&mut import, &|_| Some(256 << 20));
        let words = "2 streams on /dev/sdx asked for, 3 streams on /dev/sdx sent";
        let is_it = |why: &str| why.contains(words);
        assert!(import.options.iter().any(|told| is_it(&told.why)), "{:#?}", import.options);
    }

    #[test]
    fn a_ramp_before_an_amount_and_a_rate_that_brings_less_are_told() {
        let told = |text: &str, change: &dyn Fn(&mut Import)| {
            let mut import = import("a", text, Some(Dialect::Fio), &World::NOTHING).expect("jobs");
            change(&mut import);
            lay_beside(&mut import, &|_| Some(256 << 20));
            import.options.iter().map(|told| told.why.clone() + "\n").collect::<String>()
        };
        let on = "[a]\nfilename=/dev/sdx\ndirect=1\n";
        let words = told(&format!("{on}size=8m\n"), &|import| {
            let text = &mut import.suites[0].text;
            *text = text.replace("[stages]\n", "[stages]\nprecondition = \"1s\"\n");
        });
        assert!(words.contains("8 MiB asked for, 8 MiB behind a ramp of"), "{words}");
        let timed = "runtime=2\ntime_based\nrate_iops=50\n";
        let late = format!("{on}{timed}[b]\nfilename=/dev/sdx\ndirect=1\n{timed}startdelay=1\n");
        let words = told(&late, &|import| import.asked[0].iops = Some(70));
        assert!(words.contains("140 by its rate asked for, 100 by its rate sent"), "{words}");
    }

    #[test]
    fn each_quantity_is_held_against_the_plan() {
        let text = "[a]\nfilename=/dev/sdx\nrw=randrw\nbs=4k\nsize=64m\niodepth=8\n\
                    ioengine=libaio\nrate_iops=100,100\nruntime=5\ntime_based\n";
        let import = import("a", text, Some(Dialect::Fio), &World::NOTHING).expect("a job");
        let size = |_: &str| Some(256_u64 << 20);
        let mut sent = BTreeMap::new();
        let suite = &import.suites[0];
        let plan = planned(&suite.name, &suite.text, &import.asked, &size);
        all_sent(&plan.unwrap_or_else(|why| panic!("{why}")), &mut sent);
        let (sent, good) = (&sent["a"], &import.asked[0]);
        assert_eq!(differences(std::slice::from_ref(good), sent, &size), []);
        let change = |change: &dyn Fn(&mut Asked)| {
            let mut asked = good.clone();
            change(&mut asked);
            let found = differences(&[asked], sent, &size);
            found.into_iter().map(|(quantity, _)| quantity).collect::<Vec<_>>()
        };
        assert_eq!(change(&|one| one.depth = 9), [Quantity::InFlight]);
        assert_eq!(change(&|one| one.iops = Some(150)), [Quantity::Rate]);
        assert_eq!(change(&|one| one.iops = None), [Quantity::Rate]);
        assert_eq!(change(&|one| one.reads = Some(700_000)), [Quantity::Reads]);
        assert_eq!(change(&|one| one.sizes[1] = vec![(8_192, 1)]), [Quantity::Sizes]);
        assert_eq!(change(&|one| one.time_ns = Some(6_000_000_000)), [Quantity::Time]);
        assert_eq!(change(&|one| one.time_ns = None), [Quantity::Amount]);
        assert_eq!(change(&|one| one.ramp_ns = 1_000_000_000), [Quantity::Time]);
        assert_eq!(change(&|one| one.devices = vec!["/dev/sdy".to_owned()]), [Quantity::Places]);
        let later = dialects::Extent::Bytes(32 << 20);
        assert_eq!(change(&|one| one.from = later), [Quantity::Places]);
    }
}
