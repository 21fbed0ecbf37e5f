//! Whole jobs of each tool, as their users have them: what becomes of them, and that the suite can
//! be planned.

mod as_typed;
mod common;
mod diskspd_commands;
mod diskspd_profiles;
mod elbencho_and_iozone;
mod fio_examples;
mod fio_jobs;
mod fio_seen;
mod hostile;
mod io500;
mod iometer;
mod mpi_commands;
mod unmet;
mod vdbench_files;
