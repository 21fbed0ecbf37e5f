//! DiskSpd: XML profiles, as VMFleet keeps them.

use super::elements::{PROFILE, SPAN, TARGET};
use super::options::DiskSpd;
use super::{requests, rest, sharing, target, window};
use crate::apart::{Apart, apart, selected};
use crate::draft::{Draft, Group, Taken, Work, plain_name, quoted, share, size, time, unique};
use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, OptionId, Verdict};
use crate::mpi::job::Got;
use crate::table::{Given, Opt, find, unknown};
use crate::write;
use crate::xml::{Element, parse};

const SECOND: u64 = 1_000_000_000;

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

/// Where a target is.
struct Place {
    /// As it is written.
    text: String,
    /// The target that stands for it, where it has a path here.
    path: Option<String>,
    id: OptionId,
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
    for child in &root.children {
        if child.name != "TimeSpans" {
            apply(PROFILE, &mut DiskSpd::default(), child, name, &mut losses);
            continue;
        }
        for span in &child.children {
            let (job, targets) = read_span(span, name, &mut losses);
            seed = seed.or(job.seed.clone());
            if !targets.is_empty() {
                groups.push(group(&job, &targets, &mut losses, &mut taken));
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
    let mut draft = Draft {
        name: plain_name(stem.strip_suffix(".xml").unwrap_or(stem)),
        description: "Imported from a profile of DiskSpd.".to_owned(),
        notes: vec![
            format!("Imported from {stem}, a profile of DiskSpd, by `plimsoll import`."),
            "Behind each field: the line that it came from. Others are DiskSpd's defaults."
                .to_owned(),
        ],
        groups,
        ..Draft::default()
    };
    if let Some(got) = seed.filter(|got| got.value > 0) {
        draft.top.set("seed", got.value.to_string(), losses.source(got.id));
    }
    let suite = write::suite(&draft);
    Ok(Import::new("diskspd", losses, vec![suite]))
}

fn read_span(span: &Element, name: &str, losses: &mut Losses) -> (DiskSpd, Vec<Target>) {
    let mut job = DiskSpd::default();
    for child in span.children.iter().filter(|child| child.name != "Targets") {
        apply(SPAN, &mut job, child, name, losses);
    }
    let all = span.children.iter().filter(|child| child.name == "Targets");
    let mut targets = Vec::new();
    for element in all.flat_map(|all| &all.children) {
        let mut one = job.clone();
        let mut place = None;
        for child in &element.children {
            match child.name.as_str() {
                "Path" => place = target_of(child, name, losses),
                _ => apply(TARGET, &mut one, child, name, losses),
            }
        }
        targets.push(Target { job: one, place });
    }
    (job, targets)
}

fn target_of(element: &Element, name: &str, losses: &mut Losses) -> Option<Place> {
    let place = format!("{name}:{}", element.line);
    let id = losses.tell("Path", &element.text, &place, Verdict::harmless(""));
    if element.text.starts_with('*') {
        let why = "a target that the command line names; name it with `--target`";
        losses.replace(id, Verdict::near(why));
        return Some(Place { text: element.text.clone(), path: None, id });
    }
    match target(&element.text) {
        Ok((path, verdict)) => {
            losses.replace(id, verdict);
            Some(Place { text: element.text.clone(), path, id })
        }
        Err(why) => {
            losses.replace(id, Verdict::refused(why));
            None
        }
    }
}

/// Reads an element; what takes elements of its own sees them as words.
fn apply(
    table: &'static [Opt<DiskSpd>],
    job: &mut DiskSpd,
    element: &Element,
    name: &str,
    losses: &mut Losses,
) {
    let place = format!("{name}:{}", element.line);
    let value = words(element);
    let id = losses.tell(&element.name, &value, &place, Verdict::harmless(""));
    let verdict = match find(&[table], &element.name) {
        Some(_) if value.is_empty() => Verdict::harmless("not set: DiskSpd's default holds"),
        Some(option) => option.apply(job, &Given { id, value }),
        None => unknown(&[table], "DiskSpd", &element.name),
    };
    losses.replace(id, verdict);
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
fn largest(targets: &[Target], losses: &mut Losses) -> Option<Got<u64>> {
    let end = |job: &DiskSpd| job.create.clone().or(job.most.clone());
    let mut largest =
        targets.iter().filter_map(|target| end(&target.job)).max_by_key(|got| got.value);
    for base in targets.iter().filter_map(|target| target.job.base.as_ref()) {
        if largest.as_ref().is_none_or(|got| got.value <= base.value) {
            let value = base.value.saturating_mul(2).min(1 << 60);
            let why = "the file's size is not said: as much behind this place as before it";
            losses.worsen(base.id, Verdict::near(why));
            largest = Some(Got { value, id: base.id });
        }
    }
    largest
}

/// The targets of a span, and the place of each among those of the group.
fn places(targets: &[Target], losses: &mut Losses, group: &mut Group) -> Vec<usize> {
    let all = || targets.iter().filter_map(|target| target.place.as_ref());
    if let Some(first) = all().find(|place| place.path.is_some()) {
        group.targets_from = losses.source(first.id);
    }
    let text = |target: &'_ Target| target.place.as_ref().map_or(String::new(), |p| p.text.clone());
    let texts: Vec<String> = targets.iter().map(text).collect();
    if texts.iter().all(|text| *text == texts[0]) {
        group.targets.extend(all().find_map(|place| place.path.clone()));
        return vec![0; targets.len()];
    }
    let names: Vec<&str> = texts.iter().map(String::as_str).collect();
    let here = |target: &Target| target.place.as_ref().is_some_and(|place| place.path.is_some());
    let paths: Vec<Option<&str>> =
        targets.iter().zip(&names).map(|(target, name)| here(target).then_some(*name)).collect();
    for place in all().filter(|place| place.path.is_none()) {
        losses.worsen(place.id, Verdict::near(ELSEWHERE));
    }
    let Apart { targets, of } = apart(&paths, &names);
    group.targets = targets;
    of
}

pub(super) const ELSEWHERE: &str = "no path of this system; a folder stands for it, and \
`--target` names others, in the order of `[targets]`";

fn group(span: &DiskSpd, targets: &[Target], losses: &mut Losses, taken: &mut Taken) -> Group {
    let mut group = Group { name: "diskspd".to_owned(), ..Group::default() };
    let places = places(targets, losses, &mut group);
    let largest = largest(targets, losses);
    group.layout.set("files", "1", "");
    if let Some(got) = &largest {
        group.layout.set("size", size(got.value.clamp(1 << 20, 1 << 60)), losses.source(got.id));
    }
    group.stages.set("prepare", "true", "");
    let warm = span.warm.as_ref().map_or(5, |got| got.value).min(1 << 20);
    group.stages.set("precondition", time(warm * SECOND), Got::source(&span.warm, losses));
    let measure = span.time.as_ref().map_or(10, |got| got.value).clamp(1, 1 << 20);
    group.stages.set("measure", time(measure * SECOND), Got::source(&span.time, losses));
    let direct = targets.iter().find_map(|target| target.job.direct.as_ref());
    let source = direct.map(|got| losses.source(got.id)).unwrap_or_default();
    group.engine.set("direct", direct.is_some().to_string(), source);
    let pin = if span.floating.is_some() { "none" } else { "core" };
    group.engine.text("pin", pin, Got::source(&span.floating, losses));
    if let Some(got) = targets.iter().find_map(|target| target.job.compressible.as_ref()) {
        group.contents.set("compressible", quoted(&share(got.value)), losses.source(got.id));
    }
    for (target, place) in targets.iter().zip(places) {
        let mut job = target.job.clone();
        job.create = largest.clone();
        let mut fields = requests(&job, losses);
        let threads = job.threads.as_ref().or(span.total.as_ref());
        let workers = threads.map_or(1, |got| got.value).clamp(1, 65_536);
        let source = threads.map(|got| losses.source(got.id)).unwrap_or_default();
        fields.set("workers", workers.to_string(), source);
        rest(&job, losses, &mut fields);
        if workers > 1 {
            sharing(&job, workers, losses, &mut fields);
        }
        window(&job, losses, &mut fields);
        if let Some(value) = selected(&[place], group.targets.len()) {
            let source = target.place.as_ref().map(|place| losses.source(place.id));
            fields.set("targets", value, source.unwrap_or_default());
        }
        let name = unique("diskspd", taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    // All of a file is the whole range.
    for work in &mut group.works {
        work.fields.0.retain(|line| line.key != "range" || line.value != "\"0%-100%\"");
    }
    group
}
