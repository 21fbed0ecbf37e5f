//! What a run would do, in words: the last look before anything is touched.

use crate::ground::columns::{self, Column, Want};
use crate::ground::folding::hung;
use crate::ground::words;
use model::curve::Unit;
use model::metadata::Tree;
use model::plan::{HostStage, PlannedTarget, Point, Stop, Work};
use model::testbed::{DirectIo, HostFacts, SIMULATED_CLUSTER, TargetFacts};
use model::{Bytes, EventTime, HostPlan, Nanos, Op, Plan, PlannedEvent, StageKind, printable};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What `prepare` is taken to write in a second, for the estimate of its time. A disk of today does
/// at least this.
const ASSUMED_BYTES_PER_S: u64 = 200_000_000;

/// What a line is about, and the gap behind it, in characters.
const HEAD: usize = 9;

/// The plan for people.
pub fn render(plan: &Plan, hosts: &[HostFacts]) -> String {
    render_within(plan, hosts, None)
}

/// The same for a terminal of so many columns; `None` is no terminal.
pub fn render_within(plan: &Plan, hosts: &[HostFacts], room: Option<usize>) -> String {
    let room = room.unwrap_or(usize::MAX);
    let mut text = String::new();
    let mut put = |head: &str, line: &str| {
        let head = format!("{head:HEAD$}");
        text.push_str(&format!("{}\n", hung(&head, &printable::line(line), HEAD, room)));
    };
    put("suite", &suite(plan));
    for (host, facts) in plan.hosts.iter().zip(hosts) {
        put("host", &host_line(facts));
        for (number, target) in (0..).zip(&host.targets) {
            let facts = facts.targets.iter().find(|facts| facts.path == target.path);
            let scenarios = scenarios(plan, host, number);
            put("target", &format!("{scenarios}{}", target_line(plan, host, number, facts)));
        }
    }
    if plan.has_parts() {
        put("layouts", &layouts(plan));
    }
    put("writes", &writes(plan));
    put("time", &time(plan));
    for note in &plan.notes {
        put("note", &crate::topics::note::line(&note.fact));
    }
    for event in &plan.events {
        put("event", &event_line(plan, event));
    }
    for line in prerun_lines(plan) {
        put("prerun", &line);
    }
    for line in share_lines(plan) {
        put("shares", &line);
    }
    for line in rate_lines(plan) {
        put("rate", &line);
    }
    format!("{text}\n{}", points(plan, room))
}

/// The points that follow at shares of what others carry, a line for each maximum.
fn share_lines(plan: &Plan) -> Vec<String> {
    let of = |number: u32| {
        let mine: Vec<_> =
            plan.rate_shares.shares.iter().filter(|share| share.of == number).collect();
        let point = plan.points.get(number as usize).filter(|_| !mine.is_empty())?;
        let time = plan
            .measure_stage(number)
            .and_then(|stage| plan.stages.get(stage as usize)?.stop().time());
        let each = time.map_or(String::new(), |time| format!(" of {time} each"));
        let shares: Vec<String> = mine.iter().map(|share| share.share.to_string()).collect();
        Some(format!(
            "{}: then {}{each}, at {} of what it carries",
            point.workloads.join(", "),
            words::counted(mine.len() as u64, "point"),
            shares.join(", ")
        ))
    };
    (0..plan.points.len() as u32).filter_map(of).collect()
}

/// An event with its instants, and what is done then.
fn event_line(plan: &Plan, event: &PlannedEvent) -> String {
    let due_ns = |stage: &model::plan::Stage| {
        event.due_ns(stage, stage.point.and_then(|point| plan.points.get(point as usize)))
    };
    let mut due: Vec<u64> = plan.stages.iter().filter_map(due_ns).collect();
    let stages = due.len() as u64;
    due.sort_unstable();
    let when = match (due.first(), due.last()) {
        (Some(first), Some(last)) if first == last => format!("{} into", Nanos(*first)),
        (Some(first), Some(last)) => format!("{} to {} into", Nanos(*first), Nanos(*last)),
        _ => {
            return format!(
                "{}: never: no measure stage of its workloads and scenarios lasts longer than {}",
                event.name, event.at
            );
        }
    };
    let at = match event.at {
        EventTime::Share(share) => format!("at {share}, "),
        EventTime::After(_) => String::new(),
    };
    let is_simulated = plan.hosts.iter().any(|host| host.engine.virtual_time);
    let what = match &event.command {
        None if is_simulated => "a mark alone: what happens then is up to the parameters of the \
                                 simulated target"
            .to_owned(),
        None => {
            format!(
                "a mark alone; --set event.{}.command=\"…\" has the coordinator run a command then",
                event.name
            )
        }
        Some(_) if is_simulated => {
            "a mark alone: under simulated time its command is left out".to_owned()
        }
        Some(command) => {
            format!("the coordinator runs: {}", model::occurrence::one_line(command, 200))
        }
    };
    format!("{}: {at}{when} {}; {what}", event.name, words::counted(stages, "measure stage"))
}

