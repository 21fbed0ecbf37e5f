//! The answer as a line that GitHub shows beside a change.

use super::{Told, headline};
use analysis::gate::Answer;

/// A workflow command: an error, a warning or a notice.
pub fn annotation(told: &Told<'_>) -> String {
    let level = match told.answer {
        Answer::Regression => "error",
        Answer::CannotTell => "warning",
        Answer::NoChange | Answer::Improvement => "notice",
    };
    format!("::{level} title=plimsoll gate::{}", escaped(&headline(told)))
}

/// As GitHub wants the text of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
