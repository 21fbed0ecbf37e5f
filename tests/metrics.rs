//! What Prometheus makes of a run: a real one, from the distribution. It scrapes, or is pushed to.

use crate::common::http::{address_of, get, get_by_tls};
use crate::common::{
    Json, Words, command, end, has, plimsoll, recorded, run, scratch, shown, signal, start, text,
};
use model::Op;
use model::histogram::Histogram;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ended with the test.
struct Prometheus {
    child: Child,
    address: String,
}

impl Prometheus {
    fn scraping(target: &str, folder: &Path, more: impl Words) -> Prometheus {
        let config = format!(
            "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: plimsoll\n    \
             honor_labels: true\n    static_configs:\n      - targets: ['{target}']\n"
        );
        Prometheus::start(&config, folder, more)
    }

    /// One that scrapes nobody and takes what is pushed.
    fn receiving(folder: &Path) -> Prometheus {
        let more = "--web.enable-remote-write-receiver --enable-feature=native-histograms";
        Prometheus::start("global:\n  scrape_interval: 1h\n", folder, more)
    }

    fn start(config: &str, folder: &Path, more: impl Words) -> Prometheus {
        let path = folder.join("prometheus.yml");
        fs::write(&path, config).expect("a configuration");
        run("promtool", ["check", "config", text(&path)]);
        // It cannot say which port it was given, so it is told one. Another program may have taken
        // that since: then it ends, and is told another.
        loop {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
            let address = free.expect("a port").to_string();
            let mut child = Command::new("prometheus")
                .arg(format!("--config.file={}", text(&path)))
                .arg(format!("--storage.tsdb.path={}", text(&folder.join("tsdb"))))
                .arg(format!("--web.listen-address={address}"))
                .args(more.words())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("a Prometheus that starts");
            let mut said = String::new();
            let mut lines =
                BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
            let is_ready = lines.by_ref().any(|line| {
                said += &format!("{line}\n");
                line.contains("Server is ready")
            });
            if is_ready {
                std::thread::spawn(move || lines.for_each(drop));
                return Prometheus { child, address };
            }
            let _ = child.wait();
            assert!(said.contains("address already in use"), "{said}");
        }
    }

