//! The suite of elbencho's options.

use super::Elbencho;
use crate::apart::{beside, inside};
use crate::draft::{Draft, Fields, Group, Work, quoted, share, size};
use crate::import::{Import, ImportError};
use crate::loss::{Losses, Verdict};
use crate::words::line::{
    BLOCK, DEPTH, FILES, FILES_OF_TREE, Limits, MEASURE, WORKERS, repetitions,
};
use crate::write;

/// Larger files of directories are a layout, not a tree.
const MOST_OF_TREE: u64 = 1 << 20;

/// The suite of these options.
///
/// # Errors
/// No phase is among them.
pub fn import(
    name: &str,
    source: &str,
    job: &Elbencho,
    mut losses: Losses,
) -> Result<Import, ImportError> {
    if !job.any(&["write", "read", "stat", "mkdir", "remove", "rmdir"]) {
        return Err(ImportError::new(name, "no phase is to run", "add --write or --read"));
    }
    let mut group = Group { name: "elbencho".to_owned(), in_turn: true, ..Group::default() };
    targets(job, &mut losses, &mut group);
    if job.values.is("drop_caches") {
        group.engine.set("drop_caches", "true", job.values.source("drop_caches", &losses));
    }
    repetitions(&job.values, &mut losses, &mut group);
    match is_tree(job) {
        true => tree(job, &mut losses, &mut group),
        false => requests(job, &mut losses, &mut group),
    }
    let stem = source.rsplit('/').next().unwrap_or(source);
    let own = match name {
        "command" => "elbencho",
        _ => stem.split('.').next().unwrap_or(stem),
    };
    let what = format!("{stem} of elbencho");
    let suite = write::suite(&Draft::imported(own, "", &what, "where", vec![group]));
    Ok(Import::new("elbencho", losses, vec![suite]))
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

impl Elbencho {
    fn any(&self, slots: &[&str]) -> bool {
        slots.iter().any(|slot| self.values.is(slot))
    }

    fn has_devices(&self) -> bool {
        self.paths.iter().any(|(path, _)| is_device(path))
    }

    /// Whether paths are directories, in which each thread has files.
    fn has_directories(&self) -> bool {
        let of_files = ["directories", "files", "shared", "mkdir", "rmdir", "stat", "remove"];
        !self.has_devices()
            && (self.any(&of_files) || self.paths.iter().any(|(path, _)| path.ends_with('/')))
    }

    fn threads(&self, losses: &mut Losses, fields: &mut Fields) -> u64 {
        let many = WORKERS.of("threads", &self.values, losses).unwrap_or(1);
        fields.set("workers", many.to_string(), self.values.source("threads", losses));
        many
    }

    /// Files of so many threads in all their directories.
    fn files(&self, threads: u64, limits: &Limits, losses: &mut Losses) -> u64 {
        let many = |slot: &str| self.values.number(slot).unwrap_or(1).max(1);
        let each = many("directories").saturating_mul(many("files"));
        let id = self.values.id("files").or(self.values.id("directories"));
        limits.keep(each.saturating_mul(threads), id, losses)
    }
}

fn is_tree(job: &Elbencho) -> bool {
    let only_files = !job.any(&["write", "read"]);
    let size = job.values.number("size");
    let is_small = size.is_none_or(|size| size <= MOST_OF_TREE);
    job.has_directories()
        && !job.any(&["random", "strided", "endless", "mix", "direct"])
        && (only_files || (is_small && (job.any(&["stat", "remove", "mkdir"]) || size.is_none())))
}

fn targets(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let directories = job.has_directories();
    for (path, id) in &job.paths {
        let place = match path.as_str() {
            path if is_device(path) => path.to_owned(),
            path if directories => inside(path),
            path => beside(path),
        };
        if !group.targets.contains(&place) {
            group.targets.push(place);
            group.targets_from = losses.source(*id);
        }
        if job.has_devices() && !is_device(path) {
            losses.worsen(*id, Verdict::refused("files beside devices in one workload"));
        }
    }
}

fn tree(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let values = &job.values;
    let mut fields = Fields::default();
    fields.text("kind", "metadata", "");
    let workers = job.threads(losses, &mut fields);
    let all = job.files(workers, &FILES_OF_TREE, losses);
    group.layout.text("kind", "tree", "");
    group.tree.set("files", all.to_string(), values.source("files", losses));
    let bytes = values.number("size").unwrap_or(0);
    if bytes > 64 << 20 {
        let why = "files of 64 MiB, the largest that a tree has";
        values.worsen("size", losses, Verdict::near(why));
    }
    if bytes > 0 {
        group.tree.set("size", size(bytes.min(64 << 20)), values.source("size", losses));
    }
    let why = Verdict::near("a file is written and read in one piece");
    values.worsen("block", losses, why);
    let why = Verdict::near("each worker does one operation at a time");
    values.worsen("depth", losses, why);
    let files = FILES_OF_TREE.of("files", values, losses).unwrap_or(1);
    group.tree.set("per_directory", files.to_string(), values.source("files", losses));
    let unique = !values.is("shared");
    group.tree.set("unique", unique.to_string(), values.source("shared", losses));
    let words: Vec<String> = operations(job).iter().map(|word| quoted(word)).collect();
    fields.set("operations", format!("[{}]", words.join(", ")), "");
    group.works.push(Work { name: "files".to_owned(), note: String::new(), fields });
}

fn operations(job: &Elbencho) -> Vec<&'static str> {
    // What is made again has to be removed before.
    let again = job.values.number("repetitions") > Some(1);
    let directories = job.any(&["mkdir", "rmdir"]);
    // What is looked up has to be made before.
    let files = job.any(&["stat", "read", "remove", "write"]);
    let all = [
        ("mkdir", directories),
        ("create", files),
        ("stat", job.any(&["stat"])),
        ("read", job.any(&["read"])),
        ("remove", files && (again || job.any(&["remove"]))),
        ("rmdir", directories && (again || job.any(&["rmdir"]))),
    ];
    all.into_iter().filter(|(_, is_asked)| *is_asked).map(|(word, _)| word).collect()
}

