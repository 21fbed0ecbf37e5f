//! Groups of bars that lie: each group is a workload, each of its bars one value of a swept axis,
//! which stands beside the bar, so that nothing hangs on a colour.

use super::frame::{self, WIDTH, rect, svg, text};
use super::{Scale, roof};
use crate::ground::markup::{Markup, classed};

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What it stands for.
    pub name: String,
    /// Its bars, from top to bottom.
    pub bars: Vec<Step>,
}

/// A bar of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The value of the axis.
    pub label: String,
    /// The figure; `None` where it was not measured.
    pub figure: Option<f64>,
    /// The most that the figure could be, where it is known.
    pub ceiling: Option<f64>,
    /// What stands behind the figure; often nothing.
    pub note: String,
}

impl Step {
    /// A bar without a ceiling.
    pub fn new(label: impl Into<String>, figure: impl Into<Option<f64>>, note: String) -> Step {
        Step { label: label.into(), figure: figure.into(), ceiling: None, note }
    }
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
/// The least room for labels, and the most.
const LABELS: f64 = 110.0;
const MOST_LABELS: f64 = 200.0;
/// The width of a character of a label, at most.
const CHARACTER: f64 = 7.0;
const VALUES: f64 = 96.0;
/// As [`VALUES`], with the share of a ceiling.
const VALUES_AND_SHARES: f64 = 172.0;
/// Shades from dark to light, which follow each other in grey, too.
const SHADES: [&str; 4] = ["bar step0", "bar step1", "bar step2", "bar step3"];

struct Axis {
    scale: Scale,
    /// The room of the labels before it.
    labels: f64,
    /// The most that has a place on it.
    max: f64,
    /// Its width.
    room: f64,
}

impl Groups {
    /// The chart with its caption.
    pub fn render(&self) -> Markup {
        let max = roof::reach(
            self.bars().filter_map(|bar| bar.figure),
            self.bars().filter_map(|bar| bar.ceiling),
        );
        self.render_on(Scale::Linear { max }, max)
    }

    /// The same on an axis of factors, for figures that lie factors of ten apart.
    pub fn render_by_factors(&self) -> Markup {
        let figures = || self.bars().filter_map(|bar| bar.figure).filter(|figure| *figure > 0.0);
        let max = figures().fold(1.0, f64::max);
        // The least still has a bar.
        self.render_on(Scale::log_between(figures().fold(max, f64::min) / 4.0, max), max)
    }

    fn bars(&self) -> impl Iterator<Item = &Step> {
        self.groups.iter().flat_map(|group| &group.bars)
    }

    /// The chart on a scale that shows what is up to `max`.
    fn render_on(&self, scale: Scale, max: f64) -> Markup {
        let bars = || self.bars();
        let has_ceilings = bars().any(|bar| bar.ceiling.is_some());
        let is_wide = has_ceilings || bars().any(|bar| !bar.note.is_empty());
        let longest = bars().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
        let labels = (longest as f64 * CHARACTER + 10.0).clamp(LABELS, MOST_LABELS);
        let room = WIDTH - labels - if is_wide { VALUES_AND_SHARES } else { VALUES };
        let mut content = Markup::new();
        let mut top = 0.0;
        let mut said = Vec::new();
        for group in &self.groups {
            content.push(text("name", 0.0, top + 16.0, &group.name));
            top += HEAD;
            for (shade, bar) in group.bars.iter().enumerate() {
                content.push(self.bar(&Axis { scale, max, labels, room }, top, shade, bar));
                let words = bar.figure.map_or_else(|| "not measured".to_owned(), self.words);
                let most = bar
                    .ceiling
                    .map_or_else(String::new, |most| format!(" of at most {}", (self.words)(most)));
                said.push(format!("{}, {}: {words}{most}", group.name, bar.label));
                top += ROW;
            }
            top += GAP;
        }
        let picture = svg(&self.title, &said.join("; "), top.max(1.0), content);
        let legend = has_ceilings.then(|| classed("span", "legend", roof::key()));
        frame::figure(&[("class", "groups")], &self.title, legend.unwrap_or_default(), picture)
    }

    fn bar(&self, axis: &Axis, top: f64, shade: usize, bar: &Step) -> Markup {
        let Axis { scale, max, labels, room } = *axis;
        let mut content = text("label end", labels - 10.0, top + 13.0, &bar.label);
        let width = bar.figure.map_or(0.0, |figure| scale.place(figure) * room);
        // No shade stands for two values: past the last one, all bars are alike.
        let most = self.groups.iter().map(|group| group.bars.len()).max().unwrap_or(0);
        let shade = if most > SHADES.len() { 1 } else { shade };
        let class = SHADES.get(shade).copied().unwrap_or("bar");
        content.push(rect(class, [labels, top + 2.0, width, ROW - 4.0]));
        let words = bar.figure.map(|figure| {
            let share = roof::share(figure, bar.ceiling);
            format!("{}{share}{}", (self.words)(figure), bar.note)
        });
        let words = words.unwrap_or_else(|| "–".to_owned());
        let seen = bar.ceiling.filter(|ceiling| *ceiling <= max);
        let mark = seen.map(|ceiling| labels + scale.place(ceiling) * room);
        if let Some((left, ceiling)) = mark.zip(seen) {
            content.push(roof::mark(left, top, ROW, &(self.words)(ceiling)));
        }
        let from = roof::words_from(labels + width, mark, &words);
        content.push(text("tick", from, top + 13.0, words));
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;

    #[test]
    fn each_bar_has_its_value_beside_it_and_what_is_missing_is_a_dash() {
        let bar = |label, figure| Step::new(label, figure, String::new());
        let bars = vec![bar("10GB", Some(200.0)), bar("50GB", Some(50.0)), bar("<1>", None)];
        let groups = vec![Group { name: "w".to_owned(), bars }];
        let svg = Groups { title: "IOPS".to_owned(), words: |v| format!("{v}"), groups }
            .render()
            .into_string();
        has(&svg, &[">10GB<", ">200<", ">–<", "&lt;1&gt;"]);
        assert!(
            svg.contains("width=\"354\"") && svg.contains("width=\"88.5\""),
            "to one scale: {svg}"
        );
        assert!(svg.contains("step0") && svg.contains("step1"));
        let empty =
            Groups { title: "IOPS".to_owned(), words: |v| format!("{v}"), groups: Vec::new() };
        assert!(empty.render().into_string().contains("<svg"));
    }
    #[test]
    fn a_ceiling_stands_behind_its_bar() {
        let bar = |figure, ceiling| Step { ceiling, ..Step::new("1GB", figure, String::new()) };
        let bars =
            vec![bar(Some(60.0), Some(80.0)), bar(None, Some(75.0)), bar(Some(6.0), Some(999.0))];
        let groups = vec![Group { name: "w".to_owned(), bars }];
        let svg = Groups { title: "IOPS".to_owned(), words: |v| format!("{v}"), groups }
            .render()
            .into_string();
        has(&svg, &["<title>ceiling 80</title>", "<title>ceiling 75</title>"]);
        assert!(
            !svg.contains("<title>ceiling 999<") && svg.contains(">6 · 0.6 %<"),
            "far away: in words alone: {svg}"
        );
        has(&svg, &[">60 · 75 %<", ">–<", "ceiling, and the share"]);
    }
}