    /// What a query gives; null while there is no answer.
    fn query(&self, query: &str) -> Value {
        if std::net::TcpStream::connect(&self.address).is_err() {
            return Value::Null;
        }
        let escaped: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let body = get(
            &self.address,
            &format!("/api/v1/query?query={escaped}"),
            &["Accept-Encoding: identity"],
        )
        .body;
        let json = body.find('{').zip(body.rfind('}')).map(|(from, to)| &body[from..=to]);
        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// The one value of a query; none while there is none.
    fn value(&self, query: &str) -> Option<f64> {
        self.query(query)["data"]["result"][0]["value"][1]
            .as_str()
            .and_then(|value| value.parse().ok())
    }

    /// The one value of a query, when it has become `wanted`.
    fn wait_for(&self, query: &str, wanted: f64) {
        let start = Instant::now();
        loop {
            let value = self.value(query);
            if value.is_some_and(|value| (value - wanted).abs() <= wanted.abs() * 1e-9) {
                return;
            }
            assert!(
                start.elapsed() < crate::common::PATIENCE,
                "{query} is {value:?}, and not {wanted}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Asks what every panel of the dashboard asks.
    fn understands_the_dashboard(&self) {
        let dashboard = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../deploy/grafana-dashboard.json"
        ));
        let dashboard: Value =
            serde_json::from_str(&dashboard.expect("a dashboard")).expect("JSON");
        let mut asked = 0;
        for panel in dashboard["panels"].list() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let query = target["expr"].text();
                let query = query.replace("$__rate_interval", "1m").replace("$host", ".*");
                let query = query.replace("$job", ".*").replace("$instance", ".*");
                let query =
                    query.replace("$run", ".*").replace("$workload", ".*").replace("$sweep", ".*");
                let answer = self.query(&query);
                assert_eq!(answer["status"], Value::from("success"), "{query}: {answer}");
                asked += 1;
            }
        }
        assert!(asked >= 10, "{asked}");
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has promtool read the metrics: it has no remark.
fn lint(address: &str) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool");
    let metrics = get(address, "/metrics", &[]);
    assert_eq!(metrics.status, 200);
    assert!(metrics.head.to_lowercase().contains("text/plain; version=0.0.4"), "{}", metrics.head);
    promtool.stdin.take().expect("its input").write_all(metrics.body.as_bytes()).expect("metrics");
    let checked = end(promtool).with_code(0);
    assert_eq!((checked.out.as_str(), checked.err.as_str()), ("", ""), "no remark of the linter");
}

/// A run of two hosts that is over and still serves, its address, and a Prometheus that knows so.
fn scraped_run(here: &Path, more: impl Words) -> (Child, String, Prometheus) {
    let options =
        ["--hosts", "local:2", "--serve=127.0.0.1:0", "--keep-serving", "--out", "run.plimsoll"];
    let mut child = start(here, ("run smoke", &options));
    let address = address_of(&mut child);
    let prometheus = Prometheus::scraping(&address, here, more);
    prometheus.wait_for("plimsoll_run_over", 1.0);
    (child, address, prometheus)
}

/// Ends what still serves.
fn end_with(child: &mut Child, name: &str, code: i32) {
    signal(child, name);
    assert_eq!(child.wait().expect("an end").code(), Some(code));
}

#[test]
fn a_real_prometheus_reads_hosts_without_a_run() {
    let true = has("a real Prometheus", "prometheus") else { return };
    let here = &scratch();
    let mut child = start(here, "watch --hosts local:2 --interval 200ms --serve=127.0.0.1:0");
    let out = child.stdout.take().expect("its output");
    std::thread::spawn(move || std::io::copy(&mut BufReader::new(out), &mut std::io::sink()));
    let address = address_of(&mut child);
    let prometheus = Prometheus::scraping(&address, here, "");
    prometheus.wait_for("plimsoll_hosts{state=\"up\"}", 2.0);
    // Both agents are on one kernel, which is told once.
    prometheus.wait_for("count(count by (host) (plimsoll_host_cpu_seconds_total))", 1.0);
    lint(&address);
    end_with(&mut child, "TERM", 130);
}

#[test]
fn a_real_prometheus_reads_what_the_run_file_says() {
    let true = has("a real Prometheus", "prometheus") else { return };
    let here = &scratch();
    let (mut child, address, prometheus) = scraped_run(here, "");

    lint(&address);

    let results = shown(here);
    let issued = |key: &str| -> f64 {
        results["issued"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| entry[key].as_f64())
            .sum()
    };
    prometheus.wait_for("sum(plimsoll_requests_total)", issued("ios"));
    prometheus.wait_for("sum(plimsoll_bytes_total)", issued("bytes"));
    prometheus
        .wait_for("sum(plimsoll_request_duration_seconds_bucket{le=\"+Inf\"})", issued("ios"));
    prometheus.wait_for("count(count by (host) (plimsoll_requests_total))", 2.0);

    prometheus.understands_the_dashboard();
    end_with(&mut child, "INT", 0);
}

/// All latencies of an operation that a run file has.
fn latencies(run: &Path, op: Op) -> Histogram {
    let record = store::read(run).expect("a run file");
    let mut all = Histogram::new();
    for sample in record.samples() {
        for counted in sample.ops.iter().filter(|counted| counted.op == op) {
            counted.latency.merge_into(&mut all).expect("a histogram");
        }
    }
    all
}

/// Its native histograms are those of the run file.
fn has_the_latencies_of(prometheus: &Prometheus, run: &Path) {
    for (op, name) in [(Op::Read, "read"), (Op::Write, "write")] {
        let all = latencies(run, op);
        assert!(all.count() > 100, "{name}: {}", all.count());
        let family = format!("sum(plimsoll_request_duration_seconds{{op=\"{name}\"}})");
        prometheus.wait_for(&format!("histogram_count({family})"), all.count() as f64);
        prometheus.wait_for(&format!("histogram_sum({family})"), all.sum_ns() as f64 / 1e9);
        for q in [0.1, 0.5, 0.9, 0.99] {
            let query = format!("histogram_quantile({q}, {family})");
            let told_ns = prometheus.value(&query).expect("a quantile") * 1e9;
            // Prometheus counts ranks from above and takes the one before or behind; a bucket of
            // its is 4.4 % wide, and half of ours 0.4 %.
            let rank = 2.0 / all.count() as f64;
            let own = |q: f64| all.quantile_ns(q).expect("not empty") as f64;
            let (low, high) = (own(q - rank) / 1.052, own((q + rank).min(1.0)) * 1.052);
            assert!(
                (low..=high).contains(&told_ns),
                "{query} is {told_ns} ns, and not {low} to {high}"
            );
        }
    }
}

#[test]
fn a_real_prometheus_reads_native_histograms() {
    let true = has("a real Prometheus", "prometheus") else { return };
    let here = &scratch();
    let (mut child, address, prometheus) = scraped_run(here, "--enable-feature=native-histograms");

    has_the_latencies_of(&prometheus, &here.join("run.plimsoll"));
    prometheus.understands_the_dashboard();
    lint(&address);
    end_with(&mut child, "INT", 0);
}

/// Sums over what a run issued.
fn issued(here: &Path, key: &str) -> f64 {
    let results = shown(here);
    let all = results["issued"].list();
    all.iter().filter_map(|entry| entry[key].as_f64()).sum()
}

#[test]
fn a_short_run_is_pushed_to_a_real_prometheus_with_its_own_times() {
    let true = has("a real Prometheus", "prometheus") else { return };
    let here = &scratch();
    let prometheus = Prometheus::receiving(here);
    let url = format!("http://{}/api/v1/write", prometheus.address);
    let options = ["--hosts", "local:2", "--push", &url, "--out", "run.plimsoll"];
    let ended = plimsoll(here, ("run smoke", &options)).with_code(0);
    assert!(!ended.err.contains("--push"), "every push arrived: {}", ended.err);

    prometheus.wait_for("sum(plimsoll_requests_total)", issued(here, "ios"));
    prometheus.wait_for("sum(plimsoll_bytes_total)", issued(here, "bytes"));
    prometheus.wait_for("plimsoll_run_over", 1.0);
    prometheus.wait_for("sum(plimsoll_pushes_lost_total)", 0.0);
    has_the_latencies_of(&prometheus, &here.join("run.plimsoll"));
    prometheus.understands_the_dashboard();

    // Each series begins with 0, so that `increase()` sees its first requests, and has times of the
    // run, in order.
    let record = recorded(here);
    let began_s = record.started_unix_ns as f64 / 1e9;
    let answer = prometheus.query("plimsoll_requests_total[1h]");
    let all = answer["data"]["result"].list();
    assert!(all.len() >= 4, "two hosts that write and read: {answer}");
    for series in all {
        let points = series["values"].list();
        let pairs: Vec<(f64, f64)> = points
            .iter()
            .map(|point| (point[0].as_f64(), point[1].as_str().and_then(|v| v.parse().ok())))
            .map(|(at, value)| (at.expect("a time"), value.expect("a number")))
            .collect();
        assert!(pairs.len() >= 2 && pairs[0].1 == 0.0 && pairs[1].1 > 0.0, "{series}");
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
        assert!(pairs[0].0 >= began_s - 0.002, "{began_s}: {series}");
    }
}

#[test]
fn two_coordinators_at_one_prometheus_are_never_summed() {
    let true = has("a real Prometheus", "prometheus") else { return };
    let here = &scratch();
    let prometheus = Prometheus::receiving(here);
    let url = format!("http://{}/api/v1/write", prometheus.address);
    let quick = "--rw randread --size 4M --runtime 1 --set interval=100ms";
    let of = |out: &str, data: &str| {
        let options = ["--push", &url, "--out", out, data];
        plimsoll(here, ("run", &quick, &options)).with_code(0);
        store::read(&here.join(out)).expect("a run file").plan.run_id
    };
    let runs = [of("a.plimsoll", "a"), of("b.plimsoll", "b")];
    assert_ne!(runs[0], runs[1]);
    let chosen = |run: &str| {
        format!("sum(plimsoll_requests_total{{job=\"plimsoll\",instance!=\"\",run=\"{run}\"}})")
    };
    for (run, file) in runs.iter().zip(["a.plimsoll", "b.plimsoll"]) {
        let results = plimsoll(here, ["show", file, "--json"]).with_code(0).json();
        let all = results["issued"].list();
        let ios = all.iter().filter_map(|entry| entry["ios"].as_f64()).sum();
        prometheus.wait_for(&chosen(run), ios);
    }
    // No series of one is a series of the other.
    prometheus.wait_for("count(count by (run) (plimsoll_hosts))", 2.0);
    prometheus
        .wait_for("count(plimsoll_run_over) - count(count by (run) (plimsoll_run_over))", 0.0);
}

/// A receiver that is busy at first, and tells what it is sent.
fn busy_at_first(sent: std::sync::mpsc::Sender<(String, Vec<u8>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let (mut head, mut length) = (String::new(), 0);
            while stream.read_line(&mut head).is_ok_and(|bytes| bytes > 2) {
                let last = head.lines().last().unwrap_or_default().to_ascii_lowercase();
                if let Some(value) = last.strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length");
                }
            }
            let mut body = vec![0; length];
            std::io::Read::read_exact(&mut stream, &mut body).expect("a body");
            let status = if number == 0 { "503 Service Unavailable" } else { "200 OK" };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.get_mut().write_all(answer.as_bytes());
            let _ = sent.send((head, body));
        }
    });
    address
}

