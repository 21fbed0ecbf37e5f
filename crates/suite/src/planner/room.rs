//! Whether layouts fit into the file systems that they are to stand on.

use super::Refusal;
use model::plan::{PlannedTarget, Target};
use model::scale::{Fraction, Scale};
use model::testbed::{DirectoryState, HostFacts, TargetFacts, TargetKind};
use model::units::Bytes;

/// A file system is never filled past 95 %: past that, many of them measure their own distress.
const RESERVED_SHARE: u64 = 20;

/// What to do where a file system has no space at all, as `/proc` and its like: nobody frees any
/// there.
pub(super) const NO_FILES: &str =
    "this file system stores no files, however small; name a directory on one that does";

/// Equal totals and free bytes are taken for one file system: the worst that a chance likeness does
/// is to ask for more room than is needed.
pub(super) fn same_file_system(one: &TargetFacts, other: &TargetFacts) -> bool {
    (one.free, one.total, &one.file_system) == (other.free, other.total, &other.file_system)
}

/// The same of what two hosts on one kernel see, each at its own instant: meanwhile, others may
/// have written a little. Disks tell file systems apart, where they are known.
fn same_within_a_kernel(one: &TargetFacts, other: &TargetFacts) -> bool {
    let disk = |target: &TargetFacts| target.device.as_ref().map(|device| device.name.clone());
    (one.total, &one.file_system, disk(one)) == (other.total, &other.file_system, disk(other))
        && one.free.0.abs_diff(other.free.0) <= one.total.0 / 100
}

/// Bytes that a layout of ours takes there already.
pub(super) fn used(target: &TargetFacts) -> Bytes {
    match target.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used, .. }, .. } => used,
        _ => Bytes(0),
    }
}

/// What the targets of one file system take of it.
struct Need<'a> {
    /// The host that has it, where there are several.
    host: Option<&'a str>,
    /// Its kernel, where it tells: the file system of another kernel is another one.
    kernel: Option<&'a str>,
    /// The first of them.
    target: &'a TargetFacts,
    /// The bytes of each file of their layouts.
    files: Vec<u64>,
    /// Bytes that are there already.
    there: u64,
    /// Hosts that lay out files there.
    hosts: u64,
}

impl Need<'_> {
    fn total(&self) -> u64 {
        self.files.iter().copied().fold(0, u64::saturating_add)
    }
}

/// The largest round scale (1/2, 1/5, 1/10, 1/20 and so on) at which `files`, planned at `scale`,
/// fit into `room`; `None` if none does. However small the scale, a file keeps `least` bytes.
fn fitting(scale: Scale, files: &[u64], least: Bytes, room: u64) -> Option<Scale> {
    let size = scale.size;
    let fits = |round: u32| {
        let of_file = |file: &u64| {
            let planned = u128::from(*file) * u128::from(size.denominator)
                / u128::from(size.numerator.max(1));
            // A file of nothing fits everywhere and measures nothing.
            (planned / u128::from(round)).max(u128::from(least.0)).max(1)
        };
        files.iter().map(of_file).sum::<u128>() <= u128::from(room)
    };
    let rounds = (0..9).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u32.pow(power)));
    rounds
        .skip(1)
        .find(|round| fits(*round))
        .map(|denominator| scale.with_size(Fraction::one_in(denominator)))
}

/// What the layouts of a host take of each of its file systems.
fn needs<'a>(facts: &'a HostFacts, targets: &[Target]) -> Vec<Need<'a>> {
    // Two targets on one file system share its space.
    let mut needs: Vec<Need<'_>> = Vec::new();
    for target in &facts.targets {
        // Layouts of several scenarios can stand at one target at the same time.
        let is_ours = |planned: &&Target| {
            planned.path == target.path && matches!(planned.kind, PlannedTarget::Directory { .. })
        };
        if !targets.iter().any(|planned| is_ours(&planned)) {
            continue;
        }
        let files: Vec<u64> = targets
            .iter()
            .filter(is_ours)
            .flat_map(|planned| &planned.files)
            .map(|file| file.size.0)
            .collect();
        let total: u64 = files.iter().copied().fold(0, u64::saturating_add);
        let there = total.min(used(target).0);
        match needs.iter_mut().find(|other| same_file_system(other.target, target)) {
            Some(sum) => {
                sum.files.extend(files);
                sum.there = sum.there.saturating_add(there);
            }
            None => needs.push(Need {
                host: None,
                kernel: facts.kernel_id(),
                target,
                files,
                there,
                hosts: 1,
            }),
        }
    }
    needs
}

