//! Engines and hosts: how requests reach the kernel, and on which CPUs and memory.

use super::away;
use crate::fio::job::{Away, Engine, Job, later, near, put, same};
use crate::loss::{Class, Verdict};
use crate::table::{Given, Opt, Rule, Takes};
use crate::values::flag;

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "ioengine",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`backend`: `sync` (also psync, vsync, pvsync, pvsync2), `libaio`, `io_uring`, `null`; \
             `mmap`, `posixaio`, `splice`, `libpmem`, `dev-dax`, `io_uring_cmd`, `sg`, `xnvme`, \
             `libblkio`, `libzbc`, `libcufile` and `libhipfile` are approximated, as are `dfs`, \
             `gfapi`, `nfs`, `libhdfs` and `ime_…` on a mount of their volume, and `rbd`, \
             `rados`, `nbd` and `libiscsi` on a mapped device; `filecreate`, `filestat`, \
             `filedelete`, `dircreate`, `dirstat` and `dirdelete` are metadata workloads; \
             `falloc` is `trim_as`; others are refused",
            engine,
        ),
    },
    Opt {
        name: "direct",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`; fio's default is 0", |job, given| {
            let value = flag(&given.value)?;
            same(&mut job.direct, given, value, "`engine.direct`")
        }),
    },
    Opt {
        name: "buffered",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.direct`", |job, given| {
            let value = !flag(&given.value)?;
            same(&mut job.direct, given, value, "`engine.direct`")
        }),
    },
    Opt {
        name: "atomic",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Approximated, ATOMIC, |_, given| {
            Ok(match flag(&given.value)? {
                true => Verdict::near(ATOMIC),
                false => Verdict::harmless("this value asks for nothing"),
            })
        }),
    },
    Opt {
        name: "invalidate",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.evict`", |job, given| {
            let value = flag(&given.value)?;
            same(&mut job.invalidate, given, value, "`engine.evict`")
        }),
    },
    Opt {
        name: "hipri",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.poll = \"completions\"`", |job, given| {
            let poll = if flag(&given.value)? { "completions" } else { "none" };
            same(&mut job.poll, given, poll, "`engine.poll`")
        }),
    },
    Opt {
        name: "hipri_percentage",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Refused("polling for some of the requests"),
    },
    Opt {
        name: "sqthread_poll",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`engine.poll = \"submissions\"`", |job, given| {
            let poll = if flag(&given.value)? { "submissions" } else { "none" };
            same(&mut job.poll, given, poll, "`engine.poll`")
        }),
    },
    Opt {
        name: "sqthread_poll_cpu",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "the kernel's thread runs where the kernel puts it",
            |_, _| Ok(Verdict::near("the kernel's thread runs where the kernel puts it")),
        ),
    },
    Opt {
        name: "fixedbufs",
        aliases: &["registerfiles", "nonvectored", "force_async", "libaio_vectored"],
        takes: Takes::Flag,
        rule: Rule::Harmless("Plimsoll chooses the fastest form of a request itself"),
    },
    Opt {
        name: "nowait",
        aliases: &["uncached", "userspace_reap", "busy_poll"],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "this flag on each request"),
    },
    Opt {
        name: "cmd_type",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "requests of the block layer in place of commands of NVMe or SCSI",
            |_, given| match given.value.as_str() {
                "nvme" | "bsg" => {
                    Ok(Verdict::near("requests of the block layer in place of commands"))
                }
                _ => Err("commands of another kind than NVMe's and SCSI's".to_owned()),
            },
        ),
    },
    Opt {
        name: "libblkio_driver",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`io_uring`: that of the kernel; of other drivers, the block device that the kernel \
             has for it",
            |job, given| match given.value.as_str() {
                "io_uring" | "nvme-io_uring" => {
                    Ok(Verdict::near("`backend = \"io_uring\"`, without the library"))
                }
                _ => {
                    put(&mut job.away, given, Away::Device);
                    Ok(Verdict::near(
                        "the kernel's driver in place of one in user space: give it the device, \
                         and name its block device with `--target`; requests take some µs more",
                    ))
                }
            },
        ),
    },
    Opt {
        name: "libblkio_path",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "the target, as `filename`", |job, given| {
            later(&mut job.filename, given, vec![given.value.clone()])
        }),
    },
    Opt {
        name: "xnvme_async",
        aliases: &["xnvme_sync", "xnvme_admin", "xnvme_be", "xnvme_mem", "xnvme_iovec"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "the kernel's `io_uring`, whatever backend xNVMe is to take",
            |_, _| Ok(Verdict::near("the kernel's `io_uring`, without xNVMe")),
        ),
    },
    Opt {
        name: "fdp",
        aliases: &[
            "dataplacement",
            "data_placement",
            "fdp_pli",
            "plids",
            "fdp_pli_select",
            "plid_select",
            "dp_scheme",
        ],
        takes: Takes::Text,
        rule: Rule::Near(
            "all writes have the device's default placement: their order, sizes and places are \
             the same, and the write amplification is not, which placement is for",
        ),
    },
    Opt {
        name: "thread",
        aliases: &["threads"],
        takes: Takes::Flag,
        rule: Rule::Harmless("workers are threads in any case"),
    },
    Opt {
        name: "cpus_allowed",
        aliases: &["cpumask"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, CPUS, |job, given| {
            near(&mut job.pinned, given, true, CPUS)
        }),
    },
    Opt {
        name: "cpus_allowed_policy",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`engine.pin`", |job, given| {
            same(&mut job.pin_split, given, given.value == "split", "`engine.pin`")
        }),
    },
    Opt {
        name: "numa_cpu_nodes",
        aliases: &["numa_mem_policy"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`engine.pin = \"node\"`: the NUMA node of the target, not one of choice",
            |job, given| {
                let why = "`engine.pin`: the NUMA node of the target, not this one";
                near(&mut job.pinned, given, false, why)
            },
        ),
    },
    Opt {
        name: "nice",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, NICE, |_, given| {
            Ok(if given.value == "0" { Verdict::same("the default") } else { Verdict::near(NICE) })
        }),
    },
    Opt {
        name: "cgroup",
        aliases: &["cgroup_weight", "cgroup_nodelete"],
        takes: Takes::Text,
        rule: Rule::Refused("control groups; start `plimsoll` in one"),
    },
    Opt {
        name: "uid",
        aliases: &["gid"],
        takes: Takes::Number,
        rule: Rule::Refused("another user; start `plimsoll` as that one"),
    },
    Opt {
        name: "comm",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("the name of a process"),
    },
    Opt {
        name: "ioscheduler",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused(
            "a change of the device's scheduler; write it into /sys before, or into \
            `stages.prerun`",
        ),
    },
    Opt {
        name: "mem",
        aliases: &["iomem", "hugepage-size", "thp"],
        takes: Takes::Text,
        rule: Rule::Read(Class::Approximated, MEMORY, |_, given| {
            let plain = given.value.split(':').next().unwrap_or_default();
            Ok(match plain {
                "malloc" | "mmap" | "shm" => Verdict::same("plain memory"),
                _ => Verdict::near(MEMORY),
            })
        }),
    },
    Opt {
        name: "iomem_align",
        aliases: &["mem_align"],
        takes: Takes::Size,
        rule: Rule::Harmless("buffers are aligned to pages"),
    },
    Opt {
        name: "lockmem",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Unless(&["0"], "memory that is taken away from the page cache"),
    },
    Opt {
        name: "gpu_dev_id",
        aliases: &["gpu_dev_ids", "cuda_io", "rocm_io"],
        takes: Takes::Text,
        rule: Rule::Near(
            "buffers are plain memory of the host: what a copy to or from a GPU takes is not \
             measured",
        ),
    },
    Opt { name: "hostname", aliases: NETWORK, takes: Takes::Text, rule: FOREIGN },
    Opt { name: "cpuload", aliases: CPU, takes: Takes::Text, rule: FOREIGN },
    Opt { name: "pool", aliases: STORES, takes: Takes::Text, rule: Rule::Near(STORE) },
    Opt { name: "http_host", aliases: HTTP, takes: Takes::Text, rule: FOREIGN },
    Opt { name: "libblkio_queue_size", aliases: OTHERS, takes: Takes::Text, rule: FOREIGN },
];

