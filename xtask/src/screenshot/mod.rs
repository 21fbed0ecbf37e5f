//! `cargo xtask screenshot`: what `plimsoll watch` shows in a real terminal, and the live page in a
//! real browser, as pictures for the documents.

mod page;
mod svg;

use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where the picture goes.
const PICTURE: &str = "docs/watch.svg";
/// The terminal: what many have.
const SIZE: (usize, usize) = (100, 24);
/// How often to look whether the replay is where it is wanted, and how long to wait between two
/// looks.
const LOOKS: (u32, Duration) = (600, Duration::from_millis(100));

/// Records a run of a few seconds, plays it in a terminal that tmux holds, and keeps the picture of
/// its middle; then that of the live page. `rest` may name the program.
pub fn run(rest: &[String]) -> Outcome<()> {
    let program = match rest {
        [] => shell::build_plimsoll()?,
        [program] => PathBuf::from(program),
        _ => return Err("takes one program at most; leave the others out".to_owned()),
    };
    let program = program
        .canonicalize()
        .map_err(|error| format!("{}: {error}; name the program", program.display()))?;
    let folder = shell::target_dir()?.join("screenshot");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let load = [
        "run",
        "--quiet",
        "--hosts",
        "local:2",
        "--out",
        "random-70-30.plimsoll",
        "--rw",
        "randrw",
    ];
    let size = [
        "--bs",
        "8k",
        "--rwmixread",
        "70",
        "--iodepth",
        "8",
        "--size",
        "64M",
        "--runtime",
        "20",
        "data",
    ];
    shell::capture(Command::new(&program).args(load).args(size).current_dir(&folder))?;
    let shown = shoot(&program, &folder);
    let _ = Command::new("tmux").args(["-S", &socket(&folder), "kill-server"]).status();
    let picture = svg::picture(&shown?, SIZE.0, SIZE.1);
    std::fs::write(shell::root().join(PICTURE), picture)
        .map_err(|error| format!("{PICTURE}: {error}"))?;
    println!("written   {PICTURE}");
    page::shoot(&program, &folder)
}

fn socket(folder: &Path) -> String {
    folder.join("tmux").display().to_string()
}

/// What the terminal shows in mid-run, with the orders that colour it.
fn shoot(program: &Path, folder: &Path) -> Outcome<String> {
    let (columns, lines) = (SIZE.0.to_string(), SIZE.1.to_string());
    let tmux = |args: &[&str]| {
        shell::capture(
            Command::new("tmux").args(["-u", "-f", "/dev/null", "-S", &socket(folder)]).args(args),
        )
    };
    let command = format!("'{}' watch random-70-30.plimsoll", program.display());
    let here = folder.display().to_string();
    tmux(&["new-session", "-d", "-x", &columns, "-y", &lines, "-c", &here, &command])?;
    for _ in 0..LOOKS.0 {
        std::thread::sleep(LOOKS.1);
        let shown = tmux(&["capture-pane", "-p"])?;
        if shown.contains("50 %") && shown.contains("p99") {
            return tmux(&["capture-pane", "-p", "-e"]);
        }
    }
    Err(format!("the middle of the run never showed; try `{command}` in {here}"))
}
