//! A chart of the page as a file of its own: with its title and legend in the picture, and without
//! what only a pointer finds.

use super::CHART_MARK;
use crate::ground::chart::{WIDTH, number};
use crate::ground::markup::{Element, Markup, Node, element};
use crate::ground::palette;

/// Around the picture.
const MARGIN: f64 = 12.0;
const TITLE: f64 = 26.0;
const LEGEND_ROW: f64 = 18.0;
/// About what a letter takes at the legend's size; legends leave room, so it need not be exact.
const LETTER: f64 = 6.6;
/// The key of a legend's entry, and the room behind it.
const KEY: f64 = 28.0;
/// Between two entries.
const GAP: f64 = 16.0;

/// The file of a figure, and its title; `None` if the figure has no chart.
pub fn standalone(figure: &Element) -> Option<(String, String)> {
    let mut charts = Vec::new();
    figure.find(&|element| element.name == "svg" && element.has_class("chart"), &mut charts);
    let chart = charts.first()?;
    let title = chart.get("aria-label").unwrap_or_default().to_owned();
    let height = chart
        .get("viewBox")
        .and_then(|view| view.split(' ').nth(3)?.parse::<f64>().ok())
        .unwrap_or(0.0);
    let (legend, legend_height) = legend(figure);
    let head = TITLE + legend_height;
    let (width, whole) = (WIDTH + 2.0 * MARGIN, height + head + 2.0 * MARGIN);
    let mut content = element("style", &[], palette::RULES.as_str());
    content.push(drawing(&chart.children, &|element| matches!(element.name, "title" | "desc")));
    let paper = [("width", &*number(width)), ("height", &*number(whole)), ("fill", "#ffffff")];
    content.push(element("rect", &paper, ""));
    let place = [("class", "name"), ("x", "0"), ("y", "14"), ("font-weight", "600")];
    let mut inside = element("text", &place, title.as_str());
    inside.push(legend);
    let down = format!("translate(0 {})", number(head));
    let chart = drawing(&chart.children, &|element| !matches!(element.name, "title" | "desc"));
    inside.push(element("g", &[("transform", &down)], chart));
    let down = format!("translate({0} {0})", number(MARGIN));
    content.push(element("g", &[("transform", &down)], inside));
    let view = format!("0 0 {} {}", number(width), number(whole));
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("role", "img"),
        ("viewBox", &*view),
        ("width", &*number(width)),
        ("height", &*number(whole)),
        ("color", palette::colour("ink").unwrap_or("#000000")),
        ("font-family", "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"),
    ];
    Some((title, format!("{CHART_MARK}\n{}\n", element("svg", &attributes, content).into_string())))
}

fn legend(figure: &Element) -> (Markup, f64) {
    let mut keys = Vec::new();
    figure.find(&|element| element.has_class("key"), &mut keys);
    let mut drawn = Markup::new();
    let (mut left, mut row) = (0.0, 0);
    for key in &keys {
        let words = key.words();
        let room = KEY + words.trim().chars().count() as f64 * LETTER + GAP;
        if left > 0.0 && left + room > WIDTH {
            (left, row) = (0.0, row + 1);
        }
        let top = TITLE - 2.0 + f64::from(row) * LEGEND_ROW;
        let place = format!("translate({} {})", number(left), number(top));
        let mut pictures = Vec::new();
        key.find(&|element| element.name == "svg", &mut pictures);
        let mut entry: Markup =
            pictures.iter().map(|svg| drawing(&svg.children, &|_| true)).collect();
        entry.push(element("text", &[("x", &*number(KEY)), ("y", "9")], words.trim()));
        drawn.push(element("g", &[("transform", &place)], entry));
        left += room;
    }
    if keys.is_empty() {
        return remark(figure);
    }
    let rows = f64::from(row) + 1.0;
    (drawn, rows * LEGEND_ROW)
}

fn remark(figure: &Element) -> (Markup, f64) {
    let mut legends = Vec::new();
    figure.find(&|element| element.has_class("legend"), &mut legends);
    let words: String = legends.iter().map(|legend| legend.words()).collect();
    if words.trim().is_empty() {
        return (Markup::new(), 0.0);
    }
    (element("text", &[("x", "0"), ("y", &*number(TITLE + 7.0))], words.trim()), LEGEND_ROW)
}

/// A drawing is made of these alone.
const SHAPES: [&str; 10] =
    ["circle", "desc", "g", "line", "path", "polygon", "polyline", "rect", "text", "title"];

/// These pieces once more, of those for which `wanted` holds, without strips for the pointer.
fn drawing(nodes: &[Node], wanted: &dyn Fn(&Element) -> bool) -> Markup {
    let mut drawn = Markup::new();
    for node in nodes {
        match node {
            Node::Text(text) => drawn.push(text),
            Node::Element(shape) if !shape.has_class("hit") && wanted(shape) => {
                if !SHAPES.contains(&shape.name) {
                    continue;
                }
                let attributes: Vec<(&'static str, &str)> = shape
                    .attributes
                    .iter()
                    .filter(|(key, _)| is_drawn(key))
                    .map(|(key, value)| (*key, value.as_str()))
                    .collect();
                drawn.push(element(shape.name, &attributes, drawing(&shape.children, &|_| true)));
            }
            Node::Element(_) | Node::Ours(_) => {}
        }
    }
    drawn
}

fn is_drawn(key: &str) -> bool {
    const KNOWN: &str = "class cx cy d fill fill-opacity height points r rx stroke text-anchor \
        transform width x x1 x2 y y1 y2";
    KNOWN.split(' ').any(|known| known == key)
}
