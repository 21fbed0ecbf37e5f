//! What was at its limit as a section of the page: a table with a row for each layer, and the
//! sentences folded under it.

use super::{
    MOST_NAMED, MOST_POINTS, When, hostname, may_be_parallel, more_points, name, sentence, title,
    when,
};
use crate::ground::markup::{Markup, classed, list, plain};
use crate::ground::words;
use crate::pens::Table;
use analysis::ResultRow;
use analysis::attribution::{Attribution, Watched, attribution};
use model::Record;

/// So many points stand in the open; those after them are folded.
const MOST_OPEN: usize = 8;

pub fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let all = attribution(record, rows);
    if all.is_empty() {
        return Markup::new();
    }
    let shown = all.get(..all.len().min(MOST_POINTS)).unwrap_or_default();
    let (open, behind) = shown.split_at(shown.len().min(MOST_OPEN));
    let mut content = plain("h2", "What was at its limit");
    content.push(table(record, open));
    if !behind.is_empty() {
        let more = plain("summary", words::counted(behind.len() as u64, "more point"));
        content.push(plain("details", [more, table(record, behind)]));
    }
    content.push(
        remarks(shown).into_iter().map(|told| classed("p", "remark", told)).collect::<Markup>(),
    );
    let told = all.iter().map(|one| sentence(record, one)).collect();
    content.push(plain(
        "details",
        [
            plain("summary", "Each point in words, with what else was watched"),
            list(words::at_most(told, MOST_POINTS, more_points)),
        ],
    ));
    plain("section", content)
}

fn table(record: &Record, all: &[Attribution]) -> Markup {
    let rows: Vec<Row<'_>> = all.iter().flat_map(rows_of).collect();
    let used = |row: &Row<'_>| row.watched.and_then(|watched| watched.used.share());
    let host = |row: &Row<'_>| {
        row.watched.map_or_else(String::new, |watched| hostname(record, watched.host).to_owned())
    };
    let mut table = Table::of(&rows)
        .name("Point", |row| &row.title)
        .class("wraps")
        .words("Layer", |row| row.watched.map(name))
        .class("name");
    if record.testbed.len() > 1 {
        table = table.words("Host", host).class("name");
    }
    table
        .figure("Used", |row| used(row).map(words::share))
        .words("At its limit", |row| &row.at_limit)
        .class("wraps")
        .bare()
        .of_class("limits")
        .scroll()
}

/// A row: its point in the first of it, what was watched, and when it was at its limit.
struct Row<'a> {
    title: String,
    watched: Option<&'a Watched>,
    at_limit: String,
}

/// The rows of one point: what was at its limit, or else what came nearest to it.
fn rows_of(one: &Attribution) -> Vec<Row<'_>> {
    let limits = one.limits();
    let share = |watched: &Watched| watched.used.share().unwrap_or(0.0);
    let mut rows: Vec<(Option<&Watched>, String)> =
        limits.iter().take(MOST_NAMED).map(|limit| (Some(*limit), span(one, limit))).collect();
    if let Some(more) = limits.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        rows.push((None, format!("{more} more were, too")));
    }
    if rows.is_empty() {
        let nearest = one.highest().into_iter().max_by(|a, b| share(a).total_cmp(&share(b)));
        let none =
            if one.is_paced { "never; the rate was given" } else { "never; it came nearest" };
        rows.push((nearest, none.to_owned()));
    }
    let row = |(number, (watched, at_limit))| {
        let title = if number == 0 { title(one) } else { String::new() };
        Row { title, watched, at_limit }
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn span(one: &Attribution, limit: &Watched) -> String {
    let share = words::share(limit.used.full_share());
    let mut text = match when(one, limit) {
        When::Always => "all the time".to_owned(),
        When::From(from) => format!("from {from} on ({share} of the load)"),
        When::Within(from, to) => format!("{share} of the load, between {from} and {to}"),
    };
    if limit.is_under_target == Some(false) {
        text.push_str("; no target stands on it");
    }
    text
}

/// What holds for several rows, said once.
fn remarks(all: &[Attribution]) -> Vec<&'static str> {
    let mut told = vec!["Used: on average over the load, by the kernels' counters."];
    if may_be_parallel(all) {
        told.push(
            "A disk that serves several requests at once is busy before it is used up: only more \
             depth can tell.",
        );
    }
    if all.iter().any(|one| !one.is_paced && one.limits().is_empty()) {
        told.push("Where no layer was at its limit, the limit is depth, or what was not watched.");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::super::tests::{READS, told};
    use super::*;
    use crate::ground::testing::{has, lacks};

    fn shown(suite: &str, disk: impl Fn(u32) -> u64) -> String {
        let record = told(suite, disk);
        section(&record, &analysis::results(&record)).into_string()
    }

    #[test]
    fn the_layer_the_host_its_share_and_the_time_have_columns() {
        let page = shown(READS, |second| if second < 10 { 20 } else { 98 });
        has(&page, &["number\">59 %</td>", "from 0:10 on (50 % of the load)"]);
        assert!(shown(READS, |_| 99).contains("all the time"));
        assert!(
            shown(READS, |second| if (4..10).contains(&second) { 98 } else { 20 })
                .contains("between 0:04 and 0:10")
        );
    }

    #[test]
    fn where_nothing_was_at_its_limit_what_came_nearest_stands_there() {
        let page = shown(READS, |_| 40);
        has(&page, &["never; it came nearest", "<td class=\"name\">disk nvme0n1</td>"]);
        assert!(page.contains("the limit is depth"), "{page}");
        let paced = shown(&format!("{READS}rate = 100\n"), |_| 40);
        has(&paced, &["never; the rate was given"]);
        lacks(&paced, &["limit is depth"]);
    }

    #[test]
    fn many_points_are_folded_but_the_first() {
        let record = told(READS, |_| 99);
        let one = attribution(&record, &analysis::results(&record));
        assert_eq!(table(&record, &one).into_string().matches("<tr>").count(), 2);
        assert!(section(&record, &[]).into_string().is_empty());
    }
}
