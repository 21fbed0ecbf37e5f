//! The first process of a guest: it prepares what an agent needs, and starts one agent after the
//! other on the line to the host.

use super::line::{self, Held};
use crate::inside::{AGENT_PORT, FIRST_READ, MODULES};
use rustix::mount::{MountFlags, mount};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What the host keeps: an image may have its own console elsewhere.
const CONSOLE: &str = "/dev/ttyS0";
/// How long disks and the line may take to appear.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks, and between two agents.
const PAUSE: Duration = Duration::from_millis(50);

/// What the host says to a guest, on the kernel's command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// The guest's name.
    pub name: String,
    /// Its disks.
    pub disks: Vec<String>,
    /// What is around us.
    pub within: Within,
}

/// What the first process of ours finds in a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Nothing but a kernel: it is the first process of all.
    Kernel,
    /// A whole system, which started it.
    Image {
        /// The processor is emulated.
        is_emulated: bool,
    },
}

/// Prepares the guest and serves coordinators until its end. It comes back only where it cannot
/// go on.
///
/// # Errors
/// In words, for the guest's console.
pub fn serve(init: &Init) -> String {
    match prepare(init) {
        Err(why) => why,
        Ok(port) => {
            let mut held = Held::default();
            loop {
                if let Err(error) = line::serve_one(&port, &init.disks, CONSOLE, &mut held) {
                    say(&format!("plimsoll: the agent: {error}"));
                }
                sleep(PAUSE);
            }
        }
    }
}

/// Makes the guest ready; gives the line to the host.
fn prepare(init: &Init) -> Result<PathBuf, String> {
    match init.within {
        Within::Kernel => prepare_kernel(init)?,
        Within::Image { is_emulated: true } => trust_no_counter()?,
        Within::Image { is_emulated: false } => {}
    }
    let deadline = Instant::now() + PATIENCE;
    let missing = || init.disks.iter().find(|disk| !Path::new(disk).exists());
    loop {
        let port = port();
        match (missing(), port) {
            (None, Some(port)) => {
                first_reads(&init.disks)?;
                return Ok(port);
            }
            (Some(disk), _) if Instant::now() > deadline => {
                return Err(format!("the disk {disk} does not appear"));
            }
            (None, None) if Instant::now() > deadline => {
                return Err("the line to the host does not appear".to_owned());
            }
            _ => sleep(PAUSE),
        }
    }
}

/// Has the kernel keep time by the emulated HPET, or else by the timer of ACPI: an emulated
/// processor's counter has a frequency that the guest measured wrongly (`inside.rs`).
fn trust_no_counter() -> Result<(), String> {
    let folder = Path::new("/sys/devices/system/clocksource/clocksource0");
    let set = |name: &str| fs::write(folder.join("current_clocksource"), name);
    set("hpet")
        .or_else(|_| set("acpi_pm"))
        .map_err(|error| format!("the clock cannot be set to hpet or acpi_pm: {error}"))
}

/// Mounts what an agent needs, and loads the modules.
fn prepare_kernel(init: &Init) -> Result<(), String> {
    let mounts = [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")];
    for (kind, place) in mounts {
        // Some kernels mount /dev by themselves.
        match mount(kind, place, kind, MountFlags::empty(), None) {
            Ok(()) | Err(rustix::io::Errno::BUSY) => {}
            Err(error) => return Err(format!("{place} cannot be mounted: {error}")),
        }
    }
    rustix::system::sethostname(init.name.as_bytes())
        .map_err(|error| format!("the name {} cannot be set: {error}", init.name))?;
    load_modules().map_err(|error| format!("the modules cannot be loaded: {error}"))
}

/// Reads the first block of each disk, and says on the console when that was done.
fn first_reads(disks: &[String]) -> Result<(), String> {
    for disk in disks {
        let read = File::open(disk).and_then(|mut file| file.read_exact(&mut [0; 4096]));
        read.map_err(|error| format!("{disk} cannot be read: {error}"))?;
    }
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    if let Some(ns) = nanos(&uptime) {
        say(&format!("{FIRST_READ}{ns}"));
    }
    Ok(())
}

/// The first number of `/proc/uptime`, which has seconds with two digits behind the point.
fn nanos(uptime: &str) -> Option<u64> {
    let (seconds, hundredths) = uptime.split_whitespace().next()?.split_once('.')?;
    let hundredths: u64 = hundredths.parse().ok().filter(|part| *part < 100)?;
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(hundredths * 10_000_000)
}

/// Loads the modules in the order of their names.
fn load_modules() -> io::Result<()> {
    let entries = fs::read_dir(MODULES)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        match rustix::system::init_module(&fs::read(&path)?, c"") {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => {
                return Err(io::Error::other(format!("{}: {error}", path.display())));
            }
        }
    }
    Ok(())
}

/// The device of the line to the host, once it is there.
fn port() -> Option<PathBuf> {
    let entries = fs::read_dir("/sys/class/virtio-ports").ok()?.filter_map(Result::ok);
    let named = entries.filter(|entry| {
        fs::read_to_string(entry.path().join("name")).is_ok_and(|name| name.trim() == AGENT_PORT)
    });
    let device = named.map(|entry| Path::new("/dev").join(entry.file_name())).next()?;
    device.exists().then_some(device)
}

/// Says something on the guest's console, which the host keeps. If that fails, nobody can be told.
fn say(text: &str) {
    if let Ok(mut console) = File::options().write(true).open(CONSOLE) {
        let _ = writeln!(console, "{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_since_the_start_is_read_as_the_kernel_writes_it() {
        assert_eq!(nanos("12.34 45.60\n"), Some(12_340_000_000));
        assert_eq!((nanos(""), nanos("12"), nanos("1.234 5")), (None, None, None));
    }
}