/// The rates that change, once for each that a workload has, and how they fit the measured time.
fn rate_lines(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for stage in plan.stages.iter().filter(|stage| stage.kind == StageKind::Measure) {
        for work in &stage.works {
            let (Some(curve), Some(time)) = (work.pace.curve(), stage.stop().time()) else {
                continue;
            };
            let cut = match curve.length() > time {
                true => format!("; measuring ends {} into its {}", time, curve.length()),
                false => String::new(),
            };
            let due = curve.due_between(0, time.0);
            let due = match curve.unit {
                Unit::MilliIops => format!("{} requests", words::count(due.ceil() as u64)),
                Unit::Bytes => Bytes(due.ceil() as u64).to_string(),
            };
            let line = format!("{}: {curve}; {due} are due{cut}", work.workload);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// What is done before points, once for each command, with the number of its points.
fn prerun_lines(plan: &Plan) -> Vec<String> {
    let mut commands: Vec<(&str, u64)> = Vec::new();
    for command in plan.points.iter().filter_map(|point| point.prerun.as_ref()?.command.as_deref())
    {
        match commands.iter_mut().find(|(known, _)| *known == command) {
            Some((_, points)) => *points += 1,
            None => commands.push((command, 1)),
        }
    }
    let is_simulated = plan.hosts.iter().any(|host| host.engine.virtual_time);
    let line = |(command, points): (&str, u64)| {
        let points = words::counted(points, "point");
        let command = model::occurrence::one_line(command, 200);
        match is_simulated {
            true => format!("before each of {points}: left out under simulated time: {command}"),
            false => format!("before each of {points}, the coordinator runs: {command}"),
        }
    };
    commands.into_iter().map(line).collect()
}

/// Seconds that the run is expected to take, in words.
pub fn time(plan: &Plan) -> String {
    // In 128 bits: a plan for a cluster has more bytes than nanoseconds of a run fit beside.
    let assumed = |bytes: Bytes| {
        let ns = u128::from(bytes.0) * 1_000_000_000 / u128::from(ASSUMED_BYTES_PER_S);
        Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    };
    if plan.hosts.iter().any(|host| host.engine.virtual_time) {
        return virtual_time(plan);
    }
    let (prepare, verify) = (assumed(plan.prepare_bytes()), assumed(plan.verify_bytes()));
    let amounts = assumed(amounts(plan));
    let fixed = plan.fixed_time();
    let (room, least) = (plan.steady_room(), Nanos(fixed.0.saturating_sub(plan.steady_room().0)));
    let fixed_words =
        if room == Nanos(0) { fixed.to_string() } else { format!("{least} to {fixed}") };
    if prepare == Nanos(0) && plan.hosts.iter().any(|host| !host.trees.is_empty()) {
        let all = "as long as the operations on all files take";
        return if fixed == Nanos(0) {
            all.to_owned()
        } else {
            format!("{all}, and {fixed_words} of mixes of them")
        };
    }
    let all =
        [prepare, amounts, fixed, verify].iter().fold(0u64, |sum, time| sum.saturating_add(time.0));
    let all = Nanos(all);
    if all == fixed {
        return fixed_words;
    }
    let before = match prepare {
        Nanos(0) => String::new(),
        prepare => format!("{} to prepare (at an assumed 200 MB/s), then ", whole_seconds(prepare)),
    };
    let after = match verify {
        Nanos(0) => String::new(),
        verify => format!(", and {} to verify (at an assumed 200 MB/s)", whole_seconds(verify)),
    };
    let measured = match (amounts, fixed) {
        (Nanos(0), _) => fixed_words,
        (amounts, Nanos(0)) => {
            format!("{} for the amounts (at an assumed 200 MB/s)", whole_seconds(amounts))
        }
        (amounts, _) => format!(
            "{fixed_words}, and {} for the amounts (at an assumed 200 MB/s)",
            whole_seconds(amounts)
        ),
    };
    let bound = if room == Nanos(0) { "about" } else { "at most about" };
    format!("{bound} {}: {before}{measured}{after}", whole_seconds(all))
}

/// The same of a simulation: nobody can say beforehand how fast what is simulated carries bytes,
/// and real time does not come into it.
fn virtual_time(plan: &Plan) -> String {
    let (prepare, amounts, verify) = (plan.prepare_bytes(), amounts(plan), plan.verify_bytes());
    let (fixed, room) = (plan.fixed_time(), plan.steady_room());
    let mut steps = Vec::new();
    if fixed > Nanos(0) {
        let least = Nanos(fixed.0.saturating_sub(room.0));
        steps.push(if room == Nanos(0) {
            fixed.to_string()
        } else {
            format!("{least} to {fixed}")
        });
    }
    let has_trees = plan.hosts.iter().any(|host| !host.trees.is_empty());
    let open: Vec<String> =
        [(prepare, "to prepare"), (amounts, "of amounts"), (verify, "to verify")]
            .into_iter()
            .filter(|(bytes, _)| *bytes > Bytes(0))
            .map(|(bytes, what)| format!("{bytes} {what}"))
            .chain(has_trees.then(|| "the operations on all files".to_owned()))
            .collect();
    if open.is_empty() {
        return steps.pop().unwrap_or_else(|| fixed.to_string());
    }
    steps.push(format!("what {} take at the speed of what is simulated", open.join(", ")));
    format!("{}, in virtual time", steps.join(", and "))
}

/// All bytes of the stages that end with an amount, reads and writes together. A trace has its own
/// time.
fn amounts(plan: &Plan) -> Bytes {
    let stages = (0..)
        .zip(&plan.stages)
        .filter(|(_, stage)| stage.stop().once().is_some_and(|_| stage.point.is_some()))
        .filter(|(_, stage)| stage.works.iter().all(|work| work.trace.is_none()));
    Bytes(stages.map(|(number, _)| plan.amount(number).0).fold(0, u64::saturating_add))
}

/// An estimate needs no fractions of a second.
fn whole_seconds(time: Nanos) -> Nanos {
    if time < Nanos::seconds(10) { time } else { Nanos(time.0 / 1_000_000_000 * 1_000_000_000) }
}

fn suite(plan: &Plan) -> String {
    let mut text = plan.suite.clone();
    if !plan.description.is_empty() {
        let _ = write!(text, ": {}", plan.description);
    }
    let _ = write!(text, " (seed {})", plan.seed);
    if !plan.scale.is_full() {
        let _ = write!(text, " {}.", words::shrunk(plan.scale, "are"));
    }
    text
}

/// One host in a line.
pub fn host_line(facts: &HostFacts) -> String {
    let mut text =
        format!("{}: {}", facts.hostname, words::counted(u64::from(facts.logical_cpus), "CPU"));
    if !facts.cpu_model.is_empty() {
        let _ = write!(text, " ({})", facts.cpu_model);
    }
    let _ = write!(text, ", {} of memory, {}", facts.memory, facts.kernel);
    if let Some(hypervisor) = &facts.hypervisor {
        let _ = write!(text, ", under {hypervisor}");
    }
    text
}

/// The scenarios whose layout a target holds: `local, remote: `; nothing where all have one.
fn scenarios(plan: &Plan, host: &HostPlan, target: u32) -> String {
    let Some(part) = host.parts.iter().find(|part| part.targets.contains(&target)) else {
        return String::new();
    };
    let mut names: Vec<&str> = Vec::new();
    for stage in part.stages.iter().filter_map(|stage| plan.stages.get(*stage as usize)) {
        let name = stage
            .point
            .and_then(|point| plan.points.get(point as usize))
            .map(|point| point.scenario.as_str());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    format!("{}: ", names.join(", "))
}

/// When the layouts of scenarios stand, and what they take at most.
fn layouts(plan: &Plan) -> String {
    let parts = plan.hosts.first().map_or(&[][..], |host| &host.parts);
    let meet = parts
        .iter()
        .enumerate()
        .any(|(number, part)| parts[..number].iter().any(|other| part.meets(other)));
    let most = plan.footprint();
    match meet {
        true => format!("{} side by side, {most} at most", parts.len()),
        false => format!(
            "{} one after the other, each removed before the next is made, {most} at most",
            parts.len()
        ),
    }
}

fn target_line(plan: &Plan, host: &HostPlan, number: u32, facts: Option<&TargetFacts>) -> String {
    let target = &host.targets[number as usize];
    let name = match &target.kind {
        PlannedTarget::Directory { root } => root,
        PlannedTarget::Joined
        | PlannedTarget::ReadOnly
        | PlannedTarget::Device
        | PlannedTarget::Simulated => &target.path,
    };
    let mut text = format!("{name}: {}", layout(plan, host, number));
    let medium = facts.map(medium).unwrap_or_default();
    if !medium.is_empty() {
        let _ = write!(text, "; {medium}");
    }
    text
}

fn layout(plan: &Plan, host: &HostPlan, number: u32) -> String {
    let target = &host.targets[number as usize];
    let total = Bytes(target.files.iter().map(|file| file.size.0).sum());
    let each = target.files.first().map_or(Bytes(0), |file| file.size);
    if let Some(words) = trees(plan, host, number) {
        return words;
    }
    match (&target.kind, plan.backend) {
        (_, backend) if backend.sends_nothing() => format!("nothing is sent ({backend} backend)"),
        (PlannedTarget::Directory { .. }, _) if target.files.len() == 1 => {
            format!("1 file of {each}")
        }
        (PlannedTarget::Directory { .. }, _)
            if target.files.iter().any(|file| file.size != each) =>
        {
            let sizes = || target.files.iter().map(|file| file.size);
            let (least, most) =
                (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default());
            format!("{} files of {least} to {most}, {total} in all", target.files.len())
        }
        (PlannedTarget::Directory { .. }, _) => {
            format!("{} files × {each} = {total}", target.files.len())
        }
        (PlannedTarget::Joined, _) if target.files.len() == 1 => {
            format!("the {each} that another host makes")
        }
        (PlannedTarget::Joined, _) => {
            format!("the {} files of {total} that another host makes", target.files.len())
        }
        (PlannedTarget::ReadOnly, _) => format!("{total} read as they are, nothing is written"),
        (PlannedTarget::Simulated, _) => match target.path.starts_with(SIMULATED_CLUSTER) {
            true if target.files.len() == 1 => {
                format!("{total} of a volume of a simulated cluster")
            }
            true => {
                format!("{} volumes of a simulated cluster, {total} in all", target.files.len())
            }
            false => format!("{total} of a simulated device"),
        },
        (PlannedTarget::Device, _) => {
            format!("{total} OVERWRITTEN: all that is on the device is lost")
        }
    }
}

/// The trees of a target, where it has any. Points that differ in their workers have trees of their
/// own, one after the other.
fn trees(plan: &Plan, host: &HostPlan, target: u32) -> Option<String> {
    let trees = || {
        plan.hosts
            .iter()
            .flat_map(|host| &host.trees)
            .filter(|tree| tree.target == target && !tree.joined)
    };
    let first = trees().next()?;
    let directories = trees().map(Tree::directories).fold(0, u64::saturating_add);
    let stages: Option<&[u32]> = host
        .parts
        .iter()
        .find(|part| part.targets.contains(&target))
        .map(|part| part.stages.as_slice());
    let is_here = |stage: &&HostStage| stages.is_none_or(|stages| stages.contains(&stage.stage));
    // Hosts need not be at their fullest at the same point.
    let mut files: BTreeMap<u32, u64> = BTreeMap::new();
    for stage in plan.hosts.iter().flat_map(|host| &host.stages).filter(is_here) {
        let sum = files.entry(stage.stage).or_default();
        *sum = sum.saturating_add(stage.operations());
    }
    let fullest = files.into_values().max().unwrap_or(0);
    let sizes = || trees().map(|tree| tree.size);
    let (least, most) = (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default());
    let noun = if directories == 1 { "directory" } else { "directories" };
    Some(format!(
        "{} of {} at a time, in {} with {} {noun}",
        words::counted(fullest, "file"),
        match least == most {
            true => sizes_of(
                first,
                plan.hosts.iter().map(|host| host.in_trees().0).fold(0, u64::saturating_add)
            ),
            false => format!("{least} to {most}"),
        },
        words::counted(trees().count() as u64, "tree"),
        words::count(directories)
    ))
}

/// The size of a tree's files; where they differ, their mean and what all files of the plan have
/// together, both to be expected.
fn sizes_of(tree: &Tree, total: u64) -> String {
    match &tree.sizes {
        None => tree.size.to_string(),
        Some(sizes) => {
            format!("{sizes} (on average {}, about {} in all)", sizes.mean(), Bytes(total))
        }
    }
}

/// What a target lies on: file system, device, free space, direct I/O.
pub fn medium(facts: &TargetFacts) -> String {
    let mut parts = Vec::new();
    match (&facts.file_system, &facts.device) {
        (Some(kind), Some(device)) => parts.push(format!("{kind} on {}", device_name(device))),
        (Some(kind), None) => parts.push(kind.clone()),
        (None, Some(device)) => parts.push(device_name(device)),
        (None, None) => {}
    }
    if facts.file_system.is_some() {
        parts.push(format!("{} free", facts.free));
    }
    match facts.direct {
        DirectIo::Aligned(unit) => parts.push(format!("direct I/O in multiples of {unit} B")),
        DirectIo::Refused => parts.push("direct I/O refused".to_owned()),
        DirectIo::Unknown => {}
    }
    parts.join(", ")
}

fn device_name(device: &model::testbed::DeviceFacts) -> String {
    if device.model.is_empty() {
        device.name.clone()
    } else {
        format!("{} ({})", device.name, device.model)
    }
}

fn writes(plan: &Plan) -> String {
    let prepare = plan.prepare_bytes();
    let while_writing: u64 = plan
        .stages
        .iter()
        .filter(|stage| stage.works.iter().any(Work::writes))
        .filter_map(|stage| stage.stop().time())
        .map(|time| time.0)
        .sum();
    let amounts = (0..).zip(&plan.stages).filter(|(_, stage)| stage.stop().once().is_some());
    let writing = amounts.filter(|(_, stage)| stage.works.iter().any(Work::writes));
    let amount =
        Bytes(writing.map(|(number, _)| plan.amount(number).0).fold(0, u64::saturating_add));
    if plan.backend.sends_nothing() {
        return format!("nothing: the {} backend sends nothing anywhere", plan.backend);
    }
    let stages = plan.hosts.iter().flat_map(|host| &host.stages);
    let to_files = stages.map(|stage| stage.written_to_files().0).fold(0, u64::saturating_add);
    match (prepare, while_writing) {
        (Bytes(0), 0) if plan.hosts.iter().any(|host| !host.trees.is_empty()) => {
            let mixed = Nanos(time_of_living(plan));
            let files = Bytes(to_files);
            let then = match mixed {
                Nanos(0) => String::new(),
                time => format!(", and what the target takes in {time} of mixes that write"),
            };
            format!("{files} in files of the operations, and the directories above them{then}")
        }
        (prepare, 0) if amount.0 > 0 => match prepare {
            Bytes(0) => {
                format!("{amount} in workloads that write (reads of mixes counted with them)")
            }
            prepare => format!(
                "{prepare} to prepare, then {amount} in workloads that write (reads of mixes \
                 counted with them)"
            ),
        },
        (Bytes(0), 0) => "nothing".to_owned(),
        (prepare, 0) => format!("{prepare} to prepare"),
        (Bytes(0), time) => {
            format!("what the target takes in {} of workloads that write", Nanos(time))
        }
        (prepare, time) => {
            format!(
                "{prepare} to prepare, then what the target takes in {} of workloads that write",
                Nanos(time)
            )
        }
    }
}

/// How long populations live whose mix writes, in ns.
fn time_of_living(plan: &Plan) -> u64 {
    let writes = |work: &Work| {
        let mixed = work.metadata.filter(|metadata| metadata.living().is_some());
        mixed.is_some_and(|metadata| metadata.ops().any(Op::writes_file))
    };
    let stages = plan.stages.iter().filter(|stage| stage.works.iter().any(writes));
    stages.filter_map(|stage| stage.stop().time()).map(|time| time.0).sum()
}

fn points(plan: &Plan, room: usize) -> String {
    let has_computed = plan.points.iter().any(|point| !point.computed.is_empty());
    let mut table = vec![
        Column::names("workload").want(Want::Folded),
        Column::figures("block"),
        Column::names("pattern").want(Want::Folded),
        Column::figures("depth"),
        Column::figures("workers"),
        Column::figures("precondition").want(Want::Spare(4)),
        Column::figures("measure"),
    ];
    table.extend(has_computed.then(|| Column::names("computed").want(Want::Folded)));
    for (number, point) in plan.points.iter().enumerate() {
        let number = number as u32;
        let Some(measure) = plan.measure_stage(number) else { continue };
        let Some(stage) = plan.stages.get(measure as usize) else { continue };
        for (index, work) in (0..).zip(&stage.works) {
            let name = match words::sweep(&point.sweep, plan.repeats().then_some(point.repetition))
                .as_str()
            {
                "" => work.workload.clone(),
                axes => format!("{} ({axes})", work.workload),
            };
            let mut row = vec![
                // What runs at the same time as the line above it.
                if index > 0 { format!("+ {name}") } else { name },
                words::blocks(work),
                words::pattern(work),
                work.depth.to_string(),
                workers(&plan.hosts, measure, index),
                duration(plan, number, StageKind::Precondition),
                duration(plan, number, StageKind::Measure),
            ];
            // All values of a point stand in its first line.
            row.extend(
                has_computed.then(|| if index > 0 { String::new() } else { computed(point) }),
            );
            columns::row(&mut table, row);
        }
    }
    let left_out = columns::fit(&mut table, room);
    let mut text = columns::render(&table);
    if !left_out.is_empty() {
        let said = format!("Columns hidden for width: {}.", left_out.join(", "));
        text.push_str(&format!("{}\n", hung("", &said, 0, room)));
    }
    text
}

/// `size=4 GiB, files=128`.
fn computed(point: &Point) -> String {
    let values: Vec<String> =
        point.computed.iter().map(|(field, value)| format!("{field}={value}")).collect();
    values.join(", ")
}

fn workers(hosts: &[HostPlan], stage: u32, work: u32) -> String {
    let of = |host: &HostPlan| {
        let stage = host.stages.get(stage as usize)?;
        Some(stage.workers.iter().filter(|worker| worker.work == work).count())
    };
    let each: Vec<usize> = hosts.iter().map(|host| of(host).unwrap_or(0)).collect();
    match each.as_slice() {
        [one] => one.to_string(),
        [first, rest @ ..] if rest.iter().all(|n| n == first) => {
            format!("{} × {first}", each.len())
        }
        _ => each.iter().sum::<usize>().to_string(),
    }
}

/// The time of a stage, or its amount.
fn duration(plan: &Plan, point: u32, kind: StageKind) -> String {
    let found =
        (0..).zip(&plan.stages).find(|(_, stage)| stage.point == Some(point) && stage.kind == kind);
    match found.map(|(number, stage)| (number, stage, stage.stop())) {
        Some((.., Stop::After(time))) => time.to_string(),
        Some((.., Stop::Steady(steady))) => format!("{} to {}", steady.least, steady.most),
        Some((_, stage, Stop::Once(_))) if stage.is_metadata() => "all files".to_owned(),
        Some((number, _, Stop::Once(_))) => plan.amount(number).to_string(),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;

    #[test]
    fn a_plan_says_what_it_touches_and_how_long_it_takes() {
        let recorded =
            Recorded::with_hosts(include_str!("../../../../suites/four-corners.toml"), 2).record();
        insta::assert_snapshot!(render(&recorded.plan, &recorded.testbed));
    }

    #[test]
    fn what_was_computed_stands_beside_its_point() {
        let suite = "[layout]\nsize = \"memory / 8 / workers\"\n[[workload]]\nname = \
                     \"w\"\n[sweep]\nworkers = \"1..8 x2\"\nrepetitions = 2\norder = \
                     \"interleaved\"\nskip = \"workers > 4\"\n";
        let recorded = Recorded::new(suite).record();
        insta::assert_snapshot!(render(&recorded.plan, &recorded.testbed));
    }

    #[test]
    fn a_swept_plan_of_one_host_names_every_point() {
        let recorded = Recorded::new(
            "[layout]\nsize = \"1GiB\"\nfiles = 1\n[[workload]]\nname = \"w\"\n[sweep]\ndepth = \
             [1, 8]\nworkers = [1, 2]\n",
        )
        .record();
        insta::assert_snapshot!(render(&recorded.plan, &recorded.testbed));
    }

    #[test]
    fn a_simulation_promises_no_speed_of_its_own() {
        let mut plan =
            Recorded::with_hosts(include_str!("../../../../suites/four-corners.toml"), 2)
                .record()
                .plan;
        assert!(time(&plan).contains("at an assumed 200 MB/s"));
        plan.hosts.iter_mut().for_each(|host| host.engine.virtual_time = true);
        let (bytes, fixed) = (plan.prepare_bytes(), plan.fixed_time());
        let wanted = format!(
            "{fixed}, and what {bytes} to prepare take at the speed of what is simulated, in \
             virtual time"
        );
        assert_eq!(time(&plan), wanted);
        plan.stages.retain(|stage| stage.kind != StageKind::Prepare);
        plan.hosts
            .iter_mut()
            .for_each(|host| host.stages.retain(|stage| stage.kind != StageKind::Prepare));
        assert_eq!(time(&plan), fixed.to_string());
    }
}
