//! What a request takes of each station and delay, with given parameters.

use super::{Network, Owner, Part, RANDOM_BYTES, Station, Visit};
use crate::ceiling::Layer;
use crate::prediction::parameter::{Parameter, Values};
use catalogue::cluster::Missing;

const MIB: f64 = 1_048_576.0;

/// Requests that the cache leaves to the drives behind it, for each request: random ones, and those
/// that follow others.
#[derive(Clone, Copy)]
struct Misses {
    random_reads: f64,
    ordered_reads: f64,
    random_writes: f64,
    ordered_writes: f64,
}

impl Network {
    pub(super) fn delays(&self, values: &Values) -> Vec<Part> {
        let between_sites = Part {
            owner: Owner::Parameter(Parameter::SiteRoundTrip),
            seconds: self.crossings * values.get(Parameter::SiteRoundTrip),
        };
        self.paths(values).into_iter().chain([between_sites]).collect()
    }

    /// How many times longer bytes take because hosts share their file.
    fn longer(&self, values: &Values) -> f64 {
        if self.is_shared { 1.0 / values.get(Parameter::SharedFile) } else { 1.0 }
    }

    pub(super) fn stations(&self, values: &Values) -> Vec<Station> {
        let usable = values.get(Parameter::CacheUsable);
        let missing = |is_write| match &self.tier {
            Some(tier) => tier.missing(is_write, self.footprint, usable),
            None => Missing::ALL,
        };
        let (reads, writes, in_order) = (missing(false), missing(true), 1.0 - self.random);
        let misses = Misses {
            random_reads: self.reads * self.random * reads.random,
            ordered_reads: self.reads * in_order * reads.in_order,
            random_writes: self.writes * self.random * writes.random,
            ordered_writes: self.writes * in_order * writes.in_order,
        };
        let longer = self.longer(values);
        let mut stations = self.fixed.clone();
        let visits = stations.iter_mut().flat_map(|station| &mut station.visits);
        for part in visits.flat_map(|visit| &mut visit.parts) {
            // A core's time is of requests rather than of bytes.
            part.seconds *= if part.owner == Owner::Layer(Layer::Cpu) { 1.0 } else { longer };
        }
        stations.push(self.software(values));
        stations.extend(self.servers(values));
        let share = values.get(Parameter::PortShare) / longer;
        stations.extend(self.ports.iter().map(|station| {
            let mut station = station.clone();
            for part in station.visits.iter_mut().flat_map(|visit| &mut visit.parts) {
                part.seconds /= share;
            }
            station
        }));
        if self.cache_drives > 0.0 && self.tier.is_some() {
            stations.push(self.cache_tier(misses));
        }
        if self.drives > 0.0 {
            stations.push(self.capacity(values, misses));
        }
        let mut stations: Vec<Station> =
            stations.into_iter().flat_map(|station| station.split(self.hosted)).collect();
        if self.random < 1.0 {
            self.share_out(&mut stations, values);
        }
        stations
    }

    /// Which share of its time a request is served at each station, were it alone.
    fn share_out(&self, stations: &mut [Station], values: &Values) {
        let of = |station: &Station| station.queue(self.outstanding, self.companions).serves_s;
        let serves_s: Vec<f64> = stations.iter().map(of).collect();
        let alone_s = self.delay_s(values) + serves_s.iter().sum::<f64>();
        for (station, serves_s) in stations.iter_mut().zip(serves_s) {
            station.share = serves_s / alone_s.max(1e-300);
        }
    }

    /// A lane of a node does one request after the other, each in a time of its own.
    fn software(&self, values: &Values) -> Station {
        let longer = self.longer(values);
        let visit = |times: f64, each: Parameter, per_mib: Parameter, bytes: f64| {
            let mut visit =
                Visit::new(times, Owner::Parameter(each), values.get(each)).varying(1.0);
            visit.parts.push(Part {
                owner: Owner::Parameter(per_mib),
                seconds: longer * values.get(per_mib) * bytes / MIB,
            });
            visit
        };
        Station {
            count: self.nodes,
            servers: self.lanes,
            nodes: self.apart(),
            share: 1.0,
            is_by_place: true,
            visits: vec![
                visit(self.reads, Parameter::Read, Parameter::ReadPerMib, self.read_bytes)
                    .streaming(self.read_runs.share(), 1.0)
                    .at_home(self.at_home),
                visit(self.writes, Parameter::Write, Parameter::WritePerMib, self.write_bytes)
                    .streaming(self.write_runs.share(), 1.0),
            ],
        }
    }

    /// Nodes to tell apart by the hosts that they run; 1 where it does not matter whose a request
    /// is.
    pub(super) fn apart(&self) -> f64 {
        if self.at_home.is_some() { self.nodes } else { 1.0 }
    }

    /// Blocks of a write that are stored at the same time, or on one node one after the other.
    fn stored(&self, visit: Visit, blocks: f64) -> Visit {
        if self.blocks.one_by_one { visit } else { visit.side_by_side(blocks) }
    }

