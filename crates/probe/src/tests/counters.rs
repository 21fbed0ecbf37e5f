//! Counters over trees of files whose numbers are known, on hosts that are whole, damaged or hardly
//! there.

use super::fixture::{LARGE, Size, put, write};
use crate::{Counters, Tree};
use model::CounterSample;
use model::counters::{Layer, Metric};
use std::path::Path;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn open(root: &Path) -> Counters {
    Counters::open(&Tree::at(root))
}

const SMALL: Size = Size { cpus: 2, disks: 2, nics: 1, interrupts: 3 };

#[test]
fn a_large_host_is_counted_to_the_last_number() {
    let folder = folder();
    write(folder.path(), &LARGE, 10);
    let mut counters = open(folder.path());
    write(folder.path(), &LARGE, 15);
    let sample = counters.read();
    assert_eq!(sample.notes, Vec::<String>::new());
    let get = |layer, name: &str, metric| sample.get(layer, name, metric);
    for cpu in 0..LARGE.cpus {
        let name = cpu.to_string();
        assert_eq!(
            get(Layer::Cpu, &name, Metric::UserNs),
            Some(5 * (cpu + 1) * 10_000_000),
            "ticks of 10 ms"
        );
        assert_eq!(get(Layer::Cpu, &name, Metric::SoftirqNs), Some(2 * 5 * 10_000_000));
        assert_eq!(get(Layer::Cpu, &name, Metric::StealNs), Some(5 * 10_000_000));
        assert_eq!(
            get(Layer::Interrupt, &name, Metric::Interrupts),
            Some(LARGE.interrupts * 5 * (cpu + 1))
        );
        assert_eq!(get(Layer::Clock, &name, Metric::FrequencyHz), Some((2_000_000 + cpu) * 1_000));
        assert_eq!(get(Layer::Clock, &name, Metric::CoreThrottles), Some(5));
    }
    for disk in 0..LARGE.disks {
        let name = format!("nvme{disk}n1");
        let get = |metric| get(Layer::Block, &name, metric);
        assert_eq!(
            (get(Metric::Reads), get(Metric::ReadBytes)),
            (Some(5 * (disk + 1)), Some(5 * (disk + 1) * 4096))
        );
        assert_eq!((get(Metric::Writes), get(Metric::WriteBytes)), (Some(10), Some(10 * 8192)));
        assert_eq!(
            (get(Metric::BusyNs), get(Metric::QueueNs)),
            (Some(5_000_000_000), Some(7_500_000_000))
        );
        assert_eq!((get(Metric::InFlight), get(Metric::Flushes)), (Some(2), Some(5)));
        assert_eq!(
            (get(Metric::DiscardBytes), get(Metric::DiscardNs), get(Metric::FlushNs)),
            (Some(0), Some(0), Some(0))
        );
    }
    assert_eq!(get(Layer::Nic, "eth7", Metric::ReceivedBytes), Some(40_000_000));
    assert_eq!(get(Layer::Nic, "eth7", Metric::SentBytes), Some(80_000_000));
    assert_eq!(get(Layer::Nic, "eth7", Metric::ReceiveDrops), Some(5));
    assert_eq!(get(Layer::Rdma, "mlx5_0/2", Metric::ReceivedBytes), Some(5 * 25 * 4));
    assert_eq!(get(Layer::Rdma, "mlx5_0/2", Metric::SentPackets), Some(35));
    assert_eq!(get(Layer::Rdma, "mlx5_0/2", Metric::SendDrops), None, "this port does not tell");
    assert_eq!(get(Layer::Host, "", Metric::Interrupts), Some(2_500));
    assert_eq!(get(Layer::Host, "", Metric::ContextSwitches), Some(4_500));
    assert_eq!(get(Layer::Host, "", Metric::Runnable), Some(3));
    assert_eq!(get(Layer::Memory, "", Metric::DirtyBytes), Some(15 << 10));
    assert_eq!(get(Layer::Memory, "", Metric::CachedBytes), Some(512 << 10), "not that of swap");
    assert_eq!(get(Layer::Pressure, "io", Metric::SomeNs), Some(50_000));
    assert_eq!(get(Layer::Pressure, "memory", Metric::FullNs), Some(15_000));
}

#[test]
fn each_interval_begins_where_the_last_one_ended() {
    let folder = folder();
    write(folder.path(), &SMALL, 0);
    let mut counters = open(folder.path());
    let mut whole: Option<CounterSample> = None;
    for time in [1, 4, 5] {
        write(folder.path(), &SMALL, time);
        let sample = counters.read();
        match &mut whole {
            None => whole = Some(sample),
            Some(whole) => {
                assert_eq!(whole.start_ns + whole.length_ns, sample.start_ns);
                whole.merge(&sample);
            }
        }
    }
    let whole = whole.expect("samples");
    assert_eq!(whole.get(Layer::Block, "nvme1n1", Metric::Reads), Some(10));
    assert_eq!(whole.get(Layer::Nic, "eth0", Metric::ReceivedBytes), Some(5_000_000));
}

