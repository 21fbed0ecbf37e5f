//! Circles of files: two files that name each other are one room with a wall through it.
//!
//! A file lies within its parent's module: what it takes from there is the house it stands in, and
//! no tie. It is one between files side by side, and between a file and the inside of another room.
//!
//! It is not a compiler: it reads the paths that begin with `crate`, `super`, `self`, a module of
//! the file's own or a name that it imported, and follows what modules hand on (`pub use`).

use super::Finding;
use super::code::{has_word, is_in_name, members, only_code, starts_word, without_tests};
use super::tree::{Tree, is_test};
use std::collections::{BTreeMap, BTreeSet};

const REMEDY: &str = "move what both need into a file below them, or hand it over as an argument";

/// The path of a module within its crate, as its names.
type Module = Vec<String>;

/// A file's code without its tests.
struct File {
    path: String,
    code: String,
    /// What its imports call the paths that they lead to.
    names: BTreeMap<String, Vec<String>>,
}

/// The files of one crate by their modules.
struct Crate {
    files: BTreeMap<Module, File>,
}

/// What a file takes from others: module and names.
type Taken = BTreeMap<Module, BTreeSet<String>>;

/// A file that takes something from another of its crate: both by their paths, and what it takes.
pub struct Tie {
    pub from: String,
    pub to: String,
    pub names: String,
}

/// Every tie between two files of the crate in `folder`, tests left out.
pub fn ties(tree: &Tree, folder: &str) -> Vec<Tie> {
    let inside = format!("{folder}/src/");
    let files = tree.ending(".rs").filter(|file| !is_test(&file.path));
    let files = files.filter(|file| file.path.starts_with(&inside));
    let files: Vec<(&str, &str)> = files.map(|file| (&*file.path, &*file.text)).collect();
    let room = Crate::new(&files);
    let of = |(module, file): (&Module, &File)| {
        let tie = |(to, names): (Module, BTreeSet<String>)| Tie {
            from: file.path.clone(),
            to: room.files[&to].path.clone(),
            names: names.into_iter().collect::<Vec<_>>().join(", "),
        };
        room.taken(module, file).into_iter().map(tie).collect::<Vec<_>>()
    };
    room.files.iter().flat_map(of).collect()
}

/// Every circle of files within a crate.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in tree.ending(".rs").filter(|file| !is_test(&file.path)) {
        let inside = file.path.split_once("/src/");
        if let Some((folder, _)) = inside.filter(|(folder, _)| is_room(folder)) {
            crates.entry(folder).or_default().push((&file.path, &file.text));
        }
    }
    crates.values().flat_map(|files| Crate::new(files).circles()).collect()
}

fn is_room(folder: &str) -> bool {
    folder.starts_with("crates/") || folder == "xtask"
}

impl Crate {
    fn new(files: &[(&str, &str)]) -> Crate {
        let read = |(path, text): &(&str, &str)| {
            let code = without_tests(&only_code(text));
            (module_of(path), File { path: (*path).to_owned(), code, names: BTreeMap::new() })
        };
        let mut read: BTreeMap<Module, File> = files.iter().map(read).collect();
        for file in read.values_mut() {
            file.names = imports(&file.code);
        }
        Crate { files: read }
    }

    /// A finding for each set of files that all lead to each other.
    fn circles(&self) -> Vec<Finding> {
        let taken: BTreeMap<&Module, Taken> =
            self.files.iter().map(|(module, file)| (module, self.taken(module, file))).collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            taken.keys().map(|module| (*module, reached(module, &taken))).collect();
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        let mut findings = Vec::new();
        for (module, there) in &reached {
            if seen.contains(module) || !there.contains(module) {
                continue;
            }
            let circle: BTreeSet<&Module> =
                there.iter().copied().filter(|other| reached[other].contains(module)).collect();
            findings.push(self.finding(&circle, &taken));
            seen.extend(circle);
        }
        findings
    }

    fn finding(&self, circle: &BTreeSet<&Module>, taken: &BTreeMap<&Module, Taken>) -> Finding {
        let mut ties = Vec::new();
        for from in circle {
            for (to, names) in taken[from].iter().filter(|(to, _)| circle.contains(to)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let (from, to) = (&self.files[*from].path, &self.files[to].path);
                ties.push(format!("{from} takes {} from {to}", names.join(", ")));
            }
        }
        let first = circle.first().expect("a circle has files");
        let what = format!("is in a circle of {} files: {}", circle.len(), ties.join("; "));
        Finding::new(&self.files[*first].path, what, REMEDY)
    }

    /// What the file of `module` takes from the other files of its crate.
    fn taken(&self, module: &Module, file: &File) -> Taken {
        let mut taken = Taken::new();
        for path in paths(&file.code) {
            let Some(full) = self.full(module, file, &path) else { continue };
            if let Some((home, name)) = self.home(&full, 0)
                && !module.starts_with(&home)
            {
                taken.entry(home).or_default().insert(name);
            }
        }
        taken
    }

