//! The sentences of doubts about what lies below a target and around its hosts.

use super::{asked_rate_of, named_devices};
use crate::ground::sentence::{Sentence, count, counted, quantity, sentence, share};
use crate::ground::words;
use analysis::{Misplaced, Warning};
use model::Op;
use model::machines::DiskCache;

/// The sentence of one of them; empty for any other.
pub(super) fn sentence_of(warning: &Warning) -> Sentence {
    of_writes(warning)
        .or_else(|| of_devices(warning))
        .or_else(|| of_limits(warning))
        .or_else(|| of_setup(warning))
        .unwrap_or_default()
}

fn of_writes(warning: &Warning) -> Option<Sentence> {
    Some(match warning {
        Warning::FlushOwed { flush, share: durable } => sentence![
            "The flush behind the load took ",
            *flush,
            ": the durable rate is ",
            share(*durable),
            " of the acknowledged one. Quote the durable rate, or set fsync_every or dsync.",
        ],
        Warning::FlushBroken { target, errno: 0, took } => sentence![
            "The flush of ",
            target.as_str(),
            " had not ended after ",
            *took,
            ". When its writes are durable is unknown.",
        ],
        Warning::FlushBroken { target, errno, .. } => sentence![
            "The flush of ",
            target.as_str(),
            " failed (",
            words::errno(*errno),
            "). Acknowledged writes may be lost.",
        ],
        Warning::FlushInstant { devices, took, fastest } => sentence![
            "The flush of ",
            named_devices(devices),
            " took ",
            *took,
            ", like a write that its cache took (",
            *fastest,
            "). It is ignored, or the cache is protected: check the power-loss protection.",
        ],
        Warning::WritesFaster { devices, times } => sentence![
            "Writes were ",
            quantity(*times, &format!("{times:.1}")),
            " times as fast as reads of the same kind. The write cache of ",
            named_devices(devices),
            " acknowledged them; the medium did not.",
        ],
        Warning::BarriersOff { mount, option } => sentence![
            mount.as_str(),
            " is mounted with ",
            option.as_str(),
            ": no flush reaches the device. A power cut loses acknowledged writes.",
        ],
        _ => return None,
    })
}

fn of_devices(warning: &Warning) -> Option<Sentence> {
    Some(match warning {
        Warning::LessAtDevice { share: reached, .. } => sentence![
            "Only ",
            share(*reached),
            " of the bytes read came from the device, by the kernel's counters. Blocks that were \
             never written, or a cache above it, answered the rest. Set prepare, or load more \
             than memory holds.",
        ],
        Warning::MoreAtDevice { op, share: times } => sentence![
            "The device moved ",
            quantity(*times, &format!("{times:.1}")),
            " times the bytes of our ",
            plural(*op),
            ": other programs, readahead or partial blocks. Stop other I/O, or align requests.",
        ],
        Warning::OtherIo { op, bytes_per_s } => sentence![
            "The device carried ",
            asked_rate_of(*bytes_per_s),
            " of ",
            plural(*op),
            " that were not ours. Stop other I/O, and measure again.",
        ],
        Warning::Merged { op, share: left } => sentence![
            "The device saw ",
            share(*left),
            " of our ",
            plural(*op),
            ": the kernel merged adjoining requests. The rate counts requests, not device \
             operations.",
        ],
        Warning::QueueShort { device, asked, takes } => sentence![
            device.as_str(),
            " takes ",
            counted(*takes, "request"),
            " at a time, and workers keep ",
            count(*asked),
            " outstanding. The latencies include a wait in the kernel.",
        ],
        _ => return None,
    })
}

