//! What all that is told is made of: words, markup, charts, columns, colours. It knows no topic.

pub mod chart;
#[cfg(test)]
mod colours;
pub(crate) mod emphasis;
pub mod folding;
pub(crate) mod gather;
pub mod markup;
pub mod moment;
pub mod page;
pub(crate) mod palette;
pub(crate) mod sentence;
pub mod stage;
#[cfg(test)]
pub(crate) mod testing;
pub mod words;
