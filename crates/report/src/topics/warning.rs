//! Each doubt as a sentence, with its figure and what to do about it.

mod below;

use crate::ground::sentence::{Sentence, count, counted, quantity, sentence, share};
use crate::ground::words;
use crate::topics::{ceiling, note};
use analysis::{Straggler, Warning};
use model::load::Rate;
use model::{Fact, Op, Percent};

/// Workers that take a smaller share of saturated CPUs are not what saturates them.
const BY_OTHERS: f64 = 0.5;

/// How little a drive was prepared for random writes, and what helps.
fn preparation(
    device: &str,
    [overwritten, needs]: [f64; 2],
    part: Option<f64>,
    aged_for: Option<Percent>,
) -> Sentence {
    if let Some(part) = part {
        return sentence![
            "Only ",
            share(part),
            " of ",
            device,
            " is loaded: the rest may serve as spare, and random writes may be faster than on a \
             full drive. Load all of it.",
        ];
    }
    let times = |value: f64| quantity(value, &format!("{value:.2}"));
    let aged = if aged_for.is_some() { "" } else { ", or in one pass (prepare_order = \"aged\")" };
    sentence![
        "Random writes before these figures were ",
        times(overwritten),
        " times what is loaded of ",
        device,
        ": flash may still become slower. Overwrite it at random ",
        times(needs),
        " times first",
        aged,
        ".",
    ]
}

/// A host that did much less than the others, with its level and its part of the loss.
fn straggler(one: &Straggler) -> Sentence {
    let level = share(below(one.level));
    sentence![one.host.as_str(), " did ", level, " (", share(one.loss), " of the loss)",]
}

/// The first few names, and how many more there are.
fn named(hosts: &[String]) -> Sentence {
    const MOST: usize = 3;
    let shown = hosts.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match hosts.len().saturating_sub(MOST) {
        0 => shown.into(),
        more => sentence![shown, " and ", counted(more as u64, "more host")],
    }
}

/// The first few devices, and how many more there are.
fn named_devices(devices: &[String]) -> Sentence {
    const MOST: usize = 3;
    let shown = devices.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match devices.len().saturating_sub(MOST) {
        0 => shown.into(),
        more => sentence![shown, " and ", counted(more as u64, "more device")],
    }
}

/// A share in whole percent that is not rounded up to a limit that it is below.
fn below(share: f64) -> f64 {
    (share * 100.0).floor() / 100.0
}

/// `60 %`.
fn percent(share: Percent) -> Sentence {
    quantity(f64::from(share.ppm), &share.to_string())
}

/// `10,000 IOPS`.
fn asked_rate(rate: Rate) -> Sentence {
    let value = match rate {
        Rate::Iops { milli } => milli as f64 / 1e3,
        Rate::Bytes { per_second } => per_second as f64,
    };
    quantity(value, &words::rate(rate))
}

/// `10.2 MB/s`.
fn asked_rate_of(bytes_per_s: f64) -> Sentence {
    quantity(bytes_per_s, &words::bandwidth(bytes_per_s))
}

/// `+12 %`, `−3.4 %`.
fn trend(slope: f64) -> Sentence {
    let sign = if slope < 0.0 { "−" } else { "+" };
    quantity(slope, &format!("{sign}{}", words::share(slope.abs())))
}

/// `once`, `3 times`.
fn times(number: u32) -> Sentence {
    if number == 1 { "once".into() } else { sentence![count(u64::from(number)), " times"] }
}

/// What a note says, with the quantities of those that stand beside several points.
fn noted(fact: &Fact) -> Sentence {
    match fact {
        Fact::Unsettled { after } => sentence!["not steady after ", *after],
        fact => note::sentence(fact).into(),
    }
}

/// A doubt as a sentence: what, how much, and what would lift it.
pub fn sentence(warning: &Warning) -> String {
    told(warning).text()
}

