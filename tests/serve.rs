//! The live page of a run and the pages of past ones: over the wire, and in a real browser.

use crate::common::devtools::Browser;
use crate::common::http::{address_of, get, get_by_tls, send};
use crate::common::{
    Json, Words, command, has, plimsoll, run, scratch, shown, start, text, wait_until,
};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

/// A run of two agents over simulated devices in real time, as long as a test looks at it; ended
/// with the test.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(folder: &Path, name: &str, measure: &str, more: impl Words) -> Running {
        Running::gated(folder, name, measure, "", more)
    }

    /// One whose point begins when `prerun` is over.
    fn gated(folder: &Path, name: &str, measure: &str, prerun: &str, more: impl Words) -> Running {
        let suite = format!(
            "name = \"{name}\"\n[layout]\nsize = \"16MiB\"\n[stages]\nprecondition = \
             \"1s\"\nmeasure = \"{measure}\"\nprerun = \"{prerun}\"\n[[workload]]\nname = \
             \"mix\"\nread = \"70%\"\nworkers = 1\n"
        );
        fs::write(folder.join(format!("{name}.toml")), suite).expect("a suite");
        let (suite, out) = (format!("{name}.toml"), format!("{name}.plimsoll"));
        let data = format!("{name}-data");
        let arguments = ["run", &suite, "--hosts", "local:2", "-t", &data, "--out", &out];
        let mut child = start(folder, (&arguments, more));
        let address = address_of(&mut child);
        Running { child, address }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ANY_PORT: &str = "--serve=127.0.0.1:0";

#[test]
fn the_page_lives_in_a_browser_and_outlives_its_coordinator() {
    let true = has("the live page in a browser", "chromium") else { return };
    let here = &scratch();
    let mut first = Running::start(here, "first", "10min", [ANY_PORT]);
    let address = first.address.clone();
    let mut browser = Browser::open(here);
    browser.go(&format!("http://{address}/"));
    browser.wait("document.getElementById('status').textContent === 'Live.'");
    browser.wait("document.querySelector('#head .badge').textContent.includes('running: mix')");
    browser.wait("document.querySelectorAll('#charts svg.chart').length >= 8");
    browser.wait("document.querySelectorAll('#hosts tbody tr').length === 2");
    assert_eq!(
        browser.value("document.querySelectorAll('#charts path.heat').length > 0"),
        json!(true)
    );

    // It moves by itself.
    let points = "document.querySelector('#charts \
                  .line.read[points]').getAttribute('points').split(' ').length";
    let before = browser.value(points).count();
    browser.wait(&format!("{points} >= {}", before + 2));

    the_keyboard_is_enough(&mut browser);

    // A reload keeps the history.
    browser.go(&format!("http://{address}/"));
    browser.wait("document.getElementById('status').textContent === 'Live.'");
    let kept = browser.value(points).count();
    assert!(kept >= before + 2, "{kept} of {before}");

    // Light and dark.
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        papers.push(browser.value("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(papers[0], papers[1]);
    assert_eq!(browser.complaints, Vec::<String>::new());

    // The coordinator dies, and another run begins at its place.
    first.child.kill().expect("a coordinator to kill");
    first.child.wait().expect("its end");
    browser.wait("document.getElementById('status').textContent.startsWith('Connection lost')");
    let shown = browser.value("document.querySelectorAll('#charts svg.chart').length");
    assert!(shown.as_u64().is_some_and(|shown| shown >= 8), "what was seen stays: {shown}");
    let serve = format!("--serve={address}");
    let mut resumed = start(here, ["resume", "first.plimsoll", &serve]);
    assert_eq!(address_of(&mut resumed), address);
    browser.wait("document.getElementById('status').textContent.includes('started again')");
    browser
        .wait("document.getElementById('happened').innerText.includes('resumes first.plimsoll')");
    browser.wait("document.querySelector('#head .badge').textContent.includes('running: mix')");
    let done = browser.value("document.querySelectorAll('#plan li.done').length");
    assert!(done.as_u64().is_some_and(|done| done >= 1), "what was done before stays done: {done}");
    resumed.kill().expect("a coordinator to kill");
    resumed.wait().expect("its end");
    browser.wait("document.getElementById('status').textContent.startsWith('Connection lost')");
    let wait = "while ! test -e go; do sleep 0.05; done";
    let mut second = Running::gated(here, "second", "3s", wait, [&serve]);
    browser.wait("document.querySelector('#head h1').textContent === 'second'");
    fs::write(here.join("go"), "").expect("a file");
    browser.wait("document.getElementById('status').textContent.startsWith('The run is over')");
    browser.wait("document.getElementById('results').innerText.includes('mix')");
    assert_eq!(second.child.wait().expect("an end").code(), Some(0));
    let about_the_gap = |complaint: &&String| !complaint.contains("/events");
    assert_eq!(browser.complaints.iter().find(about_the_gap), None);
}

/// With the keyboard alone: the first stop leads past the rest, a host can be reached, and what
/// is new takes nobody's place away.
fn the_keyboard_is_enough(browser: &mut Browser) {
    browser.press("Tab", 9);
    assert_eq!(browser.value("document.activeElement.getAttribute('href')"), json!("#charts"));
    for _ in 0..30 {
        if browser.value("document.activeElement.dataset.keep") == json!("host-1") {
            break;
        }
        browser.press("Tab", 9);
    }
    let place = "document.querySelector('#charts .line.read[points]').getAttribute('points')";
    let drawn = browser.value(place).text().to_owned();
    browser.wait(&format!("{place} !== '{drawn}'"));
    assert_eq!(browser.value("document.activeElement.dataset.keep"), json!("host-1"));
    browser.press("Enter", 13);
    browser.wait(
        "location.search === '?host=1' && \
         document.getElementById('charts').innerText.includes('local-2 alone')",
    );
    browser.wait("document.querySelectorAll('#charts svg.chart').length >= 5");
}

#[test]
fn events_are_lines_that_add_up_to_the_results() {
    let here = &scratch();
    let arguments = "run smoke --quiet --events - --out run.plimsoll";
    let ended = plimsoll(here, arguments).with_code(0);
    let lines: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect();
    assert_eq!(lines[0]["event"], json!("run"));
    assert_eq!(lines.last().map(|line| &line["event"]), Some(&json!("run_ended")));
    let results = shown(here);
    let sum = |of: &Value, key: &str| -> u64 {
        of.as_array().into_iter().flatten().map(|entry| entry[key].count()).sum()
    };
    let told: u64 = lines.iter().map(|line| sum(&line["ops"], "bytes")).sum();
    assert_eq!(told, sum(&results["issued"], "bytes"));
    let refused = plimsoll(here, "run smoke --events no/such/folder/x").with_code(2);
    assert!(refused.err.contains("--events no/such/folder/x"), "{}", refused.err);
}

#[test]
fn who_may_not_see_a_run_does_not() {
    let here = &scratch();
    let open = plimsoll(here, "run smoke --serve=0.0.0.0:0").with_code(2);
    assert!(open.err.contains("--token"), "{}", open.err);
    assert!(!here.join("plimsoll-data").exists(), "nothing was touched");

    let token = "0123456789abcdef0123";
    let guarded = Running::start(here, "guarded", "10min", ["--serve=0.0.0.0:0", "--token", token]);
    let port = guarded.address.rsplit(':').next().expect("a port");
    let address = format!("127.0.0.1:{port}");
    assert_eq!(get(&address, "/", &[]).status, 401);
    assert_eq!(
        get(&address, "/metrics", &["Authorization: Bearer 0123456789abcdef0124"]).status,
        401
    );
    let handed = get(&address, &format!("/?token={token}&host=1"), &[]);
    assert_eq!(handed.status, 303);
    assert!(handed.head.to_lowercase().contains("location: /?host=1\r\n"), "{}", handed.head);
    assert!(handed.head.contains("HttpOnly; SameSite=Strict"), "{}", handed.head);
    let page = get(&address, "/", &[&format!("Cookie: plimsoll_token={token}")]);
    assert!(page.status == 200 && page.body.contains("without encryption"), "{page:?}");
    let metrics = get(&address, "/metrics", &[&format!("Authorization: Bearer {token}")]);
    assert!(metrics.status == 200 && metrics.body.contains("plimsoll_build_info"), "{metrics:?}");

    let again = format!("--serve=127.0.0.1:{port}");
    let taken = plimsoll(here, ["run", "smoke", &again, "--token", token]).with_code(2);
    assert!(taken.err.contains("another program") && taken.err.contains("port 0"), "{}", taken.err);
}

/// A file of `fixtures/tls`.
fn of_tls(name: &str) -> String {
    format!("{}/../../fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_certificate_that_does_not_fit_stops_everything_before_it_begins() {
    let here = &scratch();
    let (cert, key, other) = (of_tls("cert.pem"), of_tls("key.pem"), of_tls("other-key.pem"));
    fs::write(here.join("s.toml"), "name = \"s\"\n[[workload]]\nname = \"w\"\n").expect("a suite");
    let objective = ["--objective", "p99 < 5ms"];
    for command in [
        "run smoke".words(),
        ("loadline smoke", objective).words(),
        "watch --count 1".words(),
        ("canary --dir c s.toml -t data", objective).words(),
        "resume none.plimsoll".words(),
    ] {
        let tls = [ANY_PORT, "--tls-cert", &cert, "--tls-key", &other];
        let refused = plimsoll(here, (&command, &tls)).with_code(2);
        let words = format!("--tls-key {other}: this key does not belong");
        assert!(refused.err.contains(&words), "{command:?}: {}", refused.err);
    }
    let past = ["serve", "none.plimsoll", "--tls-cert", "none.pem", "--tls-key", &key];
    let refused = plimsoll(here, past).with_code(2);
    assert!(refused.err.contains("--tls-cert none.pem: No such file"), "{}", refused.err);
    for (half, words) in [
        (&["--serve", "--tls-cert", &cert][..], "--tls-key"),
        (&["--tls-cert", &cert, "--tls-key", &key], "--serve"),
    ] {
        let refused = plimsoll(here, ("run smoke", half)).with_code(2);
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    let left: Vec<_> = fs::read_dir(here).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "the suite alone: {left:?}");
}

#[test]
fn by_tls_a_page_is_seen_by_who_trusts_it_and_never_in_the_clear() {
    let true = has("the live page by TLS", "openssl") else { return };
    let folder = scratch();
    let token = "0123456789abcdef0123";
    let (cert, key) = (of_tls("cert.pem"), of_tls("key.pem"));
    let options = ["--serve=0.0.0.0:0", "--token", token, "--tls-cert", &cert, "--tls-key", &key];
    let secure = Running::start(&folder, "secure", "10min", options);
    let port = secure.address.rsplit(':').next().expect("a port");
    let address = format!("localhost:{port}");
    let get_with = |path: &str, lines: &[&str]| get_by_tls(&address, Path::new(&cert), path, lines);
    assert_eq!(get_with("/", &[]).status, 401);
    let handed = get_with(&format!("/?token={token}"), &[]);
    assert_eq!(handed.status, 303);
    assert!(handed.head.contains("SameSite=Strict; Path=/; Secure"), "{}", handed.head);
    let page = get_with("/", &[&format!("Cookie: plimsoll_token={token}")]);
    assert!(page.status == 200 && page.body.contains("by TLS"), "{page:?}");
    let metrics = get_with("/metrics", &[&format!("Authorization: Bearer {token}")]);
    assert!(metrics.status == 200 && metrics.body.contains("plimsoll_build_info"), "{metrics:?}");
    // Who trusts somebody else sees nothing, and who asks in the clear learns why.
    let stranger = folder.join("stranger.pem");
    let made = "req -x509 -newkey ed25519 -nodes -subj /CN=localhost -keyout /dev/null -out";
    run("openssl", (made, [text(&stranger)]));
    assert_eq!(get_by_tls(&address, &stranger, "/", &[]).status, 0);
    let clear = get(&format!("127.0.0.1:{port}"), &format!("/?token={token}"), &[]);
    assert!(clear.status == 400 && clear.body.contains("https://"), "{clear:?}");
    assert!(!clear.head.contains(token), "{}", clear.head);
    // What only begins like TLS ends nobody's page.
    for junk in ["\u{16}", "\u{16}\u{3}\u{1}\u{2}\0junk junk junk"] {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream.write_all(junk.as_bytes()).expect("junk");
    }
    assert_eq!(get_with("/", &[]).status, 401);
}

#[test]
fn hostile_requests_are_bounded_and_the_run_is_still_seen() {
    let folder = scratch();
    let run = Running::start(&folder, "open", "10min", [ANY_PORT]);
    let address = run.address.as_str();
    let page = get(address, "/", &[]);
    assert_eq!(page.status, 200);
    for header in ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff"]
    {
        assert!(page.head.to_lowercase().contains(header), "{}", page.head);
    }
    assert_eq!(get(address, "/", &["X: 1"]).status, 200);
    let foreign = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(send(address, foreign).status, 421);
    let post = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let refused = send(address, &post);
    assert!(
        refused.status == 405 && refused.head.to_lowercase().contains("allow: get, head"),
        "{}",
        refused.head
    );
    let head = format!("HEAD / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let looked = send(address, &head);
    assert_eq!(
        (looked.status, looked.body.as_str()),
        (200, ""),
        "who watches over servers asks so"
    );
    for long in [format!("/{}", "a".repeat(1 << 20)), format!("/?find={}", "%".repeat(100_000))] {
        let refused = get(address, &long, &[]);
        assert!((400..500).contains(&refused.status) || refused.status == 0, "{}", refused.status);
    }
    let many: String = (0..200).map(|number| format!("X-{number}: 1\r\n")).collect();
    assert_eq!(
        send(address, &format!("GET / HTTP/1.1\r\n{many}Connection: close\r\n\r\n")).status,
        431
    );
    // Readers that never read, and more of them than there may be.
    let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let idle: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            stream.write_all(request.as_bytes()).expect("a request");
            stream
        })
        .collect();
    wait_until("a stream too many is refused", || get(address, "/events", &[]).status == 503);
    assert_eq!(get(address, "/", &[]).status, 200);
    drop(idle);
    // A hundred half-said requests fill the house; it gets rid of them by itself.
    let half: Vec<TcpStream> = (0..140)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            stream.write_all(b"GET / HT").expect("half a request");
            stream
        })
        .collect();
    assert_eq!(get(address, "/metrics", &[]).status, 200);
    drop(half);
}

#[test]
fn hosts_without_a_run_have_a_page_that_lives() {
    let here = &scratch();
    let watch = "watch --hosts local:2 --interval 200ms --json";
    let open = plimsoll(here, (&watch, "--serve=0.0.0.0:0")).with_code(2);
    assert!(open.err.contains("--token"), "{}", open.err);
    plimsoll(here, "watch --serve run.plimsoll").with_code(2);

    let token = "0123456789abcdef";
    let mut child = command(here, (&watch, [ANY_PORT, "--token", token]))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a program");
    let address = address_of(&mut child);
    for path in ["/", "/metrics", "/events"] {
        assert_eq!(get(&address, path, &[]).status, 401, "{path}");
    }
    let bearer = format!("Authorization: Bearer {token}");
    let told = |metrics: &str, host| {
        let labels = format!(",host=\"{host}\",mode=\"user\"}}");
        metrics.lines().any(|line| line.contains("cpu_seconds_total{") && line.contains(&labels))
    };
    wait_until("the kernel's counters", || {
        told(&get(&address, "/metrics", &[&bearer]).body, "local-1")
    });
    wait_until("more of them", || {
        let metrics = get(&address, "/metrics", &[&bearer]).body;
        assert!(
            !told(&metrics, "local-2"),
            "both agents tell of one kernel, which is counted once: {metrics}"
        );
        metrics.contains(",state=\"up\"} 2")
    });
    if has("hosts in a browser", "chromium") {
        let mut browser = Browser::open(here);
        browser.go(&format!("http://{address}/?token={token}"));
        browser.wait("document.getElementById('status').textContent === 'Live.'");
        browser.wait("document.querySelectorAll('#charts svg.chart').length === 5");
        browser.wait("document.querySelectorAll('#hosts tbody tr').length === 2");
        let points = "document.querySelector('#charts \
                      .line.read[points]').getAttribute('points').split(' ').length";
        let before = browser.value(points).count();
        browser.wait(&format!("{points} >= {}", before + 2));
        browser.value("document.querySelector('[data-keep=host-1]').click()");
        browser.wait("document.getElementById('charts').innerText.includes('local-2 alone')");
        browser.wait("document.getElementById('status').textContent === 'Live.'");
        crate::common::signal(&child, "TERM");
        browser.wait(
            "document.getElementById('status').textContent.startsWith('Nobody watches any more')",
        );
        assert_eq!(
            browser.value("document.querySelector('#head .badge').textContent"),
            json!("over")
        );
        assert_eq!(browser.complaints, Vec::<String>::new());
    } else {
        crate::common::signal(&child, "TERM");
    }
    assert_eq!(child.wait().expect("an end").code(), Some(130));
}

#[test]
fn past_runs_are_listed_opened_and_put_side_by_side() {
    let here = &scratch();
    for name in ["one.plimsoll", "two.plimsoll"] {
        plimsoll(here, ["run", "smoke", "--quiet", "--out", name]).with_code(0);
    }
    let mut child = start(here, "serve one.plimsoll two.plimsoll --address 127.0.0.1:0");
    let address = address_of(&mut child);
    let index = get(&address, "/", &[]);
    assert!(
        index.body.contains("one.plimsoll") && index.body.contains("Put side by side"),
        "{}",
        index.body
    );
    let one = get(&address, "/run/1", &[]);
    assert!(
        one.status == 200 && one.body.contains("<svg") && one.body.contains("/style.css"),
        "{}",
        one.body.len()
    );
    let side = get(&address, "/side?run=0&run=1", &[]);
    assert!(
        side.body.contains("2 runs side by side") && side.body.contains("two.plimsoll"),
        "{}",
        side.body.len()
    );
    assert_eq!(
        (get(&address, "/run/2", &[]).status, get(&address, "/metrics", &[]).status),
        (404, 404)
    );
    if has("past runs in a browser", "chromium") {
        let mut browser = Browser::open(here);
        browser.go(&format!("http://{address}/"));
        browser.value("document.querySelector('button').click()");
        browser.wait(
            "location.pathname === '/side' && document.querySelectorAll('svg.chart').length > 4",
        );
        assert_eq!(browser.complaints, Vec::<String>::new());
    }
    run("kill", ["-s", "INT", &child.id().to_string()]);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    let missing = command(here, "serve no-such-run").output().expect("the program");
    assert_eq!(missing.status.code(), Some(5), "{}", text(here));
}
