//! `plimsoll network`: TCP between hosts whose links have a rate that the test sets, and the
//! kernel's own counters as a witness.

use crate::common::cluster::SshCluster;
use crate::common::{Json, PLIMSOLL, Words, command, has, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What each link carries each way, as `tc` limits it.
const MBIT: f64 = 40.0;

/// Runs the program with the cluster's ssh; its exit code, standard output and standard error.
fn on(cluster: &SshCluster, folder: &Path, args: impl Words) -> (i32, String, String) {
    // Hosts see the same files: nothing is copied over links that are slow.
    let mut program: Command = command(folder, (args, ["--agent", PLIMSOLL]));
    let ended = program.env("PATH", cluster.search_path()).output().expect("a program");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (ended.status.code().expect("no signal"), text(ended.stdout), text(ended.stderr))
}

/// Bytes that the bridge's end of a host's link received and sent.
fn counted(link: &str) -> [u64; 2] {
    ["rx_bytes", "tx_bytes"].map(|name| {
        let path = format!("/sys/class/net/{link}/statistics/{name}");
        std::fs::read_to_string(path).expect("a link").trim().parse().expect("a number")
    })
}

/// Limits what a host receives, and what it sends.
fn limit(cluster: &SshCluster, host: u32, mbit: f64) {
    let rate = format!("{mbit}mbit");
    let tbf = ["root", "tbf", "rate", &rate, "burst", "64k", "latency", "50ms"];
    run("tc", (["qdisc", "add", "dev", &cluster.link(host)], &tbf));
    let inside = ["netns", "exec", &cluster.namespace(host), "tc", "qdisc", "add", "dev", "eth0"];
    run("ip", (&inside, &tbf));
}

#[test]
fn what_tcp_carries_between_hosts_is_what_their_links_allow_and_the_kernel_saw() {
    let true = has("a network baseline", "sshd ip net") else { return };
    let (cluster, folder) = (SshCluster::new(), scratch());
    for host in [1, 2, 3] {
        limit(&cluster, host, MBIT);
    }
    let before = [1, 2, 3].map(|host| counted(&cluster.link(host)));
    let args = "network --hosts n[1-3] --time 3s --json --out net.json";
    let (code, out, said) = on(&cluster, &folder, args);
    assert_eq!(code, 0, "{out}{said}");
    let after = [1, 2, 3].map(|host| counted(&cluster.link(host)));
    let found: Value = serde_json::from_str(&out).expect("an object");
    assert_eq!(found["pairs"].list().len(), 3, "{found:#}");
    // Headers take 4 to 5 % of a packet of 1500 bytes; a packet of 64 KiB has one head for all. On
    // a busy machine a receiver is late; what waited for it counts in a later part of the window.
    let near = |bits: &Value, mbit: f64| {
        let bits = bits.number() / 1e6;
        assert!((0.8 * mbit..=1.1 * mbit).contains(&bits), "{bits} of {mbit}: {found:#}");
    };
    for pair in found["pairs"].list() {
        near(&pair["forward_bits_per_s"], MBIT);
        near(&pair["backward_bits_per_s"], MBIT);
        assert_eq!(pair["slow"], false);
    }
    for host in found["hosts"].list() {
        near(&host["sent_bits_per_s"], MBIT);
        near(&host["received_bits_per_s"], MBIT);
    }
    // The bridge's ends count all that came and went, in the settling and behind the window too.
    for (place, (before, after)) in before.iter().zip(after).enumerate() {
        let flows = found["baseline"]["flows"].list();
        let of = |own: &str, other: &str, key: &str| -> u64 {
            let is_own = |flow: &&Value| flow[own] == place;
            let end = if key == "received_bytes" { own } else { other };
            let side = if end == "first" { "at_first" } else { "at_second" };
            flows.iter().filter(is_own).map(|flow| flow[side][key].as_u64().unwrap_or(0)).sum()
        };
        let in_window =
            of("first", "second", "received_bytes") + of("second", "first", "received_bytes");
        let all_sent = of("first", "second", "sent_bytes") + of("second", "first", "sent_bytes");
        let went_in = after[1] - before[1];
        assert!(went_in >= in_window, "{went_in} < {in_window} of host {place}");
        // Nothing came that nobody sent, but for headers, acknowledgements and ssh.
        assert!(went_in < all_sent + all_sent / 8 + 10_000_000, "{went_in} of {all_sent}");
    }
    fed_to_a_ceiling(&folder, &found);
    refused_as_it_is_wrong(&cluster, &folder);
}

/// The file feeds the ceiling of a testbed whose ports would carry more.
fn fed_to_a_ceiling(folder: &Path, found: &Value) {
    let testbed = "name = \"t\"\n[[nodes]]\ncount = 3\nports = 1\nport_speed = \
                   \"1Gbit/s\"\n[clients]\ncount = 9\nports = 1\nport_speed = \"100Gbit/s\"\n";
    std::fs::write(folder.join("t.toml"), testbed).expect("a file");
    let ceiling = |more: &str| -> Value {
        let args = ("ceiling t.toml --rw read --bs 1m --json", more);
        crate::common::plimsoll(folder, args).with_code(0).json()
    };
    let ports = |object: &Value| object["ceilings"][0]["limits"][0]["bytes_per_s"].as_f64();
    assert_eq!(ports(&ceiling("")), Some(375e6));
    let fed = ceiling("--network net.json");
    let one_way: f64 = found["testbed"]["port_one_way"]
        .as_str()
        .and_then(|text| text.strip_suffix("Gbit/s"))
        .expect("a bandwidth")
        .parse()
        .expect("a number");
    let bytes = ports(&fed).expect("a limit");
    assert!((bytes / (3.0 * one_way * 1e9 / 8.0) - 1.0).abs() < 0.001, "{bytes}: {fed:#}");
    assert!(fed["remarks"].to_string().contains("as measured (plimsoll network"), "{fed:#}");
    let wrong = crate::common::plimsoll(folder, "ceiling t.toml --network t.toml");
    assert!(wrong.with_code(2).err.contains("it is no JSON"));
}

/// What cannot be measured is said before anything is sent, or within its time.
fn refused_as_it_is_wrong(cluster: &SshCluster, folder: &Path) {
    let refused = |args: &str, code: i32, words: &str| {
        let args = ("network --time 100ms", args);
        let (ended, out, said) = on(cluster, folder, args);
        assert!(ended == code && format!("{out}{said}").contains(words), "{ended}: {out}{said}");
    };
    refused("", 2, "name two or more");
    refused("--hosts n1,alias1", 3, "one machine under two names");
    refused("--hosts local:2", 2, "both have the address");
    refused("--hosts n[1-2] --subnet 192.0.2.0/24", 2, "no address in that range");
    refused("--hosts n[1-2] --out net.json", 2, "it is there already");
    refused("--hosts n[1-2] --most 0", 2, "--most 0 sends nothing");
    refused("--hosts n[1-2] --port 22", 4, "cannot listen");
    let true = has("ports behind a firewall", "iptables") else { return };
    // A port that a firewall rejects, and one that it drops.
    let space = cluster.namespace(2);
    let rule = |action: &str, then: &str| {
        let words = ["netns", "exec", &space, "iptables", action, "INPUT", "-p", "tcp"];
        run("ip", (&words, ["--dport", "5299", "-j", then]));
    };
    for (then, words) in [("REJECT", "refused: a firewall"), ("DROP", "no answer in time")] {
        rule("-A", then);
        refused("--hosts n[1-2] --port 5299", 4, words);
        rule("-D", then);
    }
}
