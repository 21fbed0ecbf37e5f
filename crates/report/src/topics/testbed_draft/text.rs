//! The lines of a draft: facts, remarks, questions. Texts of hosts are data, and never end the line
//! or the string that they stand in.

use super::TestbedDraft;

#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    questions: usize,
}

impl Draft {
    /// A table begins.
    pub fn table(&mut self, head: &str) {
        self.text.push_str(&format!("\n{head}\n"));
    }

    /// A fact in words.
    pub fn text(&mut self, key: &str, value: &str) {
        self.text.push_str(&format!("{key} = {}\n", quoted(value)));
    }

    /// A fact that is a number.
    pub fn number(&mut self, key: &str, value: u64) {
        self.text.push_str(&format!("{key} = {value}\n"));
    }

    /// Something to know.
    pub fn remark(&mut self, words: &str) {
        self.text.push_str(&format!("# {words}\n"));
    }

    /// Something to decide, with no one line that answers it.
    pub fn question(&mut self, words: &str) {
        self.questions += 1;
        self.remark(words);
    }

    /// A question with an answer as it could be.
    pub fn ask(&mut self, words: &str, example: &str) {
        self.question(words);
        self.more(example);
    }

    /// One more line of the answer before.
    pub fn more(&mut self, example: &str) {
        self.text.push_str(&format!("# {example}\n"));
    }

    /// Tables of questions, a line with a `?` for each.
    pub fn open(&mut self, tables: &str) {
        self.questions += tables.lines().filter(|line| line.contains('?')).count();
        self.text.push_str(tables);
    }

    /// The file.
    pub fn finish(self) -> TestbedDraft {
        TestbedDraft { text: self.text, questions: self.questions }
    }
}

/// A text of a host inside of a comment: it stays in its line.
pub(super) fn comment(text: &str) -> String {
    text.chars().map(|c| if model::printable::acts(c) { '_' } else { c }).collect()
}

/// A basic string of TOML (<https://toml.io/en/v1.0.0#string>).
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in comment(text).chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// A size as makers write it, in powers of 1000: `1.6TB`, `480GB`. It is within 0.6 % of the true
/// one, and at most 1 EiB, as a testbed allows.
pub(super) fn decimal_size(bytes: u64) -> String {
    let bytes = bytes.min(1_150_000_000_000_000_000);
    let (unit, name) = if bytes >= 1_000_000_000_000 { (1e12, "TB") } else { (1e9, "GB") };
    let value = (bytes as f64 / unit).max(0.01);
    let digits = if value < 100.0 { 2 } else { 0 };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_hosts_stay_where_they_are_put() {
        assert_eq!(quoted("a\"b\\c\nd\u{7f}"), "\"a\\\"b\\\\c_d_\"");
        assert_eq!(comment("a\r\n[x]\u{85}"), "a__[x]_");
    }

    #[test]
    fn sizes_are_those_of_datasheets_and_can_be_read_again() {
        for (bytes, text) in [
            (1_600_321_314_816, "1.6TB"),
            (3_840_755_982_336, "3.84TB"),
            (480_103_981_056, "480GB"),
        ] {
            assert_eq!(decimal_size(bytes), text);
        }
        assert!(decimal_size(u64::MAX).parse::<model::Bytes>().is_ok());
        for bytes in [1, 4_096, 999_999_999, 99_999_999_999, 999_999_999_999, 1 << 60] {
            let read = decimal_size(bytes).parse::<model::Bytes>().expect("a size").0 as f64;
            assert!(
                bytes < 10_000_000 || (read / bytes as f64 - 1.0).abs() < 0.006,
                "{bytes}: {read}"
            );
        }
    }
}
