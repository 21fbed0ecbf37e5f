//! Lines of the text format.

/// One family: its help, its type, its lines. A family without a line is left out.
#[derive(Debug)]
pub struct Family {
    name: &'static str,
    head: String,
    lines: String,
}

impl Family {
    /// A sum that only grows; its name ends in `_total`.
    pub fn counter(name: &'static str, help: &str) -> Family {
        Family::of(name, help, "counter")
    }

    /// A state.
    pub fn gauge(name: &'static str, help: &str) -> Family {
        Family::of(name, help, "gauge")
    }

    /// A histogram with cumulative buckets.
    pub fn histogram(name: &'static str, help: &str) -> Family {
        Family::of(name, help, "histogram")
    }

    fn of(name: &'static str, help: &str, kind: &str) -> Family {
        let head = format!("# HELP {name} {}\n# TYPE {name} {kind}\n", help.replace('\\', "\\\\").replace('\n', "\\n"));
        Family { name, head, lines: String::new() }
    }

    /// A line of the family itself.
    pub fn add(&mut self, labels: &[(&str, &str)], value: &str) {
        self.add_as("", labels, value);
    }

    /// A line with a suffix behind the family's name: `_bucket`, `_sum`, `_count`.
    pub fn add_as(&mut self, suffix: &str, labels: &[(&str, &str)], value: &str) {
        self.lines.push_str(self.name);
        self.lines.push_str(suffix);
        for (number, (key, text)) in labels.iter().enumerate() {
            self.lines.push(if number == 0 { '{' } else { ',' });
            self.lines.push_str(key);
            self.lines.push_str("=\"");
            escape(text, &mut self.lines);
            self.lines.push('"');
        }
        if !labels.is_empty() {
            self.lines.push('}');
        }
        self.lines.push(' ');
        self.lines.push_str(value);
        self.lines.push('\n');
    }

    /// The family as text.
    pub fn finish(self) -> String {
        if self.lines.is_empty() { String::new() } else { self.head + &self.lines }
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}

/// Nanoseconds as seconds, with every digit.
pub fn seconds(ns: u128) -> String {
    let (whole, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let text = format!("{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_labels_and_an_empty_family_is_nothing() {
        let mut family = Family::gauge("a", "b\nc");
        family.add(&[("x", "1\"} 7\n\\")], "1");
        assert_eq!(family.finish(), "# HELP a b\\nc\n# TYPE a gauge\na{x=\"1\\\"} 7\\n\\\\\"} 1\n");
        assert_eq!(Family::counter("a_total", "b").finish(), "");
    }

    #[test]
    fn seconds_keep_every_digit() {
        assert_eq!(seconds(1_023), "0.000001023");
        assert_eq!(seconds(3_000_000_000), "3");
        assert_eq!(seconds(u128::from(u64::MAX)), "18446744073.709551615");
    }
}
