//! The suite of an io500.ini: four layouts, each with the phases that go to it.

use super::section::{Config, MOST_ITEMS};
use crate::draft::{Draft, Fields, Group, Work, plain_name, quoted, size, time};
use crate::import::{Import, ImportError};
use crate::loss::{Losses, OptionId, Verdict};
use crate::write;

/// A larger file for each worker is none that an amount is made of.
const MOST_AMOUNT: u64 = 256 << 30;
const HARD: u64 = 47_008;
const SECOND: u64 = 1_000_000_000;

/// The suite of this configuration.
///
/// # Errors
/// None of its phases is to run.
pub fn import(name: &str, config: &Config, mut losses: Losses) -> Result<Import, ImportError> {
    let groups: Vec<Group> = [
        ior(config, "ior-easy", &mut losses),
        mdtest(config, "mdtest-easy", &mut losses),
        ior(config, "ior-hard", &mut losses),
        mdtest(config, "mdtest-hard", &mut losses),
    ]
    .into_iter()
    .flatten()
    .collect();
    if groups.is_empty() {
        let remedy = "write run = TRUE in one";
        return Err(ImportError::new(name, "no phase of it is to run", remedy));
    }
    let stem = name.rsplit('/').next().unwrap_or(name);
    let draft = Draft {
        name: plain_name(stem.strip_suffix(".ini").unwrap_or(stem)),
        description: "Imported from a configuration of IO500; no official score comes of it."
            .to_owned(),
        notes: vec![
            format!("Imported from {stem}, a configuration of IO500, by `plimsoll import`."),
            "Behind each field: the line that it came from. Others are IO500's defaults."
                .to_owned(),
            "How many ranks there are is not in it: `--set workers=N` says how many on each host."
                .to_owned(),
        ],
        groups,
        ..Draft::default()
    };
    let suite = write::suite(&draft);
    Ok(Import::new("io500", losses, vec![suite]))
}

/// Whether a phase runs.
fn runs(config: &Config, kind: &str, phase: &str) -> bool {
    let said = |name: &str| config.of(name).flag("run").unwrap_or(true);
    said(kind) && said(&format!("{kind}-{phase}"))
}

fn group(config: &Config, name: &str, losses: &Losses) -> Group {
    let mut group = Group { name: name.to_owned(), in_turn: true, ..Group::default() };
    let global = config.of("global");
    if let Some(directory) = global.text("directory") {
        group.targets = vec![directory.to_owned()];
        group.targets_from = global.source("directory", losses);
    }
    if global.is("drop_caches") {
        match global.text("drop_command") {
            Some(own) => group.stages.text("prerun", own, global.source("drop_command", losses)),
            None => group.engine.set("drop_caches", "true", global.source("drop_caches", losses)),
        }
    }
    group
}

fn ior(config: &Config, name: &str, losses: &mut Losses) -> Option<Group> {
    let phases: Vec<&str> =
        ["write", "read"].into_iter().filter(|phase| runs(config, name, phase)).collect();
    if phases.is_empty() {
        return None;
    }
    let is_hard = name == "ior-hard";
    let phase = config.of(name);
    let mut group = group(config, name, losses);
    let each = !is_hard && phase.flag("each").unwrap_or(true);
    let transfer = match phase.number("transfer") {
        _ if is_hard => HARD,
        Some(transfer) => transfer.clamp(512, 1 << 30),
        None => 2 << 20,
    };
    let (bytes, slot) = match is_hard {
        true => {
            let count = phase.number("segments").unwrap_or(10_000_000).max(1);
            (count.saturating_mul(HARD), "segments")
        }
        false => (phase.number("block").unwrap_or(9_920_000 << 20).max(transfer), "block"),
    };
    let source = phase.source(slot, losses);
    let is_amount = bytes <= MOST_AMOUNT;
    let text = match (is_amount, each) {
        (true, true) => size(bytes),
        (true, false) => quoted(&format!("{bytes} * workers")),
        (false, true) => quoted("2 * memory / workers"),
        (false, false) => quoted("2 * memory"),
    };
    let kind = if each { "files" } else { "shared-file" };
    group.layout.text("kind", kind, phase.source("each", losses));
    if each {
        group.layout.set("files", "1", "");
        group.layout.text("per", "worker", "");
    }
    group.layout.set("size", text, source);
    stages(config, is_amount && phases.contains(&"write"), is_amount, losses, &mut group);
    group.engine.text("backend", "sync", "");
    let why = "transfers of 47,008 bytes suit no block of a device: without `O_DIRECT`";
    let direct = direct(config, name, &phases, is_hard.then_some(why), losses);
    let source = direct.map(|(_, id)| losses.source(id)).unwrap_or_default();
    group.engine.set("direct", direct.is_some_and(|(is, _)| is).to_string(), source);
    for phase_name in phases {
        let mut fields = Fields::default();
        fields.set("block_size", size(transfer), phase.source("transfer", losses));
        fields.text("access", "sequential", "");
        fields.text("read", if phase_name == "read" { "100%" } else { "0%" }, "");
        if !each {
            fields.text("sharing", if is_hard { "interleaved" } else { "segment" }, "");
        }
        fields.set("depth", "1", "");
        let name = format!("{name}-{phase_name}");
        group.works.push(Work { name, note: String::new(), fields });
    }
    Some(group)
}

