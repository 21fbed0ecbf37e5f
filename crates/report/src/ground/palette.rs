//! The page's style for charts, for files that have no page around them: variables replaced by the
//! colours of light paper.

use std::sync::LazyLock;

pub const SHEET: &str = include_str!("style.css");

/// The rules that charts need, in one text, without variables.
pub static RULES: LazyLock<String> = LazyLock::new(|| rules(SHEET));

/// A colour of light paper by its name without dashes: `ink`, `read`.
pub fn colour(name: &str) -> Option<&'static str> {
    variables(SHEET).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The variables of the first block, which is that of light paper.
pub fn variables(sheet: &str) -> Vec<(&str, &str)> {
    let block = sheet
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .map_or("", |(block, _)| block);
    block
        .split(';')
        .filter_map(|declaration| {
            let (name, value) = declaration.split_once(':')?;
            Some((name.trim().strip_prefix("--")?, value.trim()))
        })
        .collect()
}

/// Selector and declarations of every rule that stands for itself: what holds for some media alone
/// is left out.
pub fn plain_rules(sheet: &str) -> Vec<(&str, &str)> {
    let mut rules = Vec::new();
    let mut rest = sheet;
    while let Some((selector, after)) = rest.split_once('{') {
        if selector.trim_start().starts_with('@') {
            let mut depth = 1;
            let end = after.find(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth == 0
            });
            rest = end.and_then(|end| after.get(end + 1..)).unwrap_or("");
            continue;
        }
        let Some((declarations, behind)) = after.split_once('}') else { break };
        rules.push((selector.trim(), declarations.trim()));
        rest = behind;
    }
    rules
}

/// Whether a rule is one of a drawing's, and not of the page around it.
fn is_drawn(selector: &str, declarations: &str) -> bool {
    let of_page = [":root", "svg.chart", ".hit", ".cursor"];
    let drawn = ["stroke", "fill:", "text-anchor"];
    !of_page.contains(&selector) && drawn.iter().any(|word| declarations.contains(word))
}

fn rules(sheet: &str) -> String {
    let mut text = String::new();
    for (selector, declarations) in plain_rules(sheet) {
        if is_drawn(selector, declarations) {
            text.push_str(&format!("{selector}{{{declarations}}}\n"));
        }
    }
    for (name, value) in variables(sheet) {
        text = text.replace(&format!("var(--{name})"), value);
    }
    text
}
