//! `plimsoll help`: the help of a command, or a page of the guide, offline.

use super::print;
use crate::args::{Arguments, daily};
use crate::failure::Failure;
use analysis::doubts::CODES;
use catalogue::ways::ways;
use clap::CommandFactory;
use form::nearest;
use model::Level;
use std::fmt::Write as _;

/// Other words for a page.
const ALIASES: [(&str, &str); 4] = [
    ("open-loop", "changing-load"),
    ("gating", "comparing"),
    ("marking-events", "long-runs"),
    ("resuming", "long-runs"),
];
/// Pages that are not in the guide.
const OTHERS: [(&str, &str); 2] = [
    ("start", include_str!("../../../../docs/start.md")),
    ("machines", include_str!("../../../../docs/reference/machines.md")),
];
const GUIDE: [(&str, &str); 29] = embedded!(
    "../../../../docs/guide/",
    ".md",
    [
        "files-and-devices", "workloads", "coming-from-fio", "keep-your-tool", "importing-results",
        "hosts", "kubernetes", "virtual-machines", "trial-cluster", "changing-load",
        "file-populations", "find-the-limit", "sweeps", "scenarios", "comparing", "storage-gate",
        "canaries", "reading-doubts", "watching", "counters-of-others", "pushing", "verifying",
        "long-runs", "simulating", "ceilings", "predicting", "field-reports", "traces",
        "exporting"
    ]
);

fn all_topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    OTHERS.into_iter().chain(GUIDE)
}

/// Prints the help of a command, a page of the guide, or what there is: the commands of daily use,
/// or with `all` every command and topic.
pub(crate) fn help(words: &[String]) -> Result<(), Failure> {
    let (words, is_all) = if words == ["all"] { (&[][..], true) } else { (words, false) };
    let alone = words.first().filter(|_| words.len() == 1);
    if let Some(text) = alone.and_then(|word| page(word).map(plain).or_else(|| explained(word))) {
        return print(&text);
    }
    let mut command = if is_all { Arguments::command() } else { daily() };
    if words.first().is_some_and(|word| command.find_subcommand(word).is_none()) {
        let known = all_topics().map(|(name, _)| name).chain(CODES.iter().copied());
        let remedy = match nearest(&words[0], known) {
            Some(near) => format!("did you mean `plimsoll help {near}`?"),
            None => {
                let names: Vec<&str> = all_topics().map(|(name, _)| name).collect();
                format!("topics: {}", names.join(", "))
            }
        };
        let problem = format!("error: `{}` is no command, topic or doubt; {remedy}", words[0]);
        return Err(Failure::Usage(problem));
    }
    let line = std::iter::once("plimsoll").chain(words.iter().map(String::as_str));
    if let Err(asked) = command.try_get_matches_from_mut(line.chain(["--help"])) {
        // It knows whether standard output takes colours; a reader that is gone is no error.
        let _ = asked.print();
    }
    if is_all {
        print(&topics())?;
    }
    Ok(())
}

/// What a doubt or the level of a verdict means, from the page of the method.
fn explained(word: &str) -> Option<String> {
    let page = include_str!("../../../../docs/method/doubts.md");
    if Level::ALL.iter().any(|level| level.word() == word) {
        let (_, behind) = page.split_once("\n## The verdict\n")?;
        let verdict = behind.split("\n## ").next().unwrap_or_default();
        return Some(plain(&format!("# Verdicts\n{verdict}")));
    }
    // Rows of one doubt, which may have several forms.
    let head = format!("| `{word}` | ");
    let mut text = format!("The doubt {word}\n");
    for row in page.lines().filter_map(|line| line.strip_prefix(&head)) {
        let mut cells = row.trim_end_matches('|').split(" | ").map(str::trim);
        let (Some(when), Some(why), None) = (cells.next(), cells.next(), cells.next()) else {
            continue;
        };
        let _ = write!(text, "\nWhen: {}\nWhy: {}\n", without_targets(when), without_targets(why));
    }
    for way in ways().iter().filter(|way| way.doubts.value.split(' ').any(|code| code == word)) {
        let _ = write!(text, "\n{}.\nRemedy: {}.\n", way.mechanism.value, way.remedy.value);
    }
    CODES.contains(&word).then_some(text)
}

fn page(topic: &str) -> Option<&'static str> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == topic);
    let topic = alias.map_or(topic, |(_, name)| name);
    all_topics().find(|(name, _)| *name == topic).map(|(_, page)| page)
}

/// What `plimsoll help all` lists below the commands.
fn topics() -> String {
    let mut text = String::from("\nTopics (`plimsoll help TOPIC`):\n");
    for (name, page) in all_topics() {
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        let _ = writeln!(text, "  {name:<18} {title}");
    }
    text
}

/// A page without what only a browser needs: comments, pictures and the targets of links.
fn plain(page: &str) -> String {
    let (mut text, mut prose, mut fenced) = (String::new(), String::new(), false);
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        if is_fence {
            text.push_str(&without_targets(&std::mem::take(&mut prose)));
        } else if fenced {
            let _ = writeln!(text, "    {line}");
        } else if !line.starts_with("<!--") && !line.starts_with("![") {
            prose.push_str(&format!("{line}\n"));
        }
        fenced ^= is_fence;
    }
    text + &without_targets(&prose)
}

/// `[text](target)` as `text`, also where a line ends within it.
fn without_targets(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((_, behind)) = after.split_once(')') else { break };
        match before.rsplit_once('[') {
            Some((lead, words)) => {
                text.push_str(lead);
                text.push_str(words);
            }
            None => text.push_str(before),
        }
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_doubt_and_every_verdict_is_explained() {
        for code in CODES {
            let said = explained(code).expect(code);
            assert!(said.contains("\nWhen: ") && said.contains("\nWhy: "), "{said}");
        }
        for level in Level::ALL {
            let said = explained(level.word()).expect("a level");
            assert!(said.contains(&format!("`{}`", level.word())), "{said}");
        }
        assert_eq!(explained("hello"), None);
    }

    #[test]
    fn every_page_of_the_guide_is_a_topic_and_no_topic_hides_a_command() {
        let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
        let mut pages: Vec<String> = std::fs::read_dir(guide)
            .expect("the guide")
            .map(|entry| entry.expect("a page").file_name().to_string_lossy().into_owned())
            .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
            .filter(|name| name != "README")
            .collect();
        pages.extend(OTHERS.map(|(name, _)| name.to_owned()));
        pages.sort();
        let mut topics: Vec<String> = all_topics().map(|(name, _)| name.to_owned()).collect();
        topics.sort();
        assert_eq!(topics, pages);
        let command = Arguments::command();
        for (name, page) in all_topics() {
            assert!(command.find_subcommand(name).is_none(), "{name} is a command");
            assert!(page.starts_with("# "), "{name} has no title");
        }
    }

    #[test]
    fn a_page_is_plain_in_a_terminal() {
        let page = "# A [link](b.md), [two](c.md)\n<!-- console: x -->\n```console\n$ a [b](c)\n\
                    ```\n![picture](d.png)\nsee [a\nlink](e.md).\nend\n";
        assert_eq!(plain(page), "# A link, two\n    $ a [b](c)\nsee a\nlink.\nend\n");
    }
}
