//! The suite of elbencho's options.

use super::options::Elbencho;
use crate::draft::{Draft, Fields, Group, Work, plain_name, quoted, size, time};
use crate::import::{Import, ImportError};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::{Got, inside};
use crate::write;

/// Larger files of directories are a layout, not a tree.
const MOST_OF_TREE: u64 = 1 << 20;
const MOST_FILES: u64 = 65_536;

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
    let phases = &job.phases;
    let all = [phases.write, phases.read, phases.stat, phases.mkdir, phases.remove, phases.rmdir];
    if all.iter().all(Option::is_none) {
        return Err(ImportError::new(name, "no phase is to run", "add --write or --read"));
    }
    let mut group = Group { name: "elbencho".to_owned(), in_turn: true, ..Group::default() };
    targets(job, &mut losses, &mut group);
    if let Some(got) = job.drop_caches.as_ref() {
        group.engine.set("drop_caches", "true", losses.source(got.id));
    }
    if let Some(got) = job.iterations.as_ref().filter(|got| got.value > 1) {
        let value = got.value.min(1_000).to_string();
        group.sweep.set("repetitions", value, losses.source(got.id));
    }
    match is_tree(job) {
        true => tree(job, &mut losses, &mut group),
        false => requests(job, &mut losses, &mut group),
    }
    let stem = source.rsplit('/').next().unwrap_or(source);
    let draft = Draft {
        name: match name {
            "command" => "elbencho".to_owned(),
            _ => plain_name(stem.split('.').next().unwrap_or(stem)),
        },
        description: format!("Imported from {stem} of elbencho."),
        notes: vec![
            format!("Imported from {stem} of elbencho by `plimsoll import`."),
            "Behind each field: where it came from. Others are elbencho's defaults.".to_owned(),
        ],
        groups: vec![group],
        ..Draft::default()
    };
    let suite = write::suite(&draft);
    Ok(Import::new("elbencho", losses, vec![suite]))
}

fn is_device(job: &Elbencho) -> bool {
    job.paths.iter().any(|got| got.value.starts_with("/dev/"))
}

/// Whether paths are directories, in which each thread has files.
fn has_directories(job: &Elbencho) -> bool {
    let phases = &job.phases;
    let of_files = [phases.mkdir, phases.rmdir, phases.stat, phases.remove];
    !is_device(job)
        && (job.directories.is_some()
            || job.files.is_some()
            || job.shared.is_some()
            || of_files.iter().any(Option::is_some)
            || job.paths.iter().any(|got| got.value.ends_with('/')))
}

fn is_tree(job: &Elbencho) -> bool {
    let requests = [&job.random, &job.strided, &job.endless];
    let phases = &job.phases;
    let only_files = phases.write.is_none() && phases.read.is_none();
    let of_files = phases.stat.is_some() || phases.remove.is_some() || phases.mkdir.is_some();
    let is_small = job.size.as_ref().is_none_or(|got| got.value <= MOST_OF_TREE);
    has_directories(job)
        && requests.iter().all(|got| got.is_none())
        && job.mix.is_none()
        && job.direct.is_none()
        && (only_files || (is_small && (of_files || job.size.is_none())))
}

fn targets(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let directories = has_directories(job);
    for got in &job.paths {
        let place = match got.value.as_str() {
            path if path.starts_with("/dev/") => path.to_owned(),
            path if directories => inside(path),
            path => inside(path.rsplit_once('/').map_or(".", |(directory, _)| directory)),
        };
        if !group.targets.contains(&place) {
            group.targets.push(place);
            group.targets_from = losses.source(got.id);
        }
    }
    let devices = job.paths.iter().filter(|got| got.value.starts_with("/dev/")).count();
    if devices > 0 && devices < job.paths.len() {
        for got in job.paths.iter().filter(|got| !got.value.starts_with("/dev/")) {
            losses.worsen(got.id, Verdict::refused("files beside devices in one workload"));
        }
    }
}

fn threads(job: &Elbencho, losses: &Losses, fields: &mut Fields) -> u64 {
    let many = job.threads.as_ref().map_or(1, |got| got.value).clamp(1, 65_536);
    fields.set("workers", many.to_string(), Got::source(&job.threads, losses));
    many
}

/// Files of one thread in all its directories.
fn each(job: &Elbencho) -> u64 {
    let directories = job.directories.as_ref().map_or(1, |got| got.value.max(1));
    let files = job.files.as_ref().map_or(1, |got| got.value.max(1));
    directories.saturating_mul(files)
}

