//! Results of other tools as a report, beside runs of our own where there are some.

use super::html::{self, Against};
use super::markdown::{self, Report};
use crate::ground::markup::Markup;
use crate::ground::page::document;
use crate::topics::foreign::beside::Side;
use crate::topics::foreign::page;
use model::Record;
use model::foreign::ForeignRun;

/// What a report tells of.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Results of other tools.
    pub foreign: &'a [&'a ForeignRun],
    /// Runs of our own.
    pub own: &'a [&'a Record],
    /// All of them, in the order in which they were named.
    pub sides: &'a [Side],
    /// What our own are called.
    pub names: &'a [String],
}

fn content(told: Told<'_>) -> (String, Markup) {
    let (title, mut body) = page::content(told.foreign, told.sides);
    if !told.own.is_empty() {
        let against = Against { names: told.names, ..Against::default() };
        body.push(html::content(told.own, against).1);
    }
    (title, body)
}

/// The report as one page that needs nothing else.
pub fn html(told: Told<'_>) -> String {
    let (title, body) = content(told);
    document(title, body)
}

/// The report as Markdown, with its charts beside it.
pub fn markdown(told: Told<'_>, folder: &str) -> Report {
    markdown::of_body(&content(told).1, folder)
}
