//! Groups of bars that lie: each group is a workload, each of its bars one value of a swept axis, which stands beside the bar, so that
//! nothing hangs on a colour.

use super::Scale;
use super::frame::{WIDTH, number, svg};
use crate::html::markup::{Markup, element};

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What it stands for.
    pub name: String,
    /// Its bars: the value of the axis, and the figure; `None` where it was not measured.
    pub bars: Vec<(String, Option<f64>)>,
}

/// A chart of groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// What it shows, with the unit.
    pub title: String,
    /// Figures in words.
    pub words: fn(f64) -> String,
    /// The groups, from top to bottom.
    pub groups: Vec<Group>,
}

const HEAD: f64 = 24.0;
const ROW: f64 = 18.0;
const GAP: f64 = 8.0;
const LABELS: f64 = 110.0;
const VALUES: f64 = 96.0;
/// Shades from dark to light, which follow each other in grey, too.
const SHADES: [&str; 4] = ["bar step0", "bar step1", "bar step2", "bar step3"];

impl Groups {
    /// The chart with its caption.
    pub fn render(&self) -> Markup {
        let figures = self.groups.iter().flat_map(|group| group.bars.iter().filter_map(|(_, figure)| *figure));
        let scale = Scale::Linear { max: figures.fold(f64::MIN_POSITIVE, f64::max) };
        let mut content = Markup::new();
        let mut top = 0.0;
        let mut said = Vec::new();
        for group in &self.groups {
            let place = [("class", "name"), ("x", "0"), ("y", &*number(top + 16.0))];
            content.push(element("text", &place, &group.name));
            top += HEAD;
            for (shade, (label, figure)) in group.bars.iter().enumerate() {
                content.push(self.bar(scale, top, shade, label, *figure));
                let words = figure.map_or_else(|| "not measured".to_owned(), self.words);
                said.push(format!("{}, {label}: {words}", group.name));
                top += ROW;
            }
            top += GAP;
        }
        let picture = svg(&self.title, &said.join("; "), top.max(1.0), content);
        element("figure", &[("class", "groups")], [element("figcaption", &[], self.title.as_str()), picture])
    }

    fn bar(&self, scale: Scale, top: f64, shade: usize, label: &str, figure: Option<f64>) -> Markup {
        let place = [("class", "label end"), ("x", &*number(LABELS - 10.0)), ("y", &*number(top + 13.0))];
        let mut content = element("text", &place, label);
        let width = figure.map_or(0.0, |figure| scale.place(figure) * (WIDTH - LABELS - VALUES));
        let class = SHADES.get(shade % SHADES.len()).copied().unwrap_or("bar");
        let place = [
            ("class", class),
            ("x", &*number(LABELS)),
            ("y", &*number(top + 2.0)),
            ("width", &*number(width)),
            ("height", &*number(ROW - 4.0)),
        ];
        content.push(element("rect", &place, ""));
        let place = [("class", "tick"), ("x", &*number(LABELS + width + 8.0)), ("y", &*number(top + 13.0))];
        content.push(element("text", &place, figure.map_or_else(|| "–".to_owned(), self.words)));
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bar_has_its_value_beside_it_and_what_is_missing_is_a_dash() {
        let bars = vec![("10GB".to_owned(), Some(200.0)), ("50GB".to_owned(), Some(50.0)), ("<1>".to_owned(), None)];
        let groups = vec![Group { name: "w".to_owned(), bars }];
        let svg = Groups { title: "IOPS".to_owned(), words: |v| format!("{v}"), groups }.render().into_string();
        assert!(svg.contains(">10GB<") && svg.contains(">200<") && svg.contains(">–<") && svg.contains("&lt;1&gt;"));
        assert!(svg.contains("width=\"354\"") && svg.contains("width=\"88.5\""), "to one scale: {svg}");
        assert!(svg.contains("step0") && svg.contains("step1"));
        let empty = Groups { title: "IOPS".to_owned(), words: |v| format!("{v}"), groups: Vec::new() };
        assert!(empty.render().into_string().contains("<svg"));
    }
}
