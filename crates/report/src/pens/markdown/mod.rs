//! Pieces of the page as blocks and lines of Markdown.

mod picture;

use crate::ground::markup::{Element, Node};
use model::printable;

/// The first line of every chart's SVG file: by it, a file is known as one that may be written
/// again.
pub const CHART_MARK: &str = "<!-- Plimsoll chart -->";

/// A chart that stands for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The name of its file, without an ending: letters, digits and dashes.
    pub name: String,
    /// An SVG file: colours for a light background, no reference to anything outside.
    pub svg: String,
}

/// Writes blocks, and collects the charts on its way.
pub struct Writer<'a> {
    folder: &'a str,
    text: String,
    charts: Vec<Chart>,
}

/// Longer names are cut: they are names of files.
const MOST_NAME_CHARS: usize = 48;

impl<'a> Writer<'a> {
    /// Nothing yet.
    pub fn new(folder: &'a str) -> Writer<'a> {
        Writer { folder, text: String::new(), charts: Vec::new() }
    }

    /// The text and its charts.
    pub fn into_parts(self) -> (String, Vec<Chart>) {
        (format!("{}\n", self.text.trim_end()), self.charts)
    }

    /// A heading; level 1 is the highest.
    pub fn heading(&mut self, level: usize, words: &str) {
        self.block(&format!("{} {}", "#".repeat(level), escaped(words)));
    }

    fn block(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.text.push_str(text.trim_end());
            self.text.push_str("\n\n");
        }
    }

    /// Writes pieces one below the other; words and pieces of a line that stand between blocks are
    /// a paragraph.
    pub fn blocks(&mut self, nodes: &[Node]) {
        let mut line: Vec<Node> = Vec::new();
        for node in nodes {
            match node {
                Node::Element(element) if !is_inline(element.name) => {
                    self.paragraph(&std::mem::take(&mut line));
                    self.element(element);
                }
                piece => line.push(piece.clone()),
            }
        }
        self.paragraph(&line);
    }

    fn paragraph(&mut self, nodes: &[Node]) {
        self.block(&led(&inline(nodes)));
    }

    fn element(&mut self, element: &Element) {
        match element.name {
            "h1" => self.block(&format!("# {}", inline(&element.children))),
            "h2" => self.block(&format!("## {}", inline(&element.children))),
            "h3" => self.block(&format!("### {}", inline(&element.children))),
            "h4" => self.block(&format!("#### {}", inline(&element.children))),
            "p" => self.paragraph(&element.children),
            "ul" | "ol" => self.list(element),
            "dl" => self.facts(element),
            "pre" => self.block(&fenced(&element.words())),
            "table" => self.table(element),
            "figure" => self.figure(element),
            "details" => self.details(element),
            // What draws or runs in a page and is not in a figure has no words.
            "svg" | "style" | "script" => {}
            _ => self.blocks(&element.children),
        }
    }

    fn list(&mut self, list: &Element) {
        let is_numbered = list.name == "ol";
        let item = |(number, item): (usize, &Element)| {
            let lead = if is_numbered { format!("{}. ", number + 1) } else { "- ".to_owned() };
            format!("{lead}{}", led(&inline(&item.children)))
        };
        let items: Vec<String> = list.elements().enumerate().map(item).collect();
        self.block(&items.join("\n"));
    }

    fn facts(&mut self, list: &Element) {
        let mut text = String::new();
        // Pairs of a term and its words may stand in a box of their own.
        let mut pairs = Vec::new();
        list.children.iter().for_each(|node| {
            let Node::Element(element) = node else { return };
            match element.name {
                "div" => pairs.extend(element.elements()),
                _ => pairs.push(element),
            }
        });
        for element in pairs {
            let words = inline(&element.children);
            text.push_str(&if element.name == "dt" {
                format!("- **{words}**: ")
            } else {
                format!("{words}\n")
            });
        }
        self.block(&text);
    }

    fn figure(&mut self, figure: &Element) {
        let Some((title, svg)) = picture::standalone(figure) else {
            let caption = figure
                .elements()
                .filter(|element| element.name == "figcaption")
                .map(Element::words);
            self.block(&format!("**{}**", escaped(caption.collect::<String>().trim())));
            let is_caption =
                |node: &&Node| matches!(node, Node::Element(one) if one.name == "figcaption");
            let rest: Vec<Node> =
                figure.children.iter().filter(|node| !is_caption(node)).cloned().collect();
            return self.blocks(&rest);
        };
        let name = file_name(self.charts.len() + 1, &title);
        let link = format!("{}/{name}.svg", self.folder);
        self.block(&format!("![{}](<{}>)", escaped(&title), link.replace(['<', '>', '\n'], "_")));
        self.charts.push(Chart { name, svg });
        // What a figure has beside its picture, such as the numbers behind it.
        let is_rest = |element: &&Element| element.name != "svg" && element.name != "figcaption";
        let rest: Vec<Node> =
            figure.elements().filter(is_rest).cloned().map(Node::Element).collect();
        self.blocks(&rest);
    }

