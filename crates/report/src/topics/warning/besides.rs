//! What a doubt's sentence says besides its evidence: which of its forms it has, and words that are
//! made elsewhere.

use crate::ground::sentence::{Sentence, count, counted, few, quantity, sentence, share};
use crate::ground::words;
use crate::topics::{ceiling, note};
use analysis::{Misplaced, Straggler, Warning};
use model::load::Rate;
use model::machines::DiskCache;
use model::note::OtherRun;
use model::{Fact, Op, Percent};
use std::collections::BTreeMap;

/// Workers that take a smaller share of saturated CPUs are not what saturates them.
const BY_OTHERS: f64 = 0.5;

/// Which of the sentences of a doubt it is; empty for the plain one.
pub(super) fn form(doubt: &Warning) -> &'static str {
    match doubt {
        Warning::HostLost { wholly: true, behind: Some(_), .. } => "behind",
        Warning::HostLost { wholly: true, behind: None, .. } => "wholly",
        Warning::OtherRuns { runs, .. } if runs.iter().any(|other| other.same_place) => {
            "same-place"
        }
        Warning::WorkerBusy { share } if *share > 1.0 => "cores",
        Warning::HostSaturated { own, .. } if *own < BY_OTHERS => "others",
        Warning::Stalled { intervals: 0, .. } => "at-end",
        Warning::Cached { of_trees: true, .. } => "trees",
        Warning::WarmUp { of_latency: true, .. }
        | Warning::Changed { of_latency: true, .. }
        | Warning::NotSteady { of_latency: true, .. } => "latency",
        Warning::StalledOften { .. } => "often",
        Warning::FlushOwed { written, .. } if *written < 1.0 => "overwritten",
        Warning::FlushBroken { errno: 0, .. } => "endless",
        Warning::ShortPreparation { part: Some(_), .. } => "part",
        Warning::Errors { unsupported: Some(_), .. } => "unsupported",
        Warning::Misplaced(Misplaced::Machines { .. }) => "machines",
        Warning::Misplaced(Misplaced::OwnNode { .. }) => "own-node",
        Warning::Misplaced(Misplaced::OtherNode { .. }) => "other-node",
        Warning::Misplaced(Misplaced::OtherSite { .. }) => "other-site",
        Warning::ToldOtherwise { told, seen, .. } if seen > told => "more",
        _ => "",
    }
}

/// The names in a doubt's sentence that are no evidence, with what stands for them.
pub(super) fn besides(doubt: &Warning) -> Vec<(&'static str, Sentence)> {
    match doubt {
        Warning::DirectRefused(fact)
        | Warning::BackendFallback(fact)
        | Warning::CachesNotEmptied(fact)
        | Warning::Unsettled(fact) => vec![("note", noted(fact))],
        Warning::HostLost { behind: Some(behind), .. } => vec![("behind", (*behind).into())],
        Warning::ToldOtherwise { told, seen, is_rate, .. } => {
            let shown = |value: f64| match is_rate {
                true => format!("{} IOPS", words::iops(value)),
                false => words::bandwidth(value),
            };
            let both = [("told", *told), ("seen", *seen)];
            both.map(|(name, value)| (name, quantity(value, &shown(value)))).to_vec()
        }
        Warning::HostsLeftOut { hosts, of } => {
            vec![("there", count(of.saturating_sub(hosts.len() as u64)))]
        }
        Warning::OtherRuns { runs, .. } => vec![("who", who(runs))],
        Warning::EventRunning { events } => {
            let events: Vec<String> = events.iter().map(|name| format!("event {name}")).collect();
            vec![("events", few(&events, " and of ", "event").into())]
        }
        Warning::NotWarm { after } => vec![("after", (*after).into())],
        Warning::ReadInStep { readers, distinct } => {
            vec![("repeated", count(u64::from(readers.saturating_sub(*distinct))))]
        }
        Warning::NotCarried { op, .. } => {
            vec![("asked", if *op == Op::Read { "read" } else { "written" }.into())]
        }
        Warning::RateMissed { asked, .. } => vec![("asked", rate(*asked))],
        Warning::Changed { host, .. } => {
            let on = |host: u32| sentence![" on host ", count(u64::from(host))];
            vec![("where", host.map_or_else(Sentence::default, on))]
        }
        Warning::UnfairWorkers { least, .. } => vec![("slowest", share(below(*least)))],
        Warning::UnequalHosts { short, stragglers: all, .. } => {
            vec![("stragglers", stragglers(*short, all))]
        }
        Warning::FlushBroken { errno, .. } => vec![("error", words::errno(*errno).into())],
        Warning::Throttled { iops, bytes_per_s, spread } => vec![
            ("rate", words::iops(*iops).into()),
            ("bandwidth", words::bandwidth(*bytes_per_s).into()),
            ("spread", words::share(*spread).into()),
        ],
        Warning::HostCache { mode, from_disks } => host_cache(*mode, *from_disks),
        Warning::Misplaced(Misplaced::OtherSite { op, .. }) => {
            vec![("where", if *op == Op::Read { "Reads from" } else { "Writes to" }.into())]
        }
        Warning::ShortPreparation { needs, aged_for, .. } => preparation(*needs, *aged_for),
        Warning::Errors { by_errno, unsupported } => failed(by_errno, *unsupported),
        Warning::Reducible { compressible, duplicate } => {
            vec![("compresses", percent(*compressible)), ("repeats", percent(*duplicate))]
        }
        Warning::Incomplete { how, .. } => vec![("how", words::run_state(how).into())],
        Warning::Scaled { scale } => vec![("shrunk", words::shrunk(*scale, "were").into())],
        Warning::AboveCeiling { layer, .. } => vec![("layer", ceiling::layer(*layer).into())],
        _ => Vec::new(),
    }
}