/// Whether phases ask for direct I/O, and where: in their own section, in that of their kind, or
/// for all. All of them have it, or none: `cached` says why.
fn direct(
    config: &Config,
    kind: &str,
    phases: &[&str],
    cached: Option<&str>,
    losses: &mut Losses,
) -> Option<(bool, OptionId)> {
    let said = |phase: &&str| {
        let own = format!("{kind}-{phase}");
        let mut all = [&own, kind, "global"].into_iter().map(|name| config.of(name));
        all.find_map(|values| Some((values.is("direct"), values.id("direct")?)))
    };
    let all: Vec<Option<(bool, OptionId)>> = phases.iter().map(said).collect();
    let is_split = all.iter().any(|one| one.is_none_or(|(is, _)| !is));
    let split = is_split.then_some("writes and reads are direct, not one of them");
    for (_, id) in all.iter().flatten().filter(|(is, _)| *is) {
        if let Some(why) = cached.or(split) {
            losses.worsen(*id, Verdict::near(format!("`{kind}`: {why}")));
        }
    }
    let said = all.iter().flatten().rev().max_by_key(|(is, _)| *is).copied();
    said.filter(|_| cached.is_none())
}

fn stages(config: &Config, writes: bool, is_amount: bool, losses: &Losses, group: &mut Group) {
    // What a time wrote may be less than what is read; what an amount wrote is all of it.
    group.stages.set("prepare", (!writes).to_string(), "");
    if is_amount {
        group.stages.set("amount", "\"all\"", "");
        group.stages.set("count_fsync", "true", "");
        group.stages.set("count_close", "true", "");
        return;
    }
    let debug = config.of("debug");
    let seconds = debug.number("stonewall").unwrap_or(300).clamp(1, 1 << 20);
    group.stages.set("measure", time(seconds * SECOND), debug.source("stonewall", losses));
}

fn mdtest(config: &Config, name: &str, losses: &mut Losses) -> Option<Group> {
    let is_hard = name == "mdtest-hard";
    let runs = |phase: &str| runs(config, name, phase);
    let read = is_hard && runs("read");
    if !(runs("write") || runs("stat") || runs("delete") || read) {
        return None;
    }
    let ours = ["write", "stat", "read", "delete"];
    let ours: Vec<&str> = ours.into_iter().filter(|phase| runs(phase)).collect();
    let why = "small files are written and read without `O_DIRECT`";
    direct(config, name, &ours, Some(why), losses);
    let phase = config.of(name);
    let mut group = group(config, name, losses);
    group.layout.text("kind", "tree", "");
    let items = phase.number("items").unwrap_or(1_000_000).clamp(1, MOST_ITEMS);
    let files = quoted(&format!("{items} * workers / hosts"));
    group.tree.set("files", files, phase.source("items", losses));
    if is_hard {
        group.tree.set("size", "3901", "");
    }
    match phase.number("per_directory").filter(|many| *many > 0) {
        Some(many) => {
            let source = phase.source("per_directory", losses);
            group.tree.set("per_directory", many.to_string(), source);
            group.tree.set("depth", "1", "");
        }
        None => group.tree.set("depth", "0", ""),
    }
    group.tree.set("unique", (!is_hard).to_string(), "");
    let finds = is_hard && config.of("find").flag("run").unwrap_or(true);
    let phases = [
        // What is looked up has to be made before.
        (format!("{name}-write"), true, "[\"create\"]"),
        ("find".to_owned(), finds, "\"stat:99, readdir:1\""),
        (format!("{name}-stat"), runs("stat"), "[\"stat\"]"),
        (format!("{name}-read"), read, "[\"read\"]"),
        (format!("{name}-delete"), runs("delete"), "[\"remove\"]"),
    ];
    for (name, _, operations) in phases.into_iter().filter(|(_, runs, _)| *runs) {
        let mut fields = Fields::default();
        fields.text("kind", "metadata", "");
        fields.set("operations", operations, "");
        group.works.push(Work { name, note: String::new(), fields });
    }
    Some(group)
}
