//! Bytes that belong together: the layout is cut into them.

use super::place::{Place, files};
use super::unit::Unit;

/// Bytes that belong together: those of one job's own files, or those of files of the same names.
pub(super) struct Region {
    pub(super) place: Place,
    /// All its bytes, if they are known.
    pub(super) all: Option<u64>,
    pub(super) files: u64,
    /// Millionths of the layout.
    pub(super) from: f64,
    pub(super) to: f64,
}

pub(super) fn regions(units: &[&Unit<'_>]) -> (Vec<Region>, Vec<usize>) {
    let mut regions: Vec<Region> = Vec::new();
    let mut of_unit = Vec::new();
    for unit in units {
        let own = unit.place == Place::Own;
        let times = if own { unit.count() } else { 1 };
        let all = unit.bytes.all.map(|bytes| bytes.saturating_mul(times));
        let count = files(unit.jobs[0]).saturating_mul(times);
        let known = regions.iter().position(|region| !own && region.place == unit.place);
        match known {
            Some(number) => {
                let region = &mut regions[number];
                // A part of the whole device needs all of it.
                region.all = match region.place {
                    Place::Devices(_) => region.all.zip(all).map(|(a, b)| a.max(b)),
                    _ => region.all.max(all),
                };
                of_unit.push(number);
            }
            None => {
                let place = unit.place.clone();
                regions.push(Region { place, all, files: count, from: 0.0, to: 1.0 });
                of_unit.push(regions.len() - 1);
            }
        }
    }
    cut(&mut regions);
    (regions, of_unit)
}

/// Cuts the layout into regions, by their bytes where all are known.
fn cut(regions: &mut [Region]) {
    let all: Option<u64> = regions
        .iter()
        .map(|region| region.all)
        .try_fold(0, |sum: u64, all| all.map(|all| sum.saturating_add(all)));
    let count = regions.len().max(1) as f64;
    let mut at = 0.0;
    for region in regions {
        let part = match (all, region.all) {
            (Some(all), Some(own)) if all > 0 => own as f64 / all as f64,
            _ => 1.0 / count,
        };
        region.from = at;
        at += part;
        region.to = at.min(1.0);
    }
}

/// Whether a region has less than a block of any of `files` files: it is a part of each.
pub(super) fn several_blocks_short(
    units: &[&Unit<'_>],
    regions: &[Region],
    of_unit: &[usize],
    files: u64,
) -> bool {
    let is_short = |(unit, number): (&&Unit<'_>, &usize)| {
        let block = unit.jobs[0].one_size();
        block.zip(regions[*number].all).is_some_and(|(block, all)| all / files < block)
    };
    files > 1 && regions.len() > 1 && units.iter().zip(of_unit).any(is_short)
}
