//! Charts as SVG, drawn by our own code: one module for the page of today and the live page of tomorrow. Colours are the page's
//! variables, so that light, dark and print need no second drawing.

mod bars;
mod frame;
mod lines;
mod scale;

pub use bars::{Bar, Bars};
pub use lines::{Line, Lines, Point};
pub use scale::Scale;
