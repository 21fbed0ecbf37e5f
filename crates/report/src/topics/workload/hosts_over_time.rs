//! How the hosts of a measurement went over time in which something happened: a sum hides that two
//! of ten starved.

use crate::ground::chart::{Axis, Line, Lines, Point, ends};
use crate::ground::markup::Markup;
use crate::ground::words;
use analysis::{HostSeries, host_series};
use model::Record;

/// With fewer hosts there is no host in the middle.
const LEAST_HOSTS: usize = 3;
/// The styles of the lines of hosts: those that fell lowest are drawn, as many as there are styles.
const LOWEST: [&str; 2] = ["line write", "line q99"];

/// The rates of the hosts that fell lowest and of the one in the middle, in up to `most` places;
/// nothing where nothing happened or hosts are few.
pub fn chart(
    record: &Record,
    stage: u32,
    work: u32,
    most: usize,
    instants: &[(f64, String)],
) -> Markup {
    if instants.is_empty() {
        return Markup::new();
    }
    let all = host_series(record, stage, work, most);
    let Some(first_s) = instants.iter().map(|(at_s, _)| *at_s).reduce(f64::min) else {
        return Markup::new();
    };
    lines(record, &all, first_s).map_or_else(Markup::new, |lines| lines.render_with(instants))
}

fn lines(record: &Record, all: &[HostSeries], first_s: f64) -> Option<Lines> {
    let places = all.iter().map(|one| one.rates.len()).min().filter(|places| *places > 1)?;
    if all.len() < LEAST_HOSTS {
        return None;
    }
    // The lowest rate from the first thing on that happened.
    let lowest = |one: &HostSeries| {
        one.rates
            .iter()
            .filter(|(end_s, _)| *end_s > first_s)
            .map(|(_, rate)| *rate)
            .fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<&HostSeries> = all.iter().collect();
    order.sort_by(|a, b| lowest(a).total_cmp(&lowest(b)).then(a.host.cmp(&b.host)));
    let point = |(end_s, rate): (f64, f64)| Point::at(end_s, rate);
    let middle = (0..places).map(|place| (all[0].rates[place].0, median(all, place)));
    let mut lines = vec![Line::new("host in the middle", "line read", middle.map(point))];
    lines.extend(order.iter().zip(LOWEST).map(|(one, style)| {
        let host = record.plan.hosts.get(one.host as usize);
        let name = host.map_or("", |host| host.hostname.as_str());
        Line::new(name, style, one.rates.iter().copied().map(point))
    }));
    let (_, highest) = ends(&lines);
    let last_s =
        all.iter().filter_map(|one| one.rates.last()).map(|(end_s, _)| *end_s).fold(0.0, f64::max);
    let least = order.first().map_or(0.0, |one| lowest(one));
    Some(Lines {
        description: format!(
            "The hosts that fell lowest, down to {} requests per second, and the median of all {} \
             hosts",
            words::iops(least),
            all.len()
        ),
        ..Lines::over_time("IOPS of hosts over time", last_s, Axis::iops(highest), lines)
    })
}

/// The rate of the host in the middle at a place; of an even number, the lower one of the two.
fn median(all: &[HostSeries], place: usize) -> f64 {
    let mut rates: Vec<f64> =
        all.iter().filter_map(|one| one.rates.get(place)).map(|(_, rate)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.get((rates.len().saturating_sub(1)) / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(host: u32, rates: [f64; 3]) -> HostSeries {
        HostSeries {
            host,
            rates: rates
                .into_iter()
                .zip([1.0, 2.0, 3.0])
                .map(|(rate, end_s)| (end_s, rate))
                .collect(),
        }
    }

    #[test]
    fn the_host_in_the_middle_is_one_of_them() {
        let all =
            [host(0, [10.0, 1.0, 10.0]), host(1, [30.0, 20.0, 30.0]), host(2, [20.0, 40.0, 5.0])];
        assert_eq!([0, 1, 2].map(|place| median(&all, place)), [20.0, 20.0, 10.0]);
        assert_eq!(median(&all[..2], 0), 10.0);
        assert_eq!(median(&all, 9), 0.0);
    }
}
