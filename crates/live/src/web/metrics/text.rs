//! Lines of the text format.

pub fn head(name: &str, help: &str, kind: &str) -> String {
    format!(
        "# HELP {name} {}\n# TYPE {name} {kind}\n",
        help.replace('\\', "\\\\").replace('\n', "\\n")
    )
}

/// A line; `suffix` stands behind the family's name: nothing, `_bucket`, `_sum`, `_count`.
pub fn line(name: &str, suffix: &str, labels: &[(&str, &str)], value: &str) -> String {
    let mut line = [name, suffix].concat();
    for (number, (key, text)) in labels.iter().enumerate() {
        line.push(if number == 0 { '{' } else { ',' });
        line.push_str(key);
        line.push_str("=\"");
        escape(text, &mut line);
        line.push('"');
    }
    if !labels.is_empty() {
        line.push('}');
    }
    line.push(' ');
    line.push_str(value);
    line.push('\n');
    line
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
    fn labels_stay_labels_and_help_stays_help() {
        assert_eq!(head("a", "b\nc", "gauge"), "# HELP a b\\nc\n# TYPE a gauge\n");
        assert_eq!(
            line("a", "_sum", &[("x", "1\"} 7\n\\")], "1"),
            "a_sum{x=\"1\\\"} 7\\n\\\\\"} 1\n"
        );
    }

    #[test]
    fn seconds_keep_every_digit() {
        assert_eq!(seconds(1_023), "0.000001023");
        assert_eq!(seconds(3_000_000_000), "3");
        assert_eq!(seconds(u128::from(u64::MAX)), "18446744073.709551615");
    }
}
