//! vSphere as `govc` shows it, without one: its answers have the forms that its version 0.52 gave
//! before the vendor's simulator. `tests/vms/vsphere.rs` drives that simulator itself.

use super::*;
use crate::remote::contract::{self, Answering, Stand, World};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Default)]
struct Server {
    machines: BTreeMap<String, One>,
    folders: BTreeSet<String>,
    files: BTreeSet<String>,
    refused: String,
    is_other: bool,
}

#[derive(Default)]
struct One {
    annotation: String,
    uuid: String,
    power: &'static str,
    disks: Vec<String>,
}

/// The value behind an option.
fn option<'a>(words: &[&'a str], name: &str) -> &'a str {
    let at = words.iter().position(|word| *word == name);
    at.and_then(|at| words.get(at + 1)).copied().unwrap_or_default()
}

fn changes(pairs: &[(&str, Value)]) -> Value {
    pairs.iter().map(|(name, val)| json!({ "name": name, "op": "assign", "val": val })).collect()
}

impl Server {
    fn one(&mut self, path: &str) -> Result<&mut One, String> {
        let name = path.strip_prefix("/DC0/vm/").unwrap_or(path);
        self.machines.get_mut(name).ok_or_else(|| format!("govc: vm '{path}' not found"))
    }

    fn devices(&mut self, vm: &str) -> Result<Vec<Value>, String> {
        let disk = |(number, file): (usize, &String)| {
            let uuid = format!("6000C29a-bbcc-ddee-ff00-11223344556{number}");
            json!({ "name": "disk-205-0", "backing": { "fileName": file, "uuid": uuid } })
        };
        Ok(self.one(vm)?.disks.iter().enumerate().map(disk).collect())
    }

    fn found(&self, words: &[&str]) -> Value {
        let (name, note) = (option(words, "-name"), option(words, "-config.annotation"));
        if name == "template" {
            return json!(["/DC0/vm/template"]);
        }
        let is_it = |(known, one): &(&String, &One)| {
            (name.is_empty() || known.as_str() == name)
                && (note.is_empty() || one.annotation == note)
        };
        let paths = self.machines.iter().filter(is_it).map(|(name, _)| format!("/DC0/vm/{name}"));
        let paths: Vec<String> = paths.collect();
        if paths.is_empty() { Value::Null } else { json!(paths) }
    }

    fn collected(&mut self, words: &[&str]) -> Result<String, String> {
        let object = |pairs: &[(&str, Value)]| json!({ "changeSet": changes(pairs) }).to_string();
        match option(words, "-type") {
            "h" => {
                let host = |name: &str| {
                    object(&[
                        ("name", json!(name)),
                        ("summary.hardware.uuid", json!("44454c4c")),
                        ("summary.hardware.memorySize", json!(8u64 << 30)),
                        ("summary.quickStats.overallMemoryUsage", json!(1404)),
                        ("runtime.connectionState", json!("connected")),
                        ("runtime.inMaintenanceMode", json!(false)),
                    ])
                };
                return Ok(host("h1") + "\n" + &host("h2"));
            }
            "s" => {
                return Ok(object(&[
                    ("name", json!("LocalDS_0")),
                    ("summary.freeSpace", json!(1u64 << 40)),
                    ("summary.accessible", json!(true)),
                    ("summary.maintenanceMode", json!("normal")),
                ]));
            }
            _ => {}
        }
        let path = words[2];
        if path == "/DC0/vm/template" {
            let told =
                [("summary.storage.committed", json!(233)), ("config.template", json!(true))];
            return Ok(changes(&told).to_string());
        }
        let name = path.trim_start_matches("/DC0/vm/").to_owned();
        let one = self.one(path)?;
        Ok(changes(&[
            ("name", json!(name)),
            ("config.annotation", json!(one.annotation)),
            ("config.uuid", json!(one.uuid)),
            ("config.files.vmPathName", json!(format!("[LocalDS_0] {name}/{name}.vmx"))),
            ("runtime.powerState", json!(one.power)),
            ("guest.ipAddress", json!("10.0.0.7")),
        ])
        .to_string())
    }

