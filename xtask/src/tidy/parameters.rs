//! A parameter of a function is one argument: a tuple hides how many there are, and at the call
//! nothing says which is which.

use super::Finding;
use super::code::{is_in_name, only_code, starts_word};
use super::tree::{Text, Tree};

const REMEDY: &str = "name each argument, or give those that belong together a struct";

/// Traits decide what these take.
const OF_TRAITS: [&str; 2] = ["from", "try_from"];

/// Every parameter of a named function that is a tuple: by its pattern, by its type, or by a name
/// that the same file gives to a tuple. Closures take what iterators hand them.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs").flat_map(in_file).collect()
}

fn in_file(file: &Text) -> Vec<Finding> {
    let code = only_code(&file.text);
    let aliases = aliases(&code);
    let mut findings = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if !starts_word(&code, at) {
            continue;
        }
        let head = code[at + 3..].trim_start();
        let name: String = head.chars().take_while(|c| is_in_name(*c)).collect();
        if name.is_empty() || OF_TRAITS.contains(&name.as_str()) {
            continue;
        }
        let Some(list) = parameters(head[name.len()..].trim_start()) else { continue };
        for parameter in parts(list).into_iter().filter(|one| is_tuple(one, &aliases)) {
            let words: Vec<&str> = parameter.split_whitespace().collect();
            let line = code[..at].matches('\n').count() + 1;
            let what = format!("`{name}` takes a tuple: `{}`", words.join(" "));
            findings.push(Finding::at(&file.path, line, what, REMEDY));
        }
    }
    findings
}

/// The names that `code` gives to tuples.
fn aliases(code: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let (head, tail) = line.split_once('=')?;
        let (_, named) = head.split_once("type ")?;
        let name = named.trim_start().chars().take_while(|c| is_in_name(*c)).collect();
        is_tuple_type(tail, &[]).then_some(name)
    };
    code.split(';').filter_map(of_line).collect()
}

/// What stands between the parentheses of a function, whose name is behind us.
fn parameters(head: &str) -> Option<&str> {
    let from_list = match head.strip_prefix('<') {
        None => head,
        Some(_) => head[closing(head)? + 1..].trim_start(),
    };
    from_list.starts_with('(').then_some(())?;
    from_list.get(1..closing(from_list)?)
}

/// Where the bracket is closed that `text` begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, step) in steps(text) {
        depth = depth.checked_add_signed(step)?;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Each bracket of `text`: where it is, and whether it opens (1) or closes (-1).
fn steps(text: &str) -> impl Iterator<Item = (usize, isize)> {
    text.char_indices().filter_map(|(at, c)| match c {
        '(' | '[' | '{' | '<' => Some((at, 1)),
        ')' | ']' | '}' => Some((at, -1)),
        // That of an arrow closes nothing.
        '>' if !text[..at].ends_with(['-', '=']) => Some((at, -1)),
        _ => None,
    })
}

/// The parts of a list between the commas that stand in no bracket of their own.
fn parts(list: &str) -> Vec<&str> {
    let mut begin = 0;
    let mut parts = Vec::new();
    for (comma, _) in list.match_indices(',') {
        let depth: isize = steps(&list[..comma]).map(|(_, step)| step).sum();
        if depth == 0 {
            parts.push(&list[begin..comma]);
            begin = comma + 1;
        }
    }
    parts.push(&list[begin..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// Whether a parameter is a tuple. One without a type is `self`.
fn is_tuple(parameter: &str, aliases: &[String]) -> bool {
    let outside = |at: usize| steps(&parameter[..at]).map(|(_, step)| step).sum::<isize>() == 0;
    let colon = parameter.match_indices(':').map(|(at, _)| at).find(|at| outside(*at));
    colon.is_some_and(|at| {
        parameter[..at].trim_start().starts_with('(')
            || is_tuple_type(&parameter[at + 1..], aliases)
    })
}

/// Whether a type is a tuple of several, or a reference to one.
fn is_tuple_type(text: &str, aliases: &[String]) -> bool {
    let mut rest = text.trim();
    loop {
        let shorter = rest.trim_start_matches('&').trim_start();
        let shorter = shorter.strip_prefix("mut ").unwrap_or(shorter);
        // A lifetime.
        let shorter = match shorter.strip_prefix('\'') {
            Some(named) => named.trim_start_matches(is_in_name).trim_start(),
            None => shorter,
        };
        if shorter == rest {
            break;
        }
        rest = shorter;
    }
    let name: String = rest.chars().take_while(|c| is_in_name(*c)).collect();
    let inside = closing(rest).and_then(|end| rest.get(1..end));
    aliases.contains(&name)
        || (rest.starts_with('(') && inside.is_some_and(|inside| parts(inside).len() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/a/src/a.rs", text), ("docs/a.md", text)]);
        check(&tree)
            .into_iter()
            .map(|finding| format!("{} {}", finding.place, finding.what))
            .collect()
    }

    #[test]
    fn a_tuple_is_found_by_its_pattern_its_type_and_its_name() {
        let place = "crates/a/src/a.rs";
        for (text, wanted) in [
            ("\nfn f((a, b): (A, B)) {}", "2 `f` takes a tuple: `(a, b): (A, B)`"),
            ("fn f(&self, x: &'a mut (A, B)) {}", "1 `f` takes a tuple: `x: &'a mut (A, B)`"),
            ("fn f<T: Fn(A) -> B>(\n    x: (A,\n    B),\n) {}", "1 `f` takes a tuple: `x: (A, B)`"),
            (
                "type Two<'a> = (&'a A, B);\nfn f((a, b): Two<'_>) {}",
                "2 `f` takes a tuple: `(a, b): Two<'_>`",
            ),
            ("type Two = (A, B);\nfn f(two: &Two) {}", "2 `f` takes a tuple: `two: &Two`"),
            ("fn f(a: A, (b, c): &(B, C)) {}", "1 `f` takes a tuple: `(b, c): &(B, C)`"),
        ] {
            assert_eq!(found(text), [format!("{place}:{wanted}")], "{text}");
        }
        assert_eq!(found("fn f(a: (A, B), b: (C, D)) {}\nfn g(a: (A, B)) {}").len(), 3);
    }

    #[test]
    fn what_is_no_tuple_of_arguments_stays() {
        for text in [
            "fn f(a: A, b: Vec<(A, B)>, c: &[(A, B)]) -> (A, B) { |(a, b): (A, B)| a }",
            "fn f(a: &(dyn Fn(A, B) -> C + Send), b: impl Fn((A, B))) {}",
            "fn f(a: fn((A, B)) -> C) {}",
            "impl From<(A, B)> for C { fn from((a, b): (A, B)) -> C {} }",
            "fn f(Given { value, .. }: Given<(A, B)>, [a, b]: [A; 2]) {}",
            "fn f() {}\nfn g(self: Box<Self>) {}\nfn h(&mut self) {}",
            "// fn f(a: (A, B)) {}\nconst A: &str = \"fn f(a: (A, B))\";",
            "macro_rules! m { ($f:ident) => { fn $f(a: A) {} } }",
            "fn f(a: A",
            "fn f<T",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
