//! A gate for a pipeline: as Markdown for its summary, and as a line beside a change.

use super::{Told, change, effort, headline, subject, verdict};
use analysis::gate::Answer;

/// A heading, the answer and a table.
pub fn markdown(told: &Told<'_>) -> String {
    let [base, head] = told.sides.map(code);
    let mut text = format!(
        "### plimsoll gate\n\n**{}**\n\n\
         | figure | change, base to head | answer |\n|---|---|---|\n",
        plain(&headline(told))
    );
    for (of, judged) in told.subjects.iter().zip(told.judged) {
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            plain(&subject(of)),
            plain(&change(judged)),
            verdict(judged.answer)
        ));
    }
    text.push_str(&format!("\nBase: {base} · head: {head} · {}\n\n", plain(&effort(told))));
    text
}

/// A line that GitHub shows beside a change: an error, a warning or a notice.
pub fn annotation(told: &Told<'_>) -> String {
    let level = match told.answer {
        Answer::Regression => "error",
        Answer::CannotTell => "warning",
        Answer::NoChange | Answer::Improvement => "notice",
    };
    // As GitHub wants the text of a workflow command.
    let said = headline(told).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    format!("::{level} title=plimsoll gate::{said}")
}

/// A command as code: nothing in it is markup, and it is one line.
fn code(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // A fence of more backticks than stand in the text.
    let fence = "`".repeat(line.chars().filter(|letter| *letter == '`').count() + 1);
    format!("{fence} {line} {fence}")
}

/// Words in which names of a suite may stand, as Markdown that shows just them.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' => {
                out.push('\\');
                out.push(letter);
            }
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
