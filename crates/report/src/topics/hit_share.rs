//! How much of what caches were asked for they had: lines of the terminal's table, and a section of
//! the page. Objects for machines are those of the points.

use super::attribution::{hostname, title};
use crate::ground::markup::Markup;
use crate::ground::words;
use crate::pens::Table;
use analysis::ResultRow;
use analysis::attribution::{Attribution, attribution};
use analysis::hit_share::{HitShare, hit_shares};
use model::usage::Dirty;
use model::{Bytes, Record};

/// More lines than this are no help; the JSON has all.
const MOST_LINES: usize = 24;

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

pub(crate) fn text(record: &Record, rows: &[ResultRow]) -> String {
    let points = attribution(record, rows);
    let all: Vec<String> = points
        .iter()
        .flat_map(|point| hit_shares(point).into_iter().map(|one| line(record, point, &one)))
        .collect();
    let more = |more| format!("and {more} more; `plimsoll show --json` has all of them");
    words::titled("Caches, by the kernels' counters", words::at_most(all, MOST_LINES, more))
}

pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let points = attribution(record, rows);
    let shares: Vec<_> = points
        .iter()
        .flat_map(|point| hit_shares(point).into_iter().map(move |one| (point, one)))
        .take(MOST_LINES)
        .collect();
    let dirty = |one: &HitShare<'_>, of: fn(Dirty) -> u64| {
        one.dirty.map(|dirty| words::decimal(Bytes(of(dirty))))
    };
    Table::of(&shares)
        .name("Point", |(point, _)| title(point))
        .class("wraps")
        .words("Host", |(_, one)| hostname(record, one.host))
        .words("Cache", |(_, one)| one.name)
        .figure("Hits", |(_, one)| words::share(one.share()))
        .figure("Dirty at the end", |(_, one)| dirty(one, |dirty| dirty.last.1))
        .figure("At most", |(_, one)| dirty(one, |dirty| dirty.most))
        .figure("Blocks in", |(_, one)| words::count(one.promotions))
        .figure("Out", |(_, one)| words::count(one.demotions))
        .caption(
            "The share of requests that each cache had, of NFS and Ceph of bytes read. bcache \
             counts anew every 14 s. Dirty: not written back yet. Blocks: promoted and demoted, \
             where counted.",
        )
        .section("Caches")
}
