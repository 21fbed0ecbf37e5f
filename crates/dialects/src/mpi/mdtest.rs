//! mdtest: the suite of a command line.

use super::Job;
use crate::apart::inside;
use crate::draft::{Fields, Group, Work, quoted, size};
use crate::import::ImportError;
use crate::loss::{Losses, Verdict};
use crate::rows::Values;
use crate::words::line::{FILES_OF_TREE, Limits, count, repetitions};

/// No tree has more files.
const MOST_FILES: u64 = 1 << 32;

/// The workload of a command line.
///
/// # Errors
/// It does not say how many files there are, or too many.
pub fn group(job: &Job, losses: &mut Losses) -> Result<Group, ImportError> {
    let values = &job.values;
    let mut group = Group { name: "mdtest".to_owned(), ..Group::default() };
    group.layout.text("kind", "tree", "");
    tree(job, losses, &mut group)?;
    if let Some(directory) = values.text("directory") {
        group.targets = vec![inside(directory)];
        group.targets_from = values.source("directory", losses);
    }
    repetitions(values, losses, &mut group);
    let mut fields = Fields::default();
    fields.text("kind", "metadata", "");
    let words: Vec<String> = operations(values).iter().map(|word| quoted(word)).collect();
    let is_opened = words.contains(&quoted("open"));
    let opens = if is_opened { "without -e, mdtest opens and closes a file" } else { "" };
    fields.set("operations", format!("[{}]", words.join(", ")), opens);
    of_directories(values, losses);
    unasked(values, losses);
    job.workers(losses, &mut fields);
    if values.is("random") {
        fields.text("file_order", "random", values.source("random", losses));
    }
    if let Some(id) = values.id("other").filter(|_| values.number("other") > Some(0)) {
        match job.ranks.count {
            Some(2..) => fields.set("other", "true", losses.source(id)),
            _ => losses.replace(id, Verdict::harmless("there is one worker alone")),
        }
    }
    match values.id("sync").filter(|_| values.is("sync")) {
        Some(id) if values.number("size").unwrap_or(0) == 0 => {
            let why = "without `-w` nothing is written, and mdtest syncs nothing";
            losses.replace(id, Verdict::harmless(why));
        }
        Some(id) => fields.text("fsync", "timed", losses.source(id)),
        None => {}
    }
    group.works.push(Work { name: "metadata".to_owned(), note: String::new(), fields });
    Ok(group)
}

/// Directories are made and removed here; nothing else is done with them.
fn of_directories(values: &Values, losses: &mut Losses) {
    let (directories, files) = (values.is("directories"), values.is("files"));
    if files && !directories {
        return;
    }
    let why = "directories are made and removed, but not looked up; `-F` has none";
    if directories && !files {
        let needs = Verdict::refused("this phase of directories, which are made and removed alone");
        ["stat", "read"].iter().for_each(|slot| values.worsen(slot, losses, needs.clone()));
    } else {
        values.worsen("stat", losses, Verdict::near(why));
    }
    if are_all_asked(values) {
        let all = ["directories", "items", "per_directory"];
        let slot = all.into_iter().find(|slot| values.is(slot));
        let why = "directories are made and removed, but neither looked up nor renamed; `-F` has \
                   none";
        values.worsen(slot.unwrap_or("items"), losses, Verdict::near(why));
    }
}

/// The phases that are asked for: without any, all are.
const PHASES: [&str; 4] = ["create", "stat", "read", "remove"];

fn are_all_asked(values: &Values) -> bool {
    !PHASES.iter().any(|phase| values.is(phase))
}

/// Whether a file is opened and closed alone, though there is something in it.
fn is_opened_alone(values: &Values) -> bool {
    values.number("size") > Some(0) && values.number("bytes_read").unwrap_or(0) == 0
}

