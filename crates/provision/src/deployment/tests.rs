//! Machines of a provider that only notes what it was asked for.

use super::*;
use crate::provider::Node;
use model::machines::{Accelerator, DiskBus, DiskCache};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Has machines by their UUIDs.
#[derive(Default)]
struct Noted {
    running: RefCell<BTreeSet<String>>,
    /// The number of the start that fails.
    fails_at: Option<usize>,
    /// Machines never listen.
    is_deaf: bool,
    memory: u64,
}

impl Provider for Noted {
    fn nodes(&self) -> Result<Vec<Node>, Problem> {
        Ok(vec![Node { name: "here".into(), memory_available: Bytes(self.memory) }])
    }

    fn free(&self, _: &Path) -> Result<Bytes, Problem> {
        Ok(Bytes::gib(1))
    }

    fn refuse_taken(&self, name: &str) -> Result<(), Problem> {
        match name {
            "others-1" => Err(Problem::NameOfOthers { name: name.to_owned(), pid: 7 }),
            _ => Ok(()),
        }
    }

    fn make_volume(&self, volume: &Volume, _: &AtomicBool) -> Result<(), Problem> {
        fs::write(&volume.path, "a disk").map_err(|e| Problem::file("make", &volume.path, &e))
    }

    fn start(&self, machine: &Machine, boot: &Boot<'_>) -> Result<(), Problem> {
        assert!(boot.image.is_file() && machine.disks.iter().all(|disk| disk.is_file()));
        let mut running = self.running.borrow_mut();
        if self.fails_at == Some(running.len()) {
            let said = "no".to_owned();
            return Err(Problem::NotStarted { machine: machine.name.clone(), said });
        }
        running.insert(machine.uuid.clone());
        Ok(())
    }

    fn state(&self, machine: &Machine) -> State {
        match self.running.borrow().contains(&machine.uuid) {
            false => State::Absent,
            true if self.is_deaf => State::Starting,
            true => State::Listening,
        }
    }

    fn console(&self, _: &Machine) -> String {
        "the last line".to_owned()
    }

    fn remove(&self, machine: &Machine) -> Result<(), Problem> {
        self.running.borrow_mut().remove(&machine.uuid);
        Ok(())
    }

    fn remove_volume(&self, volume: &Volume) -> Result<(), Problem> {
        remove_file(&volume.path)
    }
}

struct Setting {
    root: tempfile::TempDir,
    places: Places,
}

impl Setting {
    fn new() -> Setting {
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

    fn up(&self, provider: &Noted, name: &str, pool: Option<&Path>) -> Result<Held, Problem> {
        let wanted = MachinesWanted {
            name: name.to_owned(),
            count: 2,
            vcpus: 1,
            accelerator: Accelerator::Tcg,
            memory: Bytes::mib(256),
            disks: 2,
            disk_size: Bytes::mib(16),
            bus: DiskBus::VirtioBlk,
            cache: DiskCache::None,
            content: DiskContent::Zero,
            boot: Nanos::millis(150),
        };
        let kernel = self.root.path().join("boot/vmlinuz-6.1.0");
        let order = Order {
            wanted: &wanted,
            pool,
            program: "a hash",
            kernel: Some(&kernel),
            places: &self.places,
        };
        up(provider, &order, &AtomicBool::new(false), &mut |_| ())
    }

    fn is_clean(&self, provider: &Noted) -> bool {
        let is_empty =
            fs::read_dir(&self.places.state).map_or(true, |mut entries| entries.next().is_none());
        is_empty && provider.running.borrow().is_empty()
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
    assert_eq!(names(&setting.places), Ok(vec!["a".to_owned()]));
    let busy = down(&provider, &setting.places, "a").expect_err("held");
    assert_eq!(busy, Problem::Busy { name: "a".into() });
    let again = setting.up(&provider, "a", None).expect_err("there already");
    assert_eq!(again, Problem::NameInUse { name: "a".into() });
    // Whoever made them is gone.
    let recorded = held.deployment.clone();
    drop(held);
    assert_eq!(find(&setting.places, "a"), Ok(Some(recorded)));
    down(&provider, &setting.places, "a").expect("removed");
    assert!(setting.is_clean(&provider));
    let gone = down(&provider, &setting.places, "a").expect_err("none");
    assert_eq!(gone, Problem::Unknown { name: "a".into() });
    assert!(down(&provider, &setting.places, "..").is_err());
}

#[test]
fn what_fails_in_the_middle_is_taken_down() {
    let setting = Setting::new();
    let broken = Noted { fails_at: Some(1), ..provider() };
    assert!(matches!(setting.up(&broken, "a", None), Err(Problem::NotStarted { .. })));
    assert!(setting.is_clean(&broken));
    let deaf = Noted { is_deaf: true, ..provider() };
    let silent = setting.up(&deaf, "a", None).expect_err("deaf");
    assert!(silent.to_string().ends_with("ends with:\nthe last line"), "{silent}");
    assert!(setting.is_clean(&deaf));
}

#[test]
fn what_cannot_be_made_is_refused_before_anything_is() {
    let setting = Setting::new();
    let poor = Noted { memory: Bytes::mib(512).0, ..provider() };
    assert!(matches!(setting.up(&poor, "a", None), Err(Problem::Memory { .. })));
    let taken = setting.up(&provider(), "others", None).expect_err("taken");
    assert_eq!(taken, Problem::NameOfOthers { name: "others-1".into(), pid: 7 });
    assert!(!setting.places.state.exists());
}

#[test]
fn what_others_put_into_our_folders_stays() {
    let (setting, provider) = (Setting::new(), provider());
    let pool = setting.root.path().join("pool");
    fs::create_dir(&pool).expect("made");
    let held = setting.up(&provider, "a", Some(&pool)).expect("made");
    let disks = held.deployment.disks.clone();
    assert_eq!(disks, pool.join("plimsoll-vms-a"));
    let theirs = disks.join("precious");
    fs::write(&theirs, "theirs").expect("written");
    assert!(matches!(held.remove(&provider), Err(Problem::File { .. })));
    assert!(theirs.is_file() && provider.running.borrow().is_empty());
    fs::remove_file(&theirs).expect("removed");
    down(&provider, &setting.places, "a").expect("the rest is found again");
    assert!(setting.is_clean(&provider) && pool.read_dir().expect("there").next().is_none());
    // A folder of that name that is not ours is not used, and not touched.
    fs::create_dir(&disks).expect("made");
    fs::write(&theirs, "theirs").expect("written");
    assert!(setting.up(&provider, "a", Some(&pool)).is_err());
    assert!(theirs.is_file());
}

#[test]
fn a_making_that_ended_at_once_leaves_nothing_that_is_not_found() {
    let (setting, provider) = (Setting::new(), provider());
    let folder = setting.places.state.join("a");
    places::make_all(&folder).expect("made");
    fs::write(folder.join(record::PART), "{\"format\"").expect("written");
    assert_eq!(names(&setting.places), Ok(vec!["a".to_owned()]));
    assert_eq!(find(&setting.places, "a"), Ok(None));
    down(&provider, &setting.places, "a").expect("removed");
    assert!(setting.is_clean(&provider));
}
