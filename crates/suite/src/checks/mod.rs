//! What tables of a suite can say together.

pub(crate) mod amount;
pub(crate) mod command;
pub(crate) mod contents;
pub(crate) mod metadata;
pub(crate) mod population;
pub(crate) mod preparation;
pub(crate) mod rounds;
pub(crate) mod sharing;
pub(crate) mod table;
pub(crate) mod zones;