    fn listed(&self, words: &[&str]) -> Value {
        let folder = words.get(5).copied().unwrap_or_default();
        let names: Vec<Value> = match folder {
            "" => self.folders.iter().map(|name| json!({ "path": name })).collect(),
            folder => {
                let inside = self.files.iter().filter_map(|file| file.strip_prefix(folder));
                inside.map(|name| json!({ "path": name.trim_start_matches('/') })).collect()
            }
        };
        json!([{ "folderPath": "[LocalDS_0]", "file": names }])
    }
}

impl World for Server {
    fn answer(&mut self, words: &[&str], _: &str) -> Result<String, String> {
        let last = words.last().copied().unwrap_or_default();
        let vm = option(words, "-vm").to_owned();
        let done = |()| String::new();
        match words[0] {
            "about" => {
                let uuid = if self.is_other { "ffff" } else { "1f647302" };
                Ok(json!({ "about": { "apiType": "VirtualCenter", "instanceUuid": uuid } })
                    .to_string())
            }
            "find" if option(words, "-type") == "p" => {
                Ok(json!(["/DC0/host/DC0_C0/Resources"]).to_string())
            }
            "find" => Ok(self.found(words).to_string()),
            "object.collect" => self.collected(words),
            "datastore.mkdir" if self.folders.insert(last.to_owned()) => Ok(String::new()),
            "datastore.mkdir" => Err(format!("govc: mkdir {last}: file exists")),
            "datastore.disk.create" if self.files.insert(last.to_owned()) => Ok("...OK".into()),
            "datastore.disk.create" => Err("govc: *types.FileAlreadyExists".into()),
            "datastore.ls" => Ok(self.listed(words).to_string()),
            "datastore.rm" => {
                self.folders.remove(last);
                self.files.retain(|file| !file.starts_with(last));
                Ok(String::new())
            }
            "vm.clone" => {
                let annotation = option(words, "-annotation").to_owned();
                let disks = vec![format!("[LocalDS_0] {last}/{last}.vmdk")];
                let one = One { annotation, power: "poweredOff", disks, ..One::default() };
                match self.machines.contains_key(last) {
                    true => Err("govc: it already exists".into()),
                    false => Ok(self.machines.insert(last.to_owned(), one)).map(|_| String::new()),
                }
            }
            "vm.change" => {
                let uuid = option(words, "-uuid").to_owned();
                self.one(&vm).map(|one| one.uuid = uuid).map(done)
            }
            "device.scsi.add" => Ok("pvscsi-205\n".into()),
            "vm.disk.attach" => {
                let disk = format!("[LocalDS_0] {}", option(words, "-disk"));
                self.one(&vm).map(|one| one.disks.push(disk)).map(done)
            }
            "device.info" => Ok(json!({ "devices": self.devices(&vm)? }).to_string()),
            "vm.power" if last.ends_with(&self.refused) && !self.refused.is_empty() => {
                Err("govc: no host has room".into())
            }
            "vm.power" => {
                let power = match words[1] {
                    "-on" => "poweredOn",
                    "-suspend" => "suspended",
                    _ => "poweredOff",
                };
                self.one(last).map(|one| one.power = power).map(done)
            }
            "vm.destroy" => {
                let disks = std::mem::take(&mut self.one(last)?.disks);
                let names = disks.iter().filter_map(|disk| disk.split_once("] "));
                names.for_each(|(_, name)| {
                    self.files.remove(name);
                });
                self.machines.remove(last.trim_start_matches("/DC0/vm/"));
                Ok(String::new())
            }
            other => Err(format!("govc: command '{other}' not found")),
        }
    }

    fn machines(&self) -> Vec<String> {
        self.machines.keys().cloned().collect()
    }