/// The same with its quantities apart: doubts that differ in them alone can be told as one.
pub fn told(warning: &Warning) -> Sentence {
    match warning {
        Warning::Cached { footprint, memory } => sentence![
            "The layout (",
            *footprint,
            ") is smaller than twice the memory (",
            *memory,
            "), and I/O is buffered. The page cache may have answered. Use direct I/O, or a \
             layout of twice the memory.",
        ],
        Warning::ReadFromMemory { share: from_memory } => sentence![
            "The page cache answered ",
            share(*from_memory),
            " of the bytes read. Use direct I/O, or read a layout of twice the memory once.",
        ],
        Warning::NotCarried { op, share: carried } => sentence![
            "A cache answered: ports, loopback and disks carried only ",
            share(*carried),
            " of the bytes ",
            if *op == Op::Read { "read" } else { "written" },
            ". Direct I/O does not bypass this file system's own cache. Turn that cache off, or \
             load more than it holds.",
        ],
        Warning::DirectRefused(fact) => sentence![
            "Direct I/O was refused, so the page cache took part: ",
            note::sentence(fact),
            ".",
        ],
        Warning::BackendFallback(fact) => {
            sentence!["Another backend replaced the planned one: ", note::sentence(fact), "."]
        }
        Warning::HostLost { hosts, wholly: true, behind: Some(behind) } => sentence![
            "Lost in mid-run: ",
            named(hosts),
            ". The figures are those of the other hosts, from ",
            *behind,
            " on.",
        ],
        Warning::HostLost { hosts, wholly: false, .. } => sentence![
            "Lost in mid-run: ",
            hosts.join(", "),
            ". The figures end at the loss; later intervals are left out.",
        ],
        Warning::HostLost { hosts, wholly: true, behind: None } => sentence![
            "Measured without ",
            hosts.join(", "),
            ", lost before or not there yet. The figures are those of the other hosts.",
        ],
        Warning::HostsLeftOut { hosts, of } => sentence![
            count(of.saturating_sub(hosts.len() as u64)),
            " of ",
            count(*of),
            " hosts took part. Not reached at the start: ",
            named(hosts),
            ".",
        ],
        Warning::OtherRuns { hosts, runs } => sentence![
            if runs.iter().any(|other| other.same_place) {
                "Another run loaded the same disk or file system: "
            } else {
                "Another run loaded the same hosts: "
            },
            runs.iter().map(note::who).collect::<Vec<_>>().join("; "),
            " (on ",
            named(hosts),
            "). The figures share the hosts with it. Measure when it is over.",
        ],
        Warning::EventRunning { events } => sentence![
            "The command of ",
            events.iter().map(|name| format!("event {name}")).collect::<Vec<_>>().join(" and of "),
            " still ran from an earlier stage, so the figures include its effect. Give it more \
             time with event.wait, or measure again.",
        ],
        Warning::StartSkew { host, late } => sentence![
            host.as_str(),
            " started ",
            *late,
            " after the agreed instant. The first interval counts too little.",
        ],
        Warning::ClockError { host, error } => sentence![
            "The clock of ",
            host.as_str(),
            " was known only to ±",
            *error,
            " at the start, so its intervals may be offset by that much.",
        ],
        Warning::Unsettled(fact) => sentence![
            "The rate never became steady (",
            noted(fact),
            "), so the figures describe a target that still changes. Raise measure_max, or \
             precondition longer.",
        ],
        Warning::NotWarm { after } => sentence![
            "Caches were not warm after ",
            *after,
            " of preconditioning, so the figures mix hits with those of a colder cache. Raise \
             precondition_max.",
        ],
        Warning::CachesNotEmptied(fact) => sentence![
            "Caches were not emptied as asked (",
            note::sentence(fact),
            "), so reads may have come from a cache. Try the command by hand, then measure again.",
        ],
        Warning::FewSamples { samples } => sentence![
            "Only ",
            counted(*samples, "request"),
            " completed, too few for percentiles beyond the median. Measure longer.",
        ],
        Warning::ThinTail { quantile, beyond } => sentence![
            *quantile,
            " and above rest on ",
            counted(*beyond, "request"),
            " or fewer, so they vary by chance from run to run. Measure longer.",
        ],
        Warning::WorkerBusy { share: busy } if *busy > 1.0 => sentence![
            "A worker and its kernel threads used ",
            quantity(*busy, &format!("{busy:.1}")),
            " cores. The load generator may be the limit, not the target. Use more workers.",
        ],
        Warning::WorkerBusy { share: busy } => sentence![
            "A worker kept its core ",
            share(*busy),
            " busy. The load generator may be the limit, not the target. Use more workers.",
        ],
        Warning::HostSaturated { hosts, share: full, own } if *own < BY_OTHERS => sentence![
            "Other programs kept the CPUs of ",
            named(hosts),
            " busy, saturated for ",
            share(*full),
            " of the load; Plimsoll's workers used ",
            share(*own),
            " of them. Latencies may include waits for a CPU. Stop them, or load from another \
             host.",
        ],
        Warning::HostSaturated { hosts, share: full, .. } => sentence![
            "The CPUs of ",
            named(hosts),
            " were saturated for ",
            share(*full),
            " of the load. The load generator may be the limit, not the target. Use more hosts \
             or fewer workers.",
        ],
        Warning::RateMissed { asked, done, piled_up } => sentence![
            "The target kept up with only ",
            share(*done),
            " of ",
            asked_rate(*asked),
            ": ",
            counted(*piled_up, "request"),
            " were overdue at the end. Latencies reflect the run's length, not the target. \
             Offer a lower rate.",
        ],
        Warning::Stalled { longest, intervals: 0 } => sentence![
            "The target stalled at the end: a request took ",
            *longest,
            ". What was outstanding completed after the measured time and is in no percentile. \
             Measure longer, or re-run with `rate`.",
        ],
        Warning::Stalled { longest, intervals } => sentence![
            "The target stalled: a request took ",
            *longest,
            ", and ",
            counted(u64::from(*intervals), "interval"),
            " completed less than half of the usual. A closed loop sends nothing during a stall, \
             so percentiles understate it (coordinated omission). Re-run with `rate`.",
        ],
        Warning::GeneratorPaused { host, longest, times: number } => sentence![
            "The load generator on ",
            host.as_str(),
            " paused ",
            times(*number),
            ", for up to ",
            *longest,
            ". Latencies include its own pause. Free its CPUs, then measure again.",
        ],
        Warning::WarmUp { length, share: level } => sentence![
            "The first ",
            *length,
            " were a warm-up, at ",
            share(*level),
            " of the later level. Precondition longer.",
        ],
        Warning::Changed { host, times: number, at, share: level } => sentence![
            "The level changed ",
            times(*number),
            " while measuring",
            host.map_or_else(Sentence::default, |host| sentence![
                " on host ",
                count(u64::from(host))
            ]),
            ". The largest change, at ",
            *at,
            ", led to ",
            share(*level),
            " of the level before. One figure does not describe both levels.",
        ],
        Warning::NotSteady { range, slope } => sentence![
            "Not steady by the SNIA rule: over five rounds, the range was ",
            share(*range),
            " of the mean (limit 20 %) and the trend ",
            trend(*slope),
            " (limit 10 %). Measure or precondition longer.",
        ],
        Warning::UnfairWorkers { short, of, least } => sentence![
            count(u64::from(*short)),
            " of ",
            counted(u64::from(*of), "worker"),
            " of a host did less than 80 % of its median worker, the slowest ",
            share(below(*least)),
            ". The total hides this.",
        ],
        Warning::UnequalHosts { short, of, stragglers } => sentence![
            count(u64::from(*short)),
            " of ",
            counted(u64::from(*of), "host"),
            " did less than 80 % of the median host per worker: ",
            Sentence::join(stragglers.iter().map(straggler), ", "),
            match (*short as usize).saturating_sub(stragglers.len()) {
                0 => Sentence::default(),
                others => sentence![", and ", counted(others as u64, "other")],
            },
            ". The total hides this.",
        ],
        Warning::LittleBroken { found, most } => sentence![
            "Rate × mean latency implies ",
            quantity(*found, &format!("{found:.1}")),
            " requests outstanding, but at most ",
            quantity(*most, &format!("{most:.0}")),
            " were (Little's law). One of the two figures is wrong.",
        ],
        Warning::LittleSpace { target, free } => sentence![
            target.as_str(),
            " had only ",
            share(*free),
            " of its space free. File systems and flash slow down when nearly full.",
        ],
        Warning::VolatileCache { devices } => sentence![
            "The write cache of ",
            named_devices(devices),
            " is volatile (write back), and no write waited for a flush. A write counts when \
             the cache has it. For durable writes, set fsync_every or dsync.",
        ],
        Warning::FlushOwed { .. }
        | Warning::FlushBroken { .. }
        | Warning::FlushInstant { .. }
        | Warning::WritesFaster { .. }
        | Warning::LessAtDevice { .. }
        | Warning::MoreAtDevice { .. }
        | Warning::OtherIo { .. }
        | Warning::Merged { .. }
        | Warning::Throttled { .. }
        | Warning::BurstSpent { .. }
        | Warning::Stolen { .. }
        | Warning::GuestsWaited { .. }
        | Warning::HostCache { .. }
        | Warning::Misplaced(_)
        | Warning::IoLimited { .. }
        | Warning::QueueShort { .. }
        | Warning::BarriersOff { .. }
        | Warning::ArrayDegraded { .. }
        | Warning::ArrayBusy { .. }
        | Warning::LinkNarrow { .. }
        | Warning::ClockSource { .. } => below::sentence_of(warning),
        Warning::NotPreconditioned => "No preconditioning: caches, allocation and flash were not \
                                       in a steady state at the start."
            .into(),
        Warning::ShortPreparation { device, overwritten, needs, part, aged_for } => {
            preparation(device, [*overwritten, *needs], *part, *aged_for)
        }
        Warning::NotPurged { device } => sentence![
            device.as_str(),
            " was not purged. Rounds, an aged pass and first writes count on a drive as from its \
             box. Write purge = true.",
        ],
        Warning::NotPrepared => "Nothing was written first. Reading a block that was never \
                                 written costs almost nothing."
            .into(),
        Warning::Errors { by_errno, unsupported } => {
            let kinds: Vec<Sentence> = by_errno
                .iter()
                .map(|(number, n)| sentence![count(*n), " × ", words::errno(*number)])
                .collect();
            let remedy = unsupported.map_or_else(Sentence::default, |op| {
                sentence![
                    " The target seems not to support ",
                    op.name(),
                    ": leave `",
                    op.name(),
                    "` out of the suite.",
                ]
            });
            sentence![
                "Requests failed (",
                Sentence::join(kinds, ", "),
                "). They count in no rate and no percentile.",
                remedy,
            ]
        }
        Warning::Reducible { compressible, duplicate } => sentence![
            "Of the data written, ",
            percent(*compressible),
            " compresses and ",
            percent(*duplicate),
            " is duplicate. Storage that compresses or deduplicates stored less, and is faster \
             than with other data.",
        ],
        Warning::Incomplete { how, measured } => {
            sentence!["Only a part was measured (", *measured, "): ", words::run_state(how), ".",]
        }
        Warning::Scaled { scale } => sentence![
            words::shrunk(*scale, "were"),
            ": this shows that the suite runs, not what the target carries.",
        ],
        Warning::Simulated => "The target is simulated. This shows how Plimsoll measures, not \
                               what storage carries."
            .into(),
        Warning::AboveCeiling { share: reached, layer } => sentence![
            "This is ",
            share(*reached),
            " of what the testbed's ",
            ceiling::layer(*layer),
            " can do. A cache may have answered, or a fact of the testbed is wrong.",
        ],
        Warning::NothingCompleted => "No request completed.".into(),
    }
}

#[cfg(test)]
#[path = "warning_tests.rs"]
mod tests;
