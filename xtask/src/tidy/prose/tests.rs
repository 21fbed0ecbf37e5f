use super::text::{private_words, sentences, wide, words};
use super::*;

fn said(page: &str, ceilings: &str) -> Vec<String> {
    let tree = Tree::of(&[("docs/a.md", page), (CEILINGS, ceilings)]);
    check(&tree).findings.iter().map(ToString::to_string).collect()
}

/// A sentence of so many words.
fn sentence(words: usize) -> String {
    format!("{}end.\n", "word\n".repeat(words - 1))
}

#[test]
fn code_tables_headings_and_front_matter_are_no_prose() {
    let page = "---\ntitle: x y\n---\n# A head\n\nOne `long piece of code` here.\n\n| a | b |\n\
                ```sh\nnot this\n```\n<!-- nor\nthis -->\n[x]: y.md\n<!-- written by `x`: \
                begin -->\nBy a chore.\n<!-- end -->\n* An [item](of a list.md)\n\
                1. A number\n   goes on. It ends!\n";
    let expected =
        ["One code here.", "An item", "A number goes on.", "It ends!"].map(str::to_owned);
    assert_eq!(sentences(page), expected);
}

#[test]
fn initials_and_short_forms_end_no_sentence() {
    let page = "L. Kleinrock (ICC 1979), e.g. here, holds 1.5 of it. \"Two.\" Three – is it?";
    assert_eq!(sentences(page).len(), 3);
    assert_eq!(words("Three – is it?"), 3);
}

#[test]
fn private_words_are_counted_whole() {
    assert_eq!(private_words("What stands here is told, and it comes to two."), 3);
    assert_eq!(private_words("A standard is understood; bearings hold."), 0);
    assert_eq!(private_words("tell tell tell"), 3);
}

#[test]
fn lines_that_cannot_be_broken_may_be_wide() {
    let link = format!("* [{}](b.md)\n", "x y ".repeat(30));
    assert_eq!(wide(&link), 0);
    assert_eq!(wide(&format!("| {} |\n", "x y ".repeat(40))), 0);
    assert_eq!(wide(&"x y ".repeat(40)), 1);
    assert_eq!(wide(&format!("# A\n\nMade by x; do not edit.\n\n{}", "x y ".repeat(40))), 0);
}

#[test]
fn a_new_page_is_held_to_the_limits() {
    assert_eq!(said(&sentence(16), ""), [""; 0]);
    let long = said(&sentence(46), "");
    assert_eq!(long.len(), 3, "{long:?}");
    assert!(long[2].starts_with("docs/a.md has 46 words in its longest sentence, more than 45;"));
    let private = said("It tells.\n", "");
    assert!(private[0].starts_with("docs/a.md has 1 private words, more than 0"), "{private:?}");
}

#[test]
fn a_ceiling_is_exact_and_only_falls() {
    let page = sentence(50);
    assert_eq!(said(&page, "docs/a.md 50 50 50 0 0\n"), [""; 0]);
    assert_eq!(said(&page, "docs/a.md 49 50 50 0 0\n").len(), 2);
    let loose = said(&page, "docs/a.md 51 50 50 0 0\n");
    assert!(loose[0].contains("docs/a.md needs less than its line says"), "{loose:?}");
    assert!(said(&sentence(9), "docs/a.md 50 50 50 0 0\n")[0].contains("needs less"));
    assert!(said(&sentence(9), "docs/b.md 50 50 50 0 0\n")[0].contains("is not there"));
    assert!(said(&sentence(9), "docs/b.md fifty\n")[0].contains("is not a path and five numbers"));

    let lowered = |page: &str, ceilings: &str| {
        let list = lower(&Tree::of(&[("docs/a.md", page), (CEILINGS, ceilings)]));
        list.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lowered(&page, "docs/a.md 60 49 50 3 0\n"), ["docs/a.md 50 49 50 0 0"]);
    assert_eq!(lowered(&sentence(9), "docs/a.md 50 50 50 0 0\n"), [""; 0]);
    assert_eq!(lowered(&page, ""), [""; 0]);
}

#[test]
fn the_method_may_be_longer() {
    let tree = Tree::of(&[("docs/method/a.md", &sentence(18)), ("docs/other.txt", &sentence(99))]);
    assert_eq!(check(&tree).findings, []);
    assert_eq!(check(&tree).table.len(), 2);
}
