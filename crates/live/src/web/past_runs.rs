//! Past runs: which there are, one of them, several side by side.

use model::Record;
use report::ground::markup::{Markup, classed, element, plain};
use report::ground::page::{Dress, dressed};
use report::ground::words;
use report::ground::words::hosts;
use report::pens::Table;
use report::surfaces::html::{Against, content};

/// The list of runs with the ways to them; each run comes with the name of its file.
pub fn index(runs: &[(String, &Record)]) -> String {
    let tick = |number: usize, name: &str| {
        let (value, label) = (number.to_string(), format!("{name}, side by side"));
        let tick =
            [("type", "checkbox"), ("name", "run"), ("value", &*value), ("aria-label", &*label)];
        element("input", &tick, "")
    };
    let link =
        |number: usize, name: &str| element("a", &[("href", &format!("/run/{number}"))], name);
    let table = Table::of(runs.iter().enumerate().map(|(number, run)| (number, &run.0, run.1)))
        .words("", |(number, name, _)| tick(number, name))
        .name("Run", |(number, name, _)| link(number, name))
        .words("Suite", |(.., record)| &record.plan.suite)
        .words("Hosts", |(.., record)| hosts(record))
        .words("Began", |(.., record)| words::utc(record.started_unix_ns))
        .words("State", |(.., record)| words::run_state(&analysis::run_state(record)))
        .bare()
        .scroll();
    let mut form = table;
    if runs.len() > 1 {
        form.push(element("button", &[("type", "submit")], "Put side by side"));
        form.push(classed("p", "remark", "Without a tick, all of them."));
    }
    let form = element("form", &[("method", "get"), ("action", "/side")], form);
    let title = words::counted(runs.len() as u64, "run");
    dressed(format!("{title}: Plimsoll"), [plain("h1", title), form].into(), Dress::Served)
}

/// The report of one or more runs, each with its number on the shelf and the name of its file.
pub fn report(runs: &[(usize, &str, &Record)]) -> String {
    let records: Vec<&Record> = runs.iter().map(|(_, _, record)| *record).collect();
    let (title, body) = content(&records, Against::default());
    let mut way = element("a", &[("href", "/")], "All runs");
    for (place, (number, name, _)) in runs.iter().enumerate() {
        way.push(Markup::from(" · "));
        if runs.len() > 1 {
            // The report knows runs by their order alone.
            let link = element("a", &[("href", &format!("/run/{number}"))], *name);
            way.push([Markup::from(format!("Run {}: ", place + 1)), link]);
        } else {
            way.push(Markup::from(*name));
        }
    }
    dressed(title, [plain("p", way), body].into(), Dress::Served)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;

    #[test]
    fn runs_are_listed_with_their_state_and_nothing_of_theirs_is_markup() {
        let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
        let page = index(&[("a<b>.plimsoll".to_owned(), &record), ("c".to_owned(), &record)]);
        assert!(
            page.contains("a&lt;b&gt;.plimsoll")
                && page.contains("/run/1")
                && page.contains("unfinished"),
            "{page}"
        );
        assert!(page.contains("Put side by side"));
        assert!(!index(&[("a".to_owned(), &record)]).contains("side by side</button>"));
    }

    #[test]
    fn runs_side_by_side_keep_the_names_of_their_files() {
        let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
        let page = report(&[(4, "before<b>", &record), (7, "after", &record)]);
        assert!(page.contains("Run 1: <a href=\"/run/4\">before&lt;b&gt;</a>"), "{page}");
        assert!(page.contains("Run 2: <a href=\"/run/7\">after</a>"), "{page}");
        assert!(report(&[(7, "after", &record)]).contains(" · after"));
    }

    #[test]
    fn a_served_page_has_nothing_that_its_policy_forbids() {
        let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
        for page in [report(&[(0, "a", &record)]), index(&[("a".to_owned(), &record)])] {
            assert!(
                !page.contains("<style")
                    && !page.contains("<script>")
                    && !page.contains(" style=")
                    && !page.contains("https://"),
                "{page}"
            );
        }
    }
}
