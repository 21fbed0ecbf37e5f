//! `cargo xtask screenshot`: what `plimsoll watch` shows in a real terminal, and the live page in a
//! real browser, as pictures for the documents.

mod page;

use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where the picture goes.
const PICTURE: &str = "docs/watch.png";
/// The terminal: what many have.
const SIZE: [&str; 4] = ["-x", "100", "-y", "24"];
/// The window that its text fills, and how it looks there.
const WINDOW: &str = "816,424";
const STYLE: &str = "body { margin: 8px } pre { margin: 0; font: 13px/17px monospace; \
                     letter-spacing: 0.17px; color: #ddd } b.BOLD { font-weight: bold } \
                     b.HIK { color: #888 }";
/// How often to look whether the replay is where it is wanted, and how long to wait between two
/// looks.
const LOOKS: (u32, Duration) = (600, Duration::from_millis(100));

/// Records a run of a few seconds, plays it in a terminal that tmux holds, and keeps the picture of
/// its middle; then that of the live page. `program` is one that is there.
pub fn run(program: Option<PathBuf>) -> Outcome<()> {
    let program = program.map_or_else(shell::build_plimsoll, Ok)?;
    let program = program
        .canonicalize()
        .map_err(|error| format!("{}: {error}; name the program", program.display()))?;
    let folder = shell::target_dir()?.join("screenshot");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(shell::at(&folder))?;
    let load = "run --quiet --hosts local:2 --out random-70-30.plimsoll --rw randrw --bs 8k \
                --rwmixread 70 --iodepth 8 --size 64M --runtime 20 data";
    shell::capture(Command::new(&program).args(load.split(' ')).current_dir(&folder))?;
    let shown = shoot(&program, &folder);
    let _ = Command::new("tmux").args(["-S", &socket(&folder), "kill-server"]).status();
    let (text, html) = (folder.join("watch.txt"), folder.join("watch.html"));
    std::fs::write(&text, shown?).map_err(shell::at(&text))?;
    let mut convert = Command::new("sh");
    convert.args(["-c", "ansi2html --no-wrap --style \"$0\" <watch.txt >watch.html", STYLE]);
    shell::capture(convert.current_dir(&folder))
        .map_err(|why| format!("{why}; `apt-get install colorized-logs` brings ansi2html"))?;
    page::picture(&format!("file://{}", html.display()), WINDOW, &folder, PICTURE)?;
    page::shoot(&program, &folder)
}

fn socket(folder: &Path) -> String {
    folder.join("tmux").display().to_string()
}

/// What the terminal shows in mid-run, with the orders that colour it.
fn shoot(program: &Path, folder: &Path) -> Outcome<String> {
    let tmux = |args: &[&str]| {
        shell::capture(
            Command::new("tmux").args(["-u", "-f", "/dev/null", "-S", &socket(folder)]).args(args),
        )
    };
    let command = format!("'{}' watch random-70-30.plimsoll", program.display());
    let here = folder.display().to_string();
    tmux(&[&["new-session", "-d"][..], &SIZE, &["-c", &here, &command]].concat())?;
    for _ in 0..LOOKS.0 {
        std::thread::sleep(LOOKS.1);
        let shown = tmux(&["capture-pane", "-p"])?;
        if shown.contains("50 %") && shown.contains("p99") {
            return tmux(&["capture-pane", "-p", "-e"]);
        }
    }
    Err(format!("the middle of the run never showed; try `{command}` in {here}"))
}
