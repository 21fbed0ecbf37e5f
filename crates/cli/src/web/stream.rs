//! What a browser hears while it looks at a run: server-sent events
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).

use super::site::{SharedBoard, lock};
use hyper::body::Bytes;
use live::web::View;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// Between two looks at the run lies at least this; charts change no faster than samples come.
const PACE: Duration = Duration::from_secs(1);
/// A reader that says nothing for so long is asked whether it is still there.
const ALIVE: Duration = Duration::from_secs(15);

/// One event as it goes over the wire. JSON has no line ends, so one line of data holds it.
fn event(name: &str, data: &serde_json::Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// Tells one reader of everything that is new, until it leaves or the server ends. A reader that is
/// slow hears less often.
pub(crate) async fn tell(
    board: SharedBoard,
    view: View,
    boot: String,
    out: mpsc::Sender<Bytes>,
    mut over: watch::Receiver<bool>,
) {
    let title = lock(&board).title().to_owned();
    let hello = event("hello", &serde_json::json!({ "boot": boot, "title": title }));
    if out.send(hello).await.is_err() {
        return;
    }
    let mut sent: HashMap<&'static str, String> = HashMap::new();
    let mut seen = None;
    let mut quiet_since = Instant::now();
    loop {
        let next = Instant::now() + PACE;
        let is_over = *over.borrow_and_update();
        // Only looked at under the lock, and drawn at once: the run waits no longer than it takes
        // to draw one page.
        let new = {
            let board = lock(&board);
            let revision = Some(board.revision());
            (seen != revision).then(|| {
                seen = revision;
                board.fragments(&view)
            })
        };
        for (id, html) in new.into_iter().flatten() {
            if sent.get(id) == Some(&html) {
                continue;
            }
            if out
                .send(event("fragment", &serde_json::json!({ "id": id, "html": html })))
                .await
                .is_err()
            {
                return;
            }
            sent.insert(id, html);
            quiet_since = Instant::now();
        }
        if is_over {
            let words = lock(&board).farewell();
            let _ = out.send(event("over", &serde_json::json!({ "words": words }))).await;
            return;
        }
        if quiet_since.elapsed() >= ALIVE {
            if out.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                return;
            }
            quiet_since = Instant::now();
        }
        tokio::select! {
            () = sleep_until(next) => {}
            _ = over.changed() => {}
            () = out.closed() => return,
        }
    }
}
