//! What the predictions of a testbed rest on: what it gives, what was fitted, and class estimates.

use super::load::Load;
use super::network::Network;
use super::parameter::{Parameter, Values};
use catalogue::Cluster;

/// A rate whose logarithm changes by less than this with that of a parameter does not depend on it.
const MATTERS: f64 = 1e-3;

/// Where the parameters are from that loads depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// `[software]` gives these.
    pub given: Vec<Parameter>,
    /// `[fitted]` has these.
    pub fitted: Vec<Parameter>,
    /// Nobody says these: class estimates stand for them.
    pub estimated: Vec<Parameter>,
}

/// What the predictions of these loads rest on.
pub fn basis<'a>(cluster: &Cluster, loads: impl Iterator<Item = &'a Load>) -> Basis {
    let values = Values::of(cluster);
    let slopes: Vec<_> = loads.map(|load| Network::new(cluster, load).slopes(&values)).collect();
    let mut basis = Basis::default();
    for parameter in Parameter::EACH {
        if !slopes.iter().any(|slopes| slopes[parameter.index()].abs() > MATTERS) {
            continue;
        }
        let list = if parameter.known(cluster).is_some() {
            &mut basis.given
        } else if parameter.fitted(cluster).is_some() {
            &mut basis.fitted
        } else {
            &mut basis.estimated
        };
        list.push(parameter);
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Workload;
    use model::{Bytes, Object, Percent, Route};

    #[test]
    fn what_a_load_depends_on_is_given_fitted_or_estimated() {
        let text = "name = \"t\"\n[[nodes]]\ncount = 1\n[[nodes.drives]]\nmodel = \
                    \"p4610-3.2tb\"\n[software]\nread = \"20us\"\nwrite = \
                    \"50us\"\n[fitted]\nread_path = \"100us\"\n";
        let cluster = Cluster::parse("t", text, &[]).expect("a testbed");
        let workload = Workload::new("w", Bytes::kib(4), Percent::ALL, true, None);
        let (object, route, remote) = (Object::Blocks, Route::Testbed, Percent::ZERO);
        let load = Load { workload, hosts: 1, outstanding: 1, depth: 1, remote, object, route };
        let found = basis(&cluster, [&load].into_iter());
        // Writes are no matter of a load that reads.
        assert_eq!(found.given, [Parameter::Read]);
        assert_eq!(found.fitted, [Parameter::ReadPath]);
        assert_eq!(found.estimated, [Parameter::ReadPerMib, Parameter::DriveRead]);
    }
}
