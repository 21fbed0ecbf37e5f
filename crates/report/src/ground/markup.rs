//! Markup as a tree of nodes, which each surface writes in its own form.
//!
//! It cannot be broken from inside: text and attributes are kept as people read them, and escaped
//! where they are written.

use model::printable;

/// A piece of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup(Vec<Node>);

/// What a piece of a page is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Words, as people read them.
    Text(String),
    /// Something with a name.
    Element(Element),
    /// A style sheet or a script of ours, which is written as it is.
    Ours(&'static str),
}

/// `<name attributes>children</name>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: &'static str,
    /// Its attributes, in order, their values as people read them.
    pub attributes: Vec<(&'static str, String)>,
    /// What stands in it.
    pub children: Vec<Node>,
}

impl Markup {
    /// Nothing.
    pub fn new() -> Markup {
        Markup::default()
    }

    /// Adds a piece behind this one.
    pub fn push(&mut self, piece: impl Into<Markup>) {
        for node in piece.into().0 {
            match (self.0.last_mut(), node) {
                (Some(Node::Text(last)), Node::Text(more)) => last.push_str(&more),
                (_, node) => self.0.push(node),
            }
        }
    }

    /// What it is made of, to be put elsewhere.
    pub fn into_nodes(self) -> Vec<Node> {
        self.0
    }

    /// What it is made of; words are never beside words.
    pub fn nodes(&self) -> &[Node] {
        &self.0
    }

    /// The elements directly in it, to be changed.
    pub fn elements_mut(&mut self) -> impl Iterator<Item = &mut Element> {
        elements_mut(&mut self.0)
    }

    /// Takes the first element with this name out of it, wherever it stands.
    pub fn take_first(&mut self, name: &str) -> Option<Markup> {
        take_first(&mut self.0, name).map(|node| Markup(vec![node]))
    }

    /// As it stands in a file of HTML or SVG.
    pub fn into_string(self) -> String {
        let mut text = String::new();
        write_all(&self.0, &mut text);
        text
    }

    /// A text of ours that is markup already: a style sheet or a script, without anything of the
    /// run in it.
    pub fn of_ours(text: &'static str) -> Markup {
        Markup(vec![Node::Ours(text)])
    }
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
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
        Node::Text(_) | Node::Ours(_) => None,
    })
}

fn elements_mut(nodes: &mut [Node]) -> impl Iterator<Item = &mut Element> {
    nodes.iter_mut().filter_map(|node| match node {
        Node::Element(element) => Some(element),
        Node::Text(_) | Node::Ours(_) => None,
    })
}

fn take_first(nodes: &mut Vec<Node>, name: &str) -> Option<Node> {
    let is_wanted = |node: &Node| matches!(node, Node::Element(one) if one.name == name);
    if let Some(place) = nodes.iter().position(is_wanted) {
        return Some(nodes.remove(place));
    }
    elements_mut(nodes).find_map(|element| take_first(&mut element.children, name))
}

/// All words in these pieces, one behind the other.
pub fn words(nodes: &[Node]) -> String {
    let of = |node: &Node| match node {
        Node::Text(text) => text.clone(),
        Node::Element(element) => element.words(),
        Node::Ours(_) => String::new(),
    };
    nodes.iter().map(of).collect()
}

impl From<&str> for Markup {
    fn from(text: &str) -> Markup {
        Markup::from(text.to_owned())
    }
}

impl From<String> for Markup {
    fn from(text: String) -> Markup {
        if text.is_empty() { Markup::new() } else { Markup(vec![Node::Text(harmless(text))]) }
    }
}

impl From<&String> for Markup {
    fn from(text: &String) -> Markup {
        Markup::from(text.as_str())
    }
}

