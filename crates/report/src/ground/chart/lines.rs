//! Lines over time or over quantiles.

use super::frame::{self, Axis, Frame, HEIGHT, circle, number, svg, text};
use crate::ground::markup::{Markup, classed, element};

/// One place on a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis; `None` is a gap.
    pub y: Option<f64>,
    /// What else to say of it under the pointer: a second figure with its unit, or nothing.
    pub also: String,
}

impl Point {
    /// A place of which there is nothing else to say.
    pub fn at(x: f64, y: impl Into<Option<f64>>) -> Point {
        Point { x, y: y.into(), also: String::new() }
    }
}

/// A line with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// As the legend says it.
    pub name: String,
    /// A class of the page's style: colour and dash, so that it can be told without colour, too.
    pub style: &'static str,
    /// Its places, from left to right.
    pub points: Vec<Point>,
}

impl Line {
    /// A line through these places.
    pub fn new(
        name: impl Into<String>,
        style: &'static str,
        points: impl IntoIterator<Item = Point>,
    ) -> Line {
        Line { name: name.into(), style, points: points.into_iter().collect() }
    }
}

/// The least and the greatest of the values that lines have; infinity and 0 of none.
pub fn ends(lines: &[Line]) -> (f64, f64) {
    let all = || lines.iter().flat_map(|line| &line.points).filter_map(|point| point.y);
    (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
}

/// A chart of lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What it shows, with the unit.
    pub title: String,
    /// The same in a sentence, for those who cannot see it.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

impl Lines {
    /// A chart over time; its description has the least and the greatest value.
    pub fn over_time(title: impl Into<String>, end_s: f64, y: Axis, lines: Vec<Line>) -> Lines {
        let (least, most) = ends(&lines);
        let description = format!("From {} to {}", (y.words)(least.min(most)), (y.words)(most));
        Lines { title: title.into(), description, x: Axis::time(end_s), y, lines }
    }

    /// Latencies over time.
    pub fn latencies(title: impl Into<String>, end_s: f64, lines: Vec<Line>) -> Lines {
        let (least, most) = ends(&lines);
        Lines::over_time(title, end_s, Axis::latency(least, most), lines)
    }

    /// The chart with its caption and legend.
    pub fn render(&self) -> Markup {
        self.render_with(&[])
    }

    /// As [`render`](Self::render), with a line at each of these places of the horizontal axis, and
    /// what stands for it in words.
    pub fn render_with(&self, instants: &[(f64, String)]) -> Markup {
        let frame = Frame::new(self.x, self.y);
        let mut content = frame.grid();
        content.push(self.lines.iter().map(|line| draw(&frame, line)).collect::<Markup>());
        content.push(self.read_outs(&frame));
        content.push(draw_instants(&frame, instants));
        let keys = self.lines.iter().map(|line| (line.name.as_str(), line.style));
        let picture = svg(&self.title, &self.description, HEIGHT, content);
        frame::figure(&[], &self.title, legend(keys), picture)
    }

    /// A strip over each place, which says its values: as a tooltip of the browser, and faster by
    /// the page's script.
    fn read_outs(&self, frame: &Frame) -> Markup {
        let Some(longest) = self.lines.iter().max_by_key(|line| line.points.len()) else {
            return Markup::new();
        };
        let places: Vec<f64> = longest.points.iter().map(|point| frame.left(point.x)).collect();
        // The style has their height, which is that of all: there are thousands on a page.
        let strip = |(index, point): (usize, &Point)| {
            let here = places[index];
            let before = if index == 0 { here } else { f64::midpoint(places[index - 1], here) };
            let after = places.get(index + 1).map_or(here, |next| f64::midpoint(*next, here));
            let (left, width) = (before.min(here - 1.0), (after - before).max(2.0));
            let attributes = [
                ("class", "hit"),
                ("x", &*number(left)),
                ("width", &*number(width)),
                ("data-x", &*number(here)),
            ];
            element("rect", &attributes, element("title", &[], self.words_at(point.x)))
        };
        longest.points.iter().enumerate().map(strip).collect()
    }

    fn words_at(&self, x: f64) -> String {
        let value = |line: &Line| {
            let point = line.points.iter().find(|point| (point.x - x).abs() < 1e-9)?;
            let also =
                if point.also.is_empty() { String::new() } else { format!(" ({})", point.also) };
            Some(format!(
                "{} {}{also}",
                line.name,
                point.y.map_or_else(|| "–".to_owned(), self.y.words)
            ))
        };
        let values: Vec<String> = self.lines.iter().filter_map(value).collect();
        format!("{}: {}", (self.x.words)(x), values.join(", "))
    }
}

pub(super) fn legend<'a>(lines: impl Iterator<Item = (&'a str, &'static str)>) -> Markup {
    let entry = |(name, style): (&str, &'static str)| {
        frame::key(22.0, frame::line(style, [0.0, 22.0, 5.0, 5.0], ""), name)
    };
    classed("span", "legend", lines.map(entry).collect::<Markup>())
}

