//! The words of a command line, as a shell would hand them over.

use crate::import::ImportError;

/// The words; an `Err` says which quote is open.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', Some('"') | None) => match letters.next() {
                // A line that goes on.
                Some('\n') => {}
                Some(next) => word.get_or_insert_default().push(next),
                None => word.get_or_insert_default().push('\\'),
            },
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a quote {open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// The words of a command line of Windows: a backslash is a letter of a path, and only double
/// quotes hold words together.
pub fn windows_words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            letter if letter.is_whitespace() && !is_quoted => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    if is_quoted {
        return Err("a quote \" is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

/// Dashes that word processors and browsers write in place of `-`, each with its name.
const TYPESET: [(char, &str); 9] = [
    ('\u{2010}', "a hyphen"),
    ('\u{2011}', "a hyphen that does not break"),
    ('\u{2012}', "a figure dash"),
    ('\u{2013}', "an en dash"),
    ('\u{2014}', "an em dash"),
    ('\u{2015}', "a horizontal bar"),
    ('\u{2212}', "a minus sign"),
    ('\u{fe63}', "a small hyphen"),
    ('\u{ff0d}', "a wide hyphen"),
];

/// Whether no word begins with a dash that no tool takes for its own.
pub fn no_typeset_dash(words: &[String]) -> Result<(), ImportError> {
    for (number, word) in words.iter().enumerate() {
        let letter = word.chars().find(|letter| *letter != '-').unwrap_or('-');
        if let Some((_, name)) = TYPESET.iter().find(|(dash, _)| *dash == letter) {
            let shown: String = word.chars().take(40).collect();
            let what = format!(
                "`{shown}` begins with {name} (U+{:04X}), as word processors write it",
                u32::from(letter)
            );
            let rest = shown.trim_start_matches(['-', letter]);
            let dashes = if letter == '\u{2014}' { "--" } else { "-" };
            let remedy = format!("write `{dashes}{rest}`");
            return Err(ImportError::new(format!("word {}", number + 1), what, remedy));
        }
    }
    Ok(())
}

/// A command up to where its output goes elsewhere, or another one begins; and the rest. With
/// `has_comments`, a `#` ends it, too: on Windows it begins the name of a disk.
pub fn first_command(line: &str, has_comments: bool) -> (&str, &str) {
    let mut quote = None;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '|' | ';' | '&' | '>' | '<') => return line.split_at(of_a_stream(line, at)),
            (None, '#') if has_comments && before.is_whitespace() => return line.split_at(at),
            _ => {}
        }
        before = letter;
    }
    (line, "")
}

/// Where the redirection at `at` begins: with the number of a stream, if that is a word.
fn of_a_stream(line: &str, at: usize) -> usize {
    let without = line[..at].trim_end_matches(|c: char| c.is_ascii_digit());
    if without.ends_with(char::is_whitespace) { without.len() } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_a_shells() {
        let of = |line| words(line).expect("good");
        assert_eq!(
            of("fio --name=a 'b c' \"d\\\"e\" \\\n f"),
            ["fio", "--name=a", "b c", "d\"e", "f"]
        );
        assert_eq!(of("''"), [""]);
        assert!(words("'open").is_err());
    }

    #[test]
    fn paths_of_windows_keep_their_backslashes() {
        let words = windows_words(r#"C:\T\diskspd.exe -b4K "D:\a b\x.dat""#).expect("words");
        assert_eq!(words, [r"C:\T\diskspd.exe", "-b4K", r"D:\a b\x.dat"]);
        assert!(windows_words("a \"b").is_err());
    }

    #[test]
    fn a_command_ends_where_its_output_goes_elsewhere() {
        assert_eq!(
            first_command("fio --a='x > y' 2>&1 | tee z", true),
            ("fio --a='x > y' ", "2>&1 | tee z")
        );
        assert_eq!(first_command("fio --runtime=60>out", true), ("fio --runtime=60", ">out"));
        assert_eq!(first_command("fio --a=b#c # d", true), ("fio --a=b#c ", "# d"));
        assert_eq!(first_command("fio a", true), ("fio a", ""));
        assert_eq!(first_command("diskspd #1 >x", false), ("diskspd #1 ", ">x"));
    }
}
