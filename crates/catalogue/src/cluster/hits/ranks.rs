//! How often the places of a worker are asked for, the most wanted first.

use model::popularity::Law;

/// So many of the first ranks count one by one.
const SINGLE: f64 = 64.0;
/// Ranks beyond are taken together: each group begins so many times later than it ends.
const GROUP: f64 = 1.08;

/// Ranks that are alike.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The share of all places.
    places: f64,
    /// The share of all requests.
    requests: f64,
    /// The share of the requests that goes to one place.
    each: f64,
}

/// All places, from the most wanted on.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    groups: Vec<Group>,
}

impl Ranks {
    /// `count` (a whole number of at least 1) places by a law of ranks.
    pub(super) fn new(law: &Law, count: f64) -> Ranks {
        let count = count.max(1.0);
        let mass: Box<dyn Fn(f64, f64) -> f64> = match law {
            Law::Zipf(skew) => {
                let exponent = skew.value();
                Box::new(move |first, end| zipf(first, end, exponent))
            }
            Law::Pareto(skew) => {
                // A place is `count·u^power`, as the generator has it.
                let h = skew.value().clamp(0.001, 0.499);
                let inverse = (1.0 - h).ln() / h.ln();
                Box::new(move |first, end| {
                    (end / count).powf(inverse) - (first / count).powf(inverse)
                })
            }
            // Its places are no ranks: each is as likely as its neighbours.
            Law::HotSpot(_) => Box::new(|first, end| end - first),
        };
        let mut groups = Vec::new();
        let mut first = 0.0;
        while first < count {
            let end =
                if first < SINGLE { first + 1.0 } else { (first * GROUP).ceil().max(first + 1.0) };
            let end = end.min(count);
            let (places, requests) = (end - first, mass(first, end));
            groups.push(Group { places: places / count, requests, each: requests / places });
            first = end;
        }
        let all: f64 = groups.iter().map(|group| group.requests).sum();
        for group in &mut groups {
            group.requests /= all;
            group.each /= all;
        }
        Ranks { groups }
    }

    /// Where so many requests come: the mean of e^(−rate × requests) over all places, and the same
    /// over all requests.
    pub(super) fn means(&self, requests: f64) -> (f64, f64) {
        let (mut over_places, mut over_requests) = (0.0, 0.0);
        for group in &self.groups {
            let exponent = group.each * requests;
            if exponent > 700.0 {
                continue;
            }
            let away = (-exponent).exp();
            over_places += group.places * away;
            over_requests += group.requests * away;
        }
        (over_places, over_requests)
    }
}

/// The sum of *k*⁻ˢ over the ranks behind `first` up to `end`, both whole numbers: exact for one,
/// and else the integral from half a rank before to half a rank behind.
fn zipf(first: f64, end: f64, exponent: f64) -> f64 {
    if end - first <= 1.0 {
        return end.powf(-exponent);
    }
    let (low, high) = ((first + 0.5).ln(), (end + 0.5).ln());
    let rest = 1.0 - exponent;
    // So written that it is exact around an exponent of 1.
    let over = |x: f64| if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 };
    (rest * low).exp() * (high - low) * over(rest * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::load::Skew;

    #[test]
    fn groups_are_the_law() {
        for milli in [1, 500, 1_000, 1_200, 3_000] {
            let skew = Skew { milli };
            let ranks = Ranks::new(&Law::Zipf(skew), 100_000.0);
            let exact: f64 = (1..=100_000).map(|k| f64::from(k).powf(-skew.value())).sum();
            for requests in [1.0, 1e3, 1e6] {
                let (mut places, mut weighed) = (0.0, 0.0);
                for k in 1..=100_000 {
                    let each = f64::from(k).powf(-skew.value()) / exact;
                    places += (-each * requests).exp() / 1e5;
                    weighed += each * (-each * requests).exp();
                }
                let (found, found_weighed) = ranks.means(requests);
                assert!((found - places).abs() < 2e-4, "{milli}, {requests}: {found}, {places}");
                assert!((found_weighed - weighed).abs() < 2e-4, "{milli}, {requests}");
            }
        }
    }

    #[test]
    fn pareto_gives_eight_tenths_of_the_requests_to_two_tenths_of_the_places() {
        let ranks = Ranks::new(&Law::Pareto(Skew { milli: 200 }), 1e6);
        let (mut places, mut requests) = (0.0, 0.0);
        for group in &ranks.groups {
            if places + group.places > 0.2 {
                requests += group.requests * (0.2 - places) / group.places;
                break;
            }
            places += group.places;
            requests += group.requests;
        }
        assert!((requests - 0.8).abs() < 1e-3, "{requests}");
    }
}