fn layout(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let values = &job.values;
    if job.has_devices() {
        let why = Verdict::near("the whole device is loaded, not its first bytes");
        values.worsen("size", losses, why);
        return;
    }
    if job.has_directories() {
        group.layout.text("kind", "files", "");
        let files = job.files(1, &FILES, losses).to_string();
        group.layout.set("files", files, values.source("files", losses));
        group.layout.text("per", "worker", "");
    } else if job.paths.len() <= 1 {
        group.layout.text("kind", "shared-file", "");
    } else {
        group.layout.text("kind", "files", "");
        group.layout.set("files", job.paths.len().to_string(), "");
    }
    if values.number("size") > Some(0) {
        values.copy("size", losses, &mut group.layout, "size", size);
    }
}

fn requests(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let values = &job.values;
    layout(job, losses, group);
    let why = Verdict::near("files of a layout have no directories that workers could share");
    values.worsen("shared", losses, why);
    if !values.is("write") && values.is("read") {
        let why = "it acts on phases that write, and there is none";
        values.id("mix").into_iter().for_each(|id| losses.replace(id, Verdict::harmless(why)));
    }
    let needs = Verdict::refused("operations on files beside requests; write two commands");
    values.worsen("stat", losses, needs);
    let writes = values.is("write");
    let timed = values.is("endless") && values.number("limit") > Some(0);
    let prepare = !job.has_devices() && (!writes || timed);
    group.stages.set("prepare", prepare.to_string(), "");
    if timed {
        MEASURE.copy("limit", values, losses, &mut group.stages, "measure");
    } else if let Some(amount) = values.number("amount") {
        let workers = values.number("threads").unwrap_or(1).max(1);
        let limits = Limits(1 << 20, 1 << 60, size);
        let each = limits.keep(amount / workers, values.id("amount"), losses);
        group.stages.set("amount", size(each), values.source("amount", losses));
    } else {
        group.stages.text("amount", "all", "");
    }
    if !timed {
        let needs = Verdict::refused("an end of phases that go on for ever; add `--timelimit`");
        values.worsen("endless", losses, needs);
    }
    group.engine.set("direct", values.is("direct").to_string(), values.source("direct", losses));
    if values.number("depth").is_none_or(|depth| depth <= 1) {
        group.engine.text("backend", "sync", "");
    }
    if values.is("verify") {
        group.contents.set("verify", "true", values.source("verify", losses));
    }
    let both = !writes && !values.is("read");
    for (name, read) in [("write", false), ("read", true)] {
        if values.is(name) || both {
            work(job, name, read, losses, group);
        }
    }
}

fn work(job: &Elbencho, name: &str, read: bool, losses: &mut Losses, group: &mut Group) {
    let values = &job.values;
    let mut fields = Fields::default();
    let mut block = BLOCK.of("block", values, losses).unwrap_or(1 << 20);
    // A file that is smaller is written in one piece.
    if let Some(file) = values.number("size").filter(|size| *size >= 512 && !job.has_devices()) {
        block = block.min(file);
    }
    fields.set("block_size", size(block), values.source("block", losses));
    let access = if values.is("random") { "random" } else { "sequential" };
    fields.text("access", access, values.source("random", losses));
    let (reads, from) = match values.number("mix") {
        Some(mix) if !read => (mix, values.source("mix", losses)),
        _ => (u64::from(read) * 1_000_000, String::new()),
    };
    fields.text("read", &share(reads), from);
    job.threads(losses, &mut fields);
    let depth = DEPTH.of("depth", values, losses).unwrap_or(1);
    fields.set("depth", depth.to_string(), values.source("depth", losses));
    if let Some(id) = values.id("strided") {
        if values.is("random") {
            losses.replace(id, Verdict::harmless("the order is random"));
        } else if group.layout.get("kind") == Some("\"shared-file\"") {
            fields.text("sharing", "interleaved", losses.source(id));
        } else {
            losses.worsen(id, Verdict::near("each worker goes through a part of its own"));
        }
    }
    let limit = if read { "limit_read" } else { "limit_write" };
    if values.number(limit) > Some(0) {
        let rate = |bytes: u64| quoted(&format!("{bytes}B/s"));
        Limits(1, 1_000_000_000_000, rate).copy(limit, values, losses, &mut fields, "rate");
        fields.text("rate_of", "worker", "");
    }
    group.works.push(Work { name: name.to_owned(), note: String::new(), fields });
}
