//! The page in a real browser: it renders, draws and asks for nothing.

use crate::common::{Words, has, plimsoll, scratch, text};
use std::fs;
use std::process::Command;

/// The page of a short run, as chromium sees it with `extra` switches.
fn chromium(page: &std::path::Path, profile: &std::path::Path, extra: impl Words) -> String {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok())
        .expect("a browser");
    let profile = format!("--user-data-dir={}", text(profile));
    let address = format!("file://{}", text(page));
    // No network at all: whatever the page would ask for would be missing.
    let switches = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        &profile,
    ];
    let output = Command::new(browser)
        .args(switches)
        .args(extra.words())
        .arg(address)
        .output()
        .expect("a browser that starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_report_renders_in_a_browser_light_and_dark() {
    let true = has("the page in a browser", "chromium") else { return };
    let here = &scratch();
    plimsoll(here, "run smoke --quiet --out run.plimsoll").with_code(0);
    let page = here.join("run.html");
    let profile = here.join("profile");
    let dom = chromium(&page, &profile, "--dump-dom");
    assert!(dom.contains("<svg") && dom.contains("8k-random-70-30"), "the page was not understood");
    assert_eq!(dom.matches("<svg").count(), dom.matches("</svg>").count());
    let mut pictures = Vec::new();
    for scheme in ["0", "1"] {
        let picture = here.join(format!("page-{scheme}.png"));
        let shot = format!("--screenshot={}", text(&picture));
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        chromium(&page, &profile, [&shot, &scheme, "--window-size=1200,2400"]);
        pictures.push(fs::read(&picture).expect("a picture"));
    }
    assert!(
        pictures.iter().all(|picture| picture.len() > 20_000),
        "an empty page makes a small picture"
    );
    assert_ne!(pictures[0], pictures[1], "light and dark look different");
}
