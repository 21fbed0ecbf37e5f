//! The parameters of a prediction, and what is held likely of each before anything was measured.

use catalogue::cluster::{FittedValue, Role, SoftwareSpec, fixed};
use catalogue::{Auto, Cluster};
use model::{Nanos, Percent};

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// What a prediction needs that a description of hardware does not say.
    pub enum Parameter {
        /// A node's time for a read.
        Read = "read",
        /// A node's time for a write.
        Write = "write",
        /// A node's time for each MiB read.
        ReadPerMib = "read_per_mib",
        /// A node's time for each MiB written.
        WritePerMib = "write_per_mib",
        /// A read's wait that keeps nobody else waiting.
        ReadPath = "read_path",
        /// A write's wait that keeps nobody else waiting.
        WritePath = "write_path",
        /// The way to the other site and back.
        SiteRoundTrip = "site_round_trip",
        /// The share of the ports' bandwidth that payload can have.
        PortShare = "port_share",
        /// The share of the cache tier that keeps data.
        CacheUsable = "cache_usable",
        /// A capacity drive's time for a random read that reaches it.
        DriveRead = "drive_read",
        /// A capacity drive's time for a random write that reaches it.
        DriveWrite = "drive_write",
        /// The share of the drives' sequential bandwidth that many streams leave.
        StreamShare = "stream_share",
        /// A core's time of a server for a look at a directory, an inode or a token.
        Lookup = "lookup",
        /// A core's time of a server for a change of a directory or an inode.
        Change = "change",
        /// The same for a file that is made.
        Create = "create",
        /// The share of `stat` that clients answer from attributes that they keep.
        AttributesKept = "attributes_kept",
        /// The share of bandwidths that a file leaves which hosts share.
        SharedFile = "shared_file",
        /// What a share over RDMA adds to a request, keeping nobody else waiting.
        RdmaPath = "rdma_path",
        /// The same of a share over TCP.
        TcpPath = "tcp_path",
        /// A core's time of a node for each message over RDMA.
        RdmaMessage = "rdma_message",
        /// The same over TCP.
        TcpMessage = "tcp_message",
    }
}

/// How many parameters there are.
pub const PARAMETERS: usize = Parameter::ALL.len();

/// A row depends on a parameter if 1 % of that moves its rate by at least 0.2 %.
pub(super) const DEPENDS: f64 = 0.2;

/// What is held likely before anything is measured: lognormal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Half of all systems are below, in seconds or as a share.
    pub median: f64,
    /// The standard deviation of the logarithm.
    pub deviation: f64,
}

impl Parameter {
    /// All of them, in the order of tables.
    pub const EACH: [Parameter; PARAMETERS] = match Parameter::ALL.first_chunk() {
        Some(all) => *all,
        None => [Parameter::Read; PARAMETERS],
    };

