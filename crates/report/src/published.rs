//! A run beside published figures, in words: for the terminal and for the page.

use crate::html::markup::{Markup, classed, element, plain};
use crate::words;
use analysis::published::{Beside, Comparison, Quantity, Side, Unfit};
use comfy_table::{CellAlignment, Table, presets};
use model::published::Published;
use model::{Nanos, Scale};

/// The columns.
const HEAD: [&str; 10] = [
    "workload",
    "scenario",
    "figure",
    "published",
    "run",
    "per node: published",
    "run",
    "per drive: published",
    "run",
    "of the ceiling: published / run",
];

/// The table for the terminal.
pub fn table(published: &Published, comparison: &Comparison, scale: Scale) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEAD);
    for beside in &comparison.figures {
        table.add_row(cells(beside));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if index < 3 { CellAlignment::Left } else { CellAlignment::Right });
    }
    let mut text = format!("Beside {} ({})\n", published.report.name.value, published.report.source.value);
    table.lines().for_each(|line| text.push_str(&format!("{}\n", line.trim_end())));
    notes(published, comparison, scale).iter().for_each(|note| text.push_str(&format!("- {note}\n")));
    text
}

/// The section of the page.
pub fn section(published: &Published, comparison: &Comparison, scale: Scale) -> Markup {
    let head: Markup = (0..)
        .zip(HEAD)
        .map(|(n, word)| element("th", &[("scope", "col"), ("class", if n < 3 { "" } else { "number" })], word))
        .collect();
    let row = |beside: &Beside| {
        let cell = |(n, text): (usize, String)| match n {
            0 => element("th", &[("scope", "row")], text),
            1 | 2 => plain("td", text),
            _ => classed("td", "number", text),
        };
        plain("tr", cells(beside).into_iter().enumerate().map(cell).collect::<Markup>())
    };
    let body: Markup = comparison.figures.iter().map(row).collect();
    let table = element("table", &[], [plain("thead", plain("tr", head)), plain("tbody", body)]);
    let notes: Markup = notes(published, comparison, scale).iter().map(|note| plain("li", note)).collect();
    let title = format!("Beside {}", published.report.name.value);
    let source = format!("Published in: {}.", published.report.source.value);
    plain(
        "section",
        [plain("h2", title), classed("p", "lead", source), classed("div", "scroll", table), plain("ul", notes)],
    )
}

/// Why the figures are not put beside this run.
pub fn unfit(why: Unfit, published: &Published, suite: &str) -> String {
    let name = &published.report.name.value;
    match why {
        Unfit::NoCounterparts => format!(
            "the figures of {name} are of ports and processors or of differences, which no run of a suite stands beside; compare runs of your own with `plimsoll compare`"
        ),
        Unfit::OtherSuite => {
            format!("the run is of the suite {suite} and the figures are of {name}; run the suite {name}")
        }
        Unfit::NothingMeasured => format!(
            "the run has completed none of the points that the figures of {name} are of; run the suite with its own workloads and sweep"
        ),
    }
}

fn cells(beside: &Beside) -> Vec<String> {
    let say = |value: f64| figure(beside.quantity, value);
    let dash = || "–".to_owned();
    let part = |side: Option<Side>, of: fn(&Side) -> Option<u64>| {
        side.and_then(|side| of(&side).map(|count| say(side.value / count.max(1) as f64))).unwrap_or_else(dash)
    };
    let share = |side: Option<Side>| side.and_then(|side| side.share).map_or_else(dash, words::share);
    let published = Some(beside.published);
    vec![
        beside.workload.clone(),
        beside.scenario.clone(),
        beside.name.clone(),
        say(beside.published.value),
        beside.run.map_or_else(dash, |run| say(run.value)),
        part(published, |side| side.nodes),
        part(beside.run, |side| side.nodes),
        part(published, |side| side.drives),
        part(beside.run, |side| side.drives),
        format!("{} / {}", share(published), share(beside.run)),
    ]
}

fn figure(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Iops => words::iops(value),
        Quantity::BytesPerSecond => words::gb_per_s(value),
        Quantity::MeanLatency => Nanos(value.round().max(0.0) as u64).to_string(),
    }
}

