//! What is held likely of all parameters before anything is measured.

use super::matrix::Symmetric;
use super::parameter::{PARAMETERS, Parameter, Values};
use catalogue::Cluster;

/// The priors of all parameters; a deviation of 0 holds what is known.
#[derive(Clone, Debug)]
pub(super) struct Priors {
    /// Their logarithms.
    pub(super) medians: Values,
    /// Of the logarithms.
    pub(super) deviations: [f64; PARAMETERS],
}

impl Priors {
    /// What is held likely of this cluster before any row of it.
    pub(super) fn of(cluster: &Cluster) -> Priors {
        let one = |parameter: Parameter| {
            let known = parameter.known(cluster);
            known.unwrap_or_else(|| parameter.prior(cluster).median).ln()
        };
        let deviation = |parameter: Parameter| match parameter.known(cluster) {
            Some(_) => 0.0,
            None => parameter.prior(cluster).deviation,
        };
        Priors {
            medians: Values(Parameter::ALL.map(one)),
            deviations: Parameter::ALL.map(deviation),
        }
    }

    /// The sum of the squares of how many deviations parameters are away from their medians.
    pub(super) fn distance(&self, values: &Values) -> f64 {
        let away = |index: usize| match self.deviations[index] {
            deviation if deviation > 0.0 => {
                ((values.0[index] - self.medians.0[index]) / deviation).powi(2)
            }
            _ => 0.0,
        };
        (0..PARAMETERS).map(away).sum()
    }

    /// Adds what it tells of each parameter, 1 ÷ τ², to a matrix of that.
    pub(super) fn add_to(&self, information: &mut Symmetric) {
        for (index, deviation) in self.deviations.into_iter().enumerate() {
            information.add(index, index, if deviation > 0.0 { deviation.powi(-2) } else { 1e12 });
        }
    }

    /// Whether nothing can move this one.
    pub(super) fn is_known(&self, parameter: usize) -> bool {
        self.deviations[parameter] <= 0.0
    }
}
