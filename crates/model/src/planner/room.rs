//! Whether layouts fit into the file systems that they are to stand on.

use super::{Refusal, RefusalKind};
use crate::plan::{PlannedTarget, Target};
use crate::scale::{Fraction, Scale};
use crate::testbed::{DirectoryState, HostFacts, TargetFacts, TargetKind};
use crate::units::Bytes;

/// A file system is never filled past 95 %: past that, many of them measure their own distress.
const RESERVED_SHARE: u64 = 20;

/// Equal totals and free bytes are taken for one file system: the worst that a chance likeness does is to ask for more room than is needed.
pub(super) fn same_file_system(one: &TargetFacts, other: &TargetFacts) -> bool {
    (one.free, one.total, &one.file_system) == (other.free, other.total, &other.file_system)
}

/// Bytes that a layout of ours takes there already.
pub(super) fn used(target: &TargetFacts) -> Bytes {
    match target.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used }, .. } => used,
        _ => Bytes(0),
    }
}

/// What the targets of one file system take of it.
struct Need<'a> {
    /// The first of them.
    target: &'a TargetFacts,
    /// All bytes of their layouts.
    total: u64,
    /// Those that are there already.
    there: u64,
}

/// The largest round scale (1/2, 1/5, 1/10, 1/20 and so on) at which `total` bytes, planned at `scale`, fit into `room`; `None` if none does.
fn fitting(scale: Scale, total: u64, room: u64) -> Option<Scale> {
    let size = scale.size;
    let wanted = |round: u32| {
        let planned = u128::from(total) * u128::from(size.denominator) / u128::from(size.numerator.max(1));
        planned / u128::from(round) <= u128::from(room)
    };
    let rounds = (0..9).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u32.pow(power)));
    rounds.skip(1).find(|round| wanted(*round)).map(|denominator| scale.with_size(Fraction::one_in(denominator)))
}

/// Refuses a layout that would fill a file system past its limit.
pub(super) fn space(facts: &HostFacts, targets: &[Target], scale: Scale) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    // Two targets on one file system share its space.
    let mut needs: Vec<Need<'_>> = Vec::new();
    for target in &facts.targets {
        // Layouts of several scenarios can stand at one target at the same time.
        let is_ours =
            |planned: &&Target| planned.path == target.path && matches!(planned.kind, PlannedTarget::Directory { .. });
        if !targets.iter().any(|planned| is_ours(&planned)) {
            continue;
        }
        let files = targets.iter().filter(is_ours).flat_map(|planned| &planned.files);
        let total: u64 = files.map(|file| file.size.0).fold(0, u64::saturating_add);
        let need = total.saturating_sub(used(target).0);
        let there = total.saturating_sub(need);
        match needs.iter_mut().find(|other| same_file_system(other.target, target)) {
            Some(sum) => {
                sum.total = sum.total.saturating_add(total);
                sum.there = sum.there.saturating_add(there);
            }
            None => needs.push(Need { target, total, there }),
        }
    }
    for Need { target, total, there } in needs {
        let need = total.saturating_sub(there);
        let usable = target.free.0.saturating_sub(target.total.0 / RESERVED_SHARE);
        if need > usable {
            refusals.push(Refusal::new(
                RefusalKind::Space,
                format!(
                    "target {}: the layout needs {} more, and the file system has {} free, of which {} may be used (it is never filled past 95 %)",
                    target.path,
                    Bytes(need),
                    target.free,
                    Bytes(usable)
                ),
                match fitting(scale, total, usable.saturating_add(there)) {
                    Some(fits) => format!("--scale {fits} would fit; or give a smaller layout.size, or free some space"),
                    None => "give a smaller layout.size, or free some space".to_owned(),
                },
            ));
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_that_is_named_is_the_largest_round_one_that_fits() {
        let fits = |scale: Scale, total, room| fitting(scale, total, room).map(|scale| scale.to_string());
        assert_eq!(fits(Scale::FULL, 1_000, 500).as_deref(), Some("1/2"));
        assert_eq!(fits(Scale::FULL, 1_000, 499).as_deref(), Some("1/5"));
        assert_eq!(fits(Scale::FULL, 1_000, 1).as_deref(), Some("1/1000"));
        // 1,000 bytes at a tenth are 10,000 at full size.
        let tenth = Scale::both(Fraction::one_in(10));
        assert_eq!(fits(tenth, 1_000, 900).as_deref(), Some("1/20"));
        let short = Scale::new(Fraction::ONE, Fraction::one_in(60));
        assert_eq!(fits(short, 1_000, 500).as_deref(), Some("size=1/2,time=1/60"));
        assert_eq!(fits(Scale::FULL, u64::MAX, 0), None);
    }
}
