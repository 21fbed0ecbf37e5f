//! Simulated targets: `sim:` and what the device or the cluster is.

use crate::error::EngineError;
use crate::generator::Bookmarks;
use model::layer::Layer;
use model::note::{CountedBy, Crossing, EventIo, Fact};
use model::plan::{HostPlan, HostStage};
use model::popularity::{Popularity, Touched};
use model::rng::derive;
use model::testbed::{TargetFacts, TargetKind};
use model::units::{Bytes, Nanos};
use model::{Op, StageKind};
use std::io::Read;
use twin::cluster::{CLUSTER, Crossed, Preferring, Worked};
use twin::{Answer, Cluster, ClusterSpec, Device, DeviceSpec, Request, TESTBEDS, Testbed};

/// What a simulated target's path begins with.
const PREFIX: &str = "sim:";
/// Sets the seeds of devices apart from those of workers.
const DEVICES: u64 = 0x0051_111D;
/// A testbed is a page of text.
const LARGEST_TESTBED: u64 = 1 << 20;

/// Whether a path names a simulated target.
pub fn is_simulated(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// The facts of a simulated target; a text that is no device says why.
pub fn simulated(path: &str) -> TargetFacts {
    let size = match read(path) {
        Ok(Simulated::Device(spec)) => Ok(spec.capacity),
        Ok(Simulated::Cluster(testbed, spec)) => {
            Cluster::new(&testbed, &spec, 0).map(|_| twin::cluster::volume(&testbed, &spec))
        }
        Err(why) => Err(why),
    };
    let (kind, size) = match size {
        Ok(size) => (TargetKind::Simulated { size }, size),
        Err(why) => (TargetKind::Unreadable(why), Bytes(0)),
    };
    TargetFacts {
        path: path.to_owned(),
        kind,
        writable: true,
        free: size,
        total: size,
        ..TargetFacts::default()
    }
}

/// Whether a target is a simulated cluster.
fn names_cluster(path: &str) -> bool {
    path.strip_prefix(PREFIX).is_some_and(|text| text.starts_with(CLUSTER))
}

/// What a text behind `sim:` stands for.
enum Simulated {
    Device(DeviceSpec),
    Cluster(Box<Testbed>, ClusterSpec),
}

fn read(path: &str) -> Result<Simulated, String> {
    let text = path.strip_prefix(PREFIX).unwrap_or(path);
    if !text.starts_with(CLUSTER) {
        return DeviceSpec::parse(text).map(Simulated::Device);
    }
    let spec = ClusterSpec::parse(text)?;
    let name = spec.testbed.as_str();
    let text = match spec.reference()? {
        Some(text) => text,
        None if name.ends_with(".toml") => testbed_file(name)?,
        None => {
            let names: Vec<&str> = TESTBEDS.iter().map(|(known, _)| *known).collect();
            return Err(format!(
                "no testbed is called `{name}`; the reference ones are {}, and a testbed file \
                 ends in .toml",
                names.join(", ")
            ));
        }
    };
    let testbed =
        Testbed::parse(name, &text, &[]).map_err(|errors| match errors.problems.first() {
            Some(problem) => format!(
                "testbed {name}: {}; {}; see `plimsoll ceiling {name}` for all that is wrong",
                problem.message, problem.remedy
            ),
            None => format!("testbed {name} cannot be read"),
        })?;
    Ok(Simulated::Cluster(Box::new(spec.used(testbed)), spec))
}

fn testbed_file(path: &str) -> Result<String, String> {
    let wrong = |error: std::io::Error| format!("testbed {path}: {error}; check the path");
    // Looked at first: opening a pipe would wait for its other end.
    if !std::fs::metadata(path).map_err(wrong)?.is_file() {
        return Err(format!("testbed {path}: is no file; name a testbed file"));
    }
    let mut text = String::new();
    std::fs::File::open(path)
        .map_err(wrong)?
        .take(LARGEST_TESTBED)
        .read_to_string(&mut text)
        .map_err(wrong)?;
    Ok(text)
}

/// Where a simulated file is.
#[derive(Debug)]
enum Place {
    Device(Box<Device>),
    /// A volume of the world's cluster, by its number.
    Volume(u32),
}

/// What is over in a cluster: when, for whom, and with what.
pub(crate) use twin::cluster::Done;

/// The simulated devices of one host or several, and how far their time has come.
#[derive(Debug, Default)]
pub(crate) struct World {
    places: Vec<Place>,
    cluster: Option<Cluster>,
    /// What it was made of.
    text: String,
    /// The first place of each plan.
    bases: Vec<u32>,
    /// How long the cluster's layers had worked when the stage began, in ns.
    worked_before: Vec<Worked>,
    /// When its load ended, and how long they had worked then.
    worked_until: Option<(u64, Vec<Worked>)>,
    /// What had crossed between its sites.
    crossed_before: Option<[Crossed; 2]>,
    /// Where workers stopped in what they go through in order, by the places of their hosts.
    pub(crate) bookmarks: Bookmarks,
    /// Ns since the devices were made.
    pub(crate) now_ns: u64,
}

impl World {
    /// The devices of plans whose targets are all simulated, one for each of their files, then one
    /// for each tree. Whatever names a cluster names the same one.
    ///
    /// # Errors
    /// When a text is no device and no cluster, when there are two clusters, or when a cluster is
    /// to live in the time of the wall.
    pub(crate) fn new(plans: &[&HostPlan]) -> Result<World, EngineError> {
        let mut world = World::default();
        for plan in plans {
            world.bases.push(world.places.len() as u32);
            let seed = seed(plan);
            for (number, file) in plan.files().enumerate() {
                let error =
                    |why: String| EngineError::target(&file.path, why, "mend the text behind sim:");
                let place = if names_cluster(&file.path) {
                    Place::Volume(
                        world.cluster_of(&file.path, plan)?.add_volume(plan.host, number as u32),
                    )
                } else {
                    let text = file.path.strip_prefix(PREFIX).unwrap_or(&file.path);
                    let spec = DeviceSpec::parse(text).map_err(error)?;
                    let seed = derive(seed, &[DEVICES, u64::from(plan.host), number as u64]);
                    Place::Device(Box::new(Device::new(&spec, seed)))
                };
                world.places.push(place);
            }
            world.add_trees(plan)?;
        }
        Ok(world)
    }

    /// The cluster that `path` names, which is made when it is named first.
    fn cluster_of(&mut self, path: &str, plan: &HostPlan) -> Result<&mut Cluster, EngineError> {
        let error = |why: String| EngineError::target(path, why, "mend the text behind sim:");
        if self.cluster.is_some() && self.text != path {
            let why = "a run has one cluster, and this is a second one";
            return Err(EngineError::target(path, why, "name the same cluster for every target"));
        }
        if !plan.engine.virtual_time {
            let why = "a simulated cluster lives in virtual time alone";
            return Err(EngineError::target(path, why, "leave out engine.time = \"real\""));
        }
        let cluster = match self.cluster.take() {
            Some(cluster) => cluster,
            None => match read(path).map_err(error)? {
                Simulated::Cluster(testbed, spec) => {
                    path.clone_into(&mut self.text);
                    Cluster::new(&testbed, &spec, derive(seed(plan), &[DEVICES])).map_err(error)?
                }
                Simulated::Device(_) => {
                    let why = "a simulated device has no directories";
                    return Err(EngineError::target(
                        path,
                        why,
                        "name a cluster, such as sim:cluster=pixstor-nvme",
                    ));
                }
            },
        };
        Ok(self.cluster.insert(cluster))
    }

    /// Makes the trees of a host, behind its files.
    fn add_trees(&mut self, plan: &HostPlan) -> Result<(), EngineError> {
        for (number, tree) in plan.trees.iter().enumerate() {
            let path =
                plan.targets.get(tree.target as usize).map_or("", |target| target.path.as_str());
            let cluster = self.cluster_of(path, plan)?;
            let volume = cluster.add_tree(plan.host, number as u32, tree.per_directory);
            self.places.push(Place::Volume(volume));
        }
        Ok(())
    }

    /// Where the devices of plan number `plan` begin.
    pub(crate) fn base(&self, plan: usize) -> u32 {
        self.bases.get(plan).copied().unwrap_or(0)
    }

    /// How many devices plan number `plan` has.
    pub(crate) fn devices(&self, plan: usize) -> u32 {
        let end = self.bases.get(plan + 1).copied().unwrap_or(self.places.len() as u32);
        end - self.base(plan)
    }

    /// Tells a cluster what is about to touch it.
    pub(crate) fn begin<'a>(&mut self, stages: impl Iterator<Item = &'a HostStage> + Clone) {
        self.worked_before = self.cluster.as_ref().map(Cluster::worked).unwrap_or_default();
        self.worked_until = None;
        self.crossed_before = self.cluster.as_ref().and_then(Cluster::crossed);
        if let Some(cluster) = &mut self.cluster {
            let first = stages.clone().next();
            if let Some(stage) = first.filter(|stage| stage.kind == StageKind::Measure) {
                cluster.begin_measurement(self.now_ns, stage.stop().time().map(|time| time.0));
            }
            let on_host = |stage: &'a HostStage| {
                Touched::on_host(stage.workers.iter().map(|worker| &worker.extents[..]))
            };
            let touched = stages.map(on_host).fold(Touched::default(), Touched::and);
            // Of several workloads at once, all blocks count as alike.
            let work = first.map(|stage| &stage.works[..]).and_then(|works| match works {
                [work] => Some(work),
                _ => None,
            });
            let popularity = work.and_then(|work| Popularity::of_work(work, touched));
            let preferring = work.zip(popularity.as_ref()).map(|(work, popularity)| Preferring {
                popularity,
                read: work.read,
                random: f64::from(work.pattern.random.ppm) / 1e6,
            });
            cluster.set_load(touched.bytes, preferring);
        }
    }

    /// The load ends: what comes back later is not of its time.
    pub(crate) fn end_load(&mut self, now_ns: u64) {
        if let (Some(cluster), None) = (&self.cluster, &self.worked_until) {
            self.worked_until = Some((now_ns, cluster.worked()));
        }
    }

    /// What the cluster counted of itself in a measurement from `start_ns` to `end_ns`: how busy
    /// its layers were, and what a migration moved. Nothing of devices.
    pub(crate) fn counted(&self, start_ns: u64, end_ns: u64) -> Vec<Fact> {
        let Some(cluster) = &self.cluster else { return Vec::new() };
        let (until_ns, worked) =
            self.worked_until.clone().unwrap_or_else(|| (end_ns, cluster.worked()));
        let busy = match until_ns.saturating_sub(start_ns) {
            0 => Vec::new(),
            length_ns => twin::cluster::busy(&self.worked_before, &worked, length_ns),
        };
        let busy_ppm: Vec<(Layer, u32)> =
            busy.into_iter().map(|(layer, share)| (layer, (share * 1e6) as u32)).collect();
        let moved = cluster.moved(end_ns).map(|moved| {
            Fact::EventIo(EventIo {
                event: "migration".to_owned(),
                at: Nanos(moved.at_ns.saturating_sub(start_ns)),
                length: Nanos(moved.length_ns),
                reads: Some(moved.requests),
                writes: Some(moved.requests),
                read: Bytes(moved.bytes),
                written: Bytes(moved.bytes),
                by: CountedBy::Simulation,
            })
        });
        let layers = (!busy_ppm.is_empty()).then_some(Fact::SimulatedLayers { busy_ppm });
        let sites = self.crossings().map(Fact::SimulatedSites);
        layers.into_iter().chain(moved).chain(sites).collect()
    }

    /// What went to another site than its host's since the measurement began; `None` of a cluster
    /// on one site.
    fn crossings(&self) -> Option<Vec<Crossing>> {
        let now = self.cluster.as_ref()?.crossed()?;
        let before = self.crossed_before.unwrap_or_default();
        let of = |op, way: usize| Crossing {
            op,
            planned_ppm: (now[way].planned * 1e6).round() as u32,
            bytes: Bytes(now[way].bytes.saturating_sub(before[way].bytes)),
            far: Bytes(now[way].far_bytes.saturating_sub(before[way].far_bytes)),
        };
        let ways = [of(Op::Read, 0), of(Op::Write, 1)];
        Some(ways.into_iter().filter(|way| way.bytes.0 > 0).collect())
    }

    /// Hands a request to a device. A cluster gives no answer before its time:
    /// [`advance`](Self::advance) tells it.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        place: u32,
        now_ns: u64,
        request: Request,
        ticket: u64,
    ) -> Option<Answer> {
        match &mut self.places[place as usize] {
            Place::Device(device) => Some(device.submit(now_ns, request)),
            Place::Volume(volume) => {
                if let Some(cluster) = &mut self.cluster {
                    cluster.submit(now_ns, *volume, request, ticket);
                }
                None
            }
        }
    }

    /// Lets time pass in the cluster up to `until_ns`, but no further than to the first request
    /// that is over.
    #[inline]
    pub(crate) fn advance(&mut self, until_ns: u64) -> Option<Done> {
        self.cluster.as_mut()?.advance(until_ns)
    }
}

