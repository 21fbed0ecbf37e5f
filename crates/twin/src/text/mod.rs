//! What stands behind `sim:`: names, quantities, and specs as text.

pub(crate) mod display;
pub(crate) mod parse;
pub(crate) mod preset;
pub(crate) mod quantity;
