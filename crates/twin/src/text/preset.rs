//! Devices with a name.

/// A device with a name, to start from.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What stands behind `sim:`.
    pub name: &'static str,
    /// What it is, in a line.
    pub meaning: &'static str,
    /// Its parameters, in the grammar of [`DeviceSpec::parse`](crate::DeviceSpec::parse), on top
    /// of `constant`.
    pub parameters: &'static str,
}

/// Every preset. The first is what the others start from. Those of real kinds of device have their
/// typical magnitudes, not the data of a product.
pub const PRESETS: [Preset; 6] = [
    Preset {
        name: "constant",
        meaning: "every request takes 100 µs, one at a time",
        parameters: "service=100us,servers=1,capacity=10GiB",
    },
    Preset {
        name: "md1",
        meaning: "the M/D/1 queue, under Poisson arrivals",
        parameters: "service=100us,servers=1",
    },
    Preset {
        name: "exponential",
        meaning: "the M/M/c queue, under Poisson arrivals",
        parameters: "mean=100us,servers=1",
    },
    Preset {
        name: "lognormal",
        meaning: "a heavy tail: median 100 µs, p99 320 µs",
        parameters: "service=lognormal:100us:0.5,servers=8",
    },
    Preset {
        name: "ssd",
        meaning: "a flash drive: 32 channels, fast writes, 3 GiB/s",
        parameters: "read=lognormal:80us:0.3,write=lognormal:20us:0.4,fsync=constant:1ms,\
                     servers=32,bandwidth=3GiB/s,capacity=1TiB",
    },
    Preset {
        name: "hdd",
        meaning: "a disk under random load: one arm, some 120 requests a second",
        parameters: "service=lognormal:8ms:0.35,fsync=constant:12ms,servers=1,bandwidth=200MiB/s,\
                     capacity=4TiB",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceSpec;

    #[test]
    fn every_preset_is_a_device_and_has_a_name_of_its_own() {
        for (index, preset) in PRESETS.iter().enumerate() {
            let spec = DeviceSpec::parse(preset.name);
            assert!(spec.is_ok(), "{}: {spec:?}", preset.name);
            assert!(PRESETS[..index].iter().all(|other| other.name != preset.name));
        }
    }
}
