//! The files of disks.

pub(crate) mod qcow2;
pub(crate) mod volume;
