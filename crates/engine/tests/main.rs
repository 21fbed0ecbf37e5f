//! The engine over real files, in one program. What looks at its whole process has one of its own:
//! `in_a_process_of_its_own` starts this program again, for one test.

mod amounts;
mod attacks;
mod cache_hits;
mod contents;
mod cpu;
mod files;
mod metadata;
mod metadata_limits;
#[path = "../../probe/src/tests/own_process.rs"]
mod own_process;
mod real_files;

use own_process::in_a_process_of_its_own;
