//! The live page of a run as a browser shows it.

use crate::shell::{self, Outcome};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the picture goes.
const PICTURE: &str = "docs/live.png";
/// The window: the head, the plan and the first charts.
const SIZE: &str = "1100,1000";
/// A picture for a document is small: more bytes than this are a mistake.
const MOST_BYTES: u64 = 400 << 10;
/// How long the run has been on when the picture is taken: charts need something to show.
const AFTER: Duration = Duration::from_secs(25);
/// What is run: long enough to be looked at.
const SUITE: &str = "name = \"live-page\"\ndescription = \"Random reads and writes of 8 KiB, 70 \
                     to 30, from two hosts\"\n[layout]\nsize = \"64MiB\"\n[stages]\nmeasure = \
                     \"60s\"\n[[workload]]\nname = \"8k-random-70-30\"\nblock_size = \
                     \"8KiB\"\nread = \"70%\"\nworkers = 2\ndepth = 8\n[[event]]\nname = \
                     \"failover\"\nat = \"12s\"\n";

/// Ended with the picture.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Takes a picture of the live page of a run that goes on in `folder`.
///
/// # Errors
/// There is no Chromium, the run does not begin, or the picture is none.
pub fn shoot(program: &Path, folder: &Path) -> Outcome<()> {
    std::fs::write(folder.join("live-page.toml"), SUITE).map_err(shell::at(folder))?;
    let mut child = Command::new(program)
        .args(["run", "live-page.toml", "--quiet", "--hosts", "local:2", "--serve=127.0.0.1:0"])
        .args(["--out", "live.plimsoll", "-t", "live-data"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(shell::at(&program))?;
    let said = child.stderr.take();
    let _running = Running(child);
    let address = said
        .and_then(address)
        .ok_or("the run does not say where its page is; try it with `plimsoll run --serve`")?;
    std::thread::sleep(AFTER);
    picture(&address, SIZE, folder, PICTURE)
}

/// The address that a run tells first.
fn address(said: impl std::io::Read + Send + 'static) -> Option<String> {
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    let found = lines.by_ref().find_map(|line| {
        let (_, rest) = line.split_once("http://")?;
        Some(format!("http://{}/", rest.split('/').next()?))
    });
    // What else it says must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    found
}

/// Keeps the picture of a page in a window of this size, as `kept` of the workspace.
///
/// # Errors
/// There is no Chromium, or the picture is none.
pub fn picture(address: &str, size: &str, folder: &Path, kept: &str) -> Outcome<()> {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let browser =
        browsers.iter().find_map(|name| shell::which(name)).ok_or("no Chromium is installed")?;
    let shot = folder.join("shot.png");
    let words = "--headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars \
                 --disable-background-networking --force-device-scale-factor=1 --timeout=4000";
    let mut command = Command::new(browser);
    command
        .args(words.split(' '))
        .arg(format!("--window-size={size}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--screenshot={}", shot.display()))
        .arg(address);
    shell::capture(&mut command)?;
    let failed = |error: std::io::Error| format!("{}: {error}", shot.display());
    let bytes = std::fs::metadata(&shot).map_err(failed)?.len();
    if bytes > MOST_BYTES {
        return Err(format!("{kept} has {bytes} bytes, where {MOST_BYTES} are allowed"));
    }
    std::fs::copy(&shot, shell::root().join(kept)).map_err(failed)?;
    println!("written   {kept} ({} KiB)", bytes >> 10);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_what_a_run_says() {
        let said = "note: x\nlive page http://127.0.0.1:4711/ (add ?token=TOKEN)\n";
        assert_eq!(address(said.as_bytes()).as_deref(), Some("http://127.0.0.1:4711/"));
        assert_eq!(address("nothing\n".as_bytes()), None);
    }
}
