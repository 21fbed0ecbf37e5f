//! The words of Hyper-V, without one: each script comes as it is, with what it is about as JSON.

use super::powershell::encoded;
use super::*;
use crate::remote::contract::{self, Answering, Stand, World};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Default)]
struct Host {
    machines: BTreeMap<String, One>,
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    refused: String,
    is_other: bool,
}

#[derive(Default)]
struct One {
    notes: String,
    state: &'static str,
    disks: Vec<String>,
}

/// All scripts, so that none comes that is not known.
const SCRIPTS: [&str; 10] = [
    powershell::HOST,
    powershell::ROOM,
    powershell::TAKEN,
    powershell::TEMPLATE,
    powershell::FOLDER,
    powershell::DISK,
    powershell::START,
    powershell::STATE,
    powershell::ACT,
    powershell::REMOVE,
];

impl Host {
    fn ours(&mut self, about: &Value) -> Option<&mut One> {
        let (name, mark) = (text(about, "name")?, text(about, "mark")?);
        self.machines.get_mut(name).filter(|one| one.notes == mark)
    }

    fn start(&mut self, about: &Value) -> Result<(), String> {
        let of = |key: &str| text(about, key).unwrap_or_default().to_owned();
        if of("name") == self.refused {
            return Err("Start-VM : not enough memory".into());
        }
        let mut disks = vec![of("system")];
        self.files.insert(of("system"));
        for disk in about["disks"].as_array().expect("disks") {
            let path = disk["path"].as_str().expect("a path").to_owned();
            assert!(self.files.contains(&path), "{path}");
            disks.push(path);
        }
        self.machines.insert(of("name"), One { notes: of("mark"), state: "Running", disks });
        Ok(())
    }

    fn remove(&mut self, about: &Value) -> Result<(), String> {
        let folders: Vec<String> = serde_json::from_value(about["folders"].clone()).expect("names");
        let Some(one) = self.ours(about) else { return Ok(()) };
        let is_in = |disk: &String| folders.iter().any(|it| disk.starts_with(&format!("{it}/")));
        if let Some(disk) = one.disks.iter().find(|disk| !is_in(disk)) {
            return Err(format!("it has a disk of somebody else, {disk}"));
        }
        let name = text(about, "name").unwrap_or_default().to_owned();
        self.machines.remove(&name);
        Ok(())
    }

    fn clear(&mut self, folder: &str) {
        self.folders.remove(folder);
        self.files.retain(|file| !file.starts_with(&format!("{folder}/")));
    }
}

impl World for Host {
    fn answer(&mut self, words: &[&str], input: &str) -> Result<String, String> {
        assert!(words.contains(&"administrator@hv1") && words.contains(&"-NonInteractive"));
        let script = words.last().copied().unwrap_or_default();
        let about: Value = serde_json::from_str(input).map_err(|it| it.to_string())?;
        let of = |key: &str| text(&about, key).unwrap_or_default().to_owned();
        let is = |known: &str| encoded(known) == script;
        let known = SCRIPTS.iter().position(|known| is(known));
        Ok(match known {
            Some(0) => {
                let id = if self.is_other { "ffff" } else { "8f7e" };
                json!({ "name": "HV1", "id": id, "free": 8u64 << 30, "pool": "D:\\VMs" })
                    .to_string()
            }
            Some(1) if of("pool") == "D:/VMs" => json!({ "free": 1u64 << 40 }).to_string(),
            Some(2) => {
                json!({ "count": u32::from(self.machines.contains_key(&of("name"))) }).to_string()
            }
            Some(3) => json!({ "size": 4096, "switches": 1 }).to_string(),
            Some(4) if self.folders.insert(of("folder")) => String::new(),
            Some(5) if self.files.insert(of("path")) => String::new(),
            Some(6) => self.start(&about).map(|()| String::new())?,
            Some(7) => {
                let state = self.ours(&about).map(|one| one.state);
                let count = u32::from(state.is_some());
                let state = state.unwrap_or_default();
                format!(
                    "\u{feff}{}",
                    json!({ "count": count, "state": state,
                    "addresses": ["10.0.0.9", "2001:db8::9"] })
                )
            }
            Some(8) => {
                let state = if of("act") == "pause" { "Paused" } else { "Running" };
                let one = self.ours(&about).ok_or("no machine of this name has our notes")?;
                one.state = state;
                String::new()
            }
            Some(9) => self.remove(&about).map(|()| String::new())?,
            None if is(powershell::CLEAR) => {
                self.clear(&of("folder"));
                String::new()
            }
            _ => return Err("it failed".into()),
        })
    }

    fn machines(&self) -> Vec<String> {
        self.machines.keys().cloned().collect()
    }

    fn disks(&self) -> Vec<String> {
        self.files.iter().chain(&self.folders).cloned().collect()
    }

    fn add_theirs(&mut self, name: &str) {
        let disks = vec!["D:/VMs/theirs.vhdx".to_owned()];
        self.files.insert(disks[0].clone());
        let one = One { notes: "precious".into(), state: "Running", disks };
        self.machines.insert(name.to_owned(), one);
    }

    fn unmark(&mut self, name: &str) {
        self.machines.get_mut(name).expect("there").notes.clear();
    }

    fn change_site(&mut self) {
        self.is_other = !self.is_other;
    }

    fn refuse_start(&mut self, name: &str) {
        name.clone_into(&mut self.refused);
    }
}

fn of(program: Box<dyn Runs>) -> HyperV {
    let hyper_v = HyperV::with(program, "ssh://administrator@hv1", "D:\\golden.vhdx");
    HyperV { guests: Guests::through(Box::new(Answering)), ..hyper_v }
}

#[test]
fn hyper_v_keeps_the_contract() {
    let world = Rc::new(RefCell::new(Host::default()));
    contract::holds(ProviderKind::HyperV, &world, &of(Box::new(Stand(world.clone()))));
}

#[test]
fn hyper_v_bears_with_any_answer() {
    contract::bears_with_anything(ProviderKind::HyperV, &|program| Box::new(of(program)));
}

#[test]
fn hyper_v_that_fails_in_the_middle_harms_nobody() {
    contract::harms_nobody::<Host>(ProviderKind::HyperV, &|program| Box::new(of(program)));
}

#[test]
fn no_name_is_ever_a_part_of_a_script() {
    // A script is all that is encoded; what it is about comes behind it, on its standard input.
    for script in SCRIPTS {
        assert!(!script.contains("{}") && script.is_ascii(), "{script}");
        assert_eq!(script.matches('{').count(), script.matches('}').count(), "{script}");
        assert_eq!(script.matches('(').count(), script.matches(')').count(), "{script}");
    }
    assert!(
        encoded("x").bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    );
}

#[test]
fn words_of_hyper_v_and_its_guests_are_read_as_they_write_them() {
    assert_eq!(device(1, "/dev/sdb\n"), Ok("/dev/sdb".to_owned()));
    for bad in ["", "/dev/*\n", "/dev/sdb\n/dev/sdc\n", "/etc/passwd", "/dev/../etc"] {
        assert!(device(1, bad).is_err(), "{bad}");
    }
    assert_eq!(address(&json!({ "addresses": "10.0.0.9" })).as_deref(), Some("10.0.0.9"));
    assert_eq!(address(&json!({ "addresses": [] })), None);
    assert_eq!(address(&json!({ "addresses": null })), None);
}