fn tree(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let mut fields = Fields::default();
    fields.text("kind", "metadata", "");
    let workers = threads(job, losses, &mut fields);
    let all = each(job).saturating_mul(workers).clamp(1, 1 << 32);
    group.layout.text("kind", "tree", "");
    group.tree.set("files", all.to_string(), Got::source(&job.files, losses));
    if let Some(got) = job.size.as_ref().filter(|got| got.value > 0) {
        match got.value <= 64 << 20 {
            true => group.tree.set("size", size(got.value), losses.source(got.id)),
            false => {
                let why = "files of 64 MiB, the largest that a tree has";
                losses.worsen(got.id, Verdict::near(why));
                group.tree.text("size", "64MiB", losses.source(got.id));
            }
        }
    }
    if let Some(got) = &job.block {
        losses.worsen(got.id, Verdict::near("a file is written and read in one piece"));
    }
    if let Some(got) = &job.depth {
        losses.worsen(got.id, Verdict::near("each worker does one operation at a time"));
    }
    let files = job.files.as_ref().map_or(1, |got| got.value.clamp(1, 1 << 32));
    group.tree.set("per_directory", files.to_string(), Got::source(&job.files, losses));
    let unique = job.shared.is_none().to_string();
    group.tree.set("unique", unique, Got::source(&job.shared, losses));
    let phases = &job.phases;
    let mut words = Vec::new();
    let directories = phases.mkdir.is_some() || phases.rmdir.is_some();
    let touches = [phases.stat, phases.read, phases.remove, phases.write];
    if directories {
        words.push("mkdir");
    }
    if touches.iter().any(Option::is_some) {
        // What is looked up has to be made before.
        words.push("create");
    }
    // What is made again has to be removed before.
    let again = job.iterations.as_ref().is_some_and(|got| got.value > 1);
    words.extend(phases.stat.map(|_| "stat"));
    words.extend(phases.read.map(|_| "read"));
    if words.contains(&"create") && (phases.remove.is_some() || again) {
        words.push("remove");
    }
    if directories && (phases.rmdir.is_some() || again) {
        words.push("rmdir");
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    fields.set("operations", format!("[{}]", words.join(", ")), "");
    group.works.push(Work { name: "files".to_owned(), note: String::new(), fields });
}

fn layout(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    if is_device(job) {
        if let Some(got) = &job.size {
            losses.worsen(got.id, Verdict::near("the whole device is loaded, not its first bytes"));
        }
        return;
    }
    let each = each(job);
    match has_directories(job) {
        true => {
            group.layout.text("kind", "files", "");
            let files = each.clamp(1, MOST_FILES).to_string();
            group.layout.set("files", files, Got::source(&job.files, losses));
            group.layout.text("per", "worker", "");
        }
        false if job.paths.len() <= 1 => group.layout.text("kind", "shared-file", ""),
        false => {
            group.layout.text("kind", "files", "");
            group.layout.set("files", job.paths.len().to_string(), "");
        }
    }
    if let Some(got) = job.size.as_ref().filter(|got| got.value > 0) {
        group.layout.set("size", size(got.value), losses.source(got.id));
    }
}

fn requests(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    layout(job, losses, group);
    let phases = &job.phases;
    for id in [phases.stat].into_iter().flatten() {
        let needs = "operations on files beside requests; write two commands";
        losses.worsen(id, Verdict::refused(needs));
    }
    let writes = phases.write.is_some();
    let timed = job.endless.is_some() && job.limit.is_some();
    let prepare = !is_device(job) && (!writes || timed);
    group.stages.set("prepare", prepare.to_string(), "");
    match (&job.limit, timed) {
        (Some(got), true) => {
            let seconds = got.value.clamp(1, 1 << 20);
            group.stages.set("measure", time(seconds * 1_000_000_000), losses.source(got.id));
        }
        _ => amount(job, losses, group),
    }
    let direct = job.direct.is_some();
    group.engine.set("direct", direct.to_string(), Got::source(&job.direct, losses));
    if job.depth.as_ref().is_none_or(|got| got.value <= 1) {
        group.engine.text("backend", "sync", "");
    }
    if let Some(got) = &job.verify {
        group.contents.set("verify", "true", losses.source(got.id));
    }
    let both = !writes && phases.read.is_none();
    for (name, phase, read) in [("write", phases.write, false), ("read", phases.read, true)] {
        if phase.is_some() || both {
            work(job, name, read, losses, group);
        }
    }
}

fn amount(job: &Elbencho, losses: &mut Losses, group: &mut Group) {
    let workers = job.threads.as_ref().map_or(1, |got| got.value.max(1));
    match &job.amount {
        Some(got) => {
            let each = (got.value / workers).max(1 << 20);
            group.stages.set("amount", size(each), losses.source(got.id));
        }
        None => group.stages.text("amount", "all", ""),
    }
}

fn work(job: &Elbencho, name: &str, read: bool, losses: &mut Losses, group: &mut Group) {
    let mut fields = Fields::default();
    let mut block = job.block.as_ref().map_or(1 << 20, |got| got.value).clamp(512, 1 << 30);
    // A file that is smaller is written in one piece.
    if let Some(file) = job.size.as_ref().filter(|got| got.value >= 512 && !is_device(job)) {
        block = block.min(file.value);
    }
    fields.set("block_size", size(block), Got::source(&job.block, losses));
    let access = if job.random.is_some() { "random" } else { "sequential" };
    fields.text("access", access, Got::source(&job.random, losses));
    let share = match (&job.mix, read) {
        (Some(got), false) => format!("{}%", got.value),
        (_, read) => if read { "100%" } else { "0%" }.to_owned(),
    };
    fields.text("read", &share, Got::source(&job.mix, losses));
    threads(job, losses, &mut fields);
    let depth = job.depth.as_ref().map_or(1, |got| got.value).clamp(1, 4_096);
    fields.set("depth", depth.to_string(), Got::source(&job.depth, losses));
    match &job.strided {
        Some(got) if job.random.is_some() => {
            losses.replace(got.id, Verdict::harmless("the order is random"));
        }
        Some(got) if group.layout.get("kind") == Some("\"shared-file\"") => {
            fields.text("sharing", "interleaved", losses.source(got.id));
        }
        Some(got) => {
            losses.worsen(got.id, Verdict::near("each worker goes through a part of its own"));
        }
        None => {}
    }
    let limit = if read { &job.limit_read } else { &job.limit_write };
    if let Some(got) = limit.as_ref().filter(|got| got.value > 0) {
        let rate = quoted(&format!("{}B/s", got.value.min(1_000_000_000_000)));
        fields.set("rate", rate, losses.source(got.id));
        fields.text("rate_of", "worker", "");
    }
    group.works.push(Work { name: name.to_owned(), note: String::new(), fields });
}
