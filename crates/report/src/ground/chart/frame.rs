//! What every chart has around its data: place, axes, grid, title.

use super::Scale;
use crate::ground::markup::{Markup, classed, element};
use crate::ground::moment::{latency_words, time_words};
use crate::ground::words;

/// The drawing's own units; the page scales it to the room that there is.
pub const WIDTH: f64 = 560.0;
/// As [`WIDTH`].
pub const HEIGHT: f64 = 250.0;
/// The least room for the words of the vertical axis.
const LEFT: f64 = 64.0;
/// The width of a character of an axis, at most.
const CHARACTER: f64 = 7.0;
/// So much wider are the letters of a telephone.
const ON_TELEPHONES: f64 = 1.25;
const RIGHT: f64 = 24.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;

/// An axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Its name; nothing where the title has it.
    pub name: &'static str,
    /// How its values are spread.
    pub scale: Scale,
    /// Its ticks, and values under the pointer, in words.
    pub words: fn(f64) -> String,
}

impl Axis {
    /// One that the title names.
    pub fn new(scale: Scale, words: fn(f64) -> String) -> Axis {
        Axis { name: "", scale, words }
    }

    /// Time, to its last moment in seconds.
    pub fn time(last_s: f64) -> Axis {
        Axis { name: "time", ..Axis::new(Scale::time_to(last_s), time_words) }
    }

    /// Requests per second from 0.
    pub fn iops(most: f64) -> Axis {
        Axis::new(Scale::linear_to(most), words::iops)
    }

    /// Latencies by factors, in ns.
    pub fn latency(least: f64, most: f64) -> Axis {
        Axis::new(Scale::log_between(least, most), latency_words)
    }
}

/// A pair of axes.
#[derive(Clone, Copy)]
pub struct Frame {
    x: Axis,
    y: Axis,
    /// Where the drawing begins from the left.
    margin: f64,
}

impl Frame {
    /// Axes with room for the words of the vertical one.
    pub fn new(x: Axis, y: Axis) -> Frame {
        let widths = y.scale.ticks().into_iter().map(|tick| width(&(y.words)(tick)));
        Frame { x, y, margin: LEFT.max(widths.fold(0.0, f64::max) * ON_TELEPHONES + 10.0) }
    }

    /// Where a value stands from the left.
    pub fn left(&self, value: f64) -> f64 {
        self.margin + self.x.scale.place(value) * (WIDTH - self.margin - RIGHT)
    }

    /// Whether a value stands on the horizontal axis, if that one is linear.
    pub fn spans(&self, value: f64) -> bool {
        match self.x.scale {
            Scale::Linear { max } | Scale::Time { max_s: max } => (0.0..=max).contains(&value),
            Scale::Dates { from_s, to_s } => (from_s..=to_s).contains(&value),
            _ => false,
        }
    }

    /// Where a value stands from the top.
    pub fn top(&self, value: f64) -> f64 {
        TOP + (1.0 - self.y.scale.place(value)) * (HEIGHT - TOP - BOTTOM)
    }

    /// The upper and the lower end of the drawing area.
    pub fn vertical() -> (f64, f64) {
        (TOP, HEIGHT - BOTTOM)
    }

    /// Grid lines with their words, and the horizontal axis's name.
    pub fn grid(&self) -> Markup {
        let mut grid = Markup::new();
        for tick in self.y.scale.ticks() {
            let y = self.top(tick);
            grid.push(line("grid", [self.margin, WIDTH - RIGHT, y, y], ""));
            grid.push(text("tick end", self.margin - 8.0, y + 4.0, (self.y.words)(tick)));
        }
        let bottom = HEIGHT - BOTTOM;
        for tick in self.x.scale.ticks() {
            let said = (self.x.words)(tick);
            // The last one may not reach past the picture, on a telephone with its larger letters.
            let middle = self.left(tick).min(WIDTH - width(&said) * 0.65);
            grid.push(text("tick middle", middle, bottom + 20.0, said));
        }
        grid.push(text("tick end", WIDTH - RIGHT, HEIGHT - 4.0, self.x.name));
        grid
    }
}

fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A picture with its title and description for those who cannot see it.
pub fn svg(title: &str, description: &str, height: f64, content: Markup) -> Markup {
    picture("chart", [WIDTH, height], title, description, content)
}

/// The same of another class and width.
pub fn picture(
    class: &str,
    [width, height]: [f64; 2],
    title: &str,
    description: &str,
    content: Markup,
) -> Markup {
    let view = format!("0 0 {} {}", number(width), number(height));
    let attributes =
        [("class", class), ("role", "img"), ("viewBox", &*view), ("aria-label", title)];
    let head = [element("title", &[], title), element("desc", &[], description)];
    element("svg", &attributes, [Markup::from(head), content])
}

/// A picture below its title and legend.
pub fn figure(
    attributes: &[(&'static str, &str)],
    title: &str,
    legend: Markup,
    picture: Markup,
) -> Markup {
    let caption = element("figcaption", &[], [Markup::from(title), legend]);
    element("figure", attributes, [caption, picture])
}

/// A legend of words alone.
pub fn remark(words: &str) -> Markup {
    classed("span", "legend", words)
}

/// A name in a legend, behind a piece of what it stands for.
pub fn key(width: f64, piece: Markup, name: &str) -> Markup {
    let (view, width) = (format!("0 0 {} 10", number(width)), number(width));
    let size = [("viewBox", &*view), ("width", &*width), ("height", "10"), ("aria-hidden", "true")];
    classed("span", "key", [element("svg", &size, piece), name.into()])
}

/// A shape with its places and sizes, and what stands in it.
pub fn shape<const N: usize>(
    name: &'static str,
    class: &str,
    places: [(&'static str, f64); N],
    inside: impl Into<Markup>,
) -> Markup {
    let places = places.map(|(key, value)| (key, number(value)));
    let mut attributes = vec![("class", class)];
    attributes.extend(places.iter().map(|(key, value)| (*key, value.as_str())));
    element(name, &attributes, inside)
}

/// Words that begin, end or have their middle at a place, by their class.
pub fn text(class: &str, x: f64, y: f64, words: impl Into<Markup>) -> Markup {
    shape("text", class, [("x", x), ("y", y)], words)
}

/// A rectangle: from the left, from the top, its width, its height.
pub fn rect(class: &str, [x, y, width, height]: [f64; 4]) -> Markup {
    shape("rect", class, [("x", x), ("y", y), ("width", width), ("height", height)], "")
}

/// A line: its ends from the left, then from the top.
pub fn line(class: &str, [x1, x2, y1, y2]: [f64; 4], inside: impl Into<Markup>) -> Markup {
    shape("line", class, [("x1", x1), ("x2", x2), ("y1", y1), ("y2", y2)], inside)
}

/// A dot around its middle.
pub fn circle(class: &str, [cx, cy, r]: [f64; 3], inside: impl Into<Markup>) -> Markup {
    shape("circle", class, [("cx", cx), ("cy", cy), ("r", r)], inside)
}

/// A coordinate: a tenth of a unit is finer than any screen.
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
