//! Engines that reach storage by a way of their own: past the page cache, by a library of a storage
//! system, or not at all. Their requests are the same; the way is another one, and is said.

use crate::fio::job::{Away, Engine, Job, put};
use crate::loss::Verdict;
use crate::table::Given;

/// An engine whose requests another way takes as well.
struct Way {
    name: &'static str,
    engine: Engine,
    /// Storage that has no path.
    away: Option<Away>,
    /// Whether no page cache is on its way, whatever `direct` says.
    uncached: bool,
    /// What differs.
    why: &'static str,
}

const fn way(name: &'static str, engine: Engine, away: Option<Away>, why: &'static str) -> Way {
    Way { name, engine, away, uncached: true, why }
}

const VOLUME: Option<Away> = Some(Away::Volume);
const DEVICE: Option<Away> = Some(Away::Device);
const MOUNT: &str = "a mount of this volume, named with `--target`, with direct I/O: the client of \
the kernel or of FUSE in place of the library, on another way and with other CPU time";
const MAPPED: &str = "the block device that the kernel maps for it, named with `--target`: the \
kernel's client in place of the library, with other CPU time";
const GPU: &str = "`backend = \"sync\"` into memory of the host in place of a GPU's";

const WAYS: [Way; 20] = [
    way(
        "io_uring_cmd",
        Engine::IoUring,
        None,
        "`backend = \"io_uring\"` through the block layer, which may split and merge requests and \
         takes some µs of each",
    ),
    way(
        "sg",
        Engine::IoUring,
        None,
        "`backend = \"io_uring\"` through the block layer, which may split and merge requests, in \
         place of SCSI commands",
    ),
    way("dfs", Engine::IoUring, VOLUME, MOUNT),
    way("gfapi", Engine::Sync, VOLUME, MOUNT),
    way("gfapi_async", Engine::IoUring, VOLUME, MOUNT),
    way("nfs", Engine::IoUring, VOLUME, MOUNT),
    way("libhdfs", Engine::Sync, VOLUME, MOUNT),
    way("ime_psync", Engine::Sync, VOLUME, MOUNT),
    way("ime_psyncv", Engine::Sync, VOLUME, MOUNT),
    way("ime_aio", Engine::IoUring, VOLUME, MOUNT),
    way("rbd", Engine::IoUring, DEVICE, MAPPED),
    way(
        "rados",
        Engine::IoUring,
        VOLUME,
        "files of a mounted CephFS, named with `--target`: each request goes to one object of \
         4 MiB there, too, by the kernel's client",
    ),
    way("nbd", Engine::IoUring, DEVICE, MAPPED),
    way("libiscsi", Engine::IoUring, DEVICE, MAPPED),
    way(
        "dev-dax",
        Engine::Sync,
        DEVICE,
        "`backend = \"sync\"` on the block device of the same memory (`fsdax`), named with \
         `--target`: calls in place of copies to mapped memory; each takes about 1 µs more",
    ),
    Way { uncached: false, ..way("libcufile", Engine::Sync, None, GPU) },
    Way { uncached: false, ..way("libhipfile", Engine::Sync, None, GPU) },
    way(
        "libzbc",
        Engine::Sync,
        None,
        "`backend = \"sync\"` through the block layer in place of SCSI commands",
    ),
    way(
        "libblkio",
        Engine::IoUring,
        None,
        "`backend = \"io_uring\"` of the kernel, without the library",
    ),
    Way {
        uncached: false,
        ..way(
            "xnvme",
            Engine::IoUring,
            None,
            "`backend = \"io_uring\"` of the kernel; other backends of xNVMe go past it",
        )
    },
];

/// What becomes of an engine that goes a way of its own; `None` for all others.
pub fn engine(job: &mut Job, given: &Given, name: &str) -> Option<Verdict> {
    let way = WAYS.iter().find(|way| way.name == name)?;
    put(&mut job.engine, given, way.engine.clone());
    if let Some(away) = way.away {
        put(&mut job.away, given, away);
    }
    if way.uncached {
        put(&mut job.uncached, given, true);
    }
    Some(Verdict::near(way.why))
}

/// Why no request of Plimsoll's stands for one of this engine.
pub fn why_not(name: &str) -> String {
    let needs = match name {
        "net" | "netsplice" | "rdma" => "a load of the network, without storage",
        name if name.starts_with("librpma") => "a load of remote memory, without storage",
        "http" => "objects over HTTP",
        "cpuio" => "a load of CPUs alone, without storage",
        "exec" => "programs beside a load; `stages.prerun` and `[[event]]` run commands",
        "e4defrag" => "the exchange of extents between files (`EXT4_IOC_MOVE_EXT`)",
        "ftruncate" => "`ftruncate` as a request",
        "page_fault" => "page faults of memory, without storage",
        "mtd" => "raw flash with blocks that are erased (MTD)",
        _ => return format!("the engine `{name}`"),
    };
    format!("the engine `{name}`: {needs}")
}
