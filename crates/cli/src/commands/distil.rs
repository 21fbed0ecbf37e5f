//! `plimsoll distil`: a trace as a suite, with its distance from the trace.

use super::{create, print, print_json};
use crate::args::DistilArgs;
use crate::failure::Failure;
use crate::trace::{self, Opened, Stopped};
use dialects::trace::TraceEnd;
use dialects::trace::distil::{Distances, Distiller};
use serde_json::json;
use std::path::Path;

pub(crate) fn distil(args: &DistilArgs) -> Result<(), Failure> {
    let path = &args.trace.trace;
    let (distiller, end) = read(args)?;
    trace::tell(path, end, "distilled");
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("distilled {}", path.file_stem().unwrap_or_default().to_string_lossy());
    let distilled = distiller.finish(&name, &format!("Distilled from {file}."));
    let distilled = distilled.ok_or_else(|| {
        Failure::usage(format!(
            "trace {}: it holds no request that a suite could send; look at --source and \
             --only, or record it again while the device is loaded",
            path.display()
        ))
    })?;
    if args.json {
        let Distances { sizes, offsets, popularity, inter_arrivals, rate } = distilled.distances;
        print_json(&json!({
            "requests": distilled.requests,
            "distances": {
                "sizes": sizes,
                "offsets": offsets,
                "popularity": popularity,
                "inter_arrivals": inter_arrivals,
                "rate": rate,
            },
            "suite": distilled.suite,
        }))?;
    }
    match &args.out {
        Some(out) => {
            create(out, &distilled.suite)?;
            eprintln!("suite     {}; see it with `plimsoll plan {0}`", out.display());
        }
        None if args.json => {}
        None => print(&distilled.suite)?,
    }
    Ok(())
}

/// What all of the trace comes to, and how it ended. One that is far out of order is sorted into a
/// nameless file beside the suite.
fn read(args: &DistilArgs) -> Result<(Distiller, TraceEnd), Failure> {
    let folder = args.out.as_ref().and_then(|out| out.parent()).unwrap_or_else(|| Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut opened = Opened::new(&args.trace)?;
    let mut distiller = Distiller::new();
    loop {
        match opened.next(&args.trace) {
            Ok(Some(request)) if trace::is_taken(args.trace.only, request.op) => {
                distiller.add(&request);
            }
            Ok(Some(_)) => {}
            Ok(None) => return Ok((distiller, opened.end())),
            Err(Stopped::Order) => {
                opened = opened.sorted(&args.trace, folder)?;
                distiller = Distiller::new();
            }
            Err(Stopped::For(failure)) => return Err(failure),
        }
    }
}