#[test]
fn a_receiver_that_is_busy_is_told_again_and_loses_nothing() {
    let here = &scratch();
    let (sender, sent) = std::sync::mpsc::channel();
    let url = format!("http://{}/api/v1/write", busy_at_first(sender));
    let ended = plimsoll(here, ["run", "smoke", "--push", &url, "--out", "run.plimsoll"]);
    let ended = ended.with_code(0);
    assert!(ended.err.contains("503") && !ended.err.contains("pushes were lost"), "{}", ended.err);
    let all: Vec<(String, Vec<u8>)> = sent.try_iter().collect();
    assert!(all[0].0.starts_with("POST /api/v1/write HTTP/1.1\r\n"), "{}", all[0].0);
    assert!(all[0].0.to_ascii_lowercase().contains("content-encoding: snappy"), "{}", all[0].0);
    assert_eq!(all[0].1, all[1].1, "the same again");
    assert!(all.len() > 2 && all[2].1 != all[1].1, "and what came later");
}

#[test]
fn a_receiver_that_is_away_costs_pushes_that_are_counted_and_never_the_run() {
    let here = &scratch();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let url = format!("http://{}/api/v1/write", free.expect("a port"));
    let ended = plimsoll(here, ["run", "smoke", "--push", &url, "--out", "run.plimsoll"]);
    let ended = ended.with_code(0);
    assert!(ended.err.contains("the load goes on"), "{}", ended.err);
    let told = ended.err.lines().find(|line| line.contains("pushes were lost")).expect("a line");
    assert!(told.contains(&url) && told.ends_with("the receiver lacks the end"), "{told}");
}