    fn details(&mut self, details: &Element) {
        let is_summary = |element: &&Element| element.name == "summary";
        let summary: String = details.elements().filter(is_summary).map(Element::words).collect();
        self.block(&format!("<details>\n<summary>{}</summary>", escaped(&summary)));
        let rest: Vec<Node> = details
            .elements()
            .filter(|element| !is_summary(element))
            .cloned()
            .map(Node::Element)
            .collect();
        self.blocks(&rest);
        self.block("</details>");
    }

    fn table(&mut self, table: &Element) {
        let rows = super::rows(table);
        let Some((head, body)) = rows.split_first() else { return };
        let cells = |row: &Element| -> Vec<String> {
            row.elements().map(|cell| inline(&cell.children)).collect()
        };
        let columns = rows.iter().map(|row| cells(row).len()).max().unwrap_or(0);
        let line = |mut cells: Vec<String>| {
            cells.resize(columns, String::new());
            format!("| {} |\n", cells.join(" | "))
        };
        // A head may have no class where its figures have.
        let first: Vec<&Element> = body.first().unwrap_or(head).elements().collect();
        let rule = |at: usize| {
            if first.get(at).is_some_and(|cell| cell.has_class("number")) { "---:" } else { "---" }
        };
        let mut text = line(cells(head));
        text.push_str(&line((0..columns).map(|at| rule(at).to_owned()).collect()));
        text.extend(body.iter().map(|row| line(cells(row))));
        self.block(&text);
        for caption in table.elements().filter(|element| element.name == "caption") {
            self.block(&format!("*{}*", inline(&caption.children)));
        }
    }
}

fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "span" | "a" | "code" | "strong" | "em" | "b" | "i" | "sup" | "sub" | "small" | "br"
    )
}

/// `07-latency-over-time-read`.
fn file_name(number: usize, title: &str) -> String {
    let dashed: String = title
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(MOST_NAME_CHARS).collect();
    format!("{number:02}-{}", name.trim_end_matches('-')).trim_end_matches('-').to_owned()
}

/// A block that stands as it is. The fence is longer than any in the text.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// Words as code, whatever is in them (<https://spec.commonmark.org/0.31.2/#code-spans>).
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    // A bar would end the cell of a table, in code, too.
    format!("{fence}{pad}{}{pad}{fence}", text.replace('\n', " ").replace('|', "\\|"))
}

fn inline(nodes: &[Node]) -> String {
    pieces(nodes).trim().to_owned()
}

fn pieces(nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        let piece = match node {
            Node::Text(words) => escaped(words),
            Node::Ours(_) => String::new(),
            Node::Element(element) => match element.name {
                "svg" | "style" | "script" => String::new(),
                "code" => code(&element.words()),
                "a" => link(element),
                "strong" | "b" => format!("**{}**", pieces(&element.children)),
                "sup" => format!("<sup>{}</sup>", pieces(&element.children)),
                "span" if element.has_class("badge") => {
                    format!("**{}** ", pieces(&element.children))
                }
                "p" | "li" | "div" => format!("{} ", pieces(&element.children)),
                _ => pieces(&element.children),
            },
        };
        text.push_str(&piece);
    }
    text
}

/// A link within the report. Elsewhere, nothing of ours leads.
fn link(element: &Element) -> String {
    let words = pieces(&element.children);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#');
    match element.get("href") {
        Some(to) if to.starts_with('#') && to.chars().all(is_plain) => format!("[{words}]({to})"),
        _ => words,
    }
}

/// Words that stay words: nothing in them is a mark of Markdown or HTML, and they stay in their
/// line.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                safe.push('\\');
                safe.push(c);
            }
            c if printable::acts(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// A line whose beginning is no mark of a list or a heading.
fn led(line: &str) -> String {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - number.len();
    if line.starts_with(['-', '+', '=']) {
        return format!("\\{line}");
    }
    if digits > 0 && number.starts_with(['.', ')']) {
        return format!("{}\\{number}", &line[..digits]);
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_is_no_markup() {
        assert_eq!(
            escaped("a|b <i> *x* [y](z) `c`\n# d"),
            "a\\|b &lt;i&gt; \\*x\\* \\[y\\](z) \\`c\\` \\# d"
        );
        assert_eq!(
            ["- a", "12. a", "3) a", "12 a"].map(led),
            ["\\- a", "12\\. a", "3\\) a", "12 a"]
        );
        assert_eq!((code("a`b|c"), code("`")), ("``a`b\\|c``".to_owned(), "`` ` ``".to_owned()));
        assert_eq!(fenced("a\n```\nb"), "````text\na\n```\nb\n````");
    }

    #[test]
    fn names_of_files_are_plain_and_each_is_there_once() {
        assert_eq!(file_name(7, "Latency over time, <read>/../x"), "07-latency-over-time-read-x");
        assert_eq!(file_name(123, "…"), "123");
        assert!(file_name(1, &"a".repeat(500)).len() < 60);
    }
}
