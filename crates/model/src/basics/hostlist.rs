//! The host lists of the field: `node[01-16],10.0.0.5`, as Slurm and pdsh write them.

use crate::units::UnitError;
use std::fmt;

/// More hosts than any cluster of one run has; a list that asks for more is a slip.
pub const MOST_HOSTS: usize = 16_384;

/// Numbers with more digits are no hosts.
const MOST_DIGITS: usize = 9;

fn wrong(message: String, remedy: &str) -> UnitError {
    UnitError { message, remedy: remedy.to_owned() }
}

/// The hosts of a list, in its order.
///
/// # Errors
/// What is wrong with the list, with a remedy.
pub fn expand(list: &str) -> Result<Vec<String>, UnitError> {
    let mut hosts = Vec::new();
    for item in items(list)? {
        let item = item.trim();
        if item.is_empty() {
            return Err(wrong(
                format!("`{list}`: an entry is empty"),
                "write names with commas between them",
            ));
        }
        one(item, &mut hosts)?;
        if hosts.len() > MOST_HOSTS {
            return Err(wrong(
                format!("`{list}` names more than {MOST_HOSTS} hosts"),
                "name fewer",
            ));
        }
    }
    if let Some(bad) = hosts.iter().find(|host| !is_name(host)) {
        return Err(wrong(
            format!("`{bad}` cannot be a host's name"),
            "write letters, digits, and . - _ : @ only",
        ));
    }
    Ok(hosts)
}

/// The list of these hosts: numbers in a row are ranges. [`expand`] reads it back.
pub fn compress(hosts: &[String]) -> String {
    let mut items: Vec<Row<'_>> = Vec::new();
    for host in hosts {
        let digits = host.len() - host.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = host.split_at(host.len() - digits.min(MOST_DIGITS));
        let next = number.parse::<u64>().ok();
        match items.last_mut() {
            Some(row) if next.is_some() && row.goes_on_with(stem, number, next) => {
                row.last = number;
            }
            _ => items.push(Row { stem, first: number, last: number }),
        }
    }
    items.iter().map(Row::to_string).collect::<Vec<_>>().join(",")
}

/// Hosts of one stem with numbers in a row.
struct Row<'a> {
    stem: &'a str,
    first: &'a str,
    last: &'a str,
}

impl Row<'_> {
    fn goes_on_with(&self, stem: &str, number: &str, next: Option<u64>) -> bool {
        let last = self.last.parse::<u64>().ok();
        // A `0` alone is as wide as it is, and says nothing of the others.
        let is_padded = [self.first, number].iter().any(|n| n.len() > 1 && n.starts_with('0'));
        self.stem == stem
            && (!is_padded || number.len() == self.first.len())
            && last.map(|last| last + 1) == next
    }
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}{}", self.stem, self.first),
            false => write!(f, "{}[{}-{}]", self.stem, self.first, self.last),
        }
    }
}

/// The hosts of a file: lists on one line or several, `#` begins a remark.
///
/// # Errors
/// As [`expand`].
pub fn expand_file(text: &str) -> Result<Vec<String>, UnitError> {
    let mut hosts = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            hosts.extend(expand(line)?);
        }
        if hosts.len() > MOST_HOSTS {
            return Err(wrong(
                format!("the file names more than {MOST_HOSTS} hosts"),
                "name fewer",
            ));
        }
    }
    Ok(hosts)
}

/// A name that cannot be taken for an option, and means nothing to a shell.
pub fn is_name(host: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || ".-_:@".contains(c);
    !host.is_empty() && host.len() <= 255 && !host.starts_with('-') && host.chars().all(good)
}

