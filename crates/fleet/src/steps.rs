//! In which steps the kernel counts.

use model::counters::{Layer, Metric};

/// The steps in which the kernel counts, in our unit. A difference that is no multiple of them is
/// sent all the same.
pub(crate) fn step(layer: Layer, metric: Metric) -> i64 {
    use Metric::{
        AvailableBytes, BusyNs, CachedBytes, DirtyBytes, DiscardBytes, DiscardNs, FlushNs,
        FreeBytes, FrequencyHz, FullNs, GuestNiceNs, GuestNs, IdleNs, IowaitNs, IrqNs, NiceNs,
        QueueNs, ReadBytes, ReadNs, RunNs, SoftirqNs, SomeNs, StealNs, SystemNs, UserNs,
        WriteBytes, WriteNs, WritebackBytes,
    };
    match (layer, metric) {
        (Layer::Thread, _) => 1,
        (Layer::Process, RunNs) => 10_000_000,
        // A tick of USER_HZ.
        (
            _,
            UserNs | NiceNs | SystemNs | IdleNs | IowaitNs | IrqNs | SoftirqNs | StealNs | GuestNs
            | GuestNiceNs,
        ) => 10_000_000,
        // /proc/diskstats and NFS count milliseconds; pressure is counted in microseconds.
        (_, ReadNs | WriteNs | DiscardNs | FlushNs | BusyNs | QueueNs) => 1_000_000,
        (_, SomeNs | FullNs) => 1_000,
        // As the sampler rounds it.
        (_, FrequencyHz) => 1_000_000,
        // A sector, and the kB of /proc/meminfo.
        (Layer::Block, ReadBytes | WriteBytes | DiscardBytes) => 512,
        (_, FreeBytes | AvailableBytes | CachedBytes | DirtyBytes | WritebackBytes) => 1_024,
        _ => 1,
    }
}
