//! A run beside what a fitted testbed predicts of it: for the terminal, the page and machines.

use super::prediction::{interval, left_out_code, left_out_lines, owner_code, owners};
use crate::ground::chart::{Group, Groups, Step};
use crate::ground::markup::{Markup, classed, list_of_any, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use analysis::expected::{Expected, Held, ONE_IN, Outside, Unfit};
use analysis::prediction::load::Load;
use model::{Bytes, Percent};

/// So many rows are told in sentences, the farthest first.
const MOST_TOLD: usize = 6;
/// A departure from this share on is told as a factor.
const FAR: f64 = 2.0;
/// More bars than this are no picture.
const MOST_BARS: usize = 80;

/// The table for the terminal: findings first.
pub fn table(held: &Held) -> String {
    let rows = if held.rows.is_empty() { String::new() } else { rows(held).text() };
    let (first, last) = (words::items(foremost(held)), words::items(remarks(held)));
    format!("{}\n{first}{rows}{last}", title(held))
}

/// The section of the page.
pub fn section(held: &Held) -> Markup {
    let (first, last) = (list_of_any(foremost(held)), list_of_any(remarks(held)));
    under(title(held), [first, chart(held), rows(held).scroll(), last])
}

/// One object for machines.
pub fn object(held: &Held) -> Value {
    let left_out = |(name, why): &(String, _)| object! { row: name, reason: left_out_code(*why) };
    object! {
        rows: rows(held).json(), findings: findings(held),
        left_out: each(&held.left_out, left_out), ..held { testbed, fitted_rows },
    }
}

/// Why a run is not held against a testbed: what, and the remedy.
pub fn unfit(why: &Unfit, testbed: &str, run: &str) -> String {
    match why {
        Unfit::NotFitted => format!(
            "{testbed} is not fitted, so it says nothing of this cluster; `plimsoll calibrate \
             {testbed} SHORT.plimsoll -o FITTED.toml` fits it"
        ),
        Unfit::OtherCluster(why) => {
            super::prediction::other_cluster(why, testbed, std::slice::from_ref(&run.to_owned()))
        }
    }
}

fn title(held: &Held) -> String {
    let rows = words::counted(held.fitted_rows as u64, "row");
    format!("Measured beside predicted: {}, fitted to {rows}", held.testbed)
}

fn rows(held: &Held) -> Table<&Expected> {
    let mark = |row: &Expected| match (row.is_fitted, row.outside(), row.is_extrapolated()) {
        (true, ..) => " (fitted)",
        (false, Some(_), true) => " (outside, extrapolated)",
        (false, Some(_), false) => " (outside)",
        (false, None, is_extrapolated) => super::prediction::mark(is_extrapolated, row.is_wide),
    };
    let side = |side: Outside| match side {
        Outside::Below => "below",
        Outside::Above => "above",
    };
    let percent = |departure: f64| format!("{:+.1} %", departure * 100.0);
    Table::of(&held.rows)
        .name("workload", |row| &row.name)
        .key("row")
        .known("measured", "measured", |row| row.measured, words::iops)
        .known("predicted", "predicted", |row| row.predicted.value, words::iops)
        .figure("90 % interval", |row| interval(row.predicted))
        .field("low", |row| row.predicted.low)
        .field("high", |row| row.predicted.high)
        .figure("ratio", |row| format!("{:.2}", row.measured / row.predicted.value))
        .known("departure", "departure", Expected::departure, percent)
        .words("binds", |row| format!("{}{}", owners(&row.binding), mark(row)))
        .class("")
        .field("binding", |row| each(&row.binding, |one| owner_code(*one)))
        .field("outside", |row| row.outside().map(side))
        .field("fitted", |row| row.is_fitted)
        .field("extrapolated", Expected::is_extrapolated)
        .field("wide", |row| row.is_wide)
}

fn findings(held: &Held) -> Vec<String> {
    let sentence = |row: &&Expected| {
        let far = match row.departure() {
            share if share >= FAR => format!("{:.1} times", share + 1.0),
            share if share < 0.0 => format!("{:.0} % below", -share * 100.0),
            share => format!("{:.0} % above", share * 100.0),
        };
        let sure = match row.is_extrapolated() {
            false => String::new(),
            true => format!(
                " The prediction is an extrapolation: no fitted row speaks for {}.",
                owners(&row.unseen)
            ),
        };
        format!(
            "{} ({}): {far} what this cluster's other rows imply, {} IOPS instead of {}.{sure}",
            kind(&row.load),
            row.name,
            words::iops(row.measured),
            interval(row.predicted),
        )
    };
    held.findings().iter().map(sentence).collect()
}

/// The first of them, and how many more there are.
fn foremost(held: &Held) -> Vec<String> {
    words::at_most(findings(held), MOST_TOLD, |more| {
        let rows = words::counted(more, "more row");
        format!("{rows} outside of the interval; the table has them.")
    })
}

/// `4 KiB random reads over 8 TB`.
fn kind(load: &Load) -> String {
    let work = &load.workload;
    let order = match work.random {
        share if share >= 1.0 => "random".to_owned(),
        share if share <= 0.0 => "sequential".to_owned(),
        share => format!("{} random", words::share(share)),
    };
    let (bytes, way) = match work.read {
        Percent::ALL => (work.read_bytes, "reads".to_owned()),
        Percent::ZERO => (work.write_bytes, "writes".to_owned()),
        share => (work.bytes(), format!("requests, {share} reads")),
    };
    let size = Bytes(bytes.round().max(1.0) as u64);
    let over = |bytes| format!(" over {}", words::decimal(bytes));
    let footprint = work.footprint.map_or_else(String::new, over);
    format!("{size} {order} {way}{footprint}")
}

fn remarks(held: &Held) -> Vec<String> {
    let unseen = held.unseen_rows().count();
    let outside = held.findings().len();
    let mut remarks = Vec::new();
    match unseen {
        0 => remarks.push(
            "The testbed was fitted to every row: nothing here tests the prediction.".to_owned(),
        ),
        _ => remarks.push(format!(
            "{outside} of {} outside of the interval; by chance it is one in {ONE_IN}.",
            words::counted(unseen as u64, "row")
        )),
    }
    if outside > 0 {
        remarks.push(
            "Outside: measure the row again. If it stays, the cluster changed, or the row meets a \
             limit that the model does not know."
                .to_owned(),
        );
    }
    remarks.extend(left_out_lines(&held.left_out));
    remarks
}

fn chart(held: &Held) -> Markup {
    if held.rows.is_empty() || held.rows.len() * 2 > MOST_BARS {
        return Markup::new();
    }
    let group = |row: &Expected| {
        let range = format!(" ({})", interval(row.predicted));
        Group {
            name: row.name.clone(),
            bars: vec![
                Step::new("measured", row.measured, String::new()),
                Step::new("predicted", row.predicted.value, range),
            ],
        }
    };
    let groups = held.rows.iter().map(group).collect();
    let title = "IOPS, measured and predicted (log10)".to_owned();
    let chart = Groups { title, words: words::iops, groups }.render_by_factors();
    classed("div", "charts", chart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use analysis::ceiling::Workload;
    use analysis::prediction::fit::Range;
    use analysis::prediction::load::LeftOut;
    use analysis::prediction::network::Owner;
    use analysis::prediction::parameter::Parameter;

    fn row(name: &str, measured: f64, is_fitted: bool) -> Expected {
        let footprint = Some(Bytes(8_000_000_000_000));
        Expected {
            name: name.to_owned(),
            load: Load {
                workload: Workload::new("w", Bytes::kib(4), Percent::ALL, true, footprint),
                hosts: 1,
                outstanding: 1,
                depth: 1,
                remote: Percent::ZERO,
                object: model::Object::Blocks,
                route: model::Route::Testbed,
            },
            measured,
            predicted: Range { value: 150_000.0, low: 112_000.0, high: 202_000.0 },
            binding: vec![Owner::Parameter(Parameter::DriveRead)],
            unseen: Vec::new(),
            is_wide: false,
            is_fitted,
        }
    }

    fn held(rows: Vec<Expected>) -> Held {
        let left_out = vec![("names".to_owned(), LeftOut::Metadata)];
        Held { testbed: "lab <b>".to_owned(), fitted_rows: 7, rows, left_out }
    }

    #[test]
    fn what_departs_is_a_finding_and_what_was_fitted_is_marked() {
        let held = held(vec![
            row("reads", 105_000.0, false),
            row("others", 140_000.0, false),
            row("known", 9_000.0, true),
        ]);
        let text = table(&held);
        has(&text, &["30 % below what this cluster's other rows imply, 105,000 IOPS instead of"]);
        has(&text, &["4 KiB random reads over 8 TB (reads)", "1 of 2 rows outside", "(fitted)"]);
        has(&text, &["0.70", "-30.0 %", "Left out"]);
        let page = section(&held).into_string();
        assert!(page.contains("lab &lt;b&gt;") && page.contains("<svg"), "{page}");
        let told = object(&held);
        assert_eq!(told["rows"][0]["outside"], "below");
        assert_eq!(told["rows"][1]["outside"], Value::Null);
        assert_eq!(told["findings"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn an_extrapolation_says_so_and_fitted_rows_alone_prove_nothing() {
        let mut far = row("far", 300_000.0, false);
        far.unseen = vec![Owner::Parameter(Parameter::PortShare)];
        let text = table(&held(vec![far]));
        has(&text, &["100 % above", "usable share of ports", "(outside, extrapolated)"]);
        let alone = table(&held(vec![row("known", 150_000.0, true)]));
        assert!(alone.contains("nothing here tests the prediction"), "{alone}");
        let said = unfit(&Unfit::NotFitted, "lab.toml", "r.plimsoll");
        assert!(said.contains("plimsoll calibrate lab.toml"), "{said}");
    }
}
