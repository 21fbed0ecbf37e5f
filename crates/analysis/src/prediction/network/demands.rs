//! What a request takes of each station and delay, with given parameters.

use super::{Network, Owner, Part, RANDOM_BYTES, Station};
use crate::ceiling::Layer;
use crate::prediction::cache::Tier;
use crate::prediction::parameter::{Parameter, Values};

impl Network {
    pub(super) fn delays(&self, values: &Values) -> Vec<Part> {
        let mut delays = self.delays.clone();
        for (parameter, amount) in [
            (Parameter::ReadPath, self.reads),
            (Parameter::WritePath, self.writes),
            (Parameter::SiteRoundTrip, self.crossings),
        ] {
            delays.push(Part {
                owner: Owner::Parameter(parameter),
                demand_s: amount * values.get(parameter),
            });
        }
        delays
    }

    pub(super) fn stations(&self, values: &Values) -> Vec<Station> {
        const MIB: f64 = 1_048_576.0;
        let missing = |is_used: fn(&Tier) -> bool| {
            let tier = self.tier.filter(is_used);
            tier.map_or(1.0, |tier| {
                tier.missing(self.footprint, values.get(Parameter::CacheUsable))
            })
        };
        let (read_misses, write_misses) =
            (self.reads * missing(|tier| tier.reads), self.writes * missing(|tier| tier.writes));
        let of = |parameter: Parameter, amount: f64| Part {
            owner: Owner::Parameter(parameter),
            demand_s: amount * values.get(parameter),
        };
        let mut stations = self.fixed.clone();
        stations.push(Station {
            count: self.nodes,
            parts: vec![
                of(Parameter::Read, self.reads / self.nodes),
                of(Parameter::Write, self.writes / self.nodes),
                of(Parameter::ReadPerMib, self.reads * self.read_bytes / MIB / self.nodes),
                of(Parameter::WritePerMib, self.writes * self.write_bytes / MIB / self.nodes),
            ],
        });
        let share = values.get(Parameter::PortShare);
        stations.extend(self.ports.iter().map(|port| Station {
            count: port.count,
            parts: vec![Part {
                owner: if port.layer == Layer::Ports {
                    Owner::Parameter(Parameter::PortShare)
                } else {
                    Owner::Layer(port.layer)
                },
                demand_s: port.demand_s / share,
            }],
        }));
        if self.cache_drives > 0.0 {
            let taken = if self.tier.is_some_and(|tier| tier.writes) {
                self.writes * self.amplification.space
            } else {
                0.0
            };
            let demand_s = (self.reads - read_misses) * self.hit_s + taken * self.taken_s;
            let part = Part { owner: Owner::Layer(Layer::Cache), demand_s };
            stations.push(Station { count: self.cache_drives, parts: vec![part] });
        }
        if self.drives > 0.0 {
            stations.push(self.capacity(values, read_misses, write_misses));
        }
        stations
    }

    /// The drives behind the cache, or all drives where there is none.
    fn capacity(&self, values: &Values, read_misses: f64, write_misses: f64) -> Station {
        let each = |parameter: Parameter, amount: f64| Part {
            owner: Owner::Parameter(parameter),
            demand_s: amount * values.get(parameter) / self.drives,
        };
        let moved = |bytes: f64, per_s: f64| if per_s > 0.0 { bytes / per_s } else { 0.0 };
        let random = self.random;
        // Bytes of random requests beyond those that their own time has in it.
        let further = moved(
            read_misses * random * (self.read_bytes - self.line_bytes).max(0.0),
            self.read_bytes_per_s,
        ) + moved(
            write_misses
                * random
                * self.amplification.drive_writes
                * (self.write_bytes - RANDOM_BYTES).max(0.0),
            self.write_bytes_per_s,
        );
        let in_order = moved(read_misses * (1.0 - random) * self.read_bytes, self.read_bytes_per_s)
            + moved(
                write_misses * (1.0 - random) * self.amplification.space * self.write_bytes,
                self.write_bytes_per_s,
            );
        let old = write_misses * random * self.amplification.drive_reads;
        Station {
            count: self.drives,
            parts: vec![
                each(Parameter::DriveRead, read_misses * random + old),
                each(
                    Parameter::DriveWrite,
                    write_misses * random * self.amplification.drive_writes,
                ),
                Part {
                    owner: Owner::Parameter(Parameter::StreamShare),
                    demand_s: in_order / values.get(Parameter::StreamShare),
                },
                Part { owner: Owner::Layer(Layer::Drives), demand_s: further },
            ],
        }
    }
}
