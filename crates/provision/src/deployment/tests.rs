//! Machines of a provider that only notes what it was asked for.

use super::*;
use crate::Qemu;
use crate::guest::Guest;
use crate::provider::{Boot, Line, Node, Room, State, Volume};
use model::machines::{
    Accelerator, DiskAllocation, DiskBus, DiskCache, DiskContent, HostCpu, MachinesWanted,
};
use model::{Bytes, Nanos};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Two machines with two disks each.
pub(crate) fn wanted(name: &str) -> MachinesWanted {
    MachinesWanted {
        name: name.to_owned(),
        numbers: vec![1, 2],
        vcpus: 1,
        accelerator: Accelerator::Tcg,
        memory: Bytes::mib(256),
        disks: 2,
        disk_size: Bytes::mib(16),
        bus: DiskBus::VirtioBlk,
        cache: DiskCache::None,
        content: DiskContent::Zero,
        allocation: DiskAllocation::Thin,
        boot: Nanos::millis(150),
    }
}

/// Has machines by their UUIDs.
#[derive(Default)]
struct Noted {
    running: RefCell<BTreeSet<String>>,
    /// The number of the start that fails.
    fails_at: Option<usize>,
    /// Machines never listen.
    is_deaf: bool,
    /// It does not answer any more once machines run.
    is_gone: bool,
    memory: u64,
}

impl Provider for Noted {
    fn node(&self) -> Outcome<Node> {
        if self.is_gone && !self.running.borrow().is_empty() {
            return Err(Problem::tool("hostname", "refused"));
        }
        Ok(Node { name: "here".into(), memory_available: Bytes(self.memory) })
    }

    fn room(&self, pool: Option<&str>, folder: &Path) -> Outcome<Room> {
        let room = Qemu.room(pool, folder)?;
        Ok(Room { free: Bytes::gib(1), ..room })
    }

    fn refuse_taken(&self, name: &str) -> Outcome {
        match name {
            "others-1" => Err(taken()),
            _ => Ok(()),
        }
    }

    fn prepare(&self, deployment: &Deployment, guest: &Guest) -> Outcome {
        Qemu.prepare(deployment, guest)
    }

    fn make_volume(&self, _: &Deployment, disk: &Volume, _: &AtomicBool) -> Outcome {
        fs::write(&disk.path, "a disk").map_err(|e| Problem::file("make", &disk.path, &e))
    }

    fn start(&self, _: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome {
        assert!(boot.image.is_file() && machine.disks.iter().all(|disk| disk.is_file()));
        let mut running = self.running.borrow_mut();
        if self.fails_at == Some(running.len()) {
            let said = "no".to_owned();
            return Err(Problem::NotStarted { machine: machine.name.clone(), said });
        }
        running.insert(machine.uuid.clone());
        Ok(())
    }

    fn state(&self, _: &Deployment, machine: &Machine) -> State {
        match self.running.borrow().contains(&machine.uuid) {
            false => State::Absent,
            true if self.is_gone => State::Unknown,
            true if self.is_deaf => State::Starting,
            true => State::Listening,
        }
    }

    fn cpu(&self, _: &Deployment, _: &Machine) -> Option<HostCpu> {
        None
    }

    fn console(&self, _: &Deployment, _: &Machine) -> String {
        "plimsoll-first-read-ns=0\nthe last line".to_owned()
    }

    fn line(&self, _: &Deployment, machine: &Machine) -> Outcome<Line> {
        Ok(Line::Socket(machine.socket()))
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        _: MachineAct,
        to: Option<&str>,
    ) -> Outcome<Acted> {
        let Ground::Folders(folders) = self.room(to, &machine.folder)?.ground else {
            return Ok(Acted::default());
        };
        let make = |path: PathBuf, text: &str| fs::write(path, text).expect("written");
        for folder in folders {
            places::make_all(&folder)?;
            make(folder.join(record::MARKER), &deployment.token);
            let names = machine.disks.iter().filter_map(|disk| disk.file_name());
            names.for_each(|name| make(folder.join(name), "a disk"));
        }
        Ok(Acted::default())
    }

    fn remove(&self, _: &Deployment, machine: &Machine) -> Outcome {
        self.running.borrow_mut().remove(&machine.uuid);
        Ok(())
    }

    fn clear(&self, deployment: &Deployment) -> Outcome {
        Qemu.clear(deployment)
    }
}

fn taken() -> Problem {
    Problem::NameOfOthers { name: "others-1".to_owned(), what: "process 7".to_owned() }
}

pub(crate) struct Setting {
    root: tempfile::TempDir,
    pub(crate) places: Places,
}

impl Setting {
    pub(crate) fn new() -> Setting {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        let modules = at("lib/modules/6.1.0");
        fs::create_dir_all(modules.join("kernel")).expect("made");
        fs::create_dir_all(at("boot")).expect("made");
        fs::write(at("boot/vmlinuz-6.1.0"), "a kernel").expect("written");
        fs::write(modules.join("modules.builtin"), "").expect("written");
        for name in ["virtio_pci", "virtio_console", "virtio_blk"] {
            fs::write(modules.join(format!("kernel/{name}.ko")), "a module").expect("written");
        }
        let places = Places { state: at("state"), kernels: at("kernels") };
        Setting { root, places }
    }

