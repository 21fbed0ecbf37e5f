//! `plimsoll distil`: a trace as a suite, with its distance from the trace.

use super::{create, print, print_json};
use crate::args::DistilArgs;
use crate::failure::Failure;
use crate::trace;
use dialects::trace::distil::{Distances, Distiller};
use serde_json::json;
use std::process::ExitCode;

/// Reads the trace, and writes the suite.
pub fn distil(args: &DistilArgs) -> Result<ExitCode, Failure> {
    let mut requests = trace::open(&args.trace)?;
    let mut distiller = Distiller::new();
    let path = &args.trace.trace;
    while let Some((request, _)) =
        requests.next_request().map_err(|what| trace::problem(path, &what))?
    {
        if trace::is_taken(args.trace.only, request.op) {
            distiller.add(&request);
        }
    }
    trace::tell(path, requests.end(), "distilled");
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("distilled {}", path.file_stem().unwrap_or_default().to_string_lossy());
    let distilled = distiller.finish(&name, &format!("Distilled from {file}."));
    let distilled = distilled.ok_or_else(|| {
        Failure::Usage(format!(
            "error: trace {}: it holds no request that a suite could send; look at --source and \
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
    Ok(ExitCode::SUCCESS)
}
