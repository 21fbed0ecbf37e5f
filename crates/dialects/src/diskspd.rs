//! DiskSpd: command lines.

mod elements;
mod options;
mod profile;

pub use elements::{PROFILE, SPAN, TARGET};
pub use options::{DiskSpd, OPTIONS};
pub use profile::{detect, file};

use crate::apart::{Apart, apart, selected};
use crate::draft::{
    Draft, Fields, Group, Taken, Work, plain_name, quoted, share, size, time, unique,
};
use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::{Got, inside};
use crate::table::{Given, Opt, Takes, unknown};
use crate::write;

/// DiskSpd's own block.
const BLOCK: u64 = 64 << 10;
const SECOND: u64 = 1_000_000_000;

/// The words behind `diskspd`, which begin at `first`.
pub fn command(words: &[String], first: usize) -> Result<Import, ImportError> {
    if words.len() > MOST_OPTIONS {
        let what = format!("the command has more than {MOST_OPTIONS} words");
        return Err(ImportError::new("command", what, "take some out"));
    }
    let mut losses = Losses::default();
    let mut job = DiskSpd::default();
    for (number, word) in words.iter().enumerate() {
        let place = format!("word {}", number + 1);
        if number + 1 < first {
            let needs = "what stands before `diskspd`; start `plimsoll` with it";
            losses.tell(word, "", &place, Verdict::refused(needs));
        } else if number >= first {
            read(word, &place, &mut job, &mut losses);
        }
    }
    let group = group(&job, &mut losses);
    let mut draft = Draft {
        name: "diskspd".to_owned(),
        description: "Imported from a command line of DiskSpd.".to_owned(),
        notes: vec![
            "Imported from a command line of DiskSpd by `plimsoll import`.".to_owned(),
            "Behind each field: the word that it came from. Others are DiskSpd's defaults."
                .to_owned(),
        ],
        groups: vec![group],
        ..Draft::default()
    };
    if let Some(got) = &job.seed {
        draft.top.set("seed", got.value.to_string(), losses.source(got.id));
    }
    let suite = write::suite(&draft);
    Ok(Import::new("diskspd", losses, vec![suite]))
}

/// A word: an option with its value attached, or a target.
fn read(word: &str, place: &str, job: &mut DiskSpd, losses: &mut Losses) {
    let as_switch = switch(word);
    let word = as_switch.as_deref().unwrap_or(word);
    let Some(letters) = word.strip_prefix('-') else {
        let id = losses.tell("target", word, place, Verdict::harmless(""));
        let verdict = match target(word) {
            Ok((_, verdict)) => {
                job.targets.push(Got { value: Some(word.to_owned()), id });
                verdict
            }
            Err(why) => Verdict::refused(why),
        };
        losses.replace(id, verdict);
        return;
    };
    let all = OPTIONS.iter().flat_map(|option| {
        std::iter::once(option.name).chain(option.aliases.iter().copied()).map(move |n| (n, option))
    });
    let fits = all.filter(|(name, _)| word.starts_with(name));
    let best: Option<(&str, &Opt<DiskSpd>)> = fits.max_by_key(|(name, _)| name.len());
    // What takes nothing has nothing attached.
    let best = best.filter(|(name, option)| option.takes != Takes::Nothing || word == *name);
    let Some((name, option)) = best else {
        let name = format!("-{}", letters.chars().take(40).collect::<String>());
        losses.tell(&name, "", place, unknown(&[OPTIONS], "DiskSpd", &name));
        return;
    };
    let value = word[name.len()..].to_owned();
    let id = losses.tell(name, &value, place, Verdict::harmless(""));
    let verdict = option.apply(job, &Given { id, value });
    losses.replace(id, verdict);
}

/// DiskSpd takes `/b4K` for `-b4K`. Of Linux, `/data` is a path.
fn switch(word: &str) -> Option<String> {
    let rest = word.strip_prefix('/').filter(|rest| !rest.contains(['/', '.', '\\']))?;
    let mut letters = rest.chars();
    let (first, second) = (letters.next()?, letters.next());
    let has_number = second.is_none_or(|second| second.is_ascii_digit());
    let has_letters = ["S", "s", "r", "Z", "R", "L", "D"].iter().any(|one| rest.starts_with(one));
    let is_short = rest.len() <= 8 && has_letters;
    (first.is_ascii_alphabetic() && (has_number || is_short)).then(|| format!("-{rest}"))
}

