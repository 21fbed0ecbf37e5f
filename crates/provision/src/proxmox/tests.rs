//! Proxmox VE as its programs show it, without one: answers in the forms of its documentation.

use super::*;
use crate::remote::contract::{self, Stand, World};
use serde_json::json;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Default)]
struct Pve {
    machines: BTreeMap<u64, One>,
    volumes: BTreeSet<String>,
    folders: BTreeSet<String>,
    refused: String,
    is_other: bool,
}

#[derive(Default)]
struct One {
    name: String,
    tags: String,
    status: &'static str,
    config: BTreeMap<String, String>,
}

/// The words of a line as a shell splits them: all of ours are in single quotes.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted, mut letters) = (vec![String::new()], false, line.chars());
    while let Some(letter) = letters.next() {
        let last = words.last_mut().expect("one");
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            '\\' if !is_quoted => last.extend(letters.next()),
            letter if is_quoted => last.push(letter),
            letter => panic!("{letter} is not quoted: {line}"),
        }
    }
    words
}

fn option(words: &[&str], name: &str) -> String {
    let at = words.iter().position(|word| *word == name);
    at.and_then(|at| words.get(at + 1)).map(|word| (*word).to_owned()).unwrap_or_default()
}

impl Pve {
    fn got(&self, path: &str) -> Result<Value, String> {
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        Ok(match parts.as_slice() {
            ["cluster", "status"] => json!([
                { "type": "cluster", "name": if self.is_other { "c2" } else { "c1" }, "nodes": 1 },
                { "type": "node", "name": "pve1", "local": 1, "online": 1 },
            ]),
            ["cluster", "nextid"] => {
                let next = self.machines.keys().max().map_or(100, |last| last + 1);
                json!(next.to_string())
            }
            ["cluster", "resources"] => self
                .machines
                .iter()
                .map(|(vmid, one)| {
                    json!({ "id": format!("qemu/{vmid}"), "type": "qemu", "vmid": vmid,
                            "name": one.name, "node": "pve1", "tags": one.tags,
                            "status": one.status })
                })
                .collect(),
            ["nodes", "pve1", "status"] => {
                json!({ "memory": { "total": 8u64 << 30, "used": 1u64 << 30, "free": 1 } })
            }
            ["nodes", "pve1", "storage"] => json!([
                { "storage": "local-lvm", "type": "lvmthin", "active": 1, "avail": 1u64 << 40 },
                { "storage": "old", "type": "dir", "active": 0, "avail": 1 },
            ]),
            ["nodes", "pve1", "storage", "local-lvm", "content"] => {
                self.volumes.iter().map(|volid| json!({ "volid": volid })).collect()
            }
            ["nodes", "pve1", "qemu", vmid, rest @ ..] => {
                let vmid: u64 = vmid.parse().map_err(|_| "no number")?;
                let one = self.machines.get(&vmid).ok_or("no such machine")?;
                match rest {
                    ["config"] => json!(one.config),
                    _ => json!({ "status": one.status, "qmpstatus": one.status }),
                }
            }
            _ => return Err(format!("No '{path}' handler")),
        })
    }

    fn qm(&mut self, words: &[&str]) -> Result<String, String> {
        let vmid: u64 = words[2].parse().map_err(|_| "no number")?;
        if words[1] == "create" {
            let config = ["description", "smbios1"];
            let config = config.map(|key| (key.to_owned(), option(words, &format!("--{key}"))));
            let (name, tags) = (option(words, "--name"), option(words, "--tags"));
            let one = One { name, tags, status: "stopped", config: config.into() };
            return match self.machines.insert(vmid, one) {
                Some(_) => Err(format!("unable to create VM {vmid}: config file already exists")),
                None => Ok(String::new()),
            };
        }
        let refused = self.refused.clone();
        let one = self.machines.get_mut(&vmid).ok_or("no such machine")?;
        match words[1] {
            "set" => {
                let options = words[3..].chunks(2);
                options.for_each(|pair| {
                    let key = pair[0].trim_start_matches("--").to_owned();
                    one.config.insert(key, pair[1].to_owned());
                });
            }
            "start" if one.name == refused => return Err("start failed: no memory".into()),
            "start" | "resume" => one.status = "running",
            "suspend" => one.status = "paused",
            "stop" => one.status = "stopped",
            "destroy" => {
                assert_eq!(words[3..], ["--purge", "1", "--destroy-unreferenced-disks", "0"]);
                let one = self.machines.remove(&vmid).expect("there");
                let disks = one.config.iter().filter(|(key, _)| is_disk(key));
                disks.for_each(|(_, value)| {
                    self.volumes.remove(value.split(',').next().unwrap_or_default());
                });
            }
            other => return Err(format!("unknown command '{other}'")),
        }
        Ok(String::new())
    }
}

