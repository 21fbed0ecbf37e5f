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
    fields.set("operations", format!("[{}]", words.join(", ")), "");
    of_directories(values, losses);
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
    if values.number("size") > Some(0)
        && !values.is("bytes_read")
        && words.contains(&quoted("read"))
    {
        let why = "without `-e`, mdtest opens and closes a file; here it is read as a whole";
        let slot = if values.is("read") { "read" } else { "size" };
        values.worsen(slot, losses, Verdict::near(why));
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
    let is_all = !["create", "stat", "read", "remove"].iter().any(|phase| values.is(phase));
    if files && !directories {
        return;
    }
    let why = Verdict::near("directories are made and removed, but not looked up; `-F` has none");
    if directories && !files {
        let needs = Verdict::refused("this phase of directories, which are made and removed alone");
        ["stat", "read"].iter().for_each(|slot| values.worsen(slot, losses, needs.clone()));
    } else {
        values.worsen("stat", losses, why.clone());
    }
    if is_all {
        let all = ["directories", "items", "per_directory"];
        let slot = all.into_iter().find(|slot| values.is(slot));
        values.worsen(slot.unwrap_or("items"), losses, why);
    }
}

fn operations(values: &Values) -> Vec<&'static str> {
    let all = !["create", "stat", "read", "remove"].iter().any(|phase| values.is(phase));
    // What is made again has to be removed before.
    let again = values.number("repetitions") > Some(1);
    let mut words = Vec::new();
    // Both together are both kinds, as neither is.
    let both = values.is("directories") == values.is("files");
    if both || values.is("files") {
        // What is looked up or removed has to be made before.
        words.push("create");
        let is_asked = |word: &&str| all || values.is(word) || (again && *word == "remove");
        words.extend(["stat", "read", "remove"].into_iter().filter(is_asked));
    }
    if both || values.is("directories") {
        words.push("mkdir");
        if all || again || values.is("remove") {
            words.push("rmdir");
        }
    }
    words
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
        let needs = "one of `-n` and `-I`, as mdtest does: each says how many there are";
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
    let lowest = FILES_OF_TREE.of("per_directory", values, losses).unwrap_or(items);
    tree.set("per_directory", lowest.to_string(), values.source("per_directory", losses));
    Limits(0, 16, count).copy("depth", values, losses, tree, "depth");
    if values.number("branches") > Some(0) {
        Limits(1, 1 << 20, count).copy("branches", values, losses, tree, "fan_out");
    }
    tree.set("unique", values.is("unique").to_string(), values.source("unique", losses));
    Ok(())
}
