//! Texts from anybody: what stands in some folders, and what becomes of it when somebody damages
//! it.

use proptest::prelude::*;
use proptest::sample::Index;
use std::path::Path;

/// Edits of a text: where each begins, how many characters it takes away, and what it puts there.
pub type Edits = Vec<(Index, usize, &'static str)>;

/// The texts of all TOML files in `folders`, which stand below the root of the repository.
pub fn corpus(folders: [&str; 2]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = folders.map(|folder| root.join(folder));
    let files =
        folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten());
    let texts = files.filter(|file| file.path().extension().is_some_and(|end| end == "toml"));
    // Those that are not text are refused before they come here.
    let mut texts: Vec<String> =
        texts.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
    texts.sort();
    texts
}

/// Up to eleven edits that put `words` in.
pub fn edits(words: &'static [&'static str]) -> impl Strategy<Value = Edits> {
    prop::collection::vec((any::<Index>(), 0usize..12, prop::sample::select(words)), 0..12)
}

/// `text` after `edits`, one after the other.
pub fn damaged(text: &str, edits: Edits) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (place, cut, word) in edits {
        let place = place.index(text.len() + 1);
        let end = (place + cut).min(text.len());
        text.splice(place..end, word.chars());
    }
    text.into_iter().collect()
}
