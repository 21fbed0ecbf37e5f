//! A replay as a suite of one workload, and the trace put into its plan: there is one path for all
//! runs.

use super::scan::{Scanned, Sizes};
use super::share::Share;
use crate::args::{ReplayArgs, ScaleSpace};
use model::load::{Pace, Rate};
use model::plan::{Extent, Plan, TraceWork, Work};
use model::trace::{Mapping, Space};
use model::{Bytes, Nanos, StageKind};
use std::fmt::Write;

/// Memory for the buffers of a worker, unless --depth says otherwise.
const BUFFERS: u64 = 256 << 20;
const MOST_DEPTH: u64 = 256;
/// Sizes of a mix: the largest, and those that occur most.
const MOST_PARTS: usize = 32;

pub(crate) struct ReplaySuite<'a> {
    pub(crate) args: &'a ReplayArgs,
    pub(crate) scanned: &'a Scanned,
    /// The size of the file or of the loaded part of the device; `None` for all of what is there.
    pub(crate) size: Option<Bytes>,
}

impl ReplaySuite<'_> {
    pub(crate) fn name(&self) -> String {
        let traces = self.args.traces().map(|path| path.file_name().unwrap_or_default());
        let traces: Vec<_> = traces.map(|name| name.to_string_lossy()).collect();
        match traces.as_slice() {
            [first, .., last] if traces.len() > 2 => format!("replay {first} to {last}"),
            few => format!("replay {}", few.join(", ")),
        }
    }

    /// The suite. Its workload stands for the trace until [`carry_into`]: kinds, sizes and
    /// alignment are the trace's, so that what a target cannot take is refused as it always is.
    pub(crate) fn text(&self) -> String {
        let ReplaySuite { args, scanned, size } = self;
        let name = serde_json::Value::from(self.name()).to_string();
        let mut text = format!("name = {name}\n\n[layout]\nfiles = 1\n");
        // Writing to a String cannot fail.
        if let Some(size) = size {
            let _ = writeln!(text, "size = {}", size.0);
        }
        let length_ms = (self.length().0 / 1_000_000).clamp(100, 3_600_000);
        let _ = write!(
            text,
            "\n[stages]\nmeasure = \"{length_ms}ms\"\nflush = \"none\"\n\n[engine]\ntime = \
             \"real\"\n\n[[workload]]\nname = \"replay\"\nblock_size = \"{}\"\nread = \
             \"{:.4}%\"\naccess = \"random\"\nalign = {}\nsharing = \"whole\"\ndepth = \
             {}\nworkers = {}\n",
            mix(&scanned.reads, &scanned.writes),
            f64::from(scanned.read_share().ppm) / 10_000.0,
            scanned.align,
            self.depth(),
            args.workers,
        );
        let trims = scanned.trim_share();
        if trims.ppm > 0 {
            let _ = writeln!(text, "trim = \"{:.4}%\"", f64::from(trims.ppm) / 10_000.0);
        }
        if scanned.writes.requests > 0 {
            let mix = mix(&scanned.writes, &scanned.reads);
            let _ = writeln!(text, "write_block_size = \"{mix}\"");
        }
        text
    }

    /// From the first instant of the traces to the last, as they are sent.
    fn length(&self) -> Nanos {
        Nanos(self.args.speed.due_ns(self.scanned.whole.last_ns))
    }

    fn depth(&self) -> u32 {
        let largest = self.scanned.reads.largest.max(self.scanned.writes.largest).max(1);
        let fit = (BUFFERS / (2 * u64::from(largest))).clamp(1, MOST_DEPTH) as u32;
        self.args.depth.unwrap_or(fit)
    }

    pub(crate) fn work(&self, share: &Share, size: Bytes) -> TraceWork {
        let scanned = self.scanned;
        let space = match self.args.scale_space {
            None => Space::Same,
            Some(ScaleSpace::Fold) => Space::Fold { size },
            Some(ScaleSpace::Stretch) => {
                Space::Stretch { from: Bytes(scanned.whole.end), size, align: Bytes(scanned.align) }
            }
        };
        TraceWork {
            path: share.path.clone(),
            digest: share.digest,
            requests: share.requests,
            bytes: share.bytes,
            flushes: share.flushes,
            length: Nanos(self.args.speed.due_ns(share.last_ns)),
            in_flight: share.in_flight,
            mapping: Mapping { speed: self.args.speed, space },
        }
    }
}

