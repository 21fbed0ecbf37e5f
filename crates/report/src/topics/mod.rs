//! What is told, a room for each thing: its words, and where it has them its table, its section of
//! the page and its object for machines.

pub(crate) mod amounts;
pub(crate) mod attribution;
pub mod canary;
pub mod ceiling;
pub mod command_line;
pub mod compare;
pub(crate) mod conditions;
pub(crate) mod doubts;
pub mod events;
pub mod evidence;
pub(crate) mod findings;
pub(crate) mod first_screen;
pub mod gate;
pub mod grade;
pub mod inventory;
pub(crate) mod io_path;
pub(crate) mod left_behind;
pub mod loadline;
pub mod note;
pub mod occurrences;
pub mod plan;
pub mod published;
pub(crate) mod repetitions;
pub(crate) mod reproduce;
pub mod results;
pub mod split;
pub mod testbed_draft;
pub mod trend;
pub(crate) mod uncounted;
pub(crate) mod verdict;
pub mod verify;
pub(crate) mod warning;
pub mod workload;
