//! How much of what caches were asked for they had: lines of the terminal's table, and a section of
//! the page. Objects for machines are those of the points.

use super::attribution::{hostname, title};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::words;
use analysis::ResultRow;
use analysis::attribution::{Attribution, attribution};
use analysis::hit_share::{HitShare, hit_shares};
use model::usage::Dirty;
use model::{Bytes, Record};

/// More lines than this are no help; the JSON has all.
const MOST_LINES: usize = 24;

/// A cache of a point, as one line says it.
fn line(record: &Record, point: &Attribution, one: &HitShare<'_>) -> String {
    let dirty = one.dirty.map_or_else(String::new, |dirty| {
        format!(
            "; dirty: {} at the end, {} at most",
            words::decimal(Bytes(dirty.last.1)),
            words::decimal(Bytes(dirty.most))
        )
    });
    let moved = if one.promotions.max(one.demotions) > 0 {
        format!("; {} blocks in, {} out", words::count(one.promotions), words::count(one.demotions))
    } else {
        String::new()
    };
    format!(
        "{}: {} on {} had {} of what it was asked for{dirty}{moved}",
        title(point),
        one.name,
        hostname(record, one.host),
        words::share(one.share())
    )
}

/// The part of a terminal's table; nothing where no cache counts.
pub(crate) fn text(record: &Record, rows: &[ResultRow]) -> String {
    let points = attribution(record, rows);
    let all: Vec<String> = points
        .iter()
        .flat_map(|point| hit_shares(point).into_iter().map(|one| line(record, point, &one)))
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let lines: String = all.iter().take(MOST_LINES).map(|line| format!("- {line}\n")).collect();
    let more = match all.len().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("- and {more} more; `plimsoll show --json` has all of them\n"),
    };
    format!("\nCaches, by the kernels' counters\n{lines}{more}")
}

/// The section of the page; nothing where no cache counts.
pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let points = attribution(record, rows);
    let row = |point: &Attribution, one: HitShare<'_>| {
        let dirty = |of: fn(Dirty) -> u64| {
            let bytes = one.dirty.map(|dirty| words::decimal(Bytes(of(dirty))));
            bytes.unwrap_or_else(|| "–".to_owned())
        };
        let cells = [
            element("th", &[("scope", "row"), ("class", "wraps")], title(point)),
            plain("td", hostname(record, one.host)),
            plain("td", one.name),
            classed("td", "number", words::share(one.share())),
            classed("td", "number", dirty(|dirty| dirty.last.1)),
            classed("td", "number", dirty(|dirty| dirty.most)),
            classed("td", "number", words::count(one.promotions)),
            classed("td", "number", words::count(one.demotions)),
        ];
        plain("tr", cells)
    };
    let body: Vec<Markup> = points
        .iter()
        .flat_map(|point| hit_shares(point).into_iter().map(move |one| row(point, one)))
        .take(MOST_LINES)
        .collect();
    if body.is_empty() {
        return Markup::new();
    }
    let head = [
        ("Point", ""),
        ("Host", ""),
        ("Cache", ""),
        ("Hits", "number"),
        ("Dirty at the end", "number"),
        ("At most", "number"),
        ("Blocks in", "number"),
        ("Out", "number"),
    ];
    let head: Markup = head
        .iter()
        .map(|(word, class)| element("th", &[("scope", "col"), ("class", class)], *word))
        .collect();
    let caption = plain(
        "caption",
        "The share of requests that each cache had, of NFS and Ceph of bytes read. bcache counts \
         anew every 14 s. Dirty: not written back yet. Blocks: promoted and demoted, where \
         counted.",
    );
    let body: Markup = body.into_iter().collect();
    let table =
        element("table", &[], [caption, plain("thead", plain("tr", head)), plain("tbody", body)]);
    plain("section", [plain("h2", "Caches"), classed("div", "scroll", table)])
}
