//! A canary as its page shows it: the segment that runs, and what all of them come to.

use super::View;
use super::board::Board;
use super::dashboard::{Dashboard, Part};
use super::metrics::{Detail, Scrape};
use model::Event;
use report::ground::markup::{Markup, plain};
use report::topics::canary::Metric;

/// A canary that runs.
#[derive(Debug)]
pub struct CanaryBoard {
    board: Board,
    status: String,
    metrics: Vec<Metric>,
    /// What boards of segments before this one counted, and changes of the status.
    revisions: u64,
}

impl CanaryBoard {
    /// One whose first segment is about to begin.
    pub fn new(board: Board) -> CanaryBoard {
        CanaryBoard { board, status: String::new(), metrics: Vec::new(), revisions: 0 }
    }

    /// Another segment is about to begin.
    pub fn segment(&mut self, board: Board) {
        self.revisions += self.board.revision() + 1;
        self.board = board;
    }

    /// Takes in what happened in the segment.
    pub fn event(&mut self, event: &Event) {
        // A segment's results are in its own report.
        let _ = self.board.event(event);
    }

    /// Shows the status in words, and as metrics.
    pub fn tell(&mut self, status: String, metrics: Vec<Metric>) {
        (self.status, self.metrics) = (status, metrics);
        self.revisions += 1;
    }

    /// The instant until which the segment was measured, in ns since 1970.
    pub fn now_unix_ns(&self) -> u64 {
        self.board.now_unix_ns()
    }

    fn status(&self) -> Markup {
        [plain("h2", "Canary"), plain("pre", &self.status)].into()
    }
}

impl Dashboard for CanaryBoard {
    fn title(&self) -> &str {
        self.board.title()
    }

    fn version(&self) -> &str {
        self.board.version()
    }

    fn revision(&self) -> u64 {
        self.revisions + self.board.revision()
    }

    fn parts(&self, view: &View) -> Vec<Part> {
        let mut all = vec![Part::new("canary", "Canary", Markup::new(), self.status())];
        all.extend(self.board.parts(view));
        all
    }

    fn metrics(&self, detail: Detail) -> Scrape {
        Scrape { more: self.metrics.clone(), ..self.board.metrics(detail) }
    }

    fn farewell(&self) -> &'static str {
        "The canary ended; its ledger and its run files have everything."
    }
}

#[cfg(test)]
mod tests {
    use super::super::Guard;
    use super::super::metrics::Form;
    use super::*;
    use analysis::testing::Recorded;
    use report::topics::canary::MetricKind;

    #[test]
    fn a_page_and_metrics_have_the_segment_and_the_canary_and_what_is_new_is_seen() {
        let recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        let record = recorded.record();
        let board = || Board::new(record.plan.clone(), record.testbed.clone(), "1", 5);
        let mut canary = CanaryBoard::new(board());
        let before = canary.revision();
        let metric = Metric {
            name: "plimsoll_canary_segments_total",
            kind: MetricKind::Counter,
            help: "h",
            samples: vec![(None, 7.0)],
        };
        canary.tell("budget <left>".to_owned(), vec![metric]);
        assert!(canary.revision() > before);
        let told = canary.revision();
        canary.segment(board());
        assert!(canary.revision() > told, "a reader sees the next segment");
        let page = canary.page(&View::default(), "b", Guard::Loopback);
        assert!(page.contains("id=\"canary\"") && page.contains("budget &lt;left&gt;"), "{page}");
        let parts = canary.fragments(&View::default());
        assert!(parts.iter().any(|(id, html)| *id == "canary" && html.contains("budget")));
        let text = canary.metrics(Detail::Auto).render(Form::Text);
        let text = String::from_utf8(text).expect("text");
        let line = format!("plimsoll_canary_segments_total{{run=\"{}\"}} 7\n", record.plan.run_id);
        assert!(text.contains(&line) && text.contains("plimsoll_build_info{"), "{text}");
    }
}