/// What a note says, with the quantities of those that stand beside several points.
fn noted(fact: &Fact) -> Sentence {
    match fact {
        Fact::Unsettled { after } => sentence!["not steady after ", *after],
        fact => note::sentence(fact).into(),
    }
}

fn who(runs: &[OtherRun]) -> Sentence {
    few(&runs.iter().map(note::who).collect::<Vec<_>>(), "; ", "run").into()
}

fn rate(rate: Rate) -> Sentence {
    let value = match rate {
        Rate::Iops { milli } => milli as f64 / 1e3,
        Rate::Bytes { per_second } => per_second as f64,
    };
    quantity(value, &words::rate(rate))
}

fn percent(share: Percent) -> Sentence {
    quantity(f64::from(share.ppm), &share.to_string())
}

/// A share in whole percent that is not rounded up to a limit that it is below.
fn below(share: f64) -> f64 {
    (share * 100.0).floor() / 100.0
}

/// The hosts that did much less than the others, each with its level and its part of the loss.
fn stragglers(short: u32, all: &[Straggler]) -> Sentence {
    let one = |one: &Straggler| {
        let level = share(below(one.level));
        sentence![one.host.as_str(), " did ", level, " (", share(one.loss), " of the loss)"]
    };
    let named = Sentence::join(all.iter().map(one), ", ");
    match (short as usize).saturating_sub(all.len()) {
        0 => named,
        others => sentence![named, ", and ", counted(others as u64, "other")],
    }
}

/// What a disk's cache mode lets the hypervisor's memory do, and what the nodes' disks read.
fn host_cache(mode: DiskCache, from_disks: Option<f64>) -> Vec<(&'static str, Sentence)> {
    let answers = if mode.acknowledges_from_memory() { "reads and writes" } else { "reads" };
    let read = from_disks.map_or_else(Sentence::default, |read| {
        sentence![" The nodes' disks read ", share(read), " of what guests read."]
    });
    let flushes = match mode.ignores_flushes() {
        true => " Flushes are ignored: no write is durable.",
        false => "",
    };
    vec![("answers", answers.into()), ("from_disks", read), ("flushes", flushes.into())]
}

/// How often flash is to be overwritten, or how it is aged at once.
fn preparation(needs: f64, aged_for: Option<Percent>) -> Vec<(&'static str, Sentence)> {
    let aged = if aged_for.is_some() { "" } else { ", or in one pass (prepare_order = \"aged\")" };
    vec![("needs", quantity(needs, &format!("{needs:.2}"))), ("aged", aged.into())]
}

fn failed(by_errno: &BTreeMap<i32, u64>, lacks: Option<Op>) -> Vec<(&'static str, Sentence)> {
    let kind = |(number, n): (&i32, &u64)| sentence![count(*n), " × ", words::errno(*number)];
    let mut said = vec![("kinds", Sentence::join(by_errno.iter().map(kind), ", "))];
    said.extend(lacks.map(|op| ("op", op.name().into())));
    said
}
