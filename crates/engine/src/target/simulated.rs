//! Simulated targets: `sim:` and what the device is.

use crate::error::EngineError;
use model::plan::HostPlan;
use model::rng::derive;
use model::testbed::{DirectIo, TargetFacts, TargetKind};
use model::units::Bytes;
use twin::{Answer, Device, DeviceSpec, Request};

/// What a simulated target's path begins with.
const PREFIX: &str = "sim:";
/// Sets the seeds of devices apart from those of workers.
const DEVICES: u64 = 0x0051_111D;

/// Whether a path names a simulated target.
pub fn is_simulated(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// The facts of a simulated target; a text that is no device says why.
pub fn simulated(path: &str) -> TargetFacts {
    let (kind, size) = match spec(path) {
        Ok(spec) => (TargetKind::Simulated { size: spec.capacity }, spec.capacity),
        Err(why) => (TargetKind::Unreadable(why), Bytes(0)),
    };
    TargetFacts {
        path: path.to_owned(),
        kind,
        writable: true,
        file_system: None,
        free: size,
        total: size,
        free_inodes: None,
        direct: DirectIo::Unknown,
        device: None,
        chain: Vec::new(),
    }
}

fn spec(path: &str) -> Result<DeviceSpec, String> {
    DeviceSpec::parse(path.strip_prefix(PREFIX).unwrap_or(path))
}

/// The simulated devices of a host, and how far their time has come.
#[derive(Debug)]
pub(crate) struct World {
    devices: Vec<Device>,
    /// Ns since the devices were made.
    pub(crate) now_ns: u64,
}

impl World {
    /// The devices of a plan whose targets are all simulated, one for each of its files.
    ///
    /// # Errors
    /// When a text is no device.
    pub(crate) fn new(plan: &HostPlan) -> Result<World, EngineError> {
        let seed = plan.stages.iter().flat_map(|stage| &stage.workers).map(|worker| worker.seed).next().unwrap_or(0);
        let mut devices = Vec::new();
        for (number, file) in plan.files().enumerate() {
            let spec =
                spec(&file.path).map_err(|why| EngineError::target(&file.path, why, "mend the text behind sim:"))?;
            devices.push(Device::new(&spec, derive(seed, &[DEVICES, u64::from(plan.host), number as u64])));
        }
        Ok(World { devices, now_ns: 0 })
    }

    /// How many devices there are.
    pub(crate) fn devices(&self) -> usize {
        self.devices.len()
    }

    /// Hands a request to a device.
    #[inline]
    pub(crate) fn submit(&mut self, device: u32, now_ns: u64, request: Request) -> Answer {
        self.devices[device as usize].submit(now_ns, request)
    }
}
