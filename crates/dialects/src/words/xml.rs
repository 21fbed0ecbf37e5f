//! Elements of an XML text, without what profiles never use: no document types, no namespaces.

/// No element stands in more others.
const MOST_DEPTH: usize = 32;
/// No text has more elements.
const MOST_ELEMENTS: usize = 50_000;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes.
    pub attributes: Vec<(String, String)>,
    /// The text in it, its elements left out.
    pub text: String,
    /// The elements in it.
    pub children: Vec<Element>,
    /// The line at which it begins.
    pub line: usize,
}

impl Element {
    /// An attribute's value.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Line, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlError {
    /// The line.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// The outermost element of a text.
///
/// # Errors
/// A tag is not closed, or the text is too large or too deep.
pub fn parse(text: &str) -> Result<Element, XmlError> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut open: Vec<Element> = vec![Element::default()];
    let mut count = 0;
    while let Some(at) = reader.rest.find('<') {
        let words = reader.take(at);
        if let Some(last) = open.last_mut() {
            last.text.push_str(words.trim());
        }
        let line = reader.line;
        let wrong = |what: &str| XmlError { line, what: what.to_owned() };
        if reader.rest.starts_with("<!--") {
            let end = reader.rest.find("-->").ok_or_else(|| wrong("a comment has no end"))?;
            reader.take(end + 3);
            continue;
        }
        let end = reader.rest.find('>').ok_or_else(|| wrong("a tag has no end"))?;
        let tag = reader.take(end + 1);
        let inner = tag.trim_start_matches('<').trim_end_matches('>').trim();
        if inner.starts_with('!') {
            return Err(wrong("document types are not read"));
        }
        if inner.starts_with('?') {
            continue;
        }
        if let Some(name) = inner.strip_prefix('/') {
            let closed = open.pop().filter(|last| last.name == name.trim() && !open.is_empty());
            let mut closed = closed.ok_or_else(|| wrong("an end tag closes nothing"))?;
            closed.text = plain(&closed.text);
            if let Some(last) = open.last_mut() {
                last.children.push(closed);
            }
            continue;
        }
        count += 1;
        if count > MOST_ELEMENTS || open.len() > MOST_DEPTH {
            return Err(wrong("there are too many elements"));
        }
        let is_empty = inner.ends_with('/');
        let element = begun(inner.trim_end_matches('/'), line);
        match (is_empty, open.last_mut()) {
            (true, Some(last)) => last.children.push(element),
            _ => open.push(element),
        }
    }
    let mut root = open.pop().unwrap_or_default();
    let line = reader.line;
    if !open.is_empty() {
        return Err(XmlError { line, what: format!("<{}> is not closed", root.name) });
    }
    match root.children.is_empty() {
        true => Err(XmlError { line, what: "there is no element".to_owned() }),
        false => Ok(root.children.swap_remove(0)),
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

fn begun(tag: &str, line: usize) -> Element {
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let mut element = Element { name: name.to_owned(), line, ..Element::default() };
    while let Some((key, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let Some(quote) = behind.chars().next().filter(|c| ['"', '\''].contains(c)) else { break };
        let Some((value, after)) = behind[1..].split_once(quote) else { break };
        element.attributes.push((key.trim().to_owned(), plain(value)));
        rest = after;
    }
    element
}

/// The five entities that need no definition.
fn plain(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_lines_are_read() {
        let text = "<?xml version=\"1.0\"?>\n<!-- <x> -->\n<A>\n<B one='1' two=\"a&amp;b\">5</B>\n\
                    <C/>\
                    </A>\n";
        let root = parse(text).expect("good");
        assert_eq!((root.name.as_str(), root.line, root.children.len()), ("A", 3, 2));
        let child = root.children.first().expect("a child");
        assert_eq!((child.text.as_str(), child.line), ("5", 4));
        assert_eq!(child.attribute("two"), Some("a&b"));
        for bad in ["", "<a>", "<a></b>", "</a>", "<a", "<!DOCTYPE x><a/>", "<a><b></a></b>"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse(&"<a>".repeat(1_000)).is_err());
    }
}
