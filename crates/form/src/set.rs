//! `--set key=value`, as it is typed; what it may name, each text says itself.

use std::fmt;
use std::str::FromStr;

/// One `--set key=value` as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    text: String,
}

/// A `--set` without its `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideError(String);

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` sets nothing; write key=value, such as measure=10s or workload.NAME.depth=8",
            self.0
        )
    }
}

impl std::error::Error for OverrideError {}

impl Override {
    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Key and value, as given.
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_once('=').unwrap_or((&self.text, ""))
    }
}

impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Self, OverrideError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Override { text: text.to_owned() })
            }
            _ => Err(OverrideError(text.to_owned())),
        }
    }
}
