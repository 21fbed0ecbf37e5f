//! The live page: whole for a browser that comes, in fragments for one that is there.

use super::board::{Board, StageState};
use super::dashboard::{Dashboard, Part};
use super::metrics::{Detail, Scrape};
use super::{View, charts, hosts};
use crate::progress::{Goal, grows};
use model::{RunEnd, StageEnd};
use report::ground::markup::{Markup, classed, element, plain};
use report::ground::moment::time_words;
use report::ground::words;
use report::topics::evidence;

impl Dashboard for Board {
    fn title(&self) -> &str {
        &self.plan.suite
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn revision(&self) -> u64 {
        Board::revision(self)
    }

    fn parts(&self, view: &View) -> Vec<Part> {
        let charts = match view.host {
            None => charts::total(self),
            Some(number) => charts::host(self, number),
        };
        let charts = [charts_head(self, view), charts, counters(self, view)].into();
        let headline = |words: &str| plain("h2", words);
        let of_hosts = [headline("Hosts"), hosts::form(self.hosts.len(), view)].into();
        let of_events = [headline("Events and notes"), mark_form()].into();
        vec![
            // The header of the run needs no headline above its own.
            Part::new("head", "Run", Markup::new(), head(self)),
            Part::new("plan", "Plan", headline("Plan"), plan(self)),
            Part::new("charts", "Load", headline("Load"), charts),
            Part::new("hosts", "Hosts", of_hosts, hosts::table(self, view)),
            Part::new("happened", "Events and notes", of_events, happened(self)),
            // Its parts bring their own.
            Part::new("results", "Results", Markup::new(), results(self)),
        ]
    }

    fn metrics(&self, detail: Detail) -> Scrape {
        Board::metrics(self, detail)
    }

    fn farewell(&self) -> &'static str {
        "The run is over and its server ended; this page keeps what it shows. The run file has \
         everything."
    }
}

fn head(board: &Board) -> Markup {
    let plan = &board.plan;
    let (badge, state) = match (&board.end, board.current()) {
        (Some(RunEnd::Complete), _) => {
            (board.evidence.as_ref().map_or("badge", evidence::class), "complete".to_owned())
        }
        (Some(end), _) => ("badge bad", super::board::run_end_words(end)),
        (None, Some(stage)) => ("badge", format!("running: {}", board.stage_name(stage))),
        (None, None) => ("badge", "between two stages".to_owned()),
    };
    let hosts = match board.hosts.len() {
        1 => board.name(0),
        many => words::counted(many as u64, "host"),
    };
    let facts =
        format!("{hosts} · began {} · run {}", words::utc(board.started_unix_ns), plan.run_id);
    let mut content = plain("h1", &plan.suite);
    if !plan.description.is_empty() {
        content.push(classed("p", "lead", &plan.description));
    }
    content.push(classed("p", "facts", [classed("span", badge, state), Markup::from(facts)]));
    let (requests, oldest_ns) = board.waiting();
    if requests > 0 {
        content.push(classed("p", "facts", words::unanswered(requests, oldest_ns)));
    }
    content
}

/// Stages that stand around the one that is on; a sweep may have thousands.
const STAGES_BEFORE: usize = 6;
const STAGES_SHOWN: usize = 24;

fn plan(board: &Board) -> Markup {
    let ended = board.stages.iter().filter(|stage| stage.end.is_some()).count();
    let here = board.current().map_or(ended, |stage| stage as usize);
    let first =
        here.saturating_sub(STAGES_BEFORE).min(board.stages.len().saturating_sub(STAGES_SHOWN));
    let shown = board.stages.iter().enumerate().skip(first).take(STAGES_SHOWN);
    let rows: Markup = shown.map(|(number, state)| stage(board, number, state)).collect();
    let done = match grows(&board.plan) {
        true => words::counted(ended as u64, "stage"),
        false => format!("{ended} of {}", words::counted(board.stages.len() as u64, "stage")),
    };
    let mut content = plain("p", format!("{done} done."));
    let start = (first + 1).to_string();
    content.push(element("ol", &[("class", "stages"), ("start", &start)], rows));
    let behind = board.stages.len().saturating_sub(first + STAGES_SHOWN);
    if behind > 0 {
        content.push(classed("p", "remark", format!("and {behind} more")));
    }
    content
}

