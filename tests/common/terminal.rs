//! A real terminal: tmux holds it, types into it and tells what it shows.

use crate::common::{PATIENCE, PLIMSOLL, Words, run, text};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A terminal in which the program runs, under a tmux server of its own.
pub struct Pane {
    /// Paths of sockets must be short, so it is not in the scratch folder of the test.
    folder: TempDir,
}

impl Pane {
    /// Starts the program in a terminal of so many columns and lines. When it ends, the terminal
    /// says `code N` and whether lines are edited again.
    pub fn start(folder: &Path, columns: u16, lines: u16, args: impl Words) -> Pane {
        let pane = Pane { folder: tempfile::tempdir().expect("a folder") };
        let program = ([PLIMSOLL], args).words();
        let program: Vec<String> =
            program.iter().map(|word| format!("'{}'", word.display())).collect();
        let script = format!(
            "{}; echo code $?; stty -a | grep -o -- '-*icanon'; exec cat",
            program.join(" ")
        );
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let session =
            ["new-session", "-d", "-x", &columns, "-y", &lines, "-c", text(folder), &script];
        let socket = pane.socket();
        // Without a configuration of whoever runs the test; with the encoding that it draws in.
        run("tmux", ("-u -f /dev/null -S", [&socket], session));
        pane
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    fn tmux(&self, args: impl Words) -> String {
        run("tmux", ("-S", [self.socket()], args))
    }

    /// Presses keys, by the names that tmux has for them.
    pub fn press(&self, keys: impl Words) {
        self.tmux(("send-keys", keys));
    }

    /// Gives the terminal another size.
    pub fn resize(&self, columns: u16, lines: u16) {
        self.tmux(["resize-window", "-x", &columns.to_string(), "-y", &lines.to_string()]);
    }

    /// What it shows.
    pub fn shown(&self) -> String {
        self.tmux("capture-pane -p")
    }

    /// The same with the escapes of its colours.
    pub fn shown_with_colours(&self) -> String {
        self.tmux("capture-pane -p -e")
    }

    /// Waits until it shows what is wanted, and returns that picture. A picture is drawn at once,
    /// so that all of it belongs together.
    pub fn wait_for(&self, what: &str, done: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let shown = self.shown();
            if done(&shown) {
                return shown;
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain until {what}:\n{shown}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for the program's end with this code, and sees to it that the terminal is as it was.
    pub fn ends_with(&self, code: u8) -> String {
        let wanted = format!("code {code}");
        let shown = self.wait_for(&wanted, |shown| shown.lines().any(|line| line.trim() == wanted));
        let state = self.tmux(["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(state.trim(), "0 1", "the first screen, with a cursor");
        self.wait_for("lines are edited", |shown| {
            shown.lines().any(|line| line.trim() == "icanon")
        });
        shown
    }

    /// The process number of the program.
    pub fn program(&self) -> String {
        let shell = self.tmux("display-message -p #{pane_pid}");
        let shell = shell.trim();
        run("cat", [&format!("/proc/{shell}/task/{shell}/children")]).trim().to_owned()
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", text(&self.socket()), "kill-server"]).status();
    }
}