const FOREIGN: Rule<Job> = Rule::Refused("the engine that it belongs to");
const ATOMIC: &str = "plain writes of the same sizes: a power cut may tear one; sizes that a \
device writes atomically are \
     as fast";
const STORE: &str =
    "it names storage for a library: mount or map it, and name that with `--target`";
const CPUS: &str = "`engine.pin`: each worker has a CPU of its own, or one of the target's NUMA \
node; which ones \
     is not chosen";
const NICE: &str = "workers have the priority of the process; start `plimsoll` with `nice`";
const MEMORY: &str = "buffers are plain memory, aligned to pages";
const NETWORK: &[&str] = &[
    "port",
    "listen",
    "protocol",
    "pingpong",
    "nodelay",
    "interface",
    "ttl",
    "window_size",
    "mss",
    "verb",
    "bindname",
];
const CPU: &[&str] = &[
    "cpuchunks",
    "cpumode",
    "exit_on_io_done",
    "program",
    "arguments",
    "grace_time",
    "std_redirect",
];
const STORES: &[&str] = &[
    "clustername",
    "rbdname",
    "clientname",
    "conf",
    "cont",
    "svcl",
    "object_class",
    "chunk_size",
    "touch_objects",
    "volume",
    "brick",
    "namenode",
    "hdfsdirectory",
    "hdfs_use_direct",
    "single_instance",
    "nfs_url",
    "uri",
    "initiator",
];
const HTTP: &[&str] = &[
    "https",
    "http_user",
    "http_pass",
    "http_mode",
    "http_verbose",
    "http_s3_key",
    "http_s3_keyid",
    "http_s3_region",
    "http_s3_security_token",
    "http_s3_storage_class",
    "http_s3_sse_customer_key",
    "http_s3_sse_customer_algorithm",
    "http_swift_auth_token",
    "http_object_mode",
];
const OTHERS: &[&str] = &[
    "skip_bad",
    "donorname",
    "inplace",
    "rbd_encryption_format",
    "rbd_encryption_passphrase",
    "libblkio_num_entries",
    "libblkio_vectored",
    "libblkio_pre_connect_props",
    "libblkio_pre_start_props",
    "libblkio_wait_mode",
    "libblkio_write_zeroes_on_trim",
    "libblkio_force_enable_completion_eventfd",
    "xnvme_dev_nsid",
    "xnvme_dev_subnqn",
    "cdb_len",
    "stat_type",
    "read_mode",
    "no_completion_thread",
    "verify_bytchk",
];

