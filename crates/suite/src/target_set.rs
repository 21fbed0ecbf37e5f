//! The targets that a workload loads, by their numbers.

use form::{Field, Node, Value};
use model::units::UnitError;

/// The word for every target of a host.
const ALL: &str = "all";
/// No host has more targets than can be numbered.
const MOST: u32 = 65_536;

/// Targets as a workload names them: numbers from 1 in the order in which a host has its targets,
/// or `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSet {
    /// First and last of each range, in rising order, and apart from each other; empty for all.
    ranges: Vec<(u32, u32)>,
}

impl TargetSet {
    /// Every target of a host.
    pub fn all() -> TargetSet {
        TargetSet { ranges: Vec::new() }
    }

    /// Whether it is every target.
    pub fn is_all(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the target at this place, from 0, is one of them.
    pub fn has(&self, place: usize) -> bool {
        let is_in = |(first, last): &(u32, u32)| {
            (*first as usize..=*last as usize).contains(&place.saturating_add(1))
        };
        self.is_all() || self.ranges.iter().any(is_in)
    }

    /// The highest number that it names; 0 for all.
    pub fn highest(&self) -> u32 {
        self.ranges.last().map_or(0, |(_, last)| *last)
    }

    /// The places of these among `count` targets, from 0.
    pub fn places(&self, count: usize) -> Vec<usize> {
        (0..count).filter(|place| self.has(*place)).collect()
    }

    fn of(mut ranges: Vec<(u32, u32)>) -> TargetSet {
        ranges.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::new();
        for (first, last) in ranges {
            match apart.last_mut() {
                Some((_, end)) if first <= *end + 1 => *end = last.max(*end),
                _ => apart.push((first, last)),
            }
        }
        TargetSet { ranges: apart }
    }
}

/// `3`, or `2-4`.
fn range(text: &str) -> Result<(u32, u32), UnitError> {
    let number = |text: &str| {
        let found = text.trim().parse::<u32>().ok();
        found.filter(|number| (1..=MOST).contains(number)).ok_or_else(|| UnitError {
            message: format!("`{}` is no number of a target", text.trim()),
            remedy: format!("write numbers from 1 to {MOST}, such as \"1,3-4\", or \"{ALL}\""),
        })
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    match first <= last {
        true => Ok((first, last)),
        false => Err(UnitError {
            message: format!("the targets {first}-{last} count down"),
            remedy: format!("write {last}-{first}"),
        }),
    }
}

impl Field for TargetSet {
    const KIND: &'static str = "numbers of targets or `\"all\"`";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match &node.value {
            Value::Integer(number) => Ok(TargetSet::of(vec![range(&number.to_string())?])),
            Value::Text(text) if text == ALL => Ok(TargetSet::all()),
            Value::Text(text) => {
                text.split(',').map(range).collect::<Result<_, _>>().map(TargetSet::of)
            }
            _ => Err(UnitError {
                message: format!("expected numbers of targets, found {}", node.kind()),
                remedy: format!("write a text such as \"1,3-4\", or \"{ALL}\""),
            }),
        }
    }

    fn write(&self) -> String {
        let one = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let all: Vec<String> = self.ranges.iter().map(one).collect();
        format!("\"{}\"", if all.is_empty() { ALL.to_owned() } else { all.join(",") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    fn read(value: &str) -> Result<TargetSet, String> {
        let text = format!("name = \"t\"\n[[workload]]\nname = \"w\"\ntargets = {value}\n");
        let spec = Spec::parse("t", &text, &[]).map_err(|errors| {
            let told = errors.problems.iter().map(|p| format!("{}; {}", p.message, p.remedy));
            told.collect::<Vec<_>>().join("\n")
        })?;
        Ok(spec.first_scenario().points[0].workloads[0].targets.value.clone())
    }

    #[test]
    fn numbers_and_ranges_are_read_and_written_again() {
        for (written, again, places) in [
            ("\"all\"", "\"all\"", vec![0, 1, 2, 3, 4]),
            ("2", "\"2\"", vec![1]),
            ("\"1,3\"", "\"1,3\"", vec![0, 2]),
            ("\"4, 2-3\"", "\"2-4\"", vec![1, 2, 3]),
            ("\"2,2,1-2,9\"", "\"1-2,9\"", vec![0, 1]),
        ] {
            let set = read(written).expect(written);
            assert_eq!(set.write(), again);
            assert_eq!(set.places(5), places, "{written}");
        }
        assert_eq!(read("\"1,3\"").map(|set| set.highest()), Ok(3));
        assert_eq!(TargetSet::all().highest(), 0);
    }

    #[test]
    fn what_is_no_target_is_refused_with_a_remedy() {
        for (written, words) in [
            ("0", "`0` is no number of a target; write numbers from 1"),
            ("-1", "is no number of a target"),
            ("\"\"", "`` is no number of a target"),
            ("\"3-2\"", "the targets 3-2 count down; write 2-3"),
            ("\"sd1\"", "`sd1` is no number of a target"),
            ("\"1,99999999999\"", "is no number of a target"),
            ("1.5", "expected numbers of targets"),
        ] {
            let told = read(written).expect_err(written);
            assert!(told.contains(words), "{written}: {told}");
        }
    }
}
