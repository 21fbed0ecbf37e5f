//! The calls of a node's own programs (`pvesh`, `qm`, `pvesm`), over ssh as root.

use crate::Problem;
use crate::remote::{Feed, Runs, Takes, array, number, own_line, quoted, read, ssh_host, text};
use model::Bytes;
use serde_json::Value;

/// What to write where a node is missing.
const EXAMPLE: &str = "ssh://root@pve1";

/// A node behind ssh.
pub(super) struct Node {
    pub(super) program: Box<dyn Runs>,
    /// As `vms.connect` names it.
    pub(super) connect: String,
}

/// A machine of the cluster, as its list has it.
pub(super) struct Listed {
    pub(super) vmid: u64,
    pub(super) name: String,
    pub(super) node: String,
    pub(super) tags: Vec<String>,
}

/// A place for disks.
pub(super) struct Storage {
    pub(super) name: String,
    pub(super) free: Bytes,
}

impl Node {
    pub(super) fn host(&self) -> Result<&str, Problem> {
        ssh_host(&self.connect, EXAMPLE)
    }

    pub(super) fn run(
        &self,
        words: &[&str],
        takes: Takes,
        feed: Feed<'_>,
    ) -> Result<String, Problem> {
        let (host, line) = (self.host()?, quoted(words));
        let ssh = ["-T", "-oBatchMode=yes", "-oConnectTimeout=15", "-oServerAliveInterval=5"];
        let ssh = [&ssh[..], &["--", host, &line]].concat();
        self.program.run(&ssh, takes, feed)
    }

    pub(super) fn ask(&self, words: &[&str]) -> Result<String, Problem> {
        self.run(words, Takes::Short, &mut |_| Ok(()))
    }

    fn get(&self, path: &str, more: &[&str]) -> Result<Value, Problem> {
        let words = [&["pvesh", "get", path], more, &["--output-format", "json"]].concat();
        read(&format!("pvesh get {path}"), &self.ask(&words)?)
    }

    /// The node's name, and that of its cluster.
    pub(super) fn names(&self) -> Result<Names, Problem> {
        let call = "pvesh get /cluster/status";
        let told = self.get("/cluster/status", &[])?;
        let all = array(call, &told, "")?;
        let of_type = |kind| all.iter().filter(move |one| text(one, "type") == Some(kind));
        let is_local = |one: &&Value| one.get("local").and_then(Value::as_u64) == Some(1);
        let node = of_type("node").find(is_local).and_then(|one| text(one, "name"));
        let node = node.filter(|name| is_plain(name)).ok_or_else(|| strange(call, "local node"))?;
        let cluster = of_type("cluster").find_map(|one| text(one, "name"));
        Ok(Names { node: node.to_owned(), cluster: cluster.map(own_line) })
    }

    pub(super) fn memory_available(&self, node: &str) -> Result<Bytes, Problem> {
        let path = format!("/nodes/{node}/status");
        let told = self.get(&path, &[])?;
        let (total, used) =
            (number(&path, &told, "memory.total")?, number(&path, &told, "memory.used")?);
        Ok(Bytes(total.saturating_sub(used)))
    }

    /// The storages that can have disks of machines.
    pub(super) fn storages(&self, node: &str) -> Result<Vec<Storage>, Problem> {
        let path = format!("/nodes/{node}/storage");
        let told = self.get(&path, &["--content", "images"])?;
        let is_active = |one: &&Value| one.get("active").and_then(Value::as_u64) == Some(1);
        let storages = array(&path, &told, "")?.iter().filter(is_active).map(|one| {
            let name = text(one, "storage").filter(|name| is_plain(name));
            let name = name.ok_or_else(|| strange(&path, "storage"))?.to_owned();
            Ok(Storage { name, free: Bytes(number(&path, one, "avail")?) })
        });
        storages.collect()
    }

    /// All machines of the cluster.
    pub(super) fn machines(&self) -> Result<Vec<Listed>, Problem> {
        let path = "/cluster/resources";
        let told = self.get(path, &["--type", "vm"])?;
        let machines = array(path, &told, "")?.iter().map(|one| {
            let of = |key| text(one, key).unwrap_or_default().to_owned();
            let tags = of("tags");
            let tags = tags.split([';', ',', ' ']).filter(|tag| !tag.is_empty());
            Ok(Listed {
                vmid: number(path, one, "vmid")?,
                name: of("name"),
                node: of("node"),
                tags: tags.map(str::to_owned).collect(),
            })
        });
        machines.collect()
    }

    pub(super) fn config(&self, node: &str, vmid: u64) -> Result<Value, Problem> {
        self.get(&format!("/nodes/{node}/qemu/{vmid}/config"), &[])
    }

    /// What a machine does, in qemu's word.
    pub(super) fn status(&self, node: &str, vmid: u64) -> Result<String, Problem> {
        let path = format!("/nodes/{node}/qemu/{vmid}/status/current");
        let told = self.get(&path, &[])?;
        let word = text(&told, "qmpstatus").or_else(|| text(&told, "status"));
        word.map(str::to_owned).ok_or_else(|| strange(&path, "status"))
    }

    /// A number that no machine has.
    pub(super) fn next_id(&self) -> Result<u64, Problem> {
        let path = "/cluster/nextid";
        let told = self.get(path, &[])?;
        // A number in older versions, a text in newer ones.
        let id = told.as_u64().or_else(|| told.as_str().and_then(|text| text.parse().ok()));
        id.ok_or_else(|| strange(path, "number"))
    }

    /// The names of a storage's volumes.
    pub(super) fn volumes(&self, node: &str, storage: &str) -> Result<Vec<String>, Problem> {
        let path = format!("/nodes/{node}/storage/{storage}/content");
        let told = self.get(&path, &["--content", "images"])?;
        let volumes = array(&path, &told, "")?.iter().map(|one| {
            text(one, "volid").map(str::to_owned).ok_or_else(|| strange(&path, "volid"))
        });
        volumes.collect()
    }
}

/// What a node and its cluster are called.
pub(super) struct Names {
    pub(super) node: String,
    pub(super) cluster: Option<String>,
}

/// Whether a name can be a part of a path of the interface, and no option.
fn is_plain(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(is_letter)
}

pub(super) fn strange(call: &str, what: &str) -> Problem {
    Problem::Tool { call: call.to_owned(), said: format!("its answer has no {what}") }
}
