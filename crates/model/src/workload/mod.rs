//! What is sent, how often and where, as a suite writes it and a plan keeps it.

pub mod choices;
mod file_sizes;
pub mod load;
pub mod metadata;
pub mod object;
pub mod objective;
pub mod offered;
pub mod op;
pub mod planned_event;
pub mod popularity;
pub mod population;
pub mod priority;
