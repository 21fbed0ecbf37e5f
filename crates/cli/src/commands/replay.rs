//! `plimsoll replay`: a trace as the load of a run.

use super::{plan, run};
use crate::args::{GivenUpArg, ReplayArgs, RunArgs, ScaleSpace, Split, TargetArg, TraceArgs};
use crate::asked::suite_and_targets;
use crate::failure::Failure;
use crate::trace::{ReplaySuite, Scanned, carry_into, first_past, scan, shares, tell};
use model::Bytes;
use model::plan::HostPlan;
use model::trace::Space;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn replay(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    check(args)?;
    let target = target(args)?;
    let mut as_run = RunArgs::of_replay(args);
    run::refuse_taken(&as_run)?;
    let folder = args.out.as_ref().and_then(|out| out.parent()).unwrap_or_else(|| Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let traces = scan_all(args, folder)?;
    let scanned = Scanned::together(&traces);
    let size = size(args, &scanned, &target)?;
    let suite = ReplaySuite { args, scanned: &scanned, size };
    as_run.work.targets = args.target.clone().into_iter().collect();
    as_run.work.destroy_data = args.destroy_data.clone().into_iter().collect();
    let asked = suite_and_targets::asked_of(&as_run.work, &suite.name(), suite.text())?;
    let started = plan::start(&as_run.work, &asked)?;
    let (mut plan, facts) = plan::decide(&as_run.work, &asked, &started)?;
    let shares = shares(&traces, args.split, plan.hosts.len(), folder)?;
    let mut works = Vec::new();
    for (number, (host, share)) in plan.hosts.iter().zip(&shares.all).enumerate() {
        let loaded = loaded(host);
        let trace = suite.work(share, loaded);
        if trace.mapping.space == Space::Same && share.end > loaded.0 {
            let path = args.traces().nth(number).unwrap_or(&args.trace.trace);
            return Err(past_end(args, path, &target, loaded));
        }
        if u64::from(scanned.reads.largest.max(scanned.writes.largest)) > loaded.0 {
            return Err(Failure::usage(format!(
                "target {target}: it has {loaded}, less than the largest request of the \
                 trace; name a larger target"
            )));
        }
        works.push((trace, share.turn));
    }
    carry_into(&mut plan, &works);
    run::carry_out(&as_run, started, plan, &facts, None)
}

/// Whether traces, hosts and options go together, as far as they tell by themselves.
fn check(args: &ReplayArgs) -> Result<(), Failure> {
    let refuse = |what: &str| Err(Failure::usage(what));
    if args.hosts.simulate.is_some() {
        return refuse(
            "a trace is replayed in real time, and a simulated cluster has none; name a target \
             such as sim:nvme without --simulate",
        );
    }
    if !args.hosts.are_named() && !args.more.is_empty() {
        return refuse(
            "one host replays one trace; name a host for each with --hosts, such as --hosts \
             local:2",
        );
    }
    if args.split.is_some() && (!args.more.is_empty() || !args.hosts.are_named()) {
        return refuse("--split deals one trace out to several hosts; name one trace and --hosts");
    }
    let has_copies = args.split == Some(Split::Source);
    if has_copies && !args.hosts.are_here() {
        return refuse(
            "--split source copies a part of the trace for each host, which other machines cannot \
             read; deal it out with --split turn, or name a trace for each host",
        );
    }
    Ok(())
}

fn scan_all(args: &ReplayArgs, folder: &Path) -> Result<Vec<Scanned>, Failure> {
    let mut all = Vec::new();
    for path in args.traces() {
        let one = TraceArgs { trace: path.clone(), ..args.trace.clone() };
        let scanned = scan(&one, folder)?;
        tell(path, scanned.ending, "replayed");
        if args.existing && scanned.changes() > 0 {
            return Err(Failure::usage(format!(
                "trace {}: {} of its requests write or trim, and --existing writes \
                 nothing; replay its reads with --only reads, or name a directory without \
                 --existing",
                path.display(),
                scanned.changes()
            )));
        }
        if !args.hosts.are_here() && !scanned.is_as_it_is() {
            return Err(Failure::usage(format!(
                "trace {}: other machines cannot read the copy that is made of it here; \
                 only a trace of plimsoll record that is taken whole is replayed there, from the \
                 same path on each host",
                path.display()
            )));
        }
        all.push(scanned);
    }
    Ok(all)
}

fn target(args: &ReplayArgs) -> Result<String, Failure> {
    let is_here = !args.hosts.are_named();
    let of_target = |target: &TargetArg| (!is_here || target.hosts.is_none(), target.path.clone());
    let given_up = |given: &GivenUpArg| {
        given.0.first().map(|one| (!is_here || one.host.is_none(), one.device.clone()))
    };
    let named = match (&args.target, &args.destroy_data) {
        (Some(target), _) => Some(of_target(target)),
        (None, Some(given)) => given_up(given),
        (None, None) => None,
    };
    match named {
        Some((true, path)) => Ok(path),
        Some((false, _)) => Err(Failure::usage(
            "the trace is replayed on this host; name the target without a host, or the \
             hosts with --hosts",
        )),
        None => Err(Failure::usage(
            "no target is named; name a directory with --target PATH, a file or device to \
             read with --existing --target PATH, or a device to overwrite with --destroy-data \
             DEVICE",
        )),
    }
}

/// The size that the layout is to have; `None` for all of what is there.
fn size(args: &ReplayArgs, scanned: &Scanned, target: &str) -> Result<Option<Bytes>, Failure> {
    // What stands here says nothing of other machines; their own sizes are looked at in the plan.
    let is_here = args.hosts.are_here();
    let there = if is_here { size_of(Path::new(target)).map(Bytes) } else { None };
    let is_scaled = args.scale_space.is_some();
    match (args.size, there) {
        (Some(size), _) if !is_scaled && scanned.whole.end > size.0 => {
            Err(past_end(args, longest(args, scanned, size)?, target, size))
        }
        (Some(size), _) => Ok(Some(size)),
        (None, Some(there)) if !is_scaled && scanned.whole.end > there.0 => {
            Err(past_end(args, longest(args, scanned, there)?, target, there))
        }
        (None, Some(_)) if args.existing => Ok(None),
        (None, None) if args.existing && !is_here => Ok(None),
        (None, Some(there)) if is_scaled => Ok(Some(there)),
        (None, None) if is_scaled && !target.starts_with("sim:") => {
            let how = if args.scale_space == Some(ScaleSpace::Fold) { "fold" } else { "stretch" };
            Err(Failure::usage(format!(
                "--scale-space {how} needs the size of the file in {target}; give it with \
                 --size"
            )))
        }
        (None, None) if target.starts_with("sim:") => Ok(None),
        // Whole units of any device.
        (None, _) => Ok(Some(Bytes(
            scanned
                .whole
                .end
                .next_multiple_of(1 << 20)
                .min(there.map_or(u64::MAX, |there| there.0)),
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

/// The bytes that a host loads: of its one file.
fn loaded(plan: &HostPlan) -> Bytes {
    plan.files().next().map_or(Bytes(0), |file| file.size)
}

/// The first of the traces that goes past `size`.
fn longest<'a>(args: &'a ReplayArgs, scanned: &Scanned, size: Bytes) -> Result<&'a Path, Failure> {
    if !args.more.is_empty() && scanned.whole.end > size.0 {
        for path in args.traces() {
            let one = TraceArgs { trace: path.clone(), ..args.trace.clone() };
            if first_past(&one, size.0)?.is_some() {
                return Ok(path);
            }
        }
    }
    Ok(&args.trace.trace)
}

fn past_end(args: &ReplayArgs, path: &Path, target: &str, size: Bytes) -> Failure {
    let one = TraceArgs { trace: path.to_owned(), ..args.trace.clone() };
    let path = path.display();
    let place = match first_past(&one, size.0) {
        Ok(Some((place, end))) => format!("{place}: the request ends at byte {end}"),
        Ok(None) => "a request ends".to_owned(),
        Err(failure) => return failure,
    };
    Failure::usage(format!(
        "trace {path}: {place}, past the {} bytes of {target}; name a larger target, or lay \
         the trace onto this one with --scale-space fold or stretch",
        size.0
    ))
}
