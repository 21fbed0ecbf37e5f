//! A large host's `/proc` and `/sys`, made of nothing: 64 CPUs, 100 disks and what belongs to them,
//! as long as the real files are.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What the host has.
pub struct Size {
    pub cpus: u64,
    pub disks: u64,
    pub nics: u64,
    pub interrupts: u64,
}

/// The host by which the cost of a reading is measured.
pub const LARGE: Size = Size { cpus: 64, disks: 100, nics: 8, interrupts: 300 };

/// Puts a file there; one that is there keeps its inode, as the kernel's do.
pub fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("a file");
}

/// Writes the files as they are at `time`: every counter of thing `i` grows by its own known step
/// each time.
pub fn write(root: &Path, size: &Size, time: u64) {
    put(root, "proc/stat", &stat(size, time));
    put(root, "proc/interrupts", &interrupts(size, time));
    put(root, "proc/diskstats", &diskstats(size, time));
    put(root, "proc/net/dev", &net_dev(size, time));
    put(root, "proc/meminfo", &meminfo(time));
    for (name, full) in [("cpu", 0), ("memory", 3), ("io", 9)] {
        let line = |kind: &str, total: u64| {
            format!("{kind} avg10=0.00 avg60=0.12 avg300=0.05 total={total}\n")
        };
        let text = line("some", 1_000 + 10 * time) + &line("full", full * time);
        put(root, &format!("proc/pressure/{name}"), &text);
    }
    for cpu in 0..size.cpus {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        put(root, &format!("{folder}/cpufreq/scaling_cur_freq"), &format!("{}\n", 2_000_000 + cpu));
        put(root, &format!("{folder}/thermal_throttle/core_throttle_count"), &format!("{time}\n"));
        put(root, &format!("{folder}/thermal_throttle/package_throttle_count"), "0\n");
    }
    for port in 1..=2 {
        let folder = format!("sys/class/infiniband/mlx5_0/ports/{port}/counters");
        put(root, &format!("{folder}/port_rcv_data"), &format!("{}\n", 25 * time));
        put(root, &format!("{folder}/port_xmit_packets"), &format!("{}\n", 7 * time));
    }
}

fn stat(size: &Size, time: u64) -> String {
    let mut text = String::from("cpu  1 2 3 4 5 6 7 8 9 10\n");
    for cpu in 0..size.cpus {
        let user = 1_000_000 + time * (cpu + 1);
        let _ = writeln!(
            text,
            "cpu{cpu} {user} 20 {} {} 30 0 {} {} 0 0",
            5_000 + 3 * time,
            90 * time,
            2 * time,
            time
        );
    }
    let _ = write!(text, "intr {}", 1_000_000 + 500 * time);
    (0..size.interrupts * 10).for_each(|_| text.push_str(" 0"));
    let _ = write!(
        text,
        "\nctxt {}\nbtime 1\nprocesses 2\nprocs_running 3\nprocs_blocked 1\n",
        70_000 + 900 * time
    );
    text
}

fn interrupts(size: &Size, time: u64) -> String {
    let mut text = String::from("      ");
    (0..size.cpus).for_each(|cpu| text.push_str(&format!("{:>11}", format!("CPU{cpu}"))));
    for interrupt in 0..size.interrupts {
        let _ = write!(text, "\n{interrupt:>4}: ");
        (0..size.cpus).for_each(|cpu| text.push_str(&format!("{:>10} ", 1_000 + time * (cpu + 1))));
        let _ = write!(
            text,
            " IR-PCI-MSIX-0000:e{interrupt}:00.0  {interrupt}-edge  nvme0q{interrupt}"
        );
    }
    text.push_str("\n ERR:          0\n");
    text
}

fn diskstats(size: &Size, time: u64) -> String {
    let mut text = String::new();
    for disk in 0..size.disks {
        let (reads, writes) = (10 + time * (disk + 1), 20 + 2 * time);
        let _ = writeln!(
            text,
            " 259 {disk:>7} nvme{disk}n1 {reads} 0 {} {} {writes} 4 {} 7 2 {} {} 1 0 8 1 {} 3",
            8 * reads,
            3 * time,
            16 * writes,
            1_000 * time,
            1_500 * time,
            4 + time
        );
    }
    text
}

fn net_dev(size: &Size, time: u64) -> String {
    let mut text = String::from(
        "Inter-|   Receive                |  Transmit\n face |bytes    packets errs drop fifo \
         frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n",
    );
    for nic in 0..size.nics {
        let (bytes, packets) = (1_000_000 * time * (nic + 1), 1_000 * time);
        let _ = writeln!(
            text,
            "  eth{nic}: {bytes} {packets} 0 {time} 0 0 0 9 {} {packets} 1 0 0 0 0 0",
            2 * bytes
        );
    }
    text
}

fn meminfo(time: u64) -> String {
    let mut text = String::from(
        "MemTotal:       65843012 kB\nMemFree:        1024 kB\nMemAvailable:   60000000 \
         kB\nBuffers: 0 kB\nCached: 512 kB\n",
    );
    let _ = write!(
        text,
        "SwapCached: 7 kB\nDirty: {time} kB\nWriteback: 4 kB\nHugePages_Total:       0\n"
    );
    text
}
