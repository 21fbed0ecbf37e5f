//! How unevenly a workload asks for the blocks of its layout, as far as a cache has to know it.

use crate::choices::Access;
use crate::load::{HotSpots, SizeMix, Skew};
use crate::plan::{Extent, Stop, Work};
use crate::units::Bytes;

/// By which law some blocks are asked for more often than others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// The *k*-th most wanted block with a probability that falls as *k*⁻ˢ. Ranks are strewn over
    /// the space.
    Zipf(Skew),
    /// With *h*, a share of 1 − *h* of the requests goes to a share *h* of the blocks, and the same
    /// within these. Ranks are strewn over the space.
    Pareto(Skew),
    /// Shares of the requests for shares of the space, from its start on.
    HotSpot(HotSpots),
}

/// The law of a workload, and over what each of its workers follows it. Each worker has ranks of
/// its own, each size of its requests too, and so have reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popularity {
    /// The law.
    pub law: Law,
    /// The bytes over which one worker draws.
    pub part: Bytes,
    /// How many workers draw over the same bytes; at least 1.
    pub sharers: u32,
    /// The sizes of reads.
    pub reads: SizeMix,
    /// The sizes of writes.
    pub writes: SizeMix,
    /// What places are multiples of; 0: of the size of the request.
    pub align: Bytes,
}

impl Popularity {
    /// The law of a work whose workers touch this; `None` where every block is as likely as any
    /// other in the long run.
    pub fn of_work(work: &Work, touched: Touched) -> Option<Popularity> {
        let pattern = &work.pattern;
        let is_listed = pattern.sequence.as_ref().is_some_and(|one| !one.places.is_empty());
        // Whatever the pattern says, an amount is done once over, from end to end.
        let is_once = work.stop == Stop::Amount;
        let is_elsewhere = is_listed || work.metadata.is_some() || work.trace.is_some();
        if pattern.random.ppm == 0 || is_once || is_elsewhere {
            return None;
        }
        Some(Popularity {
            law: Law::of(pattern.access, pattern.skew, &pattern.hot_spots)?,
            part: touched.part(),
            sharers: touched.sharers(),
            reads: work.block_size.clone(),
            writes: work.write_block_size.clone(),
            align: pattern.align,
        })
    }

    /// Whether two are one: parts within 5 %, all else equal.
    pub fn is_like(&self, other: &Popularity) -> bool {
        let (one, two) = (self.part.0 as f64, other.part.0 as f64);
        (one - two).abs() <= 0.05 * one.max(two)
            && *self == Popularity { part: self.part, ..other.clone() }
    }
}

impl Law {
    /// The law of an access; `None` where it prefers no block.
    pub fn of(access: Access, skew: Skew, hot_spots: &HotSpots) -> Option<Law> {
        match access {
            Access::Sequential | Access::Random | Access::Permutation => None,
            Access::Zipf => Some(Law::Zipf(skew)),
            Access::Pareto => Some(Law::Pareto(skew)),
            Access::HotSpot => Some(Law::HotSpot(hot_spots.clone())),
        }
    }
}

/// What workers touch, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Bytes, each once.
    pub bytes: Bytes,
    /// The bytes of each worker added up: more where they share them.
    pub by_workers: Bytes,
    /// How many workers.
    pub workers: u64,
}

impl Touched {
    /// What the workers of one host touch, by the extents of each.
    pub fn on_host<'a>(workers: impl Iterator<Item = &'a [Extent]>) -> Touched {
        let mut touched = Touched::default();
        let mut all: Vec<Extent> = Vec::new();
        for extents in workers {
            touched.workers += 1;
            all.extend(extents.iter().filter(|extent| extent.length > 0));
        }
        let sum = all.iter().map(|extent| extent.length).fold(0, u64::saturating_add);
        touched.by_workers = Bytes(sum);
        all.sort_unstable_by_key(|extent| (extent.file, extent.offset));
        let (mut file, mut reached) = (None, 0);
        for extent in all {
            let end = extent.offset.saturating_add(extent.length);
            let start =
                if file == Some(extent.file) { extent.offset.max(reached) } else { extent.offset };
            if file != Some(extent.file) || end > reached {
                touched.bytes.0 = touched.bytes.0.saturating_add(end.saturating_sub(start));
                reached = end;
            }
            file = Some(extent.file);
        }
        touched
    }

    /// That of two hosts.
    #[must_use]
    pub fn and(self, other: Touched) -> Touched {
        let sum = |one: Bytes, two: Bytes| Bytes(one.0.saturating_add(two.0));
        Touched {
            bytes: sum(self.bytes, other.bytes),
            by_workers: sum(self.by_workers, other.by_workers),
            workers: self.workers.saturating_add(other.workers),
        }
    }

    /// The mean bytes of a worker.
    pub fn part(&self) -> Bytes {
        Bytes(self.by_workers.0 / self.workers.max(1))
    }

    /// How many workers have the same bytes, at least 1.
    pub fn sharers(&self) -> u32 {
        let each = self.by_workers.0 as f64 / self.bytes.0.max(1) as f64;
        (each.round() as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Nanos, Percent};

    fn extent(file: u32, offset: u64, length: u64) -> Extent {
        Extent { file, offset, length }
    }

    #[test]
    fn bytes_that_workers_share_are_touched_once() {
        let whole = [extent(0, 0, 100), extent(1, 0, 50)];
        let apart = [extent(0, 100, 50)];
        let shared = Touched::on_host([&whole[..], &whole[..]].into_iter());
        assert_eq!(
            (shared.bytes, shared.by_workers, shared.sharers()),
            (Bytes(150), Bytes(300), 2)
        );
        assert_eq!(shared.part(), Bytes(150));
        let own = Touched::on_host([&whole[..], &apart[..]].into_iter());
        assert_eq!((own.bytes, own.sharers(), own.part()), (Bytes(200), 1, Bytes(100)));
        let inside = [extent(0, 10, 20), extent(0, 20, 30)];
        let nested = Touched::on_host([&whole[..], &inside[..]].into_iter());
        assert_eq!(nested.bytes, Bytes(150));
        assert_eq!(shared.and(own).bytes, Bytes(350));
        assert_eq!(Touched::default().part(), Bytes(0));
    }

    #[test]
    fn only_an_access_that_prefers_blocks_has_a_law() {
        let touched = Touched { bytes: Bytes(1 << 30), by_workers: Bytes(1 << 30), workers: 4 };
        let law = |access, random: u32| {
            let stop = Stop::After(Nanos::seconds(1));
            let mut work = Work::simple(Bytes(4096), Percent::ALL, access, 1, stop);
            work.pattern.random = Percent::of(random);
            Popularity::of_work(&work, touched)
        };
        for access in [Access::Sequential, Access::Random, Access::Permutation] {
            assert_eq!(law(access, 100), None, "{access}");
        }
        let zipf = law(Access::Zipf, 100).expect("a law");
        assert_eq!(
            (zipf.law.clone(), zipf.part),
            (Law::Zipf(Skew { milli: 1_200 }), Bytes(1 << 28))
        );
        assert_eq!(law(Access::Zipf, 0), None, "where no request is placed by it");
        let near = Popularity { part: Bytes((1 << 28) + (1 << 20)), ..zipf.clone() };
        let far = Popularity { part: Bytes(1 << 29), ..zipf.clone() };
        let other = Popularity { law: Law::Pareto(Skew { milli: 200 }), ..zipf.clone() };
        assert_eq!([near, far, other].map(|one| zipf.is_like(&one)), [true, false, false]);
    }
}
