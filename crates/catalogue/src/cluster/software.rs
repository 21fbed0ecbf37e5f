//! What storage software takes, as somebody measured it (`[software]`) or as a calibration fitted
//! it (`[fitted]`, with the rows it rests on in `[[fitted_row]]`). The defaults are class
//! estimates; `analysis::prediction` has them, and docs/method/prediction.md their sources.

use crate::published::Number;
use form::{Auto, Count, Field, Whole, spec_table};
use model::choices::Access;
use model::load::{HotSpots, SizeMix, Skew};
use model::popularity::{Law, Popularity};
use model::units::{Bytes, Nanos, Percent};
use model::{Object, Route};

spec_table! {
    /// What the storage software and its drives take for each request. Predictions and simulations
    /// use it. What is given here is known and never fitted.
    pub struct SoftwareSpec {
        /// How many requests a node works on at once; the times below are those of one lane.
        /// `"auto"`: a node's cores, where clients load from outside and cores are given; else 1.
        lanes: Auto<Count> = Auto::Auto,
        /// A lane's time for a read; one request after the other. `"auto"`: 10 µs, a class
        /// estimate.
        read: Auto<Nanos> = Auto::Auto,
        /// A lane's time for a write, its copies included. `"auto"`: 40 µs, a class estimate.
        write: Auto<Nanos> = Auto::Auto,
        /// A lane's time for each MiB read, besides. `"auto"`: 500 µs, a class estimate.
        read_per_mib: Auto<Nanos> = Auto::Auto,
        /// A lane's time for each MiB written, besides. `"auto"`: 1 ms, a class estimate.
        write_per_mib: Auto<Nanos> = Auto::Auto,
        /// What a read waits that keeps nobody else waiting. `"auto"`: 300 µs, a class estimate.
        read_path: Auto<Nanos> = Auto::Auto,
        /// What a write waits that keeps nobody else waiting. `"auto"`: 500 µs, a class estimate.
        write_path: Auto<Nanos> = Auto::Auto,
        /// The way to the other site and back. `"auto"`: 1 ms, a class estimate.
        site_round_trip: Auto<Nanos> = Auto::Auto,
        /// The share of the ports' bandwidth that payload can have, on top of `port_efficiency`.
        /// `"auto"`: 90 %, a class estimate.
        port_share: Auto<Percent> = Auto::Auto,
        /// The share of the cache tier that keeps data. `"auto"`: 80 %, a class estimate.
        cache_usable: Auto<Percent> = Auto::Auto,
        /// A capacity drive's time for a random read that reaches it, the line of the cache that it
        /// fills included. `"auto"`: 1 ÷ read_iops and `cache.line` ÷ read.
        drive_read: Auto<Nanos> = Auto::Auto,
        /// A capacity drive's time for a random write that reaches it, or is destaged to it.
        /// `"auto"`: 1 ÷ write_iops.
        drive_write: Auto<Nanos> = Auto::Auto,
        /// The share of the drives' sequential bandwidth that many streams at once leave. `"auto"`:
        /// 50 %, a class estimate.
        stream_share: Auto<Percent> = Auto::Auto,
        /// A core's time of a server for each look at a directory, an inode or a token of a shared
        /// file. `"auto"`: `cpu.per_lookup`.
        lookup: Auto<Nanos> = Auto::Auto,
        /// A core's time of a server for each change of a directory or an inode. `"auto"`:
        /// `cpu.per_change`.
        change: Auto<Nanos> = Auto::Auto,
        /// The same for a file that is made. `"auto"`: `change`.
        create: Auto<Nanos> = Auto::Auto,
        /// What a share over RDMA adds to each request of a host outside, keeping nobody else
        /// waiting. `"auto"`: 60 µs, a class estimate.
        rdma_path: Auto<Nanos> = Auto::Auto,
        /// The same of a share over TCP. `"auto"`: 200 µs, a class estimate.
        tcp_path: Auto<Nanos> = Auto::Auto,
        /// A core's time of a node for each message of a share over RDMA. `"auto"`: 5 µs in a
        /// prediction, a class estimate; none in a simulation.
        rdma_message: Auto<Nanos> = Auto::Auto,
        /// The same of a share over TCP. `"auto"`: 20 µs in a prediction, a class estimate; none in
        /// a simulation.
        tcp_message: Auto<Nanos> = Auto::Auto,
        /// The share of `stat` that clients answer themselves, where `clients.keep_attributes` says
        /// that they do. `"auto"`: 30 % in a prediction, a guess; none in a simulation.
        attributes_kept: Auto<Percent> = Auto::Auto,
        /// The share of the bandwidth of software, ports and drives that a file leaves which hosts
        /// share. `"auto"`: 75 % in a prediction, a class estimate; all of it in a simulation.
        shared_file: Auto<Percent> = Auto::Auto,
    }
}

