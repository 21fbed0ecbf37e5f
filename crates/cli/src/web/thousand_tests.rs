//! The page of a thousand hosts in a real browser: it stays small, and answers while they tell.

#[allow(dead_code, reason = "a page takes what it needs of the browser")]
#[path = "../../../../tests/common/devtools.rs"]
mod devtools;

use super::site::{self, Answer};
use super::{Protection, Server, Site, lock};
use devtools::Browser;
use live::web::Guard;
use live::web::watched::Watching;
use model::counters::{Entry, Layer, Metric};
use model::testbed::HostFacts;
use model::{CounterSample, Nanos};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const HOSTS: u32 = 1_000;
/// Ten rows to a screen would be few, and a row for each host too many for a page.
const MOST_NODES: u64 = 4_000;

fn facts() -> Vec<HostFacts> {
    let host = probe::Looker::new().host("1", Default::default(), Vec::new());
    let named = |number: u32| HostFacts {
        hostname: format!("node{number:04}"),
        identity: format!("kernel-{number}"),
        ..host.clone()
    };
    (0..HOSTS).map(named).collect()
}

/// A second of a host with eight cores and four disks.
fn second(host: u32, number: u32) -> CounterSample {
    let load = u64::from(host % 7 + number % 5 + 1);
    let io = [
        (Metric::Reads, 900 * load),
        (Metric::ReadBytes, 900 * load * 4096),
        (Metric::ReadNs, 900 * load * 200_000),
        (Metric::Writes, 100 * load),
        (Metric::WriteBytes, 100 * load * 4096),
        (Metric::WriteNs, 100 * load * 900_000),
    ];
    let cpu = [(Metric::UserNs, 50_000_000 * load), (Metric::IdleNs, 600_000_000)];
    let entry = |layer, name: String, values: &[(Metric, u64)]| Entry {
        layer,
        name,
        values: values.to_vec(),
    };
    let disks = (0..4).map(|disk| entry(Layer::Block, format!("nvme{disk}n1"), &io));
    let cores = (0..8).map(|core| entry(Layer::Cpu, core.to_string(), &cpu));
    CounterSample {
        host,
        number,
        start_ns: u64::from(number) * 1_000_000_000,
        length_ns: 1_000_000_000,
        entries: disks.chain(cores).collect(),
        ..CounterSample::default()
    }
}

/// Tells of one second after the other until it is dropped.
struct Feed {
    is_over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Feed {
    fn start(watching: Arc<Mutex<Watching>>) -> Feed {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let tell = move || {
            for number in 0.. {
                for host in 0..HOSTS {
                    lock(&watching).counters(&second(host, number));
                }
                if over.load(Ordering::SeqCst) {
                    return;
                }
                // Faster than real hosts, which tell once a second; and the page's turn.
                std::thread::sleep(Duration::from_millis(200));
            }
        };
        Feed { is_over, thread: Some(std::thread::spawn(tell)) }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        drop(self.thread.take().map(std::thread::JoinHandle::join));
    }
}

#[test]
fn metrics_of_a_thousand_hosts_have_devices_for_who_asks_and_are_written_when_the_page_is_free() {
    let watching = Arc::new(Mutex::new(Watching::new(facts(), "1", 0, Nanos::seconds(1))));
    (0..HOSTS).for_each(|host| lock(&watching).counters(&second(host, 0)));
    let site = Site::Live(watching.clone());
    for (query, disks) in
        [("", 0), ("detail=0", 0), ("detail=nonsense", 0), ("detail=1", 4 * HOSTS as usize)]
    {
        let Answer::Metrics(form, scrape) =
            site::answer(&site, "/metrics", query, "", "b", Guard::Loopback)
        else {
            panic!("{query}: no metrics")
        };
        // The page goes on before it is written, and what was taken does not change with it.
        assert!(watching.try_lock().is_ok(), "{query}");
        lock(&watching).lost(7, "gone");
        let text = String::from_utf8(scrape.render(form)).expect("text");
        let of = |family: &str| text.lines().filter(|line| line.starts_with(family)).count();
        assert_eq!(of("plimsoll_host_disk_reads_completed_total{"), disks, "{query}");
        assert_eq!(of("plimsoll_host_cpu_seconds_total{"), 2 * HOSTS as usize, "{query}");
        assert_eq!(of("# Left out: "), usize::from(disks == 0), "{query}");
    }
}

#[test]
fn a_thousand_hosts_neither_bloat_nor_stall_the_page() {
    let parts = std::env::var("PLIMSOLL_TEST_PARTS").unwrap_or_default();
    if !parts.split(',').any(|part| part == "chromium") {
        println!(
            "SKIPPED: a thousand hosts in a browser, because chromium is not here (run `cargo \
             xtask test` as root)"
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let watching = Arc::new(Mutex::new(Watching::new(facts(), "1", 0, Nanos::seconds(1))));
    let here = "127.0.0.1:0".parse().expect("an address");
    let open = Protection { token: None, tls: None };
    let server = Server::start(here, open, Site::Live(watching.clone()), None).expect("a server");
    let line = server.line("page");
    let address = line.split_whitespace().nth(1).expect("an address");
    let feed = Feed::start(watching);

    let mut browser = Browser::open(folder.path());
    browser.go(address);
    browser.wait("document.getElementById('status').textContent === 'Live.'");
    browser.wait("document.querySelectorAll('#charts svg.chart').length === 5");
    let nodes = |browser: &mut Browser| {
        browser.value("document.querySelectorAll('*').length").as_u64().expect("a number")
    };
    assert_eq!(
        browser.value("document.querySelectorAll('#hosts tbody tr').length"),
        json!(50),
        "a window of them"
    );
    let before = nodes(&mut browser);
    assert!(before < MOST_NODES, "{before}");

    // It changes while it is looked at, and a key is answered in between.
    browser.value(
        "window.seen = 0; new MutationObserver(() => window.seen += \
         1).observe(document.getElementById('hosts'), { childList: true })",
    );
    browser.wait("window.seen >= 3");
    browser.press("Tab", 9);
    assert_eq!(browser.value("document.activeElement.getAttribute('href')"), json!("#charts"));
    let seen = browser.value("window.seen").as_u64().expect("a number");
    browser.wait(&format!("window.seen >= {}", seen + 3));
    assert_eq!(
        browser.value("document.activeElement.getAttribute('href')"),
        json!("#charts"),
        "and keeps its place"
    );
    let after = nodes(&mut browser);
    assert!(after < MOST_NODES, "it does not grow: {before}, then {after}");

    // Each of the thousand can be reached.
    browser.value("document.querySelector('[data-keep=further]').click()");
    browser.wait(
        "location.search === '?from=50' && document.querySelector('#hosts tbody th').innerText \
         === 'node0050'",
    );
    browser.go(&format!("{address}?find=node0999&host=999"));
    browser.wait("document.querySelectorAll('#hosts tbody tr').length === 1");
    browser.wait("document.getElementById('charts').innerText.includes('node0999 alone')");
    browser.wait("document.querySelectorAll('#charts svg.chart').length === 5");
    assert_eq!(browser.complaints, Vec::<String>::new());
    drop(feed);
    drop(browser);
    server.finish();
}