    /// Its key in `[software]` and `[fitted]`, and its word for machines.
    pub fn key(self) -> &'static str {
        self.word()
    }

    /// Whether it is a share, and no time.
    pub fn is_share(self) -> bool {
        matches!(
            self,
            Parameter::PortShare
                | Parameter::CacheUsable
                | Parameter::StreamShare
                | Parameter::AttributesKept
                | Parameter::SharedFile
        )
    }

    /// Where it stands among all.
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// What a table of a testbed says of it, in seconds or as a share.
    fn given(self, table: &SoftwareSpec) -> Option<f64> {
        let time = |value: Auto<Nanos>| fixed(value).map(Nanos::as_seconds);
        let share = |value: Auto<Percent>| fixed(value).map(|share| f64::from(share.ppm) / 1e6);
        match self {
            Parameter::Read => time(table.read.value),
            Parameter::Write => time(table.write.value),
            Parameter::ReadPerMib => time(table.read_per_mib.value),
            Parameter::WritePerMib => time(table.write_per_mib.value),
            Parameter::ReadPath => time(table.read_path.value),
            Parameter::WritePath => time(table.write_path.value),
            Parameter::SiteRoundTrip => time(table.site_round_trip.value),
            Parameter::PortShare => share(table.port_share.value),
            Parameter::CacheUsable => share(table.cache_usable.value),
            Parameter::DriveRead => time(table.drive_read.value),
            Parameter::DriveWrite => time(table.drive_write.value),
            Parameter::StreamShare => share(table.stream_share.value),
            Parameter::Lookup => time(table.lookup.value),
            Parameter::Change => time(table.change.value),
            Parameter::Create => time(table.create.value).or(time(table.change.value)),
            Parameter::AttributesKept => share(table.attributes_kept.value),
            Parameter::SharedFile => share(table.shared_file.value),
            Parameter::RdmaPath => time(table.rdma_path.value),
            Parameter::TcpPath => time(table.tcp_path.value),
            Parameter::RdmaMessage => time(table.rdma_message.value),
            Parameter::TcpMessage => time(table.tcp_message.value),
        }
    }

    /// What was measured of it and stands in `[software]`: it is known, and nothing fits it.
    pub fn known(self, cluster: &Cluster) -> Option<f64> {
        self.given(&cluster.software)
    }

    /// What a calibration found; it stands in `[fitted]`.
    pub fn fitted(self, cluster: &Cluster) -> Option<f64> {
        self.given(&cluster.fitted)
    }

    /// What a testbed writes for a value.
    pub fn written(self, value: f64) -> FittedValue {
        if self.is_share() {
            FittedValue::Share(Percent { ppm: (value * 1e6).round().clamp(1.0, 1e6) as u32 })
        } else {
            FittedValue::Time(Nanos((value * 1e9).round().clamp(1.0, 1e18) as u64))
        }
    }

    /// The class estimate. `docs/method/prediction.md` has the sources.
    pub fn prior(self, cluster: &Cluster) -> Prior {
        let prior = |median, deviation| Prior { median, deviation };
        // How many lanes really serve is a guess of its own.
        let lane = |median| prior(median, if cluster.lanes() > 1 { MANY_LANES } else { 1.0 });
        match self {
            Parameter::Read => lane(10e-6),
            Parameter::Write => lane(40e-6),
            Parameter::ReadPerMib => lane(500e-6),
            Parameter::WritePerMib => lane(1e-3),
            Parameter::ReadPath => prior(300e-6, 1.0),
            Parameter::WritePath => prior(500e-6, 1.0),
            Parameter::SiteRoundTrip => prior(1e-3, 0.5),
            Parameter::PortShare => prior(0.9, 0.1),
            Parameter::CacheUsable => prior(0.8, 0.25),
            Parameter::DriveRead => drive_read(cluster),
            Parameter::DriveWrite => drive_write(cluster),
            Parameter::StreamShare => prior(0.5, 0.5),
            Parameter::Lookup => prior(cluster.likely_lookup().as_seconds(), 1.0),
            Parameter::Change | Parameter::Create => {
                prior(cluster.likely_change().as_seconds(), 1.0)
            }
            Parameter::AttributesKept => prior(0.3, 1.5),
            Parameter::SharedFile => prior(0.75, 0.35),
            Parameter::RdmaPath => prior(60e-6, 1.0),
            Parameter::TcpPath => prior(200e-6, 1.0),
            Parameter::RdmaMessage => prior(5e-6, 1.0),
            Parameter::TcpMessage => prior(20e-6, 1.0),
        }
    }
}

/// Where a table has a time.
fn time_of(table: &mut SoftwareSpec, parameter: Parameter) -> Option<&mut Auto<Nanos>> {
    Some(match parameter {
        Parameter::Read => &mut table.read.value,
        Parameter::Write => &mut table.write.value,
        Parameter::ReadPerMib => &mut table.read_per_mib.value,
        Parameter::WritePerMib => &mut table.write_per_mib.value,
        Parameter::ReadPath => &mut table.read_path.value,
        Parameter::WritePath => &mut table.write_path.value,
        Parameter::SiteRoundTrip => &mut table.site_round_trip.value,
        Parameter::DriveRead => &mut table.drive_read.value,
        Parameter::DriveWrite => &mut table.drive_write.value,
        Parameter::Lookup => &mut table.lookup.value,
        Parameter::Change => &mut table.change.value,
        Parameter::Create => &mut table.create.value,
        Parameter::RdmaPath => &mut table.rdma_path.value,
        Parameter::TcpPath => &mut table.tcp_path.value,
        Parameter::RdmaMessage => &mut table.rdma_message.value,
        Parameter::TcpMessage => &mut table.tcp_message.value,
        _ => return None,
    })
}

