//! Sections of fio as jobs, and jobs as a suite.

use super::group;
use super::job::Job;
use super::options::{find, none_of_fio};
use super::sections::{Entry, Section, expanded};
use crate::draft::{Draft, Group, Taken, plain_name};
use crate::import::{Import, ImportError, World};
use crate::loss::{Losses, UNSHOWN, Verdict};
use crate::rows::{Given, Row, Takes};
use crate::write;

/// No suite has more scenarios or workloads.
const MOST_JOBS: usize = 1_000;

/// The suite of these jobs.
pub fn finish(name: &str, jobs: &[Job], mut losses: Losses) -> Result<Import, ImportError> {
    if jobs.is_empty() {
        return Err(ImportError::new(name, "there is no job in it", "write a section [NAME]"));
    }
    if jobs.len() > MOST_JOBS {
        let what = format!("{} jobs are more than {MOST_JOBS}", jobs.len());
        return Err(ImportError::new(name, what, "split the job file"));
    }
    let stem = name.rsplit('/').next().unwrap_or(name);
    let stem = plain_name(stem.strip_suffix(".fio").unwrap_or(stem));
    let mut taken = Taken::default();
    let groups = in_order(jobs, &mut losses);
    let mut groups: Vec<Group> =
        groups.iter().map(|jobs| group::group(jobs, &mut losses, &mut taken)).collect();
    same_files(&mut groups);
    laid_out_once(&mut groups);
    let mut draft = Draft {
        name: stem,
        description: description(jobs),
        notes: notes(name),
        groups,
        ..Draft::default()
    };
    if let Some((seed, id)) = jobs.iter().find_map(|job| job.number("seed").zip(job.id("seed"))) {
        draft.top.set("seed", seed.min(1 << 60).to_string(), losses.source(id));
        for job in jobs.iter().filter(|job| job.number("seed").is_some_and(|own| own != seed)) {
            let why = "all jobs have the seed of the first one that has any";
            losses.worsen(job.id("seed"), Verdict::near(why));
        }
    }
    let asked = draft.groups.iter_mut().flat_map(|group| std::mem::take(&mut group.asked));
    let asked = asked.collect();
    Ok(Import { asked, ..Import::new("fio", losses, write::suites(&draft)) })
}

/// Files that an earlier group has made have the size that it says.
fn same_files(groups: &mut [Group]) {
    for number in 1..groups.len() {
        let (before, group) = groups.split_at_mut(number);
        let Some(group) = group.first_mut() else { return };
        if group.layout.get("size").is_some() || group.layout.get("kind").is_some() {
            continue;
        }
        let is_same = |other: &&Group| {
            other.targets == group.targets && other.layout.get("files") == group.layout.get("files")
        };
        let size = before
            .iter()
            .rev()
            .filter(is_same)
            .find_map(|other| other.layout.0.iter().find(|line| line.key == "size").cloned());
        group.layout.0.extend(size);
    }
}

/// fio lays all files out before the first job runs: a job that writes finds them as one that
/// reads.
fn laid_out_once(groups: &mut [Group]) {
    let is_read = |group: &&Group| group.stages.get("prepare") == Some("true");
    let all: Vec<Group> = groups.iter().filter(is_read).cloned().collect();
    for group in groups {
        let is_same = |other: &&Group| {
            other.targets == group.targets
                && other.targets_from == group.targets_from
                && !other.targets_from.is_empty()
                && other.layout.agrees(&group.layout)
        };
        if let Some(reader) = all.iter().find(is_same) {
            let line = reader.stages.0.iter().find(|line| line.key == "prepare");
            let source = line.map(|line| line.from.clone()).unwrap_or_default();
            group.stages.set("prepare", "true", source);
        }
    }
}

fn description(jobs: &[Job]) -> String {
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).take(4).collect();
    let more = if jobs.len() > 4 { ", …" } else { "" };
    format!("Imported from fio: {}{more}.", names.join(", "))
}

fn notes(name: &str) -> Vec<String> {
    let name = name.rsplit('/').next().unwrap_or(name);
    vec![
        format!("Imported from {name}, a job of fio, by `plimsoll import`."),
        "Behind each field: the line that it came from. Fields without one are fio's defaults."
            .to_owned(),
    ]
}

/// The jobs of the sections: what `[global]` says so far, and what they say themselves.
pub fn jobs(
    sections: &[Section],
    only: &[String],
    world: &World<'_>,
    losses: &mut Losses,
) -> Vec<Job> {
    let mut global = Job::default();
    let mut jobs = Vec::new();
    for section in sections {
        // So fio tells them: `[global2]` is one, and `[GLOBAL]` is a job.
        if section.name.starts_with("global") {
            apply_all(&mut global, &section.entries, world, losses);
            continue;
        }
        if !only.is_empty() && !only.contains(&section.name) {
            for entry in &section.entries {
                let why = Verdict::harmless("its section is not among those asked for");
                losses.tell(&entry.name, &entry.value, &entry.place, why);
            }
            continue;
        }
        let mut job = Job { name: section.name.clone(), ..global.clone() };
        apply_all(&mut job, &section.entries, world, losses);
        super::commands::without_metadata(&mut job, losses);
        // A stonewall of [global] is one of each job, as in fio.
        jobs.push(job);
    }
    jobs
}

