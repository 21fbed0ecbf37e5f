//! Bars that lie: names of workloads are long.

use super::Scale;
use super::frame::{WIDTH, number, svg};
use crate::html::markup::{Markup, classed, element};

/// A row of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its parts from left to right: class of the style, and value.
    pub parts: Vec<(&'static str, f64)>,
}

/// A chart of bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What it shows, with the unit.
    pub title: String,
    /// Sums of parts in words.
    pub words: fn(f64) -> String,
    /// Class and name of each kind of part, if there is more than one.
    pub legend: Vec<(&'static str, String)>,
    /// The rows.
    pub bars: Vec<Bar>,
}

const ROW: f64 = 26.0;
const NAMES: f64 = 190.0;
const VALUES: f64 = 96.0;

impl Bars {
    /// The chart with its caption.
    pub fn render(&self) -> Markup {
        let sum = |bar: &Bar| bar.parts.iter().map(|(_, value)| value).sum::<f64>();
        let scale = Scale::Linear { max: self.bars.iter().map(sum).fold(f64::MIN_POSITIVE, f64::max) };
        let mut content = Markup::new();
        for (row, bar) in self.bars.iter().enumerate() {
            let top = row as f64 * ROW;
            let name = [("class", "name end"), ("x", &*number(NAMES - 10.0)), ("y", &*number(top + 17.0))];
            content.push(element("text", &name, shortened(&bar.name)));
            let mut left = NAMES;
            for (style, value) in &bar.parts {
                let width = scale.place(*value) * (WIDTH - NAMES - VALUES);
                let place = [
                    ("class", *style),
                    ("x", &*number(left)),
                    ("y", &*number(top + 5.0)),
                    ("width", &*number(width)),
                    ("height", &*number(ROW - 10.0)),
                ];
                content.push(element("rect", &place, ""));
                left += width;
            }
            let value = [("class", "tick"), ("x", &*number(left + 8.0)), ("y", &*number(top + 17.0))];
            content.push(element("text", &value, (self.words)(sum(bar))));
        }
        let said: Vec<String> =
            self.bars.iter().map(|bar| format!("{} {}", bar.name, (self.words)(sum(bar)))).collect();
        let picture = svg(&self.title, &said.join(", "), self.bars.len() as f64 * ROW, content);
        let caption = [Markup::from(&self.title), self.legend()];
        element("figure", &[], [element("figcaption", &[], caption), picture])
    }

    fn legend(&self) -> Markup {
        if self.legend.len() < 2 {
            return Markup::new();
        }
        let entry = |(style, name): &(&'static str, String)| {
            let size = [("viewBox", "0 0 12 10"), ("width", "12"), ("height", "10"), ("aria-hidden", "true")];
            let place = [("class", *style), ("x", "1"), ("y", "1"), ("width", "10"), ("height", "8")];
            classed("span", "key", [element("svg", &size, element("rect", &place, "")), Markup::from(name)])
        };
        classed("span", "legend", self.legend.iter().map(entry).collect::<Markup>())
    }
}

/// A name that fits before its bar; the table beside the chart has it whole.
fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    let head: String = name.chars().take(MOST - 1).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_names_values_and_no_width_of_nothing() {
        let bars = vec![
            Bar { name: "a".repeat(40), parts: vec![("bar read", 70.0), ("bar write", 30.0)] },
            Bar { name: "b".to_owned(), parts: vec![("bar read", 0.0)] },
        ];
        let legend = vec![("bar read", "read".to_owned()), ("bar write", "write".to_owned())];
        let svg = Bars { title: "IOPS".to_owned(), words: |v| format!("{v}"), legend, bars }.render().into_string();
        assert_eq!(svg.matches("class=\"key\"").count(), 2, "{svg}");
        assert!(svg.contains("width=\"0\"") && svg.contains('…') && svg.contains(">100<"), "{svg}");
        let empty = Bars { title: "IOPS".to_owned(), words: |v| format!("{v}"), legend: Vec::new(), bars: Vec::new() };
        assert!(empty.render().into_string().contains("<svg"));
    }
}
