//! A page as a session: its files and its consoles.

use std::ops::Range;

/// What a page has a reader do.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A block such as ```` ```toml file=my.toml ````.
    File {
        /// Its name.
        name: String,
        /// What it holds.
        text: String,
    },
    /// A block ```` ```console ````.
    Console(Block),
}

/// Commands, and what they print.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The lines between the fences, numbered from 0.
    pub lines: Range<usize>,
    /// Why it is not run: `<!-- console: not run: REASON -->`.
    pub reason: Option<String>,
    /// What the test adds to each command: `<!-- console: tested with ARGUMENTS -->`.
    pub tested_with: String,
    /// How many lines renewing keeps of each command: `<!-- console: first N lines -->`.
    pub first_lines: Option<usize>,
    /// Its commands.
    pub commands: Vec<Shown>,
}

/// A command with what the page shows of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The lines from `$ ` on, as typed.
    pub typed: Vec<String>,
    /// The same as one line, for a shell.
    pub line: String,
    /// Its exit code: 0, or what the line `? N` below it says.
    pub code: i32,
    /// What it prints; `...` stands for any lines.
    pub output: Vec<String>,
}

/// The steps of a page, in its order.
///
/// # Errors
/// A marker cannot be read, or a block is not closed.
pub fn steps(page: &str) -> Result<Vec<Step>, String> {
    let lines: Vec<&str> = page.lines().collect();
    let (mut steps, mut markers, mut at) = (Vec::new(), Vec::new(), 0);
    while at < lines.len() {
        let line = lines[at].trim();
        if let Some(marker) = line.strip_prefix("<!-- console: ") {
            markers.push(marker.trim_end_matches("-->").trim());
        } else if let Some(info) = line.strip_prefix("```") {
            let length = lines[at + 1..].iter().position(|line| line.trim() == "```");
            let length = length.ok_or_else(|| format!("line {}: a block has no end", at + 1))?;
            let inside = at + 1..at + 1 + length;
            if info == "console" {
                steps.push(Step::Console(block(&lines, inside.clone(), &markers)?));
            } else if let Some((_, name)) = info.split_once(" file=") {
                let text = lines[inside.clone()].join("\n") + "\n";
                steps.push(Step::File { name: name.to_owned(), text });
            }
            markers.clear();
            at = inside.end;
        }
        at += 1;
    }
    Ok(steps)
}

fn block(lines: &[&str], inside: Range<usize>, markers: &[&str]) -> Result<Block, String> {
    let mut block = Block { lines: inside.clone(), ..Block::default() };
    for marker in markers {
        if let Some(reason) = marker.strip_prefix("not run: ") {
            block.reason = Some(reason.to_owned());
        } else if let Some(arguments) = marker.strip_prefix("tested with ") {
            block.tested_with = arguments.to_owned();
        } else if let Some(Ok(count)) = marker
            .strip_prefix("first ")
            .and_then(|rest| rest.strip_suffix(" lines"))
            .map(str::parse)
        {
            block.first_lines = Some(count);
        } else {
            return Err(format!("`{marker}` is no marker of a console"));
        }
    }
    let mut is_open = false;
    for line in &lines[inside] {
        if let Some(command) = line.strip_prefix("$ ") {
            block.commands.push(Shown::default());
            let shown = block.commands.last_mut().expect("pushed above");
            shown.typed.push((*line).to_owned());
            is_open = command.ends_with('\\');
            shown.line = command.trim_end_matches('\\').to_owned();
        } else if let Some(shown) = block.commands.last_mut() {
            if is_open {
                is_open = line.ends_with('\\');
                shown.typed.push((*line).to_owned());
                shown.line += line.trim_end_matches('\\').trim_start();
            } else if let Some(code) = line.strip_prefix("? ").and_then(|code| code.parse().ok()) {
                shown.code = code;
            } else {
                shown.output.push((*line).to_owned());
            }
        } else {
            return Err(format!("`{line}` stands before any command"));
        }
    }
    Ok(block)
}

#[test]
fn a_page_is_read_as_a_session() {
    let page = "text\n```toml file=my.toml\na = 1\n```\n<!-- console: first 2 lines -->\n\
                <!-- console: tested with --scale 1/50 -->\n```console\n$ plimsoll run \\\n    \
                my.toml\n? 6\nout\n...\n$ ls\n```\n\
                <!-- console: not run: needs hosts -->\n```console\n$ x\n```\n";
    let steps = steps(page).expect("a page");
    assert_eq!(steps[0], Step::File { name: "my.toml".into(), text: "a = 1\n".into() });
    let Step::Console(block) = &steps[1] else { panic!("{steps:?}") };
    assert_eq!((block.first_lines, block.tested_with.as_str()), (Some(2), "--scale 1/50"));
    assert_eq!(block.lines, 7..13);
    let [run, ls] = &block.commands[..] else { panic!("{block:?}") };
    assert_eq!((run.line.as_str(), run.code), ("plimsoll run my.toml", 6));
    assert_eq!((run.output.join("|"), ls.output.len()), ("out|...".to_owned(), 0));
    let Step::Console(last) = &steps[2] else { panic!("{steps:?}") };
    assert_eq!(last.reason.as_deref(), Some("needs hosts"));
    assert!(super::page::steps("<!-- console: run -->\n```console\n```\n").is_err());
}