fn of_limits(warning: &Warning) -> Option<Sentence> {
    Some(match warning {
        Warning::Throttled { iops, bytes_per_s, spread } => sentence![
            "The rate was constant (",
            words::iops(*iops),
            " IOPS, ",
            words::bandwidth(*bytes_per_s),
            ", deviation ",
            words::share(*spread),
            ") at a round number: a limit of a cloud, a hypervisor or a controller, not of a \
             device.",
        ],
        Warning::BurstSpent { at, moved, share: left } => sentence![
            "After ",
            *at,
            " and ",
            *moved,
            ", the rate fell to ",
            share(*left),
            " and never came back: burst credits or a fast tier were used up. Measure until it \
             is steady.",
        ],
        Warning::Stolen { host, share: stolen } => sentence![
            "The hypervisor gave ",
            share(*stolen),
            " of the CPU time of ",
            host.as_str(),
            " to others. Rates are too low, latencies too high.",
        ],
        Warning::GuestsWaited { node, share: waited } => sentence![
            "Virtual CPUs on ",
            node.as_str(),
            " had work and waited for a CPU for ",
            share(*waited),
            " of their time. Rates are too low, latencies too high. Run fewer guests there.",
        ],
        Warning::HostCache { mode, from_disks } => host_cache(*mode, *from_disks),
        Warning::Misplaced(what) => misplaced(what),
        Warning::IoLimited { host, limit } => sentence![
            "A control group limits I/O on ",
            host.as_str(),
            " (io.max: ",
            limit.as_str(),
            "). The limit may be what was measured.",
        ],
        _ => return None,
    })
}

fn of_setup(warning: &Warning) -> Option<Sentence> {
    Some(match warning {
        Warning::ArrayDegraded { device, missing } => sentence![
            device.as_str(),
            " lacks ",
            counted(u64::from(*missing), "member"),
            ": a degraded array computes what is missing. Repair it first.",
        ],
        Warning::ArrayBusy { device, action } => sentence![
            device.as_str(),
            " was busy with a ",
            action.as_str(),
            " when the run began. Wait for its end.",
        ],
        Warning::LinkNarrow { device, now, best } => sentence![
            "The link of ",
            device.as_str(),
            " runs at ",
            now.as_str(),
            "; the device supports ",
            best.as_str(),
            ". Look at slot, riser and cable.",
        ],
        Warning::ClockSource { host, source } => sentence![
            host.as_str(),
            " reads the time from ",
            source.as_str(),
            ", which is slow. Latencies include it.",
        ],
        _ => return None,
    })
}

fn plural(op: Op) -> &'static str {
    match op {
        Op::Read => "reads",
        _ => "writes",
    }
}

/// Where data or machines were, beside where the plan has them.
fn misplaced(what: &Misplaced) -> Sentence {
    match what {
        Misplaced::Machines { node, machines } => sentence![
            "Planned on ",
            node.as_str(),
            ", and not there at the end: ",
            named_devices(machines),
            ". Find out who moved them, and measure again.",
        ],
        Misplaced::OwnNode { hosts, received } => sentence![
            "The targets of ",
            named_devices(hosts),
            " are planned on their own nodes. Their ports received ",
            share(*received),
            " of the bytes read. Look where the data lies.",
        ],
        Misplaced::OtherNode { hosts, own_disks, received } => sentence![
            "The targets of ",
            named_devices(hosts),
            " are planned on other nodes. Their own disks read ",
            share(*own_disks),
            " of the bytes read, and their ports received ",
            share(*received),
            ". Look where the data lies.",
        ],
        Misplaced::OtherSite { op, planned, found } => sentence![
            if *op == Op::Read { "Reads from" } else { "Writes to" },
            " the other site: ",
            share(*found),
            " of the bytes, and ",
            share(*planned),
            " planned. Look at copies_used and at the copies of each site.",
        ],
    }
}

/// What a disk's cache mode lets the hypervisor's memory do, and what the nodes' disks read.
fn host_cache(mode: DiskCache, from_disks: Option<f64>) -> Sentence {
    let answers = if mode.acknowledges_from_memory() { "reads and writes" } else { "reads" };
    let read = from_disks.map_or_else(Sentence::default, |read| {
        sentence![" The nodes' disks read ", share(read), " of what guests read."]
    });
    let flushes = match mode.ignores_flushes() {
        true => " Flushes are ignored: no write is durable.",
        false => "",
    };
    sentence![
        "The page cache of the hypervisor answers ",
        answers,
        " of these disks (cache = \"",
        mode.word(),
        "\").",
        read,
        flushes,
        " Set vms.cache to none.",
    ]
}
