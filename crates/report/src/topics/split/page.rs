//! Parts of the results on the page: a chart and a table for each result.

use super::{By, windowed};
use crate::ground::chart::{Bar, Bars};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::words;
use crate::topics::results::row::{name, style_of};
use analysis::{ResultRow, Share};
use model::Record;

/// A run of more results than this has them in `plimsoll show --by` only: the page would be all
/// tables.
const MOST_RESULTS: usize = 18;

/// The results taken apart; nothing where there is one part only. The parts of one result are held
/// at a time: each has a whole histogram.
pub fn section(record: &Record, rows: &[ResultRow], by: By) -> Markup {
    let (mut spreads, mut tables, mut has_several) = (Markup::new(), Markup::new(), false);
    // Parts by label or place are a few and are the finding; hosts are many, and mostly alike.
    let is_folded = by == By::Host;
    for (number, row) in rows.iter().enumerate() {
        let shares = by.shares(record, row);
        has_several |= shares.len() > 1;
        // Of many results, the wholes: how hosts shared the parts of a mix is in the folds.
        let is_told = row.is_whole() || rows.len() <= MOST_RESULTS;
        if is_folded
            && is_told
            && let Some(spread) = spread_row(row, &shares)
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
        content.push(spread(spreads, by));
    }
    content.push(tables);
    if rows.len() > MOST_RESULTS {
        let text = format!(
            "The first {MOST_RESULTS} of {} are shown; `plimsoll show RUN --by {}` has all.",
            words::counted(rows.len() as u64, "result"),
            by.head()
        );
        content.push(plain("p", text));
    }
    plain("section", content)
}

/// A line for each result: its slowest part, the one in the middle and its fastest, and how far
/// they lie apart.
fn spread(body: Markup, by: By) -> Markup {
    let head =
        ["Result", "Op", "Slowest", "", "In the middle", "Fastest", "", "Slowest to fastest"];
    let head = head.into_iter().zip(0..).map(|(word, column)| {
        element(
            "th",
            &[
                ("scope", "col"),
                ("class", if matches!(column, 2 | 4 | 5 | 7) { "number" } else { "" }),
            ],
            word,
        )
    });
    let head = plain("thead", plain("tr", head.collect::<Markup>()));
    let caption = plain(
        "caption",
        format!(
            "Requests per second of each {0}; slowest to fastest: what the slowest had of the \
             fastest's. Every {0} stands in the folds of the page, and in `plimsoll show RUN --by \
             {0}`.",
            by.head()
        ),
    );
    classed("div", "scroll", element("table", &[], [caption, head, plain("tbody", body)]))
}

fn spread_row(row: &ResultRow, shares: &[Share]) -> Option<Markup> {
    let mut rising: Vec<&Share> = shares.iter().collect();
    rising.sort_by(|a, b| a.iops().total_cmp(&b.iops()));
    let (slowest, fastest) = (rising.first()?, rising.last()?);
    let middle = rising.get(rising.len() / 2)?;
    let number = |text: String| classed("td", "number", text);
    let apart = if fastest.iops() > 0.0 {
        words::share(slowest.iops() / fastest.iops())
    } else {
        "–".to_owned()
    };
    let cells = [
        element("th", &[("scope", "row")], name(row)),
        plain("td", row.ops.name()),
        number(words::iops(slowest.iops())),
        plain("td", &slowest.name),
        number(words::iops(middle.iops())),
        number(words::iops(fastest.iops())),
        plain("td", &fastest.name),
        number(apart),
    ];
    Some(plain("tr", cells))
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
        content.push(plain("p", text));
    }
    content.push(classed("div", "charts", bars.render()));
    content.push(classed("div", "scroll", table(row, &shown, by)));
    content
}

fn table(row: &ResultRow, shares: &[Share], by: By) -> Markup {
    let rate = words::rate_unit(row.is_metadata());
    let head =
        [by.head(), "Workers", "Requests", rate, "Of all", "MiB/s", "p50", "p99", "Max", "Errors"]
            .into_iter()
            .zip(0..);
    let head = head.map(|(word, column)| {
        element("th", &[("scope", "col"), ("class", if column == 0 { "" } else { "number" })], word)
    });
    let head = plain("thead", plain("tr", head.collect::<Markup>()));
    let body: Markup = shares.iter().map(|share| plain("tr", cells(row, share))).collect();
    element("table", &[], [head, plain("tbody", body)])
}

fn cells(row: &ResultRow, share: &Share) -> Markup {
    let mut texts = super::table::cells(row, share).into_iter();
    let name = element("th", &[("scope", "row")], texts.next().unwrap_or_default());
    texts.fold(name, |mut cells, text| {
        cells.push(classed("td", "number", text));
        cells
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    fn page(hosts: usize) -> String {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", hosts);
        let stage = recorded.stage(StageKind::Measure);
        for host in 0..hosts {
            recorded.host_interval(stage, host as u32, 0, &[(Op::Read, &vec![100_000; 10 + host])]);
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
        let has = |host: &str| many.contains(&format!("<th scope=\"row\">{host}</th>"));
        assert!(has("node0") && has("node9") && has("node20") && has("node29"));
        assert!(!has("node10") && !has("node19"));
    }

    #[test]
    fn hosts_are_folded_under_their_slowest_and_fastest() {
        let few = page(3);
        assert_eq!(few.matches("<details>").count(), 1, "{few}");
        let (spread, folded) = few.split_once("<details>").expect("a fold");
        assert!(spread.contains("<td>node0</td>") && spread.contains("<td>node2</td>"), "{spread}");
        assert!(spread.contains("<td class=\"number\">83 %</td>"), "10 of 12 requests: {spread}");
        assert!(
            folded.contains("<svg") && folded.contains("<th scope=\"row\">node1</th>"),
            "{folded}"
        );
    }
}
