//! Sentences of a Markdown page, without its code, tables, headings and front matter.

/// Verbs that this house used in a way of its own; the field says report, appear, store, total.
const PRIVATE: &str = "tell,tells,telling,told,stand,stands,standing,stood,bear,bears,bore,borne,\
    come to,comes to,came to,coming to,come of,comes of,came of,had of,what of it,hold against,\
    holds against,held against,that which,in so far";

/// Shortened words whose full stop ends no sentence.
const SHORTENED: [&str; 10] =
    ["e.g", "i.e", "vs", "etc", "cf", "al", "no", "fig", "approx", "resp"];

const MAX_COLUMNS: usize = 100;

/// The lines of a page that are prose, numbered from 0; an empty line parts paragraphs.
fn prose(page: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut comment, mut front) = (false, page.starts_with("---\n"));
    let mut made = false;
    for (index, line) in page.lines().enumerate() {
        let bare = line.trim_start();
        made = made && bare != "<!-- end -->" || bare.starts_with("<!-- written by ");
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        if made {
            // A chore writes these lines, and will write them again.
        } else if front {
            front = index == 0 || line != "---";
        } else if let Some(open) = fence {
            if mark == Some(open) {
                fence = None;
            }
        } else if mark.is_some() {
            fence = mark;
        } else if comment || bare.starts_with("<!--") {
            comment = !bare.contains("-->");
        } else if !(bare.starts_with('|') || bare.starts_with('#') || is_definition(bare)) {
            lines.push(line);
            continue;
        }
        lines.push("");
    }
    lines
}

/// `[name]: target`.
fn is_definition(line: &str) -> bool {
    line.starts_with('[') && line.split_once("]: ").is_some_and(|(name, _)| !name.contains('('))
}

/// The sentences of a page. A paragraph and an item of a list end a sentence.
pub fn sentences(page: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    for line in prose(page) {
        let (is_item, text) = without_marker(line.trim().trim_start_matches("> "));
        if text.is_empty() || is_item {
            end(&mut current, &mut sentences);
        }
        current.push_str(text);
        current.push(' ');
    }
    end(&mut current, &mut sentences);
    sentences
}

/// Whether a line begins an item of a list, and its text.
fn without_marker(line: &str) -> (bool, &str) {
    if let Some(text) = ["* ", "- ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return (true, text);
    }
    match line.split_once(". ") {
        Some((number, text))
            if number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() =>
        {
            (true, text)
        }
        _ => (false, line),
    }
}

/// Splits a paragraph into sentences and empties it.
fn end(paragraph: &mut String, sentences: &mut Vec<String>) {
    let text = plain(&std::mem::take(paragraph));
    let mut sentence: Vec<&str> = Vec::new();
    for token in text.split_whitespace() {
        sentence.push(token);
        if ends_a_sentence(token) {
            sentences.push(sentence.join(" "));
            sentence.clear();
        }
    }
    if !sentence.is_empty() {
        sentences.push(sentence.join(" "));
    }
}

fn ends_a_sentence(token: &str) -> bool {
    let bare = token.trim_end_matches(['"', ')', '*', '_', '”', ']']);
    let Some(word) = bare.strip_suffix(['.', '!', '?']) else { return false };
    let word = word.trim_start_matches(['"', '(', '*', '_', '“', '[']);
    // `L. Kleinrock`: an initial ends no sentence.
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    !is_initial && !SHORTENED.contains(&word.to_lowercase().as_str())
}

/// A paragraph as read: code is one word, a link is its text.
fn plain(paragraph: &str) -> String {
    let parts = paragraph.split('`').enumerate();
    let text: String =
        parts.map(|(index, part)| if index % 2 == 1 { "code" } else { part }).collect();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        plain.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain.replace('[', "")
}

/// The words of a sentence: whatever has a letter or a digit.
pub fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|token| token.contains(char::is_alphanumeric)).count()
}

/// How many of its words only this house uses.
pub fn private_words(sentence: &str) -> usize {
    let is_letter = |c: char| c.is_alphanumeric() || c == '\'';
    let lower = sentence.to_lowercase();
    let tokens = lower.split(|c: char| !is_letter(c)).filter(|word| !word.is_empty());
    let spaced = format!(" {} ", tokens.collect::<Vec<_>>().join("  "));
    let of = |word: &str| format!(" {} ", word.replace(' ', "  "));
    PRIVATE.split(',').map(|word| spaced.matches(&of(word)).count()).sum()
}

/// Lines of prose over 100 columns that could be broken; none of a page that a chore writes.
pub fn wide(page: &str) -> usize {
    let breakable = |line: &str| {
        let text = without_marker(line.trim()).1;
        let is_a_link =
            text.starts_with('[') && text.ends_with(')') && text.matches("](").count() == 1;
        text.contains(' ') && !is_a_link
    };
    if page.lines().take(5).any(|line| line.ends_with("do not edit.")) {
        return 0;
    }
    let lines = prose(page).into_iter();
    lines.filter(|line| line.chars().count() > MAX_COLUMNS && breakable(line)).count()
}
