//! Sentences folded to the width of a terminal, which by itself breaks lines in the midst of words.

use super::emphasis;

/// `text` with its sentences broken between words, so that no line has more than `room` characters
/// where its words allow it. What belongs to an entry of a list, or to a note, is set in beneath
/// it. Rows of tables, which have two spaces in a row somewhere, stay as they are.
pub fn folded(text: &str, room: usize) -> String {
    text.split_inclusive('\n').map(|line| fold(line, room)).collect()
}

fn fold(line: &str, room: usize) -> String {
    let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
    let sentence = body.trim_start_matches(' ');
    let lead = body.len() - sentence.len();
    if emphasis::length(body) <= room || sentence.contains("  ") {
        return line.to_owned();
    }
    hung(&" ".repeat(lead), sentence, lead + mark(sentence), room) + end
}

/// `sentence` behind `head`, with its further lines set in by `indent` characters.
pub fn hung(head: &str, sentence: &str, indent: usize, room: usize) -> String {
    let indent = " ".repeat(indent);
    let (mut text, mut used) = (head.to_owned(), head.chars().count());
    for (number, word) in sentence.split(' ').enumerate() {
        let length = emphasis::length(word);
        if number > 0 && used + 1 + length > room {
            text.push('\n');
            text.push_str(&indent);
            used = indent.len();
        } else if number > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text
}

/// How many characters the mark of an entry takes, with the space behind it: `- ` or a note's
/// number.
fn mark(body: &str) -> usize {
    let is_mark = |word: &str| {
        word == "-" || !word.is_empty() && word.chars().all(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c))
    };
    body.split_once(' ')
        .filter(|(first, _)| is_mark(first))
        .map_or(0, |(first, _)| first.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words_and_entries_stand_in() {
        assert_eq!(folded("one two three\n", 8), "one two\nthree\n");
        assert_eq!(
            folded("- one two three\n¹² four five six", 9),
            "- one two\n  three\n¹² four\n   five\n   six"
        );
        assert_eq!(folded("no end", 80), "no end");
        assert_eq!(folded("  one two three\n", 9), "  one two\n  three\n", "set in as it was");
        assert_eq!(hung("head     ", "one two", 9, 14), "head     one\n         two");
        assert_eq!(folded("", 3), "");
    }

    #[test]
    fn a_row_of_a_table_and_a_word_without_end_stay_whole() {
        let row = "workload  sweep  IOPS\n";
        assert_eq!(folded(row, 5), row);
        assert_eq!(
            folded("a sim:cluster=with-a-long-name b", 10),
            "a\nsim:cluster=with-a-long-name\nb"
        );
        assert_eq!(folded("a b c", 0), "a\nb\nc", "no room is no reason to hang");
    }

    #[test]
    fn nothing_is_lost() {
        let text = "- a note of some words, and more of them\nplain words after it\n";
        for room in 0..60 {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&folded(text, room)), words(text), "{room}");
        }
    }
}
