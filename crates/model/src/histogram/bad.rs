//! The error of bytes that are no histogram.

use crate::columns::Bad;

/// Bytes that are not an encoded histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadHistogram;

impl std::fmt::Display for BadHistogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a histogram in a layout this version knows")
    }
}

impl std::error::Error for BadHistogram {}

impl From<Bad> for BadHistogram {
    fn from(_: Bad) -> BadHistogram {
        BadHistogram
    }
}
