//! What stands at which address: pure, from the request's path to the answer's text.

use hyper::StatusCode;
use live::web::metrics::{Detail, Form, Scrape};
use live::web::{self, Dashboard, Guard, View, past_runs};
use model::Record;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) type SharedBoard = Arc<Mutex<dyn Dashboard>>;

#[derive(Clone, Debug)]
pub(crate) enum Site {
    Live(SharedBoard),
    /// Runs that were recorded, with the names of their files.
    Past(Arc<Vec<(String, Record)>>),
}

#[derive(Debug)]
pub(crate) enum Answer {
    Text(StatusCode, &'static str, String),
    Metrics(Form, Box<Scrape>),
    Stream(View),
}

const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// Runs that one page puts side by side at most.
const MOST_SIDE: usize = 16;

pub(crate) fn lock<T: ?Sized>(board: &Mutex<T>) -> MutexGuard<'_, T> {
    // A view that panicked has changed nothing of the board.
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers a request for `path` with `query`, of somebody who can read what `accept` names.
pub(crate) fn answer(
    site: &Site,
    path: &str,
    query: &str,
    accept: &str,
    boot: &str,
    guard: Guard,
) -> Answer {
    let text = |kind, text| Answer::Text(StatusCode::OK, kind, text);
    match (path, site) {
        ("/style.css", _) => text("text/css; charset=utf-8", web::style()),
        ("/script.js", _) => text("text/javascript; charset=utf-8", web::SCRIPT.to_owned()),
        ("/live.js", _) => text("text/javascript; charset=utf-8", web::LIVE_SCRIPT.to_owned()),
        ("/icon.svg", _) => text("image/svg+xml", web::ICON.to_owned()),
        ("/", Site::Live(board)) => text(HTML, lock(board).page(&view(query), boot, guard)),
        ("/events", Site::Live(_)) => Answer::Stream(view(query)),
        ("/metrics", Site::Live(board)) => {
            let detail = Detail::asked(values(query, "detail").next().as_deref());
            let scrape = Scrape { memory_bytes: resident(), ..lock(board).metrics(detail) };
            Answer::Metrics(Form::accepted(accept), Box::new(scrape))
        }
        ("/", Site::Past(runs)) => {
            let listed: Vec<(String, &Record)> =
                runs.iter().map(|(name, record)| (name.clone(), record)).collect();
            text(HTML, past_runs::index(&listed))
        }
        ("/side", Site::Past(runs)) => {
            let asked: Vec<usize> =
                values(query, "run").filter_map(|value| value.parse().ok()).collect();
            let chosen = |number: &usize| asked.is_empty() || asked.contains(number);
            let chosen =
                runs.iter().enumerate().filter(|(number, _)| chosen(number)).take(MOST_SIDE);
            let chosen: Vec<(usize, &str, &Record)> =
                chosen.map(|(number, (name, record))| (number, name.as_str(), record)).collect();
            if chosen.is_empty() { nothing() } else { text(HTML, past_runs::report(&chosen)) }
        }
        (path, Site::Past(runs)) => {
            let number = path.strip_prefix("/run/").and_then(|number| number.parse::<usize>().ok());
            match number.and_then(|number| Some((number, runs.get(number)?))) {
                Some((number, (name, record))) => {
                    text(HTML, past_runs::report(&[(number, name, record)]))
                }
                None => nothing(),
            }
        }
        _ => nothing(),
    }
}

/// The memory of this process that is resident, in bytes (proc(5), `status`).
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn nothing() -> Answer {
    Answer::Text(
        StatusCode::NOT_FOUND,
        PLAIN,
        "There is nothing here; the page is at /\n".to_owned(),
    )
}

pub(crate) fn values<'a>(query: &'a str, key: &'a str) -> impl Iterator<Item = String> + 'a {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(move |(name, _)| *name == key).map(|(_, value)| decoded(value))
}

/// Text in an address: `+` is a space, `%41` a byte. What is no such thing stands for itself.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte =
            digits.filter(|_| first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(if first == b'+' { b' ' } else { first }));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a query asks to look at; what it says wrongly is as if it had not been said.
fn view(query: &str) -> View {
    let first = |key| values(query, key).next();
    View {
        host: first("host").and_then(|value| value.parse().ok()),
        from: first("from").and_then(|value| value.parse().ok()).unwrap_or(0),
        find: first("find").filter(|value| value.len() <= View::MOST_FIND).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_what_to_look_at_and_nonsense_says_nothing() {
        assert_eq!(
            view("host=3&from=50&find=n%2D1+a"),
            View { host: Some(3), from: 50, find: "n-1 a".to_owned() }
        );
        let long = format!("find={}", "x".repeat(View::MOST_FIND + 1));
        for nonsense in ["", "host=-1&from=x", "host", "&&==", "host=99999999999999999999", &long] {
            assert_eq!(view(nonsense), View::default(), "{nonsense}");
        }
        assert_eq!(view("find=%zz%4").find, "%zz%4");
        assert_eq!(view("find=%ff%+").find, "\u{fffd}% ");
    }

    #[test]
    fn a_process_knows_its_memory() {
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let site = Site::Past(Arc::new(Vec::new()));
        for path in [
            "/run/0",
            "/run/",
            "/run/18446744073709551616",
            "/side",
            "/metrics",
            "/../etc/passwd",
            "//",
        ] {
            let Answer::Text(status, ..) = answer(&site, path, "", "", "b", Guard::Loopback) else {
                panic!("{path}")
            };
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        }
        let Answer::Text(status, ..) = answer(&site, "/", "", "", "b", Guard::Loopback) else {
            panic!("no text")
        };
        assert_eq!(status, StatusCode::OK);
    }
}
