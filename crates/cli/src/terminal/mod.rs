//! What a person sees while a command runs.

#[macro_use]
pub(crate) mod standard_error;

pub(crate) mod run_names;
pub(crate) mod run_overview;
pub(crate) mod screen;
pub(crate) mod view;