    /// `path` from the root of the crate, as the file of `module` means it.
    fn full(&self, module: &Module, file: &File, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?;
        let rest = &path[1..];
        let mut base = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.clone(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            name => {
                let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
                if self.files.contains_key(&child) {
                    child
                } else {
                    let known = file.names.get(name).filter(|known| known[..] != *path)?;
                    let known: Vec<String> = known.clone();
                    // A name that leads to itself leads nowhere.
                    if known.first() == Some(first) {
                        return None;
                    }
                    self.full(module, file, &known)?
                }
            }
        };
        for name in rest {
            match name.as_str() {
                "super" => drop(base.pop()?),
                "self" => {}
                name => base.push(name.to_owned()),
            }
        }
        Some(base)
    }

    /// The module that defines what a path from the root means, and the name; `None` for a module
    /// itself, and for what is not of this crate.
    fn home(&self, full: &[String], depth: u32) -> Option<(Module, String)> {
        let deepest = (0..=full.len()).rev().find(|end| self.files.contains_key(&full[..*end]))?;
        let (module, name) = (&full[..deepest], full.get(deepest)?);
        let file = &self.files[module];
        match file.names.get(name) {
            Some(onward) if depth < 8 && handed_on(&file.code, name) => {
                let onward = self.full(&module.to_vec(), file, onward)?;
                self.home(&onward, depth + 1)
            }
            _ => Some((module.to_vec(), name.clone())),
        }
    }
}

/// All that can be reached from `module`.
fn reached<'a>(module: &Module, taken: &'a BTreeMap<&Module, Taken>) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = taken[module].keys().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(taken.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

/// The module of a file of a crate.
fn module_of(path: &str) -> Module {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let inside = inside.trim_end_matches(".rs");
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    match inside {
        "lib" | "main" => Vec::new(),
        inside => inside.split('/').map(str::to_owned).collect(),
    }
}

/// What the imports of a file call the paths that they lead to.
fn imports(code: &str) -> BTreeMap<String, Vec<String>> {
    let mut names = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        if !starts_word(code, at) {
            continue;
        }
        let body = code[at + 4..].split(';').next().unwrap_or_default();
        for (path, alias) in trees(body) {
            if let Some(name) = alias.or_else(|| path.last().cloned()) {
                names.insert(name, path);
            }
        }
    }
    names
}

/// Whether a module hands `name` on.
fn handed_on(code: &str, name: &str) -> bool {
    let uses = code.match_indices("pub").filter_map(|(at, _)| {
        let after = code[at + 3..].trim_start();
        let after = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1.trim_start(),
            None => after,
        };
        after.strip_prefix("use ")?.split(';').next()
    });
    uses.into_iter().any(|body| has_word(body, name))
}

/// Every path in `code`, groups taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (at, _) in code.match_indices("::") {
        let begin = code[..at].rfind(|c: char| !is_in_name(c)).map_or(0, |before| before + 1);
        if begin == at || code[..begin].ends_with("::") || code[..begin].ends_with('$') {
            continue;
        }
        all.extend(trees(&code[begin..]).into_iter().map(|(path, _)| path));
    }
    all
}

/// The paths that a tree of imports, or an expression's path, stands for, each with its other name.
fn trees(text: &str) -> Vec<(Vec<String>, Option<String>)> {
    let name_at = |text: &str| -> String { text.chars().take_while(|c| is_in_name(*c)).collect() };
    let mut rest = text.trim_start();
    let mut path: Vec<String> = Vec::new();
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            let below = members(group).into_iter().flat_map(trees);
            let whole = |member: Vec<String>| path.iter().cloned().chain(member).collect();
            return below.map(|(member, alias)| (whole(member), alias)).collect();
        }
        let name = name_at(rest);
        if name.is_empty() {
            break;
        }
        rest = rest[name.len()..].trim_start();
        path.push(name);
        match rest.strip_prefix("::") {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    let alias = rest.strip_prefix("as ").map(|after| name_at(after.trim_start()));
    if path.is_empty() { Vec::new() } else { vec![(path, alias)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_files_that_name_each_other_are_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B; fn f(_: super::a::A) {}"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("takes B from crates/a/src/b.rs"), "{}", found[0]);
        assert!(found[0].contains("takes A from crates/a/src/a.rs"), "{}", found[0]);
    }

    #[test]
    fn what_is_handed_on_is_taken_from_where_it_is_defined() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::{B, C};"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "use crate::A; pub struct B; pub struct C(A);"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn what_lies_within_a_room_may_name_it_and_others_may_not_go_round() {
        let room = ("room/mod.rs", "mod wall; use wall::Wall; pub struct Room(Wall);");
        let wall = ("room/wall.rs", "use super::Room; pub struct Wall;");
        assert!(circles(&[("lib.rs", "mod room;"), room, wall]).is_empty());
        let door = ("door.rs", "use crate::room::Room; pub struct Door;");
        let wall = ("room/wall.rs", "use crate::door::Door; pub struct Wall;");
        assert_eq!(circles(&[("lib.rs", "mod room; mod door;"), room, door, wall]).len(), 1);
    }

    #[test]
    fn an_imported_module_and_groups_lead_to_what_they_name() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b; fn f() { b::go() }"),
            ("b.rs", "use crate::{a::{f, g}, c}; pub fn go() {}"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn tests_and_words_are_no_ties() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "pub struct B; // crate::a::A\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
