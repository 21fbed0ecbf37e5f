//! A real browser, driven over its own debugging protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>): a pair of pipes, JSON with
//! a zero byte behind each message.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A browser with one page open.
pub struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: String,
    number: u64,
    /// What the page complained of: errors and warnings of its console, exceptions, what its
    /// policy refused.
    pub complaints: Vec<String>,
}

/// A browser that does not answer for so long never will.
const PATIENCE: Duration = Duration::from_secs(300);

impl Browser {
    /// Opens a browser that keeps its things in `folder`.
    pub fn open(folder: &Path) -> Browser {
        let (to, from) = (folder.join("to-browser"), folder.join("from-browser"));
        for pipe in [&to, &from] {
            assert!(Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
        }
        // The protocol is spoken on the descriptors 3 and 4; a shell puts the pipes there.
        let script = "exec \"$0\" --headless --no-sandbox --disable-gpu --no-first-run \
                      --disable-background-networking --disable-component-update --disable-sync \
                      --remote-debugging-pipe --window-size=1280,1800 --user-data-dir=\"$3\" \
                      about:blank 3<\"$1\" 4>\"$2\"";
        let browser = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok())
            .expect("a browser");
        let child = Command::new("sh")
            .args(["-c", script, browser])
            .args([&to, &from, &folder.join("profile")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a browser that starts");
        let to = File::options().write(true).open(&to).expect("the pipe to it");
        let pipe = File::open(&from).expect("the pipe from it");
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(pipe).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("JSON from the browser");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser =
            Browser { child, to, from, session: String::new(), number: 0, complaints: Vec::new() };
        let target =
            browser.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"]
                .clone();
        let attached =
            browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        browser
    }

    /// Calls a method of the protocol and waits for its result.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("a browser that listens");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message =
                self.from.recv_timeout(left).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == json!(self.number) {
                // A page that goes to another while it is asked knows nothing; the next one may.
                let is_going = message["error"]["message"]
                    .as_str()
                    .is_some_and(|words| words.contains("navigated"));
                assert!(message["error"].is_null() || is_going, "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.hear(&message);
        }
    }

    fn hear(&mut self, message: &Value) {
        let parameters = &message["params"];
        let is_bad = |level: &Value| {
            ["error", "warning", "assert"].contains(&level.as_str().unwrap_or_default())
        };
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.consoleAPICalled" if is_bad(&parameters["type"]) => {
                self.complaints.push(parameters.to_string());
            }
            "Runtime.exceptionThrown" => self.complaints.push(parameters.to_string()),
            "Log.entryAdded" if is_bad(&parameters["entry"]["level"]) => {
                self.complaints.push(parameters.to_string());
            }
            _ => {}
        }
    }

    /// Goes to an address, until the page is there.
    pub fn go(&mut self, address: &str) {
        let gone = self.call("Page.navigate", &json!({ "url": address }));
        assert!(gone["errorText"].is_null(), "{address}: {}", gone["errorText"]);
        self.wait("document.readyState === 'complete'");
    }

    /// What an expression is in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let result = self
            .call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub fn wait(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.value(expression) != json!(true) {
            let text = if Instant::now() > deadline {
                self.value("document.body.innerText")
            } else {
                Value::Null
            };
            assert!(text.is_null(), "never came true: {expression}; the page says: {text}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Presses a key: its name, and the number that browsers know it by.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "char", "keyUp"] {
            if kind == "char" && key != "Enter" {
                continue;
            }
            let text = if kind == "char" { "\r" } else { "" };
            let event = json!({ "type": kind, "key": key, "code": key,
                "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Light or dark, as the system of a reader would say.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
