//! Parts of the results on the page: a chart and a table for each result.

use super::{By, windowed};
use crate::ground::chart::{Bar, Bars};
use crate::ground::markup::{Markup, classed, plain, with_code};
use crate::ground::words;
use crate::pens::Table;
use crate::topics::results::row::{name, style_of};
use analysis::{ResultRow, Share};
use model::Record;

/// A run of more results than this has them in `plimsoll show --by` only: the page would be all
/// tables.
const MOST_RESULTS: usize = 18;

/// The results taken apart; nothing where there is one part only. The parts of one result are held
/// at a time: each has a whole histogram.
pub fn section(record: &Record, rows: &[ResultRow], by: By) -> Markup {
    let (mut spreads, mut tables, mut has_several) = (Vec::new(), Markup::new(), false);
    // Parts by label or place are a few and are the finding; hosts are many, and mostly alike.
    let is_folded = by == By::Host;
    for (number, row) in rows.iter().enumerate() {
        let shares = by.shares(record, row);
        has_several |= shares.len() > 1;
        // Of many results, the wholes: how hosts shared the parts of a mix is in the folds.
        let is_told = row.is_whole() || rows.len() <= MOST_RESULTS;
        if is_folded
            && is_told
            && let Some(spread) = ends(row, &shares)
        {
            spreads.push(spread);
        }
        if number >= MOST_RESULTS {
            continue;
        }
        if is_folded {
            let summary =
                plain("summary", format!("{}, {}, by {}", name(row), row.ops.name(), by.head()));
            tables.push(plain("details", [summary, one(row, shares, by)]));
        } else {
            tables.push(plain("h3", format!("{}, {}", name(row), row.ops.name())));
            tables.push(one(row, shares, by));
        }
    }
    if !has_several {
        return Markup::new();
    }
    let mut content = plain("h2", format!("By {}", by.head()));
    if is_folded {
        content.push(spread(&spreads, by));
    }
    content.push(tables);
    if rows.len() > MOST_RESULTS {
        let text = format!(
            "The first {MOST_RESULTS} of {} are shown; `plimsoll show RUN --by {}` has all.",
            words::counted(rows.len() as u64, "result"),
            by.head()
        );
        content.push(plain("p", with_code(&text)));
    }
    plain("section", content)
}

/// A line for each result: its slowest part, the one in the middle and its fastest, and how far
/// they lie apart.
fn spread(ends: &[Ends<'_>], by: By) -> Markup {
    let apart = |ends: &Ends<'_>| {
        (ends.fastest.1 > 0.0).then(|| words::share(ends.slowest.1 / ends.fastest.1))
    };
    Table::of(ends)
        .name("Result", |ends| name(ends.row))
        .words("Op", |ends| ends.row.ops.name())
        .figure("Slowest", |ends| words::iops(ends.slowest.1))
        .words("", |ends| &ends.slowest.0)
        .figure("In the middle", |ends| words::iops(ends.middle))
        .figure("Fastest", |ends| words::iops(ends.fastest.1))
        .words("", |ends| &ends.fastest.0)
        .figure("Slowest to fastest", apart)
        .caption(with_code(&format!(
            "Requests per second of each {0}; slowest to fastest: what the slowest had of the \
             fastest's. Every {0} stands in the folds of the page, and in `plimsoll show RUN --by \
             {0}`.",
            by.head()
        )))
        .scroll()
}

/// A result with its slowest part and its fastest, and the rate of the one in the middle.
struct Ends<'a> {
    row: &'a ResultRow,
    slowest: (String, f64),
    middle: f64,
    fastest: (String, f64),
}

fn ends<'a>(row: &'a ResultRow, shares: &[Share]) -> Option<Ends<'a>> {
    let mut rising: Vec<&Share> = shares.iter().collect();
    rising.sort_by(|a, b| a.iops().total_cmp(&b.iops()));
    let told = |share: &Share| (share.name.clone(), share.iops());
    let middle = rising.get(rising.len() / 2)?.iops();
    Some(Ends { row, slowest: told(rising.first()?), middle, fastest: told(rising.last()?) })
}

fn one(row: &ResultRow, shares: Vec<Share>, by: By) -> Markup {
    let all = shares.len();
    let (shown, left_out) = windowed(shares);
    let bar = |share: &Share| Bar {
        name: share.name.clone(),
        parts: vec![(style_of(row), share.iops())],
        ceiling: None,
    };
    let bars = Bars {
        title: format!("Requests per second by {}", by.head()),
        words: words::iops,
        legend: Vec::new(),
        bars: shown.iter().map(bar).collect(),
    };
    let mut content = Markup::new();
    if left_out > 0 {
        let text = format!(
            "The {} slowest and the {} fastest of {all}, in rising order; {left_out} between them \
             are not shown.",
            super::WINDOW / 2,
            super::WINDOW / 2
        );
        content.push(plain("p", with_code(&text)));
    }
    content.push(classed("div", "charts", bars.render()));
    content.push(super::table::parts(row, &shown, by).scroll());
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has};
    use model::Op;

    fn page(hosts: usize) -> String {
        let mut recorded = Recorded::with_hosts(W, hosts);
        for host in 0..hosts {
            recorded.host_second(host as u32, 0, &[(Op::Read, &vec![100_000; 10 + host])]);
        }
        let record = recorded.record();
        section(&record, &analysis::results(&record), By::Host).into_string()
    }

    #[test]
    fn one_host_is_no_section_and_many_are_windowed() {
        assert_eq!(page(1), "");
        let few = page(3);
        assert!(few.contains("By host") && few.contains("node0") && few.contains("node2"), "{few}");
        let many = page(30);
        assert!(many.contains("10 between them are not shown"), "{many}");
        let names = |host: &str| many.contains(&format!("<th scope=\"row\">{host}</th>"));
        assert!(["node0", "node9", "node20", "node29"].into_iter().all(names));
        assert!(!names("node10") && !names("node19"));
    }

    #[test]
    fn hosts_are_folded_under_their_slowest_and_fastest() {
        let few = page(3);
        assert_eq!(few.matches("<details>").count(), 1, "{few}");
        let (spread, folded) = few.split_once("<details>").expect("a fold");
        assert!(spread.contains("<td>node0</td>") && spread.contains("<td>node2</td>"), "{spread}");
        assert!(spread.contains("<td class=\"number\">83 %</td>"), "10 of 12 requests: {spread}");
        has(folded, &["<svg", "<th scope=\"row\">node1</th>"]);
    }
}
