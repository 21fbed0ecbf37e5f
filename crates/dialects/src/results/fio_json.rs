//! The JSON of fio's output: found among what stands around it, and mended where fio wrote what is
//! none.

use serde_json::Value;

/// The JSON of an output.
pub struct Found {
    /// Its content.
    pub value: Value,
    /// Bytes of text around it that are no blanks.
    pub around: usize,
    /// Words that are no JSON, such as `nan`, in whose place nothing stands now.
    pub mended: usize,
}

/// The first object of a text that begins a line, or begins at all.
///
/// # Errors
/// There is none, or it is none to its end: the place and why.
pub fn find(text: &str) -> Result<Found, String> {
    let at_line = if text.starts_with('{') { Some(0) } else { text.find("\n{").map(|at| at + 1) };
    let begin = at_line.or_else(|| text.find('{')).ok_or("there is no JSON in it")?;
    let lines = text[..begin].matches('\n').count();
    let whole = |error: &serde_json::Error| {
        format!(
            "it is no JSON: line {}, column {}: {}",
            lines + error.line(),
            error.column(),
            reason(error)
        )
    };
    let (value, length, mended) = match first(&text[begin..]) {
        Ok((value, length)) => (value, length, 0),
        Err(error) => {
            let (mended, count) = without_nan(&text[begin..]);
            match first(&mended) {
                // The words become shorter or longer: what stands behind is counted in the mended.
                Ok((value, length)) if count > 0 => {
                    let behind = mended[length..].trim().len();
                    let around = text[..begin].trim().len() + behind;
                    return Ok(Found { value, around, mended: count });
                }
                _ => return Err(whole(&error)),
            }
        }
    };
    let around = text[..begin].trim().len() + text[begin + length..].trim().len();
    Ok(Found { value, around, mended })
}

fn reason(error: &serde_json::Error) -> &'static str {
    if error.is_eof() { "it ends too early; fio did not end" } else { "a sign that is none there" }
}

/// The first value of a text, and where it ends.
fn first(text: &str) -> Result<(Value, usize), serde_json::Error> {
    let mut all = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match all.next() {
        Some(Ok(value)) => Ok((value, all.byte_offset())),
        Some(Err(error)) => Err(error),
        None => Ok((Value::Null, 0)),
    }
}

/// The text with `null` for `nan` and `inf` outside of strings: C prints them for a division by
/// nothing.
fn without_nan(text: &str) -> (String, usize) {
    let (mut out, mut count) = (String::with_capacity(text.len()), 0);
    let (mut rest, mut is_string) = (text, false);
    while let Some(c) = rest.chars().next() {
        let word = ["-nan", "nan", "-inf", "inf"].into_iter().find(|word| rest.starts_with(word));
        if let Some(word) = word.filter(|_| !is_string) {
            out.push_str("null");
            count += 1;
            rest = &rest[word.len()..];
            continue;
        }
        if c == '\\' && is_string {
            let length = rest.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        is_string ^= c == '"';
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    (out, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_is_counted_and_words_are_mended() {
        let found =
            find("fio: {warning}\n{\"a\": nan, \"b\": \"nan \\\"inf\"}\n done").expect("JSON");
        assert_eq!(found.value["a"], Value::Null);
        assert_eq!(found.value["b"], "nan \"inf");
        assert_eq!((found.mended, found.around), (1, 18));
        let found = find("{\"a\": 1}").expect("JSON");
        assert_eq!((found.mended, found.around), (0, 0));
    }

    #[test]
    fn half_of_it_is_an_error_with_its_line() {
        let error = find("w\n{\n\"a\": [1,\n").err().expect("half");
        assert!(error.contains("line 4") && error.contains("too early"), "{error}");
        assert!(find("nothing").is_err());
    }
}
