//! The calls of `govc`, and what is read out of its JSON.

use crate::remote::{Runs, Takes, array, ask, object, own_line, read, text};
use crate::{Outcome, Problem};
use model::Bytes;
use serde_json::{Map, Value};

/// `govc`, with the way to its server.
pub(super) struct Govc {
    pub(super) program: Box<dyn Runs>,
    /// What `GOVC_URL` would say; empty where that decides.
    pub(super) url: String,
    /// What `GOVC_RESOURCE_POOL` says.
    pub(super) resource_pool: Option<String>,
}

/// What a host or a machine is asked for.
pub(super) type Properties = Map<String, Value>;

pub(super) struct Host {
    pub(super) name: String,
    pub(super) uuid: String,
    pub(super) free: Bytes,
}

pub(super) struct Store {
    pub(super) name: String,
    pub(super) free: Bytes,
}

pub(super) struct Disk {
    /// `[DATASTORE] FOLDER/FILE.vmdk`
    pub(super) file: String,
    pub(super) uuid: Option<String>,
    pub(super) size: Bytes,
}

impl Govc {
    fn words<'a>(&'a self, command: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        let url: &[&str] = if self.url.is_empty() { &[] } else { &["-u", &self.url] };
        [&[command], url, words].concat()
    }

    pub(super) fn ask(&self, command: &str, words: &[&str]) -> Outcome<String> {
        ask(&*self.program, &self.words(command, words))
    }

    /// A call that copies disks.
    pub(super) fn copy(&self, command: &str, words: &[&str]) -> Outcome<String> {
        self.program.run(&self.words(command, words), Takes::Long, &mut |_| Ok(()))
    }

    fn json(&self, command: &str, words: &[&str]) -> Outcome<Value> {
        read(&format!("govc {command}"), &self.ask(command, words)?)
    }

    /// What tells this server from all others: a vCenter's own UUID, or that of an ESXi's board.
    pub(super) fn site(&self) -> Outcome<String> {
        let about = self.json("about", &["-json"])?;
        if let Some(uuid) = text(&about, "about.instanceUuid").filter(|uuid| !uuid.is_empty()) {
            return Ok(format!("the vCenter {uuid}"));
        }
        let hosts = self.hosts_below("/")?;
        match hosts.as_slice() {
            [one] => Ok(format!("the ESXi {}", one.uuid)),
            _ => Err(Problem::tool("govc about", "its answer has no about.instanceUuid")),
        }
    }

    /// The hosts of the resource pool that machines would get.
    pub(super) fn hosts(&self) -> Outcome<Vec<Host>> {
        if let Some(pool) = &self.resource_pool {
            let told = self.json("pool.info", &["-json", pool])?;
            let pools = array("govc pool.info", &told, "resourcePools")?;
            let owner = match pools {
                [one] => object("govc pool.info", one, "owner")?,
                _ => return Err(which_pool(pools.len())),
            };
            let part = |key| text(owner, key).unwrap_or_default();
            return self.hosts_below(&format!("{}:{}", part("type"), part("value")));
        }
        // One pool for each host or cluster: which one machines get, somebody has to decide.
        match self.paths("p", "-name", "Resources")?.len() {
            1 => self.hosts_below("/"),
            pools => Err(which_pool(pools)),
        }
    }

    fn hosts_below(&self, root: &str) -> Outcome<Vec<Host>> {
        let wanted = [
            "name",
            "summary.hardware.uuid",
            "summary.hardware.memorySize",
            "summary.quickStats.overallMemoryUsage",
            "runtime.connectionState",
            "runtime.inMaintenanceMode",
        ];
        let call = "govc object.collect -type h";
        let mut hosts = Vec::new();
        for host in self.all("h", root, &wanted)? {
            let host = Value::Object(host);
            let is_there = host["runtime.connectionState"] == "connected"
                && host["runtime.inMaintenanceMode"] == false;
            if !is_there {
                continue;
            }
            let of = |key: &str| host[key].as_u64().ok_or_else(|| no_property(call, key));
            let memory = of("summary.hardware.memorySize")?;
            let used = Bytes::mib(of("summary.quickStats.overallMemoryUsage")?);
            let name = |key: &str| host[key].as_str().unwrap_or_default().to_owned();
            hosts.push(Host {
                name: name("name"),
                uuid: name("summary.hardware.uuid"),
                free: Bytes(memory.saturating_sub(used.0)),
            });
        }
        Ok(hosts)
    }

    pub(super) fn stores(&self) -> Outcome<Vec<Store>> {
        let wanted = ["name", "summary.freeSpace", "summary.accessible", "summary.maintenanceMode"];
        let mut stores = Vec::new();
        for store in self.all("s", "/", &wanted)? {
            let mode = store.get("summary.maintenanceMode").and_then(Value::as_str);
            let is_there = store.get("summary.accessible") == Some(&Value::Bool(true))
                && mode.is_none_or(|mode| mode == "normal" || mode.is_empty());
            let name = store.get("name").and_then(Value::as_str);
            let free = store.get("summary.freeSpace").and_then(Value::as_u64);
            if let (true, Some(name), Some(free)) = (is_there, name, free) {
                stores.push(Store { name: name.to_owned(), free: Bytes(free) });
            }
        }
        Ok(stores)
    }

    /// The paths of objects of a kind of which a property has a value.
    pub(super) fn paths(&self, kind: &str, property: &str, value: &str) -> Outcome<Vec<String>> {
        let call = "govc find";
        let found = match self.json("find", &["-json", "/", "-type", kind, property, value])? {
            Value::Null => return Ok(Vec::new()),
            found => found,
        };
        let paths = array(call, &found, "")?.iter().map(|path| match path.as_str() {
            // A path that begins otherwise could be an option of the next call.
            Some(path) if path.starts_with('/') => Ok(path.to_owned()),
            _ => Err(Problem::tool(
                call,
                format!("its answer has a path that is none: {}", own_line(&path.to_string())),
            )),
        });
        paths.collect()
    }

    pub(super) fn properties(&self, path: &str, wanted: &[&str]) -> Outcome<Properties> {
        // With one property alone, govc would answer in another form.
        debug_assert!(wanted.len() > 1);
        let told = self.json("object.collect", &[&["-json", path], wanted].concat())?;
        let call = "govc object.collect";
        let mut all = Properties::new();
        changes(call, array(call, &told, "")?, &mut all)?;
        Ok(all)
    }

    fn all(&self, kind: &str, root: &str, wanted: &[&str]) -> Outcome<Vec<Properties>> {
        let call = format!("govc object.collect -type {kind}");
        let words = [&["-json", "-type", kind, root], wanted].concat();
        let told = self.ask("object.collect", &words)?;
        let mut objects = Vec::new();
        // One document for each object, one behind the other.
        for document in serde_json::Deserializer::from_str(&told).into_iter::<Value>() {
            let document = document.map_err(|error| {
                let why = format!("its answer is no whole JSON ({error}): {}", own_line(&told));
                Problem::tool(&call, why)
            })?;
            let mut one = Properties::new();
            changes(&call, array(&call, &document, "changeSet")?, &mut one)?;
            objects.push(one);
        }
        Ok(objects)
    }

    pub(super) fn disks(&self, path: &str) -> Outcome<Vec<Disk>> {
        let call = "govc device.info";
        let told = self.json("device.info", &["-json", "-vm", path, "disk-*"])?;
        let disks = array(call, &told, "devices")?.iter().map(|disk| {
            let file =
                text(disk, "backing.fileName").ok_or_else(|| no_property(call, "fileName"))?;
            Ok(Disk {
                file: file.to_owned(),
                uuid: text(disk, "backing.uuid").map(str::to_owned),
                size: size(disk),
            })
        });
        disks.collect()
    }

    /// The names of what is in a folder of a datastore; `None` where there is no such folder.
    pub(super) fn files(&self, store: &str, folder: &str) -> Outcome<Option<Vec<String>>> {
        // A folder that is not there and one that cannot be read fail alike.
        let root = self.listed(store, "")?;
        match root.iter().any(|name| name == folder) {
            true => self.listed(store, folder).map(Some),
            false => Ok(None),
        }
    }

    fn listed(&self, store: &str, folder: &str) -> Outcome<Vec<String>> {
        let call = "govc datastore.ls";
        let words = ["-json", "-a", "-ds", store, folder];
        let words = if folder.is_empty() { &words[..4] } else { &words[..] };
        let told = self.json("datastore.ls", words)?;
        let mut names = Vec::new();
        for part in array(call, &told, "")? {
            // An empty folder has no list.
            let files = part.get("file").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let paths = files.iter().map(|file| text(file, "path").map(str::to_owned));
            let paths: Option<Vec<String>> = paths.collect();
            names.extend(paths.ok_or_else(|| no_property(call, "path"))?);
        }
        Ok(names)
    }
}

/// The size of a disk. One that was attached as a file may have none in its description, as the
/// simulator shows.
fn size(disk: &Value) -> Bytes {
    let of = |key: &str| disk.get(key).and_then(Value::as_u64).filter(|size| *size > 0);
    let kib = || of("capacityInKB").map(|kib| kib.saturating_mul(1024));
    Bytes(of("capacityInBytes").or_else(kib).unwrap_or(0))
}

/// Puts what a list of changes says into properties.
fn changes(call: &str, changes: &[Value], into: &mut Properties) -> Outcome {
    for change in changes {
        let name = text(change, "name").ok_or_else(|| no_property(call, "name"))?;
        into.insert(name.to_owned(), change.get("val").cloned().unwrap_or_default());
    }
    Ok(())
}

fn no_property(call: &str, key: &str) -> Problem {
    Problem::tool(call, format!("its answer has no {key}"))
}

fn which_pool(found: usize) -> Problem {
    Problem::unfit(
        format!("{found} resource pools could take the machines"),
        "name one with GOVC_RESOURCE_POOL (`govc find / -type p`)",
    )
}
