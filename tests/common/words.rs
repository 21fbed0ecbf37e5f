//! Arguments of a program, as a test writes them: `"run smoke --json"`, `["--out", path]`, and
//! several of these behind one another as a tuple.

use std::ffi::{OsStr, OsString};

/// Arguments of a program.
pub trait Words {
    /// Puts them behind others.
    fn add_to(&self, all: &mut Vec<OsString>);

    /// All of them.
    fn words(&self) -> Vec<OsString> {
        let mut all = Vec::new();
        self.add_to(&mut all);
        all
    }
}

/// A line: spaces are between words.
impl Words for str {
    fn add_to(&self, all: &mut Vec<OsString>) {
        all.extend(self.split_whitespace().map(OsString::from));
    }
}

impl Words for String {
    fn add_to(&self, all: &mut Vec<OsString>) {
        self.as_str().add_to(all);
    }
}

/// Each is one word, whatever it has in it.
impl<T: AsRef<OsStr>> Words for [T] {
    fn add_to(&self, all: &mut Vec<OsString>) {
        all.extend(self.iter().map(|word| word.as_ref().to_owned()));
    }
}

impl<T: AsRef<OsStr>, const N: usize> Words for [T; N] {
    fn add_to(&self, all: &mut Vec<OsString>) {
        self.as_slice().add_to(all);
    }
}

impl<T: AsRef<OsStr>> Words for Vec<T> {
    fn add_to(&self, all: &mut Vec<OsString>) {
        self.as_slice().add_to(all);
    }
}

impl<T: Words + ?Sized> Words for &T {
    fn add_to(&self, all: &mut Vec<OsString>) {
        (**self).add_to(all);
    }
}

impl<A: Words, B: Words> Words for (A, B) {
    fn add_to(&self, all: &mut Vec<OsString>) {
        self.0.add_to(all);
        self.1.add_to(all);
    }
}

impl<A: Words, B: Words, C: Words> Words for (A, B, C) {
    fn add_to(&self, all: &mut Vec<OsString>) {
        ((&self.0, &self.1), &self.2).add_to(all);
    }
}

impl<A: Words, B: Words, C: Words, D: Words> Words for (A, B, C, D) {
    fn add_to(&self, all: &mut Vec<OsString>) {
        ((&self.0, &self.1), (&self.2, &self.3)).add_to(all);
    }
}

impl<A: Words, B: Words, C: Words, D: Words, E: Words> Words for (A, B, C, D, E) {
    fn add_to(&self, all: &mut Vec<OsString>) {
        ((&self.0, &self.1, &self.2), (&self.3, &self.4)).add_to(all);
    }
}
