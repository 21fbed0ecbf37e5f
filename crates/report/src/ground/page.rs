//! A page that needs nothing else, or one that a server gives out: head, style and script around a
//! body.

use crate::ground::markup::{Markup, element, plain};

/// The style of every page.
pub const STYLE: &str = crate::ground::palette::SHEET;
/// The script of every page: values under the pointer.
pub const SCRIPT: &str = include_str!("script.js");

/// Where a page's style and script are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dress {
    /// In the page: it needs nothing else.
    Inside,
    /// At the server that the page comes from, so that its policy can forbid everything inside
    /// pages.
    Served,
}

/// A page that needs nothing else.
pub fn document(title: String, body: Markup) -> String {
    dressed(title, body, Dress::Inside)
}

/// A page.
pub fn dressed(title: String, body: Markup, dress: Dress) -> String {
    let (style, script) = match dress {
        Dress::Inside => {
            (plain("style", Markup::of_ours(STYLE)), plain("script", Markup::of_ours(SCRIPT)))
        }
        Dress::Served => (
            [
                element("link", &[("rel", "stylesheet"), ("href", "/style.css")], ""),
                element(
                    "link",
                    &[("rel", "icon"), ("type", "image/svg+xml"), ("href", "/icon.svg")],
                    "",
                ),
            ]
            .into(),
            element("script", &[("src", "/script.js")], ""),
        ),
    };
    let head = [
        element("meta", &[("charset", "utf-8")], ""),
        element(
            "meta",
            &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")],
            "",
        ),
        element("meta", &[("name", "color-scheme"), ("content", "light dark")], ""),
        plain("title", title),
        style,
    ];
    let page = element(
        "html",
        &[("lang", "en")],
        [plain("head", head), plain("body", [plain("main", body), script])],
    );
    format!("<!doctype html>\n{}\n", page.into_string())
}