/// Core time of a server of names for a look, and for a change. From a server of Lustre that did
/// 400,000 `stat` and 100,000 removals per second, on an assumed 20 cores that are all busy
/// (docs/method/simulation.md has the source).
const LOOKUP: Nanos = Nanos(50_000);
const CHANGE: Nanos = Nanos(200_000);
/// What a client takes for a `stat` that it answers itself: a system call and a look into a table
/// of its own. Assumed, by predictions and simulations.
pub const KEPT_STAT: Nanos = Nanos(5_000);
/// What each copy of a journal writes for a change: a block. Assumed, as above.
pub const JOURNAL_BLOCK: Bytes = Bytes::kib(4);
/// Bytes of a file that have one token, where a testbed does not say.
pub const TOKEN_BLOCK: Bytes = Bytes::mib(1);

impl super::Cluster {
    /// What `[software]` gives of the software, else what `[fitted]` has of it.
    pub fn found<T>(&self, of: impl Fn(&SoftwareSpec) -> Auto<T>) -> Option<T> {
        super::fixed(of(&self.software)).or_else(|| super::fixed(of(&self.fitted)))
    }

    /// A core's time of a server for a look at a directory, an inode or a token, as it is held
    /// likely before anything was fitted: `cpu.per_lookup`, or the class estimate.
    pub fn likely_lookup(&self) -> Nanos {
        super::fixed(self.cpu.per_lookup.value).unwrap_or(LOOKUP)
    }

    /// The same for a change of a directory or an inode.
    pub fn likely_change(&self) -> Nanos {
        super::fixed(self.cpu.per_change.value).unwrap_or(CHANGE)
    }

    /// How many operations on names a server works on at once, at least 1: its cores, or its lanes
    /// where nobody says how many cores there are.
    pub fn name_lanes(&self) -> u32 {
        self.cores_of_a_node().unwrap_or_else(|| self.lanes())
    }

    /// The mean of the nodes' cores, at least 1; `None` where one of them does not say them.
    fn cores_of_a_node(&self) -> Option<u32> {
        let (mut cores, mut nodes) = (0, 0);
        for group in &self.nodes {
            let each = super::fixed(group.spec.cores.value)?;
            cores += group.count() * u64::from(each.0);
            nodes += group.count();
        }
        Some(u32::try_from(cores / nodes.max(1)).unwrap_or(u32::MAX).max(1))
    }

    /// How many requests a node's software works on at once, at least 1.
    ///
    /// A node that serves clients alone has all of its cores for them. Of one that runs hosts of
    /// the load too, nobody knows how many serve: there, times are those of the whole node. Nodes
    /// of several kinds count as so many of their mean.
    pub fn lanes(&self) -> u32 {
        if let Some(lanes) = self.found(|software| software.lanes.value) {
            return lanes.0.max(1);
        }
        if self.has_clients() { self.cores_of_a_node().unwrap_or(1) } else { 1 }
    }
}

