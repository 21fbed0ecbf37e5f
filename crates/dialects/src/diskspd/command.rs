//! A command line of DiskSpd.

use super::requests::{span, workload};
use super::{DiskSpd, OPTIONS, Place, own_targets};
use crate::apart::selected;
use crate::draft::{Fields, Group, Taken, Work, size, unique};
use crate::import::Import;
use crate::loss::{Losses, Verdict};
use crate::rows::{Given, Takes, unknown};
use crate::words::line;
use crate::words::values::Notation;

/// The words behind `diskspd`, which begin at `first`.
pub fn command(words: &[String], first: usize) -> Import {
    let mut losses = Losses::default();
    let mut job = DiskSpd::new();
    let is_script = first > 0 && words[first - 1].to_ascii_lowercase().ends_with(START_WORKLOAD);
    let written = if is_script { of_script(words, first) } else { words.to_vec() };
    let words = written.as_slice();
    let size = |word: &String| Notation::BINARY.size(word.strip_prefix("-b")?).ok();
    job.block = words.iter().filter_map(size).next_back().or(job.block);
    let mut targets = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let place = format!("word {}", number + 1);
        if number + 1 < first {
            let needs = "what stands before `diskspd`; start `plimsoll` with it";
            losses.tell(word, "", &place, Verdict::refused(needs));
        } else if number >= first {
            let as_switch = switch(word);
            match as_switch.as_deref().unwrap_or(word) {
                word if word.starts_with('-') => read(word, &place, &mut job, &mut losses),
                word => targets.extend(Place::read("target", word, &place, &mut losses)),
            }
        }
    }
    if job.values.is("direct") {
        let needs = "one way to use the cache: `-S` says another one as well";
        job.values.worsen("cached", &mut losses, Verdict::refused(needs));
    }
    let threads = if job.values.is("total") { "total" } else { "threads" };
    if threads == "total" {
        let needs = Verdict::refused("one of `-t` and `-F`, as DiskSpd does");
        job.values.worsen("threads", &mut losses, needs);
    }
    job.share_depth(threads, 1, &mut losses);
    let mut group = group(&job, threads, &targets, &mut losses);
    if is_script && !job.values.is("threads") && !job.values.is("total") {
        let why = "as many threads as CPUs; the script divides them by the volumes of the cluster";
        losses.tell("-t", "", "its default", Verdict::near(why));
        group.works.iter_mut().for_each(|work| work.fields.text("workers", "cpus", "its default"));
    }
    let mut top = Fields::default();
    job.values.copy("seed", &losses, &mut top, "seed", |seed| seed.to_string());
    line::import("diskspd", "DiskSpd", top, group, losses)
}

/// Microsoft's script around DiskSpd for the nodes of a cluster.
pub const START_WORKLOAD: &str = "start-workload.ps1";

/// Its words as those of DiskSpd: there, a value stands at its option. What it has by default is
/// there unless it is given. Where DiskSpd lies changes nothing.
fn of_script(words: &[String], first: usize) -> Vec<String> {
    let mut all = words[..first].to_vec();
    let mut rest = words[first..].iter().peekable();
    while let Some(word) = rest.next() {
        let value = rest.next_if(|next| !next.starts_with('-')).map_or("", String::as_str);
        match word.to_ascii_lowercase().as_str() {
            "-diskspdpath" => {}
            "-b" => all.push(format!("-b{value}")),
            _ => all.push(format!("{word}{value}")),
        }
    }
    for default in ["-d60", "-o2", "-c1G", "-Sh"] {
        if !all[first..].iter().any(|word| word.starts_with(&default[..2])) {
            all.push(default.to_owned());
        }
    }
    all
}

/// An option with its value attached.
fn read(word: &str, place: &str, job: &mut DiskSpd, losses: &mut Losses) {
    let rows = &OPTIONS.chapter("Options").rows;
    let all = rows.iter().flat_map(|row| row.names().map(move |name| (name, row)));
    let best = all.filter(|(name, _)| word.starts_with(name)).max_by_key(|(name, _)| name.len());
    // What takes nothing has nothing attached.
    let best = best.filter(|(name, row)| row.takes != Takes::Nothing || word == *name);
    let Some((name, row)) = best else {
        let name: String = word.chars().take(41).collect();
        losses.tell(&name, "", place, unknown(rows.iter(), "DiskSpd", &name));
        return;
    };
    let value = &word[name.len()..];
    let id = losses.tell(name, value, place, Verdict::harmless(""));
    let block = job.block;
    if row.name == "-b" {
        // `b` counts blocks, but not in the size of a block.
        job.block = None;
    }
    let value = match (row.name, value) {
        ("-r" | "-s" | "-si" | "-w", "") => "0",
        (_, value) => value,
    };
    let verdict = row.apply(job, &Given { id, value: value.to_owned() });
    job.block = block;
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

fn group(job: &DiskSpd, threads: &str, targets: &[Place], losses: &mut Losses) -> Group {
    let values = &job.values;
    let mut group = Group { name: "diskspd".to_owned(), ..Group::default() };
    // Of several targets, each has `-t` threads with `-o` requests of its own: a workload for
    // each. With `-F`, all threads load every target.
    let mut places = Vec::new();
    if values.is("total") && targets.len() > 1 {
        let why = "each thread has `-o` requests on all targets together, not on each of them";
        values.worsen("total", losses, Verdict::near(why));
    } else if targets.len() > 1 {
        let all: Vec<Option<&Place>> = targets.iter().map(Some).collect();
        places = own_targets(&all, losses, &mut group);
        group.targets_from = losses.source(targets[0].id);
    }
    let mut each = 1;
    if places.is_empty() {
        for place in targets {
            if let Some(path) = place.path.as_ref().filter(|path| !group.targets.contains(path)) {
                group.targets_from = losses.source(place.id);
                group.targets.push(path.clone());
            }
        }
        each = targets.len().max(1).div_ceil(group.targets.len().max(1));
    }
    group.layout.set("files", each.to_string(), "");
    values.copy("create", losses, &mut group.layout, "size", size);
    group.stages.set("prepare", "true", values.source("create", losses));
    span(values, values, values, losses, &mut group);
    let fields = workload(job, threads, losses);
    if places.is_empty() {
        let name = "diskspd".to_owned();
        group.works.push(Work { name, note: String::new(), fields });
        return group;
    }
    let mut taken = Taken::default();
    for (number, place) in places.iter().zip(targets) {
        let mut fields = fields.clone();
        if let Some(value) = selected(&[*number], group.targets.len()) {
            fields.set("targets", value, losses.source(place.id));
        }
        let name = unique("diskspd", &mut taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    group
}
