//! What one port carries: as somebody measured it between hosts, else as its speed promises.

use super::bandwidth::Bandwidth;
use super::fields::{ClientsSpec, NodesSpec};
use super::figures::fixed;
use form::{Auto, Given, Problems};
use model::units::Percent;

#[derive(Clone, Copy)]
pub(super) struct PortFields<'a> {
    speed: &'a Given<Auto<Bandwidth>>,
    efficiency: &'a Given<Percent>,
    one_way: &'a Given<Auto<Bandwidth>>,
    both_ways: &'a Given<Auto<Bandwidth>>,
    source: &'a Given<String>,
}

impl<'a> PortFields<'a> {
    pub(super) fn of_nodes(spec: &'a NodesSpec) -> PortFields<'a> {
        PortFields {
            speed: &spec.port_speed,
            efficiency: &spec.port_efficiency,
            one_way: &spec.port_one_way,
            both_ways: &spec.port_both_ways,
            source: &spec.port_source,
        }
    }

    pub(super) fn of_clients(spec: &'a ClientsSpec) -> PortFields<'a> {
        PortFields {
            speed: &spec.port_speed,
            efficiency: &spec.port_efficiency,
            one_way: &spec.port_one_way,
            both_ways: &spec.port_both_ways,
            source: &spec.port_source,
        }
    }

    fn one_way(self) -> Option<f64> {
        let nominal = || {
            Some(
                fixed(self.speed.value)?.bytes_per_s() * f64::from(self.efficiency.value.ppm) / 1e6,
            )
        };
        fixed(self.one_way.value).map(Bandwidth::bytes_per_s).or_else(nominal)
    }

    fn measured(self) -> Option<MeasuredPort> {
        Some(MeasuredPort {
            one_way: fixed(self.one_way.value)?.bytes_per_s(),
            source: self.source.value.clone(),
        })
    }

    /// Adds what cannot be true.
    pub(super) fn check(self, problems: &mut Problems) {
        let Some(speed) = fixed(self.speed.value) else { return };
        for (field, most, what) in [(self.one_way, 1, "one way"), (self.both_ways, 2, "both ways")]
        {
            let Some(measured) = fixed(field.value) else { continue };
            if measured.0 > speed.0.saturating_mul(most) {
                let message =
                    format!("a port of {speed} each way cannot have carried {measured} {what}");
                let remedy = "write what one port carried, or correct port_speed";
                problems.push(field.wrong(message, remedy));
            }
        }
    }
}

/// What somebody measured of one port.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredPort {
    /// Bytes per second in one direction.
    pub one_way: f64,
    /// Where the figure comes from; empty where nobody said.
    pub source: String,
}

macro_rules! ports {
    ($spec:ty, $of:ident) => {
        impl $spec {
            /// Bytes per second that one port carries each way: as measured, else its speed times
            /// its efficiency; `None` where the testbed has neither.
            pub fn port_bytes_per_s(&self) -> Option<f64> {
                PortFields::$of(self).one_way()
            }

            /// What one port was measured to carry; `None` where nobody measured.
            pub fn measured_port(&self) -> Option<MeasuredPort> {
                PortFields::$of(self).measured()
            }

            /// Bytes per second that one port carries in both directions together, where that was
            /// measured.
            pub fn port_both_bytes_per_s(&self) -> Option<f64> {
                fixed(self.port_both_ways.value).map(Bandwidth::bytes_per_s)
            }
        }
    };
}

ports!(NodesSpec, of_nodes);
ports!(ClientsSpec, of_clients);
