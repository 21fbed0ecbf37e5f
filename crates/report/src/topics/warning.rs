//! Each doubt as a sentence, with its figures and what to do about it. `sentences.txt` has a line
//! for each: `code | sentence | remedy`, or `code form | …` where one doubt has several, and a
//! phrase behind it for one that is of the run or the target. A name in braces is a piece of
//! evidence, with the way in which it is shown.

mod besides;

use crate::ground::sentence::{
    Sentence, count, counted, filled, names, quantity, sentence, share, template,
};
use crate::ground::words;
use analysis::Warning;
use analysis::doubts::Datum;
use besides::{besides, form};

const SENTENCES: &str = include_str!("warning/sentences.txt");

#[derive(Clone, Debug)]
pub struct Told {
    /// Its code, and its form where it has several: equal for those that are told as one.
    pub name: String,
    /// What, how much, and what would lift it.
    pub sentence: Sentence,
    /// The same as a phrase; empty for one that stands beside a figure.
    pub brief: Sentence,
}

pub fn sentence(warning: &Warning) -> String {
    told(warning, None).sentence.text()
}

/// The same with its quantities and names apart: doubts that differ in them alone can be told as
/// one. `result` is what it is of, where a doubt of the run is not of all results.
pub fn told(warning: &Warning, result: Option<&str>) -> Told {
    let row = warning.row();
    let name = name(warning);
    let besides = besides(warning);
    let shown = |name: &str, way: &str| {
        let known: Vec<&Datum> =
            row.proof.iter().filter(|one| one.what == name).map(|one| &one.datum).collect();
        if name == "row" {
            let of = |result: &str| sentence![" of ", names(vec![result.to_owned()], "result")];
            return result.map_or_else(Sentence::default, of);
        }
        let beside = besides.iter().find(|(known, _)| *known == name).map(|(_, said)| said.clone());
        let unknown = || format!("{{{name}}}").into();
        let noun = if way.is_empty() { name } else { way };
        beside.or_else(|| datum(&known, way, noun)).unwrap_or_else(unknown)
    };
    let [said, remedy, brief] = template(SENTENCES, &name).map(|text| filled(text, &shown));
    let sentence = if remedy == "".into() { said } else { sentence![said, " ", remedy] };
    Told { name, sentence, brief }
}

pub fn name(warning: &Warning) -> String {
    format!("{} {}", warning.code(), form(warning)).trim_end().to_owned()
}

/// Evidence as it is shown: a share in `%`, a number with so many places, things by their noun.
fn datum(known: &[&Datum], way: &str, noun: &str) -> Option<Sentence> {
    Some(match (known.first()?, way) {
        (Datum::Word(word), "word") => word.as_str().into(),
        (Datum::Word(_), _) => {
            let name = |one: &&Datum| match one {
                Datum::Word(word) => Some(word.clone()),
                _ => None,
            };
            names(known.iter().filter_map(name).collect(), noun)
        }
        (Datum::Time(time), _) => (*time).into(),
        (Datum::Size(size), _) => (*size).into(),
        (Datum::Count(1), "times") => "once".into(),
        (Datum::Count(number), "times") => sentence![count(*number), " times"],
        (Datum::Count(number), "") => count(*number),
        (Datum::Count(number), noun) => counted(*number, noun),
        (Datum::Number(number), "MiB/s") => quantity(*number, &words::bandwidth(*number)),
        (Datum::Number(slope), "trend") => {
            // Rounded up, so that what is beyond a limit never reads as being within it.
            let (sign, tenths) = (if *slope < 0.0 { "−" } else { "+" }, slope.abs() * 1e3);
            quantity(*slope, &format!("{sign}{:.1} %", (tenths - 1e-9).ceil() / 10.0))
        }
        (Datum::Number(number), way) => match way.strip_prefix('.').and_then(|n| n.parse().ok()) {
            Some(places) => quantity(*number, &format!("{number:.places$}")),
            None => share(*number),
        },
    })
}

#[cfg(test)]
#[path = "warning_tests.rs"]
mod tests;
