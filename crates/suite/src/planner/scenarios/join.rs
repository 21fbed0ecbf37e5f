//! Joins the plans of scenarios into one: their stages in the order in which they run, their
//! layouts behind each other.

use model::plan::names::SCENARIO_AXIS;
use model::plan::{HostPlan, HostStage, Part, Plan, PlannedTarget, Point, Stage};
use model::setting::Setting;
use model::testbed::scenario_suffix;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    scenario: usize,
    stage: usize,
}

/// Some scenarios that have one layout.
struct Shared {
    scenarios: Vec<usize>,
    turns: Vec<u32>,
}

/// One plan for all of `plans`, which have the same hosts. `None` where there are none.
pub(super) fn join(plans: Vec<(&str, Plan)>, in_turns: bool) -> Option<Plan> {
    let (names, mut plans): (Vec<&str>, Vec<Plan>) = plans.into_iter().unzip();
    let interval = plans.iter().map(|plan| plan.interval).min()?;
    for host in plans.iter_mut().flat_map(|plan| &mut plan.hosts) {
        host.interval = interval;
    }
    let groups = groups(&plans, in_turns);
    let turns = turns(&plans, &groups, in_turns);
    let mut shared: Vec<Shared> = Vec::new();
    for scenarios in groups {
        let mine = (0..).zip(&turns).filter(|(_, turn)| scenarios.contains(&turn.scenario));
        shared.push(Shared { turns: mine.map(|(number, _)| number).collect(), scenarios });
    }
    shared.sort_by_key(|shared| shared.turns.first().copied());
    let (points, stages) = points(&names, &plans, &turns);
    let first = plans.first()?;
    let mut joined = Plan {
        interval,
        points,
        stages,
        hosts: (0..first.hosts.len())
            .map(|host| joined_host(&plans, host, &turns, &shared))
            .collect::<Option<_>>()?,
        notes: Vec::new(),
        places: first.places.clone(),
        ..first.clone()
    };
    for note in plans.iter().flat_map(|plan| &plan.notes) {
        if !joined.notes.contains(note) {
            joined.notes.push(note.clone());
        }
    }
    for (number, place) in joined.places.iter_mut().enumerate() {
        let owners = shared
            .iter()
            .filter_map(|shared| plans.get(*shared.scenarios.first()?)?.places.get(number));
        place.owners = owners.flat_map(|place| place.owners.clone()).collect();
    }
    set_apart(&mut joined.hosts);
    Some(joined)
}

/// The scenarios that have a layout in common, in order. Where they do not take turns, only those
/// that follow each other have, because a layout stands from its first stage to its last.
fn groups(plans: &[Plan], in_turns: bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for number in 0..plans.len() {
        let fits = |group: &Vec<usize>| {
            group.first().is_some_and(|first| is_same_layout(&plans[*first], &plans[number]))
        };
        let candidates = if in_turns {
            groups.as_mut_slice()
        } else {
            let last = groups.len().saturating_sub(1);
            &mut groups[last..]
        };
        match candidates.iter_mut().find(|group| fits(group)) {
            Some(group) => group.push(number),
            None => groups.push(vec![number]),
        }
    }
    groups
}

/// Whether two plans differ in nothing but their stages, and neither begins with a purge: that is
/// of a scenario's own, so that each begins with a fresh drive.
fn is_same_layout(one: &Plan, other: &Plan) -> bool {
    if [one, other].iter().any(|plan| plan.stages.iter().any(Stage::purges)) {
        return false;
    }
    let same = |(one, other): (&HostPlan, &HostPlan)| {
        (&one.targets, &one.trees) == (&other.targets, &other.trees) && one.engine == other.engine
    };
    let owners =
        |plan: &Plan| plan.places.iter().map(|place| place.owners.clone()).collect::<Vec<_>>();
    one.hosts.iter().zip(&other.hosts).all(same) && owners(one) == owners(other)
}

/// All stages in the order in which they run. A layout that several scenarios have is prepared
/// once, if any of them wants it.
fn turns(plans: &[Plan], groups: &[Vec<usize>], in_turns: bool) -> Vec<Turn> {
    let of = |scenario: usize| {
        (0..plans[scenario].stages.len()).map(move |stage| Turn { scenario, stage })
    };
    let stage_of = |turn: &Turn| &plans[turn.scenario].stages[turn.stage];
    let is_prepare = |turn: &Turn| stage_of(turn).prepares_all();
    let has_prepare = |scenario: usize| of(scenario).any(|turn| is_prepare(&turn));
    let is_first_to_prepare = |turn: &Turn| {
        let group = groups.iter().find(|group| group.contains(&turn.scenario));
        group.and_then(|group| group.iter().copied().find(|scenario| has_prepare(*scenario)))
            == Some(turn.scenario)
    };
    let all = || {
        (0..plans.len()).flat_map(of).filter(|turn| !is_prepare(turn) || is_first_to_prepare(turn))
    };
    if !in_turns {
        return all().collect();
    }
    let repetition = |turn: &Turn| {
        let point =
            stage_of(turn).point.and_then(|point| plans[turn.scenario].points.get(point as usize));
        point.map_or(0, |point| point.repetition)
    };
    let mut turns: Vec<Turn> = all().collect();
    // Stable, so that within a repetition scenarios and their stages stay in order; what has none
    // comes first.
    turns.sort_by_key(|turn| (repetition(turn), turn.scenario, turn.stage));
    turns
}