/// The share of a stage that is done, 0 to 1.
fn share(board: &Board, number: usize, state: &StageState) -> f64 {
    let stage = board.plan.stages.get(number);
    let goal = stage.map(|stage| Goal::of(&board.plan, number as u32, stage));
    goal.map_or(0.0, |goal| goal.share(state.elapsed_ns, state.bytes, state.operations))
}

fn stage(board: &Board, number: usize, state: &StageState) -> Markup {
    let name = board.stage_name(number as u32);
    let (class, words) = match (&state.end, state.started_unix_ns) {
        (Some(StageEnd::Complete), _) => ("done", "done".to_owned()),
        (Some(StageEnd::Interrupted), _) => ("failed", "interrupted".to_owned()),
        (Some(StageEnd::Failed(why)), _) => ("failed", format!("failed: {why}")),
        (Some(StageEnd::Panicked(why)), _) => {
            ("failed", format!("a bug in Plimsoll ended it: {why}"))
        }
        (None, Some(_)) => ("now", format!("{:.0} %", share(board, number, state) * 100.0)),
        (None, None) => ("to-come", "to come".to_owned()),
    };
    let mut line: Markup =
        [classed("span", "stage", name.trim()), classed("span", "state", words)].into();
    if class == "now" {
        let value = format!("{:.3}", share(board, number, state));
        line.push(element(
            "progress",
            &[("max", "1"), ("value", &value), ("aria-label", name.trim())],
            "",
        ));
    }
    let current = if class == "now" { "step" } else { "false" };
    element("li", &[("class", class), ("aria-current", current)], line)
}

fn charts_head(board: &Board, view: &View) -> Markup {
    match view.host {
        None if board.hosts.len() > 1 => {
            classed("p", "lead", hosts::together(board.hosts.len(), &board.kernels))
        }
        None => Markup::new(),
        Some(number) => {
            let all = element("a", &[("href", "/"), ("data-keep", "all")], "All hosts together");
            classed("p", "lead", [Markup::from(format!("{} alone. ", board.name(number))), all])
        }
    }
}

/// The counters of the host that is looked at, or of the only one.
fn counters(board: &Board, view: &View) -> Markup {
    let only = (board.hosts.len() == 1).then_some(0);
    let host = view.host.or(only).and_then(|number| board.hosts.get(number as usize));
    let Some(host) = host.filter(|host| host.lost.is_none()) else { return Markup::new() };
    super::counters::list(host.counted.as_ref(), &host.workers)
}

/// Says that something happens now. It stands apart from what changes, so that nothing takes a text
/// away that is being typed.
fn mark_form() -> Markup {
    let text = [
        ("name", "label"),
        ("id", "mark-label"),
        ("maxlength", "100"),
        ("required", ""),
        ("autocomplete", "off"),
    ];
    let form = [("class", "mark"), ("method", "post"), ("action", "/mark")];
    let content = [
        element("label", &[("for", "mark-label")], "Mark this instant:"),
        element("input", &text, ""),
        element("button", &[("type", "submit")], "Set mark"),
    ];
    element("form", &form, content)
}

/// The newest first: who comes to look wants the last one.
fn happened(board: &Board) -> Markup {
    told(board.happened.iter().rev())
}

pub(super) fn told<'a>(
    happened: impl ExactSizeIterator<Item = &'a super::board::Happened>,
) -> Markup {
    let line = |happened: &super::board::Happened| {
        let time = match time_words(happened.at_s.floor()) {
            start if start == "0" => "start".to_owned(),
            later => later,
        };
        element(
            "li",
            &[("class", happened.kind)],
            [classed("span", "when", time), Markup::from(&happened.words)],
        )
    };
    if happened.len() == 0 {
        return plain("p", "Nothing yet.");
    }
    let list = classed("ol", "happened", happened.map(line).collect::<Markup>());
    element(
        "div",
        &[("class", "window"), ("tabindex", "0"), ("role", "region"), ("aria-label", "All events")],
        list,
    )
}

fn results(board: &Board) -> Markup {
    match board.results() {
        [] => plain(
            "section",
            [
                plain("h2", "Results"),
                plain("p", "Results come when a stage that is measured is over."),
            ],
        ),
        some => some.iter().cloned().collect(),
    }
}