/// Sizes with their weights; those of `others` where there are none.
fn mix(sizes: &Sizes, others: &Sizes) -> String {
    let sizes = if sizes.requests == 0 { others } else { sizes };
    let mut parts: Vec<(u32, u64)> = sizes.counts.iter().map(|(size, n)| (*size, *n)).collect();
    parts.sort_by_key(|(size, count)| (*size != sizes.largest, std::cmp::Reverse(*count)));
    parts.truncate(MOST_PARTS);
    if parts.first().is_none_or(|(size, _)| *size != sizes.largest) {
        // What was not counted one by one; a trace of trims alone has no size at all.
        parts.insert(0, (sizes.largest.max(512), 1));
    }
    parts.sort_unstable();
    let total: u128 = parts.iter().map(|(_, count)| u128::from(*count)).sum();
    let weight = |count: u64| (u128::from(count) * 1_000_000 / total.max(1)).max(1);
    let part = |(size, count): &(u32, u64)| format!("{size}:{}", weight(*count));
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Puts traces in place of what the workload would draw: one for each host, in their order, with
/// the turn that the host has in it.
pub(crate) fn carry_into(plan: &mut Plan, traces: &[(TraceWork, (u32, u32))]) {
    // What all hosts send together; the share of a host is in its own plan.
    if let Some(all) = together(traces) {
        let stages = plan.stages.iter_mut().filter(|stage| stage.kind == StageKind::Measure);
        stages.flat_map(|stage| &mut stage.works).for_each(|work| carry(work, &all));
    }
    for (host, (trace, (turn, of))) in plan.hosts.iter_mut().zip(traces) {
        let whole: Vec<Extent> = (0..)
            .zip(host.targets.iter().flat_map(|target| &target.files))
            .map(|(file, of)| Extent { file, offset: 0, length: of.size.0 })
            .collect();
        let stages = host.stages.iter_mut().filter(|stage| stage.kind == StageKind::Measure);
        for stage in stages {
            stage.works.iter_mut().for_each(|work| carry(work, trace));
            let workers = stage.workers.len() as u32;
            for (number, worker) in (0..).zip(&mut stage.workers) {
                worker.extents.clone_from(&whole);
                worker.turn = (turn * workers + number, of * workers);
            }
        }
    }
}

fn carry(work: &mut Work, trace: &TraceWork) {
    let length = u128::from(trace.length.0.max(1));
    let milli = u128::from(trace.requests) * 1_000_000_000_000 / length;
    let milli = u64::try_from(milli).unwrap_or(u64::MAX).clamp(1, 1_000_000_000_000);
    work.pace = Pace::Open { rate: Rate::Iops { milli }, poisson: false };
    work.stop = TraceWork::STOP;
    work.trace = Some(trace.clone());
}

/// What hosts send together: a trace that they deal out counts once.
fn together(traces: &[(TraceWork, (u32, u32))]) -> Option<TraceWork> {
    let whole = traces.iter().filter(|(_, (turn, _))| *turn == 0).map(|(trace, _)| trace);
    whole.cloned().reduce(|all, one| TraceWork {
        requests: all.requests.saturating_add(one.requests),
        bytes: all.bytes.saturating_add(one.bytes),
        flushes: all.flushes || one.flushes,
        length: all.length.max(one.length),
        in_flight: None,
        ..all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::SequenceDigest;

    #[test]
    fn traces_of_hosts_add_up_and_one_that_is_dealt_out_counts_once() {
        let trace = |requests, length| TraceWork {
            path: "/x".into(),
            digest: SequenceDigest(requests),
            requests,
            bytes: requests * 512,
            flushes: requests > 5,
            length: Nanos(length),
            in_flight: None,
            mapping: Mapping { speed: "1x".parse().expect("a speed"), space: Space::Same },
        };
        let each = together(&[(trace(3, 9), (0, 1)), (trace(7, 4), (0, 1))]).expect("some");
        assert_eq!((each.requests, each.bytes, each.flushes, each.length.0), (10, 5120, true, 9));
        let dealt = together(&[(trace(3, 9), (0, 2)), (trace(3, 9), (1, 2))]).expect("some");
        assert_eq!((dealt.requests, dealt.length.0), (3, 9));
        assert!(together(&[]).is_none());
    }
}
