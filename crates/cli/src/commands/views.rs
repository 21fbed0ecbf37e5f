//! What shows a run to others while it goes on: the live page, what is pushed, and
//! the lines of `--events`.

use super::events::{EventLines, is_stdout};
use crate::args::ShareArgs;
use crate::failure::Failure;
use crate::terminal::run_overview::RunOverview;
use crate::web::LivePage;
use model::{Event, Plan, Record};

pub(crate) struct Views {
    page: Option<LivePage>,
    lines: Option<EventLines>,
    keep_serving: bool,
    takes_stdout: bool,
}

impl Views {
    /// Opens what was asked for, before anything is touched.
    pub(crate) fn start(args: &ShareArgs, whole: &RunOverview<'_>) -> Result<Views, Failure> {
        Ok(Views {
            page: LivePage::start(&args.page, whole)?,
            lines: args.events.as_deref().map(|path| EventLines::open(path, whole)).transpose()?,
            keep_serving: args.keep_serving,
            takes_stdout: args.events.as_deref().is_some_and(is_stdout),
        })
    }

    pub(crate) fn event(&mut self, plan: &Plan, event: &Event) {
        self.page.iter_mut().for_each(|page| page.event(event));
        self.lines.iter_mut().for_each(|lines| lines.event(plan, event));
    }

    pub(crate) fn takes_stdout(&self) -> bool {
        self.takes_stdout
    }

    pub(crate) fn finish(self, record: &Record) {
        if let Some(page) = self.page {
            page.finish(record, self.keep_serving);
        }
    }
}