spec_table! {
    /// A measured row that `[fitted]` was fitted to. `plimsoll calibrate` writes it;
    /// `plimsoll predict` computes intervals from it.
    pub struct FittedRowSpec {
        /// What was measured.
        name: String,
        /// The mean size of a read.
        read_bytes: Bytes,
        /// The mean size of a write.
        write_bytes: Bytes,
        /// The share of reads.
        read: Percent,
        /// The share of requests whose place is no continuation.
        random: Percent,
        /// All bytes that were touched. `"auto"`: nobody says.
        footprint: Auto<Bytes> = Auto::Auto,
        /// The order of random requests: `"zipf"`, `"pareto"` or `"hot-spot"`; `"random"`: every
        /// block is as likely.
        access: Access = Access::Random,
        /// That of `access`, as a suite has it. `"auto"`: 1.2, or 0.2 for `"pareto"`.
        skew: Auto<Skew> = Auto::Auto,
        /// That of `"hot-spot"`, as a suite has it.
        hot_spots: HotSpots = HotSpots { spots: Vec::new() },
        /// The bytes over which each worker followed `access`. `"auto"`: the whole footprint.
        part: Auto<Bytes> = Auto::Auto,
        /// How many workers had the same bytes.
        sharers: Count = Count(1),
        /// The sizes of reads. `"auto"`: `read_bytes`.
        read_sizes: Auto<SizeMix> = Auto::Auto,
        /// The sizes of writes. `"auto"`: `write_bytes`.
        write_sizes: Auto<SizeMix> = Auto::Auto,
        /// What random offsets were multiples of. `"auto"`: of the size of the request.
        align: Auto<Bytes> = Auto::Auto,
        /// Hosts that loaded.
        hosts: Count = Count(1),
        /// Requests outstanding in all.
        outstanding: Whole = Whole(0),
        /// Requests outstanding of one worker: in sequence they follow one another.
        depth: Whole = Whole(1),
        /// The share of data that is mastered in the other site.
        remote: Percent = Percent::ZERO,
        /// What requests were made of.
        object: Object = Object::Blocks,
        /// How hosts reached the data.
        route: Route = Route::Testbed,
        /// Requests per second.
        rate: Number,
    }
}

/// Rows that a calibration takes at most: what follows from them is computed again for each
/// prediction, in a time that grows with them.
pub const MOST_FITTED_ROWS: usize = 256;

/// A measured row that parameters were fitted to, as [`FittedRowSpec`] reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedRow {
    /// What was measured.
    pub name: String,
    /// The mean size of a read.
    pub read_bytes: Bytes,
    /// The mean size of a write.
    pub write_bytes: Bytes,
    /// The share of reads.
    pub read: Percent,
    /// The share of requests whose place is no continuation.
    pub random: Percent,
    /// All bytes that were touched; `None` where nobody says.
    pub footprint: Option<Bytes>,
    /// Which blocks were asked for more often; `None` where all were alike.
    pub popularity: Option<Popularity>,
    /// Hosts that loaded.
    pub hosts: u32,
    /// Requests outstanding in all; at least 1.
    pub outstanding: u64,
    /// Requests outstanding of one worker; at least 1.
    pub depth: u64,
    /// The share of data that is mastered in the other site.
    pub remote: Percent,
    /// What requests were made of.
    pub object: Object,
    /// How hosts reached the data.
    pub route: Route,
    /// Requests per second; above 0 and finite.
    pub rate: f64,
}

impl From<&FittedRowSpec> for FittedRow {
    fn from(spec: &FittedRowSpec) -> FittedRow {
        FittedRow {
            name: spec.name.value.clone(),
            read_bytes: spec.read_bytes.value,
            write_bytes: spec.write_bytes.value,
            read: spec.read.value,
            random: spec.random.value,
            footprint: super::fixed(spec.footprint.value),
            popularity: popularity(spec),
            hosts: spec.hosts.value.0,
            outstanding: spec.outstanding.value.0,
            depth: spec.depth.value.0,
            remote: spec.remote.value,
            object: spec.object.value,
            route: spec.route.value,
            rate: spec.rate.value.0,
        }
    }
}

