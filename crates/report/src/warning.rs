//! Each doubt as a sentence, with its figure and what to do about it.

use crate::{ceiling, note, words};
use analysis::{Straggler, Warning};
use model::Op;

/// A host that did much less than the others, with its level and its part of the loss.
fn straggler(one: &Straggler) -> String {
    let loss = words::share(one.loss);
    format!("{} did {} ({loss} of what is missing)", one.host, words::share(below(one.level)))
}

/// The first few names, and how many more there are.
fn named(hosts: &[String]) -> String {
    const MOST: usize = 3;
    let shown = hosts.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match hosts.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {}", words::counted(more as u64, "more host")),
    }
}

/// A share in whole percent that is not rounded up to a limit that it is below.
fn below(share: f64) -> f64 {
    (share * 100.0).floor() / 100.0
}

/// A doubt as a sentence: what, how much, and what would lift it.
pub fn sentence(warning: &Warning) -> String {
    match warning {
        Warning::Cached { footprint, memory } => format!(
            "Requests went through the page cache, and the layout ({footprint}) is less than \
             twice the memory ({memory}): this may be the speed of memory. Use direct I/O, or a \
             layout of twice the memory."
        ),
        Warning::ReadFromMemory { share: from_memory } => format!(
            "Read from memory: {} of the bytes read were answered by the page cache, and no \
             device saw them. Use direct I/O, or a layout of twice the memory that is read once.",
            words::share(*from_memory)
        ),
        Warning::NotCarried { op, share: carried } => format!(
            "Answered by a cache: ports, loopback and disks carried {} of the bytes that were {}. \
             Direct I/O does not bypass this file system's own cache: turn that off, or load more \
             than it holds.",
            words::share(*carried),
            if *op == Op::Read { "read" } else { "written" }
        ),
        Warning::DirectRefused(fact) => {
            format!(
                "Direct I/O was refused, so the page cache was in between: {}.",
                note::sentence(fact)
            )
        }
        Warning::BackendFallback(fact) => {
            format!("Another backend took the place of the planned one: {}.", note::sentence(fact))
        }
        Warning::HostLost { hosts, wholly: false } => {
            format!(
                "Lost in mid-run: {}. The figures end where it was lost; what was measured \
                 without it is left out.",
                hosts.join(", ")
            )
        }
        Warning::HostLost { hosts, wholly: true } => {
            format!(
                "Measured without {}, which was lost: these are the figures of the other hosts.",
                hosts.join(", ")
            )
        }
        Warning::EventRunning { events } => format!(
            "The command of {} still ran from an earlier stage: what it did is in these figures. \
             Give it more time with event.wait, or measure again.",
            events.iter().map(|name| format!("event {name}")).collect::<Vec<_>>().join(" and of ")
        ),
        Warning::StartSkew { host, late } => {
            format!(
                "{host} began {late} after the agreed instant: the first interval holds too \
                 little."
            )
        }
        Warning::ClockError { host, error } => format!(
            "The clock of {host} was known to {error} only when the stage was to begin: it may \
             have begun that much before or after the others, and the intervals of the hosts may \
             be shifted against each other by so much."
        ),
        Warning::Unsettled(fact) => format!(
            "Measuring was to end when the rate was steady, and it never was ({}): the \
             figures are those of a target that still changes. Allow a larger measure_max, or \
             precondition longer.",
            note::sentence(fact)
        ),
        Warning::CachesNotEmptied(fact) => format!(
            "Caches were not emptied as asked ({}): some of what was read may have come \
             from one. Try the command by hand, then measure again.",
            note::sentence(fact)
        ),
        Warning::FewSamples { samples } => format!(
            "Only {} completed: too few for quantiles beyond the median. Measure longer.",
            words::counted(*samples, "request")
        ),
        Warning::ThinTail { quantile, beyond } => format!(
            "{quantile} and above rest on {} or fewer: chance moves them from run to run. Measure \
             longer.",
            words::counted(*beyond, "request")
        ),
        Warning::WorkerBusy { share: busy } if *busy > 1.0 => format!(
            "A worker and the kernel's threads behind it used {busy:.1} cores: the load \
             generator, not the target, may be the limit. Use more workers."
        ),
        Warning::WorkerBusy { share: busy } => format!(
            "A worker kept its core {} busy: the load generator, not the target, may be the \
             limit. Use more workers.",
            words::share(*busy)
        ),
        Warning::HostSaturated { hosts, share } => format!(
            "The CPUs of {} were used up for {} of the load: the load generator, not the target, \
             may be the limit. Use more hosts, or fewer workers.",
            named(hosts),
            words::share(*share)
        ),
        Warning::RateMissed { asked, done, piled_up } => format!(
            "Only {} of the rate of {} came back in time: {} that were due had piled up at the \
             end. Offer a lower rate.",
            words::share(*done),
            words::rate(*asked),
            words::counted(*piled_up, "request")
        ),
        Warning::Stalled { longest, intervals: 0 } => format!(
            "The target stood still at the end (a request took {longest}): what was outstanding \
             came back after the measured time and is in no quantile. Measure longer, or load at \
             a fixed rate to see it."
        ),
        Warning::Stalled { longest, intervals } => format!(
            "The target stood still (a request took {longest}; {} with less than half of the \
             usual): in a closed loop, the requests that would have been due meanwhile were never \
             sent and are in no quantile. Load at a fixed rate to see them.",
            words::counted(u64::from(*intervals), "interval")
        ),
        Warning::GeneratorPaused { host, longest, times } => format!(
            "The load generator on {host} did not run {}, for up to {longest}: latencies hold its \
             own pause, not the target's. Free its CPUs, then measure again.",
            if *times == 1 {
                "once".to_owned()
            } else {
                format!("{} times", words::count(u64::from(*times)))
            }
        ),
        Warning::WarmUp { length, share: level } => format!(
            "There was a warm-up of {length} inside the measured time: until then, the level was \
             {} of the level after it. Precondition longer.",
            words::share(*level)
        ),
        Warning::Changed { host, times, at, share: level } => format!(
            "The level changed {} in the measured time{}; the largest change was at {at}, to {} \
             of the level before. One figure does not describe both.",
            if *times == 1 {
                "once".to_owned()
            } else {
                format!("{} times", words::count(u64::from(*times)))
            },
            host.map_or_else(String::new, |host| format!(
                " on host {}",
                words::count(u64::from(host))
            )),
            words::share(*level)
        ),
        Warning::NotSteady { range, slope } => format!(
            "Not steady by the rule of the SNIA: over five rounds, the range was {} of the mean \
             (at most 20 %), and the trend {}{} (at most 10 %). Measure or precondition longer.",
            words::share(*range),
            if *slope < 0.0 { "−" } else { "+" },
            words::share(slope.abs())
        ),
        Warning::UnfairWorkers { short, of, least } => format!(
            "{} of {} of a host did less than 80 % of the median worker there, the slowest {}: \
             the total hides that some were starved.",
            words::count(u64::from(*short)),
            words::counted(u64::from(*of), "worker"),
            words::share(below(*least))
        ),
        Warning::UnequalHosts { short, of, stragglers } => format!(
            "{} of {} did less than 80 % of the median host for each worker, which the total \
             hides: {}{}.",
            words::count(u64::from(*short)),
            words::counted(u64::from(*of), "host"),
            stragglers.iter().map(straggler).collect::<Vec<_>>().join(", "),
            match (*short as usize).saturating_sub(stragglers.len()) {
                0 => String::new(),
                others => format!(", and {}", words::counted(others as u64, "other")),
            }
        ),
        Warning::LittleBroken { found, most } => format!(
            "Rate × mean latency makes {found:.1} requests outstanding, and there were never more \
             than {most:.0} (Little's law): one of the two figures is wrong."
        ),
        Warning::LittleSpace { target, free } => format!(
            "{target} had {} of its space left: file systems and flash slow down when they are \
             nearly full.",
            words::share(*free)
        ),
        Warning::NotPreconditioned => "There was no preconditioning: caches, allocation and flash \
                                       were not in a steady state at the start."
            .to_owned(),
        Warning::NotPrepared => "Nothing was written before: a read of a block that was never \
                                 written costs next to nothing."
            .to_owned(),
        Warning::Errors { by_errno, unsupported } => {
            let kinds: Vec<String> = by_errno
                .iter()
                .map(|(number, n)| format!("{} × {}", words::count(*n), words::errno(*number)))
                .collect();
            let remedy = unsupported.map_or_else(String::new, |op| {
                format!(
                    " The target seems to have no {0}, or to allow none: leave `{0}` out of the \
                     suite.",
                    op.name()
                )
            });
            format!(
                "Requests failed ({}); they count in no rate and no quantile.{remedy}",
                kinds.join(", ")
            )
        }
        Warning::Reducible { compressible, duplicate } => format!(
            "Of what was written, {compressible} compresses away and {duplicate} are copies: \
             storage that compresses or finds duplicates had less to store, and is faster than \
             with other data."
        ),
        Warning::Incomplete { how, measured } => {
            format!("Only a part was measured ({measured}): {}.", words::run_state(how))
        }
        Warning::Scaled { scale } => {
            format!(
                "{}: this shows that the suite runs, not what the target carries.",
                words::shrunk(*scale, "were")
            )
        }
        Warning::Simulated => "The target is simulated: this shows how Plimsoll measures, not \
                               what storage carries."
            .to_owned(),
        Warning::AboveCeiling { share, layer } => format!(
            "This is {} of what the testbed's {} can do: some of it did not come from there, a \
             cache perhaps, or a fact of the testbed is wrong.",
            words::share(*share),
            ceiling::layer(*layer)
        ),
        Warning::NothingCompleted => "No request completed.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{Quantile, RunState};
    use model::load::Rate;
    use model::note::InWords;
    use model::{Bytes, Fact, Fraction, Nanos, NoteKind, Op, Percent, Scale};
    use std::collections::BTreeMap;

    fn said(kind: NoteKind, words: &str) -> Fact {
        Fact::InWords(InWords::new(kind, words))
    }

    #[test]
    fn every_doubt_is_a_sentence_with_its_figure() {
        let straggler = |host: &str, level, loss| Straggler { host: host.into(), level, loss };
        let stragglers = vec![
            straggler("node3", 0.21, 0.5),
            straggler("node7", 0.5, 0.25),
            straggler("node9", 0.799, 0.125),
        ];
        let all = [
            Warning::Cached { footprint: Bytes::gib(1), memory: Bytes::gib(64) },
            Warning::ReadFromMemory { share: 0.97 },
            Warning::NotCarried { op: Op::Read, share: 0.02 },
            Warning::DirectRefused(said(NoteKind::DirectRefused, "/mnt/x refuses O_DIRECT")),
            Warning::BackendFallback(said(
                NoteKind::BackendFallback,
                "io_uring is forbidden; sync took its place",
            )),
            Warning::HostLost { hosts: vec!["node3".into()], wholly: false },
            Warning::HostLost { hosts: vec!["node3".into(), "node7".into()], wholly: true },
            Warning::EventRunning { events: vec!["drain".into(), "move".into()] },
            Warning::StartSkew { host: "node3".into(), late: Nanos::millis(250) },
            Warning::ClockError { host: "node3".into(), error: Nanos::millis(120) },
            Warning::Unsettled(said(NoteKind::Unsettled, "not steady after 2h")),
            Warning::CachesNotEmptied(said(
                NoteKind::CachesNotEmptied,
                "stages.prerun ended with exit status 1",
            )),
            Warning::FewSamples { samples: 1 },
            Warning::ThinTail {
                quantile: Quantile { name: "p99.9", key: "p99_9", share: 0.999 }.name,
                beyond: 3,
            },
            Warning::HostSaturated { hosts: vec!["node1".into(), "node2".into()], share: 0.4 },
            Warning::WorkerBusy { share: 0.97 },
            Warning::RateMissed {
                asked: Rate::Iops { milli: 10_000_000 },
                done: 0.955,
                piled_up: 13_500,
            },
            Warning::Stalled { longest: Nanos::millis(2_010), intervals: 2 },
            Warning::Stalled { longest: Nanos::millis(4_034), intervals: 0 },
            Warning::GeneratorPaused {
                host: "node3".into(),
                longest: Nanos::millis(2_000),
                times: 2,
            },
            Warning::WarmUp { length: Nanos::seconds(15), share: 1.4 },
            Warning::Changed { host: Some(3), times: 2, at: Nanos::seconds(120), share: 0.7 },
            Warning::Changed { host: None, times: 1, at: Nanos::seconds(120), share: 0.7 },
            Warning::NotSteady { range: 0.31, slope: -0.12 },
            Warning::UnfairWorkers { short: 1, of: 16, least: 0.15 },
            Warning::UnequalHosts { short: 5, of: 16, stragglers },
            Warning::LittleBroken { found: 400.0, most: 320.0 },
            Warning::LittleSpace { target: "/mnt/x".to_owned(), free: 0.04 },
            Warning::NotPreconditioned,
            Warning::NotPrepared,
            Warning::Errors { by_errno: BTreeMap::from([(0, 1), (5, 12_000)]), unsupported: None },
            Warning::Errors { by_errno: BTreeMap::from([(1, 600)]), unsupported: Some(Op::Link) },
            Warning::Reducible { compressible: Percent::of(60), duplicate: Percent::of(30) },
            Warning::Incomplete { how: RunState::Unfinished, measured: Nanos::seconds(3) },
            Warning::Scaled { scale: Scale::both(Fraction::one_in(100)) },
            Warning::Simulated,
            Warning::NothingCompleted,
        ];
        let text: Vec<String> =
            all.iter().map(|doubt| format!("{:20} {}", doubt.code(), sentence(doubt))).collect();
        insta::assert_snapshot!(text.join("\n"));
    }
}
