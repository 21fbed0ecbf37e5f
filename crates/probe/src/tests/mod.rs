//! The probe over trees of files whose numbers are known.

mod counters;
pub(crate) mod fixture;
mod memory;
mod own_process;
mod reads;

use own_process::in_a_process_of_its_own;