/// The stretches of a line between its gaps; a stretch of one place is a dot.
fn draw(frame: &Frame, line: &Line) -> Markup {
    let stretches =
        line.points.split(|point| point.y.is_none()).filter(|stretch| !stretch.is_empty());
    let stretch = |points: &[Point]| {
        let places: Vec<(f64, f64)> = points
            .iter()
            .filter_map(|point| Some((frame.left(point.x), frame.top(point.y?))))
            .collect();
        if let [(x, y)] = places.as_slice() {
            return circle(&format!("dot {}", line.style), [*x, *y, 2.5], "");
        }
        let places: Vec<String> =
            places.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        element("polyline", &[("class", line.style), ("points", &places.join(" "))], "")
    };
    stretches.map(stretch).collect()
}

/// Lines from top to bottom; more than these cannot be told apart.
const MOST_INSTANTS: usize = 100;
/// Labels take so much room beside each other, in units of the picture; one that has none is told
/// under the pointer alone.
const LABEL_ROOM: f64 = 60.0;
/// A label on the picture has so many characters.
const LABEL_CHARS: usize = 24;

/// A line from top to bottom at each instant, with its label at the top where there is room.
pub(super) fn draw_instants(frame: &Frame, instants: &[(f64, String)]) -> Markup {
    let (top, bottom) = Frame::vertical();
    let mut sorted: Vec<&(f64, String)> =
        instants.iter().filter(|(x, _)| frame.spans(*x)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut labelled = f64::NEG_INFINITY;
    let draw = |(x, words): &(f64, String)| {
        let left = frame.left(*x);
        let title = element("title", &[], words);
        let mut drawn = frame::line("instant", [left, left, top, bottom], title);
        if left - labelled >= LABEL_ROOM {
            labelled = left;
            let mut label: String = words.chars().take(LABEL_CHARS).collect();
            if label.len() < words.len() {
                label.push('…');
            }
            drawn.push(text("instant-label", left + 3.0, top + 9.0, label));
        }
        drawn
    };
    sorted.into_iter().take(MOST_INSTANTS).map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;
    use crate::ground::testing::has;

    fn chart(ys: &[Option<f64>]) -> String {
        let point = |(x, y): (usize, &Option<f64>)| {
            let also = y.map_or_else(String::new, |y| format!("{y} B/s"));
            Point { x: x as f64, y: *y, also }
        };
        let points = ys.iter().enumerate().map(point);
        let chart = Lines {
            title: "IOPS <over> time".to_owned(),
            description: "d".to_owned(),
            x: Axis::new(Scale::linear_to(ys.len() as f64), |x| format!("{x} s")),
            y: Axis::new(Scale::linear_to(100.0), |y| format!("{y}")),
            lines: vec![Line::new("read", "line read", points)],
        };
        chart.render().into_string()
    }

    #[test]
    fn a_gap_cuts_the_line_and_a_lone_place_is_a_dot() {
        let svg = chart(&[Some(1.0), Some(2.0), None, Some(3.0)]);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert_eq!(svg.matches("<circle").count(), 1);
        assert_eq!(svg.matches("class=\"hit\"").count(), 4);
        has(&svg, &["1 s: read 2 (2 B/s)<", "2 s: read –<", "IOPS &lt;over&gt; time"]);
    }

    #[test]
    fn a_chart_of_nothing_is_a_chart() {
        assert!(chart(&[]).contains("<svg"));
    }

    #[test]
    fn the_longest_words_of_an_axis_have_room_in_the_letters_of_a_telephone() {
        let frame = Frame::new(Axis::time(10.0), Axis::iops(100_000.0));
        let (characters, widest, gap) = (7.0, 8.7, 8.0);
        assert!(frame.left(0.0) >= characters * widest + gap, "{}", frame.left(0.0));
    }
}
