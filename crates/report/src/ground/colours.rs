//! Whether charts can be read by everybody: enough contrast, colours that differ for the
//! colour-blind, and a dash for each line of a chart, so that grey paper is enough.

use crate::ground::chart::{SHADES, opacity};
use crate::ground::palette::{SHEET, plain_rules, variables};

/// Linear red, green and blue, 0 to 1.
type Rgb = [f64; 3];

/// Light, dark and print.
fn papers() -> [(&'static str, Vec<(&'static str, &'static str)>); 3] {
    let block = |before: &str| {
        let (_, rest) = SHEET.split_once(before).expect("the block is there");
        variables(&rest[rest.find(":root").expect("variables")..])
    };
    [
        ("light", variables(SHEET)),
        ("dark", block("(prefers-color-scheme: dark)")),
        ("print", block("@media print")),
    ]
}

/// Red, green and blue of a colour as it is written, 0 to 1.
fn encoded(colour: &str) -> Rgb {
    let digits = colour.strip_prefix('#').expect("a colour");
    let wide: String = if digits.len() == 3 {
        digits.chars().flat_map(|c| [c, c]).collect()
    } else {
        digits.to_owned()
    };
    [0, 2, 4]
        .map(|at| f64::from(u8::from_str_radix(&wide[at..at + 2], 16).expect("digits")) / 255.0)
}

/// sRGB to linear light (IEC 61966-2-1).
fn lit(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn linear(colour: &str) -> Rgb {
    encoded(colour).map(lit)
}

/// Relative luminance (WCAG 2.1).
fn luminance(colour: Rgb) -> f64 {
    0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]
}

/// Contrast ratio, 1 to 21 (WCAG 2.1).
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// As everybody, and as people without the long-wave or middle-wave cones see: Machado, Oliveira
/// and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
/// TVCG 15 (6), 2009, severity 1.0, on linear light.
const EYES: [(&str, [Rgb; 3]); 3] = [
    ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
];

fn seen(colour: Rgb, eyes: [Rgb; 3]) -> Rgb {
    eyes.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0))
}

/// CIE L*a*b* of linear sRGB, white D65 (CIE 15:2004).
fn lab(colour: Rgb) -> [f64; 3] {
    let to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ];
    let white = [0.95047, 1.0, 1.08883];
    let [x, y, z] = [0, 1, 2].map(|at| {
        let value = to_xyz[at].iter().zip(colour).map(|(a, b)| a * b).sum::<f64>() / white[at];
        if value > 216.0 / 24_389.0 {
            value.cbrt()
        } else {
            (24_389.0 / 27.0 * value + 16.0) / 116.0
        }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// ΔE*ab of 1976: the distance in L*a*b*. About 2.3 is just noticeable (Mahy, Van Eycken and
/// Oosterlinck, 1994).
fn delta_e(a: Rgb, b: Rgb) -> f64 {
    lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Colours that lines of one chart can have.
const TOGETHER: [&[&str]; 3] = [
    &["read", "write", "fsync", "trim"],
    &["q50", "q99", "q999", "max"],
    &["read", "write", "fsync", "q99", "trim", "ink"],
];

/// A colour of a paper, as it is written.
fn written(paper: &[(&str, &str)], name: &str) -> Rgb {
    encoded(paper.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1)
}

fn of(paper: &[(&str, &str)], name: &str) -> Rgb {
    written(paper, name).map(lit)
}

/// A colour that covers so much of a paper, in linear light. Browsers mix what is half transparent
/// before it is made linear.
fn covering(paper: &[(&str, &str)], name: &str, cover: f64) -> Rgb {
    let (full, base) = (written(paper, name), written(paper, "paper"));
    [0, 1, 2].map(|at| lit(full[at] * cover + base[at] * (1.0 - cover)))
}

fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (a, b)))
}

#[test]
fn the_formulas_give_what_their_sources_say() {
    let (black, white, red) = (linear("#000"), linear("#ffffff"), linear("#ff0000"));
    assert!((contrast(black, white) - 21.0).abs() < 1e-9);
    let expected = [53.24, 80.09, 67.20];
    assert!(lab(red).iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02), "{:?}", lab(red));
    assert!((delta_e(black, white) - 100.0).abs() < 0.01);
    // Nobody loses grey.
    for (name, eyes) in EYES {
        assert!(delta_e(seen(linear("#808080"), eyes), linear("#808080")) < 0.5, "{name}");
    }
}

