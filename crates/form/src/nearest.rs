//! The word that somebody meant.

/// The candidate that is a few slips away from `text`, if there is one.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = text.chars().count();
    candidates
        .filter_map(|candidate| {
            // One slip in five letters, two from six on: a guess that is further off sends its
            // reader the wrong way.
            let most = (candidate.len().max(text.len()) + 2) / 4;
            let is_begun = text.len() >= 4 && candidate.starts_with(text);
            // Each letter more is a slip at least. To compare takes the product of both lengths,
            // and somebody's text may be a whole file.
            let is_close = candidate.chars().count().abs_diff(letters) <= most;
            let distance =
                (is_begun || is_close).then(|| strsim::damerau_levenshtein(text, candidate))?;
            (is_begun || distance <= most).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_meant_by_what_is_a_few_slips_away_and_by_its_beginning() {
        let words = ["blocksize", "iodepth", "rw", "größe"];
        let meant = |text: &str| nearest(text, words.into_iter());
        assert_eq!(meant("bloksize"), Some("blocksize"));
        assert_eq!(meant("idoepth"), Some("iodepth"));
        assert_eq!(meant("bloc"), Some("blocksize"), "begun");
        assert_eq!(meant("wr"), Some("rw"));
        assert_eq!(meant("große"), Some("größe"));
        assert_eq!(meant("readwrite"), None);
        assert_eq!(meant(""), None);
    }

    #[test]
    fn a_text_as_long_as_a_file_is_not_compared_letter_by_letter() {
        // It would take 10^12 steps.
        let words: Vec<String> = (0..50_000).map(|n| format!("a-word-of-many-{n}")).collect();
        assert_eq!(nearest(&"é".repeat(1 << 20), words.iter().map(String::as_str)), None);
    }
}