impl From<Node> for Markup {
    fn from(node: Node) -> Markup {
        Markup(vec![node])
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Markup>>(pieces: I) -> Markup {
        let mut all = Markup::new();
        pieces.into_iter().for_each(|piece| all.push(piece));
        all
    }
}

impl<const N: usize> From<[Markup; N]> for Markup {
    fn from(pieces: [Markup; N]) -> Markup {
        pieces.into_iter().collect()
    }
}

/// `<name attributes>content</name>`.
pub fn element(
    name: &'static str,
    attributes: &[(&'static str, &str)],
    content: impl Into<Markup>,
) -> Markup {
    let attributes =
        attributes.iter().map(|(key, value)| (*key, harmless((*value).to_owned()))).collect();
    Markup(vec![Node::Element(Element { name, attributes, children: content.into().0 })])
}

/// `<name>content</name>`.
pub fn plain(name: &'static str, content: impl Into<Markup>) -> Markup {
    element(name, &[], content)
}

/// `<name class="class">content</name>`.
pub fn classed(name: &'static str, class: &str, content: impl Into<Markup>) -> Markup {
    element(name, &[("class", class)], content)
}

/// `<ul>` with an item for each.
pub fn list<T: Into<Markup>>(items: impl IntoIterator<Item = T>) -> Markup {
    plain("ul", items.into_iter().map(|item| plain("li", item)).collect::<Markup>())
}

/// The same; nothing without items.
pub fn list_of_any<T: Into<Markup>>(items: impl IntoIterator<Item = T>) -> Markup {
    let mut items = items.into_iter().peekable();
    if items.peek().is_none() { Markup::new() } else { list(items) }
}

/// A part of a page with an item for each under its title; nothing without items.
pub(crate) fn list_under<T: Into<Markup>>(
    title: impl Into<Markup>,
    items: impl IntoIterator<Item = T>,
) -> Markup {
    let list = list_of_any(items);
    if list == Markup::new() { list } else { under(title, [list]) }
}

/// A part of a page under its title.
pub fn under<const N: usize>(title: impl Into<Markup>, content: [Markup; N]) -> Markup {
    plain("section", [plain("h2", title), content.into()])
}

/// Large figures side by side, each with its title, what qualifies it, and where it is from.
pub(crate) fn tiles(all: impl IntoIterator<Item = [String; 4]>) -> Markup {
    let tile = |[title, value, qualifier, of]: [String; 4]| {
        let value = [
            classed("span", "large", value),
            format!(" {qualifier} ").into(),
            classed("span", "of", of),
        ];
        plain("div", [plain("dt", title), plain("dd", value)])
    };
    classed("dl", "headline", all.into_iter().map(tile).collect::<Markup>())
}

/// A paragraph for each sentence, in which backticks mark code.
pub fn paragraphs(sentences: &[String]) -> Markup {
    sentences.iter().map(|said| plain("p", with_code(said))).collect()
}

/// That so many of all are not shown; nothing where all are.
pub fn not_shown(all: usize, most: usize, noun: &str) -> Markup {
    match all.saturating_sub(most) {
        0 => Markup::new(),
        more => classed("p", "remark", format!("{more} more {noun} are not shown.")),
    }
}

/// Words of ours in which backticks mark code.
pub fn with_code(marked: &str) -> Markup {
    let piece = |(number, text): (usize, &str)| {
        if number % 2 == 1 { plain("code", text) } else { Markup::from(text) }
    };
    marked.split('`').enumerate().map(piece).collect()
}

/// Control characters have no business in a page.
fn harmless(text: String) -> String {
    let acts = |c: char| c != '\n' && printable::acts(c);
    if text.contains(acts) { text.replace(acts, "\u{fffd}") } else { text }
}

fn write_all(nodes: &[Node], text: &mut String) {
    for node in nodes {
        match node {
            Node::Text(words) => write_words(words, text),
            Node::Element(element) => write(element, text),
            Node::Ours(ours) => text.push_str(ours),
        }
    }
}

fn write(element: &Element, text: &mut String) {
    text.push('<');
    text.push_str(element.name);
    for (key, value) in &element.attributes {
        text.push(' ');
        text.push_str(key);
        text.push_str("=\"");
        write_words(value, text);
        text.push('"');
    }
    text.push('>');
    // The empty elements of a head have no end tag in HTML.
    if matches!(element.name, "meta" | "link") {
        text.push('\n');
        return;
    }
    write_all(&element.children, text);
    text.push_str("</");
    text.push_str(element.name);
    text.push('>');
}

/// Written so that it is text and nothing else.
fn write_words(words: &str, text: &mut String) {
    for c in words.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_stay_text() {
        let hostile = "<script>alert('x')</script>\u{0}\u{202e}\" onload=\"y";
        let markup = element("p", &[("title", hostile)], hostile).into_string();
        assert_eq!(markup.matches('<').count(), 2, "{markup}");
        assert_eq!(markup.matches('"').count(), 2, "{markup}");
        assert!(!markup.contains(['\u{0}', '\u{202e}']), "{markup}");
    }

    #[test]
    fn what_was_put_together_comes_apart_again() {
        let hostile = "a < b > \"c\" & 'd' &lt; </p>";
        let markup = element(
            "p",
            &[("title", hostile)],
            [Markup::from(hostile), classed("b", "x y", plain("i", "z"))],
        );
        let all: Vec<&Element> = elements(markup.nodes()).collect();
        assert_eq!((all.len(), all[0].get("title")), (1, Some(hostile)));
        assert_eq!(all[0].children[0], Node::Text(hostile.to_owned()));
        assert!(all[0].elements().next().is_some_and(|b| b.has_class("y") && !b.has_class("x y")));
        assert_eq!(all[0].words(), format!("{hostile}z"));
    }

    #[test]
    fn words_beside_words_are_one_and_no_words_are_nothing() {
        let pieces = ["a", "", "b"].map(Markup::from);
        assert_eq!(Markup::from(pieces).nodes(), [Node::Text("ab".to_owned())]);
        assert_eq!(plain("p", "").into_string(), "<p></p>");
        let head = element("meta", &[("charset", "utf-8")], "");
        assert_eq!(head.into_string(), "<meta charset=\"utf-8\">\n");
    }
}
