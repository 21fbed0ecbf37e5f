//! What a run would do, in words: the last look before anything is touched.

mod cost;
mod hosts;
mod place;
mod points;
mod targets;

use crate::ground::folding::hung;
use crate::ground::gather::{each_once, grouped};
use crate::ground::words;
use crate::pens::{self, json::Value};
use analysis::compare::visible_percent;
use model::curve::Unit;
use model::plan::Steady;
use model::testbed::HostFacts;
use model::{Bytes, EventTime, Nanos, Plan, PlannedEvent, StageKind, printable};
use std::fmt::Write;

pub use cost::time;
pub use hosts::host_line;
pub use place::medium;
pub(crate) use place::past_and_through;

/// What a line is about, and the gap behind it, in characters.
const HEAD: usize = 9;

/// The plan for people.
pub fn render(plan: &Plan, hosts: &[HostFacts]) -> String {
    render_within(plan, hosts, None)
}

/// The same for a terminal of so many columns; `None` is no terminal.
pub fn render_within(plan: &Plan, hosts: &[HostFacts], room: Option<usize>) -> String {
    let room = room.unwrap_or(usize::MAX);
    let outlook = analysis::outlook::outlook(plan, hosts);
    let mut lines = vec![("suite", suite(plan))];
    lines.extend(hosts::lines(plan, hosts));
    lines.extend(plan.has_parts().then(|| ("layouts", place::layouts(plan))));
    lines.extend(cost::purges(plan).map(|line| ("purge", line)));
    lines.extend([("writes", cost::writes(plan)), ("time", time(plan))]);
    lines.push(("verdict", crate::topics::grade::best(&outlook)));
    let notes = plan.notes.iter().map(|note| crate::topics::note::line(&note.fact));
    lines.extend(notes.map(|line| ("note", line)));
    lines.extend(finds(plan).map(|line| ("finds", line)));
    lines.extend(plan.events.iter().map(|event| ("event", event_line(plan, event))));
    lines.extend(prerun_lines(plan).into_iter().map(|line| ("prerun", line)));
    lines.extend(share_lines(plan).into_iter().map(|line| ("shares", line)));
    lines.extend(rounds_line(plan).map(|line| ("rounds", line)));
    lines.extend(rate_lines(plan).into_iter().map(|line| ("rate", line)));
    lines.extend(targets::lines(plan).into_iter().map(|line| ("targets", line)));
    let put = |(head, line): (&str, String)| {
        let head = format!("{head:HEAD$}");
        format!("{}\n", hung(&head, &printable::line(&line), HEAD, room))
    };
    let text: String = lines.into_iter().map(put).collect();
    format!("{text}\n{}", points::points(plan, room))
}

/// So far repetitions are assumed to stray, relative to their mean.
const ASSUMED_DEVIATION: f64 = 0.05;

/// Repetitions that find no less than this, in percent, find nothing.
const MOST_FOUND: f64 = 1_000.0;

/// Which difference the repetitions find in a comparison with as many of another run; `None` of a
/// plan that repeats nothing.
fn finds(plan: &Plan) -> Option<String> {
    let mut all: Vec<u32> = plan.points.iter().map(|point| point.repetition).collect();
    let first = all.iter().copied().min()?;
    // Of each point, its rate and its p99 are tested.
    let tests = 2 * all.iter().filter(|repetition| **repetition == first).count();
    all.sort_unstable();
    all.dedup();
    let repetitions = all.len() as u64;
    let visible = |count: u64| visible_percent(ASSUMED_DEVIATION, count, tests);
    let twice = 2 * repetitions;
    let found = match visible(repetitions)? {
        percent if percent < MOST_FOUND => format!("a difference of {percent:.0} % or more"),
        _ => "nothing".to_owned(),
    };
    Some(format!(
        "with {} {found}, with {twice} a difference of {:.0} % (assumed: repetitions differ from \
         each other by {})",
        words::counted(repetitions, "repetition"),
        visible(twice)?,
        words::share(ASSUMED_DEVIATION)
    ))
}

/// The plan for machines, with the best verdict that it can have.
pub fn object(plan: &Plan, hosts: &[HostFacts]) -> Value {
    let verdict = crate::topics::grade::best_object(&analysis::outlook::outlook(plan, hosts));
    let mut object = pens::json::value(plan);
    object["verdict"] = verdict;
    object
}

fn rounds_line(plan: &Plan) -> Option<String> {
    let rounds = &plan.rounds;
    let least = rounds.whole(plan.points.len()).max(Steady::ROUNDS as u32);
    let tracked: Vec<String> = rounds
        .tracked
        .iter()
        .filter_map(|number| plan.points.get(*number as usize))
        .map(|point| format!("{} ({})", point.name(), words::sweep(&point.sweep, None)))
        .collect();
    let all = tracked.len() == rounds.points as usize;
    let what = if all { "all of them".to_owned() } else { tracked.join(", ") };
    (rounds.most > 0).then(|| {
        format!(
            "{least} to {} of {}, until the last {} of {what} are steady",
            rounds.most,
            words::counted(u64::from(rounds.points), "point"),
            Steady::ROUNDS
        )
    })
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
    // Points of a sweep have the same shares: said once.
    each_once((0..plan.points.len() as u32).filter_map(of))
}

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
            lines.push(format!("{}: {curve}; {due} are due{cut}", work.workload));
        }
    }
    each_once(lines)
}

/// What is done before points, once for each command, with the number of its points.
fn prerun_lines(plan: &Plan) -> Vec<String> {
    let commands = plan
        .points
        .iter()
        .filter_map(|point| Some((point.prerun.as_ref()?.command.as_deref()?, ())));
    let is_simulated = plan.hosts.iter().any(|host| host.engine.virtual_time);
    let line = |(command, points): (&str, Vec<()>)| {
        let points = words::counted(points.len() as u64, "point");
        let command = model::occurrence::one_line(command, 200);
        match is_simulated {
            true => format!("before each of {points}: left out under simulated time: {command}"),
            false => format!("before each of {points}, the coordinator runs: {command}"),
        }
    };
    grouped(commands).into_iter().map(line).collect()
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
}
