//! KubeVirt as `kubectl` shows it, without a cluster: answers in the forms of its documentation.

use super::*;
use crate::remote::contract::{self, Answering, Stand, World};
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Default)]
struct Cluster {
    /// By kind and name.
    objects: BTreeMap<String, Value>,
    refused: String,
    is_other: bool,
}

fn key(kind: &str, name: &str) -> String {
    format!("{kind}/{name}")
}

fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

impl Cluster {
    fn get(&self, words: &[&str]) -> Result<String, String> {
        match words[1] {
            "namespace" => {
                let uid = if self.is_other { "ffff" } else { "0b1c2d" };
                Ok(json!({ "metadata": { "name": "bench", "uid": uid } }).to_string())
            }
            "nodes" => Ok("n1   8388608Ki\nn2   4Gi\n".into()),
            "pods" => Ok("n1   1Gi,64Mi\nn2   <none>\nn3   1Gi\n<none>   2Gi\n".into()),
            "storageclasses.storage.k8s.io" => Ok(list(&[
                json!({ "metadata": { "name": "slow" } }),
                json!({ "metadata": { "name": "fast", "annotations": {
                    "storageclass.kubernetes.io/is-default-class": "true" } } }),
            ])),
            kind if words[2] == "-l" => {
                let (label, value) = words[3].split_once('=').expect("a label");
                let of_kind = self.objects.iter().filter(|(it, _)| it.starts_with(kind));
                let objects = of_kind.map(|(_, object)| object);
                let has = |it: &&Value| it["metadata"]["labels"][label] == value;
                Ok(list(&objects.filter(has).cloned().collect::<Vec<_>>()))
            }
            kind => match self.objects.get(&key(kind, words[2])) {
                Some(object) => Ok(object.to_string()),
                None if words.contains(&"--ignore-not-found") => Ok(String::new()),
                None => Err(format!("Error from server (NotFound): {} not found", words[2])),
            },
        }
    }

    fn create(&mut self, manifest: &str) -> Result<String, String> {
        let mut object: Value = serde_json::from_str(manifest).map_err(|it| it.to_string())?;
        let name = text(&object, "metadata.name").expect("a name").to_owned();
        assert_eq!(text(&object, "metadata.namespace"), Some("bench"));
        if name == self.refused {
            return Err("admission webhook denied the request".into());
        }
        let kind = match text(&object, "kind") {
            Some("VirtualMachine") => MACHINES,
            _ => CLAIMS,
        };
        object["status"] = json!({ "printableStatus": "Running" });
        let templates = object["spec"]["dataVolumeTemplates"].as_array().cloned();
        for template in templates.unwrap_or_default() {
            let made = text(&template, "metadata.name").expect("a name").to_owned();
            self.objects.insert(key(CLAIMS, &made), template);
        }
        match self.objects.insert(key(kind, &name), object) {
            Some(_) => Err("AlreadyExists".into()),
            None => Ok("created".into()),
        }
    }

    fn set_status(&mut self, machine: &str, status: &str) {
        let machine = self.objects.get_mut(&key(MACHINES, machine)).expect("there");
        machine["status"]["printableStatus"] = json!(status);
    }
}

impl World for Cluster {
    fn answer(&mut self, words: &[&str], input: &str) -> Result<String, String> {
        if words[0] == "config" {
            let context = json!({ "cluster": "c", "namespace": "bench", "user": "u" });
            return Ok(json!({ "contexts": [{ "name": "here", "context": context }] }).to_string());
        }
        assert_eq!(words[..4], ["--context", "here", "--namespace", "bench"]);
        let words = &words[4..];
        match words[0] {
            "get" => self.get(words),
            "create" => self.create(input),
            "replace" => {
                let mut path = words[2].rsplit('/');
                let word = path.next().expect("a word");
                let machine = path.next().expect("a name").to_owned();
                self.set_status(&machine, if word == "pause" { "Paused" } else { "Running" });
                Ok(String::new())
            }
            "delete" => {
                let gone = self.objects.remove(&key(words[1], words[2]));
                // The cluster removes what a machine's template made.
                let root = |name: &str| name.ends_with(&format!("-{}-root", words[2]));
                self.objects.retain(|name, _| !root(name));
                gone.map(|_| "deleted".to_owned()).ok_or("NotFound".into())
            }
            other => Err(format!("error: unknown command {other:?}")),
        }
    }

