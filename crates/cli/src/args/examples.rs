//! What stands below the help of each command: examples, and the exit codes. Written for 80
//! columns, because a command that a terminal broke in two cannot be copied; a test holds them to
//! that, and to what the parser takes.

/// The text of this name in `examples.txt`, where each begins with a line `=== NAME`.
pub(crate) fn of(name: &str) -> &'static str {
    let mut all = include_str!("examples.txt").split("=== ");
    let found = all.find_map(|one| one.strip_prefix(name)?.strip_prefix('\n'));
    found.unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use crate::args::Arguments;
    use clap::{CommandFactory, Parser};
    use std::path::{Path, PathBuf};

    /// The pages for newcomers: README, start, questions, the guide and the reports.
    fn pages() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = |folder: &str| {
            let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
            entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
        };
        let mut paths =
            ["README.md", "docs/start.md", "docs/faq.md"].map(|p| root.join(p)).to_vec();
        paths.extend(files("docs/guide").into_iter().chain(files("docs/reports")));
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).expect("a page");
            (path.display().to_string(), text)
        };
        paths.into_iter().map(read).collect()
    }

    /// The words of a line as a shell would hand them over: quotes hold together, and a
    /// redirection, pipe or comment ends it.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![];
        let (mut word, mut quote) = (String::new(), None);
        for letter in line.chars() {
            match letter {
                '"' | '\'' if quote == Some(letter) => quote = None,
                '"' | '\'' if quote.is_none() => quote = Some(letter),
                ' ' if quote.is_none() => {
                    words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                }
                '>' | '|' | '#' if quote.is_none() && word.is_empty() => return words,
                _ => word.push(letter),
            }
        }
        words.extend((!word.is_empty()).then_some(word));
        words
    }

    fn below(command: &clap::Command) -> String {
        command.get_after_help().map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn every_example_is_a_command_that_the_parser_takes() {
        let mut seen = 0;
        for command in Arguments::command().get_subcommands() {
            let text = below(command).replace("\\\n", "");
            let examples: Vec<&str> =
                text.lines().filter(|line| line.starts_with("  plimsoll ")).collect();
            assert!(
                !examples.is_empty() || command.get_name() == "agent",
                "{} has no example",
                command.get_name()
            );
            assert!(
                examples.iter().any(|line| words(line)[1] == command.get_name())
                    || examples.is_empty()
            );
            for line in examples {
                let parsed = Arguments::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
    }

    #[test]
    fn every_command_on_a_page_for_newcomers_is_one_that_the_parser_takes() {
        let mut seen = 0;
        for (page, text) in pages() {
            let text = text.replace("\\\n", "");
            let lines = text.lines().map(|line| line.trim_start_matches("$ "));
            for line in lines.filter(|line| line.starts_with("plimsoll ")) {
                let parsed = Arguments::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{page}: {line}: {}", parsed.unwrap_err());
                seen += 1;
            }
        }
        assert!(seen > 80, "{seen}");
    }

    #[test]
    fn nothing_below_a_help_is_wider_than_80_columns() {
        let arguments = Arguments::command();
        for command in std::iter::once(&arguments).chain(arguments.get_subcommands()) {
            for line in below(command).lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }
}
