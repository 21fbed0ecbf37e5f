//! The word that somebody meant.

/// The candidate that is a few slips away from `text`, if there is one.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(text, candidate), candidate))
        .filter(|(distance, candidate)| {
            // One slip in five letters, two from six on: a guess that is further off sends its
            // reader the wrong way.
            let is_begun = text.len() >= 4 && candidate.starts_with(text);
            is_begun || *distance <= (candidate.len().max(text.len()) + 2) / 4
        })
        .min()
        .map(|(_, candidate)| candidate)
}