/// Reads the options of a section. fio reads `kb_base` before all others, wherever it stands.
pub fn apply_all(job: &mut Job, entries: &[Entry], world: &World<'_>, losses: &mut Losses) {
    let is_base = |entry: &&Entry| entry.name == "kb_base";
    for base in entries.iter().filter(is_base) {
        apply(job, base, world, &mut Losses::default());
    }
    entries.iter().for_each(|entry| apply(job, entry, world, losses));
}

/// Reads an option into a job.
pub fn apply(job: &mut Job, entry: &Entry, world: &World<'_>, losses: &mut Losses) {
    let unread = Verdict::harmless("");
    let option = find(&entry.name);
    let (name, told) = match entry.is_included {
        true => (option.map_or(UNSHOWN, |row| row.name), ""),
        false => (entry.name.as_str(), entry.value.as_str()),
    };
    let id = losses.tell(name, told, &entry.place, unread);
    let value = match expanded(&entry.value, world) {
        Ok(value) => value,
        // Nothing depends on it.
        Err(_) if option.is_some_and(|option| !option.reads_its_value()) => entry.value.clone(),
        Err(variable) => {
            let needs = format!(
                "the variable `{variable}` of the environment as a number, a word such as \
                 randread, or a path that is there; set it, or write its value into the job"
            );
            losses.replace(id, Verdict::refused(needs));
            return;
        }
    };
    let is_computed = entry.value.contains('$');
    let verdict = match option {
        Some(option) if !is_computed && option.reads_its_value() => match misread(option, &value) {
            Some(why) => Verdict::refused(why),
            None => option.apply(job, &Given { id, value }),
        },
        Some(option) => option.apply(job, &Given { id, value }),
        None => none_of_fio(&entry.name),
    };
    let is_hidden = entry.is_included && option.is_some_and(Row::reads_its_value);
    losses.replace(id, if is_hidden { verdict.unquoted() } else { verdict });
}

/// What fio reads of a value is less than what stands there: its numbers end at the first letter,
/// and of a time it knows one unit alone.
fn misread(option: &Row, value: &str) -> Option<String> {
    let is_time = option.takes == Takes::Time;
    let is_list = matches!(option.takes, Takes::Size | Takes::Number) || option.name == "bssplit";
    // These are shares with a point.
    let is_share = option.slot.is_some_and(|slot| slot.starts_with("reset_"));
    if value.contains('(') || is_share || !(is_time || is_list) {
        return None;
    }
    // Behind a colon, fio reads no more of a time.
    let between: &[char] = if is_time { &[',', '-'] } else { &[',', ':', '-', '/'] };
    let parts = value.split(between).map(|part| part.trim().trim_end_matches('%'));
    for part in parts.filter(|part| part.starts_with(|first: char| first.is_ascii_digit())) {
        let (number, rest) =
            part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len()));
        let unit = rest.to_ascii_lowercase();
        let is_known = match is_time {
            true => ["", "us", "usec", "ms", "msec", "s", "m", "h", "d"].contains(&unit.as_str()),
            false => unit.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        if !is_known {
            let why = format!("`{part}`, of which fio reads no more than `{number}`");
            return Some(format!("{why}; write one whole number with one unit"));
        }
    }
    None
}

/// The jobs in groups that run one after the other.
fn in_order(jobs: &[Job], losses: &mut Losses) -> Vec<Vec<Job>> {
    let mut groups: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        let waits = job.is("stonewall") || job.begins_file;
        let follows = job.text("wait_for").is_some_and(|wanted| {
            let is_it = |other: &Job| other.name == wanted;
            if !jobs.iter().any(is_it) {
                let needs = format!("the job `{wanted}`, which is not there");
                losses.worsen(job.id("wait_for"), Verdict::refused(needs));
            }
            groups.last().is_some_and(|group| group.iter().any(is_it))
        });
        match groups.last_mut() {
            Some(group) if !waits && !follows => {
                let first = &group[0];
                if first.text("wait_for").is_some() && job.text("wait_for").is_none() {
                    let why = "those behind it wait, too, where fio runs them at once";
                    losses.worsen(first.id("wait_for"), Verdict::near(why));
                }
                group.push(job.clone());
            }
            _ => groups.push(vec![job.clone()]),
        }
    }
    groups
}