/// Points and stages with their new numbers.
fn points(names: &[&str], plans: &[Plan], turns: &[Turn]) -> (Vec<Point>, Vec<Stage>) {
    let (mut points, mut stages) = (Vec::new(), Vec::new());
    let mut known: Vec<Vec<Option<u32>>> =
        plans.iter().map(|plan| vec![None; plan.points.len()]).collect();
    for turn in turns {
        let plan = &plans[turn.scenario];
        let mut stage = plan.stages[turn.stage].clone();
        stage.point = stage.point.map(|old| {
            *known[turn.scenario][old as usize].get_or_insert_with(|| {
                let mut point = plan.points[old as usize].clone();
                point.scenario = names[turn.scenario].to_owned();
                point.sweep.insert(0, Setting::new(SCENARIO_AXIS, names[turn.scenario]));
                points.push(point);
                points.len() as u32 - 1
            })
        });
        stages.push(stage);
    }
    (points, stages)
}

fn joined_host(plans: &[Plan], host: usize, turns: &[Turn], shared: &[Shared]) -> Option<HostPlan> {
    let first = plans.first()?.hosts.get(host)?;
    let mut joined = HostPlan {
        targets: Vec::new(),
        trees: Vec::new(),
        stages: Vec::new(),
        parts: Vec::new(),
        ..first.clone()
    };
    let (mut files, mut offsets) = (0u32, vec![(0u32, 0u32); plans.len()]);
    for shared in shared {
        let mine = plans.get(*shared.scenarios.first()?)?.hosts.get(host)?;
        let (target, tree) = (joined.targets.len() as u32, joined.trees.len() as u32);
        for scenario in &shared.scenarios {
            offsets[*scenario] = (files, tree);
        }
        files += mine.files().count() as u32;
        joined.engine.patience = joined.engine.patience.max(mine.engine.patience);
        joined.targets.extend(mine.targets.iter().cloned());
        let moved = |old: &model::metadata::Tree| model::metadata::Tree {
            target: old.target + target,
            ..old.clone()
        };
        joined.trees.extend(mine.trees.iter().map(moved));
        joined.parts.push(Part {
            stages: shared.turns.clone(),
            targets: target..joined.targets.len() as u32,
            trees: tree..joined.trees.len() as u32,
            engine: mine.engine.clone(),
        });
    }
    for (number, turn) in (0..).zip(turns) {
        let stage = plans[turn.scenario].hosts.get(host)?.stages.get(turn.stage)?;
        let (files, trees) = offsets[turn.scenario];
        joined.stages.push(moved(stage, number, files, trees));
    }
    if joined.parts.len() == 1 {
        joined.parts.clear();
    }
    Some(joined)
}

/// A stage with its new number, whose files and trees stand behind so many others.
fn moved(stage: &HostStage, number: u32, files: u32, trees: u32) -> HostStage {
    let mut stage = HostStage { stage: number, ..stage.clone() };
    for worker in &mut stage.workers {
        worker.extents.iter_mut().for_each(|extent| extent.file += files);
        if let Some(share) = &mut worker.files {
            share.tree += trees;
        }
    }
    stage
}

/// Gives layouts that stand at the same time in the same directory a directory each.
fn set_apart(hosts: &mut [HostPlan]) {
    let parts = hosts.first().map_or(0, |host| host.parts.len());
    for number in 1..parts {
        // All hosts alike, because one may load what another one makes.
        if hosts.iter().any(|host| collides(host, number)) {
            hosts.iter_mut().for_each(|host| rename(host, number));
        }
    }
}

/// The directories of a part.
fn roots(host: &HostPlan, number: usize) -> Vec<&str> {
    let Some(part) = host.parts.get(number) else { return Vec::new() };
    let root = |target: u32| match &host.targets.get(target as usize)?.kind {
        PlannedTarget::Directory { root } => Some(root.as_str()),
        _ => None,
    };
    part.targets.clone().filter_map(root).collect()
}

fn collides(host: &HostPlan, number: usize) -> bool {
    let mine = roots(host, number);
    let meets = |other: &usize| host.parts[number].meets(&host.parts[*other]);
    (0..number).filter(meets).any(|other| roots(host, other).iter().any(|root| mine.contains(root)))
}

/// Puts every file of ours of a part into a directory beside the one that it would be in.
fn rename(host: &mut HostPlan, number: usize) {
    let Some(part) = host.parts.get(number).cloned() else { return };
    let suffix = scenario_suffix(number as u32);
    let beside = |path: &str| match path.rsplit_once('/') {
        Some((directory, name)) => format!("{directory}{suffix}/{name}"),
        None => path.to_owned(),
    };
    for target in part.targets.clone() {
        let Some(target) = host.targets.get_mut(target as usize) else { continue };
        match &mut target.kind {
            PlannedTarget::Directory { root } => root.push_str(&suffix),
            PlannedTarget::Joined => {}
            _ => continue,
        }
        target.files.iter_mut().for_each(|file| file.path = beside(&file.path));
    }
    for tree in part.trees.clone() {
        if let Some(tree) = host.trees.get_mut(tree as usize) {
            tree.path = beside(&tree.path);
        }
    }
}
