//! What a reader sees first of a run: its largest figures, and the chart that answers the question
//! of its suite.

mod chart;
mod curve;
mod figures;

pub use chart::{Question, chart};
pub use curve::overlay;
pub use figures::{Beside, section as figures};
