//! Four hosts over ssh: how soon their load begins, and how far apart. Network namespaces of this
//! machine, each with an ssh server, an address and a host name of its own.

#[path = "../../../tests/common/ssh.rs"]
mod ssh;

use super::contender::Programs;
use super::target::{Folder, Target, scratch};
use crate::shell::{self, Outcome};
use ssh::{HOSTS, Network};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// From the start of `plimsoll run --hosts`, with the program in its cache on the hosts, to the
/// first read that a zram device sees that all of them load, in ms.
///
/// # Errors
/// Namespaces, servers or the device cannot be had here, or the run fails.
pub fn first_read_ms(programs: &Programs, _seconds: u32) -> Outcome<f64> {
    let cluster = Cluster::new()?;
    // A run before brings the program to the hosts.
    load(&cluster, programs, 1)?;
    let target = Target::zram()?;
    std::fs::remove_file(cluster.run_file())
        .map_err(|error| format!("the first run left no file: {error}"))?;
    let mut command = run(&cluster, programs, "--existing --size 1g --runtime 1");
    // A loop without a rest would take a processor from the hosts, which share this machine.
    target.first_read_ms(command.arg("--target").arg(&target.path), Duration::from_micros(200))
}

/// How much later than agreed the last worker of all hosts began, plus by how much its host's clock
/// may have been judged wrong: the bound of the start skew that the run file holds, in ms.
///
/// # Errors
/// As [`first_read_ms`], or `sqlite3` is not here.
pub fn skew_ms(programs: &Programs, seconds: u32) -> Outcome<f64> {
    let cluster = Cluster::new()?;
    load(&cluster, programs, seconds)?;
    let query = "SELECT max(late_ns + error_ns), count(DISTINCT host) FROM starts";
    let text = shell::capture(Command::new("sqlite3").arg(cluster.run_file()).arg(query))?;
    skew_of(&text)
}

/// The answer of `sqlite3`: ns, and of how many hosts.
fn skew_of(answer: &str) -> Outcome<f64> {
    let (ns, hosts) =
        answer.trim().split_once('|').ok_or_else(|| format!("sqlite3 said `{answer}`"))?;
    if hosts != HOSTS.to_string() {
        return Err(format!("{hosts} hosts began, not {HOSTS}"));
    }
    let ns: u64 = ns.parse().map_err(|_| format!("sqlite3 said `{answer}`"))?;
    Ok(ns as f64 / 1e6)
}

/// A short load on all hosts, to its end.
fn load(cluster: &Cluster, programs: &Programs, seconds: u32) -> Outcome<()> {
    let words = format!("--size 4m --runtime {seconds}");
    // Where there is none yet, there is nothing to remove.
    let _ = std::fs::remove_file(cluster.run_file());
    shell::capture(
        run(cluster, programs, &words).arg("--target").arg(cluster.folder.0.join("data")),
    )
    .map(|_| ())
}

fn run(cluster: &Cluster, programs: &Programs, words: &str) -> Command {
    let mut command = Command::new(&programs.plimsoll);
    let load = "run --rw randread --bs 4k --iodepth 4 --numjobs 1 --quiet --hosts n[1-4] --json";
    command.args(load.split(' ')).args(words.split_whitespace());
    command
        .arg("--out")
        .arg(cluster.run_file())
        .env("PATH", ssh::search_path(&cluster.folder.0))
        .stdin(Stdio::null());
    command
}

struct Cluster {
    folder: Folder,
    network: Network,
    servers: Vec<Child>,
}

impl Cluster {
    fn new() -> Outcome<Cluster> {
        if !shell::is_root() {
            return Err("network namespaces take root".to_owned());
        }
        for program in ["ip", "ssh", "ssh-keygen", "unshare", "sqlite3"] {
            shell::which(program).ok_or_else(|| format!("`{program}` is not on the PATH"))?;
        }
        let network = Network::claim()
            .ok_or("no network is free; `ip link` shows those of killed programs")?;
        let mut cluster = Cluster { folder: Folder(scratch()?), network, servers: Vec::new() };
        network.set_up(&cluster.folder.0, "100:30:200", &mut cluster.servers)?;
        Ok(cluster)
    }

    fn run_file(&self) -> std::path::PathBuf {
        self.folder.0.join("run.plimsoll")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.network.take_away(&mut self.servers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skew_is_of_all_hosts_or_of_none() {
        assert_eq!(skew_of("1500000|4\n"), Ok(1.5));
        assert!(skew_of("1500000|3\n").unwrap_err().contains("3 hosts"));
        assert!(skew_of("|4").is_err() && skew_of("").is_err());
    }
}