/// The path that stands for a target, if it has one here.
fn here(word: &str) -> Option<String> {
    target(word).ok()?.0
}

/// The target that stands for one of DiskSpd's.
fn target(word: &str) -> Result<(Option<String>, Verdict), String> {
    if word.len() > 1_000 || word.chars().any(char::is_control) {
        return Err("a path of at most 1,000 plain bytes".to_owned());
    }
    if word.starts_with("/dev/") {
        return Ok((Some(word.to_owned()), Verdict::same("target")));
    }
    let is_windows = word.starts_with('#') || word.contains('\\') || word.contains(':');
    if is_windows {
        let why = "a path of Windows; name the target with `--target`";
        return Ok((None, Verdict::near(why)));
    }
    let directory = word.rsplit_once('/').map_or(".", |(directory, _)| directory);
    let why = "a file of Plimsoll's own, in `plimsoll-data` beside that file";
    Ok((Some(inside(directory)), Verdict::near(why)))
}

fn group(job: &DiskSpd, losses: &mut Losses) -> Group {
    let mut group = Group { name: "diskspd".to_owned(), ..Group::default() };
    let own = own_targets(job, losses, &mut group);
    let files = (job.targets.len() as u64).max(1);
    if own.is_empty() {
        for got in &job.targets {
            let path = got.value.as_deref().and_then(here);
            if let Some(path) = path.filter(|path| !group.targets.contains(path)) {
                group.targets_from = losses.source(got.id);
                group.targets.push(path);
            }
        }
    }
    let each = if own.is_empty() { files.div_ceil((group.targets.len() as u64).max(1)) } else { 1 };
    group.layout.set("files", each.to_string(), "");
    if let Some(got) = &job.create {
        group.layout.set("size", size(got.value), losses.source(got.id));
    }
    group.stages.set("prepare", "true", Got::source(&job.create, losses));
    let warm = job.warm.as_ref().map_or(5 * SECOND, |got| got.value.saturating_mul(SECOND));
    group.stages.set("precondition", time(warm.min(1 << 60)), Got::source(&job.warm, losses));
    let measure = job.time.as_ref().map_or(10 * SECOND, |got| got.value.saturating_mul(SECOND));
    group.stages.set(
        "measure",
        time(measure.clamp(SECOND, 1 << 60)),
        Got::source(&job.time, losses),
    );
    group.engine.set("direct", job.direct.is_some().to_string(), Got::source(&job.direct, losses));
    let pin = if job.floating.is_some() { "none" } else { "core" };
    group.engine.text("pin", pin, Got::source(&job.floating, losses));
    if let Some(got) = &job.compressible {
        group.contents.set("compressible", quoted(&share(got.value)), losses.source(got.id));
    }
    let threads = job.threads.as_ref().map_or(1, |got| got.value.max(1));
    let (workers, source) = match &job.total {
        Some(got) => (got.value.max(1), losses.source(got.id)),
        None => (threads, Got::source(&job.threads, losses)),
    };
    let mut fields = requests(job, losses);
    fields.set("workers", workers.min(65_536).to_string(), source);
    rest(job, losses, &mut fields);
    if workers > 1 {
        sharing(job, workers, losses, &mut fields);
    }
    window(job, losses, &mut fields);
    if own.is_empty() {
        let name = plain_name("diskspd");
        group.works.push(Work { name, note: String::new(), fields });
        return group;
    }
    let mut taken = Taken::default();
    for (value, source) in own {
        let mut fields = fields.clone();
        if let Some(value) = value {
            fields.set("targets", value, source);
        }
        let name = unique("diskspd", &mut taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    group
}

/// Of several targets, each has `-t` threads with `-o` requests of its own: a workload for each,
/// with the `targets` that it loads and where they came from. Empty where one workload is enough.
///
/// With `-F`, all threads load every target.
fn own_targets(
    job: &DiskSpd,
    losses: &mut Losses,
    group: &mut Group,
) -> Vec<(Option<String>, String)> {
    if job.targets.len() < 2 {
        return Vec::new();
    }
    if let Some(total) = &job.total {
        let why = "each thread has `-o` requests on all targets together, not on each of them";
        losses.worsen(total.id, Verdict::near(why));
        return Vec::new();
    }
    let words: Vec<&str> =
        job.targets.iter().map(|got| got.value.as_deref().unwrap_or("")).collect();
    let paths: Vec<Option<&str>> =
        words.iter().map(|word| here(word).is_some().then_some(*word)).collect();
    let Apart { targets, of } = apart(&paths, &words);
    for (got, _) in job.targets.iter().zip(&paths).filter(|(_, path)| path.is_none()) {
        losses.worsen(got.id, Verdict::near(profile::ELSEWHERE));
    }
    group.targets = targets;
    group.targets_from = losses.source(job.targets[0].id);
    let selected = |place: &usize| selected(&[*place], group.targets.len());
    of.iter()
        .zip(&job.targets)
        .map(|(place, got)| (selected(place), losses.source(got.id)))
        .collect()
}

fn requests(job: &DiskSpd, losses: &mut Losses) -> Fields {
    let mut fields = Fields::default();
    let block = job.block.as_ref().map_or(BLOCK, |got| got.value);
    if let Some(got) = job.block.as_ref().filter(|got| !(512..=1 << 30).contains(&got.value)) {
        losses.worsen(got.id, Verdict::refused("blocks of less than 512 bytes or more than 1 GiB"));
    }
    let block = block.clamp(512, 1 << 30);
    fields.set("block_size", size(block), Got::source(&job.block, losses));
    let writes = job.writes.as_ref().map_or(0, |got| got.value);
    fields.text("read", &share(1_000_000 - writes), Got::source(&job.writes, losses));
    match (&job.random, &job.spots) {
        (_, Some(got)) => {
            fields.text("access", "hot-spot", losses.source(got.id));
            fields.text("hot_spots", &got.value, losses.source(got.id));
        }
        (Some(got), None) => fields.text("access", "random", losses.source(got.id)),
        (None, None) => fields.text("access", "sequential", ""),
    }
    if let Some(got) = job.random.as_ref().filter(|got| got.value > 0) {
        fields.set("align", size(got.value.clamp(512, 1 << 30)), losses.source(got.id));
    }
    if let Some(got) = &job.partly {
        fields.text("random", &share(got.value), losses.source(got.id));
        if job.spots.is_none() {
            fields.text("access", "random", losses.source(got.id));
        }
    }
    let is_random = job.random.is_some() || job.partly.is_some() || job.spots.is_some();
    if let Some(got) = &job.stride {
        match is_random {
            true => losses.replace(got.id, Verdict::harmless("the order is random")),
            false => fields.set("stride", size(got.value.clamp(1, 1 << 50)), losses.source(got.id)),
        }
    }
    let depth = job.depth.as_ref().map_or(2, |got| got.value).clamp(1, 4_096);
    fields.set("depth", depth.to_string(), Got::source(&job.depth, losses));
    if let Some(got) = &job.rate {
        fields.set("rate", got.value.clone(), losses.source(got.id));
        fields.text("rate_of", "worker", "");
    }
    if let Some(got) = &job.durable {
        fields.set("dsync", "true", losses.source(got.id));
    }
    if let Some(got) = &job.priority {
        fields.text("priority", got.value, losses.source(got.id));
    }
    fields
}

const MAPPED: &str = "calls through the page cache in place of page faults of a mapped file";
const FLUSH: &str = "`dsync`: each write is durable before it completes, by a call of Linux";
const PAGES: &str = "buffers are plain memory, aligned to pages";
const PRIORITY: &str = "`priority`: very low is `idle`, low is `best-effort/7`; Linux's schedulers \
look at it, other layers than those of Windows";

/// `-B`: where the part that is loaded begins, and behind a colon how long it is.
fn base(job: &mut DiskSpd, given: &Given) -> Result<Verdict, String> {
    let (from, length) = match given.value.split_once(':') {
        Some((from, length)) => (from, Some(length)),
        None => (given.value.as_str(), None),
    };
    let from = options::sized(from, 1)?;
    job.base = Some(Got { value: from, id: given.id });
    if let Some(length) = length {
        let length = options::sized(length, 1)?;
        job.most = Some(Got { value: from.saturating_add(length), id: given.id });
    }
    Ok(Verdict::same("`range`"))
}

fn priority(job: &mut DiskSpd, given: &Given) -> Result<Verdict, String> {
    let value = match given.value.as_str() {
        "1" => "idle",
        "2" => "best-effort/7",
        "3" => return Ok(Verdict::harmless("the default")),
        other => return Err(format!("the priority `{other}`")),
    };
    job.priority = Some(Got { value, id: given.id });
    Ok(Verdict::near(PRIORITY))
}

/// Threads of a file begin at the same place, unless they are told otherwise.
fn sharing(job: &DiskSpd, workers: u64, losses: &mut Losses, fields: &mut Fields) {
    if let Some(got) = &job.interlocked {
        fields.text("sharing", "segment", losses.source(got.id));
        return;
    }
    let Some(got) = &job.apart else {
        fields.text("sharing", "whole", "");
        return;
    };
    let all = job.create.as_ref().map(|got| got.value);
    let is_even = all.is_some_and(|all| got.value.checked_mul(workers) == Some(all));
    if !is_even {
        let why = "each thread has an equal segment of the file, not one after this distance";
        losses.worsen(got.id, Verdict::near(why));
    }
    fields.text("sharing", "segment", losses.source(got.id));
}

/// `-B` and `-f`: the part of the file that is loaded.
fn window(job: &DiskSpd, losses: &mut Losses, fields: &mut Fields) {
    let ids = [job.base.as_ref().map(|got| got.id), job.most.as_ref().map(|got| got.id)];
    let Some(id) = ids.into_iter().flatten().next() else { return };
    let all = job.create.as_ref().map(|got| got.value).filter(|all| *all > 0);
    let from = job.base.as_ref().map_or(0, |got| got.value);
    let to = job.most.as_ref().map(|got| got.value);
    let ppm = |bytes: u64, all: u64| (u128::from(bytes) * 1_000_000 / u128::from(all)) as u64;
    // A plan rounds ranges inwards to blocks: nothing of the window is lost.
    let up = |bytes: u64, all: u64| {
        (u128::from(bytes) * 1_000_000).div_ceil(u128::from(all)).min(1_000_000) as u64
    };
    match all {
        Some(all)
            if from < to.unwrap_or(all).min(all)
                && ppm(from, all) < up(to.unwrap_or(all).min(all), all) =>
        {
            let to = to.unwrap_or(all).min(all);
            let range = format!("{}-{}", share(ppm(from, all)), share(up(to, all)));
            fields.text("range", &range, losses.source(id));
        }
        // Of a file whose size is not known, the plan finds the place.
        None if to.is_none_or(|to| from < to) => {
            let end = to.map_or("100%".to_owned(), |to| format!("{to}B"));
            fields.text("range", &format!("{from}B-{end}"), losses.source(id));
        }
        _ => {
            let needs = "a part of the file that it does not have";
            for id in ids.into_iter().flatten() {
                losses.worsen(id, Verdict::refused(needs));
            }
        }
    }
}

/// Bursts of requests, with rests between them.
fn rest(job: &DiskSpd, losses: &mut Losses, fields: &mut Fields) {
    if job.rate.is_some() {
        for id in [&job.pause, &job.burst].into_iter().flatten().map(|got| got.id) {
            losses.worsen(id, Verdict::refused("rests between requests of a fixed rate"));
        }
        return;
    }
    if let Some(got) = job.pause.as_ref().filter(|got| got.value > 0) {
        let think = got.value.min(1 << 30) * 1_000_000;
        fields.set("think", time(think), losses.source(got.id));
    }
    if let Some(got) = job.burst.as_ref().filter(|got| got.value > 1) {
        fields.set("burst", got.value.min(65_536).to_string(), losses.source(got.id));
    }
}