impl World for Pve {
    fn answer(&mut self, words: &[&str], input: &str) -> Result<String, String> {
        let at = words.iter().position(|word| *word == "--").expect("a host behind it");
        assert_eq!((words[at + 1], words.len()), ("root@pve1", at + 3));
        let words = split(words[at + 2]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let last = words.last().copied().unwrap_or_default();
        match words[..2] {
            ["pvesh", "get"] => self.got(words[2]).map(|told| told.to_string()),
            ["qm", _] => self.qm(&words),
            ["pvesm", "alloc"] => {
                let volid = format!("{}:{}", words[2], words[4]);
                match self.volumes.insert(volid) {
                    true => Ok(format!("successfully created '{}'", words[4])),
                    false => Err("it exists".into()),
                }
            }
            ["pvesm", "free"] => self.volumes.remove(last).then(String::new).ok_or("none".into()),
            ["mkdir", "-m"] if self.folders.insert(last.to_owned()) => Ok(String::new()),
            ["mkdir", "-m"] => Err("File exists".into()),
            ["rm", "-rf"] => Ok(self.folders.remove(last)).map(|_| String::new()),
            ["sh", "-c"] if !input.is_empty() => Ok(String::new()),
            ["tail", "-c"] => Ok(format!("Linux\n{FIRST_READ}1000\n")),
            _ => Err(format!("{words:?}")),
        }
    }

    fn machines(&self) -> Vec<String> {
        let mut names: Vec<String> = self.machines.values().map(|one| one.name.clone()).collect();
        names.sort();
        names
    }

    fn disks(&self) -> Vec<String> {
        self.volumes.iter().chain(&self.folders).cloned().collect()
    }

    fn add_theirs(&mut self, name: &str) {
        let config = [("virtio0".to_owned(), "local-lvm:vm-100-disk-0,size=4M".to_owned())];
        let (name, tags) = (name.to_owned(), "plimsoll;other".to_owned());
        self.machines.insert(100, One { name, tags, status: "running", config: config.into() });
        self.volumes.insert("local-lvm:vm-100-disk-0".to_owned());
    }

    fn unmark(&mut self, name: &str) {
        self.machines.values_mut().filter(|one| one.name == name).for_each(|one| {
            one.tags.clear();
            one.config.remove("smbios1");
        });
    }

    fn change_site(&mut self) {
        self.is_other = !self.is_other;
    }

    fn refuse_start(&mut self, name: &str) {
        name.clone_into(&mut self.refused);
    }
}

fn of(program: Box<dyn Runs>) -> Proxmox {
    Proxmox::with(program, "ssh://root@pve1")
}

#[test]
fn proxmox_keeps_the_contract() {
    let world = Rc::new(RefCell::new(Pve::default()));
    contract::holds(ProviderKind::Proxmox, &world, &of(Box::new(Stand(world.clone()))));
}

#[test]
fn proxmox_bears_with_any_answer() {
    contract::bears_with_anything(ProviderKind::Proxmox, &|program| Box::new(of(program)));
}

#[test]
fn proxmox_that_fails_in_the_middle_harms_nobody() {
    contract::harms_nobody::<Pve>(ProviderKind::Proxmox, &|program| Box::new(of(program)));
}

#[test]
fn only_a_volume_with_the_whole_mark_in_its_place_is_ours() {
    let token = "0123456789abcdef0123456789abcdef";
    let ground = Ground::Folders(vec!["/p".into()]);
    let made = Deployment::new(&crate::deployment::tests::wanted("a"), token.into(), ground);
    let ours =
        ["local-lvm:vm-101-plimsoll-T-a-1-disk0.raw", "local:9/vm-9-plimsoll-T-a-1-disk0.raw"];
    for volid in ours {
        assert!(is_volume_of(&made, &volid.replace('T', token)), "{volid}");
    }
    let others = [
        "local-lvm:vm-101-disk-0",
        "local-lvm:vm-101-x-plimsoll-T-a",
        "local-lvm:plimsoll-T-a",
        "local-lvm:vm-101-plimsoll-0123-a",
        "local-lvm:vm-101-plimsoll-T-a';rm -rf /;'",
        "-x:vm-1-plimsoll-T-a",
    ];
    for volid in others {
        assert!(!is_volume_of(&made, &volid.replace('T', token)), "{volid}");
    }
}

#[test]
fn words_of_proxmox_are_read_as_it_writes_them() {
    assert_eq!(size_in("local-lvm:vm-100-disk-0,cache=none,size=32M"), Some(Bytes::mib(32)));
    assert_eq!((size_in("x,size=1Y"), size_in("x"), size_in("size=")), (None, None, None));
    for disk in ["virtio0", "scsi15", "unused0", "efidisk0"] {
        assert!(is_disk(disk), "{disk}");
    }
    for other in ["virtio", "scsihw", "net0", "smbios1", "memory"] {
        assert!(!is_disk(other), "{other}");
    }
}
