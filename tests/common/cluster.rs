//! Clusters of the tests' own on one machine: four ssh servers in network namespaces, and four nodes of Slurm.
// Each program of tests takes what it needs of it.
#![allow(dead_code)]

use crate::common::{run, scratch, text, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Four hosts with addresses, host names and ssh servers of their own, which see the same files.
pub struct SshCluster {
    folder: TempDir,
    tag: String,
    net: u32,
    servers: Vec<Child>,
}

impl SshCluster {
    /// Four hosts behind a bridge.
    pub fn new() -> SshCluster {
        let (tag, net) = claim_network();
        let mut cluster = SshCluster { folder: scratch(), tag, net, servers: Vec::new() };
        cluster.keys();
        cluster.network();
        (1..=4).for_each(|host| cluster.serve(host));
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn namespace(&self, host: u32) -> String {
        format!("{}h{host}", self.tag)
    }

    /// The bridge's end of a host's link.
    fn link(&self, host: u32) -> String {
        format!("{}v{host}", self.tag)
    }

    fn keys(&self) {
        for name in ["hostkey", "id"] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", text(&self.path(name))]);
        }
        fs::copy(self.path("id.pub"), self.path("authorized_keys")).expect("a key");
        fs::create_dir_all("/run/sshd").expect("root");
        let server = format!(
            "HostKey {0}/hostkey\nAuthorizedKeysFile {0}/authorized_keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             PermitRootLogin prohibit-password\nMaxStartups 100:30:200\nPidFile none\nSetEnv XDG_CACHE_HOME={0}/cache PATH={0}/bin:/usr/sbin:/usr/bin:/sbin:/bin\n",
            self.folder.path().display()
        );
        fs::write(self.path("sshd_config"), server).expect("a file");
        // What a user has in ~/.ssh/config.
        let mut client = format!(
            "IdentityFile {0}/id\nIdentitiesOnly yes\nUserKnownHostsFile {0}/known\nStrictHostKeyChecking accept-new\nUser root\n",
            self.folder.path().display()
        );
        for host in 1..=4 {
            client += &format!("Host n{host} alias{host}\n  HostName 198.19.{}.{host}\n", self.net);
        }
        client += "Host nokey\n  IdentityFile /dev/null\n  HostName 10.255.255.1\n";
        fs::write(self.path("ssh_config"), client).expect("a file");
        fs::create_dir(self.path("bin")).expect("a folder");
        let wrapper = format!("#!/bin/sh\nexec /usr/bin/ssh -F {}/ssh_config \"$@\"\n", self.folder.path().display());
        fs::write(self.path("bin/ssh"), wrapper).expect("a file");
        run("chmod", &["755", text(&self.path("bin/ssh"))]);
    }

    fn network(&self) {
        let bridge = format!("{}br", self.tag);
        run("ip", &["addr", "add", &format!("198.19.{}.254/24", self.net), "dev", &bridge]);
        run("ip", &["link", "set", &bridge, "up"]);
        for host in 1..=4 {
            let (space, link) = (self.namespace(host), self.link(host));
            run("ip", &["netns", "add", &space]);
            run("ip", &["link", "add", &link, "type", "veth", "peer", "name", "eth0", "netns", &space]);
            run("ip", &["link", "set", &link, "master", &bridge, "up"]);
            run("ip", &["-n", &space, "addr", "add", &format!("198.19.{}.{host}/24", self.net), "dev", "eth0"]);
            run("ip", &["-n", &space, "link", "set", "eth0", "up"]);
            run("ip", &["-n", &space, "link", "set", "lo", "up"]);
        }
    }

    fn serve(&mut self, host: u32) {
        let config = self.path("sshd_config");
        let script = format!("hostname h{host}; exec /usr/sbin/sshd -D -e -f {} -p 22", text(&config));
        let server = Command::new("ip")
            .args(["netns", "exec", &self.namespace(host), "unshare", "--uts", "sh", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.servers.push(server.expect("a server"));
        let address = format!("198.19.{}.{host}:22", self.net);
        wait_until("an ssh server", || std::net::TcpStream::connect(&address).is_ok());
    }

    /// A search path on which `ssh` knows these hosts as `n1` to `n4`, and as `alias1` to `alias4`.
    pub fn search_path(&self) -> String {
        format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap_or_default())
    }

    /// Where its hosts keep copies of the program.
    pub fn cache(&self) -> PathBuf {
        self.path("cache/plimsoll")
    }

    /// Takes a host off the network; its processes hear nothing of it.
    pub fn cut(&self, host: u32) {
        run("ip", &["link", "set", &self.link(host), "down"]);
    }

    /// Brings it back.
    pub fn mend(&self, host: u32) {
        run("ip", &["link", "set", &self.link(host), "up"]);
    }
}

impl Drop for SshCluster {
    fn drop(&mut self) {
        for host in 1..=4 {
            let space = self.namespace(host);
            // Everything that still runs there: servers, sessions, agents.
            let pids =
                Command::new("ip").args(["netns", "pids", &space]).output().map(|out| out.stdout).unwrap_or_default();
            for pid in String::from_utf8_lossy(&pids).split_whitespace() {
                let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
            }
        }
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        for host in 1..=4 {
            // The kernel takes away what is in a namespace in its own time; the names are to be free when the bridge's is.
            let _ = Command::new("ip").args(["link", "del", &self.link(host)]).status();
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(host)]).status();
        }
        let _ = Command::new("ip").args(["link", "del", &format!("{}br", self.tag)]).status();
    }
}

