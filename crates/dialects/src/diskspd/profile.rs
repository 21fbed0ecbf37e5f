//! DiskSpd: XML profiles, as VMFleet keeps them.

use super::requests::{span, workload};
use super::{DiskSpd, OPTIONS, Place, own_targets};
use crate::apart::selected;
use crate::draft::{Draft, Group, Taken, Work, size, unique};
use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Chapter, Value, Values};
use crate::words::line::Limits;
use crate::words::xml::{Element, parse};
use crate::write;

/// Whether a text is a profile, not a result.
pub fn detect(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('<') && text.contains("<TimeSpans>") && !text.contains("<Results>")
}

/// A target of a time span.
struct Target {
    job: DiskSpd,
    place: Option<Place>,
}

/// A profile as a suite.
///
/// # Errors
/// It is no XML, or has no target.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let root = parse(text).map_err(|error| {
        let place = format!("{name}:{}", error.line);
        ImportError::new(place, error.what, "write a profile as `diskspd -Rp` does")
    })?;
    let mut losses = Losses::default();
    let mut groups = Vec::new();
    let mut taken = Taken::default();
    let mut seed = None;
    let beside = OPTIONS.chapter("Profiles: beside `<TimeSpans>`");
    for child in &root.children {
        if child.name != "TimeSpans" {
            apply(beside, &mut DiskSpd::new(), child, name, &mut losses);
            continue;
        }
        for span in &child.children {
            let (job, targets) = read_span(span, name, &mut losses);
            match (seed, job.got("seed")) {
                (Some((one, _)), Some((other, id))) if one != other => {
                    losses.worsen(id, Verdict::near("the seed of the first `TimeSpan` for all"));
                }
                (one, other) => seed = one.or(other),
            }
            if !targets.is_empty() {
                groups.push(group(&job, targets, &mut losses, &mut taken));
            }
            if losses.len() > MOST_OPTIONS {
                return Err(ImportError::new(name, "there are too many elements", "split it"));
            }
        }
    }
    if groups.is_empty() {
        let remedy = "write a <Target> into a <TimeSpan>";
        return Err(ImportError::new(name, "no target is in it", remedy));
    }
    let stem = name.rsplit('/').next().unwrap_or(name);
    let own = stem.strip_suffix(".xml").unwrap_or(stem);
    let mut draft = Draft::imported(own, stem, "a profile of DiskSpd", "the line that", groups);
    if let Some((seed, id)) = seed.filter(|(seed, _)| *seed > 0) {
        draft.top.set("seed", seed.to_string(), losses.source(id));
    }
    Ok(Import::new("diskspd", losses, vec![write::suite(&draft)]))
}

fn read_span(span: &Element, name: &str, losses: &mut Losses) -> (DiskSpd, Vec<Target>) {
    let mut job = DiskSpd::new();
    let (of_spans, of_targets) =
        (OPTIONS.chapter("Profiles: in `<TimeSpan>`"), OPTIONS.chapter("Profiles: in `<Target>`"));
    for child in span.children.iter().filter(|child| child.name != "Targets") {
        apply(of_spans, &mut job, child, name, losses);
    }
    let all = span.children.iter().filter(|child| child.name == "Targets");
    let mut targets = Vec::new();
    for element in all.flat_map(|all| &all.children) {
        let mut target = Target { job: job.clone(), place: None };
        for child in &element.children {
            if child.name == "Path" {
                let line = format!("{name}:{}", child.line);
                target.place = Place::read("Path", &child.text, &line, losses);
            } else {
                apply(of_targets, &mut target.job, child, name, losses);
            }
        }
        targets.push(target);
    }
    (job, targets)
}

/// Reads an element; what takes elements of its own sees them as words.
fn apply(
    elements: &'static Chapter,
    job: &mut DiskSpd,
    element: &Element,
    name: &str,
    losses: &mut Losses,
) {
    let place = format!("{name}:{}", element.line);
    let value = words(element);
    if value.is_empty() && elements.find(&element.name).is_some() {
        let why = Verdict::harmless("not set: DiskSpd's default holds");
        losses.tell(&element.name, "", &place, why);
    } else {
        elements.read("DiskSpd", [&element.name, &value, &place], job, losses);
    }
}