    fn disks(&self) -> Vec<String> {
        let attached = self.machines.values().flat_map(|one| one.disks.iter().cloned());
        attached.chain(self.files.iter().cloned()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn add_theirs(&mut self, name: &str) {
        let disks = vec![format!("[LocalDS_0] {name}/{name}.vmdk")];
        let one = One { power: "poweredOn", disks, ..One::default() };
        self.machines.insert(name.to_owned(), one);
    }

    fn unmark(&mut self, name: &str) {
        let one = self.machines.get_mut(name).expect("there");
        (one.annotation, one.uuid) = (String::new(), String::new());
    }

    fn change_site(&mut self) {
        self.is_other = !self.is_other;
    }

    fn refuse_start(&mut self, name: &str) {
        name.clone_into(&mut self.refused);
    }
}

fn of(program: Box<dyn remote::Runs>) -> Vsphere {
    let vsphere = Vsphere::with(program, None, "qemu:///system", "template");
    Vsphere { guests: Guests::through(Box::new(Answering)), ..vsphere }
}

#[test]
fn vsphere_keeps_the_contract() {
    let world = Rc::new(RefCell::new(Server::default()));
    contract::holds(&world, &of(Box::new(Stand(world.clone()))));
}

#[test]
fn vsphere_bears_with_any_answer() {
    contract::bears_with_anything(&|program| Box::new(of(program)));
}

#[test]
fn vsphere_that_fails_in_the_middle_harms_nobody() {
    contract::harms_nobody::<Server>(&|program| Box::new(of(program)));
}

#[test]
fn a_machine_with_a_disk_of_somebody_else_is_not_destroyed() {
    let world = Rc::new(RefCell::new(Server::default()));
    let provider = of(Box::new(Stand(world.clone())));
    let setting = crate::deployment::tests::Setting::new();
    let wanted = contract::copies("a");
    drop(setting.make(&provider, &wanted, None).expect("made"));
    let attach = |server: &mut Server| {
        let one = server.machines.get_mut("a-2").expect("there");
        one.disks.push("[LocalDS_0] theirs/precious.vmdk".to_owned());
    };
    attach(&mut world.borrow_mut());
    let kept = setting.down(&provider, "a").expect_err("it has a disk of theirs");
    assert!(kept.to_string().contains("precious.vmdk"), "{kept}");
    assert_eq!(world.borrow().machines(), ["a-2"]);
    // Somebody's copy has our annotation, and is not ours.
    let copy = One {
        annotation: world.borrow().machines["a-2"].annotation.clone(),
        uuid: "ffffffff".into(),
        ..One::default()
    };
    world.borrow_mut().machines.insert("copy".into(), copy);
    world.borrow_mut().machines.get_mut("a-2").expect("there").disks.pop();
    setting.down(&provider, "a").expect("removed");
    assert_eq!(world.borrow().machines(), ["copy"]);
}

#[test]
fn words_of_vsphere_are_read_as_it_writes_them() {
    assert_eq!(folder_of("[ds 1] a b/c.vmdk"), Some("a b"));
    assert_eq!((folder_of("c.vmdk"), folder_of("[x] c")), (None, None));
    let uuid = "6000C29a-bbcc-ddee-ff00-112233445566";
    let path = "/dev/disk/by-id/wwn-0x6000c29abbccddeeff00112233445566";
    assert_eq!(device(uuid).as_deref(), Some(path));
    assert_eq!((device("6000C29a"), device("../../etc/passwd")), (None, None));
    assert_eq!(adapter("pvscsi-205\n"), Ok("pvscsi-205"));
    assert!(adapter("pvscsi-1 -x").is_err() && adapter("").is_err());
    let one = of(Box::new(Answering));
    let secret = Vsphere { ..Vsphere::with(Box::new(Answering), None, "https://u:p@v/sdk", "t") };
    let wanted = contract::copies("a");
    let refused = secret.fits(&wanted).expect_err("a password in sight").to_string();
    assert!(refused.contains("GOVC_PASSWORD") && !refused.contains("u:p"), "{refused}");
    let of_zero = MachinesWanted { content: model::machines::DiskContent::Random, ..wanted };
    assert!(one.fits(&of_zero).expect_err("no way").to_string().contains("vms.content"));
}