/// Makes a bridge whose name and network nobody else has: the kernel refuses a name that is taken, be it by a test beside this one or by one that was
/// killed. The network is of the range for benchmarks (RFC 2544), which no machine is in, as one may be in 10.0.0.0/8. Its alias says whose it is,
/// for `cargo xtask test`.
fn claim_network() -> (String, u32) {
    let take = |net: &u32| {
        let bridge = format!("pl{net}br");
        let made = Command::new("ip").args(["link", "add", &bridge, "type", "bridge"]).stderr(Stdio::null()).status();
        made.is_ok_and(|status| status.success())
    };
    let net = (1..=250).find(take).expect("a free network; see `ip link` for those of killed tests");
    run("ip", &["link", "set", &format!("pl{net}br"), "alias", &format!("plimsoll-test-{}", std::process::id())]);
    (format!("pl{net}"), net)
}

/// The first of so many ports in a row on which nobody listens. Below 32768, where the kernel takes those of outgoing connections from.
fn free_ports(count: u16) -> u16 {
    let first = 20_000 + (std::process::id() % 1_000) as u16 * 8;
    let is_free = |port: u16| std::net::TcpListener::bind(("0.0.0.0", port)).is_ok();
    let mut bases = (first..32_000).step_by(8).chain((20_000..first).step_by(8));
    bases.find(|base| (*base..base + count).all(is_free)).expect("free ports")
}

/// A Slurm controller and four nodes.
pub struct SlurmCluster {
    folder: TempDir,
    children: Vec<Child>,
}

impl SlurmCluster {
    /// Four nodes, ready for jobs.
    pub fn new() -> SlurmCluster {
        let folder = scratch();
        let base = free_ports(5);
        fs::write(folder.path().join("slurm.conf"), configuration(folder.path(), base)).expect("a file");
        fs::create_dir(folder.path().join("state")).expect("a folder");
        let mut cluster = SlurmCluster { folder, children: Vec::new() };
        cluster.munge();
        cluster.start("slurmctld", &["-D", "-c"]);
        for node in 1..=4 {
            cluster.start("slurmd", &["-D", "-N", &format!("n{node}")]);
        }
        wait_until("four idle nodes of Slurm", || {
            let out = cluster.command("sinfo").args(["-h", "-t", "idle", "-o", "%D"]).output();
            out.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).trim() == "4")
        });
        cluster
    }

    fn munge(&mut self) {
        let key = Path::new("/etc/munge/munge.key");
        if fs::metadata(key).map_or(0, |meta| meta.len()) == 0 {
            run("dd", &["if=/dev/urandom", "of=/etc/munge/munge.key", "bs=1", "count=1024", "status=none"]);
        }
        run("chown", &["munge:", text(key)]);
        run("chmod", &["400", text(key)]);
        run("install", &["-d", "-o", "munge", "-g", "munge", "-m755", "/run/munge"]);
        run("install", &["-d", "-o", "munge", "-g", "munge", "-m700", "/var/log/munge", "/var/lib/munge"]);
        // Another test's may run already: any will do.
        let _ = Command::new("setpriv").args(["--reuid=munge", "--regid=munge", "--clear-groups", "munged"]).output();
    }

    fn start(&mut self, program: &str, arguments: &[&str]) {
        let child = self.command(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.children.push(child.expect("Slurm's own programs"));
    }

    /// The environment variable that leads Slurm's programs to this cluster.
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// One of Slurm's programs.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.configuration()).stdin(Stdio::null());
        command
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        let _ = self.command("scancel").args(["--user", "root"]).output();
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn configuration(folder: &Path, base: u16) -> String {
    let folder = folder.display();
    format!(
        "ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={base}\nAuthType=auth/munge\nCredType=cred/munge\n\
         SlurmUser=root\nSlurmdUser=root\nStateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool.%n\n\
         SlurmctldPidFile={folder}/ctld.pid\nSlurmdPidFile={folder}/%n.pid\nSlurmctldLogFile={folder}/ctld.log\nSlurmdLogFile={folder}/%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\nMpiDefault=none\nSwitchType=switch/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nReturnToService=2\nSlurmdParameters=config_overrides\n\
         NodeName=n[1-4] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{}-{}] CPUs=4 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        base + 1,
        base + 4
    )
}
