//! The layers of `report`: surfaces put topics together, pens draw what topics say, and all is made
//! of the ground. Never back.

use super::Finding;
use super::circles::{Tie, ties};
use super::tree::Tree;

const ROOM: &str = "crates/report";

/// From the lowest to the highest. None looks at one above it.
const LAYERS: [&str; 4] = ["ground", "pens", "topics", "surfaces"];

const REMEDY: &str = "move what both need to the lower layer, or hand it over as an argument";

/// Every file of a layer that looks at a higher one, and every file that lies in none.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let inside = format!("{ROOM}/src/");
    let files = tree.ending(".rs").filter(|file| file.path.starts_with(&inside));
    let without =
        files.filter(|file| layer(&file.path).is_none() && !file.path.ends_with("lib.rs"));
    let without = without.map(|file| {
        let what = format!("lies in none of the layers {}", LAYERS.join(", "));
        Finding::new(&file.path, what, "move it into the layer that it belongs to")
    });
    let back = ties(tree, ROOM).into_iter().filter(|tie| layer(&tie.from) < layer(&tie.to));
    let back = back.map(|Tie { from, to, names }| {
        Finding::new(from, format!("takes {names} from {to}, which lies above it"), REMEDY)
    });
    without.chain(back).collect()
}

/// What only pens write: rows of pages, and objects for machines.
const OF_PENS: [&str; 3] = ["\"tr\"", "\"td\"", "json!"];

/// Every line of `report` and `live` that writes by hand what a pen draws.
pub fn pens(tree: &Tree) -> Vec<Finding> {
    let is_topic = |path: &str| {
        ["crates/report/src/", "crates/live/src/"].iter().any(|room| path.starts_with(room))
            && !path.starts_with("crates/report/src/pens/")
    };
    let files = tree.ending(".rs").filter(|file| is_topic(&file.path));
    let lines = files.flat_map(|file| {
        let hits = file.text.lines().enumerate();
        let hits = hits.filter(|(_, line)| OF_PENS.iter().any(|word| line.contains(word)));
        hits.map(|(index, _)| (file.path.as_str(), index + 1))
    });
    let remedy = "declare a `Table`, or write `object!`";
    lines.map(|(path, line)| Finding::at(path, line, "draws by hand", remedy)).collect()
}

/// The place of a file's layer among them, from the lowest.
fn layer(path: &str) -> Option<usize> {
    let inside = path.strip_prefix(ROOM)?.strip_prefix("/src/")?;
    let (folder, _) = inside.split_once('/')?;
    LAYERS.iter().position(|layer| *layer == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: (&str, &str) =
        ("crates/report/src/lib.rs", "pub mod ground; pub mod surfaces; pub mod topics;");

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let files = [&[LIB], files].concat();
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_surface_looks_at_topics_and_a_topic_at_the_ground() {
        let found = findings(&[
            ("crates/report/src/ground/words.rs", "pub fn count() {}"),
            (
                "crates/report/src/topics/plan.rs",
                "use crate::ground::words; fn f() { words::count() }",
            ),
            (
                "crates/report/src/surfaces/html.rs",
                "use crate::topics::plan::f; use crate::ground::words::count;",
            ),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn an_arrow_back_is_found_however_it_is_written() {
        let topic = ("crates/report/src/topics/plan.rs", "pub fn render() {}");
        for code in [
            "use crate::topics::plan::render;",
            "fn f() { crate::topics::plan::render() }",
            "use super::super::topics::plan; fn f() { plan::render() }",
        ] {
            let found = findings(&[topic, ("crates/report/src/ground/words.rs", code)]);
            assert_eq!(found.len(), 1, "{code}: {found:?}");
            assert!(found[0].contains("takes render from crates/report/src/topics/plan.rs"));
        }
    }

    #[test]
    fn tests_may_look_up_and_no_file_lies_outside() {
        let ground = "#[cfg(test)]\nmod tests { use crate::topics::plan::render; }";
        let topic = ("crates/report/src/topics/plan.rs", "pub fn render() {}");
        assert_eq!(findings(&[topic, ("crates/report/src/ground/words.rs", ground)]), [""; 0]);
        assert_eq!(findings(&[("crates/report/src/words.rs", "")]).len(), 1);
    }

    #[test]
    fn a_row_that_is_drawn_by_hand_is_found() {
        let text = "fn f() { plain(\"tr\", cells); }\n";
        let files = [
            ("crates/live/src/a.rs", text),
            ("crates/report/src/pens/b.rs", text),
            ("crates/cli/src/c.rs", "json!(1)"),
        ];
        let found: Vec<_> = pens(&Tree::of(&files)).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/live/src/a.rs:1 draws by hand"), "{found:?}");
    }
}