#[test]
fn a_host_without_proc_counts_nothing_and_says_so_once() {
    let folder = folder();
    let mut counters = open(folder.path());
    let first = counters.read();
    assert_eq!(first.entries, []);
    for path in
        ["/proc/stat", "/proc/meminfo", "/proc/diskstats", "/proc/net/dev", "/proc/pressure"]
    {
        assert!(first.notes.iter().any(|note| note.starts_with(path)), "{path}: {:?}", first.notes);
    }
    assert_eq!(counters.read().notes, Vec::<String>::new());
}

#[test]
fn ports_that_are_seen_and_count_nothing_are_told() {
    let folder = folder();
    write(folder.path(), &SMALL, 0);
    put(folder.path(), "sys/class/infiniband/mlx5_9/ports/1/state", "4: ACTIVE\n");
    let others: Vec<_> =
        std::fs::read_dir(folder.path().join("sys/class/infiniband")).expect("devices").collect();
    for other in others.into_iter().flatten().filter(|other| other.file_name() != "mlx5_9") {
        std::fs::remove_dir_all(other.path()).expect("a device less");
    }
    let mut counters = open(folder.path());
    let notes = counters.read().notes;
    assert!(notes.len() == 1 && notes[0].starts_with("/sys/class/infiniband"), "{notes:?}");
    put(folder.path(), "sys/class/infiniband/mlx5_9/ports/1/counters/port_rcv_data", "1\n");
    assert_eq!(open(folder.path()).read().notes, Vec::<String>::new());
}

#[test]
fn a_kernel_with_pressure_switched_off_says_how_to_have_it() {
    let folder = folder();
    write(folder.path(), &SMALL, 0);
    std::fs::remove_dir_all(folder.path().join("proc/pressure")).expect("gone");
    let notes = open(folder.path()).read().notes;
    assert!(notes.len() == 1 && notes[0].contains("psi=1"), "{notes:?}");
}

#[test]
fn a_file_that_vanishes_and_returns_is_never_counted_over_the_gap() {
    let folder = folder();
    write(folder.path(), &SMALL, 0);
    std::fs::remove_file(folder.path().join("proc/diskstats")).expect("gone");
    let mut counters = open(folder.path());
    let reads = |sample: &CounterSample| sample.get(Layer::Block, "nvme0n1", Metric::Reads);
    assert_eq!(counters.read().notes.len(), 1);
    write(folder.path(), &SMALL, 3);
    assert_eq!(reads(&counters.read()), None, "since when it counts is unknown");
    write(folder.path(), &SMALL, 4);
    assert_eq!(reads(&counters.read()), Some(1));
    std::fs::remove_file(folder.path().join("proc/diskstats")).expect("gone");
    let sample = counters.read();
    assert_eq!((reads(&sample), sample.notes.len()), (None, 2), "{:?}", sample.notes);
}

#[test]
fn disks_are_shown_and_counted_from_their_first_request_on_and_partitions_never() {
    let folder = folder();
    let lines = |reads: u64| {
        format!(
            "7 0 loop0 {reads} 0 8 0 0 0 0 0 0 0 0\n8 0 sda 5 0 0 0 0 0 0 0 0 0 0\n8 1 sda1 5 0 0 \
             0 0 0 0 0 0 0 0\n"
        )
    };
    put(folder.path(), "proc/diskstats", &lines(0).replace(" 8 0 0 0 0", " 0 0 0 0 0"));
    put(folder.path(), "sys/class/block/sda1/partition", "1\n");
    let mut counters = open(folder.path());
    let names = |sample: &CounterSample| -> Vec<String> {
        sample
            .entries
            .iter()
            .filter(|entry| entry.layer == Layer::Block)
            .map(|entry| entry.name.clone())
            .collect()
    };
    assert_eq!(names(&counters.read()), ["sda"]);
    put(folder.path(), "proc/diskstats", &lines(7));
    let sample = counters.read();
    assert_eq!(names(&sample), ["loop0", "sda"]);
    assert_eq!(sample.get(Layer::Block, "loop0", Metric::Reads), Some(7));
    assert_eq!(
        sample.get(Layer::Block, "loop0", Metric::Flushes),
        None,
        "a kernel before 5.5 has no such column"
    );
}

