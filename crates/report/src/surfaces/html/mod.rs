//! The report as one page that needs nothing else: it opens offline, in light and dark, prints, and
//! can be mailed.
//!
//! A pure function of the records. All text of a run goes through
//! [`markup`](crate::ground::markup), which escapes it.

use crate::ground::markup::{Markup, classed, plain, under};
use crate::ground::page::document;
use crate::ground::words;
use crate::pens::contents;
use crate::topics::first_screen::{self, Beside, Question};
use crate::topics::results::judged::judge;
use crate::topics::split::{self, By};
use crate::topics::{self, compare, conditions, evidence, ran, results, verdict, workload};
use analysis::ResultRow;
use analysis::attribution::attribution;
use analysis::ceiling::{Reached, simulated};
use analysis::prediction::marks::against as against_published;
use analysis::published::{Comparison, OtherSuite};
use analysis::trust::Evidence;
use catalogue::Cluster;
use catalogue::published::Published;
use model::Record;

/// The page of one or more runs.
pub fn render(records: &[&Record]) -> String {
    render_against(records, Against::default())
}

/// What runs are held against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Against<'a> {
    /// The testbed that they ran on.
    pub testbed: Option<&'a Cluster>,
    /// What the runs are called; empty: by their numbers.
    pub names: &'a [String],
    /// Published figures, with the testbed that those were measured on where it is known.
    pub published: Option<(&'a Published, Option<&'a Cluster>)>,
    /// A fitted testbed: what it predicts stands beside what was measured.
    pub predicted: Option<&'a Cluster>,
    /// The title, for whom it is, and what to say first; none: the page begins with the run.
    pub cover: [Option<&'a str>; 3],
}

/// The page of one or more runs, beside all that they are held against.
pub fn render_against(records: &[&Record], against: Against<'_>) -> String {
    let (title, body) = content(records, against);
    document(title, body)
}

/// The title and the body of the page of one or more runs.
pub fn content(records: &[&Record], against: Against<'_>) -> (String, Markup) {
    let testbed = against.testbed;
    let title = match (against.cover[0], records) {
        (Some(title), _) => title.to_owned(),
        (None, [one]) => format!("{} on {}: Plimsoll report", one.plan.suite, words::hosts(one)),
        (None, many) => format!("{} runs: Plimsoll report", many.len()),
    };
    let (mut body, mut named) = (cover(against.cover), Vec::new());
    // Once for all that is said of them: of a day, they take longer than all else on the page.
    let results: Vec<Vec<ResultRow>> =
        records.iter().map(|record| analysis::results(record)).collect();
    let curves = if records.len() > 1 { curves(&results, against.names) } else { None };
    let comparison = analysis::compare::compare_results(records, &results);
    // Of one run, its own scenarios are compared: it says first what it is, and what came of them.
    let mut differences = compare::page::section(
        &comparison,
        compare::page::Runs { records, results: &results },
        against.names,
        curves,
    );
    if records.len() > 1 {
        let [mut head, runs] = compare::side_by_side::head(records, against.names);
        head.push(compare::page::headline(&comparison));
        let figures = compare::side_by_side::figures(records, &results, testbed, against.names);
        let mut all = Markup::from([runs, std::mem::take(&mut differences), figures]);
        contents::fold_long(&mut all);
        body.push([head, contents::of(&mut all, &mut named), all]);
    }
    for (number, (record, rows)) in records.iter().zip(results).enumerate() {
        let name = (records.len() > 1).then(|| compare::run_name(against.names, number));
        let summary = name.as_ref().map(|name| format!("The run {name} by itself"));
        let one = run(record, rows, against, name, &mut named, std::mem::take(&mut differences));
        body.push(match summary {
            Some(summary) => contents::folded(plain("strong", summary), one),
            None => one,
        });
    }
    (title, body)
}

/// What a report says before its runs; nothing where nobody said anything.
fn cover([title, customer, comment]: [Option<&str>; 3]) -> Markup {
    let said = [
        title.map(|title| classed("p", "title", title)),
        customer.map(|customer| classed("p", "lead", format!("For {customer}"))),
        comment.map(|comment| plain("p", comment)),
    ];
    let said: Markup = said.into_iter().flatten().collect();
    if said == Markup::new() { said } else { classed("header", "cover", said) }
}

fn curves(results: &[Vec<ResultRow>], names: &[String]) -> Option<Markup> {
    let named = (0..)
        .zip(results)
        .map(|(run, rows)| (format!("{}: ", compare::run_name(names, run)), rows.as_slice()));
    first_screen::overlay(&named.collect::<Vec<_>>())
}