    fn up(&self, provider: &Noted, name: &str, pool: Option<&Path>) -> Outcome<Held> {
        self.make(provider, &wanted(name), pool.and_then(Path::to_str))
    }

    pub(crate) fn make(
        &self,
        provider: &dyn Provider,
        wanted: &MachinesWanted,
        pool: Option<&str>,
    ) -> Outcome<Held> {
        let kernel = self.root.path().join("boot/vmlinuz-6.1.0");
        let order = Order {
            wanted,
            pool,
            token: None,
            asks_for_kvm: false,
            program: "a hash",
            kernel: Some(&kernel),
            image: None,
            places: &self.places,
        };
        up(provider, &order, &AtomicBool::new(false), &mut |_| ())
    }

    pub(crate) fn down(&self, provider: &dyn Provider, name: &str) -> Outcome {
        match hold(&self.places, name)? {
            Some(held) => held.remove(provider),
            None => down(&self.places, name),
        }
    }

    fn is_clean(&self, provider: &Noted) -> bool {
        self.has_no_record() && provider.running.borrow().is_empty()
    }

    pub(crate) fn has_no_record(&self) -> bool {
        fs::read_dir(&self.places.state).map_or(true, |mut entries| entries.next().is_none())
    }
}

fn provider() -> Noted {
    Noted { memory: Bytes::gib(1).0, ..Noted::default() }
}

#[test]
fn machines_are_made_found_again_and_removed_whole() {
    let (setting, provider) = (Setting::new(), provider());
    let held = setting.up(&provider, "a", None).expect("made");
    assert_eq!(provider.running.borrow().len(), 2);
    assert_eq!(held.deployment.devices, ["/dev/vda", "/dev/vdb"]);
    let boots: Vec<_> = held.deployment.boots.iter().map(|boot| &*boot.machine).collect();
    assert_eq!(boots, ["a-1", "a-2"]);
    assert!(held.deployment.boots.iter().all(|boot| boot.first_read == Some(Nanos(0))));
    assert_eq!(names(&setting.places), Ok(vec!["a".to_owned()]));
    let busy = setting.down(&provider, "a").expect_err("held");
    assert_eq!(busy, Problem::Busy { name: "a".into() });
    let again = setting.up(&provider, "a", None).expect_err("there already");
    assert_eq!(again, Problem::NameInUse { name: "a".into() });
    // Whoever made them is gone.
    let recorded = held.deployment.clone();
    drop(held);
    assert_eq!(find(&setting.places, "a"), Ok(Some(recorded)));
    setting.down(&provider, "a").expect("removed");
    assert!(setting.is_clean(&provider));
    let gone = setting.down(&provider, "a").expect_err("none");
    assert_eq!(gone, Problem::Unknown { name: "a".into() });
    assert!(setting.down(&provider, "..").is_err());
}

#[test]
fn what_fails_in_the_middle_is_taken_down() {
    let setting = Setting::new();
    let broken = Noted { fails_at: Some(1), ..provider() };
    assert!(matches!(setting.up(&broken, "a", None), Err(Problem::NotStarted { .. })));
    assert!(setting.is_clean(&broken));
    let deaf = Noted { is_deaf: true, ..provider() };
    let silent = setting.up(&deaf, "a", None).expect_err("deaf");
    assert!(silent.to_string().ends_with("\nthe last line"), "{silent}");
    assert!(setting.is_clean(&deaf));
    // A provider that is not there any more is no machine that ended.
    let gone = Noted { is_gone: true, ..provider() };
    let told = setting.up(&gone, "a", None).expect_err("gone").to_string();
    assert_eq!(told, "`hostname` failed: refused; try it by hand, and mend what it names");
    assert!(setting.is_clean(&gone));
}

#[test]
fn what_cannot_be_made_is_refused_before_anything_is() {
    let setting = Setting::new();
    let poor = Noted { memory: Bytes::mib(512).0, ..provider() };
    assert!(matches!(setting.up(&poor, "a", None), Err(Problem::Memory { .. })));
    let refused = setting.up(&provider(), "others", None).expect_err("taken");
    assert_eq!(refused, taken());
    assert!(!setting.places.state.exists());
}

#[test]
fn what_others_put_into_our_folders_stays() {
    let (setting, provider) = (Setting::new(), provider());
    let pool = setting.root.path().join("pool");
    fs::create_dir(&pool).expect("made");
    let held = setting.up(&provider, "a", Some(&pool)).expect("made");
    let disks = pool.join("plimsoll-vms-a");
    assert_eq!(held.deployment.ground, Ground::Folders(vec![disks.clone()]));
    let theirs = disks.join("precious");
    fs::write(&theirs, "theirs").expect("written");
    assert!(matches!(held.remove(&provider), Err(Problem::File { .. })));
    assert!(theirs.is_file() && provider.running.borrow().is_empty());
    fs::remove_file(&theirs).expect("removed");
    setting.down(&provider, "a").expect("the rest is found again");
    assert!(setting.is_clean(&provider) && pool.read_dir().expect("there").next().is_none());
    // A folder of that name that is not ours is not used, and not touched.
    fs::create_dir(&disks).expect("made");
    fs::write(&theirs, "theirs").expect("written");
    assert!(setting.up(&provider, "a", Some(&pool)).is_err());
    assert!(theirs.is_file());
}

#[test]
fn disks_that_moved_beside_a_run_go_with_its_machines() {
    let (setting, provider) = (Setting::new(), provider());
    let held = setting.up(&provider, "a", None).expect("made");
    let pools = ["one", "two"].map(|name| setting.root.path().join(name));
    // Each by a process of its own, that knows nothing of the other.
    for (pool, machine) in pools.iter().zip(["a-1", "a-2"]) {
        fs::create_dir(pool).expect("made");
        let mut known = held.deployment.clone();
        remember_pool(&provider, &mut known, pool.to_str()).expect("on record");
        let machine = known.machine(machine).expect("there");
        provider.act(&known, machine, MachineAct::Move, pool.to_str()).expect("moved");
        assert!(pool.join("plimsoll-vms-a").join(record::MARKER).is_file());
    }
    held.remove(&provider).expect("removed");
    assert!(setting.is_clean(&provider));
    assert!(pools.iter().all(|pool| pool.read_dir().expect("there").next().is_none()));
}

#[test]
fn a_making_that_ended_at_once_leaves_nothing_that_is_not_found() {
    let (setting, provider) = (Setting::new(), provider());
    let folder = setting.places.state.join("a");
    places::make_all(&folder).expect("made");
    fs::write(folder.join(record::PART), "{\"format\"").expect("written");
    assert_eq!(names(&setting.places), Ok(vec!["a".to_owned()]));
    assert_eq!(find(&setting.places, "a"), Ok(None));
    setting.down(&provider, "a").expect("removed");
    assert!(setting.is_clean(&provider));
}

#[test]
fn machines_are_let_go_although_a_program_that_starts_has_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let held = lock(folder.path(), "a").expect("free");
    let of_a_child = held.0.try_clone().expect("a file");
    assert!(matches!(lock(folder.path(), "a"), Err(Problem::Busy { .. })));
    drop(held);
    lock(folder.path(), "a").expect("let go");
    drop(of_a_child);
}
