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
}