fn operations(values: &Values) -> Vec<&'static str> {
    let all = are_all_asked(values);
    // What is made again has to be removed before.
    let again = values.number("repetitions") > Some(1);
    let removes = all || again || values.is("remove");
    // Both together are both kinds, as neither is; directories are the first.
    let both = values.is("directories") == values.is("files");
    let mut words = Vec::new();
    if both || values.is("directories") {
        words.push("mkdir");
        words.extend(removes.then_some("rmdir"));
    }
    if both || values.is("files") {
        // What is looked up or removed has to be made before.
        words.push("create");
        words.extend((all || values.is("stat")).then_some("stat"));
        let read = if is_opened_alone(values) { "open" } else { "read" };
        words.extend((all || values.is("read")).then_some(read));
        words.extend(removes.then_some("remove"));
    }
    words
}

const MADE_BEFORE: &str =
    "what this phase finds is made before it, by an operation that is measured, too";

/// Says which operations of the suite no phase asks for.
fn unasked(values: &Values, losses: &mut Losses) {
    if are_all_asked(values) {
        return;
    }
    if !values.is("create") {
        let asked = PHASES.iter().find(|phase| values.is(phase));
        asked.iter().for_each(|slot| values.worsen(slot, losses, Verdict::near(MADE_BEFORE)));
    }
    if values.number("repetitions") > Some(1) && !values.is("remove") {
        let why = "what was made is removed before it is made again, by operations that are \
                   measured, too";
        values.worsen("repetitions", losses, Verdict::near(why));
    }
}

/// The directories of mdtest's tree that have files: with `-L` the lowest ones alone, else the root
/// and all others.
fn directories(values: &Values) -> u64 {
    let depth = values.number("depth").unwrap_or(0).min(64);
    let branches = values.number("branches").unwrap_or(1).max(1);
    let mut level: u64 = 1;
    let mut all: u64 = 1;
    for _ in 0..depth {
        level = level.saturating_mul(branches);
        all = all.saturating_add(level);
    }
    if values.is("leaves") { level } else { all }
}

fn tree(job: &Job, losses: &mut Losses, group: &mut Group) -> Result<(), ImportError> {
    let values = &job.values;
    let (items, source) = match (values.number("items"), values.number("per_directory")) {
        // mdtest puts as many into each of its directories, and makes no more.
        (Some(items), _) => (items - items % directories(values), "items"),
        (None, Some(each)) => (each.saturating_mul(directories(values)), "per_directory"),
        (None, None) => {
            let remedy = "add -n, or -I";
            return Err(ImportError::new("command", "mdtest is not told how many files", remedy));
        }
    };
    if values.number("items") > Some(0) && values.number("per_directory") > Some(0) {
        let needs =
            "one of `-n` and `-I`: with both, mdtest goes from one test directory to the next";
        values.worsen("items", losses, Verdict::refused(needs));
    }
    let all = items.saturating_mul(job.ranks.count.unwrap_or(1));
    if !(1..=MOST_FILES).contains(&all) {
        let what = format!("{all} files are out of range");
        let remedy = format!("ask for 1 to {MOST_FILES}, and for one in each directory of -z");
        return Err(ImportError::new("command", what, remedy));
    }
    // `tree.files` counts those of a host.
    let files = match job.ranks.count {
        Some(count) => quoted(&format!("{items} * {count} / hosts")),
        None => items.to_string(),
    };
    let tree = &mut group.tree;
    tree.set("files", files, values.source(source, losses));
    values.copy("size", losses, tree, "size", size);
    // Each rank has as many in each directory: where they share a tree, all of theirs lie there.
    let each = FILES_OF_TREE.of("per_directory", values, losses);
    let each = each.unwrap_or(items / directories(values));
    let lowest = match job.ranks.count.filter(|_| !values.is("unique")) {
        Some(count) => quoted(&format!("{each} * {count} / hosts")),
        None => each.to_string(),
    };
    tree.set("per_directory", lowest, values.source(source, losses));
    match values.number("depth") {
        Some(1..) => Limits(0, 16, count).copy("depth", values, losses, tree, "depth"),
        _ => tree.set("depth", "0", values.source("depth", losses)),
    }
    if values.number("branches") > Some(0) {
        Limits(1, 1 << 20, count).copy("branches", values, losses, tree, "fan_out");
    }
    tree.set("unique", values.is("unique").to_string(), values.source("unique", losses));
    Ok(())
}