#[test]
fn lines_stand_out_from_every_paper() {
    for (paper, colours) in papers() {
        for name in TOGETHER.iter().flat_map(|names| names.iter()) {
            // Graphics need 3:1 (WCAG 2.1, success criterion 1.4.11).
            let ratio = contrast(of(&colours, name), of(&colours, "paper"));
            assert!(ratio >= 3.0, "{paper} {name}: {ratio:.2}");
        }
        for name in ["ink", "soft"] {
            // Words need 4.5:1 (1.4.3).
            let ratio = contrast(of(&colours, name), of(&colours, "paper"));
            assert!(ratio >= 4.5, "{paper} {name}: {ratio:.2}");
        }
    }
}

#[test]
fn shades_of_a_map_stand_out_from_every_paper_and_from_each_other() {
    for (paper, colours) in papers() {
        let shade = |cover: f64| covering(&colours, "heat", cover);
        let all: Vec<Rgb> =
            std::iter::once(0.0).chain((0..SHADES).map(opacity)).map(shade).collect();
        for (number, pair) in all.windows(2).enumerate() {
            let apart = delta_e(pair[0], pair[1]);
            assert!(apart >= 8.0, "{paper}: shade {number} and the next are {apart:.1} apart");
        }
        let most = contrast(all[SHADES], all[0]);
        assert!(most >= 7.0, "{paper}: the strongest shade has a contrast of {most:.1}");
    }
}

#[test]
fn colours_of_one_chart_differ_for_all_eyes() {
    /// Five times what is just noticeable: they are thin lines, not fields.
    const LEAST: f64 = 12.0;
    for (paper, colours) in papers() {
        for names in TOGETHER {
            for (a, b) in pairs(names) {
                for (eyes, matrix) in EYES {
                    let apart =
                        delta_e(seen(of(&colours, a), matrix), seen(of(&colours, b), matrix));
                    assert!(apart >= LEAST, "{paper}, {eyes}: {a} and {b} are {apart:.1} apart");
                }
            }
        }
    }
}

/// The dashes of a line; none is a solid one.
fn dashes(style: &str) -> Vec<f64> {
    let class = style.replace(' ', ".");
    let selector = format!(".{class}");
    let (_, rule) =
        plain_rules(SHEET).into_iter().find(|(known, _)| *known == selector).expect(style);
    let numbers = rule
        .split_once("stroke-dasharray:")
        .map_or("", |(_, after)| after.split(';').next().unwrap_or(""));
    numbers.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn lines_of_one_chart_can_be_told_in_grey_by_their_dashes() {
    let charts: [&[&str]; 7] = [
        &["line read", "line write", "line fsync", "line trim"],
        &["line metadata", "line fsync"],
        &["line metadata", "line write", "line third", "line fourth", "line fifth", "line sixth"],
        &["line q50", "line q99", "line q999", "line max"],
        &["line read", "line write", "line third", "line fourth", "line fifth", "line sixth"],
        &["line sixth", "line q50", "line q99", "line q999"],
        &[
            "line drives", "line cache", "line ports", "line client-ports", "line fabric",
            "line site-link", "line socket-link", "line cpu",
        ],
    ];
    for chart in charts {
        for (a, b) in pairs(chart) {
            let (first, second) = (dashes(a), dashes(b));
            let ratio = |(a, b): (&f64, &f64)| (a / b).max(b / a);
            let differ = first.len() != second.len()
                || first.iter().zip(&second).map(ratio).fold(0.0, f64::max) >= 1.5;
            assert!(differ, "{a} ({first:?}) and {b} ({second:?})");
        }
    }
}

#[test]
fn bars_of_one_chart_can_be_told_in_grey() {
    for (paper, colours) in papers() {
        let lightness = |name: &str| {
            let selector = format!(".bar.{name}");
            let (_, rule) =
                plain_rules(SHEET).into_iter().find(|(known, _)| *known == selector).expect(name);
            let cover = rule
                .split_once("fill-opacity:")
                .and_then(|(_, after)| after.split(';').next()?.trim().parse().ok());
            lab([luminance(covering(&colours, name, cover.unwrap_or(1.0))); 3])[0]
        };
        let names = ["read", "write", "fsync", "trim"];
        for (a, b) in pairs(&names) {
            let apart = (lightness(a) - lightness(b)).abs();
            assert!(apart >= 8.0, "{paper}: bars of {a} and {b} are {apart:.1} of 100 apart");
        }
    }
}
