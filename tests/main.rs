//! Whole-program tests: what a user sees, over real devices, file systems, hosts and a browser.
//! They are one program, linked once; those that need the machine alone hold `common::alone`.

mod common;

mod bad_input;
mod browser;
mod ceiling;
mod compare;
mod contents;
mod damaged_plans;
mod dead_mount;
mod docs;
mod events;
mod export;
mod faults;
mod faulty_target;
mod fleet;
mod gate;
mod giving_back;
mod hostile_texts;
mod import;
mod kernel_truth;
mod known_answer;
mod layers;
mod layouts;
mod loadline;
mod main_job;
mod metadata;
mod metrics;
mod placement;
mod prerun;
mod property;
mod returning;
mod scenarios;
mod serve;
mod simulated_cluster;
mod standstill;
mod steady;
mod stonewall;
mod suites;
mod sum_truth;
mod sweep;
mod targets;
mod traces;
mod trend;
mod verify;
mod watch;
