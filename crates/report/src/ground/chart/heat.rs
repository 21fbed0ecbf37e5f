//! A map of how often each latency came up over time.

use super::frame::{self, Axis, Frame, HEIGHT, number, svg};
use super::lines::draw_instants;
use crate::ground::markup::{Markup, element};
use model::Histogram;
use model::histogram::{bucket_bounds, bucket_of};
use std::collections::BTreeMap;

/// How fine a map is: a band is 2 to the power of this many buckets of a histogram, which has 128
/// for each doubling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands(pub u32);

impl Bands {
    /// Two for each doubling: what is sent once a second is small.
    pub const COARSE: Bands = Bands(6);
    /// Four for each doubling.
    pub const FINE: Bands = Bands(5);

    /// What a histogram counted by band, in rising order.
    pub fn count(self, histogram: &Histogram) -> Vec<(usize, u64)> {
        let mut bands: Vec<(usize, u64)> = Vec::new();
        for (low, _, count) in histogram.buckets() {
            let band = bucket_of(low) >> self.0;
            match bands.last_mut().filter(|(last, _)| *last == band) {
                Some((_, sum)) => *sum += count,
                None => bands.push((band, count)),
            }
        }
        bands
    }

    /// From where to where a band goes, in ns; the upper end is the next one's lower end.
    pub fn bounds(self, band: usize) -> (u64, u64) {
        let first = band << self.0;
        (bucket_bounds(first).0, bucket_bounds(first + (1 << self.0) - 1).1 + 1)
    }
}

/// Shades from the palest to the strongest.
pub(crate) const SHADES: usize = 6;

/// One rectangle of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// From and to, along the axis of time.
    pub x: (f64, f64),
    /// From and to, along the other axis; above 0.
    pub y: (f64, f64),
    /// Its share of what happened in its stretch of time, 0 to 1.
    pub share: f64,
}

/// The map.
#[derive(Clone, Debug)]
pub struct Heat {
    /// What it shows, with the unit.
    pub title: String,
    /// The same in a sentence, for those who cannot see it.
    pub description: String,
    /// The axis of time.
    pub x: Axis,
    /// The other axis.
    pub y: Axis,
    /// What is to be drawn.
    pub cells: Vec<Cell>,
}

impl Heat {
    /// The map with its caption, a line at each of these places of the axis of time, and what
    /// stands for it in words.
    pub fn render_with(&self, instants: &[(f64, String)]) -> Markup {
        let frame = Frame::new(self.x, self.y);
        // One path for each shade: thousands of cells are a few kilobytes so.
        let mut paths: BTreeMap<usize, String> = BTreeMap::new();
        for (cell, shade) in joined(&self.cells) {
            let (left, right) = (frame.left(cell.x.0), frame.left(cell.x.1));
            let (top, bottom) = (frame.top(cell.y.1), frame.top(cell.y.0));
            let width = number((right - left).max(0.8));
            let path = paths.entry(shade).or_default();
            path.push_str(&format!(
                "M{} {}h{width}V{}h-{width}z",
                number(left),
                number(top),
                number(bottom)
            ));
        }
        let draw = |(shade, path): (usize, String)| {
            let opacity = format!("{:.2}", opacity(shade));
            element("path", &[("class", "heat"), ("fill-opacity", &opacity), ("d", &path)], "")
        };
        let mut content = frame.grid();
        content.push(paths.into_iter().map(draw).collect::<Markup>());
        content.push(draw_instants(&frame, instants));
        let legend = "the stronger the colour, the larger the share of that moment's requests";
        let picture = svg(&self.title, &self.description, HEIGHT, content);
        frame::figure(&[], &self.title, frame::remark(legend), picture)
    }
}

/// How much of the colour a shade has: the palest is to be seen on dark paper, too.
pub(crate) fn opacity(shade: usize) -> f64 {
    const LEAST: f64 = 0.2;
    LEAST + (1.0 - LEAST) * shade as f64 / (SHADES - 1) as f64
}

/// The cells with their shades; neighbours in time of the same band and shade are one: what is
/// steady takes one rectangle.
fn joined(cells: &[Cell]) -> Vec<(Cell, usize)> {
    let mut sorted: Vec<(Cell, usize)> =
        cells.iter().map(|cell| (*cell, shade(cell.share))).collect();
    sorted.sort_by(|(a, _), (b, _)| a.y.0.total_cmp(&b.y.0).then(a.x.0.total_cmp(&b.x.0)));
    let mut joined: Vec<(Cell, usize)> = Vec::new();
    for (cell, shade) in sorted {
        let touches = |(last, known): &&mut (Cell, usize)| {
            *known == shade && last.y == cell.y && (last.x.1 - cell.x.0).abs() < 1e-9
        };
        match joined.last_mut().filter(touches) {
            Some((last, _)) => last.x.1 = cell.x.1,
            None => joined.push((cell, shade)),
        }
    }
    joined
}

/// Shades by the square root of the share: a tail of 1 % is to be seen, too.
fn shade(share: f64) -> usize {
    ((share.clamp(0.0, 1.0).sqrt() * SHADES as f64).ceil() as usize).clamp(1, SHADES) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{has, lacks};

    #[test]
    fn a_tail_is_pale_but_there_and_cells_of_a_shade_are_one_path() {
        assert_eq!(
            (shade(0.0), shade(0.01), shade(0.5), shade(1.0), shade(f64::INFINITY)),
            (0, 0, 4, 5, 5)
        );
        let cell = |start: f64, share| Cell { x: (start, start + 1.0), y: (1e5, 2e5), share };
        let map = Heat {
            title: "t".to_owned(),
            description: "d".to_owned(),
            x: Axis::time(3.0),
            y: Axis::latency(1e5, 1e6),
            cells: vec![cell(0.0, 1.0), cell(1.0, 1.0), cell(2.0, 0.01)],
        };
        let svg = map
            .render_with(&[(1.5, "mark: <here>".to_owned()), (9.0, "beyond".to_owned())])
            .into_string();
        has(&svg, &["class=\"instant\"", "mark: &lt;here&gt;"]);
        lacks(&svg, &["beyond"]);
        // On dark paper the strongest colour is the lightest.
        assert!(svg.contains("the stronger the colour") && !svg.contains("darker"), "{svg}");
        assert_eq!(svg.matches("<path").count(), 2, "{svg}");
        assert_eq!(svg.matches('M').count(), 2, "neighbours alike are one: {svg}");
    }
}