/// What to know of the table.
fn notes(published: &Published, comparison: &Comparison, scale: Scale) -> Vec<String> {
    let mut notes = Vec::new();
    let shrunk = words::shrunk(scale, "were");
    if !shrunk.is_empty() {
        let caches = if scale.size.is_one() { "" } else { ", and caches answer more" };
        notes.push(format!("{shrunk}: they are not those of the report{caches}."));
    }
    if comparison.figures.iter().filter_map(|figure| figure.run).all(|run| run.share.is_none()) {
        notes.push("What the run had beneath it is not known; --testbed says it, for its figures per node, per drive and of the ceiling.".to_owned());
    }
    let missing = comparison.figures.iter().filter(|figure| figure.run.is_none()).count();
    if missing > 0 {
        notes.push(format!("The run has not measured {missing} of these figures (a dash)."));
    }
    let above = comparison.figures.iter().filter(|figure| figure.published.share.is_some_and(|share| share > 1.02));
    for figure in above {
        notes.push(format!(
            "The published {} of {} ({}) is above the ceiling of its own testbed: it did not come from where the report says.",
            figure.name, figure.workload, figure.scenario
        ));
    }
    if !published.report.caveat.value.is_empty() {
        notes.push(format!("The reference: {}", published.report.caveat.value));
    }
    let mut caveats: Vec<&str> = comparison.figures.iter().map(|figure| figure.caveat.as_str()).collect();
    caveats.sort_unstable();
    caveats.dedup();
    notes.extend(caveats.iter().filter(|caveat| !caveat.is_empty()).map(|caveat| format!("Of some figures: {caveat}")));
    if comparison.left_out > 0 {
        let figures = words::counted(comparison.left_out as u64, "figure");
        notes.push(format!("{figures} of the reference cannot be had from one run, and are not here."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Fraction;

    fn comparison(share: f64, run: Option<Side>) -> (Published, Comparison) {
        let text = "name = \"r\"\nsource = \"s\"\ncaveat = \"All about.\"\n[[figure]]\nworkload = \"w\"\nscenario = \"c\"\nquantity = \"rate\"\nvalue = 1\nunit = \"IOPS\"\n";
        let published = Published::parse("r", text).expect("good");
        let side = Side { value: 8_000.0, nodes: Some(4), drives: Some(16), share: Some(share) };
        let beside = Beside {
            workload: "w <b>".to_owned(),
            scenario: "c".to_owned(),
            name: "rate".to_owned(),
            quantity: Quantity::Iops,
            published: side,
            run,
            caveat: "About.".to_owned(),
        };
        (published, Comparison { figures: vec![beside], left_out: 2 })
    }

    #[test]
    fn figures_stand_per_node_and_drive_with_what_to_know_of_them() {
        let run = Side { value: 900.0, nodes: Some(3), drives: None, share: Some(0.25) };
        let (published, held) = comparison(0.5, Some(run));
        let text = table(&published, &held, Scale::both(Fraction::one_in(100)));
        for word in
            ["8,000", "900", "2,000", "300", "500", "50 % / 25 %", "shrunk", "2 figures of the reference", "About."]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains("above the ceiling") && !text.contains("--testbed"));
        let page = section(&published, &held, Scale::FULL).into_string();
        assert!(page.contains("w &lt;b&gt;") && !page.contains("shrunk"), "{page}");
    }

    #[test]
    fn a_reference_above_its_own_ceiling_and_what_was_not_measured_are_told() {
        let (published, held) = comparison(1.2, None);
        let text = table(&published, &held, Scale::FULL);
        assert!(text.contains("above the ceiling of its own testbed") && text.contains("has not measured"), "{text}");
    }

    #[test]
    fn each_refusal_names_the_reference_and_a_remedy() {
        let (published, _) = comparison(0.5, None);
        for why in [Unfit::NoCounterparts, Unfit::OtherSuite, Unfit::NothingMeasured] {
            let said = unfit(why, &published, "quick");
            assert!(said.contains(" r") && said.contains("; "), "{said}");
        }
    }
}
