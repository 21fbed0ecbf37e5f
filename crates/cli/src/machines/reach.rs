//! The way to nodes that make machines: this program there, over ssh or another launcher.

use fleet::launch::{Program, Via};
use provision::nodes::{Answer, Reach, Request};
use provision::{OnNodes, Problem};
use std::io::{BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// An answer is not longer.
const LONGEST: u64 = 4 << 20;
/// How long a node may take for a question.
const SHORT: Duration = Duration::from_secs(120);
/// How long it may take for what copies disks.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// Between two looks at whether somebody asked for a stop.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Nodes {
    via: Via,
}

impl Nodes {
    pub(crate) fn of(nodes: &OnNodes) -> Nodes {
        let via = match nodes.launcher.as_slice() {
            [] => Via::Ssh,
            words => Via::Template(words.to_vec()),
        };
        Nodes { via }
    }

    pub(crate) fn program(&self, node: &str, words: &[&str]) -> Result<Program, Problem> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let started = Program::start(&self.via, node, &words);
        started.map_err(|said| Problem::AtNode { node: node.to_owned(), said })
    }
}

impl Reach for Nodes {
    fn ask(&self, node: &str, request: &Request, stop: &AtomicBool) -> Result<Answer, Problem> {
        let at = |said: String| Problem::AtNode { node: node.to_owned(), said };
        let Program { input, mut output, process } = self.program(node, &["vms", "node"])?;
        let mut input = Some(input);
        let mut text = serde_json::to_string(request).map_err(|error| at(error.to_string()))?;
        text.push('\n');
        if let Some(input) = &mut input {
            let sent = input.write_all(text.as_bytes()).and_then(|()| input.flush());
            sent.map_err(|error| at(format!("it does not listen: {error}; try again")))?;
        }
        let (found, result) = sync_channel(1);
        // Reading blocks, so another thread does it; it ends with the process.
        thread::spawn(move || {
            let mut line = String::new();
            let read = output.by_ref().take(LONGEST).read_line(&mut line);
            let _ = found.send(read.map(|_| line));
        });
        let copies = matches!(request, Request::Up(_) | Request::Act { .. } | Request::Down { .. });
        let mut deadline = Instant::now() + if copies { LONG } else { SHORT };
        loop {
            if stop.load(Ordering::SeqCst) && input.take().is_some() {
                // A node whose coordinator is gone takes down what it was making, and says so.
                deadline = Instant::now() + SHORT;
            }
            match result.recv_timeout(PAUSE) {
                Ok(Ok(line)) => {
                    let words = process.words();
                    return serde_json::from_str(&line).map_err(|_| {
                        let said = words.wait();
                        at(match said.is_empty() {
                            true => "its answer is none; put the same plimsoll there".to_owned(),
                            false => said,
                        })
                    });
                }
                Ok(Err(error)) => {
                    return Err(at(format!("it cannot be heard: {error}; try again")));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(_) => {
                    let said = "it gave no answer in time; look what it does, then try again";
                    return Err(at(said.to_owned()));
                }
            }
        }
    }
}