/// Where it has a share.
fn share_of(table: &mut SoftwareSpec, parameter: Parameter) -> Option<&mut Auto<Percent>> {
    Some(match parameter {
        Parameter::PortShare => &mut table.port_share.value,
        Parameter::CacheUsable => &mut table.cache_usable.value,
        Parameter::StreamShare => &mut table.stream_share.value,
        Parameter::AttributesKept => &mut table.attributes_kept.value,
        Parameter::SharedFile => &mut table.shared_file.value,
        _ => return None,
    })
}

/// The deviation of a lane's time where a node has several: a factor of 12 within 90 %.
const MANY_LANES: f64 = 1.5;

/// The variance that the times of a lane have in common: how many serve is one guess for all.
pub(super) fn lanes_in_common(cluster: &Cluster) -> f64 {
    if cluster.lanes() > 1 { MANY_LANES.powi(2) - 1.0 } else { 0.0 }
}

/// Where no figure of a drive is known, anything between flash and a disk is.
const UNKNOWN_DRIVE: Prior = Prior { median: 1e-3, deviation: 2.0 };

/// The datasheet's time and that of a line of the cache.
fn drive_read(cluster: &Cluster) -> Prior {
    let line = fixed(cluster.cache.line.value).map_or(0.0, |line| line.0 as f64);
    let (mut count, mut rate, mut bandwidth) = (0.0, 0.0, 0.0);
    for (drives, figures) in cluster.drives(Role::Capacity) {
        count += drives as f64;
        rate += drives as f64 * figures.read_iops.unwrap_or_default();
        bandwidth += drives as f64 * figures.read_bytes_per_s.unwrap_or_default();
    }
    if rate <= 0.0 {
        return UNKNOWN_DRIVE;
    }
    let line_s = if bandwidth > 0.0 { line * count / bandwidth } else { 0.0 };
    Prior { median: count / rate + line_s, deviation: 0.7 }
}

/// The datasheet's time. Destaging gathers neighbours and journals cost more, so less is known.
fn drive_write(cluster: &Cluster) -> Prior {
    let (mut count, mut rate) = (0.0, 0.0);
    for (drives, figures) in cluster.drives(Role::Capacity) {
        count += drives as f64;
        rate += drives as f64 * figures.write_iops.unwrap_or_default();
    }
    if rate > 0.0 { Prior { median: count / rate, deviation: 1.0 } } else { UNKNOWN_DRIVE }
}

/// A value for each parameter, as logarithms of seconds or of shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values(pub(super) [f64; PARAMETERS]);

impl Values {
    /// What is known, else fitted, else the class estimate.
    pub fn of(cluster: &Cluster) -> Values {
        Values(Parameter::EACH.map(|one| {
            let value = one.known(cluster).or_else(|| one.fitted(cluster));
            value.unwrap_or_else(|| one.prior(cluster).median).ln()
        }))
    }

    /// The cluster with these values as what a calibration found: a simulation takes them from
    /// there.
    pub fn put(&self, cluster: &Cluster) -> Cluster {
        let mut cluster = cluster.clone();
        let table = &mut cluster.fitted;
        for parameter in Parameter::EACH {
            match parameter.written(self.get(parameter)) {
                FittedValue::Time(time) => {
                    if let Some(field) = time_of(table, parameter) {
                        *field = Auto::Fixed(time);
                    }
                }
                FittedValue::Share(share) => {
                    if let Some(field) = share_of(table, parameter) {
                        *field = Auto::Fixed(share);
                    }
                }
            }
        }
        cluster
    }

    /// Seconds, or a share of at most 1.
    pub fn get(&self, parameter: Parameter) -> f64 {
        let value = self.0[parameter.index()].exp();
        if parameter.is_share() { value.min(1.0) } else { value }
    }
}
