//! What machines are, and what lies between them.

pub mod flash;
pub mod inventory;
pub mod kernels;
pub mod layer;
pub mod network;
pub mod route;
pub mod testbed;
pub mod wwid;
