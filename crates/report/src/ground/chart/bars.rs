//! Bars that lie: names of workloads are long.

use super::frame::{self, WIDTH, rect, svg, text};
use super::{Scale, roof};
use crate::ground::markup::{Markup, classed};

/// A row of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its parts from left to right: class of the style, and value.
    pub parts: Vec<(&'static str, f64)>,
    /// The most that their sum could be, where it is known.
    pub ceiling: Option<f64>,
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
/// As [`VALUES`], with the share of a ceiling.
const VALUES_AND_SHARES: f64 = 172.0;

fn sum(bar: &Bar) -> f64 {
    bar.parts.iter().map(|(_, value)| value).sum()
}

impl Bars {
    /// The chart with its caption.
    pub fn render(&self) -> Markup {
        let max =
            roof::reach(self.bars.iter().map(sum), self.bars.iter().filter_map(|bar| bar.ceiling));
        self.render_on(Scale::Linear { max }, max)
    }

    /// The same on an axis of factors, for figures that lie factors of ten apart. Bars of one part
    /// each: sums of parts have no place there.
    pub fn render_by_factors(&self) -> Markup {
        let sums = || self.bars.iter().map(sum).filter(|sum| *sum > 0.0);
        let max = sums().fold(1.0, f64::max);
        // The least still has a bar.
        let scale = Scale::log_between(sums().fold(max, f64::min) / 4.0, max);
        self.render_on(scale, max)
    }

    fn render_on(&self, scale: Scale, max: f64) -> Markup {
        let values = if self.has_ceilings() { VALUES_AND_SHARES } else { VALUES };
        let room = WIDTH - NAMES - values;
        let mut content = Markup::new();
        for (row, bar) in self.bars.iter().enumerate() {
            let top = row as f64 * ROW;
            content.push(text("name end", NAMES - 10.0, top + 17.0, shortened(&bar.name)));
            let mut left = NAMES;
            for (style, value) in &bar.parts {
                let width = scale.place(*value) * room;
                content.push(rect(style, [left, top + 5.0, width, ROW - 10.0]));
                left += width;
            }
            let words = format!("{}{}", (self.words)(sum(bar)), roof::share(sum(bar), bar.ceiling));
            let seen = bar.ceiling.filter(|ceiling| *ceiling <= max);
            let mark = seen.map(|ceiling| NAMES + scale.place(ceiling) * room);
            if let Some((place, ceiling)) = mark.zip(seen) {
                content.push(roof::mark(place, top + 2.0, ROW - 4.0, &(self.words)(ceiling)));
            }
            let from = roof::words_from(left, mark, &words);
            content.push(text("tick", from, top + 17.0, words));
        }
        let ceiling = |bar: &Bar| {
            bar.ceiling
                .map_or_else(String::new, |most| format!(" of at most {}", (self.words)(most)))
        };
        let said: Vec<String> = self
            .bars
            .iter()
            .map(|bar| format!("{} {}{}", bar.name, (self.words)(sum(bar)), ceiling(bar)))
            .collect();
        let picture = svg(&self.title, &said.join(", "), self.bars.len() as f64 * ROW, content);
        frame::figure(&[], &self.title, self.legend(), picture)
    }

    fn has_ceilings(&self) -> bool {
        self.bars.iter().any(|bar| bar.ceiling.is_some())
    }

    fn legend(&self) -> Markup {
        let of_parts = if self.legend.len() < 2 { &[] } else { self.legend.as_slice() };
        if of_parts.is_empty() && !self.has_ceilings() {
            return Markup::new();
        }
        let entry = |(style, name): &(&'static str, String)| {
            frame::key(12.0, rect(style, [1.0, 1.0, 10.0, 8.0]), name)
        };
        let mut keys: Markup = of_parts.iter().map(entry).collect();
        if self.has_ceilings() {
            keys.push(roof::key());
        }
        classed("span", "legend", keys)
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
    use crate::ground::testing::has;

    #[test]
    fn bars_have_names_values_and_no_width_of_nothing() {
        let bars = vec![
            Bar {
                name: "a".repeat(40),
                parts: vec![("bar read", 70.0), ("bar write", 30.0)],
                ceiling: None,
            },
            Bar { name: "b".to_owned(), parts: vec![("bar read", 0.0)], ceiling: None },
        ];
        let legend = vec![("bar read", "read".to_owned()), ("bar write", "write".to_owned())];
        let svg = Bars { title: "IOPS".to_owned(), words: |v| format!("{v}"), legend, bars }
            .render()
            .into_string();
        assert_eq!(svg.matches("class=\"key\"").count(), 2, "{svg}");
        assert!(svg.contains("width=\"0\"") && svg.contains('…') && svg.contains(">100<"), "{svg}");
        let empty = Bars {
            title: "IOPS".to_owned(),
            words: |v| format!("{v}"),
            legend: Vec::new(),
            bars: Vec::new(),
        };
        assert!(empty.render().into_string().contains("<svg"));
    }
    #[test]
    fn a_ceiling_is_a_mark_behind_the_bar_and_one_far_away_is_told_in_words() {
        let bar = |name: &str, value, ceiling| Bar {
            name: name.to_owned(),
            parts: vec![("bar read", value)],
            ceiling,
        };
        let bars =
            vec![bar("a", 100.0, Some(125.0)), bar("b", 10.0, Some(10_000.0)), bar("c", 1.0, None)];
        let chart =
            Bars { title: "IOPS".to_owned(), words: |v| format!("{v}"), legend: Vec::new(), bars };
        let svg = chart.render().into_string();
        assert_eq!(svg.matches("<title>ceiling ").count(), 1, "{svg}");
        has(&svg, &["<title>ceiling 125</title>", ">100 · 80 %<"]);
        has(&svg, &[">10 · 0.1 %<", "b 10 of at most 10000", ">1<"]);
        assert!(svg.contains("class=\"key\""), "the mark has a name: {svg}");
    }
}
