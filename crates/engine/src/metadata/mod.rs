//! Operations on whole files: trees of them, and the workers that create, look up, read and remove
//! them.

mod calls;
mod descriptors;
mod forest;
mod ledger;
mod life;
mod living;
mod order;
mod paced;
mod path;
mod simulated;
mod worker;

pub(crate) use calls::memory;
pub(crate) use forest::grow;
pub(crate) use ledger::{Known, Ledger, Ledgers, SumOfStage};
pub(crate) use life::{Life, Step};
pub(crate) use path::{Kind, PathBuffer};
pub(crate) use simulated::NamedState;
pub(crate) use worker::run;
