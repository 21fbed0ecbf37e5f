//! The words of a command line, as a shell would hand them over.

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
