//! Four hosts over ssh: how soon their load begins, and how far apart. Network namespaces of this machine, each with an ssh server, an
//! address and a host name of its own.

use super::contender::Programs;
use super::extras::Folder;
use super::target::{Target, scratch};
use crate::shell::{self, Outcome};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const HOSTS: u32 = 4;
/// Clusters that this process has made.
static MADE: AtomicU32 = AtomicU32::new(0);
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// From the start of `plimsoll run --hosts`, with the program in its cache on the hosts, to the first read that a zram device sees that all
/// of them load, in ms.
///
/// # Errors
/// Namespaces, servers or the device cannot be had here, or the run fails.
pub fn first_read_ms(programs: &Programs, _seconds: u32) -> Outcome<f64> {
    let cluster = Cluster::new()?;
    // A run before brings the program to the hosts.
    load(&cluster, programs, 1)?;
    let target = Target::zram()?;
    std::fs::remove_file(cluster.run_file()).map_err(|error| format!("the first run left no file: {error}"))?;
    let before = target.reads_seen().ok_or("the device counts no reads")?;
    let mut command = run(&cluster, programs, "--existing --size 1g --runtime 1");
    command.arg("--target").arg(&target.path).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("plimsoll cannot be started: {error}"))?;
    let mut first = None;
    while first.is_none() && start.elapsed() < PATIENCE {
        first = target.reads_seen().filter(|reads| *reads > before).map(|_| start.elapsed());
        // A loop without a rest would take a processor from the hosts, which share this machine.
        std::thread::sleep(Duration::from_micros(200));
    }
    let status = child.wait().map_err(|error| format!("plimsoll is lost: {error}"))?;
    match first {
        Some(time) if status.success() => Ok(time.as_secs_f64() * 1e3),
        _ => Err(format!("plimsoll ended with {status}, its first read was seen: {}", first.is_some())),
    }
}

/// How much later than agreed the last worker of all hosts began, plus by how much its host's clock may have been judged wrong: the bound of
/// the start skew that the run file holds, in ms.
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
    let (ns, hosts) = answer.trim().split_once('|').ok_or_else(|| format!("sqlite3 said `{answer}`"))?;
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
    shell::capture(run(cluster, programs, &words).arg("--target").arg(cluster.folder.0.join("data"))).map(|_| ())
}

fn run(cluster: &Cluster, programs: &Programs, words: &str) -> Command {
    let mut command = Command::new(&programs.plimsoll);
    command.args(["run", "--rw", "randread", "--bs", "4k", "--iodepth", "4", "--numjobs", "1", "--quiet"]);
    command.args(["--hosts", "n[1-4]", "--json"]).args(words.split_whitespace());
    command.arg("--out").arg(cluster.run_file()).env("PATH", cluster.search_path()).stdin(Stdio::null());
    command
}

/// The hosts; all of it goes when it is dropped.
struct Cluster {
    folder: Folder,
    tag: String,
    net: u32,
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
        let id = std::process::id();
        // Names of interfaces have 15 characters at most.
        // The kernel takes its time to give a namespace's links up, so that no two clusters may share their names.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let tag = format!("b{}c{number}", id % 10_000);
        let mut cluster =
            Cluster { folder: Folder(scratch()?), tag, net: 1 + (id * 11 + number) % 250, servers: Vec::new() };
        cluster.write_settings()?;
        cluster.network()?;
        (1..=HOSTS).try_for_each(|host| cluster.serve(host))?;
        Ok(cluster)
    }

    fn run_file(&self) -> std::path::PathBuf {
        self.folder.0.join("run.plimsoll")
    }

    /// Keys, the settings of both ends, and an `ssh` that uses them.
    fn write_settings(&self) -> Outcome<()> {
        let folder = self.folder.0.display().to_string();
        for name in ["hostkey", "id"] {
            tool("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &format!("{folder}/{name}")])?;
        }
        let server = format!(
            "HostKey {folder}/hostkey\nAuthorizedKeysFile {folder}/id.pub\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             PermitRootLogin prohibit-password\nMaxStartups 100:30:200\nPidFile none\nSetEnv XDG_CACHE_HOME={folder}/cache\n"
        );
        let mut client = format!(
            "IdentityFile {folder}/id\nIdentitiesOnly yes\nUserKnownHostsFile {folder}/known\nStrictHostKeyChecking accept-new\nUser root\n"
        );
        for host in 1..=HOSTS {
            client += &format!("Host n{host}\n  HostName 10.{}.0.{host}\n", self.net);
        }
        let wrapper = format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config \"$@\"\n");
        let bin = self.folder.0.join("bin");
        let made = std::fs::create_dir(&bin).and_then(|()| std::fs::create_dir_all("/run/sshd"));
        made.map_err(|error| format!("a folder cannot be made: {error}"))?;
        for (name, text) in [("sshd_config", &server), ("ssh_config", &client), ("bin/ssh", &wrapper)] {
            std::fs::write(self.folder.0.join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        tool("chmod", &["755", &format!("{folder}/bin/ssh")])
    }

    fn network(&self) -> Outcome<()> {
        let (bridge, net) = (format!("{}br", self.tag), self.net);
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add 10.{net}.0.254/24 dev {bridge}"))?;
        ip(&format!("link set {bridge} up"))?;
        for host in 1..=HOSTS {
            let (space, link) = (self.namespace(host), format!("{}v{host}", self.tag));
            ip(&format!("netns add {space}"))?;
            ip(&format!("link add {link} type veth peer name eth0 netns {space}"))?;
            ip(&format!("link set {link} master {bridge} up"))?;
            ip(&format!("-n {space} addr add 10.{net}.0.{host}/24 dev eth0"))?;
            ip(&format!("-n {space} link set eth0 up"))?;
            ip(&format!("-n {space} link set lo up"))?;
        }
        Ok(())
    }

    fn serve(&mut self, host: u32) -> Outcome<()> {
        let config = self.folder.0.join("sshd_config");
        let script = format!("hostname b{host}; exec /usr/sbin/sshd -D -e -f {}", config.display());
        let server = Command::new("ip")
            .args(["netns", "exec", &self.namespace(host), "unshare", "--uts", "sh", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.servers.push(server.map_err(|error| format!("an ssh server cannot be started: {error}"))?);
        let (address, start) = (format!("10.{}.0.{host}:22", self.net), Instant::now());
        while TcpStream::connect(&address).is_err() {
            if start.elapsed() > PATIENCE {
                return Err(format!("the ssh server of host {host} does not listen; is openssh-server installed?"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn namespace(&self, host: u32) -> String {
        format!("{}h{host}", self.tag)
    }

    fn search_path(&self) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        format!("{}:{path}", Path::new(&self.folder.0).join("bin").display())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for host in 1..=HOSTS {
            // Everything that still runs there: servers, sessions, agents.
            let pids = Command::new("ip").args(["netns", "pids", &self.namespace(host)]).output();
            let pids = pids.map(|out| out.stdout).unwrap_or_default();
            for pid in String::from_utf8_lossy(&pids).split_whitespace() {
                let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
            }
        }
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        for host in 1..=HOSTS {
            let _ = ip(&format!("netns del {}", self.namespace(host)));
        }
        let _ = ip(&format!("link del {}br", self.tag));
    }
}

fn ip(words: &str) -> Outcome<()> {
    tool("ip", &words.split_whitespace().collect::<Vec<_>>())
}

fn tool(program: &str, arguments: &[&str]) -> Outcome<()> {
    shell::capture(Command::new(program).args(arguments)).map(|_| ())
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
