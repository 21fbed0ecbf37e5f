//! Charts as SVG, drawn by our own code: one module for the report and the live page. Colours are
//! the page's variables, so that light, dark and print need no second drawing.

mod bars;
mod curves;
pub(crate) mod frame;
mod groups;
mod heat;
mod lines;
mod map;
mod roof;
mod scale;

pub use bars::{Bar, Bars};
pub use curves::{Curve, Curves, Place};
pub use frame::Axis;
pub(crate) use frame::{WIDTH, number, rect};
pub use groups::{Group, Groups, Step};
pub use heat::{Bands, Cell, Heat};
#[cfg(test)]
pub(crate) use heat::{SHADES, opacity};
pub use lines::{Line, Lines, Point, ends};
pub use map::{Map, MapAxis, Square};
pub use roof::reach;
pub use scale::Scale;
