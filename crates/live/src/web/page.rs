//! The live page: whole for a browser that comes, in fragments for one that is there.

use super::board::{Board, StageState};
use super::{Guard, View, charts, hosts};
use crate::progress::Goal;
use model::{RunEnd, StageEnd};
use report::ground;
use report::ground::markup::{Markup, classed, element, plain};
use report::ground::moment::time_words;
use report::ground::words;
use report::topics::evidence;

/// The parts of the page that change, by the id of their place.
pub fn fragments(board: &Board, view: &View) -> Vec<(&'static str, String)> {
    parts(board, view).into_iter().map(|(id, markup)| (id, markup.into_string())).collect()
}

fn parts(board: &Board, view: &View) -> [(&'static str, Markup); 6] {
    let charts = match view.host {
        None => charts::total(board),
        Some(number) => charts::host(board, number),
    };
    [
        ("head", head(board)),
        ("plan", plan(board)),
        ("charts", [charts_head(board, view), charts, counters(board, view)].into()),
        ("hosts", hosts::table(board, view)),
        ("happened", happened(board)),
        ("results", results(board)),
    ]
}

/// The whole page. `boot` tells this server from one that ran before it at the same address;
/// `guard` says who can see it.
pub fn page(board: &Board, view: &View, boot: &str, guard: Guard) -> String {
    page_below(None, board, view, Served { boot, guard })
}

/// How a page is served.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// What tells this server from one that ran before it at the same address.
    pub boot: &'a str,
    /// Who can see it.
    pub guard: Guard,
}

/// The whole page of a segment below the status of its canary.
pub fn page_below(
    canary: Option<Markup>,
    board: &Board,
    view: &View,
    served: Served<'_>,
) -> String {
    let Served { boot, guard } = served;
    let skip = element("a", &[("class", "skip"), ("href", "#charts")], "To the charts");
    let status =
        [("id", "status"), ("role", "status"), ("aria-live", "polite"), ("data-boot", boot)];
    let mut body: Markup = [skip, element("p", &status, "Connecting …")].into();
    if let Some(status) = canary {
        let place = element("div", &[("id", "canary")], status);
        body.push(element("section", &[("aria-label", "Canary"), ("class", "part-canary")], place));
    }
    for (id, content) in parts(board, view) {
        body.push(section(id, content, board, view));
    }
    let guard = guard.words();
    let links: Markup = [
        Markup::from(format!("Plimsoll {}. {guard} For Prometheus: ", board.version)),
        element("a", &[("href", "/metrics")], "/metrics"),
    ]
    .into();
    body.push(classed("footer", "remark", links));
    body.push(element("script", &[("src", "/live.js")], ""));
    let title = format!("{}: Plimsoll", board.plan.suite);
    ground::page::dressed(title, body, ground::page::Dress::Served)
}

fn section(id: &'static str, content: Markup, board: &Board, view: &View) -> Markup {
    let (name, before) = match id {
        // The header of the run needs no headline above its own.
        "head" => ("Run", Markup::new()),
        "plan" => ("Plan", plain("h2", "Plan")),
        "charts" => ("Load", plain("h2", "Load")),
        "hosts" => ("Hosts", [plain("h2", "Hosts"), hosts::form(board.hosts.len(), view)].into()),
        "happened" => ("Events and notes", [plain("h2", "Events and notes"), mark_form()].into()),
        // Its parts bring their own.
        _ => ("Results", Markup::new()),
    };
    let place = element("div", &[("id", id)], content);
    element("section", &[("aria-label", name), ("class", &format!("part-{id}"))], [before, place])
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
    let mut content = plain(
        "p",
        format!("{ended} of {} done.", words::counted(board.stages.len() as u64, "stage")),
    );
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
