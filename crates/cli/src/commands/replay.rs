//! `plimsoll replay`: a trace as the load of a run.

use super::{plan, run};
use crate::args::{GivenUpArg, ReplayArgs, RunArgs, ScaleSpace, TargetArg};
use crate::failure::Failure;
use crate::suite_and_targets;
use crate::trace::{ReplaySuite, Scanned, carry_into, first_past, scan, tell};
use model::trace::Space;
use model::{Bytes, Plan};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;

/// Reads the trace through, and sends it.
pub fn replay(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let target = target(args)?;
    let mut as_run = RunArgs::of_replay(args);
    run::refuse_taken(&as_run)?;
    let folder = args.out.as_ref().and_then(|out| out.parent()).unwrap_or_else(|| Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let scanned = scan(&args.trace, folder)?;
    tell(&args.trace.trace, scanned.ending, "replayed");
    if args.existing && scanned.changes() > 0 {
        return Err(Failure::Usage(format!(
            "error: trace {}: {} of its requests write or trim, and --existing writes nothing; \
             replay its reads with --only reads, or name a directory without --existing",
            args.trace.trace.display(),
            scanned.changes()
        )));
    }
    let size = size(args, &scanned, &target)?;
    let suite = ReplaySuite { args, scanned: &scanned, size };
    as_run.work.targets = args.target.clone().into_iter().collect();
    as_run.work.destroy_data = args.destroy_data.clone().into_iter().collect();
    let asked = suite_and_targets::asked_of(&as_run.work, &suite.name(), suite.text())?;
    let started = plan::start(&as_run.work, &asked)?;
    let (mut plan, facts) = plan::decide(&as_run.work, &asked, &started)?;
    let loaded = loaded(&plan);
    let trace = suite.work(loaded);
    if trace.mapping.space == Space::Same && scanned.end > loaded.0 {
        return Err(past_end(args, &target, loaded));
    }
    if u64::from(scanned.reads.largest.max(scanned.writes.largest)) > loaded.0 {
        return Err(Failure::Usage(format!(
            "error: target {target}: it has {loaded}, less than the largest request of the trace; \
             name a larger target"
        )));
    }
    carry_into(&mut plan, &trace);
    run::carry_out(&as_run, started, plan, &facts, None)
}

/// The one target, as it was named.
fn target(args: &ReplayArgs) -> Result<String, Failure> {
    let of_target = |target: &TargetArg| (target.hosts.is_none(), target.path.clone());
    let given_up =
        |given: &GivenUpArg| given.0.first().map(|one| (one.host.is_none(), one.device.clone()));
    let named = match (&args.target, &args.destroy_data) {
        (Some(target), _) => Some(of_target(target)),
        (None, Some(given)) => given_up(given),
        (None, None) => None,
    };
    match named {
        Some((true, path)) => Ok(path),
        Some((false, _)) => Err(Failure::Usage(
            "error: a trace is replayed on this host alone; name the target without a host"
                .to_owned(),
        )),
        None => Err(Failure::Usage(
            "error: no target is named; name a directory with --target PATH, a file or device to \
             read with --existing --target PATH, or a device to overwrite with --destroy-data \
             DEVICE"
                .to_owned(),
        )),
    }
}

/// The size that the layout is to have; `None` for all of what is there.
fn size(args: &ReplayArgs, scanned: &Scanned, target: &str) -> Result<Option<Bytes>, Failure> {
    let there = size_of(Path::new(target)).map(Bytes);
    let is_scaled = args.scale_space.is_some();
    match (args.size, there) {
        (Some(size), _) if !is_scaled && scanned.end > size.0 => Err(past_end(args, target, size)),
        (Some(size), _) => Ok(Some(size)),
        (None, Some(there)) if !is_scaled && scanned.end > there.0 => {
            Err(past_end(args, target, there))
        }
        (None, Some(_)) if args.existing => Ok(None),
        (None, Some(there)) if is_scaled => Ok(Some(there)),
        (None, None) if is_scaled && !target.starts_with("sim:") => {
            let how = if args.scale_space == Some(ScaleSpace::Fold) { "fold" } else { "stretch" };
            Err(Failure::Usage(format!(
                "error: --scale-space {how} needs the size of the file in {target}; give it with \
                 --size"
            )))
        }
        (None, None) if target.starts_with("sim:") => Ok(None),
        // Whole units of any device.
        (None, _) => Ok(Some(Bytes(
            scanned.end.next_multiple_of(1 << 20).min(there.map_or(u64::MAX, |there| there.0)),
        ))),
    }
}

/// The size of a file or block device; `None` for anything else.
fn size_of(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok()?;
    if metadata.is_file() {
        return Some(metadata.len());
    }
    if !metadata.file_type().is_block_device() {
        return None;
    }
    File::open(path).ok()?.seek(SeekFrom::End(0)).ok()
}

/// The bytes that the plan loads: of its one file.
fn loaded(plan: &Plan) -> Bytes {
    let mut files = plan.hosts.iter().flat_map(model::HostPlan::files);
    files.next().map_or(Bytes(0), |file| file.size)
}

fn past_end(args: &ReplayArgs, target: &str, size: Bytes) -> Failure {
    let path = args.trace.trace.display();
    let place = match first_past(&args.trace, size.0) {
        Ok(Some((place, end))) => format!("{place}: the request ends at byte {end}"),
        Ok(None) => "a request ends".to_owned(),
        Err(failure) => return failure,
    };
    Failure::Usage(format!(
        "error: trace {path}: {place}, past the {} bytes of {target}; name a larger target, or lay \
         the trace onto this one with --scale-space fold or stretch",
        size.0
    ))
}
