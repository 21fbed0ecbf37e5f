//! Our own markup, taken apart again. It is made by `Markup` alone, which closes what it opens and
//! escapes all text, so this is no parser for anybody else's pages; whatever it meets, it ends and
//! loses no text.

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Words, as people read them.
    Text(String),
    /// Something with a name.
    Element(Element),
}

/// `<name attributes>children</name>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes, in order, their values as people read them.
    pub attributes: Vec<(String, String)>,
    /// What stands in it.
    pub children: Vec<Node>,
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether it has this class.
    pub fn has_class(&self, class: &str) -> bool {
        self.get("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    }

    /// The elements directly in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        elements(&self.children)
    }

    /// Every element below it for which `wanted` holds, outermost first; what stands in a wanted
    /// one is not looked at.
    pub fn find<'a>(&'a self, wanted: &dyn Fn(&Element) -> bool, found: &mut Vec<&'a Element>) {
        for element in self.elements() {
            if wanted(element) {
                found.push(element);
            } else {
                element.find(wanted, found);
            }
        }
    }

    /// All words in it, one behind the other.
    pub fn words(&self) -> String {
        words(&self.children)
    }
}

/// The elements among these pieces.
pub fn elements(nodes: &[Node]) -> impl Iterator<Item = &Element> {
    nodes.iter().filter_map(|node| match node {
        Node::Element(element) => Some(element),
        Node::Text(_) => None,
    })
}

/// All words in these pieces, one behind the other.
pub fn words(nodes: &[Node]) -> String {
    let of = |node: &Node| match node {
        Node::Text(text) => text.clone(),
        Node::Element(element) => element.words(),
    };
    nodes.iter().map(of).collect()
}

/// Takes markup apart.
pub fn parse(markup: &str) -> Vec<Node> {
    // What is open, outermost first; the first is the page itself.
    let mut open = vec![Element::default()];
    let mut rest = markup;
    while let Some((text, after)) = rest.split_once('<') {
        push_text(&mut open, text);
        let Some((tag, behind)) = after.split_once('>') else {
            rest = "";
            break;
        };
        rest = behind;
        if tag.starts_with('/') {
            close(&mut open);
        } else {
            open.push(begun(tag));
        }
    }
    push_text(&mut open, rest);
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().map(|page| page.children).unwrap_or_default()
}

fn push_text(open: &mut [Element], text: &str) {
    if let Some(last) = open.last_mut().filter(|_| !text.is_empty()) {
        last.children.push(Node::Text(unescaped(text)));
    }
}

/// Ends the innermost element; the page itself has no end.
fn close(open: &mut Vec<Element>) {
    if open.len() < 2 {
        return;
    }
    if let Some(done) = open.pop()
        && let Some(parent) = open.last_mut()
    {
        parent.children.push(Node::Element(done));
    }
}

fn begun(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes = Vec::new();
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, behind) = after.split_once('"').unwrap_or((after, ""));
        attributes.push((key.trim().to_owned(), unescaped(value)));
        rest = behind;
    }
    Element { name: name.to_owned(), attributes, children: Vec::new() }
}

/// The opposite of what `Markup` does to text; `&amp;` last, or `&amp;lt;` would be undone twice.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let plain = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'");
    plain.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::markup::{Markup, classed, element, plain};

    #[test]
    fn what_was_put_together_comes_apart_again() {
        let hostile = "a < b > \"c\" & 'd' &lt; </p>";
        let markup = element(
            "p",
            &[("title", hostile)],
            [Markup::from(hostile), classed("b", "x y", plain("i", "z"))],
        );
        let nodes = parse(&markup.into_string());
        let all: Vec<&Element> = elements(&nodes).collect();
        assert_eq!((all.len(), all[0].get("title")), (1, Some(hostile)));
        assert_eq!(all[0].children[0], Node::Text(hostile.to_owned()));
        assert!(all[0].elements().next().is_some_and(|b| b.has_class("y") && !b.has_class("x y")));
        assert_eq!(all[0].words(), format!("{hostile}z"));
    }

    #[test]
    fn what_is_cut_off_ends() {
        for cut in ["", "<", "<p", "<p>a", "</p></p>a", "<p a=\"", "<p a=\"b", "a<b c>d"] {
            assert!(words(&parse(cut)).len() <= cut.len(), "{cut}");
        }
        assert_eq!(words(&parse("<p>a<b>b")), "ab");
    }
}
