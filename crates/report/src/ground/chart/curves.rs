//! Latency against throughput: each curve runs through what was measured, one place after the
//! other, and each place carries the value of the swept axis.

use super::frame::{self, Axis, Frame, HEIGHT, circle, number, svg, text};
use super::lines::legend;
use crate::ground::markup::{Markup, element};

/// One measured place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// The value of the swept axis.
    pub label: String,
}

/// The places of one curve, in the order of the swept axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// As the legend says it.
    pub name: String,
    /// A class of the page's style.
    pub style: &'static str,
    /// Its places.
    pub places: Vec<Place>,
    /// The number of the place at its knee.
    pub knee: Option<usize>,
}

/// A chart of curves.
#[derive(Clone, Debug)]
pub struct Curves {
    /// What it shows, with the unit.
    pub title: String,
    /// What the labels of the places are: the swept axis.
    pub axis: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A label has so much room beside and above it, in units of the picture.
const LABEL: (f64, f64) = (24.0, 12.0);

impl Curves {
    /// The chart with its caption and legend.
    pub fn render(&self) -> Markup {
        let frame = Frame::new(self.x, self.y);
        let mut content = frame.grid();
        content.push(self.curves.iter().map(|curve| line(&frame, curve)).collect::<Markup>());
        content.push(self.labels(&frame));
        let dots = self.curves.iter().map(|curve| self.dots(&frame, curve));
        content.push(dots.collect::<Markup>());
        let has_knee = self.curves.iter().any(|curve| curve.knee.is_some());
        let knee = has_knee.then_some(("knee", "line knee"));
        let keys = self.curves.iter().map(|curve| (curve.name.as_str(), curve.style));
        let picture = svg(&self.title, &self.description(), HEIGHT, content);
        frame::figure(&[("class", "curves")], &self.title, legend(keys.chain(knee)), picture)
    }

    fn words(&self, place: &Place) -> String {
        let (x, y) = ((self.x.words)(place.x), (self.y.words)(place.y));
        format!("{} {}: {x} {}, {y}", self.axis, place.label, self.x.name)
    }

    fn description(&self) -> String {
        let said = |curve: &Curve| {
            let places: Vec<String> = curve.places.iter().map(|place| self.words(place)).collect();
            format!("{}: {}", curve.name, places.join("; "))
        };
        self.curves.iter().map(said).collect::<Vec<_>>().join(". ")
    }

    /// A dot at each place, a ring around the knee, and a wider place for the pointer.
    fn dots(&self, frame: &Frame, curve: &Curve) -> Markup {
        let mut drawn = Markup::new();
        for (n, place) in curve.places.iter().enumerate() {
            let (x, y) = (frame.left(place.x), frame.top(place.y));
            if curve.knee == Some(n) {
                drawn.push(circle("dot line knee", [x, y, 6.0], ""));
            }
            drawn.push(circle(&format!("place {}", curve.style), [x, y, 3.0], ""));
            let words = format!("{}, {}", curve.name, self.words(place));
            drawn.push(circle("hit", [x, y, 9.0], element("title", &[], words)));
        }
        drawn
    }

    /// The value of the axis beside each place, where no other label is in its way.
    fn labels(&self, frame: &Frame) -> Markup {
        let mut taken: Vec<(f64, f64)> = Vec::new();
        let mut drawn = Markup::new();
        let (top, _) = Frame::vertical();
        for place in self.curves.iter().flat_map(|curve| &curve.places) {
            let (x, y) = (frame.left(place.x), frame.top(place.y));
            let is_near =
                |other: &(f64, f64)| (other.0 - x).abs() < LABEL.0 && (other.1 - y).abs() < LABEL.1;
            if taken.iter().any(is_near) {
                continue;
            }
            taken.push((x, y));
            drawn.push(text("tick end", x - 7.0, (y - 5.0).max(top), &place.label));
        }
        drawn
    }
}

fn line(frame: &Frame, curve: &Curve) -> Markup {
    let at =
        |place: &Place| format!("{},{}", number(frame.left(place.x)), number(frame.top(place.y)));
    let points: Vec<String> = curve.places.iter().map(at).collect();
    element("polyline", &[("class", curve.style), ("points", &points.join(" "))], "")
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;

    #[test]
    fn a_curve_has_a_dot_and_a_label_at_each_place_and_a_ring_at_its_knee() {
        let place = |x, y, label: &str| Place { x, y, label: label.to_owned() };
        let places = vec![place(10.0, 1.0, "1"), place(90.0, 2.0, "8"), place(91.0, 9.0, "64")];
        let mut chart = Curves {
            title: "p99 <against> IOPS".to_owned(),
            axis: "depth".to_owned(),
            x: Axis { name: "IOPS", ..Axis::new(Scale::linear_to(91.0), |x| format!("{x}")) },
            y: Axis::new(Scale::log_between(1.0, 9.0), |y| format!("{y} ms")),
            curves: vec![Curve { name: "w".to_owned(), style: "line read", places, knee: Some(1) }],
        };
        let drawn = chart.render().into_string();
        assert_eq!(drawn.matches("class=\"place line read\"").count(), 3);
        assert_eq!(drawn.matches("class=\"dot line knee\"").count(), 1);
        assert!(drawn.contains("<title>w, depth 8: 90 IOPS, 2 ms</title>"), "{drawn}");
        assert!(drawn.contains(">64</text>") && drawn.contains("p99 &lt;against&gt; IOPS"));
        chart.curves.clear();
        assert!(chart.render().into_string().contains("<svg"), "nothing is a chart, too");
    }
}
