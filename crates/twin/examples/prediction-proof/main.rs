//! How far predictions hold: mean-value analysis beside the simulation, and intervals on clusters
//! with hidden parameters (`docs/method/prediction.md` has what it prints).
//!
//! `cargo run -p twin --example prediction-proof -- [--cases N] [--files N] [--skewed N]
//! [--partly N] [--fewer N] [--deep N] [--clusters N] [--first SEED] [--worst] [--reports]
//! [--threads N] [--kept FILE]`: a file keeps the clusters that are done, and a proof that is cut
//! short goes on there.

#![allow(clippy::print_stdout)]

mod cases;
mod hidden;
mod kept;
mod reports;

use cases::Of;

/// What was asked for.
struct Asked {
    cases: u64,
    files: u64,
    clusters: u64,
    first: u64,
    worst: bool,
    skewed: u64,
    partly: u64,
    fewer: u64,
    deep: u64,
    reports: bool,
    threads: u64,
    kept: Option<String>,
}

fn asked() -> Asked {
    let mut asked = Asked {
        cases: 500,
        files: 0,
        clusters: 200,
        first: 0,
        worst: false,
        skewed: 0,
        partly: 0,
        fewer: 0,
        deep: 0,
        reports: false,
        threads: 1,
        kept: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--kept" {
            asked.kept = arguments.next();
            continue;
        }
        let mut number = || {
            let text = arguments.next().unwrap_or_default();
            text.parse::<u64>().unwrap_or_else(|_| panic!("`{argument}` takes a number"))
        };
        match argument.as_str() {
            "--cases" => asked.cases = number(),
            "--files" => asked.files = number(),
            "--clusters" => asked.clusters = number(),
            "--first" => asked.first = number(),
            "--threads" => asked.threads = number(),
            "--worst" => asked.worst = true,
            "--skewed" => asked.skewed = number(),
            "--partly" => asked.partly = number(),
            "--fewer" => asked.fewer = number(),
            "--deep" => asked.deep = number(),
            "--reports" => asked.reports = true,
            other => {
                panic!(
                    "`{other}` is not known; give --cases N, --files N, --skewed N, --partly N, \
                     --fewer N, --deep N, --clusters N, --first SEED, --worst, --reports, \
                     --threads N, --kept FILE"
                )
            }
        }
    }
    asked
}

fn main() {
    let asked = asked();
    if asked.reports {
        reports::told();
    }
    if asked.cases > 0 {
        cases::told(asked.first, asked.cases, asked.worst, Of::Blocks);
    }
    if asked.files > 0 {
        cases::told(asked.first, asked.files, asked.worst, Of::Files);
    }
    if asked.skewed > 0 {
        cases::told(asked.first, asked.skewed, asked.worst, Of::Skewed);
    }
    if asked.partly > 0 {
        cases::told(asked.first, asked.partly, asked.worst, Of::PartlyInOrder);
    }
    if asked.fewer > 0 {
        cases::told(asked.first, asked.fewer, asked.worst, Of::FewerHosts);
    }
    if asked.deep > 0 {
        cases::told(asked.first, asked.deep, asked.worst, Of::DeepStreams);
    }
    if asked.clusters > 0 {
        let kept = asked.kept.as_deref().map(kept::Kept::in_file).unwrap_or_default();
        hidden::told(asked.first, asked.clusters, asked.threads as usize, kept);
        println!("\nA fit of 20 rows took {:.0} ms at most.", hidden::slowest_ms(asked.clusters));
    }
}
