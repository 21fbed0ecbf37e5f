//! A replay as a suite of one workload, and the trace put into its plan: there is one path for all
//! runs.

use super::scan::{Scanned, Sizes};
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

/// What the suite of a replay is made of.
pub struct ReplaySuite<'a> {
    /// What was asked for.
    pub args: &'a ReplayArgs,
    /// The trace.
    pub scanned: &'a Scanned,
    /// The size of the file or of the loaded part of the device; `None` for all of what is there.
    pub size: Option<Bytes>,
}

impl ReplaySuite<'_> {
    /// The name of the run.
    pub fn name(&self) -> String {
        let file = self.args.trace.trace.file_name().unwrap_or_default();
        format!("replay {}", file.to_string_lossy())
    }

    /// The suite. Its workload stands for the trace until [`carry_into`]: kinds, sizes and
    /// alignment are the trace's, so that what a target cannot take is refused as it always is.
    pub fn text(&self) -> String {
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

    /// From the first instant of the trace to its last, as it is sent.
    fn length(&self) -> Nanos {
        Nanos(self.args.speed.due_ns(self.scanned.last_ns))
    }

    fn depth(&self) -> u32 {
        let largest = self.scanned.reads.largest.max(self.scanned.writes.largest).max(1);
        let fit = (BUFFERS / (2 * u64::from(largest))).clamp(1, MOST_DEPTH) as u32;
        self.args.depth.unwrap_or(fit)
    }

    /// The trace as a plan holds it, on a target of this size.
    pub fn work(&self, size: Bytes) -> TraceWork {
        let scanned = self.scanned;
        let space = match self.args.scale_space {
            None => Space::Same,
            Some(ScaleSpace::Fold) => Space::Fold { size },
            Some(ScaleSpace::Stretch) => {
                Space::Stretch { from: Bytes(scanned.end), size, align: Bytes(scanned.align) }
            }
        };
        TraceWork {
            path: scanned.path.clone(),
            digest: scanned.digest,
            requests: scanned.requests,
            bytes: scanned.bytes,
            flushes: scanned.flushes > 0,
            length: self.length(),
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

/// Puts the trace in place of what the workload would draw.
pub fn carry_into(plan: &mut Plan, trace: &TraceWork) {
    let carry = |work: &mut Work| {
        let length = u128::from(trace.length.0.max(1));
        let milli = u128::from(trace.requests) * 1_000_000_000_000 / length;
        let milli = u64::try_from(milli).unwrap_or(u64::MAX).clamp(1, 1_000_000_000_000);
        work.pace = Pace::Open { rate: Rate::Iops { milli }, poisson: false };
        work.stop = TraceWork::STOP;
        work.trace = Some(trace.clone());
    };
    let stages = plan.stages.iter_mut().filter(|stage| stage.kind == StageKind::Measure);
    stages.flat_map(|stage| &mut stage.works).for_each(carry);
    for host in &mut plan.hosts {
        let whole: Vec<Extent> = (0..)
            .zip(host.targets.iter().flat_map(|target| &target.files))
            .map(|(file, of)| Extent { file, offset: 0, length: of.size.0 })
            .collect();
        let stages = host.stages.iter_mut().filter(|stage| stage.kind == StageKind::Measure);
        for stage in stages {
            stage.works.iter_mut().for_each(carry);
            for worker in &mut stage.workers {
                worker.extents.clone_from(&whole);
            }
        }
    }
}
