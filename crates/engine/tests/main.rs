//! The engine over real files, in one program. What looks at its whole process has one of its own:
//! `in_a_process_of_its_own` starts this program again, for one test.

mod amounts;
mod attacks;
mod cache_hits;
#[allow(dead_code)] // A part is used here.
mod common;
mod contents;
mod cpu;
mod files;
mod metadata;
mod metadata_limits;
#[path = "../../probe/src/tests/own_process.rs"]
mod own_process;
mod real_files;

use engine::{Control, OpenTargets, StageOutcome, run_stage};
use own_process::in_a_process_of_its_own;
