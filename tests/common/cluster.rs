//! Clusters of the tests' own on one machine: four ssh servers in network namespaces, and four
//! nodes of Slurm.
// Each program of tests takes what it needs of it.
#![allow(dead_code)]

#[path = "ssh.rs"]
mod ssh;

use crate::common::{Folder, Words, run, scratch, text, wait_until};
use ssh::Network;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// Four hosts with addresses, host names and ssh servers of their own, which see the same files.
pub struct SshCluster {
    folder: Folder,
    network: Network,
    servers: Vec<Child>,
    /// Last, so that it ends after the servers do.
    _alone: fs::File,
}

impl SshCluster {
    /// Four hosts behind a bridge.
    pub fn new() -> SshCluster {
        SshCluster::with_startups("100:30:200")
    }

    /// The same, whose servers refuse connections past these (`MaxStartups`).
    pub fn with_startups(startups: &str) -> SshCluster {
        let alone = crate::common::alone();
        let network =
            Network::claim().expect("a free network; see `ip link` for those of killed tests");
        let mut cluster =
            SshCluster { folder: scratch(), network, servers: Vec::new(), _alone: alone };
        let SshCluster { folder, servers, .. } = &mut cluster;
        network.set_up(folder, startups, servers).unwrap_or_else(|why| panic!("{why}"));
        cluster
    }

    /// A search path on which `ssh` knows these hosts as `n1` to `n4`, and as `alias1` to `alias4`.
    pub fn search_path(&self) -> String {
        ssh::search_path(&self.folder)
    }

    /// Where its hosts keep copies of the program.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache/plimsoll")
    }

    /// The bridge's end of a host's link.
    pub fn link(&self, host: u32) -> String {
        self.network.link(host)
    }

    /// The network namespace of a host.
    pub fn namespace(&self, host: u32) -> String {
        self.network.namespace(host)
    }

    /// Takes a host off the network; its processes hear nothing of it.
    pub fn cut(&self, host: u32) {
        run("ip", ["link", "set", &self.network.link(host), "down"]);
    }

    /// Brings it back.
    pub fn mend(&self, host: u32) {
        run("ip", ["link", "set", &self.network.link(host), "up"]);
    }
}

impl Drop for SshCluster {
    fn drop(&mut self) {
        self.network.take_away(&mut self.servers);
    }
}

/// The first of so many ports in a row on which nobody listens, and which no other test of this
/// program was given: who asks binds them only later. Below 32768, where the kernel takes those of
/// outgoing connections from.
fn free_ports(count: u16) -> u16 {
    static GIVEN: Mutex<Vec<u16>> = Mutex::new(Vec::new());
    let mut given = GIVEN.lock().expect("no panic");
    let first = 20_000 + (std::process::id() % 1_000) as u16 * 8;
    let is_free = |port: u16| std::net::TcpListener::bind(("0.0.0.0", port)).is_ok();
    let mut bases = (first..32_000).step_by(8).chain((20_000..first).step_by(8));
    let base = bases
        .find(|base| !given.contains(base) && (*base..base + count).all(is_free))
        .expect("free ports");
    given.push(base);
    base
}

/// A Slurm controller and four nodes.
pub struct SlurmCluster {
    folder: Folder,
    children: Vec<Child>,
}

impl SlurmCluster {
    /// Four nodes, ready for jobs.
    pub fn new() -> SlurmCluster {
        let folder = scratch();
        let base = free_ports(5);
        fs::write(folder.join("slurm.conf"), configuration(&folder, base)).expect("a file");
        fs::create_dir(folder.join("state")).expect("a folder");
        let mut cluster = SlurmCluster { folder, children: Vec::new() };
        cluster.munge();
        cluster.start("slurmctld", "-D -c");
        for node in 1..=4 {
            cluster.start("slurmd", ["-D", "-N", &format!("n{node}")]);
        }
        wait_until("four idle nodes of Slurm", || {
            let out = cluster.command("sinfo").args(["-h", "-t", "idle", "-o", "%D"]).output();
            out.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).trim() == "4")
        });
        cluster
    }

    fn munge(&mut self) {
        // One test after the other: the second finds the first one's key and daemon.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().expect("no panic");
        let key = Path::new("/etc/munge/munge.key");
        if fs::metadata(key).map_or(0, |meta| meta.len()) == 0 {
            run("dd", "if=/dev/urandom of=/etc/munge/munge.key bs=1 count=1024 status=none");
        }
        run("chown", ["munge:", text(key)]);
        run("chmod", ["400", text(key)]);
        run("install", "-d -o munge -g munge -m755 /run/munge");
        run("install", "-d -o munge -g munge -m700 /var/log/munge /var/lib/munge");
        // Another test's may run already: any will do.
        let _ = Command::new("setpriv")
            .args(["--reuid=munge", "--regid=munge", "--clear-groups", "munged"])
            .output();
    }

    fn start(&mut self, program: &str, arguments: impl Words) {
        let child = self
            .command(program)
            .args(arguments.words())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.children.push(child.expect("Slurm's own programs"));
    }

    /// The environment variable that leads Slurm's programs to this cluster.
    pub fn configuration(&self) -> PathBuf {
        self.folder.join("slurm.conf")
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
        "ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={base}\n\
         AuthType=auth/munge\nCredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool.%n\n\
         SlurmctldPidFile={folder}/ctld.pid\nSlurmdPidFile={folder}/%n.pid\n\
         SlurmctldLogFile={folder}/ctld.log\nSlurmdLogFile={folder}/%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
         MpiDefault=none\nSwitchType=switch/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nReturnToService=2\nSlurmdParameters=config_overrides\n\
         NodeName=n[1-4] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{}-{}] CPUs=4 \
         State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        base + 1,
        base + 4
    )
}
