//! Sentences that differ in their numbers alone, told as one with the range of each number: of
//! forty points, forty times the same sentence hides what else there is to say.

/// A sentence, and those that were merged into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alike {
    /// What stands before, between and behind the numbers.
    words: Vec<String>,
    /// The least and the greatest of each number, as written.
    numbers: Vec<(String, String)>,
}

impl Alike {
    /// A sentence by itself.
    pub fn of(sentence: &str) -> Alike {
        let (mut words, mut numbers) = (vec![String::new()], Vec::new());
        let mut rest = sentence;
        let mut before = None;
        while let Some(first) = rest.chars().next() {
            let length = if may_follow(before) {
                duration_length(rest).unwrap_or_else(|| number_length(rest))
            } else {
                0
            };
            let (taken, behind) = rest.split_at(if length > 0 { length } else { first.len_utf8() });
            if length > 0 {
                numbers.push((taken.to_owned(), taken.to_owned()));
                words.push(String::new());
            } else if let Some(last) = words.last_mut() {
                last.push_str(taken);
            }
            before = taken.chars().last();
            rest = behind;
        }
        Alike { words, numbers }
    }

    /// Takes the other in, if they differ in numbers alone.
    pub fn merge(&mut self, other: &Alike) -> bool {
        if self.words != other.words {
            return false;
        }
        for (mine, theirs) in self.numbers.iter_mut().zip(&other.numbers) {
            if value(&theirs.0) < value(&mine.0) {
                mine.0.clone_from(&theirs.0);
            }
            if value(&theirs.1) > value(&mine.1) {
                mine.1.clone_from(&theirs.1);
            }
        }
        true
    }

    /// What is not a number: equal for those that can be merged.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// All of them as one sentence.
    pub fn text(&self) -> String {
        let mut text = self.words.first().cloned().unwrap_or_default();
        for ((least, most), words) in self.numbers.iter().zip(self.words.iter().skip(1)) {
            match least == most {
                true => text.push_str(least),
                false => text.push_str(&format!("{least} to {most}")),
            }
            text.push_str(words);
        }
        text
    }
}

/// Whether a number can begin behind this: in `p99` and `sim-01` the digits are part of a name.
fn may_follow(before: Option<char>) -> bool {
    before.is_none_or(|c| !c.is_alphanumeric() && !"-−+_.,/:=<>±~".contains(c))
}

/// The bytes of the number that the text begins with, 0 where there is none: a sign or none, and
/// digits, with commas and a point between digits.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let sign = text.chars().next().filter(|c| "+-−".contains(*c)).map_or(0, char::len_utf8);
    let mut end = sign;
    while is_digit(end)
        || end > sign && matches!(bytes.get(end), Some(b',' | b'.')) && is_digit(end + 1)
    {
        end += 1;
    }
    let is_name = text
        .get(end..)
        .and_then(|rest| rest.chars().next())
        .is_some_and(|c| c.is_alphanumeric() || "-_/:=".contains(c));
    if is_name || end == sign { 0 } else { end }
}

/// The bytes of the duration that the text begins with, if it is one of two units: `2m 05s`, `22h
/// 10m`.
fn duration_length(text: &str) -> Option<usize> {
    let (large, rest) = text.split_once(' ')?;
    let small = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    parts(large, small)?;
    Some(large.len() + 1 + small.len())
}

/// The seconds of a duration's two parts.
fn parts(large: &str, small: &str) -> Option<f64> {
    let (hours, minutes) = (
        (large.strip_suffix('h'), small.strip_suffix('m')),
        (large.strip_suffix('m'), small.strip_suffix('s')),
    );
    let (large, small, unit_s) = match (hours, minutes) {
        ((Some(hours), Some(minutes)), _) => (hours, minutes, 60.0),
        (_, (Some(minutes), Some(seconds))) => (minutes, seconds, 1.0),
        _ => return None,
    };
    let whole = |digits: &str| {
        digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    Some((f64::from(whole(large)?) * 60.0 + f64::from(whole(small)?)) * unit_s)
}

fn value(number: &str) -> f64 {
    if let Some(seconds) = number.split_once(' ').and_then(|(large, small)| parts(large, small)) {
        return seconds;
    }
    number.replace(',', "").replace('−', "-").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(sentences: &[&str]) -> Vec<String> {
        let mut all: Vec<Alike> = Vec::new();
        for one in sentences.iter().map(|sentence| Alike::of(sentence)) {
            if !all.iter_mut().any(|known| known.merge(&one)) {
                all.push(one);
            }
        }
        all.iter().map(Alike::text).collect()
    }

    #[test]
    fn numbers_become_ranges_and_equal_ones_stay() {
        let told = merged(&[
            "a level of 108 % after 250 ms.",
            "a level of 9.5 % after 250 ms.",
            "a level of 1,130 % after 250 ms.",
        ]);
        assert_eq!(told, ["a level of 9.5 to 1,130 % after 250 ms."]);
    }

    #[test]
    fn other_words_and_other_names_are_other_sentences() {
        let apart = [
            "p99 of sim-01: 3 ms",
            "p99.9 of sim-01: 3 ms",
            "p99 of sim-02: 3 ms",
            "p99 of sim-01: 3 s",
            "p99 of 4k: 3 ms",
            "p99 of 8k: 4 ms",
        ];
        assert_eq!(merged(&apart), apart);
        assert_eq!(
            merged(&["1 of 4 in [1, 2]", "3 of 4 in [1, 3]"]),
            ["1 to 3 of 4 in [1, 2 to 3]"]
        );
    }

    #[test]
    fn durations_are_numbers_as_a_whole() {
        let told = merged(&[
            "at 27m 48s, to 86 % of it",
            "at 13m 12s, to 75 % of it",
            "at 2h 05m, to 80 % of it",
        ]);
        assert_eq!(told, ["at 13m 12s to 2h 05m, to 75 to 86 % of it"]);
        assert_eq!(merged(&["5m and 3", "6m and 3"]).len(), 2, "a name, not a duration");
    }

    #[test]
    fn signs_belong_to_numbers() {
        assert_eq!(
            merged(&["a trend of +10 %", "a trend of −5.7 %", "a trend of +0.5 %"]),
            ["a trend of −5.7 to +10 %"]
        );
        assert_eq!(merged(&["-3", "-12", "4"]), ["-12 to 4"]);
    }

    #[test]
    fn any_sentence_is_told_as_it_is() {
        for sentence in [
            "",
            "7",
            "1,234.5",
            "x 1. 2, 3",
            "äö 5 ü",
            "1..2",
            "12:30",
            "5.",
            "¹ 2",
            "-",
            "− 4",
            "+",
            "a - 1",
        ] {
            assert_eq!(Alike::of(sentence).text(), sentence);
        }
    }
}
