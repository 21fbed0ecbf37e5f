//! The ceiling of what a bar or a line shows: a mark where it lies on the scale, and the share of
//! it in words.

use super::frame::{self, line};
use crate::ground::markup::{Markup, element};
use crate::ground::words;

/// A ceiling so many times as high as the highest figure would press all figures against the axis:
/// beyond that, words alone tell it.
const MOST_ABOVE: f64 = 3.0;

/// The room between a bar and its words, in units of the picture.
const BESIDE: f64 = 8.0;

/// How far a scale has to reach for `figures`, and for those of their `ceilings` that are near
/// enough to be drawn.
pub fn reach(figures: impl Iterator<Item = f64>, ceilings: impl Iterator<Item = f64>) -> f64 {
    let highest = figures.fold(f64::MIN_POSITIVE, f64::max);
    ceilings.filter(|ceiling| *ceiling <= highest * MOST_ABOVE).fold(highest, f64::max)
}

/// Behind a figure in words: ` · 97 %`.
pub fn share(figure: f64, ceiling: Option<f64>) -> String {
    let known = ceiling.filter(|ceiling| *ceiling > 0.0);
    known.map_or_else(String::new, |ceiling| format!(" · {}", words::share(figure / ceiling)))
}

/// A mark across a bar from `top` on, which says what it is under the pointer.
pub fn mark(left: f64, top: f64, height: f64, said: &str) -> Markup {
    let title = element("title", &[], format!("ceiling {said}"));
    line("ceiling", [left, left, top, top + height], title)
}

/// From where on the words behind a bar stand that ends at `end`: before the mark at `ceiling`
/// where they fit there, else behind it.
pub fn words_from(end: f64, ceiling: Option<f64>, words: &str) -> f64 {
    // Digits of the page's font are about 0.56 of it wide, which is 15 units on a telephone.
    let room = words.chars().count() as f64 * 8.4 + 2.0 * BESIDE;
    match ceiling {
        Some(mark) if mark - end < room => end.max(mark) + BESIDE,
        _ => end + BESIDE,
    }
}

/// What the mark and the share stand for, for a legend.
pub fn key() -> Markup {
    let mark = line("ceiling", [6.0, 6.0, 0.0, 10.0], "");
    frame::key(12.0, mark, "ceiling, and the share of it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_reaches_to_ceilings_that_are_near_and_not_to_those_that_are_far() {
        let to = |ceilings: &[f64]| reach([50.0, 100.0].into_iter(), ceilings.iter().copied());
        assert_eq!((to(&[]), to(&[120.0, 300.0]), to(&[301.0, 110.0])), (100.0, 300.0, 110.0));
        assert!(reach(std::iter::empty(), std::iter::empty()) > 0.0);
        assert_eq!(share(97.0, Some(100.0)).as_str(), " · 97 %");
        assert_eq!(share(1.0, None).as_str(), "");
        assert_eq!(share(1.0, Some(0.0)).as_str(), "");
    }

    #[test]
    fn words_stand_by_their_bar_and_not_across_the_mark() {
        let from = |end, ceiling| words_from(end, ceiling, "686,664 · 42 %");
        assert_eq!(
            (from(200.0, None), from(200.0, Some(400.0))),
            (208.0, 208.0),
            "room before the mark"
        );
        assert_eq!(
            (from(200.0, Some(210.0)), from(200.0, Some(195.0))),
            (218.0, 208.0),
            "none, and a bar above its ceiling"
        );
    }
}