fn refusal(need: &Need<'_>, scale: Scale, least: Bytes) -> Option<Refusal> {
    let (target, total) = (need.target, need.total());
    let more = total.saturating_sub(need.there);
    let usable = target.free.0.saturating_sub(target.total.0 / RESERVED_SHARE);
    let whose = match need.host {
        Some(host) => {
            format!("the layouts of {} hosts on the file system of {host} need", need.hosts)
        }
        None => "the layout needs".to_owned(),
    };
    (more > usable).then(|| {
        Refusal::space(
            format!(
                "target {}: {whose} {} more, and {} of {} free may be used (at most \
                 95 % are filled)",
                target.path,
                Bytes(more),
                Bytes(usable),
                target.free
            ),
            remedy(need, scale, least, usable.saturating_add(need.there)),
        )
    })
}

/// What can be done where `room` bytes are too few.
fn remedy(need: &Need<'_>, scale: Scale, least: Bytes, room: u64) -> String {
    if need.target.total == Bytes(0) {
        return NO_FILES.to_owned();
    }
    if room == 0 {
        return "there is room for no layout, however small; free some space, or name a directory \
                on another file system"
            .to_owned();
    }
    match fitting(scale, &need.files, least, room) {
        Some(fits) => {
            format!("--scale {fits} would fit; or give a smaller layout.size, or free some space")
        }
        None => "give a smaller layout.size, or free some space".to_owned(),
    }
}

/// Refuses a layout that would fill a file system past its limit. However much it is scaled, a file
/// keeps `least` bytes.
pub(super) fn space(
    facts: &HostFacts,
    targets: &[Target],
    scale: Scale,
    least: Bytes,
) -> Vec<Refusal> {
    needs(facts, targets).iter().filter_map(|need| refusal(need, scale, least)).collect()
}

/// The same for hosts that have a kernel in common, and with that the file system that each of
/// their layouts fits into by itself.
pub(super) fn space_together<'a>(
    hosts: impl Iterator<Item = (&'a HostFacts, &'a [Target])>,
    scale: Scale,
    least: Bytes,
) -> Vec<Refusal> {
    let mut all: Vec<Need<'a>> = Vec::new();
    for (facts, targets) in hosts {
        for need in needs(facts, targets) {
            let is_same = |other: &&mut Need<'_>| {
                other.kernel.is_some()
                    && other.kernel == need.kernel
                    && same_within_a_kernel(other.target, need.target)
            };
            match all.iter_mut().find(is_same) {
                Some(sum) => {
                    sum.files.extend(need.files);
                    sum.there = sum.there.saturating_add(need.there);
                    sum.hosts += 1;
                }
                None => all.push(Need { host: Some(&facts.hostname), ..need }),
            }
        }
    }
    all.iter()
        .filter(|need| need.hosts > 1)
        .filter_map(|need| refusal(need, scale, least))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_that_is_named_is_the_largest_round_one_that_fits() {
        let fits = |scale: Scale, total, room| {
            fitting(scale, &[total], Bytes(0), room).map(|scale| scale.to_string())
        };
        assert_eq!(fits(Scale::FULL, 1_000, 500).as_deref(), Some("1/2"));
        assert_eq!(fits(Scale::FULL, 1_000, 499).as_deref(), Some("1/5"));
        assert_eq!(fits(Scale::FULL, 1_000, 1).as_deref(), Some("1/1000"));
        // 1,000 bytes at a tenth are 10,000 at full size.
        let tenth = Scale::both(Fraction::one_in(10));
        assert_eq!(fits(tenth, 1_000, 900).as_deref(), Some("1/20"));
        let two_fifths = Scale::both(Fraction { numerator: 2, denominator: 5 });
        assert_eq!(fits(two_fifths, 400, 100).as_deref(), Some("1/10"), "1,000 at full size");
        let short = Scale::new(Fraction::ONE, Fraction::one_in(60));
        assert_eq!(fits(short, 1_000, 500).as_deref(), Some("size=1/2,time=1/60"));
        assert_eq!(
            (fits(Scale::FULL, u64::MAX, 0), fits(Scale::FULL, 1_000, 0)),
            (None, None),
            "a file has a byte"
        );
    }

    #[test]
    fn what_no_scale_takes_from_a_file_counts_in_the_scale_that_is_named() {
        let fits = |least| {
            fitting(Scale::FULL, &[1_000, 100, 100], Bytes(least), 300)
                .map(|scale| scale.to_string())
        };
        assert_eq!(fits(0).as_deref(), Some("1/5"));
        assert_eq!(fits(80).as_deref(), Some("1/10"));
        assert_eq!(fits(101), None);
    }
}
