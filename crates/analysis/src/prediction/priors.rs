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
    /// The part of the variance that the times of a lane have in common.
    common: f64,
}

/// The times of a lane. How many lanes serve is one guess, which puts all of them off alike.
const OF_A_LANE: [Parameter; 4] =
    [Parameter::Read, Parameter::Write, Parameter::ReadPerMib, Parameter::WritePerMib];

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
            medians: Values(Parameter::EACH.map(one)),
            deviations: Parameter::EACH.map(deviation),
            common: super::parameter::lanes_in_common(cluster),
        }
    }

    /// The times of a lane that are open.
    fn of_a_lane(&self) -> impl Iterator<Item = usize> + '_ {
        OF_A_LANE.into_iter().map(Parameter::index).filter(|index| self.deviations[*index] > 0.0)
    }

    /// What is left of the inverse of a variance once what a lane's times have in common is known.
    fn weight(&self, index: usize) -> f64 {
        let is_of_a_lane = OF_A_LANE.iter().any(|one| one.index() == index);
        let common = if is_of_a_lane { self.common } else { 0.0 };
        1.0 / (self.deviations[index].powi(2) - common)
    }

    /// What the inverse of the covariance takes off in all places of
    /// [`of_a_lane`](Self::of_a_lane), but for the weights of row and column (Sherman and Morrison,
    /// Annals of Mathematical Statistics 21, 1950).
    fn together(&self) -> f64 {
        let all: f64 = self.of_a_lane().map(|index| self.weight(index)).sum();
        self.common / (1.0 + self.common * all)
    }

    /// How far parameters are away from their medians: of each alone, the square of its deviations.
    pub(super) fn distance(&self, values: &Values) -> f64 {
        let pull = self.pull(values);
        (0..PARAMETERS).map(|index| pull[index] * (values.0[index] - self.medians.0[index])).sum()
    }

    /// Half of the slope of [`distance`](Self::distance).
    pub(super) fn pull(&self, values: &Values) -> [f64; PARAMETERS] {
        let away = |index: usize| values.0[index] - self.medians.0[index];
        let mut pull = [0.0; PARAMETERS];
        for (index, pull) in pull.iter_mut().enumerate() {
            if !self.is_known(index) {
                *pull = self.weight(index) * away(index);
            }
        }
        let shared: f64 = self.of_a_lane().map(|index| pull[index]).sum();
        let together = self.together();
        for index in self.of_a_lane() {
            pull[index] -= together * self.weight(index) * shared;
        }
        pull
    }

    /// Adds what it tells of each parameter, 1 ÷ τ², to a matrix of that.
    pub(super) fn add_to(&self, information: &mut Symmetric) {
        for index in 0..PARAMETERS {
            let weight = if self.is_known(index) { 1e12 } else { self.weight(index) };
            information.add(index, index, weight);
        }
        let together = self.together();
        if together > 0.0 {
            let mut lanes = [0.0; PARAMETERS];
            self.of_a_lane().for_each(|index| lanes[index] = self.weight(index));
            information.add_outer(&lanes, -together);
        }
    }

    /// Whether it has nothing in common with any other.
    pub(super) fn is_alone(&self, parameter: usize) -> bool {
        self.common <= 0.0 || OF_A_LANE.iter().all(|one| one.index() != parameter)
    }

    /// Whether nothing can move this one.
    pub(super) fn is_known(&self, parameter: usize) -> bool {
        self.deviations[parameter] <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priors(nodes: &str) -> Priors {
        let text = format!("name = \"t\"\n[[nodes]]\n{nodes}\n[clients]\ncount = 4\n");
        Priors::of(&Cluster::parse("t", &text, &[]).expect("a testbed"))
    }

    #[test]
    fn times_of_many_lanes_have_the_guess_of_their_number_in_common() {
        let priors = priors("count = 2\ncores = 8\n[[nodes.drives]]\nmodel = \"p4610-3.2tb\"");
        let mut information = Symmetric::zero(PARAMETERS);
        priors.add_to(&mut information);
        let covariance = information.inverse();
        let [read, write] = [Parameter::Read, Parameter::WritePerMib].map(Parameter::index);
        assert!((covariance.at(read, read) - 2.25).abs() < 1e-9, "1.5 each");
        assert!((covariance.at(read, write) - 1.25).abs() < 1e-9, "but for 1 of their own");
        let path = Parameter::ReadPath.index();
        assert!(
            (covariance.at(path, path) - 1.0).abs() < 1e-9
                && covariance.at(read, path).abs() < 1e-12
        );
        // The distance and its slope are of the same matrix.
        let mut values = priors.medians;
        let mut away = [0.0; PARAMETERS];
        for (index, by) in [(read, 0.7), (write, -0.2), (path, 1.1)] {
            values.0[index] += by;
            away[index] = by;
        }
        assert!((priors.distance(&values) - information.between(&away, &away)).abs() < 1e-9);
        let slope = information.times(&away);
        let pull = priors.pull(&values);
        assert!(pull.iter().zip(&slope).all(|(one, other)| (one - other).abs() < 1e-9));
    }

    #[test]
    fn times_of_one_lane_are_each_a_guess_of_their_own() {
        let priors = priors("count = 2\n[[nodes.drives]]\nmodel = \"p4610-3.2tb\"");
        let mut information = Symmetric::zero(PARAMETERS);
        priors.add_to(&mut information);
        let covariance = information.inverse();
        let [read, write] = [Parameter::Read, Parameter::Write].map(Parameter::index);
        assert!((covariance.at(read, read) - 1.0).abs() < 1e-9);
        assert!(covariance.at(read, write).abs() < 1e-12);
    }
}