/// The parts between the commas outside of brackets.
fn items(list: &str) -> Result<Vec<&str>, UnitError> {
    let (mut items, mut start, mut inside) = (Vec::new(), 0, false);
    for (place, c) in list.char_indices() {
        match c {
            '[' if inside => {
                return Err(wrong(
                    format!("`{list}`: a bracket in a bracket"),
                    "write node[1-4,7]",
                ));
            }
            '[' => inside = true,
            ']' if !inside => {
                return Err(wrong(format!("`{list}`: a `]` without `[`"), "write node[1-4,7]"));
            }
            ']' => inside = false,
            ',' if !inside => {
                items.push(&list[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(wrong(format!("`{list}`: a `[` without `]`"), "write node[1-4,7]"));
    }
    items.push(&list[start..]);
    Ok(items)
}

/// The hosts of one entry. Several brackets multiply.
fn one(item: &str, hosts: &mut Vec<String>) -> Result<(), UnitError> {
    let mut names = vec![String::new()];
    let mut rest = item;
    while let Some(open) = rest.find('[') {
        let close = rest[open..]
            .find(']')
            .map(|close| open + close)
            .ok_or_else(|| wrong("a `[` without `]`".to_owned(), "write node[1-4,7]"))?;
        let numbers = numbers(&rest[open + 1..close], item)?;
        if names.len() * numbers.len() > MOST_HOSTS {
            return Err(wrong(
                format!("`{item}` names more than {MOST_HOSTS} hosts"),
                "name fewer",
            ));
        }
        let grown = |name: &String| -> Vec<String> {
            numbers.iter().map(|number| format!("{name}{}{number}", &rest[..open])).collect()
        };
        names = names.iter().flat_map(grown).collect();
        rest = &rest[close + 1..];
    }
    hosts.extend(names.into_iter().map(|name| name + rest));
    Ok(())
}

/// `01-16,20` in full. The first number's leading zeros say how wide all are.
fn numbers(text: &str, item: &str) -> Result<Vec<String>, UnitError> {
    let is_wrong =
        || wrong(format!("`{item}`: `[{text}]` is no list of numbers"), "write node[1-4,7]");
    let number = |text: &str| -> Result<u64, UnitError> {
        let is_number = !text.is_empty()
            && text.len() <= MOST_DIGITS
            && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse().map_err(|_| is_wrong()) } else { Err(is_wrong()) }
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (number(first)?, number(last)?);
        if from > to {
            return Err(wrong(
                format!("`{item}`: {first}-{last} counts down"),
                &format!("write {last}-{first}"),
            ));
        }
        if to - from >= MOST_HOSTS as u64 || all.len() > MOST_HOSTS {
            return Err(wrong(
                format!("`{item}` names more than {MOST_HOSTS} hosts"),
                "name fewer",
            ));
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        all.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{expand as hosts_of, *};
    use proptest::prelude::*;

    #[test]
    fn lists_are_what_slurm_makes_of_them() {
        let expand = |list| hosts_of(list).expect("a good list");
        assert_eq!(expand("node[08-10],10.0.0.5"), ["node08", "node09", "node10", "10.0.0.5"]);
        assert_eq!(expand("a[1,3-4]b[1-2]"), ["a1b1", "a1b2", "a3b1", "a3b2", "a4b1", "a4b2"]);
        assert_eq!(expand("root@x, y"), ["root@x", "y"]);
        assert_eq!(expand("n[9-10]"), ["n9", "n10"]);
        assert_eq!(
            expand_file("# ours\nnode[1-2] # two\n\nx\n").expect("a good file"),
            ["node1", "node2", "x"]
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (list, word) in [
            ("", "empty"),
            ("a,,b", "empty"),
            ("a[1-", "without"),
            ("a]", "without"),
            ("a[[1]]", "bracket"),
            ("a[x]", "no list"),
            ("a[]", "no list"),
            ("a[4-1]", "down"),
            ("a[1-99999999]", "more than"),
            ("a[1-200]b[1-200]", "more than"),
            ("a b", "cannot be"),
            ("-oProxyCommand=x", "cannot be"),
            ("$(x)", "cannot be"),
        ] {
            let error = expand(list).expect_err(list);
            assert!(error.message.contains(word), "{list}: {error}");
        }
    }

    #[test]
    fn a_list_is_as_short_as_its_numbers_allow() {
        for list in ["node[0-11]", "node[08-12]", "node[8-12]", "a[1-2],b3,a[4-5]", "n[0-1],n03"] {
            let hosts = hosts_of(list).expect("a good list");
            assert_eq!(compress(&hosts), list);
        }
    }

    #[test]
    fn a_list_that_counts_down_is_written_the_other_way_round() {
        let error = hosts_of("node[9-7]").expect_err("it counts down");
        assert_eq!(error.remedy, "write 7-9");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_without_a_panic(text in "[a-z0-9\\[\\],\\-. ]{0,40}",
            other in ".{0,40}") {
            for text in [text, other] {
                if let Ok(hosts) = expand(&text) {
                    prop_assert!(hosts.len() <= MOST_HOSTS
                        && hosts.iter().all(|host| is_name(host)));
                }
            }
        }
    }
}
