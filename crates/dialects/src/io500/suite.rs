//! The suite of an io500.ini: four layouts, each with the phases that go to it.

use super::options::{Config, Phase};
use crate::draft::{Draft, Fields, Group, Work, plain_name, quoted, size, time};
use crate::import::{Import, ImportError};
use crate::loss::Losses;
use crate::mpi::job::Got;
use crate::write;

/// A larger file for each worker is none that an amount is made of.
const MOST_AMOUNT: u64 = 256 << 30;
const HARD: u64 = 47_008;
const SECOND: u64 = 1_000_000_000;

/// The suite of this configuration.
///
/// # Errors
/// None of its phases is to run.
pub fn import(name: &str, config: &Config, losses: Losses) -> Result<Import, ImportError> {
    let groups: Vec<Group> = [
        ior(config, "ior-easy", &losses),
        mdtest(config, "mdtest-easy", &losses),
        ior(config, "ior-hard", &losses),
        mdtest(config, "mdtest-hard", &losses),
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

/// Whether a phase runs, and the option that says so.
fn runs(config: &Config, kind: &str, phase: &str) -> bool {
    let said = |name: &str| {
        config.phases.get(name).and_then(|phase| phase.run.as_ref()).is_none_or(|got| got.value)
    };
    said(kind) && said(&format!("{kind}-{phase}"))
}

fn group(config: &Config, name: &str, losses: &Losses) -> Group {
    let mut group = Group { name: name.to_owned(), in_turn: true, ..Group::default() };
    if let Some(got) = &config.top.directory {
        group.targets = vec![got.value.clone()];
        group.targets_from = losses.source(got.id);
    }
    if let Some(got) = config.top.drop_caches.as_ref().filter(|got| got.value) {
        match &config.top.drop_command {
            Some(own) => group.stages.text("prerun", &own.value, losses.source(own.id)),
            None => group.engine.set("drop_caches", "true", losses.source(got.id)),
        }
    }
    group
}

fn ior(config: &Config, name: &str, losses: &Losses) -> Option<Group> {
    let phases: Vec<&str> =
        ["write", "read"].into_iter().filter(|phase| runs(config, name, phase)).collect();
    if phases.is_empty() {
        return None;
    }
    let is_hard = name == "ior-hard";
    let empty = Phase::default();
    let phase = config.phases.get(name).unwrap_or(&empty);
    let mut group = group(config, name, losses);
    let each = !is_hard && phase.each.as_ref().is_none_or(|got| got.value);
    let transfer = match &phase.transfer {
        Some(got) if !is_hard => got.value.clamp(512, 1 << 30),
        _ if is_hard => HARD,
        _ => 2 << 20,
    };
    let (bytes, source) = match is_hard {
        true => {
            let count = phase.segments.as_ref().map_or(10_000_000, |got| got.value.max(1));
            (count.saturating_mul(HARD), Got::source(&phase.segments, losses))
        }
        false => {
            let block = phase.block.as_ref().map_or(9_920_000 << 20, |got| got.value);
            (block.max(transfer), Got::source(&phase.block, losses))
        }
    };
    let is_amount = bytes <= MOST_AMOUNT;
    let text = match (is_amount, each) {
        (true, true) => size(bytes),
        (true, false) => quoted(&format!("{bytes} * workers")),
        (false, true) => quoted("2 * memory / workers"),
        (false, false) => quoted("2 * memory"),
    };
    match each {
        true => {
            group.layout.text("kind", "files", Got::source(&phase.each, losses));
            group.layout.set("files", "1", "");
            group.layout.text("per", "worker", "");
        }
        false => group.layout.text("kind", "shared-file", Got::source(&phase.each, losses)),
    }
    group.layout.set("size", text, source);
    stages(config, is_amount && phases.contains(&"write"), is_amount, losses, &mut group);
    group.engine.text("backend", "sync", "");
    // Transfers of 47,008 bytes suit no block of a device.
    let own = phases.iter().find_map(|phase| config.phases.get(&format!("{name}-{phase}")));
    let said = [phase.direct.as_ref(), own.and_then(|own| own.direct.as_ref())];
    let said = said.into_iter().flatten().chain(&config.top.direct).find(|_| !is_hard);
    let direct = said.is_some_and(|got| got.value);
    let source = said.map(|got| losses.source(got.id)).unwrap_or_default();
    group.engine.set("direct", direct.to_string(), source);
    for phase_name in phases {
        let mut fields = Fields::default();
        fields.set("block_size", size(transfer), Got::source(&phase.transfer, losses));
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

fn stages(config: &Config, writes: bool, is_amount: bool, losses: &Losses, group: &mut Group) {
    // What a time wrote may be less than what is read; what an amount wrote is all of it.
    group.stages.set("prepare", (!writes).to_string(), "");
    if is_amount {
        group.stages.set("amount", "\"all\"", "");
        group.stages.set("count_fsync", "true", "");
        group.stages.set("count_close", "true", "");
        return;
    }
    let wall = config.top.stonewall.as_ref();
    let seconds = wall.map_or(300, |got| got.value).clamp(1, 1 << 20);
    let source = Got::source(&config.top.stonewall, losses);
    group.stages.set("measure", time(seconds * SECOND), source);
}

fn mdtest(config: &Config, name: &str, losses: &Losses) -> Option<Group> {
    let is_hard = name == "mdtest-hard";
    let runs = |phase: &str| runs(config, name, phase);
    let read = is_hard && runs("read");
    if !(runs("write") || runs("stat") || runs("delete") || read) {
        return None;
    }
    let empty = Phase::default();
    let phase = config.phases.get(name).unwrap_or(&empty);
    let mut group = group(config, name, losses);
    group.layout.text("kind", "tree", "");
    let items = phase.items.as_ref().map_or(1_000_000, |got| got.value);
    let files = quoted(&format!("{items} * workers / hosts"));
    group.tree.set("files", files, Got::source(&phase.items, losses));
    if is_hard {
        group.tree.set("size", "3901", "");
    }
    match phase.per_directory.as_ref().filter(|got| got.value > 0) {
        Some(got) => {
            group.tree.set("per_directory", got.value.to_string(), losses.source(got.id));
            group.tree.set("depth", "1", "");
        }
        None => group.tree.set("depth", "0", ""),
    }
    group.tree.set("unique", (!is_hard).to_string(), "");
    let find = config.phases.get("find").and_then(|phase| phase.run.as_ref());
    let finds = is_hard && find.is_none_or(|got| got.value);
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
