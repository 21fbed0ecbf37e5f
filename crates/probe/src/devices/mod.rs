//! Block devices: what they are, and what lies below one.

pub(crate) mod chain;
pub(crate) mod device;
pub(crate) mod device_number;
pub(crate) mod holes;
pub(crate) mod loops;
