//! What hosts did: its rows, where they begin and end, and what they come to.

pub mod block_edge;
pub mod block_rows;
pub mod by_stage;
pub mod rows;
pub mod search;
pub mod summed;
pub mod thinned;
