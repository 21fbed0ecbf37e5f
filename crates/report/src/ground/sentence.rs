//! Sentences that differ in their quantities and names alone, told as one with the range of each
//! quantity and all names: of forty points or a hundred hosts, as many times the same sentence
//! hides what else there is to say.
//!
//! A sentence keeps its quantities and names beside its words, as it was made: no number is looked
//! for in a text.

use model::{Bytes, Nanos};

/// Names that a sentence shows; of more, it says how many.
const MOST_NAMES: usize = 3;

/// A sentence with its quantities and names, and those that were merged into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence {
    /// What stands before, between and behind the slots: one more than there are of these.
    words: Vec<String>,
    slots: Vec<Slot>,
}

/// What may differ between sentences that are told as one.
#[derive(Clone, Debug, PartialEq)]
enum Slot {
    Quantity(Range),
    /// Each once, in the order in which they came, and what each is.
    Names(Vec<String>, String),
}

/// The least and the greatest of a quantity, each as it is shown.
#[derive(Clone, Debug, PartialEq)]
struct Range {
    least: (f64, String),
    most: (f64, String),
}

impl Sentence {
    pub fn of<const N: usize>(parts: [Sentence; N]) -> Sentence {
        parts.into_iter().fold(Sentence::default(), Sentence::and)
    }

    pub fn and(mut self, more: impl Into<Sentence>) -> Sentence {
        self.push(more);
        self
    }

    pub fn push(&mut self, more: impl Into<Sentence>) {
        let more = more.into();
        let mut words = more.words.into_iter();
        if let Some(first) = words.next() {
            match self.words.last_mut() {
                Some(last) => last.push_str(&first),
                None => self.words.push(first),
            }
        }
        self.words.extend(words);
        self.slots.extend(more.slots);
    }

    pub fn join(parts: impl IntoIterator<Item = Sentence>, between: &str) -> Sentence {
        let mut all = Sentence::default();
        for (number, part) in parts.into_iter().enumerate() {
            if number > 0 {
                all.push(between);
            }
            all.push(part);
        }
        all
    }

    /// Takes the other in, if they differ in quantities and names alone.
    pub fn merge(&mut self, other: &Sentence) -> bool {
        if self.words != other.words {
            return false;
        }
        self.slots.iter_mut().zip(&other.slots).for_each(|(mine, theirs)| mine.merge(theirs));
        true
    }

    /// What is neither quantity nor name: equal for those that can be merged.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn text(&self) -> String {
        let mut text = self.words.first().cloned().unwrap_or_default();
        for (slot, words) in self.slots.iter().zip(self.words.iter().skip(1)) {
            text.push_str(&slot.text());
            text.push_str(words);
        }
        text
    }
}

