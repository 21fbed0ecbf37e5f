//! Hosts with addresses, names and ssh servers of their own on one machine: what tests and `cargo
//! xtask bench` have in common. Who brings them up decides what a failure is.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No claim: only that nobody waits for ever.
const LISTENS_WITHIN: Duration = Duration::from_secs(300);

/// How many hosts there are.
pub const HOSTS: u32 = 4;

/// A bridge, and behind it a network namespace for each host. It is of the range for benchmarks
/// (RFC 2544), which no machine is in, as one may be in 10.0.0.0/8.
#[derive(Clone, Copy, Debug)]
pub struct Network(u32);

impl Network {
    /// Makes a bridge whose name and network nobody else has: the kernel refuses a name that is
    /// taken, be it by a process beside this one or by one that was killed. None if all are taken,
    /// or this process may make none.
    pub fn claim() -> Option<Network> {
        let take = |network: &Network| {
            let bridge = network.bridge();
            let mut ip = Command::new("ip");
            let made =
                ip.args(["link", "add", &bridge, "type", "bridge"]).stderr(Stdio::null()).status();
            made.is_ok_and(|status| status.success())
        };
        (1..=250).map(Network).find(take)
    }

    fn bridge(self) -> String {
        format!("pl{}br", self.0)
    }

    /// The network namespace of a host.
    pub fn namespace(self, host: u32) -> String {
        format!("pl{}h{host}", self.0)
    }

    /// The bridge's end of a host's link.
    pub fn link(self, host: u32) -> String {
        format!("pl{}v{host}", self.0)
    }

    /// The address of a host, from 1 to [`HOSTS`].
    pub fn address(self, host: u32) -> String {
        format!("198.19.{}.{host}", self.0)
    }

    /// Brings the hosts up, with all that they need in `folder`, and waits until each listens. Past
    /// `startups` (`MaxStartups`), they refuse connections. What was begun is among `servers`, also
    /// where it fails.
    pub fn set_up(
        self,
        folder: &Path,
        startups: &str,
        servers: &mut Vec<Child>,
    ) -> Result<(), String> {
        let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        keys(folder).iter().try_for_each(|words| done("ssh-keygen", words))?;
        for made in [Path::new("/run/sshd"), &folder.join("bin")] {
            fs::create_dir_all(made).map_err(|error| at(made, error))?;
        }
        for (name, text) in files(folder, self, startups) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| at(&path, error))?;
        }
        done("chmod", &["755".to_owned(), folder.join("bin/ssh").display().to_string()])?;
        for words in self.commands() {
            done("ip", &words.split(' ').map(str::to_owned).collect::<Vec<_>>())?;
        }
        for host in 1..=HOSTS {
            let server = self.server(folder, host).spawn();
            servers.push(server.map_err(|error| format!("no ssh server: {error}"))?);
            let (address, start) = (format!("{}:22", self.address(host)), Instant::now());
            while TcpStream::connect(&address).is_err() {
                if start.elapsed() > LISTENS_WITHIN {
                    return Err(format!(
                        "host {host} does not listen; is openssh-server installed?"
                    ));
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(())
    }

    /// What `ip` has to do for hosts behind the bridge, in this order, as its arguments with spaces
    /// between. The bridge's alias says whose it is, for `cargo xtask test`, which takes away what
    /// killed processes left.
    fn commands(self) -> Vec<String> {
        let bridge = self.bridge();
        let mut all = vec![
            format!("link set {bridge} alias plimsoll-test-{}", std::process::id()),
            format!("addr add {}/24 dev {bridge}", self.address(254)),
            format!("link set {bridge} up"),
        ];
        for host in 1..=HOSTS {
            let (space, link) = (self.namespace(host), self.link(host));
            all.extend([
                format!("netns add {space}"),
                format!("link add {link} type veth peer name eth0 netns {space}"),
                format!("link set {link} master {bridge} up"),
                format!("-n {space} addr add {}/24 dev eth0", self.address(host)),
                format!("-n {space} link set eth0 up"),
                format!("-n {space} link set lo up"),
            ]);
        }
        all
    }

    /// The ssh server of a host, with [`files`] in `folder`.
    fn server(self, folder: &Path, host: u32) -> Command {
        let script = format!(
            "hostname h{host}; exec /usr/sbin/sshd -D -e -f {}/sshd_config -p 22",
            folder.display()
        );
        let (space, mut command) = (self.namespace(host), Command::new("ip"));
        command.args(["netns", "exec", &space, "unshare", "--uts", "sh", "-c", &script]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Ends the servers and everything else that runs on the hosts, and takes the hosts away, as
    /// far as it goes.
    pub fn take_away(self, servers: &mut [Child]) {
        for host in 1..=HOSTS {
            // Servers, sessions, agents.
            let pids = Command::new("ip").args(["netns", "pids", &self.namespace(host)]).output();
            let pids = pids.map(|out| out.stdout).unwrap_or_default();
            for pid in String::from_utf8_lossy(&pids).split_whitespace() {
                let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
            }
        }
        for server in servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        for host in 1..=HOSTS {
            // The kernel takes away what is in a namespace in its own time; the names are to be
            // free when the bridge's is.
            let _ = Command::new("ip").args(["link", "del", &self.link(host)]).status();
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(host)]).status();
        }
        let _ = Command::new("ip").args(["link", "del", &self.bridge()]).status();
    }
}

/// The keys to be made in `folder`, as arguments of `ssh-keygen`.
fn keys(folder: &Path) -> [Vec<String>; 2] {
    ["hostkey", "id"].map(|name| {
        let path = folder.join(name).display().to_string();
        ["-q", "-t", "ed25519", "-N", "", "-f", &path].map(str::to_owned).to_vec()
    })
}

/// What is to be written in `folder`, by name: the settings of both ends, and an `ssh` in `bin`,
/// which has to become executable, that knows the hosts as `n1` to `n4`, and as `alias1` to
/// `alias4`. Their home is `folder`: bash reads `~/.bashrc` for every command over ssh, and what
/// this machine's user has in it is no part of a test or a benchmark.
fn files(folder: &Path, network: Network, startups: &str) -> [(&'static str, String); 3] {
    let folder = folder.display();
    let server = format!(
        "HostKey {folder}/hostkey\nAuthorizedKeysFile {folder}/id.pub\nStrictModes no\nUsePAM \
         no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nMaxStartups \
         {startups}\nPidFile none\nSetEnv HOME={folder} XDG_CACHE_HOME={folder}/cache \
         PATH={folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    );
    // What a user has in ~/.ssh/config.
    let mut client = format!(
        "IdentityFile {folder}/id\nIdentitiesOnly yes\nUserKnownHostsFile \
         {folder}/known\nStrictHostKeyChecking accept-new\nUser root\n"
    );
    for host in 1..=HOSTS {
        client += &format!("Host n{host} alias{host}\n  HostName {}\n", network.address(host));
    }
    let wrapper = format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config \"$@\"\n");
    [("sshd_config", server), ("ssh_config", client), ("bin/ssh", wrapper)]
}

/// Runs a program that has to succeed.
fn done(program: &str, words: &[String]) -> Result<(), String> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| format!("{program} {words:?}: {told}"))
}

/// A search path on which `ssh` is the one of [`files`].
pub fn search_path(folder: &Path) -> String {
    format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default())
}
