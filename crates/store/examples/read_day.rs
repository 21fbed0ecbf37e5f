//! Reads a run file as commands do, each way once, and says how long it took and the most memory
//! that the process had so far: `cargo run --release -p store --example read_day -- FILE [WAY]`.
//!
//! WAY is `report` (what `show`, `report` and `compare` read), `digests` (the same without
//! counters), `resume` or `export`.
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let path = PathBuf::from(words.first().expect("a run file"));
    let wanted = words.get(1).map_or("report", String::as_str);
    let begun = Instant::now();
    match wanted {
        "report" => {
            let record = store::read_judged(&path).expect("a run file");
            let results = analysis::results(&record);
            println!("{} stages, {} results", record.stages.len(), results.len());
        }
        "digests" => {
            let record = store::read_digests(&path).expect("a run file");
            println!("{} stages", record.stages.len());
        }
        "resume" => {
            let record = store::read_to_resume(&path).expect("a run file");
            println!("{} stages", record.stages.len());
        }
        "export" => {
            let mut rows = 0u64;
            store::each_sample(&path, |_| {
                rows += 1;
                Ok::<(), ()>(())
            })
            .expect("a run file");
            println!("{rows} rows");
        }
        other => panic!("{other}: report, digests, resume or export"),
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{wanted}: {:.1?}, {peak}", begun.elapsed());
}
