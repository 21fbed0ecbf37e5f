//! Every command of README, start and guide prints what the page shows. A page is a session: its
//! blocks run one after the other in one folder. `PLIMSOLL_RENEW_DOCS=1` rewrites what was printed;
//! `docs/journal/style.md` explains the notation.

mod page;
mod shape;

use crate::common;
use page::{Block, Shown, Step};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Pages that run at once: most of their time is waiting.
const AT_ONCE: usize = 4;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages whose commands run.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let guide = fs::read_dir(docs.join("guide")).expect("the guide").map(|entry| {
        let entry = entry.expect("an entry");
        entry.path()
    });
    let mut pages: Vec<PathBuf> = guide.collect();
    pages.extend([root().join("README.md"), docs.join("start.md"), docs.join("faq.md")]);
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages
}

fn is_renewed() -> bool {
    std::env::var_os("PLIMSOLL_RENEW_DOCS").is_some()
}

#[test]
fn every_command_in_the_docs_prints_what_is_shown() {
    let waiting = Mutex::new(pages());
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no panic").pop();
                    let Some(path) = next else { break };
                    let found = session(&path);
                    problems.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let problems = problems.into_inner().expect("no panic");
    assert!(
        problems.is_empty(),
        "{}\nPLIMSOLL_RENEW_DOCS=1 rewrites the pages; read the difference",
        problems.join("\n")
    );
}

#[test]
fn every_row_of_the_readme_has_its_interval() {
    let page = fs::read_to_string(root().join("README.md")).expect("a page");
    let mut rows = 0;
    for table in page.split("\n\n").filter_map(|part| part.split_once("workload ")) {
        for row in table.1.lines().skip(1).take_while(|row| row.contains("  ")) {
            assert_eq!((row.matches('±').count(), row.contains('–')), (2, false), "{row}");
            rows += 1;
        }
    }
    assert!(rows > 4, "{rows} rows");
}

/// Runs the blocks of a page, and returns what differs.
fn session(path: &Path) -> Vec<String> {
    let folder = common::scratch();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("a page");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut problems = Vec::new();
    let steps = page::steps(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    // From the last to the first would keep line numbers; commands have an order, so the renewed
    // blocks are put in afterwards.
    let mut renewed = Vec::new();
    for step in steps {
        match step {
            Step::File { name, text } => fs::write(folder.join(name), text).expect("a file"),
            Step::Console(block) if block.reason.is_none() => {
                let (different, now) = console(&block, &folder);
                problems.extend(different.into_iter().map(|what| format!("{name}: {what}")));
                renewed.push((block, now));
            }
            Step::Console(_) => {}
        }
    }
    if !is_renewed() {
        return problems;
    }
    for (block, now) in renewed.into_iter().rev() {
        lines.splice(block.lines.clone(), now);
    }
    fs::write(path, lines.join("\n") + "\n").expect("the page can be written");
    Vec::new()
}

/// Runs the commands of a block: what differs, and the block's lines as they ought to be.
fn console(block: &Block, folder: &Path) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut now) = (Vec::new(), Vec::new());
    for shown in &block.commands {
        let (code, printed) = run(shown, block, folder);
        let printed = shape::without_kernel_log(&shown.output, printed);
        let line = &shown.typed[0];
        if code != shown.code && !is_renewed() {
            let whole = printed.join("\n");
            problems.push(format!("`{line}` ended with {code}, not {}\n{whole}", shown.code));
        } else if let Some(difference) = shape::difference(&shown.output, &printed) {
            problems.push(format!("`{line}` prints something else:\n{difference}"));
        }
        now.extend(shown.typed.iter().cloned());
        now.extend((code != 0).then(|| format!("? {code}")));
        now.extend(shape::renewed(&shown.output, &printed, block.first_lines));
    }
    (problems, now)
}

/// What a command prints on both streams, as a reader sees it.
fn run(shown: &Shown, block: &Block, folder: &Path) -> (i32, Vec<String>) {
    let program = Path::new(common::PLIMSOLL);
    let search = format!(
        "{}:{}",
        program.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    // A reader runs it without what makes the test short.
    let shorter = if is_renewed() { "" } else { block.tested_with.as_str() };
    let line = format!("exec 2>&1\n{} {shorter}", shown.line);
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder)
        .env("PATH", search)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let here = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let text = text.replace(&format!("{}/", here.display()), "");
    let printed = text.trim_end().lines().map(|line| shape::without_host(line, host.trim()));
    (output.status.code().unwrap_or(-1), printed.collect())
}

/// The reference of the command line is what the program's own help says.
#[test]
fn the_reference_of_commands_is_the_help() {
    let path = root().join("docs/reference/commands.md");
    let folder = common::scratch();
    let help = |words: &str| common::plimsoll(&folder, words).with_code(0).out;
    let all = help("help all");
    let (main, _) = all.split_once("\nTopics").expect("the topics have their own pages");
    let mut page = format!(
        "# Commands\n\nMade from the program's own help by `PLIMSOLL_RENEW_DOCS=1 cargo test -p \
         cli --test whole docs`;\ndo not edit.\n\n```text\n{}\n```\n",
        main.trim_end()
    );
    let listed = main.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in listed.take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap_or_default();
        if !line.starts_with("  ") || line.starts_with("   ") || ["agent", "help"].contains(&name) {
            continue;
        }
        let text = help(&format!("{name} --help"));
        page += &format!("\n## plimsoll {name}\n\n```text\n{}\n```\n", text.trim_end());
    }
    if is_renewed() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "{} is not what the help says; renew it", path.display());
}
