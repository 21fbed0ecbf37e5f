//! A gate as JUnit's XML, which every CI server reads: a test for each figure. A regression is a
//! failure. What cannot be told is an error: the test did not come to a result.

use super::{Told, change, detect, effort, headline, limits, subject, verdict};
use analysis::gate::{Answer, Judged, Subject};

/// By what a file of ours is known.
pub const MARK: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll gate\"";

/// The whole file.
pub fn junit(told: &Told<'_>) -> String {
    let count = |wanted: Answer| told.judged.iter().filter(|one| one.answer == wanted).count();
    let seconds = format!("{:.3}", told.took.0 as f64 / 1e9);
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{seconds}\"",
        told.judged.len(),
        count(Answer::Regression),
        count(Answer::CannotTell)
    );
    let mut xml = format!("{MARK} {counts}>\n  <testsuite name=\"plimsoll gate\" {counts}>\n");
    for (of, judged) in told.subjects.iter().zip(told.judged) {
        xml.push_str(&case(told, of, judged));
    }
    xml.push_str(&format!(
        "    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n",
        escaped(&format!("{}\n{}", headline(told), effort(told)))
    ));
    xml
}

fn case(told: &Told<'_>, of: &Subject, judged: &Judged) -> String {
    let name = escaped(&format!("{}: no change as large as {}", subject(of), detect(told)));
    let head = format!("    <testcase classname=\"plimsoll.gate\" name=\"{name}\"");
    let words = format!("{}: {}", verdict(judged.answer), change(judged));
    let wrong = match judged.answer {
        Answer::NoChange | Answer::Improvement => {
            return format!("{head}><system-out>{}</system-out></testcase>\n", escaped(&words));
        }
        Answer::Regression => "failure",
        Answer::CannotTell => "error",
    };
    let why = if judged.answer == Answer::CannotTell { limits(told) } else { effort(told) };
    format!(
        "{head}><{wrong} type=\"{}\" message=\"{}\">{}</{wrong}></testcase>\n",
        judged.answer.word(),
        escaped(&words),
        escaped(&why)
    )
}

/// `text` as XML 1.0 takes it in an element or an attribute: what it has no place for becomes a
/// question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            letter if letter.is_control() => out.push('?'),
            letter => out.push(letter),
        }
    }
    out
}
