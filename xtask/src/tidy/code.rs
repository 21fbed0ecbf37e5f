//! Rust text without what is not code.

/// `text` with every comment and every literal of text blanked out; lines and columns stay where
/// they are.
///
/// It is not a full lexer: it knows what it takes to tell code from comments, strings and
/// characters.
pub fn only_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut previous = ' ';
    while let Some(first) = rest.chars().next() {
        let length = match hidden_length(rest, previous) {
            0 => {
                out.push(first);
                previous = first;
                rest = &rest[first.len_utf8()..];
                continue;
            }
            length => length,
        };
        out.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        previous = ' ';
        rest = &rest[length..];
    }
    out
}

/// The bytes of the comment or literal at the start of `rest`; 0 where code starts.
fn hidden_length(rest: &str, previous: char) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    // The `r` of `for` or of `r#type` begins no raw string.
    let in_word = previous.is_alphanumeric() || previous == '_';
    if !in_word && let Some(length) = raw_string_length(rest) {
        return length;
    }
    match rest.as_bytes()[0] {
        b'"' => quoted_length(rest, 0),
        b'b' if !in_word && rest[1..].starts_with('"') => quoted_length(rest, 1),
        b'\'' => char_length(rest),
        _ => 0,
    }
}

fn block_comment_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn raw_string_length(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - body.len();
    Some(body.find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

/// The length of the string whose opening quote stands at `quote`.
fn quoted_length(rest: &str, quote: usize) -> usize {
    let bytes = rest.as_bytes();
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The length of a character literal, 0 for a lifetime.
fn char_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        // An escape's own character may be a quote: look for the closing one behind it.
        Some((_, '\\')) => {
            let behind = chars.nth(1).map_or(rest.len(), |(at, _)| at);
            rest[behind..].find('\'').map_or(rest.len(), |at| behind + at + 1)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// The 1-based lines on which `word` stands by itself, not as part of a longer name.
pub fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| has_word(line, word))
        .map(|(index, _)| index + 1)
        .collect()
}

/// Whether `word` stands in `line` with no letter, digit or underscore next to it.
pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        starts_word(line, at) && !line[at + word.len()..].chars().next().is_some_and(is_in_name)
    })
}

/// Whether no name goes on at this place.
pub fn starts_word(code: &str, at: usize) -> bool {
    !code[..at].chars().next_back().is_some_and(is_in_name)
}

/// Whether a name may have this character.
pub fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The members of a group whose opening brace is behind us.
pub fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                members.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members
}

/// The code up to the tests beside it.
pub fn without_tests(code: &str) -> String {
    let mark = code.match_indices("#[cfg(test)]").find(|(at, mark)| {
        let after = code[at + mark.len()..].trim_start();
        after.starts_with("mod ")
            && after.find('{').is_some_and(|brace| after.find(';').is_none_or(|end| brace < end))
    });
    mark.map_or(code, |(at, _)| &code[..at]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_go_and_lines_stay() {
        for (text, wanted) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d\n */ e", "a               \n    e"),
            (r#"x("a\"b", 'c', '\'', b"d")"#, "x(      ,    ,     ,     )"),
            (r##"r#"a"b"# + r"c\" + br"d""##, "         +       +      "),
            ("fn f<'a>(x: &'a str) -> char { 'a' }", "fn f<'a>(x: &'a str) -> char {     }"),
            ("r#type + for\"x\"", "r#type + for   "),
            ("'\\u{1F600}' x", "            x"),
            ("\"ü\" y", "    y"),
        ] {
            assert_eq!(only_code(text), wanted, "{text}");
        }
    }

    #[test]
    fn unfinished_text_ends_with_the_file() {
        for text in ["\"abc", "/* abc", "r#\"abc\"", "'\\", "'", "\"a\\", "'\\n", "b\"", "r"] {
            let _ = only_code(text);
        }
        assert_eq!(only_code("x /* abc\n").trim(), "x");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(lines_with_word("unsafe_code\nunsafe {}\nan_unsafe", "unsafe"), [2]);
    }
}
