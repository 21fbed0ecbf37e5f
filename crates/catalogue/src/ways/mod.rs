//! The ways in which a storage figure deceives: how each works, who described it, which doubt names
//! it, from which evidence, and how sure that is. `reference/ways.toml`, embedded;
//! `docs/method/doubts.md` is made from it.

use crate::rows;
use form::{Reader, SpecErrors, spec_table, words};
use std::fmt::Write;
use std::sync::OnceLock;

words! {
    /// Whether a way is found.
    pub enum Found {
        /// A doubt names it whenever the evidence is on the host that loads.
        Yes = "yes",
        /// It is found in some of its forms, or by its effect.
        Partly = "partly",
        /// Nothing on the host that loads tells of it; the verdict leaves it open.
        No = "no",
    }
}

spec_table! {
    /// One way in which a figure deceives.
    pub struct Way {
        /// A stable word.
        id: String,
        /// What happens.
        mechanism: String,
        /// Who described it: short words of sources.
        source: String,
        /// The codes of the doubts that name it, with spaces between.
        doubts: String = String::new(),
        /// What they rest on.
        evidence: String,
        /// Whether it is found.
        found: Found = Found::No,
        /// What to do.
        remedy: String,
    }
}

spec_table! {
    /// Who described ways.
    pub struct Source {
        /// A short word.
        id: String,
        /// The publication.
        is: String,
    }
}

const TEXT: &str = include_str!("../../../../reference/ways.toml");

/// All ways: those of devices, of the layers above them, and of hosts, clocks and figures.
pub fn ways() -> &'static [Way] {
    static WAYS: OnceLock<Vec<Way>> = OnceLock::new();
    // A test holds the embedded text to being free of mistakes.
    WAYS.get_or_init(|| parse("way", Way::read).unwrap_or_default())
}

fn parse<T>(key: &str, one: impl Fn(&mut Reader<'_>) -> T) -> Result<Vec<T>, SpecErrors> {
    rows::read("ways.toml", TEXT, key, |table, span, problems| {
        let mut reader = Reader::new(table, span, problems);
        let row = one(&mut reader);
        reader.finish();
        row
    })
}

/// The page of the method: what doubts are, and every way with what finds it.
pub fn page() -> String {
    let mut text = include_str!("head.txt").trim_end().to_owned();
    let all = ways();
    let count = |found: Found| all.iter().filter(|way| way.found.value == found).count();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\n\n## The ways in which a figure deceives\n\nThis list has {} ways. A doubt names {} of \
         them, {} more partly, and {} cannot be\nseen from the host that loads.\n\n| way | what \
         happens | found by | evidence | found | remedy | described by |\n\
         |---|---|---|---|---|---|---|\n",
        all.len(),
        count(Found::Yes),
        count(Found::Partly),
        count(Found::No),
    );
    for way in all {
        let codes: Vec<String> =
            way.doubts.value.split_whitespace().map(|code| format!("`{code}`")).collect();
        let codes = if codes.is_empty() { "–".to_owned() } else { codes.join(", ") };
        let _ = writeln!(
            text,
            "| `{}` | {} | {codes} | {} | {} | {} | {} |",
            way.id.value,
            way.mechanism.value,
            way.evidence.value,
            way.found.value,
            way.remedy.value,
            way.source.value
        );
    }
    text.push_str(include_str!("liar.txt"));
    text.push_str(include_str!("measured.txt"));
    text.push_str("\n| described by | |\n|---|---|\n");
    for source in parse("source", Source::read).unwrap_or_default() {
        let _ = writeln!(text, "| {} | {} |", source.id.value, source.is.value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_way_has_a_name_of_its_own_a_known_source_and_a_doubt_where_it_is_found() {
        let ways = parse("way", Way::read).expect("a good table");
        let sources = parse("source", Source::read).expect("a good table");
        let ids: BTreeSet<&str> = ways.iter().map(|way| way.id.value.as_str()).collect();
        assert_eq!(ids.len(), ways.len());
        for way in &ways {
            let is_found = way.found.value != Found::No;
            assert_eq!(!way.doubts.value.is_empty(), is_found, "{}", way.id.value);
            let known = |name: &str| sources.iter().any(|source| source.id.value == name);
            let source = &way.source.value;
            assert!(source.split(", ").all(known), "{}: {source}", way.id.value);
        }
        assert!(ids.len() >= 50, "{} ways", ids.len());
    }
}
