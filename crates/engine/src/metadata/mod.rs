//! Operations on whole files: trees of them, and the workers that create, look up, read and remove
//! them.

mod calls;
mod descriptors;
mod forest;
mod order;
mod path;
mod simulated;
mod worker;

pub(crate) use forest::grow;
pub(crate) use path::Kind;
pub(crate) use simulated::NamedState;
pub(crate) use worker::run;