/// What chance in a plan's devices begins with.
fn seed(plan: &HostPlan) -> u64 {
    plan.stages
        .iter()
        .flat_map(|stage| &stage.workers)
        .map(|worker| worker.seed)
        .next()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> TargetKind {
        simulated(path).kind
    }

    #[test]
    fn a_cluster_is_a_reference_testbed_or_a_file_and_its_volume_has_a_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("mine.toml");
        std::fs::write(&file, TESTBEDS[0].1).expect("a file");
        for testbed in [TESTBEDS[0].0, &file.display().to_string()] {
            // 36 drives of 3.84 TB hold everything three times, on six nodes.
            let TargetKind::Simulated { size } = kind(&format!("sim:cluster={testbed}")) else {
                panic!("{testbed}")
            };
            assert!((size.0 as f64 / (36.0 * 3.84e12 / 3.0 / 6.0) - 1.0).abs() < 1e-5, "{size}");
        }
        assert_eq!(
            kind("sim:cluster=vsan-four-corners,volume=1TiB"),
            TargetKind::Simulated { size: Bytes::gib(1024) }
        );
    }

    #[test]
    fn what_is_no_cluster_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("bad.toml");
        std::fs::write(&file, "name = \"x\"\n[[nodes]]\ncuont = 3\n").expect("a file");
        for (text, words) in [
            ("nowhere".to_owned(), "the reference ones are"),
            ("/no/such.toml".to_owned(), "check the path"),
            ("/tmp/../tmp/.toml".to_owned(), "check the path"),
            (file.display().to_string(), "did you mean `count`"),
            ("vsan-four-corners,path=x".to_owned(), "smb-direct"),
        ] {
            let TargetKind::Unreadable(why) = kind(&format!("sim:cluster={text}")) else {
                panic!("{text}")
            };
            assert!(why.contains(words), "{text}: {why}");
        }
    }
}
