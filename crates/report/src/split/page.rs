//! Parts of the results on the page: a chart and a table for each result.

use super::{By, windowed};
use crate::chart::{Bar, Bars};
use crate::html::markup::{Markup, classed, element, plain};
use crate::html::{name, style};
use crate::words;
use analysis::{ResultRow, Share};
use model::Record;

/// A run of more results than this has them in `plimsoll show --by` only: the page would be all tables.
const MOST_RESULTS: usize = 24;

/// The results taken apart; nothing where there is one part only.
pub fn section(record: &Record, rows: &[ResultRow], by: By) -> Markup {
    let parts: Vec<(&ResultRow, Vec<Share>)> = rows.iter().map(|row| (row, by.shares(record, row))).collect();
    if parts.iter().all(|(_, shares)| shares.len() < 2) {
        return Markup::new();
    }
    let mut content = plain("h2", format!("By {}", by.head()));
    for (row, shares) in parts.into_iter().take(MOST_RESULTS) {
        content.push(one(row, shares, by));
    }
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

fn one(row: &ResultRow, shares: Vec<Share>, by: By) -> Markup {
    let title = format!("{}, {}", name(row), row.op.name());
    let all = shares.len();
    let (shown, left_out) = windowed(shares);
    let bar =
        |share: &Share| Bar { name: share.name.clone(), parts: vec![(style(row.op), share.iops())], ceiling: None };
    let bars = Bars {
        title: format!("Requests per second by {}", by.head()),
        words: words::iops,
        legend: Vec::new(),
        bars: shown.iter().map(bar).collect(),
    };
    let mut content = plain("h3", title);
    if left_out > 0 {
        let text = format!(
            "The {} slowest and the {} fastest of {all}, in rising order; {left_out} between them are not shown.",
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
    let head = [by.head(), "Workers", "Requests", "IOPS", "Of all", "MiB/s", "p50", "p99", "Max", "Errors"]
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
}
