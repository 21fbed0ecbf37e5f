//! What a server shows of something that goes on, whatever that is.

use super::metrics::{Detail, Scrape};
use super::{Guard, View};
use report::ground::markup::{Markup, classed, element};
use report::ground::page::{Dress, dressed};

/// Something that goes on and is shown meanwhile: a run, or hosts that are watched.
pub trait Dashboard: std::fmt::Debug + Send {
    /// What it is called.
    fn title(&self) -> &str;
    /// The version of the program.
    fn version(&self) -> &str;
    /// It changes with everything that a page may show.
    fn revision(&self) -> u64;
    /// The sections of the page.
    fn parts(&self, view: &View) -> Vec<Part>;
    /// It as Prometheus reads it, taken at once: to be written when nobody waits for this.
    fn metrics(&self, detail: Detail) -> Scrape;
    /// What a page says when nothing more comes.
    fn farewell(&self) -> &'static str;

    /// The parts of the page that change, by the id of their place.
    fn fragments(&self, view: &View) -> Vec<(&'static str, String)> {
        let parts = self.parts(view).into_iter();
        parts.map(|part| (part.id, part.content.into_string())).collect()
    }

    /// The whole page. `boot` tells this server from one that ran before it at the same address;
    /// `guard` says who can see it.
    fn page(&self, view: &View, boot: &str, guard: Guard) -> String {
        let skip = element("a", &[("class", "skip"), ("href", "#charts")], "To the charts");
        let status =
            [("id", "status"), ("role", "status"), ("aria-live", "polite"), ("data-boot", boot)];
        let mut body: Markup = [skip, element("p", &status, "Connecting …")].into();
        for Part { id, name, before, content } in self.parts(view) {
            let attributes = [("aria-label", name), ("class", &format!("part-{id}"))];
            let place = element("div", &[("id", id)], content);
            body.push(element("section", &attributes, [before, place]));
        }
        let guard = guard.words();
        let links: Markup = [
            Markup::from(format!("Plimsoll {}. {guard} For Prometheus: ", self.version())),
            element("a", &[("href", "/metrics")], "/metrics"),
        ]
        .into();
        body.push(classed("footer", "remark", links));
        body.push(element("script", &[("src", "/live.js")], ""));
        dressed(format!("{}: Plimsoll", self.title()), body, Dress::Served)
    }
}

/// A section of a page.
#[derive(Debug)]
pub struct Part {
    /// The id of the place that changes.
    pub id: &'static str,
    /// What the section is called.
    pub name: &'static str,
    /// What stands before that place and stays.
    pub before: Markup,
    /// What stands in it.
    pub content: Markup,
}

impl Part {
    /// A section of this id and name.
    pub fn new(id: &'static str, name: &'static str, before: Markup, content: Markup) -> Part {
        Part { id, name, before, content }
    }
}
