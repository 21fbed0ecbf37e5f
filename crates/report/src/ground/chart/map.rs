//! A map over two axes: a square for each combination, a line where something ends, and how sure
//! that line is.

use super::frame::{self, WIDTH, circle, number, svg, text};
use super::heat::{SHADES, opacity};
use crate::ground::markup::{Markup, element};

const LEFT: f64 = 96.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 44.0;
/// Rows of few values are not as high as they are wide.
const MOST_HEIGHT: f64 = 360.0;
const ROW: f64 = 34.0;
/// Words of an axis that fit below each other's.
const MOST_WORDS: usize = 8;
/// The line itself, and its bounds.
const LINES: [&str; 3] = ["line sixth", "line limit", "line limit"];

/// An axis: its values in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct MapAxis {
    /// What it is.
    pub name: String,
    /// Each value in words.
    pub words: Vec<String>,
    /// Each value as a number.
    pub values: Vec<f64>,
}

impl MapAxis {
    fn place(&self, number: f64) -> f64 {
        let above = self.values.iter().position(|value| *value >= number);
        match above {
            None => self.values.len().saturating_sub(1) as f64,
            Some(0) => 0.0,
            Some(above) => {
                let (low, high) = (self.values[above - 1], self.values[above]);
                (above - 1) as f64 + (number - low) / (high - low)
            }
        }
    }

    fn told(&self) -> impl Iterator<Item = (usize, &String)> {
        let step = self.words.len().div_ceil(MOST_WORDS).max(1);
        self.words.iter().enumerate().step_by(step)
    }
}

/// A square.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    /// Its number along each axis.
    pub at: [usize; 2],
    /// How strong its colour is, 0 to 1.
    pub strength: f64,
    /// What there is to say of it.
    pub words: String,
    /// Whether it was measured.
    pub is_measured: bool,
}

/// The map.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// What it shows, with the unit.
    pub title: String,
    /// The same in a sentence, for those who cannot see it.
    pub description: String,
    /// What the colour means.
    pub legend: String,
    /// Across and up.
    pub axes: [MapAxis; 2],
    /// What is to be drawn.
    pub squares: Vec<Square>,
    /// For each row, from below: where the line is, and its lower and upper bound, as numbers of
    /// the first axis.
    pub line: Vec<[Option<f64>; 3]>,
}

impl Map {
    /// The map with its caption.
    pub fn render(&self) -> Markup {
        let rows = self.axes[1].words.len().max(1) as f64;
        let height = (rows * ROW).min(MOST_HEIGHT);
        let mut content = Markup::new();
        for square in &self.squares {
            content.push(self.square(square, height));
        }
        for (number, class) in LINES.iter().enumerate() {
            content.push(self.path(number, class, height));
        }
        content.push(self.words(height));
        let picture = svg(&self.title, &self.description, TOP + height + BOTTOM, content);
        frame::figure(&[], &self.title, frame::remark(&self.legend), picture)
    }

    fn size(&self, height: f64) -> [f64; 2] {
        let count = |axis: usize| self.axes[axis].words.len().max(1) as f64;
        [(WIDTH - LEFT - RIGHT) / count(0), height / count(1)]
    }

    fn left(&self, place: f64, height: f64) -> f64 {
        LEFT + (place + 0.5) * self.size(height)[0]
    }

    fn top(&self, place: f64, height: f64) -> f64 {
        TOP + height - (place + 0.5) * self.size(height)[1]
    }

    fn square(&self, square: &Square, height: f64) -> Markup {
        let [wide, high] = self.size(height);
        let (x, y) =
            (self.left(square.at[0] as f64, height), self.top(square.at[1] as f64, height));
        let shade = (square.strength.clamp(0.0, 1.0) * (SHADES - 1) as f64).round() as usize;
        let strength = format!("{:.2}", opacity(shade));
        let place = [
            ("class", "heat"),
            ("fill-opacity", &*strength),
            ("x", &*number(x - wide / 2.0)),
            ("y", &*number(y - high / 2.0)),
            ("width", &*number((wide - 0.6).max(0.4))),
            ("height", &*number((high - 0.6).max(0.4))),
        ];
        let mut drawn = element("rect", &place, [element("title", &[], square.words.as_str())]);
        if square.is_measured {
            drawn.push(circle("place line", [x, y, 3.0], ""));
        }
        drawn
    }

    /// A line from below, broken where it leaves the map.
    fn path(&self, which: usize, class: &str, height: f64) -> Markup {
        let mut path = String::new();
        let mut is_on = false;
        for (row, places) in self.line.iter().enumerate() {
            let Some(value) = places[which] else {
                is_on = false;
                continue;
            };
            let x = self.left(self.axes[0].place(value), height);
            let step = if is_on { 'L' } else { 'M' };
            path.push_str(&format!("{step}{} {}", number(x), number(self.top(row as f64, height))));
            is_on = true;
        }
        if path.is_empty() {
            return Markup::new();
        }
        element("path", &[("class", class), ("d", &path)], "")
    }

    fn words(&self, height: f64) -> Markup {
        let mut words = Markup::new();
        for (number_of, said) in self.axes[0].told() {
            let x = self.left(number_of as f64, height);
            words.push(text("tick middle", x, TOP + height + 16.0, said));
        }
        for (number_of, said) in self.axes[1].told() {
            let y = self.top(number_of as f64, height) + 4.0;
            words.push(text("tick end", LEFT - 8.0, y, said));
        }
        let names = format!("across: {}, up: {}", self.axes[0].name, self.axes[1].name);
        words.push(text("tick end", WIDTH - RIGHT, TOP + height + 36.0, names));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: &[f64]) -> MapAxis {
        MapAxis {
            name: name.to_owned(),
            words: values.iter().map(ToString::to_string).collect(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn a_line_is_where_its_numbers_are_and_breaks_where_it_leaves() {
        let across = axis("reads", &[10.0, 20.0, 40.0]);
        assert_eq!((across.place(30.0), across.place(5.0), across.place(90.0)), (1.5, 0.0, 2.0));
        let square = |at: [usize; 2]| Square {
            at,
            strength: f64::NAN,
            words: "<p99>".to_owned(),
            is_measured: at == [0, 0],
        };
        let map = Map {
            title: "t".to_owned(),
            description: "d".to_owned(),
            legend: "l".to_owned(),
            axes: [across, axis("writes", &[1.0, 2.0, 3.0])],
            squares: vec![square([0, 0]), square([2, 1])],
            line: vec![[Some(30.0), None, None], [None; 3], [Some(10.0), None, None]],
        };
        let svg = map.render().into_string();
        assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1, "{svg}");
        assert_eq!(svg.matches("<path").count(), 1, "bounds that are not there: {svg}");
        assert!(svg.contains("&lt;p99&gt;") && svg.contains("across: reads, up: writes"), "{svg}");
        let path = svg.split("d=\"").nth(1).expect("a path");
        let path = path.split('"').next().expect("its end");
        assert_eq!(path.matches('M').count(), 2, "broken in the middle: {path}");
    }
}
