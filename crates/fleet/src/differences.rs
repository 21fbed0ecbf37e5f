//! How differences of counters are coded: by layer and metric, in the kernel's own steps, and by
//! what the same value did before.

use crate::range_coder::{Coder, Odds, Sizes};
use model::counters::{Layer, Metric};

/// The steps in which the kernel counts, in our unit. A difference that is no multiple of them is
/// sent all the same.
pub(crate) fn step(layer: Layer, metric: Metric) -> u64 {
    use Metric::{
        AvailableBytes, BusyNs, CachedBytes, DirtyBytes, DiscardBytes, DiscardNs, FlushNs,
        FreeBytes, FrequencyHz, FullNs, GuestNiceNs, GuestNs, IdleNs, IowaitNs, IrqNs, NiceNs,
        QueueNs, ReadBytes, ReadNs, SoftirqNs, SomeNs, StealNs, SystemNs, UserNs, WriteBytes,
        WriteNs, WritebackBytes,
    };
    match (layer, metric) {
        (Layer::Thread, _) => 1,
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

/// What a value's last difference was like: the next one is seldom of another size, and often of
/// the other sign.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    size: u8,
    sign: u8,
}

impl Before {
    /// Whether the value has moved by so much that it is taken to vary about its mean: that says
    /// more of the next one than the last one does.
    pub(crate) fn varies(self) -> bool {
        self.size >= 2
    }

    fn of(sign: bool, steps: u64) -> Before {
        let size = match u64::BITS - steps.leading_zeros() {
            0 => return Before::default(),
            1..=3 => 1,
            4..=8 => 2,
            _ => 3,
        };
        Before { size, sign: 1 + u8::from(sign) }
    }
}

/// What is known of the differences of a metric.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    step: u64,
    is_other: [Odds; 4],
    is_uneven: Odds,
    is_less: [Odds; 3],
    /// Only those that came up: most of what is counted never changes.
    sizes: [Option<Box<Sizes>>; 4],
}

impl Model {
    fn new(layer: Layer, metric: Metric) -> Model {
        Model { step: step(layer, metric), ..Model::default() }
    }

    /// Of numbers that are counted one by one.
    pub(crate) fn of_any() -> Model {
        Model { step: 1, ..Model::default() }
    }

    /// Writes a difference, or reads one.
    pub(crate) fn code(
        &mut self,
        coder: &mut impl Coder,
        before: &mut Before,
        difference: i64,
    ) -> i64 {
        let size = usize::from(before.size);
        if !coder.bit(&mut self.is_other[size], difference != 0) {
            *before = Before::default();
            return 0;
        }
        let number = difference.unsigned_abs();
        let is_uneven =
            self.step > 1 && coder.bit(&mut self.is_uneven, !number.is_multiple_of(self.step));
        let step = if is_uneven { 1 } else { self.step };
        let is_less = coder.bit(&mut self.is_less[usize::from(before.sign)], difference < 0);
        let steps = self.sizes[size].get_or_insert_default().code(coder, number / step);
        *before = Before::of(is_less, steps);
        let number = steps.wrapping_mul(step) as i64;
        if is_less { number.wrapping_neg() } else { number }
    }
}

/// What is known of the differences of each layer's metrics. Those that were never counted take no
/// room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Models {
    of: Vec<Option<Box<Model>>>,
}

impl Models {
    pub(crate) fn of(&mut self, layer: Layer, metric: Metric) -> &mut Model {
        let place = layer as usize * Metric::ALL.len() + metric as usize;
        if self.of.len() <= place {
            self.of.resize(place + 1, None);
        }
        self.of[place].get_or_insert_with(|| Box::new(Model::new(layer, metric)))
    }
}