/// One that is pushed to by TLS, with the certificate of `fixtures/tls`.
fn receiving_by_tls(folder: &Path) -> Prometheus {
    let of_tls = |name: &str| format!("{}/../../fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (cert, key) = (of_tls("cert.pem"), of_tls("key.pem"));
    let config = format!("tls_server_config:\n  cert_file: {cert}\n  key_file: {key}\n");
    let path = folder.join("web.yml");
    fs::write(&path, config).expect("a configuration");
    let web = format!("--web.config.file={}", text(&path));
    let more = ["--web.enable-remote-write-receiver", "--enable-feature=native-histograms", &web];
    Prometheus::start("global:\n  scrape_interval: 1h\n", folder, more)
}

#[test]
fn a_receiver_by_tls_is_pushed_to_if_it_is_trusted_and_never_otherwise() {
    let true = has("a real Prometheus by TLS", "prometheus openssl") else { return };
    let here = &scratch();
    let prometheus = receiving_by_tls(here);
    let port = prometheus.address.rsplit(':').next().expect("a port");
    let cert = format!("{}/../../fixtures/tls/cert.pem", env!("CARGO_MANIFEST_DIR"));
    let push = |host: &str, trusted: &str, out: &str| {
        let url = format!("https://{host}:{port}/api/v1/write");
        let mut run = command(here, ["run", "smoke", "--push", &url, "--out", out]);
        end(run
            .env("SSL_CERT_FILE", trusted)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a run"))
    };
    let trusted = push("localhost", &cert, "run.plimsoll").with_code(0);
    assert!(!trusted.err.contains("--push"), "every push arrived: {}", trusted.err);
    let query = "/api/v1/query?query=sum(plimsoll_requests_total)";
    let told = get_by_tls(&prometheus.address, Path::new(&cert), query, &[]);
    let requests = format!("\"{}\"]", issued(here, "ios"));
    assert!(told.body.contains(&requests), "{requests}: {}", told.body);

    // Another authority, and another name than the certificate has.
    let other = here.join("other.pem");
    let made = "req -x509 -newkey ed25519 -nodes -subj /CN=localhost -keyout /dev/null -out";
    run("openssl", (made, [text(&other)]));
    let strange = push("localhost", text(&other), "a.plimsoll").with_code(0);
    let words = "invalid peer certificate";
    assert!(strange.err.contains(words), "{}", strange.err);
    assert!(strange.err.contains("$SSL_CERT_FILE"), "it says what to do: {}", strange.err);
    let misnamed = push("127.0.0.2", &cert, "b.plimsoll").with_code(0);
    assert!(misnamed.err.contains("the receiver lacks the end"), "{}", misnamed.err);
    let none = push("localhost", "none.pem", "c.plimsoll").with_code(2);
    assert!(none.err.contains("$SSL_CERT_FILE none.pem: No such file"), "{}", none.err);
    assert!(!here.join("c.plimsoll").exists(), "nothing was begun");
}
