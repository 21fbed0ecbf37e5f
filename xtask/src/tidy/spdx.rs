//! Licence expressions: does a package let us take it under a licence that we allow?

/// Longer than any expression that a person writes.
const MAX_LENGTH: usize = 500;

/// Whether the SPDX expression `text` can be met with licences of `allowed` alone.
///
/// Grammar: SPDX specification, annex "SPDX license expressions"; `/` between licences counts as
/// `OR`, as older manifests on crates.io mean it. A licence `WITH` an exception counts by its whole
/// text, or as the licence alone, since an exception only ever permits more.
///
/// # Errors
/// The text is not an expression.
pub fn is_allowed(text: &str, allowed: &[String]) -> Result<bool, String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("an expression of {} characters", text.len()));
    }
    let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), at: 0, allowed };
    let good = words.any_of()?;
    match words.next() {
        None => Ok(good),
        Some(word) => Err(format!("`{word}` is one word too many")),
    }
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a [String],
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|word| *word == wanted);
        self.at += usize::from(found);
        found
    }

    fn any_of(&mut self) -> Result<bool, String> {
        let mut good = self.all_of()?;
        while self.take("OR") {
            good |= self.all_of()?;
        }
        Ok(good)
    }

    fn all_of(&mut self) -> Result<bool, String> {
        let mut good = self.licence()?;
        while self.take("AND") {
            good &= self.licence()?;
        }
        Ok(good)
    }

    fn licence(&mut self) -> Result<bool, String> {
        match self.next() {
            Some("(") => {
                let good = self.any_of()?;
                if self.take(")") {
                    Ok(good)
                } else {
                    Err("a parenthesis is not closed".to_owned())
                }
            }
            Some(word @ (")" | "AND" | "OR" | "WITH")) => {
                Err(format!("`{word}` where a licence belongs"))
            }
            Some(licence) => {
                let mut good = self.allows(licence);
                if self.take("WITH") {
                    let exception = self.next().ok_or("no exception behind `WITH`")?;
                    good |= self.allows(&format!("{licence} WITH {exception}"));
                }
                Ok(good)
            }
            None => Err("a licence is missing".to_owned()),
        }
    }

    fn allows(&self, licence: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed == licence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> Result<bool, String> {
        is_allowed(text, &["MIT".to_owned(), "Apache-2.0".to_owned(), "Unicode-3.0".to_owned()])
    }

    #[test]
    fn or_needs_one_and_needs_all() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "GPL-2.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "GPL-3.0 AND BSD-4-Clause OR MIT",
        ] {
            assert_eq!(judge(good), Ok(true), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND OpenSSL", "mit"] {
            assert_eq!(judge(bad), Ok(false), "{bad}");
        }
    }

    #[test]
    fn an_exception_can_be_allowed_by_its_whole_text() {
        let whole = ["GPL-2.0 WITH Linux-syscall-note".to_owned()];
        assert_eq!(is_allowed("GPL-2.0 WITH Linux-syscall-note", &whole), Ok(true));
        assert_eq!(is_allowed("GPL-2.0", &whole), Ok(false));
    }

    #[test]
    fn what_is_no_expression_is_no_licence() {
        for broken in
            ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT MIT", "MIT WITH", "()", &"(".repeat(400)]
        {
            assert!(judge(broken).is_err(), "{broken}");
        }
        assert!(judge(&"MIT OR ".repeat(1000)).is_err());
    }
}