    fn cache_tier(&self, misses: Misses) -> Station {
        let owner = Owner::Layer(Layer::Cache);
        let (random, in_order) = (self.random, 1.0 - self.random);
        let (blocks, times) = (self.blocks, self.cache);
        let random_hits = self.reads * random - misses.random_reads;
        let ordered_hits = self.reads * in_order - misses.ordered_reads;
        let mut visits = vec![
            Visit::new(random_hits, owner, times.random_read_s)
                .streaming(self.read_runs.share(), 1.0)
                .at_home(self.at_home),
            Visit::new(ordered_hits, owner, times.read_s)
                .streaming(self.read_runs.share(), 1.0)
                .at_home(self.at_home),
        ];
        if self.tier.as_ref().is_some_and(|tier| tier.reads) {
            let filled = misses.random_reads + misses.ordered_reads;
            visits.push(Visit::new(filled, owner, times.fill_s).later());
        }
        let takes_writes = self.tier.as_ref().is_some_and(|tier| tier.writes);
        if takes_writes {
            let pieces = self.amplification.space * in_order;
            visits.push(self.stored(
                Visit::new(self.writes * blocks.random * random, owner, times.random_write_s),
                blocks.random,
            ));
            visits.push(self.stored(
                Visit::new(
                    self.writes * blocks.in_order * in_order,
                    owner,
                    times.write_s * pieces / (blocks.in_order * in_order).max(1e-300),
                ),
                blocks.in_order,
            ));
        }
        if takes_writes {
            let copies = if blocks.one_by_one { 1.0 } else { blocks.in_order };
            visits.push(Visit::new(self.names.changes * copies, owner, times.journal_s));
        }
        Station::of(self.cache_drives, visits).on(self.apart()).by_place()
    }

    /// The drives behind the cache, or all drives where there is none.
    fn capacity(&self, values: &Values, misses: Misses) -> Station {
        let is_later = self.tier.as_ref().is_some_and(|tier| tier.writes);
        let moved = |bytes: f64, per_s: f64| if per_s > 0.0 { bytes / per_s } else { 0.0 };
        let longer = self.longer(values);
        let (read_bytes, write_bytes) = (longer * self.read_bytes, longer * self.write_bytes);
        let blocks = self.blocks;
        // Bytes of random requests beyond those that their own time has in it.
        let each = |times: f64, parameter: Parameter, further_s: f64| {
            let mut visit = Visit::new(times, Owner::Parameter(parameter), values.get(parameter));
            visit.parts.push(Part { owner: Owner::Layer(Layer::Drives), seconds: further_s });
            visit
        };
        let stream = |times: f64, seconds: f64| {
            let seconds = seconds / values.get(Parameter::StreamShare);
            Visit::new(times, Owner::Parameter(Parameter::StreamShare), seconds)
        };
        let read_further_s = moved((read_bytes - self.line_bytes).max(0.0), self.read_bytes_per_s);
        let write_further_s = moved((write_bytes - RANDOM_BYTES).max(0.0), self.write_bytes_per_s);
        let old = each(
            misses.random_writes * self.old_blocks(),
            Parameter::DriveRead,
            moved((write_bytes - self.line_bytes).max(0.0), self.read_bytes_per_s),
        );
        let new =
            each(misses.random_writes * blocks.random, Parameter::DriveWrite, write_further_s);
        let piece_bytes = write_bytes * self.amplification.space / blocks.in_order;
        let whole = stream(
            misses.ordered_writes * blocks.in_order,
            moved(piece_bytes, self.write_bytes_per_s),
        );
        // What a disk does in pauses is gathered, and takes as long each time.
        let written_varies = if is_later { 0.0 } else { self.varies };
        let (old, new) = (old.varying(written_varies), new.varying(written_varies));
        let mut visits = vec![
            each(misses.random_reads, Parameter::DriveRead, read_further_s)
                .varying(self.varies)
                .streaming(self.read_runs.share(), 1.0)
                .at_home(self.at_home),
            stream(misses.ordered_reads, moved(read_bytes, self.read_bytes_per_s))
                .streaming(self.read_runs.share(), 1.0)
                .at_home(self.at_home),
        ];
        let (whole, runs) = (self.stored(whole, blocks.in_order), self.write_runs);
        // How streams meet makes waits vary; the longest of equal services stays what it is.
        let whole = if is_later {
            let left_s = |visits: &[&Visit], copies: f64, share: f64| {
                let all_s: f64 = visits.iter().map(|one| one.times * one.seconds()).sum();
                all_s / copies / share.max(1e-12)
            };
            let random_s = left_s(&[&old, &new], blocks.random, self.random);
            let ordered_s = left_s(&[&whole], blocks.in_order, 1.0 - self.random);
            let more_s2 = blocks.in_order * runs.neighbours_s2(random_s, ordered_s);
            whole.streaming(runs.long(), blocks.in_order).gathered(more_s2)
        } else {
            whole.streaming(runs.share(), blocks.in_order)
        };
        for visit in [self.stored(old, blocks.random), self.stored(new, blocks.random), whole] {
            visits.push(if is_later { visit.later() } else { visit });
        }
        if !is_later {
            visits.extend(self.journal(values));
        }
        Station::of(self.drives, visits).on(self.apart()).by_place()
    }

    /// What copies of the journal store of a change, one after the other; where parity protects
    /// them, each reads first what it overwrites.
    fn journal(&self, values: &Values) -> Vec<Visit> {
        let copies = if self.blocks.one_by_one { 1.0 } else { self.blocks.in_order };
        let times = self.names.changes * copies;
        let at_drives = |times: f64, parameter: Parameter| {
            Visit::new(times, Owner::Parameter(parameter), values.get(parameter))
        };
        let old = if self.old_blocks() > 0.0 { times } else { 0.0 };
        vec![at_drives(old, Parameter::DriveRead), at_drives(times, Parameter::DriveWrite)]
    }

    /// Old blocks that a small write under parity reads first.
    fn old_blocks(&self) -> f64 {
        if self.amplification.drive_reads > 0.0 { self.blocks.random } else { 0.0 }
    }
}