/// Everything about one run and its results, with the differences between its own scenarios; `name`
/// where it is one of several.
fn run(
    record: &Record,
    rows: Vec<ResultRow>,
    against: Against<'_>,
    name: Option<String>,
    named: &mut Vec<String>,
    differences: Markup,
) -> Markup {
    let beneath =
        if against.testbed.is_none() { simulated(std::iter::once(&record.plan)) } else { None };
    let against = Against { testbed: against.testbed.or(beneath.as_ref()), ..against };
    let testbed = against.testbed;
    let (rows, reached) = judge(record, rows, testbed);
    let limits = attribution(record, &rows);
    let evidence = evidence::evidence(record, &rows, &limits);
    let held = against.published.map(|(published, theirs)| {
        (published, against_published(published, theirs, record, &rows, testbed))
    });
    let beside = held.as_ref().and_then(|(published, held)| {
        let name = &published.report.name.value;
        Some(Beside { name, held: held.as_ref().ok()? })
    });
    let line = analysis::loadline::load_line(record, &rows);
    let mut head = header(record, &evidence, name);
    head.push(first_screen::figures(&rows, &reached, &limits, beside.as_ref(), line.as_ref()));
    let mut answer = verdict::block(record, &rows, &reached, &evidence);
    let mut content = Markup::new();
    let along = analysis::loadline::axis::along_line(record, &rows);
    content.push(line.as_ref().map(topics::loadline::section).unwrap_or_default());
    content.push(along.as_ref().map(topics::loadline::other_axis::section).unwrap_or_default());
    let map = analysis::loadline::map::load_map(record, &rows);
    content.push(map.as_ref().map(topics::loadline::map::section).unwrap_or_default());
    let maps = analysis::loadline::map::plain_maps(record, &rows);
    content.push(topics::loadline::grid::sections(&maps));
    let rounds = analysis::rounds::rounds(record, &rows);
    content.push(rounds.as_ref().map(topics::rounds::section).unwrap_or_default());
    let mut results = results::section(record, &rows, &reached, &evidence);
    let lead = match (&line, first_screen::chart(record, &rows, &reached)) {
        (Some(line), _) => Some(topics::loadline::curve(line)),
        (None, _) if map.is_some() => map.as_ref().map(topics::loadline::map::chart),
        (None, _) if along.is_some() => None,
        (None, Question::Own(chart)) => Some(chart),
        (None, Question::OfResults) => results.take_first("figure"),
    };
    answer.push(lead.map(|chart| classed("div", "charts lead-chart", chart)).unwrap_or_default());
    head.push(classed("div", "answer", answer));
    content.push(results);
    content.push(differences);
    content.push(by_topic(record, &rows, &reached, against, held));
    contents::fold_long(&mut content);
    head.push(contents::of(&mut content, named));
    head.push(content);
    classed("article", "run", head)
}

/// What comes behind the results; a topic of which there is nothing to say is left out.
fn by_topic(
    record: &Record,
    rows: &[ResultRow],
    reached: &[Reached],
    against: Against<'_>,
    held: Option<(&Published, Result<Comparison, OtherSuite>)>,
) -> Markup {
    let ceiling = |cluster: &Cluster| topics::ceiling::reached(&cluster.top.name.value, reached);
    Markup::from([
        against.testbed.map(ceiling).unwrap_or_default(),
        topics::fidelity::section(record),
        topics::told::section(record, rows),
        topics::population::section(record),
        topics::due::section(rows),
        topics::bursts::section(record, rows),
        topics::attribution::section(record, rows),
        topics::simulated_layers::section(record, rows),
        topics::hit_share::section(record, rows),
        topics::others::section(record, rows),
        topics::below_guests::section(record, rows),
        held.map(|(of, held)| published(of, &held, record)).unwrap_or_default(),
        against.predicted.map(|cluster| predicted(cluster, record, rows)).unwrap_or_default(),
        split::section(record, rows, By::Locality),
        split::section(record, rows, By::Label),
        split::section(record, rows, By::Host),
        topics::occurrences::section(record),
        topics::verified::paragraph(record),
        topics::left_behind::section(record),
        workload::sections(record, rows, reached),
        topics::host_cpu::section(record, rows),
        topics::port_traffic::section(record, rows),
        conditions::sections(record),
    ])
}

/// The run beside what a fitted testbed predicts; a sentence where that is of another cluster.
fn predicted(cluster: &Cluster, record: &Record, rows: &[ResultRow]) -> Markup {
    match analysis::expected::against(cluster, record, rows) {
        Ok(held) => topics::expected::section(&held),
        Err(why) => {
            let testbed = &cluster.top.name.value;
            let said = topics::expected::unfit(&why, testbed, "this run");
            under("Measured beside predicted", [plain("p", format!("Not compared: {said}."))])
        }
    }
}

/// The run beside published figures; a sentence where they do not fit it.
fn published(
    published: &Published,
    held: &Result<Comparison, OtherSuite>,
    record: &Record,
) -> Markup {
    match held {
        Ok(held) => topics::published::section(published, held, record.plan.scale),
        Err(OtherSuite) => {
            let said = topics::published::unfit(published, &record.plan.suite);
            let title = format!("Beside {}", published.report.name.value);
            under(title, [plain("p", format!("Not compared: {said}."))])
        }
    }
}

fn header(record: &Record, evidence: &Evidence, named: Option<String>) -> Markup {
    let plan = &record.plan;
    let (badge, state) = evidence::badge(record, evidence);
    let name = named.map_or_else(|| plan.suite.clone(), |run| format!("{run}: {}", plan.suite));
    let mut content = plain("h1", name);
    if !plan.description.is_empty() {
        content.push(classed("p", "lead", &plan.description));
    }
    let facts = ran::facts(record).join(" · ");
    content.push(classed("p", "facts", [classed("span", badge, state), Markup::from(facts)]));
    plain("header", content)
}

#[cfg(test)]
mod tests;