fn engine(job: &mut Job, given: &Given) -> Result<Verdict, String> {
    let name = given.value.split(':').next().unwrap_or_default();
    (job.away, job.uncached, job.space) = (None, None, None);
    if name == "falloc" {
        put(&mut job.engine, given, Engine::Sync);
        return near(&mut job.space, given, true, FALLOC);
    }
    if let Some(verdict) = away::engine(job, given, name) {
        return Ok(verdict);
    }
    let slot = &mut job.engine;
    match name {
        "sync" | "psync" => same(slot, given, Engine::Sync, "`backend = \"sync\"`"),
        "vsync" | "pvsync" | "pvsync2" => {
            same(slot, given, Engine::Sync, "`backend = \"sync\"`: one call a request as well")
        }
        "libaio" => same(slot, given, Engine::Libaio, "`backend = \"libaio\"`"),
        "io_uring" => same(slot, given, Engine::IoUring, "`backend = \"io_uring\"`"),
        "null" | "cpp_null" => same(slot, given, Engine::Null, "`backend = \"null\"`"),
        "mmap" => near(
            slot,
            given,
            Engine::Sync,
            "`backend = \"sync\"` through the page cache: calls in place of page faults",
        ),
        "libpmem" => near(
            slot,
            given,
            Engine::Sync,
            "`backend = \"sync\"`: calls in place of copies to mapped memory; each takes about 1 \
             µs \
             more",
        ),
        "splice" => near(slot, given, Engine::Sync, "`backend = \"sync\"`, without a pipe between"),
        "posixaio" | "solarisaio" | "windowsaio" => near(
            slot,
            given,
            Engine::IoUring,
            "`backend = \"io_uring\"`: as many requests at a time, without threads that make them",
        ),
        "filecreate" => near(slot, given, Engine::Metadata(&["create"]), METADATA),
        "filestat" => near(slot, given, Engine::Metadata(&["create", "stat"]), METADATA),
        "dirstat" => near(
            slot,
            given,
            Engine::Metadata(&["create", "stat"]),
            "a metadata workload on a `[tree]`: `stat` of files in place of directories",
        ),
        "filedelete" => near(slot, given, Engine::Metadata(&["create", "remove"]), METADATA),
        "dircreate" => near(slot, given, Engine::Metadata(&["mkdir"]), METADATA),
        "dirdelete" => near(slot, given, Engine::Metadata(&["mkdir", "rmdir"]), METADATA),
        other => {
            later(slot, given, Engine::Foreign)?;
            Err(away::why_not(other))
        }
    }
}

const FALLOC: &str = "trims of the `sync` backend: `trim_as = \"allocate\"` for reads and writes, \
which results call trims, and holes for trims";
const METADATA: &str = "a metadata workload on a `[tree]`; what makes the files is an operation \
with results of its own";
