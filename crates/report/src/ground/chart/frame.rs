//! What every chart has around its data: place, axes, grid, title.

use super::Scale;
use crate::ground::markup::{Markup, element};

/// The drawing's own units; the page scales it to the room that there is.
pub const WIDTH: f64 = 560.0;
/// As [`WIDTH`].
pub const HEIGHT: f64 = 250.0;
/// The least room for the words of the vertical axis.
const LEFT: f64 = 64.0;
/// The width of a character of an axis, at most.
const CHARACTER: f64 = 7.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;

/// A pair of axes.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The horizontal one.
    pub x: Scale,
    /// The vertical one.
    pub y: Scale,
    /// Where the drawing begins from the left.
    margin: f64,
}

impl Frame {
    /// Axes with room for the words of the vertical one.
    pub fn new(x: Scale, y: Scale, y_words: fn(f64) -> String) -> Frame {
        let longest = y.ticks().into_iter().map(|tick| width(&y_words(tick))).fold(0.0, f64::max);
        Frame { x, y, margin: LEFT.max(longest + 10.0) }
    }

    /// Where a value stands from the left.
    pub fn left(&self, value: f64) -> f64 {
        self.margin + self.x.place(value) * (WIDTH - self.margin - RIGHT)
    }

    /// Whether a value stands on the horizontal axis, if that one is linear.
    pub fn spans(&self, value: f64) -> bool {
        match self.x {
            Scale::Linear { max } | Scale::Time { max_s: max } => (0.0..=max).contains(&value),
            Scale::Dates { from_s, to_s } => (from_s..=to_s).contains(&value),
            _ => false,
        }
    }

    /// Where a value stands from the top.
    pub fn top(&self, value: f64) -> f64 {
        TOP + (1.0 - self.y.place(value)) * (HEIGHT - TOP - BOTTOM)
    }

    /// The upper and the lower end of the drawing area.
    pub fn vertical() -> (f64, f64) {
        (TOP, HEIGHT - BOTTOM)
    }

    /// Grid lines with their words, and the horizontal axis's name.
    pub fn grid(
        &self,
        x_words: fn(f64) -> String,
        y_words: fn(f64) -> String,
        x_name: &str,
    ) -> Markup {
        let mut grid = Markup::new();
        for tick in self.y.ticks() {
            let y = number(self.top(tick));
            let (x1, x2) = (number(self.margin), number(WIDTH - RIGHT));
            grid.push(element(
                "line",
                &[("class", "grid"), ("x1", &x1), ("x2", &x2), ("y1", &y), ("y2", &y)],
                "",
            ));
            let place = [
                ("class", "tick end"),
                ("x", &*number(self.margin - 8.0)),
                ("y", &*number(self.top(tick) + 4.0)),
            ];
            grid.push(element("text", &place, y_words(tick)));
        }
        let bottom = HEIGHT - BOTTOM;
        for tick in self.x.ticks() {
            let said = x_words(tick);
            // The last one may not reach past the picture, on a telephone with its larger letters.
            let middle = self.left(tick).min(WIDTH - width(&said) * 0.65);
            let place =
                [("class", "tick middle"), ("x", &*number(middle)), ("y", &*number(bottom + 20.0))];
            grid.push(element("text", &place, said));
        }
        let place =
            [("class", "tick end"), ("x", &*number(WIDTH - RIGHT)), ("y", &*number(HEIGHT - 4.0))];
        grid.push(element("text", &place, x_name));
        grid
    }
}

/// The room that a word of an axis needs.
fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A picture with its title and description for those who cannot see it.
pub fn svg(title: &str, description: &str, height: f64, content: Markup) -> Markup {
    let view = format!("0 0 {} {}", number(WIDTH), number(height));
    let attributes =
        [("class", "chart"), ("role", "img"), ("viewBox", &*view), ("aria-label", title)];
    let head = [element("title", &[], title), element("desc", &[], description)];
    element("svg", &attributes, [Markup::from(head), content])
}

/// A coordinate: a tenth of a unit is finer than any screen.
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
