//! The report as Markdown for a wiki, with its charts as SVG files beside it.
//!
//! It is the page in another form: the same pieces are made once, by
//! [`html`](crate::surfaces::html), and told here in Markdown (CommonMark with the tables of
//! GitHub, <https://github.github.com/gfm/>). So the two can never say different things.

pub use crate::pens::markdown::{CHART_MARK, Chart};

use crate::ground::markup::Markup;
use crate::pens::markdown::Writer;
use crate::surfaces::html::{Against, content};
use model::Record;

/// The first line of every report in Markdown: by it, a file is known as one that may be written
/// again.
pub const MARK: &str = "<!-- Plimsoll report -->";

/// A report in Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The text.
    pub text: String,
    /// The charts that it shows, in their order.
    pub charts: Vec<Chart>,
}

/// The report of one or more runs, beside all that they are held against. `folder` is that of the
/// charts as seen from the text, without a slash at its end.
pub fn render(records: &[&Record], against: Against<'_>, folder: &str) -> Report {
    let (title, body) = content(records, against);
    let mut writer = Writer::new(folder);
    // A page of several runs has its title in its head alone.
    if records.len() > 1 {
        writer.heading(1, &title);
    }
    writer.blocks(body.nodes());
    let (text, charts) = writer.into_parts();
    Report { text: format!("{MARK}\n\n{text}"), charts }
}

/// A body of a page in the form of a report.
pub(super) fn of_body(body: &Markup, folder: &str) -> Report {
    let mut writer = Writer::new(folder);
    writer.blocks(body.nodes());
    let (text, charts) = writer.into_parts();
    Report { text: format!("{MARK}\n\n{text}"), charts }
}

#[cfg(test)]
mod tests;
