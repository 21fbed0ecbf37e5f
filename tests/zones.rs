//! Workloads that keep to zones, on a device that has none: what the kernel was sent.

use crate::common::{Loop, has, plimsoll, scratch, text};
use crate::equivalence::kernel::{Kernel, Sent};
use model::Op;
use std::fs;
use std::path::Path;

const ZONE: u64 = 1 << 20;
/// A workload that resets zones, beside the one that writes to them.
const RESETS: &str = "zone_size = \"1MiB\"\ngroup = \"g\"\n[[workload]]\nname = \"resets\"\n\
                      group = \"g\"\nread = \"0%\"\ntrim = \"100%\"\nblock_size = \"1MiB\"\n\
                      zones = \"device\"\nzone_size = \"1MiB\"\ndepth = 1\n[engine]\n\
                      backend = \"sync\"";

fn suite(workload: &str) -> String {
    format!(
        "name = \"zones\"\n[layout]\nsize = \"free\"\n[stages]\nprepare = false\nmeasure = \
         \"1s\"\n[[workload]]\nname = \"w\"\nread = \"0%\"\nblock_size = \"64KiB\"\nzones = \
         \"device\"\nsharing = \"whole\"\nworkers = 2\ndepth = 4\n{workload}\n"
    )
}

/// What the kernel was sent by a suite with this workload.
fn sent(folder: &Path, workload: &str) -> Vec<Sent> {
    let device = Loop::new(64);
    let merges = format!("/sys/block/{}/queue/nomerges", device.name());
    fs::write(merges, "2").expect("a device of ours");
    fs::write(folder.join("zones.toml"), suite(workload)).expect("a suite");
    let name = text(&device.device);
    let kernel = Kernel::listen(&device);
    let line = ["run", "zones.toml", "-t", name, "--destroy-data", name, "-q"];
    let ended = plimsoll(folder, line);
    let heard = kernel.heard();
    assert_eq!(ended.code, 0, "{ended:#?}");
    heard
}

#[test]
fn each_write_goes_to_the_write_pointer_of_its_zone_and_no_zone_past_the_limit_is_open() {
    let true = has("zones", "losetup loop tracefs") else { return };
    let folder = scratch();
    let heard = sent(
        &folder,
        "zone_size = \"1MiB\"\nopen_zones = 3\nrange = \"1500KiB-10MiB\"\naccess = \"random\"",
    );
    let mut pointers = [0_u64; 64];
    let mut ends = [0_u64; 64];
    assert!(heard.len() > 100, "{} requests", heard.len());
    for one in &heard {
        assert_eq!(one.op, Op::Write);
        let (zone, within) = ((one.offset / ZONE) as usize, one.offset % ZONE);
        assert!((2..10).contains(&zone), "zone {zone} is not whole within the range");
        if within == 0 && pointers[zone] == ZONE {
            pointers[zone] = 0;
            ends[zone] += 1;
        }
        assert_eq!(within, pointers[zone], "zone {zone}");
        pointers[zone] += one.length;
        let partly = pointers.iter().filter(|at| **at > 0 && **at < ZONE).count();
        assert!(partly <= 3, "{partly} zones are open");
    }
    assert!(ends.iter().sum::<u64>() > 0, "none was full and written again");
}

#[test]
fn what_has_no_zones_is_refused_in_words() {
    let true = has("zones", "losetup loop") else { return };
    let folder = &scratch();
    let device = Loop::new(64);
    let name = text(&device.device);
    for (workload, expected) in [
        ("", "has no zones; name a zoned device, or give zone_size"),
        ("zone_size = \"128MiB\"", "less than one block"),
        ("zone_size = \"1MiB\"\nread = \"100%\"", "hold nothing to read"),
        (RESETS, "has no zones that a trim could reset; name a zoned device"),
    ] {
        let text = suite(workload).replace("depth = 4", "depth = 1");
        // The last word counts.
        let text =
            if workload.contains("read") { text.replacen("read = \"0%\"\n", "", 1) } else { text };
        fs::write(folder.join("zones.toml"), text).expect("a suite");
        let line = ["run", "zones.toml", "-t", name, "--destroy-data", name, "-q"];
        let ended = plimsoll(folder, line);
        assert!(ended.code != 0 && ended.err.contains(expected), "{workload}: {ended:#?}");
    }
    fs::write(folder.join("zones.toml"), suite("")).expect("a suite");
    for target in ["sim:ssd", "data"] {
        let ended = plimsoll(folder, ["plan", "zones.toml", "-t", target]);
        assert!(ended.err.contains("has no zones for workload `w`"), "{target}: {ended:#?}");
    }
}
