//! What became of the options of the job that a suite was made of.

use crate::ground::markup::{Markup, plain};
use crate::ground::words::counted;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use model::note::{Imported, Lost};
use model::{Fact, Record};

/// The job that the suite of a run was made of; `None` where nobody imported one.
pub(crate) fn of(record: &Record) -> Option<&Imported> {
    record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Imported(imported) => Some(imported),
        _ => None,
    })
}

struct Counts {
    refused: u64,
    near: u64,
}

impl Counts {
    fn of(imported: &Imported) -> Counts {
        let refused = imported.lost.iter().filter(|lost| lost.refused).count() as u64;
        let near = imported.lost.len() as u64 - refused;
        // The gravest are listed first, so that what is not listed is near.
        Counts { refused, near: near + imported.more }
    }
}

/// `a fio job of 12 options: 8 the same, 2 harmless, 2 approximated, 0 left out`
pub(crate) fn sentence(imported: &Imported) -> String {
    let Counts { refused, near } = Counts::of(imported);
    let all = imported.same + imported.harmless + near + refused;
    format!(
        "a {} job of {}: {} the same, {} harmless, {near} approximated, {refused} left out",
        imported.dialect,
        counted(all, "option"),
        imported.same,
        imported.harmless
    )
}

pub(crate) fn section(record: &Record) -> Markup {
    let Some(imported) = of(record) else { return Markup::new() };
    let option = |lost: &Lost| match lost.value.as_str() {
        "" => plain("code", &lost.name),
        value => plain("code", format!("{}={value}", lost.name)),
    };
    let more = match imported.more {
        0 => String::new(),
        more => format!(" {} not listed.", counted(more, "further option")),
    };
    Table::of(&imported.lost)
        .words("class", class)
        .words("option", option)
        .words("from", |lost| &lost.place)
        .words("what differs", |lost| &lost.why)
        .plain()
        .of_class("narrow")
        .caption(format!("Made of {}.{more}", sentence(imported)))
        .section("Imported job")
}

fn class(lost: &Lost) -> &'static str {
    if lost.refused { "refused" } else { "approximated" }
}

pub(crate) fn object(record: &Record) -> Option<Value> {
    let imported = of(record)?;
    let option = |lost: &Lost| object! { class: class(lost), ..lost { name, value, place, why } };
    Some(object! {
        options: each(&imported.lost, option),
        ..imported { dialect, same, harmless, more },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, has};
    use model::plan::PlanNote;

    fn imported() -> Imported {
        let lost = |name: &str, refused| Lost {
            name: name.to_owned(),
            value: "<b>4k</b>".to_owned(),
            place: "job.fio:3".to_owned(),
            refused,
            why: "something else".to_owned(),
        };
        let lost = vec![lost("zonemode", true), lost("rate", false)];
        Imported { dialect: "fio".to_owned(), same: 7, harmless: 1, lost, more: 3 }
    }

    #[test]
    fn each_option_that_differs_stands_in_the_page_and_in_the_object() {
        let mut record = analysis::testing::Recorded::new(W).record();
        assert_eq!(object(&record), None);
        assert!(section(&record).into_string().is_empty());
        record.plan.notes.push(PlanNote { fact: Fact::Imported(imported()) });
        let page = section(&record).into_string();
        has(&page, &["zonemode=&lt;b&gt;4k", "something else", "job.fio:3"]);
        let told = object(&record).expect("an object");
        assert_eq!(told["options"][0]["class"], "refused");
        assert_eq!(told["options"][1]["class"], "approximated");
        assert_eq!(
            sentence(&imported()),
            "a fio job of 13 options: 7 the same, 1 harmless, 4 approximated, 1 left out"
        );
    }
}