    fn machines(&self) -> Vec<String> {
        let prefix = format!("{MACHINES}/");
        self.objects.keys().filter_map(|it| it.strip_prefix(&prefix)).map(str::to_owned).collect()
    }

    fn disks(&self) -> Vec<String> {
        let claims = self.objects.keys().filter(|it| it.starts_with(CLAIMS));
        claims.filter(|it| !it.ends_with("/golden")).cloned().collect()
    }

    fn add_theirs(&mut self, name: &str) {
        let golden = json!({ "metadata": { "name": "golden" } });
        self.objects.insert(key(CLAIMS, "golden"), golden);
        let theirs = json!({ "metadata": { "name": name }, "spec": {} });
        self.objects.insert(key(MACHINES, name), theirs.clone());
        self.objects.insert(key(CLAIMS, "theirs"), theirs);
    }

    fn unmark(&mut self, name: &str) {
        let machine = self.objects.get_mut(&key(MACHINES, name)).expect("there");
        machine["metadata"]["labels"] = json!({});
    }

    fn change_site(&mut self) {
        self.is_other = !self.is_other;
    }

    fn refuse_start(&mut self, name: &str) {
        name.clone_into(&mut self.refused);
    }
}

fn of(program: Box<dyn Runs>) -> Kubevirt {
    let kubevirt = Kubevirt::with(program, "qemu:///system", "golden");
    Kubevirt { guests: Guests::through(Box::new(Answering)), ..kubevirt }
}

#[test]
fn kubevirt_keeps_the_contract() {
    let world = Rc::new(RefCell::new(Cluster::default()));
    contract::holds(ProviderKind::Kubevirt, &world, &of(Box::new(Stand(world.clone()))));
}

#[test]
fn kubevirt_bears_with_any_answer() {
    contract::bears_with_anything(ProviderKind::Kubevirt, &|program| Box::new(of(program)));
}

#[test]
fn kubevirt_that_fails_in_the_middle_harms_nobody() {
    contract::harms_nobody::<Cluster>(ProviderKind::Kubevirt, &|program| Box::new(of(program)));
}

#[test]
fn what_pods_asked_for_is_taken_from_what_nodes_have() {
    let kubevirt = of(Box::new(Stand(Rc::new(RefCell::new(Cluster::default())))));
    let nodes = kubevirt.kubectl.nodes().expect("nodes");
    let free: Vec<_> = nodes.iter().map(|node| (node.name.as_str(), node.free)).collect();
    assert_eq!(free, [("n1", Bytes::mib(8192 - 1024 - 64)), ("n2", Bytes::gib(4))]);
    // The room that a storage class has is not known, and nobody says that it is.
    let room = kubevirt.room(None, Path::new("/x")).expect("a class");
    assert_eq!((room.free.0, room.place), (u64::MAX, PathBuf::from("fast")));
}

#[test]
fn the_disks_of_a_guest_have_serial_numbers_that_are_ours() {
    let world = Rc::new(RefCell::new(Cluster::default()));
    world.borrow_mut().add_theirs("x-1");
    let provider = of(Box::new(Stand(world.clone())));
    let setting = crate::deployment::tests::Setting::new();
    let wanted = contract::of_kind(ProviderKind::Kubevirt, "a");
    let made = setting.make(&provider, &wanted, None).expect("made").deployment.clone();
    let devices = made.devices_of(&made.machines[0]);
    let ours = ["/dev/disk/by-id/virtio-plimsoll-disk0", "/dev/disk/by-id/virtio-plimsoll-disk1"];
    assert_eq!(devices, ours);
    let machine = world.borrow().objects[&key(MACHINES, "a-1")].clone();
    let volumes = machine["spec"]["template"]["spec"]["volumes"].as_array().cloned().expect("some");
    let names: Vec<_> = volumes.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["root", "disk0", "disk1", "seed"]);
    assert_eq!(machine["spec"]["template"]["spec"]["domain"]["memory"]["guest"], "268435456");
    assert!(volumes[1]["persistentVolumeClaim"]["claimName"].as_str().is_some_and(is_name));
    for bad in ["", "A", "-x", "a b", "a;b", "../x"] {
        assert!(!is_name(bad), "{bad}");
    }
}
