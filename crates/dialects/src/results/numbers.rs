//! Numbers and words of texts that tools print.

/// A range that a number written with so many decimals stands for.
pub fn as_written(text: &str) -> Option<(f64, f64)> {
    let value: f64 = text.parse().ok()?;
    // `1.5e3` says nothing of its last digit; these tools do not write it.
    let decimals = text.split_once('.').map_or(0, |(_, behind)| behind.len()).min(15);
    let half = 0.5 * 10_f64.powi(-(decimals as i32));
    value.is_finite().then_some((value - half, value + half))
}

/// A number that is finite and not negative; `-`, `N/A` and other words are none.
pub fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// The text of a page without its tags: vdbench writes its files as HTML.
pub fn without_tags(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut is_in = false;
    for c in line.chars() {
        match c {
            '<' => is_in = true,
            '>' if is_in => is_in = false,
            _ if !is_in => text.push(c),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_numbers() {
        assert_eq!(
            (number("N/A"), number("-"), number("inf"), number("-3")),
            (None, None, None, None)
        );
        assert_eq!(number(" 3.5 "), Some(3.5));
    }

    #[test]
    fn tags_are_left_out() {
        assert_eq!(without_tags("<a name=\"x\"></a>12:00 <b>1</b>"), "12:00 1");
        assert_eq!(without_tags("a > b"), "a > b");
    }
}
