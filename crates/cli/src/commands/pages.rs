//! Completions and man pages, from the arguments' own declaration.

use super::print_exactly;
use crate::args::Arguments;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "plimsoll", &mut script);
    let words = match shell {
        Shell::Bash => include_str!("completions.bash"),
        Shell::Fish => include_str!("completions.fish"),
        _ => "",
    };
    print_exactly(&format!("{}{words}", String::from_utf8_lossy(&script)))?;
    Ok(())
}

pub(crate) fn man(directory: Option<&Path>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::run(format!("the man page cannot be written: {error}; check the directory"))
    };
    match directory {
        Some(directory) => {
            std::fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(whole(Arguments::command()), directory).map_err(failed)?;
            for name in names() {
                let path = directory.join(name);
                let page = std::fs::read_to_string(&path).map_err(failed)?;
                std::fs::write(&path, as_written(&page)).map_err(failed)?;
            }
            eprintln!("man pages {}", directory.display());
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(whole(Arguments::command())).render(&mut page).map_err(failed)?;
            print_exactly(&as_written(&String::from_utf8_lossy(&page)))?;
        }
    }
    Ok(())
}

/// Its pages leave out what short help leaves out: here, nothing is.
fn whole(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| arg.hide_short_help(false)).mut_subcommands(whole)
}

/// The pages that are written, by file name: of each command, and of those below it, that help
/// shows.
fn names() -> Vec<String> {
    fn add(command: &clap::Command, name: &str, names: &mut Vec<String>) {
        names.push(format!("{name}.1"));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            add(sub, &format!("{name}-{}", sub.get_name()), names);
        }
    }
    let mut names = Vec::new();
    add(&Arguments::command(), "plimsoll", &mut names);
    names
}

/// The page with its examples and exit codes line by line: `man` would fill them like a paragraph,
/// and join commands with what stands below them.
fn as_written(page: &str) -> String {
    const HEAD: &str = "\n.SH EXTRA\n";
    let page = titled(page);
    let Some((before, after)) = page.split_once(HEAD) else { return page };
    let (lines, rest) = match after.split_once("\n.SH ") {
        Some((lines, rest)) => (lines, format!(".SH {rest}")),
        None => (after.trim_end(), String::new()),
    };
    let (head, lines) = lines.split_once('\n').unwrap_or(("", lines));
    let title = if head.starts_with("Exit codes") { "EXIT STATUS" } else { "EXAMPLES" };
    format!("{before}\n.SH {title}\n.nf\n{lines}\n.fi\n{rest}")
}

/// The page with the program's version in its footer, where that of a command has its name.
fn titled(page: &str) -> String {
    let title = |line: &str| match line.strip_prefix(".TH ").and_then(|rest| rest.split_once(' ')) {
        Some((name, _)) => {
            format!(".TH {name} 1 \"\" \"plimsoll {}\"\n", env!("CARGO_PKG_VERSION"))
        }
        None => line.to_owned(),
    };
    page.split_inclusive('\n').map(title).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_what_follows_them_is_filled_again() {
        let page = ".SH NAME\nx\n.SH EXTRA\nExamples:\n  x y\n.SH VERSION\nv1\n";
        assert_eq!(
            as_written(page),
            ".SH NAME\nx\n.SH EXAMPLES\n.nf\n  x y\n.fi\n.SH VERSION\nv1\n"
        );
        let last = ".SH NAME\nx\n.SH EXTRA\nExit codes:\n  0\n";
        assert_eq!(as_written(last), ".SH NAME\nx\n.SH EXIT STATUS\n.nf\n  0\n.fi\n");
        assert_eq!(as_written(".SH NAME\nx\n"), ".SH NAME\nx\n");
    }

    #[test]
    fn every_page_of_a_folder_is_one_of_ours() {
        let folder = tempfile::tempdir().expect("a folder");
        man(Some(folder.path())).expect("writes");
        let mut there: Vec<String> = std::fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        let mut ours = names();
        there.sort();
        ours.sort();
        assert_eq!(there, ours);
        let run = std::fs::read_to_string(folder.path().join("plimsoll-run.1")).expect("a page");
        assert!(run.contains(".SH EXAMPLES\n.nf\n"), "{run}");
        assert!(run.starts_with(".ie") && run.contains("\n.TH plimsoll-run 1 \"\" \"plimsoll "));
        assert!(run.contains("Options for kubectl"), "{run}");
    }
}
