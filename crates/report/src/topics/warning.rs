//! Each doubt as a sentence, with its figures and what to do about it. `sentences.txt` has a line
//! for each: `code | sentence | remedy`, or `code form | …` where one doubt has several. A name in
//! braces is a piece of evidence, with the way in which it is shown.

mod besides;

use crate::ground::sentence::{Sentence, count, counted, quantity, sentence, share};
use crate::ground::words;
use analysis::Warning;
use analysis::doubts::Datum;
use besides::{besides, form};

const SENTENCES: &str = include_str!("warning/sentences.txt");

/// A doubt as a sentence: what, how much, and what would lift it.
pub fn sentence(warning: &Warning) -> String {
    told(warning).text()
}

/// The same with its quantities apart: doubts that differ in them alone can be told as one.
pub fn told(warning: &Warning) -> Sentence {
    let row = warning.row();
    let (said, remedy) = template(&name(warning));
    let besides = besides(warning);
    let shown = |name: &str, way: &str| {
        let known: Vec<&Datum> =
            row.proof.iter().filter(|one| one.what == name).map(|one| &one.datum).collect();
        let beside = besides.iter().find(|(known, _)| *known == name).map(|(_, said)| said.clone());
        let unknown = || format!("{{{name}}}").into();
        beside.or_else(|| datum(&known, way)).unwrap_or_else(unknown)
    };
    let said = filled(said, &shown);
    if remedy.is_empty() { said } else { sentence![said, " ", filled(remedy, &shown)] }
}

/// The name of a doubt's line.
fn name(warning: &Warning) -> String {
    format!("{} {}", warning.code(), form(warning)).trim_end().to_owned()
}

/// The sentence and the remedy of a doubt; a test holds that each has a line.
fn template(name: &str) -> (&'static str, &'static str) {
    let of_line = |line: &'static str| {
        let (named, said) = line.split_once(" | ")?;
        (named == name).then(|| said.split_once(" |").unwrap_or((said, "")))
    };
    let (said, remedy) = SENTENCES.lines().find_map(of_line).unwrap_or_default();
    (said, remedy.trim())
}

/// A template with what stands for each name in braces.
fn filled(template: &str, shown: &dyn Fn(&str, &str) -> Sentence) -> Sentence {
    template.split('{').fold(Sentence::default(), |said, part| match part.split_once('}') {
        None => said.and(part),
        Some((name, rest)) => {
            let (name, way) = name.split_once(' ').unwrap_or((name, ""));
            said.and(shown(name, way)).and(rest)
        }
    })
}

/// Evidence as it is shown: a share in `%`, a number with so many places, things by their noun.
fn datum(known: &[&Datum], way: &str) -> Option<Sentence> {
    Some(match (known.first()?, way) {
        (Datum::Word(_), noun) => named(known, noun),
        (Datum::Time(time), _) => (*time).into(),
        (Datum::Size(size), _) => (*size).into(),
        (Datum::Count(1), "times") => "once".into(),
        (Datum::Count(number), "times") => sentence![count(*number), " times"],
        (Datum::Count(number), "") => count(*number),
        (Datum::Count(number), noun) => counted(*number, noun),
        (Datum::Number(number), "MiB/s") => quantity(*number, &words::bandwidth(*number)),
        (Datum::Number(slope), "trend") => {
            let sign = if *slope < 0.0 { "−" } else { "+" };
            quantity(*slope, &format!("{sign}{}", words::share(slope.abs())))
        }
        (Datum::Number(number), way) => match way.strip_prefix('.').and_then(|n| n.parse().ok()) {
            Some(places) => quantity(*number, &format!("{number:.places$}")),
            None => share(*number),
        },
    })
}

/// The first few names, and how many more of the noun there are; `all` of them.
fn named(known: &[&Datum], noun: &str) -> Sentence {
    const MOST: usize = 3;
    let most = if noun == "all" { known.len() } else { MOST };
    let word = |one: &&Datum| match one {
        Datum::Word(word) => word.clone(),
        _ => String::new(),
    };
    let shown = known.iter().take(most).map(word).collect::<Vec<_>>().join(", ");
    match known.len().saturating_sub(most) {
        0 => shown.into(),
        more => sentence![shown, " and ", counted(more as u64, &format!("more {noun}"))],
    }
}

#[cfg(test)]
#[path = "warning_tests.rs"]
mod tests;
