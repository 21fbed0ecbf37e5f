//! Runs whose scenarios had layouts of their own: each that still stands is looked at by itself,
//! and of the others it is said why they cannot be.

use super::{AuditError, AuditOptions, Observers, audit_layout, damaged, uncheckable};
use model::Record;
use model::audit::Audit;
use model::plan::{HostPlan, Part};

/// One layout of a host, as it was when the record ended.
enum Layout {
    /// It can be looked at.
    Standing(Box<HostPlan>),
    /// It cannot, for this reason.
    Gone(String),
}

/// Looks at each layout of `plan` that still stands.
pub(super) fn audit(
    record: &Record,
    plan: &HostPlan,
    options: &AuditOptions<'_>,
    observers: Observers<'_>,
) -> Result<Audit, AuditError> {
    let (mut standing, mut notes) = (Vec::new(), Vec::new());
    let mut names = Vec::new();
    for (number, part) in plan.parts.iter().enumerate() {
        let name = name(record, part);
        let is_wanted = options.scenario.is_none_or(|wanted| wanted == name);
        match is_wanted.then(|| layout(record, plan, number, part)).transpose()? {
            Some(Layout::Standing(alone)) => standing.push((name.clone(), alone)),
            Some(Layout::Gone(why)) => notes.push(format!("scenario {name}: not checked, {why}")),
            None => {}
        }
        names.push(name);
    }
    if let Some(wanted) = options.scenario.filter(|wanted| !names.iter().any(|name| name == wanted))
    {
        let text =
            format!("the run had no layout of a scenario `{wanted}`; it had {}", names.join(", "));
        return Err(AuditError::Usage(text));
    }
    if standing.is_empty() {
        let remedy = "give one scenario contents.verify = true, run it alone with --scenario NAME \
                      --keep-data, and check that";
        return Err(AuditError::Usage(format!(
            "no layout of the run can be checked ({}); {remedy}",
            notes.join("; ")
        )));
    }
    let grain = standing[0].1.engine.contents.grain;
    if standing.iter().any(|(_, plan)| plan.engine.contents.grain != grain) {
        let names: Vec<&str> = standing.iter().map(|(name, _)| name.as_str()).collect();
        let text = format!(
            "the layouts that stand have blocks of several sizes; name one of {} with --scenario",
            names.join(", ")
        );
        return Err(AuditError::Usage(text));
    }
    let whole = together(record, &standing, options, observers)?;
    Ok(Audit { notes: [whole.notes, notes].concat(), ..whole })
}

/// The layouts one after the other, as if they were one.
fn together(
    record: &Record,
    standing: &[(String, Box<HostPlan>)],
    options: &AuditOptions<'_>,
    observers: Observers<'_>,
) -> Result<Audit, AuditError> {
    let Observers { progress, tick } = observers;
    let mut here = options.targets;
    let wanted: usize = standing.iter().map(|(_, plan)| plan.targets.len()).sum();
    if !here.is_empty() && here.len() != wanted {
        let were = standing.iter().flat_map(|(_, plan)| &plan.targets);
        let were: Vec<&str> = were.map(|target| target.path.as_str()).collect();
        let text = format!(
            "the layouts that stand have {wanted} targets ({}) and {} are named; name one \
             --target for each, in this order, or none",
            were.join(", "),
            here.len()
        );
        return Err(AuditError::Usage(text));
    }
    let mut whole: Option<Audit> = None;
    for (_, plan) in standing {
        let (own, rest) = here.split_at(plan.targets.len().min(here.len()));
        here = rest;
        let told = whole.as_ref().map_or(0, Audit::told);
        let options =
            AuditOptions { targets: own, kept: options.kept.saturating_sub(told), ..*options };
        let observers = Observers { progress, tick: &mut *tick };
        let audit = audit_layout(record, plan, &options, observers)?;
        match &mut whole {
            None => whole = Some(audit),
            Some(whole) => add(whole, audit),
        }
    }
    whole.ok_or_else(|| damaged("none of its layouts stands"))
}

fn add(whole: &mut Audit, other: Audit) {
    whole.acknowledged_writes = whole.acknowledged_writes.saturating_add(other.acknowledged_writes);
    whole.files.extend(other.files);
    whole.findings.extend(other.findings);
    whole.populations.extend(other.populations);
    whole.file_findings.extend(other.file_findings);
    for note in other.notes {
        if !whole.notes.contains(&note) {
            whole.notes.push(note);
        }
    }
}

/// Whether the layout of a part still stood when the record ended: it does from its first stage
/// until its last is over and others are still to come.
fn layout(
    record: &Record,
    plan: &HostPlan,
    number: usize,
    part: &Part,
) -> Result<Layout, AuditError> {
    let gone = |why: &str| Ok(Layout::Gone(why.to_owned()));
    let began = record.stages.iter().map(|stage| stage.stage).max();
    let Some(began) = began.filter(|began| part.stages.first().is_some_and(|first| first <= began))
    else {
        return gone("it was not yet laid out when the run ended");
    };
    let others_follow =
        plan.parts.iter().any(|other| other.stages.last().is_some_and(|last| *last > began));
    let has_ended = record.stage(began).is_some_and(|stage| stage.end.is_some());
    if part.is_over_at(began)
        || (others_follow && has_ended && part.is_over_at(began.saturating_add(1)))
    {
        return gone("its layout was removed when the next one was due");
    }
    let alone = plan.alone(number).ok_or_else(|| damaged("a layout of its plan is not there"))?;
    Ok(match uncheckable(&alone) {
        Some(why) => Layout::Gone(why.to_owned()),
        None => Layout::Standing(Box::new(alone)),
    })
}

/// The scenarios of a part, by name.
fn name(record: &Record, part: &Part) -> String {
    let mut names: Vec<&str> = Vec::new();
    for stage in &part.stages {
        let point = record.plan.stages.get(*stage as usize).and_then(|stage| stage.point);
        let point = point.and_then(|point| record.plan.points.get(point as usize));
        names.extend(
            point.map(|point| point.scenario.as_str()).filter(|name| !names.contains(name)),
        );
    }
    names.join("+")
}
