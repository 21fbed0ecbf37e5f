//! What is printed, compared by its shape: numbers, their units and marks of footnotes are masked,
//! because they belong to the machine and the hour.

/// Stands for any lines.
const ANY: &str = "...";

/// What follows a number and belongs to it.
const UNITS: [&str; 20] = [
    "%", "B", "GB", "GB/s", "GiB", "GiB/s", "KiB", "MB", "MB/s", "MHz", "MiB", "MiB/s", "TB",
    "TiB", "h", "k", "min", "ms", "s", "µs",
];

/// Lines that describe the machine, and behind which mark they do.
const MACHINE: [(&str, char); 3] = [("host ", ':'), ("target ", ';'), ("cpu ", ' ')];

/// A line with what belongs to the machine masked.
fn shape(line: &str) -> String {
    let described = MACHINE.iter().find(|(word, _)| line.starts_with(word));
    let line =
        described.and_then(|(_, mark)| line.split_once(*mark)).map_or(line, |(said, _)| said);
    let mut words: Vec<&str> = Vec::new();
    for token in line.split_whitespace() {
        let ends = |c: char| ",.;:)".contains(c) || is_mark(c);
        let bare = token.trim_end_matches(ends).trim_start_matches('(');
        if words.last() == Some(&"#") && (UNITS.contains(&bare) || bare == "ns") {
            continue;
        }
        // A column that a table has only where the machine's figures differ by enough.
        if token == "durable" {
            continue;
        }
        let word = if is_number(token) { "#" } else { token };
        // Figures beside each other are one, because their number follows that column.
        if word != "#" || words.last() != Some(&"#") {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The number of a footnote, or what parts two.
fn is_mark(c: char) -> bool {
    "¹²³⁴⁵⁶⁷⁸⁹⁰˒".contains(c)
}

/// Whether a token is a number with signs, a unit or marks of footnotes; a dash is one unknown.
fn is_number(token: &str) -> bool {
    if token == "–" || token.chars().all(is_mark) {
        return true;
    }
    let bare = token.trim_end_matches(|c: char| ",.;:)".contains(c) || is_mark(c));
    // Agents on this machine are in the order of their rates.
    if bare.strip_prefix("local-").is_some_and(|number| number.parse::<u32>().is_ok()) {
        return true;
    }
    let unit = UNITS.iter().chain(&["ns"]).filter(|unit| bare.ends_with(**unit));
    let bare = unit.max_by_key(|unit| unit.len()).map_or(bare, |u| &bare[..bare.len() - u.len()]);
    let mut digits = bare.chars().filter(|c| !is_mark(*c) && !"±<≤≥+−-–,.:/×()".contains(*c));
    bare.contains(|c: char| c.is_ascii_digit()) && digits.all(|c| c.is_ascii_digit())
}

/// A line on which this machine is called `node1`.
pub fn without_host(line: &str, host: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut said = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(host).filter(|_| !host.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + host.len()..]);
        let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
        said.push_str(before);
        said.push_str(if is_whole { "node1" } else { host });
        rest = after;
    }
    said + rest
}

/// What was printed without what the kernel said meanwhile, unless the page shows such lines: other
/// tests break devices of this machine at the same time, and make networks and remove them, and a
/// watch of the whole machine says so.
pub fn without_kernel_log(shown: &[String], printed: Vec<String>) -> Vec<String> {
    let is_said =
        |line: &String| line.contains(" kernel log: ") || line.starts_with("note: node1: nic ");
    if shown.iter().any(is_said) {
        return printed;
    }
    printed.into_iter().filter(|line| !is_said(line)).collect()
}

/// How what is shown and what was printed differ; `None` where they have one shape.
pub fn difference(shown: &[String], printed: &[String]) -> Option<String> {
    let pairs = pairs(shown, printed);
    pairs
        .is_none()
        .then(|| format!("--- shown\n{}\n--- printed\n{}", shown.join("\n"), printed.join("\n")))
}

/// What a page ought to show: the printed lines in place of those of one shape, all of them where
/// the shape is another; at most `first` of them, if it says so.
pub fn renewed(shown: &[String], printed: &[String], first: Option<usize>) -> Vec<String> {
    if let Some(pairs) = pairs(shown, printed) {
        let now = |(index, line): (usize, &String)| match pairs[index] {
            Some(at) => printed[at].clone(),
            None => line.clone(),
        };
        return shown.iter().enumerate().map(now).collect();
    }
    let kept = first.unwrap_or(printed.len()).min(printed.len());
    let mut lines = printed[..kept].to_vec();
    lines.extend((kept < printed.len()).then(|| ANY.to_owned()));
    lines
}

/// Which printed line each shown line is; `None` for `...`. Nothing where they do not fit.
fn pairs(shown: &[String], printed: &[String]) -> Option<Vec<Option<usize>>> {
    let shapes: Vec<String> = printed.iter().map(|line| shape(line)).collect();
    fit(shown, &shapes, 0)
}

fn fit(shown: &[String], shapes: &[String], at: usize) -> Option<Vec<Option<usize>>> {
    let Some((line, rest)) = shown.split_first() else {
        return (at == shapes.len()).then(Vec::new);
    };
    let (mark, found) = if line == ANY {
        (None, (at..=shapes.len()).find_map(|next| fit(rest, shapes, next))?)
    } else {
        let same = shapes.get(at).is_some_and(|printed| *printed == shape(line));
        (Some(at), same.then(|| fit(rest, shapes, at + 1))??)
    };
    Some(std::iter::once(mark).chain(found).collect())
}

#[test]
fn what_the_kernel_says_of_other_tests_is_no_difference() {
    let lines = |all: &[&str]| -> Vec<String> { all.iter().map(|&line| line.to_owned()).collect() };
    let printed = lines(&["12:00 node1 read 1", "12:00 node1   kernel log: dm-0: I/O error"]);
    let shown = lines(&["11:00 node1 read 9"]);
    assert_eq!(without_kernel_log(&shown, printed.clone()), printed[..1]);
    let shown = lines(&["11:00 node1  kernel log: sda: reset"]);
    assert_eq!(without_kernel_log(&shown, printed.clone()), printed);
}

#[test]
fn numbers_units_and_marks_have_one_shape() {
    let same = |a: &str, b: &str| assert_eq!(shape(a), shape(b));
    same("read   182,026¹  –  711   682 µs  47 %", "read 9¹˒²  ±0.1 %  1  1.3 ms³  0.0 %");
    same("took 836µs, at 0:02.5 of 5 s.", "took 1.2ms, at 0:00.1 of 300 ms.");
    same("¹ A doubt", "³ A doubt");
    same("MiB/s  durable  mean", "MiB/s  mean");
    same("w  write  927¹  –  927  860  4.31 ms", "w  write  927  ±1 %  927  4.31 ms");
    same("host     node1: 2 CPUs of one kind", "host   node1: 64 CPUs");
    assert_ne!(shape("4k-random-read 5"), shape("8k-random-read 5"));
    assert_ne!(shape("5 IOPS"), shape("5 requests"));
    assert_eq!(without_host("vm: vm-1 of vm", "vm"), "node1: vm-1 of node1");
}

#[test]
fn dots_stand_for_any_lines_and_stay_when_renewed() {
    let lines = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
    let shown = lines("a 1|...|z 2");
    assert_eq!(difference(&shown, &lines("a 3|b|c|z 4")), None);
    assert_eq!(difference(&shown, &lines("a 3|z 4")), None);
    assert!(difference(&shown, &lines("a 3|z 4|more")).is_some());
    assert_eq!(renewed(&shown, &lines("a 3|b|c|z 4"), None), lines("a 3|...|z 4"));
    assert_eq!(renewed(&[], &lines("a|b|c"), Some(1)), lines("a|..."));
}