#[test]
fn damaged_files_are_no_numbers_and_no_panic() {
    let folder = folder();
    write(folder.path(), &SMALL, 1);
    let mut counters = open(folder.path());
    let files = [
        "stat", "interrupts", "diskstats", "net/dev", "meminfo", "pressure/io", "self/mountstats",
        "fs/cifs/Stats",
    ];
    let garbage = [
        "",
        "\n\n\n",
        ":",
        "cpu0\ncpu\nCPU0 CPU1\n1:\n:::\n",
        "259 0\n259 0 nvme0n1\n",
        "device  on with fstype\n:\n",
        "1)\nSMBs\n",
    ];
    let noise: String = (0..5_000u32)
        .map(|i| char::from(32 + (i.wrapping_mul(2_654_435_761) >> 25) as u8))
        .collect();
    for text in garbage.into_iter().chain([noise.as_str()]) {
        for file in files {
            put(folder.path(), &format!("proc/{file}"), text);
        }
        let sample = counters.read();
        assert_eq!(sample.get(Layer::Block, "nvme0n1", Metric::Reads), None, "{text}");
    }
    write(folder.path(), &SMALL, 2);
    counters.read();
    write(folder.path(), &SMALL, 3);
    assert_eq!(
        counters.read().get(Layer::Block, "nvme0n1", Metric::Reads),
        Some(1),
        "and it goes on"
    );
}

const MOUNTSTATS: &str = "\
device proc mounted on /proc with fstype proc
device server:/export mounted on /mnt/nfs with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,proto=tcp,timeo=600
\tage:\t100
\tcaps:\tcaps=0x3ffbffff,wtmult=512
\tevents:\t1 2 3 4 5
\tbytes:\t10 20 30 40 BYTES 8192 7 8
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 11 500 500 0 600 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: CALLS SENT 2 44 24 5 RTT 90 0
\t       WRITE: 4 4 0 44 24 5 60 66 0
device /dev/sda1 mounted on /boot with fstype ext4
";

#[test]
fn an_nfs_mount_is_counted_by_what_went_to_its_server() {
    let folder = folder();
    let text = |bytes: &str, calls: &str, sent: &str, rtt: &str| {
        MOUNTSTATS
            .replace("BYTES", bytes)
            .replace("CALLS", calls)
            .replace("SENT", sent)
            .replace("RTT", rtt)
    };
    put(folder.path(), "proc/self/mountstats", &text("4096", "1", "1", "80"));
    let mut counters = open(folder.path());
    put(folder.path(), "proc/self/mountstats", &text("40960", "10", "13", "85"));
    let sample = counters.read();
    let get = |metric| sample.get(Layer::Nfs, "/mnt/nfs", metric);
    assert_eq!((get(Metric::ReadBytes), get(Metric::WriteBytes)), (Some(36_864), Some(0)));
    assert_eq!(
        (get(Metric::Reads), get(Metric::Writes), get(Metric::Calls)),
        (Some(9), Some(0), Some(9))
    );
    assert_eq!((get(Metric::Retransmissions), get(Metric::Timeouts)), (Some(3), Some(0)));
    assert_eq!(get(Metric::ReadRttNs), Some(5_000_000));
    assert_eq!(sample.entries.iter().filter(|entry| entry.layer == Layer::Nfs).count(), 1);
}

const CIFS: &str = "\
Resources in use
CIFS Session: 1
0 session 0 share reconnects
Total vfs operations: 16 maximum at one time: 2

1) \\\\server\\share
SMBs: 9
Bytes read: 100  Bytes written: 5
Open files: 1 total (local), 0 open on server
TreeConnects: 1 total 0 failed
Reads: 3 total 0 failed
Writes: 1 total 0 failed
";

#[test]
fn an_smb_share_is_counted() {
    let folder = folder();
    put(folder.path(), "proc/fs/cifs/Stats", CIFS);
    let mut counters = open(folder.path());
    let later = CIFS
        .replace("SMBs: 9", "SMBs: 20")
        .replace("read: 100", "read: 1100")
        .replace("Reads: 3", "Reads: 7");
    put(folder.path(), "proc/fs/cifs/Stats", &later);
    let sample = counters.read();
    let get = |metric| sample.get(Layer::Smb, "\\\\server\\share", metric);
    assert_eq!(
        (get(Metric::Calls), get(Metric::Reads), get(Metric::Writes)),
        (Some(11), Some(4), Some(0))
    );
    assert_eq!((get(Metric::ReadBytes), get(Metric::WriteBytes)), (Some(1_000), Some(0)));
}

#[test]
fn this_very_host_can_be_counted() {
    let mut counters = Counters::open(&Tree::real());
    counters.read();
    let sample = counters.read();
    assert!(sample.get(Layer::Memory, "", Metric::FreeBytes).is_some_and(|bytes| bytes > 0));
    assert!(sample.get(Layer::Host, "", Metric::ContextSwitches).is_some());
    assert!(sample.entries.iter().any(|entry| entry.layer == Layer::Cpu));
}
