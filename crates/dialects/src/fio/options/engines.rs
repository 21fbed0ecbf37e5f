//! Engines: how requests reach the kernel. Some reach storage by a way of their own, past the page
//! cache, by a library of a storage system, or not at all; their requests are the same, and the way
//! is said.

use crate::fio::job::{Away, Engine, Job};
use crate::loss::{Class, Verdict};
use crate::rows::Table;
use std::sync::LazyLock;

/// The engines, in a chapter for each kind of way; in the slot, the backend or the operations.
static ENGINES: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("../engines.txt")));

/// Reads an engine, and what its way says of the job.
pub fn engine(job: &mut Job, text: &str) -> Verdict {
    let name = text.split(':').next().unwrap_or_default();
    let found = ENGINES.chapters.iter().find_map(|way| Some((way.name, way.find(name)?)));
    let way = found.map_or("foreign", |(way, _)| way);
    job.away = match way {
        "volume" => Some(Away::Volume),
        "device" => Some(Away::Device),
        _ => None,
    };
    job.uncached = match way {
        "volume" | "device" | "past the page cache" => Some(true),
        "through the page cache" => Some(false),
        _ => None,
    };
    job.space = way == "space";
    let backend = found.and_then(|(_, row)| row.slot).unwrap_or_default();
    job.engine = Some(match backend {
        "sync" => Engine::Sync,
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring,
        "null" => Engine::Null,
        "" => Engine::Foreign,
        operations => Engine::Metadata(operations),
    });
    match found.map(|(_, row)| row.verdict("")) {
        None => Verdict::refused(format!("the engine `{name}`")),
        Some(told) if told.class == Class::Refused => {
            Verdict::refused(format!("the engine `{name}`: {}", told.why))
        }
        Some(told) => told,
    }
}

/// A driver of libblkio.
pub fn driver(job: &mut Job, text: &str) -> Verdict {
    if ["io_uring", "nvme-io_uring"].contains(&text) {
        return Verdict::near("`backend = \"io_uring\"`, without the library");
    }
    job.away = Some(Away::Device);
    Verdict::near(
        "the kernel's driver in place of one in user space: give it the device, and name its block \
         device with `--target`; requests take some µs more",
    )
}