/// `5`, `6 IOPS`, `Percent 95/5 4/10`, `Pattern random SizeInBytes 10485760`.
fn words(element: &Element) -> String {
    let mut all: Vec<String> = Vec::new();
    let mut rest = vec![(element, 0)];
    while let Some((element, depth)) = rest.pop() {
        if depth > 0 && element.name != "Range" {
            all.push(element.name.clone());
        }
        match element.attribute("IO") {
            Some(share) => all.push(format!("{share}/{}", element.text)),
            None if !element.text.is_empty() => all.push(element.text.clone()),
            None => {}
        }
        all.extend(element.attribute("unit").map(str::to_owned));
        rest.extend(element.children.iter().rev().map(|child| (child, depth + 1)));
    }
    all.join(" ")
}

/// Files that are there have a size that no profile says; what is loaded of them it does.
fn largest(targets: &[Target], losses: &mut Losses) -> Option<(u64, OptionId)> {
    let end = |target: &Target| target.job.got("create").or(target.job.got("most"));
    let mut largest = targets.iter().filter_map(end).max_by_key(|(bytes, _)| *bytes);
    for (base, id) in targets.iter().filter_map(|target| target.job.got("base")) {
        if largest.is_none_or(|(bytes, _)| bytes <= base) {
            let why = "the file's size is not said: as much behind this place as before it";
            losses.worsen(id, Verdict::near(why));
            largest = Some((base.saturating_mul(2).min(1 << 60), id));
        }
    }
    largest
}

/// The targets of a span, and the place of each among those of the group.
fn places(targets: &[Target], losses: &mut Losses, group: &mut Group) -> Vec<usize> {
    let all: Vec<Option<&Place>> = targets.iter().map(|target| target.place.as_ref()).collect();
    let here = || all.iter().flatten().filter(|place| place.path.is_some());
    group.targets_from = here().next().map(|place| losses.source(place.id)).unwrap_or_default();
    let text = |place: &Option<&Place>| place.map_or(String::new(), |place| place.text.clone());
    if all.iter().any(|place| text(place) != text(&all[0])) {
        return own_targets(&all, losses, group);
    }
    group.targets.extend(here().find_map(|place| place.path.clone()));
    vec![0; targets.len()]
}

/// What a suite says of all targets at once, where one says it alone.
fn of_all(targets: &[Target], losses: &mut Losses) {
    for slot in ["direct", "compressible"] {
        if !targets.iter().all(|target| target.job.values.is(slot)) {
            let why = "all targets of the span are so, not those alone that say it";
            let all = targets.iter().map(|target| &target.job.values);
            all.for_each(|values| values.worsen(slot, losses, Verdict::near(why)));
        }
    }
}

fn group(job: &DiskSpd, targets: Vec<Target>, losses: &mut Losses, taken: &mut Taken) -> Group {
    let mut group = Group { name: "diskspd".to_owned(), ..Group::default() };
    let places = places(&targets, losses, &mut group);
    let largest = largest(&targets, losses);
    group.layout.set("files", "1", "");
    if let Some((bytes, id)) = largest {
        let bytes = Limits(1 << 20, 1 << 60, size).keep(bytes, Some(id), losses);
        group.layout.set("size", size(bytes), losses.source(id));
    }
    group.stages.set("prepare", "true", "");
    let of = |slot: &str| -> &Values {
        let mut all = targets.iter().map(|target| &target.job.values);
        all.find(|values| values.is(slot)).unwrap_or(&job.values)
    };
    of_all(&targets, losses);
    span(&job.values, of("direct"), of("compressible"), losses, &mut group);
    let parts = targets.len() as u64;
    for (Target { mut job, place }, number) in targets.into_iter().zip(places) {
        match largest {
            Some((bytes, id)) => job.values.put("create", Value::Number(bytes), id),
            None => job.values.forget("create"),
        }
        let threads = if job.values.is("total") { "total" } else { "threads" };
        if threads == "total" {
            let why = Verdict::harmless("`ThreadCount` counts the threads of all targets");
            job.values.id("threads").into_iter().for_each(|id| losses.replace(id, why.clone()));
        }
        job.share_depth(threads, parts, losses);
        let mut fields = workload(&job, threads, losses);
        if let Some(value) = selected(&[number], group.targets.len()) {
            let source = place.map(|place| losses.source(place.id));
            fields.set("targets", value, source.unwrap_or_default());
        }
        // All of a file is the whole range.
        fields.0.retain(|line| line.key != "range" || line.value != "\"0%-100%\"");
        let name = unique("diskspd", taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    group
}