impl Slot {
    fn merge(&mut self, other: &Slot) {
        match (self, other) {
            (Slot::Quantity(mine), Slot::Quantity(theirs)) => {
                if theirs.least.0 < mine.least.0 {
                    mine.least.clone_from(&theirs.least);
                }
                if theirs.most.0 > mine.most.0 {
                    mine.most.clone_from(&theirs.most);
                }
            }
            (Slot::Names(mine, _), Slot::Names(theirs, _)) => {
                let new: Vec<String> =
                    theirs.iter().filter(|name| !mine.contains(name)).cloned().collect();
                mine.extend(new);
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        match self {
            Slot::Quantity(Range { least: (_, least), most: (_, most) }) => match least == most {
                true => least.clone(),
                false => format!("{least} to {most}"),
            },
            Slot::Names(names, noun) => few(names, ", ", noun),
        }
    }
}

impl From<&str> for Sentence {
    fn from(words: &str) -> Sentence {
        words.to_owned().into()
    }
}

impl From<String> for Sentence {
    fn from(words: String) -> Sentence {
        Sentence { words: vec![words], slots: Vec::new() }
    }
}

/// A quantity and how it is shown. Its unit belongs to the words: milliseconds and seconds are told
/// apart. Where it has two units (`2m 05s`), all of it is the number.
pub fn quantity(value: f64, shown: &str) -> Sentence {
    let is_of_number = |c: char| c.is_ascii_digit() || "+-−,.".contains(c);
    let end = shown.find(|c| !is_of_number(c)).unwrap_or(shown.len());
    let (number, unit) = shown.split_at(end);
    let (number, unit) =
        if unit.contains(|c: char| c.is_ascii_digit()) { (shown, "") } else { (number, unit) };
    let one = (value, number.to_owned());
    let range = Range { least: one.clone(), most: one };
    Sentence { words: vec![String::new(), unit.to_owned()], slots: vec![Slot::Quantity(range)] }
}

/// A list in a sentence: the first three of it, and of the rest how many, such as `2 more hosts`.
pub fn few(all: &[String], between: &str, noun: &str) -> String {
    let shown = all[..all.len().min(MOST_NAMES)].join(between);
    match all.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => {
            let more = crate::ground::words::counted(more as u64, &format!("more {noun}"));
            format!("{shown} and {more}")
        }
    }
}

/// Names of things of one kind, such as `host`.
pub fn names(names: Vec<String>, noun: &str) -> Sentence {
    Sentence {
        words: vec![String::new(), String::new()],
        slots: vec![Slot::Names(names, noun.to_owned())],
    }
}

impl From<Bytes> for Sentence {
    fn from(bytes: Bytes) -> Sentence {
        quantity(bytes.0 as f64, &bytes.to_string())
    }
}

impl From<Nanos> for Sentence {
    fn from(time: Nanos) -> Sentence {
        quantity(time.0 as f64, &time.to_string())
    }
}

/// `95 %`, from a share of 0 to 1.
pub fn share(value: f64) -> Sentence {
    quantity(value, &crate::ground::words::share(value))
}

pub fn count(value: u64) -> Sentence {
    quantity(value as f64, &crate::ground::words::count(value))
}

/// `1 request`, `2 requests`.
pub fn counted(value: u64, noun: &str) -> Sentence {
    quantity(value as f64, &crate::ground::words::counted(value, noun))
}

/// What a table says of a name, in which each line is `name | sentence | …`; a test holds that each
/// has a line.
pub fn template<const N: usize>(table: &'static str, name: &str) -> [&'static str; N] {
    let line = table.lines().find(|line| line.split(" | ").next() == Some(name));
    let mut parts = line.unwrap_or_default().split('|').map(str::trim).skip(1);
    [(); N].map(|()| parts.next().unwrap_or_default())
}

/// A template with what stands for each name in braces, shown in the way that is behind the name.
pub fn filled(template: &str, shown: &dyn Fn(&str, &str) -> Sentence) -> Sentence {
    template.split('{').fold(Sentence::default(), |said, part| match part.split_once('}') {
        None => said.and(part),
        Some((name, rest)) => {
            let (name, way) = name.split_once(' ').unwrap_or((name, ""));
            said.and(shown(name, way)).and(rest)
        }
    })
}

/// A sentence of these parts: words and quantities.
macro_rules! sentence {
    ($($part:expr),* $(,)?) => {
        $crate::ground::sentence::Sentence::of([
            $($crate::ground::sentence::Sentence::from($part)),*
        ])
    };
}

pub(crate) use sentence;

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(sentences: Vec<Sentence>) -> Vec<String> {
        let mut all: Vec<Sentence> = Vec::new();
        for one in sentences {
            if !all.iter_mut().any(|known| known.merge(&one)) {
                all.push(one);
            }
        }
        all.iter().map(Sentence::text).collect()
    }

    #[test]
    fn quantities_become_ranges_and_equal_ones_stay() {
        let level =
            |value| sentence!["a level of ", share(value), " after ", Nanos::millis(250), "."];
        assert_eq!(
            merged(vec![level(1.08), level(0.095), level(11.3)]),
            ["a level of 9.5 to 1,130 % after 250 ms."]
        );
    }

    #[test]
    fn other_words_other_names_and_other_units_are_other_sentences() {
        let of = |name: &str, time: Nanos| sentence!["p99 of ", name, ": ", time];
        let apart = vec![
            of("sim-01", Nanos::millis(3)),
            of("sim-02", Nanos::millis(3)),
            of("node 3", Nanos::millis(3)),
            of("node 4", Nanos::millis(3)),
            of("sim-01", Nanos::seconds(3)),
        ];
        let texts: Vec<String> = apart.iter().map(Sentence::text).collect();
        assert_eq!(merged(apart), texts);
    }

    #[test]
    fn durations_of_two_units_are_numbers_as_a_whole() {
        let at = |seconds, level| sentence!["at ", Nanos::seconds(seconds), ", to ", share(level)];
        assert_eq!(
            merged(vec![at(1_668, 0.86), at(792, 0.75), at(7_500, 0.8)]),
            ["at 13m 12s to 2h 05m, to 75 to 86 %"]
        );
    }

    #[test]
    fn names_are_gathered_and_of_many_the_number_is_said() {
        let of =
            |number: u32| sentence!["Slow: ", names(vec![format!("node{number}")], "host"), "."];
        assert_eq!(merged(vec![of(1), of(2), of(1)]), ["Slow: node1, node2."]);
        let all = merged((1..=100).map(of).collect());
        assert_eq!(all, ["Slow: node1, node2, node3 and 97 more hosts."]);
        let runs = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(few(&runs[..3], "; ", "run"), "a; b; c");
        assert_eq!(few(&runs, "; ", "run"), "a; b; c and 1 more run");
    }

    #[test]
    fn signs_belong_to_numbers() {
        let trend = |value, shown| sentence!["a trend of ", quantity(value, shown)];
        assert_eq!(
            merged(vec![trend(0.1, "+10 %"), trend(-0.057, "−5.7 %"), trend(0.005, "+0.5 %")]),
            ["a trend of −5.7 to +10 %"]
        );
    }

    #[test]
    fn parts_are_joined_as_words_are() {
        let parts = [sentence!["a ", count(1)], sentence!["b ", count(2_000)]];
        assert_eq!(Sentence::join(parts, ", and ").text(), "a 1, and b 2,000");
        assert_eq!(Sentence::join([], ", ").text(), "");
    }
}