fn popularity(spec: &FittedRowSpec) -> Option<Popularity> {
    use super::fixed;
    let access = spec.access.value;
    let usual = if access == Access::Pareto { 200 } else { 1_200 };
    let skew = fixed(spec.skew.value).unwrap_or(Skew { milli: usual });
    let sizes = |mix: &Auto<SizeMix>, mean: Bytes| match mix {
        Auto::Fixed(mix) => mix.clone(),
        Auto::Auto => SizeMix::single(mean),
    };
    Some(Popularity {
        law: Law::of(access, skew, &spec.hot_spots.value)?,
        part: fixed(spec.part.value).or(fixed(spec.footprint.value)).unwrap_or_default(),
        sharers: spec.sharers.value.0.max(1),
        reads: sizes(&spec.read_sizes.value, spec.read_bytes.value),
        writes: sizes(&spec.write_sizes.value, spec.write_bytes.value),
        align: fixed(spec.align.value).unwrap_or_default(),
    })
}

/// Workers over the same bytes that a row can say; more make no difference that shows.
const MOST_SHARERS: u32 = 65_536;

/// The fields of a row that say a law.
fn law_of(popularity: &Popularity) -> String {
    let law = match &popularity.law {
        Law::Zipf(skew) => format!("access = \"zipf\"\nskew = {}\n", skew.write()),
        Law::Pareto(skew) => format!("access = \"pareto\"\nskew = {}\n", skew.write()),
        Law::HotSpot(spots) => format!("access = \"hot-spot\"\nhot_spots = {}\n", spots.write()),
    };
    let mut text = format!(
        "{law}part = \"{}B\"\nsharers = {}\nread_sizes = {}\nwrite_sizes = {}\n",
        popularity.part.0,
        popularity.sharers.min(MOST_SHARERS),
        popularity.reads.write(),
        popularity.writes.write(),
    );
    if popularity.align.0 > 0 {
        text.push_str(&format!("align = \"{}B\"\n", popularity.align.0));
    }
    text
}

/// A fitted value, as `[fitted]` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FittedValue {
    /// A time.
    Time(Nanos),
    /// A share.
    Share(Percent),
}

/// A testbed's text with what was fitted behind it: `fitted` as `[fitted]`, by the keys of
/// [`SoftwareSpec`], and the rows.
pub fn with_fitted(text: &str, fitted: &[(&str, FittedValue)], rows: &[FittedRow]) -> String {
    let mut out = text.trim_end().to_owned();
    out.push_str(
        "\n\n# Fitted by `plimsoll calibrate` to the rows below. What no row identified stays \
         near its class estimate.\n[fitted]\n",
    );
    for (key, value) in fitted {
        let value = match value {
            FittedValue::Time(Nanos(ns)) => format!("\"{ns}ns\""),
            FittedValue::Share(share) => share.write(),
        };
        out.push_str(&format!("{key} = {value}\n"));
    }
    for row in rows {
        let bytes = |Bytes(bytes): Bytes| format!("\"{bytes}B\"");
        out.push_str(&format!(
            "\n[[fitted_row]]\nname = {}\nread_bytes = {}\nwrite_bytes = {}\nread = {}\nrandom = \
             {}\n",
            quoted(&row.name),
            bytes(row.read_bytes),
            bytes(row.write_bytes),
            row.read.write(),
            row.random.write(),
        ));
        if let Some(footprint) = row.footprint {
            out.push_str(&format!("footprint = {}\n", bytes(footprint)));
        }
        if row.object != Object::Blocks {
            out.push_str(&format!("object = {}\n", row.object.write()));
        }
        if row.route != Route::Testbed {
            out.push_str(&format!("route = {}\n", row.route.write()));
        }
        if row.depth != 1 {
            out.push_str(&format!("depth = {}\n", row.depth));
        }
        out.extend(row.popularity.as_ref().map(law_of));
        out.push_str(&format!(
            "hosts = {}\noutstanding = {}\nremote = {}\nrate = {}\n",
            row.hosts,
            row.outstanding,
            row.remote.write(),
            Number(row.rate).write(),
        ));
    }
    out
}

/// A basic string of TOML (<https://toml.io/en/v1.0.0#string>); what would end the line or steer a
/// terminal becomes `_`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if model::printable::acts(c) => quoted.push('_'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
